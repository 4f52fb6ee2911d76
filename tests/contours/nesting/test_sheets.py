"""Sheets of several sizes, with borders, counts, faults and grain; texts with units; pieces that find no place; tiles of decimal sizes."""

import itertools
import math

import numpy as np
import pytest

from abut import InvalidInput, Unsupported
from abut.contours import Contour, Sheet, nest
from abut.contours.nesting.overlap import overlap_pieces
from abut.contours.nesting.parts import convex_parts
from abut.contours.nesting.sheets import read_size
from abut.contours.nesting.tables import build_tables, turn
from abut.contours.nesting.verify import find_overlap
from abut.core import jit
from contours.nesting.oracle_polygons import distance, grow_cells

MOVES = 2 if jit.INTERPRETED else 200
QUICK = {"seconds": 600, "moves": MOVES}


def square(size, x=0.0, y=0.0):
    return np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) * size + (x, y)


@pytest.mark.parametrize(("side", "rows"), [(30.1, 4), (0.3, 3), (12.7, 5), (33.333, 3), (0.1, 7), (1e-3, 4)])
def test_tiles_of_decimal_sizes_leave_no_room_between_them(side, rows):
    """Eight squares of side 30.1 on a strip four sides high took three columns."""
    height = float(f"{side * rows:.6g}")
    layout = nest([square(side, 7.7, 0.2)], (None, height), copies=2 * rows, **QUICK)
    assert layout.length == pytest.approx(2 * side, rel=1e-12)
    assert max(polygon[:, 1].max() for polygon in layout.polygons) == height
    assert layout.find_overlap() is None
    full = nest([square(side)], (float(f"{side * 2:.6g}"), height), copies=2 * rows, **QUICK)
    assert len(full.lengths) == 1


def test_decimal_pieces_of_other_shapes_touch_where_they_can():
    """Also with turns, and with slanted edges beside straight ones; what is written differs from the pieces by rounding."""
    wedge = np.array([[0.0, 0.0], [10.1, 0.0], [5.3, 7.7], [0.0, 7.7]])
    layout = nest([wedge, square(7.7)], (None, 7.7), copies=2, rotations_deg=[0, 180], **QUICK)
    assert layout.find_overlap() is None
    assert layout.length <= 15.4 + 20.2
    size = np.ptp(layout.polygons[0], axis=0)
    np.testing.assert_allclose(size, (10.1, 7.7), rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("300x200", (300, 200)),
        ("300mmx200mm", (300, 200)),
        ("300 mm × 200 mm", (300, 200)),
        ("30x20cm", (300, 200)),
        ("30cmx200", (300, 200)),
        ("12inX8in", (304.8, 203.2)),
        ("72ptx96px", (25.4, 25.4)),
        ("96pxx72pt", (25.4, 25.4)),
        ("x900", (math.inf, 900)),
        ("infx0.9m", (math.inf, 900)),
        (".5x1e1", (0.5, 10)),
    ],
)
def test_sizes_as_text(text, size):
    assert read_size(text) == pytest.approx(size, rel=1e-15)


@pytest.mark.parametrize("text", ["", "300", "300x", "x", "0x5", "-3x5", "3x5em", "3x5x7", "3by5", "nanx3", "3xinf"])
def test_texts_that_are_no_size(text):
    with pytest.raises(InvalidInput, match=r"sheet: .* is not of the form"):
        nest([square(1.0)], text)


def test_a_border_is_left_free():
    layout = nest([square(4.5)], Sheet(10, 20, border=0.5), copies=8, **QUICK)
    assert len(layout.lengths) == 1
    corners = np.concatenate(layout.polygons)
    assert corners.min() == 0.5
    assert corners[:, 0].max() == 9.5
    assert corners[:, 1].max() <= 19.5
    with pytest.raises(InvalidInput, match=r"4\.6 × 4\.6 is larger than the sheet, 4.5 × 9"):
        nest([square(4.6)], Sheet(5.5, 10, border=0.5))


def test_sheets_are_taken_in_their_order_and_the_rest_is_named():
    """Two small sheets, one large one, and no more."""
    sheets = [Sheet(2, 2, 2), Sheet(4, 2, 1)]
    layout = nest([square(1.0), square(2.0)], sheets, copies=[5, 4], priority=[0, 1], **QUICK)
    assert layout.sizes.tolist() == [[2, 2], [2, 2], [4, 2]]
    assert sorted(layout.piece.tolist()) == [1, 1, 1, 1]
    assert layout.unplaced.tolist() == [0] * 5
    assert layout.length == 2 + 2 + 4
    assert layout.density == pytest.approx(1.0)
    other = nest([square(1.0), square(2.0)], sheets, copies=[5, 4], priority=[1, 0], **QUICK)
    assert sorted(other.piece.tolist()).count(0) == 5
    assert other.unplaced.tolist() == [1] * (4 - other.piece.tolist().count(1))
    assert other.find_overlap() is None


def test_what_fits_only_a_later_sheet_goes_there():
    layout = nest([square(1.0), square(3.0)], [Sheet(2, 2, 1), Sheet(4, 4)], **QUICK)
    assert dict(zip(layout.piece.tolist(), layout.sheet.tolist(), strict=True)) == {0: 0, 1: 1}
    assert layout.unplaced.tolist() == []


def test_nothing_lies_on_a_fault_or_beyond_an_irregular_outline():
    hide = np.array([[0.0, 0.0], [9.0, 1.0], [12.0, 6.0], [8.0, 10.0], [1.0, 9.0]]) + 5.0
    fault = square(1.0, 9.0, 9.0)
    layout = nest([square(2.0)], Sheet(outline=hide, faults=[fault]), copies=6, **QUICK)
    low = hide.min(axis=0)
    assert layout.sizes[0].tolist() == [12.0, 10.0]
    inside = hide - low
    for polygon in layout.polygons:
        assert find_overlap([polygon, np.ascontiguousarray(fault - low)]) is None
        a, b = inside, np.roll(inside, -1, axis=0)
        for x, y in polygon:  # the outline is convex: no corner lies to the right of an edge
            assert ((b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (b[:, 1] - a[:, 1]) * (x - a[:, 0])).min() >= -1e-12
    assert layout.find_overlap() is None
    assert 'fill-rule="evenodd"' in layout.to_svg()


def test_a_piece_that_no_irregular_sheet_holds_is_not_looked_for_for_ever():
    triangle = [(0, 0), (4, 0), (0, 4)]
    with pytest.raises(InvalidInput, match="no piece finds a place"):
        nest([square(3.0)], Sheet(outline=triangle), **QUICK)
    layout = nest([square(3.0), square(1.0)], [Sheet(outline=triangle)], **QUICK)
    assert layout.piece.tolist() == [1]
    assert layout.unplaced.tolist() == [0]


def test_angles_count_from_the_grain():
    bar = [(0, 0), (3, 0), (3, 1), (0, 1)]
    assert nest([bar], Sheet(None, 4, grain_deg=90), **QUICK).angle_deg.tolist() == [90.0]
    assert nest([bar], Sheet(None, 4, grain_deg=-90), rotations_deg=[90], **QUICK).angle_deg.tolist() == [0.0]
    with pytest.raises(InvalidInput, match="1 × 3 is larger than the sheet"):
        nest([bar], Sheet(9, 2, grain_deg=90))


def test_the_cut_is_added_to_the_gap():
    layout = nest([square(1.0)], (None, 1), copies=3, gap=0.25, kerf=0.5, **QUICK)
    order = sorted(layout.polygons, key=lambda polygon: polygon[0, 0])
    assert [distance(a, b) for a, b in itertools.pairwise(order)] == pytest.approx([0.75, 0.75], abs=1e-6)
    assert layout.gap == 0.75


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        ([Sheet(2, 2, 0)], "counts are zero"),
        ([Sheet(2, 2, -1)], r"sheet\[0\].count"),
        ([Sheet(2, 2), Sheet(2, 2, border=1)], r"sheet\[1\].border: 1 leaves nothing"),
        ([Sheet(2, 2), (2, 2)], "expected two numbers"),
        (Sheet(2, 2, border=-1), "border"),
        (Sheet(2, 2, grain_deg=math.nan), "grain_deg"),
        (Sheet(2, None), "sheet height"),
        (Sheet(outline=[(0, 0), (1, 1)]), "corners"),
        (Sheet(2, 2, faults=[[(0, 0), (1, 1)]]), "corners"),
        (Sheet(2, 2, faults=3), "faults"),
        (Sheet(outline=[(0, 0), (9, 9), (9, 0), (0, 9)]), "crosses or touches itself"),
        ([], "expected two numbers"),
    ],
)
def test_sheets_that_are_none(sheet, words):
    with pytest.raises(InvalidInput, match=words):
        nest([square(1.0)], sheet, **QUICK)


@pytest.mark.parametrize("sheet", [Sheet(None, 2, faults=[square(1.0)]), Sheet(outline=square(9.0), border=1)])
def test_sheets_that_are_not_supported(sheet):
    with pytest.raises(Unsupported, match=r"sheet\[0\]"):
        nest([square(1.0)], sheet, **QUICK)


def test_a_piece_that_is_too_large_is_named_by_its_id():
    plate = Contour.from_polygon(square(9.0), name="plate")
    with pytest.raises(InvalidInput, match=r'pieces\[1\]: id="plate": 9 × 9 is larger than the sheet, 8 × 8'):
        nest([square(1.0), plate], (8, 8))


def test_lines_in_any_direction_are_lines_in_contours_too():
    """Their thirds are rounded: a contour of slanted lines was halved until it was refused."""
    slanted = np.array([[0.0, 0.0], [9.0, 1.0], [12.0, 6.0], [8.0, 10.0], [1.0, 9.0]]) + 5.0
    layout = nest([Contour.from_polygon(slanted)], (None, 12), **QUICK)
    np.testing.assert_allclose(np.ptp(layout.polygons[0], axis=0), (12, 10), rtol=1e-12)
    assert len(layout.polygons[0]) == 5


@pytest.mark.parametrize("priority", [[1.0], [1, 2, 3], "high", [math.nan, 1], None, [[1], [2]]])
def test_bad_priorities(priority):
    with pytest.raises(InvalidInput, match="priority"):
        nest([square(1.0), square(2.0)], (8, 8), priority=priority)


# --- turned over


def test_tables_of_mirrored_pieces_agree_with_the_exact_test(rng):
    kinds = [np.array(grow_cells(rng, 5)[1], float) for _ in range(3)]
    poses = [(angle, flip) for angle in (0.0, 30.0, 210.0) for flip in (1.0, -1.0)]
    tables = build_tables([convex_parts(kind) for kind in kinds], [[kind] for kind in kinds], poses, 0.0, 10.0)
    met, cases = 0, 40 if jit.INTERPRETED else 600
    for _ in range(cases):
        a, b, s, t = (int(k) for k in (*rng.integers(3, size=2), *rng.integers(6, size=2)))
        shift = rng.uniform(-4.0, 4.0, 2)
        depth = overlap_pieces(tables, a, s, b, t, shift[0], shift[1])
        placed = [turn(kinds[a], *poses[s]), turn(kinds[b], *poses[t]) + shift]
        assert (depth > 0.0) == (find_overlap(placed) is not None), (a, b, s, t, shift)
        met += depth > 0.0
    assert 0.2 * cases < met < 0.9 * cases


def test_a_mirrored_piece_is_its_mirror_image():
    """Two right triangles of different legs fill a box only if one may be turned over."""
    triangle = np.array([[5.0, 0.0], [9.0, 0.0], [5.0, 2.0]])
    plain = nest([triangle], (None, 2), copies=1, mirror=True, rotations_deg=[0, 90], **QUICK)
    for layout in (
        plain,
        nest([triangle, triangle], (None, 9), copies=2, mirror=[True, False], rotations_deg=[0, 37], **QUICK),
    ):
        assert layout.find_overlap() is None
        assert not layout.mirrored[layout.piece == 1].any()
        for angle, flip, position, polygon in zip(
            layout.angle_deg, layout.mirrored, layout.position, layout.polygons, strict=True
        ):
            own = turn(triangle, angle, -1.0 if flip else 1.0) + position
            np.testing.assert_allclose(np.sort(own, axis=0), np.sort(polygon, axis=0), atol=1e-12)


@pytest.mark.large
def test_mirrored_halves_meet():
    slanted = [(0, 0), (3, 0), (2, 1), (0, 1)]  # with itself by half a turn; with its mirror image side by side
    layout = nest([slanted], (None, 1), copies=4, mirror=True, rotations_deg=[0, 180], seconds=600, moves=2000)
    assert layout.length == pytest.approx(10.0, abs=1e-6)
    assert nest([slanted], (None, 2), copies=2, mirror=True, **QUICK).length == pytest.approx(3.0)


@pytest.mark.parametrize("mirror", [[True], 3, "yes", None, [1.5, 0]])
def test_bad_mirrors(mirror):
    with pytest.raises(InvalidInput, match="mirror"):
        nest([square(1.0), square(2.0)], (8, 8), mirror=mirror)
