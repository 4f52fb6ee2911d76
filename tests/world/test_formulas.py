"""The world against formulas of mechanics: sliding, pushing, belts, pairs that collide. What else has one is in `test_laws` (rolling, slopes) and
`test_motion` (heights of bounces, the angle of friction).
"""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from abut.world import Material
from world.collisions import DT, about, at, run

G = 9.81
CASES = 1 if jit.INTERPRETED else 12
NEAR = 0.02
"""Part of a formula's value."""


def on_a_floor(friction, ground=None, turn=None, **options):
    """A flat box at rest on a floor, in the middle, the floor turned about z."""
    world = abut.World()
    world.add(
        shapes.Box((200, 200, 1)), at(0, 0, -0.5, turn), kind="static", material=ground or Material(friction=friction)
    )
    box = world.add(shapes.Box((1, 1, 0.4)), at(0, 0, 0.1975), friction=friction, **options)
    return world, box


@pytest.mark.large
def test_a_box_slides_as_far_as_its_speed_squared_over_twice_friction():
    rng = np.random.default_rng(1)
    for _ in range(CASES):
        friction, speed, way = rng.uniform(0.1, 0.9), rng.uniform(1, 6), rng.uniform(0, 2 * np.pi)
        direction = np.array([np.cos(way), np.sin(way), 0])
        world, box = on_a_floor(friction, velocity=speed * direction, mass=10.0 ** rng.uniform(-2, 2))
        run(world, int(speed / (friction * G) / DT) + 10)
        assert world.poses(box)[0, :3, 3] @ direction == pytest.approx(speed**2 / (2 * friction * G), rel=NEAR)
        assert np.abs(world.velocities(box)).max() < 1e-3 * speed


@pytest.mark.large
def test_a_box_is_pushed_by_what_a_force_has_beyond_friction():
    rng = np.random.default_rng(2)
    for part in (0.9, 1.1, 2.0):
        friction, mass = rng.uniform(0.2, 0.8), rng.uniform(0.5, 5)
        world, box = on_a_floor(friction, mass=mass)
        run(world, 10)
        for _ in range(60):
            world.apply_force(box, (part * friction * mass * G, 0, 0))
            world.step(DT)
        assert world.velocities(box)[0, 0] == pytest.approx(max(part - 1.0, 0.0) * friction * G, rel=0.01, abs=1e-4)


@pytest.mark.large
def test_a_belt_brings_a_box_to_its_speed_as_friction_allows():
    """In the time v / μg, on the way v² / 2μg; then both go together, in any direction of the floor's own frame, and nobody sleeps."""
    rng = np.random.default_rng(3)
    for _ in range(CASES):
        friction, speed, turn = rng.uniform(0.2, 0.8), rng.uniform(0.5, 3), about((0, 0, 1), rng.uniform(0, 6))
        direction = turn @ (0.6, 0.8, 0.0)
        belt = Material(friction, surface_velocity=(0.6 * speed, 0.8 * speed, 0.0))
        world, box = on_a_floor(friction, belt, turn)
        time = speed / (friction * G)
        run(world, int(0.5 * time / DT))
        passed = int(0.5 * time / DT) * DT
        assert world.velocities(box)[0] @ direction == pytest.approx(friction * G * passed, rel=NEAR, abs=1e-3)
        run(world, 90)
        passed += 90 * DT
        np.testing.assert_allclose(world.velocities(box)[0], speed * direction, atol=1e-3 * speed)
        assert world.poses(box)[0, :3, 3] @ direction == pytest.approx(speed * (passed - 0.5 * time), rel=NEAR)
        assert not world.asleep(box)[0]


@pytest.mark.large
@pytest.mark.parametrize("speed", [0.3, 2.0])
def test_a_ball_on_a_belt_rolls_with_two_sevenths_of_its_speed(speed):
    """Friction acts until its lowest point goes with the belt: m·v = J, 2/5·m·r²·ω = J·r, v + ω·r = the belt's speed."""
    world = abut.World()
    world.add(
        shapes.Box((90, 9, 1)), at(0, 0, -0.5), kind="static", material=Material(0.6, surface_velocity=(speed, 0, 0))
    )
    ball = world.add(shapes.Sphere(0.5), at(0, 0, 0.4975), friction=0.6, rolling=0.0)
    run(world, 60)
    assert world.velocities(ball)[0, 0] == pytest.approx(2 / 7 * speed, rel=NEAR)


@pytest.mark.large
def test_a_belt_that_moves_itself_keeps_momentum():
    """A plate with a belt on ice, and a box on the belt: they part, and their momentum stays."""
    world = abut.World()
    world.add(shapes.Box((90, 90, 1)), at(0, 0, -0.5), kind="static", material=Material(0.0, friction_rule="minimum"))
    belt = Material(0.7, surface_velocity=(1.5, 0, 0))
    plate = world.add(shapes.Box((8, 3, 0.4)), at(0, 0, 0.1975), mass=2.0, material=belt)
    box = world.add(shapes.Box((1, 1, 0.4)), at(0, 0, 0.595), mass=1.0, friction=0.7)
    run(world, 60)
    speeds = world.velocities([plate, box])[:, 0]
    assert 2.0 * speeds[0] + speeds[1] == pytest.approx(0.0, abs=1e-9)
    assert speeds[1] - speeds[0] == pytest.approx(1.5, rel=1e-3)
    assert not world.asleep().any()


@pytest.mark.large
def test_two_balls_part_with_their_restitution():
    rng = np.random.default_rng(5)
    for _ in range(4 * CASES):  # in every part of a step
        bounce, masses, speeds = rng.uniform(), 10.0 ** rng.uniform(-2, 2, 2), rng.uniform(1, 9, 2) * (1, -1)
        world = abut.World((0, 0, 0))
        balls = [
            world.add(shapes.Sphere(0.5), at(x), mass=m, velocity=(v, 0, 0), restitution=bounce)
            for x, m, v in zip((-0.8, 0.8), masses, speeds, strict=True)
        ]
        run(world, 24)
        whole, gap = masses @ speeds / masses.sum(), speeds[0] - speeds[1]
        expected = whole + bounce * gap * np.array([-masses[1], masses[0]]) / masses.sum()
        np.testing.assert_allclose(world.velocities(balls)[:, 0] - whole, expected - whole, rtol=1e-9)
