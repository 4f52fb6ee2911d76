"""One order from its tables to places on sheets: first placement, shortening of the strip, and sheets filled one after another."""

import math
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from abut.contours.nesting.angles import find_fitting_angles, fitting_angles
from abut.contours.nesting.columns import HIGH_X
from abut.contours.nesting.outline import simplify
from abut.contours.nesting.parts import convex_parts
from abut.contours.nesting.pieces import FREE_TURNS, Order, signed_area
from abut.contours.nesting.sheets import Area
from abut.contours.nesting.strip import NOTHING, Budget, Fixed, State, Strip
from abut.contours.nesting.tables import Pose, Tables, build_tables, turn
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


def _choose_angles(order: Order, part_count: int, corner_count: int, areas: list[Area]) -> list[list[list[Pose]]]:
    """For each kind of sheet and each kind of piece the angles that it takes there, none where it does not fit; free ones get as many as
    the tables have room for."""
    free = next((k for k in FREE_TURNS if 2 * part_count * corner_count * k <= MOST_PLANES), FREE_TURNS[-1])
    spread = [360.0 * k / free for k in range(free)]
    angles: list[list[list[Pose]]] = []
    for area in areas:
        width, height = area.inner
        rows: list[list[Pose]] = []
        for kind in order.kinds:
            wanted = [(angle + area.grain_deg) % 360.0 % 360.0 for angle in kind.angles] or spread
            row: list[Pose] = []
            for flip in (1.0, -1.0) if kind.mirrored else (1.0,):
                polygon = turn(kind.polygon, 0.0, flip)
                fitting = fitting_angles(polygon, wanted, width, height)
                if not fitting and not kind.angles:
                    fitting = find_fitting_angles(polygon, width, height)
                row += [(angle, flip) for angle in fitting]
            rows.append(row)
        angles.append(rows)
    for number, kind in enumerate(order.kinds):
        if not any(rows[number] for rows in angles):
            area = max(areas, key=lambda area: area.width * area.height)
            wanted = (kind.angles[0] + area.grain_deg) if kind.angles else 0.0
            size = (*np.ptp(turn(kind.polygon, wanted), axis=0).tolist(), *area.inner)
            own_x, own_y, x, y = (order.to_length(length) for length in size)
            first = order.first_piece(number)
            which = "the sheet" if len(areas) == 1 else "every sheet"
            reason = f"{order.names[first]}{own_x:g} × {own_y:g} is larger than {which}, {x:g} × {y:g}, at every angle it may take"
            raise InvalidInput("pieces", reason, first)
    return angles


def _choose_size(order: Order, height: float, gap: float) -> float:
    """The length that margins are taken of. Nothing is 10⁵ times further from the origin."""
    polygons = [kind.polygon for kind in order.kinds]
    areas = [kind.area for kind in order.kinds]
    area = sum(areas[k] for k in order.kind.tolist())
    return max(height, 2.0 * area / height, gap, *(float(polygon.max()) for polygon in polygons))


class Prepared(NamedTuple):
    """What searches on all kinds of sheets share."""

    tables: Tables
    allowed: list[Integers]
    """for each kind of sheet the turns that each kind of piece may take there"""
    poses: list[Pose]
    """of the turns"""
    fixed: list[Fixed]
    """the obstacles of each kind of sheet"""


def _prepare(order: Order, areas: list[Area], gap: float) -> Prepared:
    """Tables of all kinds and obstacles, the turns each may take, and the angles of the turns."""
    size = _choose_size(order, max(area.height for area in areas), gap)
    kinds = [*order.kinds, *(kind for area in areas for kind in area.obstacles)]
    simple = [kind.map(lambda ring: simplify(ring, abs(signed_area(ring)))) for kind in kinds]
    parts = [convex_parts(kind.polygon, kind.holes) for kind in simple]
    counts = sum(map(len, parts)), sum(len(part) for rows in parts for part in rows)
    angles = _choose_angles(order, *counts, areas)
    used = sorted(
        {pose for rows in angles for row in rows for pose in row}
        | ({(0.0, 1.0)} if len(kinds) > len(order.kinds) else set())
    )
    allowed: list[Integers] = []
    fixed: list[Fixed] = []
    first = len(order.kinds)
    for area, rows in zip(areas, angles, strict=True):
        table = np.zeros((len(kinds), 1 + len(used)), np.int64)
        for k, row in enumerate(rows):
            table[k, 0], table[k, 1 : 1 + len(row)] = len(row), [used.index(pose) for pose in row]
        allowed.append(table)
        if area.obstacles:
            number = np.arange(first, first + len(area.obstacles))
            fixed.append(
                Fixed(number, np.array([kind.origin - area.border for kind in area.obstacles]), used.index((0.0, 1.0)))
            )
        else:
            fixed.append(NOTHING)
        first += len(area.obstacles)
    return Prepared(build_tables(parts, [kind.rings for kind in kinds], used, gap, size), allowed, used, fixed)


def _improve(strip: Strip, budget: Budget, show: Callable[[], None], until: float = 1.0, goal: float = 0.0) -> None:
    """Shorten the strip until this share of the budget is spent or the goal is reached; it ends in the best layout, also when interrupted. What is
    better than before is shown."""
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
                    show()
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

    def __init__(self, order: Order, areas: list[Area], gap: float, seed: int) -> None:
        self.order, self.areas = order, areas
        self.tables, self.allowed, self.poses, self.fixed = _prepare(order, areas, gap)
        grid = self.tables.grid
        self.sizes = [area.inner for area in areas]
        if grid > 0.0:  # what is left of the sheet beyond the grid cannot be used
            self.sizes = [
                (math.floor(w / grid) * grid if w < math.inf else w, math.floor(h / grid) * grid) for w, h in self.sizes
            ]
        self.rng = np.random.default_rng(seed)
        self.pieces = np.array([kind.area for kind in order.kinds])[order.kind]
        count = len(order.kind)
        self.sheet, self.turn, self.place = np.full(count, -1), np.zeros(count, np.int64), np.zeros((count, 2))
        self.used: list[int] = []
        """for each sheet its kind"""
        self.show: Callable[[Job], None] | None = None
        """is called with a job that stands at a better layout than before"""

    def twin(self, seed: int) -> "Job":
        """Another search for the same order, on the same tables."""
        other = copy(self)
        other.rng = np.random.default_rng(seed)
        other.sheet, other.turn, other.place, other.used = (
            self.sheet.copy(),
            self.turn.copy(),
            self.place.copy(),
            list(self.used),
        )
        return other

    def preview(self, strip: Strip, rows: Integers, area: int) -> None:
        """Show what stands so far, with this strip as a further sheet."""
        if self.show is not None:
            state = self.twin(0)
            state.keep(strip, rows, area)
            self.show(state)

    @property
    def worth(self) -> tuple[float, ...]:
        """Less is better: what is left out, the most wanted first; sheets; and the length that is used of the last."""
        out = self.sheet < 0
        last = self.sheet == len(self.used) - 1
        reach = [
            self.place[row, 0] + self.tables.extents[self.order.kind[row], self.turn[row], HIGH_X]
            for row in np.flatnonzero(last)
        ]
        return (
            float((self.order.priority * out).sum()),
            float(self.pieces[out].sum()),
            len(self.used),
            max(reach, default=0.0),
        )

    def strip(self, rows: Integers, area: int) -> Strip:
        """A strip with these copies, not yet placed."""
        return Strip(
            self.tables, self.allowed[area], self.order.kind[rows], self.sizes[area][1], self.rng, self.fixed[area]
        )

    def in_order(self, rows: Integers) -> Integers:
        """Places among the rows: the most wanted first, of these the largest."""
        return np.lexsort((-self.pieces[rows], -self.order.priority[rows]))

    def begin(self, rows: Integers, area: int, limit: float) -> tuple[Strip, Integers]:
        """The strip after the first placement, and the copies that found a place in it."""
        rows = rows[self.allowed[area][self.order.kind[rows], 0] > 0]
        strip = self.strip(rows, area)
        found = strip.place_first(self.in_order(rows), limit)
        if len(found) < len(rows):
            smaller = self.strip(rows[found], area)
            state = strip.save()
            smaller.restore(State(state.turn[found], state.place[found]))
            strip = smaller
        if len(found):
            strip.compact(strip.length, COMPACTIONS)
        return strip, rows[found]

    def keep(self, strip: Strip, rows: Integers, area: int) -> None:
        """Take over where the copies lie, on a further sheet."""
        state = strip.save()
        self.sheet[rows], self.turn[rows], self.place[rows] = len(self.used), state.turn, state.place
        self.used.append(area)

    def squeeze(
        self, strip: Strip, rows: Integers, rest: Integers, area: int, budget: Budget, until: float
    ) -> tuple[Strip, Integers]:
        """Add further copies to a full sheet, the most wanted and largest first, as long as they can be separated."""
        refused: set[int] = set()
        width, height = self.sizes[area]
        for row in rest[self.in_order(rest)].tolist():
            kind = int(self.order.kind[row])
            filled = self.pieces[rows].sum() + self.pieces[row]
            if kind in refused or self.allowed[area][kind, 0] == 0 or filled > MOST_FILLED * width * height:
                continue
            if budget.share >= until:
                break
            larger, more = self.strip(np.append(rows, row), area), np.append(rows, row)
            state, turn = strip.save(), self.allowed[area][kind, 1]
            corner = -self.tables.extents[kind, turn, :2]
            larger.restore(State(np.append(state.turn, turn), np.vstack([state.place, corner])))
            try:
                found = larger.separate(width, budget, until)
            except KeyboardInterrupt:
                budget.interrupted, found = True, False
            if found:
                strip, rows = larger, more
            else:
                refused.add(kind)
        return strip, rows

    def candidates(self, rows: Integers, area: int) -> Integers:
        """Of each kind no more copies than fill a sheet: those for one sheet, in order."""
        width, height = self.sizes[area]
        most = np.floor(width * height / self.pieces[rows] * (1.0 + 1e-9)) + 1.0
        kinds = self.order.kind[rows]
        rank = np.empty(len(rows), np.int64)
        for kind in np.unique(kinds):
            same = np.flatnonzero(kinds == kind)
            rank[same[np.argsort(-self.order.priority[rows[same]], kind="stable")]] = np.arange(len(same))
        return rows[rank < most]

    def fill_sheets(self, rows: Integers, budget: Budget) -> None:
        """Nest copies that do not fit on one sheet; sheets are taken in their order, and what fits on none stays out."""
        area, count = 0, 0
        while len(rows) and area < len(self.areas):
            if count >= self.areas[area].most:
                area, count = area + 1, 0
                continue
            width, height = self.sizes[area]
            strip, found = self.begin(self.candidates(rows, area), area, width)
            if not len(found):
                area, count = area + 1, 0
                continue
            rest = np.setdiff1d(rows, found)
            if not len(rest):
                _improve(strip, budget, partial(self.preview, strip, found, area))
            else:
                left = math.ceil(self.pieces[rows].sum() / (width * height)) if width < math.inf else 1
                until = budget.share + (1.0 - budget.share) / (left + 1)
                strip, found = self.squeeze(strip, found, rest, area, budget, until)
            self.keep(strip, found, area)
            rows, count = np.setdiff1d(rows, found), count + 1

    def run(self, budget: Budget) -> None:
        """Nest all copies, on one sheet if they can be brought there in half of the time."""
        rows = np.arange(len(self.order.kind))
        area = next(k for k, each in enumerate(self.areas) if each.most > 0)
        width, height = self.sizes[area]
        fits = bool((self.allowed[area][self.order.kind, 0] > 0).all())
        if not fits or self.pieces.sum() > width * height:
            self.fill_sheets(rows, budget)
            return
        strip, found = self.begin(rows, area, math.inf)
        if len(found) == len(rows) and strip.length > width and self.pieces.sum() <= MOST_FILLED * width * height:
            _improve(strip, budget, lambda: None, until=0.5, goal=width)
        if len(found) < len(rows) or strip.length > width:
            self.fill_sheets(rows, budget)
        else:
            _improve(strip, budget, partial(self.preview, strip, rows, area))
            self.keep(strip, rows, area)

    def placed(self, row: int) -> tuple[Floats, ...]:
        """The polygon of a copy and its holes where they lie, within the borders of their sheet to the last bit."""
        kind, area = self.order.kinds[int(self.order.kind[row])], self.used[int(self.sheet[row])]
        rings = [turn(ring, *self.poses[self.turn[row]]) for ring in kind.rings]
        low, high = rings[0].min(axis=0), rings[0].max(axis=0)
        for axis, size in enumerate(self.sizes[area]):
            # Rounding may leave a corner some last bits outside; the margin between pieces is a hundred thousand times larger.
            place = float(self.place[row, axis])
            while high[axis] + place > size:
                place -= math.ulp(max(size, abs(place)))
            if low[axis] + place < 0.0:  # as large as the sheet: `fitting_angles` says that this is within it
                place = -float(low[axis])
            self.place[row, axis] = place
        return tuple(ring + self.place[row] for ring in rings)
