"""k-DOPs: slabs along k/2 fixed directions, for k of 6, 8, 12, 14, 18 and 26.

One class serves every k: the number of columns h = k/2 tells which directions a set has, and the six sets are runs of one
table. 6: the coordinate axes · 8: the four diagonals (1, ±1, ±1) · 12: the six (1, ±1, 0) · 14: axes and diagonals · 18: axes and
the six · 26: all.
Directions are not normalised: components are 0 and ±1, so a projection is two sums at most.

A projection along an axis is exact. Any other is off by less than 2u·(|x| + |y| + |z|); twice that is taken off the low end
and added to the high end, so that the true projection of every vertex lies between them. Comparisons need no slack then.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.core import showing
from abut.core.arrays import Floats, frozen
from abut.core.jit import element, implement, kernel
from abut.geometry.vec import Vec3
from abut.trees.volumes.boxes import TINY
from abut.trees.volumes.frame import Same
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

EDGES = [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
DIAGONALS = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)]
DIRECTIONS: Floats = np.array([*EDGES, *AXES, *DIAGONALS], np.float64)
FIRST_AXIS, FIRST_DIAGONAL = 6, 9
COLUMNS = {6: 3, 8: 4, 12: 6, 14: 7, 18: 9, 26: 13}
LENGTHS: Floats = np.nextafter(np.sqrt((DIRECTIONS**2).sum(axis=1)), np.inf)  # rounded up
LENGTHS[FIRST_AXIS:FIRST_DIAGONAL] = 1.0
frozen(DIRECTIONS)
frozen(LENGTHS)
PROJECTION = 4.0 * UNIT


class Kdop(NamedTuple):
    """k-DOPs lo ≤ d·x ≤ hi over their directions d: lo (n,k/2), hi (n,k/2) float64."""

    lo: Floats
    hi: Floats

    def __repr__(self) -> str:
        return showing.describe(self, f"{showing.count(len(self.lo), 'polytope')} of {2 * self.lo.shape[1]} planes")


class KdopAt(NamedTuple):
    """One k-DOP of a set, and the gap up to which it counts as touched."""

    volumes: Kdop
    row: int
    slack: float


@element
def first_direction(columns: int) -> int:
    """Row of DIRECTIONS where a set of that many columns starts."""
    if columns in (3, 7):
        return FIRST_AXIS
    return FIRST_DIAGONAL if columns == 4 else 0


@kernel
def project(direction: int, point: Vec3) -> tuple[float, float]:
    """d·x, and a bound on its rounding error that covers one more subtraction."""
    x, y, z = point
    along = DIRECTIONS[direction, 0] * x + DIRECTIONS[direction, 1] * y + DIRECTIONS[direction, 2] * z
    if FIRST_AXIS <= direction < FIRST_DIAGONAL:
        return along, 0.0
    return along, PROJECTION * (abs(x) + abs(y) + abs(z))


@implement(fit, Kdop, Primitives)
def _fit(v: Kdop, i: int, primitives: Primitives, start: int, end: int) -> None:
    vertices, rows, order = primitives
    columns = v.lo.shape[1]
    first = first_direction(columns)
    for column in range(columns):
        v.lo[i, column], v.hi[i, column] = np.inf, -np.inf
    for k in range(start, end):
        for corner in range(rows.shape[1]):
            vertex = rows[order[k], corner]
            point = (vertices[vertex, 0], vertices[vertex, 1], vertices[vertex, 2])
            for column in range(columns):
                along, guard = project(first + column, point)
                v.lo[i, column] = min(v.lo[i, column], along - guard)
                v.hi[i, column] = max(v.hi[i, column], along + guard)


@implement(merge, Kdop)
def _merge(v: Kdop, k: int, i: int, j: int) -> None:
    for column in range(v.lo.shape[1]):
        v.lo[k, column] = min(v.lo[i, column], v.lo[j, column])
        v.hi[k, column] = max(v.hi[i, column], v.hi[j, column])


@element
def reach_along(direction: int, margin: float) -> float:
    """At least margin·|d|, exactly so along an axis and for a margin of 0."""
    length = LENGTHS[direction]
    return margin if length == 1.0 or margin == 0.0 else above(margin * length)


@implement(grow, Kdop)
def _grow(v: Kdop, i: int, margin: float) -> None:
    columns = v.lo.shape[1]
    first = first_direction(columns)
    for column in range(columns):
        reach = reach_along(first + column, margin)
        v.lo[i, column] = below(v.lo[i, column] - reach)
        v.hi[i, column] = above(v.hi[i, column] + reach)


@kernel
def _widest(v: Kdop, i: int) -> tuple[int, float]:
    """Column of the greatest width, and that width."""
    columns = v.lo.shape[1]
    first = first_direction(columns)
    best, width = 0, -1.0
    for column in range(columns):
        across = (v.hi[i, column] - v.lo[i, column]) / LENGTHS[first + column]
        if across > width:
            best, width = column, across
    return best, width


@implement(size, Kdop)
def _size(v: Kdop, i: int) -> float:
    return _widest(v, i)[1]


@implement(longest, Kdop)
def _longest(v: Kdop, i: int) -> tuple[Vec3, float]:
    column = _widest(v, i)[0]
    d = first_direction(v.lo.shape[1]) + column
    return (DIRECTIONS[d, 0], DIRECTIONS[d, 1], DIRECTIONS[d, 2]), 0.5 * (v.lo[i, column] + v.hi[i, column])


@implement(encloses, Kdop)
def _encloses(v: Kdop, i: int, point: Vec3) -> bool:
    columns = v.lo.shape[1]
    first = first_direction(columns)
    for column in range(columns):
        along, guard = project(first + column, point)
        if along + guard < v.lo[i, column] or along - guard > v.hi[i, column]:
            return False
    return True


@implement(carry, Kdop, Same)
def _carry(v: Kdop, i: int, frame: Same) -> KdopAt:
    return KdopAt(v, i, frame.slack)


@implement(meets, Kdop, KdopAt)
def _meets(v: Kdop, i: int, other: KdopAt) -> bool:
    lo, hi, j, slack = other.volumes.lo, other.volumes.hi, other.row, other.slack
    columns = v.lo.shape[1]
    first = first_direction(columns)
    for column in range(columns):
        # Rounding keeps order: where the true gap is at most the reach, so is the rounded one.
        reach = reach_along(first + column, slack)
        if lo[j, column] - v.hi[i, column] > reach or v.lo[i, column] - hi[j, column] > reach:
            return False
    return True


@implement(separation, Kdop, KdopAt)
def _separation(v: Kdop, i: int, other: KdopAt) -> float:
    """The widest gap along one direction, or along all axes together."""
    lo, hi, j = other.volumes.lo, other.volumes.hi, other.row
    columns = v.lo.shape[1]
    first = first_direction(columns)
    widest, axes_sq = 0.0, 0.0
    for column in range(columns):
        direction = first + column
        gap = max(0.0, lo[j, column] - v.hi[i, column], v.lo[i, column] - hi[j, column])
        widest = max(widest, gap / LENGTHS[direction])
        if FIRST_AXIS <= direction < FIRST_DIAGONAL:
            axes_sq += gap * gap
    if axes_sq >= TINY:  # smaller squares may have been rounded to a multiple of themselves
        widest = max(widest, math.sqrt(axes_sq))
    if widest <= TINY:
        return 0.0
    return max(0.0, ((1.0 - 16.0 * UNIT) * widest - other.slack) * (1.0 - 2.0 * UNIT))
