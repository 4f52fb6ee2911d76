"""What edges and faces sweep, against pieces in exact arithmetic: the verdict, the time and the state left behind.

With ABUT_SOAK, 25,000 edges (7,500 of them in the plane) and 12,500 faces; each world is a parameter set that can run by itself (`-k`).
"""

import itertools

import numpy as np
import pytest

from abut import cells
from abut.core import jit
from abut.core.errors import InvalidInput
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps
from cells import worlds
from conftest import SOAK

EDGES = 2500 if SOAK else (4 if jit.INTERPRETED else 40)
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


def speck(rng):
    """A cube of side 2⁻⁴ in the middle of 3³ cells, which many sweeps hold wholly."""
    vertices, hexes = worlds.grid(3)
    vertices[hexes[13]] = 1.5 + (vertices[hexes[13]] - 1.5) / 16
    marks = np.arange(27) == 13
    loops = worlds.loops_of_hexes(hexes)
    return worlds.World("speck", cells.hexahedra(vertices, hexes, marks), vertices, loops, marks)


def speck_in_plane(rng):
    """The same in the plane."""
    vertices = np.array(list(itertools.product(range(4), repeat=2)), float)
    rows = [[4 * i + j, 4 * i + 4 + j, 4 * i + 5 + j, 4 * i + 1 + j] for i in range(3) for j in range(3)]
    vertices[rows[4]] = 1.5 + (vertices[rows[4]] - 1.5) / 16
    marks = np.arange(9) == 4
    edges = [[[r[k], r[(k + 1) % 4]] for k in range(4)] for r in rows]
    return worlds.World("speck", cells.polygons(vertices, rows, marks), vertices, edges, marks)


WORLDS = [*worlds.WORLDS, lone(worlds.cubes), lone(worlds.tetrahedra), speck, speck_in_plane, lone(worlds.plane)]


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
        if world.name == "speck" and rng.random() < 0.4:
            goal = beyond_the_speck(rng, corners)
        try:
            body = cells.Mobile(world.environment, (corners, edges if edges else [[0, 1, 2]]))
        except InvalidInput:
            continue
        yield body, corners, goal


def beyond_the_speck(rng, corners):
    """A goal on the way to which the body sweeps over the middle of the world."""
    weights = rng.dirichlet(np.ones(1 + len(corners)))
    middle = 1.5 + rng.uniform(-0.04, 0.04, corners.shape[1])
    return np.clip((middle - weights[1:] @ corners) / weights[0], 0, 3)


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
def test_swept_edges_agree_with_pieces(make, rng):
    world = make(rng)
    parts = world.parts()
    solids = sweeps.Solids(parts)
    hits, unseen = 0, 0
    for (body, corners, goal), _ in zip(bodies(world, rng, 2), range(EDGES), strict=False):
        expected = sweeps.sweep(solids, [corners[0], goal, corners[1]])
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
            assert sweeps.sweep(solids, [corners[0], reached, corners[1]]) in (None, 1)
            unseen += all(oracle.walk(parts, goal, x)[0] == 1 for x in corners)
        else:
            assert (moves.position[0] == goal).all()
        again = cells.Mobile(world.environment, (corners, [[0, 1]])).move(targets, "continuous", cull="cells")
        assert (again.status == moves.status).all()
        assert (again.position == moves.position).all()
    assert hits > 0 or jit.INTERPRETED
    assert unseen > 0 or world.name != "speck" or jit.INTERPRETED  # the speck lay wholly inside the sweep


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("search", ["exhaustive", "dichotomy"])
def test_quasi_continuous_edges(make, search, rng):
    """The new place of the edge decides; where it is hit, an exhaustive search finds the first contact of the whole sweep."""
    world = make(rng)
    parts = world.parts()
    solids = sweeps.Solids(parts)
    for (body, corners, goal), _ in zip(bodies(world, rng, 2), range(EDGES // 4), strict=False):
        moves = body.move(np.array([goal, corners[1]]), "quasi", search=search, cull="none")
        left, _ = oracle.walk(parts, corners[0], goal)
        is_hit = left < 1 or oracle.walk(parts, goal, corners[1])[0] < 1
        assert (moves.status[0] == cells.COLLISION) == is_hit
        assert oracle.walk(parts, moves.position[0], corners[1])[0] == 1
        check_contact(world, corners, goal, moves)
        expected = sweeps.sweep(solids, [corners[0], goal, corners[1]])
        if is_hit and search == "exhaustive" and expected is not None and left == 1:
            check_time(moves.time[0], expected)


def test_a_gap_that_grew_at_one_contact_is_not_left_before_another():
    """The vertex passes the corner (2, 1, 2) of an obstacle exactly, so that most rounded ways towards the wall behind it touch that. The edge meets
    the corner first, and stops there but for a gap of its own."""
    env = cells.channel(3, 3, 3, obstacle=np.isin(np.arange(27), (23, 26)))
    start = np.array([[0.8, 1.1, 1.2], [1.6, 1.4, 1.8]])
    goal = 2 * np.array([2, 1, 2]) - start[0]
    moves = cells.Mobile(env, (start, [[0, 1]])).move([goal, start[1]], "continuous")
    assert moves.edge[0] == 0
    assert moves.point[0].tolist() == [2, 1, 2]
    assert np.linalg.norm(moves.position[0] - moves.point[0]) < 1e-6


@pytest.mark.large
def test_a_way_that_leaves_an_obstacle_again_has_met_it_before(rng):
    """The end of the edge would pass through an obstacle. What the edge would sweep behind that, up to its new place, counts for nothing."""
    world = worlds.warped(rng, 3)
    start = np.array([[3.0, 0.0, 2.580078125], [1.9072265625, 1.025390625, 0.0]])
    goal = np.array([1.47998046875, 2.06982421875, 1.5302734375])
    moves = cells.Mobile(world.environment, (start, [[0, 1]])).move([goal, start[1]], "continuous")
    check_time(moves.time[0], sweeps.sweep(sweeps.Solids(world.parts()), [start[0], goal, start[1]]))
