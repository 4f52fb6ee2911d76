"""From loops of corners to a map: faces are sewn where they have the same corners, and the rest to the outside.

Two faces are the same when they share the lowest corner and its two neighbours in the loop; they must then run in opposite directions and
agree in every corner. Sorting these keys sews a million hexahedra in seconds. A key found three times, faces that run the same way, and
edges of a volume that do not belong to two of its faces (dangling faces) are refused with the cell.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import OUTSIDE, Darts, Indices, Loops, join_loops
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput
from abut.core.jit import kernel

NONE = -1


def _order(columns: list[Integers]) -> tuple[Integers, NDArray[np.bool_]]:
    """An order that sorts the rows, and which sorted rows equal the next one."""
    spans = [int(column.max()) + 1 if len(column) else 1 for column in columns]
    if np.prod([float(span) for span in spans]) < 2.0**62:
        key = columns[0].astype(np.int64)
        for column, span in zip(columns[1:], spans[1:], strict=True):
            key *= span
            key += column
        order = np.argsort(key, kind="stable")
        key = key[order]
        return order, key[1:] == key[:-1]
    order = np.lexsort(columns[::-1])
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
    return order, same


def find_partners(columns: list[Integers]) -> tuple[Integers, int]:
    """For each row the other one with the same key or NONE, and a row whose key occurs more than twice or NONE."""
    order, same = _order(columns)
    partner = np.full(len(order), NONE, np.int64)
    first = np.flatnonzero(same)
    partner[order[first]] = order[first + 1]
    partner[order[first + 1]] = order[first]
    crowded = np.flatnonzero(same[1:] & same[:-1])
    return partner, int(order[crowded[0]]) if len(crowded) else NONE


def sew_edges(loops: Loops, name: str) -> Indices:
    """φ2 of the faces of volumes: each edge of a volume belongs to two of its faces, which pass it in opposite directions."""
    phi1, _ = join_loops(loops)
    begin, end = loops.vertex.astype(np.int64), loops.vertex[phi1].astype(np.int64)
    cell = np.repeat(loops.cell, loops.sizes)
    partner, crowded = find_partners([cell.astype(np.int64), np.minimum(begin, end), np.maximum(begin, end)])
    if crowded != NONE:
        row = int(cell[crowded])
        raise InvalidInput(
            name, f"edge {begin[crowded]}–{end[crowded]} belongs to more than two faces of the cell", row
        )
    loose = partner == NONE
    if loose.any():
        dart = int(np.argmax(loose))
        raise InvalidInput(
            name, f"edge {begin[dart]}–{end[dart]} belongs to one face of the cell only", int(cell[dart])
        )
    same_way = begin[partner] == begin
    if same_way.any():
        dart = int(np.argmax(same_way))
        words = f"two faces of the cell pass edge {begin[dart]}–{end[dart]} in the same direction"
        raise InvalidInput(name, words, int(cell[dart]))
    return partner.astype(np.int32)


@kernel
def _find_lowest(vertex: Indices, start: Integers, lowest: Indices) -> None:
    for face in range(len(start) - 1):
        best = start[face]
        for dart in range(start[face] + 1, start[face + 1]):
            if vertex[dart] < vertex[best]:
                best = dart
        lowest[face] = best


@kernel
def _pair_loops(
    phi1: Indices, phi1_inverse: Indices, vertex: Indices, lowest: Indices, partner: Integers, phi3: Indices
) -> int:
    """Sew each face to its partner; a face that does not agree with it in every corner, or NONE."""
    for face in range(len(partner)):
        other = partner[face]
        if other < face:
            continue
        a, b = lowest[face], phi1_inverse[lowest[other]]
        while True:
            if vertex[phi1[a]] != vertex[b] or vertex[phi1[b]] != vertex[a]:
                return face
            phi3[a] = b
            phi3[b] = a
            a, b = phi1[a], phi1_inverse[b]
            if a == lowest[face] or phi1[b] == lowest[other]:
                break
        if a != lowest[face] or phi1[b] != lowest[other]:
            return face
    return NONE


def pair_faces(loops: Loops, name: str, *, partly: bool = False) -> Indices:
    """φ3 of faces that have the same corners, NONE at others. Faces of three cells, and on one side of each other, are refused.

    Faces that share only some of their corners are refused too, where the lowest and its neighbours are among these; with `partly` they are
    simply not the same.
    """
    phi1, phi1_inverse = join_loops(loops)
    lowest = np.empty(len(loops.cell), np.int32)
    _find_lowest(loops.vertex, loops.start, lowest)
    after, before = loops.vertex[phi1[lowest]].astype(np.int64), loops.vertex[phi1_inverse[lowest]].astype(np.int64)
    corner = loops.vertex[lowest].astype(np.int64)
    columns = [corner, np.minimum(after, before), np.maximum(after, before)]
    if partly:
        columns += [loops.sizes, np.add.reduceat(loops.vertex.astype(np.int64), loops.start[:-1])]
    partner, crowded = find_partners(columns)
    if crowded != NONE:
        raise InvalidInput(name, "one of its faces belongs to more than two cells", int(loops.cell[crowded]))
    sewn = partner != NONE
    same_way = sewn & (after[partner] == after)
    if same_way.any():
        face = int(np.argmax(same_way))
        words = f"lies on the same side of a face as cell {loops.cell[partner[face]]}: one of the two is inverted or they overlap"
        raise InvalidInput(name, words, int(loops.cell[face]))
    phi3 = np.full(len(phi1), NONE, np.int32)
    fault = _pair_loops(phi1, phi1_inverse, loops.vertex, lowest, partner, phi3)
    if fault != NONE:
        words = f"shares only a part of a face with cell {loops.cell[partner[fault]]}"
        raise InvalidInput(name, words, int(loops.cell[fault]))
    return phi3


def sew_volumes(loops: Loops, phi2: Indices, name: str) -> Darts:
    """The closed map of volumes whose faces are sewn already to one another."""
    phi1, phi1_inverse = join_loops(loops)
    phi3 = pair_faces(loops, name)
    cell = np.repeat(loops.cell, loops.sizes)
    return _close_3d(Darts(3, phi1, phi1_inverse, phi2, phi3, loops.vertex, cell))


def sew_polygons(loops: Loops, name: str) -> Darts:
    """The closed map of polygons in the plane."""
    phi1, phi1_inverse = join_loops(loops)
    begin, end = loops.vertex.astype(np.int64), loops.vertex[phi1].astype(np.int64)
    cell = np.repeat(loops.cell, loops.sizes)
    partner, crowded = find_partners([np.minimum(begin, end), np.maximum(begin, end)])
    if crowded != NONE:
        words = f"edge {begin[crowded]}–{end[crowded]} belongs to more than two polygons"
        raise InvalidInput(name, words, int(cell[crowded]))
    same_way = (partner != NONE) & (begin[partner] == begin)
    if same_way.any():
        dart = int(np.argmax(same_way))
        words = f"lies on the same side of edge {begin[dart]}–{end[dart]} as polygon {cell[partner[dart]]}"
        raise InvalidInput(name, words, int(cell[dart]))
    return _close_2d(Darts(2, phi1, phi1_inverse, partner.astype(np.int32), np.empty(0, np.int32), loops.vertex, cell))


def _extend(darts: Darts, border: Integers) -> Darts:
    """Room for one dart of the outside for each border dart, at the end; they are not set."""

    def grown(table: Indices) -> Indices:
        return np.concatenate((table, np.full(len(border), NONE, np.int32)))

    return Darts(darts.dimension, *(grown(table) if len(table) else table for table in darts[1:]))


@kernel
def link_outside_3d(darts: Darts, border: Integers) -> None:
    """Where the border turns, for border darts whose mirror images φ3 leads to: beside the mirror lies that of the next border face around the
    edge, through the inside."""
    phi2, phi3 = darts.phi2, darts.phi3
    for dart in border:
        turned = phi2[dart]
        while darts.cell[phi3[turned]] != OUTSIDE:
            turned = phi2[phi3[turned]]
        phi2[phi3[dart]] = phi3[turned]
        phi2[phi3[turned]] = phi3[dart]


@kernel
def link_outside_2d(darts: Darts, border: Integers) -> None:
    """The same in the plane, where φ2 leads to the mirror images: after the mirror comes that of the next border edge around the vertex."""
    phi1, phi1_inverse, phi2 = darts.phi1, darts.phi1_inverse, darts.phi2
    for dart in border:
        turned = phi1_inverse[dart]
        while darts.cell[phi2[turned]] != OUTSIDE:
            turned = phi1_inverse[phi2[turned]]
        phi1[phi2[dart]] = phi2[turned]
        phi1_inverse[phi2[turned]] = phi2[dart]


def mirror_darts(darts: Darts, border: Integers, mirrors: Integers) -> None:
    """Make darts of the outside the mirror images of border darts: vertices, cell and links to these."""
    across = darts.phi3 if darts.dimension == 3 else darts.phi2
    darts.vertex[mirrors], darts.cell[mirrors] = darts.vertex[darts.phi1[border]], OUTSIDE
    across[border], across[mirrors] = mirrors, border
    if darts.dimension == 3:
        darts.phi1[mirrors] = across[darts.phi1_inverse[border]]
        darts.phi1_inverse[mirrors] = across[darts.phi1[border]]


def _close_3d(darts: Darts) -> Darts:
    border = np.flatnonzero(darts.phi3 == NONE)
    closed = _extend(darts, border)
    mirror_darts(closed, border, len(darts.phi1) + np.arange(len(border)))
    link_outside_3d(closed, border)
    return closed


def _close_2d(darts: Darts) -> Darts:
    border = np.flatnonzero(darts.phi2 == NONE)
    closed = _extend(darts, border)
    mirror_darts(closed, border, len(darts.phi1) + np.arange(len(border)))
    link_outside_2d(closed, border)
    return closed
