"""The basic shapes, each as closed outlines of cubic segments."""

from collections.abc import Mapping

import numpy as np

from abut.contours.curve.contour import straight_segments
from abut.contours.svg.lexer import read_length, read_numbers
from abut.contours.svg.paths import parse_path
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput

SHAPES = ("path", "polygon", "polyline", "rect", "circle", "ellipse")


class _Lengths:
    """The lengths among an element's attributes."""

    def __init__(self, attributes: Mapping[str, str], name: str) -> None:
        self.attributes, self.name = attributes, name

    def of(self, key: str, default: float | None = None) -> float:
        """The length of this name; one without default must be there."""
        text = self.attributes.get(key)
        if text is None:
            if default is None:
                raise InvalidInput(self.name, f"{key} is missing")
            return default
        return read_length(text, f"{self.name} {key}")

    def positive(self, key: str) -> float:
        """A length above zero."""
        value = self.of(key)
        if value <= 0.0:
            raise InvalidInput(self.name, f"{key} is {value:g}, not positive")
        return value

    def radius(self, key: str, other: str) -> float:
        """A radius of a corner; one that is not given, or `auto`, is the other, or zero."""
        given = [k for k in (key, other) if self.attributes.get(k, "auto").strip() != "auto"]
        value = self.of(given[0]) if given else 0.0
        if value < 0.0:
            raise InvalidInput(self.name, f"{given[0]} is {value:g}, which is negative")
        return value


def read_shape(kind: str, attributes: Mapping[str, str], name: str) -> list[Floats]:
    """The outlines of an element, each (n,4,2) cubic segments; kind is one of SHAPES."""
    if kind == "path":
        return parse_path(attributes.get("d", ""), name)
    if kind in ("polygon", "polyline"):
        return [_polygon(attributes.get("points", ""), name, is_line=kind == "polyline")]
    lengths = _Lengths(attributes, name)
    if kind == "rect":
        return _rectangle(lengths)
    cx, cy = lengths.of("cx", 0.0), lengths.of("cy", 0.0)
    rx, ry = (lengths.positive("r"),) * 2 if kind == "circle" else (lengths.positive("rx"), lengths.positive("ry"))
    half = f"A{rx!r} {ry!r} 0 0 1 "
    return parse_path(f"M{cx + rx!r} {cy!r}{half}{cx - rx!r} {cy!r}{half}{cx + rx!r} {cy!r}Z", name)


def _polygon(text: str, name: str, *, is_line: bool) -> Floats:
    numbers = read_numbers(text, name)
    if is_line and (len(numbers) < 6 or numbers[:2] != numbers[-2:]):
        raise InvalidInput(name, "the polyline is open")
    if len(numbers) % 2:
        raise InvalidInput(name, f"{len(numbers)} coordinates are not pairs")
    points = np.reshape(numbers, (-1, 2))
    points = points[(points != np.roll(points, -1, axis=0)).any(axis=1)]
    if len(points) < 3:
        raise InvalidInput(name, f"{len(points)} different corners, a polygon has at least 3")
    return straight_segments(points, np.roll(points, -1, axis=0))


def _rectangle(lengths: _Lengths) -> list[Floats]:
    x, y, w, h = lengths.of("x", 0.0), lengths.of("y", 0.0), lengths.positive("width"), lengths.positive("height")
    rx, ry = min(lengths.radius("rx", "ry"), 0.5 * w), min(lengths.radius("ry", "rx"), 0.5 * h)
    arc = f"a{rx!r} {ry!r} 0 0 1 "
    sides = [
        f"M{x + rx!r} {y!r}H{x + w - rx!r}{arc}{rx!r} {ry!r}V{y + h - ry!r}{arc}{-rx!r} {ry!r}",
        f"H{x + rx!r}{arc}{-rx!r} {-ry!r}V{y + ry!r}{arc}{rx!r} {-ry!r}Z",
    ]
    return parse_path("".join(sides), lengths.name)
