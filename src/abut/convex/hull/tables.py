"""What walks and depths read of hulls, laid out in arrays: the planes that bound the regions of features, and who is next to whom.

The Voronoi region of a vertex is bounded by a plane across each of its edges; that of an edge by the two planes across its ends and by a plane for
each of its two faces, through the edge and perpendicular to the face; that of a face by the latter planes of its edges (Lin 1993; Mirtich 1998, §2).
Inside a hull lie pseudo-regions, the cones from the middle over the faces (Peyré 2001, §3.5).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers, frozen
from abut.core.handles import FloatsAt, Integers32At, unpack
from abut.core.jit import element

EDGE_ROW = 16
"""Numbers of an edge: tail (3), unit direction (3), length, then for its left and its right face the unit vector in the face's plane that points
from the edge into the face (3 each), and three unused: two lines of the cache."""

PLANE_ROW = 4
"""Numbers of a face: unit normal outwards, and its distance from the middle: n·x ≤ distance inside."""

SEEDED = 256
"""Hulls of fewer vertices have no seeds: climbs are short there."""

DIRECTIONS: Floats = frozen(np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], dtype=np.float64) - 1.0)
"""(26,3) to the faces, edges and corners of a cube, one of which is within 28° of any direction. The seed of a direction is the vertex farthest
along it."""
SEEDS = len(DIRECTIONS)

SIDE_ROW = 4
"""Numbers of a link from a face to one of its edges: the edge's unit vector into this face, and its product with a point of the edge."""


class View(NamedTuple):
    """What walks and depths read of hulls: arrays, and in kernels pointers to them. Indices are those of all hulls one after the other.

    vertices (v,3), edges (e, EDGE_ROW) and planes (f, PLANE_ROW): float64. Vertex i has the links vertex_starts[i] to vertex_starts[i + 1], each
    with a neighbour and the edge to it. Edge i: tail, head, left face, right face. Face i has the links face_starts[i] to face_starts[i + 1], each
    twice an edge, plus one where the face is on the edge's right. sides (face links, SIDE_ROW) repeats what the planes around a face need.

    Vertex i belongs to a hull whose seeds, SEEDS vertices that are farthest along as many directions, begin at seed_starts[i]; −1 where a hull
    has none. seed_points (s,3) are where they are.

    Climbing reads vertices and neighbours only, 48 bytes a vertex: the hulls of many bodies then stay in the cache nearest but one.
    """

    vertices: FloatsAt
    edges: FloatsAt
    planes: FloatsAt
    sides: FloatsAt
    vertex_starts: Integers32At
    neighbours: Integers32At
    vertex_edges: Integers32At
    edge_links: Integers32At
    face_starts: Integers32At
    face_links: Integers32At
    seed_starts: Integers32At
    seeds: Integers32At
    seed_points: FloatsAt


@element
def open_hulls(handle: Any) -> View:
    """The hulls behind a handle, in a kernel."""
    return unpack(View, handle)


def _group(owners: Integers, count: int) -> tuple[Integers, Integers]:
    """Where each owner's rows start, and the order that puts them together."""
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]), np.argsort(owners, kind="stable")


def tabulate(
    placed: Floats, edges: Integers, sides: Integers, faces: Sequence[tuple[int, ...]], normals: Floats
) -> View:
    """The tables of one hull: vertices relative to the middle, edges (e,2), the faces (e,2) on their sides, polygons and normals."""
    along = placed[edges[:, 1]] - placed[edges[:, 0]]
    length = np.linalg.norm(along, axis=1)
    rows = np.zeros((len(edges), EDGE_ROW))
    rows[:, :3], rows[:, 6] = placed[edges[:, 0]], length
    rows[:, 3:6] = along / length[:, np.newaxis]
    if len(faces):
        rows[:, 7:10] = np.cross(normals[sides[:, 0]], rows[:, 3:6])
        rows[:, 10:13] = np.cross(rows[:, 3:6], normals[sides[:, 1]])
    # A face lies as far out as its farthest vertex: no vertex is outside by the rounding of a normal.
    offsets = [float((placed[list(loop)] @ n).max()) for loop, n in zip(faces, normals, strict=True)]
    planes = np.hstack([normals, np.array(offsets).reshape(-1, 1)])
    numbers = np.arange(len(edges))
    vertex_starts, order = _group(edges.T.ravel(), len(placed))
    neighbours, vertex_edges = edges[:, ::-1].T.ravel()[order], np.tile(numbers, 2)[order]
    known = sides[:, 0] >= 0
    face_starts, face_order = _group(sides[known].T.ravel(), len(faces))
    face_links = np.concatenate([2 * numbers[known], 2 * numbers[known] + 1])[face_order]
    inwards = np.vstack([rows[known, 7:10], rows[known, 10:13]])[face_order]
    tails = (inwards * placed[edges[face_links >> 1, 0]]).sum(axis=1, keepdims=True)
    seeds = (placed @ DIRECTIONS.T).argmax(axis=0) if len(placed) >= SEEDED else np.empty(0, dtype=np.int64)
    seed_starts = np.full(len(placed), 0 if len(seeds) else -1)
    whole = (vertex_starts, neighbours, vertex_edges, np.hstack([edges, sides]), face_starts, face_links)
    floats = (placed, rows, planes, np.hstack([inwards, tails]))
    links = (np.ascontiguousarray(a, dtype=np.int32) for a in (*whole, seed_starts, seeds))
    rest: list[Any] = [*links, placed[seeds]]
    return View(*floats, *rest)
