"""Whether surfaces pass through each other at t = 0: edges against faces, each with exact signs, as in `ccd.contact_at_start`.

The tiles are those of the step, so that pairs of tiles are those that meet at some time; boxes of features at t = 0 leave few of them.
"""

from typing import Any

import numpy as np

from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda import memory
from abut.cuda.device import THREADS, WARPS, blocks_for, constant, cuda, empty, grid, inlined, kernel
from abut.cuda.steps.contacts.corners import vertex_at
from abut.cuda.steps.counters import COUNTERS, TAKEN, TILE_PAIRS
from abut.cuda.steps.lane_pairs import TARGET_MASK, shuffle_box
from abut.cuda.steps.program import Program
from abut.cuda.steps.sets import (
    FIRST_ROW,
    FIRST_TILE,
    QUERY,
    SEARCH_COLUMNS,
    SET_COLUMNS,
    TARGET,
    TILES,
    crossing_searches,
)
from abut.cuda.steps.tile_pairs import find_tile_pairs, meet
from abut.cuda.steps.tiles import EMPTY, IDS
from abut.cuda.warps import index_at, lowest_of, take_places, votes
from abut.geometry.crossings import meet_segment_triangle

NAMES = WARPS * 6 * 32
HEADROOM = 1.25
REGISTERS = 128
"""Of 254 that the exact signs would take: few pairs come to them."""


@inlined
def _box_at_start(points: Any, at: int, corners: int) -> Any:
    """The box of a feature at t = 0, its first coordinate given by its place."""
    box = EMPTY
    for k in range(corners):
        x, y, z = load(points, at + 192 * k), load(points, at + 192 * k + 32), load(points, at + 192 * k + 64)
        box = min(box[0], x), min(box[1], y), min(box[2], z), max(box[3], x), max(box[4], y), max(box[5], z)
    return box


@inlined
def _pass_through(names: Any, edge: int, face: int, v: Any) -> bool:
    """Whether an edge meets a face that it shares no vertex with; the places of their first corners in shared memory."""
    a, b = index_at(names, edge), index_at(names, edge + 32)
    c, d, e = index_at(names, face), index_at(names, face + 32), index_at(names, face + 64)
    if (a == c) | (a == d) | (a == e) | (b == c) | (b == d) | (b == e):
        return False
    return meet_segment_triangle(vertex_at(v, a), vertex_at(v, b), vertex_at(v, c), vertex_at(v, d), vertex_at(v, e))


@kernel(max_registers=REGISTERS)
def find_crossing(
    search: int,
    searches: Any,
    sets: Any,
    pairs: Any,
    room: int,
    ids: Any,
    points: Any,
    v: Any,
    found: Any,
    counters: Any,
) -> None:
    """Set found[0] where an edge of a query tile meets a face of a target tile. A warp takes a pair of tiles; a lane has an edge."""
    names = cuda.shared.array(NAMES, dtype=np.int32)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    here = warp * 192
    query = load(searches, search * SEARCH_COLUMNS + QUERY) * SET_COLUMNS
    target = load(searches, search * SEARCH_COLUMNS + TARGET) * SET_COLUMNS
    total = min(load(counters, TILE_PAIRS + search), room)
    while True:
        taken = take_places(1, lane, counters, TAKEN + search)
        if taken >= total or votes(load(found, 0) != 0) != 0:  # all lanes alike: they go on together
            break
        code = load(pairs, search * room + taken)
        q, t = code >> 32, code & TARGET_MASK
        cuda.syncwarp()
        for k in range(3):
            at = (load(sets, target + FIRST_TILE) + t) * IDS + 32 * k + 32
            store(names, here + 96 + 32 * k + lane, load(ids, at + lane))
            at = (load(sets, query + FIRST_TILE) + q) * IDS + 32 * k
            store(names, here + 32 * k + lane, load(ids, at + lane))
        cuda.syncwarp()
        own = load(names, here + lane) >= 0
        edge, face = EMPTY, EMPTY
        if own:
            edge = _box_at_start(points, (load(sets, query + FIRST_ROW) + q * 12) * 32 + lane, 2)
        is_face = load(names, here + 96 + lane) >= 0
        if is_face:
            face = _box_at_start(points, (load(sets, target + FIRST_ROW) + t * 18) * 32 + lane, 3)
        mask = votes(is_face)
        while mask != 0:
            j = lowest_of(mask)
            mask = mask & (mask - 1)
            if meet(edge, shuffle_box(face, j)) and own and _pass_through(names, here + 32 + lane, here + 96 + j, v):
                store(found, 0, integer(1))
            cuda.syncwarp()


def has_crossing(program: Program) -> bool:
    """Whether surfaces pass through each other at the beginning of the step that was done last."""
    own, stream = program.own, memory.stream()
    table = crossing_searches(own.sets)
    searches, queries = constant(table), int(sum(own.sets[row[QUERY], TILES] for row in table))
    counters, found = memory.zeros((COUNTERS,), np.int64), memory.zeros((1,), np.int64)
    room = max(1024, program.rooms.tile_pairs)
    while True:
        pairs = empty(len(table) * room, np.int64)
        find_tile_pairs[blocks_for(32 * queries), THREADS, stream](
            searches, len(table), program.levels, program.nodes, 0, queries, pairs, room, counters
        )
        needed = int(memory.to_host(memory.Window(counters).take(COUNTERS))[TILE_PAIRS : TILE_PAIRS + len(table)].max())
        if needed <= room:
            break
        room, counters = int(needed * HEADROOM), memory.zeros((COUNTERS,), np.int64)
    for search in range(len(table)):
        find_crossing[grid(4), THREADS, stream](
            search,
            searches,
            program.sets,
            pairs,
            room,
            program.ids,
            program.points,
            program.v[0],
            found,
            counters,
        )
    return bool(memory.to_host(memory.Window(found).take(1))[0])
