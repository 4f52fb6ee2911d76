"""Placed parts as a DXF drawing in millimetres: the entities that were read, moved, on their layers; what came from SVG as lines, splines and texts.

DXF has y up: a sheet's lower edge is at y = 0, sheets stand above one another. Cubic Bézier curves are splines of degree 3 exactly; arcs
that came from SVG are such curves as well.
"""

import io
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from abut.contours.curve.contour import straight_segments
from abut.contours.drawings.dxf_reading import SHEETS, load_ezdxf
from abut.contours.drawings.marks import Mark, combine, move
from abut.contours.drawings.svg_writing import STRAIGHT, Placed, View
from abut.core.arrays import Floats

FLIP = np.array([(1.0, 0.0, 0.0), (0.0, -1.0, 0.0)])


def _color_of(style: dict[str, str]) -> int | None:
    """A colour such as #ff0000 or #f00 as a number."""
    for key in ("stroke", "fill"):
        text = style.get(key, "none").strip()
        digits = (
            text[1:]
            if text.startswith("#")
            else {"black": "000000", "red": "ff0000", "blue": "0000ff", "green": "008000"}.get(text, "")
        )
        digits = "".join(2 * c for c in digits) if len(digits) == 3 else digits
        if len(digits) == 6:
            try:
                return int(digits, 16)
            except ValueError:
                continue
    return None


def _add_curve(space: Any, curve: Floats, is_closed: bool, attributes: dict[str, Any]) -> None:
    """As one polyline where all segments are straight, else as one spline."""
    lines = straight_segments(curve[:, 0], curve[:, 3])
    if (np.abs(lines - curve) <= STRAIGHT * 8 * max(1e-300, float(np.abs(curve).max()))).all():
        points = curve[:, 0] if is_closed else np.vstack([curve[:, 0], curve[-1:, 3]])
        space.add_lwpolyline(points.tolist(), close=is_closed, dxfattribs=attributes)
        return
    control = np.vstack([curve[:1, 0], curve[:, 1:].reshape(-1, 2)])
    knots = [0.0] * 4 + [float(k) for k in range(1, len(curve)) for _ in range(3)] + [float(len(curve))] * 4
    spline = space.add_spline(degree=3, dxfattribs=attributes)
    spline.control_points = [(x, y, 0.0) for x, y in control.tolist()]
    spline.knots = knots


def _add_entity(space: Any, entity: Any, matrix: Floats, attributes: dict[str, Any]) -> bool:
    """The entity that was read, as a copy under a (2,3) matrix that takes its coordinates to millimetres; whether there is such a copy."""
    from ezdxf.math import Matrix44

    (a, b, x), (c, d, y) = matrix.tolist()
    try:
        copy = entity.copy()
        copy.transform(Matrix44([a, c, 0, 0, b, d, 0, 0, 0, 0, 1, 0, x, y, 0, 1]))
        kept = {
            key: value
            for key, value in copy.dxfattribs().items()
            if key not in ("handle", "owner", "layer", "linetype", "style", "color")
        }
        kept.update(attributes)
        kind = copy.dxftype()
        if kind == "LWPOLYLINE":
            own = attributes | {"extrusion": copy.dxf.extrusion}  # its points are in a system of its own
            rows = [tuple(row) for row in copy.get_points("xyseb")]
            space.add_lwpolyline(rows, close=bool(copy.closed), dxfattribs=own)
        elif kind in ("LINE", "ARC", "CIRCLE", "ELLIPSE", "TEXT"):
            space.new_entity(kind, kept)
        else:
            return False
    except Exception:  # kinds that cannot be copied or turned: their curves are drawn
        return False
    return True


def _add_mark(document: Any, space: Any, mark: Mark, matrix: Floats) -> None:
    attributes: dict[str, Any] = {"layer": _clean(mark.layer) or "0"}
    if attributes["layer"] not in document.layers:
        document.layers.add(attributes["layer"])
    color = _color_of(mark.style)
    if color:
        attributes["true_color"] = color
    if mark.entity is not None and _add_entity(
        space, mark.entity, combine(combine(matrix, _scale(mark)), FLIP), attributes
    ):
        return
    for curve, is_closed in zip(mark.curves, mark.closed, strict=True):
        _add_curve(space, move(curve, matrix), is_closed, attributes)
    if mark.text:
        own = combine(matrix, mark.matrix)
        place = own[:, :2] @ np.linalg.solve(mark.matrix[:, :2], mark.anchor - mark.matrix[:, 2]) + own[:, 2]
        size = mark.style.get("font-size", "16").rstrip("px").strip()
        height = (float(size) if size.replace(".", "", 1).isdigit() else 16.0) * math.sqrt(
            abs(float(np.linalg.det(own[:, :2])))
        )
        turn = math.degrees(math.atan2(own[1, 0], own[0, 0]))
        text = space.add_text(mark.text, height=max(height, 1e-6), rotation=turn, dxfattribs=attributes)
        text.set_placement((float(place[0]), float(place[1])))


def _scale(mark: Mark) -> Floats:
    """(2,3) from the units of the drawing that an entity came from to millimetres."""
    size = float(np.hypot(mark.matrix[0, 0], mark.matrix[1, 0]))
    return np.array([(size, 0.0, 0.0), (0.0, size, 0.0)])


def _clean(layer: str) -> str:
    return "".join(c if c.isprintable() and c not in '<>/\\":;?*|=`,' else "_" for c in layer)[:255]


def write_dxf(placed: Iterable[Placed], sheets: Iterable[View], space: float) -> str:
    """The text of a drawing: the sheets above one another, the first on top."""
    ezdxf = load_ezdxf()
    before = ezdxf.options.write_fixed_meta_data_for_testing
    ezdxf.options.write_fixed_meta_data_for_testing = True  # no dates: the same layout is the same text
    try:
        return _write(ezdxf, placed, sheets, space)
    finally:
        ezdxf.options.write_fixed_meta_data_for_testing = before


def _write(ezdxf: Any, placed: Iterable[Placed], sheets: Iterable[View], space: float) -> str:
    document = ezdxf.new("R2010", setup=True)
    document.units = ezdxf.units.MM
    model, views = document.modelspace(), list(sheets)
    document.layers.add(SHEETS, color=8, plot=False)
    total = sum(view.height + space for view in views) - space
    tops, top = list[float](), total
    for view in views:
        tops.append(top)
        corners = [(0.0, top), (view.width, top), (view.width, top - view.height), (0.0, top - view.height)]
        model.add_lwpolyline(corners, close=True, dxfattribs={"layer": SHEETS})
        top -= view.height + space
    for part, sheet, matrix in placed:
        up = combine(FLIP, matrix)
        up[1, 2] += tops[sheet]
        for mark in part.marks or [_outline_mark(part.outline.segments, part.name)] + [
            _outline_mark(h.segments, part.name) for h in part.holes
        ]:
            _add_mark(document, model, mark, up)
    stream = io.StringIO()
    document.write(stream)
    return stream.getvalue()


def _outline_mark(curve: Floats, name: str) -> Mark:
    return Mark(name, name, "", {"stroke": "#000000"}, "", (curve,), (True,), np.zeros(2), "", {}, "", np.eye(2, 3))
