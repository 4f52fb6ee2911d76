"""Candidates: the pairs of vertices and faces, and of edges, whose swept volumes meet, each once and sorted (Wan 2022, §1.1).

The volumes bound vertices and edges, not only faces (the paper's extra layer), so a pair is found for what it is and not for its triangles.
The first thing of a pair is the query: for every vertex its faces are found, for every edge the edges of larger index. What a query found
is sorted while it is in the cache, by networks of 16 lanes, and copied to the rows that its index and the lengths before it give.

The result does not depend on the threads: chunks of the search have regions of their own, and the rows of a query have one place.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import frozen
from abut.ccd.blocks import WIDTH, Blocks, build, open_blocks
from abut.ccd.results import Candidates
from abut.ccd.search import EVERY, LARGER, Rules, collect, lanes_at_once, list_blocks
from abut.ccd.swept import VOLUMES, Indices, Moving, frame_of
from abut.errors import InvalidInput
from abut.jit import kernel, parallel, prange
from abut.lanes import count_bits, merge_16, sort_16
from abut.mesh import Mesh, as_mesh
from abut.scratch import load

TASKS = 64  # chunks of query blocks
STRIDE = (
    37  # chunks are handed out in this stride (prime to TASKS), since neighbouring chunks have like numbers of pairs
)
FOUND_EACH = 128  # pairs a query that room is made for at first; a region's memory is touched only where it is written
ROOM_KEPT = 1 << 28  # bytes
BLOCK_ROOM = 1 << 15  # entries that the queries of a block share, if one of them does not need more
COPIES = 64  # parts in which rows are copied
LAST = np.iinfo(np.int32).max


class Scratch(NamedTuple):
    """Memory of the tasks of a search, one row each: see `list_blocks` and `collect`."""

    lists: Indices
    masks: Indices
    rows: Indices
    lengths: NDArray[np.int64]


class Runs(NamedTuple):
    """What each query primitive i met, ascending: found[start[i] : start[i] + length[i]]."""

    start: NDArray[np.int64]
    length: Indices
    found: Indices


@kernel
def sort_row(row: Indices, at: int, length: int) -> None:
    """Sort row[at : at + length]; what follows, up to a multiple of 16, is written over.

    Sixteens are sorted by themselves, then merged pair by pair in the order of Batcher's merge exchange (Knuth, The Art of Computer
    Programming 3, 5.2.2, algorithm M), which sorts runs as well as numbers."""
    count = (length + WIDTH - 1) // WIDTH
    for k in range(at + length, at + count * WIDTH):
        row[k] = LAST
    for i in range(count):
        sort_16(row, at + i * WIDTH)
    top = 1
    while 2 * top < count:
        top *= 2
    p = top if count > 1 else 0
    while p > 0:
        q, r, d = top, 0, p
        while True:
            for i in range(count - d):
                if i & p == r:
                    merge_16(row, at + i * WIDTH, at + (i + d) * WIDTH)
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2


@kernel
def _search_chunk(
    query: Any, target: Any, rules: Rules, chunk: int, capacity: int, scratch: Scratch, runs: Runs
) -> int:
    """Fill the runs of a chunk of query blocks into its region, and return the room it needed. If that is more, its runs are worth nothing."""
    q = open_blocks(query)
    lists, masks, row, lengths = scratch.lists[chunk], scratch.masks[chunk], scratch.rows[chunk], scratch.lengths[chunk]
    begin = chunk * capacity
    at, spilled = begin, 0
    for block in range(chunk * q.block_count // TASKS, (chunk + 1) * q.block_count // TASKS):
        which, count, block_count = list_blocks(query, target, rules, block, lists, masks)
        stride, nodes = (block_count + 1) * WIDTH, lists[which]
        first, last = 0, min(WIDTH, q.primitive_count - block * WIDTH)
        while first < last:
            lanes = lanes_at_once(first, last, stride, len(row))
            collect(query, target, rules, block, lanes, nodes, masks, count, stride, row, lengths)
            for rank in range(count_bits(lanes)):
                length = lengths[rank]
                if at + length > begin + capacity:
                    spilled += at - begin
                    at = begin
                sort_row(row, rank * stride, length)
                for k in range(length):
                    runs.found[at + k] = row[rank * stride + k]
                i = load(q.ids, block * WIDTH + first + rank)
                runs.start[i] = at
                runs.length[i] = length
                at += length
            first += count_bits(lanes)
    return spilled + at - begin


@parallel
def _find_runs(
    query: Any, target: Any, rules: Rules, capacity: int, scratch: Scratch, runs: Runs, needed: NDArray[np.int64]
) -> None:
    for task in prange(TASKS):
        chunk: Any = np.int64(task) * STRIDE % TASKS
        needed[chunk] = _search_chunk(query, target, rules, chunk, capacity, scratch, runs)


class _Room(threading.local):
    """Memory for runs, kept between calls of a thread up to ROOM_KEPT bytes: fresh pages cost more than the search."""

    found: Indices = np.empty(0, dtype=np.int32)

    def of(self, size: int) -> Indices:
        if len(self.found) >= size:
            return self.found
        found = np.empty(size, dtype=np.int32)
        if found.nbytes <= ROOM_KEPT:
            self.found = found
        return found


_room = _Room()


def reserve(target: Blocks, task_count: int) -> Scratch:
    """Scratch memory for searches of a target."""
    room = max((target.block_count + 2) * WIDTH, BLOCK_ROOM)
    return Scratch(
        np.empty((task_count, 2, target.node_count), dtype=np.int32),
        np.empty((task_count, target.node_count), dtype=np.int32),
        np.empty((task_count, room), dtype=np.int32),
        np.empty((task_count, WIDTH), dtype=np.int64),
    )


def find_runs(query: Blocks, target: Blocks, rules: Rules) -> Runs:
    """What each query primitive meets. The runs lie in memory that the next call in this thread writes over."""
    start, length = np.empty(query.count, dtype=np.int64), np.empty(query.count, dtype=np.int32)
    needed = np.zeros(TASKS, dtype=np.int64)
    scratch = reserve(target, TASKS)
    capacity = max(FOUND_EACH * (query.count // TASKS + 1), target.count, len(_room.found) // TASKS)
    while True:
        runs = Runs(start, length, _room.of(TASKS * capacity))
        _find_runs(query.handle, target.handle, rules, capacity, scratch, runs, needed)
        if needed.max() <= capacity:
            return runs
        # A region whose end was left free by a long run needs that much more.
        capacity = int(needed.max()) + target.count


@parallel
def _copy_rows(runs: Runs, ends: NDArray[np.int64], bounds: NDArray[np.int64], pairs: Indices) -> None:
    for part in prange(len(bounds) - 1):
        _copy_part(runs, ends, bounds[part], bounds[part + 1], pairs)


@kernel
def _copy_part(runs: Runs, ends: NDArray[np.int64], begin: int, end: int, pairs: Indices) -> None:
    found = runs.found
    for i in range(begin, end):
        start, length = runs.start[i], runs.length[i]
        to = ends[i] - length
        for k in range(length):
            pairs[to + k, 0] = i
            pairs[to + k, 1] = found[start + k]


def list_pairs(runs: Runs) -> Indices:
    """(n,2) pairs (query, found), sorted."""
    ends = np.cumsum(runs.length, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    bounds = np.concatenate([[0], np.searchsorted(ends, np.arange(1, COPIES) * total // COPIES), [len(ends)]])
    pairs = np.empty((total, 2), dtype=np.int32)
    _copy_rows(runs, ends, bounds, pairs)
    return pairs


def _find_pairs(first: Blocks, second: Blocks, rules: Rules) -> Indices:
    """(n,2) sorted pairs of two sets of primitives that meet."""
    if not (first.count and second.count):
        return frozen(np.empty((0, 2), dtype=np.int32))
    return frozen(list_pairs(find_runs(first, second, rules)))


def check_volume(volume: str) -> int:
    """The number of directions of a volume."""
    if volume not in VOLUMES:
        raise InvalidInput("volume", f"there is no volume {volume!r}; there are {', '.join(VOLUMES)}")
    return VOLUMES[volume]


def find_candidates(a: Moving, b: Moving | None, *, volume: str = "aabb", margin: float = 0.0) -> Candidates:
    """Candidates of one body with itself (b is None) or of two bodies: vertices of a and faces of b, faces of a and vertices of b, edges."""
    columns = check_volume(volume)
    bodies = [a] if b is None else [a, b]
    frame = frame_of(bodies, margin)
    built = build(bodies, frame, columns, ends=False)
    if b is None:
        own = built[0]
        return Candidates(
            _find_pairs(own.vertices, own.faces, Rules(EVERY, True, frame.margin)),
            _find_pairs(own.edges, own.edges, Rules(LARGER, True, frame.margin)),
        )
    one, two = built
    rules = Rules(EVERY, False, frame.margin)
    return Candidates(
        _find_pairs(one.vertices, two.faces, rules),
        _find_pairs(one.edges, two.edges, rules),
        _find_pairs(one.faces, two.vertices, rules),
    )


def moving_of(mesh: object, v_t0: object, v_t1: object) -> Moving:
    """A mesh and its vertices at both ends of a step, checked."""
    body: Mesh = as_mesh(mesh)
    shape = (len(body.vertices), 3)
    return Moving(
        arrays.coordinates(v_t0, "v_t0", shape), arrays.coordinates(v_t1, "v_t1", shape), body.faces, body.edges
    )


def candidates(mesh: object, v_t0: object, v_t1: object, *, volume: str = "aabb", margin: float = 0.0) -> Candidates:
    """Pairs of features of a mesh whose volumes, swept from v_t0 to v_t1 (both (n,3)), come within `margin` of one another.

    volume: "aabb" or "kdop6" (axis-aligned boxes), "kdop8", "kdop14", "kdop18", "kdop26". A pair is kept where the intervals along every
    direction of the volume meet, touching included, so 14, 18 and 26 keep subsets of 6, and 26 of all. No pair that collides is lost.
    Left out are a vertex with a face of its own, and edges with a common vertex. Sorted; the same for any number of threads.
    """
    return find_candidates(
        moving_of(mesh, v_t0, v_t1), None, volume=volume, margin=arrays.scalar(margin, "margin", least=0.0)
    )
