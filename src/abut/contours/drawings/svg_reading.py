"""Marks of an SVG document, in millimetres: what is drawn of it, each element with its look and its own data."""

import numpy as np

from abut.contours.drawings.marks import Mark, move
from abut.contours.svg.document import Drawn, Walk, place
from abut.contours.svg.markup import NAME
from abut.contours.svg.styles import Style
from abut.contours.svg.transforms import combine
from abut.contours.svg.tree import XLINK, Element, build_tree, write_element
from abut.contours.svg.units import Root
from abut.core.arrays import Floats, frozen

_GEOMETRY = {
    "d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "pathLength", "dx", "dy", "rotate",
    "textLength", "lengthAdjust", "preserveAspectRatio", "href", XLINK, "{http://www.w3.org/XML/1998/namespace}space",
}  # fmt: skip
_FALLBACK = {"fill": "#cccccc", "stroke": "#000000"}
"""Colours instead of gradients and patterns, which are not carried along."""


def _paint_of(style: Style) -> str:
    """The colour of the line, or of the filling where there is none."""
    stroke = style.get("stroke", "none").lower().replace(" ", "")
    return f"stroke {stroke}" if stroke != "none" else f"fill {style.get('fill', 'black').lower().replace(' ', '')}"


def _read_mark(drawn: Drawn, to_millimetres: Floats) -> Mark:
    element = drawn.element
    matrix = combine(to_millimetres, drawn.matrix, drawn.name)
    curves = tuple(frozen(place(subpath.segments, matrix, drawn.name)) for subpath in drawn.subpaths)
    style = {"fill": "black", **drawn.style} if curves else dict(drawn.style)
    paint = _paint_of(style)
    if element.kind == "line":
        style["fill"] = "none"
    inner, words = "", ""
    if element.kind == "text":
        inner = "".join(
            write_element(child) if isinstance(child, Element) else _escaped(child) for child in element.children
        )
        words = " ".join(_words(element).split())
    attributes = {key: value for key, value in element.attributes.items() if key in _GEOMETRY}
    kind = element.kind
    if any("%" in value for value in attributes.values()):  # of a viewport that will be another
        kind = "" if curves else kind
        attributes.update({"x": repr(drawn.anchor[0]), "y": repr(drawn.anchor[1])} if kind == "text" else {})
    style = {key: _FALLBACK.get(key, value) if value.startswith("url(") else value for key, value in style.items()}
    style.pop("display", None)
    closed = tuple(subpath.is_closed for subpath in drawn.subpaths)
    anchor = move(np.array(drawn.anchor), matrix[:2])
    return Mark(
        drawn.name,
        drawn.label,
        drawn.layer,
        style,
        paint,
        curves,
        closed,
        anchor,
        kind,
        attributes,
        inner,
        frozen(matrix[:2].copy()),
        words,
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _words(element: Element) -> str:
    parts, waiting = list[str](), list[Element | str]([element])
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.kind in ("text", "tspan", "textPath", "a"):
            waiting += [" ", *reversed(item.children)]
    return "".join(parts)


def read_marks(content: bytes | str, unit: str | None, warnings: list[str]) -> list[Mark]:
    """All marks of a document; what cannot be read is told in `warnings`."""
    element = build_tree(content)
    root = Root(element.attributes, NAME, unit)
    if not root.has_size and unit is None:
        warnings.append("the drawing says no size: one of its units is taken for 1 mm (unit)")
    walk = Walk(element, lambda name, reason: warnings.append(f"{name}: {reason}, left out"), np.eye(3), root.viewport)
    found = [_read_mark(drawn, root.to_millimetres) for drawn in walk]
    return [mark for mark in found if mark.curves or mark.kind in ("text", "image")]
