"""The walk on darts (Jund 2010, algorithms 1 and 4): turn to the face that the path goes through, then ask whether the target lies before it.

A particle remembers the dart of its cell that it was heading for. *Orientation*: in a polygon, turn along φ1 or φ1⁻¹, whichever the first
test says, until the path passes between the ends of the dart. In a volume, the sector is a triangle of a face: a corner of the face, the
thesis' point s_p, and the dart. Turn to the next triangle of the face, or across the edge that the path lies beyond, until the path passes
through the triangle. *Displacement*: one test of the target against the face. A prediction that holds costs 3 tests in the plane and 4 in
space.

Exactness. All tests take the start p of the whole move, not the point p' where the path entered the cell: det(a − p', b − p', q − p') is (1
− t) det(a − p, b − p, q − p), of the same sign, since p' = p + t(q − p). Three signs ≤ 0, not all zero, say that the path leaves the cell
through the closed triangle: an inward crossing has them ≥ 0. So s_p is a corner and no point is constructed. Known signs are not asked
again: that of an edge just crossed, and those of the face through which a volume was entered.

Edges, vertices (algorithms 2, 3, 5 to 7) and paths along a face are left by the exact steps of `predicates`, whose tests are counted too. So is a
turn that takes more steps than the cell has darts, which the projection of a convex cell from a point inside excludes.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Row
from abut.cells.space.convexity import point_2d
from abut.cells.space.predicates import (
    MISSED,
    NOWHERE,
    THROUGH_EDGE,
    THROUGH_FACE,
    THROUGH_VERTEX,
    leave_cell,
    leave_tie,
    place,
    side_of_face,
)
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.events import Answer, write_collision, write_place
from abut.cells.walk.leg import ARRIVED, GOES_ON, STOPPED, Leg, end_leg
from abut.cells.walk.stop_point import stop_at
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

MOST_TURNS = 256
"""Steps of one orientation after which the exact step takes over: more than any cell of a hundred faces needs."""
Turn = tuple[Row, int, Row, int]


@inlined
def _beyond_edge(space: Space, a: Row, b: Row, p: Vec3, q: Vec3) -> int:
    """1 where the path pq passes outside of the edge from vertex a to vertex b of a face that it goes through outwards."""
    return orient_3d(p, vector_at(space.vertices, a), vector_at(space.vertices, b), q)


@kernel
def turn_in_volume(space: Space, dart: Row, is_known: bool, p: Vec3, q: Vec3) -> Turn:
    """Turn from a dart to the triangle that the path pq goes through: (its dart, through what, the dart of that, tests).

    `is_known` says that the path is known to pass inside of the edge before the dart. MISSED where the path lies in the plane of the face.
    """
    tests = 0
    for _ in range(MOST_TURNS):
        apex = space.phi1_inverse[dart]
        corner = space.vertex[apex]
        right = -1
        if not is_known:
            tests += 1
            right = _beyond_edge(space, corner, space.vertex[dart], p, q)
            if right > 0:
                dart, is_known = space.phi1[space.phi2[apex]], True
                continue
        first = True
        while True:
            following = space.phi1[dart]
            last = space.phi1[following] == apex
            d1, d2 = space.vertex[dart], space.vertex[following]
            tests += 1
            left = _beyond_edge(space, d2, corner, p, q)
            if left <= 0 or last:
                break
            dart, right, first = following, -1, False
        if left > 0:
            dart, is_known = space.phi1[space.phi2[following]], True
            continue
        tests += 1
        ahead = _beyond_edge(space, d1, d2, p, q)
        if ahead > 0:
            dart, is_known = space.phi1[space.phi2[dart]], True
            continue
        zeros = (1 if right == 0 else 0) + (1 if left == 0 else 0) + (1 if ahead == 0 else 0)
        if zeros == 3:
            return dart, MISSED, dart, tests
        if zeros == 2:
            hit = following
            if right == 0:
                hit = apex if left == 0 else dart
            return dart, THROUGH_VERTEX, hit, tests
        if ahead == 0:
            return dart, THROUGH_EDGE, dart, tests
        if right == 0 and first:
            return dart, THROUGH_EDGE, apex, tests
        if left == 0 and last:
            return dart, THROUGH_EDGE, following, tests
        return dart, THROUGH_FACE, dart, tests
    return dart, MISSED, dart, tests


@inlined
def _left_of(space: Space, dart: Row, p: Vec3, q: Vec3) -> int:
    """1 where q lies to the left of the path from p to the beginning of a dart."""
    return orient_2d((p[0], p[1]), point_2d(space.vertices, space.vertex[dart]), (q[0], q[1]))


@kernel
def turn_in_polygon(space: Space, dart: Row, is_known: bool, p: Vec3, q: Vec3) -> Turn:
    """The same in the plane; `is_known` says that q is known to lie to the left of the path to the dart's beginning."""
    tests, begin = 1, 1
    left = _left_of(space, space.phi1[dart], p, q)
    turns_left = is_known or left >= 0
    for _ in range(MOST_TURNS):
        if turns_left:
            if left < 0:
                break
            dart, begin = space.phi1[dart], left
            tests += 1
            left = _left_of(space, space.phi1[dart], p, q)
        else:
            tests += 1
            begin = _left_of(space, dart, p, q)
            if begin >= 0:
                break
            dart = space.phi1_inverse[dart]
    else:
        return dart, MISSED, dart, tests
    return dart, (THROUGH_VERTEX if begin == 0 else THROUGH_FACE), dart, tests


@kernel
def _enter_by(space: Space, dart: Row) -> tuple[Row, bool]:
    """Where to begin in the cell beyond a face that the path went through: a dart, and whether the sign before it is known."""
    entry = space.across[dart]
    if space.dimension == 2:
        return space.phi1[entry], True
    beside = space.phi2[entry]
    if space.phi1[space.phi1[space.phi1[entry]]] == entry:
        return space.phi1[beside], True
    return space.phi2[space.phi1[space.phi1[beside]]], False  # the far side of a hexahedron


@kernel
def _slot_of(space: Space, cell: Row, dart: Row) -> int:
    """The slot of the face of a cell that holds a dart."""
    for slot in range(space.face.shape[1]):
        start = space.face[cell, slot]
        if start == NO_FACE:
            continue
        k = start
        while True:
            if k == dart:
                return slot
            k = space.phi1[k]
            if k == start or space.dimension == 2:
                break
    return NO_FACE


@kernel
def _leave_exactly(space: Space, cell: Row, ahead: Row, face_count: int, p: Vec3, q: Vec3, tests: int) -> Leg:
    """A leg that begins on the border of its cell, or along a face (algorithms 2, 3, 5 to 7)."""
    reached, slot, through, hit = leave_cell(space, cell, p, q)
    tests += face_count
    if reached == cell:
        return end_leg(cell, ahead, False, False, ARRIVED, slot, through, hit, tests)
    if reached == NOWHERE:
        return end_leg(cell, ahead, False, False, STOPPED, slot, through, hit, tests)
    return end_leg(reached, space.face[reached, 0], False, False, GOES_ON, slot, through, hit, tests)


@kernel
def advance(
    space: Space, cell: Row, ahead: Row, is_known: bool, is_inner: bool, face_count: int, p: Vec3, q: Vec3
) -> Leg:
    """Follow the path pq through one cell, from inside of which it comes where `is_inner` (algorithms 1 and 4)."""
    if not is_inner:
        return _leave_exactly(space, cell, ahead, face_count, p, q, integer(0))
    if space.dimension == 2:
        ahead, through, hit, tests = turn_in_polygon(space, ahead, is_known, p, q)
    else:
        ahead, through, hit, tests = turn_in_volume(space, ahead, is_known, p, q)
    if through == MISSED:
        return _leave_exactly(space, cell, ahead, face_count, p, q, tests)
    tests += 1
    side = side_of_face(space, ahead, q)
    if side >= 0:
        return end_leg(cell, ahead, False, side > 0, ARRIVED, NO_FACE, through, hit, tests)
    if through == THROUGH_FACE:
        reached = space.cell[space.across[ahead]]
        if reached >= 0 and not space.obstacle[reached]:
            entry, entry_is_known = _enter_by(space, ahead)
            return end_leg(reached, entry, entry_is_known, True, GOES_ON, NO_FACE, through, hit, tests)
    else:
        reached = leave_tie(space, through, hit, q)
        tests += face_count
        if reached != NOWHERE:
            return end_leg(reached, space.face[reached, 0], False, False, GOES_ON, NO_FACE, through, hit, tests)
    return end_leg(cell, ahead, False, True, STOPPED, _slot_of(space, cell, ahead), through, hit, tests)


@inlined
def follow_darts(
    space: Space, answer: Answer, heading: Integers, inner: NDArray[np.bool_], p: Vec3, q: Vec3, row: Row
) -> None:
    """One move, written into its row. `heading` is the remembered dart, `inner` whether the particle is inside its volume or polygon."""
    cell, ahead, is_inner = integer(answer.cells[row]), heading[row], bool(inner[row])
    is_known, face_count = bool(integer(0)), integer(0)  # plain constants would compile all that follows once more
    for slot in range(space.face.shape[1]):
        face_count += 1 if space.face[cell, slot] != NO_FACE else 0
    while True:
        leg = advance(space, cell, ahead, is_known, is_inner, face_count, p, q)
        answer.tests[row] += leg.tests
        cell, ahead, is_known, is_inner = leg.cell, leg.ahead, leg.is_known, leg.is_inner
        if leg.state != GOES_ON:
            break
    answer.cells[row], heading[row], inner[row] = cell, ahead, is_inner
    if leg.state == STOPPED:
        stop = stop_at(space, cell, leg.slot, leg.through, leg.hit, p, q)
        write_collision(space, answer, integer(0), integer(0), row, leg.through, leg.hit, stop)
        inner[row] = place(space, cell, stop[0])[0] == space.dimension
    elif not is_inner:
        inner[row] = write_place(space, answer, integer(0), integer(0), row, cell, q) == space.dimension


@kernel
def turn_rows(
    space: Space,
    start: Floats,
    heading: Integers,
    inner: NDArray[np.bool_],
    cells: Indices,
    position: Floats,
    status: NDArray[np.int8],
    tests: Indices,
    events: NDArray[np.void],
    tally: NDArray[np.void],
) -> None:
    """Move all particles by the map of darts. `position` holds the targets and receives the points reached; see `Answer` for the other tables."""
    answer = Answer(cells, position, status, tests, events, tally)
    status[:] = 0
    tests[:] = 0
    for row in range(len(cells)):
        p, q = vector_at(start, row), vector_at(position, row)
        if p != q or not inner[row]:
            follow_darts(space, answer, heading, inner, p, q, row)


@kernel
def begin_rows(
    space: Space, rows: Integers, start: Floats, cells: Indices, heading: Integers, inner: NDArray[np.bool_]
) -> None:
    """The state of particles that have not moved yet, or whose cells have: a heading in the right cell is kept (§3.4.2, case 1)."""
    for row in rows:
        if heading[row] < 0 or space.cell[heading[row]] != cells[row]:
            heading[row] = space.face[cells[row], 0]
        inner[row] = place(space, integer(cells[row]), vector_at(start, row))[0] == space.dimension
