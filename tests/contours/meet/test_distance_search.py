"""Distances against dense samples."""

import numpy as np
import pytest

from abut import contours
from abut.contours import APART, Contour
from abut.core import jit
from contours.curves import dense, random_poses, wavy


def test_distance_is_that_of_dense_samples_and_of_its_witnesses():
    a, b = Contour(wavy(7, 1), 0.02, detail=2), Contour(wavy(9, 2))
    poses = random_poses(3 if jit.INTERPRETED else 40, 5, 3.0)
    gap = contours.distance(a, b, poses=poses)
    assert (gap.distance > 0).any()
    fixed = dense(b, (0, 0, 0), 60)
    step = max(contour.length / (60 * len(contour)) * 2 for contour in (a, b))
    for i, pose in enumerate(poses):
        moved = dense(a, pose, 60)
        samples = np.sqrt(((moved[:, None] - fixed) ** 2).sum(axis=2)).min()
        assert samples - 2 * step <= gap.distance[i] <= samples + 1e-12
        alone = contours.distance(a, b, pose=tuple(pose))
        assert alone.distance[0] == pytest.approx(gap.distance[i], rel=1e-11)
    np.testing.assert_allclose(np.hypot(*(gap.point_a - gap.point_b).T), gap.distance, atol=1e-13)
    np.testing.assert_allclose(b.point(gap.parameter_b), gap.point_b, atol=1e-14)
    np.testing.assert_allclose(gap.signed[gap.relation == APART], gap.distance[gap.relation == APART])
