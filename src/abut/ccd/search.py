"""Which primitives of the target's blocks meet each primitive of one query block: 256 pairs a step, at three grains.

The tree is walked breadth-first with the query block's box, which gives the target blocks it meets (block against block). Each query lane is
then tested against those blocks, sixteen at a time (lane against block), and against the sixteen lanes of each block that is left (lane
against lane). Every grain asks the same questions, cheapest first: boxes, the volume's further intervals, the extents at both ends.

Extents: two primitives that are apart along a direction at t = 0 and at t = 1, in the same order, are apart all the time, since projections
move linearly (Wan 2022, §2.2, with the 13 directions of the 26-DOP in the place of five). Intervals swept over the step cull far less.

A pair that float32 cannot decide (see `swept`) is decided in float64, so the pairs found are exactly those of the float64 volumes, less those
that the extents cull.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.ccd.blocks import BOX, DIRECTION_COUNT, END, ENDS, WIDTH, View, level_count, level_start, open_blocks
from abut.ccd.swept import Indices, meet_exactly
from abut.jit import element, inlined, kernel
from abut.lanes import (
    bits,
    count_bits,
    load_16,
    load_indices_16,
    lowest_bit,
    splat_16,
    splat_index_16,
    store_chosen,
)
from abut.scratch import load

Box = tuple[float, float, float, float, float, float]
ALL = (1 << WIDTH) - 1

EVERY, LATER, SMALLER = 0, 1, 2
"""Which pairs of one set with itself: all (two sets), those of a later slot (each once), those of a smaller index (each once)."""


class Rules(NamedTuple):
    """What a search leaves out. order: EVERY, LATER or SMALLER. adjacent: whether primitives that share a vertex are left out. margin: half."""

    order: int
    adjacent: bool
    margin: float


@inlined
def _read_box(boxes: Any, at: int) -> Box:
    return (
        load(boxes, at),
        load(boxes, at + WIDTH),
        load(boxes, at + 2 * WIDTH),
        load(boxes, at + 3 * WIDTH),
        load(boxes, at + 4 * WIDTH),
        load(boxes, at + 5 * WIDTH),
    )


@inlined
def _meet_boxes(boxes: Any, at: int, box: Box) -> int:
    """Bits of the 16 boxes that a box meets (touching counts)."""
    return bits(
        (load_16(boxes, at) <= splat_16(box[3]))
        & (load_16(boxes, at + WIDTH) <= splat_16(box[4]))
        & (load_16(boxes, at + 2 * WIDTH) <= splat_16(box[5]))
        & (load_16(boxes, at + 3 * WIDTH) >= splat_16(box[0]))
        & (load_16(boxes, at + 4 * WIDTH) >= splat_16(box[1]))
        & (load_16(boxes, at + 5 * WIDTH) >= splat_16(box[2]))
    )


@inlined
def _overlap_boxes(boxes: Any, at: int, box: Box) -> int:
    """Bits of the 16 boxes that a box meets in more than a point along every column: those are certain."""
    return bits(
        (load_16(boxes, at) < splat_16(box[3]))
        & (load_16(boxes, at + WIDTH) < splat_16(box[4]))
        & (load_16(boxes, at + 2 * WIDTH) < splat_16(box[5]))
        & (load_16(boxes, at + 3 * WIDTH) > splat_16(box[0]))
        & (load_16(boxes, at + 4 * WIDTH) > splat_16(box[1]))
        & (load_16(boxes, at + 5 * WIDTH) > splat_16(box[2]))
    )


@inlined
def _meet_swept(swept: Any, at: int, other: Any, other_at: int, extra: int, mask: int) -> int:
    """Of 16 lanes those that meet another primitive's intervals along the further columns."""
    for column in range(extra):
        lo, hi = load(other, other_at + 2 * WIDTH * column), load(other, other_at + 2 * WIDTH * column + WIDTH)
        here = at + 2 * WIDTH * column
        mask &= bits((load_16(swept, here) <= splat_16(hi)) & (load_16(swept, here + WIDTH) >= splat_16(lo)))
        if mask == 0:
            break
    return mask


@inlined
def _overlap_swept(swept: Any, at: int, other: Any, other_at: int, extra: int, mask: int) -> int:
    for column in range(extra):
        lo, hi = load(other, other_at + 2 * WIDTH * column), load(other, other_at + 2 * WIDTH * column + WIDTH)
        here = at + 2 * WIDTH * column
        mask &= bits((load_16(swept, here) < splat_16(hi)) & (load_16(swept, here + WIDTH) > splat_16(lo)))
    return mask


@inlined
def _meet_ends(ends: Any, at: int, other: Any, other_at: int, mask: int) -> int:
    """Of 16 lanes those that no direction separates from another primitive at both ends in the same order."""
    for d in range(DIRECTION_COUNT):
        here, there = at + d * END, other_at + d * END
        before = (load_16(ends, here) > splat_16(load(other, there + 2 * WIDTH))) & (
            load_16(ends, here + WIDTH) > splat_16(load(other, there + 3 * WIDTH))
        )
        behind = (load_16(ends, here + 2 * WIDTH) < splat_16(load(other, there))) & (
            load_16(ends, here + 3 * WIDTH) < splat_16(load(other, there + WIDTH))
        )
        mask &= ~bits(before | behind)
        if mask == 0:
            break
    return mask


@kernel
def _list_nodes(target: Any, box: Box, first: int, lists: Indices) -> tuple[int, int]:
    """Nodes of level 0 that may hold blocks from `first` on that meet the box: their number, and which row of `lists` (2, nodes) holds them."""
    nodes = open_blocks(target).nodes
    count, row = 1, 0
    lists[0, 0] = 0
    for level in range(level_count(target) - 1, 0, -1):
        start, least_child, found = level_start(target, level), first >> (4 * level), 0
        for x in range(count):
            node = int(lists[row, x])
            mask = _meet_boxes(nodes, (start + node) * BOX, box)
            while mask != 0:
                child = node * WIDTH + lowest_bit(mask)
                mask &= mask - 1
                if child >= least_child:
                    lists[1 - row, found] = child
                    found += 1
        count, row = found, 1 - row
    return count, row


@element
def _largest_index(q: View, block: int) -> Any:
    largest = np.int32(-1)
    for slot in range(block * WIDTH, block * WIDTH + WIDTH):
        largest = max(largest, load(q.ids, slot))
    return largest


@kernel
def list_blocks(
    query: Any, target: Any, rules: Rules, block: int, lists: Indices, masks: Indices
) -> tuple[int, int, int]:
    """The target blocks that a query block meets, as nodes and masks of their lanes: row of `lists`, number of nodes, number of blocks."""
    q, t = open_blocks(query), open_blocks(target)
    node_q, lane_q = block // WIDTH, block % WIDTH
    box = _read_box(q.nodes, node_q * BOX + lane_q)
    first = block if rules.order == LATER else 0
    count, row = _list_nodes(target, box, first, lists)
    extra, found, block_count = q.columns - 3, 0, 0
    largest = _largest_index(q, block)
    for x in range(count):
        node = int(lists[row, x])
        mask = _meet_boxes(t.nodes, node * BOX, box)
        if rules.order == LATER and node == node_q:
            mask &= ALL << lane_q
        if rules.order == SMALLER:
            mask &= bits(load_indices_16(t.node_ids, node * WIDTH) < splat_index_16(largest))
        if mask != 0 and extra > 0:
            stride = extra * 2 * WIDTH
            mask = _meet_swept(t.node_swept, node * stride, q.node_swept, node_q * stride + lane_q, extra, mask)
        if mask != 0 and q.has_ends:
            mask = _meet_ends(t.node_ends, node * ENDS, q.node_ends, node_q * ENDS + lane_q, mask)
        if mask != 0:
            lists[row, found] = node
            masks[found] = mask
            found += 1
            block_count += count_bits(mask)
    return row, found, block_count


@inlined
def _leave_adjacent(q: View, slot: int, t: View, first: int, mask: int) -> int:
    """Of 16 lanes from slot `first` those that share no vertex with the query's primitive."""
    slots_q, slots_t = q.block_count * WIDTH, t.block_count * WIDTH
    for corner in range(q.corner_count):
        vertex = splat_index_16(load(q.corners, corner * slots_q + slot))
        for other in range(t.corner_count):
            mask &= ~bits(load_indices_16(t.corners, other * slots_t + first) == vertex)
    return mask


@kernel
def _decide(q: View, slot: int, t: View, first: int, margin: float, mask: int, undecided: int) -> int:
    """Take out of a mask the undecided lanes whose float64 intervals are apart."""
    a = int(load(q.ids, slot))
    while undecided != 0:
        lane = lowest_bit(undecided)
        undecided &= undecided - 1
        b = int(load(t.ids, first + lane))
        if not meet_exactly(
            q.motion, q.elements, q.corner_count, a, t.motion, t.elements, t.corner_count, b, q.columns, margin
        ):
            mask &= ~(1 << lane)
    return mask


@inlined
def _match_block(q: View, block: int, lane: int, t: View, other: int, rules: Rules, box: Box) -> int:
    """The lanes of a target block that make a pair with one query lane."""
    mask = _meet_boxes(t.boxes, other * BOX, box)
    if mask == 0:
        return 0
    slot, first = block * WIDTH + lane, other * WIDTH
    if rules.order == LATER and other == block:
        mask &= ALL << (lane + 1)
    if rules.order == SMALLER:
        mask &= bits(load_indices_16(t.ids, first) < splat_index_16(load(q.ids, slot)))
    if rules.adjacent:
        mask = _leave_adjacent(q, slot, t, first, mask)
    if mask == 0:
        return 0
    certain = _overlap_boxes(t.boxes, other * BOX, box)
    extra = q.columns - 3
    if extra > 0:
        stride = extra * 2 * WIDTH
        mask = _meet_swept(t.swept, other * stride, q.swept, block * stride + lane, extra, mask)
        certain = _overlap_swept(t.swept, other * stride, q.swept, block * stride + lane, extra, certain)
    if mask != 0 and q.has_ends:
        mask = _meet_ends(t.ends, other * ENDS, q.ends, block * ENDS + lane, mask)
    if mask & ~certain != 0:
        mask = _decide(q, slot, t, first, rules.margin, mask, mask & ~certain)
    return mask


@inlined
def collect(
    query: Any,
    target: Any,
    rules: Rules,
    block: int,
    lane: int,
    nodes: Indices,
    masks: Any,
    count: int,
    found: Any,
    at: int,
) -> int:
    """Write the target primitives that make a pair with one query lane to found[at:]; return the end. 16 more entries may be written."""
    q, t = open_blocks(query), open_blocks(target)
    box = _read_box(q.boxes, block * BOX + lane)
    extra, own = q.columns - 3, splat_index_16(load(q.ids, block * WIDTH + lane))
    for x in range(count):
        node = int(nodes[x])
        mask = int(masks[x]) & _meet_boxes(t.nodes, node * BOX, box)
        if rules.order == SMALLER:
            mask &= bits(load_indices_16(t.node_ids, node * WIDTH) < own)
        if mask != 0 and extra > 0:
            stride = extra * 2 * WIDTH
            mask = _meet_swept(t.node_swept, node * stride, q.swept, block * stride + lane, extra, mask)
        if mask != 0 and q.has_ends:
            mask = _meet_ends(t.node_ends, node * ENDS, q.ends, block * ENDS + lane, mask)
        while mask != 0:
            other = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            chosen = _match_block(q, block, lane, t, other, rules, box)
            if chosen != 0:
                store_chosen(found, at, load_indices_16(t.ids, other * WIDTH), chosen)
                at += count_bits(chosen)
    return at
