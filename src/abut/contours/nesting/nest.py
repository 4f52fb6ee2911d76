"""Nesting: pieces on a strip or on sheets, as close as the time allows, and never one over another.

A first placement falls together under pseudo-gravity; then, again and again, the strip is made shorter, the pieces that now overlap are moved
apart (`search`), and what was won is compacted. A strip that proves too short is tried again with less taken off, and after some failures
from a layout in which pieces have changed places. Only layouts without overlap are kept; the last one is verified by exact signs.

Several sheets are filled one after another: with what a first placement puts there, then with each further piece that can be squeezed in by
the same search. All but the last sheet are full; the last is nested like a strip.

Failure cases: the search is a heuristic, and no length is proven least. Pieces that may turn freely take one of up to 24 evenly spread
turns, or the angle that just fits where none of these does. The first placement is finished
whatever the budget.

The search works with lengths near 1: all are brought there by a power of two, which rounds nothing, so that a layout does not depend on the unit.
"""

import math
import time
from collections.abc import Callable
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike

from abut.contours.curve.contour import Contour
from abut.contours.drawings.marks import Part
from abut.contours.nesting.angles import RotationsLike
from abut.contours.nesting.job import Job
from abut.contours.nesting.layout import Layout
from abut.contours.nesting.pieces import Order, PiecesLike, find_tens, read_order
from abut.contours.nesting.sheets import Area, SheetLike, read_kerf, read_sheets, scale_area
from abut.contours.nesting.side_by_side import run_side_by_side
from abut.contours.nesting.strip import Budget
from abut.contours.nesting.tables import turn
from abut.contours.nesting.verify import find_overlap
from abut.core import arrays, jit
from abut.core.arrays import frozen
from abut.core.errors import InvalidInput
from abut.core.types import FlagsLike, IndicesLike, Number

SECONDS = 10.0
PREVIEW = 1.0
"""Seconds between two layouts that are shown."""
MOST_SEARCHES = 64
ENDLESS = 1e30
"""A sheet that is so many times as wide as high is a strip: no order fills it."""
LEAST_PIECE = 1e-9
"""Of the sheet's height, of the largest piece and of the gap: places of smaller pieces would be rounded to a visible part of them. And how much
larger than the sheet's height a piece may be."""


def _check_sizes(order: Order, height: float, gap: float) -> None:
    """Refuse lengths that are too different for the arithmetic, before they are brought to one scale."""
    largest = max(float(kind.polygon.max()) for kind in order.kinds)
    for number, kind in enumerate(order.kinds):
        own, row = float(kind.polygon.max()), order.first_piece(number)
        if own < LEAST_PIECE * max(height, largest):
            least = f"less than {LEAST_PIECE:g} of the sheet's height or of the largest piece"
            raise InvalidInput("pieces", f"is {own:g} large, {least}", row)
        if LEAST_PIECE * own > height:
            raise InvalidInput(
                "pieces", f"is {own:g} large, more than {1 / LEAST_PIECE:g} times the sheet's height", row
            )
        if own < LEAST_PIECE * gap:
            raise InvalidInput("gap", f"{gap:g} is more than {1 / LEAST_PIECE:g} times as long as pieces[{row}]")


def nest(
    pieces: PiecesLike,
    sheet: SheetLike,
    *,
    copies: IndicesLike = 1,
    rotations_deg: RotationsLike = (0.0,),
    gap: Number = 0.0,
    kerf: Number = 0.0,
    mirror: FlagsLike = False,
    priority: ArrayLike = 0.0,
    seconds: Number = SECONDS,
    moves: int | None = None,
    seed: int = 0,
    progress: Callable[[float, float], None] | None = None,
    better: Callable[[Layout], None] | None = None,
    searches: int = 1,
) -> Layout:
    """Pieces on a strip or on sheets, so that little length is used and none overlap.

    A KeyboardInterrupt ends the search: the best layout until then is returned, marked as interrupted. Before there is one, it is raised.

    Args:
        pieces: polygons (n,2), Contours, or Parts, which have holes; other pieces may lie in them. Curves are nested as polygons that hold
            them, within 2e-4 of their size.
        sheet: width and height; an infinite width (or None) for a strip; or a text such as "300mm x 200mm". Pieces that need more than one sheet get
            several. Or a Sheet, or a list of them, with borders, counts, faults and grain, which are filled in this order. Lengths of
            sheets and pieces are those of contours: from 1e-75 to 1e75.
        copies: of all pieces, or one number for each; 10,000 in all at most.
        rotations_deg: angles in degrees that pieces may be turned by, or None for any; or a list of such, one for each piece.
        gap: least distance of two pieces. They may lie at the border of the sheet.
        kerf: width of the cut, added to the gap.
        mirror: whether pieces may be turned over, for all or for each.
        priority: one number, or one for each piece: where sheets are counted and not all pieces fit, those with more go first.
        seconds: how long to search, compilation not counted.
        moves: how many moves to try at most; without limit by default. The result follows from the seed where this ends the search, not the time.
        seed: of the random numbers.
        progress: called many times with the part of the budget that is spent, and the least used length so far.
        better: called with the best layout so far, verified, when there is a better one, once in a second at most.
        searches: how many to run side by side, each in a thread with a seed of its own; the best counts. As many as there are cores for long runs.

    Returns:
        A layout that is proven to have no overlap. What found no place on counted sheets is listed in `unplaced`.

    Examples:
        >>> from abut import contours
        >>> ell = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
        >>> layout = contours.nest([ell], (None, 2), copies=2, rotations_deg=[0, 180], seconds=60, moves=500)
        >>> layout
        Layout(2 copies on 1 sheet, length 3, 100.0% filled)
        >>> sorted(layout.angle_deg.tolist())
        [0.0, 180.0]
    """
    areas = read_sheets(sheet)
    gap = read_kerf(gap, kerf)
    most_moves = math.inf if moves is None else max(1, arrays.count(moves, "moves"))
    for name, function in (("progress", progress), ("better", better)):
        if function is not None and not callable(function):
            raise InvalidInput(name, "cannot be called")
    searches = arrays.count(searches, "searches", least=1, most=MOST_SEARCHES)
    seconds = arrays.positive(seconds, "seconds")
    seed = arrays.count(seed, "seed")
    order = read_order(pieces, copies, rotations_deg, priority, mirror)
    parts = tuple(
        piece if isinstance(piece, Part) else Part(piece) if isinstance(piece, Contour) else None
        for piece in order.pieces
    )
    _warm_up()
    budget = Budget(seconds, most_moves, lambda share, length: None)
    job = _begin(order, areas, gap, seed)
    budget.report = _scaled_report(progress, job.order)
    if better is not None:
        job.show = _Shown(better, lambda state: _verified(state, areas, gap, budget, parts))
    if searches > 1:
        job = run_side_by_side(job, budget, seed, searches)
    else:
        job.run(budget)
    return _verified(job, areas, gap, budget, parts)


class _Shown:
    """Calls back with a layout, once in a second at most, and only with better ones."""

    def __init__(self, better: Callable[[Layout], None], assemble: Callable[[Job], Layout]) -> None:
        self.better, self.assemble, self.last, self.worth, self.lock = better, assemble, -math.inf, (math.inf,), Lock()

    def __call__(self, state: Job) -> None:
        with self.lock:
            if time.perf_counter() - self.last >= PREVIEW and state.worth < self.worth:
                self.better(self.assemble(state))
                self.last, self.worth = time.perf_counter(), state.worth


def _verified(job: Job, areas: list[Area], gap: float, budget: Budget, parts: tuple[Part | None, ...]) -> Layout:
    """The layout of a job; an overlap would be a mistake of the search."""
    layout = _assemble(job, areas, gap, budget, parts)
    overlap = layout.find_overlap()
    if overlap is not None:
        raise RuntimeError(f"copies {overlap[0]} and {overlap[1]} overlap: the search is wrong, please report this")
    _check_obstacles(layout, job, areas)
    return layout


@cache
def _warm_up() -> None:
    """Compile the search, once in a process: it is not part of anybody's budget."""
    if not jit.INTERPRETED:
        order = read_order([[(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]], 3, (0.0, 180.0))
        _begin(order, read_sheets((None, 3.0)), 0.0, 0).run(Budget(math.inf, 9, lambda share, length: None))


def _scaled_report(progress: Callable[[float, float], None] | None, order: Order) -> Callable[[float, float], None]:
    if progress is None:
        return lambda share, length: None
    return lambda share, length: progress(share, order.to_length(length))


def _begin(order: Order, areas: list[Area], gap: float, seed: int) -> Job:
    """The job in lengths near 1, divided by a power of 2; decimal lengths are first brought to whole numbers."""
    tallest, widest = max(area.height for area in areas), max(area.width for area in areas)
    is_plain = not any(area.obstacles for area in areas)
    if len(order.kind) == 1 and is_plain:
        gap = 0.0
    elif widest < math.inf:  # on one sheet nothing is further apart than this
        gap = min(gap, 2.0 * (widest + tallest))
    _check_sizes(order, tallest, gap)
    quarters = all(
        kind.angles and all((a + area.grain_deg) % 90.0 == 0.0 for a in kind.angles)
        for kind in order.kinds
        for area in areas
    )
    if gap == 0.0 and quarters and is_plain:
        lengths = [length for area in areas for length in (area.width, area.height, area.border) if length < math.inf]
        tens = find_tens(order, lengths)
        if tens:
            unit = 10.0**tens
            order = order.in_whole_numbers(tens)
            areas = [
                area._replace(
                    width=area.width if area.width == math.inf else float(round(area.width * unit)),
                    height=float(round(area.height * unit)),
                    border=float(round(area.border * unit)),
                )
                for area in areas
            ]
            tallest *= unit
    power = math.frexp(tallest)[1]
    areas = [scale_area(area, power) for area in areas]
    areas = [area._replace(width=math.inf) if area.width / area.height > ENDLESS else area for area in areas]
    return Job(order.scaled(power), areas, math.ldexp(gap, -power), seed)


def _assemble(job: Job, areas: list[Area], gap: float, budget: Budget, parts: tuple[Part | None, ...]) -> Layout:
    order = job.order
    placed = np.flatnonzero(job.sheet >= 0)
    if not len(placed):
        raise InvalidInput("sheet", "no piece finds a place on any")
    angle, flip = np.array(job.poses)[job.turn[placed]].T.copy()
    borders = np.array([areas[job.used[sheet]].border for sheet in job.sheet[placed].tolist()])
    own = [job.placed(row) for row in placed.tolist()]
    rings = [
        tuple(frozen(order.to_lengths(ring) + border) for ring in piece)
        for piece, border in zip(own, borders.tolist(), strict=True)
    ]
    origins = np.array(
        [turn(order.kinds[k].origin[None], a, f)[0] for k, a, f in zip(order.kind[placed], angle, flip, strict=True)]
    )
    sheet, sizes = job.sheet[placed], np.array([(areas[k].width, areas[k].height) for k in job.used])
    lengths = np.zeros(len(job.used))
    np.maximum.at(lengths, sheet, [polygon[:, 0].max() for polygon, *_ in rings])
    top = max(area.height for area in areas)  # heights near 1, so that no product overflows
    used = float((sizes[:-1, 0] * (sizes[:-1, 1] / top)).sum() + lengths[-1] * (sizes[-1, 1] / top))
    density = float(
        (
            job.pieces[placed]
            / math.ldexp(top * 10.0**order.tens, -order.power)
            / math.ldexp(used * 10.0**order.tens, -order.power)
        ).sum()
    )
    place = order.to_lengths(job.place[placed]) - origins + borders[:, None]
    return Layout(
        frozen(order.piece[placed]), frozen(sheet), frozen(angle), frozen(place), tuple(polygon for polygon, *_ in rings),
        (float(sizes[0, 0]), float(sizes[0, 1])), gap, frozen(lengths), density, budget.spent_moves, budget.spent_seconds, budget.interrupted,
        tuple(tuple(holes) for _, *holes in rings), frozen(sizes), frozen(order.piece[job.sheet < 0]), parts, tuple(areas[k].view for k in job.used),
        frozen(flip < 0.0),
    )  # fmt: skip


def _check_obstacles(layout: Layout, job: Job, areas: list[Area]) -> None:
    """No piece lies over a fault or beyond an irregular outline, by exact signs."""
    for number, used in enumerate(job.used):
        rows = np.flatnonzero(layout.sheet == number).tolist()
        for obstacle in areas[used].obstacles:
            rings = [ring + obstacle.origin for ring in obstacle.rings]
            for row in rows:
                if (
                    find_overlap([rings[0], layout.polygons[row]], 0.0, None, [rings[1:], layout.holes[row]])
                    is not None
                ):
                    raise RuntimeError(f"copy {row} lies over an obstacle: the search is wrong, please report this")
