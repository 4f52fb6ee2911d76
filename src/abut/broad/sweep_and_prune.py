"""Sweep and prune: boxes under handles, and their pairs from frame to frame (Baraff 1992; Cohen et al. 1995).

The ends of the boxes are kept sorted (`sorted_ends`), and changes of the set of pairs noted. Where a call passes more ends than sorting anew would
cost, everything is sorted and searched anew.
"""

from dataclasses import dataclass

import numpy as np

from abut.broad.pairs import BoxesLike, overlapping_pairs, read_boxes
from abut.broad.sorted_ends import Keys, move_boxes
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import AbutError, InvalidInput
from abut.core.showing import ROWS_SHOWN, count, describe, table_html
from abut.core.types import IndicesLike, PointsLike

SWAPS_EACH = 128
"""Ends passed by a call, for each box there is, after which sorting and searching anew is cheaper (some 3 ns an end, 0.3 µs a box)."""
MANY = 16
"""More boxes than this at once are added by sorting anew; one alone passes all ends that lie above it."""


@dataclass(frozen=True, eq=False)
class PairChanges:
    """What happened between two reports. Pairs are (n,2) int64, the smaller handle first, sorted."""

    begun: Integers
    """pairs that overlap now and did not then"""
    persisting: Integers
    """pairs that overlap now and did then"""
    ended: Integers
    """pairs that overlapped then and do not now"""
    swap_count: int
    """ends that were passed"""
    comparison_count: int
    """ends that were looked at"""

    def __repr__(self) -> str:
        return describe(self, *(f"{len(getattr(self, name)):,} {name}" for name in _CHANGES))

    def _repr_html_(self) -> str:
        rows = [(name, *pair) for name in _CHANGES for pair in getattr(self, name)[:ROWS_SHOWN].tolist()]
        total = sum(len(getattr(self, name)) for name in _CHANGES)
        return table_html(repr(self), ("change", "i", "j"), list(zip(*rows, strict=True)), total)


_CHANGES = ("begun", "persisting", "ended")


def _decode(keys: Keys) -> Integers:
    return frozen(np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1))


def _odd(keys: Keys) -> Keys:
    """Sorted keys that occur an odd number of times."""
    unique, counts = np.unique(keys, return_counts=True)
    return unique[counts % 2 == 1]


class SweepAndPrune:
    """Boxes under handles, and the pairs of them that overlap, kept while boxes come, move and go.

    `add` gives handles, `update` sets boxes, `shift` moves boxes of fixed size, `remove` takes them out; `pairs` are those that overlap now, and
    `report()` tells what began, persisted and ended since the last report. A handle is given again only after a report.

    Args:
        boxes: (n,6) lower corner x, y, z, then upper corner; their handles are 0 to n − 1.

    Examples:
        >>> import abut
        >>> scene = abut.broad.SweepAndPrune([[0, 0, 0, 1, 1, 1], [0.5, 0.5, 0.5, 2, 2, 2], [4, 0, 0, 5, 1, 1]])
        >>> scene.report()
        PairChanges(1 begun, 0 persisting, 0 ended)
        >>> scene.shift([2], [[0.5, 0.5, 0.5]])
        >>> scene.remove([1])
        >>> scene.report().begun.tolist(), scene
        ([[0, 2]], SweepAndPrune(2 boxes))
    """

    def __init__(self, boxes: BoxesLike = ()) -> None:
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

    def __repr__(self) -> str:
        return describe(self, count(len(self), "box", "boxes"))

    def _repr_html_(self) -> str:
        shown = self.handles[:ROWS_SHOWN]
        corners = [list(map(tuple, self._boxes[shown, part].tolist())) for part in (slice(0, 3), slice(3, 6))]
        return table_html(repr(self), ("handle", "lower corner", "upper corner"), (shown.tolist(), *corners), len(self))

    @property
    def handles(self) -> Integers:
        """The handles in use, ascending."""
        return frozen(np.flatnonzero(self._alive))

    def boxes(self, handles: IndicesLike) -> Floats:
        """The current boxes.

        Args:
            handles: (n,) in use.

        Returns:
            (n,6) boxes.
        """
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

    def add(self, boxes: BoxesLike) -> Integers:
        """Add boxes.

        Args:
            boxes: (n,6) lower corner x, y, z, then upper corner.

        Returns:
            (n,) their handles.
        """
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

    def update(self, handles: IndicesLike, boxes: BoxesLike) -> None:
        """Set boxes anew, of any size.

        Args:
            handles: (n,) in use.
            boxes: (n,6) their boxes from now on.
        """
        ids = self._read(handles)
        self._move(ids, read_boxes(boxes, "boxes", len(ids)))

    def shift(self, handles: IndicesLike, centers: PointsLike) -> None:
        """Move boxes without resizing them.

        Args:
            handles: (n,) in use.
            centers: (n,3) the middles of their boxes from now on.
        """
        ids = self._read(handles)
        middles = arrays.coordinates(centers, "centers", (len(ids), 3))
        old = self._boxes[ids]
        half = (old[:, 3:] - old[:, :3]) / 2
        self._move(ids, np.hstack([middles - half, middles + half]))

    def remove(self, handles: IndicesLike) -> None:
        """Take boxes out; their pairs end.

        Args:
            handles: (n,) in use.
        """
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

    def _read(self, handles: IndicesLike) -> Integers:
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
            done = move_boxes(ids, targets, *axes, self._log, self._counts, done, most)
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
