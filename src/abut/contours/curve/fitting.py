"""Closed B-splines for sampled points: through all of them, or nearest to them in the mean with fewer control points.

Parameters follow the chord lengths between the points, then the control points are the least-squares solution. The parametrisation is
not improved after that: the fit is near, not the nearest curve there is.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput
from abut.core.types import PointsLike


def fit_control(points: PointsLike, control_count: int | None) -> Floats:
    """(n,2) control points of a closed uniform cubic B-spline for points (m,2) in order."""
    rows = arrays.points(points, "points", dimensions=2)
    if len(rows):
        rows = rows[(rows != np.roll(rows, -1, axis=0)).any(axis=1)]
    if len(rows) < 4:
        raise InvalidInput("points", f"has {len(rows)} different points, a closed cubic spline needs at least 4")
    if control_count is None:
        return _solve(rows, np.arange(len(rows), dtype=np.float64), len(rows))
    count = arrays.count(control_count, "control_count", least=4, most=len(rows))
    steps = np.hypot(*(np.roll(rows, -1, axis=0) - rows).T)
    at = np.concatenate([[0.0], np.cumsum(steps)[:-1]]) / steps.sum() * count
    filled = np.bincount(np.floor(at).astype(np.int64) % count, minlength=count)
    if not filled.all():
        raise InvalidInput(
            "control_count",
            f"{count} is too many for these points: no point lies in segment {int(np.argmin(filled))}",
        )
    return _solve(rows, at, count)


def _solve(rows: Floats, at: Floats, count: int) -> Floats:
    segment = np.floor(at).astype(np.int64)
    t = at - segment
    s = 1.0 - t
    weights = np.stack([s**3, 3 * t**3 - 6 * t**2 + 4, 3 * s**3 - 6 * s**2 + 4, t**3], axis=1) / 6.0
    # Segment i is made by the points i to i+3; a point at i + 0 is nearest to control point i + 1.
    columns = (segment[:, np.newaxis] + np.arange(4)) % count
    matrix = sparse.csr_array(
        (weights.ravel(), (np.repeat(np.arange(len(rows)), 4), columns.ravel())), shape=(len(rows), count)
    )
    normal = sparse.csc_array(matrix.T @ matrix)
    return np.asarray(splu(normal).solve(np.ascontiguousarray(matrix.T @ rows)))
