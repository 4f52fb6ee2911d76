"""Searches that store what they find: for every query primitive an ascending run, then all runs as sorted rows.

All searches of a step run in one parallel region, cut into chunks of query blocks with regions of their own in one array; a second region copies
the runs to their rows. What a query found is sorted while it is in the cache, by networks of 16 lanes. The result does not depend on the
threads: a chunk has one region, and the rows of a query have one place, which the lengths of the runs before it give.

A chunk that runs out of room goes on counting; the search is repeated with as much room as was needed.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import frozen
from abut.core.jit import integer, kernel, parallel, prange, thread_count
from abut.core.lanes import count_bits, merge_16, sort_16
from abut.core.scratch import load
from abut.trees.blocks.block_tree import WIDTH, Blocks, open_blocks
from abut.trees.blocks.search import Rules, collect, lanes_at_once, list_blocks
from abut.trees.blocks.swept import Indices

TASKS = 64  # chunks of query blocks
FOUND_EACH = 128  # pairs a query that room is made for at first
ROOM_KEPT = 1 << 28  # bytes
BLOCK_ROOM = 1 << 15  # entries that the queries of a block share, if one of them does not need more
COPIES = 64  # parts in which rows are copied
LAST = np.iinfo(np.int32).max


class Search(NamedTuple):
    """Primitives of a query against those of a target."""

    query: Blocks
    target: Blocks
    rules: Rules

    @property
    def has_pairs(self) -> bool:
        """Whether neither is empty."""
        return self.query.count > 0 and self.target.count > 0


class Scratch(NamedTuple):
    """Memory of tasks, one row each: see `list_blocks` and `collect`."""

    lists: Indices
    masks: Indices
    rows: Indices
    lengths: NDArray[np.int64]


class Runs(NamedTuple):
    """What each query primitive met, ascending: found[start[i] : start[i] + length[i]]. The primitives of all searches, one after the other."""

    start: NDArray[np.int64]
    length: Indices
    found: Indices


def reserve(targets: list[Blocks], task_count: int) -> Scratch:
    """Scratch memory for searches of any of these targets."""
    nodes = max(target.node_count for target in targets)
    room = max(BLOCK_ROOM, *((target.block_count + 2) * WIDTH for target in targets))
    return Scratch(
        np.empty((task_count, 2, nodes), dtype=np.int32),
        np.empty((task_count, nodes), dtype=np.int32),
        np.empty((task_count, room), dtype=np.int32),
        np.empty((task_count, WIDTH), dtype=np.int64),
    )


class _Room(threading.local):
    """Memory for searches, kept between calls of a thread up to ROOM_KEPT bytes: fresh pages cost as much as the search."""

    found: Indices = np.empty(0, dtype=np.int32)
    scratch: Scratch | None = None
    shape: tuple[object, ...] = ()

    def for_tasks(self, targets: list[Blocks], task_count: int) -> Scratch:
        shape = (task_count, *((target.node_count, target.block_count) for target in targets))
        if self.scratch is not None and shape == self.shape:
            return self.scratch
        scratch = reserve(targets, task_count)
        if sum(array.nbytes for array in scratch) <= ROOM_KEPT:
            self.scratch, self.shape = scratch, shape
        return scratch

    def of(self, size: int) -> Indices:
        if len(self.found) >= size:
            return self.found
        found = np.empty(size, dtype=np.int32)
        if found.nbytes <= ROOM_KEPT:
            self.found = found
        return found


_room = _Room()


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
    query: Any,
    target: Any,
    rules: Rules,
    chunk: int,
    region: tuple[int, int],
    scratch: Scratch,
    task: int,
    runs: Runs,
    first_run: int,
) -> int:
    """Fill the runs of a chunk of query blocks into its region, and return the room it needed. If that is more, its runs are worth nothing.

    Primitive i has run first_run + i."""
    q = open_blocks(query)
    lists, masks, row, lengths = scratch.lists[task], scratch.masks[task], scratch.rows[task], scratch.lengths[task]
    begin, region_end = region
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
                if at + length > region_end:
                    spilled += at - begin
                    at = begin
                sort_row(row, rank * stride, length)
                for k in range(length):
                    runs.found[at + k] = row[rank * stride + k]
                i = first_run + load(q.ids, block * WIDTH + first + rank)
                runs.start[i] = at
                runs.length[i] = length
                at += length
            first += count_bits(lanes)
    return spilled + at - begin


class Plan(NamedTuple):
    """All searches of a step as arrays, one row each: handles, rules, the first run, and where the regions of the chunks begin and end."""

    queries: Any
    targets: Any
    orders: Any
    adjacent: Any
    first_runs: Any
    regions: Any
    margin: float


@parallel
def _find_runs(plan: Plan, scratch: Scratch, runs: Runs, needed: NDArray[np.int64], thread_total: int) -> None:
    """Chunks are dealt out to the threads in turn, since neighbours have like numbers of pairs."""
    for thread in prange(thread_total):
        for task in range(integer(thread), len(plan.queries) * TASKS, thread_total):
            k, chunk = task // TASKS, task % TASKS
            rules = Rules(plan.orders[k], plan.adjacent[k], plan.margin)
            region = (plan.regions[k, chunk], plan.regions[k, chunk + 1])
            needed[k, chunk] = _search_chunk(
                plan.queries[k], plan.targets[k], rules, chunk, region, scratch, task, runs, plan.first_runs[k]
            )


def _lay_out(capacities: list[int]) -> NDArray[np.int64]:
    """(searches, TASKS + 1) bounds of the regions of every search, one search after the other."""
    starts = np.concatenate([[0], np.cumsum(capacities)[:-1]]) * TASKS
    return starts[:, None] + np.array(capacities)[:, None] * np.arange(TASKS + 1)


def find_runs(searches: list[Search]) -> Runs:
    """What each query primitive meets. The runs lie in memory that the next call in this thread writes over."""
    first_runs = np.concatenate([[0], np.cumsum([search.query.count for search in searches])])
    start, length = np.empty(first_runs[-1], dtype=np.int64), np.empty(first_runs[-1], dtype=np.int32)
    needed = np.zeros((len(searches), TASKS), dtype=np.int64)
    scratch = _room.for_tasks([search.target for search in searches], len(searches) * TASKS)
    capacities = [max(FOUND_EACH * (s.query.count // TASKS + 1), s.target.count) for s in searches]
    while True:
        spread = max(1.0, len(_room.found) / (TASKS * sum(capacities)))  # all of the memory that is there
        regions = _lay_out([int(capacity * spread) for capacity in capacities])
        plan = Plan(
            np.stack([search.query.handle for search in searches]),
            np.stack([search.target.handle for search in searches]),
            np.array([search.rules.order for search in searches]),
            np.array([search.rules.adjacent for search in searches]),
            first_runs,
            regions,
            searches[0].rules.margin,
        )
        runs = Runs(start, length, _room.of(int(regions[-1, -1])))
        _find_runs(plan, scratch, runs, needed, thread_count())
        if (needed <= np.diff(regions)).all():
            return runs
        # The end of a region may stay free where a long run did not fit.
        capacities = [int(n.max()) + s.target.count for n, s in zip(needed, searches, strict=True)]


@kernel
def _copy_part(
    runs: Runs, first_runs: NDArray[np.int64], ends: NDArray[np.int64], begin: int, end: int, pairs: Indices
) -> None:
    found, k = runs.found, 0
    for run in range(begin, end):
        while run >= first_runs[k + 1]:
            k += 1
        i = run - first_runs[k]
        start, length = runs.start[run], runs.length[run]
        to = ends[run] - length
        for x in range(length):
            pairs[to + x, 0] = i
            pairs[to + x, 1] = found[start + x]


@parallel
def _copy_runs(
    runs: Runs, first_runs: NDArray[np.int64], ends: NDArray[np.int64], bounds: NDArray[np.int64], pairs: Indices
) -> None:
    for part in prange(len(bounds) - 1):
        _copy_part(runs, first_runs, ends, bounds[part], bounds[part + 1], pairs)


def find_pairs(searches: list[Search]) -> list[Indices]:
    """(n,2) pairs (query, target) of every search, sorted; read-only views of one array."""
    filled = [search for search in searches if search.has_pairs]
    if not filled:
        return [frozen(np.empty((0, 2), dtype=np.int32)) for _ in searches]
    runs = find_runs(filled)
    first_runs = np.concatenate([[0], np.cumsum([search.query.count for search in filled])])
    ends = np.cumsum(runs.length, dtype=np.int64)
    total = int(ends[-1])
    bounds = np.concatenate([[0], np.searchsorted(ends, np.arange(1, COPIES) * total // COPIES), [len(ends)]])
    pairs = np.empty((total, 2), dtype=np.int32)
    _copy_runs(runs, first_runs, ends, bounds, pairs)
    frozen(pairs)
    rows = iter(np.split(pairs, ends[first_runs[1:-1] - 1]))
    return [next(rows) if search.has_pairs else pairs[:0] for search in searches]
