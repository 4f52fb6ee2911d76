"""Bodies that move: named hits, eliminations against none, responses, threads, bad input. Edges and faces are verified exactly."""

import numpy as np
import pytest

from abut import cells
from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps
from cells import worlds
from cells.walk.test_reentrant_edges import oracle_room
from conftest import SOAK

STEPS = 60 if SOAK else (2 if jit.INTERPRETED else 8)
CUBE_FACES = [
    (0, 2, 1),
    (0, 3, 2),
    (4, 5, 6),
    (4, 6, 7),
    (0, 1, 5),
    (0, 5, 4),
    (1, 2, 6),
    (1, 6, 5),
    (2, 3, 7),
    (2, 7, 6),
    (3, 0, 4),
    (3, 4, 7),
]


def cube(centre, size):
    return np.asarray(centre) + size * (np.array(worlds.CORNERS) - 0.5), np.array(CUBE_FACES)


def check_edges(parts, body):
    for a, b in body.edges.tolist():
        assert oracle.walk(parts, body.position[a], body.position[b])[0] == 1


def check_faces(parts, body):
    solids = sweeps.Solids(parts)
    for face in body.faces:
        corners = body.position[face]
        assert sweeps.is_flat(corners) or sweeps.is_free(solids, corners)


def boxes(*obstacles, size=3):
    """A block of unit cubes with obstacles, and the same for the oracle."""
    vertices, hexes = worlds.grid(size)
    marks = np.zeros((size, size, size), bool)
    for each in obstacles:
        marks[each] = True
    loops = worlds.loops_of_hexes(hexes)
    world = worlds.World("boxes", cells.hexahedra(vertices, hexes, marks.ravel()), vertices, loops, marks.ravel())
    return world, world.parts()


def test_an_obstacle_inside_the_sweep_is_seen_only_continuously():
    """Figure 4.10, case 4: the edge passes over a small obstacle from one side to the other."""
    world, _ = boxes((1, 1, 1))
    start, goal = np.array([[0.05, 0.3, 1.5], [1.5, 2.95, 1.5]]), [2.95, 0.3, 1.5]
    for mode, status in (("quasi", cells.FREE), ("continuous", cells.COLLISION)):
        body = cells.Mobile(world.environment, (start, [[0, 1]]))
        moves = body.move([goal, start[1]], mode)
        assert moves.status.tolist() == [status, cells.FREE]
        assert moves.edge.tolist() == [-1 if status == cells.FREE else 0, -1]
    # The line from (1.5, 2.95) through the corner (1, 2) of the cube.
    assert abs(moves.time[0] - (1.5 - 2.65 * 0.5 / 0.95 - 0.05) / 2.9) < 1e-9
    assert moves.kind[0] == cells.EDGE
    assert np.allclose(moves.point[0], [1, 2, 1.5])
    assert np.allclose(moves.normal[0] @ (start[1] - moves.point[0]), 0)


def test_a_spike_enters_a_face_only_unseen_by_its_edges():
    """Figure 4.10, case 5: a vertex of the environment passes through a face whose edges touch nothing."""
    environment, parts = hall_with_a_spike()
    start = np.array([[3.0, 3.0, 3.5], [6.0, 3.5, 3.5], [3.5, 6.0, 3.5]])
    down = start - np.array([0.0, 0.0, 1.0])
    for faces, is_hit in (("none", False), ("quasi", True), ("continuous", True)):
        body = cells.Mobile(environment, (start, [[0, 1, 2]]))
        moves = body.move(down, "continuous", faces=faces, cull="none")
        assert bool(moves.is_hit.any()) == is_hit
        assert (moves.face >= 0).any() == is_hit
        if is_hit:
            row = int(np.argmax(moves.face >= 0))
            assert moves.kind[row] == cells.VERTEX
            assert np.allclose(moves.point[row], [4, 4, 3])
            assert moves.normal[row][2] < -0.5
            check_faces(parts, body)


CULLS = ("none", "cells", "direction", "both")


def move_with_each(bodies, targets, mode):
    """Move bodies that differ in their eliminations only: the same collisions, one by one. How many edge tests each made."""
    answers = {cull: body.move(targets, mode, cull=cull) for cull, body in bodies.items()}
    expected = answers["none"]
    for cull, moves in answers.items():
        for name in ("status", "position", "time", "kind", "dart", "normal", "point", "edge", "face", "cell"):
            assert (getattr(moves, name) == getattr(expected, name)).all(), (cull, name)
        asked = moves.edge_tests + moves.edges_inside + moves.edges_clear + moves.edges_behind
        assert (asked == expected.edge_tests).all(), cull
    return expected, np.array([answers[cull].edge_tests.sum() for cull in CULLS])


@pytest.mark.parametrize("make", [worlds.cubes, worlds.tetrahedra, worlds.plane], ids=lambda make: make.__name__)
@pytest.mark.parametrize("mode", ["quasi", "continuous"])
def test_eliminations_change_nothing(make, mode, rng):
    """A closed body is thrown about until it hits: all eliminations give the same collisions with fewer tests, and nothing ever crosses a wall."""
    world = make(rng)
    parts = world.parts()
    points = worlds.free_points(world, rng, 20)
    room = [min(oracle_room(parts, x), 0.3) for x in points]
    shape = (cube if world.environment.dimension == 3 else square)(points[int(np.argmax(room))], max(room) * 0.9)
    bodies = {cull: cells.Mobile(world.environment, shape) for cull in CULLS}
    tested, hits = np.zeros(4, int), 0
    for _ in range(STEPS):
        here = bodies["none"].position
        shift = rng.normal(scale=0.3, size=here.shape[1]) + rng.normal(scale=0.01, size=here.shape)
        moves, counts = move_with_each(bodies, here + shift, mode)
        tested, hits = tested + counts, hits + int(moves.is_hit.sum())
    check_edges(parts, bodies["both"])
    if mode == "continuous":
        check_faces(parts, bodies["both"])
    assert (np.diff(tested[[0, 1, 3]]) <= 0).all()
    assert tested[2] <= tested[0]
    assert tested[3] < tested[0]
    assert hits > 0 or jit.INTERPRETED


def square(centre, size):
    """A closed loop in the plane."""
    return np.asarray(centre) + size * (np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) - 0.5), [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
    ]


def hall_with_a_spike():
    """A cube of side 8 in six pyramids about (4, 4, 3), the one on the floor being an obstacle."""
    base = [[0, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0], [0, 0, 8], [8, 0, 8], [8, 8, 8], [0, 8, 8], [4, 4, 3]]
    sides = [(0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0), (4, 7, 6, 5)]
    pyramids = [[*loop, 8] for loop in sides]
    loops = [[loop, *([a, 8, b] for a, b in zip(loop, loop[1:] + loop[:1], strict=True))] for loop in map(list, sides)]
    bottom = [[0, 1, 2, 3], [0, 8, 1], [1, 8, 2], [2, 8, 3], [3, 8, 0]]
    environment = cells.mixed(
        np.array(base, float), pyramids=np.array([*pyramids, [0, 1, 2, 3, 8]]), obstacle=[False] * 5 + [True]
    )
    return environment, oracle.build(np.array(base, float), [*loops, bottom], [False] * 5 + [True])


def test_a_spike_inside_a_body_is_not_eliminated_by_direction():
    """A spike enters the lower face of a box unseen by its edges; the upper face is then pressed onto it, into the body."""
    environment, _ = hall_with_a_spike()
    vertices, faces = cube([3.4, 4.2, 0.5], 1.0)
    vertices = (vertices - [3.4, 4.2, 0]) * [4, 4, 1] + [3.4, 4.2, 3.2]
    bodies = {cull: cells.Mobile(environment, (vertices, faces)) for cull in CULLS}
    for _ in range(2):
        moves, _ = move_with_each(bodies, bodies["none"].position - np.array([0, 0, 0.2]), "quasi")
        assert not moves.is_hit.any()
    assert bodies["none"].position[:4, 2].max() < 3.0  # around the tip
    targets = bodies["none"].position.copy()
    targets[4:, 2] = 2.6
    moves, _ = move_with_each(bodies, targets, "quasi")
    assert (moves.edge[4:] >= 0).any()


@pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads in plain Python")
def test_threads_change_nothing(rng, monkeypatch):
    world = worlds.tetrahedra(rng)
    centres = [x for x in worlds.free_points(world, rng, 60) if oracle_room(world.parts(), x) > 0.05]
    parts = [cube(x, 0.02) for x in centres]
    vertices = np.concatenate([part[0] for part in parts])
    faces = np.concatenate([part[1] + 8 * k for k, part in enumerate(parts)])
    one = cells.Mobile(world.environment, (vertices, faces))
    goal = vertices + rng.normal(scale=0.5, size=vertices.shape)
    cells.Mobile(world.environment, (vertices, faces)).move(
        vertices
    )  # from the second move on voxels are known, and counts differ
    expected = one.move(goal, "continuous", faces="none")
    assert expected.is_hit.any()
    for group in one.groups:
        members = set(group.tolist())
        assert not any(a in members and b in members for a, b in one.edges.tolist())
    monkeypatch.setattr("abut.cells.mobile.mobile.PARALLEL_FROM", 1)
    monkeypatch.setattr("abut.cells.mobile.mobile.thread_count", lambda: 3)
    moves = cells.Mobile(world.environment, (vertices, faces)).move(goal, "continuous", faces="none")
    for name in ("status", "position", "time", "kind", "dart", "normal", "point", "edge", "tests", "cell"):
        assert (getattr(moves, name) == getattr(expected, name)).all(), name


def test_a_deformed_environment_is_followed():
    world, _ = boxes((2, 1, 1))
    body = cells.Mobile(world.environment, (np.array([[0.5, 1.5, 1.5], [1.5, 1.5, 1.5]]), [[0, 1]]))
    vertices = world.vertices.copy()
    vertices[:, 0] *= 2
    world.environment.deform(vertices)
    assert body.settle().tolist() == [False, False]
    moves = body.move(body.position + np.array([2.0, 0.0, 0.0]))
    assert moves.status.tolist() == [cells.FREE, cells.FREE]
    assert body.move(body.position + np.array([2.0, 0.0, 0.0])).is_hit.any()


def test_bad_bodies_and_moves():
    world, _ = boxes((1, 1, 1))
    points = np.array([[0.5, 1.5, 1.5], [2.5, 1.5, 1.5], [0.5, 0.5, 0.5]])
    with pytest.raises(InvalidInput, match=r"edges\[1\].*free cells"):
        cells.Mobile(world.environment, (points, [[0, 2], [0, 1]]))
    with pytest.raises(InvalidInput, match="obstacle"):
        cells.Mobile(world.environment, ([[1.5, 1.5, 1.5], [0.5, 0.5, 0.5]], [[0, 1]]))
    with pytest.raises(InvalidInput, match="more than once"):
        cells.Mobile(world.environment, (points, [[0, 2], [2, 0]]))
    points[1] = [2.5, 0.5, 0.5]
    body = cells.Mobile(world.environment, (points, [[0, 2], [1, 2]]))
    with pytest.raises(InvalidInput, match="2 rows for 3"):
        body.move(points[:2])
    with pytest.raises(InvalidInput, match="mode"):
        body.move(points, "fast")
    with pytest.raises(InvalidInput, match=r"targets.*NaN"):
        body.move(np.where(np.eye(3) > 0, np.nan, points))
    with pytest.raises(Unsupported, match="direction"):
        body.move(points, cull="both")
    with pytest.raises(Unsupported, match="faces"):
        body.move(points, faces="quasi")
