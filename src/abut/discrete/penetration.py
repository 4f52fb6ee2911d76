"""The pointwise penetration depth of two bodies: how deep the deepest point of either surface lies inside the other body."""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.discrete.bodies import Body, Rigid, closedness, vertices_at
from abut.discrete.measure.body_depth import measure_depth
from abut.discrete.search.pairs import Pairs
from abut.discrete.search.placement import ROUNDED
from abut.discrete.search.queries import search_all
from abut.discrete.search.rules import Meet
from abut.geometry.vec import Vec3
from abut.mesh import Mesh

# Of the floor below which nothing counts as deep: cuts that close together are one.
SLACK = 1e-2


SMALLEST = 2.0**-400
"""Bodies that lie within this of the origin are measured as magnified copies: squares of their lengths would vanish. (Above it, what vanishes is
below 1e-30 of their size.)"""


def magnify(a: Body, pose_a: Floats, b: Body, pose_b: Floats) -> tuple[int, Body, Body]:
    """An exponent, and copies of the two bodies as they lie in the world, 2^−exponent times as large, without rounding; 0 where they do without."""
    extent = max(extent_of(a, pose_a), extent_of(b, pose_b))
    if extent >= SMALLEST:
        return 0, a, b
    exponent = int(np.frexp(extent)[1])
    large = [
        Rigid(Mesh(np.ldexp(vertices_at(body, pose), -exponent), body.mesh.faces))
        for body, pose in ((a, pose_a), (b, pose_b))
    ]
    return exponent, large[0], large[1]


def penetration(a: Body, pose_a: Floats, b: Body, pose_b: Floats) -> tuple[float, int, int, Vec3, Vec3]:
    """Pointwise penetration depth of two bodies, faces, and points of a and b; depth 0 and face −1 where nothing of either is inside the other."""
    exponent, large_a, large_b = magnify(a, pose_a, b, pose_b)
    if exponent:
        depth, face_a, face_b, p, q = penetration(large_a, large_a._pose, large_b, large_b._pose)
        return (
            float(np.ldexp(depth, exponent)),
            face_a,
            face_b,
            tuple(np.ldexp(p, exponent)),
            tuple(np.ldexp(q, exponent)),
        )
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
    if best[1] < 0:
        return (0.0, *best[1:])
    return float(best[0]), int(a._packets.order[best[1]]), int(b._packets.order[best[2]]), best[3], best[4]


def _join(first: Pairs, second: Pairs) -> Integers:
    """Pairs of slots as one number each, sorted."""
    return np.sort((first.astype(np.int64) << 32) | second)


def extent_of(body: Body, pose: Floats) -> float:
    """A bound of the largest coordinate in the world."""
    frame = body._packets.tree.frame
    return float(2.0 / frame[3] + np.abs(frame[:3]).sum() + np.abs(pose[:3, 3]).sum())
