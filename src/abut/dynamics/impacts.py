"""Mobiles that meet one another, or themselves, on their paths through a step: pairs that share a cell, tested over the motion.

`cells.find_meetings` finds what meets at the end of a step. Here the pairs of vertices and faces, and of edges and edges, that share a cell at some
time (`cells.mobile.meeting.shared_cells`) go to the exact test of continuous collision (`ccd.queries`): none is missed, no time is late. All
vertices are taken to move at once, straight and at constant speed, from where they were to where they are.

In the plane vertices meet edges: an edge in the plane meets an upright one through the vertex.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.ccd import EDGE_EDGE, VERTEX_FACE
from abut.ccd.queries import edge_edge, vertex_face
from abut.cells import Mobile
from abut.cells.mobile.meeting.shared_cells import Passing, find_passing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import ROWS_SHOWN, count, describe, table_html
from abut.core.types import PointsLike


@dataclass(frozen=True, eq=False)
class BodyImpacts:
    """Primitives of mobiles that meet during a step, one row per pair, the earliest first."""

    kind: NDArray[np.int8]
    """`ccd.VERTEX_FACE` (in the plane: a vertex and an edge) or `ccd.EDGE_EDGE`"""
    body_a: Integers
    a: Integers
    """the vertex or the edge of that mobile"""
    body_b: Integers
    b: Integers
    """the face or the edge"""
    time: Floats
    """from 0 to 1, never late"""
    candidate_count: int
    """pairs that were tested"""

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "impact"), f"{self.candidate_count:,} candidates")

    def _repr_html_(self) -> str:
        names = ("kind", "body_a", "a", "body_b", "b", "time")
        return table_html(repr(self), names, [getattr(self, name)[:ROWS_SHOWN].tolist() for name in names], len(self))


def find_impacts(bodies: Sequence[Mobile], positions_t0: Sequence[PointsLike]) -> BodyImpacts:
    """What mobiles of one environment hit of one another, or of themselves, during the step that they have just made.

    Touching counts, at the beginning too. Primitives of one mobile with a common vertex are not tested. A mobile must have the vertices
    that it had at the beginning: where an adaptive response has inserted or removed some, its array is refused.

    Args:
        bodies: the mobiles, where they are at the end of the step.
        positions_t0: for each, (n, dimension) where its vertices were at the beginning.

    Examples:
        >>> from abut import cells, dynamics
        >>> room = cells.channel(2, 2, 2)  # two unit cubes a side
        >>> low = cells.Mobile(room, ([[0.5, 1, 1], [1.5, 1, 1]], [[0, 1]]))
        >>> high = cells.Mobile(room, ([[1, 0.5, 1.5], [1, 1.5, 1.5]], [[0, 1]]))
        >>> before = [low.position, high.position]
        >>> moves = high.move(high.position - [0, 0, 1])  # through the other rod
        >>> hits = dynamics.find_impacts([low, high], before)
        >>> hits.body_a.tolist(), hits.body_b.tolist(), hits.time.round(6).tolist()
        ([0], [1], [0.5])
    """
    passing = find_passing(bodies, positions_t0)
    faces = vertex_face(_queries(passing, passing.vertex_face)) if passing.faces.shape[1] == 3 else None
    if faces is None:
        faces = edge_edge(_upright_queries(passing))
    edges = edge_edge(_queries(passing, passing.edge_edge))
    tables = [
        _columns_of(
            VERTEX_FACE, passing.vertex_face[faces.hit], faces.time[faces.hit], passing.vertex_start, passing.face_start
        ),
        _columns_of(
            EDGE_EDGE, passing.edge_edge[edges.hit], edges.time[edges.hit], passing.edge_start, passing.edge_start
        ),
    ]
    kind, body_a, a, body_b, b, time = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    order = np.lexsort((b, body_b, a, body_a, kind, time))
    rows = [frozen(column[order]) for column in (kind, body_a, a, body_b, b, time)]
    return BodyImpacts(*rows, candidate_count=len(passing.vertex_face) + len(passing.edge_edge))


def _queries(passing: Passing, pairs: Integers) -> Floats:
    """(n,8,3) the four points of each pair, at the beginning and at the end."""
    if pairs is passing.edge_edge:
        rows = np.concatenate((passing.edges[pairs[:, 0]], passing.edges[pairs[:, 1]]), axis=1)
    else:
        rows = np.concatenate((pairs[:, :1], passing.faces[pairs[:, 1]]), axis=1)
    return np.concatenate((passing.vertices_t0[rows], passing.vertices_t1[rows]), axis=1)


def _upright_queries(passing: Passing) -> Floats:
    """(n,8,3) in the plane: an upright edge through each vertex, and the edge."""
    vertex, edge = passing.vertex_face[:, 0], passing.edges[passing.vertex_face[:, 1]]
    up = np.array([0.0, 0.0, 1.0])
    ends = [
        np.stack((points[vertex] - up, points[vertex] + up, points[edge[:, 0]], points[edge[:, 1]]), axis=1)
        for points in (passing.vertices_t0, passing.vertices_t1)
    ]
    return np.concatenate(ends, axis=1)


def _columns_of(kind: int, pairs: Integers, time: Floats, start_a: Integers, start_b: Integers) -> tuple[Any, ...]:
    """Columns in the numbers of each mobile."""
    body_a = np.searchsorted(start_a, pairs[:, 0], "right") - 1
    body_b = np.searchsorted(start_b, pairs[:, 1], "right") - 1
    kinds = np.full(len(pairs), kind, np.int8)
    return kinds, body_a, pairs[:, 0] - start_a[body_a], body_b, pairs[:, 1] - start_b[body_b], time
