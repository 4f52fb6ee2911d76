"""What pieces are put on: strips, rectangles with borders, several sizes with counts, and irregular sheets with faults.

An irregular sheet is its box with obstacles: a frame whose hole is the outline, and the faults. Obstacles are pieces that do not move;
they keep the gap that pieces keep from one another.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import LEAST_REACH, Contour
from abut.contours.drawings.marks import Part
from abut.contours.drawings.svg_writing import View, write_curve
from abut.contours.nesting.pieces import Kind, read_kind
from abut.contours.svg.units import MILLIMETRES
from abut.core import arrays
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.showing import describe
from abut.core.types import Number, PointsLike

FRAME = 0.1
"""Of an irregular sheet's size: how wide the frame around it is."""
_LENGTH = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A kind of sheet: how large, how many there are, and where nothing may lie.

    Examples:
        >>> from abut import contours
        >>> board = contours.Sheet(600, 300, count=2, border=5)
        >>> hide = contours.Sheet(outline=[(0, 0), (80, 10), (90, 70), (10, 60)], faults=[[(40, 30), (45, 30), (45, 35)]])
        >>> square = [(0, 0), (20, 0), (20, 20), (0, 20)]
        >>> layout = contours.nest([square], [hide, board], copies=8, seconds=60, moves=20)
        >>> layout.sizes[0].tolist()
        [90.0, 70.0]
    """

    width: float | None = None
    """infinite or None for a strip; of an irregular sheet it follows from the outline"""
    height: float | None = None
    count: int | None = None
    """how many there are; None for as many as needed"""
    border: float = 0.0
    """along the sides, where nothing may lie"""
    outline: Contour | PointsLike | None = None
    """of an irregular sheet"""
    faults: Sequence[Contour | PointsLike] = ()
    """outlines of holes and flaws"""
    grain_deg: float = 0.0
    """the angle of the grain: pieces turn by their angles from there"""

    def __repr__(self) -> str:
        size = (
            "irregular"
            if self.outline is not None
            else f"{'strip' if self.width is None else self.width} × {self.height}"
        )
        return describe(self, size, *([] if self.count is None else [f"{self.count} of them"]))


SheetLike: TypeAlias = Sequence[float | None] | NDArray[Any] | str | Sheet | Sequence[Sheet]
"""Width and height; an infinite width, or None, for a strip. Or a text such as "300mm x 200mm", in millimetres without units. Or a Sheet,
or several, which are taken in this order."""


class Area(NamedTuple):
    """A kind of sheet, checked."""

    width: float
    height: float
    most: float
    """how many there are, infinite for as many as needed"""
    border: float
    grain_deg: float
    obstacles: tuple[Kind, ...]
    """in the sheet's coordinates, their origins taken off"""
    view: View

    @property
    def inner(self) -> tuple[float, float]:
        """Width and height within the borders."""
        return self.width - 2.0 * self.border, self.height - 2.0 * self.border


def read_millimetres(text: str, name: str) -> tuple[float, str]:
    """A length in millimetres, and its unit; without unit it is in millimetres."""
    match = _LENGTH.fullmatch(text)
    if not match or (match[2] and match[2].lower() not in MILLIMETRES):
        raise InvalidInput(name, f"{text.strip()[:40]!r} is no length such as 300, 300mm, 30cm or 12in")
    return float(match[1]) * MILLIMETRES[match[2].lower() or "mm"], match[2]


def read_size(text: str, name: str = "sheet") -> tuple[float, float]:
    """`300x200`, `300mmx200mm`, `30x20cm`: width and height in millimetres; `x200`: a strip."""
    wide, cross, high = text.lower().replace("×", "x").replace("px", "p_").partition("x")
    wide, high = wide.replace("p_", "px"), high.replace("p_", "px")
    try:
        if not cross:
            raise InvalidInput(name, "no x")
        height, unit = read_millimetres(high, name)
        if not wide.strip() or wide.strip() == "inf":
            width = math.inf
        else:
            width, own = read_millimetres(wide, name)
            width = width if own or not unit else width * MILLIMETRES[unit]
        if not (width > 0.0 and 0.0 < height < math.inf):
            raise InvalidInput(name, "not positive")
    except InvalidInput:
        raise InvalidInput(name, f"{text!r} is not of the form 300x200, 300mmx200mm, or x200 for a strip") from None
    return width, height


def _read_height(value: Any) -> float:
    height = arrays.positive(value, "sheet height")
    if height < LEAST_REACH:
        raise InvalidInput("sheet height", f"{height:g} is below {LEAST_REACH:g}")
    return height


def _is_infinite(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and value == math.inf)


def _read_rectangle(width: Any, height: Any) -> tuple[float, float]:
    size = _read_height(height)
    return (math.inf if _is_infinite(width) else arrays.positive(width, "sheet width")), size


def _read_obstacle(part: Part, name: str, low: Floats) -> Kind:
    try:
        kind = read_kind(part, 0, (0.0,))
    except InvalidInput as error:
        raise InvalidInput(name, error.reason) from error
    return kind._replace(origin=kind.origin - low)


def _read_one(sheet: Sheet, row: int) -> Area:
    count = math.inf if sheet.count is None else arrays.count(sheet.count, f"sheet[{row}].count")
    border = arrays.scalar(sheet.border, f"sheet[{row}].border", least=0.0)
    grain = arrays.scalar(sheet.grain_deg, f"sheet[{row}].grain_deg")
    faults: list[Any] = arrays.listed(sheet.faults, f"sheet[{row}].faults")
    obstacles: list[Kind] = []
    drawn: list[Contour] = []
    low = np.zeros(2)
    if sheet.outline is not None:
        if border:
            raise Unsupported(f"sheet[{row}]: a border of an irregular sheet; draw its outline smaller")
        outline = Part(sheet.outline).outline
        low, high = outline.bounds
        wide = FRAME * float((high - low).max())
        (x0, y0), (x1, y1) = low - wide, high + wide
        obstacles.append(
            _read_obstacle(Part([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], [outline]), f"sheet[{row}].outline", low)
        )
        width, height = (float(size) for size in high - low)
        drawn.append(outline)
    else:
        width, height = _read_rectangle(sheet.width, sheet.height)
    for k, fault in enumerate(faults):
        part = Part(fault)
        obstacles.append(_read_obstacle(part, f"sheet[{row}].faults[{k}]", low))
        drawn.append(part.outline)
    if obstacles and width == math.inf:
        raise Unsupported(f"sheet[{row}]: faults on a strip without end; give it a width")
    if 2.0 * border >= min(width, height):
        raise InvalidInput(f"sheet[{row}].border", f"{border:g} leaves nothing of {width:g} × {height:g}")
    data = "".join(write_curve(ring.segments - low, True) for ring in drawn)
    if data and sheet.outline is None:
        data = f"M0 0H{width!r}V{height!r}H0Z{data}"
    return Area(width, height, count, border, grain, tuple(obstacles), View(width, height, data))


def read_sheets(value: SheetLike) -> list[Area]:
    """Check and coerce what `nest` takes."""
    if isinstance(value, str):
        return [_read_one(Sheet(*read_size(value)), 0)]
    if isinstance(value, Sheet):
        return [_read_one(value, 0)]
    rows: list[Any] = []
    if isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim == 1):
        rows = arrays.listed(value, "sheet")
    if rows and all(isinstance(row, Sheet) for row in rows):
        areas = [_read_one(row, k) for k, row in enumerate(rows)]
        if not any(area.most for area in areas):
            raise InvalidInput("sheet", "there are none: all counts are zero")
        return areas
    if len(rows) != 2 or any(isinstance(row, Sheet) for row in rows):
        raise InvalidInput("sheet", "expected two numbers, width and height; an infinite width for a strip; or Sheets")
    width, height = _read_rectangle(rows[0], rows[1])
    return [Area(width, height, math.inf, 0.0, 0.0, (), View(width, height))]


def read_kerf(gap: Number, kerf: Number) -> float:
    """The least distance of two outlines: what is to be left between pieces, and what the cut takes."""
    return arrays.scalar(gap, "gap", least=0.0) + arrays.scalar(kerf, "kerf", least=0.0)


def scale_area(area: Area, power: int) -> Area:
    """The area divided by 2 to this power."""
    obstacles = tuple(
        kind.map(lambda ring: np.ldexp(ring, -power))._replace(origin=np.ldexp(kind.origin, -power))
        for kind in area.obstacles
    )
    width, height, border = (math.ldexp(length, -power) for length in (area.width, area.height, area.border))
    return area._replace(width=width, height=height, border=border, obstacles=obstacles)
