"""A point from which all of a cell can be seen, where the mean of its corners is none: the center about which such a cell is cut.

The points before all faces of a cell (its kernel) are a convex polytope, and they lie in the hull of the corners. The point furthest before the
nearest plane is found by linear programming, as shares of the corners, which are rounded to whole numbers: so a center stays a mean of corners,
some of which count more than once, and moves with them. Nothing rests on the rounded numbers: the parts about the center are judged by exact signs.
"""

import numpy as np

from abut.core.arrays import Floats, Integers

MOST = 1 << 14
"""How many corners are counted at most: shares are rounded by less than half of 1/MOST, which moves a center by less than its distance from the
planes but for the thinnest kernels."""


def inward_planes(triangles: Floats) -> tuple[Floats, Floats]:
    """Unit normals (n,3) and offsets (n,) of planes through triangles (n,3,3), or of lines through edges (n,2,3); n·x ≥ offset before them."""
    along = triangles[:, 1] - triangles[:, 0]
    if triangles.shape[1] == 2:
        normals = np.column_stack((-along[:, 1], along[:, 0], np.zeros(len(along))))
    else:
        normals = np.cross(along, triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)
    return normals, (normals * triangles[:, 0]).sum(axis=1)


def find_shares(corners: Floats, triangles: Floats) -> Integers | None:
    """How often each corner (k,3) of a cell counts in a center before all its faces; None where there is no such point."""
    from scipy.optimize import linprog  # only here: it takes a while to import

    middle = corners.mean(axis=0)
    size = float(np.abs(corners - middle).max())
    if not size > 0.0:
        return None
    points = (corners - middle) / size
    normals, offsets = inward_planes((triangles - middle) / size)
    count = len(points)
    # Shares w ≥ 0, together 1, and a distance r: r − n·Σ w c ≤ −offset for all planes, r as large as possible.
    found = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack((-normals @ points.T, np.ones(len(normals)))),
        b_ub=-offsets,
        A_eq=np.append(np.ones(count), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * count, (None, None)],
        method="highs",
    )
    if found.status != 0 or not found.x[-1] > 0.0:
        return None
    total = min(
        int(2 * count / min(float(found.x[-1]), 1.0)) + 1, MOST
    )  # a corner is less than two sizes from the middle
    return _round(np.clip(found.x[:-1], 0.0, 1.0), total)


def _round(shares: Floats, total: int) -> Integers:
    """Whole numbers with this sum, in about these proportions: the largest remainders are rounded up."""
    exact = shares / shares.sum() * total
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return counts
