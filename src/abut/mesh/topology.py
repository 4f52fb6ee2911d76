"""Adjacency of triangles, from the faces alone: edges, faces at edges and vertices, pieces, fans.

Everything is linear in the faces: counting sorts and union-find, so that no vertex of high degree makes it slow. Side i
of a face is opposite its vertex i. A face with a repeated vertex is *collapsed*: a segment or a point. Its segment is
an edge, a side between equal vertices is none.
"""

from typing import NamedTuple

import numpy as np

from abut.core import showing
from abut.core.arrays import Integers, frozen
from abut.core.jit import element, kernel


class Incidence(NamedTuple):
    """The faces at each vertex or edge: those at i are `faces[offsets[i]:offsets[i + 1]]`, ascending, each once.

    offsets (n + 1,) and faces (offsets[n],) are int64 and read-only.
    """

    offsets: Integers
    faces: Integers

    def __repr__(self) -> str:
        return showing.describe(
            self, showing.count(len(self.offsets) - 1, "list"), showing.count(len(self.faces), "face")
        )

    def at(self, index: int) -> Integers:
        """The faces at this vertex or edge, ascending.

        Args:
            index: of the vertex or edge.
        """
        return self.faces[self.offsets[index] : self.offsets[index + 1]]


class Edges(NamedTuple):
    """The unique edges and who has them; see the properties of Mesh."""

    edges: Integers
    face_edges: Integers
    edge_faces: Incidence


@element
def _ends(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


@kernel
def _side_ends(faces: Integers, side: int) -> tuple[int, int]:
    """Smaller and larger vertex of side 3·face + i."""
    face, i = side // 3, side % 3
    return _ends(faces[face, (i + 1) % 3], faces[face, (i + 2) % 3])


@kernel
def _is_collapsed(faces: Integers, face: int) -> bool:
    a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
    return a == b or b == c or c == a


@kernel
def _count_sides(faces: Integers, smaller_start: Integers, larger_start: Integers) -> int:
    """Where the sides of each smaller and each larger vertex start once sorted; returns the number of sides."""
    total = 0
    for side in range(3 * len(faces)):
        smaller, larger = _side_ends(faces, side)
        if smaller != larger:
            smaller_start[smaller + 1] += 1
            larger_start[larger + 1] += 1
            total += 1
    for vertex in range(len(smaller_start) - 1):
        smaller_start[vertex + 1] += smaller_start[vertex]
        larger_start[vertex + 1] += larger_start[vertex]
    return total


@kernel
def _sort_sides(
    faces: Integers, smaller_start: Integers, larger_start: Integers, by_smaller: Integers, order: Integers
) -> None:
    """Sides by larger vertex, then smaller vertex, then number: two stable counting sorts, the lesser key first."""
    for side in range(3 * len(faces)):
        smaller, larger = _side_ends(faces, side)
        if smaller != larger:
            by_smaller[smaller_start[smaller]] = side
            smaller_start[smaller] += 1
    for side in by_smaller:
        _, larger = _side_ends(faces, side)
        order[larger_start[larger]] = side
        larger_start[larger] += 1


@kernel
def _number_edges(faces: Integers, order: Integers, face_edges: Integers) -> tuple[int, int]:
    """Number equal runs of sides; returns the count of edges and of (edge, face) incidences."""
    edge, incidences = -1, 0
    smaller_before, larger_before, face_before = -1, -1, -1
    for side in order:
        smaller, larger = _side_ends(faces, side)
        if smaller != smaller_before or larger != larger_before:
            edge += 1
            smaller_before, larger_before, face_before = smaller, larger, -1
        face = side // 3
        if face != face_before:
            incidences += 1
            face_before = face
        face_edges[face, side % 3] = edge
    return edge + 1, incidences


@kernel
def _fill_edges(
    faces: Integers, order: Integers, face_edges: Integers, edges: Integers, offsets: Integers, at_edge: Integers
) -> None:
    edge, incidences, face_before = -1, 0, -1
    for side in order:
        face = side // 3
        if face_edges[face, side % 3] != edge:
            edge += 1
            edges[edge, 0], edges[edge, 1] = _side_ends(faces, side)
            offsets[edge] = incidences
            face_before = -1
        if face != face_before:
            at_edge[incidences] = face
            incidences += 1
            face_before = face
    offsets[edge + 1] = incidences


def find_edges(faces: Integers, vertex_count: int) -> Edges:
    """The unique edges of (m,3) faces, ordered by larger vertex, then by smaller."""
    smaller_start, larger_start = np.zeros((2, vertex_count + 1), np.int64)
    total = _count_sides(faces, smaller_start, larger_start)
    by_smaller, order = np.empty((2, total), np.int64)
    _sort_sides(faces, smaller_start, larger_start, by_smaller, order)
    face_edges = np.full((len(faces), 3), -1, np.int64)
    edge_count, incidence_count = _number_edges(faces, order, face_edges)
    edges = np.empty((edge_count, 2), np.int64)
    offsets = np.empty(edge_count + 1, np.int64)
    at_edge = np.empty(incidence_count, np.int64)
    _fill_edges(faces, order, face_edges, edges, offsets, at_edge)
    return Edges(frozen(edges), frozen(face_edges), Incidence(frozen(offsets), frozen(at_edge)))


@kernel
def _count_vertex_faces(faces: Integers, offsets: Integers) -> None:
    for face in range(len(faces)):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        offsets[a + 1] += 1
        if b != a:
            offsets[b + 1] += 1
        if c not in (a, b):
            offsets[c + 1] += 1
    for vertex in range(len(offsets) - 1):
        offsets[vertex + 1] += offsets[vertex]


@kernel
def _fill_vertex_faces(faces: Integers, next_free: Integers, at_vertex: Integers) -> None:
    for face in range(len(faces)):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        at_vertex[next_free[a]] = face
        next_free[a] += 1
        if b != a:
            at_vertex[next_free[b]] = face
            next_free[b] += 1
        if c not in (a, b):
            at_vertex[next_free[c]] = face
            next_free[c] += 1


def find_vertex_faces(faces: Integers, vertex_count: int) -> Incidence:
    """The faces at each vertex."""
    offsets = np.zeros(vertex_count + 1, np.int64)
    _count_vertex_faces(faces, offsets)
    at_vertex = np.empty(int(offsets[-1]), np.int64)
    _fill_vertex_faces(faces, offsets[:-1].copy(), at_vertex)
    return Incidence(frozen(offsets), frozen(at_vertex))


@kernel
def _count_uses(faces: Integers, face_edges: Integers, forward: Integers, backward: Integers) -> int:
    proper = 0
    for face in range(len(faces)):
        if _is_collapsed(faces, face):
            continue
        proper += 1
        for i in range(3):
            if faces[face, (i + 1) % 3] < faces[face, (i + 2) % 3]:
                forward[face_edges[face, i]] += 1
            else:
                backward[face_edges[face, i]] += 1
    return proper


def count_uses(faces: Integers, face_edges: Integers, edge_count: int) -> tuple[Integers, Integers, int]:
    """How many faces run along each edge from smaller to larger vertex, how many back; and how many faces there are.

    Collapsed faces are not counted.
    """
    forward, backward = np.zeros((2, edge_count), np.int64)
    proper = _count_uses(faces, face_edges, forward, backward)
    return frozen(forward), frozen(backward), proper


@kernel
def _find(parent: Integers, i: int) -> int:
    """The root of i; halves the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _join(parent: Integers, i: int, j: int) -> None:
    i, j = _find(parent, i), _find(parent, j)
    if i < j:
        parent[j] = i
    else:
        parent[i] = j


@kernel
def _join_fans(faces: Integers, face_edges: Integers, first_corner: Integers, parent: Integers) -> None:
    """Join corners 3·face + i of one vertex where their faces share an edge at it; an edge has at most two faces."""
    for face in range(len(faces)):
        if _is_collapsed(faces, face):
            continue
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            if faces[face, a] > faces[face, b]:
                a, b = b, a
            edge = face_edges[face, i]
            if first_corner[edge, 0] < 0:
                first_corner[edge, 0], first_corner[edge, 1] = 3 * face + a, 3 * face + b
            else:
                _join(parent, first_corner[edge, 0], 3 * face + a)
                _join(parent, first_corner[edge, 1], 3 * face + b)


@kernel
def _have_one_fan(faces: Integers, parent: Integers, fan: Integers) -> bool:
    for face in range(len(faces)):
        if _is_collapsed(faces, face):
            continue
        for i in range(3):
            vertex, root = faces[face, i], _find(parent, 3 * face + i)
            if fan[vertex] < 0:
                fan[vertex] = root
            elif fan[vertex] != root:
                return False
    return True


def have_one_fan(faces: Integers, face_edges: Integers, edge_count: int, vertex_count: int) -> bool:
    """Whether the faces at each vertex hang together by edges at it; requires that no edge has more than two faces."""
    parent = np.arange(3 * len(faces))
    _join_fans(faces, face_edges, np.full((edge_count, 2), -1, np.int64), parent)
    return bool(_have_one_fan(faces, parent, np.full(vertex_count, -1, np.int64)))


@kernel
def _label_components(faces: Integers, parent: Integers, of_vertex: Integers, of_face: Integers) -> int:
    for face in range(len(faces)):
        _join(parent, faces[face, 0], faces[face, 1])
        _join(parent, faces[face, 0], faces[face, 2])
    labels = 0
    for face in range(len(faces)):
        root = _find(parent, faces[face, 0])
        if of_vertex[root] < 0:
            of_vertex[root] = labels
            labels += 1
        of_face[face] = of_vertex[root]
        for i in range(3):
            of_vertex[faces[face, i]] = of_vertex[root]
    return labels


def label_components(faces: Integers, vertex_count: int) -> tuple[Integers, Integers, int]:
    """Labels of faces and of vertices (−1 where no face has them) by connected piece, and the number of pieces."""
    of_vertex, of_face = np.full(vertex_count, -1, np.int64), np.empty(len(faces), np.int64)
    labels = _label_components(faces, np.arange(vertex_count), of_vertex, of_face)
    return frozen(of_face), frozen(of_vertex), labels
