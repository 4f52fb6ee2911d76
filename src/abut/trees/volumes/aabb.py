"""Axis-aligned boxes: six numbers, six comparisons (Meseure 1998, §6).

A box holds the least and greatest coordinates of its vertices themselves, so nothing is rounded in fitting and merging. A
gap between two is one subtraction, and rounding keeps order: where the true gap is at most the slack, so is the rounded one.
"""

import math
from typing import NamedTuple

from abut.core import showing
from abut.core.arrays import Floats
from abut.core.jit import implement, kernel
from abut.geometry.vec import Vec3
from abut.trees.volumes.boxes import SLACK, TINY, Box, bound_distance_boxes, carry_box, separate_boxes, sum_abs
from abut.trees.volumes.frame import Frame, Same
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
from abut.trees.volumes.rounding import UNIT, above, below


class Aabb(NamedTuple):
    """Boxes lo ≤ x ≤ hi: lo (n,3), hi (n,3) float64."""

    lo: Floats
    hi: Floats

    def __repr__(self) -> str:
        return showing.describe(self, showing.count(len(self.lo), "box", "boxes"))


class Span(NamedTuple):
    """One aligned box, and the gap up to which it counts as touched."""

    lo: Vec3
    hi: Vec3
    slack: float


@kernel
def _center_and_half(v: Aabb, i: int) -> tuple[Vec3, Vec3]:
    # Off by 2u of the coordinates, which the slack of every test between boxes covers.
    x0, y0, z0, x1, y1, z1 = v.lo[i, 0], v.lo[i, 1], v.lo[i, 2], v.hi[i, 0], v.hi[i, 1], v.hi[i, 2]
    center = (0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1))
    return center, (0.5 * (x1 - x0), 0.5 * (y1 - y0), 0.5 * (z1 - z0))


@implement(fit, Aabb, Primitives)
def _fit(v: Aabb, i: int, primitives: Primitives, start: int, end: int) -> None:
    vertices, rows, order = primitives
    first = rows[order[start], 0]
    x0, y0, z0 = vertices[first, 0], vertices[first, 1], vertices[first, 2]
    x1, y1, z1 = x0, y0, z0
    for k in range(start, end):
        for corner in range(rows.shape[1]):
            vertex = rows[order[k], corner]
            x, y, z = vertices[vertex, 0], vertices[vertex, 1], vertices[vertex, 2]
            x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
            x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    v.lo[i, 0], v.lo[i, 1], v.lo[i, 2] = x0, y0, z0
    v.hi[i, 0], v.hi[i, 1], v.hi[i, 2] = x1, y1, z1


@implement(merge, Aabb)
def _merge(v: Aabb, k: int, i: int, j: int) -> None:
    for axis in range(3):
        v.lo[k, axis] = min(v.lo[i, axis], v.lo[j, axis])
        v.hi[k, axis] = max(v.hi[i, axis], v.hi[j, axis])


@implement(grow, Aabb)
def _grow(v: Aabb, i: int, margin: float) -> None:
    for axis in range(3):
        v.lo[i, axis] = below(v.lo[i, axis] - margin)
        v.hi[i, axis] = above(v.hi[i, axis] + margin)


@implement(size, Aabb)
def _size(v: Aabb, i: int) -> float:
    return max(v.hi[i, 0] - v.lo[i, 0], v.hi[i, 1] - v.lo[i, 1], v.hi[i, 2] - v.lo[i, 2])


@implement(longest, Aabb)
def _longest(v: Aabb, i: int) -> tuple[Vec3, float]:
    x, y, z = v.hi[i, 0] - v.lo[i, 0], v.hi[i, 1] - v.lo[i, 1], v.hi[i, 2] - v.lo[i, 2]
    if x >= y and x >= z:
        return (1.0, 0.0, 0.0), 0.5 * (v.lo[i, 0] + v.hi[i, 0])
    if y >= z:
        return (0.0, 1.0, 0.0), 0.5 * (v.lo[i, 1] + v.hi[i, 1])
    return (0.0, 0.0, 1.0), 0.5 * (v.lo[i, 2] + v.hi[i, 2])


@implement(encloses, Aabb)
def _encloses(v: Aabb, i: int, point: Vec3) -> bool:
    x, y, z = point
    return v.lo[i, 0] <= x <= v.hi[i, 0] and v.lo[i, 1] <= y <= v.hi[i, 1] and v.lo[i, 2] <= z <= v.hi[i, 2]


@implement(carry, Aabb, Same)
def _carry_same(v: Aabb, i: int, frame: Same) -> Span:
    return Span((v.lo[i, 0], v.lo[i, 1], v.lo[i, 2]), (v.hi[i, 0], v.hi[i, 1], v.hi[i, 2]), frame.slack)


@implement(carry, Aabb, Frame)
def _carry(v: Aabb, i: int, frame: Frame) -> Box:
    center, half = _center_and_half(v, i)
    # All boxes of the set have the same axes, the columns of the rotation: nothing to compute from node to node.
    rotation = frame.rotation
    return carry_box(center, half, rotation, rotation, frame.translation, frame.defect, frame.slack)


@implement(meets, Aabb, Span)
def _meets_span(v: Aabb, i: int, other: Span) -> bool:
    lo, hi, slack = other.lo, other.hi, other.slack
    return not (
        lo[0] - v.hi[i, 0] > slack
        or v.lo[i, 0] - hi[0] > slack
        or lo[1] - v.hi[i, 1] > slack
        or v.lo[i, 1] - hi[1] > slack
        or lo[2] - v.hi[i, 2] > slack
        or v.lo[i, 2] - hi[2] > slack
    )


@implement(meets, Aabb, Box)
def _meets_box(v: Aabb, i: int, other: Box) -> bool:
    center, half = _center_and_half(v, i)
    t = (other.center[0] - center[0], other.center[1] - center[1], other.center[2] - center[2])
    return not separate_boxes(t, other.axes, half, other.half, other.slack + SLACK * (sum_abs(center) + sum_abs(half)))


@implement(separation, Aabb, Span)
def _separation_span(v: Aabb, i: int, other: Span) -> float:
    lo, hi = other.lo, other.hi
    x = max(0.0, lo[0] - v.hi[i, 0], v.lo[i, 0] - hi[0])
    y = max(0.0, lo[1] - v.hi[i, 1], v.lo[i, 1] - hi[1])
    z = max(0.0, lo[2] - v.hi[i, 2], v.lo[i, 2] - hi[2])
    total = x * x + y * y + z * z
    if total < TINY:  # squares this small may have been rounded to a multiple of themselves
        return 0.0
    # A difference, a square, two sums and a root are off by less than 8u of themselves, the last difference by u.
    return max(0.0, ((1.0 - 16.0 * UNIT) * math.sqrt(total) - other.slack) * (1.0 - 2.0 * UNIT))


@implement(separation, Aabb, Box)
def _separation_box(v: Aabb, i: int, other: Box) -> float:
    center, half = _center_and_half(v, i)
    t = (other.center[0] - center[0], other.center[1] - center[1], other.center[2] - center[2])
    slack = other.slack + SLACK * (sum_abs(center) + sum_abs(half))
    return bound_distance_boxes(t, other.axes, half, other.half, slack, other.shrink)
