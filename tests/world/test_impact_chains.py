"""Impacts that go on from body to body in one step: against a list of balls on a line that meet two at a time, and the laws of both sums."""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit

RADIUS = 0.1


def line(speeds, masses, restitution, gap, first_gap, moving):
    """Balls on a line, without gravity and friction, of which the first `moving` come from afar."""
    world = abut.World(gravity=(0, 0, 0))
    x = (2.0 * RADIUS + gap) * np.arange(len(speeds))
    x[:moving] -= first_gap
    return world, [
        world.add(
            shapes.Sphere(RADIUS),
            position=(place, 0, 0),
            velocity=(speed, 0, 0),
            mass=mass,
            restitution=restitution,
            friction=0.0,
            rolling=0.0,
        )
        for place, speed, mass in zip(x, speeds, masses, strict=True)
    ]


def meet_two_at_a_time(speeds, masses, restitution):
    """Pairs that come nearer faster than the pairs on both sides, until none is left that is faster than a millionth."""
    v, m = np.array(speeds, float), np.array(masses, float)
    while True:
        approach = np.concatenate(([0.0], v[:-1] - v[1:], [0.0]))
        if approach.max() <= 1e-6:
            return v
        for k in range(1, len(v)):
            if approach[k] > max(1e-6, approach[k - 1], approach[k + 1]):
                impulse = (1.0 + restitution) * approach[k] * m[k - 1] * m[k] / (m[k - 1] + m[k])
                v[k - 1] -= impulse / m[k - 1]
                v[k] += impulse / m[k]


def run(world, seconds, dt):
    for _ in range(round(seconds / dt)):
        world.step(dt)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 1000])
@pytest.mark.parametrize("moving", [1, 2, 4])
def test_as_many_balls_of_a_cradle_leave_as_came(moving, dt):
    if jit.INTERPRETED and (dt < 1 / 60 or moving != 2):
        pytest.skip("many steps")
    speeds = [1.0] * moving + [0.0] * (5 - moving)
    world, balls = line(speeds, [1.0] * 5, 1.0, 1e-4, 0.25, moving)
    run(world, 0.5, dt)
    np.testing.assert_allclose(world.velocities(balls)[:, 0], speeds[::-1], atol=1e-6)


@pytest.mark.large
@pytest.mark.parametrize("restitution", [1.0, 0.8])
@pytest.mark.parametrize("seed", range(12))
def test_unequal_balls_on_a_line_meet_two_at_a_time(seed, restitution):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    masses, speeds = rng.uniform(0.5, 4.0, count), np.zeros(count)
    speeds[0] = 1.0
    world, balls = line(speeds, masses, restitution, -0.0025, 0.1, 1)  # as deep as balls rest: all touch
    run(world, 0.15, 1 / 240)
    x = world.poses(balls)[:, 0, 3]
    assert (np.diff(x) > 2.0 * RADIUS - world.slop).all()
    if restitution == 1.0:
        expected = meet_two_at_a_time(speeds, masses, restitution)
        np.testing.assert_allclose(world.velocities(balls)[:, 0], expected, atol=1e-5)
    v = world.velocities(balls)[:, 0]
    assert abs(masses @ v - masses[0]) < 1e-9
    assert masses @ v**2 <= masses[0] * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(1 if jit.INTERPRETED else 20))
def test_a_break_keeps_momentum_and_makes_no_energy(seed):
    """A fast ball into a close heap of balls of other masses: linear and angular momentum to rounding, energy never more; with e = 1, all of it."""
    rng = np.random.default_rng(100 + seed)
    world = abut.World(gravity=(0, 0, 0))
    places = [
        (2.0 * RADIUS * np.array((i + 0.5 * j, 0.87 * j, 0.1 * rng.normal()))) for i in range(4) for j in range(3)
    ]
    masses = rng.uniform(0.2, 5.0, len(places) + 1)
    restitution = 1.0 if seed % 2 else 0.7
    options = {"restitution": restitution, "friction": 0.0, "rolling": 0.0}
    balls = [
        world.add(shapes.Sphere(RADIUS), position=p, mass=m, **options) for p, m in zip(places, masses[1:], strict=True)
    ]
    start = np.array((-0.8, 0.1, 0.02))
    balls.append(world.add(shapes.Sphere(RADIUS), position=start, velocity=(3, 0.2, 0), mass=masses[0], **options))
    m = np.append(masses[1:], masses[0])

    def sums():
        x, v = world.poses(balls)[:, :3, 3], world.velocities(balls)
        spin = world.angular_velocities(balls)
        turning = 0.4 * RADIUS**2 * (m[:, np.newaxis] * spin).sum(axis=0)
        energy = 0.5 * (m * (v**2).sum(axis=1)).sum()
        return m @ v, (m[:, np.newaxis] * np.cross(x, v)).sum(axis=0) + turning, energy

    momentum, angular, energy = sums()
    for _ in range(5 if jit.INTERPRETED else 60):
        world.step(1 / 120)
        now, turned, left = sums()
        np.testing.assert_allclose(now, momentum, atol=1e-9 * np.abs(m).sum())
        np.testing.assert_allclose(turned, angular, atol=1e-9 * np.abs(m).sum())
        assert left <= energy * (1.0 + 1e-9)


@pytest.mark.large
def test_a_small_ball_on_a_large_one_flies_up():
    """Both fall; the large one turns round first and meets the small one: it leaves with (3M − m)/(M + m) of the speed."""
    world = abut.World()
    world.add(shapes.Box((4, 4, 1)), position=(0, 0, -0.5), kind="static", restitution=1.0)
    options = {"restitution": 1.0, "friction": 0.0, "rolling": 0.0}
    world.add(shapes.Sphere(0.2), position=(0, 0, 1.2), mass=9.0, **options)
    small = world.add(shapes.Sphere(0.1), position=(0, 0, 1.5005), mass=1.0, **options)
    highest = 0.0
    for _ in range(400):
        world.step(1 / 240)
        highest = max(highest, float(world.velocities(small)[0, 2]))
    assert highest == pytest.approx(2.6 * np.sqrt(2.0 * 9.81 * 1.0), rel=0.03)
