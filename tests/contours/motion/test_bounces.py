"""The laws of collisions of contours: restitution, momentum, angular momentum, energy, the parabola; for all steps, sizes, shapes and options.

The answers come from Newton's laws in closed form, never from another simulation."""

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Animation, Contour
from abut.core import jit
from conftest import SOAK

STEPS = (0.05, 0.02, 0.005, 0.002, 0.0005)
CAMPAIGN = 6 if jit.INTERPRETED else 20_000 if SOAK else 30
KEPT = 1e-9
"""Part of its terms by which a conserved sum may change."""
ROUND = 1e-6
"""A circle of cubic arcs is within 3e-4 of a perfect one in slope and 7e-8 in radius: its normals miss the center by that."""


def disc(radius, at=(0.0, 0.0)):
    x, y, r = *at, radius
    return Contour.from_svg(f"M{x + r} {y}A{r} {r} 0 01{x - r} {y} {r} {r} 0 01{x + r} {y}")


def box(width, height):
    return Contour.from_polygon([(0, 0), (width, 0), (width, height), (0, height)])


def rough(rng, radius):
    t = np.arange(10) * 2 * np.pi / 10
    r = radius * (1 + 0.25 * rng.uniform(-1, 1, 10))
    points = np.stack([r * np.cos(t), r * np.sin(t)], axis=1)
    return Contour(points, 0.01 * radius, detail=2, seed=int(rng.integers(99)))


WALL = Contour.from_polygon([(5, -5), (6, -5), (6, 5), (5, 5)])
FLOOR = Contour.from_polygon([(-50, -1), (50, -1), (50, 0), (-50, 0)])


def sums(animation, shapes):
    """Momentum, angular momentum about the origin and kinetic energy, with the size of their terms."""
    mass, inertia = np.array([s.area for s in shapes]), np.array([s.inertia for s in shapes])
    v, x = animation.velocity, animation.position
    spin = mass * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + inertia * v[:, 2]
    size = mass * np.hypot(x[:, 0], x[:, 1]) * np.hypot(v[:, 0], v[:, 1]) + inertia * np.abs(v[:, 2])
    momentum = mass @ v[:, :2]
    kinetic = 0.5 * (mass @ (v[:, :2] ** 2).sum(axis=1) + inertia @ v[:, 2] ** 2)
    return momentum, spin.sum(), kinetic, mass @ np.hypot(v[:, 0], v[:, 1]), size.sum()


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dt", STEPS)
def test_a_disc_leaves_a_wall_as_fast_as_its_restitution_says(dt, restitution):
    ball = disc(0.5)
    flight = Animation(
        [WALL, ball], [(0, 0, 0), (3.9, 0, 0)], fixed=[True, False], gravity=(0, 0), restitution=restitution
    )
    flight.velocity[1, 0] = 10.0
    flight.step(0.01)
    assert flight.velocity[1, 0] == 10.0
    for _ in range(int(np.ceil(0.15 / dt))):
        flight.step(dt)
    assert flight.velocity[1] == pytest.approx([-10.0 * restitution, 0, 0], abs=1e-5)
    assert flight.energy <= ball.area * 50.0 * max(restitution**2, 1e-12) * (1 + KEPT)


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("dt", STEPS)
def test_discs_that_meet_off_center_exchange_momentum_along_the_line_of_centers(dt, restitution):
    one, two = disc(0.5), disc(0.8)
    pair = Animation([one, two], [(0, 0.6, 0), (2, 0, 0)], gravity=(0, 0), restitution=restitution, friction=0.0)
    pair.velocity[0] = (10.0, 0.0, 2.0)
    before, old = sums(pair, [one, two]), pair.velocity.copy()
    for _ in range(int(np.ceil(0.2 / dt))):
        pair.step(dt)
    after = sums(pair, [one, two])
    np.testing.assert_allclose(after[0], before[0], atol=KEPT * before[3])
    assert after[1] == pytest.approx(before[1], abs=KEPT * before[4])
    change = pair.velocity[1, :2] - old[1, :2]
    assert np.hypot(*change) > 1.0
    normal = change / np.hypot(*change)
    closing, opening = (old[0] - old[1])[:2] @ normal, (pair.velocity[1] - pair.velocity[0])[:2] @ normal
    assert opening == pytest.approx(restitution * closing, abs=1e-4 * closing)
    reduced = one.area * two.area / (one.area + two.area)
    lost = 0.5 * reduced * (1 - restitution**2) * closing**2
    assert after[2] == pytest.approx(before[2] - lost, rel=1e-4)
    if restitution == 1.0:
        assert after[2] == pytest.approx(before[2], rel=KEPT)


@pytest.mark.parametrize("dt", [0.7, 0.1, 1 / 60, 1e-3])
def test_free_flight_is_the_parabola_for_any_step(dt):
    shapes = [disc(0.3), box(0.2, 1.0), rough(np.random.default_rng(1), 0.5)]
    flight = Animation(shapes, [(0, 0, 0), (5, 0, 1), (10, 0, 2)], gravity=(0.5, -9.81))
    flight.velocity[:] = [(1, 2, 3), (-1, 5, -2), (0, 0, 9)]
    start, turned, speed = flight.position.copy(), flight.angle.copy(), flight.velocity.copy()
    count = max(1, round(0.35 / dt))
    for _ in range(count):
        flight.step(dt)
    time, pull = count * dt, np.array([0.5, -9.81])
    np.testing.assert_allclose(flight.position, start + time * speed[:, :2] + 0.5 * time**2 * pull, atol=1e-11)
    np.testing.assert_allclose(flight.angle, turned + time * speed[:, 2], atol=1e-11)
    np.testing.assert_allclose(flight.velocity[:, :2], speed[:, :2] + time * pull, atol=1e-11)


@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 1000])
def test_a_brick_that_falls_flat_rises_to_the_height_its_restitution_leaves(dt, restitution):
    """A bounce begins up to a skin above the floor, and leaves e² of the energy it had there."""
    brick, height = box(1.0, 0.5), 2.0
    fall = Animation(
        [FLOOR, brick], [(0, 0, 0), (0, height, 0)], fixed=[True, False], restitution=restitution, friction=0.0
    )
    landing = np.sqrt(2 * height / 9.81)
    apex = landing * (1 + restitution)
    energy = [fall.energy]
    for _ in range(int(np.ceil(apex / dt))):
        fall.step(dt)
        energy.append(fall.energy)
    rise = (energy[-1] / brick.area - 9.81 * 0.25) / 9.81
    assert rise == pytest.approx(restitution**2 * height, abs=2 * fall.skin)
    assert fall.poses[1, 1] == pytest.approx(rise, abs=9.81 * dt**2 + 2 * fall.skin)
    assert np.diff(energy).max() <= 1e-12 * energy[0]
    assert abs(fall.angle[1]) < 1e-6


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_bounces_end_in_rest(restitution):
    ball = disc(0.5)
    fall = Animation([FLOOR, ball], [(0, 0, 0), (0, 1.0, 0)], fixed=[True, False], restitution=restitution)
    for _ in range(20 if jit.INTERPRETED else 2400):
        fall.step(1 / 240)
    if not jit.INTERPRETED:
        assert np.abs(fall.velocity[1]).max() < 1e-3
        assert 0.0 < fall.position[1, 1] - 0.5 <= 1.01 * fall.skin


def test_a_row_of_touching_discs_keeps_energy_and_momentum():
    ball, gap = disc(0.5), 1.001
    row = Animation(
        [ball] * 5, [(-2, 0, 0), *((k * gap, 0, 0) for k in range(4))], gravity=(0, 0), restitution=1.0, friction=0.0
    )
    row.velocity[0, 0] = 3.0
    before = sums(row, [ball] * 5)
    for _ in range(60):
        row.step(0.02)
    after = sums(row, [ball] * 5)
    np.testing.assert_allclose(after[0], before[0], atol=KEPT * before[3])
    assert after[2] == pytest.approx(before[2], rel=KEPT)
    assert row.velocity[4, 0] > 0.5


def random_pair(rng):
    """Two bodies of any shapes and sizes on the way to one another, and the options, drawn together."""
    kinds = [
        disc,
        lambda r: box(r * rng.uniform(0.3, 1.5), r * rng.uniform(0.3, 1.5)),
        lambda r: rough(rng, r),
    ]
    scale = 10.0 ** rng.uniform(-3, 3)
    shapes = [kinds[rng.integers(3)](scale * 10.0 ** rng.uniform(-0.6, 0)) for _ in range(2)]
    poses = np.stack([rng.uniform(-1, 1, 2), rng.uniform(-0.2, 0.2, 2), rng.uniform(-4, 4, 2)], axis=1) * scale
    poses[:, 2] /= scale
    poses[1, 0] += 5.0 * scale
    gravity = (0.0, 0.0) if rng.random() < 0.6 else tuple(rng.normal(size=2) * scale)
    animation = Animation(
        shapes,
        poses,
        gravity=gravity,
        restitution=float(rng.choice([0.0, rng.random(), 1.0])),
        friction=float(rng.choice([0.0, 0.3, 2.0])),
    )
    speed = scale * 10.0 ** rng.uniform(-0.5, 1.0)
    animation.velocity[0] = (speed, 0.05 * speed * rng.normal(), rng.normal() * speed / scale)
    animation.velocity[1, 2] = rng.normal() * speed / scale
    return shapes, animation, speed, scale


def check_collision(seed):
    """Whether the two met; raises where a law is broken in a step."""
    rng = np.random.default_rng(seed)
    shapes, animation, speed, scale = random_pair(rng)
    dt = scale / speed * 10.0 ** rng.uniform(-1.0, -0.3)
    momentum, spin, _, most, most_spin = sums(animation, shapes)
    mass, pull, time = sum(s.area for s in shapes), np.asarray(animation.gravity), 0.0
    flight = animation.velocity[0, :2].copy()
    for _ in range(int(min(8.0 * scale / speed / dt, 25)) + 1):
        before = animation.energy
        animation.step(dt)
        time += dt
        now, turning, kinetic, large, large_spin = sums(animation, shapes)
        most, most_spin = max(most, large), max(most_spin, large_spin)
        np.testing.assert_allclose(now, momentum + time * mass * pull, atol=KEPT * most, err_msg=str(seed))
        if not pull.any():
            assert abs(turning - spin) <= KEPT * most_spin, seed
        terms = kinetic + mass * np.abs(animation.position @ pull).max()
        assert animation.energy - before <= 1e-12 * terms, seed
        assert animation.is_clear().all(), seed
    return np.hypot(*(animation.velocity[0, :2] - flight - time * pull)) > 0.01 * speed


def test_random_collisions_keep_momentum_and_gain_no_energy():
    touched = sum(check_collision(seed) for seed in range(CAMPAIGN))
    assert touched >= CAMPAIGN // 3, touched


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.velocity.__setitem__((0, 0), np.nan), "velocity"),
        (lambda a: a.velocity.__setitem__((0, 0), np.inf), "velocity"),
        (lambda a: a.velocity.__setitem__((0, 0), 1e60), "sub-steps"),
        (lambda a: setattr(a, "velocity", None), "velocity"),
    ],
)
def test_velocities_that_cannot_be_followed_are_refused(change, words):
    flight = Animation([box(1, 1)], [(0, 0, 0)])
    change(flight)
    with pytest.raises(InvalidInput, match=words):
        flight.step(0.1)
