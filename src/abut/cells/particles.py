"""Particles: points that follow straight ways through the free cells of an environment (Jund 2010, chapter 3).

State: the position and a free cell in whose closure it lies, exactly. `move` sends every particle along a segment to its target; it arrives, or
stops where its way leaves the free cells. Moves of many particles run on all threads; the answers do not depend on how many there are.
"""

import numba
import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers
from abut.cells.darts import Indices
from abut.cells.environment import Environment
from abut.cells.location import find_cells
from abut.cells.results import Moves
from abut.cells.signs import NOWHERE
from abut.cells.walk import move_chunks, move_rows
from abut.errors import InvalidInput

PARALLEL_FROM = 100_000
"""Particles from which on all threads are used. Waking them costs as much as moving tens of thousands."""
CHUNK = 8192


class Particles:
    """Points inside an environment.

    Raises `InvalidInput` for a point outside of every cell, or one that only obstacles hold.
    """

    def __init__(self, environment: Environment, points: object) -> None:
        self._environment = environment
        given = arrays.points(points, "points", dimensions=environment.dimension, keep=True)
        inner = _raise_points(given)
        found = find_cells(environment._space, environment._located(), inner)
        _refuse_lost(environment, found)
        self._position = given
        self._inner = inner
        self._cells = found

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def environment(self) -> Environment:
        """Where they move."""
        return self._environment

    @property
    def position(self) -> Floats:
        """(n, dimension) where they are."""
        return self._position

    @property
    def cell(self) -> Integers:
        """(n,) the free cell in whose closure each lies; the lowest-numbered choice is not guaranteed after moves."""
        return arrays.frozen(self._environment.part_cell[self._cells])

    def move(self, targets: object) -> Moves:
        """Send each particle straight to its target (n, dimension); how each move ended."""
        environment = self._environment
        goal = arrays.points(targets, "targets", dimensions=environment.dimension)
        if len(goal) != len(self._cells):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self._cells)} particles")
        space, count = environment._space, len(goal)
        position = _raise_points(goal)
        cells = self._cells.copy()
        status = np.zeros(count, np.int8)
        time = np.ones(count)
        kind = np.full(count, environment.dimension, np.int8)
        dart = np.full(count, NOWHERE, np.int32)
        normal = np.zeros((count, 3))
        tests = np.empty(count, np.int32)
        answer = (self._inner, cells, position, status, time, kind, dart, normal, tests)
        if count < PARALLEL_FROM or numba.get_num_threads() == 1:
            move_rows(space, 0, count, *answer)
        else:
            move_chunks(space, -(-count // CHUNK), *answer)
        self._inner, self._cells = position, cells
        return self._report(position, status, time, kind, dart, normal, tests)

    def _report(
        self,
        position: Floats,
        status: np.ndarray,
        time: Floats,
        kind: np.ndarray,
        dart: Indices,
        normal: Floats,
        tests: Indices,
    ) -> Moves:
        dimension = self._environment.dimension
        inside = dart == NOWHERE
        darts = np.where(inside, self._environment._space.face[self._cells, 0], dart).astype(np.int64)
        reached = np.ascontiguousarray(position[:, :dimension]) if dimension == 2 else position.view()
        self._position = arrays.frozen(reached)
        frozen = arrays.frozen
        return Moves(
            frozen(status),
            self._position,
            frozen(time),
            frozen(kind),
            frozen(darts),
            frozen(np.ascontiguousarray(normal[:, :dimension])),
            frozen(tests.astype(np.int64)),
            frozen(self._environment.part_cell[self._cells]),
        )


def _raise_points(points: Floats) -> Floats:
    """A writable copy with three columns, z = 0 in the plane."""
    raised = np.zeros((len(points), 3))
    raised[:, : points.shape[1]] = points
    return raised


def _refuse_lost(environment: Environment, found: Indices) -> None:
    lost = found == NOWHERE
    if lost.any():
        raise InvalidInput("points", "lies outside of every cell", int(np.argmax(lost)))
    stuck = environment._space.obstacle[found]
    if stuck.any():
        row = int(np.argmax(stuck))
        cell = int(environment.part_cell[found[row]])
        raise InvalidInput("points", f"lies in cell {cell}, an obstacle, and in no free cell", row)
