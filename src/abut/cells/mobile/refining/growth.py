"""A shape while particles are put on its edges and taken away: tables with room, and for each vertex the list of its edges and faces.

An end of an edge is the slot 2e + k, a corner of a face 3f + k. `edge_head` holds the first slot of each vertex, `edge_next` the one after each,
NOBODY the end. So a change costs what it touches, not what the body has. A row that has gone holds NOBODY in all its corners, and is left out by
`settle_rows`, which closes the gaps.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices
from abut.cells.mobile.refining.shape import GIVEN, Shape
from abut.cells.mobile.steps.step_tests import OWN_EDGE, OWN_FACE
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.core.records import Records

NOBODY = -1
VERTICES, EDGES, FACES = 0, 1, 2


class Growth(NamedTuple):
    """A shape with room for more; `in_use` says how many rows are in use."""

    position: Floats
    cell: Indices
    parents: Integers
    ratio: Floats
    edges: Integers
    root: Integers
    length: Floats
    faces: Integers
    edge_is_turned: Integers
    """(k,) in the plane, 1 where the body is to the right of an edge as given"""
    face_is_turned: Integers
    """(m,) 1 where a face as given runs clockwise seen from outside"""
    is_pierced: Integers
    """(m,) 1 where an obstacle has come into a face"""
    edge_head: Integers
    edge_next: Integers
    face_head: Integers
    face_next: Integers
    in_use: Integers
    """(3,) of vertices, edges and faces"""


def _with_room(table: NDArray[Any], rows: int, fill: int) -> NDArray[Any]:
    grown = np.full((rows, *table.shape[1:]), fill, table.dtype)
    grown[: len(table)] = table[:rows]
    return grown


def begin_growth(shape: Shape, turned: Integers, pierced: Integers, in_plane: bool) -> Growth:
    """A shape without room. `turned` are flags of edges in the plane, of faces in space; `pierced` are faces."""
    upright = np.zeros(len(shape.edges if not in_plane else shape.faces), np.int64)
    edge_is_turned, face_is_turned = (turned, upright) if in_plane else (upright, turned)
    is_pierced = np.zeros(len(shape.faces), np.int64)
    is_pierced[pierced] = 1
    growth = Growth(
        np.array(shape.position, order="C"),
        np.array(shape.cell, np.int32),
        np.array(shape.parents, np.int64),
        np.array(shape.ratio),
        np.array(shape.edges, np.int64),
        np.array(shape.root, np.int64),
        np.array(shape.length),
        np.array(shape.faces, np.int64),
        np.array(edge_is_turned, np.int64),
        np.array(face_is_turned, np.int64),
        is_pierced,
        np.full(len(shape.cell), NOBODY, np.int64),
        np.full(2 * len(shape.edges), NOBODY, np.int64),
        np.full(len(shape.cell), NOBODY, np.int64),
        np.full(3 * len(shape.faces), NOBODY, np.int64),
        np.array([len(shape.cell), len(shape.edges), len(shape.faces)]),
    )
    _link_all(growth)
    return growth


def make_room(growth: Growth, vertices: int, edges: int, faces: int) -> Growth:
    """The same with room for so many more rows."""
    sizes = np.add(growth.in_use, (vertices, edges, faces))
    rows = {"edge_next": 2 * sizes[EDGES], "face_next": 3 * sizes[FACES], "in_use": 3}
    for name in ("position", "cell", "parents", "ratio", "edge_head", "face_head"):
        rows[name] = sizes[VERTICES]
    for name in ("edges", "root", "length", "edge_is_turned"):
        rows[name] = sizes[EDGES]
    for name in ("faces", "face_is_turned", "is_pierced"):
        rows[name] = sizes[FACES]
    tables = growth._asdict()
    return Growth(**{name: _with_room(table, int(rows[name]), NOBODY) for name, table in tables.items()})


@inlined
def link_end(growth: Growth, slot: int) -> None:
    """Enter the end of an edge in the list of its vertex."""
    vertex = growth.edges[slot // 2, slot % 2]
    growth.edge_next[slot] = growth.edge_head[vertex]
    growth.edge_head[vertex] = slot


@inlined
def link_corner(growth: Growth, slot: int) -> None:
    """Enter the corner of a face in the list of its vertex."""
    vertex = growth.faces[slot // 3, slot % 3]
    growth.face_next[slot] = growth.face_head[vertex]
    growth.face_head[vertex] = slot


@kernel
def _unlink(head: Integers, following: Integers, vertex: int, slot: int) -> None:
    here = head[vertex]
    if here == slot:
        head[vertex] = following[slot]
        return
    while following[here] != slot:
        here = following[here]
    following[here] = following[slot]


@kernel
def set_end(growth: Growth, edge: int, end: int, vertex: int) -> None:
    """Let an edge end in another vertex, or in NOBODY."""
    slot = 2 * edge + end
    _unlink(growth.edge_head, growth.edge_next, growth.edges[edge, end], slot)
    growth.edges[edge, end] = vertex
    if vertex != NOBODY:
        link_end(growth, slot)


@kernel
def set_corner(growth: Growth, face: int, corner: int, vertex: int) -> None:
    """Let a face have another corner, or NOBODY there."""
    slot = 3 * face + corner
    _unlink(growth.face_head, growth.face_next, growth.faces[face, corner], slot)
    growth.faces[face, corner] = vertex
    if vertex != NOBODY:
        link_corner(growth, slot)


@kernel
def add_edge(growth: Growth, a: int, b: int, root: int, length: float, turned: int) -> None:
    """One more edge."""
    edge = growth.in_use[EDGES]
    growth.in_use[EDGES] = edge + 1
    growth.edges[edge, 0], growth.edges[edge, 1] = a, b
    growth.root[edge], growth.length[edge], growth.edge_is_turned[edge] = root, length, turned
    link_end(growth, 2 * edge)
    link_end(growth, 2 * edge + 1)


@kernel
def corner_of(growth: Growth, face: int, vertex: int) -> int:
    """Which corner of a face a vertex is; NOBODY for none."""
    for k in range(3):
        if growth.faces[face, k] == vertex:
            return k
    return NOBODY


@kernel
def opposite(growth: Growth, face: int, a: int, b: int) -> int:
    """The corner of a face that is neither of two."""
    for k in range(3):
        corner = growth.faces[face, k]
        if corner not in (a, b):
            return corner
    return NOBODY


@kernel
def next_beside(growth: Growth, a: int, b: int, after: int) -> int:
    """The lowest face above `after` that has both vertices; NOBODY where there is none."""
    best, slot = integer(NOBODY), integer(growth.face_head[a])
    while slot != NOBODY:
        face = slot // 3
        if face > after and (best == NOBODY or face < best) and corner_of(growth, face, b) != NOBODY:
            best = face
        slot = integer(growth.face_next[slot])
    return best


@kernel
def next_edge(growth: Growth, vertex: int, after: int) -> int:
    """The lowest edge of a vertex above `after`; NOBODY where there is none."""
    best, slot = integer(NOBODY), integer(growth.edge_head[vertex])
    while slot != NOBODY:
        if slot // 2 > after and (best == NOBODY or slot // 2 < best):
            best = slot // 2
        slot = integer(growth.edge_next[slot])
    return best


@kernel
def _link_all(growth: Growth) -> None:
    for slot in range(2 * growth.in_use[EDGES]):
        link_end(growth, slot)
    for slot in range(3 * growth.in_use[FACES]):
        link_corner(growth, slot)


@kernel
def _list_around(
    growth: Growth,
    rows: Integers,
    with_fans: int,
    in_plane: int,
    edge_start: Integers,
    edges: Annotated[Any, OWN_EDGE],
    face_start: Integers,
    faces: Annotated[Any, OWN_FACE],
) -> tuple[int, int]:
    """Edges and faces of some ascending vertices, ascending each, while the tables hold them; how many there are."""
    done, edge_count, face_count = 0, 0, 0
    for row in rows:
        for k in range(done, row + 1):
            edge_start[k], face_start[k] = edge_count, face_count
        done = row + 1
        edge = next_edge(growth, row, NOBODY)
        while edge != NOBODY:
            a, b = growth.edges[edge, 0], growth.edges[edge, 1]
            if edge_count < len(edges):
                edges[edge_count].other, edges[edge_count].number = a + b - row, edge
            edge_count += 1
            if with_fans == 1 and in_plane == 1:
                if face_count < len(faces):
                    turned = growth.edge_is_turned[edge] == 1
                    faces[face_count].first, faces[face_count].second = (b, a) if turned else (a, b)
                    faces[face_count].number = edge
                face_count += 1
            edge = next_edge(growth, row, edge)
        if with_fans == 1 and in_plane == 0:
            face = next_beside(growth, row, row, NOBODY)
            while face != NOBODY:
                if face_count < len(faces):
                    k, turned = corner_of(growth, face, row), growth.face_is_turned[face] == 1
                    second, third = growth.faces[face, (k + 1) % 3], growth.faces[face, (k + 2) % 3]
                    faces[face_count].first, faces[face_count].second = (third, second) if turned else (second, third)
                    faces[face_count].number = -2 - face if growth.is_pierced[face] == 1 else face
                face_count += 1
                face = next_beside(growth, row, row, face)
    for k in range(done, len(edge_start)):
        edge_start[k], face_start[k] = edge_count, face_count
    return edge_count, face_count


def list_around(
    growth: Growth, rows: Integers, with_fans: bool, in_plane: bool
) -> tuple[Integers, Records, Integers, Records]:
    """The tables of `step_tests.Body` in which some vertices, ascending, have their edges and faces, and all others none."""
    starts = [np.empty(int(growth.in_use[VERTICES]) + 1, np.int64) for _ in range(2)]
    sizes = 8 * len(rows) + 8, 8 * len(rows) + 8
    while True:
        edges, faces = np.empty(sizes[0], OWN_EDGE), np.empty(sizes[1], OWN_FACE)
        needed = _list_around(growth, rows, int(with_fans), int(in_plane), starts[0], edges, starts[1], faces)
        if needed[0] <= sizes[0] and needed[1] <= sizes[1]:
            return starts[0], edges[: needed[0]], starts[1], faces[: needed[1]]
        sizes = needed


def trimmed(growth: Growth) -> Shape:
    """The shape, without the room."""
    n, k, m = growth.in_use.tolist()
    return Shape(
        growth.position[:n],
        growth.cell[:n],
        growth.edges[:k],
        growth.faces[:m],
        growth.root[:k],
        growth.length[:k],
        growth.parents[:n],
        growth.ratio[:n],
    )


def close_gaps(growth: Growth, is_gone: NDArray[np.bool_], in_plane: bool) -> tuple[Shape, Integers, Integers]:
    """The shape without what has gone, the rows of the vertices that stay, and the flags of the sides that are turned (as for `begin_growth`)."""
    shape = trimmed(growth)
    rows = np.flatnonzero(~is_gone)
    number = np.cumsum(~is_gone) - 1
    edges_left, faces_left = shape.edges[:, 0] != NOBODY, shape.faces[:, 0] != NOBODY
    turned = (
        growth.edge_is_turned[: len(edges_left)][edges_left]
        if in_plane
        else growth.face_is_turned[: len(faces_left)][faces_left]
    )
    smaller = Shape(
        shape.position[rows],
        shape.cell[rows],
        number[shape.edges[edges_left]],
        number[shape.faces[faces_left]],
        shape.root[edges_left],
        shape.length[edges_left],
        np.where(shape.parents == GIVEN, GIVEN, number[shape.parents])[rows],
        shape.ratio[rows],
    )
    return smaller, rows, turned
