"""How much pieces overlap, and where along a line they would stop to.

The overlap of two pieces is the sum, over their pairs of convex parts, of how deep one part lies in the other: zero exactly when the tables
call the pieces apart. Along a line each pair of parts gives one interval of overlap, on which its depth is concave. So a weighted sum of overlaps
has its minima at ends of intervals only: a search along a line needs to look nowhere else (cf. Egeblad, Nielsen & Odgaard 2007, whose
translations along an axis are exact for the same reason).
"""

import math
from typing import NamedTuple

import numpy as np

from abut.contours.nesting.columns import ENTER, HIGH_X, HIGH_Y, LEAVE, LOW_X, LOW_Y, WEIGHT
from abut.contours.nesting.tables import Tables
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel

ALONG = 1e-15
"""A half-plane whose normal has no more than this in a line's direction is parallel to it: rounding makes 3e-16 of nothing, and over a
strip of ten thousand times the size that margins are taken of, it is off by a tenth of the margin."""


class Pieces(NamedTuple):
    """Where the pieces are, and how much they overlap. Kernels change all arrays but `kind`."""

    kind: Integers
    """(n,)"""
    turn: Integers
    """(n,) number of the turn"""
    place: Floats
    """(n,2) where the origin of the kind's outline lies"""
    box: Floats
    """(n,4) as `columns` has boxes"""
    loss: Floats
    """(n,n) symmetric: overlap of each pair"""
    weight: Floats
    """(n,n) symmetric: how much an overlap counts (guided local search)"""


@kernel
def overlap_pieces(
    tables: Tables, kind_a: int, turn_a: int, kind_b: int, turn_b: int, dx: float, dy: float
) -> float:  # fmt: skip
    """Overlap of kind b with kind a when b's place is (dx, dy) from a's."""
    cosine, sine, flip = tables.turns[turn_a, 0], tables.turns[turn_a, 1], tables.turns[turn_a, 2]
    x, y = flip * (cosine * dx + sine * dy), cosine * dy - sine * dx
    kind_count, relative_count = tables.extents.shape[0], tables.rows.shape[0] // tables.extents.shape[0] ** 2
    row = (kind_a * kind_count + kind_b) * relative_count + tables.relative[turn_a, turn_b]
    boxes, first, planes = tables.boxes, tables.first, tables.planes
    total = 0.0
    for pair in range(tables.rows[row, 0], tables.rows[row, 1]):
        if boxes[pair, LOW_X] < x and x < boxes[pair, HIGH_X] and boxes[pair, LOW_Y] < y and y < boxes[pair, HIGH_Y]:
            depth = np.inf
            for e in range(first[pair], first[pair + 1]):
                away = planes[e, 2] - planes[e, 0] * x - planes[e, 1] * y
                if away < depth:
                    depth = away
                    if depth <= tables.slack:
                        break
            if depth > tables.slack:
                total += depth
    return total


@kernel
def overlap_at(tables: Tables, pieces: Pieces, i: int, turn: int, x: float, y: float, bound: float) -> float:
    """Weighted overlap of piece i with all others if it were put there; at least `bound` where it is no less than that."""
    kind, grow = pieces.kind[i], tables.grow
    low_x, low_y = x + tables.extents[kind, turn, LOW_X] - grow, y + tables.extents[kind, turn, LOW_Y] - grow
    high_x, high_y = x + tables.extents[kind, turn, HIGH_X] + grow, y + tables.extents[kind, turn, HIGH_Y] + grow
    box = pieces.box
    total = 0.0
    for j in range(len(pieces.kind)):
        if (
            box[j, LOW_X] < high_x
            and low_x < box[j, HIGH_X]
            and box[j, LOW_Y] < high_y
            and low_y < box[j, HIGH_Y]
            and j != i
        ):
            dx, dy = x - pieces.place[j, 0], y - pieces.place[j, 1]
            total += pieces.weight[i, j] * overlap_pieces(tables, pieces.kind[j], pieces.turn[j], kind, turn, dx, dy)
            if total >= bound:
                return total
    return total


@kernel
def to_grid(tables: Tables, x: float) -> float:
    """The nearest coordinate that a place may have."""
    if tables.grid > 0.0:
        return math.floor(x / tables.grid + 0.5) * tables.grid
    return x


@kernel
def put(tables: Tables, pieces: Pieces, i: int, turn: int, x: float, y: float) -> None:
    """Move piece i there, to the grid, and bring its overlaps up to date."""
    kind, grow = pieces.kind[i], tables.grow
    x, y = to_grid(tables, x), to_grid(tables, y)
    pieces.turn[i], pieces.place[i, 0], pieces.place[i, 1] = turn, x, y
    for side in range(4):
        pieces.box[i, side] = tables.extents[kind, turn, side] + (x if side % 2 == 0 else y)
    box = pieces.box
    for j in range(len(pieces.kind)):
        loss = 0.0
        if (
            j != i
            and box[j, LOW_X] < box[i, HIGH_X] + grow
            and box[i, LOW_X] < box[j, HIGH_X] + grow
            and box[j, LOW_Y] < box[i, HIGH_Y] + grow
            and box[i, LOW_Y] < box[j, HIGH_Y] + grow
        ):
            dx, dy = x - pieces.place[j, 0], y - pieces.place[j, 1]
            loss = overlap_pieces(tables, pieces.kind[j], pieces.turn[j], kind, turn, dx, dy)
        pieces.loss[i, j] = pieces.loss[j, i] = loss


@kernel
def collect_intervals(
    tables: Tables, pieces: Pieces, i: int, turn: int, x: float, y: float, ux: float, uy: float,
    low: float, high: float, intervals: Floats,
) -> int:  # fmt: skip
    """Where piece i, moved from (x, y) by t·u with low < t < high, overlaps pairs of parts, into `intervals`; how many."""
    kind, grow = pieces.kind[i], tables.grow
    kind_count, relative_count = tables.extents.shape[0], tables.rows.shape[0] // tables.extents.shape[0] ** 2
    low_x = x + tables.extents[kind, turn, LOW_X] - grow + min(low * ux, high * ux)
    high_x = x + tables.extents[kind, turn, HIGH_X] + grow + max(low * ux, high * ux)
    low_y = y + tables.extents[kind, turn, LOW_Y] - grow + min(low * uy, high * uy)
    high_y = y + tables.extents[kind, turn, HIGH_Y] + grow + max(low * uy, high * uy)
    box, boxes, first, planes = pieces.box, tables.boxes, tables.first, tables.planes
    count = 0
    for j in range(len(pieces.kind)):
        if not (
            box[j, LOW_X] < high_x
            and low_x < box[j, HIGH_X]
            and box[j, LOW_Y] < high_y
            and low_y < box[j, HIGH_Y]
            and j != i
        ):
            continue
        cosine, sine, flip = (
            tables.turns[pieces.turn[j], 0],
            tables.turns[pieces.turn[j], 1],
            tables.turns[pieces.turn[j], 2],
        )
        dx, dy = x - pieces.place[j, 0], y - pieces.place[j, 1]
        qx, qy, vx, vy = (
            flip * (cosine * dx + sine * dy),
            cosine * dy - sine * dx,
            flip * (cosine * ux + sine * uy),
            cosine * uy - sine * ux,
        )
        from_x, to_x = qx + min(low * vx, high * vx), qx + max(low * vx, high * vx)
        from_y, to_y = qy + min(low * vy, high * vy), qy + max(low * vy, high * vy)
        row = (pieces.kind[j] * kind_count + kind) * relative_count + tables.relative[pieces.turn[j], turn]
        for pair in range(tables.rows[row, 0], tables.rows[row, 1]):
            if not (
                boxes[pair, LOW_X] < to_x
                and from_x < boxes[pair, HIGH_X]
                and boxes[pair, LOW_Y] < to_y
                and from_y < boxes[pair, HIGH_Y]
            ):
                continue
            enter, leave = -np.inf, np.inf
            for e in range(first[pair], first[pair + 1]):
                speed = planes[e, 0] * vx + planes[e, 1] * vy
                away = planes[e, 2] - tables.shift - planes[e, 0] * qx - planes[e, 1] * qy
                if speed > ALONG:
                    leave = min(leave, away / speed)
                elif speed < -ALONG:
                    enter = max(enter, away / speed)
                elif away <= tables.along:
                    leave = low
                if leave <= low or enter >= high or leave <= enter:
                    break
            if enter < high and low < leave and enter < leave and count < len(intervals):
                intervals[count, ENTER], intervals[count, LEAVE], intervals[count, WEIGHT] = (
                    enter,
                    leave,
                    pieces.weight[i, j],
                )
                count += 1
    return count
