"""Each kind of joint alone, against formulas: periods, accelerations, lengths, loads."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import abut
from abut import joints, shapes
from abut.core import jit
from world.collisions import DT, at, run

G = 9.81
WEIGHTLESS = (0, 0, 0)


def with_ball(gravity=(0, 0, -G), place=(1.0, 0.0, 0.0), mass=1.0, radius=0.1, **options):
    world = abut.World(gravity, **options)
    return world, world.add(shapes.Sphere(radius), at(*place), mass=mass)


@pytest.mark.large
@pytest.mark.parametrize("angle", [0.05, 1.0, 2.5])
def test_a_pendulum_has_the_period_of_the_formula_and_keeps_its_energy(angle):
    """T = 2π·√(I / (m·g·l)) over the arithmetic-geometric mean of 1 and cos(θ/2)."""
    length, radius = 1.0, 0.2
    world, ball = with_ball(place=(length * np.sin(angle), 0, -length * np.cos(angle)), radius=radius, sleeping=False)
    world.join(joints.hinge(None, ball, (0, 0, 0), (0, 1, 0)))
    inertia = length**2 + 0.4 * radius**2
    a, b = 1.0, np.cos(angle / 2)
    for _ in range(20):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    period = 2 * np.pi * np.sqrt(inertia / (G * length)) / a
    crossings, energies, before = [], [], None
    for k in range(int(4.5 * period / DT)):
        world.step(DT)
        place, velocity = world.poses(ball)[0, :3, 3], world.velocities(ball)[0]
        spin = world.angular_velocities(ball)[0]
        energies.append(0.5 * velocity @ velocity + 0.2 * radius**2 * spin @ spin + G * place[2])
        assert abs(np.linalg.norm(place) - length) < 1e-6
        if before is not None and before > 0 >= place[0]:
            crossings.append((k + before / (before - place[0])) * DT)
        before = place[0]
    assert np.diff(crossings) == pytest.approx(period, rel=2e-3)
    drop = G * length * (1 - np.cos(angle))
    assert np.ptp(energies) < 0.01 * drop + 1e-6  # gravity counts first in a substep: it sways, and does not drift
    early, late = np.array_split(energies, 2)
    assert abs(np.mean(late) - np.mean(early)) < 1e-3 * drop


@pytest.mark.large
def test_a_double_pendulum_moves_as_its_equations_say():
    """Two balls on arms of length 1, started level, integrated as two angles; then 5 s: its energy does not drift."""
    radius = 0.2
    world = abut.World(sleeping=False)
    first, second = (world.add(shapes.Sphere(radius), at(x, 0, 0), mass=1.0) for x in (1, 2))
    world.join(joints.hinge(None, first, (0, 0, 0), (0, 1, 0)))
    world.join(joints.hinge(first, second, (1, 0, 0), (0, 1, 0)))
    own = 0.4 * radius**2

    def move(_, y):
        t, s, u, v = y
        c, d = np.cos(t - s), np.sin(t - s)
        mass = np.array([[2 + own, c], [c, 1 + own]])
        pull = np.array([-d * v * v - 2 * G * np.sin(t), d * u * u - G * np.sin(s)])
        return np.concatenate(((u, v), np.linalg.solve(mass, pull)))

    def energy():
        v, w, p = world.velocities(), world.angular_velocities(), world.poses()[:, :3, 3]
        return 0.5 * (v**2).sum() + 0.5 * own * (w**2).sum() + G * p[:, 2].sum()

    steps = 60
    truth = solve_ivp(
        move, (0, 1), (np.pi / 2, np.pi / 2, 0, 0), rtol=1e-10, atol=1e-10, t_eval=np.arange(1, steps + 1) / steps
    )
    energies = []
    for k in range(steps):
        world.step(1 / steps)
        t, s = truth.y[:2, k]
        elbow = np.array([np.sin(t), 0, -np.cos(t)])
        places = world.poses()[:, :3, 3]
        np.testing.assert_allclose(places, [elbow, elbow + np.array([np.sin(s), 0, -np.cos(s)])], atol=0.01)
        energies.append(energy())
    for _ in range(5 * steps):
        world.step(1 / steps)
        energies.append(energy())
    assert np.abs(energies).max() < 0.01 * 3 * G


def test_a_motor_turns_with_its_torque_until_it_has_its_speed():
    world, ball = with_ball(WEIGHTLESS, place=(0, 0, 0), radius=0.5, mass=2.0)
    inertia, torque = 0.4 * 2.0 * 0.25, 0.3
    motor = joints.Freedom(speed=1.0, motor_force=torque)
    hinge = world.join(joints.hinge(None, ball, (0, 0, 0), (0, 0, 1), turn=motor))
    steps = 3 if jit.INTERPRETED else 20
    run(world, steps)
    assert world.angular_velocities(ball)[0] == pytest.approx((0, 0, torque / inertia * steps * DT), rel=1e-9)
    assert world.joint_states(hinge).torque[0] == pytest.approx((0, 0, torque), rel=1e-9)
    if jit.INTERPRETED:
        return
    run(world, 100)
    assert world.angular_velocities(ball)[0] == pytest.approx((0, 0, 1.0), rel=1e-9)
    assert world.joint_states(hinge).torque[0] == pytest.approx((0, 0, 0), abs=1e-9)
    turned = world.joint_states(hinge).rotation[0, 0]
    run(world, 600)  # whole turns count
    assert world.joint_states(hinge).rotation[0, 0] - turned == pytest.approx(10.0, rel=1e-6)
    world.set_joint(hinge, joints.Freedom(friction=torque))
    run(world, 20)
    assert world.angular_velocities(ball)[0, 2] == pytest.approx(1.0 - torque / inertia * 20 * DT, rel=1e-9)
    run(world, 60)
    assert world.angular_velocities(ball)[0] == pytest.approx((0, 0, 0), abs=1e-9)


@pytest.mark.large
def test_a_servo_holds_an_arm_where_it_shall_be():
    """A spring with a force limit lifts an arm; with less than its weight it cannot."""
    for most, holds in ((30.0, True), (9.0, False)):
        world, ball = with_ball(place=(1, 0, 0), sleeping=False)
        servo = joints.Freedom(stiffness=1e5, damping=1e3, rest=-0.5, spring_force=most)
        hinge = world.join(joints.hinge(None, ball, (0, 0, 0), (0, 1, 0), turn=servo))
        run(world, 300)
        turned = world.joint_states(hinge).rotation[0, 0]
        assert (abs(turned + 0.5) < 1e-3) == holds
        assert not holds or world.joint_states(hinge).torque[0, 1] == pytest.approx(-G * np.cos(0.5), rel=1e-3)


@pytest.mark.large
def test_a_hinge_stops_at_its_limits():
    world, ball = with_ball(place=(0, 0, -1), sleeping=False)
    hinge = world.join(joints.hinge(None, ball, (0, 0, 0), (0, 1, 0), turn=joints.Freedom(-0.3, 0.2)))
    for push in (-3.0, 3.0):
        world.move(ball, velocity=(push, 0, 0), angular_velocity=(0, -push, 0))
        turns = []
        for _ in range(60):
            world.step(DT)
            turns.append(world.joint_states(hinge).rotation[0, 0])
        assert min(turns) > -0.3 - 1e-3
        assert max(turns) < 0.2 + 1e-3
        assert max(turns) > 0.19 if push < 0 else min(turns) < -0.29


@pytest.mark.large
def test_a_cone_and_a_twist_bound_a_shoulder():
    rng = np.random.default_rng(3)
    world, ball = with_ball(place=(0, 0, -1), sleeping=False)
    shoulder = joints.ball(
        None, ball, (0, 0, 0), (0, 0, -1), cone=joints.Freedom(high=0.7), twist=joints.Freedom(-0.4, 0.4)
    )
    handle = world.join(shoulder)
    swings, twists = [], []
    for _ in range(12):
        world.move(ball, velocity=rng.normal(size=3) * 4, angular_velocity=rng.normal(size=3) * 5)
        for _ in range(25):
            world.step(DT)
            place = world.poses(ball)[0, :3, 3]
            swings.append(np.arctan2(np.hypot(*place[:2]), -place[2]))
            twists.append(world.joint_states(handle).rotation[0, 0])
            assert np.linalg.norm(place) == pytest.approx(1.0, abs=1e-4)
    assert 0.69 < max(swings) < 0.71
    assert 0.39 < np.abs(twists).max() < 0.41


@pytest.mark.large
@pytest.mark.parametrize("friction", [0.0, 3.0, 8.0])
def test_a_slider_slides_down_as_a_block_on_a_slope(friction):
    world, ball = with_ball(place=(0, 0, 0), mass=2.0, sleeping=False)
    angle = 0.4
    axis = (np.cos(angle), 0, -np.sin(angle))
    slider = world.join(joints.slider(None, ball, (0, 0, 0), axis, slide=joints.Freedom(friction=friction)))
    run(world, 60)
    speed = max(0.0, G * np.sin(angle) - friction / 2.0)
    np.testing.assert_allclose(world.velocities(ball)[0], speed * np.array(axis), atol=1e-6)
    states = world.joint_states(slider)
    assert states.translation[0] == pytest.approx((0.5 * speed, 0, 0), abs=0.002 * speed + 1e-6)
    across = 2.0 * G * np.cos(angle)
    assert np.linalg.norm(states.force[0]) == pytest.approx(
        np.hypot(across, min(friction, 2 * G * np.sin(angle))), rel=1e-3
    )


@pytest.mark.large
@pytest.mark.parametrize("stiffness", [20.0, 4000.0])
def test_a_spring_swings_with_the_root_of_k_over_m_and_keeps_its_energy(stiffness):
    world, ball = with_ball(WEIGHTLESS, mass=2.0, sleeping=False)
    world.join(joints.spring(None, ball, (0, 0, 0), (1, 0, 0), stiffness=stiffness, length=0.8))
    period, dt = 2 * np.pi * np.sqrt(2.0 / stiffness), 2 * np.pi * np.sqrt(2.0 / stiffness) / 50
    dt = min(dt, DT)
    places, most = [], []
    for _ in range(int(5.5 * period / dt)):
        world.step(dt)
        places.append(world.poses(ball)[0, 0, 3] - 0.8)
    places = np.array(places)
    rises = np.flatnonzero((places[:-1] < 0) & (places[1:] >= 0))
    times = (rises + places[rises] / (places[rises] - places[rises + 1])) * dt
    assert np.diff(times) == pytest.approx(period, rel=2e-3)
    most = [part.max() for part in np.array_split(places, 5)]
    assert most == pytest.approx([0.2] * 5, rel=0.02)


@pytest.mark.large
def test_a_stiff_spring_of_any_stiffness_is_stable():
    for stiffness in 10.0 ** np.arange(4, 16):
        world, ball = with_ball(WEIGHTLESS, sleeping=False)
        world.join(joints.spring(None, ball, (0, 0, 0), (1, 0, 0), stiffness=stiffness, length=0.999))
        run(world, 60)
        assert abs(world.poses(ball)[0, 0, 3] - 0.999) < 2e-3


@pytest.mark.large
def test_a_damper_brings_a_spring_to_rest_as_the_formula_says():
    stiffness, damping = 25.0, 2.0
    world, ball = with_ball(WEIGHTLESS, sleeping=False)
    world.join(joints.spring(None, ball, (0, 0, 0), (1, 0, 0), stiffness=stiffness, damping=damping, length=0.5))
    fast = np.sqrt(stiffness - 0.25 * damping**2)
    for k in range(1, 121):
        world.step(DT)
        t = k * DT
        truth = 0.5 * np.exp(-0.5 * damping * t) * (np.cos(fast * t) + 0.5 * damping / fast * np.sin(fast * t))
        assert world.poses(ball)[0, 0, 3] - 0.5 == pytest.approx(truth, abs=5e-3)


def test_a_rope_is_slack_until_it_is_taut_and_a_rod_keeps_its_length():
    world, ball = with_ball(place=(0, 0, -0.5), sleeping=False)
    world.join(joints.distance(None, ball, (0, 0, 0), (0, 0, -0.5), least=0.0, most=1.0))
    rod = world.add(shapes.Sphere(0.1), at(5, 0, 0))
    world.join(joints.distance(None, rod, (4, 0, 0), (5, 0, 0)))
    steps = 4 if jit.INTERPRETED else 90
    for k in range(1, steps + 1):
        world.step(DT)
        fallen = 0.5 * G * (k * DT) ** 2
        height = world.poses(ball)[0, 2, 3]
        if fallen < 0.45:
            assert height == pytest.approx(-0.5 - fallen, rel=0.02)
        assert height > -1.0 - 1e-5
        assert np.linalg.norm(world.poses(rod)[0, :3, 3] - (4, 0, 0)) == pytest.approx(1.0, abs=1e-6)
    assert jit.INTERPRETED or world.poses(ball)[0, 2, 3] == pytest.approx(-1.0, abs=1e-5)


@pytest.mark.large
@pytest.mark.parametrize("kind", ["ball", "fixed", "distance"])
def test_a_joint_breaks_at_its_load(kind):
    """A weight that is lifted ever faster: the joint breaks in the step in which m·(g + a) is more than it bears."""
    for strength, pull in ((3.0 * G, None), (1.5 * G, 0.5 * G)):
        world = abut.World(sleeping=False)
        hook = world.add(shapes.Sphere(0.1), at(0, 0, 0), kind="kinematic")
        weight = world.add(shapes.Sphere(0.1), at(0, 0, -1), mass=1.0)
        options = {"break_force": strength}
        if kind == "distance":
            joint = world.join(joints.distance(hook, weight, (0, 0, 0), (0, 0, -1), **options))
        else:
            joint = world.join(getattr(joints, kind)(hook, weight, (0, 0, -1), **options))
        run(world, 30)
        assert not len(world.broken_joints)
        assert world.joint_states(joint).force[0] == pytest.approx((0, 0, G), rel=1e-3)
        speed, broke = 0.0, None
        for k in range(60):
            speed += 0.02 * G * k * DT  # an acceleration of 0.02 g more each step
            world.move(hook, velocity=(0, 0, speed))
            world.step(DT)
            if len(world.broken_joints):
                broke = k
                break
        if pull is None:
            assert broke is None
            continue
        assert broke == pytest.approx(26, abs=1)
        assert world.broken_joints.tolist() == [joint]
        assert world.joint_states().broken.all()
        before = world.velocities(weight)[0, 2]
        world.step(DT)
        assert world.velocities(weight)[0, 2] == pytest.approx(before - G * DT)
        assert not len(world.broken_joints)
