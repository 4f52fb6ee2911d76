"""The answer to a move on the device: the fields of `Moves` as arrays of CuPy, worked out when they are asked for."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from abut.cells.walk.results import Found, Moves, count_statuses
from abut.core.showing import count, describe
from abut.cuda.device import cupy


class MovesOnDevice(Moves):
    """`Moves` whose arrays lie on the device. Events are few; they wait there until somebody asks what was met."""

    def __init__(self, position: Any, found: Found, read_events: Callable[[], Any]) -> None:
        self.__dict__.update(_at=position, _found=found, _read=read_events)

    def __repr__(self) -> str:
        statuses = cupy.asnumpy(self._found.status)
        return describe(self, count(len(self), "particle"), *count_statuses(statuses)).replace("OnDevice", "", 1)

    @functools.cached_property
    def _events(self) -> Any:
        """What particles met, on the host."""
        return self.__dict__.pop("_read")()

    def _spread(self, values: Any, field: str) -> Any:
        rows = self._events
        if len(rows):
            values[cupy.asarray(rows["particle"])] = cupy.asarray(np.ascontiguousarray(rows[field]))
        return values

    @functools.cached_property
    def position(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As `Moves.position`: a copy, since the particles go on from there."""
        return self.__dict__["_at"].copy()

    @functools.cached_property
    def status(self) -> Any:
        """As `Moves.status`."""
        return self._found.status

    @functools.cached_property
    def time(self) -> Any:
        """As `Moves.time`."""
        return self._spread(cupy.ones(len(self)), "time")

    @functools.cached_property
    def kind(self) -> Any:
        """As `Moves.kind`."""
        return self._spread(cupy.full(len(self), self._found.dimension, dtype=np.int8), "kind")

    @functools.cached_property
    def normal(self) -> Any:
        """As `Moves.normal`."""
        return self._spread(cupy.zeros((len(self), 3)), "normal")

    @functools.cached_property
    def tests(self) -> Any:
        """As `Moves.tests`."""
        return self._found.tests.astype(np.int64)

    @functools.cached_property
    def dart(self) -> Any:
        """As `Moves.dart`."""
        first = cupy.asarray(np.ascontiguousarray(self._found.face[:, 0]))
        return self._spread(first[self._found.part].astype(np.int64), "dart")

    @functools.cached_property
    def cell(self) -> Any:
        """As `Moves.cell`."""
        return cupy.asarray(self._found.part_cell)[self._found.part]
