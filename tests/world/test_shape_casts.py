"""`sweep_shape` against formulas, and against the oracle that looks at many moments one by one: no overlap before its time, one at once after it."""

import numpy as np
import pytest

import abut
from abut import scenes, shapes
from abut.core import jit
from conftest import SOAK
from pairs_of_shapes import CORES, OTHERS, Asked, at, random_turn
from world.collisions import about

ROUNDS = 20 if SOAK else (1 if jit.INTERPRETED else 3)
MOMENTS = 5 if jit.INTERPRETED else 100
SOON = 1e-6
"""Of the way: so much later the two overlap, where they did not only graze."""


def between(pose_a, pose_b, time):
    """The pose at a time, by a matrix's axis and angle (from its eigenvector), and the straight line."""
    turn = pose_b[:3, :3] @ pose_a[:3, :3].T
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.arctan2(np.linalg.norm(axis), np.trace(turn) - 1)
    part = about(axis, time * angle) if angle > 1e-12 else np.eye(3)
    return at(*(pose_a[:3, 3] + time * (pose_b[:3, 3] - pose_a[:3, 3])), part @ pose_a[:3, :3])


@pytest.mark.large
@pytest.mark.parametrize("other", OTHERS)
def test_nothing_is_met_before_the_time_and_something_is_at_it(other):
    rng = np.random.default_rng(len(other) * 37 + ord(other[0]))
    world, hits = Asked(OTHERS[other]), 0
    for name, core in list(CORES.items())[:: 3 if jit.INTERPRETED else 1]:
        for k in range(ROUNDS):
            way, aside = rng.normal(size=3), rng.normal(size=3) * 0.5
            if other == "terrain":  # which has no sides: from above, to its middle
                way, aside = way * (0.2, 0.2, 0.0) - (0, 0, 1), aside * 0.3 + (1.2, 1.2, 0.0)
            way *= 7.0 / np.linalg.norm(way)
            first = at(*(aside - way), random_turn(rng))
            turn = np.eye(3) if k % 2 else about(rng.normal(size=3), rng.uniform(0.1, 2.5))
            last = at(*(aside + way), turn @ first[:3, :3])
            hit = world.sweep_shape(core, first, last)
            moments = np.linspace(0, 1, MOMENTS)
            poses = np.stack([between(first, last, t) for t in moments])
            over = world.closest_many(core, poses).distance <= 0.0
            told = (name, k, hit, moments[over][:1])
            if hit is None:
                assert not over.any(), told
                continue
            hits += 1
            assert not over[moments < hit.time].any(), told
            np.testing.assert_allclose(hit.pose, between(first, last, hit.time), atol=1e-9)
            there = world.closest(core, hit.pose)
            assert there.distance <= 1e-7, told
            soon = world.closest(core, between(first, last, min(hit.time + SOON, 1.0))).distance
            assert soon <= max(there.distance, 1e-9) + 1e-7, told
            assert hit.body == there.body, told
    assert jit.INTERPRETED or hits > 0


def test_balls_meet_where_the_formula_says():
    """|a + t·v| = r + s."""
    rng = np.random.default_rng(2)
    for _ in range(3 if jit.INTERPRETED else 100):
        world = abut.World()
        place, radii = rng.normal(size=3) * 3, rng.uniform(0.1, 0.6, 2)
        ball = world.add(shapes.Sphere(radii[0]), at(*place))
        start, end = place + rng.normal(size=3) * 4, place + rng.normal(size=3)
        hit = world.sweep_shape(shapes.Sphere(radii[1]), at(*start), at(*end, random_turn(rng)))
        way, away = end - start, start - place
        root = (way @ away) ** 2 - way @ way * (away @ away - radii.sum() ** 2)
        time = (-(way @ away) - np.sqrt(root)) / (way @ way) if root >= 0.0 else np.inf
        if away @ away <= radii.sum() ** 2:
            assert hit.time == 0.0
        elif 0.0 <= time <= 1.0:
            assert (hit.body, hit.time) == (ball, pytest.approx(time, rel=1e-7))
            assert hit.time <= time
            np.testing.assert_allclose(hit.normal, -(start + time * way - place) / radii.sum(), atol=1e-3)
        else:
            assert hit is None


def test_the_first_of_many_is_met_and_layers_and_sensors_count():
    world = abut.World()
    bodies = [world.add(shapes.Box((0.2, 3, 3)), at(x), layer=1 << k) for k, x in enumerate((4.0, 3.0, 2.0))]
    world.add(shapes.Box((0.2, 3, 3)), at(1.0), kind="sensor")
    world.add(scenes.cloth(4, 4, 3.0, (0, 0, 9)), kind="static")
    ball, ends = shapes.Sphere(0.1), (at(), at(10))
    for mask, k in ((7, 2), (3, 1), (1, 0)):
        hit = world.sweep_shape(ball, *ends, mask=mask)
        assert (hit.body, hit.time) == (bodies[k], pytest.approx((3.8 - k) / 10, abs=1e-9))
    assert world.sweep_shape(ball, *ends, mask=8) is None
    assert world.sweep_shape(ball, at(0, 0, 8), at(0, 0, 10)).time == pytest.approx(0.45, abs=1e-9)


def test_touching_standing_still_and_turning_on_the_spot():
    world = abut.World((0, 0, 0))
    world.add(shapes.Box((1, 1, 1)), at(2.0))
    box, rod = shapes.Box((1, 1, 1)), shapes.Box((0.1, 4, 0.1))
    assert world.sweep_shape(box, at(1.0), at(-5.0)).time == 0.0  # touching counts
    assert world.sweep_shape(box, at(1.2), at(5.0)).time == 0.0  # in it
    assert world.sweep_shape(box, at(0.9), at(-5.0)) is None
    assert world.sweep_shape(box, at(0.9), at(0.9)) is None
    assert world.sweep_shape(box, at(-3.0), at(0.9)) is None
    quarter = world.sweep_shape(rod, at(), at(0, 0, 0, about((0, 0, 1), -np.pi / 2)))
    # The rod's long side comes to the corner (1.5, 0.5): at angle φ from y it is 0.05 from the line through the origin.
    assert quarter.time == pytest.approx(
        (np.arctan2(1.5, 0.5) - np.arcsin(0.05 / np.hypot(1.5, 0.5))) / (np.pi / 2), abs=1e-7
    )
    assert abut.World().sweep_shape(box, at(), at(1)) is None


def test_a_surface_does_not_move_as_a_question():
    world = abut.World()
    world.add(shapes.Sphere(0.5))
    with pytest.raises(abut.Unsupported):
        world.sweep_shape(scenes.torus(), at(), at(1))
