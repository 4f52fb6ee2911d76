"""Marks of a DXF drawing, in millimetres with y down: lines, arcs, circles, ellipses, polylines with bulges, splines and texts, also those of blocks.

ezdxf (MIT) reads the file, damaged ones too. Arcs stay arcs: they become path data, and from there on take the way of SVG. Layers that are
off or frozen are hidden. What lies in another plane, or is of another kind, is left out with a warning.
"""

import io
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from abut.contours.drawings.marks import Mark
from abut.contours.svg.paths import trace_path
from abut.contours.svg.units import MILLIMETRES
from abut.core.arrays import LARGEST_COORDINATE, Floats, frozen
from abut.core.errors import AbutError, InvalidInput, Unsupported

INSTALL = "DXF drawings need ezdxf: pip install 'abut[dxf]'"
NAME = "dxf"
SHEETS = "abut sheets"
"""The layer on which layouts of ours show the sheets, which are no pieces."""
MOST_ENTITIES, MOST_DEPTH = 2**18, 16
"""Entities of a drawing, those of blocks counted each time, and blocks within one another."""
_UNITS = {1: "in", 2: 304.8, 4: "mm", 5: "cm", 6: "m", 8: 25.4e-6, 9: 0.0254, 10: 914.4, 13: 1e-3, 14: 100.0}
"""$INSUNITS: our unit, or millimetres."""
_SILENT = {"POINT", "VIEWPORT", "ATTDEF", "SEQEND", "IMAGEDEF", "ACAD_PROXY_ENTITY"}
Point = tuple[float, float]


def load_ezdxf() -> Any:
    """The library, which an extra brings."""
    try:
        import ezdxf
    except ImportError as error:
        raise Unsupported(INSTALL) from error
    return ezdxf


def is_dxf(data: bytes) -> bool:
    """Whether a file looks like a DXF drawing: a group code and a section, comments before it."""
    lines = [line.strip() for line in data[:4096].splitlines()]
    while lines[:1] == [b"999"]:
        lines = lines[2:]
    return lines[:2] == [b"0", b"SECTION"] or data.startswith(b"AutoCAD Binary DXF")


def _arc(start: Point, end: Point, radius: float, large: bool, anticlockwise: bool) -> str:
    """Path data in coordinates with y down, from points with y up: what turns anticlockwise there turns against the angles here."""
    return f"A{radius!r} {radius!r} 0 {int(large)} {int(not anticlockwise)} {end[0]!r} {-end[1]!r}"


class _Plane:
    """Points of an entity in the drawing's plane: its own system may look at the plane from behind."""

    def __init__(self, entity: Any) -> None:
        z = float(entity.dxf.extrusion.z) if entity.dxf.hasattr("extrusion") else 1.0
        if abs(abs(z) - 1.0) > 1e-9:
            raise ValueError("lies in another plane")
        self.is_behind = z < 0.0

    def at(self, x: float, y: float) -> Point:
        """The point seen from above."""
        return (-float(x) if self.is_behind else float(x)), float(y)


def _trace_polyline(plane: _Plane, rows: list[tuple[float, float, float]], is_closed: bool) -> str:
    """Corners with bulges."""
    words, count = list[str](), len(rows)
    points = [plane.at(x, y) for x, y, _ in rows]
    words.append(f"M{points[0][0]!r} {-points[0][1]!r}")
    for k in range(count if is_closed else count - 1):
        start, end, bulge = points[k], points[(k + 1) % count], float(rows[k][2])
        if bulge and start != end:
            chord = math.hypot(end[0] - start[0], end[1] - start[1])
            radius = chord * (1.0 + bulge * bulge) / (4.0 * abs(bulge))
            words.append(_arc(start, end, radius, abs(bulge) > 1.0, (bulge > 0.0) != plane.is_behind))
        else:
            words.append(f"L{end[0]!r} {-end[1]!r}")
    return "".join(words) + ("Z" if is_closed else "")


def _trace_arc(plane: _Plane, center: Any, radius: float, start_deg: float, end_deg: float) -> str:
    def at(angle: float) -> Point:
        return plane.at(
            center.x + radius * math.cos(math.radians(angle)), center.y + radius * math.sin(math.radians(angle))
        )

    sweep = (end_deg - start_deg) % 360.0
    start, end = at(start_deg), at(end_deg)
    return f"M{start[0]!r} {-start[1]!r}" + _arc(start, end, radius, sweep > 180.0, not plane.is_behind)


def _trace_circle(plane: _Plane, center: Any, radius: float) -> str:
    x, y = plane.at(center.x, center.y)
    ends = ((x, -y + radius), (x - radius, -y), (x, -y - radius), (x + radius, -y))
    quarters = "".join(f"A{radius!r} {radius!r} 0 0 1 {u!r} {v!r}" for u, v in ends)
    return f"M{x + radius!r} {-y!r}{quarters}Z"


def _trace_ellipse(entity: Any) -> str:
    """An ellipse is given in the drawing's own coordinates; its parameter grows about its extrusion."""
    _Plane(entity)
    tool = entity.construction_tool()
    major, minor, center = tool.major_axis, tool.minor_axis, tool.center
    turn = -math.degrees(math.atan2(major.y, major.x))
    span = (tool.end_param - tool.start_param) % math.tau or math.tau
    is_forward = major.x * minor.y - major.y * minor.x > 0.0
    radii, words = f"A{major.magnitude!r} {minor.magnitude!r} {turn!r} 0 {int(not is_forward)} ", list[str]()
    for k in range(4):
        angle = tool.start_param + span * k / 3
        x = center.x + math.cos(angle) * major.x + math.sin(angle) * minor.x
        y = center.y + math.cos(angle) * major.y + math.sin(angle) * minor.y
        words.append(f"{'M' if k == 0 else radii}{x!r} {-y!r}")
    return "".join(words) + ("Z" if span >= math.tau - 1e-12 else "")


def _trace_spline(entity: Any) -> str:
    from ezdxf import path

    paths: Any = path
    tool = entity.construction_tool()
    if tool.is_rational or tool.degree not in (1, 2, 3):
        commands = paths.make_path(entity, level=32)
        words = [f"M{commands.start.x!r} {-commands.start.y!r}"]
        for part in commands.commands():
            if part.type == paths.Command.CURVE4_TO:
                rows = (part.ctrl1, part.ctrl2, part.end)
                words.append("C" + " ".join(f"{p.x!r} {-p.y!r}" for p in rows))
            elif part.type == paths.Command.CURVE3_TO:
                words.append("Q" + " ".join(f"{p.x!r} {-p.y!r}" for p in (part.ctrl, part.end)))
            else:
                words.append(f"L{part.end.x!r} {-part.end.y!r}")
        return "".join(words)
    words = list[str]()
    for rows in tool.bezier_decomposition():
        points = [f"{p.x!r} {-p.y!r}" for p in rows]
        words.append(
            (f"M{points[0]}" if not words else "") + {2: "L", 3: "Q", 4: "C"}[len(points)] + " ".join(points[1:])
        )
    return "".join(words)


def _trace(entity: Any) -> str | None:
    """Path data of an entity with y down; None where it is of no kind that is read."""
    kind = entity.dxftype()
    if kind == "LINE":
        a, b = entity.dxf.start, entity.dxf.end
        return f"M{a.x!r} {-a.y!r}L{b.x!r} {-b.y!r}"
    if kind == "ARC":
        return _trace_arc(
            _Plane(entity),
            entity.dxf.center,
            float(entity.dxf.radius),
            float(entity.dxf.start_angle),
            float(entity.dxf.end_angle),
        )
    if kind == "CIRCLE":
        return _trace_circle(_Plane(entity), entity.dxf.center, float(entity.dxf.radius))
    if kind == "ELLIPSE":
        return _trace_ellipse(entity)
    if kind == "LWPOLYLINE":
        return _trace_polyline(_Plane(entity), [tuple(row) for row in entity.get_points("xyb")], bool(entity.closed))
    if kind == "POLYLINE" and entity.is_2d_polyline:
        rows = [(v.dxf.location.x, v.dxf.location.y, v.dxf.get("bulge", 0.0)) for v in entity.vertices]
        return _trace_polyline(_Plane(entity), rows, bool(entity.is_closed))
    if kind == "SPLINE":
        return _trace_spline(entity)
    return None


def _expand(entities: Any, depth: int = 0) -> Iterator[Any]:
    """All entities, blocks resolved."""
    for entity in entities:
        if entity.dxftype() == "INSERT" and depth < MOST_DEPTH:
            copies = entity.multi_insert() if entity.mcount > 1 else [entity]
            for copy in copies:
                yield from _expand(copy.virtual_entities(), depth + 1)
                yield from copy.attribs
        else:
            yield entity


def _scale_of(document: Any, unit: str | None, warnings: list[str]) -> float:
    known = _UNITS.get(int(document.header.get("$INSUNITS", 0) or 0))
    if known is None:
        if unit is None:
            warnings.append("the drawing says no unit: it is taken for mm (unit)")
        return MILLIMETRES[unit or "mm"]
    return MILLIMETRES[known] if isinstance(known, str) else float(known)


def _color(entity: Any, layers: Any, ezdxf: Any) -> str:
    """As #rrggbb."""
    if entity.rgb is not None:
        red, green, blue = entity.rgb
    else:
        index = int(entity.dxf.get("color", 256))
        if index in (0, 256) and entity.dxf.layer in layers:
            layer = layers.get(entity.dxf.layer)
            index = abs(int(layer.dxf.get("color", 7)))
        if index in (0, 7, 256) or not 0 < index < 256:
            return "#000000"
        red, green, blue = ezdxf.colors.aci2rgb(index)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _read_text(entity: Any) -> tuple[str, Floats, float, float]:
    """Words, place, height and degrees, with y up."""
    if entity.dxftype() == "MTEXT":
        words, at = entity.plain_text().replace("\n", " "), entity.dxf.insert
        return words, np.array([at.x, at.y]), float(entity.dxf.char_height), float(entity.get_rotation())
    at = entity.get_placement()[1] or entity.dxf.insert
    return entity.plain_text(), np.array([at.x, at.y]), float(entity.dxf.height), float(entity.dxf.get("rotation", 0.0))


def _read_mark(entity: Any, scale: float, color: str) -> Mark | None:
    kind, handle = entity.dxftype(), str(entity.dxf.get("handle") or "")
    name, layer = (
        f"{kind} {handle} on layer {entity.dxf.layer!r}" if handle else f"{kind} on layer {entity.dxf.layer!r}",
        str(entity.dxf.layer),
    )
    matrix = np.array([(scale, 0.0, 0.0), (0.0, scale, 0.0)])
    if kind in ("TEXT", "MTEXT", "ATTRIB"):
        words, at, height, turn = _read_text(entity)
        c, s = math.cos(math.radians(-turn)) * scale, math.sin(math.radians(-turn)) * scale
        anchor = frozen(np.array([at[0], -at[1]]) * scale)
        matrix = np.array([(c, -s, anchor[0]), (s, c, anchor[1])])
        style = {"fill": color, "stroke": "none", "font-size": repr(height), "font-family": "sans-serif"}
        inner = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return Mark(
            name, "", layer, style, color, (), (), anchor, "text", {"x": "0", "y": "0"}, inner, matrix, words, entity
        )
    data = _trace(entity)
    if data is None:
        return None
    subpaths = [sub for sub in trace_path(data, name) if np.abs(sub.segments).max() * scale <= LARGEST_COORDINATE]
    curves, closed = tuple(frozen(sub.segments * scale) for sub in subpaths), tuple(sub.is_closed for sub in subpaths)
    style = {"fill": "none", "stroke": color, "stroke-width": repr(0.1 / scale)}
    return Mark(
        name,
        "",
        layer,
        style,
        f"{color} {layer}",
        curves,
        closed,
        np.zeros(2),
        "path",
        {"d": data},
        "",
        matrix,
        "",
        entity,
    )


def read_marks(data: bytes, unit: str | None, warnings: list[str]) -> list[Mark]:
    """All marks of a drawing's model space; what cannot be read is told in `warnings`."""
    ezdxf = load_ezdxf()
    from ezdxf import recover

    try:
        document, _ = recover.read(io.BytesIO(data))
        return _read_document(ezdxf, document, unit, warnings)
    except AbutError:
        raise
    except Exception as error:  # whatever a damaged file makes the reader say
        reason = " ".join(str(error).split())[:200]
        raise InvalidInput(NAME, f"cannot be read as a DXF drawing: {reason or type(error).__name__}") from error


def _read_document(ezdxf: Any, document: Any, unit: str | None, warnings: list[str]) -> list[Mark]:
    scale, layers = _scale_of(document, unit, warnings), document.layers
    hidden = {layer.dxf.name.lower() for layer in layers if layer.is_off() or layer.is_frozen()} | {SHEETS}
    found, left_out = list[Mark](), Counter[str]()
    for count, entity in enumerate(_expand(document.modelspace())):
        if count >= MOST_ENTITIES:
            raise InvalidInput(NAME, f"has more than {MOST_ENTITIES} entities")
        if str(entity.dxf.layer).lower() in hidden or entity.dxf.get("invisible", 0) or entity.dxftype() in _SILENT:
            continue
        try:
            mark = _read_mark(entity, scale, _color(entity, layers, ezdxf))
        except ValueError as error:
            warnings.append(f"{entity.dxftype()} on layer {entity.dxf.layer!r}: {error}, left out")
            continue
        if mark is None:
            left_out[entity.dxftype()] += 1
        else:
            found.append(mark)
    warnings += [f"{count} {kind}: not read, left out" for kind, count in sorted(left_out.items())]
    return found
