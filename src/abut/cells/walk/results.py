"""What a move answers: how it ended, where, when, and on which cell. Immutable arrays, one row a particle."""

import functools
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices
from abut.core.arrays import Floats, Integers, frozen


class Status(IntEnum):
    """How a move ended."""

    FREE = 0
    """The target was reached, and no obstacle touches it."""
    CONTACT = 1
    """The target was reached, and it lies on the boundary of an obstacle."""
    COLLISION = 2
    """The way to the target leaves the free cells: the particle stopped there; at once, at time 0, where its cell has become an obstacle."""


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

    position: Floats
    """(n,d) the target where it was reached; else a point of the last free cell, verified exactly, next to the cell hit"""

    _dimension: int
    _status: NDArray[np.int8]
    _tests: Indices
    _whole: Integers
    _real: Floats
    _part: Indices
    _face: Indices
    _part_cell: Integers

    def __init__(self, **fields: Any) -> None:
        """Rows and events as kernels write them (`answers.Answer`). They are the result's own from now on."""
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Moves are immutable: {name} cannot be set")

    def __len__(self) -> int:
        return len(self._status)

    @functools.cached_property
    def status(self) -> NDArray[np.int8]:
        """(n,) FREE, CONTACT or COLLISION."""
        return frozen(self._status)

    @functools.cached_property
    def time(self) -> Floats:
        """(n,) 1 where the target was reached; else when the way leaves the free cells: never late, early by less than 2⁻⁴⁰ of itself."""
        times = np.ones(len(self))
        times[self._whole[:, 0]] = self._real[:, 0]
        return frozen(times)

    @functools.cached_property
    def kind(self) -> NDArray[np.int8]:
        """(n,) dimension of the cell hit, or of the cell in which the target lies."""
        kinds = np.full(len(self), self._dimension, np.int8)
        kinds[self._whole[:, 0]] = self._whole[:, 1]
        return frozen(kinds)

    @functools.cached_property
    def normal(self) -> Floats:
        """(n,d) unit normal from the particle to the obstacle, of a blocking face; zero where nothing is touched."""
        normals = np.zeros((len(self), self._dimension))
        normals[self._whole[:, 0]] = self._real[:, 1 : 1 + self._dimension]
        return frozen(normals)

    @functools.cached_property
    def tests(self) -> Integers:
        """(n,) orientation tests made."""
        return frozen(self._tests.astype(np.int64))

    def complete(self) -> None:
        """Work out everything now, since the environment is about to change."""
        self.__dict__["dart"], self.__dict__["cell"] = self.dart, self.cell

    @functools.cached_property
    def dart(self) -> Integers:
        """(n,) a dart of the cell of that kind, in the map's free cell that holds the position."""
        darts = self._face[self._part, 0].astype(np.int64)
        darts[self._whole[:, 0]] = self._whole[:, 2]
        return frozen(darts)

    @functools.cached_property
    def cell(self) -> Integers:
        """(n,) the free cell of the environment in whose closure the position lies."""
        return frozen(self._part_cell[self._part])
