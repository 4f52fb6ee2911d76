"""Who is whose neighbour in a mobile, and groups of vertices that may move at the same time (Jund 2010, §5.4.2).

A colouring gives no two vertices that share an edge the same colour: each vertex, in their order, takes the lowest colour free among its
neighbours. Vertices of one colour read and write nothing in common, so groups can be shared out among threads without changing the answer.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from abut.cells.mobile.steps.packed_move import addresses_of
from abut.cells.mobile.steps.step_tests import OWN_EDGE, OWN_FACE
from abut.core.arrays import Floats, Integers, frozen
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


@kernel
def _sort_slots(keys: Integers, start: Integers, order: Integers) -> None:
    """The places of each key, ascending, and where those of each key begin; `start` begins with zeros."""
    for k in range(len(keys)):
        start[keys[k] + 1] += 1
    for key in range(1, len(start)):
        start[key] += start[key - 1]
    for k in range(len(keys)):
        order[start[keys[k]]] = k
        start[keys[k]] += 1
    for key in range(len(start) - 1, 0, -1):
        start[key] = start[key - 1]
    start[0] = 0


def _slots_of(rows: Integers, vertex_count: int) -> tuple[Integers, Integers]:
    """For each vertex where its places in a table begin; then these places, ascending."""
    start, order = np.zeros(vertex_count + 1, np.int64), np.empty(rows.size, np.int64)
    _sort_slots(frozen(np.ascontiguousarray(rows, np.int64).ravel().view()), start, order)
    return start, order


def list_edges(edges: Integers, vertex_count: int) -> tuple[Integers, Records]:
    """For each vertex where its edges begin; then (k,) these edges, of OWN_EDGE, ascending."""
    start, order = _slots_of(edges, vertex_count)
    return start, _filled(OWN_EDGE, edges.ravel()[order ^ 1], order // 2)


def list_fans(faces: Integers, vertex_count: int) -> tuple[Integers, Records]:
    """For each vertex where its faces begin; then (k,) these faces, of OWN_FACE, ascending."""
    start, order = _slots_of(faces, vertex_count)
    number, corner = np.divmod(order, 3)
    return start, _filled(OWN_FACE, faces[number, (corner + 1) % 3], faces[number, (corner + 2) % 3], number)


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
    turned: Integers
    """(m,) 1 where a face, or in the plane an edge, runs the other way round than the fans; empty where these are not asked for"""

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

    @property
    def pierced(self) -> Integers:
        """The faces that `with_pierced` has marked."""
        number = self.faces["number"]
        return np.unique(-2 - number[number < 0]).astype(np.int64)

    def renewed(self, edges: Integers, faces: Integers, turned: Integers, count: int) -> "Links":
        """The same for so many vertices, when edges were divided or joined: what is closed stays so."""
        around, fans = list_edges(edges, count), _no_fans(count)
        if len(self.turned) and self.dimension == 2:
            fans = list_sides(_turn(edges, turned), count)
        elif len(self.turned):
            fans = list_fans(_turn(faces, turned), count)
        return _join_links(around, fans, self.dimension, self.is_closed, turned if len(self.turned) else self.turned)


def _turn(rows: Integers, turned: Integers) -> Integers:
    return np.where((turned == 1)[:, np.newaxis], rows[:, ::-1], rows)


def _no_fans(count: int) -> tuple[Integers, Records]:
    return np.zeros(count + 1, np.int64), np.empty(0, OWN_FACE)


def _join_links(
    around: tuple[Integers, Records],
    fans: tuple[Integers, Records],
    dimension: int,
    is_closed: bool,
    turned: Integers,
) -> Links:
    groups = group_vertices(around[0], around[1]["other"])
    return Links(*around, *fans, *groups, addresses_of(*around, *fans), dimension, is_closed, turned)


def link_vertices(points: Floats, edges: Integers, faces: Integers, dimension: int, with_fans: bool) -> Links:
    """Links of a mobile. Fans of faces run outwards where the mesh is closed; in the plane they are edges that must form closed loops."""
    count, is_closed = len(points), False
    around, fans, turned = list_edges(edges, count), _no_fans(count), np.empty(0, np.int64)
    if with_fans and dimension == 2:
        is_closed, sides = True, close_loops(points, edges)
        fans, turned = list_sides(sides, count), (sides != edges).any(axis=1).astype(np.int64)
    elif with_fans and len(faces):
        mesh = Mesh(points, faces)
        is_closed = mesh.is_closed and mesh.is_oriented
        outer = outwards(points, faces, mesh.components) if is_closed else faces
        fans, turned = list_fans(outer, count), (outer != faces).any(axis=1).astype(np.int64)
    return _join_links(around, fans, dimension, is_closed, turned)


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
    _colour(start, np.ascontiguousarray(other), colour, taken)
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
