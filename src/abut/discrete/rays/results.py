"""What `cast` answers: one row a hit. Immutable arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False)
class CastHits:
    """Where rays or segments pass through a surface: one row per hit, sorted by ray, t and face. Immutable."""

    ray: Integers
    """(n,) which ray or segment"""
    face: Integers
    """(n,) the face it passes"""
    t: Floats
    """(n,) where, in lengths of the direction, or of the segment: the point is origin + t · direction"""
    point: Floats
    """(n,3) the point of the face, in the world"""
    barycentric: Floats
    """(n,3) its weights at the face's vertices, exactly 0 on an edge or vertex"""
    entering: NDArray[np.bool_]
    """(n,) whether it passes against the normal of the face: into a closed surface whose faces are oriented outwards"""
    ray_count: int
    """how many rays were asked about"""

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(ray_count,) for each ray whether it hits anything."""
        found = np.zeros(self.ray_count, dtype=np.bool_)
        found[self.ray] = True
        return found

    def __len__(self) -> int:
        return len(self.ray)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        return describe(
            self, count(len(self), "hit"), f"{int(self.hit.sum()):,} of {count(self.ray_count, 'ray')} hitting"
        )

    def _repr_html_(self) -> str:
        points = list(map(tuple, self.point[:ROWS_SHOWN].tolist()))
        columns = (self.ray.tolist(), self.face.tolist(), self.t.tolist(), points, self.entering.tolist())
        return table_html(repr(self), ("ray", "face", "t", "point", "entering"), columns, len(self))
