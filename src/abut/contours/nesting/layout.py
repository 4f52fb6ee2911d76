"""A finished layout: which copy lies where, on which sheet, and the polygons themselves, which do not overlap."""

import math
from typing import NamedTuple

import numpy as np

from abut.contours.nesting.verify import find_overlap
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.showing import count, describe

SPACE = 0.05
"""Between drawn sheets, of their height."""
MOST_DECIMALS = 300
SHOWN_DIGITS = 5
"""Of the sheet's height, in a notebook's picture."""
COLORS = ("#7fa6c9", "#c98f7f", "#8fbf8a", "#b39ac9", "#c9b97f", "#7fc2bf", "#c97fa8", "#a0a89a")


class Layout(NamedTuple):
    """Where each copy lies, one row per copy: its piece turned by `angle_deg` about the origin of the piece's coordinates, then moved by `position`.
    Immutable."""

    piece: Integers
    """(k,) number of the piece"""
    sheet: Integers
    """(k,) number of the sheet, from 0"""
    angle_deg: Floats
    """(k,) degrees, anticlockwise where y points up"""
    position: Floats
    """(k,2)"""
    polygons: tuple[Floats, ...]
    """the placed polygons, anticlockwise, in coordinates of their sheet: 0 ≤ x ≤ width, 0 ≤ y ≤ height"""
    size: tuple[float, float]
    """width and height of a sheet; the width is infinite for a strip"""
    gap: float
    """least distance of two pieces that was asked for"""
    lengths: Floats
    """(sheets,) used length of each sheet: the largest x"""
    density: float
    """area of the pieces by the area of what is used: whole sheets but the last, of which only the used length counts"""
    moves: int
    """pieces that the search tried to move"""
    seconds: float
    """spent"""
    interrupted: bool
    """whether the search ended because of an interruption; the layout is the best found until then"""

    def __len__(self) -> int:
        return len(self.piece)

    def __repr__(self) -> str:
        copies, sheets = count(len(self), "copy", "copies"), count(len(self.lengths), "sheet")
        return describe(self, f"{copies} on {sheets}", f"length {self.length:g}", f"{self.density:.1%} filled")

    def _repr_svg_(self) -> str:
        return self.to_svg(min(max(0, SHOWN_DIGITS - 1 - math.floor(math.log10(self.size[1]))), MOST_DECIMALS))

    @property
    def length(self) -> float:
        """Used length: of the only sheet, or of all but the last in full and of the last what is used."""
        return (
            float((len(self.lengths) - 1) * self.size[0] + self.lengths[-1])
            if len(self.lengths) > 1
            else float(self.lengths[0])
        )

    def find_overlap(self) -> tuple[int, int] | None:
        """Two copies whose interiors meet, or that are closer than the gap, by exact signs; None where there are none, as `nest` ensures."""
        return find_overlap(list(self.polygons), self.gap, self.sheet)

    def to_svg(self, decimals: int | None = None) -> str:
        """A drawing of all sheets, one below the other; as always in SVG, y points down.

        Args:
            decimals: of coordinates, for a small picture; pieces may then overlap by as much. Written in full by default.

        Returns:
            The text of an SVG document.
        """
        if decimals is not None:
            decimals = arrays.count(decimals, "decimals", most=MOST_DECIMALS)
        height = self.size[1]
        widths = np.where(np.isinf(self.size[0]), self.lengths, self.size[0])
        space = SPACE * height
        rows: list[list[str]] = [[] for _ in self.lengths]
        for row, (piece, sheet, polygon) in enumerate(zip(self.piece.tolist(), self.sheet, self.polygons, strict=True)):
            rows[sheet].append(
                f'<path id="piece-{piece}-{row}" fill="{COLORS[piece % len(COLORS)]}" d="{_path(polygon, decimals)}"/>'
            )
        drawn = [
            f'<g id="sheet-{k}" transform="translate(0 {k * (height + space)!r})">'
            f'<rect width="{width!r}" height="{height!r}" fill="#f4f4f0"/>{"".join(paths)}</g>'
            for k, (width, paths) in enumerate(zip(widths.tolist(), rows, strict=True))
        ]
        total = len(widths) * (height + space) - space
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {float(widths.max())!r} {total!r}" '
            f'stroke="#333" stroke-width="{height / 500!r}" stroke-linejoin="round">{"".join(drawn)}</svg>\n'
        )


def _path(polygon: Floats, decimals: int | None) -> str:
    if decimals is not None:
        polygon = polygon.round(decimals)
        polygon = polygon[(polygon != np.roll(polygon, 1, axis=0)).any(axis=1)]
    return "M" + "L".join(f"{x!r} {y!r}" for x, y in polygon.tolist()) + "Z"
