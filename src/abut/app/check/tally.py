"""What is known of rows when they themselves lie in the store: how many there are of each kind, and the first and the worst."""

from typing import NamedTuple

import numpy as np

from abut.app.check.findings import Contact, Rows
from abut.app.check.rows import deepest, earliest, empty_rows, join, select, shift
from abut.core.arrays import Integers

WORST = 10
KINDS = tuple(Contact)


class Tally(NamedTuple):
    """Of some rows. Tallies are added in any order, and the sum is the same."""

    counts: Integers
    """(4,) rows of each kind"""
    first: Rows
    """the earliest; no row where there is none"""
    worst_impacts: Rows
    """the ten deepest between frames"""
    longest_cuts: Rows
    """the ten longest cuts at frames"""
    reused: int
    """frames and steps that had been computed before"""

    @classmethod
    def empty(cls) -> "Tally":
        """Of no rows."""
        none = empty_rows()
        return cls(np.zeros(len(KINDS), np.int64), none, none, none, 0)

    @classmethod
    def of(cls, rows: Rows, frame: int, *, reused: int = 0) -> "Tally":
        """Of the rows of a frame or a step, which count from 0."""
        if not len(rows.kind):
            return cls.empty()._replace(reused=reused)
        moved = shift(rows, frame)
        cuts = select(moved, moved.kind == Contact.FACE_FACE)
        impacts = select(moved, moved.kind < Contact.FACE_FACE)
        counts = np.array([(rows.kind == kind).sum() for kind in KINDS], np.int64)
        return cls(counts, earliest(moved), deepest(impacts, WORST), deepest(cuts, WORST), reused)

    def add(self, other: "Tally") -> "Tally":
        """Of both."""
        if not other.counts.any():
            return self._replace(reused=self.reused + other.reused)
        return Tally(
            self.counts + other.counts,
            earliest(join([self.first, other.first])),
            deepest(join([self.worst_impacts, other.worst_impacts]), WORST),
            deepest(join([self.longest_cuts, other.longest_cuts]), WORST),
            self.reused + other.reused,
        )
