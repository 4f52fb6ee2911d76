"""What a move answers: how it ended, where, when, and on which cell. Immutable arrays, one row a particle."""

import functools
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers, frozen
from abut.cells.darts import Indices


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


class Moves:
    """One row a particle: the answer to `Particles.move`. Immutable; what is asked for seldom is worked out when it is."""

    status: NDArray[np.int8]
    position: Floats
    """(n,d) the target where it was reached; else a point of the last free cell, verified exactly, next to the cell hit"""
    time: Floats
    """(n,) 1 where the target was reached; else when the way leaves the free cells: never late, early by less than 2⁻⁴⁰ of itself"""
    kind: NDArray[np.int8]
    """(n,) dimension of the cell hit, or of the cell in which the target lies"""
    normal: Floats
    """(n,d) unit normal from the particle to the obstacle, of a blocking face; zero where nothing is touched"""
    tests: Integers
    """(n,) orientation tests made"""

    _dart: Integers
    _part: Indices
    _first_darts: Indices
    _part_cell: Integers

    def __init__(self, **fields: NDArray[Any]) -> None:
        for table in fields.values():
            table.flags.writeable = False
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Moves are immutable: {name} cannot be set")

    def __len__(self) -> int:
        return len(self.status)

    def complete(self) -> None:
        """Work out everything now, since the environment is about to change."""
        self.__dict__["dart"], self.__dict__["cell"] = self.dart, self.cell

    @functools.cached_property
    def dart(self) -> Integers:
        """(n,) a dart of the cell of that kind, in the map's free cell that holds the position."""
        return frozen(np.where(self._dart < 0, self._first_darts[self._part], self._dart))

    @functools.cached_property
    def cell(self) -> Integers:
        """(n,) the free cell of the environment in whose closure the position lies."""
        return frozen(self._part_cell[self._part])
