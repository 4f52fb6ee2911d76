"""Oriented boxes from the statistics of their vertices (Meseure 1998, §4.2; Gottschalk, Lin and Manocha 1996).

Fitting rounds safely: axes A and center c are whatever came out, and the half lengths are then measured from that very c. With
d = v − c, each component off by u of itself, the computed A_k·d is off by less than 4u·(|d_x| + |d_y| + |d_z|); twice that is
added before taking the largest. So every vertex has |A_k·(v − c)| ≤ h_k exactly, wherever the origin is.
"""

from typing import NamedTuple

from abut.core import showing
from abut.core.arrays import Floats
from abut.core.jit import element, implement, kernel
from abut.geometry.eigen import ORTHONORMAL, eigenvectors_symmetric
from abut.geometry.frames import product, product_transposed, turn
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, dot, subtract
from abut.trees.volumes.boxes import (
    SLACK,
    TINY,
    Box,
    Matrix,
    bound_distance_boxes,
    carry_box,
    separate_boxes,
    sum_abs,
)
from abut.trees.volumes.frame import Frame
from abut.trees.volumes.operations import (
    Primitives,
    carry,
    encloses,
    fit,
    grow,
    longest,
    meets,
    merge,
    separation,
    size,
)
from abut.trees.volumes.rounding import UNIT, above

Symmetric = tuple[float, float, float, float, float, float]
PROJECTION = 8.0 * UNIT


class Obb(NamedTuple):
    """Boxes |axes[k]·(x − center)| ≤ half[k]: center (n,3), axes (n,3,3) whose rows are right-handed unit vectors, half (n,3)."""

    center: Floats
    axes: Floats
    half: Floats

    def __repr__(self) -> str:
        return showing.describe(self, showing.count(len(self.half), "box", "boxes"))


@kernel
def _axes(v: Obb, i: int) -> Matrix:
    axes = v.axes
    return (
        (axes[i, 0, 0], axes[i, 0, 1], axes[i, 0, 2]),
        (axes[i, 1, 0], axes[i, 1, 1], axes[i, 1, 2]),
        (axes[i, 2, 0], axes[i, 2, 1], axes[i, 2, 2]),
    )


@kernel
def moments(primitives: Primitives, start: int, end: int) -> tuple[Vec3, Symmetric]:
    """Mean and covariance of the vertices of primitives (equations 1 and 2): xx, yy, zz, xy, xz, yz.

    A vertex counts once for each primitive that has it.
    """
    vertices, rows, order = primitives
    corners = rows.shape[1]
    x, y, z = 0.0, 0.0, 0.0
    for k in range(start, end):
        for corner in range(corners):
            p = vector_at(vertices, rows[order[k], corner])
            x, y, z = x + p[0], y + p[1], z + p[2]
    count = float(corners * (end - start))
    mean = (x / count, y / count, z / count)
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(start, end):
        for corner in range(corners):
            d = subtract(vector_at(vertices, rows[order[k], corner]), mean)
            xx, yy, zz = xx + d[0] * d[0], yy + d[1] * d[1], zz + d[2] * d[2]
            xy, xz, yz = xy + d[0] * d[1], xz + d[0] * d[2], yz + d[1] * d[2]
    return mean, (xx / count, yy / count, zz / count, xy / count, xz / count, yz / count)


@element
def axes_of(c: Symmetric) -> Matrix:
    """The eigenvectors of a covariance; any right-handed frame where it vanishes."""
    return eigenvectors_symmetric(c[0], c[1], c[2], c[3], c[4], c[5])[1]


@element
def _widen(lo: Vec3, hi: Vec3, d: Vec3, axes: Matrix) -> tuple[Vec3, Vec3]:
    p, q, r = dot(axes[0], d), dot(axes[1], d), dot(axes[2], d)
    return (min(lo[0], p), min(lo[1], q), min(lo[2], r)), (max(hi[0], p), max(hi[1], q), max(hi[2], r))


@element
def _middle(anchor: Vec3, axes: Matrix, lo: Vec3, hi: Vec3) -> Vec3:
    p, q, r = 0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), 0.5 * (lo[2] + hi[2])
    return (
        anchor[0] + p * axes[0][0] + q * axes[1][0] + r * axes[2][0],
        anchor[1] + p * axes[0][1] + q * axes[1][1] + r * axes[2][1],
        anchor[2] + p * axes[0][2] + q * axes[1][2] + r * axes[2][2],
    )


@element
def _reach(half: Vec3, d: Vec3, axes: Matrix) -> Vec3:
    """The half lengths that also hold center + d, whatever was rounded."""
    guard = PROJECTION * sum_abs(d) + TINY
    return (
        max(half[0], abs(dot(axes[0], d)) + guard),
        max(half[1], abs(dot(axes[1], d)) + guard),
        max(half[2], abs(dot(axes[2], d)) + guard),
    )


@kernel
def _store(v: Obb, i: int, center: Vec3, axes: Matrix, half: Vec3) -> None:
    v.center[i, 0], v.center[i, 1], v.center[i, 2] = center
    v.axes[i, 0, 0], v.axes[i, 0, 1], v.axes[i, 0, 2] = axes[0]
    v.axes[i, 1, 0], v.axes[i, 1, 1], v.axes[i, 1, 2] = axes[1]
    v.axes[i, 2, 0], v.axes[i, 2, 1], v.axes[i, 2, 2] = axes[2]
    v.half[i, 0], v.half[i, 1], v.half[i, 2] = half


@kernel
def fit_along(v: Obb, i: int, axes: Matrix, primitives: Primitives, start: int, end: int) -> None:
    """Box i becomes the smallest along given axes that holds the primitives order[start:end]."""
    vertices, rows, order = primitives
    anchor = vector_at(vertices, rows[order[start], 0])
    lo, hi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(start, end):
        for corner in range(rows.shape[1]):
            lo, hi = _widen(lo, hi, subtract(vector_at(vertices, rows[order[k], corner]), anchor), axes)
    center = _middle(anchor, axes, lo, hi)
    half = (0.0, 0.0, 0.0)
    for k in range(start, end):
        for corner in range(rows.shape[1]):
            half = _reach(half, subtract(vector_at(vertices, rows[order[k], corner]), center), axes)
    _store(v, i, center, axes, half)


@implement(fit, Obb, Primitives)
def _fit(v: Obb, i: int, primitives: Primitives, start: int, end: int) -> None:
    _, covariance = moments(primitives, start, end)
    fit_along(v, i, axes_of(covariance), primitives, start, end)


@kernel
def _corner(v: Obb, i: int, corner: int) -> Vec3:
    """Corner 0 to 7 of box i."""
    h = v.half
    x = h[i, 0] if corner & 1 else -h[i, 0]
    y = h[i, 1] if corner & 2 else -h[i, 1]
    z = h[i, 2] if corner & 4 else -h[i, 2]
    axes = _axes(v, i)
    return (
        v.center[i, 0] + x * axes[0][0] + y * axes[1][0] + z * axes[2][0],
        v.center[i, 1] + x * axes[0][1] + y * axes[1][1] + z * axes[2][1],
        v.center[i, 2] + x * axes[0][2] + y * axes[1][2] + z * axes[2][2],
    )


@implement(merge, Obb)
def _merge(v: Obb, k: int, i: int, j: int) -> None:
    """The box of the sixteen corners of two boxes, along the eigenvectors of the corners' covariance: the first refit of §5.

    It is larger than the box of what they hold, the more so towards the root.
    """
    x, y, z = 0.0, 0.0, 0.0
    for corner in range(16):
        p = _corner(v, i if corner < 8 else j, corner % 8)
        x, y, z = x + p[0] / 16.0, y + p[1] / 16.0, z + p[2] / 16.0
    mean = (x, y, z)
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for corner in range(16):
        d = subtract(_corner(v, i if corner < 8 else j, corner % 8), mean)
        xx, yy, zz = xx + d[0] * d[0], yy + d[1] * d[1], zz + d[2] * d[2]
        xy, xz, yz = xy + d[0] * d[1], xz + d[0] * d[2], yz + d[1] * d[2]
    axes = axes_of((xx, yy, zz, xy, xz, yz))
    lo, hi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for corner in range(16):
        lo, hi = _widen(lo, hi, subtract(_corner(v, i if corner < 8 else j, corner % 8), mean), axes)
    center = _middle(mean, axes, lo, hi)
    half = (0.0, 0.0, 0.0)
    guard = 0.0  # a computed corner is off by less than 64u of what it was computed from
    for corner in range(16):
        half = _reach(half, subtract(_corner(v, i if corner < 8 else j, corner % 8), center), axes)
    for box in (i, j):
        guard = max(guard, 64.0 * UNIT * (sum_abs(vector_at(v.center, box)) + sum_abs(vector_at(v.half, box))))
    _store(v, k, center, axes, (above(half[0] + guard), above(half[1] + guard), above(half[2] + guard)))


@implement(grow, Obb)
def _grow(v: Obb, i: int, margin: float) -> None:
    for axis in range(3):
        v.half[i, axis] = above(v.half[i, axis] + margin * (1.0 + ORTHONORMAL))  # no axis is longer


@implement(size, Obb)
def _size(v: Obb, i: int) -> float:
    return 2.0 * max(v.half[i, 0], v.half[i, 1], v.half[i, 2])


@implement(longest, Obb)
def _longest(v: Obb, i: int) -> tuple[Vec3, float]:
    h = v.half
    k = 0 if h[i, 0] >= h[i, 1] and h[i, 0] >= h[i, 2] else (1 if h[i, 1] >= h[i, 2] else 2)
    direction = (v.axes[i, k, 0], v.axes[i, k, 1], v.axes[i, k, 2])
    return direction, dot(direction, vector_at(v.center, i))


@implement(encloses, Obb)
def _encloses(v: Obb, i: int, point: Vec3) -> bool:
    d, axes = subtract(point, vector_at(v.center, i)), _axes(v, i)
    guard = PROJECTION * sum_abs(d) + TINY
    return (
        abs(dot(axes[0], d)) <= v.half[i, 0] + guard
        and abs(dot(axes[1], d)) <= v.half[i, 1] + guard
        and abs(dot(axes[2], d)) <= v.half[i, 2] + guard
    )


@implement(carry, Obb, Frame)
def _carry(v: Obb, i: int, frame: Frame) -> Box:
    axes = product_transposed(frame.rotation, _axes(v, i))
    center, half = vector_at(v.center, i), vector_at(v.half, i)
    return carry_box(center, half, frame.rotation, axes, frame.translation, frame.defect, frame.slack)


@kernel
def _into(v: Obb, i: int, other: Box) -> tuple[Vec3, Matrix, float]:
    """Position and axes of a carried box in the coordinates of box i, and the slack of the test."""
    axes, center = _axes(v, i), vector_at(v.center, i)
    t = turn(axes, subtract(other.center, center))
    slack = other.slack + SLACK * (sum_abs(center) + sum_abs(vector_at(v.half, i)))
    return t, product(axes, other.axes), slack


@implement(meets, Obb, Box)
def _meets(v: Obb, i: int, other: Box) -> bool:
    t, m, slack = _into(v, i, other)
    return not separate_boxes(t, m, vector_at(v.half, i), other.half, slack)


@implement(separation, Obb, Box)
def _separation(v: Obb, i: int, other: Box) -> float:
    t, m, slack = _into(v, i, other)
    return bound_distance_boxes(t, m, vector_at(v.half, i), other.half, slack, other.shrink)
