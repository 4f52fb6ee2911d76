"""Linkages in a world: they rest within the slop, stick by friction, keep momentum, sleep and wake, and go as a whole."""

import pickle

import numpy as np
import pytest

import abut
from abut import dynamics, scenes, shapes

pytestmark = pytest.mark.large
DT = 1 / 60
DOWN = (0.0, 0.0, -9.81)


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def run(world, count):
    for _ in range(count):
        world.step(DT)


def lengths_of(linkage):
    return np.linalg.norm(np.subtract(*linkage.position[linkage.bones.T]), axis=1)


def bar(world, start=(-0.5, 0.0, 0.1), end=(0.5, 0.0, 0.1), count=5, **options):
    """A rope of some bones, linked."""
    rope = dynamics.rope(start, end, count, radius=0.1, gravity=DOWN)
    return rope, world.link(rope, layer=2, **options)


@pytest.mark.parametrize("scene", ["stairs", "cloth"])
def test_scenes_of_linkages_come_to_rest_within_the_slop(scene):
    made = scenes.rag_doll_on_stairs(4) if scene == "stairs" else scenes.cloth_on_terrain(10)
    (linkage, _) = made.linkages[0]
    run(made.world, 300 if scene == "stairs" else 450)
    standing = np.setdiff1d(made.world.handles, made.bodies)
    assert made.world.asleep(standing).all()
    contacts = made.world.contacts()
    assert len(contacts) >= 4
    assert contacts.depth.max() <= made.world.slop
    still = linkage.position
    assert not linkage.velocity.any()
    np.testing.assert_allclose(lengths_of(linkage), linkage.length, rtol=0.005 if scene == "stairs" else 0.05)
    run(made.world, 30)
    np.testing.assert_array_equal(linkage.position, still)


def test_a_linkage_in_free_flight_follows_the_parabola():
    world = abut.World()
    rope, _ = bar(world, (0, 0, 50), (1, 0.5, 50.2))
    rope.velocity = np.tile([1.0, 2.0, 3.0], (len(rope), 1))
    start = rope.position.mean(axis=0)
    run(world, 60)
    np.testing.assert_allclose(rope.position.mean(axis=0), start + np.array([1.0, 2.0, 3.0 - 9.81 / 2]), atol=1e-9)


def test_momentum_is_kept_between_a_linkage_and_a_body():
    for friction, where in ((0.0, 0.11), (0.8, 0.47)):
        world = abut.World((0, 0, 0), sleeping=False)
        rope = dynamics.rope((0, -0.5, 0), (0, 0.5, 0), 9, radius=0.03, mass=0.1)
        world.link(rope, layer=2, friction=friction)
        ball = world.add(shapes.Sphere(0.1), at(-0.5, where, 0.02), mass=0.4, velocity=(5, 0.3, 0), friction=friction)
        run(world, 60)
        assert np.linalg.norm(world.velocities(ball)[0] - [5, 0.3, 0]) > 0.5
        np.testing.assert_allclose(rope.momentum() + 0.4 * world.velocities(ball)[0], [2, 0.12, 0], atol=1e-9)


def test_bones_stick_below_the_friction_angle_and_slide_above():
    for part in (0.98, 1.02):
        slope = np.arctan(0.5) * part
        world = abut.World((0, 0, 0), sleeping=False)
        world.add(shapes.Box((40, 40, 1)), at(0, 0, -0.5), kind="static", friction=0.5)
        rope = dynamics.rope((-0.5, 0, 0.0975), (0.5, 0, 0.0975), 5, radius=0.1)
        rope.gravity = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
        world.link(rope, layer=2, friction=0.5)
        run(world, 60)
        start, speed = rope.position[:, 0].mean(), rope.velocity[:, 0].mean()
        run(world, 60)
        moved = rope.position[:, 0].mean() - start
        pull = 9.81 * (np.sin(slope) - 0.5 * np.cos(slope))
        if part < 1.0:
            assert abs(moved) < 1e-4
        else:
            assert moved == pytest.approx(speed + 0.5 * pull, rel=0.02)


def test_a_linkage_carries_what_lies_on_it():
    """The load of a bone reaches the ground: nothing sinks in, however the weight is spread."""
    world = abut.World()
    world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    rope, _ = bar(world)
    box = world.add(shapes.Box((1.0, 1.0, 0.2)), at(0, 0, 0.3), mass=20.0)
    run(world, 180)
    assert world.contacts().depth.max() <= world.slop
    assert world.poses(box)[0, 2, 3] == pytest.approx(0.3, abs=2 * world.slop)
    assert world.asleep().sum() == len(rope.bones) + 1


def test_linkages_wake_when_touched_or_set():
    world = abut.World()
    world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    rope, handles = bar(world)
    for wake in ("velocity", "position", "force", "gravity", "ball"):
        rope.force, rope.gravity = None, np.array(DOWN)
        run(world, 120)
        assert world.asleep(handles).all()
        assert not rope.velocity.any()
        if wake == "ball":
            world.add(shapes.Sphere(0.1), at(0.1, 0, 0.305))
            run(world, 5)
        elif wake == "velocity":
            rope.velocity = np.tile([0.0, 0.0, 1.0], (len(rope), 1))
        elif wake == "position":
            rope.position = rope.position + np.array([0.0, 0.0, 0.5])
            assert not np.isin(handles, world.contacts().pairs).any()  # a question finds it where it is now
        elif wake == "force":
            rope.force = np.tile([0.0, 0.0, 20.0], (len(rope), 1))
        else:
            rope.gravity = np.array([0.0, 0.0, 1.0])
        world.step(DT)
        assert not world.asleep(handles).any(), wake


def test_linkages_are_added_and_removed_as_a_whole():
    world = abut.World()
    floor = world.add(shapes.Box((10, 10, 1)), at(0, 0, -0.5), kind="static")
    rope, handles = bar(world)
    assert world.linkages == (rope,)
    run(world, 5)
    with pytest.raises(abut.InvalidInput, match="part of a linkage"):
        world.remove(handles[:2])
    with pytest.raises(abut.InvalidInput, match="part of a linkage"):
        world.move(handles[0], at(1, 0, 0))
    with pytest.raises(abut.InvalidInput, match="already"):
        world.link(rope)
    flat = dynamics.Linkage([[0, 0, 5], [1, 0, 5.0], [1, 0, 5]], [[0, 1], [1, 2]], radius=0.1)
    with pytest.raises(abut.InvalidInput, match=r"linkage\[1\]"):
        world.link(flat)
    assert len(world) == 1 + len(handles)
    world.remove(handles)
    assert world.linkages == ()
    assert world.handles.tolist() == [floor]
    assert not len(world.contacts())
    world.step(DT)
    world.validate()


def test_a_pickled_world_goes_on_with_its_linkages():
    scene = scenes.rag_doll_on_stairs(2)
    run(scene.world, 30)
    copy = pickle.loads(pickle.dumps(scene.world))
    run(scene.world, 40)
    run(copy, 40)
    (doll,), (other,) = scene.world.linkages, copy.linkages
    np.testing.assert_array_equal(doll.position, other.position)
    np.testing.assert_array_equal(scene.world.poses(), copy.poses())


def test_a_fast_continuous_linkage_does_not_pass_a_thin_wall():
    for speed in (20.0, 200.0):
        world = abut.World((0, 0, 0))
        world.add(shapes.Box((0.02, 4, 4)), kind="static")
        rope = dynamics.rope((-1, -0.5, 0.1), (-1, 0.5, -0.1), 9, radius=0.03, mass=0.1)
        rope.velocity = np.tile([speed, 0.0, 0.0], (9, 1))
        world.link(rope, layer=2, continuous=True)
        for _ in range(30):
            world.step(DT)
            assert rope.position[:, 0].max() < 0.0


def test_bones_that_hang_together_do_not_push_each_other():
    """A linkage that meets itself: neighbors overlap at their joints."""
    world = abut.World((0, 0, 0), sleeping=False)
    rope = dynamics.rope((0, 0, 0), (1, 0, 0), 5, radius=0.1)
    world.link(rope, layer=2, mask=2)
    before = rope.position
    run(world, 10)
    np.testing.assert_array_equal(rope.position, before)
