"""What tracking answers: statuses, and one row per pair. Immutable arrays."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class Feature(IntEnum):
    """Kinds of features: the two lowest bits of a feature's number."""

    VERTEX = 0
    EDGE = 1
    FACE = 2


class Status(IntEnum):
    """How two hulls stand."""

    APART = 0
    """distance is above zero: points and normal are those of the closest features."""
    TOUCHING = 1
    """distance is zero to rounding, some 1e-11 of the size: it may have either sign."""
    OVERLAPPING = 2
    """distance is minus the depth: along the normal, b has to move that far (or a back) until they touch."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """Where hulls a and b are closest, or how deep they overlap: one row per pair, world coordinates."""

    distance: Floats
    """(p,) negative where they overlap"""
    point_a: Floats
    """(p,3) on a: closest to b, or deepest inside b"""
    point_b: Floats
    """(p,3) on b: point_b − point_a = distance · normal"""
    normal: Floats
    """(p,3) unit, from a to b"""
    feature_a: Integers
    """(p,) 4 · index + kind of the feature of a: see `Feature`"""
    feature_b: Integers
    """(p,) that of b"""
    status: NDArray[np.int8]
    """(p,) see `Status`"""
    steps: Integers
    """(p,) features walked"""
    circle_count: int
    """walks that rounding turned in a circle; their answers are checked like all others"""
    exhaustive_count: int
    """pairs whose answer had to be found by trying all features"""

    @property
    def features(self) -> Integers:
        """(p,2) what the next call may start from."""
        return np.stack([self.feature_a, self.feature_b], axis=1)

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        counts = ((int((self.status == status).sum()), status.name.lower()) for status in Status)
        return describe(self, count(len(self), "pair"), *(f"{number:,} {name}" for number, name in counts if number))

    def _repr_html_(self) -> str:
        names = [Status(number).name for number in self.status[:ROWS_SHOWN].tolist()]
        vectors = (list(map(tuple, rows[:ROWS_SHOWN].tolist())) for rows in (self.point_a, self.point_b, self.normal))
        columns = (names, self.distance.tolist(), *vectors)
        return table_html(repr(self), ("status", "distance", "point_a", "point_b", "normal"), columns, len(self))
