"""An order of primitives along a Hilbert curve: neighbours in the order are neighbours in space, so runs of 16 have small boxes.

The centres of the swept boxes are put on a grid of 1024³ cells. A cell's place on the curve is found two levels at a time (six bits, two of
each coordinate) with a table of states: a state is the orientation of the curve in the current cube, one of 24 (Hilbert 1891; the
table is derived here from the curve of Skilling 2004, "Programming the Hilbert curve"). Keys of 30 bits are sorted in three passes.

The order decides how fast a search is, never what it finds.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.jit import element, kernel
from abut.core.scratch import load

LEVELS = 10
CELLS = 1 << LEVELS
DIGIT = 1024  # keys are sorted by ten bits at a time


def _place_on_curve(cell: tuple[int, int, int], levels: int) -> list[int]:
    """The digits of a cell's place on the curve, coarsest first (Skilling 2004)."""
    x = list(cell)
    q = 1 << (levels - 1)
    while q > 1:
        for i in range(3):
            if x[i] & q:
                x[0] ^= q - 1
            else:
                swap = (x[0] ^ x[i]) & (q - 1)
                x[0] ^= swap
                x[i] ^= swap
        q >>= 1
    x[1] ^= x[0]
    x[2] ^= x[1]
    flip, q = 0, 1 << (levels - 1)
    while q > 1:
        if x[2] & q:
            flip ^= q - 1
        q >>= 1
    x = [c ^ flip for c in x]
    return [sum(((x[i] >> level) & 1) << (2 - i) for i in range(3)) for level in range(levels - 1, -1, -1)]


@functools.cache
def state_table() -> NDArray[np.int32]:
    """table[state·64 + cell] = (state two levels below)·64 + place, the cell one of 4×4×4 as xxyyzz. A state is known by its octants' digits."""

    def digits_of(path: tuple[int, ...]) -> tuple[int, ...]:
        digits: list[int] = []
        for last in range(8):
            cell = [0, 0, 0]
            for octant in (*path, last):
                cell = [2 * cell[i] + ((octant >> (2 - i)) & 1) for i in range(3)]
            digits.append(_place_on_curve((cell[0], cell[1], cell[2]), len(path) + 1)[-1])
        return tuple(digits)

    paths: list[tuple[int, ...]] = [()]
    states = {digits_of(()): 0}
    table: list[int] = []
    for path in paths:  # grows while it is read
        own = digits_of(path)
        for octant in range(8):
            inside = digits_of((*path, octant))
            if inside not in states:
                states[inside] = len(states)
                paths.append((*path, octant))
            table.append(states[inside] * 8 + own[octant])
    double: list[int] = []
    for state in range(len(states)):
        for cell in range(64):
            coarse = (cell >> 3) & 4 | (cell >> 2) & 2 | (cell >> 1) & 1
            fine = (cell >> 2) & 4 | (cell >> 1) & 2 | cell & 1
            first = table[state * 8 + coarse]
            second = table[(first >> 3) * 8 + fine]
            double.append((second >> 3) << 6 | (first & 7) << 3 | (second & 7))
    return np.array(double, dtype=np.int32)


@element
def _cell(lo: Any, hi: Any, cells: float) -> int:
    """The grid coordinate of the middle of an interval of the frame; `cells` in a unit of it."""
    return min(max(int((0.5 * (lo + hi)) * cells) + CELLS // 2, 0), CELLS - 1)


@element
def place_of(x: int, y: int, z: int, table: Any) -> int:
    """The place on the curve of a cell, in 3·LEVELS bits; the table is `state_table`'s."""
    entry, place = 0, 0
    for level in range(LEVELS - 2, -1, -2):
        cell = ((x >> level) & 3) << 4 | ((y >> level) & 3) << 2 | ((z >> level) & 3)
        entry = int(load(table, (entry >> 6) << 6 | cell))
        place = place << 6 | (entry & 63)
    return place


@kernel
def find_places(
    intervals: Any, columns: int, elements: Any, corner_count: int, cells: float, table: Any, keys: NDArray[np.int64]
) -> None:
    """(n,) place on the curve · 2³² + index of every primitive. Intervals (vertices, columns, 2) and elements (n, corners) are pointers."""
    for i in range(len(keys)):
        c0 = c1 = c2 = 0
        for column in range(3):
            lo, hi = np.float32(np.inf), np.float32(-np.inf)
            for corner in range(corner_count):
                at = (load(elements, i * corner_count + corner) * columns + column) * 2
                lo, hi = min(lo, load(intervals, at)), max(hi, load(intervals, at + 1))
            c0, c1, c2 = c1, c2, _cell(lo, hi, cells)
        keys[i] = place_of(c0, c1, c2, table) << 32 | i


@kernel
def sort_keys(keys: NDArray[np.int64], spare: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Sort keys by their bits 32 to 61, ten at a time; the result is in `spare`. counts: (3, DIGIT), zero."""
    for key in keys:
        for turn in range(3):
            counts[turn, (key >> (32 + 10 * turn)) & (DIGIT - 1)] += 1
    for turn in range(3):
        total = 0
        for digit in range(DIGIT):
            here = counts[turn, digit]
            counts[turn, digit] = total
            total += here
    _sort_digit(keys, spare, counts, 0)
    _sort_digit(spare, keys, counts, 1)
    _sort_digit(keys, spare, counts, 2)


@kernel
def _sort_digit(source: NDArray[np.int64], target: NDArray[np.int64], counts: NDArray[np.int64], turn: int) -> None:
    shift = 32 + 10 * turn
    for key in source:
        digit = (key >> shift) & (DIGIT - 1)
        target[counts[turn, digit]] = key
        counts[turn, digit] += 1
