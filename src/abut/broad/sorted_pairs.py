"""All pairs of one set of boxes, each found once, in rows sorted by both indices.

A block is searched with itself and later blocks only, which visits half of what a search for larger indices does (`runs`), and the pairs come in no
order. They are then put in order by counting: every group of query blocks counts, while it searches, how many pairs each box begins; the counts
give every pair its place, and the few partners of a box are sorted where they lie. Four parallel regions; the groups are always the same, so the
rows do not depend on the threads.

A group that runs out of room goes on counting; the search is repeated with as much room as was needed.
"""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.core.jit import kernel, parallel, prange
from abut.core.lanes import lowest_bit
from abut.core.scratch import load
from abut.trees.blocks.block_tree import WIDTH, Blocks, open_blocks
from abut.trees.blocks.runs import sort_row
from abut.trees.blocks.search import LATER, Rules, list_blocks, match_lane, meet_lanes
from abut.trees.blocks.swept import Indices

GROUPS = 8
"""Groups of query blocks: more of them share the work better, but each has a count for every box."""

PARTS = 16
"""Parts in which rows are written."""

FOUND_EACH = 8
"""Pairs a box that room is made for at first."""

FEW = 8
"""Numbers that are sorted faster by insertion than by networks of 16 lanes."""

ROOM_KEPT = 1 << 27  # bytes


class _Room(threading.local):
    """Memory for pairs, kept between calls of a thread up to ROOM_KEPT bytes: fresh pages cost as much as the search."""

    found: Indices = np.empty((0, 2), dtype=np.int32)

    def of(self, size: int) -> Indices:
        if len(self.found) >= size:
            return self.found
        found = np.empty((size, 2), dtype=np.int32)
        if found.nbytes <= ROOM_KEPT:
            self.found = found
        return found


_room = _Room()


@kernel
def _search_group(
    handle: Any, group: int, lists: Indices, masks: Indices, found: Indices, begin: int, end: int, counts: Indices
) -> int:
    """Write the pairs of a group of query blocks to found[begin:end], smaller index first, and count those that each box begins. Their number."""
    q, rules, at = open_blocks(handle), Rules(LATER, False, 0.0), begin
    for block in range(group * q.block_count // GROUPS, (group + 1) * q.block_count // GROUPS):
        row, node_count, _ = list_blocks(handle, handle, rules, block, lists, masks)
        for x in range(node_count):
            node, mask = int(lists[row, x]), int(masks[x])
            while mask != 0:
                lane_t = lowest_bit(mask)
                mask &= mask - 1
                other = node * WIDTH + lane_t
                here = meet_lanes(q, block, q, node, lane_t, rules)
                while here != 0:
                    lane = lowest_bit(here)
                    here &= here - 1
                    chosen = match_lane(q, block, lane, q, other, rules)
                    i = load(q.ids, block * WIDTH + lane)
                    while chosen != 0:
                        j = load(q.ids, other * WIDTH + lowest_bit(chosen))
                        chosen &= chosen - 1
                        if at < end:
                            first = min(i, j)
                            found[at, 0] = first
                            found[at, 1] = max(i, j)
                            counts[first] += 1
                        at += 1
    return at - begin


@parallel
def _search(
    handle: Any, lists: Indices, masks: Indices, found: Indices, room: int, counts: Any, totals: NDArray[np.int64]
) -> None:
    for group in prange(GROUPS):
        counts[group] = 0
        begin = group * room
        totals[group] = _search_group(
            handle, group, lists[group], masks[group], found, begin, begin + room, counts[group]
        )


@kernel
def _place(counts: Indices, starts: NDArray[np.int64]) -> None:
    """Counts (groups, n) become the places of each group's next pair of a box; starts (n + 1,) those of the boxes."""
    total = 0
    for i in range(counts.shape[1]):
        starts[i] = total
        for group in range(GROUPS):
            here = counts[group, i]
            counts[group, i] = total
            total += here
    starts[counts.shape[1]] = total


@kernel
def _deal(found: Indices, begin: int, end: int, places: Indices, partners: Indices) -> None:
    for k in range(begin, end):
        i = found[k, 0]
        partners[places[i]] = found[k, 1]
        places[i] += 1


@kernel
def _insert(partners: Indices, begin: int, length: int, row: Indices) -> None:
    """Copy partners to a row in ascending order."""
    for k in range(length):
        value, to = partners[begin + k], k
        while to > 0 and row[to - 1] > value:
            row[to] = row[to - 1]
            to -= 1
        row[to] = value


@kernel
def _write_part(starts: NDArray[np.int64], first: int, last: int, partners: Indices, row: Indices, pairs: Any) -> None:
    """Sort the partners of some boxes and write their rows."""
    for i in range(first, last):
        begin, length = starts[i], starts[i + 1] - starts[i]
        if length <= FEW:
            _insert(partners, begin, length, row)
        else:
            for k in range(length):
                row[k] = partners[begin + k]
            sort_row(row, 0, length)
        for k in range(length):
            pairs[begin + k, 0] = i
            pairs[begin + k, 1] = row[k]


@parallel
def _finish(
    found: Indices,
    room: int,
    totals: Any,
    places: Any,
    starts: NDArray[np.int64],
    bounds: Any,
    partners: Indices,
    rows: Any,
    pairs: Any,
) -> None:
    for group in prange(GROUPS):
        _deal(found, group * room, group * room + totals[group], places[group], partners)
    for part in prange(PARTS):
        _write_part(starts, bounds[part], bounds[part + 1], partners, rows[part], pairs)


def find_pairs_once(own: Blocks) -> Integers:
    """(p,2) int64 pairs i < j of primitives of one set whose volumes meet, sorted."""
    if own.count == 0:
        return np.empty((0, 2), dtype=np.int64)
    lists = np.empty((GROUPS, 2, own.node_count), dtype=np.int32)
    masks = np.empty((GROUPS, own.node_count), dtype=np.int32)
    counts, totals = np.empty((GROUPS, own.count), dtype=np.int32), np.zeros(GROUPS, dtype=np.int64)
    room = max(FOUND_EACH * own.count, len(_room.found)) // GROUPS + 1
    while True:
        found = _room.of(room * GROUPS)
        _search(own.handle, lists, masks, found, room, counts, totals)
        if totals.max() <= room:
            break
        room = int(totals.max())
    starts = np.empty(own.count + 1, dtype=np.int64)
    if totals.sum() >= 1 << 31:
        raise MemoryError("more than 2³¹ pairs")
    _place(counts, starts)
    longest = int(np.diff(starts).max())
    bounds = np.searchsorted(starts, np.arange(PARTS + 1) * starts[-1] // PARTS)
    bounds[0], bounds[-1] = 0, own.count
    pairs = np.empty((int(starts[-1]), 2), dtype=np.int64)
    rows = np.empty((PARTS, longest + WIDTH), dtype=np.int32)
    partners = np.empty(len(pairs), dtype=np.int32)
    _finish(found, room, totals, counts, starts, bounds, partners, rows, pairs)
    return pairs
