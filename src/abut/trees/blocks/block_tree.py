"""Blocks: swept primitives in runs of 16 along a curve, with a tree sixteen wide over the runs, all as structures of arrays in float32.

Block b holds the primitives of the slots 16b … 16b + 15. Its boxes are 96 numbers: lo of the three tree columns, then hi, 16 lanes each.
A node has the same layout; lane s of node g of level 0 is the box of block 16g + s, lane s of node g of level l that of node 16g + s of
level l − 1. Levels lie one after the other; nothing points anywhere. Empty lanes have lo = ∞ and hi = −∞ and meet nothing.

Beside the boxes, for blocks and for nodes of level 0: `swept`, the intervals of the volume's further columns (column, lo and hi, 16 lanes),
and `ends`, the extents along the 13 directions of the 26-DOP at t = 0 and at t = 1 apart (direction, lo_t0, lo_t1, hi_t0, hi_t1, 16 lanes).

Swept intervals are float32 twins in the sense of `swept`. Ends are rounded outwards: see PAD.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats
from abut.core.handles import Floats32At, FloatsAt, Integers32At, pack, unpack
from abut.core.jit import element, inlined, kernel, parallel, prange
from abut.core.lanes import greatest, least, load_16, maximum, minimum, splat_16
from abut.core.lanes import store as store_lanes
from abut.core.scratch import load, reserve_floats32, store
from abut.trees.blocks.hilbert import CELLS, DIGIT, find_places, sort_keys, state_table
from abut.trees.blocks.memory import Memory, Order
from abut.trees.blocks.swept import Frame, Indices, Moving, Small, sweep_vertices
from abut.trees.volumes.kdop import DIRECTIONS, LENGTHS

WIDTH = 16
BOX = 6 * WIDTH  # numbers of a block's boxes
DIRECTION_COUNT = 13
END = 4 * WIDTH  # numbers of one direction of `ends`
ENDS = DIRECTION_COUNT * END
MAX_LEVELS = 8  # 16⁹ slots are more than int32 can number

# A coordinate of the frame is rounded to float32 (2⁻²⁴ of itself), a sum of three is rounded twice (2⁻²⁴ of Σ|x| each), and so is the sum of
# a bound and its pad: 4·2⁻²⁴·Σ|x| at most, where Σ|x| is the sum over the three coordinates, and 2⁻¹⁵⁰ a term below the smallest normal number.
PAD = np.float32(6.0 * 2.0**-24)
TINY_PAD = np.float32(2.0**-140)
GROWTH = 1.0 + 2.0**-20  # a reach rounded to float32, and its sum with a bound, stay at least the reach


class View(NamedTuple):
    """What a kernel sees of blocks: pointers, to be read with `load`, and sizes.

    ids (slots,): the primitives, −1 in empty lanes. node_ids (nodes of level 0, 16): the largest of each block. corners (corner_count, slots):
    their vertices. motion, elements, placed, intervals: see `swept`.
    """

    boxes: Floats32At
    nodes: Floats32At
    ids: Integers32At
    node_ids: Integers32At
    corners: Integers32At
    swept: Floats32At
    node_swept: Floats32At
    ends: Floats32At
    node_ends: Floats32At
    motion: FloatsAt
    elements: Integers32At
    placed: Floats32At
    intervals: Floats32At
    primitive_count: int
    block_count: int
    corner_count: int
    columns: int
    has_ends: int


LEVEL_COUNT = len(View._fields)
"""Where a handle goes on behind the view: the number of levels of nodes, then where each of them begins, and where the last ends."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of one kind of primitive of one body. `handle` is what kernels take; it is valid as long as the arrays live."""

    handle: NDArray[np.int64]
    arrays: tuple[NDArray[Any], ...]
    count: int
    block_count: int
    node_count: int

    @property
    def byte_count(self) -> int:
        """The memory of its arrays."""
        return sum(array.nbytes for array in self.arrays)


@element
def open_blocks(handle: Any) -> View:
    """The blocks behind a handle, in a kernel."""
    return unpack(View, handle)


@element
def level_start(handle: Any, level: int) -> int:
    """The first node of a level; of the level after the last, the number of nodes."""
    return handle[LEVEL_COUNT + 1 + level]


@element
def level_count(handle: Any) -> int:
    """The number of levels of nodes."""
    return handle[LEVEL_COUNT]


# ---- filling


@inlined
def _fill_lane(view: View, block: int, lane: int, i: int) -> None:
    """Write primitive i, or nothing (−1), into a lane of a block."""
    slot = block * WIDTH + lane
    slots = view.block_count * WIDTH
    store(view.ids, slot, np.int32(i))
    for corner in range(view.corner_count):
        vertex = load(view.elements, i * view.corner_count + corner) if i >= 0 else np.int32(-1)
        store(view.corners, corner * slots + slot, np.int32(vertex))
    for column in range(view.columns):
        lo, hi = np.float32(np.inf), np.float32(-np.inf)
        if i >= 0:
            for corner in range(view.corner_count):
                vertex = load(view.elements, i * view.corner_count + corner)
                at = (vertex * view.columns + column) * 2
                lo, hi = min(lo, load(view.intervals, at)), max(hi, load(view.intervals, at + 1))
        if column < 3:
            store(view.boxes, block * BOX + column * WIDTH + lane, lo)
            store(view.boxes, block * BOX + (column + 3) * WIDTH + lane, hi)
        else:
            at = (block * (view.columns - 3) + column - 3) * 2 * WIDTH + lane
            store(view.swept, at, lo)
            store(view.swept, at + WIDTH, hi)


@inlined
def _join(source: Any, at: int, target: Any, lo_at: int, hi_at: int, hi_from: int) -> None:
    """Write the least of 16 lanes and the greatest of 16 others into one lane each."""
    store(target, lo_at, least(load_16(source, at)))
    store(target, hi_at, greatest(load_16(source, hi_from)))


@inlined
def _fill_node(view: View, block: int) -> None:
    """Write the box of a block, and its largest index, into its lane of its node."""
    node, lane = block // WIDTH, block % WIDTH
    largest = load(view.ids, block * WIDTH)
    for slot in range(block * WIDTH + 1, block * WIDTH + WIDTH):
        largest = max(largest, load(view.ids, slot))
    store(view.node_ids, block, largest)
    for column in range(3):
        at = block * BOX + column * WIDTH
        to = node * BOX + column * WIDTH + lane
        _join(view.boxes, at, view.nodes, to, to + 3 * WIDTH, at + 3 * WIDTH)
    extra = view.columns - 3
    for column in range(extra):
        at = (block * extra + column) * 2 * WIDTH
        to = (node * extra + column) * 2 * WIDTH + lane
        _join(view.swept, at, view.node_swept, to, to + WIDTH, at + WIDTH)


@inlined
def _fill_ends(view: View, block: int, reaches: Small) -> None:
    """Write the extents of a block's primitives at both ends, and of the block into its lane of its node. Empty lanes repeat lane 0."""
    points = reserve_floats32(288)  # 3 corners, 6 coordinates, 16 lanes
    slots = view.block_count * WIDTH
    for corner in range(view.corner_count):
        for lane in range(WIDTH):
            slot = block * WIDTH + lane
            vertex = load(view.corners, corner * slots + (slot if slot < view.primitive_count else block * WIDTH))
            for k in range(6):
                store(points, (corner * 6 + k) * WIDTH + lane, load(view.placed, vertex * 6 + k))
    node, own_lane = block // WIDTH, block % WIDTH
    for end in range(2):
        size = splat_16(np.float32(0.0))
        for corner in range(view.corner_count):
            at = (corner * 6 + 3 * end) * WIDTH
            total = abs(load_16(points, at)) + abs(load_16(points, at + WIDTH)) + abs(load_16(points, at + 2 * WIDTH))
            size = maximum(size, total)
        pad = size * splat_16(PAD) + splat_16(TINY_PAD)
        for d in range(DIRECTION_COUNT):
            x, y, z = (
                splat_16(np.float32(DIRECTIONS[d, 0])),
                splat_16(np.float32(DIRECTIONS[d, 1])),
                splat_16(np.float32(DIRECTIONS[d, 2])),
            )
            lo, hi = splat_16(np.float32(np.inf)), splat_16(np.float32(-np.inf))
            for corner in range(view.corner_count):
                at = (corner * 6 + 3 * end) * WIDTH
                along = load_16(points, at) * x + load_16(points, at + WIDTH) * y + load_16(points, at + 2 * WIDTH) * z
                lo, hi = minimum(lo, along), maximum(hi, along)
            grown = pad + splat_16(reaches[d])
            lo, hi = lo - grown, hi + grown
            at = block * ENDS + d * END + end * WIDTH
            store_lanes(view.ends, at, lo)
            store_lanes(view.ends, at + 2 * WIDTH, hi)
            to = node * ENDS + d * END + end * WIDTH + own_lane
            store(view.node_ends, to, least(lo))
            store(view.node_ends, to + 2 * WIDTH, greatest(hi))


@kernel
def _fill_level(handle: NDArray[np.int64], level: int) -> None:
    """Write the boxes of the nodes of the level below."""
    view = open_blocks(handle)
    below, start, end = level_start(handle, level - 1), level_start(handle, level), level_start(handle, level + 1)
    for node in range(end - start):
        for lane in range(WIDTH):
            child = node * WIDTH + lane
            for column in range(3):
                to = (start + node) * BOX + column * WIDTH + lane
                if child < start - below:
                    at = (below + child) * BOX + column * WIDTH
                    _join(view.nodes, at, view.nodes, to, to + 3 * WIDTH, at + 3 * WIDTH)
                else:
                    store(view.nodes, to, np.float32(np.inf))
                    store(view.nodes, to + 3 * WIDTH, np.float32(-np.inf))


@parallel
def _order(handles: NDArray[np.int64], firsts: NDArray[np.int64], cells: float, table: Any, keys: Any) -> None:
    """Sort the primitives of each set along the curve, each set by itself. keys: (2, total); the result is in the second row."""
    counts = np.zeros((len(handles), 3, DIGIT), dtype=np.int64)
    for k in prange(len(handles)):
        view = open_blocks(handles[k])
        own = keys[0, firsts[k] : firsts[k + 1]]
        find_places(view.intervals, view.columns, view.elements, view.corner_count, cells, table, own)
        sort_keys(own, keys[1, firsts[k] : firsts[k + 1]], counts[k])


@parallel
def _fill(handles: NDArray[np.int64], owners: Any, firsts: NDArray[np.int64], reaches: Small, keys: Any) -> None:
    """Fill blocks and nodes of level 0 of all sets. owners: (nodes, 2) set and node."""
    for task in prange(len(owners)):
        k, node = owners[task, 0], owners[task, 1]
        view = open_blocks(handles[k])
        for lane in range(WIDTH):
            block = node * WIDTH + lane
            if block < view.block_count:
                for slot in range(block * WIDTH, block * WIDTH + WIDTH):
                    i = keys[firsts[k] + slot] & 0xFFFFFFFF if slot < view.primitive_count else -1
                    _fill_lane(view, block, slot - block * WIDTH, i)
                _fill_node(view, block)
                if view.has_ends:
                    _fill_ends(view, block, reaches)
            else:
                for column in range(3):
                    store(view.nodes, node * BOX + column * WIDTH + lane, np.float32(np.inf))
                    store(view.nodes, node * BOX + (column + 3) * WIDTH + lane, np.float32(-np.inf))


# ---- building


def _allocate(
    count: int,
    elements: Indices,
    vertices: tuple[NDArray[Any], ...],
    columns: int,
    ends: bool,
    memory: Memory,
    name: Any,
) -> Blocks:
    block_count = -(-count // WIDTH)
    starts, size = [0], block_count
    while True:
        size = -(-size // WIDTH)
        starts.append(starts[-1] + size)
        if size <= 1:
            break
    nodes, corner_count, extra = starts[1], elements.shape[1], columns - 3
    shapes = (
        (block_count, BOX),
        (starts[-1], BOX),
        (block_count * WIDTH,),
        (nodes, WIDTH),
        (corner_count, block_count * WIDTH),
        (block_count, extra, 2 * WIDTH),
        (nodes, extra, 2 * WIDTH),
        (block_count if ends else 0, ENDS),
        (nodes if ends else 0, ENDS),
    )
    kinds = (np.float32, np.float32, np.int32, np.int32, np.int32, *[np.float32] * 4)
    motion, placed, intervals = vertices
    own = [memory.array((name, k), shape, kind) for k, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))]
    arrays = (*own, motion, elements, placed, intervals)
    handle = np.zeros(LEVEL_COUNT + 1 + MAX_LEVELS + 2, dtype=np.int64)
    handle[:LEVEL_COUNT] = pack(View, *arrays, count, block_count, corner_count, columns, int(ends))
    handle[LEVEL_COUNT : LEVEL_COUNT + 1 + len(starts)] = (len(starts) - 1, *starts)
    return Blocks(handle, arrays, count, block_count, starts[-1])


class Primitives(NamedTuple):
    """The blocks of a body's vertices, edges and faces."""

    vertices: Blocks
    edges: Blocks
    faces: Blocks


def build(
    bodies: list[Moving], frame: Frame, columns: int, *, ends: bool, memory: Memory | None = None
) -> list[Primitives]:
    """The blocks of every body, over the swept intervals of `columns` directions; with the extents at both ends if `ends`.

    memory: what the blocks lie in; the next build in it writes over them."""
    memory = Memory() if memory is None else memory
    built: list[Primitives] = []
    for which, body in enumerate(bodies):
        n = len(body.positions_t0)
        vertices = (
            memory.array((which, "motion"), (n, 6), np.float64),
            memory.array((which, "placed"), (n, 6), np.float32),
            memory.array((which, "intervals"), (n, columns, 2), np.float32),
        )
        sweep_vertices(body, frame, *vertices)
        sets = [
            _allocate(len(e), e, vertices, columns, ends, memory, (which, corners))
            for corners, e in enumerate(memory.elements(which, body))
        ]
        built.append(Primitives(*sets))
    _order_and_fill([blocks for body in built for blocks in body], frame, columns, memory)
    return built


def build_boxes(boxes: Floats, intervals: Small, frame: Frame) -> Blocks:
    """The blocks of boxes (n,6), each what a point sweeps from corner to corner; their intervals (n,3,2) in the frame."""
    memory, elements = Memory(), np.arange(len(boxes), dtype=np.int32)[:, None]
    own = _allocate(len(boxes), elements, (boxes, intervals[:0], intervals), 3, False, memory, 0)
    _order_and_fill([own], frame, 3, None)
    return own


def _find_order(handles: NDArray[np.int64], firsts: NDArray[np.int64], frame: Frame, columns: int) -> NDArray[np.int64]:
    """Keys of all sets, one after the other, each set along the curve."""
    keys = np.empty((2, firsts[-1]), dtype=np.int64)
    # The tree columns of the 8-DOP and the 12-DOP are sums of three and two coordinates.
    spread = {4: 3.0, 6: 2.0}.get(columns, 1.0)
    _order(handles, firsts, (CELLS / 2 - 1) / (frame.half * spread), state_table(), keys)
    return keys[1]


def _firsts(sets: list[Blocks]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([blocks.count for blocks in sets])])


def _size(sets: list[Blocks], frame: Frame) -> float:
    """The sum of the lengths of the sides of all blocks, in the world."""
    total = 0.0
    for blocks in sets:
        boxes = blocks.arrays[1].reshape(-1, 6, WIDTH)[: -(-blocks.block_count // WIDTH)]
        sides = boxes[:, 3:] - boxes[:, :3]
        total += float(np.maximum(sides, 0.0).sum(dtype=np.float64))
    return total / frame.scale


def _order_and_fill(sets: list[Blocks], frame: Frame, columns: int, memory: Memory | None) -> None:
    """Sort each set along the curve, or take the order that is kept, and write its blocks and nodes."""
    handles, firsts = np.stack([blocks.handle for blocks in sets]), _firsts(sets)
    node_counts = [-(-blocks.block_count // WIDTH) for blocks in sets]
    owners = np.stack([np.repeat(np.arange(len(sets)), node_counts), np.concatenate([*map(np.arange, node_counts)])])
    owners = owners.T.astype(np.int32)
    reaches = np.array([frame.margin * length * frame.scale * GROWTH for length in LENGTHS], dtype=np.float32)

    def fill(keys: NDArray[np.int64]) -> None:
        _fill(handles, owners, firsts, reaches, keys)

    shape = tuple(blocks.count for blocks in sets)
    order = None if memory is None else memory.order
    fits = False
    if order is not None and order.serves(shape):
        order.age += 1
        fill(order.keys)
        fits = order.fits(_size(sets, frame))
    if not fits:
        keys = _find_order(handles, firsts, frame, columns)
        fill(keys)
        if memory is not None:
            memory.order = Order(keys, shape, _size(sets, frame))
    for blocks in sets:
        for level in range(1, int(blocks.handle[LEVEL_COUNT])):
            _fill_level(blocks.handle, level)
