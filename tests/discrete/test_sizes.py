"""`collide`, `distance` and `contains` for every number of faces, points, poses and pairs, on one thread and on two, against brute force.

The oracles know no tree, packet, lane, chunk or thread: all faces against all faces, and winding numbers as sums of solid angles.
"""

import contextlib
import importlib

import numpy as np
import pytest

from abut import Mesh, Rigid, collide, contains, distance, scenes
from conftest import SLOW, SOAK, shared, sizes
from discrete.situations import deformable, random_pose, soup, translation
from oracles.bodies import distances, meeting_pairs, pair_set, solid_angles

# Widths of packets and of their tree (8, 64, 512), what is searched on one thread (8, 128), what is asked at once (1024).
FACES = [1, 9, 65] if SLOW else sizes(8, 16, 64, 128, 512, sample=12)
POSES = [1, 9] if SLOW else sizes(8, 128, 1024, sample=6)


def bodies_of(rng, count, kind):
    """A soup of so many faces and another of any number: rigid, deformable, or one of each."""
    other = int(rng.integers(*((10, 30) if SLOW else (1, 600))))
    a, b = Rigid(soup(rng, count, 0.5, 0.15), random_pose(rng, 0.2)), Rigid(soup(rng, other, 0.5, 0.15))
    return ((a, b), (b, a), (deformable(a), b), (deformable(b), deformable(a)))[kind]


def test_contacts_of_any_number_of_faces(threads):
    rng, found, counts = np.random.default_rng(threads), 0, shared(FACES, threads)
    for case, count in enumerate(counts):
        a, b = bodies_of(rng, count, case % 4)
        expected = meeting_pairs(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)
        assert pair_set(collide(a, b)) == expected, (count, len(b.mesh.faces))
        assert bool(collide(a, b, first=True)) == bool(expected)
        found += len(expected)
        own = [(i, j) for i, j in meeting_pairs(a.vertices, a.mesh.faces, a.vertices, a.mesh.faces) if i < j]
        assert pair_set(collide(a)) == own, count
    assert found > (0 if SLOW else len(counts))


def test_contacts_within_a_margin_of_any_number_of_faces(threads):
    rng = np.random.default_rng(10 + threads)
    for case, count in enumerate(FACES if SOAK else FACES[::4]):
        a, b = bodies_of(rng, count, case % 4)
        near = distances(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)
        expected = list(map(tuple, np.argwhere(near <= 0.1).tolist()))
        assert np.abs(near - 0.1).min() > 1e-12  # none in doubt
        assert pair_set(collide(a, b, margin=0.05)) == expected, count


def test_gaps_of_any_number_of_faces(threads):
    rng = np.random.default_rng(20 + threads)
    for case, count in enumerate(shared(FACES, threads)):
        a, b = bodies_of(rng, count, case % 2)
        b.pose = translation(*rng.choice([-4.0, 4.0], 3)) @ b.pose
        expected = distances(a.vertices, a.mesh.faces, b.vertices, b.mesh.faces)
        if expected.min() > 0.0:
            found = distance(*((a, b), (deformable(a), b))[case % 2])
            assert found.distance == pytest.approx(expected.min(), rel=1e-12)
            assert expected[found.face_a, found.face_b] == pytest.approx(expected.min(), rel=1e-12)


def test_points_in_bodies_of_any_number_of_faces(threads):
    """A closed surface has an even number of faces; the number of points is another count to sweep."""
    rng = np.random.default_rng(30 + threads)
    for count in FACES:
        body = Rigid(scenes.bumpy(max(6, count), seed=count), random_pose(rng, 0.5))
        points = body.vertices.mean(axis=0) + rng.normal(scale=0.8, size=(int(rng.integers(1, 100)), 3))
        winding = np.abs(solid_angles(points, body.vertices[body.mesh.faces]))
        assert (np.abs(winding - np.round(winding)) < 1e-6).all()  # none in doubt
        np.testing.assert_array_equal(contains(body, points), winding > 0.5)
    body = Rigid(scenes.icosphere(1))
    points = rng.normal(scale=0.7, size=(max(FACES), 3))
    expected = np.abs(solid_angles(points, body.vertices[body.mesh.faces])) > 0.5
    for count in FACES:
        np.testing.assert_array_equal(contains(body, points[:count]), expected[:count])


def test_any_number_of_poses(threads, monkeypatch):
    rng = np.random.default_rng(40 + threads)
    monkeypatch.setattr(
        importlib.import_module("abut.discrete.collide"), "threads_for", lambda *_: contextlib.nullcontext()
    )
    a, b = Rigid(soup(rng, 7, 0.5, 0.2)), Rigid(soup(rng, 9, 0.5, 0.2))
    poses = np.stack([random_pose(rng, 0.6) for _ in range(max(POSES))])
    expected = [
        [(query, *pair) for pair in meeting_pairs(Rigid(a.mesh, pose).vertices, a.mesh.faces, b.vertices, b.mesh.faces)]
        for query, pose in enumerate(poses)
    ]
    for count in POSES:
        found = collide(a, b, poses=poses[:count])
        rows = list(zip(found.query.tolist(), *zip(*pair_set(found), strict=True), strict=True)) if len(found) else []
        assert rows == [row for rows in expected[:count] for row in rows], count
        first = collide(a, b, poses=poses[:count], first=True)
        np.testing.assert_array_equal(first.colliding, [bool(rows) for rows in expected[:count]])


def slats(count, axis):
    """Long parallel triangles in a plane; those along x and those along y all cross one another, from z = 0 to 1."""
    at = np.linspace(0.1, 0.9, count)
    corners = np.zeros((count, 3, 3))
    corners[:, :, 1 - axis] = at[:, np.newaxis]
    corners[:, 0, axis], corners[:, 1, axis], corners[:, 2, axis] = -4.0, 5.0, 0.5
    corners[:, 2, 2] = 4.0
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


@pytest.mark.skipif(SLOW, reason="thousands of pairs")
def test_any_number_of_pairs(threads):
    """Around the 4,096 pairs that a query has room for at first."""
    for n, m in ((1, 4095), (63, 65), (64, 64), (17, 241), (1, 4097), (90, 91), (128, 129)):
        a, b = Rigid(slats(n, 0)), Rigid(slats(m, 1))
        every = [(i, j) for i in range(n) for j in range(m)]
        assert pair_set(collide(a, b)) == every
        poses = np.stack([np.eye(4), translation(0, 0, 99.0), np.eye(4)])
        found = collide(a, b, poses=poses)
        assert pair_set(found) == every + every
        np.testing.assert_array_equal(found.query, np.repeat([0, 2], n * m))
