"""Slow and obvious answers about shapes: quadratic programmes, sampled directions, random points. Shares no code with the library."""

import itertools

import numpy as np
from scipy.optimize import nnls


def corners(kind, size):
    """Vertices of a core, its radius."""
    if kind == "sphere":
        return np.zeros((1, 3)), size
    if kind == "capsule":
        return np.array([(0, 0, -size), (0, 0, size)]), 0.5 * size
    if kind == "box":
        return size * np.array(list(itertools.product((-1, 1), repeat=3))) * (1.0, 0.7, 0.4), 0.0
    raise AssertionError(kind)


def distance(a, b):
    """Distance of two hulls: the nearest point of the differences to the origin, as non-negative least squares with a heavy row for Σ = 1."""
    differences = (b[np.newaxis] - a[:, np.newaxis]).reshape(-1, 3)
    scale = np.abs(differences).max()
    heavy = 1e4
    system = np.vstack((differences.T / scale, np.full(len(differences), heavy)))
    weights, _ = nnls(system, np.array([0, 0, 0, heavy]), maxiter=1000)
    return float(np.linalg.norm(differences.T @ (weights / weights.sum())))


def depth(a, b):
    """Depth of two overlapping hulls of full dimension: the least offset of a face of the hull of differences."""
    from scipy.spatial import ConvexHull

    differences = (b[np.newaxis] - a[:, np.newaxis]).reshape(-1, 3)
    return float(-ConvexHull(differences).equations[:, 3].max())


def turn(rng):
    """A random rotation matrix."""
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        ]
    )
