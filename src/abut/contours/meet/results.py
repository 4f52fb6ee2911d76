"""What questions about contours answer: kinds of contact, how two contours lie to one another, contacts, distances. Immutable arrays."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers, frozen


class Kind(IntEnum):
    """How two contours meet at a contact."""

    CROSSING = 0
    """a passes from one side of b to the other."""
    TOUCH = 1
    """They meet in a point and a stays on its side."""
    INTERVAL = 2
    """They are within rounding of one another along a stretch."""


class Relation(IntEnum):
    """How two contours lie to one another."""

    APART = 0
    CONTACT = 1
    """They meet."""
    A_IN_B = 2
    """They do not meet, and a lies within b."""
    B_IN_A = 3


CROSSING, TOUCH, INTERVAL = Kind.CROSSING, Kind.TOUCH, Kind.INTERVAL
APART, CONTACT, A_IN_B, B_IN_A = Relation.APART, Relation.CONTACT, Relation.A_IN_B, Relation.B_IN_A


class Contacts:
    """Where contours meet, one row a contact, in world coordinates, ordered by query and then by the place on a.

    A contact that is one place has equal beginning and end; where the curves stay within rounding of one another these differ.
    """

    __slots__ = ("_numbers", "_rows", "query")

    query: Integers
    """(n,) which pose or pair a row belongs to; zeros for a single question"""

    def __init__(self, rows: Floats, query: Integers, numbers: Integers) -> None:
        self._rows = rows
        self.query = query
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        """Whether any of the contours asked about meet or hold one another."""
        return bool(self._numbers[:, 0].any())

    def __repr__(self) -> str:
        return f"Contacts({len(self)} contacts, {len(self._numbers)} queries)"

    @property
    def parameter_a(self) -> Floats:
        """(n,2) where a contact begins and ends on a: i + t is the point t of segment i, modulo the number of segments"""
        return self._rows[:, 0:2]

    @property
    def parameter_b(self) -> Floats:
        """(n,2) where it is on b there; descending where the contours run against one another"""
        return self._rows[:, 2:4]

    @property
    def point(self) -> Floats:
        """(n,2) the middle of the contact, on a"""
        return self._rows[:, 4:6]

    @property
    def normal(self) -> Floats:
        """(n,2) unit normal from a to b"""
        return self._rows[:, 6:8]

    @property
    def kind(self) -> NDArray[np.int8]:
        """(n,) CROSSING, TOUCH or INTERVAL"""
        return frozen(self._rows[:, 8].astype(np.int8))

    @property
    def relation(self) -> Integers:
        """(k,) one a query: APART, CONTACT, A_IN_B or B_IN_A"""
        return self._numbers[:, 0]

    @property
    def boxes_compared(self) -> Integers:
        """(k,) pairs of boxes compared"""
        return self._numbers[:, 3]

    @property
    def segments_compared(self) -> Integers:
        """(k,) pairs of segments compared"""
        return self._numbers[:, 4]

    @property
    def places_compared(self) -> Integers:
        """(k,) pairs of places compared on the way from places of segments to contacts of contours"""
        return self._numbers[:, 5]


class Distance:
    """The least distance of two contours' curves, one row a query."""

    __slots__ = ("_rows", "relation")

    relation: Integers
    """(k,) APART, CONTACT, A_IN_B or B_IN_A"""

    def __init__(self, rows: Floats, relation: Integers) -> None:
        self._rows = rows
        self.relation = relation

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Distance({len(self)} queries, least {self._rows[:, 0].min(initial=np.inf):g})"

    @property
    def distance(self) -> Floats:
        """(k,) between the curves: 0 where they meet, positive also where one contour holds the other"""
        return self._rows[:, 0]

    @property
    def signed(self) -> Floats:
        """(k,) the same, negative where one contour holds the other"""
        return frozen(np.where(self.relation >= Relation.A_IN_B, -self._rows[:, 0], self._rows[:, 0]))

    @property
    def parameter_a(self) -> Floats:
        """(k,) the place on a that is nearest to b"""
        return self._rows[:, 1]

    @property
    def parameter_b(self) -> Floats:
        """(k,) the place on b that is nearest to a"""
        return self._rows[:, 2]

    @property
    def point_a(self) -> Floats:
        """(k,2) witness on a"""
        return self._rows[:, 3:5]

    @property
    def point_b(self) -> Floats:
        """(k,2) witness on b"""
        return self._rows[:, 5:7]

    @property
    def boxes_compared(self) -> Integers:
        """(k,) pairs of boxes compared"""
        return frozen(self._rows[:, 7].astype(np.int64))

    @property
    def segments_compared(self) -> Integers:
        """(k,) pairs of segments compared"""
        return frozen(self._rows[:, 8].astype(np.int64))
