"""Materials: what two surfaces make of their numbers, belts that start and stop, surfaces that hold from one side."""

import pickle

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from abut.world import Material
from world.collisions import DT, about, at, run

ORDER = (None, "average", "minimum", "multiply", "maximum")


def by_hand(quantity, a, b, rule_a, rule_b):
    """What counts for two numbers, from the text of `Material`."""
    rule = ORDER[max(ORDER.index(rule_a), ORDER.index(rule_b))]
    if rule is None:
        return (a * b) ** 0.5 if quantity == "friction" else max(a, b)
    return {"average": (a + b) / 2, "minimum": min(a, b), "multiply": a * b, "maximum": max(a, b)}[rule]


def some_rules():
    pairs = [(a, b) for a in ORDER for b in ORDER]
    return pairs[::7] if jit.INTERPRETED else pairs


@pytest.mark.large
def test_friction_of_two_rules_slows_a_box():
    rng = np.random.default_rng(1)
    for rule_a, rule_b in some_rules():
        a, b = rng.uniform(0.1, 0.9, 2)
        world = abut.World()
        ground = Material(a, friction_rule=rule_a)
        world.add(shapes.Box((90, 90, 1)), at(0, 0, -0.5), kind="static", material=ground)
        surface = Material(b, friction_rule=rule_b)
        box = world.add(shapes.Box((1, 1, 0.3)), at(0, 0, 0.1475), velocity=(5, 0, 0), material=surface)
        run(world, 6)
        start = world.velocities(box)[0, 0]
        run(world, 12)
        slowed = (start - world.velocities(box)[0, 0]) / (12 * DT)
        assert slowed == pytest.approx(9.81 * by_hand("friction", a, b, rule_a, rule_b), rel=5e-3), (rule_a, rule_b)


def test_restitution_of_two_rules_parts_balls():
    rng = np.random.default_rng(2)
    for rule_a, rule_b in some_rules():
        a, b = rng.uniform(0.1, 0.9, 2)
        world = abut.World((0, 0, 0), substeps=2)
        world.add(shapes.Sphere(1.0), kind="static", material=Material(restitution=a, restitution_rule=rule_a))
        surface = Material(restitution=b, restitution_rule=rule_b)
        ball = world.add(shapes.Sphere(0.5), at(1.6), velocity=(-3, 0, 0), material=surface)
        run(world, 8)
        expected = 3 * by_hand("restitution", a, b, rule_a, rule_b)
        assert world.velocities(ball)[0, 0] == pytest.approx(expected, rel=1e-9), (rule_a, rule_b)


def test_a_material_says_the_same_as_its_numbers():
    poses = []
    for options in (
        {"friction": 0.3, "restitution": 0.4, "rolling": 0.01},
        {"material": Material(0.3, 0.4, 0.01)},
    ):
        world = abut.World(substeps=2)
        world.add(shapes.Box((9, 9, 1)), at(0, 0, -0.5), kind="static", **options)
        world.add(shapes.Sphere(0.5), at(0, 0, 0.6), velocity=(1, 0, 0), **options)
        run(world, 10)
        poses.append(world.poses())
    assert np.array_equal(*poses)


@pytest.mark.large
def test_a_belt_that_starts_takes_a_sleeper_along_and_one_that_stops_lets_it_sleep():
    world = abut.World()
    floor = world.add(shapes.Box((90, 9, 1)), at(0, 0, -0.5), kind="static", friction=0.5)
    box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.4975))
    run(world, 60)
    assert world.asleep(box)[0]
    world.set_material(floor, Material(surface_velocity=(1, 0, 0)))
    assert not world.asleep(box)[0]
    run(world, 60)
    assert world.velocities(box)[0, 0] == pytest.approx(1.0, rel=1e-3)
    world.set_material([floor], Material())
    run(world, 90)
    assert world.asleep(box)[0]


@pytest.mark.large
def test_a_ball_jumps_through_a_platform_and_lands_on_it():
    """From below it keeps its parabola; from above it is held; a box that starts in the middle falls out; from the side it goes through."""
    for turn in (np.eye(3), about((0, 0, 1), 1.0), about((1, 0, 0), np.pi)):
        world = abut.World()
        way = turn.T @ (0, 0, 1)
        world.add(shapes.Box((4, 4, 0.2)), at(0, 0, 0, turn), kind="static", material=Material(one_way=way))
        jumper = world.add(shapes.Sphere(0.3), at(-1, 0, -1), velocity=(0, 0, 7))
        lander = world.add(shapes.Box((0.5, 0.5, 0.5)), at(1, 0, 1))
        inside = world.add(shapes.Box((0.5, 0.5, 0.5)), at(0, -1.3, 0))
        walker = world.add(shapes.Sphere(0.3), at(-4, 1.2, 0), velocity=(9, 0, 0), gravity_scale=0.0)
        heights = []
        for k in range(120):
            world.step(DT)
            heights.append(world.poses(jumper)[0, 2, 3])
            time = (k + 1) * DT
            # As long as it is near the platform it is not free, and velocities come first in each of eight substeps.
            assert heights[k] == pytest.approx(-1 + 7 * time - 0.5 * 9.81 * time**2, abs=9.81 * DT**2 / 2) or k > 60
        assert max(heights) == pytest.approx(-1 + 49 / 19.62, abs=1e-3)
        assert heights[-1] == pytest.approx(0.4, abs=world.slop)
        assert world.poses(lander)[0, 2, 3] == pytest.approx(0.35, abs=world.slop)
        assert world.poses(inside)[0, 2, 3] < -5.0
        np.testing.assert_allclose(world.velocities(walker)[0], (9, 0, 0), atol=1e-12)


@pytest.mark.large
@pytest.mark.parametrize("speed", [3.0, 30.0, 300.0])
def test_a_platform_holds_and_lets_through_at_any_speed(speed):
    for continuous in (False, True):
        if speed > 30.0 and not continuous:
            continue
        world = abut.World((0, 0, 0))
        world.add(shapes.Box((4, 4, 0.2)), kind="static", material=Material(one_way=(0, 0, 1)))
        options = {"continuous": continuous, "restitution": 0.5}
        up = world.add(shapes.Sphere(0.3), at(-1, 0, -1.13), velocity=(0, 0, speed), **options)
        down = world.add(shapes.Sphere(0.3), at(1, 0, 1.13), velocity=(0, 0, -speed), **options)
        run(world, 40)
        assert world.velocities(up)[0, 2] == pytest.approx(speed)
        assert world.velocities(down)[0, 2] == pytest.approx(0.5 * speed, rel=1e-6)


@pytest.mark.large
def test_sleep_and_pickles_do_not_forget_who_passes():
    world = abut.World()
    world.add(shapes.Box((4, 4, 0.2)), kind="static", material=Material(one_way=(0, 0, 1)))
    box = world.add(shapes.Box((0.5, 0.5, 0.5)), at(0, 0, 0.35))
    slow = world.add(shapes.Box((0.5, 0.5, 0.5)), at(1, 0, 0.2), gravity_scale=0.02)
    run(world, 20)
    twin = pickle.loads(pickle.dumps(world))
    run(world, 50)
    run(twin, 50)
    assert np.array_equal(world.poses(), twin.poses())
    assert world.asleep(box)[0]
    assert world.velocities(slow)[0, 2] == pytest.approx(-0.02 * 9.81 * 70 / 60)
    world.apply_impulse(box, (0.0, 0.0, 0.01))
    run(world, 60)
    assert world.poses(box)[0, 2, 3] == pytest.approx(0.35, abs=world.slop)


@pytest.mark.parametrize(
    "wrong",
    [
        {"friction": -1},
        {"restitution": 2},
        {"rolling": np.nan},
        {"friction_rule": "mean"},
        {"restitution_rule": 3},
        {"surface_velocity": (1, 2)},
        {"one_way": (0, 0, 0)},
        {"one_way": 1},
    ],
)
def test_materials_that_are_none_are_refused(wrong):
    with pytest.raises(abut.InvalidInput, match=next(iter(wrong))):
        Material(**wrong)


def test_a_material_beside_its_numbers_is_refused():
    world = abut.World()
    for wrong in ({"friction": 0.3, "material": Material()}, {"material": 0.3}, {"material": "ice"}):
        with pytest.raises(abut.InvalidInput, match="material"):
            world.add(shapes.Sphere(0.5), **wrong)
    with pytest.raises(abut.InvalidInput, match="material"):
        world.set_material(world.add(shapes.Sphere(0.5)), None)
    assert repr(Material(0.3, 0.1, one_way=(0, 0, 5), surface_velocity=(1, 0, 0), restitution_rule="average")) == (
        "Material(friction 0.3, restitution 0.1 average, conveyor, one way)"
    )
