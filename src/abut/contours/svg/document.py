"""A document's closed outlines: what is drawn of it, with the transforms of all that is around.

Elements come one after another, in their order; for each that is open there is a `_Frame`. Within what is not drawn, only style sheets are looked at.
"""

import os
import re

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.svg.lexer import read_length
from abut.contours.svg.markup import NAME, parse, read_bytes
from abut.contours.svg.paths import MOST_SEGMENTS
from abut.contours.svg.shapes import SHAPES, read_shape
from abut.contours.svg.transforms import combine, parse_transform, translation
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported
from abut.core.types import PathLike

NAMESPACE = "http://www.w3.org/2000/svg"
_NOT_DRAWN = {
    "defs", "clipPath", "mask", "symbol", "pattern", "marker", "linearGradient", "radialGradient", "meshgradient", "filter", "font",
    "glyph", "missing-glyph", "cursor", "view", "metadata", "title", "desc", "script", "style", "foreignObject", "text", "image",
}  # fmt: skip
_LOST = {"use", "line"}
_MOVING = {"transform", "translate", "rotate", "scale", "d", "offset-path"}
"""Properties of a style that move what is drawn, or draw something else."""
_SIZES = {"x", "y", "width", "height", "cx", "cy", "r", "rx", "ry"}
"""Properties of a style that change a shape's outline."""
_SHEET = re.compile(
    r"(?<![\w-])(?:display\s*+:\s*+none|visibility\s*+:\s*+(?:hidden|collapse)|(?:transform|scale|d)\s*+:)",
    re.IGNORECASE,
)


class _Frame:
    """An element that is open."""

    __slots__ = ("has_chosen", "is_switch", "is_visible", "matrix")

    def __init__(self, matrix: Floats, is_visible: bool, is_switch: bool) -> None:
        self.matrix, self.is_visible, self.is_switch = matrix, is_visible, is_switch
        self.has_chosen = False
        """of a switch: whether one of its children has been drawn, the only one"""


def _read_style(attributes: dict[str, str]) -> dict[str, str]:
    """The declarations of a style attribute."""
    found: dict[str, str] = {}
    for declaration in attributes.get("style", "").split(";"):
        key, colon, value = declaration.partition(":")
        if colon:
            found[key.strip().lower()] = value.partition("!")[0].strip().lower()
    return found


def _drop_comments(sheet: str) -> str:
    parts = sheet.split("/*")
    return parts[0] + " ".join(part.partition("*/")[2] for part in parts[1:])


def _name(kind: str, label: str) -> str:
    """What errors call an element: one line, of any id."""
    shown = "".join(c if c.isprintable() else "?" for c in label[:60])
    return f"<{kind}" + (f' id="{shown}"' if shown else "") + ">"


class _Document:
    """Takes elements as they come, and keeps the outlines."""

    def __init__(self) -> None:
        self.found: list[Contour] = []
        self.frames: list[_Frame] = []
        self.namespaces = {"", NAMESPACE}
        self.skipped = 0
        """how many elements are open that are not drawn, from the outermost"""
        self.sheet: list[str] | None = None
        """text of the style sheet that is open"""
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        space, _, kind = tag.rpartition("}")
        if not self.frames and not self.skipped:
            if kind != "svg":
                raise InvalidInput(NAME, f"the outermost element is <{kind[:40]}>, not <svg>")
            self.namespaces.add(space)
        if kind == "style" and space in self.namespaces:
            self.sheet = []
        style = {} if self.skipped else _read_style(attributes)
        if self.skipped or space not in self.namespaces or not self._is_drawn(kind, attributes, style):
            self.skipped += 1
            return
        name = _name(kind, attributes.get("id", ""))
        matrix = self._place(kind, attributes, style, name)
        hides = style.get("visibility", attributes.get("visibility", "").strip())
        above = self.frames[-1].is_visible if self.frames else True
        frame = _Frame(
            matrix, above if hides in ("", "inherit") else hides not in ("hidden", "collapse"), kind == "switch"
        )
        self.frames.append(frame)
        if frame.is_visible and kind in _LOST:
            raise Unsupported(f"{name}: no closed outline can be read from it")
        if frame.is_visible and kind in SHAPES:
            self._keep(read_shape(kind, attributes, name), matrix, name, attributes.get("id", ""))

    def _is_drawn(self, kind: str, attributes: dict[str, str], style: dict[str, str]) -> bool:
        if kind in _NOT_DRAWN or style.get("display", attributes.get("display", "").strip()) == "none":
            return False
        if self.frames and self.frames[-1].is_switch:  # of its children, the first that needs nothing special
            if self.frames[-1].has_chosen or attributes.get("requiredExtensions") or "systemLanguage" in attributes:
                return False
            self.frames[-1].has_chosen = True
        return True

    def _place(self, kind: str, attributes: dict[str, str], style: dict[str, str], name: str) -> Floats:
        """The matrix from an element's coordinates to the document's."""
        if not self.frames:
            matrix = np.eye(3)
        elif moving := sorted((_MOVING | _SIZES if kind in SHAPES else _MOVING).intersection(style)):
            raise Unsupported(f"{name}: {moving[0]} in its style")
        else:
            matrix = self.frames[-1].matrix
            if kind == "svg":
                if "viewBox" in attributes:
                    raise Unsupported(f"{name}: a viewBox inside the drawing")
                x, y = (read_length(attributes.get(key, "0"), f"{name} {key}") for key in "xy")
                matrix = combine(matrix, translation(x, y), f"{name} x, y")
        if attributes.get("transform"):
            where = f"{name} transform"
            own = np.vstack([parse_transform(attributes["transform"], where), (0.0, 0.0, 1.0)])
            matrix = combine(matrix, own, where)
        return matrix

    def _keep(self, outlines: list[Floats], matrix: Floats, name: str, label: str) -> None:
        for outline in outlines:
            self.count += len(outline)
            if self.count > MOST_SEGMENTS:
                raise InvalidInput(NAME, f"has more than {MOST_SEGMENTS} segments")
            try:
                self.found.append(Contour.from_segments(outline @ matrix[:2, :2].T + matrix[:2, 2], name=label))
            except InvalidInput as error:
                raise InvalidInput(name, f"its outline {error.reason}") from error

    def end(self, tag: str) -> None:
        """The innermost element ends."""
        if self.sheet is not None and tag.endswith("style"):
            hidden = _SHEET.search(_drop_comments("".join(self.sheet)))
            self.sheet = None
            if hidden:
                raise Unsupported(f"{NAME}: a style sheet with {hidden.group().strip()!r}; use attributes instead")
        if self.skipped:
            self.skipped -= 1
        else:
            self.frames.pop()

    def text(self, data: str) -> None:
        """Text within the innermost element."""
        if self.sheet is not None:
            self.sheet.append(data)


def read(source: PathLike) -> list[Contour]:
    """Every closed outline of an SVG document, in its order.

    Coordinates are those of the document's user units, y down as SVG has it.

    Args:
        source: a file, or the text itself where it begins with "<".

    Returns:
        One contour per subpath, named after its element's id.

    Raises:
        InvalidInput: what is no SVG drawing, or one without any closed outline.
        Unsupported: what would be lost or have a wrong size, by name.

    Example:
        >>> from abut.contours import svg
        >>> svg.read('<svg><rect id="tile" width="2" height="1"/><path id="tip" d="M5 0h1v1z"/></svg>')
        [Contour('tile', 4 segments), Contour('tip', 3 segments)]
    """
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput("source", f"is a {type(source).__name__}, expected a path or the text of a document")
    content: str | bytes = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    document = _Document()
    parse(content if content.startswith("<") else read_bytes(source), document.start, document.end, document.text)
    if not document.found:
        raise InvalidInput(NAME, "holds no closed outline")
    return document.found
