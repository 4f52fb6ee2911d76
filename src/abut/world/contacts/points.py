"""Points of contact between colliders, as the narrow phase writes them (`shapes.narrow_phase`), with names for their columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.records import Records, record
from abut.shapes.narrow_phase import COLLIDER_A, COLLIDER_B

POINT = record(("point", "f8", 3), ("normal", "f8", 3), ("separation", "f8"))
FEATURE = record(
    ("face_a", "i8"),
    ("face_b", "i8"),
    ("identity", "i8"),  # of the features that touch
    ("collider_a", "i8"),
    ("collider_b", "i8"),
)


class ContactPoints(NamedTuple):
    """One row per point; those of a pair of colliders stand together."""

    numbers: Floats
    """(n,7) see `POINT`"""
    ids: Integers
    """(n,5) see `FEATURE`"""

    @property
    def points(self) -> Records:
        """(n,) the numbers with names, not copied."""
        return self.numbers.view(POINT).reshape(-1)

    @property
    def features(self) -> Records:
        """(n,) the ids with names, not copied."""
        return self.ids.view(FEATURE).reshape(-1)

    @property
    def point(self) -> Floats:
        """(n,3) midway between the two surfaces."""
        return self.numbers[:, :3]

    @property
    def normal(self) -> Floats:
        """(n,3) from a to b."""
        return self.numbers[:, 3:6]

    @property
    def separation(self) -> Floats:
        """(n,) less than 0 where the two overlap."""
        return self.numbers[:, 6]

    @property
    def face_a(self) -> Integers:
        """(n,) of a surface or a polytope, else −1."""
        return self.ids[:, 0]

    @property
    def face_b(self) -> Integers:
        """(n,) of a surface or a polytope, else −1."""
        return self.ids[:, 1]

    @property
    def collider_a(self) -> Integers:
        """(n,)"""
        return self.ids[:, COLLIDER_A]

    @property
    def collider_b(self) -> Integers:
        """(n,)"""
        return self.ids[:, COLLIDER_B]

    @property
    def colliders(self) -> Integers:
        """(n,2)"""
        return self.ids[:, [COLLIDER_A, COLLIDER_B]]

    @property
    def keys(self) -> Integers:
        """(n,) one for each pair: collider a · 2³² + collider b."""
        return (self.collider_a << 32) | self.collider_b

    def take(self, rows: Any) -> "ContactPoints":
        """Some of the points."""
        return ContactPoints(self.numbers[rows], self.ids[rows])


def join_points(parts: Sequence[ContactPoints]) -> ContactPoints:
    """All of them, one part behind the other."""
    return ContactPoints(np.concatenate([part.numbers for part in parts]), np.concatenate([part.ids for part in parts]))


def no_points() -> ContactPoints:
    """None."""
    return ContactPoints(np.empty((0, 7)), np.empty((0, 5), np.int64))
