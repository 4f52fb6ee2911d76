"""A strip with its pieces and all that the kernels need: placement, compaction and separation as methods, with a budget of time and moves."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from abut.contours.nesting.columns import HIGH_X, LOW_X
from abut.contours.nesting.gravity import BEHIND, compact, place_first
from abut.contours.nesting.overlap import Pieces, put
from abut.contours.nesting.search import Moves, pull, restore, separate_round, swap
from abut.contours.nesting.tables import Tables
from abut.core.arrays import Floats, Integers
from abut.core.compiling.compilation import working_clock

DRAWS = 1 << 16
MOST_INTERVALS = 4096
"""Of one line. Beyond them a line is searched in part, and nothing slides along it."""
STOPS, KEPT = 6, 3
ANYWHERE, NEAR = 40, 20
"""Places drawn for a piece, from the whole strip and near its own."""
LINES = 64
"""Across the strip, on which a first place is looked for."""
IMPROVEMENT = 0.98
"""A round that does not bring the overlap below this part of the least counts as idle."""
IDLE_ROUNDS, STRIKES = 50, 3
"""So many idle rounds in a row, and the best state is restored; so often, and the strip counts as too short."""


class Budget:
    """How much may be done: seconds, moves, or both."""

    def __init__(self, seconds: float, moves: float, report: Callable[[float, float], None]) -> None:
        self.start, self.seconds, self.moves, self.report = working_clock(), seconds, moves, report
        self.spent_moves, self.best, self.interrupted = 0, np.inf, False

    @property
    def spent_seconds(self) -> float:
        """Since the beginning."""
        return working_clock() - self.start

    @property
    def share(self) -> float:
        """Part of the budget that is spent."""
        return np.inf if self.interrupted else max(self.spent_seconds / self.seconds, self.spent_moves / self.moves)

    def spend(self, moves: int) -> None:
        """Count moves, and tell how far the job is."""
        self.spent_moves += moves
        self.report(min(1.0, self.share), self.best)


class State(NamedTuple):
    """A layout of a strip, to go back to."""

    turn: Integers
    place: Floats


class Fixed(NamedTuple):
    """Obstacles of a sheet, which do not move."""

    kind: Integers
    place: Floats
    turn: int
    """number of the turn by nothing"""


NOTHING = Fixed(np.empty(0, np.int64), np.empty((0, 2)), 0)


class Strip:
    """Pieces of given kinds in a strip of a given height."""

    def __init__(
        self, tables: Tables, allowed: Integers, kind: Integers, height: float, rng: np.random.Generator, fixed: Fixed
    ) -> None:
        free = len(kind)
        kind = np.concatenate([kind, fixed.kind])
        n = len(kind)
        self.tables, self.height, self.rng, self.free = tables, height, rng, free
        turn = allowed[kind, 1].copy()
        turn[free:] = fixed.turn
        # Pieces that are not placed yet wait at infinity, where they are in nobody's way.
        place, box = np.full((n, 2), np.inf), np.full((n, 4), np.inf)
        self.pieces = Pieces(kind, turn, place, box, np.zeros((n, n)), np.ones((n, n)))
        self.moves = Moves(
            allowed, np.empty(DRAWS), np.zeros(1, np.int64), np.empty((MOST_INTERVALS, 3)), np.empty((STOPS, 2)),
            np.empty((KEPT, 4)),
        )  # fmt: skip
        self.redraw()
        if n > free:
            place[free:] = fixed.place
            for i in range(free, n):
                put(tables, self.pieces, i, fixed.turn, place[i, 0], place[i, 1])
            self.pieces.loss[free:, free:] = 0.0  # obstacles may lie over one another

    def redraw(self) -> None:
        """Fresh random numbers for the kernels."""
        self.rng.random(out=self.moves.draws)
        self.moves.cursor[0] = 0

    @property
    def length(self) -> float:
        """Largest x of all pieces."""
        return float(self.pieces.box[: self.free, HIGH_X].max())

    def _widths(self, kind: int) -> Floats:
        """Of a kind at each of its turns."""
        extents, allowed = self.tables.extents[kind], self.moves.allowed[kind]
        turns = allowed[1 : 1 + allowed[0]]
        return extents[turns, HIGH_X] - extents[turns, LOW_X]

    @property
    def least_length(self) -> float:
        """No layout is shorter: the widest piece at its narrowest turn."""
        return max(float(self._widths(kind).min()) for kind in set(self.pieces.kind[: self.free].tolist()))

    @property
    def most_length(self) -> float:
        """No first placement is longer: all pieces at their widest turns, one behind the other; half a height for rounding."""
        widest = np.zeros(len(self.tables.extents))
        for kind in set(self.pieces.kind[: self.free].tolist()):
            widest[kind] = self._widths(kind).max()
        obstacles = float(self.pieces.box[self.free :, HIGH_X].max(initial=0.0))
        own = widest[self.pieces.kind[: self.free]] + BEHIND * self.tables.grow
        return float(own.sum()) + 0.5 * self.height + obstacles

    @property
    def is_valid(self) -> bool:
        """Whether the tables find no overlap."""
        return not self.pieces.loss.any()

    def save(self) -> State:
        """The present layout."""
        return State(self.pieces.turn[: self.free].copy(), self.pieces.place[: self.free].copy())

    def restore(self, state: State) -> None:
        """Go back to a layout."""
        restore(self.tables, self.pieces, state.turn, state.place)

    def place_first(self, order: Integers, limit: float) -> Integers:
        """Put pieces one after another as far left as possible, if they end before `limit`; which pieces were put."""
        reach = min(limit, self.most_length)
        place_first(self.tables, self.pieces, self.moves, order, reach, self.height, LINES)
        return np.flatnonzero(self.pieces.box[: self.free, LOW_X] < np.inf)

    def compact(self, length: float, rounds: int) -> float:
        """Let all pieces fall to the left; the used length."""
        for _ in range(rounds):
            order = np.argsort(self.pieces.box[: self.free, LOW_X], kind="stable")
            compact(self.tables, self.pieces, self.moves, order, length, self.height)
        return self.length

    def shorten(self, before: float, length: float, swaps: int) -> None:
        """Push the pieces into a shorter strip, where they overlap, after some have changed places."""
        for _ in range(swaps if self.free > 1 else 0):
            i, j = self.rng.choice(self.free, 2, replace=False)
            swap(self.tables, self.pieces, int(i), int(j), before, self.height)
        pull(self.tables, self.pieces, self.moves, length / before, length, self.height)

    def separate(self, length: float, budget: Budget, until: float = 1.0) -> bool:
        """Move pieces until none overlap within this length; False where it did not work or this share of the budget is spent."""
        order = np.arange(self.free)
        self.pieces.weight[:] = 1.0
        least, idle, strikes, state = np.inf, 0, 0, self.save()
        while budget.share < until:
            self.redraw()
            loss, tried = separate_round(
                self.tables, self.pieces, self.moves, order, length, self.height, ANYWHERE, NEAR
            )
            budget.spend(tried)
            if loss == 0.0:
                return True
            idle = 0 if loss < IMPROVEMENT * least else idle + 1
            if loss < least:
                least, state = loss, self.save()
            if idle > IDLE_ROUNDS:
                idle, strikes = 0, strikes + 1
                if strikes == STRIKES:
                    return False
                self.restore(state)
        return False
