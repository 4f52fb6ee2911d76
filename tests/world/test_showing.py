"""Worlds and their answers in a console, and in a notebook."""

import re

import numpy as np
import pytest

import abut
from abut import dynamics, scenes, shapes

LARGEST_PICTURE = 20_000


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def a_world():
    world = abut.World()
    world.add(shapes.Box((4, 4, 1)), kind="static")
    world.add([shapes.Sphere(0.5), (shapes.Capsule(0.2, 1), at(1, 0, 0))], at(0, 0, 0.9))
    return world


def test_worlds_count_their_bodies():
    world = abut.World()
    assert repr(world) == "World(0 bodies)"
    assert repr(a_world()) == "World(2 bodies)"
    world.link(dynamics.rope((0, 0, 3), (1, 0, 3), 3, radius=0.1))
    assert repr(world) == "World(2 bodies, 1 linkage)"
    world = abut.World(gravity=(0, 0, 0))
    world.add(shapes.Box((4, 4, 1)), kind="static")
    world.add(shapes.Box((1, 1, 1)), at(0, 0, 0.999))
    for _ in range(100):
        world.step(0.02)
    assert repr(world) == "World(2 bodies, 1 asleep)" or not world.asleep().any()


def test_a_world_draws_its_shapes():
    world = a_world()
    drawn = world._repr_html_()
    assert "World(2 bodies)" in drawn
    assert drawn.count("<circle") == 1
    assert drawn.count('z" fill=') == 2  # the borders of a box and a capsule
    world.add(scenes.torus(), at(0, 0, 3))
    assert drawn.count('fill="none"') < world._repr_html_().count('fill="none"')
    assert "<svg" in abut.World()._repr_html_()


def test_a_picture_is_cut_to_the_surroundings_of_what_moves():
    world = abut.World()
    world.add(shapes.Box((1000, 1000, 1)), kind="static")
    world.add(shapes.Sphere(0.5), at(0, 0, 1))
    radius = float(re.search(r'r="([0-9.]+)"', world._repr_html_())[1])
    assert 40.0 < radius < 70.0  # of 360 points; with all of the floor it would be a dot


@pytest.mark.large
def test_a_picture_of_many_bodies_stays_small():
    world = abut.World()
    poses = [at(3.0 * i, 3.0 * j, 3.0 * k) for i in range(6) for j in range(6) for k in range(6)]
    for shape in (shapes.Cylinder(1, 2), shapes.Capsule(0.5, 1)):
        world.add_many(shape, poses)
    world.add(scenes.torus(), at(0, 0, -9), kind="static")
    drawn = world._repr_html_()
    assert len(drawn) < LARGEST_PICTURE
    assert "World(433 bodies): 120 of them" in drawn


def test_answers_show_counts_and_tables():
    world = a_world()
    contacts = world.contacts()
    assert repr(contacts) == "WorldContacts(2 points, 1 pair, 1 begun, 0 ended)"
    assert contacts._repr_html_().count("<tr>") == 3
    hits = world.ray([(0, 0, 5), (9, 9, 5)], (np.eye(3)[[2, 2]] * -1))
    assert repr(hits) == "RayHits(2 rays, 1 hit)"
    assert hits._repr_html_().count("<tr>") == 3
    found = world.closest((0, 0, 3.4))
    assert repr(found) == "Closest(body 1, distance 2)"
    assert "point_a" in found._repr_html_()
    many = world.closest_many([(0, 0, 3.4), (0, 0, 9)])
    assert repr(many) == "ClosestMany(2 places, 2 with a body)"
    assert many._repr_html_().count("<tr>") == 3
    overlaps = world.overlap_many(shapes.Sphere(0.5), np.stack((at(0, 0, 1), at(0, 0, 9))))
    assert repr(overlaps) == "OverlapMany(2 overlaps, 2 bodies)"
    assert overlaps._repr_html_().count("<tr>") == 3


def test_answers_cannot_be_written_to():
    world = a_world()
    answers = [
        world.contacts(),
        world.ray((0, 0, 5), (0, 0, -1)),
        world.closest((0, 0, 3)),
        world.closest_many([(0, 0, 3)]),
    ]
    answers.append(world.overlap_many(shapes.Sphere(0.5), at(0, 0, 1)[None]))
    for answer in answers:
        with pytest.raises(AttributeError):
            answer.body = 5
        for value in vars(answer).values():
            assert not isinstance(value, np.ndarray) or not value.flags.writeable
