"""The pre- and postconditions of Jund's algorithms 1 to 7 (2010, §3.2 and §3.3) as invariants, checked after each leg of a walk in debug mode.

All are exact signs, asked anew; none is taken over from the walk. The walk is gone over leg by leg before it is done at once, so that nothing is
paid where nobody asks. What the thesis states, and what is checked:

    algorithms 1 and 4 (from inside a polygon or a volume)
        before: p ≠ q, the remembered dart belongs to the cell                                  FOREIGN_DART
        after:  the path passes through the closed triangle or edge that was turned to           NOT_IN_SECTOR
                reached: q lies before that face, or on it
                left:    q lies beyond it, and the tie is the edge or vertex that the signs say  WRONG_SIDE, WRONG_TIE
    algorithms 2, 3, 5, 6, 7 (from a vertex, an edge, a face)
        before: the edge or vertex passed lies on the way                                       WRONG_TIE
        after:  q lies before or on each face of the new cell around it                         NOT_OPEN
                or, stopped: no free cell around it opens towards q                             NOT_BLOCKED
    all
        the new cell is free; through a face, it is the neighbour there                         OBSTACLE, NOT_NEIGHBOUR
        the point reached lies in the closed cell, and is the target unless stopped             OUTSIDE_CELL, NOT_AT_TARGET
        the kind of state (inside, or on the border) is that of the point                       WRONG_KIND
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import OUTSIDE, Indices, Row
from abut.cells.space.convexity import is_collinear, point_2d
from abut.cells.space.predicates import (
    MISSED,
    NOWHERE,
    THROUGH_FACE,
    ends_of_tie,
    leave_tie,
    opens_towards,
    place,
    side_of_face,
)
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.by_darts import advance
from abut.cells.walk.leg import GOES_ON, STOPPED, Leg
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

SOUND = 0
FOREIGN_DART, NOT_IN_SECTOR, WRONG_SIDE, WRONG_TIE, NOT_OPEN, NOT_BLOCKED = 1, 2, 3, 4, 5, 6
OBSTACLE, NOT_NEIGHBOUR, OUTSIDE_CELL, NOT_AT_TARGET, WRONG_KIND = 7, 8, 9, 10, 11
WORDS = {
    FOREIGN_DART: "the remembered dart does not belong to its cell",
    NOT_IN_SECTOR: "the way does not pass through the sector that was turned to",
    WRONG_SIDE: "the target lies on the other side of the face",
    WRONG_TIE: "the edge or vertex that was passed does not lie on the way",
    NOT_OPEN: "the way does not begin in the cell that it went on in",
    NOT_BLOCKED: "the way stopped, but goes on in a free cell",
    OBSTACLE: "it is in an obstacle",
    NOT_NEIGHBOUR: "the cell that it went on in is not the neighbour there",
    OUTSIDE_CELL: "it lies outside of its cell",
    NOT_AT_TARGET: "it did not stop, and is not at its target",
    WRONG_KIND: "it is remembered as inside its cell and lies on the border, or the reverse",
}


@kernel
def _in_sector(space: Space, dart: Row, p: Vec3, q: Vec3) -> bool:
    """Whether the path pq passes outwards through the closed triangle of a dart and another corner of its face; in the plane, through the edge."""
    a, b = space.vertex[dart], space.vertex[space.phi1[dart]]
    if space.dimension == 2:
        start, goal = (p[0], p[1]), (q[0], q[1])
        left = orient_2d(start, point_2d(space.vertices, a), goal)
        return left >= 0 and orient_2d(start, point_2d(space.vertices, b), goal) < 0
    d1, d2 = vector_at(space.vertices, a), vector_at(space.vertices, b)
    ahead = orient_3d(p, d1, d2, q)
    corner, found = space.phi1_inverse[dart], False
    while corner != space.phi1[dart]:  # s_p is one of the other corners
        apex = vector_at(space.vertices, space.vertex[corner])
        right, left = orient_3d(p, apex, d1, q), orient_3d(p, d2, apex, q)
        found |= right <= 0 and left <= 0 and ahead <= 0 and (right < 0 or left < 0 or ahead < 0)
        corner = space.phi1_inverse[corner]
    return found


@kernel
def _is_on_way(space: Space, through: int, dart: Row, p: Vec3, q: Vec3) -> bool:
    """Whether the line pq meets the line of an edge, or a vertex."""
    a, b = ends_of_tie(space, through, dart)
    if b >= 0:
        return orient_3d(p, q, vector_at(space.vertices, a), vector_at(space.vertices, b)) == 0
    return is_collinear(p, q, vector_at(space.vertices, a))


@kernel
def _check_crossing(space: Space, cell: Row, leg: Leg, p: Vec3, q: Vec3) -> int:
    """A leg that goes on in another cell, or was stopped by the lack of one."""
    if leg.through in (MISSED, THROUGH_FACE):
        face = leg.hit if leg.through == THROUGH_FACE else integer(space.face[cell, leg.slot])
        if side_of_face(space, face, q) >= 0:
            return WRONG_SIDE
        beyond = space.cell[space.across[face]]
        if leg.state == STOPPED:
            return SOUND if beyond == OUTSIDE or space.obstacle[beyond] else NOT_BLOCKED
        return SOUND if leg.cell == beyond else NOT_NEIGHBOUR
    if not _is_on_way(space, leg.through, leg.hit, p, q):
        return WRONG_TIE
    if leg.state == STOPPED:
        return SOUND if leave_tie(space, leg.through, leg.hit, q) == NOWHERE else NOT_BLOCKED
    a, b = ends_of_tie(space, leg.through, leg.hit)
    return SOUND if opens_towards(space, leg.cell, a, b, q) else NOT_OPEN


@kernel
def check_leg(space: Space, cell: Row, was_inner: bool, leg: Leg, p: Vec3, q: Vec3) -> int:
    """What does not hold after a leg that began in `cell`, or SOUND."""
    if space.cell[leg.ahead] != leg.cell:
        return FOREIGN_DART
    if space.obstacle[leg.cell] and leg.cell != cell:
        return OBSTACLE
    if leg.state == GOES_ON or leg.state == STOPPED:
        if was_inner and leg.state == STOPPED and leg.is_inner and not _in_sector(space, leg.ahead, p, q):
            return NOT_IN_SECTOR
        if was_inner and leg.state == GOES_ON and leg.is_inner and not _in_sector(space, leg.hit, p, q):
            return NOT_IN_SECTOR
        return _check_crossing(space, cell, leg, p, q)
    if leg.is_inner and not _in_sector(space, leg.ahead, p, q):
        return NOT_IN_SECTOR
    return SOUND


@kernel
def check_state(space: Space, cell: Row, x: Vec3) -> int:
    """Whether a point lies in its closed cell, by signs alone."""
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face != NO_FACE and side_of_face(space, face, x) < 0:
            return OUTSIDE_CELL
    return SOUND


@kernel
def check_end(space: Space, cell: Row, is_inner: bool, has_arrived: bool, x: Vec3, q: Vec3) -> int:
    """What does not hold at the end x of a move to q, or SOUND."""
    if has_arrived and x != q:
        return NOT_AT_TARGET
    if is_inner != (place(space, cell, x)[0] == space.dimension):
        return WRONG_KIND
    return check_state(space, cell, x)


@kernel
def check_states(space: Space, cells: Indices, position: Floats) -> tuple[int, int]:
    """The first particle that does not lie in its closed cell, and OUTSIDE_CELL; (−1, SOUND) where all do."""
    for row in range(len(cells)):
        verdict = check_state(space, integer(cells[row]), vector_at(position, row))
        if verdict != SOUND:
            return row, verdict
    return -1, SOUND


def refuse_states(space: Space, cells: Indices, position: Floats) -> None:
    """Raise `AssertionError` for the first particle that does not lie in its closed cell."""
    _refuse(*check_states(space, cells, position))


def refuse_legs(
    space: Space, start: Floats, targets: Floats, cells: Indices, heading: Integers, inner: NDArray[np.bool_]
) -> None:
    """Go over the moves of a walk on darts, leg by leg, and raise `AssertionError` for the first condition that does not hold."""
    for row, (p, q) in enumerate(zip(map(tuple, start.tolist()), map(tuple, targets.tolist()), strict=True)):
        cell, ahead, is_known, is_inner = int(cells[row]), int(heading[row]), False, bool(inner[row])
        is_done = p == q and is_inner
        while not is_done:
            leg = advance(space, cell, ahead, is_known, is_inner, 0, p, q)
            _refuse(row, check_leg(space, cell, is_inner, leg, p, q))
            cell, ahead, is_known, is_inner = leg.cell, leg.ahead, leg.is_known, leg.is_inner
            is_done = leg.state != GOES_ON


def refuse_ends(
    space: Space,
    targets: Floats,
    cells: Indices,
    inner: NDArray[np.bool_],
    position: Floats,
    has_arrived: NDArray[np.bool_],
) -> None:
    """Raise `AssertionError` for the first particle whose move has not ended as it should."""
    for row, (x, q) in enumerate(zip(map(tuple, position.tolist()), map(tuple, targets.tolist()), strict=True)):
        _refuse(row, check_end(space, int(cells[row]), bool(inner[row]), bool(has_arrived[row]), x, q))


def _refuse(row: int, verdict: int) -> None:
    if verdict != SOUND:
        raise AssertionError(f"particle {row}: {WORDS[verdict]}")
