"""Sensors: what is inside agrees with `overlap` after every step, and what others do is the same to the bit with and without them."""

import pickle

import numpy as np
import pytest

import abut
from abut import scenes, shapes
from abut.core import jit
from world.collisions import at, run, some_shape, some_turn

CASES = 1 if jit.INTERPRETED else 12


def some_bodies(rng, world):
    world.add(shapes.Box((20, 20, 1)), at(0, 0, -2), kind="static")
    for kind in ("dynamic", "dynamic", "dynamic", "static", "kinematic"):
        motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        place = at(*rng.uniform(-1.5, 1.5, 3), some_turn(rng))
        world.add(some_shape(rng, 0.8)[0], place, kind=kind, layer=int(rng.choice([1, 2])), **motion)


def sets_of(events):
    return tuple({(a, b) for a, b in rows.tolist()} for rows in (events.begun, events.persisting, events.ended))


def test_what_is_inside_agrees_with_overlap_and_nothing_else_notices():
    rng = np.random.default_rng(7)
    seen = 0
    for case in range(CASES):
        world, twin = abut.World(substeps=2), abut.World(substeps=2)
        for each in (world, twin):
            some_bodies(np.random.default_rng((7, case)), each)
        sensors = {}
        while len(sensors) < 3:
            shape = some_shape(rng, 1.5)[0]
            if isinstance(shape, shapes.Shape):
                motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
                place = at(*rng.uniform(-1, 1, 3), some_turn(rng))
                sensors[world.add(shape, place, kind="sensor", mask=int(rng.choice([1, 2, 3])), **motion)] = shape
        masks = dict(zip(sensors, world._store.mask[world._store.read(list(sensors))].tolist(), strict=True))
        before = set()
        for _ in range(3 if jit.INTERPRETED else 12):
            world.step(1 / 60)
            twin.step(1 / 60)
            events = world.sensor_events
            now = set()
            for sensor, shape in sensors.items():
                found = world.overlap(shape, world.poses(sensor)[0], mask=masks[sensor]).tolist()
                assert world.inside(sensor).tolist() == found
                now |= {(sensor, body) for body in found}
            begun, persisting, ended = sets_of(events)
            assert (begun, persisting, ended) == (now - before, now & before, before - now)
            assert {(a, b) for a, b in events.inside.tolist()} == now
            before, seen = now, seen + len(now)
        count = len(twin)
        assert np.array_equal(world.poses()[:count], twin.poses())
        assert np.array_equal(world.velocities()[:count], twin.velocities())
        assert np.array_equal(world.contacts().point, twin.contacts().point)
    assert seen > 0


def test_a_ball_falls_through_a_sensor():
    world = abut.World()
    gate = world.add(shapes.Box((1, 1, 1)), at(0, 0, 3), kind="sensor")
    ball = world.add(shapes.Sphere(0.3), at(0, 0, 5))
    told = []
    for k in range(60):
        world.step(1 / 60)
        told += [(k, name) for name in ("begun", "ended") if len(getattr(world.sensor_events, name))]
    # 1.2 above the box's top and 2.8 above where it is out below, in free fall.
    assert told == [(int(np.sqrt(2 * 1.2 / 9.81) * 60), "begun"), (int(np.sqrt(2 * 2.8 / 9.81) * 60), "ended")]
    assert world.velocities(ball)[0, 2] == pytest.approx(-9.81, rel=1e-12)
    assert world.ray((0, 0, 9), (0, 0, -1)).body[0] == ball
    assert not len(world.contacts())
    assert world.closest((0.0, 0.0, 3.0)).body == ball
    assert not len(world.inside(gate))


def test_touching_counts_and_sensors_do_not_see_each_other():
    world = abut.World((0, 0, 0))
    gate = world.add(shapes.Box((1, 1, 1)), kind="sensor")
    world.add(shapes.Box((1, 1, 1)), at(0.5), kind="sensor")
    touching = world.add(shapes.Box((1, 1, 1)), at(1.0), kind="static")
    world.add(shapes.Box((1, 1, 1)), at(0, 1.0 + 1e-9), kind="static")
    assert world.inside(gate).tolist() == [touching]


def test_a_ball_wholly_inside_a_mesh_is_inside_and_so_is_what_holds_the_sensor():
    world = abut.World((0, 0, 0))
    big = scenes.icosphere(2, 2.0)
    room = world.add(shapes.Surface(big, thick=False), kind="sensor")
    ball = world.add(shapes.Sphere(0.2))
    point = world.add(shapes.Sphere(0.01), at(0, 0.5), kind="sensor")
    shell = world.add(shapes.Surface(scenes.torus(3.0, 1.0)), at(9), kind="static")
    deep = world.add(shapes.Sphere(0.1), at(12.0), kind="sensor")
    world.step(0.01)
    assert world.sensor_events.inside.tolist() == [[room, ball], [deep, shell]]
    assert not len(world.inside(point))


def test_what_is_removed_has_left():
    world = abut.World((0, 0, 0))
    gates = [world.add(shapes.Box((1, 1, 1)), at(x), kind="sensor") for x in (0.0, 0.2)]
    ball = world.add(shapes.Sphere(0.2))
    world.step(0.01)
    world.remove(gates[0])
    world.step(0.01)
    assert world.sensor_events.ended.tolist() == [[gates[0], ball]]
    assert world.sensor_events.persisting.tolist() == [[gates[1], ball]]
    world.remove(ball)
    world.step(0.01)
    assert world.sensor_events.ended.tolist() == [[gates[1], ball]]
    world.step(0.01)
    assert len(world.sensor_events) == len(world.sensor_events.ended) == 0
    with pytest.raises(abut.InvalidInput, match="sensor"):
        world.inside(world.add(shapes.Sphere(0.2)))


@pytest.mark.large
def test_sleepers_stay_inside_and_a_sensor_wakes_nobody():
    world = abut.World()
    world.add(shapes.Box((9, 9, 1)), at(0, 0, -0.5), kind="static")
    box = world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.4975))
    run(world, 60)
    assert world.asleep(box)[0]
    gate = world.add(shapes.Sphere(1.0), at(0, 0, 1.0), kind="sensor", velocity=(0.1, 0, 0))
    run(world, 5)
    assert world.asleep(box)[0]
    assert box in world.inside(gate)
    twin = pickle.loads(pickle.dumps(world))
    for each in (world, twin):
        each.step(1 / 60)
        assert box in each.sensor_events.persisting[:, 1]


@pytest.mark.large
def test_a_fast_body_does_not_stop_at_a_sensor():
    world = abut.World((0, 0, 0))
    world.add(shapes.Box((0.1, 9, 9)), at(2), kind="sensor")
    ball = world.add(shapes.Sphere(0.1), velocity=(300, 0, 0), continuous=True)
    world.step(1 / 60)
    assert world.poses(ball)[0, 0, 3] == pytest.approx(5.0)
