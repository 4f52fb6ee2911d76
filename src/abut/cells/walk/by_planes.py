"""The fast walk: particles follow their segments from cell to cell, by records of planes where these are certain and by exact signs elsewhere.

Rounds. In blocks of BLOCK particles, first the planes of the cell are evaluated at the target for every particle: all above 1, the target
is certainly inside and the move is done. Those left go in rounds from cell to cell while one face is certainly passed first and its
neighbour is free; the others take exact steps one by one. A block with a target beyond the reach of the records takes exact steps only. The
state between moves is (position, cell), the position in the closed cell.

What is computed. A move is free as long as the segment stays in the union of the closed free cells around the vertices, edges and faces it
passes; it collides where that ends. So a particle may pass through an edge or a vertex between obstacles, which has no width, and along
their faces.

Why a walk ends. A *tie* is a step taken by `leave_tie`, at an edge or a vertex. All other steps pass the only face beyond which q lies, or
the one that is passed strictly first. (1) Steps without ties: let the segment enter cell c at x, and take y inside c close to x. The
straight path from y to q leaves c through the same face, for it too passes that face first; so the cells are those of a straight path, which
visits no convex cell twice. There are as many such steps in a row as cells, at most. (2) After a tie at time t the segment stays in the new
cell for some while, so the next step is at a later time; times of ties are among the finitely many at which the segment leaves a cell. So
there are finitely many ties, and between two of them finitely many steps.

Known limits: cells that overlap in space are not found by the construction; a walk in them ends, but need not be straight.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Row
from abut.cells.space.predicates import NOWHERE, THROUGH_FACE, height, leave_cell, low_planes
from abut.cells.space.records import BLOCKED, Space, renew_record, unpack_space
from abut.cells.walk.events import Answer, write_collision, write_place
from abut.cells.walk.stop_point import stop_at, stop_in_face
from abut.core.arrays import LARGEST_COORDINATE, Floats, Integers
from abut.core.jit import element, inlined, integer, kernel, parallel, prange
from abut.core.lanes import lowest_bit
from abut.core.scratch import load, prefetch
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

BLOCK = 512
AHEAD = 32
"""How many particles before its turn a record is asked for: the latency of memory, 100 ns, over the time of one particle, 3 ns."""
LINE = 8
"""float64 numbers in a cache line."""
BEYOND = (1 << 32) - 1
"""The bits of `low_planes` for the slots beyond whose planes a point certainly lies."""


@element
def is_within(x: float, y: float, z: float, reach: float) -> bool:
    """Whether all coordinates are at most `reach` in magnitude; NaN is not."""
    return (abs(x) <= reach) & (abs(y) <= reach) & (abs(z) <= reach)


@kernel
def _all_within(position: Floats, first: int, last: int, reach: float) -> bool:
    """The same for some rows at once. As one row of numbers, which the compiler turns into vectors: `is_within` would take five times longer."""
    far = 0
    for k in range(3 * first, 3 * last):
        far += 0 if abs(load(position, k)) <= reach else 1
    return far == 0


@inlined
def first_exit(space: Space, cell: Row, beyond: int, p: Vec3, q: Vec3) -> int:
    """The slot that the segment certainly passes first, of those beyond which q certainly lies; −1 where that is not certain.

    The values at p and q are off by 1 at most, and below 2⁴⁹. Times h(p) / (h(p) − h(q)) are compared by products, with the error that follows
    and a quarter for the rounding of the products themselves.
    """
    best, rest = lowest_bit(beyond), beyond & (beyond - 1)
    best_p, best_q = height(space, cell, best, p), height(space, cell, best, q)
    while rest != 0:
        slot = lowest_bit(rest)
        rest &= rest - 1
        at_p, at_q = height(space, cell, slot, p), height(space, cell, slot, q)
        left, right = at_p * best_q, best_p * at_q  # both negated: the later of two times has the smaller product
        error = 1.25 * (abs(at_p) + abs(best_q) + abs(best_p) + abs(at_q) + 2.0)
        if left > right + error:
            best, best_p, best_q = slot, at_p, at_q
        elif not right > left + error:
            return -1
    return best


@inlined
def find_exit(space: Space, cell: Row, p: Vec3, q: Vec3) -> int:
    """The slot of a cell that the segment pq, of coordinates within reach, certainly passes first; −1 where none is certain or q is inside."""
    low = low_planes(space.planes, space.planes.shape[2], cell, q[0], q[1], q[2])
    beyond = low & BEYOND
    return first_exit(space, cell, beyond, p, q) if beyond != 0 and beyond == low >> 32 else -1


@inlined
def is_inside(space: Space, cell: Row, q: Vec3) -> bool:
    """Whether q, of coordinates within reach, certainly lies in a cell."""
    return low_planes(space.planes, space.planes.shape[2], cell, q[0], q[1], q[2]) >> 32 == 0


@inlined
def finish_move(space: Space, answer: Answer, begin: Row, chunk: Row, p: Vec3, q: Vec3, row: Row) -> None:
    """Follow one segment to its end, exactly, and write its row. A target that is not finite or too large is a fault."""
    cell, slots = integer(answer.cells[row]), space.face.shape[1]
    if not is_within(q[0], q[1], q[2], LARGEST_COORDINATE):
        answer.tally[0]["faults"] = 1
        return
    near = is_within(q[0], q[1], q[2], space.reach) and is_within(p[0], p[1], p[2], space.reach)
    while True:
        if space.stale[cell]:
            renew_record(space, cell)
        if near:
            low = low_planes(space.planes, slots, cell, q[0], q[1], q[2])
            beyond, doubtful = low & BEYOND, low >> 32
            if doubtful == 0:
                answer.cells[row] = cell
                return
            slot = first_exit(space, cell, beyond, p, q) if beyond == doubtful else -1
            if slot >= 0:
                if space.neighbour[cell, slot] != BLOCKED:
                    cell = space.neighbour[cell, slot]
                    answer.tests[row] += slots
                    continue
                is_certain, stop = stop_in_face(space, cell, slot, p, q)
                if is_certain:
                    answer.cells[row] = cell
                    write_collision(
                        space, answer, begin, chunk, row, integer(THROUGH_FACE), integer(space.face[cell, slot]), stop
                    )
                    return
        reached, slot, through, hit = leave_cell(space, cell, p, q)
        answer.cells[row] = cell
        if reached == cell:
            write_place(space, answer, begin, chunk, row, cell, q)
            return
        if reached == NOWHERE:
            stop = stop_at(space, cell, slot, through, hit, p, q)
            write_collision(space, answer, begin, chunk, row, through, hit, stop)
            return
        cell = reached
        answer.tests[row] += slots


@inlined
def ask_record(planes: Floats, slots: int, cell: Row) -> None:
    """Have the record of a cell brought near."""
    record = np.int64(cell) * (4 * slots)
    for line in range(0, 4 * slots, LINE):
        prefetch(planes, record + line)


@inlined
def _look(
    planes: Floats,
    slots: int,
    first: int,
    last: int,
    cells: Indices,
    position: Floats,
    rows: Integers,
    lows: Integers,
) -> int:
    """List the particles of a block whose targets are not certainly in their cells, and the bits of their planes; how many."""
    count = 0
    for row in range(first, last):
        ask_record(planes, slots, integer(cells[min(row + AHEAD, last - 1)]))
        low = low_planes(planes, slots, integer(cells[row]), position[row, 0], position[row, 1], position[row, 2])
        rows[count], lows[count] = row, low
        count += 1 if low >> 32 != 0 else 0
    return count


@inlined
def _pass_faces(
    space: Space, slots: int, count: int, start: Floats, answer: Answer, rows: Integers, lows: Integers, hard: Integers
) -> int:
    """Each particle listed goes on through the face that its path certainly passes first; how many did.

    Those for which none is certain or free are added to `hard`, whose first number counts them.
    """
    moved, hard_count = 0, hard[0]
    for k in range(count):
        row = rows[k]
        cell, beyond, doubtful = integer(answer.cells[row]), lows[k] & BEYOND, lows[k] >> 32
        is_certain = beyond == doubtful
        slot = lowest_bit(doubtful) if is_certain else 0
        if is_certain and (beyond & (beyond - 1)) != 0:
            slot = first_exit(space, cell, beyond, vector_at(start, row), vector_at(answer.position, row))
            is_certain = slot >= 0
            slot = max(slot, 0)
        reached = space.neighbour[cell, slot]
        goes = is_certain and reached != BLOCKED
        cell = reached if goes else cell
        answer.cells[row] = cell
        answer.tests[row] += slots if goes else 0
        ask_record(space.planes, slots, cell)
        prefetch(space.neighbour, np.int64(cell) * slots)
        hard[1 + hard_count], rows[moved] = row, row
        hard_count += 0 if goes else 1
        moved += 1 if goes else 0
    hard[0] = hard_count
    return moved


@inlined
def _look_again(planes: Floats, slots: int, count: int, answer: Answer, rows: Integers, lows: Integers) -> int:
    """Keep those listed whose targets are not certainly in the cells they have entered; how many."""
    position, kept = answer.position, 0
    for k in range(count):
        row = rows[k]
        low = low_planes(
            planes, slots, integer(answer.cells[row]), position[row, 0], position[row, 1], position[row, 2]
        )
        rows[kept], lows[kept] = row, low
        kept += 1 if low >> 32 != 0 else 0
    return kept


@inlined
def _go_rounds(
    space: Space,
    slots: int,
    first: int,
    last: int,
    start: Floats,
    answer: Answer,
    rows: Integers,
    lows: Integers,
    hard: Integers,
) -> None:
    """Move a block as far as records are certain; list in `hard`, from 1 on, those that are not at their targets then."""
    count = _look(space.planes, slots, first, last, answer.cells, answer.position, rows, lows)
    for k in range(count):
        prefetch(space.neighbour, np.int64(answer.cells[rows[k]]) * slots)
    while count > 0:
        count = _pass_faces(space, slots, count, start, answer, rows, lows, hard)
        count = _look_again(space.planes, slots, count, answer, rows, lows)


@kernel
def move_rows(
    packed: Integers,
    reach: float,
    begin: Row,
    end: Row,
    chunk: Row,
    start: Floats,
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    tests: Indices,
    events: NDArray[np.void],
    tally: NDArray[np.void],
) -> None:
    """Move some of the particles. `position` holds the targets and receives the points reached; see `Answer` for the other tables."""
    space, answer = unpack_space(packed, reach), Answer(cells, position, status, tests, events, tally)
    rows, lows, hard = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK + 2, np.int64)
    slots = space.planes.shape[2]
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        status[first:last] = 0
        tests[first:last] = slots
        hard[0] = 0
        if not _all_within(position, first, last, reach):
            hard[0] = last - first
            for row in range(first, last):
                hard[1 + row - first] = row
        elif slots == 4:  # a number known to the compiler: half the time
            _go_rounds(space, integer(4), first, last, start, answer, rows, lows, hard)
        elif slots == 8:
            _go_rounds(space, integer(8), first, last, start, answer, rows, lows, hard)
        else:
            _go_rounds(space, slots, first, last, start, answer, rows, lows, hard)
        for k in range(1, hard[0] + 1):
            row = hard[k]
            finish_move(space, answer, begin, chunk, vector_at(start, row), vector_at(position, row), row)


@parallel
def move_chunks(
    packed: Integers,
    reach: float,
    start: Floats,
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    tests: Indices,
    events: NDArray[np.void],
    tally: NDArray[np.void],
) -> None:
    """Move all particles, a chunk for each row of `tally`, on all threads. Rows are independent, so the number of threads changes nothing.

    No record may be stale: two threads would renew it at once.
    """
    count, chunk_count = len(cells), len(tally)
    for chunk in prange(chunk_count):
        begin, end = chunk * count // chunk_count, (chunk + 1) * count // chunk_count
        move_rows(packed, reach, begin, end, integer(chunk), start, cells, position, status, tests, events, tally)
