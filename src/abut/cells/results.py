"""What a move answers: how it ended, where, when, and on which cell. Immutable arrays, one row a particle."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers


class Status(IntEnum):
    """How a move ended."""

    FREE = 0
    """The target was reached, and no obstacle touches it."""
    CONTACT = 1
    """The target was reached, and it lies on the boundary of an obstacle."""
    COLLISION = 2
    """The way to the target leaves the free cells: the particle stopped there."""


class Kind(IntEnum):
    """Dimension of a cell of the map: what a point lies in."""

    VERTEX = 0
    EDGE = 1
    FACE = 2
    VOLUME = 3


FREE, CONTACT, COLLISION = Status.FREE, Status.CONTACT, Status.COLLISION
VERTEX, EDGE, FACE, VOLUME = Kind.VERTEX, Kind.EDGE, Kind.FACE, Kind.VOLUME


@dataclass(frozen=True, eq=False)
class Moves:
    """One row a particle: the answer to `Particles.move`."""

    status: NDArray[np.int8]
    position: Floats
    """(n,d) the target where it was reached; else a point of the last free cell, verified exactly, next to the cell hit"""
    time: Floats
    """(n,) 1 where the target was reached; else when the way leaves the free cells: never late, early by less than 2⁻⁴⁰"""
    kind: NDArray[np.int8]
    """(n,) dimension of the cell hit, or of the cell in which the target lies"""
    dart: Integers
    """(n,) a dart of that cell, in a free cell of the map"""
    normal: Floats
    """(n,d) unit normal from the particle to the obstacle, of a blocking face; zero where nothing is touched"""
    tests: Integers
    """(n,) orientation tests made"""
    cell: Integers
    """(n,) the free cell of the environment in whose closure the position lies"""

    def __len__(self) -> int:
        return len(self.status)
