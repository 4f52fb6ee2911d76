"""Reading: which curve is a piece, a hole or a mark; open ends; units; whatever a file holds, it is read or refused by name."""

import re

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.contours import drawings
from abut.contours.drawings.joining import join
from abut.contours.drawings.marks import combine, move
from abut.contours.drawings.svg_writing import Placed, View, write_curve, write_svg
from abut.contours.svg.paths import trace_path
from abut.core import jit
from conftest import SOAK
from contours.svg.svg_mutations import mutated_document

BLOCK = 10 if jit.INTERPRETED else 300


def read(content, head='width="100mm" height="100mm" viewBox="0 0 100 100" fill="none" stroke="#000"', **options):
    return drawings.read(f"<svg {head}>{content}</svg>", **options)


def shapes(found):
    """Name, holes, and names of what travels along, of each part."""
    return [(part.name, len(part.holes), [mark.label for mark in part.marks[1:]]) for part in found.parts]


PLATE = '<rect id="plate" width="50" height="50"/>'


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ('<circle id="a" cx="25" cy="25" r="9"/>', [("plate", 1, ["a"])]),
        ('<circle id="a" cx="25" cy="25" r="9" stroke="red"/>', [("plate", 0, ["a"])]),  # engraved
        (
            '<circle id="a" cx="25" cy="25" r="9"/><circle id="b" cx="25" cy="25" r="5"/>',
            [("plate", 1, ["a"]), ("b", 0, [])],
        ),
        (
            '<circle id="a" cx="25" cy="25" r="9" stroke="red"/><circle id="b" cx="25" cy="25" r="5" stroke="red"/>',
            [("plate", 0, ["a", "b"])],
        ),
        ('<circle id="a" cx="50" cy="25" r="9"/>', [("plate", 0, []), ("a", 0, [])]),  # across the edge
        ('<circle id="a" cx="41" cy="25" r="9"/>', [("plate", 0, []), ("a", 0, [])]),  # touches the edge
        ('<rect id="a" x="50" width="9" height="9"/>', [("plate", 0, []), ("a", 0, [])]),  # shares an edge
        ('<path id="a" d="M5 5H9M20 20h9v9"/>', [("plate", 0, ["a", "a"])]),
        ('<path id="a" d="M0 25H50"/>', [("plate", 0, ["a"])]),  # a fold from edge to edge
        ('<path id="a" d="M40 25H90"/>', [("plate", 0, [])]),  # mostly outside
        ('<g display="none"><circle cx="25" cy="25" r="9"/></g>', [("plate", 0, [])]),
        ('<circle id="a" cx="25" cy="25" r="0"/>', [("plate", 0, [])]),
        ('<path id="a" d="M5 5H20Z"/>', [("plate", 0, [])]),  # encloses nothing
    ],
)
def test_what_lies_on_a_plate(inner, expected):
    assert shapes(read(PLATE + inner)) == expected


def test_one_path_of_several_pieces_is_several_pieces():
    found = read('<path id="two" d="M0 0H9V9H0Z M20 0H29V9H20Z M22 2V7H27V2Z"/>')
    assert shapes(found) == [("two", 0, []), ("two", 1, [])]
    assert [len(part.marks[0].curves) for part in found.parts] == [1, 2]


@pytest.mark.parametrize(
    ("head", "unit", "width"),
    [
        ('width="10cm" viewBox="0 0 100 50"', None, 10.0),
        ('height="50mm" viewBox="0 0 100 50"', None, 10.0),
        ('width="1in" viewBox="0 0 25.4 10"', None, 10.0),
        ('width="72pt" height="36pt" viewBox="0 0 72 36"', None, 10 * 25.4 / 72),
        ('width="960" height="960"', None, 10 * 25.4 / 96),
        ('width="960px" height="960px" viewBox="0 0 96 96"', None, 25.4 * 10 / 9.6),
        ('viewBox="0 0 100 100"', None, 10.0),
        ('width="100%" height="100%" viewBox="0 0 100 100"', None, 10.0),
        ('viewBox="0 0 100 100"', "cm", 100.0),
        ('width="100" height="100"', "pt", 10 * 25.4 / 72),
        ('width="100mm" height="100mm" viewBox="0 0 100 100"', "in", 10.0),  # the drawing knows better
        ('width="100mm" height="50mm" viewBox="0 0 100 100"', None, 5.0),  # fitted
        ('width="100mm" height="50mm" viewBox="0 0 100 100" preserveAspectRatio="none"', None, 10.0),
    ],
)
def test_a_drawing_is_as_large_as_it_says(head, unit, width):
    found = read('<rect width="10" height="1"/>', head, unit=unit)
    assert np.ptp(found.parts[0].bounds[:, 0]) == pytest.approx(width, rel=1e-14)
    assert bool(found.warnings) == (unit is None and (("width" not in head and "height" not in head) or "%" in head))


FOUR = '<path id="a" d="M0 0H10"/><path d="M10 {gap}V10"/><path d="M10 10H0"/><path d="M0 0V10"/>'


def test_ends_are_joined_within_the_tolerance_only():
    assert len(read(FOUR.format(gap=0.09)).parts) == 1
    assert "joining" in read(FOUR.format(gap=0.09)).warnings[0]
    with pytest.raises(InvalidInput, match=r"holds no closed outline .*is open"):
        read(FOUR.format(gap=0.11))
    assert len(read(FOUR.format(gap=0.11), tolerance=0.12).parts) == 1
    for options in ({"open_paths": "skip"}, {"tolerance": 0.0}):
        with pytest.raises(InvalidInput, match="holds no closed outline"):
            read(FOUR.format(gap=0.01), **options)
    found = read(PLATE + FOUR.format(gap=0.5).replace("M", "M60 60m"))
    assert len(found.parts) == 1
    assert sum("left out" in text for text in found.warnings) == 4
    with pytest.raises(InvalidInput, match='<path id="a">: is open'):
        read(PLATE + FOUR.format(gap=0.5).replace("M", "M60 60m"), open_paths="refuse")


def test_only_one_colour_is_joined():
    with pytest.raises(InvalidInput, match="holds no closed outline"):
        read('<path d="M0 0H10V10"/><path stroke="red" d="M0 0V10H10"/>')


@pytest.mark.parametrize("count", range(1, 12))
def test_chains_of_any_length_in_any_order_close(rng, count):
    """Pieces of a polygon, shuffled and turned round, are one closed chain of its length; one left out opens it."""
    angle = np.linspace(0.0, 2 * np.pi, count + 2, endpoint=False)
    corners = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    curves = [
        trace_path(f"M{a[0]} {a[1]}L{b[0]} {b[1]}", "x")[0].segments
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    curves = [curve[::-1, ::-1] if rng.random() < 0.5 else curve for curve in curves]
    order = rng.permutation(len(curves))
    (chain,) = join([curves[k] for k in order], [0] * len(curves), 1e-9)
    assert chain[1]
    assert sorted(chain[2]) == list(range(len(curves)))
    assert (chain[0][:, 3] == np.roll(chain[0][:, 0], -1, axis=0)).all()
    assert np.hypot(*(chain[0][:, 3] - chain[0][:, 0]).T).sum() == pytest.approx(
        2 * len(curves) * np.sin(np.pi / len(curves))
    )
    (part,) = join([curves[k] for k in order[:-1]], [0] * (len(curves) - 1), 1e-9)
    assert not part[1]
    assert sorted(part[2]) == list(range(len(curves) - 1))
    assert join([], [], 1.0) == []


def test_a_written_drawing_keeps_ids_layers_colours_texts_and_curves():
    layer = 'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" width="100mm" height="100mm" viewBox="0 0 100 100"'
    content = """<g inkscape:groupmode="layer" inkscape:label="Cut &amp; go" fill="none" stroke="#f00" stroke-width="2"><circle id="c"
    cx="20" cy="20" r="20"/></g>
    <g id="Top" fill="#00f"><text id="t" x="10" y="20" font-size="4" onclick="x()">A &lt; B<script>x()</script></text></g>"""
    part = read(content, layer).parts[0]
    matrix = np.array([(0.0, -1.0, 40.0), (1.0, 0.0, 0.0)])
    text = write_svg(
        [Placed(part, 0, matrix), Placed(part, 0, matrix + np.array([[0, 0, 50], [0, 0, 0]]))], [View(100.0, 50.0)], 5.0
    )
    assert 'inkscape:label="Cut &amp; go"' in text
    assert 'inkscape:label="Top"' in text
    assert text.count("<circle") == text.count(' r="20"') == 2
    assert 'id="c"' in text
    assert 'id="c-2"' in text
    assert "A &lt; B" in text
    assert "script" not in text
    assert "onclick" not in text
    again = drawings.read(text)
    assert [part.name for part in again.parts] == ["c", "c-2"]
    assert text.count("id=") == len(set(re.findall('id="[^"]*"', text)))  # each id once
    assert [mark.text for part in again.parts for mark in part.marks if mark.text] == ["A < B"] * 2
    assert again.parts[0].marks[0].style["stroke"] == "#f00"
    assert again.parts[0].marks[0].style["stroke-width"] == "2"
    np.testing.assert_allclose(again.parts[1].bounds, [(50, 0), (90, 40)], atol=1e-12)


def test_matrices_act_one_after_the_other(rng):
    a, b, points = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(5, 4, 2))
    np.testing.assert_allclose(move(points, combine(a, b)), move(move(points, b), a))


def test_curves_are_written_so_that_they_are_read_as_they_were(rng):
    for _ in range(20):
        data = "M0.1 0.2L3 4C5 6 7 8 9.25 1e-7Z"
        (curve, is_closed, _) = trace_path(data, "x")[0]
        assert write_curve(curve, is_closed) == data.replace("e-7", "e-07")
        control = rng.normal(size=(3, 4, 2))
        control[1:, 0] = control[:-1, 3]
        np.testing.assert_array_equal(trace_path(write_curve(control, False), "x")[0].segments, control)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "furlong"}, "unit: is 'furlong'"),
        ({"unit": 3}, "unit: is a int"),
        ({"open_paths": "mend"}, "open_paths"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": "wide"}, "tolerance"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(InvalidInput, match=words):
        read(PLATE, **options)


@pytest.mark.parametrize("source", [None, 3, b"<svg/>", ["a.svg"]])
def test_what_is_no_source_is_named(source):
    with pytest.raises(InvalidInput, match="source: is a"):
        drawings.read(source)


@pytest.mark.parametrize("block", range(100 if SOAK else 1))
def test_mutated_files_are_read_or_refused_by_name(tmp_path, block):
    rng, file, found = np.random.default_rng([31, block]), tmp_path / "drawing.svg", 0
    for _ in range(BLOCK):
        data = mutated_document(rng)
        file.write_bytes(data)
        try:
            drawing = drawings.read(file)
        except (InvalidInput, Unsupported):
            continue
        except Exception as error:
            raise AssertionError(f"{data!r} raises {error!r}") from error
        found += 1
        views = [View(9.0, 9.0)]
        text = write_svg([Placed(part, 0, np.eye(2, 3)) for part in drawing.parts], views, 1.0)
        assert len(drawings.read(text).parts) <= len(drawing.parts) + 3
    assert found >= BLOCK // 20


@pytest.mark.parametrize("block", range(20 if SOAK else 1))
def test_mutated_dxf_files_are_read_or_refused_by_name(tmp_path, block):
    ezdxf = pytest.importorskip("ezdxf", reason="ezdxf is not installed: DXF is not read (the extra dxf)")
    from contours.drawings.workshop_files import build_lines, write_dxf

    rng, file, found = np.random.default_rng([32, block]), tmp_path / "drawing.dxf", 0
    write_dxf(ezdxf, file, build_lines)
    sound = file.read_bytes().splitlines(keepends=True)
    begin = next(k for k, line in enumerate(sound) if line.strip() == b"ENTITIES")
    values = [b"nan\n", b"1e999\n", b"-1\n", b"x\n", b"\n", b"LINE\n", b"0\n", b"1e80\n", b"\xff\xfe\n", b"ENDSEC\n"]
    for _ in range(3 if jit.INTERPRETED else 12):
        lines = list(sound)
        for _ in range(int(rng.integers(1, 4))):
            lines[int(rng.integers(begin, len(lines)))] = values[int(rng.integers(len(values)))]
        file.write_bytes(b"".join(lines))
        try:
            found += len(drawings.read(file).parts) > 0
        except (InvalidInput, Unsupported):
            continue
        except Exception as error:
            raise AssertionError(f"{b''.join(lines)!r} raises {error!r}") from error
    assert found >= 0
