"""Overlaps out of a strip: one piece at a time goes where it overlaps least, and overlaps that stay count more and more.

Guided local search as in Egeblad, Nielsen & Odgaard 2007 and Gardeyn & Wauters 2025: each piece that overlaps is tried at random places
of the whole strip and near its own, the best few are improved by searches along lines (`overlap`), and the piece moves if its weighted overlap
falls. After each round the weights of overlapping pairs grow, the deepest most; the others' fall back towards 1.

Places are drawn within the strip, so no piece ever leaves it. All random numbers come from `draws`, used in turn: same numbers, same moves.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.contours.nesting.columns import (
    AT,
    BOUND,
    ENTER,
    HIGH_X,
    HIGH_Y,
    LEAVE,
    LOSS,
    LOW_X,
    LOW_Y,
    TURN,
    WEIGHT,
    X,
    Y,
)
from abut.contours.nesting.overlap import Pieces, collect_intervals, overlap_at, put
from abut.contours.nesting.tables import Tables
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel

# Gardeyn & Wauters 2025, table of parameters
GROWTH_LEAST, GROWTH_MOST, DECAY = 1.2, 2.0, 0.95
LINES = 6
"""Lines searched at most from each place that is improved."""


class Moves(NamedTuple):
    """What a search may do, and its working memory."""

    allowed: Integers
    """(kinds, 1 + most turns) how many turns a kind may take, then their numbers"""
    draws: Floats
    """(m,) uniform random numbers in [0, 1)"""
    cursor: Integers
    """(1,) the next of them"""
    intervals: Floats
    """(m,3) of one line, as `columns` has them"""
    stops: Floats
    """(k,2) of one line, as `columns` has them"""
    kept: Floats
    """(k,4) the best places so far, best first, as `columns` has them"""


@kernel
def draw(moves: Moves) -> float:
    """The next random number."""
    at = moves.cursor[0]
    moves.cursor[0] = at + 1 if at + 1 < len(moves.draws) else 0
    return float(moves.draws[at])


@kernel
def _keep(kept: Floats, loss: float, x: float, y: float, turn: int) -> None:
    k = len(kept) - 1
    while k > 0 and kept[k - 1, LOSS] > loss:
        kept[k, LOSS], kept[k, X], kept[k, Y], kept[k, TURN] = (
            kept[k - 1, LOSS],
            kept[k - 1, X],
            kept[k - 1, Y],
            kept[k - 1, TURN],
        )
        k -= 1
    kept[k, LOSS], kept[k, X], kept[k, Y], kept[k, TURN] = loss, x, y, turn


@kernel
def range_in_strip(
    tables: Tables, kind: int, turn: int, x: float, y: float, ux: float, uy: float, length: float, height: float,
    reach: float,
) -> tuple[float, float]:  # fmt: skip
    """How far the piece may go from (x, y) along ±u within the strip, at most `reach`."""
    low, high = -reach, reach
    for axis in range(2):
        speed, at, size = (ux, x, length) if axis == 0 else (uy, y, height)
        down, up = -tables.extents[kind, turn, axis] - at, size - tables.extents[kind, turn, 2 + axis] - at
        if speed > 0.0:
            low, high = max(low, down / speed), min(high, up / speed)
        elif speed < 0.0:
            low, high = max(low, up / speed), min(high, down / speed)
    return min(low, 0.0), max(high, 0.0)


@kernel
def clamp(
    tables: Tables, kind: int, turn: int, x: float, y: float, length: float, height: float
) -> tuple[float, float]:
    """The place nearest to (x, y) within the strip."""
    x = max(min(x, length - tables.extents[kind, turn, HIGH_X]), -tables.extents[kind, turn, LOW_X])
    y = max(min(y, height - tables.extents[kind, turn, HIGH_Y]), -tables.extents[kind, turn, LOW_Y])
    return x, y


@kernel
def _choose_stops(intervals: Floats, count: int, low: float, high: float, stops: Floats) -> int:
    """The ends of intervals within [low, high], and these two, that promise the least overlap, into `stops`; how many.

    No pair of parts is deeper at t than t is far from the ends of its interval: the weighted sum of that bounds the overlap from above.
    """
    found = 0
    for k in range(2 * count + 2):
        t = intervals[k // 2, k % 2] if k < 2 * count else (low if k == 2 * count else high)
        if t < low or t > high:
            continue
        bound, limit = 0.0, stops[len(stops) - 1, BOUND] if found == len(stops) else np.inf
        for m in range(count):
            bound += intervals[m, WEIGHT] * max(0.0, min(t - intervals[m, ENTER], intervals[m, LEAVE] - t))
        if bound < limit:
            place = min(found, len(stops) - 1)
            while place > 0 and stops[place - 1, BOUND] > bound:
                stops[place, BOUND], stops[place, AT] = stops[place - 1, BOUND], stops[place - 1, AT]
                place -= 1
            stops[place, BOUND], stops[place, AT] = bound, t
            found = min(found + 1, len(stops))
    return found


@kernel
def _descend(
    tables: Tables, pieces: Pieces, moves: Moves, i: int, turn: int, x: float, y: float, loss: float,
    length: float, height: float, reach: float,
) -> tuple[float, float, float]:  # fmt: skip
    """A place near (x, y) with less overlap: along the axes by turns, then along random directions."""
    kind, failures = pieces.kind[i], 0
    start = 0 if draw(moves) < 0.5 else 1
    for step in range(LINES):
        if step < 4:
            ux, uy = (1.0, 0.0) if (step + start) % 2 == 0 else (0.0, 1.0)
        else:
            angle = math.pi * draw(moves)
            ux, uy = math.cos(angle), math.sin(angle)
        low, high = range_in_strip(tables, kind, turn, x, y, ux, uy, length, height, reach)
        count = collect_intervals(tables, pieces, i, turn, x, y, ux, uy, low, high, moves.intervals)
        stops = _choose_stops(moves.intervals, count, low, high, moves.stops)
        best, best_t = loss, 0.0
        for k in range(stops):
            t = moves.stops[k, AT]
            found = overlap_at(tables, pieces, i, turn, x + t * ux, y + t * uy, best)
            if found < best:
                best, best_t = found, t
        if best < loss:
            x, y = clamp(tables, kind, turn, x + best_t * ux, y + best_t * uy, length, height)
            loss, failures = best, 0
            if loss == 0.0:
                break
        else:
            failures += 1
            if failures == 3:
                break
    return loss, x, y


@kernel
def relocate(
    tables: Tables, pieces: Pieces, moves: Moves, i: int, length: float, height: float, anywhere: int, near: int
) -> None:
    """Put piece i where it overlaps least among places drawn from the whole strip and near its own, if that is less than where it is."""
    kind, turn, x, y = pieces.kind[i], pieces.turn[i], pieces.place[i, 0], pieces.place[i, 1]
    present = overlap_at(tables, pieces, i, turn, x, y, np.inf)
    kept = moves.kept
    for k in range(len(kept)):
        kept[k, LOSS] = np.inf
    _keep(kept, present, x, y, turn)
    extents = tables.extents
    size = max(
        extents[kind, turn, HIGH_X] - extents[kind, turn, LOW_X],
        extents[kind, turn, HIGH_Y] - extents[kind, turn, LOW_Y],
    )
    for k in range(anywhere + near):
        t = turn
        if moves.allowed[kind, 0] > 1 and (k < anywhere or k % 4 == 0):
            t = moves.allowed[kind, 1 + int(draw(moves) * moves.allowed[kind, 0])]
        free_x = length - (extents[kind, t, HIGH_X] - extents[kind, t, LOW_X])
        free_y = height - (extents[kind, t, HIGH_Y] - extents[kind, t, LOW_Y])
        if free_x < 0.0 or free_y < 0.0:
            continue
        if k < anywhere:
            px, py = draw(moves) * free_x - extents[kind, t, LOW_X], draw(moves) * free_y - extents[kind, t, LOW_Y]
        else:
            px, py = x + (draw(moves) - 0.5) * 0.5 * size, y + (draw(moves) - 0.5) * 0.5 * size
            px, py = clamp(tables, kind, t, px, py, length, height)
        loss = overlap_at(tables, pieces, i, t, px, py, kept[len(kept) - 1, LOSS])
        if loss < kept[len(kept) - 1, LOSS]:
            _keep(kept, loss, px, py, t)
    best, best_x, best_y, best_turn = present, x, y, turn
    for k in range(len(kept)):
        if kept[k, LOSS] < np.inf:
            t = int(kept[k, TURN])
            loss, px, py = _descend(
                tables, pieces, moves, i, t, kept[k, X], kept[k, Y], kept[k, LOSS], length, height, 0.5 * size
            )
            if loss < best:
                best, best_x, best_y, best_turn = loss, px, py, t
    if best < present:
        put(tables, pieces, i, best_turn, best_x, best_y)


@kernel
def total_loss(pieces: Pieces) -> float:
    """Sum of the overlaps of all pairs."""
    total = 0.0
    for i in range(len(pieces.kind)):
        for j in range(i):
            total += pieces.loss[i, j]
    return total


@kernel
def reweight(pieces: Pieces) -> None:
    """After a round: overlapping pairs weigh more, the deepest most; the others less, down to 1."""
    n, deepest = len(pieces.kind), 0.0
    for i in range(n):
        for j in range(i):
            deepest = max(deepest, pieces.loss[i, j])
    for i in range(n):
        for j in range(i):
            if pieces.loss[i, j] > 0.0:
                factor = GROWTH_LEAST + (GROWTH_MOST - GROWTH_LEAST) * pieces.loss[i, j] / deepest
                weight = pieces.weight[i, j] * factor
            else:
                weight = max(1.0, DECAY * pieces.weight[i, j])
            pieces.weight[i, j] = pieces.weight[j, i] = weight


@kernel
def separate_round(
    tables: Tables,
    pieces: Pieces,
    moves: Moves,
    order: Integers,
    length: float,
    height: float,
    anywhere: int,
    near: int,
) -> tuple[float, int]:
    """Relocate each piece that overlaps, in random order; the overlap that is left (unweighted), and how many were tried."""
    n, tried = len(pieces.kind), 0
    for k in range(len(order) - 1, 0, -1):
        other = int(draw(moves) * (k + 1))
        order[k], order[other] = order[other], order[k]
    for k in range(len(order)):
        i = order[k]
        loss = 0.0
        for j in range(n):
            loss += pieces.loss[i, j]
        if loss > 0.0:
            relocate(tables, pieces, moves, i, length, height, anywhere, near)
            tried += 1
    reweight(pieces)
    return total_loss(pieces), tried


@kernel
def pull(tables: Tables, pieces: Pieces, moves: Moves, ratio: float, length: float, height: float) -> None:
    """Pull all pieces towards the left end by this ratio, into a strip of this length; those that are too long for it are turned."""
    extents = tables.extents
    for i in range(len(pieces.kind)):
        kind, turn = pieces.kind[i], pieces.turn[i]
        if moves.allowed[kind, 0] == 0:  # an obstacle
            continue
        for k in range(moves.allowed[kind, 0]):
            if extents[kind, turn, HIGH_X] - extents[kind, turn, LOW_X] > length:
                turn = moves.allowed[kind, 1 + k]
        x, y = clamp(tables, kind, turn, pieces.place[i, 0] * ratio, pieces.place[i, 1], length, height)
        put(tables, pieces, i, turn, x, y)


@kernel
def swap(tables: Tables, pieces: Pieces, i: int, j: int, length: float, height: float) -> None:
    """Let two pieces change places, middle for middle, within the strip."""
    x, y = 0.5 * (pieces.box[j, LOW_X] + pieces.box[j, HIGH_X]), 0.5 * (pieces.box[j, LOW_Y] + pieces.box[j, HIGH_Y])
    for _ in range(2):
        other_x, other_y = (
            0.5 * (pieces.box[i, LOW_X] + pieces.box[i, HIGH_X]),
            0.5 * (pieces.box[i, LOW_Y] + pieces.box[i, HIGH_Y]),
        )
        place_x, place_y = pieces.place[i, 0] + x - other_x, pieces.place[i, 1] + y - other_y
        place_x, place_y = clamp(tables, pieces.kind[i], pieces.turn[i], place_x, place_y, length, height)
        put(tables, pieces, i, pieces.turn[i], place_x, place_y)
        x, y, i = other_x, other_y, j


@kernel
def restore(tables: Tables, pieces: Pieces, turn: Integers, place: Floats) -> None:
    """Put all pieces that move where they were."""
    for i in range(len(turn)):
        put(tables, pieces, i, turn[i], place[i, 0], place[i, 1])
