"""Nesting: pieces on a strip or on sheets, as close as the time allows, and never one over another.

A first placement falls together under pseudo-gravity; then, again and again, the strip is made shorter, the pieces that now overlap are moved
apart (`search`), and what was won is compacted. A strip that proves too short is tried again with less taken off, and after some failures
from a layout in which pieces have changed places. Only layouts without overlap are kept; the last one is verified by exact signs.

Several sheets are filled one after another: with what a first placement puts there, then with each further piece that can be squeezed in by
the same search. All but the last sheet are full; the last is nested like a strip.

Failure cases: the search is a heuristic, and no length is proven least. Pieces that may turn freely take one of up to 24 evenly spread
turns. Holes are not known: nothing is put inside another piece's hole.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.contours.nesting.layout import Layout
from abut.contours.nesting.outline import simplify
from abut.contours.nesting.parts import convex_parts
from abut.contours.nesting.pieces import FREE_TURNS, Order, fitting_angles, read_order, signed_area
from abut.contours.nesting.strip import Budget, State, Strip
from abut.contours.nesting.tables import Tables, build_tables, turn
from abut.contours.nesting.verify import find_overlap
from abut.errors import InvalidInput

SECONDS = 10.0
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
        fitting = fitting_angles(kind, wanted, width, height)
        if not fitting:
            size = np.ptp(turn(kind.polygon, wanted[0]), axis=0)
            row = int(order.piece[np.flatnonzero(order.kind == number)[0]])
            reason = f"{size[0]:g} × {size[1]:g} is larger than the sheet, {width:g} × {height:g}, at every angle it may take"
            raise InvalidInput("pieces", reason, row)
        angles.append(fitting)
    return angles


def _prepare(order: Order, width: float, height: float, gap: float) -> tuple[Tables, Integers, list[float]]:
    """Tables of all kinds, the turns each may take, and the angles of the turns."""
    outlines = [simplify(kind.polygon, signed_area(kind.polygon)) for kind in order.kinds]
    parts = [convex_parts(outline) for outline in outlines]
    counts = sum(map(len, parts)), sum(len(part) for rows in parts for part in rows)
    angles = _choose_angles(order, *counts, width, height)
    used = sorted({angle for row in angles for angle in row})
    allowed = np.zeros((len(angles), 1 + len(used)), np.int64)
    for k, row in enumerate(angles):
        allowed[k, 0], allowed[k, 1 : 1 + len(row)] = len(row), [used.index(angle) for angle in row]
    polygons = [kind.polygon for kind in order.kinds]
    area = sum(signed_area(polygons[k]) for k in order.kind.tolist())
    size = max(height, 2.0 * area / height, *(float(polygon.max()) for polygon in polygons))
    return build_tables(parts, polygons, used, gap, size), allowed, used


def _improve(strip: Strip, budget: Budget, until: float = 1.0, goal: float = 0.0) -> None:
    """Shorten the strip until this share of the budget is spent or the goal is reached; it ends in the best layout, also when interrupted."""
    best, state = strip.length, strip.save()
    step, failures = FIRST_STEP, 0
    budget.best, least = best, strip.least_length
    try:
        while budget.share < until and best > max(goal, least):
            strip.restore(state)
            length = max(best * (1.0 - step), least)
            strip.shorten(best, length, swaps=int(failures > FAILURES))
            if strip.separate(length, budget, until):
                reached = strip.compact(length, COMPACTIONS)
                if strip.is_valid and reached < best:
                    budget.best = best = reached
                    state, failures = strip.save(), 0
                    continue
            step, failures = max(0.5 * step, LEAST_STEP), failures + 1
    except KeyboardInterrupt:
        budget.interrupted = True
    strip.restore(state)


class _Job:
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

    def fill_sheets(self, rows: Integers, budget: Budget) -> None:
        """Nest copies that do not fit on one sheet."""
        sheet = 0
        while len(rows):
            strip, found = self.begin(rows, self.width)
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
            for axis, size in enumerate((self.width, self.height)):
                # Rounding may leave a corner the last bit outside; the margin between pieces is a hundred thousand times larger.
                while (polygon[:, axis] + self.place[row, axis]).max() > size:
                    self.place[row, axis] = np.nextafter(self.place[row, axis], -np.inf)
            polygons.append(frozen(polygon + self.place[row]))
        return polygons


def _read_sheet(sheet: object) -> tuple[float, float]:
    if not isinstance(sheet, Sequence | np.ndarray) or len(sheet) != 2:
        raise InvalidInput("sheet", "expected two numbers, width and height; an infinite width for a strip")
    width = math.inf if sheet[0] is None or sheet[0] == math.inf else arrays.positive(sheet[0], "sheet width")
    return width, arrays.positive(sheet[1], "sheet height")


def nest(
    pieces: object,
    sheet: object,
    *,
    copies: object = 1,
    rotations: object = (0.0,),
    gap: float = 0.0,
    seconds: float = SECONDS,
    moves: int | None = None,
    seed: int = 0,
    progress: Callable[[float, float], None] | None = None,
) -> Layout:
    """Put pieces on a strip or on sheets so that little length is used and none overlap.

    Args:
        pieces: polygons (n,2) or Contours. Curves are nested as polygons that hold them, within 2e-4 of their size.
        sheet: width and height; an infinite width (or None) for a strip. Pieces that need more than one sheet get several.
        copies: of all pieces, or one number for each.
        rotations: angles in degrees that pieces may be turned by, or None for any; or a list of such, one for each piece.
        gap: least distance of two pieces. They may lie at the border of the sheet.
        seconds: how long to search.
        moves: how many moves to try at most. The result follows from the seed where this ends the search, not the time.
        progress: called many times with the part of the budget that is spent, and the least used length so far.

    A KeyboardInterrupt ends the search: the best layout until then is returned, marked as interrupted. Before there is one, it is raised.
    """
    width, height = _read_sheet(sheet)
    gap = arrays.scalar(gap, "gap", least=0.0)
    most_moves = math.inf if moves is None else max(1, arrays.count(moves, "moves"))
    budget = Budget(arrays.positive(seconds, "seconds"), most_moves, progress or (lambda share, length: None))
    order = read_order(pieces, copies, rotations)
    job = _Job(order, width, height, gap, arrays.count(seed, "seed"))
    job.run(budget)
    polygons = job.placed()
    overlap = find_overlap(polygons, gap, job.sheet)
    if overlap is not None:
        raise RuntimeError(f"copies {overlap[0]} and {overlap[1]} overlap: the search is wrong, please report this")
    return _assemble(job, polygons, (width, height), gap, budget)


def _assemble(job: _Job, polygons: list[Floats], size: tuple[float, float], gap: float, budget: Budget) -> Layout:
    order, angle = job.order, np.array(job.angles)[job.turn]
    origins = np.array(
        [turn(kind.origin[None], a)[0] for kind, a in zip((order.kinds[k] for k in order.kind), angle, strict=True)]
    )
    count = int(job.sheet.max()) + 1
    lengths = np.array(
        [max(p[:, 0].max() for p, s in zip(polygons, job.sheet, strict=True) if s == k) for k in range(count)]
    )
    used = lengths[-1] if count == 1 else (count - 1) * size[0] + lengths[-1]
    density = float(job.areas.sum() / (used * size[1]))
    return Layout(
        frozen(order.piece.copy()), frozen(job.sheet), frozen(angle), frozen(job.place - origins), tuple(polygons),
        size, gap, frozen(lengths), density, budget.spent_moves, budget.spent_seconds,
        budget.interrupted,
    )  # fmt: skip
