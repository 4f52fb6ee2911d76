"""The exact questions of a walk: on which side, through which face, edge or vertex, into which cell around it, and in what a point lies.

All signs come from `geometry.predicates` on the coordinates of vertices, of the start p and of the target q. A point x at which the segment
pq leaves a cell is never computed for a decision: that x lies on a face, edge or vertex is read from the sides on which the line pq passes
the edges of the face.

A face in the plane is the edge of a polygon; its only edges are its two ends, and a tie is always a vertex.
"""

import numpy as np

from abut.cells.map.darts import Row
from abut.cells.space.convexity import point_2d, side_of_plane
from abut.cells.space.records import BLOCKED, NO_FACE, Space, corners_of_face
from abut.core.arrays import Floats
from abut.core.jit import element, inlined, integer, kernel
from abut.core.lanes import low_heights_4
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, drop_axis, subtract

MISSED, THROUGH_FACE, THROUGH_EDGE, THROUGH_VERTEX = -1, 0, 1, 2
NOWHERE = -1
MOST_BITS = 28
UNCLEAR = 1 << 62
"""A bit that stands for all slots from MOST_BITS on: one of their planes is not certainly passed on the inner side."""


@element
def _flat(a: Vec3) -> tuple[float, float]:
    return (a[0], a[1])


@inlined
def side_of_face(space: Space, dart: Row, q: Vec3) -> int:
    """1 where q lies on the inner side of the plane of a face, 0 on it, −1 beyond."""
    if space.dimension == 2:
        a, b = space.vertex[dart], space.vertex[space.phi1[dart]]
        return orient_2d(point_2d(space.vertices, a), point_2d(space.vertices, b), _flat(q))
    a, b, c = corners_of_face(space, dart)
    return side_of_plane(a, b, c, q)


@inlined
def holds(space: Space, cell: Row, q: Vec3) -> bool:
    """Whether q lies in the closed cell. Planes of the record decide where they are certain."""
    near = max(abs(q[0]), abs(q[1]), abs(q[2])) <= space.reach
    for slot in range(space.face.shape[1]):
        dart = integer(space.face[cell, slot])
        if dart == NO_FACE or (near and height(space, cell, slot, q) > 1.0):
            continue
        if side_of_face(space, dart, q) < 0:
            return False
    return True


@inlined
def low_planes(planes: Floats, slots: int, cell: Row, x: float, y: float, z: float) -> int:
    """Bit k where the point certainly lies beyond the plane of slot k, bit 32 + k where it does not certainly lie before it."""
    record = np.int64(cell) * (4 * slots)
    low = low_heights_4(planes, record, slots, x, y, z)
    for slot in range(4, slots, 4):
        more = low_heights_4(planes, record + slot, slots, x, y, z)
        if slot < MOST_BITS:
            low |= more << slot
        elif more != 0:
            low |= UNCLEAR
    return low


@inlined
def height(space: Space, cell: Row, slot: Row, q: Vec3) -> float:
    """The value of a plane of the record: certain above 1 and below −1, for coordinates within reach."""
    planes = space.planes
    return (
        planes[cell, 0, slot] * q[0]
        + planes[cell, 1, slot] * q[1]
        + planes[cell, 2, slot] * q[2]
        + planes[cell, 3, slot]
    )


@inlined
def _name_zeros(space: Space, face: Row, zeros: int, first: Row, last: Row) -> tuple[int, Row]:
    """What a point of a closed face lies in that is on the lines of so many of its edges, the first and the last of which are given."""
    if zeros == 0:
        return THROUGH_FACE, face
    if zeros == 1:
        return THROUGH_EDGE, first
    # Two edges that follow one another: the vertex between them.
    return THROUGH_VERTEX, last if space.phi1[first] == last else first


@inlined
def pass_face(space: Space, face: Row, p: Vec3, q: Vec3) -> tuple[int, Row]:
    """How the line pq, q beyond the face, passes it: MISSED, or THROUGH a face, edge or vertex, and a dart of that."""
    if space.dimension == 2:
        following = space.phi1[face]
        begin = orient_2d(_flat(p), _flat(q), point_2d(space.vertices, space.vertex[face]))
        end = orient_2d(_flat(p), _flat(q), point_2d(space.vertices, space.vertex[following]))
        if begin > 0 or end < 0:
            return MISSED, face
        if begin == 0:
            return THROUGH_VERTEX, face
        return (THROUGH_VERTEX, following) if end == 0 else (THROUGH_FACE, face)
    dart, zeros, first, second = face, 0, face, face
    while True:
        following = space.phi1[dart]
        a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
        side = orient_3d(p, q, a, b)
        if side > 0:
            return MISSED, face
        if side == 0:
            if zeros == 0:
                first = dart
            second = dart
            zeros += 1
        dart = following
        if dart == face:
            break
    return _name_zeros(space, face, zeros, first, second)


@inlined
def face_holds(space: Space, face: Row, corner: Row) -> bool:
    """Whether a vertex is a corner of a face."""
    if space.dimension == 2:
        return space.vertex[face] == corner or space.vertex[space.phi1[face]] == corner
    dart = face
    while True:
        if space.vertex[dart] == corner:
            return True
        dart = space.phi1[dart]
        if dart == face:
            return False


@inlined
def opens_towards(space: Space, cell: Row, a: Row, b: Row, q: Vec3) -> bool:
    """Whether the path from a point of the vertex a (b < 0) or of the edge ab to q begins in the closed cell."""
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face == NO_FACE or not face_holds(space, face, a) or (b >= 0 and not face_holds(space, face, b)):
            continue
        if side_of_face(space, face, q) < 0:
            return False
    return True


@inlined
def has_corner(space: Space, cell: Row, corner: Row) -> bool:
    """Whether a vertex is a corner of a cell."""
    found = False
    for k in range(space.star_begin[corner], space.star_end[corner]):
        found |= space.star[k] == cell
    return found


@kernel
def has_edge(space: Space, cell: Row, a: Row, b: Row) -> bool:
    """Whether a cell has an edge between two vertices. Parts fit one another, so a cell with both ends has the edge, unless a wall stands between
    the two: then they may be opposite corners of its face."""
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face == NO_FACE:
            continue
        dart = face
        while True:
            u, v = space.vertex[dart], space.vertex[space.phi1[dart]]
            if (u == a and v == b) or (u == b and v == a):
                return True
            dart = space.phi1[dart]
            if dart == face:
                break
    return False


@inlined
def ends_of_tie(space: Space, through: int, dart: Row) -> tuple[Row, Row]:
    """The vertices of an edge, or a vertex and −1."""
    return space.vertex[dart], space.vertex[space.phi1[dart]] if through == THROUGH_EDGE else NOWHERE


@kernel
def leave_tie(space: Space, through: int, dart: Row, q: Vec3) -> int:
    """The first free cell around an edge or a vertex in which the path to q goes on, or NOWHERE."""
    a, b = ends_of_tie(space, through, dart)
    for k in range(space.star_begin[a], space.star_end[a]):
        cell = space.star[k]
        if space.obstacle[cell] or (b >= 0 and not (has_corner(space, cell, b) and has_edge(space, cell, a, b))):
            continue
        if opens_towards(space, integer(cell), a, b, q):
            return cell
    return NOWHERE


@inlined
def leave_cell(space: Space, cell: Row, p: Vec3, q: Vec3) -> tuple[Row, Row, int, Row]:
    """One exact step of the segment pq, which has reached `cell` and goes on: (next, slot, through, dart).

    `next` is the cell itself when it holds q, the next free cell, or NOWHERE when the path leaves the free cells through face `slot`; `through` and
    `dart` then say in what.
    """
    beyond, count = NO_FACE, 0
    near = max(abs(q[0]), abs(q[1]), abs(q[2])) <= space.reach
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face == NO_FACE or (near and height(space, cell, slot, q) > 1.0):
            continue
        if side_of_face(space, face, q) < 0:
            beyond = slot
            count += 1
    if count == 0:
        return cell, NO_FACE, MISSED, NO_FACE
    if count == 1 and space.neighbour[cell, beyond] != BLOCKED:
        return (
            space.neighbour[cell, beyond],
            beyond,
            MISSED,
            NO_FACE,
        )  # the rest of the segment satisfies all other faces
    through, dart = MISSED, NO_FACE
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face != NO_FACE and (count > 1 or slot == beyond) and side_of_face(space, face, q) < 0:
            through, dart = pass_face(space, face, p, q)
            if through != MISSED:
                beyond = slot
                break
    if through == MISSED:  # cannot be: a segment that has reached a convex cell leaves it through one of its faces
        return NOWHERE, beyond, THROUGH_FACE, integer(space.face[cell, beyond])
    if through == THROUGH_FACE:
        return space.neighbour[cell, beyond], beyond, through, dart
    return leave_tie(space, through, dart, q), beyond, through, dart


@kernel
def _place_in_face(space: Space, face: Row, q: Vec3) -> tuple[int, Row]:
    """In what of a face a point of its plane lies: MISSED, or THROUGH its interior, an edge or a vertex, and a dart of that."""
    a, b, c = corners_of_face(space, face)
    normal = cross(subtract(b, a), subtract(c, a))
    axis = 0
    for k in range(1, 3):
        if abs(normal[k]) > abs(normal[axis]):
            axis = k
    turn = orient_2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis))
    for _ in range(2):
        if turn == 0:  # the largest component has been lost to rounding
            axis = (axis + 1) % 3
            turn = orient_2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis))
    flat, dart, zeros, first, second = drop_axis(q, axis), face, 0, face, face
    while True:
        following = space.phi1[dart]
        a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
        side = turn * orient_2d(drop_axis(a, axis), drop_axis(b, axis), flat)
        if side < 0:
            return MISSED, face
        if side == 0:
            if zeros == 0:
                first = dart
            second = dart
            zeros += 1
        dart = following
        if dart == face:
            break
    return _name_zeros(space, face, zeros, first, second)


@inlined
def _place_in_edge(space: Space, dart: Row, q: Vec3) -> tuple[int, Row]:
    """The same in the plane, for a point on the line of an edge."""
    following = space.phi1[dart]
    if _flat(q) == point_2d(space.vertices, space.vertex[dart]):
        return THROUGH_VERTEX, dart
    if _flat(q) == point_2d(space.vertices, space.vertex[following]):
        return THROUGH_VERTEX, following
    return THROUGH_FACE, dart


@kernel
def place(space: Space, cell: Row, q: Vec3) -> tuple[int, Row, Row]:
    """In what of the closed cell that holds it a point lies: (kind, dart, slot), kind being the dimension.

    The slot is that of a face that holds the point, or NO_FACE in the interior.
    """
    for slot in range(space.face.shape[1]):
        face = integer(space.face[cell, slot])
        if face == NO_FACE or side_of_face(space, face, q) != 0:
            continue
        through, dart = _place_in_edge(space, face, q) if space.dimension == 2 else _place_in_face(space, face, q)
        if through != MISSED:  # a coplanar face beside the one that holds the point
            return (0 if through == THROUGH_VERTEX else space.dimension - 1 - through), dart, slot
    return space.dimension, space.face[cell, 0], NO_FACE


@kernel
def touches_obstacle(space: Space, cell: Row, kind: Row, dart: Row, slot: Row) -> bool:
    """Whether an obstacle or the outside meets the vertex, edge or face that `place` found."""
    if kind == space.dimension:
        return False
    if kind == space.dimension - 1:
        return space.neighbour[cell, slot] == BLOCKED
    a = space.vertex[dart]
    b = space.vertex[space.phi1[dart]] if kind == 1 else NOWHERE
    for k in range(space.star_begin[a], space.star_end[a]):
        other = space.star[k]
        if b >= 0 and not has_corner(space, other, b):
            continue
        if space.obstacle[other]:
            return True
        for other_slot in range(space.face.shape[1]):
            face = space.face[other, other_slot]
            if face == NO_FACE or space.neighbour[other, other_slot] != BLOCKED:
                continue
            if face_holds(space, face, a) and (b < 0 or face_holds(space, face, b)):
                return True
    return False
