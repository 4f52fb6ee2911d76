"""Which primitives of the target's blocks meet each primitive of one query block: 256 pairs a step, at three grains.

The tree is walked breadth-first with the query block's box, which gives the target blocks it meets (block against block). Each query lane is
then tested against those blocks, sixteen at a time (lane against block), and against the sixteen lanes of each block that is left (lane
against lane). Every grain asks the same questions, cheapest first: boxes, the volume's further intervals, the extents at both ends.

Extents: two primitives that are apart along a direction at t = 0 and at t = 1, in the same order, are apart all the time, since projections
move linearly (Wan 2022, §2.2, with the 13 directions of the 26-DOP in the place of five). Intervals swept over the step cull far less.

A pair that float32 cannot decide (see `swept`) is decided in float64, so the pairs found are exactly those of the float64 volumes. With extents,
which are rounded outwards anyway, such a pair is kept.
"""

from typing import Any, NamedTuple

from abut.core.jit import element, inlined, kernel
from abut.core.lanes import (
    bits,
    count_bits,
    load_16,
    load_indices_16,
    lowest_bit,
    splat_16,
    splat_index_16,
    store_chosen,
    store_pairs,
)
from abut.core.scratch import load
from abut.trees.blocks.block_tree import (
    BOX,
    DIRECTION_COUNT,
    END,
    ENDS,
    WIDTH,
    View,
    level_count,
    level_start,
    open_blocks,
)
from abut.trees.blocks.swept import Indices, meet_exactly

Box = tuple[float, float, float, float, float, float]
ALL = (1 << WIDTH) - 1

MOST_OF_BLOCKS = WIDTH * WIDTH + WIDTH
"""Rows that `write_pairs` asks for before it goes into a target block: what two blocks may make, and what a store writes over."""

EVERY, LATER, LARGER = 0, 1, 2
"""Which pairs a query primitive makes: all (of two sets); or, of one set with itself, each once, with those of later slots or larger indices."""


class Rules(NamedTuple):
    """What a search leaves out. order: EVERY, LATER or LARGER. adjacent: whether primitives that share a vertex are left out
    (a vertex and faces, edges and edges, or edges and faces). margin: half."""

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
def _smallest_index(q: View, block: int) -> Any:
    smallest = load(q.ids, block * WIDTH)
    for slot in range(block * WIDTH + 1, min(block * WIDTH + WIDTH, q.primitive_count)):
        smallest = min(smallest, load(q.ids, slot))
    return smallest


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
    smallest = _smallest_index(q, block)
    for x in range(count):
        node = int(lists[row, x])
        mask = _meet_boxes(t.nodes, node * BOX, box)
        if rules.order == LATER and node == node_q:
            mask &= ALL << lane_q
        if rules.order == LARGER:
            mask &= bits(splat_index_16(smallest) < load_indices_16(t.node_ids, node * WIDTH))
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
def _equal(corners: Any, at: int, vertex: Any) -> int:
    return bits(load_indices_16(corners, at) == vertex)


@inlined
def _share_vertex(q: View, slot: int, t: View, first: int) -> int:
    """The lanes from slot `first` on that share a vertex with the query's primitive: faces with a vertex, edges or faces with an edge."""
    slots_q, slots_t = q.block_count * WIDTH, t.block_count * WIDTH
    a = splat_index_16(load(q.corners, slot))
    shared = _equal(t.corners, first, a) | _equal(t.corners, slots_t + first, a)
    if q.corner_count == 1:
        return shared | _equal(t.corners, 2 * slots_t + first, a)
    b = splat_index_16(load(q.corners, slots_q + slot))
    shared |= _equal(t.corners, first, b) | _equal(t.corners, slots_t + first, b)
    if t.corner_count == 3:
        shared |= _equal(t.corners, 2 * slots_t + first, a) | _equal(t.corners, 2 * slots_t + first, b)
    return shared


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
def match_lane(q: View, block: int, lane: int, t: View, other: int, rules: Rules) -> int:
    """The lanes of a target block that make a pair with one query lane."""
    box = _read_box(q.boxes, block * BOX + lane)
    mask, certain = _meet_boxes(t.boxes, other * BOX, box), _overlap_boxes(t.boxes, other * BOX, box)
    # Most boxes that get here meet: going on with an empty mask costs less than a branch that is often mispredicted.
    slot, first = block * WIDTH + lane, other * WIDTH
    if rules.order == LATER and other == block:
        mask &= ALL << (lane + 1)
    if rules.order == LARGER:
        mask &= bits(splat_index_16(load(q.ids, slot)) < load_indices_16(t.ids, first))
    if rules.adjacent:
        mask &= ~_share_vertex(q, slot, t, first)
    extra, stride = q.columns - 3, (q.columns - 3) * 2 * WIDTH
    if extra > 0:
        mask = _meet_swept(t.swept, other * stride, q.swept, block * stride + lane, extra, mask)
    if q.has_ends:
        return _meet_ends(t.ends, other * ENDS, q.ends, block * ENDS + lane, mask) if mask != 0 else 0
    if extra > 0:
        certain = _overlap_swept(t.swept, other * stride, q.swept, block * stride + lane, extra, certain)
    if mask & ~certain != 0:
        mask = _decide(q, slot, t, first, rules.margin, mask, mask & ~certain)
    return mask


@inlined
def meet_lanes(q: View, block: int, t: View, node: int, lane_t: int, rules: Rules) -> int:
    """The query lanes that meet the box of a target block, lane `lane_t` of a node."""
    mask = _meet_boxes(q.boxes, block * BOX, _read_box(t.nodes, node * BOX + lane_t))
    if rules.order == LARGER:
        largest = splat_index_16(load(t.node_ids, node * WIDTH + lane_t))
        mask &= bits(load_indices_16(q.ids, block * WIDTH) < largest)
    extra = q.columns - 3
    if mask != 0 and extra > 0:
        stride = extra * 2 * WIDTH
        mask = _meet_swept(q.swept, block * stride, t.node_swept, node * stride + lane_t, extra, mask)
    if mask != 0 and q.has_ends:
        mask = _meet_ends(q.ends, block * ENDS, t.node_ends, node * ENDS + lane_t, mask)
    return mask


@kernel
def collect(
    query: Any,
    target: Any,
    rules: Rules,
    block: int,
    lanes: int,
    nodes: Indices,
    masks: Indices,
    count: int,
    stride: int,
    found: Indices,
    lengths: Any,
) -> None:
    """Write what each query lane of the mask `lanes` meets to found[rank·stride:], in the order of the mask's bits; lengths[rank] of them.

    The stride must have room for 16 entries a target block and 16 more, which are written over."""
    q, t = open_blocks(query), open_blocks(target)
    first = lowest_bit(lanes)
    for rank in range(WIDTH):
        lengths[rank] = 0
    for x in range(count):
        node, mask = int(nodes[x]), int(masks[x])
        while mask != 0:
            lane_t = lowest_bit(mask)
            mask &= mask - 1
            other = node * WIDTH + lane_t
            here = lanes & meet_lanes(q, block, t, node, lane_t, rules)
            while here != 0:
                lane = lowest_bit(here)
                here &= here - 1
                chosen = match_lane(q, block, lane, t, other, rules)
                rank = lane - first
                store_chosen(found, rank * stride + lengths[rank], load_indices_16(t.ids, other * WIDTH), chosen)
                lengths[rank] += count_bits(chosen)


@element
def lanes_at_once(first: int, last: int, stride: int, room: int) -> int:
    """The mask of as many lanes from `first` on, up to `last`, as have room for a stride each; one lane has."""
    count = min(last - first, max(1, room // stride))
    return ((1 << count) - 1) << first


@kernel
def write_pairs(
    query: Any, target: Any, rules: Rules, block: int, nodes: Indices, masks: Indices, place: Any, pairs: Any, at: int
) -> int:
    """Write what a query block meets to rows of `pairs` from `at` on, as it is found; return the row behind.

    place (2,): an entry of `nodes`, and a lane below which its mask is done. The search goes on there, and stops before a target block whose
    pairs might not fit; it is at the end of the list when all are done. With LATER the smaller index comes first."""
    q, t = open_blocks(query), open_blocks(target)
    ordered = int(rules.order == LATER)
    while place[0] < len(nodes):
        node = int(nodes[place[0]])
        mask = (int(masks[place[0]]) >> place[1]) << place[1]
        while mask != 0:
            lane_t = lowest_bit(mask)
            mask &= mask - 1
            if at + MOST_OF_BLOCKS > len(pairs):
                place[1] = lane_t
                return at
            other = node * WIDTH + lane_t
            here = meet_lanes(q, block, t, node, lane_t, rules)
            ids = load_indices_16(t.ids, other * WIDTH)
            while here != 0:
                lane = lowest_bit(here)
                here &= here - 1
                chosen = match_lane(q, block, lane, t, other, rules)
                at += store_pairs(pairs, at, load(q.ids, block * WIDTH + lane), ids, chosen, ordered)
        place[0] += 1
        place[1] = 0
    return at
