"""Pieces that fall: a first placement, and compaction under pseudo-gravity with shaking (the application named in Rivera 2002, §1 and §5).

Nothing here ever overlaps: a piece moves along a line only as far as no interval of overlap (`overlap`) is in the way. The first placement
puts one piece after another, largest first, at the leftmost free place found on many lines across the strip. Compaction pulls the
pieces to the left, nearest first, and shakes them up and down on the way, so that they slip past one another.
"""

import numpy as np

from abut.contours.nesting.columns import ENTER, HIGH_X, HIGH_Y, LEAVE, LOW_X, LOW_Y
from abut.contours.nesting.overlap import Pieces, collect_intervals, put, to_grid
from abut.contours.nesting.search import Moves, draw, range_in_strip
from abut.contours.nesting.tables import Tables
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel

STACKED = 16
"""Pieces put last that a piece is tried on top of and below."""
BEHIND = 8.0
"""Behind a piece by this many times the growth of the half-planes, none of them blocks.

Half-planes of a pair of parts, moved out by g, reach at most g / sin(θ/2) beyond a corner of angle θ: 2 g from 60° on. A sharper corner is the
furthest along one of the axes of the tables' boxes, which cut it off at g there; a side of its wedge is at most 75° from that axis, so that what is
left lies within g (tan 75° + 1 / cos 75°) < 8 g of the corner."""


@kernel
def _first_free(intervals: Floats, count: int, low: float) -> float:
    """The least t ≥ low that lies in no open interval. One that ends a little further on is no less in the way."""
    t, moved = low, True
    while moved:
        moved = False
        for k in range(count):
            if intervals[k, ENTER] <= t < intervals[k, LEAVE]:
                t, moved = intervals[k, LEAVE], True
    return t


@kernel
def place_first(
    tables: Tables, pieces: Pieces, moves: Moves, order: Integers, length: float, height: float, lines: int
) -> None:
    """Put the pieces, in this order, each as far left as `lines` horizontal lines for each of its turns let it.

    They wait at infinity, and stay there if they would end beyond `length`; where one of a kind does, the others of its kind are not tried.
    On a line with too many intervals, only the place behind all others counts.
    """
    extents, behind = tables.extents, 0.0
    for j in range(len(pieces.kind)):
        if pieces.box[j, HIGH_X] < np.inf:  # an obstacle
            behind = max(behind, pieces.box[j, HIGH_X] + BEHIND * tables.grow)
    beside = 0.0 if tables.grid > 0.0 else tables.grow
    refused = np.zeros(len(extents), np.bool_)
    for k in range(len(order)):
        i = order[k]
        kind, best = pieces.kind[i], np.inf
        if refused[kind]:
            continue
        best_turn, best_x, best_y = 0, 0.0, 0.0
        for c in range(moves.allowed[kind, 0]):
            turn = moves.allowed[kind, 1 + c]
            x, free_y = -extents[kind, turn, LOW_X], height - (extents[kind, turn, HIGH_Y] - extents[kind, turn, LOW_Y])
            if free_y < 0.0:
                continue
            total = lines + 2 * min(k, STACKED)
            for step in range(total):
                line = (lines + step) % total  # where several are as good, the piece rather lies against another
                y = free_y * line / max(lines - 1, 1) - extents[kind, turn, LOW_Y]
                if line >= lines:  # on or below one of the pieces put last
                    j = order[k - 1 - (line - lines) // 2]
                    if line % 2 == 0:
                        y = pieces.box[j, HIGH_Y] + beside - extents[kind, turn, LOW_Y]
                    else:
                        y = pieces.box[j, LOW_Y] - beside - extents[kind, turn, HIGH_Y]
                    if not 0.0 <= y + extents[kind, turn, LOW_Y] <= free_y:
                        continue
                y = to_grid(tables, y)
                count = collect_intervals(tables, pieces, i, turn, x, y, 1.0, 0.0, 0.0, length, moves.intervals)
                t = behind
                if count < len(moves.intervals):
                    t = _first_free(moves.intervals, count, 0.0)
                # The right end decides, and a little the middle: a piece rather lies in a hole than beside it.
                end = x + t + extents[kind, turn, HIGH_X] + 0.1 * (x + t + extents[kind, turn, LOW_X])
                if end < best and x + t + extents[kind, turn, HIGH_X] <= length:
                    best, best_turn, best_x, best_y = end, turn, x + t, y
        if best < np.inf:
            put(tables, pieces, i, best_turn, best_x, best_y)
            behind = max(behind, pieces.box[i, HIGH_X] + BEHIND * tables.grow)
        else:
            refused[kind] = True


@kernel
def _slide(
    tables: Tables, pieces: Pieces, moves: Moves, i: int, ux: float, uy: float, length: float, height: float,
) -> None:  # fmt: skip
    """Move piece i along u until it meets something."""
    kind, turn, x, y = pieces.kind[i], pieces.turn[i], pieces.place[i, 0], pieces.place[i, 1]
    high = range_in_strip(tables, kind, turn, x, y, ux, uy, length, height, length + height)[1]
    count = collect_intervals(tables, pieces, i, turn, x, y, ux, uy, 0.0, high, moves.intervals)
    for k in range(count):
        if moves.intervals[k, LEAVE] > tables.slack:
            high = min(high, moves.intervals[k, ENTER])
    if high > tables.slack and count < len(moves.intervals):  # with more intervals than there is room for, nobody knows
        put(tables, pieces, i, turn, x + high * ux, y + high * uy)


@kernel
def compact(tables: Tables, pieces: Pieces, moves: Moves, order: Integers, length: float, height: float) -> None:
    """Let the pieces, in this order, fall to the left, and shake each up and down on the way."""
    for k in range(len(order)):
        i, up = order[k], 1.0
        if draw(moves) < 0.5:
            up = -1.0
        for step in range(5):
            if step % 2 == 0:
                ux, uy = -1.0, 0.0
            else:
                slope = draw(moves)
                ux, uy, up = -slope, up * (1.0 - slope), -up
            _slide(tables, pieces, moves, i, ux, uy, length, height)
