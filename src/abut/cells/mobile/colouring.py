"""Who is whose neighbour in a mobile, and groups of vertices that may move at the same time (Jund 2010, §5.4.2).

A colouring gives no two vertices that share an edge the same colour: each vertex, in their order, takes the lowest colour free among its
neighbours. Vertices of one colour read and write nothing in common, so groups can be shared out among threads without changing the answer.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from abut.cells.mobile.packed_move import addresses_of
from abut.cells.mobile.step_tests import OWN_EDGE, OWN_FACE
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel
from abut.core.records import Records
from abut.mesh import Mesh


def _filled(kind: np.dtype[Any], *columns: Integers) -> Records:
    """Records of a kind from its columns."""
    rows = np.empty(len(columns[0]), kind)
    for name, column in zip(kind.names or (), columns, strict=True):
        rows[name] = column
    return rows


def list_edges(edges: Integers, vertex_count: int) -> tuple[Integers, Records]:
    """For each vertex where its edges begin; then (k,) these edges, of OWN_EDGE, ascending."""
    ends = np.concatenate((edges[:, 0], edges[:, 1]))
    others = np.concatenate((edges[:, 1], edges[:, 0]))
    numbers = np.tile(np.arange(len(edges)), 2)
    order = np.lexsort((numbers, ends))
    start = np.searchsorted(ends[order], np.arange(vertex_count + 1))
    return start, _filled(OWN_EDGE, others[order], numbers[order])


def list_fans(faces: Integers, vertex_count: int) -> tuple[Integers, Records]:
    """For each vertex where its faces begin; then (k,) these faces, of OWN_FACE, ascending."""
    corners = faces.T.ravel()
    first, second = (np.concatenate([np.roll(faces, -k, axis=1)[:, i] for k in range(3)]) for i in (1, 2))
    numbers = np.tile(np.arange(len(faces)), 3)
    order = np.lexsort((numbers, corners))
    start = np.searchsorted(corners[order], np.arange(vertex_count + 1))
    return start, _filled(OWN_FACE, first[order], second[order], numbers[order])


def list_sides(edges: Integers, vertex_count: int) -> tuple[Integers, Records]:
    """The same in the plane: both ends of each edge of a vertex, as given, and its number."""
    start, around = list_edges(edges, vertex_count)
    return start, _filled(OWN_FACE, *edges[around["number"]].T, around["number"])


def outwards(points: Floats, faces: Integers, piece: Integers) -> Integers:
    """The faces of a closed mesh, turned piece by piece so that they run anticlockwise seen from outside."""
    middle = points.mean(axis=0)
    a, b, c = (points[faces[:, k]] - middle for k in range(3))
    volume = np.bincount(piece, np.einsum("ij,ij->i", a, np.cross(b, c)))
    return np.where((volume[piece] < 0)[:, np.newaxis], faces[:, ::-1], faces)


def close_loops(points: Floats, edges: Integers) -> Integers:
    """Edges of the plane that form closed loops, turned so that the inside is to their left. `Unsupported` where they do not form any."""
    count = len(points)
    if (
        not (np.bincount(edges[:, 0], minlength=count) == 1).all()
        or not (np.bincount(edges[:, 1], minlength=count) == 1).all()
    ):
        raise Unsupported("elimination by direction of edges that are not closed loops, all running one way round")
    following = np.empty(count, np.int64)
    following[edges[:, 0]] = edges[:, 1]
    loop = np.full(count, -1, np.int64)
    for first in range(count):
        vertex = first
        while loop[vertex] < 0:
            loop[vertex] = first
            vertex = following[vertex]
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    area = np.bincount(loop[edges[:, 0]], a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], minlength=count)
    return np.where((area[loop[edges[:, 0]]] < 0)[:, np.newaxis], edges[:, ::-1], edges)


class Links(NamedTuple):
    """Who is whose neighbour, as `step_tests.Body` has it, and in which order vertices move."""

    edge_start: Integers
    edges: Records
    face_start: Integers
    faces: Records
    """empty where neither faces nor insides are asked for"""
    order: Integers
    """the vertices group by group"""
    group_start: Integers
    addresses: tuple[int, ...]
    """of the first four tables, which kernels read"""
    dimension: int
    is_closed: bool
    """whether the faces have an inner side"""

    @property
    def tables(self) -> tuple[Integers, Records, Integers, Records]:
        """Those that a `step_tests.Body` ends with."""
        return self[:4]

    @property
    def groups(self) -> list[Integers]:
        """Vertices that may move at the same time."""
        return [self.order[a:b] for a, b in itertools.pairwise(self.group_start)]

    def with_pierced(self, faces: Integers) -> "Links":
        """The same, where an obstacle has come into these faces (`step_tests.number_of`)."""
        if self.dimension == 2:
            return self
        marked, number = self.faces.copy(), self.faces["number"]
        marked["number"] = np.where(np.isin(number, faces), -2 - number, number)
        return self._replace(faces=marked, addresses=(*self.addresses[:-1], *addresses_of(marked)))

    def renewed(self, points: Floats, edges: Integers, faces: Integers) -> "Links":
        """The same for a shape that has changed."""
        return link_vertices(points, edges, faces, self.dimension, len(self.faces) > 0)


def link_vertices(points: Floats, edges: Integers, faces: Integers, dimension: int, with_fans: bool) -> Links:
    """Links of a mobile. Fans of faces run outwards where the mesh is closed; in the plane they are edges that must form closed loops."""
    count, is_closed = len(points), False
    around, fans = list_edges(edges, count), (np.zeros(count + 1, np.int64), np.empty(0, OWN_FACE))
    if with_fans and dimension == 2:
        is_closed = True
        fans = list_sides(close_loops(points, edges), count)
    elif with_fans and len(faces):
        mesh = Mesh(points, faces)
        is_closed = mesh.is_closed and mesh.is_oriented
        fans = list_fans(outwards(points, faces, mesh.components) if is_closed else faces, count)
    return Links(
        *around,
        *fans,
        *group_vertices(around[0], around[1]["other"]),
        addresses_of(*around, *fans),
        dimension,
        is_closed,
    )


@kernel
def _colour(start: Integers, other: Integers, colour: Integers, taken: Integers) -> None:
    for vertex in range(len(colour)):
        for k in range(start[vertex], start[vertex + 1]):
            if colour[other[k]] >= 0:
                taken[colour[other[k]]] = vertex
        lowest = 0
        while taken[lowest] == vertex:
            lowest += 1
        colour[vertex] = lowest


def group_vertices(start: Integers, other: Integers) -> tuple[Integers, Integers]:
    """The vertices colour by colour, ascending in each, and where each colour begins."""
    count = len(start) - 1
    colour = np.full(count, -1, np.int64)
    taken = np.full(int(np.diff(start).max(initial=0)) + 2, -1, np.int64)
    _colour(start, other, colour, taken)
    order = np.argsort(colour, kind="stable")
    return order, np.searchsorted(colour[order], np.arange(int(colour.max(initial=-1)) + 2))


def check_edges(edges: Integers) -> None:
    """Refuse an edge that ends where it begins, or that is given twice."""
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        raise InvalidInput("edges", "ends in the vertex where it begins", int(np.argmax(loops)))
    ordered = np.sort(edges, axis=1)
    _, first, counts = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        row = int(first[np.argmax(counts > 1)])
        raise InvalidInput("edges", "is given more than once", row)
