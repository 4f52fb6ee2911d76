"""Moves of particles, a thread each: by records of planes from cell to cell while one face is certainly passed first (`cells.walk.by_planes`).

What is not certain, what is blocked and what lies beyond the reach of the records is listed, and a second kernel follows those moves to their ends
with `finish_move`, the exact walk of the processor, as it is. Each has a row of events of its own.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.cells.space.predicates import low_planes
from abut.cells.space.records import BLOCKED
from abut.cells.walk.by_planes import BEYOND, finish_move, first_exit, is_within
from abut.cells.walk.events import Answer
from abut.core.jit import integer
from abut.core.lanes import lowest_bit
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.vectors import load_pair
from abut.cuda.warps import index_at


class Records(NamedTuple):
    """All of a `Space` that the certain part of a walk reads."""

    planes: Any


@inlined
def _low_of_four(planes: Any, cell: int, x: float, y: float, z: float) -> int:
    """`low_planes` of a record of four slots."""
    at = cell * 16
    a0, a1 = load_pair(planes, at)
    a2, a3 = load_pair(planes, at + 2)
    b0, b1 = load_pair(planes, at + 4)
    b2, b3 = load_pair(planes, at + 6)
    c0, c1 = load_pair(planes, at + 8)
    c2, c3 = load_pair(planes, at + 10)
    d0, d1 = load_pair(planes, at + 12)
    d2, d3 = load_pair(planes, at + 14)
    p, q = a0 * x + b0 * y + c0 * z + d0, a1 * x + b1 * y + c1 * z + d1
    r, s = a2 * x + b2 * y + c2 * z + d2, a3 * x + b3 * y + c3 * z + d3
    beyond = (1 if p < -1.0 else 0) | (2 if q < -1.0 else 0) | (4 if r < -1.0 else 0) | (8 if s < -1.0 else 0)
    unclear = (0 if p > 1.0 else 1) | (0 if q > 1.0 else 2) | (0 if r > 1.0 else 4) | (0 if s > 1.0 else 8)
    return integer(beyond) | (integer(unclear) << 32)


@inlined
def _walk(
    is_of_four: bool,
    planes: Any,
    neighbour: Any,
    reach: float,
    start: Any,
    target: Any,
    before: Any,
    position: Any,
    cells: Any,
    status: Any,
    tests: Any,
    hard: Any,
    hard_count: Any,
) -> None:
    row = cuda.grid(1)
    if row >= len(cells):
        return
    slots = 4 if is_of_four else planes.shape[2]
    x, y, z = load(target, 3 * row), load(target, 3 * row + 1), load(target, 3 * row + 2)
    store(position, 3 * row, x)
    store(position, 3 * row + 1, y)
    store(position, 3 * row + 2, z)
    cell, count = index_at(before, row), slots
    goes = is_within(x, y, z, reach)
    arrived = False
    while goes:
        if is_of_four:
            low = _low_of_four(planes, cell, x, y, z)
        else:
            low = low_planes(planes, slots, cell, x, y, z)
        doubtful, beyond = low >> 32, low & BEYOND
        arrived = doubtful == 0
        goes = not arrived and beyond == doubtful
        if goes:
            slot = lowest_bit(beyond)
            if beyond & (beyond - 1) != 0:
                p = load(start, 3 * row), load(start, 3 * row + 1), load(start, 3 * row + 2)
                records: Any = Records(planes)
                slot = first_exit(records, cell, beyond, p, (x, y, z))
            reached = index_at(neighbour, cell * slots + slot) if slot >= 0 else integer(BLOCKED)
            goes = reached != BLOCKED
            if goes:
                cell = reached
                count += slots
    store(cells, row, np.int32(cell))
    store(status, row, np.int8(0))
    store(tests, row, np.int32(count))
    if not arrived:
        store(hard, integer(cuda.atomic.add(hard_count, 0, 1)), np.int32(row))


@kernel
def walk_tetrahedra(
    planes: Any,
    neighbour: Any,
    reach: float,
    start: Any,
    target: Any,
    before: Any,
    position: Any,
    cells: Any,
    status: Any,
    tests: Any,
    hard: Any,
    hard_count: Any,
) -> None:
    """Cells of four slots at most."""
    _walk(True, planes, neighbour, reach, start, target, before, position, cells, status, tests, hard, hard_count)


@kernel
def walk_polyhedra(
    planes: Any,
    neighbour: Any,
    reach: float,
    start: Any,
    target: Any,
    before: Any,
    position: Any,
    cells: Any,
    status: Any,
    tests: Any,
    hard: Any,
    hard_count: Any,
) -> None:
    """Cells of any number of slots."""
    _walk(False, planes, neighbour, reach, start, target, before, position, cells, status, tests, hard, hard_count)


@kernel
def finish_moves(
    space: Any, start: Any, cells: Any, position: Any, status: Any, tests: Any, events: Any, tally: Any, hard: Any
) -> None:
    """The moves that are listed, exactly; event and tally k are those of the k-th. Lists of this kernel are as long as `events`."""
    answer = Answer(cells, position, status, tests, events, tally)
    for k in range(cuda.grid(1), len(events), cuda.gridsize(1)):
        row = integer(hard[k])
        p = (start[row, 0], start[row, 1], start[row, 2])
        q = (position[row, 0], position[row, 1], position[row, 2])
        finish_move(space, answer, integer(k), integer(k), p, q, row)
