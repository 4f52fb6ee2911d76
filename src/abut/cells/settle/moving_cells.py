"""Cells whose corners go straight from where they were to where they are, as tetrahedra (in the plane triangles) that fit one another all the time.

A part that is a tetrahedron is one. Any other part falls into the tetrahedra between its mean corner, which goes straight as well, and the triangles
of its faces; a face of more corners is cut from its lowest-numbered corner, so both sides see the same. A *sliver* is named by a part and a dart: of
a tetrahedron the first dart of its record, otherwise the edge of the triangle that is opposite to the lowest-numbered corner; in the plane an edge.
Its faces are numbered: 0 on the face of the part, then those over the triangle's edges (0,1), (1,2) and (2,0); in the plane 0 is the edge itself,
then (1, mean) and (mean, 0).
"""

from typing import NamedTuple

from abut.cells.map.darts import Row
from abut.cells.space.records import NO_FACE, Space
from abut.core.arrays import Floats
from abut.core.jit import inlined, integer, kernel
from abut.geometry.moving_planes import MovingTriangle
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

MEAN = -1
"""In place of a vertex: the mean corner of the part."""
Ids = tuple[Row, Row, Row, Row]


class Sliver(NamedTuple):
    """Four corners (in the plane three, and the first once more), and where they are at time 0 and 1."""

    ids: Ids
    start: tuple[Vec3, Vec3, Vec3, Vec3]
    end: tuple[Vec3, Vec3, Vec3, Vec3]


@inlined
def is_tetrahedron(space: Space, part: Row) -> bool:
    """Whether a part has four triangles."""
    return space.dimension == 3 and (space.face.shape[1] == 4 or space.face[part, 4] == NO_FACE)


@kernel
def mean_of(space: Space, points: Floats, part: Row) -> Vec3:
    """The mean of the corners of the faces of a part, whose vertices are at `points`."""
    x, y, z, count = 0.0, 0.0, 0.0, 0.0
    for slot in range(space.face.shape[1]):
        face = space.face[part, slot]
        if face != NO_FACE:
            dart = face
            while True:
                a = vector_at(points, space.vertex[dart])
                x, y, z, count = x + a[0], y + a[1], z + a[2], count + 1.0
                dart = space.phi1[dart]
                if dart == face or space.dimension == 2:
                    break
    return (x / count, y / count, z / count)


@kernel
def lowest_corner(space: Space, face: Row) -> Row:
    """The dart of a face at its lowest-numbered vertex."""
    best, dart = integer(face), integer(space.phi1[face])
    while dart != face:
        if space.vertex[dart] < space.vertex[best]:
            best = dart
        dart = integer(space.phi1[dart])
    return best


@kernel
def sliver_over(space: Space, edge: Row) -> Row:
    """The dart that names the sliver over an edge of a face."""
    edge = integer(edge)
    if space.dimension == 2:
        return edge
    lowest = lowest_corner(space, edge)
    if edge == lowest:
        return integer(space.phi1[edge])
    return integer(space.phi1_inverse[edge]) if space.phi1[edge] == lowest else edge


@kernel
def sliver_at(space: Space, origin: Floats, part: Row, dart: Row) -> Sliver:
    """A sliver by its name."""
    after = space.phi1[dart]
    a, b = integer(space.vertex[dart]), integer(space.vertex[after])
    if space.dimension == 2:
        ids = (a, b, integer(MEAN), a)
    elif is_tetrahedron(space, part):
        c = integer(space.vertex[space.phi1[after]])
        ids = (a, b, c, integer(space.vertex[space.phi1[space.phi1[space.phi2[dart]]]]))
    else:
        ids = (integer(space.vertex[lowest_corner(space, dart)]), a, b, integer(MEAN))
    start, end = vector_at(origin, ids[0]), vector_at(space.vertices, ids[0])
    m0, m1 = start, end
    if ids[2] == MEAN or ids[3] == MEAN:
        m0, m1 = mean_of(space, origin, part), mean_of(space, space.vertices, part)
    c0, c1 = (m0, m1) if ids[2] == MEAN else (vector_at(origin, ids[2]), vector_at(space.vertices, ids[2]))
    d0, d1 = (m0, m1) if ids[3] == MEAN else (vector_at(origin, ids[3]), vector_at(space.vertices, ids[3]))
    return Sliver(ids, (start, vector_at(origin, ids[1]), c0, d0), (end, vector_at(space.vertices, ids[1]), c1, d1))


@inlined
def corners_of(dimension: int, k: int) -> tuple[int, int, int]:
    """Which corners of a sliver span its face k, seen from inside anticlockwise; in the plane two, the last is of no use."""
    if dimension == 2:
        return k, (k + 1) % 3, k
    if k == 0:
        return 0, 1, 2
    if k == 1:
        return 0, 3, 1
    return (1, 3, 2) if k == 2 else (0, 2, 3)


@kernel
def face_of(dimension: int, sliver: Sliver, k: int) -> MovingTriangle:
    """Face k; an edge of the plane stands for the wall that rises above it."""
    i, j, m = corners_of(dimension, k)
    a0, a1 = sliver.start[i], sliver.end[i]
    if dimension == 2:
        return MovingTriangle(a0, (a0[0], a0[1], 1.0), sliver.start[j], a1, (a1[0], a1[1], 1.0), sliver.end[j])
    return MovingTriangle(a0, sliver.start[j], sliver.start[m], a1, sliver.end[j], sliver.end[m])


@kernel
def triangle_over(space: Space, origin: Floats, lowest: Row, dart: Row) -> MovingTriangle:
    """The triangle of a face between its lowest-numbered corner and an edge; in the plane the wall above an edge."""
    a, b = space.vertex[dart], space.vertex[space.phi1[dart]]
    a0, a1 = vector_at(origin, a), vector_at(space.vertices, a)
    b0, b1 = vector_at(origin, b), vector_at(space.vertices, b)
    if space.dimension == 2:
        return MovingTriangle(a0, (a0[0], a0[1], 1.0), b0, a1, (a1[0], a1[1], 1.0), b1)
    c = space.vertex[lowest]
    return MovingTriangle(vector_at(origin, c), a0, b0, vector_at(space.vertices, c), a1, b1)


@kernel
def face_with(dimension: int, ids: Ids, a: Row, b: Row, c: Row) -> int:
    """The face of a sliver with these corners, or −1."""
    for k in range(dimension + 1):
        i, j, m = corners_of(dimension, k)
        u, v, w = ids[i], ids[j], ids[m]
        if (u in (a, b, c)) and (v in (a, b, c)) and (w in (a, b, c)):
            return k
    return -1


@kernel
def pass_face_of(space: Space, part: Row, dart: Row, k: int) -> tuple[Row, Row]:
    """What lies across face k of a sliver: (dart of the part's face, −1) where that leads out of the part, else (−1, dart of the next sliver)."""
    nothing, dart = integer(-1), integer(dart)
    before, after = integer(space.phi1_inverse[dart]), integer(space.phi1[dart])
    if k == 0:
        return dart, nothing
    if space.dimension == 2:
        return nothing, after if k == 1 else before
    if is_tetrahedron(space, part):
        edge = dart if k == 1 else after if k == 2 else before
        return integer(space.phi2[edge]), nothing
    if k == 2:
        return nothing, sliver_over(space, space.phi2[dart])
    lowest = lowest_corner(space, dart)
    if k == 1:  # towards the triangle before
        return nothing, sliver_over(space, space.phi2[before]) if before == lowest else before
    return nothing, sliver_over(space, space.phi2[after]) if space.phi1[after] == lowest else after


@kernel
def enter_part(space: Space, part: Row, outer: Row, dart: Row) -> Row:
    """The sliver of a part that one comes to through its face; `outer` is the dart of that face there, `dart` the sliver's on the other side."""
    if space.dimension == 2:
        return integer(outer)
    if is_tetrahedron(space, part):
        return integer(space.face[part, 0])
    if space.phi1[space.phi1[space.phi1[outer]]] == outer:
        return integer(space.phi1[lowest_corner(space, outer)])
    return integer(space.across[dart])
