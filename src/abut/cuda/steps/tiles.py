"""Tiles of 32 features that are neighbours in space, a warp each, and boxes of tiles, 32 to a node.

Of a tile are kept, 32 numbers a row: the boxes of its features (6 rows), their numbers and corners (4 rows of integers), and the places of their
corners at both ends (6 rows a corner), all in float32 in the frame of the scene. Rounding keeps order (`trees.blocks.swept`): what is apart in
float32 is apart in float64. A node is 6 rows of 32. What stands for no feature has an empty box.
"""

from typing import Any

import numpy as np

from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.steps.ordering import frame_of
from abut.cuda.steps.sets import (
    CORNERS,
    COUNT,
    FIRST_CORNER,
    FIRST_FEATURE,
    FIRST_PADDED,
    FIRST_ROW,
    FIRST_TILE,
    LEVEL_COLUMNS,
    PADDED,
    SET_COLUMNS,
    TILES,
)
from abut.cuda.warps import greatest, index_at, least

BOX = 6 * 32
IDS = 4 * 32
NOTHING = np.float32(np.inf)
ZERO = np.float32(0.0)
EMPTY = (NOTHING, NOTHING, NOTHING, -NOTHING, -NOTHING, -NOTHING)


@inlined
def put_box(boxes: Any, at: int, box: Any) -> None:
    """Write a box of six rows, the place of its first number given."""
    store(boxes, at, box[0])
    store(boxes, at + 32, box[1])
    store(boxes, at + 64, box[2])
    store(boxes, at + 96, box[3])
    store(boxes, at + 128, box[4])
    store(boxes, at + 160, box[5])


@inlined
def get_box(boxes: Any, at: int) -> Any:
    """Read it."""
    return (
        load(boxes, at),
        load(boxes, at + 32),
        load(boxes, at + 64),
        load(boxes, at + 96),
        load(boxes, at + 128),
        load(boxes, at + 160),
    )


@inlined
def _whole(box: Any) -> Any:
    """The box of the warp's boxes."""
    return least(box[0]), least(box[1]), least(box[2]), greatest(box[3]), greatest(box[4]), greatest(box[5])


@inlined
def _put_corner(points: Any, at: int, v: Any, vertex: int, x: float, y: float, z: float, scale: float, box: Any) -> Any:
    """Write a place into three rows; the box grown by it."""
    a = np.float32((load(v, 3 * vertex) - x) * scale)
    b = np.float32((load(v, 3 * vertex + 1) - y) * scale)
    c = np.float32((load(v, 3 * vertex + 2) - z) * scale)
    store(points, at, a)
    store(points, at + 32, b)
    store(points, at + 64, c)
    return min(box[0], a), min(box[1], b), min(box[2], c), max(box[3], a), max(box[4], b), max(box[5], c)


@kernel
def fill_tiles(
    sets: Any,
    set_total: int,
    levels: Any,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    bounds: Any,
    order: Any,
    boxes: Any,
    ids: Any,
    points: Any,
    nodes: Any,
) -> None:
    """One warp a tile, those included that fill up the last node of a set."""
    warp, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    own = 0
    while own + 1 < set_total and warp >= load(sets, (own + 1) * SET_COLUMNS + FIRST_PADDED):
        own += 1
    at = own * SET_COLUMNS
    tile = warp - load(sets, at + FIRST_PADDED)
    if tile >= load(sets, at + PADDED):
        return
    child = (load(levels, own * LEVEL_COLUMNS + 1) + (tile >> 5)) * BOX + (tile & 31)
    if tile >= load(sets, at + TILES):
        if lane < 6:
            store(nodes, child + lane * 32, NOTHING if lane < 3 else -NOTHING)
        return
    x, y, z, scale, _ = frame_of(bounds)
    slot, width = tile * 32 + lane, load(sets, at + CORNERS)
    place = load(sets, at + FIRST_TILE) + tile
    box = EMPTY
    to = (load(sets, at + FIRST_ROW) + tile * 6 * width) * 32 + lane
    if slot < load(sets, at + COUNT):
        feature = index_at(order, load(sets, at + FIRST_FEATURE) + slot)
        store(ids, place * IDS + lane, np.int32(feature))
        for k in range(width):
            vertex = index_at(corners, load(sets, at + FIRST_CORNER) + feature * width + k)
            store(ids, place * IDS + 32 + 32 * k + lane, np.int32(vertex))
            box = _put_corner(points, to + k * 192, v_t0, vertex, x, y, z, scale, box)
            box = _put_corner(points, to + k * 192 + 96, v_t1, vertex, x, y, z, scale, box)
    else:
        for k in range(4):
            store(ids, place * IDS + 32 * k + lane, np.int32(-1))
        for k in range(6 * width):
            store(points, to + k * 32, ZERO)
    put_box(boxes, place * BOX + lane, box)
    box = _whole(box)
    if lane == 0:
        put_box(nodes, child, box)


@kernel
def fill_nodes(set_total: int, levels: Any, nodes: Any) -> None:
    """One block: all levels above the finest, each from the one below."""
    warp, lane, warps = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32, cuda.blockDim.x // 32
    for own in range(set_total):
        at = own * LEVEL_COLUMNS
        for level in range(1, load(levels, at)):
            low, low_count = load(levels, at + 2 * level - 1), load(levels, at + 2 * level)
            first, count = load(levels, at + 2 * level + 1), load(levels, at + 2 * level + 2)
            for child in range(warp, count * 32, warps):
                box = EMPTY
                if child < low_count:
                    box = get_box(nodes, (low + child) * BOX + lane)
                box = _whole(box)
                if lane == 0:
                    put_box(nodes, (first + (child >> 5)) * BOX + (child & 31), box)
            cuda.syncthreads()
