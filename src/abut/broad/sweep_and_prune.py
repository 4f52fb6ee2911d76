"""Sweep and prune: the boxes' ends sorted along three axes, kept sorted by insertion while boxes move (Baraff 1992; Cohen et al. 1995).

When a lower end passes an upper end, two boxes begin or cease to overlap along that axis, and only then the other axes are looked at. A box that
does not move costs nothing; one that moves costs the ends it passes. Equal ends: lower before upper, so that touching counts.

A box is moved as a whole, all three axes, before the next. A pair that begins to overlap is apart from the old box along some axes, and an end is
passed along each of them: it is noted at the first of these axes only, and likewise a pair that ends. So every change of the set is noted once,
and the set need not be asked. Where a call passes more ends than sorting anew would cost, everything is sorted and searched anew.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.broad.pairs import overlapping_pairs, read_boxes
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import AbutError, InvalidInput
from abut.core.jit import element, kernel

Keys = NDArray[np.int64]

SWAPS_EACH = 128
"""Ends passed by a call, for each box there is, after which sorting and searching anew is cheaper (some 3 ns an end, 0.3 µs a box)."""
MANY = 16
"""More boxes than this at once are added by sorting anew; one alone passes all ends that lie above it."""


@dataclass(frozen=True, eq=False)
class PairChanges:
    """What happened between two reports. Pairs are (n,2) int64, the smaller handle first, sorted."""

    begun: Integers
    persisting: Integers
    ended: Integers
    swap_count: int
    """ends that were passed"""
    comparison_count: int
    """ends that were looked at"""


@element
def _is_before(value: float, code: int, other: float, other_code: int) -> bool:
    """Whether an end stands before another; odd codes are upper ends."""
    return value < other or (value == other and (code & 1) < (other_code & 1))


@kernel
def _meet(a: Floats, b: Floats, axes: int) -> bool:
    """Whether two boxes overlap along the first `axes` axes."""
    meets = True
    for axis in range(axes):
        meets = meets and a[axis] <= b[axis + 3] and b[axis] <= a[axis + 3]
    return meets


@kernel
def _slide(
    boxes: Floats, old: Floats, axis: int, code: int, values: Any, codes: Any, places: Any, log: Keys, counts: Keys
) -> None:
    """Move one end to its place along an axis, and note the pairs that change. counts: notes, swaps, comparisons. boxes[id] is the new box."""
    i = code >> 1
    value = boxes[i, axis + 3 * (code & 1)]
    at, last = places[code], len(values) - 1
    rises = value > values[at]
    step = 1 if rises else -1
    while 0 <= at + step <= last:
        other, passed = values[at + step], codes[at + step]
        counts[2] += 1
        if not (_is_before(other, passed, value, code) if rises else _is_before(value, code, other, passed)):
            break
        values[at], codes[at] = other, passed
        places[passed] = at
        at += step
        j = passed >> 1
        if (passed ^ code) & 1 and j != i:
            begins = rises == (code & 1 == 1)
            now, before = boxes[i], old
            if not begins:
                now, before = old, boxes[i]
            if _meet(now, boxes[j], 3) and _meet(before, boxes[j], axis):
                log[counts[0]] = (min(i, j) << 32) | max(i, j)
                counts[0] += 1
    counts[1] += abs(at - places[code])
    values[at], codes[at] = value, code
    places[code] = at


@kernel
def _move(
    ids: Integers,
    targets: Floats,
    boxes: Floats,
    values: Floats,
    codes: Any,
    places: Any,
    log: Keys,
    counts: Keys,
    first: int,
    most: int,
) -> int:
    """Move the boxes from `first` on, and return how many are done: fewer than all when the log may not hold what follows, or after `most` swaps."""
    old = np.empty(6)
    for k in range(first, len(ids)):
        if counts[0] + values.shape[1] // 2 > len(log) or counts[1] > most:
            return k
        i = ids[k]
        for c in range(6):
            old[c] = boxes[i, c]
            boxes[i, c] = targets[k, c]
        for axis in range(3):
            upper_first = boxes[i, axis + 3] > old[axis + 3]  # lower and upper end of a box never pass one another
            for turn in range(2):
                code = 2 * i + (1 if upper_first == (turn == 0) else 0)
                _slide(boxes, old, axis, code, values[axis], codes[axis], places[axis], log, counts)
    return len(ids)


def _decode(keys: Keys) -> Integers:
    return frozen(np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1))


def _odd(keys: Keys) -> Keys:
    """Sorted keys that occur an odd number of times."""
    unique, counts = np.unique(keys, return_counts=True)
    return unique[counts % 2 == 1]


class SweepAndPrune:
    """Boxes (n,6) under handles, and the pairs of them that overlap.

    `add` gives handles, `update` sets boxes, `shift` moves boxes of fixed size, `remove` takes them out; `pairs` are those that overlap now, and
    `report()` tells what began, persisted and ended since the last report. A handle is given again only after a report.
    """

    def __init__(self, boxes: object = ()) -> None:
        self._boxes = np.empty((0, 6))
        self._alive = np.empty(0, dtype=bool)
        self._values = np.empty((3, 0))
        self._codes = np.empty((3, 0), dtype=np.int64)
        self._places = np.empty((3, 0), dtype=np.int64)
        self._log, self._counts = np.empty(0, dtype=np.int64), np.zeros(3, dtype=np.int64)
        self._current, self._changed = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._free, self._freed = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.add(boxes)

    def __len__(self) -> int:
        return int(self._alive.sum())

    @property
    def handles(self) -> Integers:
        """The handles in use, ascending."""
        return frozen(np.flatnonzero(self._alive))

    def boxes(self, handles: object) -> Floats:
        """(n,6) current boxes."""
        return frozen(self._boxes[self._read(handles)])

    @property
    def pairs(self) -> Integers:
        """(p,2) pairs of handles that overlap now, the smaller first, sorted."""
        return _decode(self.keys)

    @property
    def keys(self) -> Integers:
        """(p,) the same pairs as smaller handle · 2³² + larger, ascending."""
        self._flush()
        return frozen(self._current)

    def add(self, boxes: object) -> Integers:
        """Add boxes (n,6); their handles."""
        fresh = read_boxes(boxes, "boxes")
        reused, self._free = np.split(self._free, [len(fresh)])
        size = len(self._alive)
        ids = np.concatenate([reused, np.arange(size, size + len(fresh) - len(reused))])
        self._grow(size + len(fresh) - len(reused))
        self._alive[ids] = True
        codes = np.stack([2 * ids, 2 * ids + 1], axis=1).ravel()
        first = self._values.shape[1]
        self._places[:, codes] = first + np.arange(len(codes))
        self._codes = np.hstack([self._codes, np.tile(codes, (3, 1))])
        self._values = np.hstack([self._values, np.full((3, len(codes)), np.inf)])
        self._boxes[ids] = np.inf  # nowhere: beyond all others, and overlapping none
        if len(ids) > MANY:
            self._boxes[ids] = fresh
            self._sort()
        else:
            self._move(ids, fresh)
        return frozen(ids)

    def update(self, handles: object, boxes: object) -> None:
        """Set the boxes of these handles."""
        ids = self._read(handles)
        self._move(ids, read_boxes(boxes, "boxes", len(ids)))

    def shift(self, handles: object, centres: object) -> None:
        """Move boxes, without resizing them, so that their middles are these (n,3)."""
        ids = self._read(handles)
        middles = arrays.coordinates(centres, "centres", (len(ids), 3))
        old = self._boxes[ids]
        half = (old[:, 3:] - old[:, :3]) / 2
        self._move(ids, np.hstack([middles - half, middles + half]))

    def remove(self, handles: object) -> None:
        """Take boxes out; their pairs end."""
        ids = self._read(handles)
        self._flush()
        self._alive[ids] = False
        gone = ~(self._alive[self._current >> 32] & self._alive[self._current & 0xFFFFFFFF])
        self._note(self._current[gone])
        kept = self._alive[self._codes >> 1]
        self._codes = self._codes[kept].reshape(3, -1)
        self._values = self._values[kept].reshape(3, -1)
        self._index()
        self._freed = np.concatenate([self._freed, ids])

    def report(self) -> PairChanges:
        """What changed since the last report (or since the beginning), and the work that was done."""
        self._flush()
        changed = _odd(self._changed)
        at = np.searchsorted(self._current, changed)
        is_new = np.zeros(len(changed), dtype=bool)
        inside = at < len(self._current)
        is_new[inside] = self._current[at[inside]] == changed[inside]
        begun, ended = changed[is_new], changed[~is_new]
        persisting = np.delete(self._current, at[is_new])
        work = self._counts.tolist()
        self._changed = self._changed[:0]
        self._counts[:] = 0
        self._free, self._freed = np.sort(np.concatenate([self._free, self._freed])), self._freed[:0]
        return PairChanges(_decode(begun), _decode(persisting), _decode(ended), work[1], work[2])

    def validate(self) -> None:
        """Raise `AbutError` unless the ends are sorted, every end knows its place, and the pairs are those of all boxes."""
        ids = np.flatnonzero(self._alive)
        codes = np.sort(np.concatenate([2 * ids, 2 * ids + 1]))
        for axis in range(3):
            values, order = self._values[axis], self._codes[axis]
            if not np.array_equal(np.sort(order), codes):
                raise AbutError(f"axis {axis} does not hold both ends of every box")
            if not np.array_equal(values, self._boxes[order >> 1, axis + 3 * (order & 1)]):
                raise AbutError(f"axis {axis} holds an end that is not its box's")
            if not np.array_equal(np.lexsort((order & 1, values)), np.arange(len(values))):
                raise AbutError(f"axis {axis} is not sorted")
            if not np.array_equal(self._places[axis, order], np.arange(len(order))):
                raise AbutError(f"axis {axis} has an end that does not know its place")
        if not np.array_equal(self.pairs, ids[overlapping_pairs(self._boxes[ids])]):
            raise AbutError("the pairs are not those of the boxes")

    # ---- inside

    def _read(self, handles: object) -> Integers:
        ids = arrays.selection(handles, "handles", len(self._alive))
        if not self._alive[ids].all():
            raise InvalidInput("handles", "is not in use", int((~self._alive[ids]).argmax()))
        if len(np.unique(ids)) < len(ids):
            raise InvalidInput("handles", "holds a handle twice")
        return ids

    def _grow(self, size: int) -> None:
        extra = size - len(self._alive)
        self._boxes = np.vstack([self._boxes, np.full((extra, 6), np.inf)])
        self._alive = np.concatenate([self._alive, np.zeros(extra, dtype=bool)])
        self._places = np.hstack([self._places, np.zeros((3, 2 * extra), dtype=np.int64)])

    def _move(self, ids: Integers, targets: Floats) -> None:
        done, most = 0, int(self._counts[1]) + SWAPS_EACH * (self._values.shape[1] // 2)
        axes = (self._boxes, self._values, self._codes, self._places)
        targets = np.array(targets)  # one layout, writable: the kernel is compiled once
        ids = np.array(ids)
        while done < len(ids):
            if self._counts[0] + self._values.shape[1] // 2 > len(self._log):
                self._log = np.concatenate(
                    [self._log, np.empty(len(self._log) + self._values.shape[1], dtype=np.int64)]
                )
            done = _move(ids, targets, *axes, self._log, self._counts, done, most)
            if self._counts[1] > most and done < len(ids):
                self._boxes[ids[done:]] = targets[done:]
                self._sort()
                return

    def _sort(self) -> None:
        """Sort all ends and search all pairs anew."""
        self._flush()
        ids = np.flatnonzero(self._alive)
        codes = np.concatenate([2 * ids, 2 * ids + 1])
        for axis in range(3):
            values = self._boxes[codes >> 1, axis + 3 * (codes & 1)]
            order = np.lexsort((codes & 1, values))
            self._values[axis], self._codes[axis] = values[order], codes[order]
        self._index()
        pairs = ids[overlapping_pairs(self._boxes[ids])]
        self._note(np.setxor1d(self._current, pairs[:, 0] << 32 | pairs[:, 1], assume_unique=True))

    def _index(self) -> None:
        for axis in range(3):
            self._places[axis, self._codes[axis]] = np.arange(self._codes.shape[1])

    def _flush(self) -> None:
        """Bring the set of pairs up to date with the log."""
        noted = int(self._counts[0])
        self._counts[0] = 0
        if noted:
            self._note(_odd(self._log[:noted]))

    def _note(self, keys: Keys) -> None:
        """Change whether these pairs, sorted, are in the set."""
        if not len(keys):
            return
        at = np.searchsorted(self._current, keys)
        held = np.zeros(len(keys), dtype=bool)
        inside = at < len(self._current)
        held[inside] = self._current[at[inside]] == keys[inside]
        left = np.delete(self._current, at[held])
        added = keys[~held]
        self._current = np.insert(left, np.searchsorted(left, added), added)
        self._changed = np.concatenate([self._changed, keys])
