"""Axes of oriented boxes from the surface of the convex hull (Peyré 2001, §4.4; Gottschalk, Lin and Manocha 1996, §4).

Where many vertices crowd in one place, their mean and covariance tell of the crowd and not of the shape. The hull's surface does not know how
densely it is sampled: its moments are integrals over area (of a flat set over the outline's length). Axes only are taken from it; boxes are then
measured from all vertices as ever, so a wrong axis costs size and nothing else.
"""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from abut.core.arrays import Floats, Integers
from abut.trees.volumes.obb import Symmetric

FLAT = 1e-7
"""Of the extent: a set thinner than this is measured in its plane; Qhull would find no interior, or one of rounding alone."""
LEAST_CORNERS = 12
"""With fewer corners a crowd is no more than a triangle or two: the plain statistics serve."""


def _covariance_of_simplices(points: Floats, simplices: Integers, weights: Floats) -> Floats:
    """∫ (x − μ)(x − μ)ᵀ over simplices of d corners, by their measures: Σ w·(Σᵢ pᵢpᵢᵀ + d²·ccᵀ) / (d(d+1)), about the mean."""
    corners = points[simplices]
    d = simplices.shape[1]
    centers = corners.mean(axis=1)
    mean = weights @ centers / weights.sum()
    corners, centers = corners - mean, centers - mean
    own = np.einsum("n,nik,nil->kl", weights, corners, corners)
    shared = np.einsum("n,nk,nl->kl", weights, centers, centers)
    return (own + d * d * shared) / (d * (d + 1) * weights.sum())


def _measures(points: Floats, simplices: Integers) -> Floats:
    """Length of each segment, area of each triangle."""
    corners = points[simplices]
    if simplices.shape[1] == 2:
        return np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    return 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)


def covariance_of_hull(points: Floats) -> Symmetric | None:
    """The covariance of the hull's surface: xx, yy, zz, xy, xz, yz. None where the points lie on a line, and any statistics tell its direction.

    points (n,3): finite. They are scaled to unit size first, which changes no axis.
    """
    points = points - (points.min(axis=0) / 2 + points.max(axis=0) / 2)
    extent = float(np.abs(points).max(initial=0.0))
    if len(points) < LEAST_CORNERS or not 0.0 < extent < np.inf:
        return None
    points = points / extent
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    rank = int((spread > FLAT * spread[0]).sum())
    if rank < 2:
        return None
    placed = points @ axes[:rank].T
    try:
        simplices = ConvexHull(placed).simplices.astype(np.int64)
    except QhullError:
        return None
    covariance = _covariance_of_simplices(placed, simplices, _measures(placed, simplices))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (axes[:rank].T @ covariance @ axes[:rank]).tolist()
    return xx, yy, zz, xy, xz, yz
