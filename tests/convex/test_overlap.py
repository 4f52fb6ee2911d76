"""Whether hulls overlap, frame by frame: of one opinion with tracking, and with proofs that hold for all vertices."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from abut.convex import APART, Hull, Hulls, Overlaps, overlap_many, track_many
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from conftest import SOAK
from convex.situations import box, moved, place, random_points


def check_proofs(found, hulls, which, poses):
    """How many rows have a proof, each of which is asked of all vertices."""
    proved = 0
    for row in np.flatnonzero(found.corners[:, 0, 0] >= 0):
        a, b = hulls[which[2 * row]], hulls[which[2 * row + 1]]
        relative = np.linalg.inv(poses[2 * row]) @ poses[2 * row + 1]
        if found.overlap[row]:
            i, j = found.corners[row].T
            points = a.vertices[i] - moved(relative, b.vertices[j])
            weights = np.linalg.solve(np.vstack([points.T, np.ones(4)]), [0, 0, 0, 1])
            assert (weights > 0).all()
        else:
            axis = found.axis[row]
            assert (moved(relative, b.vertices) @ axis).min() > (a.vertices @ axis).max()
        proved += 1
    return proved


def test_of_one_opinion_with_tracking(rng):
    count, most, hull_count = (6, 10, 6) if INTERPRETED else (20_000, 400, 200) if SOAK else (600, 60, 40)
    points = [random_points(rng, most) for _ in range(hull_count)]
    hulls, which = [Hull(p) for p in points], rng.integers(0, hull_count, 2 * count)
    poses = np.array([pose for i, j in which.reshape(-1, 2) for pose in place(rng, points[i], points[j])])
    packed, pairs, last = Hulls(hulls), np.arange(2 * count).reshape(-1, 2), None
    for frame in range(2 if INTERPRETED else 5):
        if frame:
            poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(0.02 * rng.normal(size=3)).as_matrix()
            poses[:, :3, 3] += 0.01 * rng.normal(size=(len(poses), 3))
        last = overlap_many(packed, pairs, poses, last, which)
        np.testing.assert_array_equal(last.overlap, track_many(packed, pairs, poses, which=which).status != APART)
    proved = check_proofs(last, hulls, which, poses)
    assert INTERPRETED or proved > 0.6 * count  # the others are flat, or touch


def test_flat_tetrahedron():
    """An edge of each hull crossing the other's: the four differences are coplanar, and prove nothing once the edges have parted."""
    square, segment = Hull(box(1, 1, 0)), Hull([[0, 0.5, -1], [0.1, 0.5, 1]])
    hulls, poses, last = Hulls([square, segment]), np.tile(np.eye(4), (2, 1, 1)), None
    for shift in (-1e-9, 0.01, 0.02):
        poses[1, 1, 3] = shift
        last = overlap_many(hulls, [[0, 1]], poses, last)
        assert last.overlap[0] == (shift < 0)


def test_bad_input():
    hulls, poses = Hulls([Hull(box(1, 1, 1))] * 2), np.tile(np.eye(4), (2, 1, 1))
    found = overlap_many(hulls, [[0, 1]], poses)
    assert (found.overlap.tolist(), len(found)) == ([True], 1)
    with pytest.raises(ValueError, match="read-only"):
        found.overlap[0] = False
    for wrong in (
        dataclasses.replace(found, corners=found.corners + 8),
        dataclasses.replace(found, axis=found.axis + 2),
    ):
        with pytest.raises(InvalidInput, match=r"last\[0\]: is not a result"):
            overlap_many(hulls, [[0, 1]], poses, wrong)
    with pytest.raises(InvalidInput, match=r"last\.axis"):
        overlap_many(hulls, [[0, 1], [1, 0]], poses, found)
    assert (
        len(
            overlap_many(
                hulls, np.empty((0, 2)), poses, Overlaps(np.zeros(0, bool), np.empty((0, 3)), np.empty((0, 4, 2)))
            )
        )
        == 0
    )
