"""`abut nest` as people call it: SVG and words in; exit codes, files and nothing half written out."""

import importlib.util
import json
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from abut import contours
from abut.app import cli
from abut.contours.nesting.verify import find_overlap

DRAWING = """<svg xmlns="http://www.w3.org/2000/svg">
<path id="ell" d="M0 0H3V1H1V2H0Z"/><rect id="tile" x="5" y="5" width="1" height="1"/></svg>"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder with a drawing; gives its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "parts.svg").write_text(DRAWING)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["abut", "nest", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    return call


@pytest.mark.large
def test_drawing_in_layout_out(run, tmp_path):
    words = ("--copies", 2, "--copies", "tile=3", "--rotations", "0,180", "--gap", 0.1, "--time", 0.3)
    code, out, _ = run("parts.svg", "--sheet", "x4", *words, "--out", "made/out.svg", "--json", "made/out.json")
    assert code == 0
    assert "5 pieces on 1 sheet" in out
    assert "verified exactly" in out
    document = json.loads((tmp_path / "made/out.json").read_text())
    assert document["schema"] == "abut.nest/1"
    assert document["sheet"] == {"width": None, "height": 4.0}
    assert [row["name"] for row in document["placements"]] == ["ell"] * 2 + ["tile"] * 3
    polygons = [np.array(row["polygon"]) for row in document["placements"]]
    assert find_overlap(polygons, 0.1) is None
    assert document["length"] == max(polygon[:, 0].max() for polygon in polygons)
    drawn = ElementTree.parse(tmp_path / "made/out.svg").getroot()
    assert drawn.get("height") == "4mm"
    assert [e.get("d") for e in drawn.iter("{http://www.w3.org/2000/svg}path")] == [
        "M0 0H3V1H1V2H0Z"
    ] * 2  # the elements themselves
    again = [
        part.bounds
        for part in contours.drawings.read(tmp_path / "made/out.svg").parts
        if part.name[:4] in ("ell", "ell-", "tile")
    ]
    np.testing.assert_allclose(again, [(p.min(axis=0), p.max(axis=0)) for p in polygons], atol=1e-12)


@pytest.mark.large
def test_json_on_standard_output_stands_alone(run):
    code, out, err = run("parts.svg", "--sheet", "8x4", "--time", 0.1, "--rotations", "free", "--json", "-")
    assert code == 0
    assert json.loads(out)["sheet"] == {"width": 8.0, "height": 4.0}
    assert "verified exactly" in err


@pytest.mark.large
def test_an_interruption_writes_the_best_so_far(run, tmp_path, monkeypatch):
    search = contours.nest

    def interrupted(*arguments, progress, **options):
        def stop(share, length):
            progress(share, length)
            raise KeyboardInterrupt

        return search(*arguments, progress=stop, **options)

    monkeypatch.setattr(contours, "nest", interrupted)
    code, out, _ = run("parts.svg", "--sheet", "x4", "--time", 600, "--copies", 4)
    assert code == 130
    assert "interrupted after" in out
    assert (tmp_path / "parts.nested.svg").read_text().count("<path") == 4


@pytest.mark.parametrize(
    ("drawing", "words", "message"),
    [
        (DRAWING, ("--sheet", "8by4"), "--sheet: '8by4'"),
        (DRAWING, ("--sheet", "2.5x9"), "3 × 2 is larger than the sheet"),
        (DRAWING, ("--sheet", "x9", "--rotations", "a"), "--rotations: 'a'"),
        (DRAWING, ("--sheet", "x9", "--copies", "sleeve=2"), "no outline has the id 'sleeve'"),
        (DRAWING, ("--sheet", "x9", "--copies", "few"), "--copies: 'few'"),
        (DRAWING, ("--sheet", "x9", "--copies", "0"), "there is nothing to nest"),
        (DRAWING, ("--sheet", "x9", "--copies", "9" * 5000), "is neither a number"),
        (DRAWING, ("--sheet", "x9", "--copies", "10001"), "copies"),
        (DRAWING, ("--sheet", "x9", "--out", "parts.svg"), "it would be overwritten"),
        (DRAWING, ("--sheet", "x9", "--json", "./parts.svg"), "it would be overwritten"),
        (DRAWING, ("--sheet", "x9", "--out", "a.svg", "--json", "a.svg"), "one would overwrite the other"),
        (f"<svg><rect width='{'1' * 20_000}x' height='1'/></svg>", ("--sheet", "x9"), "beyond"),
        ("<svg>" + "<g>" * 20_000, ("--sheet", "x9"), "nested more than"),
        ("<?xml version='1.0' encoding='shift_jis'?><svg/>", ("--sheet", "x9"), "encoding 'shift_jis'"),
        ("<svg><rect width='4' height='4' rx='-1'/></svg>", ("--sheet", "x9"), "rx is -1"),
        ("<svg><g display='none'><rect width='4' height='4'/></g></svg>", ("--sheet", "x9"), "holds no closed outline"),
        ("<!DOCTYPE svg [<!ENTITY a SYSTEM 'parts.svg'>]><svg>&a;</svg>", ("--sheet", "x9"), "kept in another file"),
        (
            "0\nSECTION\n2\n",
            ("--sheet", "x9"),
            "holds no closed outline" if importlib.util.find_spec("ezdxf") else "pip install 'abut[dxf]'",
        ),
        (DRAWING, ("--sheet", "x9", "--unit", "furlong"), "unit: is 'furlong'"),
        (DRAWING, ("--sheet", "x9", "--open-paths", "mend"), "open_paths: is 'mend'"),
        (DRAWING, ("--sheet", "x9", "--gap", "wide"), "--gap: 'wide' is no length"),
        (DRAWING, ("--sheet", "x9", "--tolerance", "-1"), "--tolerance: '-1' is no length"),
        (DRAWING, ("--sheet", "two*9x9"), "does not begin with a number of sheets"),
        (DRAWING, ("--sheet", "0*9x9"), "counts are zero"),
        (DRAWING, ("--sheet", "9x9", "--preview", "parts.svg"), "it would be overwritten"),
        (DRAWING, ("--sheet", "9x9", "--border", "4.5"), "leaves nothing"),
        (DRAWING, ("--sheet", "2.5x9"), 'id="ell": 3 × 2'),
        (DRAWING, ("--sheet", "9x9", "--priority", "sleeve=2"), "--priority: no outline has the id 'sleeve'"),
        (
            "<svg><line x2='9'/></svg>",
            ("--sheet", "x9", "--open-paths", "refuse"),
            "<line>: is open, its ends are 9 mm apart",
        ),
        ("<svg/>", ("--sheet", "x9"), "holds no closed outline"),
        ("<svg><path d='M0 0", ("--sheet", "x9"), "not well-formed"),
        ("<svg><path d='M0 0H3V1'/></svg>", ("--sheet", "x9"), "is open, its ends are 3.16 mm apart"),
        ("<svg><path d='M0 0L3 3V0L0 3Z'/></svg>", ("--sheet", "x9"), "crosses or touches itself"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(run, tmp_path, drawing, words, message):
    (tmp_path / "parts.svg").write_text(drawing)
    code, out, err = run("parts.svg", *words)
    assert code == 2
    assert message in err
    assert not out
    assert [path.name for path in tmp_path.iterdir()] == ["parts.svg"]


def test_a_name_no_file_can_have_is_refused(run):
    for name in ("a\0b.svg", "n" * 5000, "."):
        code, _, err = run(name, "--sheet", "x9")
        assert code == 2
        assert "Traceback" not in err


@pytest.mark.large
@pytest.mark.parametrize(
    "words", [("--rotations", "90"), ("--rotations", "45", "--copies", 4), ("--gap", 3), ("--rotations", "-90,370")]
)
def test_orders_that_no_angle_zero_helps_are_nested(run, tmp_path, words):
    """Only a quarter or an eighth of a turn is allowed, or the gap is larger than the strip is high: the command ended in a traceback."""
    (tmp_path / "parts.svg").write_text("<svg><rect width='1' height='1'/></svg>")
    code, out, err = run("parts.svg", "--sheet", "x2", "--time", 0.05, *words)
    assert code == 0, err
    assert "verified exactly" in out


# --- what workshops ran into

PLATE = """<svg xmlns="http://www.w3.org/2000/svg" width="210mm" height="297mm" viewBox="0 0 744.09448819 1052.3622047"><g fill="none" stroke="black">
<rect id="plate" width="212.5984252" height="141.7322835"/><circle cx="70" cy="70" r="50"/><circle id="plug" cx="70" cy="70" r="40"/>
<line id="stray" x1="300" x2="400"/></g></svg>"""


@pytest.mark.parametrize("sheet", ["100x80", "100mmx80mm", "10cm x 8cm"])
def test_a_plate_in_millimetres_fits_its_sheet(run, tmp_path, sheet):
    """It was taken for 212.6 × 141.73; the stray line refused the whole drawing, and the hole was a piece."""
    (tmp_path / "parts.svg").write_text(PLATE)
    code, out, err = run("parts.svg", "--sheet", sheet, "--time", 0.01, "--json", "o.json")
    assert code == 0, err
    assert "2 pieces on 1 sheet" in out
    assert '<line id="stray">: is open, its ends are 28.2 mm apart, left out' in err
    document = json.loads((tmp_path / "o.json").read_text())
    plate, plug = document["placements"]
    np.testing.assert_allclose(np.ptp(plate["polygon"], axis=0), (60.0, 40.0), atol=1e-6)
    assert len(plate["holes"]) == 1
    assert document["unit"] == "mm"
    text = (tmp_path / "parts.nested.svg").read_text()
    assert re.search(r'width="100mm" height="80mm" viewBox="0 0 100 80"', text)
    assert "<circle" in text
    assert plug["name"] == "plug"


def test_what_finds_no_room_is_named(run, tmp_path):
    code, out, _ = run(
        "parts.svg", "--sheet", "1*3x2", "--copies", 2, "--priority", "ell=1", "--time", 0.01, "--json", "o.json"
    )
    assert code == 0
    assert "no room for 1 of 'ell'" in out
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["unplaced"].count(0) == 1
    assert document["sheets"] == [[3.0, 2.0]]


def test_an_irregular_sheet_is_a_drawing(run, tmp_path):
    (tmp_path / "hide.svg").write_text(
        '<svg><path fill-rule="evenodd" d="M0 0H30L40 20L20 40H0Z M10 10H14V14H10Z"/></svg>'
    )
    code, out, err = run("parts.svg", "--sheet", "hide.svg", "--copies", 3, "--time", 0.01)
    assert code == 0, err
    assert "6 pieces on 1 sheet" in out


def test_dxf_in_dxf_out(run, tmp_path):
    ezdxf = pytest.importorskip("ezdxf", reason="ezdxf is not installed: DXF is not read (the extra dxf)")
    document = ezdxf.new()
    document.units = ezdxf.units.MM
    document.modelspace().add_circle((3, 3), 2)
    document.saveas(tmp_path / "parts.dxf")
    code, out, err = run("parts.dxf", "--sheet", "20x20", "--copies", 2, "--time", 0.01, "--unit", "mm")
    assert code == 0, err
    assert "parts.nested.dxf" in out
    circles = ezdxf.readfile(tmp_path / "parts.nested.dxf").modelspace().query("CIRCLE")
    assert [circle.dxf.radius for circle in circles] == [2.0, 2.0]


def test_dxf_without_the_extra_says_how_to_get_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    (tmp_path / "parts.dxf").write_text("0\nSECTION\n2\nENTITIES\n")
    for words in (("parts.dxf",), ("parts.svg", "--out", "o.dxf")):
        code, _, err = run(*words, "--sheet", "20x20")
        assert code == 2
        assert "pip install 'abut[dxf]'" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.dxf", "parts.svg"]


def test_a_page_shows_the_best_so_far(run, tmp_path, monkeypatch):
    search, pages = contours.nest, []

    def looked_at(*arguments, better, **options):
        def look(layout):
            better(layout)
            pages.append((tmp_path / "page.html").read_text())

        return search(*arguments, better=look, **options)

    monkeypatch.setattr(contours, "nest", looked_at)
    code, out, err = run(
        "parts.svg", "--sheet", "x4", "--copies", 6, "--time", 0.3, "--preview", "page.html", "--searches", 2
    )
    assert code == 0, err
    assert "page.html" in out
    for page in pages:
        assert 'http-equiv="refresh"' in page
        assert "<svg" in page
    assert "refresh" not in (tmp_path / "page.html").read_text()
    assert "– done" in (tmp_path / "page.html").read_text()
