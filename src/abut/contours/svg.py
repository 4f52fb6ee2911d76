"""Outlines from SVG: path data (M L H V C S Q T A Z), polygons, rectangles, circles and ellipses, with their transforms.

Quadratic curves and lines become cubic ones exactly. An arc is cut into pieces of at most 22.5° and each replaced by the usual
cubic, which is off by less than 7e-8 of the radius. Coordinates are those of the document's user units, y down as SVG has it;
`viewBox`, lengths with other units than px, style sheets and clipping are not looked at.

An outline must be closed: subpaths that end neither with Z nor where they began are refused. Text and images have no outline and are left
out; `use`, `line` and open polylines are refused by name, as a piece would be lost. Errors name the element and the character.
"""

import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from abut.arrays import LARGEST_COORDINATE, Floats
from abut.contours.contour import CLOSED, Contour, straight_segments
from abut.errors import InvalidInput, Unsupported

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BLANK = re.compile(r"[\s,]*")
_TRANSFORM = re.compile(r"\s*([a-zA-Z]+)\s*\(([^()]*)\)[\s,]*")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_HIDDEN = {"defs", "clipPath", "mask", "symbol", "pattern", "marker", "linearGradient", "radialGradient", "filter"}
_LOST = {"use", "line"}
ARC_PIECE = math.pi / 8
"""Largest angle of one cubic of an arc: error 6.6e-8 of the radius."""


class _Reader:
    """Path data, read from left to right; errors tell the character."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.at = text, name, 0
        self._skip()

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def error(self, reason: str, at: int | None = None) -> InvalidInput:
        place = self.at if at is None else at
        near = self.text[place : place + 12]
        return InvalidInput(self.name, f"character {place}: {reason}" + (f" at {near!r}" if near else ""))

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def command(self) -> str | None:
        """The next letter, or None where a number stands."""
        letter = self.text[self.at]
        if not letter.isalpha():
            return None
        if letter.upper() not in _ARGUMENTS:
            raise self.error("unknown command")
        self.at += 1
        self._skip()
        return letter

    def number(self) -> float:
        match = _NUMBER.match(self.text, self.at)
        if not match:
            raise self.error("expected a number")
        value = float(match.group())
        if not abs(value) <= LARGEST_COORDINATE:
            raise self.error(f"a number beyond ±{LARGEST_COORDINATE:g}")
        self.at = match.end()
        self._skip()
        return value

    def flag(self) -> bool:
        """0 or 1, which may stand without a blank before the next number."""
        if self.done or self.text[self.at] not in "01":
            raise self.error("expected a flag, 0 or 1")
        value = self.text[self.at] == "1"
        self.at += 1
        self._skip()
        return value


Point = complex
Cubic = tuple[Point, Point, Point, Point]


def _arc(start: Point, radii: Point, turn: float, large: bool, sweep: bool, end: Point) -> list[Cubic]:
    """An elliptical arc as cubics (SVG 1.1, appendix F.6)."""
    rx, ry = abs(radii.real), abs(radii.imag)
    if start == end:
        return []
    if rx == 0.0 or ry == 0.0:
        return [_line(start, end)]
    frame = complex(math.cos(turn), math.sin(turn))
    half = 0.5 * (start - end) * frame.conjugate()
    x, y = half.real / rx, half.imag / ry
    stretch = math.hypot(x, y)
    if stretch > 1.0:  # radii too small: enlarged just enough
        rx, ry, x, y = rx * stretch, ry * stretch, x / stretch, y / stretch
    away = math.sqrt(max(0.0, 1.0 / (x * x + y * y) - 1.0)) * (-1.0 if large == sweep else 1.0)
    centre = complex(away * y, -away * x)  # on the unit circle's scale
    first = math.atan2(y - centre.imag, x - centre.real)
    last = math.atan2(-y - centre.imag, -x - centre.real)
    span = (last - first) % (2.0 * math.pi)
    if not sweep:
        span -= 2.0 * math.pi
    count = max(1, math.ceil(abs(span) / ARC_PIECE - 1e-9))
    middle = 0.5 * (start + end) + complex(rx * centre.real, ry * centre.imag) * frame

    def place(p: complex) -> Point:
        return middle + complex(rx * p.real, ry * p.imag) * frame

    cubics: list[Cubic] = []
    step = span / count
    reach = 4.0 / 3.0 * math.tan(0.25 * step)
    for i in range(count):
        a, b = first + i * step, first + (i + 1) * step
        p, q = complex(math.cos(a), math.sin(a)), complex(math.cos(b), math.sin(b))
        cubics.append(
            (
                start if i == 0 else place(p),
                place(p + reach * 1j * p),
                place(q - reach * 1j * q),
                end if i == count - 1 else place(q),
            )
        )
    return cubics


def _line(start: Point, end: Point) -> Cubic:
    return (start, start + (end - start) / 3.0, end - (end - start) / 3.0, end)


def _quadratic(start: Point, control: Point, end: Point) -> Cubic:
    return (start, start + (control - start) * (2.0 / 3.0), end + (control - end) * (2.0 / 3.0), end)


class _Path:
    """The state of a pen that follows path data."""

    def __init__(self, text: str, name: str) -> None:
        self.read = _Reader(text, name)
        self.pen: Point = 0j
        self.start: Point = 0j
        self.control: Point = 0j
        """the last control point: S and T mirror it"""
        self.cubics: list[Cubic] = []
        self.outlines: list[Floats] = []
        self.began = 0

    def outlines_of(self) -> list[Floats]:
        read, letter, before = self.read, "", ""
        if read.done:
            raise read.error("is empty")
        while not read.done:
            at, new = read.at, read.command()
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
        return self.outlines

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
            new = _arc(self.pen, radii, turn, large, sweep, end)
        elif kind in "CS":
            first = self._point(relative) if kind == "C" else self._mirror(before in ("C", "S"))
            control = self._point(relative)
            end = self._point(relative)
            new = [(self.pen, first, control, end)]
        elif kind in "QT":
            control = self._point(relative) if kind == "Q" else self._mirror(before in ("Q", "T"))
            end = self._point(relative)
            new = [_quadratic(self.pen, control, end)]
        else:
            if kind == "L":
                end = self._point(relative)
            elif kind == "H":
                end = complex(self.read.number() + base.real, self.pen.imag)
            else:
                end = complex(self.pen.real, self.read.number() + base.imag)
            new = [_line(self.pen, end)] if end != self.pen else []
        self.cubics += new
        self.pen = end
        self.control = control if kind in "CSQT" else end

    def _mirror(self, follows: bool) -> Point:
        return 2.0 * self.pen - self.control if follows else self.pen

    def _finish(self, *, closed: bool) -> None:
        """End a subpath; what was drawn must come back to where it began."""
        if self.cubics:
            size = max(max(abs(p) for p in cubic) for cubic in self.cubics)
            if abs(self.pen - self.start) <= CLOSED * size:
                p0, p1, p2, _ = self.cubics[-1]
                self.cubics[-1] = (p0, p1, p2, self.start)
            elif closed:
                self.cubics.append(_line(self.pen, self.start))
            else:
                raise self.read.error(
                    f"the subpath is open, it ends {abs(self.pen - self.start):.3g} from where it began", self.began
                )
            self.outlines.append(np.array([[(p.real, p.imag) for p in cubic] for cubic in self.cubics]))
        elif closed and not self.outlines:
            raise self.read.error("the subpath has no length", self.began)
        self.cubics = []
        self.pen = self.control = self.start


def parse_path(text: str, name: str = "path") -> list[Floats]:
    """The closed subpaths of path data, each (n,4,2) cubic segments."""
    return _Path(text, name).outlines_of()


def parse_transform(text: str, name: str = "transform") -> Floats:
    """(2,3) matrix of a transform attribute."""
    result, at = np.eye(3), 0
    while at < len(text.rstrip()):
        match = _TRANSFORM.match(text, at)
        if not match:
            raise InvalidInput(
                name, f"character {at}: expected a function such as translate(1 2) at {text[at : at + 12]!r}"
            )
        numbers = [_number(part, name) for part in re.split(r"[\s,]+", match.group(2).strip()) if part]
        result = result @ _matrix(match.group(1), numbers, name)
        at = match.end()
    return result[:2]


def _matrix(kind: str, numbers: list[float], name: str) -> Floats:
    count = len(numbers)
    result = np.eye(3)
    if kind == "matrix" and count == 6:
        result[:2] = np.reshape(numbers, (3, 2)).T
    elif kind == "translate" and count in (1, 2):
        result[:2, 2] = (numbers[0], numbers[1] if count == 2 else 0.0)
    elif kind == "scale" and count in (1, 2):
        result[0, 0], result[1, 1] = numbers[0], numbers[-1]
    elif kind == "rotate" and count in (1, 3):
        angle = math.radians(numbers[0])
        c, s = math.cos(angle), math.sin(angle)
        result[:2, :2] = ((c, -s), (s, c))
        centre = np.array(numbers[1:] if count == 3 else (0.0, 0.0))
        result[:2, 2] = centre - result[:2, :2] @ centre
    elif kind == "skewX" and count == 1:
        result[0, 1] = math.tan(math.radians(numbers[0]))
    elif kind == "skewY" and count == 1:
        result[1, 0] = math.tan(math.radians(numbers[0]))
    else:
        raise InvalidInput(name, f"{kind} with {count} numbers is no transform")
    return result


def _number(text: str, name: str) -> float:
    cut = text.strip().removesuffix("px")
    if not _NUMBER.fullmatch(cut):
        raise InvalidInput(name, f"{text!r} is not a number")
    value = float(cut)
    if not abs(value) <= LARGEST_COORDINATE:
        raise InvalidInput(name, f"{text!r} is beyond ±{LARGEST_COORDINATE:g}")
    return value


def _corners(text: str, name: str) -> Floats:
    numbers = [_number(part, name) for part in re.split(r"[\s,]+", text.strip()) if part]
    if len(numbers) % 2:
        raise InvalidInput(name, f"{len(numbers)} coordinates are not pairs")
    points = np.reshape(numbers, (-1, 2))
    points = points[(points != np.roll(points, -1, axis=0)).any(axis=1)]
    if len(points) < 3:
        raise InvalidInput(name, f"{len(points)} different corners, a polygon has at least 3")
    return points


def _outlines(element: ElementTree.Element, kind: str, name: str) -> list[Floats]:
    def length(key: str, default: float | None = None) -> float:
        text = element.get(key)
        if text is None:
            if default is None:
                raise InvalidInput(name, f"{key} is missing")
            return default
        return _number(text, f"{name} {key}")

    if kind == "path":
        return parse_path(element.get("d", ""), name)
    if kind in ("polygon", "polyline"):
        text = element.get("points", "")
        if kind == "polyline":
            numbers = text.replace(",", " ").split()
            if len(numbers) < 6 or numbers[:2] != numbers[-2:]:
                raise InvalidInput(name, "the polyline is open")
        points = _corners(text, name)
        return [straight_segments(points, np.roll(points, -1, axis=0))]
    if kind == "rect":
        x, y, w, h = length("x", 0.0), length("y", 0.0), length("width"), length("height")
        if w <= 0.0 or h <= 0.0:
            raise InvalidInput(name, f"its size {w:g} × {h:g} is not positive")
        rx, ry = length("rx", length("ry", 0.0)), length("ry", length("rx", 0.0))
        rx, ry = min(rx, 0.5 * w), min(ry, 0.5 * h)
        arc = f"a{rx!r} {ry!r} 0 0 1 "
        sides = [
            f"M{x + rx!r} {y!r}H{x + w - rx!r}{arc}{rx!r} {ry!r}V{y + h - ry!r}{arc}{-rx!r} {ry!r}",
            f"H{x + rx!r}{arc}{-rx!r} {-ry!r}V{y + ry!r}{arc}{rx!r} {-ry!r}Z",
        ]
        return parse_path("".join(sides), name)
    cx, cy = length("cx", 0.0), length("cy", 0.0)
    rx, ry = (length("r"),) * 2 if kind == "circle" else (length("rx"), length("ry"))
    if rx <= 0.0 or ry <= 0.0:
        raise InvalidInput(name, "its radius is not positive")
    return parse_path(
        f"M{cx + rx!r} {cy!r}A{rx!r} {ry!r} 0 0 1 {cx - rx!r} {cy!r}A{rx!r} {ry!r} 0 0 1 {cx + rx!r} {cy!r}Z", name
    )


def _walk(element: ElementTree.Element, matrix: Floats) -> Iterator[tuple[str, Floats]]:
    kind = element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""
    label = element.get("id", "")
    name = f"<{kind}" + (f' id="{label}"' if label else "") + ">"
    if kind in _LOST:
        raise Unsupported(f"{name}: no closed outline can be read from it")
    if kind in _HIDDEN:
        return
    if element.get("transform"):
        own = np.vstack([parse_transform(element.get("transform", ""), f"{name} transform"), (0.0, 0.0, 1.0)])
        matrix = matrix @ own
    if kind in ("path", "polygon", "polyline", "rect", "circle", "ellipse"):
        for outline in _outlines(element, kind, name):
            yield label, outline @ matrix[:2, :2].T + matrix[:2, 2]
    for child in element:
        yield from _walk(child, matrix)


def read(source: str | os.PathLike[str]) -> list[Contour]:
    """Every closed outline of an SVG document, in its order; `source` is a file, or the text itself where it begins with "<".

    Each subpath is a contour of its own, named after its element's id. A document without any raises InvalidInput.
    """
    text = str(source) if isinstance(source, str) and source.lstrip().startswith("<") else None
    try:
        root = ElementTree.fromstring(Path(source).read_bytes() if text is None else text)
    except ElementTree.ParseError as error:
        raise InvalidInput("svg", f"is not well-formed XML: {error}") from error
    except OSError as error:
        raise InvalidInput("svg", f"cannot be read: {error}") from error
    if root.tag.rsplit("}", 1)[-1] != "svg":
        raise InvalidInput("svg", f"the outermost element is <{root.tag.rsplit('}', 1)[-1]}>, not <svg>")
    found = [Contour.from_segments(outline, name=label) for label, outline in _walk(root, np.eye(3))]
    if not found:
        raise InvalidInput("svg", "holds no closed outline")
    return found
