"""A finished layout: which copy lies where, on which sheet, and the polygons themselves, which do not overlap."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.drawings.dxf_writing import write_dxf
from abut.contours.drawings.marks import Part
from abut.contours.drawings.svg_writing import Placed, View, write_svg
from abut.contours.nesting.tables import cosine_sine
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
    """Where each copy lies, one row per copy: its piece turned by `angle_deg` about the origin of the piece's coordinates, then moved by `position`;
    before that its x is negated where it is `mirrored`.
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
    holes: tuple[tuple[Floats, ...], ...]
    """for each copy the clockwise rings around the holes of its polygon; other copies may lie in them"""
    sizes: Floats
    """(sheets,2) width and height of each sheet"""
    unplaced: Integers
    """(u,) pieces of the copies that found no place on counted sheets"""
    parts: tuple[Part | None, ...]
    """for each piece what it is in a drawing; None for one that was given as a polygon"""
    views: tuple[View, ...]
    """how each sheet is drawn"""
    mirrored: NDArray[np.bool_]
    """(k,) whether the copy is turned over: its piece's x is negated before it is turned"""

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
        return float(self.sizes[:-1, 0].sum() + self.lengths[-1])

    def find_overlap(self) -> tuple[int, int] | None:
        """Two copies whose interiors meet, or that are closer than the gap, by exact signs; None where there are none, as `nest` ensures."""
        return find_overlap(self.polygons, self.gap, self.sheet, self.holes)

    def _placed(self) -> list[Placed]:
        """All copies as parts of a drawing."""
        found: list[Placed] = []
        for row, (piece, sheet, angle) in enumerate(
            zip(self.piece.tolist(), self.sheet.tolist(), self.angle_deg.tolist(), strict=True)
        ):
            part = self.parts[piece]
            if part is None:
                polygon, *holes = (Contour.from_polygon(ring) for ring in (self.polygons[row], *self.holes[row]))
                found.append(Placed(Part(polygon, holes, name=f"piece-{piece}-{row}"), sheet, np.eye(2, 3)))
            else:
                (cosine, sine), flip = cosine_sine(angle), -1.0 if self.mirrored[row] else 1.0
                x, y = self.position[row].tolist()
                matrix = np.array([(flip * cosine, -sine, x), (flip * sine, cosine, y)])
                found.append(Placed(part, sheet, matrix))
        return found

    def _views(self) -> list[View]:
        """Sheets as they are drawn: a strip as long as it is used."""
        widths = np.where(np.isinf(self.sizes[:, 0]), self.lengths, self.sizes[:, 0])
        return [view._replace(width=width) for view, width in zip(self.views, widths.tolist(), strict=True)]

    def to_svg(self, decimals: int | None = None) -> str:
        """A drawing of all sheets, one below the other; as always in SVG, y points down.

        Where pieces came as Parts or Contours, it is a drawing in millimetres at true size: curves are curves, and what was drawn on a
        part lies on it. Polygons alone are drawn as coloured polygons, without a unit.

        Args:
            decimals: of coordinates, for a small picture of polygons; pieces may then overlap by as much. Written in full by default.

        Returns:
            The text of an SVG document.
        """
        if decimals is None and any(part is not None for part in self.parts):
            return write_svg(self._placed(), self._views(), SPACE * self.size[1])
        if decimals is not None:
            decimals = arrays.count(decimals, "decimals", most=MOST_DECIMALS)
        space = SPACE * self.size[1]
        rows: list[list[str]] = [[] for _ in self.lengths]
        for row, (piece, sheet, polygon) in enumerate(zip(self.piece.tolist(), self.sheet, self.polygons, strict=True)):
            data = "".join(_path(ring, decimals) for ring in (polygon, *self.holes[row]))
            rows[sheet].append(f'<path id="piece-{piece}-{row}" fill="{COLORS[piece % len(COLORS)]}" d="{data}"/>')
        drawn, top, views = list[str](), 0.0, self._views()
        for k, (view, paths) in enumerate(zip(views, rows, strict=True)):
            area = f'<rect width="{view.width!r}" height="{view.height!r}" fill="#f4f4f0"/>'
            if view.outline:
                area = f'<path d="{view.outline}" fill="#f4f4f0" fill-rule="evenodd"/>'
            drawn.append(f'<g id="sheet-{k}" transform="translate(0 {top!r})">{area}{"".join(paths)}</g>')
            top += view.height + space
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(view.width for view in views)!r} {top - space!r}" '
            f'stroke="#333" stroke-width="{self.size[1] / 500!r}" stroke-linejoin="round">{"".join(drawn)}</svg>\n'
        )

    def to_dxf(self) -> str:
        """A DXF drawing in millimetres: entities that were read from DXF as they were, all else as polylines, splines and texts; y points up.

        Returns:
            The text of a DXF file.

        Raises:
            Unsupported: where ezdxf is not installed (the extra `abut[dxf]`).
        """
        return write_dxf(self._placed(), self._views(), SPACE * self.size[1])


def _path(polygon: Floats, decimals: int | None) -> str:
    if decimals is not None:
        polygon = polygon.round(decimals)
        polygon = polygon[(polygon != np.roll(polygon, 1, axis=0)).any(axis=1)]
    return "M" + "L".join(f"{x!r} {y!r}" for x, y in polygon.tolist()) + "Z"
