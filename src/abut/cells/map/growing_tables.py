"""Tables that grow and shrink by a few rows at a time, so that surgery costs what it changes.

`Rows` are tables of one length: room is added by half at least, and numbers that were given back are handed out again, lowest first. Rows at the
end that are not used are left off. `Lists` are lists of numbers, one for each row of something: a changed list is written at the end of a
pool, which is packed again when half of it is unused. Both costs are a constant for each row ever written.

Tables are handed out as views: they stay valid until the next growth, and rows given back keep what was in them.
"""

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices
from abut.core.arrays import Integers

GROWTH = 1.5


def grown(table: NDArray[Any], count: int) -> NDArray[Any]:
    """A copy of a table with room for this many rows, at least half as many again as before."""
    room = max(count, int(GROWTH * len(table)) + 1)
    larger = np.empty((room, *table.shape[1:]), table.dtype)
    larger[: len(table)] = table
    return larger


class Rows:
    """Tables of one length, by name. `count` rows are in use or have been given back below one in use."""

    def __init__(self, **tables: NDArray[Any]) -> None:
        self._room = tables
        self.count = len(next(iter(tables.values())))
        self._free: set[int] = set()
        self._heap: list[int] = []  # may hold numbers that are free no longer

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._room[name][: self.count]

    def put(self, name: str, table: NDArray[Any]) -> None:
        """Another table of the same length in place of one."""
        self._room[name] = table

    def take(self, count: int) -> Integers:
        """Numbers of this many rows; what is in them is left over from before."""
        rows: list[int] = []
        while self._free and len(rows) < count:
            row = heapq.heappop(self._heap)
            if row in self._free:
                self._free.remove(row)
                rows.append(row)
        first, self.count = self.count, self.count + count - len(rows)
        self._make_room()
        return np.array([*rows, *range(first, self.count)], np.int64)

    def _make_room(self) -> None:
        for name, table in self._room.items():
            if len(table) < self.count:
                self._room[name] = grown(table, self.count)

    def give_back(self, rows: Integers) -> None:
        """Hand rows back."""
        for row in rows.tolist():
            self._free.add(row)
            heapq.heappush(self._heap, row)

    def claim(self, first: int, last: int) -> Integers:
        """Make these very rows the caller's; those of them that somebody uses already."""
        used = [row for row in range(first, min(last, self.count)) if row not in self._free]
        self._free.difference_update(range(first, last))
        self.count = max(self.count, last)
        self._make_room()
        return np.array(used, np.int64)

    def trim(self) -> None:
        """Leave off the rows at the end that are not used."""
        while self.count - 1 in self._free:
            self.count -= 1
            self._free.remove(self.count)


class Lists:
    """A list of numbers for each row: `pool[begin[row] : end[row]]`."""

    def __init__(self, begin: Integers, end: Integers, pool: Indices) -> None:
        self.begin, self.end, self._room = begin, end, pool
        self._used = self._live = len(pool)
        self.count = len(self.begin)

    @property
    def pool(self) -> Indices:
        """The numbers, among others that are no longer used."""
        return self._room[: self._used]

    def __getitem__(self, row: int) -> Indices:
        return self._room[self.begin[row] : self.end[row]]

    def extend(self, count: int) -> None:
        """Let there be this many lists, new ones empty."""
        if count > len(self.begin):
            self.begin, self.end = grown(self.begin, count), grown(self.end, count)
        if count > self.count:
            self.begin[self.count : count] = self.end[self.count : count] = 0
            self.count = count

    def gather(self, rows: Integers) -> tuple[Integers, Indices]:
        """The lists of these rows one after another, and the row that each number belongs to."""
        begin, sizes = self.begin[rows], self.end[rows] - self.begin[rows]
        start = np.cumsum(sizes) - sizes
        places = np.arange(int(sizes.sum())) + np.repeat(begin - start, sizes)
        return np.repeat(rows, sizes), self._room[places]

    def replace(self, rows: Integers, owners: Integers, numbers: Indices) -> None:
        """Other lists for these rows (ascending): all numbers, and the row of each, ascending."""
        self._live += len(numbers) - int((self.end[rows] - self.begin[rows]).sum())
        if self._used + len(numbers) > len(self._room):
            self._room = grown(self._room, self._used + len(numbers))
        first = self._used
        self._room[first : first + len(numbers)] = numbers
        self._used += len(numbers)
        self.begin[rows] = first + np.searchsorted(owners, rows)
        self.end[rows] = first + np.searchsorted(owners, rows, side="right")
        if self._used > 2 * self._live + len(self.begin):
            self._pack()

    def _pack(self) -> None:
        rows = np.arange(self.count)
        _, numbers = self.gather(rows)
        end = np.cumsum(self.end[: self.count] - self.begin[: self.count])
        self.begin[: self.count], self.end[: self.count] = np.concatenate(([0], end[:-1])), end
        self._room, self._used, self._live = numbers, len(numbers), len(numbers)
