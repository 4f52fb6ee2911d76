"""Placed parts as an SVG drawing in millimetres, at true size: the elements that were read, with a transform each, sorted by layers.

Where an element's own data cannot be repeated (curves that were joined, elements that went to several parts, DXF entities of other kinds),
its curves are written, as curves. Ids are those that were read; further copies get a number.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from abut.contours.curve.contour import straight_segments
from abut.contours.drawings.marks import Mark, Part, combine, move
from abut.contours.svg.units import read_length
from abut.core.arrays import Floats
from abut.core.errors import AbutError

STROKE = 0.1
"""Millimetres: of outlines that have no style of their own."""
STRAIGHT = 1e-14
"""Of the largest coordinate: control points nearer than this to the thirds of a line are a line's."""


class Placed(NamedTuple):
    """A part on a sheet."""

    part: Part
    sheet: int
    matrix: Floats
    """(2,3) from the part's coordinates to those of the sheet"""


class View(NamedTuple):
    """A sheet as it is drawn."""

    width: float
    height: float
    outline: str = ""
    """path data of an irregular sheet and its faults; empty for a rectangle"""


def write_number(value: float) -> str:
    """The shortest text that is read as the same number."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def write_curve(curve: Floats, is_closed: bool) -> str:
    """Path data: lines where the segments are straight, else cubic curves."""
    lines = straight_segments(curve[:, 0], curve[:, 3])
    size = STRAIGHT * max(1e-300, float(np.abs(curve).max()))
    straight = np.abs(lines - curve).max(axis=(1, 2)) <= size
    words = [f"M{write_number(curve[0, 0, 0])} {write_number(curve[0, 0, 1])}"]
    last = len(curve) - 1
    for k, row in enumerate(curve):
        if straight[k]:
            if not (is_closed and k == last):
                words.append(f"L{write_number(row[3, 0])} {write_number(row[3, 1])}")
        else:
            words.append("C" + " ".join(write_number(x) for x in row[1:].ravel()))
    return "".join(words) + ("Z" if is_closed else "")


def _write_matrix(matrix: Floats) -> str:
    return f"matrix({' '.join(write_number(x) for x in matrix.T.ravel())})"


def _write_style(style: dict[str, str]) -> str:
    return quoteattr(";".join(f"{key}:{value}" for key, value in style.items()))


def _in_millimetres(style: dict[str, str], matrix: Floats) -> dict[str, str]:
    """A style for curves that are drawn in millimetres: widths and dashes were in the units of the element."""
    scale, found = math.sqrt(abs(float(np.linalg.det(matrix[:, :2])))), dict(style)
    for key, default in (("stroke-width", "1"), ("stroke-dasharray", "none"), ("stroke-dashoffset", "0")):
        words = style.get(key, default).replace(",", " ").split()
        try:
            found[key] = " ".join(write_number(scale * read_length(word, key, (100.0, 100.0), 2)) for word in words)
        except AbutError:
            found.pop(key, None)
    return found


def _write_id(label: str, ids: set[str]) -> str:
    """An id that no element has yet: the label, or with a number."""
    if not label:
        return ""
    found, number = label, 1
    while found in ids:
        number += 1
        found = f"{label}-{number}"
    ids.add(found)
    return f" id={quoteattr(found)}"


def _write_mark(mark: Mark, matrix: Floats, ids: set[str]) -> str:
    head = _write_id(mark.label, ids)
    if mark.kind:
        own = "".join(
            f" {'href' if key.endswith('}href') else key}={quoteattr(value)}"
            for key, value in mark.attributes.items()
            if "}" not in key or key.endswith("}href")
        )
        place = f' transform="{_write_matrix(combine(matrix, mark.matrix))}" style={_write_style(mark.style)}'
        return (
            f"<{mark.kind}{head}{own}{place}>{mark.inner}</{mark.kind}>"
            if mark.inner
            else f"<{mark.kind}{head}{own}{place}/>"
        )
    data = "".join(
        write_curve(move(curve, matrix), is_closed) for curve, is_closed in zip(mark.curves, mark.closed, strict=True)
    )
    return f'<path{head} d="{data}" style={_write_style(_in_millimetres(mark.style, mark.matrix))}/>'


def _write_outline(part: Part, matrix: Floats, ids: set[str]) -> str:
    head = _write_id(part.name, ids)
    data = "".join(write_curve(move(ring.segments, matrix), True) for ring in (part.outline, *part.holes))
    return f'<path{head} d="{data}" style="fill:none;stroke:#000000;stroke-width:{STROKE}"/>'


def write_svg(placed: Iterable[Placed], sheets: Iterable[View], space: float) -> str:
    """The text of a document: the sheets below one another, `space` millimetres apart."""
    views = list(sheets)
    layers: list[dict[str, list[str]]] = [{} for _ in views]
    ids = {text for k in range(len(views)) for text in (f"sheet-{k + 1}", f"sheet-{k + 1}-area")}
    for part, sheet, matrix in placed:
        for mark in part.marks:
            layers[sheet].setdefault(mark.layer, []).append(_write_mark(mark, matrix, ids))
        if not part.marks:
            layers[sheet].setdefault("", []).append(_write_outline(part, matrix, ids))
    drawn, top = list[str](), 0.0
    for k, (view, groups) in enumerate(zip(views, layers, strict=True)):
        size = f'width="{write_number(view.width)}" height="{write_number(view.height)}"'
        shape = f'<path d="{view.outline}" fill-rule="evenodd"' if view.outline else f"<rect {size}"
        inner = f'<g id="sheet-{k + 1}-area" data-abut="sheet">{shape} fill="#f4f4f0" stroke="none"/></g>'
        for layer, marks in groups.items():
            head = f' inkscape:groupmode="layer" inkscape:label={quoteattr(layer)}' if layer else ""
            inner += f"<g{head}>" + "\n".join(["", *marks, ""]) + "</g>"
        drawn.append(f'<g id="sheet-{k + 1}" transform="translate(0 {write_number(top)})">{inner}</g>')
        top += view.height + space
    width, height = write_number(max(view.width for view in views)), write_number(top - space)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" '
        f'width="{width}mm" height="{height}mm" viewBox="0 0 {width} {height}">\n' + "\n".join(drawn) + "\n</svg>\n"
    )
