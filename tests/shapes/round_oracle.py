"""Round shapes by another road: what a point must satisfy to be inside, how high the solid reaches, and a search over all directions."""

import numpy as np
from scipy.optimize import minimize

from abut import shapes


def holds(shape, points, slack=0.0):
    """Which points of the shape's frame are inside, or no farther out than the slack."""
    points = np.atleast_2d(points)
    across, z, half = np.hypot(points[:, 0], points[:, 1]), points[:, 2], 0.5 * shape.length
    if isinstance(shape, shapes.Cylinder):
        return (across <= shape.round + slack) & (np.abs(z) <= half + slack)
    slant = np.hypot(shape.round, shape.length)
    side = (shape.length * across + shape.round * z - shape.round * half) / slant
    return (side <= slack) & (z >= -half - slack)


def rim(shape, count=40_000):
    """Points whose convex hull is nearly the shape: circles, a tip."""
    angle = 2.0 * np.pi * np.arange(count) / count
    ring = np.stack((shape.round * np.cos(angle), shape.round * np.sin(angle), np.full(count, -0.5 * shape.length)), 1)
    if isinstance(shape, shapes.Cylinder):
        return np.concatenate((ring, ring * (1, 1, -1)))
    return np.concatenate((ring, [(0, 0, 0.5 * shape.length)]))


def reach(shape, directions):
    """(k,) how far the shape reaches along directions (k,3) of its frame: of a circle r·|n across|, of points the farthest, and its radius."""
    n = np.atleast_2d(directions)
    if getattr(shape, "sides", 0) is None:
        across, up = shape.round * np.hypot(n[:, 0], n[:, 1]), 0.5 * shape.length * n[:, 2]
        return np.maximum(across - up, across + up if isinstance(shape, shapes.Cylinder) else up)
    return (n @ shape.core.vertices.T).max(axis=1) + shape.radius


def separate(a, pose_a, b, pose_b, directions, starts=10):
    """The signed distance of two convex shapes: the largest, over all directions, of the gap between planes across it."""

    def gaps(n):
        n = np.atleast_2d(n)
        n = n / np.linalg.norm(n, axis=1, keepdims=True)
        low = n @ pose_b[:3, 3] - reach(b, -n @ pose_b[:3, :3])
        return low - n @ pose_a[:3, 3] - reach(a, n @ pose_a[:3, :3])

    found = gaps(directions)
    best = found.max()
    for k in np.argsort(-found)[:starts]:
        options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000}
        best = max(best, -minimize(lambda n: -gaps(n)[0], directions[k], method="Nelder-Mead", options=options).fun)
    return best
