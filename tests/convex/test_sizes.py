"""Every number of pairs, hulls and vertices, on one thread and on two: a batch answers as its pairs do one by one, and as all vertices say."""

import numpy as np
import pytest

from abut.convex import APART, Hull, Hulls, overlap_many, track_many
from abut.core import jit
from conftest import SLOW, SOAK
from convex.situations import ball, judge, moved, pose_of, random_rotation

MOST = 40 if SLOW else 600
NEAR_CONSTANTS = {c + k for c in (6, 16, 32, 37, 64, 128, 256, 512) for k in (-1, 0, 1)}
"""Around the tasks of a batch, how far ahead it reads, and from how many pairs on it takes threads."""

FIELDS = ("distance", "point_a", "point_b", "normal", "feature_a", "feature_b", "status", "steps")


def counts(step):
    """All counts from 1 to MOST with `make soak`; else every step-th, and those around constants."""
    return [n for n in range(1, MOST + 1) if SOAK or n % step == 0 or n in NEAR_CONSTANTS]


@pytest.fixture(scope="module")
def scene():
    rng = np.random.default_rng(11)
    hulls = [Hull(ball(rng, 4 + k)) for k in range(8)]
    poses = np.array([pose_of(random_rotation(rng), 1.2 * rng.normal(size=3)) for _ in range(MOST)])
    pairs, which = rng.integers(0, MOST, (MOST, 2)), rng.integers(0, 8, MOST)
    single = [track_many(Hulls(hulls), pairs[k : k + 1], poses, which=which) for k in range(MOST)]
    expected = {name: np.concatenate([getattr(row, name) for row in single]) for name in FIELDS}
    return hulls, poses, pairs, which, expected


@pytest.mark.parametrize("work", [0, jit.WORK_FOR_THREADS])
def test_every_number_of_pairs(scene, work):
    hulls, poses, pairs, which, expected = scene
    packed = Hulls(hulls)
    with jit.threads_for(work):
        for n in counts(9):
            found = track_many(packed, pairs[:n], poses, which=which)
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(found, name), expected[name][:n], err_msg=f"{n} {name}")
            meet = overlap_many(packed, pairs[:n], poses, which=which)
            np.testing.assert_array_equal(meet.overlap, expected["status"][:n] != APART)


def test_every_number_of_hulls(scene):
    hulls, poses, _, which, _ = scene
    for n in counts(40):
        packed = Hulls([hulls[which[k]] for k in range(n)])
        pairs = np.stack([np.arange(n), np.arange(n)[::-1]], axis=1)
        found = track_many(packed, pairs, poses[:n])
        other = track_many(Hulls(hulls), pairs, poses[:n], which=which[:n])
        np.testing.assert_array_equal(found.distance, other.distance)


def test_every_number_of_vertices():
    rng = np.random.default_rng(12)
    cube = Hull(ball(rng, 30))
    for n in counts(60):
        hull = Hull(ball(rng, n))
        poses = np.array([pose_of(random_rotation(rng), rng.uniform(0, 2) * ball(rng, 1)[0]) for _ in range(2)])
        found = track_many(Hulls([hull, cube]), [[0, 1]], poses)
        a, b = moved(poses[0], hull.vertices), moved(poses[1], cube.vertices)
        assert judge(found, 0, a, b, 8.0, thorough=False) < 1e-10, n
        assert overlap_many(Hulls([hull, cube]), [[0, 1]], poses).overlap[0] == (found.status[0] != APART)
