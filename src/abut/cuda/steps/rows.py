"""Impacts in order, with points and normals: a counting sort by the first feature, then a place among the few of that feature.

Rows stand for the first features of all searches in the order of kinds, so that sorted rows are sorted by kind, a and b. A face-vertex pair was
searched as a vertex of b and a face of a: its face comes first in the answer, and its normal is turned.
"""

from typing import Any

import numpy as np

from abut.ccd.impact.contact_points import contact_point_normal_edge_edge, contact_point_normal_vertex_face
from abut.ccd.results import Kind
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.scan import before
from abut.cuda.steps.contacts.corners import SECOND_MASK, corners_of, vertex_at
from abut.cuda.steps.counters import HITS
from abut.cuda.steps.sets import (
    BEGIN,
    FIRST_CORNER,
    FIRST_HIT_ROW,
    KIND,
    QUERY,
    SEARCH_COLUMNS,
    SET_COLUMNS,
    TURNED,
)
from abut.cuda.warps import index_at

EDGES = int(Kind.EDGE_EDGE)


@inlined
def _features(code: int, search: int, searches: Any) -> Any:
    """The features of an impact as a and b."""
    first, second = code >> 32, code & SECOND_MASK
    return (second, first) if load(searches, search * SEARCH_COLUMNS + TURNED) != 0 else (first, second)


@inlined
def _count(counters: Any, search: int, room: int) -> int:
    return min(load(counters, HITS + search), room)


@kernel
def clear_rows(rows: Any) -> None:
    """No impacts in any row."""
    for i in range(cuda.grid(1), len(rows), cuda.gridsize(1)):
        store(rows, i, np.int32(0))


@kernel
def count_rows(searches: Any, search_total: int, hits: Any, room: int, counters: Any, rows: Any, ranks: Any) -> None:
    """How many impacts each row has, and how many of its row were counted before each."""
    for search in range(search_total):
        first = load(searches, search * SEARCH_COLUMNS + FIRST_HIT_ROW)
        for k in range(cuda.grid(1), _count(counters, search, room), cuda.gridsize(1)):
            a, _ = _features(load(hits, search * room + k), search, searches)
            store(ranks, search * room + k, np.int32(cuda.atomic.add(rows, first + a, 1)))


@kernel
def place_in_rows(
    searches: Any,
    search_total: int,
    hits: Any,
    room: int,
    counters: Any,
    rows: Any,
    sums: Any,
    ranks: Any,
    order: Any,
    seconds: Any,
) -> None:
    """order: which impact comes to each place, rows after one another; seconds: its second feature."""
    for search in range(search_total):
        first = load(searches, search * SEARCH_COLUMNS + FIRST_HIT_ROW)
        for k in range(cuda.grid(1), _count(counters, search, room), cuda.gridsize(1)):
            a, b = _features(load(hits, search * room + k), search, searches)
            to = before(rows, sums, first + a) + index_at(ranks, search * room + k)
            store(order, to, search * room + k)
            store(seconds, to, np.int32(b))


@kernel
def sort_rows(
    searches: Any,
    search_total: int,
    row_total: int,
    hits: Any,
    room: int,
    counters: Any,
    rows: Any,
    sums: Any,
    order: Any,
    seconds: Any,
    ordered: Any,
) -> None:
    """ordered: the same with the impacts of each row by their second features; a thread counts which of the row come before its own."""
    total = integer(0)
    for search in range(search_total):
        total += _count(counters, search, room)
    for k in range(cuda.grid(1), total, cuda.gridsize(1)):
        place = load(order, k)
        search = place // room
        a, _ = _features(load(hits, place), search, searches)
        row = load(searches, search * SEARCH_COLUMNS + FIRST_HIT_ROW) + a
        low = before(rows, sums, row)
        high = before(rows, sums, row + 1) if row + 1 < row_total else total
        own, rank = load(seconds, k), integer(0)
        for j in range(low, high):
            if load(seconds, j) < own:
                rank += 1
        store(ordered, low + rank, place)


@inlined
def _numbered(search: int, vertex: int, searches: Any, sets: Any, corners: Any) -> int:
    """A vertex of a search as its mesh numbers it; the sets leave out vertices that no face has."""
    own = load(searches, search * SEARCH_COLUMNS + QUERY) * SET_COLUMNS
    return index_at(corners, load(sets, own + FIRST_CORNER) + vertex) - load(sets, own + BEGIN)


@kernel
def describe(
    searches: Any,
    search_total: int,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    hits: Any,
    times: Any,
    statuses: Any,
    room: int,
    counters: Any,
    ordered: Any,
    kind_out: Any,
    a_out: Any,
    b_out: Any,
    time_out: Any,
    point_out: Any,
    normal_out: Any,
    status_out: Any,
) -> None:
    """The fields of `Impacts`."""
    total = integer(0)
    for search in range(search_total):
        total += _count(counters, search, room)
    for k in range(cuda.grid(1), total, cuda.gridsize(1)):
        place = load(ordered, k)
        search = place // room
        at = search * SEARCH_COLUMNS
        code, time, kind = load(hits, place), load(times, place), load(searches, at + KIND)
        first, second = code >> 32, code & SECOND_MASK
        if kind == EDGES:
            p, q, r, s = corners_of(False, code, search, searches, sets, corners)
            point, normal = contact_point_normal_edge_edge(
                vertex_at(v_t0, p),
                vertex_at(v_t0, q),
                vertex_at(v_t0, r),
                vertex_at(v_t0, s),
                vertex_at(v_t1, p),
                vertex_at(v_t1, q),
                vertex_at(v_t1, r),
                vertex_at(v_t1, s),
                time,
            )
        else:
            p, q, r, s = corners_of(True, code, search, searches, sets, corners)
            point, normal = contact_point_normal_vertex_face(
                vertex_at(v_t0, p),
                vertex_at(v_t0, q),
                vertex_at(v_t0, r),
                vertex_at(v_t0, s),
                vertex_at(v_t1, p),
                vertex_at(v_t1, q),
                vertex_at(v_t1, r),
                vertex_at(v_t1, s),
                time,
            )
            first = _numbered(search, first, searches, sets, corners)
        turned = load(searches, at + TURNED) != 0
        store(kind_out, k, np.int8(kind))
        store(a_out, k, second if turned else first)
        store(b_out, k, first if turned else second)
        store(time_out, k, time)
        store(status_out, k, load(statuses, place))
        for axis in range(3):
            store(point_out, 3 * k + axis, point[axis])
            store(normal_out, 3 * k + axis, -normal[axis] if turned else normal[axis])


@kernel
def find_earliest(search_total: int, times: Any, room: int, counters: Any, best: Any) -> None:
    """The least time of all impacts."""
    for search in range(search_total):
        for k in range(cuda.grid(1), _count(counters, search, room), cuda.gridsize(1)):
            time = load(times, search * room + k)
            if time < load(best, 0):
                cuda.atomic.min(best, 0, time)


@kernel
def number_pairs(
    search: int, searches: Any, sets: Any, corners: Any, begin: int, total: int, codes: Any, out: Any
) -> None:
    """Rows (a, b) of sorted candidates, `total` codes from `begin` on; codes of a turned search hold the face of a first already."""
    at = search * SEARCH_COLUMNS
    turned, kind = load(searches, at + TURNED) != 0, load(searches, at + KIND)
    for k in range(cuda.grid(1), total, cuda.gridsize(1)):
        code = load(codes, begin + k)
        a, b = code >> 32, code & SECOND_MASK
        if kind != EDGES:
            if turned:
                b = _numbered(search, b, searches, sets, corners)
            else:
                a = _numbered(search, a, searches, sets, corners)
        store(out, 2 * k, np.int32(a))
        store(out, 2 * k + 1, np.int32(b))


@kernel
def turn_pairs(begin: int, total: int, codes: Any) -> None:
    """Second · 2³² + first in the place of first · 2³² + second."""
    for k in range(cuda.grid(1), total, cuda.gridsize(1)):
        code = load(codes, begin + k)
        store(codes, begin + k, (code & SECOND_MASK) << 32 | code >> 32)
