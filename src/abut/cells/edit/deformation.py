"""When the vertices move (Jund 2010, §3.4.2, §3.4.3): which parts are still sound, and where the particles in them are now.

Only the parts around moved vertices are looked at. Each is judged by exact signs, as at construction, or known to be sound since its corners have
not gone far (`moved`); its record is renewed when a particle comes by (`space`). Particles stay where they are while the environment moves;
afterwards, one whose part moved is either still in its cell (case 1), or is found by a walk from a point in the middle of its cell towards
it (case 2). Where that walk meets an obstacle, a wall has passed over the particle, which is left in front of the wall.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Row
from abut.cells.space.convexity import is_collinear, point_3d
from abut.cells.space.predicates import NOWHERE, has_edge, holds, leave_cell, place, side_of_face
from abut.cells.space.records import BLOCKED, NO_FACE, Space, corners_of_face, renew_record
from abut.cells.walk.stop_point import mean_corner, stop_at
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.geometry.predicates import is_clearly_positive
from abut.geometry.vec import Vec3


@inlined
def _is_sound_against(space: Space, face: Row, ring: Row) -> tuple[bool, bool]:
    """Whether the corners of face `ring` lie in or before the plane of `face`, and whether one lies before it. Corners of `face` must lie in it."""
    above, corner = False, ring
    while True:
        side = side_of_face(space, face, point_3d(space.vertices, space.vertex[corner]))
        if side < 0 or (side > 0 and ring == face):
            return False, above
        above |= side > 0
        corner = space.phi1[corner]
        if corner == ring:
            return True, above


@inlined
def _is_sound_polygon(space: Space, face: Row) -> bool:
    """Whether all other corners of a polygon lie to the left of one of its edges."""
    corner = space.phi1[space.phi1[face]]
    while corner != face:
        if side_of_face(space, face, point_3d(space.vertices, space.vertex[corner])) <= 0:
            return False
        corner = space.phi1[corner]
    return True


@inlined
def is_sound(space: Space, part: Row) -> bool:
    """Whether a part is convex, with planar faces that run anticlockwise seen from inside."""
    if space.dimension == 3 and (space.face.shape[1] == 4 or space.face[part, 4] == NO_FACE):  # a tetrahedron
        face = integer(space.face[part, 0])
        beside = space.phi1[space.phi1[space.phi2[face]]]
        return side_of_face(space, face, point_3d(space.vertices, space.vertex[beside])) > 0
    for slot in range(space.face.shape[1]):
        face = integer(space.face[part, slot])
        if face == NO_FACE:
            continue
        if space.dimension == 2:
            if not _is_sound_polygon(space, face):
                return False
            continue
        a, b, c = corners_of_face(space, face)
        if is_collinear(a, b, c):
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
        a, b = point_3d(vertices, corners[k, 0]), point_3d(vertices, corners[k, 1])
        c, d = point_3d(vertices, corners[k, 2]), point_3d(vertices, corners[k, 3])
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


@kernel
def find_moved(points: Floats, vertices: Floats, rows: Integers) -> int:
    """List the rows of `points` that differ from the vertices; how many."""
    count = 0
    for row in range(len(points)):
        moved = False
        for axis in range(points.shape[1]):
            moved |= points[row, axis] != vertices[row, axis]
        rows[count] = row
        count += 1 if moved else 0
    return count


@kernel
def put_rows(
    vertices: Floats, rows: Integers, points: Floats, before: Floats, reference: Floats
) -> tuple[float, float, float]:
    """Write points (n,2) or (n,3) into some rows of the vertices, and what was there into `before`.

    In the same pass: the largest magnitude of a coordinate, and the squares of how far a point goes at most, and is at most from the reference.
    """
    largest, step_sq, drift_sq = 0.0, 0.0, 0.0
    for k in range(len(rows)):
        row, step, drift = rows[k], 0.0, 0.0
        for axis in range(points.shape[1]):
            x, old = points[k, axis], vertices[row, axis]
            before[k, axis] = old
            vertices[row, axis] = x
            largest = max(largest, abs(x))
            step += (x - old) * (x - old)
            drift += (x - reference[k, axis]) * (x - reference[k, axis])
        step_sq, drift_sq = max(step_sq, step), max(drift_sq, drift)
    return largest, step_sq, drift_sq


@kernel
def put_back(vertices: Floats, rows: Integers, before: Floats) -> None:
    """Undo `put_rows`; backwards, since a row may be named twice."""
    for k in range(len(rows) - 1, -1, -1):
        for axis in range(3):
            vertices[rows[k], axis] = before[k, axis]


@kernel
def list_around(space: Space, vertices: Integers, is_listed: NDArray[np.bool_]) -> None:
    """Mark the parts around these vertices."""
    for vertex in vertices:
        for k in range(space.star_begin[vertex], space.star_end[vertex]):
            is_listed[space.star[k]] = True


@kernel
def _find_again(space: Space, first: Row, last: Row, parts: Indices, p: Vec3) -> tuple[Row, Vec3, bool]:
    """Where a particle is whose cell has moved: its part, its position, and whether a wall has passed over it."""
    for k in range(first, last):
        if holds(space, parts[k], p):
            return parts[k], p, False
    part = parts[first]
    middle = mean_corner(space, part)
    while True:
        if space.stale[part]:  # a point found without the record may be another one
            renew_record(space, integer(part))
        reached, slot, through, hit = leave_cell(space, part, middle, p)
        if reached == part:
            return part, p, False
        if reached == NOWHERE:
            stop, _, _ = stop_at(space, part, slot, through, hit, middle, p)
            return part, stop, True
        part = reached


@kernel
def _free_beside(space: Space, cell: Row, q: Vec3) -> Row:
    """A free cell beside an obstacle that holds q too, because q lies on the face, edge or vertex between them; the obstacle where there is none."""
    kind, dart, slot = place(space, cell, q)
    if kind == space.dimension:
        return cell
    if kind == space.dimension - 1:
        beyond = space.neighbour[cell, slot]
        return cell if beyond == BLOCKED else beyond
    a, b = space.vertex[dart], space.vertex[space.phi1[dart]]
    for k in range(space.star_begin[a], space.star_end[a]):
        other = space.star[k]
        if not space.obstacle[other] and (kind == 0 or has_edge(space, other, a, b)):
            return other
    return cell


@kernel
def leave_obstacles(space: Space, rows: Integers, cells: Indices, position: Floats) -> None:
    """Let particles on the border of a cell that has become an obstacle count as lying in a free cell beside it."""
    for row in rows:
        if space.obstacle[cells[row]]:
            cells[row] = _free_beside(space, integer(cells[row]), point_3d(position, row))


@kernel
def settle_rows(
    space: Space,
    parts_begin: Integers,
    parts_end: Integers,
    parts: Indices,
    cell_of_row: Integers,
    rows: Integers,
    cells: Indices,
    position: Floats,
    pushed: NDArray[np.bool_],
) -> None:
    """Bring particles up to date. `parts` lists the parts of each cell; `cell_of_row` is the cell in which each of the rows was."""
    for k in range(len(rows)):
        row, cell = rows[k], cell_of_row[k]
        p = (position[row, 0], position[row, 1], position[row, 2])
        cells[row], reached, pushed[row] = _find_again(space, parts_begin[cell], parts_end[cell], parts, p)
        if space.stale[cells[row]]:
            renew_record(space, integer(cells[row]))
        for axis in range(3):
            position[row, axis] = reached[axis]
