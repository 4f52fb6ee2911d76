"""Where and how pairs of triangles meet: the ends of the intersection, a normal, or the nearest points of a pair within the margin.

Nothing here decides anything; it describes pairs that are known. Where signs are clear the segment is computed in plain floating point, where they
are in doubt (touching, coplanar, degenerate) by `geometry.crossings`.
"""

import math

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.discrete.search.pairs import Pairs
from abut.discrete.search.placement import Triangle, world_corner
from abut.discrete.search.triangle_packets import magnification, magnify_triangle
from abut.geometry.crossings import SEPARATE, intersect_triangle_triangle
from abut.geometry.rows import put_vector, vector_in
from abut.geometry.triangles import closest_separate_triangles
from abut.geometry.vec import ZERO, Vec3, cross, dot, lerp, scale, subtract, unit_or

# A sign is clear when the number exceeds this part of the magnitudes it was computed from; rounding stays 2¹⁰ times below.
CLEAR = 2.0**-40
SLIVER = (
    2.0**-48
)  # the rounding of a product of two unit edges, which may be most of it where they are nearly parallel; 2⁴ times that


@element
def _sum_abs(v: Vec3) -> float:
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@element
def _plane_distances(n: Vec3, o: Vec3, p: Vec3, q: Vec3, r: Vec3) -> tuple[bool, float, float, float]:
    """n·(x − o) for three points, and whether their signs are clear and not all the same. n: a product of unit edges."""
    u, v, w = subtract(p, o), subtract(q, o), subtract(r, o)
    d, e, f = dot(n, u), dot(n, v), dot(n, w)
    doubt = (CLEAR * _sum_abs(n) + SLIVER) * (_sum_abs(u) + _sum_abs(v) + _sum_abs(w))
    clear = abs(d) > doubt and abs(e) > doubt and abs(f) > doubt
    return clear and not ((d > 0.0) == (e > 0.0) and (e > 0.0) == (f > 0.0)), d, e, f


@element
def _cut(p: Vec3, q: Vec3, r: Vec3, d: float, e: float, f: float) -> tuple[Vec3, Vec3]:
    """Where a triangle crosses a plane, given the signed distances of its corners, of which one is alone on its side."""
    if (d > 0.0) == (e > 0.0):
        p, q, r, d, e, f = r, p, q, f, d, e
    elif (d > 0.0) == (f > 0.0):
        p, q, r, d, e, f = q, r, p, e, f, d
    return lerp(p, q, d / (d - e)), lerp(p, r, d / (d - f))


@element
def _meet_clearly(
    a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3, n_a: Vec3, n_b: Vec3
) -> tuple[bool, Vec3, Vec3]:
    """The segment in which two triangles meet, where all signs are clear; False otherwise."""
    clear_a, d0, d1, d2 = _plane_distances(n_b, b0, a0, a1, a2)
    clear_b, e0, e1, e2 = _plane_distances(n_a, a0, b0, b1, b2)
    if not (clear_a and clear_b):
        return False, a0, b0
    p, q = _cut(a0, a1, a2, d0, d1, d2)
    r, s = _cut(b0, b1, b2, e0, e1, e2)
    along = cross(n_a, n_b)
    if dot(along, subtract(q, p)) < 0.0:
        p, q = q, p
    if dot(along, subtract(s, r)) < 0.0:
        r, s = s, r
    low = p if dot(along, subtract(p, r)) > 0.0 else r
    high = q if dot(along, subtract(q, s)) < 0.0 else s
    return dot(along, subtract(high, low)) > 0.0, low, high


@parallel
def copy_corners(corners: Floats, slots: Integers, poses: Floats, query: Integers, out: Floats) -> None:
    """World coordinates of the triangles in some slots, (n,9), each at the pose of its query."""
    for i in prange(len(slots)):
        pose = poses[query[i]]
        for c in range(3):
            put_vector(out, i, 3 * c, world_corner(corners, slots[i], c, pose))


@element
def _normal(a0: Vec3, a1: Vec3, a2: Vec3) -> Vec3:
    """Across a triangle, of any length up to about 1; 0 for one without area."""
    return cross(unit_or(subtract(a1, a0), ZERO), unit_or(subtract(a2, a0), ZERO))


@element
def _describe_pair(a: Triangle, b: Triangle, sign_a: float, sign_b: float) -> tuple[Vec3, Vec3, Vec3, float]:
    """The two ends of a contact, its unit normal from a to b, and the distance, −1 for triangles that meet."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    up = (0.0, 0.0, 1.0)
    n_a, n_b = _normal(a0, a1, a2), _normal(b0, b1, b2)
    clear, p, q = _meet_clearly(a0, a1, a2, b0, b1, b2, n_a, n_b)
    if not clear:
        status, p, q = intersect_triangle_triangle(a0, a1, a2, b0, b1, b2)
        if status == SEPARATE:
            _, _, p, q, gap_sq = closest_separate_triangles(a0, a1, a2, b0, b1, b2)
            return p, q, unit_or(subtract(q, p), up), math.sqrt(gap_sq)
    out_of_a, out_of_b = scale(unit_or(n_a, ZERO), sign_a), scale(unit_or(n_b, ZERO), sign_b)
    return p, q, unit_or(subtract(out_of_a, out_of_b), unit_or(out_of_a, up)), -1.0


@parallel
def describe(a: Floats, b: Floats, signs: Floats, segment: Floats, normal: Floats, gap: Floats) -> None:
    """For each row of corners (n,9): segment (n,2,3), unit normal from a to b (n,3), and distance (n,), −1 for triangles that meet.

    signs (n,2): 1 where the face's own normal points out of its body, −1 where it points in.
    """
    for i in prange(len(a)):
        s = (vector_in(a, i, 0), vector_in(a, i, 3), vector_in(a, i, 6))
        t = (vector_in(b, i, 0), vector_in(b, i, 3), vector_in(b, i, 6))
        factor = magnification(s, t)
        p, q, n, length = _describe_pair(
            magnify_triangle(s, factor), magnify_triangle(t, factor), signs[i, 0], signs[i, 1]
        )
        gap[i] = length if length < 0.0 else length / factor
        for k in range(3):
            segment[i, 0, k] = p[k] / factor
            segment[i, 1, k] = q[k] / factor
            normal[i, k] = n[k]


@kernel
def join_faces(pairs: Pairs, order_a: Integers, order_b: Integers) -> Integers:
    """The faces of each pair of slots as one number, that of a above that of b: sorted, they are the pairs sorted."""
    keys = np.empty(len(pairs), dtype=np.int64)
    for i in range(len(pairs)):
        keys[i] = (order_a[pairs[i, 0]] << 32) | order_b[pairs[i, 1]]
    return keys
