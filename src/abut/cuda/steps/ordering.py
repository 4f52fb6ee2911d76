"""Features in the order of a Hilbert curve through the middles of their swept boxes: a counting sort of our own, which a graph can hold.

Each set has its own 2^bits cells of the curve. Within a cell the order is free: it decides how fast a search is, never what it finds.
"""

import math
from typing import Any

import numpy as np

from abut.core.arrays import LARGEST_COORDINATE
from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined, kernel
from abut.cuda.scan import before
from abut.cuda.steps.counters import BAD_ROW, HITS, NO_ROW
from abut.cuda.steps.sets import CORNERS, COUNT, FIRST_CORNER, FIRST_FEATURE, SET_COLUMNS
from abut.cuda.warps import greatest, index_at, least
from abut.trees.blocks.hilbert import CELLS, LEVELS, place_of

EXTENT = 0.25
"""Half the size of the scene in float32: sums of three coordinates stay below 1."""
PLACE_BITS = 3 * LEVELS
Box = tuple[float, float, float, float, float, float]


@inlined
def _read(given: Any, place: int, end: int, counters: Any) -> float:
    """A coordinate as it was given; 0 for one that is not finite or too large, whose row is noted."""
    x = load(given, place)
    if not abs(x) <= LARGEST_COORDINATE:
        cuda.atomic.min(counters, BAD_ROW + end, place // 3)
        x = 0.0
    return x


@kernel
def clear(bounds: Any, counters: Any, cells: Any, rows: Any, best: Any) -> None:
    """Everything as it is before a step."""
    first, stride = cuda.grid(1), cuda.gridsize(1)
    if first < 6:
        store(bounds, first, math.inf if first < 3 else -math.inf)
    if first == 0:
        store(best, 0, math.inf)
    for i in range(first, len(counters), stride):
        store(counters, i, NO_ROW if i >= BAD_ROW else 0)
    for i in range(first, len(cells), stride):
        store(cells, i, np.int32(0))
    for i in range(first, len(rows), stride):
        store(rows, i, np.int32(0))


@kernel
def begin_part(counters: Any) -> None:
    """Stages begin anew, impacts go on."""
    for i in range(cuda.grid(1), HITS, cuda.gridsize(1)):
        store(counters, i, 0)


@kernel
def set_counters(values: Any, counters: Any) -> None:
    """Write all counters."""
    for i in range(cuda.grid(1), len(counters), cuda.gridsize(1)):
        store(counters, i, load(values, i))


@kernel
def read_vertices(given_t0: Any, given_t1: Any, v_t0: Any, v_t1: Any, counters: Any) -> None:
    """Copy both ends of the step in, checked."""
    for i in range(cuda.grid(1), len(v_t0), cuda.gridsize(1)):
        store(v_t0, i, _read(given_t0, i, 0, counters))
        store(v_t1, i, _read(given_t1, i, 1, counters))


@inlined
def _grow(box: Box, v: Any, vertex: int) -> Box:
    x, y, z = load(v, 3 * vertex), load(v, 3 * vertex + 1), load(v, 3 * vertex + 2)
    return min(box[0], x), min(box[1], y), min(box[2], z), max(box[3], x), max(box[4], y), max(box[5], z)


@kernel
def find_bounds(sets: Any, set_total: int, corners: Any, v_t0: Any, v_t1: Any, bounds: Any) -> None:
    """The box of all vertices that are features, at both ends."""
    box = (math.inf, math.inf, math.inf, -math.inf, -math.inf, -math.inf)
    for own in range(0, set_total, 3):
        at, count = load(sets, own * SET_COLUMNS + FIRST_CORNER), load(sets, own * SET_COLUMNS + COUNT)
        for i in range(cuda.grid(1), count, cuda.gridsize(1)):
            vertex = index_at(corners, at + i)
            box = _grow(_grow(box, v_t0, vertex), v_t1, vertex)
    x, y, z = least(box[0]), least(box[1]), least(box[2])
    u, v, w = greatest(box[3]), greatest(box[4]), greatest(box[5])
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.min(bounds, 0, x)
        cuda.atomic.min(bounds, 1, y)
        cuda.atomic.min(bounds, 2, z)
        cuda.atomic.max(bounds, 3, u)
        cuda.atomic.max(bounds, 4, v)
        cuda.atomic.max(bounds, 5, w)


@inlined
def frame_of(bounds: Any) -> tuple[float, float, float, float, float]:
    """Origin and scale of float32 coordinates, (x − origin)·scale, a power of two; and half the size of the scene in the world."""
    lx, ly, lz, hx, hy, hz = (
        load(bounds, 0) * 0.5,
        load(bounds, 1) * 0.5,
        load(bounds, 2) * 0.5,
        load(bounds, 3) * 0.5,
        load(bounds, 4) * 0.5,
        load(bounds, 5) * 0.5,
    )
    half = max(hx - lx, hy - ly, hz - lz)
    exponent = max(integer(math.frexp(half)[1]), -1000) if half > 0.0 else integer(0)
    return lx + hx, ly + hy, lz + hz, math.ldexp(EXTENT, int(-exponent)), half


@inlined
def _cell(low: float, high: float, origin: float, cells: float) -> int:
    """The coordinate of a middle on the grid of the curve."""
    return min(max(integer(((low + high) * 0.5 - origin) * cells) + CELLS // 2, 0), CELLS - 1)


@inlined
def set_of(sets: Any, set_total: int, feature: int) -> int:
    """Which set a feature belongs to."""
    own = 0
    while own + 1 < set_total and feature >= load(sets, (own + 1) * SET_COLUMNS + FIRST_FEATURE):
        own += 1
    return own


@kernel
def count_cells(
    sets: Any,
    set_total: int,
    corners: Any,
    v_t0: Any,
    v_t1: Any,
    bounds: Any,
    curve: Any,
    bits: int,
    cells: Any,
    cell_of: Any,
    rank_of: Any,
) -> None:
    """The cell of each feature, and how many have come to it before."""
    feature = cuda.grid(1)
    if feature < len(cell_of):
        own = set_of(sets, set_total, feature)
        at = own * SET_COLUMNS
        width = load(sets, at + CORNERS)
        begin = load(sets, at + FIRST_CORNER) + (feature - load(sets, at + FIRST_FEATURE)) * width
        box = (math.inf, math.inf, math.inf, -math.inf, -math.inf, -math.inf)
        for k in range(width):
            vertex = index_at(corners, begin + k)
            box = _grow(_grow(box, v_t0, vertex), v_t1, vertex)
        x, y, z, _, half = frame_of(bounds)
        grid = (CELLS // 2) / half if half > 1e-300 else 0.0
        place = place_of(
            _cell(box[0], box[3], x, grid), _cell(box[1], box[4], y, grid), _cell(box[2], box[5], z, grid), curve
        )
        cell = (own << bits) | (integer(place) >> (PLACE_BITS - bits))
        store(cell_of, feature, np.int32(cell))
        store(rank_of, feature, np.int32(cuda.atomic.add(cells, cell, 1)))


@kernel
def put_in_order(sets: Any, set_total: int, cells: Any, sums: Any, cell_of: Any, rank_of: Any, order: Any) -> None:
    """order[slot]: the feature in it, numbered within its set."""
    feature = cuda.grid(1)
    if feature < len(cell_of):
        first = load(sets, set_of(sets, set_total, feature) * SET_COLUMNS + FIRST_FEATURE)
        slot = before(cells, sums, index_at(cell_of, feature)) + index_at(rank_of, feature)
        store(order, slot, np.int32(feature - first))
