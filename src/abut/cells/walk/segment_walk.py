"""One segment through the cells, and the list of cells that a search has come to.

`follow` is the walk of `walk` for one segment between two points whose place is wanted at once: records of planes where these are certain, exact
signs elsewhere. It can list the cells it passes in a `Front`, from which `edge_sweep` grows the cells that a swept triangle meets. A front is
emptied by raising its stamp, so that a search costs only what it touches.
"""

from typing import NamedTuple

import numpy as np

from abut.cells.map.darts import Indices, Row
from abut.cells.space.predicates import MISSED, leave_cell
from abut.cells.space.records import BLOCKED, NO_FACE, Space
from abut.cells.walk.by_planes import find_exit, is_inside, is_within
from abut.core.arrays import Integers
from abut.core.jit import inlined, integer, kernel, stay_apart
from abut.geometry.vec import Vec3

STAMP, COUNT, TESTS, VISITS, EDGE_TESTS, EDGES_INSIDE, EDGES_CLEAR, EDGES_BEHIND, FACE_TESTS = range(9)
COUNTERS = 9
ANY_CELL = -2
"""In place of the cell in which a segment ends, where it is not known."""
Followed = tuple[Row, Row, int, Row]


class Front(NamedTuple):
    """Cells found by one search, first come first; one front per thread."""

    seen: Integers
    """(cells,) the stamp of the last search that found the cell"""
    queue: Indices
    """(cells,)"""
    state: Integers
    """(COUNTERS,) the stamp, the cells in the queue, then what has been done for the vertex that moves"""


def make_fronts(space: Space, count: int) -> Front:
    """So many empty fronts, one per row of each table."""
    cells = len(space.face)
    return Front(
        np.zeros((count, cells), np.int64), np.empty((count, cells), np.int32), np.zeros((count, COUNTERS), np.int64)
    )


@inlined
def begin(front: Front) -> None:
    """Empty the front."""
    front.state[STAMP] += 1
    front.state[COUNT] = 0


@inlined
def clear_counters(front: Front) -> None:
    """Another vertex is about to move."""
    for k in range(TESTS, COUNTERS):
        front.state[k] = 0


@inlined
def push(front: Front, cell: Row) -> None:
    """Add a cell, once."""
    if front.seen[cell] != front.state[STAMP]:
        front.seen[cell] = front.state[STAMP]
        front.queue[front.state[COUNT]] = cell
        front.state[COUNT] += 1


@kernel
def push_star(space: Space, front: Front, vertex: Row) -> None:
    """Add the free cells around a vertex."""
    for k in range(space.star_begin[vertex], space.star_end[vertex]):
        cell = space.star[k]
        if not space.obstacle[cell]:
            push(front, cell)


@kernel
def push_around(space: Space, front: Front, dart: Row) -> None:
    """Add the free cells that follow one another around the edge of a dart, both ways round, up to an obstacle."""
    home = space.cell[dart]
    for way in range(2):
        here = dart if way == 0 else space.phi2[dart]
        while True:
            beyond = space.across[here]
            cell = space.cell[beyond]
            if cell < 0 or space.obstacle[cell]:
                break
            if cell == home:
                return
            push(front, cell)
            here = space.phi2[beyond]


@kernel
def follow(space: Space, front: Front, is_listing: bool, cell: Row, p: Vec3, q: Vec3, goal: Row) -> Followed:
    """The segment pq from `cell`, which holds p: (last cell, slot, through, dart).

    The slot is NO_FACE where q is reached; else the path leaves the free cells through that face of the last cell, in `through` and `dart` (as in
    `predicates.leave_cell`). `goal` is a cell known to hold q, or ANY_CELL.
    """
    stay_apart()
    slots = space.face.shape[1]
    near = is_within(q[0], q[1], q[2], space.reach) and is_within(p[0], p[1], p[2], space.reach)
    while True:
        if is_listing:
            push(front, cell)
        front.state[TESTS] += slots
        front.state[VISITS] += 1
        if cell == goal:
            return cell, NO_FACE, MISSED, NO_FACE
        if near:
            slot = find_exit(space, cell, p, q)
            if slot >= 0 and space.neighbour[cell, slot] != BLOCKED:
                cell = integer(space.neighbour[cell, slot])
                continue
            if is_inside(space, cell, q):
                return cell, NO_FACE, MISSED, NO_FACE
        reached, slot, through, hit = leave_cell(space, cell, p, q)
        if reached == cell:
            return cell, NO_FACE, MISSED, NO_FACE
        if reached < 0:
            return cell, slot, through, hit
        cell = integer(reached)
