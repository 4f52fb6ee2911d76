"""What questions about points answer: one row a point, or a row of faces for each. Immutable arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class InsideRule(IntEnum):
    """What tells inside from outside."""

    WINDING = 0
    """A closed, oriented surface winds around the point: a whole number other than 0."""
    PARITY = 1
    """A closed surface that is not oriented: a ray crosses it an odd number of times."""
    HALF = 2
    """An open surface: its winding number, which is no whole number, exceeds one half."""


def _tuples(rows: Floats) -> list[tuple[float, ...]]:
    return list(map(tuple, rows[:ROWS_SHOWN].tolist()))


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """The point of a surface nearest to each of many points. Immutable."""

    face: Integers
    """(n,) the face it lies on, of several the smallest number; −1 where none is within `max_distance`"""
    distance: Floats
    """(n,) how far away it is; infinite where there is none"""
    point: Floats
    """(n,3) the point, in the world; infinite where there is none"""
    barycentric: Floats
    """(n,3) its weights at the face's vertices; 0 where there is none"""

    def __len__(self) -> int:
        return len(self.face)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "point"), f"{int((self.face >= 0).sum()):,} within reach of a face")

    def _repr_html_(self) -> str:
        columns = (self.face.tolist(), self.distance.tolist(), _tuples(self.point), _tuples(self.barycentric))
        return table_html(repr(self), ("face", "distance", "point", "barycentric"), columns, len(self))


@dataclass(frozen=True, eq=False)
class SignedDistances:
    """Signed distances of points from a surface. Immutable."""

    distance: Floats
    """(n,) negative inside, positive outside; 0 on the surface, exactly, and nowhere else"""
    face: Integers
    """(n,) the nearest face, of several the smallest number"""
    point: Floats
    """(n,3) the nearest point of the surface, in the world"""
    barycentric: Floats
    """(n,3) its weights at the face's vertices"""
    rule: InsideRule
    """what told inside from outside, the same for all rows"""

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        inside = int((self.distance < 0.0).sum())
        return describe(self, count(len(self), "point"), f"{inside:,} inside", f"rule {self.rule.name}")

    def _repr_html_(self) -> str:
        columns = (self.distance.tolist(), self.face.tolist(), _tuples(self.point), _tuples(self.barycentric))
        return table_html(repr(self), ("distance", "face", "point", "barycentric"), columns, len(self))


@dataclass(frozen=True, eq=False)
class WindingNumbers:
    """How often a surface winds around each of many points. Immutable."""

    value: Floats
    """(n,) the winding number; a whole number where a surface is closed and oriented"""
    bound: Floats
    """(n,) the number is within this of `value`: 0 where a surface is closed and oriented; infinite on the surface, where it jumps"""
    on_surface: NDArray[np.bool_]
    """(n,) whether the point lies on the surface, exactly"""

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        worst = float(np.max(self.bound[~self.on_surface], initial=0.0))
        return describe(self, count(len(self), "point"), f"{int(self.on_surface.sum()):,} on it", f"within {worst:.1e}")

    def _repr_html_(self) -> str:
        columns = (self.value.tolist(), self.bound.tolist(), self.on_surface.tolist())
        return table_html(repr(self), ("value", "bound", "on_surface"), columns, len(self))


@dataclass(frozen=True, eq=False)
class NearFaces:
    """The faces within a radius of each of many points; `near[i]` are those of point i. Immutable."""

    start: Integers
    """(n + 1,) the faces of point i are `face[start[i]:start[i + 1]]`"""
    face: Integers
    """(m,) in ascending order for each point"""
    distance: Floats
    """(m,) their distances"""

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: int) -> Integers:
        if not -len(self) <= i < len(self):
            raise IndexError(f"row {i} of {len(self)}")
        i = i % len(self)
        return self.face[self.start[i] : self.start[i + 1]]

    def __iter__(self) -> Iterator[Integers]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return describe(self, count(len(self), "point"), count(len(self.face), "face"))

    def _repr_html_(self) -> str:
        shown = [tuple(self[i][:ROWS_SHOWN].tolist()) for i in range(min(ROWS_SHOWN, len(self)))]
        columns = (np.diff(self.start)[:ROWS_SHOWN].tolist(), shown)
        return table_html(repr(self), ("faces", "the first of them"), columns, len(self))
