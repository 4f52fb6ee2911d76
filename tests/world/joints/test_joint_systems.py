"""Many joints: coordinates and matrices against other roads, chains, ropes of particles, loops, sleep, bodies that come and go."""

import pickle

import numpy as np
import pytest

import abut
from abut import dynamics, joints, shapes
from abut.core import jit
from abut.geometry import quaternions
from abut.impulses.sides import turn_inertias
from abut.world.joints import coordinates
from abut.world.joints.opening import Strings, open_joints
from abut.world.joints.rows import aim_rows, start_rows
from abut.world.joints.system import RIGID, factor
from world.collisions import DT, at, run, some_turn

LINK = 0.2


def some_quaternion(rng):
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def turned(q, w, h):
    size = np.linalg.norm(w)
    return quaternions.multiply(quaternions.turning(tuple(w), float(h * size)), q) if size else q


def test_coordinates_change_along_their_directions():
    """Central differences of each coordinate while both frames move."""
    rng, h = np.random.default_rng(1), 1e-5
    for case in range(20 if jit.INTERPRETED else 300):
        f = some_quaternion(rng)
        g = f if case % 4 == 0 else turned(f, rng.normal(size=3), 1.0) if case % 4 == 1 else some_quaternion(rng)
        apart, (u, v, w) = rng.normal(size=3), rng.normal(size=(3, 3))
        swing = 2 * np.arccos(min(1.0, coordinates.swing_of(quaternions.multiply(quaternions.conjugate(f), g))[0]))
        if swing > 3.0:
            continue
        for number, name in enumerate(coordinates.NAMES):
            if name == "cone" and case % 4 == 0:
                continue
            d = np.array(coordinates.direction_of(number, tuple(apart), f, g))
            linear = number <= coordinates.Z or number == coordinates.DISTANCE
            # x, y, z are seen in the turning frame of a: its turning moves the point, too.
            rate = d @ (u - np.cross(v, apart)) if number <= coordinates.Z else d @ u if linear else d @ (w - v)
            ends = []
            for s in (-h, h):
                place = tuple(apart + s * u)
                ends.append(coordinates.value_of(number, place, turned(f, v, s), turned(g, w, s)))
            change = ends[1] - ends[0]
            if name == "twist":
                change = coordinates.wrap(change)
            assert change / (2 * h) == pytest.approx(rate, abs=1e-4 * (1 + abs(rate))), (name, case)


def a_net(rng, bodies, extra):
    """Bodies at random places, joined to earlier ones at random, and some more."""
    world = abut.World((0, 0, 0), sleeping=False)
    handles = [
        world.add(shapes.Box(rng.uniform(0.2, 1, 3)), at(*(3 * rng.normal(size=3)), some_turn(rng)), mask=0)
        for _ in range(bodies)
    ]
    for k in range(bodies + extra):
        a, b = (
            (handles[k], handles[int(rng.integers(k))] if k else None)
            if k < bodies
            else rng.choice(handles, 2, False).tolist()
        )
        makers = (joints.ball, joints.fixed, lambda *x: joints.hinge(*x, rng.normal(size=3)))
        world.join(makers[int(rng.integers(3))](a, b, rng.normal(size=3)))
    return world


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_the_matrix_is_that_of_all_rows_together(count):
    """The factors multiplied out, against J·M⁻¹·Jᵀ of dense arrays."""
    world = a_net(np.random.default_rng(count), count, count // 2)
    store, alive = world._store, len(world._store.alive)
    joined = world._links.join(store, world.gravity, store.movable, DT, 1, np.empty(0, np.int64))
    no_strings = Strings(np.empty((0, 2), np.int64), np.empty(0), np.empty(0))
    rack = open_joints(world._joints, joined.bodies, joined.ends, no_strings, joined.soft, store.movable, DT, 1).rack
    turn_inertias(joined.bodies)
    aim_rows(joined.bodies, rack)
    start_rows(joined.bodies, rack, DT, 1.0)
    factor(joined.bodies, rack)
    size = int(rack.state[0])
    lower = np.eye(size)
    for i in range(size):
        for j in range(rack.begin[i], i):
            lower[i, j] = rack.matrix[rack.offset[i] + j - rack.begin[i]]
    jacobian, inverse = np.zeros((size, 6 * alive)), np.zeros((6 * alive, 6 * alive))
    for i in range(alive):
        inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) * store.inverse_mass[i]
        turn = world._store.poses(np.array([i]))[0, :3, :3]
        inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turn @ store.inverse_inertia[i].reshape(3, 3) @ turn.T
    column = 0
    for joint in rack.joints:
        for r in range(joint["first_row"], joint["stop_row"]):
            for side, sign in (("a", -1), ("b", 1)):
                if (body := joint[f"body_{side}"]) >= 0:
                    jacobian[column, 6 * body : 6 * body + 3] += sign * rack.rows["linear"][r]
                    jacobian[column, 6 * body + 3 : 6 * body + 6] += sign * rack.rows[f"turn_{side}"][r]
            column += 1
    assert column == size
    dense = jacobian @ inverse @ jacobian.T
    dense += RIGID * np.diag(np.diag(dense))
    np.testing.assert_allclose(lower @ np.diag(rack.pivot[:size]) @ lower.T, dense, atol=1e-9 * np.abs(dense).max())


def a_chain(count, mass, *, level=True, **options):
    world = abut.World(**options)
    before, handles = None, []
    for k in range(count):
        place = ((k + 0.5) * LINK, 0, 0) if level else (0, 0, -(k + 0.5) * LINK)
        end = (k * LINK, 0, 0) if level else (0, 0, -k * LINK)
        sides = (LINK, 0.05, 0.05) if level else (0.05, 0.05, LINK)
        handles.append(world.add(shapes.Box(sides), at(*place), mass=1.0, mask=0))
        world.join(joints.ball(before, handles[-1], end))
        before = handles[-1]
    tip = (count * LINK + 0.3, 0, 0) if level else (0, 0, -count * LINK - 0.3)
    handles.append(world.add(shapes.Sphere(0.3), at(*tip), mass=mass, mask=0))
    world.join(joints.ball(before, handles[-1], (count * LINK, 0, 0) if level else (0, 0, -count * LINK)))
    return world, handles


@pytest.mark.large
@pytest.mark.parametrize("mass", [1.0, 1000.0])
def test_a_chain_of_a_hundred_links_hangs_and_swings_with_any_weight(mass):
    for level in (False, True):
        world, _ = a_chain(100, mass, level=level, sleeping=False)
        worst = 0.0
        for _ in range(150):
            world.step(DT)
            worst = max(worst, np.linalg.norm(world.joint_states().translation, axis=1).max())
        assert worst < (1e-6 if not level or mass > 1.0 else 0.01 * LINK)  # a light end cracks as a whip does
        if not level:
            loads = world.joint_states().force[:, 2]
            np.testing.assert_allclose(loads, 9.81 * (mass + 100 - np.arange(101)), rtol=1e-3)


@pytest.mark.large
@pytest.mark.parametrize("weight", [0.1, 100.0])
@pytest.mark.parametrize("radius", [None, 0.02])
def test_a_box_hangs_on_a_rope_of_particles(radius, weight):
    """Bones or balls; the box weighs up to a thousand times as much as a particle. A second rope is tied to the box."""
    world = abut.World()
    rope = dynamics.rope((0, 0, 3), (0, 0, 1), 11, radius=0.02, mass=0.1, fixed=[0])
    rope.gravity = (0, 0, -9.81)
    box = world.add(shapes.Box((0.4, 0.4, 0.4)), at(0, 0, 0.8), mass=weight)
    joint = world.join(joints.ball(int(world.link(rope, radius)[-1]), box, (0, 0, 1)))
    world.move(box, velocity=(1, 0, 0))
    for _ in range(150):
        world.step(DT)
        assert rope.violation < 2e-5
        assert np.linalg.norm(world.joint_states(joint).translation) < 1e-5
    run(world, 1)
    hung = world.poses(box)[0, :3, 3]
    assert np.linalg.norm(hung - (0, 0, 3)) == pytest.approx(2.2, abs=0.02)


def test_a_bone_is_held_by_points_alone():
    world = abut.World()
    bones = world.link(dynamics.rope((0, 0, 3), (1, 0, 3), 4, radius=0.1))
    box = world.add(shapes.Box((1, 1, 1)))
    with pytest.raises(abut.Unsupported, match="hinge joint of a bone"):
        world.join(joints.hinge(box, int(bones[0]), (0, 0, 3), (0, 0, 1)))
    assert not len(world.joints)


@pytest.mark.large
def test_a_door_on_two_hinges_and_a_ring_hold_as_one_would():
    """More joints than are needed: the load is shared, and nothing trembles."""
    world = abut.World(sleeping=False)
    door = world.add(shapes.Box((1, 0.1, 2)), at(0.5, 0, 1), mass=20.0)
    for z in (0.3, 1.7):
        world.join(joints.hinge(None, door, (0, 0, z), (0, 0, 1)))
    ring, count = [], 12
    for k in range(count):
        a = 2 * np.pi * k / count
        ring.append(world.add(shapes.Sphere(0.05), at(5 + np.cos(a), 0, np.sin(a)), mass=1.0))
    for k in range(count):
        a = 2 * np.pi * (k + 0.5) / count
        middle = (5 + np.cos(a), 0, np.sin(a))
        world.join(joints.hinge(ring[k], ring[(k + 1) % count], middle, (0, 1, 0)))
    world.join(joints.fixed(None, ring[3], (5, 0, 1)))
    run(world, 300)
    loads = world.joint_states()
    assert loads.force[:2, 2].sum() == pytest.approx(20 * 9.81, rel=1e-3)
    # The ring swings, and its redundant rows give way a little to one another.
    assert np.linalg.norm(loads.translation, axis=1).max() < 1e-4
    assert np.abs(loads.rotation[:, 1:]).max() < 1e-4
    assert np.abs(world.velocities(door)).max() < 1e-6


def test_joined_bodies_pass_through_each_other_unless_asked():
    for collide in (False, True):
        world = abut.World((0, 0, 0))
        a, b = (world.add(shapes.Box((1, 1, 1)), at(0.9 * k), mass=1.0) for k in range(2))
        joint = world.join(joints.slider(a, b, (0, 0, 0), (1, 0, 0), collide=collide))
        assert (len(world.contacts()) > 0) == collide
        run(world, 2 if jit.INTERPRETED else 20)
        assert (world.poses(b)[0, 0, 3] > 0.9) == collide
        world.remove_joint(joint)
        assert (len(world.contacts()) > 0) != (collide and not jit.INTERPRETED)


@pytest.mark.large
def test_a_jointed_body_rests_on_the_ground_and_sleeps():
    """A chain of boxes that falls on a floor: with and without sleep it comes to the same rest."""
    rests = []
    for sleeping in (True, False):
        world = abut.World(sleeping=sleeping)
        world.add(shapes.Box((20, 20, 1)), at(0, 0, -0.5), kind="static")
        boxes = [world.add(shapes.Box((0.5, 0.5, 0.5)), at(0.6 * k, 0, 0.3), mass=10.0 ** (k % 3)) for k in range(6)]
        for k in range(5):
            world.join(joints.hinge(boxes[k], boxes[k + 1], (0.6 * k + 0.3, 0, 0.3), (0, 1, 0)))
        run(world, 240)
        rests.append(world.poses(boxes))
        assert world.contacts().depth.max() < 0.95 * world.slop
        assert world.asleep(boxes).all() == sleeping
    np.testing.assert_allclose(rests[0], rests[1], atol=2e-3)
    ball = world.add(shapes.Sphere(0.2), at(0, 0, 2))
    run(world, 40)
    world.validate()
    assert ball in world.contacts().pairs


@pytest.mark.large
def test_what_hangs_falls_asleep_and_wakes_with_what_it_hangs_on():
    world, handles = a_chain(3, 1.0, level=False)
    hook = world.add(shapes.Sphere(0.1), at(0, 0, 5), kind="kinematic")
    world.join(joints.distance(hook, handles[0], (0, 0, 5), (0, 0, -0.1)))
    run(world, 60)
    assert world.asleep(handles).all()
    world.move(hook, velocity=(1, 0, 0))
    run(world, 2)
    assert not world.asleep(handles).any()
    world.move(hook, velocity=(0, 0, 0))
    motor = world.add(shapes.Sphere(0.1), at(9, 0, 5))
    wheel = world.join(joints.hinge(None, motor, (9, 0, 5), (0, 1, 0)))
    run(world, 60)
    assert world.asleep(motor)[0]
    world.set_joint(wheel, joints.Freedom(speed=0.1, motor_force=1.0))
    run(world, 60)
    assert not world.asleep(motor)[0]
    assert world.angular_velocities(motor)[0] == pytest.approx((0, 0.1, 0))


def test_a_removed_body_takes_its_joints_along():
    world, handles = a_chain(4, 1.0)
    first = world.joints
    world.remove(handles[2])
    assert world.joints.tolist() == [first[0], first[1], first[4]]
    states = world.joint_states()
    assert states.body_b.tolist() == [handles[0], handles[1], handles[4]]
    assert states.body_a.tolist() == [-1, handles[0], handles[3]]
    world.step(DT)
    world.validate()
    world.remove_joint(first[0])
    with pytest.raises(abut.InvalidInput, match="no joint of this world"):
        world.remove_joint(first[0])
    with pytest.raises(abut.InvalidInput, match="twice"):
        world.joint_states([first[1], first[1]])
    assert world.join(joints.ball(None, handles[0], (0, 0, 0))) > first[-1]  # handles are given once


def test_the_same_world_moves_the_same_way_also_when_it_was_pickled():
    def make():
        world, _ = a_chain(5, 3.0)
        run(world, 3)
        return world

    one, two = make(), make()
    three = pickle.loads(pickle.dumps(two))
    for world in (one, two, three):
        run(world, 3)
    np.testing.assert_array_equal(one.poses(), two.poses())
    np.testing.assert_array_equal(one.poses(), three.poses())
    np.testing.assert_array_equal(one.joint_states().force, three.joint_states().force)


def test_what_cannot_be_joined_is_refused_and_changes_nothing():
    world = abut.World()
    floor, ball = world.add(shapes.Box((1, 1, 1)), kind="static"), world.add(shapes.Sphere(1.0), at(5))
    for joint, reason in (
        (joints.fixed(floor, None, (0, 0, 0)), "nothing moves"),
        (joints.fixed(7, ball, (0, 0, 0)), "no body"),
        (
            joints.six_degree(
                floor, ball, np.eye(4), **dict.fromkeys(("x", "y", "z", "twist", "swing_y", "swing_z"), joints.FREE)
            ),
            "free",
        ),
    ):
        with pytest.raises(abut.InvalidInput, match=reason):
            world.join(joint)
    with pytest.raises(abut.InvalidInput, match="same as a"):
        joints.fixed(ball, ball, (0, 0, 0))
    with pytest.raises(abut.InvalidInput, match="axis"):
        joints.hinge(ball, None, (0, 0, 0), (0, 0, 0))
    with pytest.raises(abut.InvalidInput, match="low"):
        joints.Freedom(1.0, -1.0)
    with pytest.raises(abut.InvalidInput, match="ball joint"):
        joints.distance(ball, None, (0, 0, 0), (0, 0, 0))
    with pytest.raises(abut.InvalidInput, match="coordinate"):
        world.set_joint(world.join(joints.fixed(ball, None, (5, 0, 0))), joints.FREE)
    assert len(world.joints) == 1


@pytest.mark.large
def test_a_body_that_is_held_inside_another_is_pushed_no_harder_with_time():
    """A post that is fixed in the ground: when it is let go, it comes out, and does not fly."""
    world = abut.World()
    world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    post = world.add(shapes.Box((0.2, 0.2, 2)), at(0, 0, 0.9), mass=5.0)
    joint = world.join(joints.fixed(None, post, (0, 0, 0)))
    forces = []
    for _ in range(4):
        run(world, 30)
        forces.append(np.linalg.norm(world.joint_states(joint).force))
    assert forces[-1] <= 1.01 * forces[-2]  # the push builds up to that of a spring, and no further
    np.testing.assert_allclose(world.poses(post)[0], at(0, 0, 0.9), atol=0.02)  # it is worked upon all the time
    world.remove_joint(joint)
    heights = []
    for _ in range(60):
        world.step(DT)
        heights.append(world.poses(post)[0, 2, 3])
    assert max(heights) < 1.05
    assert heights[-1] == pytest.approx(1.0 - 0.5 * world.slop, abs=world.slop)


@pytest.mark.large
def test_what_hangs_together_bounces_together():
    """Two balls on a rod that falls upright: the rod bounces as one ball of their mass would."""
    speeds = []
    for joined in (False, True):
        world = abut.World(sleeping=False)
        world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
        low, high = (world.add(shapes.Sphere(0.2), at(0, 0, z), mass=1.0, restitution=0.8) for z in (1.0, 2.0))
        if joined:
            world.join(joints.fixed(low, high, (0, 0, 1.5)))
        for _ in range(30):
            world.step(DT)
            if world.velocities(low)[0, 2] > 0.0:
                break
        speeds.append(world.velocities([low, high] if joined else [low])[:, 2])
    np.testing.assert_allclose(speeds[1], speeds[0][0], rtol=0.02)
