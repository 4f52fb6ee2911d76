"""Which tiles meet: a warp walks the target's nodes with the box of one query tile, 32 children at a time, and writes the pairs it finds.

A pair is one integer, query tile · 2³² + target tile. Nodes wait on a stack in shared memory: a node leaves it for at most 32 of the level below, so
31 a level and one more are enough. Pairs wait in a queue until there are 32, which then take their places with one atomic addition.
"""

from typing import Any

import numpy as np

from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import WARPS, cuda, inlined, kernel
from abut.cuda.steps.counters import TILE_PAIRS
from abut.cuda.steps.sets import (
    FIRST_QUERY,
    LATER,
    LEVEL_COLUMNS,
    MOST_LEVELS,
    QUERY,
    SEARCH_COLUMNS,
    TARGET,
)
from abut.cuda.steps.tiles import BOX, get_box
from abut.cuda.warps import count_below, count_of, take_places, votes

STACK = 32 * MOST_LEVELS
LEVEL_SHIFT = 26
NODE_MASK = (1 << LEVEL_SHIFT) - 1
STACKS, QUEUES = WARPS * STACK, WARPS * 64


@inlined
def meet(a: Any, b: Any) -> bool:
    """Whether two boxes meet, touching included."""
    return (a[0] <= b[3]) & (a[1] <= b[4]) & (a[2] <= b[5]) & (a[3] >= b[0]) & (a[4] >= b[1]) & (a[5] >= b[2])


@inlined
def tile_box(levels: Any, own: int, tile: int, nodes: Any) -> Any:
    """The box of a tile of a set."""
    return get_box(nodes, (load(levels, own * LEVEL_COLUMNS + 1) + (tile >> 5)) * BOX + (tile & 31))


@inlined
def _send(queues: Any, at: int, count: int, lane: int, pairs: Any, search: int, room: int, counters: Any) -> None:
    """Write the first `count` ≤ 32 pairs of a queue out."""
    first = take_places(count, lane, counters, TILE_PAIRS + search)
    if lane < count and first + lane < room:
        store(pairs, search * room + first + lane, load(queues, at + lane))
    cuda.syncwarp()


@kernel
def find_tile_pairs(
    searches: Any,
    search_total: int,
    levels: Any,
    nodes: Any,
    begin: int,
    end: int,
    pairs: Any,
    room: int,
    counters: Any,
) -> None:
    """One warp a query tile, of those from `begin` up to `end` among the queries of all searches. room: places of each search in `pairs`."""
    stacks = cuda.shared.array(STACKS, dtype=np.int32)
    queues = cuda.shared.array(QUEUES, dtype=np.int64)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    query = begin + cuda.blockIdx.x * WARPS + warp
    if query >= end:
        return
    search = 0
    while search + 1 < search_total and query >= load(searches, (search + 1) * SEARCH_COLUMNS + FIRST_QUERY):
        search += 1
    at = search * SEARCH_COLUMNS
    tile = query - load(searches, at + FIRST_QUERY)
    target, later = load(searches, at + TARGET), load(searches, at + LATER)
    box = tile_box(levels, load(searches, at + QUERY), tile, nodes)
    stack, queue = warp * STACK, warp * 64
    depth, waiting = integer(1), integer(0)
    if lane == 0:
        store(stacks, stack, np.int32((load(levels, target * LEVEL_COLUMNS) - 1) << LEVEL_SHIFT))
    cuda.syncwarp()
    while depth > 0:
        depth -= 1
        entry = integer(load(stacks, stack + depth))
        cuda.syncwarp()
        level, node = entry >> LEVEL_SHIFT, entry & NODE_MASK
        first = load(levels, target * LEVEL_COLUMNS + 1 + 2 * level)
        child = node * 32 + lane
        hit = meet(box, get_box(nodes, (first + node) * BOX + lane))
        if later != 0:
            hit = hit & (((child + 1) << (5 * level)) > tile)
        mask = votes(hit)
        rank = count_below(mask, lane)
        if level > 0:
            if hit:
                store(stacks, stack + depth + rank, np.int32((level - 1) << LEVEL_SHIFT | child))
            depth += count_of(mask)
            cuda.syncwarp()
        else:
            if hit:
                store(queues, queue + waiting + rank, tile << 32 | child)
            waiting += count_of(mask)
            cuda.syncwarp()
            if waiting >= 32:
                waiting -= 32
                _send(queues, queue + waiting, 32, lane, pairs, search, room, counters)
    if waiting > 0:
        _send(queues, queue, waiting, lane, pairs, search, room, counters)
