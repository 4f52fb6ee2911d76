"""Bodies of different matter, pushed by forces, moved by others: laws of Newton in closed form, for all options together.

What a contact gives back is read off the states before and after a step, with nothing of the solver's: an impulse J along a line changes the momentum
by J, and the angular momentum about a center by its lever times J, so both tell how fast the place closed and opened."""

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import DONE, HELD_BACK, LIMIT, Animation, Contour, time_of_impact
from abut.core import jit
from conftest import SOAK
from contours.motion.test_bounces import FLOOR, KEPT, STEPS, WALL, box, disc, rough

CASES = 4 if jit.INTERPRETED else 1000 if SOAK else 40


def states(animation):
    return animation.velocity.copy()


def speeds_at_the_contact(shapes, density, held, before, after):
    """How fast the place closed and opened, from momentum and angular momentum of one frictionless impact."""
    mass, inertia = density * [s.area for s in shapes], density * [s.inertia for s in shapes]
    change = after - before
    impulse = mass[1] * change[1, :2]
    size = np.hypot(*impulse)
    n = impulse / size

    def along(velocity):
        total = 0.0
        for k, sign in ((1, 1.0), (0, -1.0)):
            lever = 0.0 if held[k] else inertia[k] * change[k, 2] / (sign * size)
            total += sign * (velocity[k, :2] @ n + velocity[k, 2] * lever)
        return total

    return -along(before), along(after)


def random_meeting(rng, dt):
    """Two random contours, or one and a wall, on the way to one another, with the options drawn together; and what they are."""
    against_wall = bool(rng.random() < 0.5)
    radius = 10.0 ** rng.uniform(-0.5, 0.3)
    two = rough(rng, radius) if rng.random() < 0.7 else disc(radius)
    one = WALL if against_wall else rough(rng, radius * rng.uniform(0.5, 1.0))
    restitution = np.array([0.0, rng.choice([0.0, 0.3, 0.7, 1.0])])[rng.permutation(2)]
    density = 10.0 ** rng.uniform(-1, 1, 2)
    start = np.array((5 - 2.2 * radius, 0.2, 1.0) if against_wall else (-2.6 * radius, 0.3, 1.0))
    speed = min(rng.uniform(1.0, 10.0), 0.5 * radius / dt)  # an impact a step, so that each is seen alone
    velocity = np.array((speed, rng.uniform(-0.5, 0.5) * speed, rng.uniform(-1, 1) * speed / radius))
    # They begin some steps before they would meet, about.
    meeting = float(time_of_impact(two, one, start, start + 8.0 * radius * velocity / speed).time[0])
    if np.isfinite(meeting):
        start += max(0.0, meeting * 8.0 * radius / speed - rng.uniform(2, 20) * dt) * velocity
    animation = Animation(
        [one, two],
        [(0, 0, 0), start],
        fixed=[against_wall, False],
        gravity=(0, 0),
        restitution=restitution,
        friction=[0.0, 2.0],  # the geometric mean is 0
        density=density,
    )
    animation.velocity[1] = velocity
    return [one, two], density, np.array([against_wall, False]), animation, float(restitution.max())


def test_random_contours_give_back_what_their_restitution_says():
    met = 0
    for case in range(CASES):
        rng, dt = np.random.default_rng(case), STEPS[case % len(STEPS)]
        shapes, density, held, animation, restitution = random_meeting(rng, dt)
        before = states(animation)
        for _ in range(60):
            step = animation.step(dt)
            if len(step):
                break
        if len(step) != 1:
            continue  # never met, or more than one impact in the step
        after = states(animation)
        closing, parting = speeds_at_the_contact(shapes, density, held, before, after)
        assert closing == pytest.approx(step.closing_speed[0], rel=1e-6), case
        assert parting == pytest.approx(restitution * closing, abs=0.01 * closing), (case, dt, restitution)
        assert step.parting_speed[0] == pytest.approx(parting, abs=1e-6 * closing)
        assert step.bodies.tolist() == [[0, 1]]
        mass = density * [s.area for s in shapes]
        if not held.any():
            np.testing.assert_allclose(
                mass @ after[:, :2], mass @ before[:, :2], atol=KEPT * (mass @ np.abs(before)).max()
            )
        assert animation.is_clear().all()
        met += 1
    assert met >= CASES // 2 or jit.INTERPRETED, met


def test_many_free_bodies_keep_momentum_and_angular_momentum_and_gain_no_energy():
    rng = np.random.default_rng(4)
    count, steps = (3, 3) if jit.INTERPRETED else (9, 60)
    shapes = [rough(rng, 0.4) for _ in range(count)]
    density = 10.0 ** rng.uniform(-0.5, 0.5, count)
    mass, inertia = density * [s.area for s in shapes], density * [s.inertia for s in shapes]
    grid = np.array([(k % 3, k // 3, 0) for k in range(count)], float) * 1.2
    swarm = Animation(
        shapes, grid, gravity=(0, 0), restitution=rng.random(count), friction=rng.random(count), density=density
    )
    swarm.velocity[:] = rng.normal(0, 3, (count, 3))
    swarm.velocity[:, :2] -= 5.0 * (swarm.position - swarm.position.mean(axis=0))

    def sums():
        x, v = swarm.position, swarm.velocity
        spin = mass * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + inertia * v[:, 2]
        return np.array([*(mass @ v[:, :2]), spin.sum()])

    size, start, energy, impacts = (mass @ np.hypot(*swarm.velocity[:, :2].T)) * 4.0, sums(), swarm.energy, 0
    for _ in range(steps):
        impacts += len(swarm.step(0.02))
        np.testing.assert_allclose(sums(), start, atol=KEPT * size)
        assert swarm.energy <= energy * (1.0 + 1e-12)
        energy = swarm.energy
    assert impacts > 10 or jit.INTERPRETED


def test_density_force_and_torque_accelerate_as_newton_says():
    tile = box(1.0, 2.0)
    flight = Animation([tile, tile], [(0, 0, 0), (9, 0, 0)], gravity=(0.0, -1.0), density=[1.0, 4.0])
    flight.force[:] = [(2.0, 0.0), (2.0, 4.0)]
    flight.torque[1] = 3.0
    start, energy = flight.position, flight.energy
    for _ in range(5):
        assert flight.step(0.2).status == DONE
    np.testing.assert_allclose(flight.velocity[:, :2], [(1.0, -1.0), (0.25, -0.5)], atol=1e-13)
    np.testing.assert_allclose(flight.position - start, [(0.5, -0.5), (0.125, -0.25)], atol=1e-13)
    assert flight.angle == pytest.approx([0.0, 0.5 * 3.0 / (4.0 * tile.inertia)])
    assert flight.energy == pytest.approx(energy, abs=1e-12)  # forces that stay have a potential


def test_a_force_below_friction_moves_nothing_and_one_above_accelerates_by_the_rest():
    """Friction is the geometric mean, sqrt(0.2·0.8) = 0.4; the brick is pushed at its center, low enough not to tip."""
    brick = box(2.0, 0.2)
    for push, expected in ((0.3, 0.0), (0.7, 0.3)):
        slide = Animation(
            [FLOOR, brick], [(0, 0, 0), (0, 1e-4, 0)], fixed=[True, False], gravity=(0, -10.0), friction=[0.2, 0.8]
        )
        slide.force[1] = (push * 10.0 * brick.area, 0.0)
        for _ in range(4 if jit.INTERPRETED else 50):
            slide.step(0.01)
        if not jit.INTERPRETED:
            assert slide.velocity[1, 0] == pytest.approx(expected * 10.0 * 0.5, abs=0.05)
            assert abs(slide.angle[1]) < 1e-3


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_kinematic_wall_drives_a_ball_by_its_own_speed_and_the_restitution(restitution):
    ball, wall = disc(0.5), box(1.0, 4.0)
    drive = Animation(
        [wall, ball],
        [(-2, -2, 0), (0.6, 0, 0)],
        kinematic=[True, False],
        gravity=(0, 0),
        restitution=restitution,
        friction=0.0,
    )
    drive.velocity[0] = (2.0, 0.0, 0.0)
    for _ in range(30):
        drive.step(0.05)
    assert drive.velocity[0].tolist() == [2.0, 0.0, 0.0]
    assert drive.poses[0, 0] == pytest.approx(-2 + 30 * 0.05 * 2.0)
    assert drive.velocity[1, 0] == pytest.approx((1 + restitution) * 2.0, rel=1e-4)


@pytest.mark.large
def test_a_kinematic_press_that_leaves_no_room_stops_and_says_so():
    press = Animation(
        [FLOOR, box(1, 1), box(3, 1)],
        [(0, 0, 0), (0, 0.01, 0), (-1, 1.05, 0)],
        fixed=[True, False, False],
        kinematic=[False, False, True],
    )
    press.velocity[2] = (0.0, -1.0, 0.0)
    said = {press.step(0.01).status for _ in range(10)}
    assert HELD_BACK in said
    assert press.is_clear().all()
    assert press.poses[2, 1] >= 1.0
    assert press.velocity[2, 1] == -1.0


def test_a_needle_as_fast_as_a_bullet_meets_a_thin_wall_within_one_step():
    """A step carries it 400 widths beyond: the wall is met all the same, in a handful of sub-steps, at the time that its way takes."""
    wall = Contour.from_polygon([(5, -5), (5.001, -5), (5.001, 5), (5, 5)])
    needle = box(0.05, 0.05)
    flight = Animation(
        [wall, needle], [(0, 0, 0), (0, 0, 0)], fixed=[True, False], gravity=(0, 0), restitution=[0.0, 0.5]
    )
    flight.velocity[1, 0] = 1000.0
    step = flight.step(0.02)
    assert (step.status, len({*step.time.tolist()})) == (DONE, 1)
    assert step.substep_count <= 4
    assert step.time[0] == pytest.approx(4.95 / 1000.0, rel=1e-3)
    assert flight.velocity[1, 0] == pytest.approx(-500.0)
    assert flight.poses[1, 0] == pytest.approx(4.95 - 500.0 * (0.02 - step.time[0]), abs=1e-3)


def test_a_bound_on_substeps_leaves_the_rest_of_a_step_and_says_so():
    """A ball between two walls meets one every 0.001 s."""
    walls = [Contour.from_polygon([(x, -1), (x + 1, -1), (x + 1, 1), (x, 1)]) for x in (-1.0, 1.1)]
    ball = disc(0.5, at=(0.52, 0.0))
    rally = Animation(
        [*walls, ball], np.zeros((3, 3)), fixed=[True, True, False], gravity=(0, 0), restitution=1.0, friction=0.0
    )
    rally.velocity[2, 0] = 100.0
    whole = rally.step(0.01)
    assert (whole.status, whole.elapsed) == (DONE, 0.01)
    assert len(whole) == pytest.approx(10, abs=1)
    assert (np.diff(whole.time) > 0.0).all()
    assert abs(rally.velocity[2, 0]) == pytest.approx(100.0)
    short = rally.step(0.01, max_substeps=3)
    assert short.status == LIMIT
    assert 0.0 < short.elapsed < 0.01
    assert short.substep_count == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kinematic": [True, True], "fixed": [True, False]}, "fixed as well"),
        ({"density": [1.0, 0.0]}, "density"),
        ({"density": -1.0}, "density"),
        ({"restitution": [0.0, 2.0]}, "restitution"),
        ({"friction": [0.0, 1.0, 2.0]}, "friction"),
        ({"kinematic": [True]}, "kinematic"),
    ],
)
def test_bad_matter_is_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        Animation([box(1, 1), box(1, 1)], [(0, 0, 0), (2, 0, 0)], **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("force", np.zeros((3, 2))),
        ("force", None),
        ("torque", [np.nan]),
        ("restitution", 1.5),
        ("friction", [-1.0]),
        ("gravity", (0, 0, 1)),
    ],
)
def test_what_is_set_between_steps_is_checked_and_a_refused_step_moves_nothing(name, value):
    flight = Animation([box(1, 1)], [(0, 0, 0)])
    setattr(flight, name, value)
    place = flight.position
    with pytest.raises(InvalidInput, match=name):
        flight.step(0.1)
    np.testing.assert_array_equal(flight.position, place)
