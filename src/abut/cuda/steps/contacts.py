"""When two features meet: the functions of `ccd.impact`, as they are, in three passes.

First the coplanarity cubic alone, which leaves half of the pairs and needs few registers; then first contact, for full warps of those; then integers
for what floating point leaves, one thread a block with a workspace of its own. Statuses and times are those of the processor, bit for bit.
"""

from typing import Any

import numpy as np

from abut.ccd.impact.coplanarity import coplanarity, coplanarity_noise, has_one_sign
from abut.ccd.impact.exact.decision import decide_exactly
from abut.ccd.impact.first_contact import FREE, HIT, STEPS, UNDECIDED, first_contact
from abut.ccd.impact.relative_paths import relative_paths
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.steps.counters import COPLANAR, HITS, SURVIVORS
from abut.cuda.steps.counters import UNDECIDED as LEFT
from abut.cuda.steps.sets import FIRST_CORNER, QUERY, SEARCH_COLUMNS, SET_COLUMNS, TARGET
from abut.cuda.warps import append, index_at

SECOND_MASK = (1 << 32) - 1
LEAST_SLACK = 2.0**-40
"""As in `ccd.earliest`: a time may be early by so much where the tolerance is less."""
SOLVE_REGISTERS = 80
"""Of 182 that first contact would take: more threads then hide the wait (0.206 ms of 0.33 on an H200)."""


@inlined
def vertex_at(v: Any, vertex: int) -> Any:
    """The place of a vertex."""
    return load(v, 3 * vertex), load(v, 3 * vertex + 1), load(v, 3 * vertex + 2)


@inlined
def corners_of(is_face: bool, code: int, search: int, searches: Any, sets: Any, corners: Any) -> Any:
    """The four vertices of a pair: a vertex and those of a face, or those of two edges."""
    at = search * SEARCH_COLUMNS
    first = load(sets, load(searches, at + QUERY) * SET_COLUMNS + FIRST_CORNER)
    second = load(sets, load(searches, at + TARGET) * SET_COLUMNS + FIRST_CORNER)
    i, j = code >> 32, code & SECOND_MASK
    if is_face:
        k = second + 3 * j
        return index_at(corners, first + i), index_at(corners, k), index_at(corners, k + 1), index_at(corners, k + 2)
    k, m = first + 2 * i, second + 2 * j
    return index_at(corners, k), index_at(corners, k + 1), index_at(corners, m), index_at(corners, m + 1)


@inlined
def _paths_of(
    is_face: bool, code: int, search: int, searches: Any, sets: Any, corners: Any, v_t0: Any, v_t1: Any
) -> Any:
    a, b, c, d = corners_of(is_face, code, search, searches, sets, corners)
    return relative_paths(
        vertex_at(v_t0, a),
        vertex_at(v_t0, b),
        vertex_at(v_t0, c),
        vertex_at(v_t0, d),
        vertex_at(v_t1, a),
        vertex_at(v_t1, b),
        vertex_at(v_t1, c),
        vertex_at(v_t1, d),
    )


@inlined
def _keep_coplanar(
    is_face: bool,
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    lane = cuda.threadIdx.x % 32
    total = min(load(counters, SURVIVORS + search), pair_room)
    for base in range(cuda.grid(1) - lane, total, cuda.gridsize(1)):
        keep, code = False, integer(0)
        if base + lane < total:
            code = load(pairs, search * pair_room + base + lane)
            paths, sizes, _ = _paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
            keep = not has_one_sign(coplanarity(paths), coplanarity_noise(sizes))
        append(keep, code, lane, found, search * room, room, counters, COPLANAR + search)


@inlined
def _solve(
    is_face: bool,
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    lane, begin = cuda.threadIdx.x % 32, search * room
    total = min(load(counters, COPLANAR + search), room)
    for base in range(cuda.grid(1) - lane, total, cuda.gridsize(1)):
        status, time, code = integer(FREE), 2.0, integer(0)
        if base + lane < total:
            code = load(pairs, begin + base + lane)
            paths, sizes, _ = _paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
            status, time = first_contact(is_face, paths, sizes, 1.0, tolerance, STEPS)
        to = append(status == HIT, code, lane, hits, search * hit_room, hit_room, counters, HITS + search)
        if to >= 0:
            store(times, to, time)
            store(statuses, to, np.int8(HIT))
        append(
            status == UNDECIDED,
            code,
            lane,
            undecided,
            search * undecided_room,
            undecided_room,
            counters,
            LEFT + search,
        )


@inlined
def _hurry(
    is_face: bool,
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    """Only what is earlier than the best of all pairs so far is looked for; a pair that is, is solved once more as others are (`ccd.earliest`)."""
    lane, begin = cuda.threadIdx.x % 32, search * room
    total = min(load(counters, COPLANAR + search), room)
    for base in range(cuda.grid(1) - lane, total, cuda.gridsize(1)):
        status, time, code = integer(FREE), 2.0, integer(0)
        if base + lane < total:
            code = load(pairs, begin + base + lane)
            paths, sizes, _ = _paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
            until = min(load(best, 0) + max(2.0 * tolerance, LEAST_SLACK), 1.0)
            status, time = first_contact(is_face, paths, sizes, until, tolerance, STEPS)
            if status == HIT and until < 1.0:
                status, time = first_contact(is_face, paths, sizes, 1.0, tolerance, STEPS)
            if status == HIT and time < load(best, 0):
                cuda.atomic.min(best, 0, time)
        append(
            status == UNDECIDED,
            code,
            lane,
            undecided,
            search * undecided_room,
            undecided_room,
            counters,
            LEFT + search,
        )


@inlined
def _decide(
    is_face: bool,
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    undecided: Any,
    undecided_room: int,
    queries: Any,
    workspaces: Any,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    counters: Any,
) -> None:
    points, w = queries[cuda.blockIdx.x], workspaces[cuda.blockIdx.x]
    total = min(load(counters, LEFT + search), undecided_room)
    for k in range(cuda.blockIdx.x, total, cuda.gridDim.x):
        code = load(undecided, search * undecided_room + k)
        four = corners_of(is_face, code, search, searches, sets, corners)
        for corner in range(4):
            for axis in range(3):
                points[corner, axis] = load(v_t0, 3 * four[corner] + axis)
                points[4 + corner, axis] = load(v_t1, 3 * four[corner] + axis)
        status, time = decide_exactly(is_face, points, w)
        if status != FREE:
            place = integer(cuda.atomic.add(counters, HITS + search, 1))
            if place < hit_room:
                store(hits, search * hit_room + place, code)
                store(times, search * hit_room + place, time)
                store(statuses, search * hit_room + place, np.int8(status))


@kernel
def keep_coplanar_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Of pairs of vertices and faces those that may be coplanar at some time."""
    _keep_coplanar(True, search, searches, sets, corners, v_t0, v_t1, pairs, pair_room, found, room, counters)


@kernel
def keep_coplanar_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    pair_room: int,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Of pairs of edges those that may be coplanar at some time."""
    _keep_coplanar(False, search, searches, sets, corners, v_t0, v_t1, pairs, pair_room, found, room, counters)


@kernel(max_registers=SOLVE_REGISTERS)
def solve_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    """Pairs of vertices and faces that meet, with times, and those that are left to integers."""
    _solve(
        True,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        pairs,
        room,
        tolerance,
        hits,
        times,
        statuses,
        hit_room,
        undecided,
        undecided_room,
        counters,
        best,
    )


@kernel(max_registers=SOLVE_REGISTERS)
def hurry_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    """Pairs of vertices and faces for the earliest time, and those that are left to integers."""
    _hurry(
        True,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        pairs,
        room,
        tolerance,
        hits,
        times,
        statuses,
        hit_room,
        undecided,
        undecided_room,
        counters,
        best,
    )


@kernel(max_registers=SOLVE_REGISTERS)
def solve_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    """Pairs of edges that meet, with times, and those that are left to integers."""
    _solve(
        False,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        pairs,
        room,
        tolerance,
        hits,
        times,
        statuses,
        hit_room,
        undecided,
        undecided_room,
        counters,
        best,
    )


@kernel(max_registers=SOLVE_REGISTERS)
def hurry_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    pairs: Any,
    room: int,
    tolerance: float,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    undecided: Any,
    undecided_room: int,
    counters: Any,
    best: Any,
) -> None:
    """Pairs of edges for the earliest time, and those that are left to integers."""
    _hurry(
        False,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        pairs,
        room,
        tolerance,
        hits,
        times,
        statuses,
        hit_room,
        undecided,
        undecided_room,
        counters,
        best,
    )


@kernel
def decide_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    undecided: Any,
    undecided_room: int,
    queries: Any,
    workspaces: Any,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    counters: Any,
) -> None:
    """Pairs of vertices and faces decided by integers, one thread a block."""
    _decide(
        True,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        undecided,
        undecided_room,
        queries,
        workspaces,
        hits,
        times,
        statuses,
        hit_room,
        counters,
    )


@kernel
def decide_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    undecided: Any,
    undecided_room: int,
    queries: Any,
    workspaces: Any,
    hits: Any,
    times: Any,
    statuses: Any,
    hit_room: int,
    counters: Any,
) -> None:
    """Pairs of edges decided by integers, one thread a block."""
    _decide(
        False,
        search,
        searches,
        sets,
        corners,
        v_t0,
        v_t1,
        undecided,
        undecided_room,
        queries,
        workspaces,
        hits,
        times,
        statuses,
        hit_room,
        counters,
    )
