"""What `proximity` answers: one row a pair of features. Immutable arrays."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class FeaturePair(IntEnum):
    """Which features are near each other. The numbers are those of `abut.ccd.Kind`."""

    VERTEX_FACE = 0
    """a is a vertex (of body a), b a face (of body b)."""
    EDGE_EDGE = 1
    """a and b are edges, as `Mesh.edges` numbers them; of one body a < b."""
    FACE_VERTEX = 2
    """a is a face of body a, b a vertex of body b; two bodies only."""


@dataclass(frozen=True, eq=False)
class Proximity:
    """Pairs of features no farther apart than a distance: one row per pair, sorted by kind, a and b. Immutable."""

    kind: NDArray[np.int8]
    """(n,) see `FeaturePair`"""
    a: Integers
    """(n,) a vertex, an edge or a face of a"""
    b: Integers
    """(n,) a face, an edge or a vertex of b"""
    distance: Floats
    """(n,) how far they are apart"""
    point_a: Floats
    """(n,3) the point of the feature of a that is nearest to the other, in the world"""
    point_b: Floats
    """(n,3) that of b"""

    def __len__(self) -> int:
        return len(self.kind)

    def __repr__(self) -> str:
        numbers = np.bincount(self.kind, minlength=len(FeaturePair)).tolist()
        named = zip(FeaturePair, numbers, strict=True)
        facts = (f"{number:,} {kind.name.lower()}" for kind, number in named if number)
        return describe(self, count(len(self), "pair"), *facts)

    def _repr_html_(self) -> str:
        names = [FeaturePair(number).name for number in self.kind[:ROWS_SHOWN].tolist()]
        columns = (names, self.a.tolist(), self.b.tolist(), self.distance.tolist())
        return table_html(repr(self), ("kind", "a", "b", "distance"), columns, len(self))
