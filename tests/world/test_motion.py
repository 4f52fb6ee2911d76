"""Physics against formulas: bounce, friction angle, stacks, bullets, linkages."""

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from conftest import SOAK

pytestmark = pytest.mark.large
DT = 1 / 60


def at(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def with_floor(**options):
    world = abut.World(**options)
    world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static")
    return world


@pytest.mark.parametrize("bounce", [0.0, 0.5, 0.9, 1.0])
def test_a_ball_bounces_to_the_square_of_the_restitution(bounce):
    world = with_floor(sleeping=False)
    ball = world.add(shapes.Sphere(0.5), at(0, 0, 2.5), restitution=bounce)
    heights, fallen = [], False
    for _ in range(180):
        before = world.velocities(ball)[0, 2]
        world.step(1 / 120)
        after = world.velocities(ball)[0, 2]
        if fallen and before > 0 >= after:
            heights.append(world.poses(ball)[0, 2, 3] - 0.5)
            break
        fallen = fallen or after > before
    highest = heights[0] if heights else 0.0
    assert highest == pytest.approx(2.0 * bounce**2, abs=0.01)  # between two steps it misses the top by at most g·dt²/8


def test_a_static_body_with_a_velocity_is_a_belt_and_lifts_nothing():
    """It pulls along what lies on it, and stays where it is: contacts must not follow it as if it moved."""
    for velocity, speed in (((1.0, 0.0, 0.0), 1.0), ((0.0, 0.0, 0.5), 0.0)):
        world = abut.World()
        world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static", velocity=velocity)
        box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.5))
        for _ in range(60):
            world.step(DT)
        assert world.velocities(box)[0] == pytest.approx((speed, 0.0, 0.0), abs=1e-3)
        assert abs(world.poses(box)[0, 2, 3] - 0.5) <= world.slop


def test_sliding_begins_at_the_friction_angle():
    for friction in (0.2, 0.7):
        for part in (0.99, 1.01):
            angle = np.arctan(friction) * part
            pose = np.eye(4)
            pose[:3, :3] = ((np.cos(angle), 0, np.sin(angle)), (0, 1, 0), (-np.sin(angle), 0, np.cos(angle)))
            world = abut.World(sleeping=False)
            world.add(shapes.Box((60, 10, 1)), pose @ at(0, 0, -0.5), kind="static", friction=friction)
            box = world.add(shapes.Box((1, 1, 1)), pose @ at(0, 0, 0.5), friction=friction)
            for _ in range(60):
                world.step(DT)
            start = world.poses(box)[0, :3, 3]
            speed = np.linalg.norm(world.velocities(box))
            for _ in range(120):
                world.step(DT)
            moved = np.linalg.norm(world.poses(box)[0, :3, 3] - start)
            pull = 9.81 * (np.sin(angle) - friction * np.cos(angle))
            if part < 1:
                assert moved < 1e-4
            else:
                assert moved == pytest.approx(speed * 2 + 0.5 * pull * 4, rel=0.02)
                assert speed > 0.5 * pull


def test_twenty_boxes_stand():
    world = with_floor()
    boxes = world.add_many(shapes.Box((1, 1, 1)), np.stack([at(0, 0, 0.5 + k) for k in range(20)]))
    for _ in range(600):
        world.step(DT)
    early = world.poses(boxes)
    assert np.abs(early[:, :2, 3]).max() < 0.02
    assert (np.diff(early[:, 2, 3]) > 1.0 - world.slop).all()
    assert world.contacts().depth.max() <= world.slop
    for _ in range(600):
        world.step(DT)
    assert np.abs(world.poses(boxes) - early).max() < world.slop


def test_a_bullet_never_passes_a_wall():
    rng = np.random.default_rng(5)
    thin = shapes.Surface(abut.Mesh([(0, -3, -3), (0, 3, -3), (0, 3, 3), (0, -3, 3)], [(0, 1, 2), (0, 2, 3)]))
    bullets = (shapes.Sphere(0.02), shapes.Box((0.05, 0.02, 0.02)), shapes.Capsule(0.01, 0.05))
    for case in range(300 if SOAK else 24):
        wall = (shapes.Box((0.01, 6, 6)), thin)[case % 2]
        speed = 10.0 ** rng.uniform(1, 4)
        aim = np.array([1.0, *rng.uniform(-0.5, 0.5, 2)])
        world = abut.World(gravity=(0, 0, 0))
        world.add(wall, kind="static")
        bullet = world.add(
            bullets[case % 3],
            at(-rng.uniform(0.1, 3.0)),
            velocity=speed * aim,
            angular_velocity=rng.normal(size=3) * 50,
            continuous=True,
        )
        for _ in range(8):
            before = world.poses(bullet)[0, :3, 3]
            world.step(DT)
            after = world.poses(bullet)[0, :3, 3]
            if after[0] >= 0.0:  # thrown aside by its spin, it may pass the wall beside its edge
                crossing = before + before[0] / (before[0] - after[0]) * (after - before)
                assert np.abs(crossing[1:]).max() > 3.0
                break
    world = abut.World(gravity=(0, 0, 0))
    world.add(shapes.Box((0.01, 6, 6)), kind="static")
    ghost = world.add(bullets[0], at(-1), velocity=(1000, 0, 0))
    world.step(DT)
    assert world.poses(ghost)[0, 0, 3] > 0.0  # without the option it does


def test_a_mixed_pile_comes_to_rest():
    rng = np.random.default_rng(2)
    world = with_floor()
    for sign in (-1, 1):
        world.add(shapes.Box((1, 8, 20)), at(2.2 * sign, 0, 10), kind="static")
        world.add(shapes.Box((8, 1, 20)), at(0, 2.2 * sign, 10), kind="static")
    kinds = (
        shapes.Sphere(0.3),
        shapes.Capsule(0.2, 0.4),
        shapes.Box((0.5, 0.5, 0.5)),
        shapes.Cylinder(0.25, 0.5, sides=12),
    )
    kinds += (shapes.Polytope(0.25 * rng.normal(size=(14, 3))),)
    bodies = [
        world.add(kinds[k % 5], at(*rng.uniform(-1.2, 1.2, 2), 0.5 + 0.16 * k)) for k in range(400 if SOAK else 60)
    ]
    energy = np.inf
    for k in range(540):
        world.step(DT)
        if (
            k % 60 == 59 and k > 240
        ):  # all have fallen: what is left of the motion only dies out, but for single ones that roll off others
            speeds = np.linalg.norm(world.velocities(bodies), axis=1)
            assert np.sort(speeds)[: -len(bodies) // 20].max() <= max(energy, 2 * world.slop)
            energy = np.sort(speeds)[: -len(bodies) // 20].max()
    assert world.asleep(bodies).all()
    assert world.contacts().depth.max() <= world.slop
    before = world.poses(bodies)[:, :3, 3]
    for _ in range(60):
        world.step(DT)
    after = world.poses(bodies)[:, :3, 3]
    np.testing.assert_array_equal(after, before)
    assert after[:, 2].min() > 0.0
    assert np.abs(after[:, :2]).max() < 1.7
    world.validate()


@pytest.mark.skipif(not SOAK, reason="a thousand bodies: with ABUT_SOAK")
def test_the_pile_of_a_thousand_comes_to_rest():
    scene = abut.scenes.worlds.pile()
    world, bodies = scene.world, scene.bodies[:1000]
    for _ in range(scene.step_count):
        world.step(scene.dt)
    assert world.contacts().depth.max() <= world.slop
    assert world.asleep(bodies).all()


def test_a_rolling_ball_stops_after_the_way_that_the_torque_allows():
    """Rolling friction of one slop: the deceleration is g·slop/r over 1 + 2/5, for the ball's inertia slows down with it."""
    world = with_floor(sleeping=False)
    speed, radius = 0.5, 0.5
    ball = world.add(
        shapes.Sphere(radius), at(0, 0, 0.4975), velocity=(speed, 0, 0), angular_velocity=(0, speed / radius, 0)
    )
    pull = 9.81 * world.slop / radius / 1.4
    for _ in range(120):
        world.step(DT)
    assert world.velocities(ball)[0, 0] == pytest.approx(speed - 2 * pull, rel=0.02)
    for _ in range(420):
        world.step(DT)
    assert world.poses(ball)[0, 0, 3] == pytest.approx(speed**2 / (2 * pull), rel=0.02)


def test_momentum_is_kept_in_collisions_without_gravity():
    rng = np.random.default_rng(8)
    world = abut.World(gravity=(0, 0, 0), sleeping=False)
    poses = np.stack([at(*rng.uniform(-3, 3, 3)) for _ in range(20)])
    speeds = rng.normal(size=(2, 20, 3))
    bodies = world.add_many(
        shapes.Box((1, 1, 1)), poses, velocity=speeds[0], angular_velocity=speeds[1], restitution=0.5
    )
    before = world.velocities(bodies).sum(axis=0)
    for _ in range(120):
        world.step(DT)
    np.testing.assert_allclose(world.velocities(bodies).sum(axis=0), before, atol=1e-9)


def test_a_rope_hangs_over_a_beam_and_moves_what_it_meets():
    rope = abut.dynamics.rope((-1.2, 0, 1.4), (1.2, 0, 1.4), 13, radius=0.05, gravity=(0, 0, -9.81), mass=0.2, drag=0.5)
    world = with_floor()
    world.add(shapes.Box((0.3, 3, 0.3)), at(0, 0, 1), kind="static")
    ball = world.add(shapes.Sphere(0.1), at(0.4, 0, 1.26), mass=0.05)
    world.link(rope, layer=2)
    for _ in range(150):
        world.step(DT)
    lengths = np.linalg.norm(np.diff(rope.position, axis=0), axis=1)
    np.testing.assert_allclose(lengths, rope.length, rtol=0.01)
    middle = rope.position[6]
    assert 1.1 < middle[2] < 1.3
    assert rope.position[[0, -1], 2].max() < 1.0
    assert rope.position[:, 2].min() > 0.0
    assert world.poses(ball)[0, 2, 3] < 0.2  # the rope threw it off
    assert not jit.INTERPRETED
