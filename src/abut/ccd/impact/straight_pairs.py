"""First contact of many pairs whose features move straight: status and time of each, on all threads.

A pair is two features by index, its vertex first if it is a vertex and a face. Blocks of pairs are dealt out to the threads in turn, since hits cost
more than misses and lie in heaps. Each pair is solved by itself, so that no result depends on the number of threads.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.ccd.impact.conservative_advancement import WITHIN_STEPS, first_within
from abut.ccd.impact.exact.decision import decide_undecided
from abut.ccd.impact.exact.integers import workspace
from abut.ccd.impact.exact.tables import EXACT_ROWS
from abut.ccd.impact.first_contact import STEPS, UNDECIDED, first_contact
from abut.ccd.impact.relative_paths import relative_paths
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, parallel, prange, thread_count
from abut.geometry.rows import vector_at

BLOCK = 64

Pairs = NDArray[np.int32]
Statuses = NDArray[np.int8]
Corners = tuple[Any, Any, Any, Any]
"""Four rows of vertices."""


class Side(NamedTuple):
    """One column of pairs: where the vertices are at both ends, and the vertices of each feature (n,2) or (n,3); a vertex is its own."""

    vertices_t0: Floats
    vertices_t1: Floats
    cells: Integers


@kernel
def corners_of(is_face: bool, first: Integers, second: Integers, pairs: Pairs, k: int) -> Corners:
    """The four vertices of pair k: one of the first thing and three of the second, or two of each."""
    i, j = np.int64(pairs[k, 0]), np.int64(pairs[k, 1])
    if is_face:
        return i, second[j, 0], second[j, 1], second[j, 2]
    return first[i, 0], first[i, 1], second[j, 0], second[j, 1]


@kernel
def _solve_one(
    is_face: bool, pairs: Pairs, k: int, first: Side, second: Side, distance: float, t_max: float, tolerance: float
) -> tuple[int, float]:
    p, q, r, s = corners_of(is_face, first.cells, second.cells, pairs, k)
    x, y = (second.vertices_t0, second.vertices_t1) if is_face else (first.vertices_t0, first.vertices_t1)
    paths, sizes, scale = relative_paths(
        vector_at(first.vertices_t0, p),
        vector_at(x, q),
        vector_at(second.vertices_t0, r),
        vector_at(second.vertices_t0, s),
        vector_at(first.vertices_t1, p),
        vector_at(y, q),
        vector_at(second.vertices_t1, r),
        vector_at(second.vertices_t1, s),
    )
    if distance > 0.0:
        return first_within(is_face, paths, sizes, distance * scale, t_max, WITHIN_STEPS)
    return first_contact(is_face, paths, sizes, t_max, tolerance, STEPS)


@parallel
def _solve_all(
    is_face: bool,
    pairs: Pairs,
    first: Side,
    second: Side,
    distance: float,
    t_max: float,
    tolerance: float,
    thread_total: int,
    status: Statuses,
    time: Floats,
) -> None:
    for thread in prange(thread_total):
        for block in range(thread * BLOCK, len(pairs), thread_total * BLOCK):
            for k in range(block, min(block + BLOCK, len(pairs))):
                status[k], time[k] = _solve_one(is_face, pairs, k, first, second, distance, t_max, tolerance)


@kernel
def gather(is_face: bool, pairs: Pairs, first: Side, second: Side, queries: Floats) -> None:
    """The eight points of each pair, (n,8,3), as `ccd.vertex_face` and `ccd.edge_edge` take them."""
    for k in range(len(pairs)):
        corners = corners_of(is_face, first.cells, second.cells, pairs, k)
        for corner in range(4):
            of_first = corner < (1 if is_face else 2)
            for axis in range(3):
                if of_first:
                    queries[k, corner, axis] = first.vertices_t0[corners[corner], axis]
                    queries[k, 4 + corner, axis] = first.vertices_t1[corners[corner], axis]
                else:
                    queries[k, corner, axis] = second.vertices_t0[corners[corner], axis]
                    queries[k, 4 + corner, axis] = second.vertices_t1[corners[corner], axis]


def queries_of(is_face: bool, pairs: Pairs, first: Side, second: Side) -> Floats:
    """The eight points of each pair."""
    queries = np.empty((len(pairs), 8, 3))
    gather(is_face, pairs, first, second, queries)
    return queries


def solve(
    is_face: bool, pairs: Pairs, first: Side, second: Side, distance: float, t_max: float, tolerance: float
) -> tuple[Statuses, Floats]:
    """Status and first time in [0, t_max] of each pair; NEVER where it is FREE. Pairs that floating point leaves are decided by integers.

    distance: 0 for contact, else how near counts as one."""
    status, time = np.empty(len(pairs), dtype=np.int8), np.empty(len(pairs))
    _solve_all(is_face, pairs, first, second, distance, t_max, tolerance, thread_count(), status, time)
    left = np.flatnonzero(status == UNDECIDED)
    if len(left):
        exact_status, exact_time = status[left], time[left]
        queries = queries_of(is_face, pairs[left], first, second)
        decide_undecided(is_face, queries, workspace(EXACT_ROWS), exact_status, exact_time)
        status[left], time[left] = exact_status, exact_time
    return status, time
