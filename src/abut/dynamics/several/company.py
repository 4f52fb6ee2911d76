"""All mobiles of a step as one table of vertices, edges and faces, and what of them meets on straight ways.

Pairs come from the boxes that primitives sweep (`broad`), wherever these are: simultaneous motion may take an edge past a corner of the free cells,
where no cell would remember it. Primitives of one mobile with a common vertex are not paired.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.broad import overlapping_pairs
from abut.ccd import EDGE_EDGE, VERTEX_FACE
from abut.ccd.queries import edge_edge, vertex_face
from abut.cells import Mobile
from abut.cells.space.planar import raise_points
from abut.core.arrays import Floats, Integers


class Company(NamedTuple):
    """Vertices of all mobiles one after another, and what they carry."""

    edges: Integers
    faces: Integers
    """(m,3); in the plane there are none, and vertices meet edges"""
    owner: Integers
    """(n,) the mobile of each vertex"""
    vertex_start: Integers
    """(bodies + 1,) where the vertices of each begin; likewise edges and faces"""
    edge_start: Integers
    face_start: Integers
    in_plane: bool


class Hits(NamedTuple):
    """Pairs of primitives that meet on straight ways."""

    kind: NDArray[np.int8]
    a: Integers
    """the vertex, or the edge"""
    b: Integers
    """the face (in the plane the edge), or the edge"""
    corners: Integers
    """(k,4) the vertices of a, then of b; in the plane the last is the third again"""
    time: Floats


def assemble(bodies: Sequence[Mobile]) -> Company:
    """The company of some mobiles."""
    vertex_start = np.cumsum([0, *map(len, bodies)])
    edge_start = np.cumsum([0, *(len(body.edges) for body in bodies)])
    face_start = np.cumsum([0, *(len(body.faces) for body in bodies)])
    edges = [body.edges + first for body, first in zip(bodies, vertex_start, strict=False)]
    faces = [body.faces + first for body, first in zip(bodies, vertex_start, strict=False)]
    owner = np.repeat(np.arange(len(bodies)), [len(body) for body in bodies])
    in_plane = bodies[0].environment.dimension == 2
    return Company(np.concatenate(edges), np.concatenate(faces), owner, vertex_start, edge_start, face_start, in_plane)


def places_of(bodies: Sequence[Mobile]) -> Floats:
    """(n,3) where the vertices of all are."""
    return np.concatenate([body.shape.position for body in bodies])


def raised(company: Company, points: Sequence[Floats]) -> Floats:
    """(n,3) points of all mobiles, z 0 in the plane."""
    joined = np.concatenate(points)
    return raise_points(joined) if company.in_plane else joined


def _boxes(rows: Integers, begin: Floats, end: Floats) -> Floats:
    both = np.concatenate((begin[rows], end[rows]), axis=1)
    return np.concatenate((both.min(axis=1), both.max(axis=1)), axis=1)


def _pair_up(first: Integers, second: Integers, begin: Floats, end: Floats) -> Integers:
    """(k,2) rows of two tables of vertices whose swept boxes meet and that share no vertex; of one table where both are the same."""
    if not len(first) or not len(second):
        return np.empty((0, 2), np.int64)
    boxes = _boxes(first, begin, end)
    if first is second:
        pairs = overlapping_pairs(boxes)
    else:
        both = overlapping_pairs(np.concatenate((boxes, _boxes(second, begin, end))))
        pairs = both[(both[:, 0] < len(first)) & (both[:, 1] >= len(first))] - [0, len(first)]
    shared = (first[pairs[:, 0]][:, :, np.newaxis] == second[pairs[:, 1]][:, np.newaxis]).any(axis=(1, 2))
    return pairs[~shared]


def find_hits(company: Company, begin: Floats, end: Floats, moving: NDArray[np.bool_] | None = None) -> Hits:
    """What meets while all vertices go straight from `begin` to `end` (n,3), the earliest first. Touching counts; nothing is missed, no time is late.

    With `moving`, a mark for each vertex, only pairs with such a vertex are asked.
    """
    vertices = np.arange(len(begin))[:, np.newaxis]
    sides = company.edges if company.in_plane else company.faces
    tables = []
    faces = _pair_up(vertices, sides, begin, end)
    edges = np.empty((0, 2), np.int64) if company.in_plane else _pair_up(company.edges, company.edges, begin, end)
    for kind, pairs, first, second in (
        (VERTEX_FACE, faces, vertices, sides),
        (EDGE_EDGE, edges, company.edges, company.edges),
    ):
        corners = np.concatenate((first[pairs[:, 0]], second[pairs[:, 1]]), axis=1)
        if corners.shape[1] == 3:
            corners = corners[:, [0, 1, 2, 2]]
        if moving is not None:
            asked = moving[corners].any(axis=1)
            pairs, corners = pairs[asked], corners[asked]
        queries = _queries(company, corners, begin, end)
        verdict = (vertex_face if kind == VERTEX_FACE and not company.in_plane else edge_edge)(queries)
        hit = verdict.hit
        kinds = np.full(int(hit.sum()), kind, np.int8)
        tables.append((kinds, pairs[hit, 0], pairs[hit, 1], corners[hit], verdict.time[hit]))
    kind, a, b, corners, time = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    order = np.lexsort((b, a, kind, time))
    return Hits(kind[order], a[order], b[order], corners[order], time[order])


def _queries(company: Company, corners: Integers, begin: Floats, end: Floats) -> Floats:
    """(k,8,3) for `ccd.queries`; in the plane an upright edge through each vertex, and the edge."""
    if not company.in_plane:
        return np.concatenate((begin[corners], end[corners]), axis=1)
    up, ends = np.array([0.0, 0.0, 1.0]), []
    for points in (begin, end):
        v = points[corners[:, 0]]
        ends.append(np.stack((v - up, v + up, points[corners[:, 1]], points[corners[:, 2]]), axis=1))
    return np.concatenate(ends, axis=1)
