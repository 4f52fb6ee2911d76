"""The plane as a part of space: what users give gets z = 0 on its way in, and loses it on its way out."""

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats


def raise_points(points: Floats) -> Floats:
    """A writable copy with three columns, z = 0 in the plane."""
    if points.shape[1] == 3:
        return points.copy()
    raised = np.zeros((len(points), 3))
    raised[:, :2] = points
    return raised


def lower_points(points: Floats, dimension: int) -> Floats:
    """The first columns, read-only."""
    return arrays.frozen(points.view() if dimension == 3 else np.ascontiguousarray(points[:, :2]))
