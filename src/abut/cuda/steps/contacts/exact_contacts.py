"""The third pass: integers for what floating point left, one thread a block with a workspace of its own."""

from typing import Any

import numpy as np

from abut.ccd.impact.exact.decision import decide_exactly
from abut.ccd.impact.first_contact import FREE
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.steps.contacts.corners import corners_of
from abut.cuda.steps.counters import HITS
from abut.cuda.steps.counters import UNDECIDED as LEFT


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
