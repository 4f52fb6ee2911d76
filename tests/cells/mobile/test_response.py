"""What a mobile does where it hits something."""

import itertools

import numpy as np
import pytest

from abut import cells
from cells import oracle_cells as oracle
from cells.mobile.test_mobile import boxes, check_edges, check_faces, cube


def wall_with_a_corner():
    """A plane of 4×4 squares; the lower right quarter is an obstacle, whose corner is at (2, 2)."""
    vertices = np.array(list(itertools.product(range(5), repeat=2)), float)
    rows = [[5 * i + j, 5 * i + 5 + j, 5 * i + 6 + j, 5 * i + 1 + j] for i in range(4) for j in range(4)]
    marks = np.array([i >= 2 and j < 2 for i in range(4) for j in range(4)])
    edges = [[[r[k], r[(k + 1) % 4]] for k in range(4)] for r in rows]
    return cells.polygons(vertices, rows, marks), oracle.build(vertices, edges, marks)


@pytest.mark.parametrize("response", ["adaptive", "hybrid"])
def test_an_edge_bends_around_a_corner_and_straightens(response):
    environment, parts = wall_with_a_corner()
    body = cells.Mobile(environment, (np.array([[1.0, 1.5], [3.5, 3.5]]), [[0, 1]]))
    moves = body.move([[1.75, 0.25], [3.5, 2.5]], "continuous", response)
    assert len(body) == 3
    assert moves.source.tolist() == [0, 1, -1]
    assert body.is_inserted.tolist() == [False, False, True]
    assert body.parents[2].tolist() == [0, 1]
    assert np.allclose(body.position[2], [2, 2], atol=1e-3)
    assert 0.2 < body.ratio[2] < 0.8
    assert moves.position[1].tolist() == [3.5, 2.5]
    check_edges(parts, body)
    # The particle is taken along; once nothing touches it and it is near the straight edge, it goes.
    body.move([[1.0, 1.5], [3.5, 3.5], [1.9, 2.2]], "continuous", response)
    check_edges(parts, body)
    if len(body) == 3:
        middle = (body.position[0] + body.position[1]) / 2
        body.move([body.position[0], body.position[1], middle], "continuous", response)
    assert len(body) == 2
    assert body.edges.tolist() == [[0, 1]]
    check_edges(parts, body)


@pytest.mark.large
def test_a_mesh_gets_particles_on_its_edges():
    world, parts = boxes((1, 1, 0), size=3)
    start = np.array([[0.25, 0.25, 1.5], [2.75, 0.25, 1.5], [2.75, 2.75, 1.5], [0.25, 2.75, 1.5]])
    body = cells.Mobile(world.environment, (start, [[0, 1, 2], [0, 2, 3]]))
    for _ in range(3):
        targets = body.position.copy()
        targets[~body.is_inserted, 2] -= 0.4
        body.move(targets, "continuous", "adaptive", faces="none")
        check_edges(parts, body)
    assert body.is_inserted.any()
    edges = {tuple(sorted(edge)) for edge in body.edges.tolist()}
    sides = {tuple(sorted(pair)) for face in body.faces.tolist() for pair in itertools.combinations(face, 2)}
    assert edges == sides
    for _ in range(4):
        targets = body.position.copy()
        targets[:, 2] = 1.75
        body.move(targets, "continuous", "adaptive", faces="none")
    assert sorted(map(sorted, body.faces.tolist())) == [[0, 1, 2], [0, 2, 3]]
    assert len(body) == 4


def test_a_rigid_body_stops_as_a_whole():
    world, parts = boxes((2, 0, 0), (2, 1, 1))
    vertices, faces = cube([0.75, 1.0, 1.0], 0.75)
    body = cells.Mobile(world.environment, (vertices, faces))
    goal = vertices + np.array([1.5, 0.1, 0.0])
    moves = body.move(goal, "continuous", "rigid")
    share = (body.position[0] - vertices[0])[0] / 1.5
    assert 0 < share < 1
    assert np.allclose(body.position, vertices + share * (goal - vertices), atol=1e-12)
    assert abs(share - (2 - 1.125) / 1.5) < 1e-4
    assert moves.is_hit.any()
    assert (moves.time < 1).all()
    check_edges(parts, body)
    check_faces(parts, body)


def test_vertices_slide_and_bounce_on_the_contact_plane():
    world, _ = boxes()
    start = np.array([[1.5, 1.5, 0.5], [1.5, 1.5, 1.5]])
    goal = start + np.array([0.25, 0.0, -0.75])
    ends = {}
    for after in ("stop", "slide", "bounce"):
        body = cells.Mobile(world.environment, (start, [[0, 1]]))
        moves = body.move(goal, after=after, restitution=1.0)
        ends[after] = moves.position[0]
        assert moves.status.tolist() == [cells.COLLISION, cells.FREE]
        assert moves.normal[0].tolist() == [0, 0, -1]
        assert abs(moves.time[0] - 2 / 3) < 1e-6
    assert np.allclose(ends["stop"], [1.5 + 0.25 * 2 / 3, 1.5, 0], atol=1e-6)
    assert np.allclose(ends["slide"], [1.75, 1.5, 0], atol=1e-6)
    assert np.allclose(ends["bounce"], [1.75, 1.5, 0.25], atol=1e-6)
