"""Which features of two tiles may meet: a warp takes one pair of tiles at a time and holds both in shared memory.

Each lane holds the boxes of one feature of either tile. Features of the one that meet the other's box at all are gone through, and all lanes test
theirs against it; what meets waits in a queue in shared memory, so that the filters behind it, which cost more, run on full warps. Survivors wait in
another, and leave it 32 at a time. A pair is one integer, first feature · 2³² + second.
"""

from typing import Any

import numpy as np

from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import WARPS, cuda, inlined, kernel
from abut.cuda.steps.axes import bound_of, seen_along, widest_gap
from abut.cuda.steps.counters import SURVIVORS, TAKEN, TILE_PAIRS
from abut.cuda.steps.exact_boxes import boxes_meet
from abut.cuda.steps.sets import (
    FIRST_ROW,
    FIRST_TILE,
    LATER,
    QUERY,
    SEARCH_COLUMNS,
    SET_COLUMNS,
    TARGET,
)
from abut.cuda.steps.tile_pairs import meet, tile_box
from abut.cuda.steps.tiles import BOX, EMPTY, IDS, get_box
from abut.cuda.warps import EVERY_LANE, count_below, count_of, index_at, lowest_of, take_places, votes

POINT_ROWS, ID_ROWS = 24, 6
"""Rows of both tiles together: 6 a corner, and one a corner and one for the feature; four corners in all."""
POINTS, IDENTITIES, QUEUE = WARPS * POINT_ROWS * 32, WARPS * ID_ROWS * 32, WARPS * 64
TARGET_MASK = (1 << 32) - 1


@inlined
def _copy(source: Any, at: int, shared: Any, to: int, rows: int, lane: int) -> None:
    for row in range(rows):
        store(shared, to + 32 * row + lane, load(source, at + 32 * row + lane))


@inlined
def shuffle_box(box: Any, lane: int) -> Any:
    """The box of another lane."""
    return (
        cuda.shfl_sync(EVERY_LANE, box[0], lane),
        cuda.shfl_sync(EVERY_LANE, box[1], lane),
        cuda.shfl_sync(EVERY_LANE, box[2], lane),
        cuda.shfl_sync(EVERY_LANE, box[3], lane),
        cuda.shfl_sync(EVERY_LANE, box[4], lane),
        cuda.shfl_sync(EVERY_LANE, box[5], lane),
    )


@inlined
def _share_a_corner(is_face: bool, ids: Any, first: int, second: int) -> bool:
    """first, second: the rows of the corners."""
    a = load(ids, first)
    u, v = load(ids, second), load(ids, second + 32)
    if is_face:
        return (a == u) | (a == v) | (a == load(ids, second + 64))
    b = load(ids, first + 32)
    return (a == u) | (a == v) | (b == u) | (b == v)


@inlined
def _find(
    is_face: bool,
    exact: bool,
    search: int,
    searches: Any,
    sets: Any,
    levels: Any,
    pairs: Any,
    pair_room: int,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
    v_t0: Any,
    v_t1: Any,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    near = cuda.shared.array(POINTS, dtype=np.float32)
    names = cuda.shared.array(IDENTITIES, dtype=np.int32)
    queue = cuda.shared.array(QUEUE, dtype=np.int32)
    leaving = cuda.shared.array(QUEUE, dtype=np.int64)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    query_rows, target_rows = (6, 18) if is_face else (12, 12)
    query_ids, target_ids = (2, 4) if is_face else (3, 3)
    p, i, w = warp * POINT_ROWS * 32, warp * ID_ROWS * 32, warp * 64
    p_target, i_target = p + query_rows * 32, i + query_ids * 32
    at = search * SEARCH_COLUMNS
    query_set, target_set, later = load(searches, at + QUERY), load(searches, at + TARGET), load(searches, at + LATER)
    q_at, t_at = query_set * SET_COLUMNS, target_set * SET_COLUMNS
    total = min(load(counters, TILE_PAIRS + search), pair_room)
    waiting, last = integer(0), integer(-1)
    own, own_tile = EMPTY, EMPTY
    while True:
        taken = take_places(1, lane, counters, TAKEN + search)
        if taken >= total:
            break
        code = load(pairs, search * pair_room + taken)
        q, t = code >> 32, code & TARGET_MASK
        cuda.syncwarp()
        if q != last:
            last = q
            tile = load(sets, q_at + FIRST_TILE) + q
            own, own_tile = get_box(boxes, tile * BOX + lane), tile_box(levels, query_set, q, nodes)
            _copy(points, (load(sets, q_at + FIRST_ROW) + q * query_rows) * 32, near, p, query_rows, lane)
            _copy(ids, tile * IDS, names, i, query_ids, lane)
        tile = load(sets, t_at + FIRST_TILE) + t
        other, other_tile = get_box(boxes, tile * BOX + lane), tile_box(levels, target_set, t, nodes)
        own_in, other_in = meet(own, other_tile), meet(other, own_tile)
        own_mask, other_mask = votes(own_in), votes(other_in)
        if own_mask == 0 or other_mask == 0:
            continue
        _copy(points, (load(sets, t_at + FIRST_ROW) + t * target_rows) * 32, near, p_target, target_rows, lane)
        _copy(ids, tile * IDS, names, i_target, target_ids, lane)
        cuda.syncwarp()
        bound = bound_of(own_tile, other_tile)
        over_targets = count_of(other_mask) <= count_of(own_mask)
        mask = other_mask if over_targets else own_mask
        mine, theirs = (own, other) if over_targets else (other, own)
        mine_in = own_in if over_targets else other_in
        same = later != 0 and q == t
        count = integer(0)
        while mask != 0 or count > 0:
            while mask != 0 and count < 32:
                j = lowest_of(mask)
                mask = mask & (mask - 1)
                hit = mine_in & meet(mine, shuffle_box(theirs, j))
                if same:
                    hit = hit & ((j > lane) == over_targets) & (j != lane)
                hits = votes(hit)
                if hit:
                    place = w + count + count_below(hits, lane)
                    store(queue, place, np.int32((lane << 5 | j) if over_targets else (j << 5 | lane)))
                count += count_of(hits)
            cuda.syncwarp()
            take = min(count, 32)
            count -= take
            keep = lane < take
            first, second = integer(0), integer(0)
            if keep:
                pair = index_at(queue, w + count + lane)
                a, b = pair >> 5, pair & 31
                first, second = index_at(names, i + a), index_at(names, i_target + b)
                corners_a, corners_b = i + 32 + a, i_target + 32 + b
                keep = not _share_a_corner(is_face, names, corners_a, corners_b)
                if exact:
                    if keep:
                        keep = boxes_meet(
                            is_face, near, names, (p + a, corners_a), (p_target + b, corners_b), v_t0, v_t1
                        )
                else:
                    x = seen_along(is_face, near, p + a, p_target + b, 0)
                    y = seen_along(is_face, near, p + a, p_target + b, 1)
                    z = seen_along(is_face, near, p + a, p_target + b, 2)
                    keep = keep & (not widest_gap(is_face, x, y, z) > bound)
            cuda.syncwarp()
            kept = votes(keep)
            if keep:
                if later != 0 and second < first:
                    first, second = second, first
                store(leaving, w + waiting + count_below(kept, lane), first << 32 | second)
            waiting += count_of(kept)
            cuda.syncwarp()
            if waiting >= 32:
                waiting -= 32
                to = take_places(32, lane, counters, SURVIVORS + search)
                if to + lane < room:
                    store(found, search * room + to + lane, load(leaving, w + waiting + lane))
                cuda.syncwarp()
    if waiting > 0:
        to = take_places(waiting, lane, counters, SURVIVORS + search)
        if lane < waiting and to + lane < room:
            store(found, search * room + to + lane, load(leaving, w + lane))


@kernel
def filter_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    levels: Any,
    pairs: Any,
    pair_room: int,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
    v_t0: Any,
    v_t1: Any,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Pairs of a vertex and a face that no axis keeps apart."""
    _find(
        True,
        False,
        search,
        searches,
        sets,
        levels,
        pairs,
        pair_room,
        boxes,
        ids,
        points,
        nodes,
        v_t0,
        v_t1,
        found,
        room,
        counters,
    )


@kernel
def filter_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    levels: Any,
    pairs: Any,
    pair_room: int,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
    v_t0: Any,
    v_t1: Any,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Pairs of edges that no axis keeps apart."""
    _find(
        False,
        False,
        search,
        searches,
        sets,
        levels,
        pairs,
        pair_room,
        boxes,
        ids,
        points,
        nodes,
        v_t0,
        v_t1,
        found,
        room,
        counters,
    )


@kernel
def list_vertex_face(
    search: int,
    searches: Any,
    sets: Any,
    levels: Any,
    pairs: Any,
    pair_room: int,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
    v_t0: Any,
    v_t1: Any,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Pairs of a vertex and a face whose swept boxes meet."""
    _find(
        True,
        True,
        search,
        searches,
        sets,
        levels,
        pairs,
        pair_room,
        boxes,
        ids,
        points,
        nodes,
        v_t0,
        v_t1,
        found,
        room,
        counters,
    )


@kernel
def list_edge_edge(
    search: int,
    searches: Any,
    sets: Any,
    levels: Any,
    pairs: Any,
    pair_room: int,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
    v_t0: Any,
    v_t1: Any,
    found: Any,
    room: int,
    counters: Any,
) -> None:
    """Pairs of edges whose swept boxes meet."""
    _find(
        False,
        True,
        search,
        searches,
        sets,
        levels,
        pairs,
        pair_room,
        boxes,
        ids,
        points,
        nodes,
        v_t0,
        v_t1,
        found,
        room,
        counters,
    )
