"""When the vertices move (Jund 2010, §3.4.2, §3.4.3): which parts are still convex, with planar faces that run the right way round.

Only the parts around moved vertices are looked at. Each is judged by exact signs, as at construction, or known to be sound since its corners have
not gone far (`moved_vertices`).
"""

from abut.cells.map.darts import Indices, Row
from abut.cells.space.convexity import is_collinear
from abut.cells.space.predicates import NOWHERE, side_of_face
from abut.cells.space.records import NO_FACE, Space
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.geometry.predicates import is_clearly_positive
from abut.geometry.rows import vector_at


@inlined
def _is_sound_against(space: Space, face: Row, ring: Row) -> tuple[bool, bool]:
    """Whether the corners of face `ring` lie in or before the plane of `face`, and whether one lies before it. Corners of `face` must lie in it."""
    above, corner = False, ring
    while True:
        side = side_of_face(space, face, vector_at(space.vertices, space.vertex[corner]))
        if side < 0 or (side > 0 and ring == face):
            return False, above
        above |= side > 0
        corner = space.phi1[corner]
        if corner == ring:
            return True, above


@inlined
def _has_straight_corner(space: Space, face: Row) -> bool:
    """Whether three successive corners of a face lie in a line. The planes of the other faces do not tell: two of them may be one plane."""
    first = integer(face)
    a, b = first, integer(space.phi1[first])
    while True:
        c = integer(space.phi1[b])
        p, q = vector_at(space.vertices, space.vertex[a]), vector_at(space.vertices, space.vertex[b])
        if is_collinear(p, q, vector_at(space.vertices, space.vertex[c])):
            return True
        if b == first or (a == first and space.phi1[c] == first):  # once around, or a triangle
            return False
        a, b = b, c


@inlined
def _is_sound_polygon(space: Space, face: Row) -> bool:
    """Whether all other corners of a polygon lie to the left of one of its edges."""
    corner = space.phi1[space.phi1[face]]
    while corner != face:
        if side_of_face(space, face, vector_at(space.vertices, space.vertex[corner])) <= 0:
            return False
        corner = space.phi1[corner]
    return True


@inlined
def is_sound(space: Space, part: Row) -> bool:
    """Whether a part is convex, with planar faces that run anticlockwise seen from inside."""
    if space.dimension == 3 and (space.face.shape[1] == 4 or space.face[part, 4] == NO_FACE):  # a tetrahedron
        face = integer(space.face[part, 0])
        beside = space.phi1[space.phi1[space.phi2[face]]]
        return side_of_face(space, face, vector_at(space.vertices, space.vertex[beside])) > 0
    for slot in range(space.face.shape[1]):
        face = integer(space.face[part, slot])
        if face == NO_FACE:
            continue
        if space.dimension == 2:
            if not _is_sound_polygon(space, face):
                return False
            continue
        if _has_straight_corner(space, face):
            return False
        above = False
        for other in range(space.face.shape[1]):
            ring = integer(space.face[part, other])
            if ring != NO_FACE:
                sound, seen = _is_sound_against(space, face, ring)
                if not sound:
                    return False
                above |= seen
        if not above:
            return False
    return True


@kernel
def list_tetrahedra(space: Space, parts: Integers, corners: Indices) -> None:
    """The corners of those parts that are tetrahedra, positively oriented where the part is sound; NOWHERE for the others."""
    for k in range(len(parts)):
        corners[k, 0] = NOWHERE
        if space.dimension == 3 and (space.face.shape[1] == 4 or space.face[parts[k], 4] == NO_FACE):
            first = space.face[parts[k], 0]
            second = space.phi1[first]
            third = space.phi1[second]
            beside = space.phi1[space.phi1[space.phi2[first]]]
            corners[k, 0], corners[k, 1] = space.vertex[first], space.vertex[second]
            corners[k, 2], corners[k, 3] = space.vertex[third], space.vertex[beside]


@kernel
def _skip_sound(vertices: Floats, corners: Indices, k: int) -> int:
    """The first row from k on that is not certainly a sound tetrahedron. This is what a deformation mostly does: the tables come one by one,
    since a space in the loop would take ten times longer."""
    while k < len(corners) and corners[k, 0] >= 0:
        a, b = vector_at(vertices, corners[k, 0]), vector_at(vertices, corners[k, 1])
        c, d = vector_at(vertices, corners[k, 2]), vector_at(vertices, corners[k, 3])
        if not is_clearly_positive(a, b, c, d):
            break
        k += 1
    return k


@kernel
def list_unsound(space: Space, parts: Integers, corners: Indices, unsound: Integers) -> int:
    """List those of these parts, whose corners `list_tetrahedra` has listed, that are not sound; how many."""
    k, count = integer(0), 0
    while True:
        k = _skip_sound(space.vertices, corners, k)
        if k == len(parts):
            return count
        if not is_sound(space, parts[k]):
            unsound[count] = parts[k]
            count += 1
        k += 1
