"""Nesting: pieces on a strip or on sheets, as close as the time allows, and never one over another.

A first placement falls together under pseudo-gravity; then, again and again, the strip is made shorter, the pieces that now overlap are moved
apart (`search`), and what was won is compacted. A strip that proves too short is tried again with less taken off, and after some failures
from a layout in which pieces have changed places. Only layouts without overlap are kept; the last one is verified by exact signs.

Several sheets are filled one after another: with what a first placement puts there, then with each further piece that can be squeezed in by
the same search. All but the last sheet are full; the last is nested like a strip.

Failure cases: the search is a heuristic, and no length is proven least. Pieces that may turn freely take one of up to 24 evenly spread
turns, or the angle that just fits where none of these does. Holes are not known: nothing is put inside another piece's hole. The first
placement is finished whatever the budget.

The search works with lengths near 1: all are brought there by a power of two, which rounds nothing, so that a layout does not depend on the unit.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import LEAST_REACH
from abut.contours.nesting.angles import RotationsLike
from abut.contours.nesting.job import Job
from abut.contours.nesting.layout import Layout
from abut.contours.nesting.pieces import Order, PiecesLike, read_order
from abut.contours.nesting.strip import Budget
from abut.contours.nesting.tables import turn
from abut.core import arrays
from abut.core.arrays import frozen
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, Number

SheetLike: TypeAlias = Sequence[float | None] | NDArray[Any]
"""Width and height; an infinite width, or None, for a strip."""
SECONDS = 10.0
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


def _read_sheet(sheet: SheetLike) -> tuple[float, float]:
    rows: list[Any] = []
    if isinstance(sheet, Sequence) or (isinstance(sheet, np.ndarray) and sheet.ndim == 1):
        rows = arrays.listed(sheet, "sheet")
    if len(rows) != 2:
        raise InvalidInput("sheet", "expected two numbers, width and height; an infinite width for a strip")
    is_strip = rows[0] is None or (isinstance(rows[0], float | np.floating) and rows[0] == math.inf)
    height = arrays.positive(rows[1], "sheet height")
    if height < LEAST_REACH:
        raise InvalidInput("sheet height", f"{height:g} is below {LEAST_REACH:g}")
    return math.inf if is_strip else arrays.positive(rows[0], "sheet width"), height


def nest(
    pieces: PiecesLike,
    sheet: SheetLike,
    *,
    copies: IndicesLike = 1,
    rotations_deg: RotationsLike = (0.0,),
    gap: Number = 0.0,
    seconds: Number = SECONDS,
    moves: int | None = None,
    seed: int = 0,
    progress: Callable[[float, float], None] | None = None,
) -> Layout:
    """Pieces on a strip or on sheets, so that little length is used and none overlap.

    A KeyboardInterrupt ends the search: the best layout until then is returned, marked as interrupted. Before there is one, it is raised.

    Args:
        pieces: polygons (n,2) or Contours. Curves are nested as polygons that hold them, within 2e-4 of their size.
        sheet: width and height; an infinite width (or None) for a strip. Pieces that need more than one sheet get several. Lengths of sheets
            and pieces are those of contours: from 1e-75 to 1e75.
        copies: of all pieces, or one number for each; 10,000 in all at most.
        rotations_deg: angles in degrees that pieces may be turned by, or None for any; or a list of such, one for each piece.
        gap: least distance of two pieces. They may lie at the border of the sheet.
        seconds: how long to search.
        moves: how many moves to try at most; without limit by default. The result follows from the seed where this ends the search, not the time.
        seed: of the random numbers.
        progress: called many times with the part of the budget that is spent, and the least used length so far.

    Returns:
        A layout that is proven to have no overlap.

    Example:
        >>> from abut import contours
        >>> ell = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
        >>> layout = contours.nest([ell], (None, 2), copies=2, rotations_deg=[0, 180], seconds=60, moves=500)
        >>> layout
        Layout(2 copies on 1 sheet, length 3, 100.0% filled)
        >>> sorted(layout.angle_deg.tolist())
        [0.0, 180.0]
    """
    width, height = _read_sheet(sheet)
    gap = arrays.scalar(gap, "gap", least=0.0)
    most_moves = math.inf if moves is None else max(1, arrays.count(moves, "moves"))
    if progress is not None and not callable(progress):
        raise InvalidInput("progress", "cannot be called")
    seconds = arrays.positive(seconds, "seconds")
    seed = arrays.count(seed, "seed")
    order = read_order(pieces, copies, rotations_deg)
    power = math.frexp(height)[1]
    budget = Budget(seconds, most_moves, _scaled_report(progress, power))
    job = _begin(order, width, height, gap, power, seed)
    job.run(budget)
    layout = _assemble(job, (width, height), gap, budget)
    overlap = layout.find_overlap()
    if overlap is not None:
        raise RuntimeError(f"copies {overlap[0]} and {overlap[1]} overlap: the search is wrong, please report this")
    return layout


def _scaled_report(progress: Callable[[float, float], None] | None, power: int) -> Callable[[float, float], None]:
    if progress is None:
        return lambda share, length: None
    return lambda share, length: progress(share, math.ldexp(length, power))


def _begin(order: Order, width: float, height: float, gap: float, power: int, seed: int) -> Job:
    """The job in lengths near 1: divided by 2 to the `power`."""
    if len(order.kind) == 1:
        gap = 0.0
    elif width < math.inf:  # on one sheet nothing is further apart than this
        gap = min(gap, 2.0 * (width + height))
    _check_sizes(order, height, gap)
    if width / height > ENDLESS:
        width = math.inf
    width, height, gap = (math.ldexp(length, -power) for length in (width, height, gap))
    return Job(order.scaled(power), width, height, gap, seed)


def _assemble(job: Job, size: tuple[float, float], gap: float, budget: Budget) -> Layout:
    order, angle, power = job.order, np.array(job.angles)[job.turn], job.order.power
    polygons = [frozen(np.ldexp(polygon, power)) for polygon in job.placed()]
    origins = np.array([turn(order.kinds[k].origin[None], a)[0] for k, a in zip(order.kind, angle, strict=True)])
    lengths = np.zeros(int(job.sheet.max()) + 1)
    np.maximum.at(lengths, job.sheet, [polygon[:, 0].max() for polygon in polygons])
    used = lengths[-1] if len(lengths) == 1 else (len(lengths) - 1) * size[0] + lengths[-1]
    density = float(job.areas.sum() / (np.ldexp(used, -power) * math.ldexp(size[1], -power)))
    return Layout(
        frozen(order.piece.copy()), frozen(job.sheet), frozen(angle), frozen(np.ldexp(job.place, power) - origins),
        tuple(polygons), size, gap, frozen(lengths), density, budget.spent_moves, budget.spent_seconds,
        budget.interrupted,
    )  # fmt: skip
