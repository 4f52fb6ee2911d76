"""Cells that do not fit: vertices that lie in a closed cell of which they are no corner (hanging nodes, overlaps), and faces shared in part.

In a partition a vertex lies in the closed cells around it and in no other. The grid of `location` tells the cells that may hold it, so all vertices
are asked in time proportional to their number. A vertex in the same place as a corner is no stranger: the two sides of a slit have such.

Every construction refuses strangers by the cell that holds them. Deformation and cuts may put them on the two sides of a slit, or let separate
pieces run into one another; whoever wants to know asks `Environment.find_strangers`.

Faces shared in part have no strangers: a quadrilateral that meets two triangles with the same four corners. Whatever convex faces make up another
one, two of them at least have three successive corners of it; so successive corners are compared, of faces that lie on the border of the map and
of all given faces whose corners do.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import OUTSIDE, Darts, Indices, Loops, Row
from abut.cells.space.location import Index, box_of_point
from abut.cells.space.predicates import NOWHERE, has_corner, holds, side_of_face
from abut.cells.space.records import NO_FACE, Space
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput
from abut.core.jit import integer, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3


@kernel
def _meets_corner(space: Space, cell: Row, q: Vec3) -> bool:
    """Whether a corner of the cell lies in q."""
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face == NO_FACE:
            continue
        dart = face
        while True:
            if vector_at(space.vertices, space.vertex[dart]) == q:
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
        q = vector_at(space.vertices, vertex)
        box = box_of_point(index, q)
        for entry in range(index.start[box], index.start[box + 1]):
            cell = index.cells[entry]
            if has_corner(space, cell, vertex):  # first: whether a corner is held is a question of exact zeros
                continue
            if holds(space, integer(cell), q) and not _meets_corner(space, cell, q):
                found[vertex] = cell
                inside[vertex] = _is_inside(space, cell, q)
                if inside[vertex]:
                    break


def _triples(loops: Loops, faces: Integers) -> tuple[Integers, Integers]:
    """(n,3) all successive corners of some faces, ascending, and the cells of these."""
    triples, owners = [np.empty((0, 3), np.int64)], [np.empty(0, np.int64)]
    sizes = loops.sizes[faces]
    for size in np.unique(sizes).tolist():
        chosen = faces[sizes == size]
        rings = loops.vertex[loops.start[chosen][:, np.newaxis] + np.arange(size)].astype(np.int64)
        triples.append(np.stack([np.roll(rings, k, axis=1) for k in range(3)], axis=2).reshape(-1, 3))
        owners.append(np.repeat(loops.cell[chosen], size).astype(np.int64))
    return np.sort(np.concatenate(triples), axis=1), np.concatenate(owners)


def refuse_shared_parts(darts: Darts, part_cell: Integers, loops: Loops, name: str) -> None:
    """Raise `InvalidInput` for a face that nobody shares while another cell's face, of `loops`, has three successive corners of it."""
    border = np.flatnonzero(darts.cell[darts.phi3] == OUTSIDE)
    border = border[darts.cell[border] != OUTSIDE]
    around = (darts.phi1_inverse[border], border, darts.phi1[border])
    own = np.sort(np.stack([darts.vertex[dart].astype(np.int64) for dart in around], axis=1), axis=1)
    is_border = np.zeros(int(darts.vertex.max(initial=0)) + 1, np.bool_)
    is_border[own] = True
    given, owners = _triples(loops, np.flatnonzero(np.logical_and.reduceat(is_border[loops.vertex], loops.start[:-1])))
    triples = np.concatenate((own, given))
    cell = np.concatenate((part_cell[darts.cell[border]], owners))
    order = np.lexsort((np.arange(len(cell)), *triples.T))
    same = (triples[order[1:]] == triples[order[:-1]]).all(axis=1)
    group = np.concatenate(([0], np.cumsum(~same)))
    first = order[np.searchsorted(group, group)]  # a border dart, where there is one between these corners
    wrong = (first < len(border)) & (cell[first] != cell[order])
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidInput(
            name, f"shares only a part of a face with cell {cell[order[place]]}", int(cell[first[place]])
        )


def refuse_strangers(space: Space, index: Index, count: int, part_cell: Integers, name: str) -> None:
    """Raise `InvalidInput` for the first of `count` vertices that is where it does not belong, by the cell in which it is."""
    found, inside = np.empty(count, np.int32), np.zeros(count, np.bool_)
    _find_strangers(space, index, count, found, inside)
    if (found != NOWHERE).any():
        vertex = int(np.argmax(found != NOWHERE))
        words = f"vertex {vertex} lies inside it: cells overlap"
        if not inside[vertex]:
            words = f"vertex {vertex} lies on its border and is no corner of it (a hanging node): the cells there are not joined"
        raise InvalidInput(name, words, int(part_cell[found[vertex]]))


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
