"""The pointwise penetration depth of two bodies: how deep the deepest point of either surface lies inside the other body."""

from typing import Any

import numpy as np

from abut.arrays import Floats, Integers
from abut.discrete.bodies import Body, closedness
from abut.discrete.depth import measure_depth
from abut.discrete.rules import Meet
from abut.discrete.search import search_all
from abut.discrete.traversal import ROUNDED, Pairs
from abut.geometry.vec import Vec3

# Of the floor below which nothing counts as deep: cuts that close together are one.
SLACK = 1e-2


def penetration(a: Body, pose_a: Floats, b: Body, pose_b: Floats) -> tuple[float, int, int, Vec3, Vec3]:
    """Pointwise penetration depth of two bodies, slots, and points of a and b; depth 0 and slot −1 where nothing of either is inside the other."""
    closed_a, closed_b = closedness(a.mesh), closedness(b.mesh)
    # The points that are measured are rounded; what is less deep than that lies on the surface.
    floor = ROUNDED * (extent_of(a, pose_a) + extent_of(b, pose_b))
    best: Any = (floor, -1, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    if not closed_a and not closed_b:
        return (0.0, *best[1:])
    pairs = search_all(a._handle, pose_a, b._handle, pose_b, Meet(0), np.zeros(3, dtype=np.int64))[1]
    if closed_b:
        cutters = _join(pairs[:, 0], pairs[:, 1])
        best = measure_depth(a._handle, pose_a, b._handle, pose_b, closed_b == 2, cutters, SLACK * floor, floor)
    if closed_a:
        cutters = _join(pairs[:, 1], pairs[:, 0])
        other = measure_depth(b._handle, pose_b, a._handle, pose_a, closed_a == 2, cutters, SLACK * floor, best[0])
        if other[1] >= 0:
            best = (other[0], other[2], other[1], other[4], other[3])
    return best if best[1] >= 0 else (0.0, *best[1:])


def _join(first: Pairs, second: Pairs) -> Integers:
    """Pairs of slots as one number each, sorted."""
    return np.sort((first.astype(np.int64) << 32) | second)


def extent_of(body: Body, pose: Floats) -> float:
    """A bound of the largest coordinate in the world."""
    frame = body._packets.tree.frame
    return float(2.0 / frame[3] + np.abs(frame[:3]).sum() + np.abs(pose[:3, 3]).sum())
