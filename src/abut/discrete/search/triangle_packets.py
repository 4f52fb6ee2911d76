"""Triangles against triangles at the leaves: eight at once in float32, which decides "certainly" and "certainly not"; exact signs for the rest.

Two triangles in general position are apart just when one of eleven axes separates them: their normals and the cross products of their edges.
With a for such an axis as computed, l₁ for the sum of magnitudes, and EPS ≥ twice the error of a coordinate and of its part in a dot product:

- gap > l₁(a)·EPS along any vector a at all proves that the triangles are apart;
- gap < −l₁(a)·EPS − K along all eleven proves that they meet, where K bounds what the error of a itself can change: the edges x, y of a = x × y are
  off by EPS, so l₁ of the error of a is at most 2·EPS·(l₁(x) + l₁(y)) + 6·2⁻²⁴·l₁(x)·l₁(y), and it acts on coordinates up to L.

Touching, coplanar and degenerate triangles satisfy neither and go to exact signs, and so do those beyond LARGEST, whose products overflow.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats
from abut.core.jit import element
from abut.core.lanes import bits, maximum, minimum, splat_8
from abut.discrete.search.placement import Triangle, world_triangle
from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.vec import Vec3, cross, dot, scale, subtract
from abut.trees.packets.boxes import WIDTH, Box, load_3, splat_3

# Corners lie within 1 + M of the origin, M being the largest coordinate of the single triangle: they are rounded to 2⁻²⁴ of that, the
# differences to the base point again, and a dot product of three terms adds 3 more: below 5·2⁻²⁴ < 3e-7, twice that for a gap, with reserve.
EPS = np.float32(1e-6)
ROUNDING = np.float32(1e-6)  # 6·2⁻²⁴, twice, with reserve
LARGEST = np.float32(1e11)  # products of three coordinates, and sums of 24 of them, stay in the range of float32

SMALLEST = 2.0**-200  # products of four lengths, and small parts of them, stay in the range of float64


@element
def _sum_abs(a: Any) -> Any:
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@element
def _max_abs(a: Any) -> Any:
    return maximum(maximum(abs(a[0]), abs(a[1])), abs(a[2]))


@element
def _low(a: Any, b: Any, c: Any) -> Any:
    return minimum(minimum(a, b), c)


@element
def _high(a: Any, b: Any, c: Any) -> Any:
    return maximum(maximum(a, b), c)


@element
def load_corner(lanes: NDArray[np.float32], leaf: int, corner: int) -> Any:
    """One corner of the eight triangles of a leaf."""
    return load_3(lanes, (leaf * 3 + corner) * (3 * WIDTH))


@element
def _gap(axis: Any, p: Any, q: Any, v0: Any, v1: Any, v2: Any) -> Any:
    """Gap along an axis between the triangle 0, p, q and the triangle v; negative where they overlap."""
    zero = splat_8(np.float32(0.0))
    a, b = dot(axis, p), dot(axis, q)
    c, d, e = dot(axis, v0), dot(axis, v1), dot(axis, v2)
    return maximum(_low(c, d, e) - _high(a, b, zero), _low(a, b, zero) - _high(c, d, e))


@element
def _edge_gap(
    gap: Any,
    sure: Any,
    x: Any,
    y: Any,
    lx: Any,
    ly: Any,
    p: Any,
    q: Any,
    v0: Any,
    v1: Any,
    v2: Any,
    eps: Any,
    extent: Any,
) -> Any:
    """Take the axis x × y into account: the largest certain gap, and whether all axes so far surely overlap."""
    axis = cross(x, y)
    g, s = _gap(axis, p, q, v0, v1, v2), _sum_abs(axis) * eps
    doubt = (splat_8(np.float32(2.0)) * eps * (lx + ly) + splat_8(ROUNDING) * lx * ly) * extent
    return maximum(gap, g - s), sure & (g + s + doubt < splat_8(np.float32(0.0)))


@element
def relate_triangle_8(triangle: Triangle, lanes: NDArray[np.float32], leaf: int, near: float) -> tuple[int, int]:
    """One triangle against the eight of a leaf, in the leaf's normalised frame: masks of those that may come `near`, and that surely meet it.

    A vector is never longer than its l₁, so `near` acts like an error of the coordinates."""
    zero = splat_8(np.float32(0.0))
    base = splat_3(triangle[0])
    p, q = subtract(splat_3(triangle[1]), base), subtract(splat_3(triangle[2]), base)
    v0 = subtract(load_corner(lanes, leaf, 0), base)
    v1 = subtract(load_corner(lanes, leaf, 1), base)
    v2 = subtract(load_corner(lanes, leaf, 2), base)
    far = maximum(_max_abs(p), _max_abs(q))
    eps = splat_8(EPS) * (splat_8(np.float32(1.0)) + _max_abs(base) + far) + splat_8(np.float32(near))
    extent = maximum(far, _high(_max_abs(v0), _max_abs(v1), _max_abs(v2)))
    e0, e1, e2 = subtract(v1, v0), subtract(v2, v1), subtract(v0, v2)
    f = subtract(q, p)
    lp, lq, lf = _sum_abs(p), _sum_abs(q), _sum_abs(f)
    l0, l1, l2 = _sum_abs(e0), _sum_abs(e1), _sum_abs(e2)
    gap = splat_8(np.float32(-1e30))
    small = extent < splat_8(LARGEST)
    sure = small
    gap, sure = _edge_gap(gap, sure, p, q, lp, lq, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, e0, e1, l0, l1, p, q, v0, v1, v2, eps, extent)
    maybe = bits((gap > zero) & small) ^ 255
    if maybe == 0:
        return 0, 0
    gap, sure = _edge_gap(gap, sure, p, e0, lp, l0, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, p, e1, lp, l1, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, p, e2, lp, l2, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, q, e0, lq, l0, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, q, e1, lq, l1, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, q, e2, lq, l2, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, f, e0, lf, l0, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, f, e1, lf, l1, p, q, v0, v1, v2, eps, extent)
    gap, sure = _edge_gap(gap, sure, f, e2, lf, l2, p, q, v0, v1, v2, eps, extent)
    return bits((gap > zero) & small) ^ 255, bits(sure)


@element
def meet_box_8(box: Box, lanes: NDArray[np.float32], leaf: int) -> int:
    """Mask of the triangles of a leaf that may meet a box (grown by its caller's slack): its three axes, and the triangles' planes."""
    center, axes, half = splat_3(box[0]), box[1], splat_3(box[2])
    u0, u1, u2 = splat_3(axes[0]), splat_3(axes[1]), splat_3(axes[2])
    a = subtract(load_corner(lanes, leaf, 0), center)
    b = subtract(load_corner(lanes, leaf, 1), center)
    c = subtract(load_corner(lanes, leaf, 2), center)
    a = (dot(u0, a), dot(u1, a), dot(u2, a))
    b = (dot(u0, b), dot(u1, b), dot(u2, b))
    c = (dot(u0, c), dot(u1, c), dot(u2, c))
    gap0 = maximum(_low(a[0], b[0], c[0]) - half[0], -half[0] - _high(a[0], b[0], c[0]))
    gap1 = maximum(_low(a[1], b[1], c[1]) - half[1], -half[1] - _high(a[1], b[1], c[1]))
    gap2 = maximum(_low(a[2], b[2], c[2]) - half[2], -half[2] - _high(a[2], b[2], c[2]))
    n = cross(subtract(b, a), subtract(c, a))
    reach = abs(n[0]) * half[0] + abs(n[1]) * half[1] + abs(n[2]) * half[2]
    da, db, dc = dot(n, a), dot(n, b), dot(n, c)
    gap3 = maximum(_low(da, db, dc) - reach, -reach - _high(da, db, dc))
    return bits(maximum(_high(gap0, gap1, gap2), gap3) > splat_8(np.float32(0.0))) ^ 255


@element
def _size3(p: Vec3) -> float:
    return max(abs(p[0]), abs(p[1]), abs(p[2]))


@element
def magnification(a: Triangle, b: Triangle) -> float:
    """1; for two triangles so small that squares of lengths might vanish, the power of two that makes their coordinates about 1."""
    size = max(_size3(a[0]), _size3(a[1]), _size3(a[2]), _size3(b[0]), _size3(b[1]), _size3(b[2]))
    if size >= SMALLEST or size == 0.0:
        return 1.0
    return math.ldexp(1.0, min(1023, -math.frexp(size)[1]))


@element
def magnify_triangle(a: Triangle, factor: float) -> Triangle:
    """Without rounding, if the factor is a power of two."""
    return (scale(a[0], factor), scale(a[1], factor), scale(a[2], factor))


@element
def meet_corners(a: Floats, i: int, pose_a: Floats, b: Floats, j: int, pose_b: Floats) -> bool:
    """Exact verdict on two triangles whose corners, each in its body's coordinates, are moved by the poses."""
    s, t = world_triangle(a, i, pose_a), world_triangle(b, j, pose_b)
    return meet_triangle_triangle(s[0], s[1], s[2], t[0], t[1], t[2])
