"""Searches that write pairs in regions of a limited size: chunk by chunk, filtered, the same on any number of threads.

The query's blocks are cut into tasks, each with a region of the output. A round runs all tasks in one parallel region; a task stops before
two blocks whose pairs might not fit any more, and says where. What the regions hold is one chunk, and what is left is cut into tasks again.
Nothing overflows, nothing is searched twice, and the chunks depend on the limit but not on the threads.

Pairs are written once, into the region, which lies in the cache. DNF looks at a tile of them at a time and moves those that it keeps to the front.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.ccd.culling.filters import is_never_coplanar
from abut.core.arrays import Integers, frozen
from abut.core.jit import integer, kernel, parallel, prange, thread_count, threads_for
from abut.core.scratch import load
from abut.trees.blocks.block_tree import Blocks, View, open_blocks
from abut.trees.blocks.memory import Memory
from abut.trees.blocks.runs import Search
from abut.trees.blocks.search import MOST_OF_BLOCKS, Rules, list_blocks, write_pairs
from abut.trees.blocks.swept import Indices

TASKS = 64
TILE = 128  # pairs that DNF looks at together
CHUNK = 1 << 20  # pairs of a chunk at most: they stay in the cache
LEAST_ROOM = MOST_OF_BLOCKS + 2 * TILE
"""Pairs of the smallest region: with a tile begun there is room for two more blocks."""


class Filters(NamedTuple):
    """Whether pairs that are never coplanar are left out, and the power of two that brings differences of coordinates below 1."""

    dnf: bool
    factor: float


class Desk(NamedTuple):
    """Memory of the tasks, one row each: lists and masks of `list_blocks`; for a tile of pairs the coordinates of their points, and which
    are apart."""

    lists: Any
    masks: Any
    points: Any
    apart: Any


@kernel
def _gather(view: View, i: int, points: Any, row: int, column: int) -> int:
    """Copy the vertices of a primitive to a column of `points` from row `row` on, six rows a vertex; return the row after them."""
    for corner in range(view.corner_count):
        vertex = int(load(view.elements, i * view.corner_count + corner))
        for k in range(6):
            points[row + k, column] = load(view.motion, vertex * 6 + k)
        row += 6
    return row


@kernel
def _mark_apart(points: Any, factor: float, apart: Any) -> None:
    """DNF of a whole tile: a loop without branches over arrays, which becomes vector code. Columns that hold no pair give anything."""
    p = points
    for i in range(TILE):
        apart[i] = is_never_coplanar(
            (
                (p[0, i], p[1, i], p[2, i]),
                (p[6, i], p[7, i], p[8, i]),
                (p[12, i], p[13, i], p[14, i]),
                (p[18, i], p[19, i], p[20, i]),
            ),
            (
                (p[3, i], p[4, i], p[5, i]),
                (p[9, i], p[10, i], p[11, i]),
                (p[15, i], p[16, i], p[17, i]),
                (p[21, i], p[22, i], p[23, i]),
            ),
            factor,
        )


@kernel
def _keep(
    q: View, t: View, filters: Filters, pairs: Any, written: int, end: int, points: Any, apart: Any, rest: bool
) -> tuple[int, int]:
    """Move those of the pairs from `written` up to `end` that DNF keeps to row `written`, whole tiles only if not `rest`; then those it has
    not looked at. Returns where the first of these are, and the end of all."""
    at = written
    while end - at >= TILE or (rest and at < end):
        count = min(TILE, end - at)
        for i in range(count):
            _gather(t, pairs[at + i, 1], points, _gather(q, pairs[at + i, 0], points, 0, i), i)
        _mark_apart(points, filters.factor, apart)
        for i in range(count):
            if not apart[i]:
                pairs[written, 0], pairs[written, 1] = pairs[at + i, 0], pairs[at + i, 1]
                written += 1
        at += count
    for i in range(at, end):
        pairs[written + i - at, 0], pairs[written + i - at, 1] = pairs[i, 0], pairs[i, 1]
    return written, written + end - at


@kernel
def _search_task(
    query: Any, target: Any, rules: Rules, filters: Filters, piece: Any, desk: Desk, task: int, pairs: Any
) -> int:
    """Search a piece (first block, last block, entry, lane), write pairs and move its beginning to where it stopped; their number."""
    q, t = open_blocks(query), open_blocks(target)
    lists, masks, points, apart = desk.lists[task], desk.masks[task], desk.points[task], desk.apart[task]
    written = end = 0
    while piece[0] < piece[1]:
        which, count, _ = list_blocks(query, target, rules, piece[0], lists, masks)
        nodes = lists[which][:count]
        while piece[2] < count:
            end = write_pairs(query, target, rules, piece[0], nodes, masks, piece[2:], pairs, end)
            if filters.dnf:
                written, end = _keep(q, t, filters, pairs, written, end, points, apart, False)
            if piece[2] < count and end + MOST_OF_BLOCKS > len(pairs):
                if filters.dnf:
                    written, end = _keep(q, t, filters, pairs, written, end, points, apart, True)
                return end
        piece[0] += 1
        piece[2] = 0
        piece[3] = 0
    if filters.dnf:
        written, end = _keep(q, t, filters, pairs, written, end, points, apart, True)
    return end


@parallel
def _search_round(
    query: Any,
    target: Any,
    rules: Rules,
    filters: Filters,
    pieces: Any,
    desk: Desk,
    thread_total: int,
    pairs: Any,
    written: Any,
) -> None:
    """Tasks are dealt out to the threads in turn, since neighbours have like numbers of pairs."""
    for thread in prange(thread_total):
        for task in range(integer(thread), len(pieces), thread_total):
            written[task] = _search_task(query, target, rules, filters, pieces[task], desk, task, pairs[task])


def cut(pieces: Integers, task_count: int) -> Integers:
    """Cut pieces into at most `task_count` that are not empty, as even as they come; a piece begun goes on where it stopped."""
    parts = max(1, task_count // len(pieces))
    shares = pieces[:, :1] + (pieces[:, 1:2] - pieces[:, :1]) * np.arange(parts + 1) // parts
    shares[:, 0] = pieces[:, 0]
    made = np.zeros((len(pieces), parts, 4), dtype=np.int64)
    made[:, :, 0], made[:, :, 1] = shares[:, :-1], shares[:, 1:]
    begun = made[:, :, 0] == pieces[:, :1]
    made[:, :, 2:] = np.where(begun[:, :, None], pieces[:, None, 2:], 0)
    flat = made.reshape(-1, 4)
    return np.ascontiguousarray(flat[flat[:, 0] < flat[:, 1]])


def need(target: Blocks) -> int:
    """Bytes of a task beside its region."""
    return 12 * target.node_count + TILE * (24 * 8 + 1)


def _share(target: Blocks, memory: int) -> tuple[int, int]:
    """The number of tasks and of pairs in the region of each that fit into so many bytes; at least one task is assumed to."""
    fixed = need(target)
    task_count = TASKS
    while task_count > 1 and task_count * (fixed + 8 * LEAST_ROOM) > memory:
        task_count //= 2
    return task_count, max(LEAST_ROOM, min((memory // task_count - fixed) // 8, CHUNK // task_count))


def _rounds(
    search: Search, filters: Filters, limit: int, memory: Memory, every: int
) -> Iterator[tuple[Indices, NDArray[np.int64]]]:
    """The regions (tasks, capacity, 2) after each round, and how many pairs each holds."""
    query, target, rules = search
    if not search.has_pairs:
        return
    task_count, capacity = _share(target, limit)
    desk = Desk(
        memory.array("lists", (task_count, 2, target.node_count), np.int32),
        memory.array("masks", (task_count, target.node_count), np.int32),
        memory.array("points", (task_count, 24, TILE), np.float64),
        memory.array("apart", (task_count, TILE), np.bool_),
    )
    pairs = memory.array("pairs", (task_count, capacity, 2), np.int32)
    written = np.zeros(task_count, dtype=np.int64)
    pieces = cut(np.array([[0, query.block_count, 0, 0]]), task_count)
    if every > 1:
        firsts = np.arange(every // 2 if query.block_count > every // 2 else 0, query.block_count, every)
        pieces = np.stack([firsts, firsts + 1, 0 * firsts, 0 * firsts], axis=1)
    waiting = pieces[task_count:]
    pieces = np.ascontiguousarray(pieces[:task_count])
    while len(pieces):
        with threads_for(query.count + target.count):
            _search_round(query.handle, target.handle, rules, filters, pieces, desk, thread_count(), pairs, written)
        yield pairs, written[: len(pieces)]
        left = np.concatenate([pieces[pieces[:, 0] < pieces[:, 1]], waiting[:task_count]])
        waiting = waiting[task_count:]
        pieces = cut(left[:task_count], task_count) if len(left) else left
        waiting = np.concatenate([left[task_count:], waiting])


def stream_pairs(
    search: Search, filters: Filters, limit: int, memory: Memory | None = None, *, every: int = 1
) -> Iterator[Indices]:
    """Pairs (query, target) in chunks (n,2), n at least 1; each chunk is a view that the next one writes over.

    limit: bytes for the search. every: only one block in so many of the query is searched."""
    for pairs, written in _rounds(search, filters, limit, Memory() if memory is None else memory, every):
        flat = pairs.reshape(-1, 2)
        total = 0
        for task in range(len(written)):
            if total != task * pairs.shape[1]:
                flat[total : total + written[task]] = pairs[task, : written[task]]
            total += int(written[task])
        if total:
            yield flat[:total]


@parallel
def _copy_regions(pairs: Indices, ends: NDArray[np.int64], rows: Indices) -> None:
    for task in prange(len(ends) - 1):
        for k in range(ends[task + 1] - ends[task]):
            rows[ends[task] + k, 0] = pairs[task, k, 0]
            rows[ends[task] + k, 1] = pairs[task, k, 1]


AS_FOUND = Filters(False, 1.0)
ROOM = 1 << 30
"""Bytes that `gather_pairs` is content with: more than TASKS regions take."""
FIRST_GUESS = 64
"""Pairs a query that room is made for; pages that nobody writes to take no memory."""


def gather_pairs(search: Search, memory: Memory) -> Indices:
    """(n,2) all pairs of a search in no particular order, read-only."""
    rows = np.empty((FIRST_GUESS * (search.query.count + TILE), 2), dtype=np.int32)
    total = 0
    for pairs, written in _rounds(search, AS_FOUND, ROOM, memory, 1):
        ends = np.concatenate([[total], total + np.cumsum(written)])
        if ends[-1] > len(rows):
            larger = np.empty((2 * int(ends[-1]), 2), dtype=np.int32)
            larger[:total] = rows[:total]
            rows = larger
        _copy_regions(pairs, ends, rows)
        total = int(ends[-1])
    return frozen(rows[:total])
