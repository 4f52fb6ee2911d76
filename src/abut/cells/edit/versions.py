"""Which parts have changed since when, so that particles in others are not looked at.

Every change of an environment makes a new version. A part is stamped with the version in which it last changed. Where the same vertices move
again and again, the parts around them are not stamped each time: `Moved` knows them, and the version in which they last moved; they are
stamped when others move or cells are cut.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.moved_vertices import Moved
from abut.cells.map.darts import Indices
from abut.cells.map.growing_tables import grown
from abut.core.arrays import Integers


class Versions:
    """The versions of one environment."""

    def __init__(self, part_count: int) -> None:
        self.latest = 0
        self._stamps = np.zeros(part_count, np.int64)
        self._moved: Moved | None = None

    def changed(self, parts: Integers | Indices, seen: int) -> NDArray[np.bool_]:
        """Whether each of some parts has changed after version `seen`."""
        is_changed = self._stamps[parts] > seen
        if self._moved is not None and self._moved.version > seen:
            listed = self._moved.is_listed
            # A number beyond all that are in use now has been stamped when it was given back.
            is_changed |= listed[np.minimum(parts, len(listed) - 1)]
        return is_changed

    def note_parts(self, *changed: Integers, part_count: int) -> None:
        """A new version, in which these parts have changed. There are `part_count` now."""
        self.stamp_moved()
        self.latest += 1
        if len(self._stamps) < part_count:
            longer = grown(self._stamps, part_count)
            longer[len(self._stamps) :] = self.latest
            self._stamps = longer
        for parts in changed:
            self._stamps[parts] = self.latest

    def note_moved(self, moved: Moved) -> None:
        """A new version, in which some vertices have moved."""
        if moved is not self._moved:
            self.stamp_moved()
        self.latest += 1
        moved.version, self._moved = self.latest, moved

    def stamp_moved(self) -> None:
        """Before the numbers of parts change, or others move."""
        if self._moved is not None:
            self._stamps[self._moved.parts] = np.maximum(self._stamps[self._moved.parts], self._moved.version)
        self._moved = None
