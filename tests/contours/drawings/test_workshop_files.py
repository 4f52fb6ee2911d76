"""Twelve files as workshops make them: read, nested, verified by exact signs, written, opened again; sizes right to 1e-6 mm."""

import re
from pathlib import Path

import numpy as np
import pytest

from abut.contours import drawings, nest
from abut.core import jit
from contours.drawings.workshop_files import BUILDERS, DXFS, SVGS, write_dxf

MOVES, COPIES = (1, 1) if jit.INTERPRETED else (30, 2)
ORDER = {"rotations_deg": [0, 90], "gap": 1.0, "seconds": 600, "moves": MOVES}


def is_cut(part, mark):
    return all(mark.closed) and bool(mark.curves) and mark.paint == part.marks[0].paint


def check_parts(found, expected):
    """Names, sizes, holes and other marks, in any order."""
    rows = [
        (
            part.name,
            *np.ptp(part.bounds, axis=0).tolist(),
            len(part.holes),
            sum(not is_cut(part, mark) for mark in part.marks),
        )
        for part in found
    ]
    assert len(rows) == len(expected)
    left = list(expected)
    for row in rows:
        same = [
            e
            for e in left
            if e[0] == row[0] and e[3:] == row[3:] and np.abs(np.subtract(e[1:3], row[1:3])).max() < 1e-6
        ]
        assert same, (row, left)
        left.remove(same[0])


def check_again(layout, again, parts):
    """What was written holds the same parts, as large, where they were put."""
    assert len(again.parts) == len(layout)
    sizes = np.sort([part.outline.area for part in again.parts])
    np.testing.assert_allclose(sizes, np.sort([parts[k].outline.area for k in layout.piece]), rtol=1e-6)
    for part in again.parts:
        away = [np.abs(part.bounds - [polygon.min(axis=0), polygon.max(axis=0)]).max() for polygon in layout.polygons]
        assert min(away) < 3e-4 * max(map(np.max, layout.polygons))  # the polygon holds the curve
    assert sum(len(part.holes) for part in again.parts) == sum(len(holes) for holes in layout.holes)
    own = np.sort([np.sort(np.ptp(parts[k].bounds, axis=0)) for k in layout.piece], axis=0)
    np.testing.assert_allclose(
        np.sort([np.sort(np.ptp(part.bounds, axis=0)) for part in again.parts], axis=0), own, rtol=0, atol=1e-6
    )


def read_back(text, path):
    """From a file; what shows the sheets is no part."""
    if text.startswith("<svg"):
        assert re.match(r'<svg [^>]*width="[\d.e-]+mm" height="[\d.e-]+mm" viewBox="0 0 ', text)
    Path(path).write_text(text, encoding="utf-8")
    return drawings.read(path)


@pytest.mark.parametrize("drawing", SVGS, ids=lambda drawing: drawing.name)
def test_svg_drawings(drawing, tmp_path):
    found = drawings.read(drawing.text, unit=drawing.unit)
    check_parts(found.parts, drawing.parts)
    assert [text for text in found.warnings if "joining" not in text] == drawing.warnings
    layout = nest(found.parts, drawing.sheet, copies=COPIES, **ORDER)
    assert layout.find_overlap() is None
    assert layout.unplaced.tolist() == []
    again = read_back(layout.to_svg(), tmp_path / "again.svg")
    check_again(layout, again, found.parts)
    marks = sorted(mark.text for k in layout.piece for mark in found.parts[k].marks)
    assert sorted(mark.text for part in again.parts for mark in part.marks) == marks


@pytest.mark.parametrize("number", range(len(DXFS)), ids=lambda number: DXFS[number].name)
def test_dxf_drawings(number, tmp_path):
    ezdxf = pytest.importorskip("ezdxf", reason="ezdxf is not installed: DXF is not read (the extra dxf)")
    (build, units), drawing = BUILDERS[number], DXFS[number]
    write_dxf(ezdxf, tmp_path / "parts.dxf", build, units)
    found = drawings.read(tmp_path / "parts.dxf")
    check_parts(found.parts, drawing.parts)
    assert [text for text in found.warnings if "joining" not in text] == drawing.warnings
    layout = nest(found.parts, drawing.sheet, copies=COPIES, **ORDER)
    assert layout.find_overlap() is None
    check_again(layout, read_back(layout.to_svg(), tmp_path / "again.svg"), found.parts)
    (tmp_path / "again.dxf").write_text(layout.to_dxf(), encoding="utf-8")
    document = ezdxf.readfile(tmp_path / "again.dxf")
    assert not document.audit().errors
    again = drawings.read(tmp_path / "again.dxf")
    assert len(again.parts) == len(layout)
    np.testing.assert_allclose(
        np.sort([part.outline.area for part in again.parts]),
        np.sort([found.parts[k].outline.area for k in layout.piece]), rtol=1e-6,
    )  # fmt: skip


def test_svg_to_dxf_and_back(tmp_path):
    ezdxf = pytest.importorskip("ezdxf", reason="ezdxf is not installed: DXF is not read (the extra dxf)")
    found = drawings.read(SVGS[0].text)
    layout = nest(found.parts, "200x100", seconds=600, moves=1)
    (tmp_path / "out.dxf").write_text(layout.to_dxf(), encoding="utf-8")
    document = ezdxf.readfile(tmp_path / "out.dxf")
    assert document.header["$INSUNITS"] == 4
    assert {entity.dxf.layer for entity in document.modelspace()} == {"Cut", "Engrave", "abut sheets"}
    assert [entity.dxf.text for entity in document.modelspace().query("TEXT")] == ["A & B"]
    again = drawings.read(tmp_path / "out.dxf")
    sizes = [np.ptp(part.bounds, axis=0).tolist() for part in again.parts]
    np.testing.assert_allclose(sizes, [np.ptp(part.bounds, axis=0) for part in found.parts], rtol=0, atol=1e-6)
    assert [len(part.holes) for part in again.parts] == [1, 0]
