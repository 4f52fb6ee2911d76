"""What a move answers: how it ended, where, when, and on which cell. Immutable arrays, one row per particle."""

import functools
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices
from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


class Status(IntEnum):
    """How a move ended."""

    FREE = 0
    """The target was reached, and no obstacle touches it."""
    CONTACT = 1
    """The target was reached, and it lies on the boundary of an obstacle."""
    COLLISION = 2
    """The path to the target leaves the free cells: the particle stopped there; at once, at time 0, where its cell has become an obstacle."""


class Kind(IntEnum):
    """Dimension of a cell of the map: what a point lies in."""

    VERTEX = 0
    EDGE = 1
    FACE = 2
    VOLUME = 3


def count_statuses(status: NDArray[np.int8]) -> list[str]:
    """How many moves ended in which way, those that none did left out: `2 free`, `1 contact`."""
    counts = np.bincount(status, minlength=len(Status)).tolist()
    words = ("", ""), ("contact", "contacts"), ("collision", "collisions")
    return [
        f"{number:,} free" if status == Status.FREE else count(number, *words[status])
        for status, number in zip(Status, counts, strict=True)
        if number
    ]


FREE, CONTACT, COLLISION = Status.FREE, Status.CONTACT, Status.COLLISION
VERTEX, EDGE, FACE, VOLUME = Kind.VERTEX, Kind.EDGE, Kind.FACE, Kind.VOLUME


class Found(NamedTuple):
    """What a walk has written (`events.Answer`), and the tables it refers to. Belongs to one result from now on."""

    dimension: int
    status: NDArray[np.int8]
    tests: Indices
    events: NDArray[Any]
    part: Indices
    face: Indices
    part_cell: Integers


class Moves:
    """How the moves of particles ended: one row per particle, the answer to `Particles.move`.

    Immutable. What few ask for is worked out when it is first asked for.

    Args:
        position: (n, dimension) where each particle is now.
        found: what the walk has written.

    Examples:
        >>> import abut
        >>> channel = abut.cells.channel(3, 1, 1)
        >>> moves = abut.cells.Particles(channel, [[0.5, 0.5, 0.5]]).move([[4.5, 0.5, 0.5]])
        >>> moves
        Moves(1 particle, 1 collision)
        >>> moves.position.tolist(), moves.normal.tolist(), abut.cells.Kind(moves.kind[0]).name
        ([[3.0, 0.5, 0.5]], [[1.0, 0.0, 0.0]], 'FACE')
    """

    position: Floats
    """(n,d) the target where it was reached; else a point of the last free cell, verified exactly, next to the cell hit"""

    _found: Found

    def __init__(self, position: Floats, found: Found) -> None:
        self.__dict__["position"], self.__dict__["_found"] = position, found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Moves are immutable: {name} cannot be set")

    def __len__(self) -> int:
        return len(self._found.status)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "particle"), *count_statuses(self._found.status))

    def _repr_html_(self) -> str:
        first = slice(ROWS_SHOWN)
        names = [Status(each).name for each in self.status[first].tolist()]
        columns = (names, *(each[first].tolist() for each in (self.position, self.time, self.cell)))
        return table_html(repr(self), ("status", "position", "time", "cell"), columns, len(self))

    @functools.cached_property
    def status(self) -> NDArray[np.int8]:
        """(n,) FREE, CONTACT or COLLISION, a `Status`."""
        return frozen(self._found.status)

    @functools.cached_property
    def time(self) -> Floats:
        """(n,) 1 where the target was reached; else when the path leaves the free cells: never late, early by less than 2⁻⁴⁰ of itself."""
        times = np.ones(len(self))
        times[self._found.events["particle"]] = self._found.events["time"]
        return frozen(times)

    @functools.cached_property
    def kind(self) -> NDArray[np.int8]:
        """(n,) dimension of the cell hit, or of the cell in which the target lies."""
        kinds = np.full(len(self), self._found.dimension, np.int8)
        kinds[self._found.events["particle"]] = self._found.events["kind"]
        return frozen(kinds)

    @functools.cached_property
    def normal(self) -> Floats:
        """(n,d) unit normal from the particle to the obstacle, of a blocking face; zero where nothing is touched."""
        normals = np.zeros((len(self), self._found.dimension))
        normals[self._found.events["particle"]] = self._found.events["normal"][:, : self._found.dimension]
        return frozen(normals)

    @functools.cached_property
    def tests(self) -> Integers:
        """(n,) orientation tests made."""
        return frozen(self._found.tests.astype(np.int64))

    def complete(self) -> None:
        """Work out everything now. Environments call it before they change."""
        self.__dict__["dart"], self.__dict__["cell"] = self.dart, self.cell

    @functools.cached_property
    def dart(self) -> Integers:
        """(n,) a dart of the cell of that kind, in the map's free cell that holds the position."""
        darts = self._found.face[self._found.part, 0].astype(np.int64)
        darts[self._found.events["particle"]] = self._found.events["dart"]
        return frozen(darts)

    @functools.cached_property
    def cell(self) -> Integers:
        """(n,) the free cell of the environment in whose closure the position lies."""
        return frozen(self._found.part_cell[self._found.part])
