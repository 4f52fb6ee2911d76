"""One order from its tables to places on sheets: first placement, shortening of the strip, and sheets filled one after another."""

import math

import numpy as np

from abut.contours.nesting.angles import find_fitting_angles, fitting_angles
from abut.contours.nesting.outline import simplify
from abut.contours.nesting.parts import convex_parts
from abut.contours.nesting.pieces import FREE_TURNS, Order, signed_area
from abut.contours.nesting.strip import Budget, State, Strip
from abut.contours.nesting.tables import Tables, build_tables, turn
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

FIRST_STEP, LEAST_STEP = 0.03, 0.0005
"""Part of its length by which a strip is shortened at first, and at least."""
FAILURES = 2
"""Failures in a row after which pieces change places before the next try."""
COMPACTIONS = 2
MOST_FILLED = 0.95
"""Part of a sheet that pieces may fill; more is not tried."""
MOST_PLANES = 4_000_000
"""Half-planes of the tables of pieces that turn freely: 24 bytes each."""


def _choose_angles(order: Order, part_count: int, corner_count: int, width: float, height: float) -> list[list[float]]:
    """For each kind the angles it takes; free ones get as many as the tables have room for."""
    free = next((k for k in FREE_TURNS if 2 * part_count * corner_count * k <= MOST_PLANES), FREE_TURNS[-1])
    spread = [360.0 * k / free for k in range(free)]
    angles: list[list[float]] = []
    for number, kind in enumerate(order.kinds):
        wanted = list(kind.angles) or spread
        fitting = fitting_angles(kind.polygon, wanted, width, height)
        if not fitting and not kind.angles:
            fitting = find_fitting_angles(kind.polygon, width, height)
        if not fitting:
            size = (*np.ptp(turn(kind.polygon, wanted[0]), axis=0).tolist(), width, height)
            own_x, own_y, x, y = (math.ldexp(length, order.power) for length in size)
            reason = f"{own_x:g} × {own_y:g} is larger than the sheet, {x:g} × {y:g}, at every angle it may take"
            raise InvalidInput("pieces", reason, order.first_piece(number))
        angles.append(fitting)
    return angles


def _choose_size(order: Order, height: float, gap: float) -> float:
    """The length that margins are taken of. Nothing is 10⁵ times further from the origin."""
    polygons = [kind.polygon for kind in order.kinds]
    area = sum(signed_area(polygons[k]) for k in order.kind.tolist())
    return max(height, 2.0 * area / height, gap, *(float(polygon.max()) for polygon in polygons))


def _prepare(order: Order, width: float, height: float, gap: float) -> tuple[Tables, Integers, list[float]]:
    """Tables of all kinds, the turns each may take, and the angles of the turns."""
    size = _choose_size(order, height, gap)
    polygons = [kind.polygon for kind in order.kinds]
    outlines = [simplify(polygon, signed_area(polygon)) for polygon in polygons]
    parts = [convex_parts(outline) for outline in outlines]
    counts = sum(map(len, parts)), sum(len(part) for rows in parts for part in rows)
    angles = _choose_angles(order, *counts, width, height)
    used = sorted({angle for row in angles for angle in row})
    allowed = np.zeros((len(angles), 1 + len(used)), np.int64)
    for k, row in enumerate(angles):
        allowed[k, 0], allowed[k, 1 : 1 + len(row)] = len(row), [used.index(angle) for angle in row]
    return build_tables(parts, polygons, used, gap, size), allowed, used


def _improve(strip: Strip, budget: Budget, until: float = 1.0, goal: float = 0.0) -> None:
    """Shorten the strip until this share of the budget is spent or the goal is reached; it ends in the best layout, also when interrupted."""
    best, state = strip.length, strip.save()
    step, failures = FIRST_STEP, 0
    budget.best, least = best, strip.least_length
    try:
        while budget.share < until and best > max(goal, least):
            strip.restore(state)
            before = budget.spent_moves
            length = max(best * (1.0 - step), least)
            strip.shorten(best, length, swaps=int(failures > FAILURES))
            if strip.separate(length, budget, until):
                reached = strip.compact(length, COMPACTIONS)
                if strip.is_valid and reached < best:
                    budget.best = best = reached
                    state, failures = strip.save(), 0
                    continue
            step, failures = max(0.5 * step, LEAST_STEP), failures + 1
            if (
                budget.spent_moves == before
            ):  # a try that moves nothing costs something too, or it might be made for ever
                budget.spend(1)
    except KeyboardInterrupt:
        budget.interrupted = True
    strip.restore(state)


class Job:
    """One order, its tables, and the sheets that are done."""

    def __init__(self, order: Order, width: float, height: float, gap: float, seed: int) -> None:
        self.order, self.width, self.height = order, width, height
        self.tables, self.allowed, self.angles = _prepare(order, width, height, gap)
        grid = self.tables.grid
        if grid > 0.0:  # what is left of the sheet beyond the grid cannot be used
            self.height = math.floor(height / grid) * grid
            self.width = math.floor(width / grid) * grid if width < math.inf else width
        self.rng = np.random.default_rng(seed)
        self.areas = np.array([signed_area(kind.polygon) for kind in order.kinds])[order.kind]
        count = len(order.kind)
        self.sheet, self.turn, self.place = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros((count, 2))

    def strip(self, rows: Integers) -> Strip:
        """A strip with these copies, not yet placed."""
        return Strip(self.tables, self.allowed, self.order.kind[rows], self.height, self.rng)

    def begin(self, rows: Integers, limit: float) -> tuple[Strip, Integers]:
        """The strip after the first placement, and the copies that found a place in it."""
        strip = self.strip(rows)
        found = strip.place_first(np.argsort(-self.areas[rows], kind="stable"), limit)
        if len(found) < len(rows):
            smaller = self.strip(rows[found])
            state = strip.save()
            smaller.restore(State(state.turn[found], state.place[found]))
            strip = smaller
        strip.compact(strip.length, COMPACTIONS)
        return strip, rows[found]

    def keep(self, strip: Strip, rows: Integers, sheet: int) -> None:
        """Take over where the copies lie."""
        self.sheet[rows], self.turn[rows], self.place[rows] = sheet, strip.pieces.turn, strip.pieces.place

    def squeeze(
        self, strip: Strip, rows: Integers, rest: Integers, budget: Budget, until: float
    ) -> tuple[Strip, Integers]:
        """Add further copies to a full sheet, largest first, as long as they can be separated."""
        refused: set[int] = set()
        for row in rest[np.argsort(-self.areas[rest], kind="stable")].tolist():
            kind = int(self.order.kind[row])
            area = self.areas[rows].sum() + self.areas[row]
            if kind in refused or area > MOST_FILLED * self.width * self.height:
                continue
            if budget.share >= until:
                break
            larger, more = self.strip(np.append(rows, row)), np.append(rows, row)
            state = strip.save()
            corner = -self.tables.extents[kind, self.allowed[kind, 1], :2]
            larger.restore(State(np.append(state.turn, self.allowed[kind, 1]), np.vstack([state.place, corner])))
            try:
                found = larger.separate(self.width, budget, until)
            except KeyboardInterrupt:
                budget.interrupted, found = True, False
            if found:
                strip, rows = larger, more
            else:
                refused.add(kind)
        return strip, rows

    def candidates(self, rows: Integers) -> Integers:
        """Of each kind no more copies than fill a sheet: those for one sheet, in order."""
        most = np.floor(self.width * self.height / self.areas[rows] * (1.0 + 1e-9)) + 1.0
        kinds = self.order.kind[rows]
        rank = np.empty(len(rows), np.int64)
        for kind in np.unique(kinds):
            same = np.flatnonzero(kinds == kind)
            rank[same] = np.arange(len(same))
        return rows[rank < most]

    def fill_sheets(self, rows: Integers, budget: Budget) -> None:
        """Nest copies that do not fit on one sheet."""
        sheet = 0
        while len(rows):
            strip, found = self.begin(self.candidates(rows), self.width)
            rest = np.setdiff1d(rows, found)
            if not len(rest):
                _improve(strip, budget)
            else:
                left = math.ceil(self.areas[rows].sum() / (self.width * self.height))
                until = budget.share + (1.0 - budget.share) / (left + 1)
                strip, found = self.squeeze(strip, found, rest, budget, until)
            self.keep(strip, found, sheet)
            rows, sheet = np.setdiff1d(rows, found), sheet + 1

    def run(self, budget: Budget) -> None:
        """Nest all copies, on one sheet if they can be brought there in half of the time."""
        rows = np.arange(len(self.order.kind))
        if self.areas.sum() > self.width * self.height:
            self.fill_sheets(rows, budget)
            return
        strip, _ = self.begin(rows, math.inf)
        if strip.length > self.width and self.areas.sum() <= MOST_FILLED * self.width * self.height:
            _improve(strip, budget, until=0.5, goal=self.width)
        if strip.length > self.width:
            self.fill_sheets(rows, budget)
        else:
            _improve(strip, budget)
            self.keep(strip, rows, 0)

    def placed(self) -> list[Floats]:
        """The polygons where they lie, within their sheets to the last bit."""
        polygons: list[Floats] = []
        for row, number in enumerate(self.order.kind.tolist()):
            polygon = turn(self.order.kinds[number].polygon, self.angles[self.turn[row]])
            low, high = polygon.min(axis=0), polygon.max(axis=0)
            for axis, size in enumerate((self.width, self.height)):
                # Rounding may leave a corner some last bits outside; the margin between pieces is a hundred thousand times larger.
                place = float(self.place[row, axis])
                while high[axis] + place > size:
                    place -= math.ulp(max(size, abs(place)))
                if low[axis] + place < 0.0:  # as large as the sheet: `fitting_angles` says that this is within it
                    place = -float(low[axis])
                self.place[row, axis] = place
            polygons.append(polygon + self.place[row])
        return polygons
