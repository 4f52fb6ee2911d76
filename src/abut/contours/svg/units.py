"""Lengths with units, and what a viewBox makes of them: user units of a drawing, and how many of them are a millimetre.

CSS 2.1, §4.3.2: an inch is 96 px, 72 pt, 6 pc, 2.54 cm, 25.4 mm. SVG 1.1, §7.8: a viewBox is fitted into its viewport as preserveAspectRatio says.
"""

import math
from collections.abc import Mapping

import numpy as np

from abut.contours.svg.lexer import Lexer, read_numbers
from abut.core.arrays import LARGEST_COORDINATE, Floats
from abut.core.errors import InvalidInput, Unsupported

MILLIMETRES = {
    "mm": 1.0,
    "cm": 10.0,
    "m": 1000.0,
    "q": 0.25,
    "in": 25.4,
    "pt": 25.4 / 72.0,
    "pc": 25.4 / 6.0,
    "px": 25.4 / 96.0,
}
"""Of one unit."""
RELATIVE = {"em", "ex", "ch", "rem", "vw", "vh", "vmin", "vmax"}
Viewport = tuple[float, float]
"""Width and height that percentages are of."""


def split_length(text: str, name: str) -> tuple[float, str]:
    """A number and its unit, in small letters; no unit is an empty one."""
    lexer = Lexer(text, name)
    value = lexer.number()
    unit = lexer.text[lexer.at :].strip().lower()
    if unit in RELATIVE:
        raise Unsupported(f"{name}: {text.strip()[:40]!r} is relative to a font or a window")
    if unit not in MILLIMETRES and unit not in ("", "%"):
        raise lexer.error("is no length")
    return value, unit


def read_length(text: str, name: str, viewport: Viewport, axis: int) -> float:
    """A length in user units (px); percentages are of the viewport's width (axis 0), height (1) or mean diagonal (2)."""
    value, unit = split_length(text, name)
    if unit == "%":
        size = viewport[axis] if axis < 2 else math.hypot(*viewport) / math.sqrt(2.0)
        value *= 0.01 * size
    elif unit:
        value *= MILLIMETRES[unit] / MILLIMETRES["px"] if unit != "px" else 1.0
    if not abs(value) <= LARGEST_COORDINATE:
        raise InvalidInput(name, f"{text.strip()[:40]!r} is beyond {LARGEST_COORDINATE:g}")
    return value


def read_view_box(attributes: Mapping[str, str], name: str) -> tuple[float, float, float, float] | None:
    """Least x and y, width and height; None where there is no viewBox that shows anything."""
    text = attributes.get("viewBox", "").strip()
    if not text or text == "none":
        return None
    numbers = read_numbers(text, f"{name} viewBox")
    if len(numbers) != 4:
        raise InvalidInput(f"{name} viewBox", f"has {len(numbers)} numbers, expected 4")
    x, y, width, height = numbers
    if width <= 0.0 or height <= 0.0:
        raise InvalidInput(f"{name} viewBox", f"{width:g} × {height:g} shows nothing")
    return x, y, width, height


def fit_view_box(
    attributes: Mapping[str, str], box: tuple[float, float, float, float], width: float, height: float, name: str
) -> Floats:
    """(3,3) matrix that takes the box into a viewport of this size."""
    x, y, own_width, own_height = box
    words = attributes.get("preserveAspectRatio", "").split()
    words = words[1:] if words[:1] == ["defer"] else words
    align = words[0] if words else "xMidYMid"
    scale_x, scale_y = width / own_width, height / own_height
    if align != "none":
        if len(align) != 8 or align[:4] not in ("xMin", "xMid", "xMax") or align[4:] not in ("YMin", "YMid", "YMax"):
            raise InvalidInput(f"{name} preserveAspectRatio", f"{align[:20]!r} is no alignment")
        scale_x = scale_y = max(scale_x, scale_y) if words[1:] == ["slice"] else min(scale_x, scale_y)
    share = {"Min": 0.0, "Mid": 0.5, "Max": 1.0}
    left = share.get(align[1:4], 0.0) * (width - scale_x * own_width)
    top = share.get(align[5:8], 0.0) * (height - scale_y * own_height)
    if (
        not max(scale_x, scale_y, abs(left), abs(top)) * max(1.0, abs(x), abs(y)) <= LARGEST_COORDINATE
        or not min(scale_x, scale_y) > 0.0
    ):
        raise InvalidInput(f"{name} viewBox", "is too different from the size of its viewport")
    return np.array([(scale_x, 0.0, left - scale_x * x), (0.0, scale_y, top - scale_y * y), (0.0, 0.0, 1.0)])


class Root:
    """What the outermost element says of sizes: the viewport in user units, and a matrix to millimetres."""

    def __init__(self, attributes: Mapping[str, str], name: str, unit: str | None) -> None:
        """`unit`: what one px is, and one user unit of a drawing that says no size; by default 1/96 inch, and 1 mm."""
        self.box = read_view_box(attributes, name)
        given = [self._read(attributes, key, name) for key in ("width", "height")]
        self.has_size = any(size is not None for size in given)
        px = MILLIMETRES[unit or "px"]
        sizes = [
            None if size is None else size[0] * (px if size[1] in ("", "px") else MILLIMETRES[size[1]])
            for size in given
        ]
        if self.box is None or not self.has_size:
            scale = px if self.has_size else MILLIMETRES[unit or "mm"]
            extent = (
                (self.box[2], self.box[3])
                if self.box
                else tuple(100.0 if size is None else size / scale for size in sizes)
            )
            self.viewport: Viewport = (extent[0], extent[1])
            self.to_millimetres = np.diag([scale, scale, 1.0])
        else:
            width, height = sizes
            width = height * self.box[2] / self.box[3] if width is None and height is not None else width
            height = width * self.box[3] / self.box[2] if height is None and width is not None else height
            self.viewport = (self.box[2], self.box[3])
            self.to_millimetres = fit_view_box(attributes, self.box, width or 0.0, height or 0.0, name)

    @staticmethod
    def _read(attributes: Mapping[str, str], key: str, name: str) -> tuple[float, str] | None:
        text = attributes.get(key, "").strip()
        if text in ("", "auto"):
            return None
        value, unit = split_length(text, f"{name} {key}")
        if unit == "%":
            return None
        if value <= 0.0:
            raise InvalidInput(f"{name} {key}", f"is {value:g}, not positive")
        return value, unit
