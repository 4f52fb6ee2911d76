"""Whether a face of which one corner moves meets an obstacle: the continuous detection of faces that Jund 2010 leaves open (§4.3.2, conclusion).

A face pbc whose corner moves from p to g sweeps the tetrahedron pgbc. As in `edge_sweep`, it is free when it lies in the union of the closed free
cells. The front grows by the cells around the edges that meet the triangles pbc, pgb and pgc, and around the vertices in the tetrahedron: a
face of the environment meets the tetrahedron in a polygon, and not all corners of that lie in the plane of the last triangle gbc.

The part outside of the free cells is open; its border lies in the interiors of faces between a free cell and an obstacle. So there is a collision
exactly when an open face of that sort meets the closed tetrahedron, a corner of which lies beyond it: it meets one of the four triangles, or
all its corners lie in the tetrahedron. That holds for a spike of the environment that enters the face without touching its edges (figure 4.10,
case 5) and for an obstacle that disappears in the tetrahedron altogether.

Times: a vertex w of the environment is met when the plane bcw holds the moving corner. A flat tetrahedron is covered by its triangles.
"""

import numpy as np

from abut.cells.map.darts import Row
from abut.cells.mobile.sweeps.edge_sweep import First, grow_in_volume, open_face_meets
from abut.cells.space.predicates import side_of_face
from abut.cells.space.records import BLOCKED, NO_FACE, Space, measure_plane
from abut.cells.walk.segment_walk import COUNT, TESTS, Front, push_star
from abut.core.jit import element, kernel
from abut.geometry.determinants import cross_segment_plane
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, drop_axis

Corners = tuple[Vec3, Vec3, Vec3, Vec3]


@element
def _in_tetrahedron(w: Vec3, h: Corners, turn: int) -> bool:
    """Whether w lies in the closed tetrahedron, `turn` being its orientation."""
    return (
        turn * orient_3d(h[0], h[1], h[2], w) >= 0
        and turn * orient_3d(h[0], h[2], h[3], w) >= 0
        and turn * orient_3d(h[0], h[3], h[1], w) >= 0
        and turn * orient_3d(h[1], h[3], h[2], w) >= 0
    )


@element
def _triangle_of(h: Corners, k: int) -> tuple[Vec3, Vec3, Vec3]:
    """The triangle without corner k."""
    return h[1 if k == 0 else 0], h[2 if k <= 1 else 1], h[3 if k <= 2 else 2]


@kernel
def _overlaps_in_plane(space: Space, face: Row, p: Vec3, g: Vec3, q: Vec3) -> bool:
    """Whether an open face and a triangle of its plane have a common point: no edge of either has the other on its outer side."""
    axis = 0
    while orient_2d(drop_axis(p, axis), drop_axis(g, axis), drop_axis(q, axis)) == 0:
        axis += 1
    x, y, z = drop_axis(p, axis), drop_axis(g, axis), drop_axis(q, axis)
    turn, corners = orient_2d(x, y, z), (x, y, z)
    for k in range(3):
        outside, dart = True, face
        while True:
            w = drop_axis(vector_at(space.vertices, space.vertex[dart]), axis)
            outside = outside and turn * orient_2d(corners[k], corners[(k + 1) % 3], w) <= 0
            dart = space.phi1[dart]
            if dart == face:
                break
        if outside:
            return False
    # The face runs the way its base corners turn, seen along the same axis.
    a, b = space.vertex[face], space.vertex[space.phi1[face]]
    c = space.vertex[space.phi1[space.phi1[face]]]
    around = orient_2d(
        drop_axis(vector_at(space.vertices, a), axis),
        drop_axis(vector_at(space.vertices, b), axis),
        drop_axis(vector_at(space.vertices, c), axis),
    )
    dart = face
    while True:
        a = drop_axis(vector_at(space.vertices, space.vertex[dart]), axis)
        b = drop_axis(vector_at(space.vertices, space.vertex[space.phi1[dart]]), axis)
        if around * orient_2d(a, b, x) <= 0 and around * orient_2d(a, b, y) <= 0 and around * orient_2d(a, b, z) <= 0:
            return False
        dart = space.phi1[dart]
        if dart == face:
            return True


@kernel
def _enters(space: Space, face: Row, h: Corners, held_count: int, corner_count: int) -> bool:
    """Whether the tetrahedron goes beyond a face at a point inside of that; `held_count` of the face's corners lie in it."""
    sides = (
        side_of_face(space, face, h[0]),
        side_of_face(space, face, h[1]),
        side_of_face(space, face, h[2]),
        side_of_face(space, face, h[3]),
    )
    if sides[0] >= 0 and sides[1] >= 0 and sides[2] >= 0 and sides[3] >= 0:
        return False
    if held_count == corner_count:
        return True
    if sides[0] < 0 and sides[1] < 0 and sides[2] < 0 and sides[3] < 0:
        return False
    for k in range(4):
        p, g, q = _triangle_of(h, k)
        in_plane = True
        for j in range(4):
            in_plane = in_plane and (j == k or sides[j] == 0)
        if in_plane:
            if _overlaps_in_plane(space, face, p, g, q):
                return True
        elif open_face_meets(space, face, measure_plane(p, g, q, space.reach), p, g, q, False):
            return True
    return False


@kernel
def _look_into_cell(space: Space, front: Front, cell: Row, h: Corners, turn: int) -> tuple[bool, First]:
    """List the cells around the vertices in the tetrahedron; whether it enters an obstacle from this cell, and what it meets first of that."""
    best, kind, hit, is_entered = np.inf, 0, NO_FACE, False
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face == NO_FACE:
            continue
        held_count, corner_count, dart = 0, 0, face
        first, first_dart = np.inf, face
        while True:
            corner_count += 1
            front.state[TESTS] += 4
            w = vector_at(space.vertices, space.vertex[dart])
            if _in_tetrahedron(w, h, turn):
                held_count += 1
                push_star(space, front, space.vertex[dart])
                side_p, side_g = orient_3d(h[2], h[3], w, h[0]), orient_3d(h[2], h[3], w, h[1])
                if side_p != 0 or side_g != 0:  # else w lies on the edge that stays
                    time = cross_segment_plane(h[0], h[1], h[2], h[3], w)
                    if time < first:
                        first, first_dart = time, dart
            dart = space.phi1[dart]
            if dart == face:
                break
        if space.neighbour[cell, slot] == BLOCKED and _enters(space, face, h, held_count, corner_count):
            is_entered = True
            if first < best:
                best, kind, hit = first, 0, first_dart
    return is_entered, (best, kind, hit)


@kernel
def search_tetrahedron(space: Space, front: Front, p: Vec3, g: Vec3, b: Vec3, c: Vec3, edges_are_free: bool) -> First:
    """What a face with the corners b and c and one that moves from p to g meets first, other than with its edges.

    The front holds the cells of the free segments pg, pb, pc and bc, of pg where it is not free those of its first part. Flat tetrahedra meet
    nothing here, nor do others where edges meet something before any vertex of the environment is in the tetrahedron.
    """
    best, kind, hit, is_entered = np.inf, 0, NO_FACE, False
    h, turn = (p, g, b, c), orient_3d(p, g, b, c)
    if turn == 0:
        return best, kind, hit
    done = 0
    while done < front.state[COUNT]:
        cell = front.queue[done]
        done += 1
        for k in range(1, 4):  # the triangles pbc, pgc and pgb
            x, y, z = _triangle_of(h, k)
            grow_in_volume(space, front, cell, measure_plane(x, y, z, space.reach), x, y, z, False)
        entered, (time, new_kind, new_hit) = _look_into_cell(space, front, cell, h, turn)
        is_entered |= entered
        if time < best:
            best, kind, hit = time, new_kind, new_hit
    if is_entered and best == np.inf and edges_are_free:
        best = 0.0
    return best, kind, hit
