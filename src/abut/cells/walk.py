"""The fast walk: particles follow their segments from cell to cell, by records of planes where these are certain and by exact signs elsewhere.

Rounds. In blocks of BLOCK particles, first the smallest plane value of the target is taken for every particle: above 1, the target is
certainly inside and the move is done. Those left go in rounds from cell to cell while one face alone is certainly passed and its neighbour
is free; the others take exact steps, with a filter for the case of several faces. The state between moves is (position, cell), the position
in the closed cell.

What is computed. A move is free as long as the segment stays in the union of the closed free cells around the vertices, edges and faces it
passes; it collides where that ends. So a particle may pass through an edge or a vertex between obstacles, which has no width, and along
their faces.

Why a walk ends. A *tie* is a step taken by `leave_tie`, at an edge or a vertex. All other steps pass the only face beyond which q lies, or
the one that is passed strictly first. (1) Steps without ties: let the segment enter cell c at x, and take y inside c close to x. The
straight way from y to q leaves c through the same face, for it too passes that face first; so the cells are those of a straight way, which
visits no convex cell twice. There are as many such steps in a row as cells, at most. (2) After a tie at time t the segment stays in the new
cell for some while, so the next step is at a later time; times of ties are among the finitely many at which the segment leaves a cell. So
there are finitely many ties, and between two of them finitely many steps.

Known limits: cells that overlap in space are not found by the construction; a walk in them ends, but need not be straight.
"""

import numpy as np
from numpy.typing import NDArray

from abut.arrays import LARGEST_COORDINATE, Floats, Integers
from abut.cells.darts import Indices, Row
from abut.cells.results import COLLISION, CONTACT
from abut.cells.signs import NOWHERE, THROUGH_VERTEX, leave_cell, place, touches_obstacle
from abut.cells.space import BLOCKED, Space
from abut.cells.stopping import outward_normal, stop_at
from abut.geometry.vec import Vec3
from abut.jit import element, inlined, kernel, parallel, prange
from abut.lanes import low_heights_4, lowest_bit, lowest_height_4
from abut.scratch import prefetch

_COLLISION, _CONTACT = int(COLLISION), int(CONTACT)
BLOCK = 512
AHEAD = 12
"""How many particles before its turn a record is asked for: about the latency of memory over the time of one particle."""
CACHE_LINE = 8
"""float64 numbers in a cache line."""


@element
def _is_within(x: float, y: float, z: float, reach: float) -> bool:
    """Whether all coordinates are at most `reach` in magnitude; NaN is not."""
    return (abs(x) <= reach) & (abs(y) <= reach) & (abs(z) <= reach)


@inlined
def lowest_plane(planes: Floats, cell: Row, x: float, y: float, z: float) -> float:
    """The smallest value of a cell's planes at a point of finite coordinates, four slots at a time."""
    slots = planes.shape[2]
    record = np.int64(cell) * (4 * slots)
    lowest = lowest_height_4(planes, record, slots, x, y, z)
    for slot in range(4, slots, 4):
        value = lowest_height_4(planes, record + slot, slots, x, y, z)
        lowest = value if value < lowest else lowest
    return lowest


@inlined
def _only_exit(planes: Floats, cell: Row, x: float, y: float, z: float) -> int:
    """The only slot beyond which a point certainly lies, all others being certainly before it; −1 where it is not so."""
    slots = planes.shape[2]
    record = np.int64(cell) * (4 * slots)
    exit_slot, count = 0, 0
    for slot in range(0, slots, 4):
        low = low_heights_4(planes, record + slot, slots, x, y, z)
        beyond, doubtful = low & 15, low >> 32
        if doubtful != 0:
            count += 1 if beyond == doubtful and (doubtful & (doubtful - 1)) == 0 else 2
            exit_slot = slot + lowest_bit(doubtful)
    return exit_slot if count == 1 else -1


@inlined
def _first_exit(planes: Floats, cell: Row, p: Vec3, q: Vec3) -> int:
    """The slot that the segment certainly passes before any other beyond which q lies; −1 where that is not certain.

    The values at p and q are off by 1 at most, and below 2⁴⁹. Times h(p) / (h(p) − h(q)) are compared by products, with the error that follows
    and a quarter for the rounding of the products themselves.
    """
    best, best_p, best_q = -1, 0.0, 0.0
    for slot in range(planes.shape[2]):
        nx, ny, nz, d = planes[cell, 0, slot], planes[cell, 1, slot], planes[cell, 2, slot], planes[cell, 3, slot]
        at_q = nx * q[0] + ny * q[1] + nz * q[2] + d
        if at_q > 1.0:
            continue
        if at_q >= -1.0:
            return -1
        at_p = nx * p[0] + ny * p[1] + nz * p[2] + d
        if best < 0:
            best, best_p, best_q = slot, at_p, at_q
            continue
        left, right = at_p * best_q, best_p * at_q  # both negated: the later of two times has the smaller product
        error = 1.25 * (abs(at_p) + abs(best_q) + abs(best_p) + abs(at_q) + 2.0)
        if left > right + error:
            best, best_p, best_q = slot, at_p, at_q
        elif not right > left + error:
            return -1
    return best


@inlined
def finish_move(
    space: Space,
    p: Vec3,
    q: Vec3,
    row: Row,
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    time: Floats,
    kind: NDArray[np.int8],
    dart: Integers,
    normal: Floats,
    tests: Integers,
    fault: Integers,
) -> None:
    """Follow one segment to its end, exactly, and write its row. A target that is not finite or too large is a fault."""
    cell, slots = cells[row], space.face.shape[1]
    if not _is_within(q[0], q[1], q[2], LARGEST_COORDINATE):
        fault[0] = 1
        return
    near = _is_within(q[0], q[1], q[2], space.reach) and _is_within(p[0], p[1], p[2], space.reach)
    while True:
        tests[row] += slots
        if near:
            slot = _first_exit(space.planes, cell, p, q)
            if slot >= 0 and space.neighbour[cell, slot] != BLOCKED:
                cell = space.neighbour[cell, slot]
                continue
            if lowest_plane(space.planes, cell, q[0], q[1], q[2]) > 1.0:
                cells[row] = cell
                return
        reached, slot, through, hit = leave_cell(space, cell, p, q)
        if reached == cell:
            cells[row] = cell
            kind[row], dart[row], slot = place(space, cell, q)
            if touches_obstacle(space, cell, kind[row], dart[row], slot):
                status[row] = _CONTACT
                _write(normal, row, outward_normal(space, space.face[cell, slot]))
            return
        if reached == NOWHERE:
            stop, time[row], direction = stop_at(space, cell, slot, through, hit, p, q)
            cells[row] = cell
            status[row], dart[row] = _COLLISION, hit
            kind[row] = 0 if through == THROUGH_VERTEX else space.dimension - 1 - through
            _write(position, row, stop)
            _write(normal, row, direction)
            return
        cell = reached


@inlined
def _write(table: Floats, row: Row, value: Vec3) -> None:
    for axis in range(3):
        table[row, axis] = value[axis]


@inlined
def _read(table: Floats, row: Row) -> Vec3:
    return (table[row, 0], table[row, 1], table[row, 2])


@kernel
def move_rows(
    space: Space,
    begin: int,
    end: int,
    start: Floats,
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    time: Floats,
    kind: NDArray[np.int8],
    dart: Integers,
    normal: Floats,
    tests: Integers,
    fault: Integers,
) -> None:
    """Move some of the particles. `position` holds the targets and receives the points reached; the other tables are filled."""
    planes, neighbour, slots = space.planes, space.neighbour, space.face.shape[1]
    going, hard = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    reach, dimension = space.reach, space.dimension
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        status[first:last] = 0
        kind[first:last] = dimension
        time[first:last] = 1.0
        dart[first:last] = NOWHERE
        tests[first:last] = slots
        normal[first:last] = 0.0
        going_count, hard_count = 0, 0
        for row in range(first, last):
            record = np.int64(cells[min(row + AHEAD, last - 1)]) * (4 * slots)
            for line in range(0, 4 * slots, CACHE_LINE):
                prefetch(planes, record + line)
            x, y, z = position[row, 0], position[row, 1], position[row, 2]
            lowest = lowest_plane(planes, cells[row], x, y, z)
            near = _is_within(x, y, z, reach)
            going[going_count] = row
            going_count += 0 if near and lowest > 1.0 else 1
        for k in range(going_count):
            prefetch(neighbour, np.int64(cells[going[k]]) * slots)
        while going_count > 0:
            moved_count = 0
            for k in range(going_count):
                row = going[k]
                x, y, z = position[row, 0], position[row, 1], position[row, 2]
                cell = cells[row]
                slot = _only_exit(planes, cell, x, y, z)
                reached = neighbour[cell, max(slot, 0)]
                goes = slot >= 0 and reached != BLOCKED and _is_within(x, y, z, reach)
                cells[row] = reached if goes else cell
                record = np.int64(cells[row]) * (4 * slots)
                for line in range(0, 4 * slots, CACHE_LINE):
                    prefetch(planes, record + line)
                hard[hard_count] = row
                hard_count += 0 if goes else 1
                going[moved_count] = row
                moved_count += 1 if goes else 0
            going_count = 0
            for k in range(moved_count):
                row = going[k]
                tests[row] += slots
                lowest = lowest_plane(planes, cells[row], position[row, 0], position[row, 1], position[row, 2])
                going[going_count] = row
                going_count += 0 if lowest > 1.0 else 1
        for k in range(hard_count):
            row = hard[k]
            tests[row] -= slots
            finish_move(
                space,
                _read(start, row),
                _read(position, row),
                row,
                cells,
                position,
                status,
                time,
                kind,
                dart,
                normal,
                tests,
                fault,
            )


@parallel
def move_chunks(
    space: Space,
    chunk_count: int,
    start: Floats,
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    time: Floats,
    kind: NDArray[np.int8],
    dart: Integers,
    normal: Floats,
    tests: Integers,
    fault: Integers,
) -> None:
    """Move all particles, in chunks on all threads. Rows are independent, so the number of threads changes nothing."""
    count = len(cells)
    for chunk in prange(chunk_count):
        begin, end = chunk * count // chunk_count, (chunk + 1) * count // chunk_count
        move_rows(space, begin, end, start, cells, position, status, time, kind, dart, normal, tests, fault)
