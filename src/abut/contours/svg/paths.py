"""Path data: a pen that draws cubic curves, and the subpaths that it leaves, closed or open."""

import math
from typing import NamedTuple

import numpy as np

from abut.contours.curve.contour import CLOSED
from abut.contours.svg.curves import Cubic, Point, arc, line, quadratic
from abut.contours.svg.lexer import Lexer
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput

_LETTERS = "MmLlHhVvCcSsQqTtAaZz"
MOST_SEGMENTS = 2**22
"""Of one path or document: about 1 GB while it is read."""


class Subpath(NamedTuple):
    """What is drawn between two lifts of the pen."""

    segments: Floats
    """(n,4,2)"""
    is_closed: bool
    began: int
    """the character of its M"""


class _Path:
    """The state of a pen that follows path data."""

    def __init__(self, text: str, name: str) -> None:
        self.read = Lexer(text, name)
        self.pen: Point = 0j
        self.start: Point = 0j
        self.control: Point = 0j
        """the last control point: S and T mirror it"""
        self.cubics: list[Cubic] = []
        self.subpaths: list[Subpath] = []
        self.began = 0
        self.count = 0

    def follow(self) -> list[Subpath]:
        """All subpaths."""
        read, letter, before = self.read, "", ""
        if read.done:
            raise read.error("is empty")
        while not read.done:
            at, new = read.at, read.letter(_LETTERS)
            if new is not None:
                letter = new
            elif not letter or letter in "zZ":
                raise read.error("expected a command")
            if not before and letter not in "mM":
                raise read.error("path data begin with M", at)
            if letter in "mM":
                self._finish(closed=False)
                self.began = at
            self._draw(letter, before)
            before = letter.upper()
            letter = {"m": "l", "M": "L"}.get(letter, letter)  # further pairs are lines
        self._finish(closed=False)
        return self.subpaths

    def _point(self, relative: bool) -> Point:
        x, y = self.read.number(), self.read.number()
        return complex(x, y) + (self.pen if relative else 0j)

    def _draw(self, letter: str, before: str) -> None:
        kind, relative = letter.upper(), letter.islower()
        base = self.pen if relative else 0j
        if kind == "Z":
            self._finish(closed=True)
            return
        if kind == "M":
            self.pen = self.start = self.control = self._point(relative)
            return
        control = self.pen
        if kind == "A":
            radii = complex(self.read.number(), self.read.number())
            turn = math.radians(self.read.number())
            large, sweep = self.read.flag(), self.read.flag()
            end = self._point(relative)
            new = arc(self.pen, radii, turn, large, sweep, end, self.read.name)
        elif kind in "CS":
            first = self._point(relative) if kind == "C" else self._mirror(before in ("C", "S"))
            control = self._point(relative)
            end = self._point(relative)
            new = [(self.pen, first, control, end)]
        elif kind in "QT":
            control = self._point(relative) if kind == "Q" else self._mirror(before in ("Q", "T"))
            end = self._point(relative)
            new = [quadratic(self.pen, control, end)]
        else:
            if kind == "L":
                end = self._point(relative)
            elif kind == "H":
                end = complex(self.read.number() + base.real, self.pen.imag)
            else:
                end = complex(self.pen.real, self.read.number() + base.imag)
            new = [line(self.pen, end)] if end != self.pen else []
        self.cubics += new
        self.count += len(new)
        if self.count > MOST_SEGMENTS:
            raise InvalidInput(self.read.name, f"has more than {MOST_SEGMENTS} segments")
        self.pen = end
        self.control = control if kind in "CSQT" else end

    def _mirror(self, follows: bool) -> Point:
        return 2.0 * self.pen - self.control if follows else self.pen

    def _finish(self, *, closed: bool) -> None:
        """End a subpath: it is closed by Z, or where it comes back to where it began."""
        if self.cubics:
            size = max(max(abs(p) for p in cubic) for cubic in self.cubics)
            if abs(self.pen - self.start) <= CLOSED * size:
                p0, p1, p2, _ = self.cubics[-1]
                self.cubics[-1] = (p0, p1, p2, self.start)
                closed = True
            elif closed:
                self.cubics.append(line(self.pen, self.start))
            segments = frozen(np.array([[(p.real, p.imag) for p in cubic] for cubic in self.cubics]))
            self.subpaths.append(Subpath(segments, closed, self.began))
        self.cubics = []
        if closed:
            self.pen = self.start
        self.control = self.start = self.pen


def trace_path(text: str, name: str) -> list[Subpath]:
    """The subpaths of path data, open ones too; those without any length are left out."""
    return _Path(text, name).follow()


def parse_path(text: str, name: str = "path") -> list[Floats]:
    """The closed subpaths of path data.

    Args:
        text: commands M L H V C S Q T A Z in capitals or small letters, and numbers.
        name: what errors call the text.

    Returns:
        For each subpath (n,4,2) cubic segments. Lines and quadratic curves become cubic ones exactly, arcs within 7e-8 of their radius.

    Examples:
        >>> from abut.contours import svg
        >>> outlines = svg.parse_path("M0 0H2V1Z m5 5h1v1z")
        >>> [outline.shape for outline in outlines]
        [(3, 4, 2), (3, 4, 2)]
        >>> outlines[0][:, 0].tolist()
        [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]]
    """
    path = _Path(arrays.instance(text, name, str), name)
    for segments, is_closed, began in path.follow():
        if not is_closed:
            away = float(np.hypot(*(segments[-1, 3] - segments[0, 0])))
            raise path.read.error(f"the subpath is open, it ends {away:.3g} from where it began", began)
    if not path.subpaths:
        raise path.read.error("the subpath has no length", path.began)
    return [subpath.segments for subpath in path.subpaths]
