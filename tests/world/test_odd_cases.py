"""Odd cases: every shape on every ground, what wakes a sleeper and what must not sleep, steps of changing length, tiles, rooms, far balls."""

import numpy as np
import pytest

import abut
from abut import dynamics, shapes

DT = 1 / 60
WIDE = 3.0
"""Distance between bodies of one world that shall not meet."""


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def run(world, count, dt=DT):
    for _ in range(count):
        world.step(dt)


def with_floor(**options):
    world = abut.World(**options)
    world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static")
    return world


def sheet(height=0.0):
    return abut.scenes.cloth(20, 4, 20.0, (0, 0, height))


def sleeping_box():
    world = with_floor()
    box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.4975))
    run(world, 40)
    assert world.asleep(box)[0]
    return world, box


GROUNDS = {
    "box": lambda world: world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static"),
    "hull": lambda world: world.add(shapes.Cylinder(20.0, 1.0, sides=8), at(0, 0, -0.5), kind="static"),
    "open mesh": lambda world: world.add(sheet(), kind="static"),
    "deformable": lambda world: world.add(abut.Deformable(sheet())),
    "terrain": lambda world: world.add(shapes.Terrain(np.zeros((21, 5)), 1.0), at(-10, -2, 0), kind="static"),
}


@pytest.mark.large
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_shape_rests_on_every_ground(ground):
    lying = np.array([(1.0, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)])
    corners = [(-0.3, -0.3, -0.2), (0.3, -0.3, -0.2), (0.3, 0.3, -0.2), (-0.3, 0.3, -0.2), (0.1, 0, 0.2)]
    bodies = [
        shapes.Sphere(0.2),
        [(shapes.Capsule(0.2, 0.5), lying)],
        shapes.Box((0.6, 0.5, 0.4)),
        shapes.Cylinder(0.3, 0.4),
        shapes.Polytope(corners),
        abut.scenes.torus(0.4, 0.2, 16, 12),
    ]
    world = abut.World()
    GROUNDS[ground](world)
    handles = [world.add(shape, at(WIDE * (k - 2.5) + 0.03, 0.02, 0.21)) for k, shape in enumerate(bodies)]
    run(world, 90)
    assert world.asleep(handles).all()
    contacts, poses = world.contacts(), world.poses(handles)
    assert len(contacts.pairs) == len(bodies)
    assert contacts.depth.max() <= world.slop
    assert (np.abs(poses[:, 2, 3] - 0.2) <= world.slop).all()
    assert np.abs(poses[:, :3, :3] - np.eye(3)).max() < 0.02
    assert np.abs(poses[:, 1, 3] - 0.02).max() < world.slop


def disturbances():
    """What is done to a sleeping box, and what must follow for its position."""

    def push(world, _):
        wall = world.add(shapes.Box((1, 1, 1)), at(5, 0, 0.6), kind="kinematic")
        run(world, 1)
        world.move(wall, at(0.9, 0, 0.6))

    def pull_up(world, _):
        world.gravity = (0.0, 0.0, 3.0)

    def block(world, _):
        world.add(shapes.Box((1, 1, 1)), at(0.9, 0, 0.6), kind="static")

    def take_floor(world, _):
        world.remove(world.handles[0])

    yield push, lambda p: p[0] < -0.09
    yield block, lambda p: p[0] < -0.09
    yield pull_up, lambda p: p[2] > 0.6
    yield take_floor, lambda p: p[2] < 0.3


@pytest.mark.large
def test_whatever_changes_around_a_sleeper_wakes_it():
    for disturb, follows in disturbances():
        world, box = sleeping_box()
        disturb(world, box)
        run(world, 30)
        assert follows(world.poses(box)[0, :3, 3]), disturb.__name__
    for height in (-1.0, 0.3):
        world, ground = abut.World(), abut.Deformable(sheet())
        world.add(ground)
        box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.4975))
        run(world, 40)
        assert world.asleep(box)[0]
        ground.update(sheet(height).vertices)
        run(world, 30)
        assert world.poses(box)[0, 2, 3] == pytest.approx(0.5 + height, abs=0.35)
        assert abs(world.poses(box)[0, 2, 3] - 0.5) > 0.1


@pytest.mark.large
def test_nothing_sleeps_in_flight_or_in_an_overlap():
    world = abut.World(
        slop=5.0
    )  # of bodies of a kilometre: all that falls for two seconds is slower than ten slops a second
    rock = world.add(shapes.Sphere(500.0), at(0, 0, 10_000))
    run(world, 120)
    assert world.poses(rock)[0, 2, 3] == pytest.approx(10_000 - 0.5 * 9.81 * 4, rel=1e-12)
    world = abut.World((0, 0, 0))
    world.add(shapes.Sphere(1.0), kind="static")
    inner, slow = (
        world.add(shapes.Sphere(0.2), at(0.1, 0.05, 0.02)),
        world.add(shapes.Sphere(0.2), at(5), velocity=(0.01, 0, 0)),
    )
    run(world, 150)
    assert world.contacts().depth.max(initial=0.0) <= world.slop
    assert world.poses(inner)[0, 0, 3] > 0.9
    assert world.poses(slow)[0, 0, 3] == pytest.approx(5.0 + 0.01 * 2.5, abs=1e-9)


@pytest.mark.large
def test_a_box_that_falls_flat_bounces_as_a_ball_does():
    for bounce in (0.5, 1.0):
        world = with_floor(sleeping=False)
        box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 1.5), restitution=bounce)
        heights = []
        for _ in range(180):
            before = world.velocities(box)[0, 2]
            world.step(1 / 120)
            if before > 0 >= world.velocities(box)[0, 2]:
                heights.append(world.poses(box)[0, 2, 3] - 0.5)
        assert heights[0] == pytest.approx(bounce**2, abs=0.01)


@pytest.mark.large
def test_a_stack_stands_steps_of_changing_length(rng):
    world = with_floor(sleeping=False)
    boxes = world.add_many(shapes.Box((1, 1, 1)), np.stack([at(0, 0, 0.4975 + 0.9975 * k) for k in range(6)]))
    for dt in rng.choice([1 / 30, 1 / 60, 1 / 240, 1 / 1000], 200):
        world.step(float(dt))
    assert np.abs(world.poses(boxes)[:, :2, 3]).max() < 2 * world.slop
    assert world.contacts().depth.max() <= world.slop


@pytest.mark.large
def test_continuous_bodies_slide_over_tiles_as_over_a_plane():
    world = abut.World()
    world.add(shapes.Terrain(np.zeros((41, 9)), 0.25), at(0, -1, 0), kind="static", friction=0.0)
    options = {"velocity": (40, 0, 0), "friction": 0.0, "continuous": True}
    bodies = [
        world.add(shapes.Sphere(0.25), at(0.5, -0.5, 0.2475), **options),
        world.add(shapes.Box((0.5, 0.5, 0.5)), at(0.5, 0.5, 0.2475), **options),
    ]
    run(world, 12)
    np.testing.assert_allclose(world.poses(bodies)[:, 0, 3], 8.5, atol=0.01)


@pytest.mark.large
def test_a_closed_room_keeps_what_is_inside():
    world = abut.World()
    world.add(shapes.Surface(abut.scenes.box((4, 4, 4), center=(0, 0, 2)), thick=True), kind="static")
    assert world.ray((0, 0, 2), (0, 0, 1)).distance[0] == pytest.approx(2.0)
    ball = world.add(shapes.Sphere(0.3), at(0.2, 0.1, 0.6))
    run(world, 60)
    assert world.poses(ball)[0, 2, 3] == pytest.approx(0.3, abs=world.slop)


def test_rays_at_far_and_at_tiny_balls_lose_no_digits():
    for radius, away in ((1.0, 1e8), (1e-6, 1.0), (1e-3, 1e3)):
        world = abut.World()
        world.add(shapes.Sphere(radius), kind="static")
        hit = world.ray((away, 0, 0), (-1, 0, 0))
        assert hit.distance[0] == pytest.approx(away - radius, rel=1e-15)
        np.testing.assert_allclose(hit.normal[0], (1, 0, 0), atol=1e-9)


@pytest.mark.large
def test_ropes_and_balls_fall_side_by_side():
    world = abut.World()
    rope = dynamics.rope((0, 0, 5), (1, 0, 5), 4, radius=0.05, gravity=(0, 0, -9.81))
    world.link(rope, layer=2)
    ball = world.add(shapes.Sphere(0.1), at(3, 0, 5))
    run(world, 30)
    np.testing.assert_allclose(rope.position[:, 2], world.poses(ball)[0, 2, 3], atol=1e-9)
