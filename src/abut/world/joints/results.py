"""What a world answers about its joints."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False)
class JointStates:
    """How joints stand, one row per joint."""

    joint: Integers
    """(n,) handles"""
    body_a: Integers
    """(n,) handles of bodies; −1 for the world"""
    body_b: Integers
    translation: Floats
    """(n,3) of b's point, seen in the axes of a: x, y, z"""
    rotation: Floats
    """(n,3) of b against a in radians: twist with whole turns, and the swing along y and z"""
    distance: Floats
    """(n,) of the two points"""
    force: Floats
    """(n,3) on b over the last step, in the world"""
    torque: Floats
    """(n,3) on b about its point"""
    broken: NDArray[np.bool_]
    """(n,) joints that broke: they hold nothing"""

    def __len__(self) -> int:
        return len(self.joint)

    def __repr__(self) -> str:
        broken = int(self.broken.sum())
        return describe(self, count(len(self), "joint"), *((f"{broken:,} broken",) if broken else ()))

    def _repr_html_(self) -> str:
        names = ("joint", "body_a", "body_b", "translation", "rotation", "distance", "broken")
        return table_html(repr(self), names, [getattr(self, name)[:ROWS_SHOWN].tolist() for name in names], len(self))
