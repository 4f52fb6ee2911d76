"""States that are saved and films: what follows a state is the same to the bit, and a film changes nothing."""

import pickle

import numpy as np
import pytest

import abut
from abut import dynamics, scenes, shapes
from abut.core import jit
from abut.world import Material
from world.collisions import DT, at, run, some_shape, some_turn

STEPS = 2 if jit.INTERPRETED else 25


def odd(first, second):
    return (first * second) % 7 != 1


def full_world(rng):
    """Something of everything; the deformable body and the rope are the user's own."""
    world = abut.World(filter=odd, substeps=2 if jit.INTERPRETED else 8)
    world.add(shapes.Terrain(np.zeros((5, 5)), 3.0), at(-6, -6), kind="static", name="ground")
    world.add(shapes.Box((3, 1, 0.2)), at(0, 3, 0.6), kind="static", material=Material(one_way=(0, 0, 1)))
    world.add(shapes.Box((3, 1, 0.2)), at(0, -3, 0.1), kind="static", material=Material(surface_velocity=(1, 0, 0)))
    world.add(shapes.Box((2, 2, 2)), at(0, 0, 1), kind="sensor", velocity=(0.1, 0, 0))
    for k in range(3 if jit.INTERPRETED else 10):
        place = at(*rng.uniform(-2, 2, 2), 0.8 + 0.7 * k, some_turn(rng))
        options = {"continuous": k % 5 == 1, "linear_damping": 0.1 * (k % 3), "locked": ("", "rz", "")[k % 3]}
        world.add((shapes.Box((0.5, 0.6, 0.7)), shapes.Sphere(0.3), some_shape(rng, 0.5)[0])[k % 3], place, **options)
    sheet = abut.Deformable(scenes.cloth(3, 3, 2.0, (0, 0, 0.2)))
    world.add(sheet)
    rope = dynamics.rope((-1, 1, 1), (1, 1, 1), 4, radius=0.05)
    world.link(rope)
    world.ignore(world.handles[0], world.handles[5])
    return world, sheet, rope


def go_on(world, sheet, rope, steps):
    """Some steps with a wave of the sheet and pushes; all that can be seen of them."""
    seen = []
    for k in range(steps):
        if k % 7 == 3:
            sheet.update(sheet.vertices + np.array((0, 0, 0.01 * np.sin(k))))
        if k % 5 == 2:
            world.apply_force(world.handles[4], (0.3, 0, 0))
        world.step(DT)
        hits = world.contacts()
        seen += [world.poses(), world.velocities(), world.asleep(), hits.point, hits.impulse, hits.begun, hits.ended]
        seen += [world.sensor_events.begun, world.sensor_events.ended, rope.position.copy(), sheet.vertices.copy()]
    return seen


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_follows_a_state_is_the_same_to_the_bit():
    world, sheet, rope = full_world(np.random.default_rng(1))
    go_on(world, sheet, rope, STEPS)
    if not jit.INTERPRETED:
        run(world, 90)  # some sleep
        assert world.asleep().any()
    state = world.save_state()
    kept = pickle.dumps(state)
    first = go_on(world, sheet, rope, STEPS)
    more = world.add(shapes.Sphere(1.0), at(0, 0, 9), name="more")
    world.remove(world.handles[4])
    go_on(world, sheet, rope, 1)
    for _ in range(1 if jit.INTERPRETED else 2):
        world.restore(state)
        assert len(world.names) == 1
        assert world.linkages == (rope,)
        with pytest.raises(abut.InvalidInput):
            world.poses(more)
        world.validate()
        assert_same(go_on(world, sheet, rope, STEPS), first)
    other = abut.World()
    other.restore(pickle.loads(kept))
    their_sheet = next(shape for h in other.handles for shape, _ in other.shape_of(h) if isinstance(shape, shapes.Soft))
    assert_same(go_on(other, their_sheet.body, other.linkages[0], STEPS), first)


def test_a_state_is_kept_when_the_world_goes_on():
    world = abut.World()
    ball = world.add(shapes.Sphere(0.5), velocity=(1, 0, 0))
    world.apply_force(ball, (0, 0, 9))
    states = [world.save_state()]
    for _ in range(3):
        world.step(DT)
        states.append(world.save_state())
    poses = []
    for state in (states[2], states[0], states[3], states[0]):
        world.restore(state)
        poses.append(world.poses(ball)[0, 0, 3])
    np.testing.assert_allclose(poses, np.array([2, 0, 3, 0]) * DT, rtol=1e-12)
    world.step(DT)  # the force is part of the state
    assert world.velocities(ball)[0, 2] > 0.0
    for wrong in (None, world, 3, {}):
        with pytest.raises(abut.InvalidInput, match="state"):
            world.restore(wrong)


def test_a_film_has_every_step_and_changes_nothing():
    world, sheet, rope = full_world(np.random.default_rng(2))
    twin, their_sheet, their_rope = full_world(np.random.default_rng(2))
    with world.record() as film:
        seen = go_on(world, sheet, rope, STEPS)
        assert film.is_recording
    assert not film.is_recording
    assert_same(seen, go_on(twin, their_sheet, their_rope, STEPS))
    world.step(DT)
    assert len(film) == STEPS + 1
    np.testing.assert_allclose(film.times, DT * np.arange(STEPS + 1), atol=1e-12)
    for k in range(STEPS):
        frame, row = film[k + 1], seen[11 * k : 11 * k + 11]
        np.testing.assert_array_equal(frame.poses, row[0])
        np.testing.assert_array_equal(frame.asleep, row[2])
        np.testing.assert_array_equal(frame.contacts.point, row[3])
        before = {(a, b) for a, b in film[k].contacts.pairs.tolist()}
        now = {(a, b) for a, b in frame.contacts.pairs.tolist()}
        assert {(a, b) for a, b in frame.contacts.begun.tolist()} == now - before
        assert {(a, b) for a, b in frame.contacts.ended.tolist()} == before - now


def test_a_film_follows_bodies_that_come_and_go():
    world = abut.World((0, 0, 0))
    first = world.add(shapes.Sphere(0.5), velocity=(1, 0, 0))
    film = world.record()
    world.step(0.5)
    second = world.add(shapes.Box((1, 1, 1)), at(9))
    world.step(0.25)
    world.remove(first)
    world.step(0.25)
    film.stop()
    film.stop()
    times, poses = film.follow(first)
    assert times.tolist() == [0.0, 0.5, 0.75]
    assert poses[:, 0, 3].tolist() == [0.0, 0.5, 0.75]
    assert film.follow(second)[0].tolist() == [0.75, 1.0]
    assert isinstance(film.shape_of(first)[0][0], shapes.Sphere)
    assert [len(frame) for frame in film.frames] == [1, 1, 2, 1]
    copy = pickle.loads(pickle.dumps(film))
    assert copy.times.tolist() == film.times.tolist()
    for wrong in (4, -5, 0.5):
        with pytest.raises(abut.InvalidInput):
            film[wrong]
    with pytest.raises(abut.InvalidInput):
        film.follow(77)


def test_films_of_one_world_do_not_know_each_other_and_a_copy_is_not_filmed():
    world = abut.World()
    world.add(shapes.Sphere(0.5))
    first = world.record()
    world.step(DT)
    with world.record() as second:
        copy = pickle.loads(pickle.dumps(world))
        copy.step(DT)
        state = world.save_state()
        world.step(DT)
        world.restore(state)
        world.step(DT)
    assert (len(first), len(second)) == (4, 3)
    np.testing.assert_array_equal(first[2].poses, first[3].poses)
