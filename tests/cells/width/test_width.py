"""Mobiles with a radius: never nearer to a wall than that, by distances in rationals; times never late; walls at rest and walls that move."""

from fractions import Fraction

import numpy as np
import pytest

import abut
from abut import InvalidInput, Unsupported, cells, dynamics, scenes
from abut.core import jit
from cells import worlds
from cells.width import oracle_width as oracle
from conftest import SOAK

ROUNDING = Fraction(2**40 - 1, 2**40)
"""By which a body may be nearer than its radius."""


def parts_of(body):
    """What the body consists of, as rows of its vertices."""
    rows = [*body.edges.tolist(), *body.faces.tolist()]
    return rows + [[k] for k in set(range(len(body))) - {k for row in rows for k in row}]


def least_sq(body, position=None):
    """The exact square of the distance to the walls, None where they are further away than twice the radius."""
    env = body.environment
    at = body.position if position is None else position
    return oracle.least_distance_sq(parts_of(body), at, oracle.list_walls(env), env.vertices, 2 * body.radius)


def check_apart(body):
    gap = least_sq(body)
    assert gap is None or gap >= (Fraction(body.radius) * ROUNDING) ** 2, float(gap) ** 0.5 / body.radius


def hall(scale=1.0):
    """A cube of cubes, some of them obstacles."""
    vertices, hexes = worlds.grid(3)
    marks = np.zeros(27, np.bool_)
    marks[[4, 13, 17, 25]] = True
    return cells.hexahedra(scale * vertices, hexes, marks)


def yard(scale=1.0):
    """Squares of the plane, one of them an obstacle."""
    vertices = scale * np.array([[x, y] for y in range(4) for x in range(4)], float)
    rows = [[i + 4 * j, i + 1 + 4 * j, i + 5 + 4 * j, i + 4 + 4 * j] for j in range(3) for i in range(3)]
    return cells.polygons(vertices, rows, [k == 4 for k in range(9)])


PLATE = [[0.3, 0.3, 0.4], [0.7, 0.3, 0.5], [0.3, 0.6, 0.6], [0.3, 0.7, 0.3]]
BODIES = {
    "rod in the plane": lambda s: cells.Mobile(yard(s), (s * np.array(PLATE)[:2, :2], [[0, 1]]), 0.2 * s),
    "chain": lambda s: cells.Mobile(hall(s), (s * np.array(PLATE), [[0, 1], [1, 2], [2, 3]]), 0.125 * s),
    "plate": lambda s: cells.Mobile(hall(s), (s * np.array(PLATE), [[0, 1, 2], [0, 2, 3]]), 0.0625 * s),
    "beads": lambda s: cells.Mobile(hall(s), (s * np.array(PLATE), np.empty((0, 2), int)), 0.25 * s),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_no_move_brings_a_body_nearer_than_its_radius(name, scale):
    hits, few = 0, jit.INTERPRETED or scale != 1.0
    for seed in range(30 if SOAK else 1):
        rng, body = np.random.default_rng(seed), BODIES[name](scale)
        for _ in range(2 if few else 4):
            before = body.position
            shift = rng.normal(scale=0.6, size=before.shape[1])
            goal = before + scale * (shift + rng.normal(scale=0.15, size=before.shape))
            response, after = [("static", "stop"), ("static", "slide"), ("rigid", "stop")][rng.integers(3)]
            moves = body.move(goal, "continuous", response, after=after)
            check_apart(body)
            hits += int(moves.is_hit.sum())
            if response == "static":
                assert (body.position == goal)[~moves.is_hit].all()
            else:  # all stop at the same share
                check_time(body, before, goal, float(moves.time[0]))
    assert hits


def check_time(body, before, goal, time):
    """On its straight way a body is nowhere nearer than its radius up to the time, and is as near as that then."""
    for share in (0.5, 0.9375, 1.0):
        gap = least_sq(body, before + share * time * (goal - before))
        assert gap is None or gap >= (Fraction(body.radius) * ROUNDING) ** 2
    if time < 1.0:
        assert gap is not None
        assert gap <= (Fraction(body.radius) * (1 + Fraction(1, 2**9))) ** 2  # it stops 2⁻¹⁰ of the radius before


def test_a_rod_stops_before_a_cube_that_only_its_middle_would_meet():
    env = cells.channel(3, 3, 3, obstacle=np.arange(27) == 13)
    rod = cells.Mobile(env, ([[0.5, 0.75, 1.5], [0.75, 0.5, 1.5]], [[0, 1]]), radius=0.125)
    moves = rod.move([[0.875, 2.5, 1.5], [2.5, 0.875, 1.5]], response="rigid")
    assert moves.status.tolist() == [cells.COLLISION] * 2
    assert moves.point[0] == pytest.approx([1.0, 1.0, 1.5], abs=1e-3)
    assert moves.normal[0] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0], abs=1e-3)
    near = rod.clearance()
    assert near.edge.tolist() == [0]
    assert near.distance[0] == pytest.approx(0.125, rel=2**-9)


def test_a_body_that_lies_on_a_wall_slides_along_it_and_leaves_it():
    env = cells.channel(3, 1, 1)
    rod = cells.Mobile(env, ([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], [[0, 1]]), radius=0.25)
    rod.move(rod.position - [0.0, 0.0, 1.0])
    for _ in range(3):
        moves = rod.move(rod.position + np.array([0.25, 0.0, -1.0]), after="slide")
        assert moves.is_hit.all()
    assert rod.position[:, 0] == pytest.approx([1.25, 2.25], abs=1e-3)
    assert not rod.move(rod.position + np.array([0.0, 0.125, 0.0])).is_hit.any()
    assert not rod.move(rod.position + np.array([0.0, 0.0, 0.125])).is_hit.any()
    check_apart(rod)


def test_a_passage_that_is_narrower_than_the_body_is_not_entered():
    vertices = [
        [0, 0],
        [2, 0],
        [4, 0],
        [0, 0.9],
        [2, 0.9],
        [4, 0.9],
        [0, 1.1],
        [2, 1.1],
        [4, 1.1],
        [0, 2],
        [2, 2],
        [4, 2],
    ]
    rows = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7], [6, 7, 10, 9], [7, 8, 11, 10]]
    env = cells.polygons(vertices, rows, [False, True, False, False, False, True])
    for radius, is_hit in ((0.125, True), (0.0625, False)):
        ball = cells.Mobile(env, ([[1.0, 1.0]], np.empty((0, 2), int)), radius)
        assert ball.move([[3.5, 1.0]]).is_hit.tolist() == [is_hit]
        assert ball.position[0, 0] == (
            pytest.approx(2.0 - 0.075, abs=1e-3) if is_hit else 3.5
        )  # 0.075² + 0.1² = 0.125²
        check_apart(ball)


def test_what_a_radius_refuses():
    env = cells.channel(2, 1, 1)
    rod = ([[0.5, 0.5, 0.2], [1.5, 0.5, 0.5]], [[0, 1]])
    with pytest.raises(InvalidInput, match=r"is 0\.2 away from a wall") as told:
        cells.Mobile(env, rod, radius=0.3)
    assert (told.value.name, told.value.row) == ("edges", 0)
    with pytest.raises(InvalidInput, match="radius"):
        cells.Mobile(env, rod, radius=-1.0)
    body = cells.Mobile(env, rod, radius=0.2)
    for options in ({"response": "adaptive"}, {"response": "hybrid"}, {"after": "bounce"}):
        with pytest.raises(Unsupported):
            body.move(body.position, **options)
    with pytest.raises(InvalidInput, match="within"):
        cells.Mobile(env, rod).clearance()
    assert cells.Mobile(env, rod).clearance(0.25).distance[0] == pytest.approx(0.2)


def ridge():
    vertices = [[0, 0], [1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [2, 2], [3, 2], [1.5, 0.25]]
    rows = [[0, 1, 5, 4], [1, 8, 6, 5], [8, 2, 6], [2, 3, 7, 6], [1, 2, 8]]
    return cells.polygons(vertices, rows, [False] * 4 + [True])


def test_a_corner_that_rises_pushes_a_bar_ahead_of_it():
    env = ridge()
    bar = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]), radius=0.125)
    env.deform([[1.5, 1.0]], moved=[8])
    assert bar.settle().tolist() == [True, True]
    reached = bar.reached
    assert (reached.edge.tolist(), reached.is_free.tolist()) == ([0], [True])
    assert 1 / 6 - 1e-3 < reached.time[0] <= 1 / 6
    assert 8 in reached.corners[0]
    assert (bar.position[:, 1] < 1.13).all()
    check_apart(bar)
    assert not bar.settle().any()


def test_a_deformation_stops_where_a_wall_is_as_near_as_it_may_be():
    env = ridge()
    bar = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]), radius=0.125)
    share = env.deform([[1.5, 1.0]], moved=[8], stop=True)
    assert 1 / 6 - 1e-3 < share <= 1 / 6
    assert not bar.settle().any()
    assert bar.position.tolist() == [[0.5, 0.5], [2.5, 0.5]]
    check_apart(bar)


def test_a_post_that_passes_over_a_bar_takes_it_along():
    """In one step it goes from one side of the bar to the other; its flat side lies along the bar, which turns about its top."""
    x, y = (0.0, 1.0, 1.125, 4.0), (0.0, 1.0, 2.0)
    vertices = np.array([[a, b] for b in y for a in x])
    squares = [[i + 4 * j, i + 1 + 4 * j, i + 5 + 4 * j, i + 4 + 4 * j] for j in range(2) for i in range(3)]
    env = cells.polygons(vertices, squares, [k == 1 for k in range(6)])
    bar = cells.Mobile(env, ([[1.5, 0.5], [1.5, 1.75]], [[0, 1]]), radius=0.0625)
    env.deform(env.vertices + np.array([1.0, 0.0]) * np.isin(np.arange(12), [1, 2, 5, 6])[:, np.newaxis])
    assert bar.settle().any()
    assert bar.reached.edge.tolist() == [0]
    assert bar.position[0, 0] > 2.125  # beside the post, on the same side as before
    check_apart(bar)


def test_a_body_without_room_is_told_and_free_to_leave():
    env = ridge()
    bar = cells.Mobile(env, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]), radius=0.125)
    env.deform([[1.5, 1.875]], moved=[8])
    bar.settle()
    assert bar.reached.is_free.tolist() == [False]
    assert (bar.position[:, 1] > 1.875).all()
    assert bar.clearance().distance[0] > 0.03
    env.deform([[1.5, 0.25]], moved=[8])
    bar.settle()
    bar.move(bar.position - [0.0, 1.0])
    check_apart(bar)


def run_vessel(steps, check_each, length=26):
    """A catheter in a beating vessel; how many steps had contacts."""
    vessel = scenes.beating_vessel(length)
    env = vessel.environment
    body = cells.Mobile(env, (vessel.points, vessel.edges), vessel.radius)
    walls = [ring for ring in oracle.list_walls(env) if set(ring) & set(vessel.rows.tolist())]
    touched = 0
    for step in range(steps):
        env.deform(vessel.beat(step + 1), moved=vessel.rows)
        pushed = body.settle()
        assert body.reached.is_free.all(), step
        vessel.push(step)
        moves = dynamics.couple(vessel.model, body, 0.05, after="slide")
        touched += int(pushed.any() or moves.is_hit.any())
        if step % check_each == 0:
            gap = oracle.least_distance_sq(body.edges.tolist(), body.position, walls, env.vertices, 1.5 * vessel.radius)
            assert gap is None or gap >= (Fraction(vessel.radius) * ROUNDING) ** 2, (step, float(gap) ** 0.5)
            check_inside(body)
    return touched


def check_inside(body):
    """Every vertex lies in its tetrahedron, by rational arithmetic."""
    env = body.environment
    for p, cell in zip(body.position, body.cell.tolist(), strict=True):
        for ring in env.faces_of(cell):
            a, b, c = (oracle.exact(env.vertices[row]) for row in ring)
            assert (
                oracle.dot(oracle.cross(oracle.minus(b, a), oracle.minus(c, a)), oracle.minus(oracle.exact(p), a)) >= 0
            )


@pytest.mark.large
def test_no_wall_of_a_beating_vessel_comes_through_a_catheter():
    """2,000 steps with ABUT_SOAK, every one of them looked at."""
    assert run_vessel(2000 if SOAK else 60, 1 if SOAK else 20) > (1000 if SOAK else 10)


def test_a_radius_of_nothing_is_a_body_without_width():
    body = abut.cells.Mobile(cells.channel(2, 1, 1), ([[0.5, 0.5, 0.0], [1.5, 0.5, 0.0]], [[0, 1]]), radius=0)
    assert body.radius == 0.0
    assert not body.move(body.position + np.array([0.25, 0.0, 0.0])).is_hit.any()
