"""A drawing read into parts: SVG by our own reader, DXF by ezdxf; open curves joined, skipped or refused; all in millimetres."""

import os
from pathlib import Path

import numpy as np

from abut.contours.drawings import dxf_reading, svg_reading
from abut.contours.drawings.grouping import group
from abut.contours.drawings.joining import join
from abut.contours.drawings.marks import Drawing, Mark
from abut.contours.svg.markup import NAME, read_bytes
from abut.contours.svg.units import MILLIMETRES
from abut.core import arrays
from abut.core.errors import InvalidInput
from abut.core.types import Number, PathLike

JOINED = 0.1
"""Millimetres between ends that are joined: a tenth of what a saw takes, a laser's cut. Drawing programs leave a thousandth of it."""
OPEN_PATHS = ("join", "skip", "refuse")


def _explode(marks: list[Mark]) -> tuple[list[Mark], list[Mark]]:
    """Marks without their open curves, and the open curves as marks of their own; a mark that is one open curve stays as it is."""
    whole: list[Mark] = []
    loose: list[Mark] = []
    for mark in marks:
        if all(mark.closed):
            whole.append(mark)
        elif len(mark.curves) == 1:
            loose.append(mark)
        else:
            kept = [curve for curve, is_closed in zip(mark.curves, mark.closed, strict=True) if is_closed]
            if kept:
                whole.append(mark.with_curves(kept, [True] * len(kept)))
            loose += [
                mark.with_curves([c], [False])
                for c, is_closed in zip(mark.curves, mark.closed, strict=True)
                if not is_closed
            ]
    return whole, loose


def _join_open(marks: list[Mark], tolerance: float, warnings: list[str]) -> list[Mark]:
    whole, loose = _explode(marks)
    keys = {key: k for k, key in enumerate(sorted({(mark.paint, mark.layer) for mark in loose}))}
    groups = [keys[mark.paint, mark.layer] for mark in loose]
    closed = 0
    for curve, is_closed, members in join([mark.curves[0] for mark in loose], groups, tolerance):
        first = loose[min(members)]
        if not is_closed:  # what does not close stays as it was drawn
            whole += [loose[k] for k in sorted(members)]
            continue
        label = next((loose[k].label for k in sorted(members) if loose[k].label), "")
        whole.append(first.with_curves([curve], [True])._replace(label=label))
        closed += 1
    if closed:
        warnings.append(f"{closed} closed by joining ends that are at most {tolerance:g} mm apart")
    return whole


def read(
    source: PathLike,
    *,
    unit: str | None = None,
    open_paths: str = "join",
    tolerance: Number = JOINED,
) -> Drawing:
    """The parts of a drawing in millimetres, with their holes and all that is drawn on them.

    A closed curve within an outline is a hole where it has the outline's colour, else it is a mark that travels with the part, as open
    curves, texts and pictures do. What a viewer does not show is left out: hidden layers, definitions.

    Args:
        source: an SVG or DXF file (DXF needs the extra `abut[dxf]`), or the text of an SVG document where it begins with "<".
        unit: mm, cm, m, in, pt, pc or px: what a unit of the drawing is where it does not say. By default 1/96 inch for lengths in px, else 1 mm.
        open_paths: curves that do not close: "join" those whose ends meet within the tolerance, "skip" joins none, "refuse" raises for
            each that lies in no part. What stays open lies on a part or is left out with a warning.
        tolerance: millimetres between ends that are joined.

    Returns:
        Parts, and warnings about what was left out.

    Raises:
        InvalidInput: what is no drawing, or one without any closed outline.
        Unsupported: what would have a wrong size or place, by name; DXF without ezdxf.

    Examples:
        >>> from abut import contours
        >>> washer = '<path id="washer" fill-rule="evenodd" d="M0 0H9V9H0Z M3 3H6V6H3Z"/>'
        >>> drawing = contours.drawings.read(f'<svg width="9cm" viewBox="0 0 9 9">{washer}</svg>')
        >>> drawing.parts
        (Part('washer', 1 hole, 1 mark),)
        >>> drawing.parts[0].bounds[1].round(6).tolist()
        [90.0, 90.0]
    """
    if unit is not None:
        unit = arrays.choice(unit, "unit", MILLIMETRES)
    open_paths = arrays.choice(open_paths, "open_paths", OPEN_PATHS)
    tolerance = arrays.scalar(tolerance, "tolerance", least=0.0)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput("source", f"is a {type(source).__name__}, expected a path or the text of a document")
    warnings: list[str] = []
    text = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    content = text if text.startswith("<") else read_bytes(source)
    if isinstance(content, bytes) and dxf_reading.is_dxf(content):
        marks = dxf_reading.read_marks(content, unit, warnings)
    else:
        marks = svg_reading.read_marks(content, unit, warnings)
    if open_paths == "join":
        marks = _join_open(marks, tolerance, warnings)
    parts, outside = group(marks, warnings)
    for mark in outside:
        what = "is open" if mark.curves else "lies on no part"
        if mark.curves:
            away = float(np.hypot(*(mark.curves[0][-1, 3] - mark.curves[0][0, 0])))
            what = f"is open, its ends are {away:.3g} mm apart"
            if open_paths == "refuse":
                raise InvalidInput(mark.name, what)
        warnings.append(f"{mark.name}: {what}, left out")
    if not parts:
        more = f" ({'; '.join(warnings[:3])})" if warnings else ""
        raise InvalidInput("drawing", f"holds no closed outline{more}")
    return Drawing(tuple(parts), tuple(warnings), NAME if isinstance(content, str) else Path(source).name)
