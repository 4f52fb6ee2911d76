"""The shape of a mobile that may change: particles are put on edges where these hit something, and taken away again (Jund 2010, §4.2.1, §5.3).

An edge ab that is hit at x becomes two, ax and xb; a face abc at it becomes axc and xbc, with a new edge xc. Everything new is tested before
it is taken: the edges, the triangle axb between the old edge and the new ones, and where faces are tested, the faces. A particle that nothing
touches any more and that lies near the segment between its neighbours on the edge is taken away, if that segment and the triangle are free.
What does not pass a test is left as it is, so that the state stays free of collisions.

Rows of inserted particles follow those of the vertices given; taking one away closes the gap.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import Indices
from abut.cells.mobile.colouring import list_edges
from abut.cells.mobile.step_tests import OWN_FACE, Body, find_blocked
from abut.cells.space.location import find_cells
from abut.cells.walk.segment_walk import Front
from abut.core.arrays import Floats, Integers

SHORTEST = 0.1
"""Pieces of an edge shorter than this share of its first length are not made."""
STRAIGHT = 0.02
"""A particle is near the segment between its neighbours when its distance is at most this share of the segment's length."""
FIRST_PULL, PULL_GROWTH, LAST_PULL = 2.0**-44, 16.0, 2.0**-12
"""How far a new particle is pulled off the obstacle, in lengths of the edge: nothing first, then from the rounding of a point on."""
GIVEN = -1


class Shape(NamedTuple):
    """The vertices, edges and faces of a mobile, and which of them have been inserted."""

    position: Floats
    cell: Indices
    edges: Integers
    faces: Integers
    """(m,3), empty for a body of edges"""
    root: Integers
    """(k,) the given edge that each edge is a piece of; GIVEN for one inside a face"""
    length: Floats
    """(k,) the first length of that"""
    parents: Integers
    """(n,2) the ends of the given edge that a particle was put on; GIVEN for the vertices given"""
    ratio: Floats
    """(n,) where on it: 0 at the first end, 1 at the second"""


def begin_shape(position: Floats, cell: Indices, edges: Integers, faces: Integers | None) -> Shape:
    """A shape as given."""
    length = np.linalg.norm(position[edges[:, 0]] - position[edges[:, 1]], axis=1)
    none = np.empty((0, 3), np.int64)
    parents = np.full((len(cell), 2), GIVEN)
    return Shape(
        position,
        cell,
        edges,
        none if faces is None else faces,
        np.arange(len(edges)),
        length,
        parents,
        np.zeros(len(cell)),
    )


def _is_free(interior: Interior, fronts: Front, shape: Shape, edges: list[list[int]], faces: list[list[int]]) -> bool:
    """Whether edges and triangles of vertices of a shape are free; the first vertex of each must be in its cell."""
    body = Body(shape.position, shape.cell, *list_edges(shape.edges[:0], len(shape.cell)), *_NO_FANS)
    rows: Any = (np.reshape(edges, (-1, 2)).astype(np.int64), np.reshape(faces, (-1, 3)).astype(np.int64))
    return find_blocked(interior.space, fronts, body, *rows) == (-1, -1)


_NO_FANS = np.zeros(1, np.int64), np.empty(0, OWN_FACE)


def insert(
    interior: Interior, fronts: Front, shape: Shape, edge: int, point: Floats, normal: Floats, with_faces: bool
) -> Shape | None:
    """The shape with a particle on an edge where that touches `point`; None where the edge is too short or no place for it is free."""
    a, b = shape.edges[edge].tolist()
    p, q = shape.position[a], shape.position[b]
    along = q - p
    length_sq = float(along @ along)
    if shape.root[edge] == GIVEN or length_sq == 0.0:
        return None
    share = float((point - p) @ along) / length_sq
    length = length_sq**0.5
    if min(share, 1.0 - share) * length < SHORTEST * shape.length[edge]:
        return None
    beside = [face.tolist() for face in shape.faces if a in face and b in face]
    opposite = [next(v for v in face if v not in (a, b)) for face in beside]
    new, pull = len(shape.cell), 0.0
    while pull <= LAST_PULL:
        x = p + share * along - pull * length * normal
        pull = max(FIRST_PULL, pull * PULL_GROWTH)
        found = find_cells(interior.space, interior.located(), x[np.newaxis])
        if found[0] < 0 or interior.space.obstacle[found[0]]:
            continue
        grown = shape._replace(position=np.vstack((shape.position, x)), cell=np.append(shape.cell, found))
        edges = [[a, new], [b, new], *([c, new] for c in opposite)]
        faces = [[a, new, b]]
        if with_faces:
            faces += [[k, new, c] for c in opposite for k in (a, b)]
        if _is_free(interior, fronts, grown, edges, faces):
            return _link(grown, edge, new, share, beside, opposite)
    return None


def _link(shape: Shape, edge: int, new: int, share: float, beside: list[list[int]], opposite: list[int]) -> Shape:
    a, b = shape.edges[edge].tolist()
    edges = shape.edges.copy()
    edges[edge, 1] = new
    edges = np.vstack((edges, [[new, b], *([c, new] for c in opposite)]))
    faces = [face for face in shape.faces.tolist() if not (a in face and b in face)]
    for face in beside:
        faces += [[new if v == b else v for v in face], [new if v == a else v for v in face]]
    root, length = shape.root[edge], shape.length[edge]
    begin, end = _place_on_root(shape, a, b)
    return shape._replace(
        edges=edges,
        faces=np.reshape(faces, (-1, 3)).astype(np.int64),
        root=np.concatenate((shape.root, [root], np.full(len(opposite), GIVEN))),
        length=np.concatenate((shape.length, [length], np.zeros(len(opposite)))),
        parents=np.vstack((shape.parents, _ends_of_root(shape, a, b))),
        ratio=np.append(shape.ratio, begin + share * (end - begin)),
    )


def _ends_of_root(shape: Shape, a: int, b: int) -> list[int]:
    """The ends of the given edge of which the edge ab is a piece."""
    for v in (a, b):
        if shape.parents[v, 0] != GIVEN:
            return shape.parents[v].tolist()
    return [a, b]


def _place_on_root(shape: Shape, a: int, b: int) -> tuple[float, float]:
    """Where a and b are on the given edge of which ab is a piece."""
    ends = _ends_of_root(shape, a, b)
    places = [shape.ratio[v] if shape.parents[v, 0] != GIVEN else float(ends.index(v)) for v in (a, b)]
    return float(places[0]), float(places[1])


def remove_loose(
    interior: Interior, fronts: Front, shape: Shape, is_loose: Any, with_faces: bool
) -> tuple[Shape, Integers]:
    """The shape without inserted particles that nothing holds, and the rows that are left of what it was."""
    kept = np.ones(len(shape.cell), np.bool_)
    for v in np.flatnonzero(is_loose & (shape.parents[:, 0] != GIVEN)).tolist():
        smaller = _without(interior, fronts, shape, v, with_faces)
        if smaller is not None:
            shape, kept[v] = smaller, False
    rows = np.flatnonzero(kept)
    number = np.cumsum(kept) - 1
    return (
        shape._replace(
            position=shape.position[rows],
            cell=shape.cell[rows],
            edges=number[shape.edges],
            faces=number[shape.faces],
            parents=np.where(shape.parents == GIVEN, GIVEN, number[shape.parents])[rows],
            ratio=shape.ratio[rows],
        ),
        rows,
    )


def _without(interior: Interior, fronts: Front, shape: Shape, v: int, with_faces: bool) -> Shape | None:
    """The shape in which the two pieces of an edge at v are one again; None where they cannot be. The row of v stays."""
    at = np.flatnonzero((shape.edges == v).any(axis=1))
    pieces = at[shape.root[at] != GIVEN]
    if len(pieces) != 2:
        return None
    u, w = (int(shape.edges[k].sum() - v) for k in pieces)
    p, x, q = shape.position[u], shape.position[v], shape.position[w]
    length_sq = float((q - p) @ (q - p))
    off = x - p - (float((x - p) @ (q - p)) / length_sq if length_sq > 0.0 else 0.0) * (q - p)
    if float(off @ off) > STRAIGHT**2 * length_sq:
        return None
    around = [face for face in shape.faces.tolist() if v in face]
    merged = [[w if k == v else k for k in face] for face in around if u in face]
    ahead = sorted(k for face in around if w in face for k in face if k not in (v, w))
    if sorted(k for face in around if u in face for k in face if k not in (u, v)) != ahead or len(around) != 2 * len(
        merged
    ):
        return None
    faces = [[u, v, w], *(merged if with_faces else [])]
    if not _is_free(interior, fronts, shape, [[u, w]], faces):
        return None
    edges = shape.edges.copy()
    edges[pieces[0]] = [u, w] if shape.edges[pieces[0], 0] == u else [w, u]
    stays = ~(edges == v).any(axis=1)
    return shape._replace(
        edges=edges[stays],
        faces=np.reshape([face for face in shape.faces.tolist() if v not in face] + merged, (-1, 3)).astype(np.int64),
        root=shape.root[stays],
        length=shape.length[stays],
    )
