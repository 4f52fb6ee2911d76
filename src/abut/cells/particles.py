"""Particles: points that follow straight ways through the free cells of an environment (Jund 2010, chapter 3).

State: the position and a free cell in whose closure it lies, exactly. `move` sends every particle along a segment to its target; it arrives, or
stops where its way leaves the free cells. Moves of many particles run on all threads; the answers do not depend on how many there are.
"""

import weakref
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_choice, read_flag, refuse_kind
from abut.cells.edit.deformation import leave_obstacles, settle_rows
from abut.cells.environment import Environment
from abut.cells.map.darts import Indices
from abut.cells.space.location import find_cells
from abut.cells.space.predicates import NOWHERE
from abut.cells.walk.by_darts import begin_rows, turn_rows
from abut.cells.walk.by_planes import move_chunks, move_rows
from abut.cells.walk.invariants import refuse_ends, refuse_legs, refuse_states
from abut.cells.walk.results import COLLISION, Moves
from abut.core import arrays, jit
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

PARALLEL_FROM = 100_000
"""Particles from which on all threads are used. Waking them costs as much as moving tens of thousands."""
CHUNK = 8192
MOST_RESULTS = 64
"""References to results that are kept before those to results that are gone are dropped."""


class Particles:
    """Points inside an environment.

    `walk` chooses how ways are followed: by records of planes (fast), or by the thesis' walk on darts, which turns to a predicted face and counts
    its orientation tests. Both give the same answers; `tests` counts planes in the one and orientation tests in the other.

    `debug` checks invariants by exact signs: before and after every move, that each particle lies in its closed cell; in the walk on darts also
    the pre- and postconditions of the thesis' algorithms, after each cell passed (`invariants`). What does not hold raises `AssertionError`.

    Raises `InvalidInput` for a point outside of every cell, or one that only obstacles hold.
    """

    def __init__(
        self,
        environment: Environment,
        points: object,
        walk: Literal["planes", "darts"] = "planes",
        *,
        debug: bool = False,
    ) -> None:
        refuse_kind(environment, Environment, "environment")
        read_choice(walk, "walk", ("planes", "darts"))
        self._environment, self._debug = environment, read_flag(debug, "debug")
        given = arrays.points(points, "points", dimensions=environment.dimension, keep=True)
        inner = _raise_points(given)
        found = find_cells(environment.interior.space, environment.interior.located(), inner)
        _refuse_lost(environment, found)
        self._position = given
        self._inner = inner
        self._cells = found
        self._seen = environment.interior.version
        self._stuck = np.empty(0, np.int64)  # those inside cells that have become obstacles
        self._results: list[weakref.ref[Moves]] = []
        environment.interior.crowds.add(self)
        # What moves write, before it is handed out.
        self._events = (np.empty((len(found), 3), np.int64), np.empty((len(found), 4)))
        self._heading: tuple[Integers, NDArray[np.bool_]] | None = None
        if walk == "darts":
            self._heading = (np.full(len(found), NOWHERE, np.int64), np.empty(len(found), np.bool_))
            begin_rows(environment.interior.space, np.arange(len(found)), inner, found, *self._heading)

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
        """(n,) the free cell in whose closure each lies, or the obstacle that its cell has become; the lowest-numbered choice is not guaranteed
        after moves."""
        return arrays.frozen(self._environment.interior.cells_then(self._cells, self._seen))

    def move(self, targets: object) -> Moves:
        """Send each particle straight to its target (n, dimension); how each move ended."""
        environment, count = self._environment, len(self._cells)
        goal = self._read_targets(targets)
        if self._seen != environment.interior.versions.latest:
            arrays.points(goal, "targets", dimensions=environment.dimension)  # a refusal leaves everything as it was
            self.settle()
        space = environment.interior.space
        if len(self._stuck):
            goal = arrays.points(goal, "targets", dimensions=space.dimension).copy()
            goal[self._stuck] = self._position[self._stuck]
        is_shared = self._heading is None and count >= PARALLEL_FROM and jit.thread_count() > 1
        position, cells = _raise_points(goal), self._cells.copy()
        status, tests = np.empty(count, np.int8), np.empty(count, np.int32)
        whole, real = self._events
        tally = np.zeros((-(-count // CHUNK) if is_shared else 1, 2), np.int64)
        answer = (cells, position, status, tests, whole, real, tally)
        if self._heading is not None:
            arrays.points(goal, "targets", dimensions=space.dimension)
        if self._debug:
            self._check_before(position)
        if self._heading is not None:
            turn_rows(space, self._inner, *self._heading, *answer)
        elif is_shared:
            environment.interior.renew_records()
            move_chunks(environment.interior.packed(), space.reach, self._inner, *answer)
        else:
            move_rows(environment.interior.packed(), space.reach, 0, count, 0, self._inner, *answer)
        if tally[0, 1]:
            arrays.points(goal, "targets", dimensions=space.dimension)  # tells the row and the reason
        if self._debug:
            self._check_after(_raise_points(goal), cells, position, status)
        self._inner, self._cells = position, cells
        self._position = reached = _lower_points(position, space.dimension)
        events = (_gather_events(whole, tally), _gather_events(real, tally))
        if len(self._stuck):
            status[self._stuck] = COLLISION
            events = _hold(*events, self._stuck, space.dimension, space.face[cells[self._stuck], 0])
        moves = Moves(
            position=reached,
            _dimension=space.dimension,
            _status=status,
            _tests=tests,
            _whole=events[0],
            _real=events[1],
            _part=cells,
            _face=space.face,
            _part_cell=environment.interior.part_cell,
        )
        self._results.append(weakref.ref(moves))
        if len(self._results) > MOST_RESULTS:
            self._results = [result for result in self._results if result() is not None]
        return moves

    def _complete(self) -> None:
        """Surgery is about to change the tables: results that are still in use take what they need of them."""
        for result in self._results:
            if (moves := result()) is not None:
                moves.complete()
        self._results.clear()

    def settle(self) -> NDArray[np.bool_]:
        """Bring the particles up to date with an environment that was deformed (`move` does it too): (n,) whether a wall passed over each.

        Only particles in cells that moved are looked at. One that a wall has passed over is put in front of that wall.
        """
        environment, pushed = self._environment, np.zeros(len(self._cells), np.bool_)
        if self._seen == environment.interior.version:
            return arrays.frozen(pushed)
        rows = np.flatnonzero(environment.interior.versions.changed(self._cells, self._seen))
        then = environment.interior.cells_then(self._cells[rows], self._seen)
        self._inner, self._cells = self._inner.copy(), self._cells.copy()
        lists, moved_only = environment.interior.list_parts(), environment.interior.history.latest <= self._seen
        if moved_only:
            table = (lists.begin, lists.end, lists.pool)
            settle_rows(environment.interior.space, *table, then, rows, self._cells, self._inner, pushed)
        else:
            self._settle_heirs(rows, then, pushed)
        leave_obstacles(environment.interior.space, rows, self._cells, self._inner)
        self._stuck = np.flatnonzero(environment.interior.space.obstacle[self._cells])
        if self._heading is not None:
            if not moved_only:
                self._heading[0][rows] = NOWHERE  # darts may have other numbers now
            begin_rows(environment.interior.space, rows, self._inner, self._cells, *self._heading)
        self._position = _lower_points(self._inner, environment.dimension)
        self._seen = environment.interior.version
        return arrays.frozen(pushed)

    def _settle_heirs(self, rows: Integers, then: Integers, pushed: NDArray[np.bool_]) -> None:
        """Particles whose cells may have been cut or merged (§3.4.1): each is in one of those that its cell has gone into, or on the way from one.

        Where an obstacle has got a part of the cell, it is a wall to those inside, who are put in front of it.
        """
        environment, start = self._environment, self._inner.copy()
        lists, marks = environment.interior.list_parts(), environment.interior.obstacle
        kinds, kind_of_row = np.unique(then, return_inverse=True)
        heirs: list[list[int]] = []
        for cell in kinds.tolist():
            live = [heir for heir in environment.interior.history.heirs_of(cell, self._seen) if len(lists[heir])]
            heirs.append([heir for heir in live if not marks[heir]] or live)
        most = max((len(cells) for cells in heirs), default=0)
        for turn in range(most):
            ordered = [cells[turn % len(cells) :] + cells[: turn % len(cells)] for cells in heirs]
            numbers = [np.concatenate([lists[cell] for cell in cells]) for cells in ordered]
            sizes = np.array([len(parts) for parts in numbers], np.int64)
            end = np.cumsum(sizes)
            chosen = np.arange(len(rows)) if turn == 0 else np.flatnonzero(pushed[rows])
            again = rows[chosen]
            self._inner[again] = start[again]
            table = (end - sizes, end, np.concatenate(numbers))
            settle_rows(
                environment.interior.space, *table, kind_of_row[chosen], again, self._cells, self._inner, pushed
            )

    def _check_before(self, targets: Floats) -> None:
        space = self._environment.interior.space
        refuse_states(space, self._cells, self._inner)
        if self._heading is not None:
            refuse_legs(space, self._inner, targets, self._cells, *self._heading)

    def _check_after(self, targets: Floats, cells: Indices, position: Floats, status: NDArray[np.int8]) -> None:
        space = self._environment.interior.space
        refuse_states(space, cells, position)
        if self._heading is not None:
            refuse_ends(space, targets, cells, self._heading[1], position, status != COLLISION)

    def _read_targets(self, targets: object) -> Floats:
        """The targets; where they are float64 rows already, the walk itself finds numbers that are not finite."""
        dimension = self._environment.dimension
        if (
            type(targets) is np.ndarray
            and targets.dtype == np.float64
            and targets.shape == (len(self._cells), dimension)
        ):
            return targets
        goal = arrays.points(targets, "targets", dimensions=dimension)
        if len(goal) != len(self._cells):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self._cells)} particles")
        return goal


def _gather_events(table: NDArray[Any], tally: Integers) -> NDArray[Any]:
    """A copy of the rows that were written, chunk after chunk."""
    if len(tally) == 1:
        return table[: tally[0, 0]].copy()
    begin = np.arange(len(tally)) * len(table) // len(tally)
    return np.concatenate([table[first : first + count] for first, count in zip(begin, tally[:, 0], strict=True)])


def _hold(whole: Integers, real: Floats, rows: Integers, kind: int, darts: Indices) -> tuple[Integers, Floats]:
    """The events of a batch, in which these particles, each inside of an obstacle, collide at once."""
    others = ~np.isin(whole[:, 0], rows)
    held = np.column_stack((rows, np.full(len(rows), kind), darts)).astype(np.int64)
    return np.concatenate((whole[others], held)), np.concatenate((real[others], np.zeros((len(rows), 4))))


def _raise_points(points: Floats) -> Floats:
    """A writable copy with three columns, z = 0 in the plane."""
    if points.shape[1] == 3:
        return points.copy()
    raised = np.zeros((len(points), 3))
    raised[:, :2] = points
    return raised


def _lower_points(points: Floats, dimension: int) -> Floats:
    """The first columns, read-only."""
    return arrays.frozen(points.view() if dimension == 3 else np.ascontiguousarray(points[:, :2]))


def _refuse_lost(environment: Environment, found: Indices) -> None:
    lost = found == NOWHERE
    if lost.any():
        raise InvalidInput("points", "lies outside of every cell", int(np.argmax(lost)))
    stuck = environment.interior.space.obstacle[found]
    if stuck.any():
        row = int(np.argmax(stuck))
        cell = int(environment.part_cell[found[row]])
        raise InvalidInput("points", f"lies in cell {cell}, an obstacle, and in no free cell", row)
