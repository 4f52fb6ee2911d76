"""What edges and faces sweep, against areas and volumes in rational arithmetic: the verdict, the time and the state left behind."""

import numpy as np
import pytest

from abut import cells, jit
from abut.errors import InvalidInput
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps
from cells import worlds
from conftest import SOAK

EDGES = 1500 if SOAK else (4 if jit.INTERPRETED else 8)
FACES = 300 if SOAK else 2
EARLIEST = 2.0**-20
"""How early a time may be, as a share of the step: where a hit is found on a second try, the gap left before the first counts."""


def lone(make):
    """A world with a single obstacle in its middle, so that large sweeps hold it wholly."""

    def build(rng):
        world = make(rng)
        middle = np.array(
            [world.vertices[sorted({v for loop in cell for v in loop})].mean(axis=0) for cell in world.loops]
        )
        marks = np.zeros(len(world.loops), bool)
        marks[np.argmin(np.abs(middle - world.vertices.mean(axis=0)).sum(axis=1))] = True
        world.environment.set_obstacle(np.arange(len(marks)), marks)
        return world._replace(obstacle=marks)

    build.__name__ = f"lone_{make.__name__}"
    return build


WORLDS = [*worlds.WORLDS, lone(worlds.cubes), lone(worlds.tetrahedra), lone(worlds.plane)]
SOLID = [worlds.cubes, worlds.tetrahedra, lone(worlds.cubes), lone(worlds.tetrahedra)]


def bodies(world, rng, corner_count):
    """Free bodies of one edge or one face, and where their first vertex goes; some ends lie on vertices, edges and faces of the cells."""
    edges = [[0, 1]] if corner_count == 2 else None
    while True:
        corners = worlds.free_points(world, rng, corner_count)
        if rng.random() < 0.5:
            corners[1:] = worlds.aim(world, rng, corners)[1:]
        if rng.random() < 0.2:
            corners[0] = worlds.aim(world, rng, corners)[0]
        goal = worlds.aim(world, rng, corners)[0]
        try:
            body = cells.Mobile(world.environment, (corners, edges if edges else [[0, 1, 2]]))
        except InvalidInput:
            continue
        yield body, corners, goal


def check_time(time, expected):
    assert time <= expected
    assert time >= float(expected) * (1 - EARLIEST) - 1e-12


def check_contact(world, corners, goal, moves):
    """What an edge is said to have hit is touched by it where it stopped (figure 4.11), and the normal points along the motion."""
    if moves.edge[0] < 0:
        return
    heading = np.linalg.norm(goal - corners[0])
    assert abs(np.linalg.norm(moves.normal[0]) - 1) < 1e-9
    assert moves.normal[0] @ (goal - corners[0]) > -1e-9 * heading
    if moves.kind[0] == world.environment.dimension - 2:
        along = corners[1] - moves.position[0]
        share = np.clip((moves.point[0] - moves.position[0]) @ along / max(along @ along, 1e-300), 0, 1)
        assert np.linalg.norm(moves.position[0] + share * along - moves.point[0]) < 1e-5 * (1 + heading)


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)
def test_swept_edges_agree_with_rational_areas(make, rng):
    world = make(rng)
    parts = world.parts()
    hits = 0
    for (body, corners, goal), _ in zip(bodies(world, rng, 2), range(EDGES), strict=False):
        expected = sweeps.sweep_edge(parts, corners[0], goal, corners[1])
        targets = np.array([goal, corners[1]])
        moves = body.move(targets, "continuous", cull="none")
        if expected is None:
            left, _ = oracle.walk(parts, corners[0], goal)
            assert (moves.status[0] == cells.COLLISION) == (left < 1)
            continue
        assert (moves.status[0] == cells.COLLISION) == (expected < 1)
        hits += expected < 1
        if expected < 1:
            check_time(moves.time[0], expected)
            check_contact(world, corners, goal, moves)
            reached = moves.position[0]
            assert sweeps.sweep_edge(parts, corners[0], reached, corners[1]) in (None, 1)
        else:
            assert (moves.position[0] == goal).all()
        again = cells.Mobile(world.environment, (corners, [[0, 1]])).move(targets, "continuous", cull="cells")
        assert (again.status == moves.status).all()
        assert (again.position == moves.position).all()
    assert hits > 0 or jit.INTERPRETED


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("search", ["exhaustive", "dichotomy"])
def test_quasi_continuous_edges(make, search, rng):
    """The new place of the edge decides; where it is hit, an exhaustive search finds the first contact of the whole sweep."""
    world = make(rng)
    parts = world.parts()
    for (body, corners, goal), _ in zip(bodies(world, rng, 2), range(EDGES // 2), strict=False):
        moves = body.move(np.array([goal, corners[1]]), "quasi", search=search, cull="none")
        left, _ = oracle.walk(parts, corners[0], goal)
        is_hit = left < 1 or oracle.walk(parts, goal, corners[1])[0] < 1
        assert (moves.status[0] == cells.COLLISION) == is_hit
        assert oracle.walk(parts, moves.position[0], corners[1])[0] == 1
        check_contact(world, corners, goal, moves)
        expected = sweeps.sweep_edge(parts, corners[0], goal, corners[1])
        if is_hit and search == "exhaustive" and expected is not None and left == 1:
            check_time(moves.time[0], expected)


@pytest.mark.large
@pytest.mark.parametrize("make", SOLID, ids=lambda make: make.__name__)
def test_swept_faces_agree_with_rational_volumes(make, rng):
    world = make(rng)
    parts = world.parts()
    done = 0
    for body, corners, goal in bodies(world, rng, 3):
        try:
            moves = body.move(np.array([goal, *corners[1:]]), "continuous", cull="none")
        except InvalidInput:  # its edges are free, but not its face
            continue
        expected = sweeps.sweep_face(parts, corners[0], goal, corners[1], corners[2])
        done += 1
        if done > FACES:
            break
        if expected is None:
            continue
        assert (moves.status[0] == cells.COLLISION) == (expected < 1)
        if expected < 1:
            check_time(moves.time[0], expected)
            reached = moves.position[0]
            assert sweeps.sweep_face(parts, corners[0], reached, corners[1], corners[2]) in (None, 1)
