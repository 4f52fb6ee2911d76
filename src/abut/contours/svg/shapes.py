"""The basic shapes, each as subpaths of cubic segments."""

from collections.abc import Mapping

import numpy as np

from abut.contours.curve.contour import straight_segments
from abut.contours.svg.lexer import read_numbers
from abut.contours.svg.paths import Subpath, trace_path
from abut.contours.svg.units import Viewport, read_length
from abut.core.errors import InvalidInput

SHAPES = ("path", "polygon", "polyline", "rect", "circle", "ellipse", "line")
_AXES = {
    "x": 0,
    "cx": 0,
    "x1": 0,
    "x2": 0,
    "width": 0,
    "rx": 0,
    "y": 1,
    "cy": 1,
    "y1": 1,
    "y2": 1,
    "height": 1,
    "ry": 1,
    "r": 2,
}


class NoSize(InvalidInput):
    """A shape of no width or height, which no viewer draws."""


class _Lengths:
    """The lengths among an element's attributes."""

    def __init__(self, attributes: Mapping[str, str], name: str, viewport: Viewport) -> None:
        self.attributes, self.name, self.viewport = attributes, name, viewport

    def of(self, key: str, default: float | None = None) -> float:
        """The length of this name; one without default must be there."""
        text = self.attributes.get(key)
        if text is None:
            if default is None:
                raise InvalidInput(self.name, f"{key} is missing")
            return default
        return read_length(text, f"{self.name} {key}", self.viewport, _AXES[key])

    def positive(self, key: str) -> float:
        """A length above zero."""
        value = self.of(key)
        if value <= 0.0:
            raise (NoSize if value == 0.0 else InvalidInput)(self.name, f"{key} is {value:g}, not positive")
        return value

    def radius(self, key: str, other: str) -> float:
        """A radius of a corner; one that is not given, or `auto`, is the other, or zero."""
        given = [k for k in (key, other) if self.attributes.get(k, "auto").strip() != "auto"]
        value = self.of(given[0]) if given else 0.0
        if value < 0.0:
            raise InvalidInput(self.name, f"{given[0]} is {value:g}, which is negative")
        return value


def trace_shape(kind: str, attributes: Mapping[str, str], name: str, viewport: Viewport) -> list[Subpath]:
    """The subpaths of an element; kind is one of SHAPES."""
    if kind == "path":
        text = attributes.get("d", "")
        return trace_path(text, name) if text.strip() not in ("", "none") else []
    if kind in ("polygon", "polyline"):
        return _trace_corners(attributes.get("points", ""), name, is_line=kind == "polyline")
    lengths = _Lengths(attributes, name, viewport)
    if kind == "line":
        ends = np.array([[lengths.of(f"{axis}{k}", 0.0) for axis in "xy"] for k in (1, 2)])
        return [] if (ends[0] == ends[1]).all() else [Subpath(straight_segments(ends[:1], ends[1:]), False, 0)]
    if kind == "rect":
        return trace_path(_draw_rectangle(lengths), name)
    cx, cy = lengths.of("cx", 0.0), lengths.of("cy", 0.0)
    rx, ry = (lengths.positive("r"),) * 2 if kind == "circle" else (lengths.positive("rx"), lengths.positive("ry"))
    quarter = f"A{rx!r} {ry!r} 0 0 1 "
    ends = ((cx, cy + ry), (cx - rx, cy), (cx, cy - ry), (cx + rx, cy))
    return trace_path(f"M{cx + rx!r} {cy!r}" + "".join(f"{quarter}{x!r} {y!r}" for x, y in ends) + "Z", name)


def _trace_corners(text: str, name: str, *, is_line: bool) -> list[Subpath]:
    numbers = read_numbers(text, name)
    if len(numbers) % 2:
        raise InvalidInput(name, f"{len(numbers)} coordinates are not pairs")
    points = np.reshape(numbers, (-1, 2))
    if is_line and (len(points) < 4 or (points[0] != points[-1]).any()):
        points = points[np.append(True, (points[1:] != points[:-1]).any(axis=1))] if len(points) else points
        return [Subpath(straight_segments(points[:-1], points[1:]), False, 0)] if len(points) > 1 else []
    points = points[(points != np.roll(points, -1, axis=0)).any(axis=1)]
    if len(points) < 3:
        raise InvalidInput(name, f"{len(points)} different corners, a polygon has at least 3")
    return [Subpath(straight_segments(points, np.roll(points, -1, axis=0)), True, 0)]


def _draw_rectangle(lengths: _Lengths) -> str:
    x, y, w, h = lengths.of("x", 0.0), lengths.of("y", 0.0), lengths.positive("width"), lengths.positive("height")
    rx, ry = min(lengths.radius("rx", "ry"), 0.5 * w), min(lengths.radius("ry", "rx"), 0.5 * h)
    arc = f"a{rx!r} {ry!r} 0 0 1 "
    sides = [
        f"M{x + rx!r} {y!r}H{x + w - rx!r}{arc}{rx!r} {ry!r}V{y + h - ry!r}{arc}{-rx!r} {ry!r}",
        f"H{x + rx!r}{arc}{-rx!r} {-ry!r}V{y + ry!r}{arc}{rx!r} {-ry!r}Z",
    ]
    return "".join(sides)
