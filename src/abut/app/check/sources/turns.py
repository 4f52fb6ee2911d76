"""Rotation matrices of many quaternions at once."""

import numpy as np

from abut.core.arrays import Floats


def rotations_of(quaternions: Floats) -> Floats:
    """(k,3,3) of quaternions (k,4) as w, x, y, z, of any length but zero: I + 2 (w [v] + [v]²) / |q|², where [v] is the matrix of v × ·."""
    w, v = quaternions[:, 0], quaternions[:, 1:]
    cross = np.zeros((len(quaternions), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[:, i, j], cross[:, j, i] = -v[:, k], v[:, k]
    scale = 2.0 / (quaternions**2).sum(axis=1)
    return np.eye(3) + scale[:, np.newaxis, np.newaxis] * (w[:, np.newaxis, np.newaxis] * cross + cross @ cross)
