"""Contacts of every pair of shapes: against a quadratic programme, against all faces of the difference, and in named situations."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

import abut
from abut import shapes
from abut.core import jit
from conftest import SOAK

_spec = importlib.util.spec_from_file_location("oracle_shapes", Path(__file__).with_name("oracle_shapes.py"))
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

KINDS = ("sphere", "capsule", "box", "cylinder", "hull")
CASES = 4000 if SOAK else (12 if jit.INTERPRETED else 150)


def pose_of(place, rotation=None):
    pose = np.eye(4)
    pose[:3, 3] = place
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


def make(kind, rng):
    size = rng.uniform(0.3, 1.0)
    if kind == "sphere":
        return shapes.Sphere(size)
    if kind == "capsule":
        return shapes.Capsule(0.5 * size, 2 * size)
    if kind == "box":
        return shapes.Box(size * np.array([2.0, 1.4, 0.8]))
    if kind == "cylinder":
        return shapes.Cylinder(size, 2 * size, sides=8)
    return shapes.Polytope(size * rng.normal(size=(12, 3)))


def contacts_of(a, pose_a, b, pose_b):
    world = abut.World()
    first = world.add(a, pose_a, kind="kinematic")
    world.add(b, pose_b, kind="kinematic")
    found = world.contacts()
    assert (found.body_a == first).all() or isinstance(a, shapes.Surface)
    return found


def placed(shape, pose):
    return shape.core.vertices @ pose[:3, :3].T + pose[:3, 3]


def test_distance_and_depth_are_those_of_the_oracle():
    rng = np.random.default_rng(7)
    pairs = list(itertools.combinations_with_replacement(KINDS, 2))
    touching = 0
    for case in range(CASES):
        kinds = pairs[case % len(pairs)]
        a, b = (make(kind, rng) for kind in kinds)
        at_a, at_b = pose_of(rng.normal(size=3), oracle.turn(rng)), pose_of(rng.normal(size=3), oracle.turn(rng))
        p, q = placed(a, at_a), placed(b, at_b)
        cores = oracle.distance(p, q)
        gap = cores - a.radius - b.radius
        found = contacts_of(a, at_a, b, at_b)
        world = abut.World()
        world.add(b, at_b, kind="kinematic")
        closest = world.closest(a, at_a)
        if cores > 1e-6:
            assert closest.distance == pytest.approx(gap, abs=1e-7)
            assert (len(found) > 0) == (gap <= 0) or abs(gap) < 1e-6
            assert len(world.overlap(a, at_a)) == int(gap <= 0) or abs(gap) < 1e-6
            across = closest.point_b - closest.point_a
            np.testing.assert_allclose(across, closest.distance * closest.normal, atol=1e-9)
        else:
            assert len(found) > 0
            if min(len(p), len(q)) > 3:
                assert -closest.distance == pytest.approx(oracle.depth(p, q), abs=1e-9)
                assert found.depth.max() == pytest.approx(oracle.depth(p, q), abs=1e-9)
        if len(found):
            touching += 1
            np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
            # Moved apart along the normal by the depth, the two no longer touch.
            apart = pose_of((found.depth.max() + 1e-8) * found.normal[np.argmax(found.depth)]) @ at_b
            assert len(contacts_of(a, at_a, b, apart)) == 0
    assert CASES // 8 < touching < CASES


def test_a_box_stands_on_four_corners_and_a_capsule_lies_on_two():
    floor = shapes.Box((10, 10, 1))
    lying = oracle.turn(np.random.default_rng(0))
    lying = np.array([(0, 0, 1), (0, 1, 0), (-1, 0, 0)])
    cases = (
        (shapes.Box((1, 1, 1)), None, 4),
        (shapes.Cylinder(0.5, 1.0), None, 4),
        (shapes.Capsule(0.5, 2.0), lying, 2),
    )
    for shape, rotation, count in (*cases, (shapes.Sphere(0.5), None, 1)):
        found = contacts_of(shape, pose_of((0.1, 0.2, 0.99), rotation), floor, pose_of((0, 0, 0)))
        assert len(found) == count
        np.testing.assert_allclose(found.normal, [[0, 0, -1]] * count, atol=1e-12)
        np.testing.assert_allclose(found.depth, 0.01, atol=1e-12)
        np.testing.assert_allclose(found.point[:, 2], 0.495, atol=1e-12)


def test_tiled_floors_touch_like_planes():
    """A box and a ball that slide over a flat mesh and over a terrain feel only the normal upwards, wherever the tiles' edges are."""
    flat = shapes.Terrain(np.zeros((9, 9)), 0.5)
    slab = shapes.Surface(abut.scenes.box((4.0, 4.0, 1.0)), thick=False)
    rng = np.random.default_rng(3)
    for _ in range(4 if jit.INTERPRETED else 40):
        x, y = rng.uniform(0.8, 3.2, 2)
        spin = pose_of((x, y, 0.49), oracle.turn(rng))
        spin[2, :3] = spin[:3, 2] = (0, 0, 1)
        angle = rng.uniform(0, 7)
        spin[:2, :2] = (np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))
        for ground, at in ((flat, pose_of((0, 0, 0))), (slab, pose_of((2, 2, -0.5)))):
            for shape in (shapes.Sphere(0.5), shapes.Box((1, 1, 1)), shapes.Capsule(0.3, 0.4)):
                found = contacts_of(shape, spin, ground, at)
                assert len(found) > 0
                np.testing.assert_allclose(found.normal, np.tile([0, 0, -1], (len(found), 1)), atol=1e-12)
                np.testing.assert_allclose(found.depth, 0.01, atol=1e-12)


def test_whatever_is_under_a_terrain_is_pushed_up():
    ground = shapes.Terrain(np.zeros((5, 5)), 1.0)
    for height in (-0.2, -2.0):
        found = contacts_of(shapes.Sphere(0.5), pose_of((2.2, 2.1, height)), ground, np.eye(4))
        assert found.depth.max() == pytest.approx(0.5 - height)
        np.testing.assert_allclose(found.normal[0], (0, 0, -1), atol=1e-12)
    assert len(contacts_of(shapes.Sphere(0.5), pose_of((2.2, 2.1, 0.6)), ground, np.eye(4))) == 0
    assert len(contacts_of(shapes.Sphere(0.5), pose_of((9.0, 2.1, -2)), ground, np.eye(4))) == 0


def test_a_ridge_and_a_hollow_have_normals_of_their_own():
    ridge = shapes.Terrain([[0, 0], [1, 1], [0, 0]], 1.0)
    found = contacts_of(shapes.Sphere(0.5), pose_of((1, 0.5, 1.49)), ridge, np.eye(4))
    np.testing.assert_allclose(found.normal, np.tile([0, 0, -1], (len(found), 1)), atol=1e-9)
    hollow = shapes.Terrain([[1, 1], [0, 0], [1, 1]], 1.0)
    found = contacts_of(shapes.Sphere(0.5), pose_of((1, 0.5, 0.5 * np.sqrt(2) - 0.01)), hollow, np.eye(4))
    assert {tuple(np.sign(np.round(normal, 6))) for normal in found.normal} == {(1, 0, -1), (-1, 0, -1)}


@pytest.mark.large
def test_surfaces_touch_on_their_real_triangles():
    """Two rings that are linked: their hulls overlap deeply, their triangles do not meet."""
    ring = shapes.Surface(abut.scenes.torus(1.0, 0.2))
    upright = np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)])
    assert len(contacts_of(ring, np.eye(4), ring, pose_of((1.0, 0, 0), upright))) == 0
    found = contacts_of(ring, np.eye(4), ring, pose_of((0.35, 0, 0), upright))
    assert 0 < len(found) <= 8
    assert (found.face_a >= 0).all()
    assert (found.face_b >= 0).all()
    assert 0 < found.depth.max() < 0.2
    soft = abut.Deformable(abut.scenes.icosphere(2))
    world = abut.World()
    world.add(shapes.Sphere(0.5), pose_of((0, 0, 1.45)), kind="kinematic")
    world.add(soft)
    assert 0.03 < world.contacts().depth.max() < 0.06
    soft.update(soft.mesh.vertices * (1, 1, 0.5))
    assert len(world.contacts()) == 0
