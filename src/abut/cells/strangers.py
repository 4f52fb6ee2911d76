"""Cells that overlap, and hanging nodes: vertices that lie in a closed cell of which they are no corner, found by exact signs.

In a partition a vertex lies in the closed cells around it and in no other. The grid of `location` tells the cells that may hold it, so all vertices
are asked in time proportional to their number. A vertex in the same place as a corner is no stranger: the two sides of a slit have such.
"""

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Integers
from abut.cells.convexity import point_3d
from abut.cells.darts import Indices, Row
from abut.cells.location import Index, box_of_point
from abut.cells.signs import NOWHERE, holds, side_of_face
from abut.cells.space import NO_FACE, Space
from abut.geometry.vec import Vec3
from abut.jit import integer, kernel


@kernel
def _meets_corner(space: Space, cell: Row, q: Vec3) -> bool:
    """Whether a corner of the cell lies in q."""
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face == NO_FACE:
            continue
        dart = face
        while True:
            if point_3d(space.vertices, space.vertex[dart]) == q:
                return True
            dart = space.phi1[dart]
            if dart == face:
                break
    return False


@kernel
def _is_inside(space: Space, cell: Row, q: Vec3) -> bool:
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face != NO_FACE and side_of_face(space, face, q) <= 0:
            return False
    return True


@kernel
def _find_strangers(space: Space, index: Index, count: int, found: Indices, inside: NDArray[np.bool_]) -> None:
    """For each vertex a cell that holds it without having it as a corner, one that has it inside if there is such, or NOWHERE."""
    for vertex in range(count):
        found[vertex] = NOWHERE
        if space.star_begin[vertex] == space.star_end[vertex]:
            continue
        q = point_3d(space.vertices, vertex)
        box = box_of_point(index, q)
        for entry in range(index.start[box], index.start[box + 1]):
            cell = index.cells[entry]
            if holds(space, integer(cell), q) and not _meets_corner(space, cell, q):
                found[vertex] = cell
                inside[vertex] = _is_inside(space, cell, q)
                if inside[vertex]:
                    break


def describe_strangers(space: Space, index: Index, count: int, part_cell: Integers) -> list[str]:
    """A line for each of the first `count` vertices that is where it does not belong."""
    found, inside = np.empty(count, np.int32), np.zeros(count, np.bool_)
    _find_strangers(space, index, count, found, inside)
    return [
        f"vertex {vertex} lies inside cell {part_cell[found[vertex]]}: cells overlap"
        if inside[vertex]
        else f"vertex {vertex} lies on the border of cell {part_cell[found[vertex]]} and is no corner of it: the cells there are not joined"
        for vertex in np.flatnonzero(found != NOWHERE).tolist()
    ]
