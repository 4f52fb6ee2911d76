"""The second pass: first contact in floating point, for full warps of what may be coplanar. What it leaves open goes to integers."""

from typing import Any

import numpy as np

from abut.ccd.impact.first_contact import FREE, HIT, STEPS, UNDECIDED, first_contact
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.steps.contacts.corners import paths_of
from abut.cuda.steps.counters import COPLANAR, HITS
from abut.cuda.steps.counters import UNDECIDED as LEFT
from abut.cuda.warps import append

LEAST_SLACK = 2.0**-40
"""As in `ccd.earliest`: a time may be early by so much where the tolerance is less."""
SOLVE_REGISTERS = 80
"""Of 182 that first contact would take: more threads then hide the wait (0.206 ms of 0.33 on an H200)."""


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
            paths, sizes, _ = paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
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
            paths, sizes, _ = paths_of(is_face, code, search, searches, sets, corners, v_t0, v_t1)
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
