"""Layouts: complete, inside the sheet, without overlap, with the gap kept, the same for the same seed; errors that name the piece."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Contour, nest
from abut.contours.nesting import job as nesting
from abut.contours.nesting import nest as nesting_calls
from abut.contours.nesting.overlap import overlap_pieces
from abut.contours.nesting.parts import convex_parts
from abut.contours.nesting.tables import build_tables, turn
from abut.contours.nesting.verify import find_overlap
from abut.core import jit
from conftest import SOAK
from contours.nesting.oracle_polygons import distance, distance_to_edges, grow_cells

INSTANCES = Path(__file__).parents[4] / "shared" / "data" / "nesting"
# spyrrow 0.9, one worker, seed 1, after 3 s (shared/data/SOURCES.md)
SPYRROW = {"shapes0": 62.47, "shirts": 64.01, "swim": 6351.0, "trousers": 249.2, "jakobs1": 12.0}
ELL = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]]
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
MOVES = 3 if jit.INTERPRETED else 400


def check(layout, pieces):
    """All that holds for every layout."""
    assert layout.find_overlap() is None
    for piece, angle, position, polygon, sheet in zip(
        layout.piece, layout.angle_deg, layout.position, layout.polygons, layout.sheet, strict=True
    ):
        assert polygon.min() >= 0.0
        assert polygon[:, 0].max() <= min(layout.size[0], layout.lengths[sheet])
        assert polygon[:, 1].max() <= layout.size[1]
        own = turn(np.asarray(pieces[piece], float), angle) + position
        assert np.abs(np.sort(own, axis=0) - np.sort(polygon, axis=0)).max() < 1e-12 * max(1.0, np.abs(own).max())
        assert not polygon.flags.writeable


def test_tables_agree_with_the_exact_test(rng):
    kinds = [np.array(grow_cells(rng, 5)[1], float) for _ in range(3)]
    angles = [0.0, 30.0, 90.0, 210.0]
    tables = build_tables(
        [convex_parts(kind) for kind in kinds],
        [[kind] for kind in kinds],
        [(angle, 1.0) for angle in angles],
        0.0,
        10.0,
    )
    met, cases = 0, 40 if jit.INTERPRETED else 600
    for _ in range(cases):
        a, b, s, t = (int(k) for k in (*rng.integers(3, size=2), *rng.integers(4, size=2)))
        shift = rng.uniform(-4.0, 4.0, 2)
        depth = overlap_pieces(tables, a, s, b, t, shift[0], shift[1])
        placed = [turn(kinds[a], angles[s]), turn(kinds[b], angles[t]) + shift]
        assert (depth > 0.0) == (find_overlap(placed) is not None), (a, b, s, t, shift)
        met += depth > 0.0
    assert 0.2 * cases < met < 0.9 * cases


def test_layout_is_complete_and_follows_from_the_seed():
    pieces = [np.array(ELL) + 7.0, SQUARE]
    first, again = (
        nest(pieces, (None, 4), copies=[4, 2], rotations_deg=[0, 90, 180], seconds=600, moves=MOVES) for _ in range(2)
    )
    check(first, pieces)
    assert first.piece.tolist() == [0, 0, 0, 0, 1, 1]
    assert set(first.angle_deg.tolist()) <= {0.0, 90.0, 180.0}
    assert first.density == pytest.approx(18.0 / (4.0 * first.length))
    assert first.moves >= MOVES
    assert all(np.array_equal(a, b) for a, b in zip(first.polygons, again.polygons, strict=True))
    assert first.density <= 1.0


def test_gap_is_kept():
    layout = nest([ELL, SQUARE], (None, 5), copies=3, rotations_deg=[0, 45], gap=0.25, seconds=600, moves=MOVES)
    check(layout, [ELL, SQUARE])
    least = min(distance(a, b) for i, a in enumerate(layout.polygons) for b in layout.polygons[:i])
    assert 0.25 <= least < 0.25 * 1.2


@pytest.mark.large
def test_squares_fill_a_strip_without_waste():
    layout = nest([SQUARE], (None, 3), copies=9, seconds=600, moves=2000)
    check(layout, [SQUARE])
    assert layout.length == pytest.approx(3.0, abs=1e-8)


@pytest.mark.large
@pytest.mark.parametrize("name", SPYRROW if SOAK else ["shirts", "jakobs1"])
def test_instances_of_the_literature_come_within_ten_per_cent_of_spyrrow(name):
    path = INSTANCES / f"{name}.json"
    if not path.is_file():
        pytest.skip("the nesting instances do not lie beside this checkout")
    document = json.loads(path.read_text())
    items = document["items"]
    pieces = [np.array(item["shape"]["data"])[:-1] for item in items]
    layout = nest(
        pieces,
        (None, document["strip_height"]),
        copies=[item["demand"] for item in items],
        rotations_deg=[item["allowed_orientations"] for item in items],
        seconds=600,
        moves=6000,
    )
    check(layout, pieces)
    assert len(layout) == sum(item["demand"] for item in items)
    assert layout.length <= 1.1 * SPYRROW[name]


@pytest.mark.large
def test_rough_contours_are_nested_as_polygons_that_hold_them():
    angle = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    control = np.stack([np.cos(angle) * (1 + 0.3 * np.cos(3 * angle)), np.sin(angle)], axis=1)
    pieces = [Contour(control, roughness=0.01, seed=1), Contour(0.6 * control)]
    layout = nest(pieces, (None, 4.0), copies=3, rotations_deg=None, seconds=600, moves=300)
    assert layout.find_overlap() is None
    for piece, angle, position, polygon in zip(
        layout.piece, layout.angle_deg, layout.position, layout.polygons, strict=True
    ):
        contour = pieces[piece]
        points = turn(contour.point(np.linspace(0.0, len(contour), 200)), angle) + position
        around = np.concatenate([polygon, polygon[:1]])
        winding = np.unwrap(np.arctan2(*(around[:, None] - points).transpose(2, 0, 1)[::-1]), axis=0)
        inside = np.isclose(winding[-1] - winding[0], 2 * np.pi)
        assert inside.sum() > 150
        for point in points[~inside]:  # where the outline is straight or hollow, the polygon's corners are on it
            assert distance_to_edges(point[None], polygon) < 1e-12


@pytest.mark.large
def test_what_does_not_fit_on_one_sheet_gets_several():
    layout = nest([ELL, SQUARE], (4, 4), copies=[8, 3], rotations_deg=[0, 180], seconds=600, moves=600)
    check(layout, [ELL, SQUARE])
    assert len(layout.lengths) == 3  # 35 of 48
    assert sorted(set(layout.sheet.tolist())) == [0, 1, 2]
    assert layout.length == 2 * 4 + layout.lengths[-1]
    drawn = layout.to_svg()
    assert drawn.count("<rect") == 3
    assert drawn.count("<path") == len(layout)


@pytest.mark.large
def test_one_sheet_suffices_where_the_first_placement_needs_more():
    layout = nest([ELL], (4.05, 4), copies=3, rotations_deg=[0, 180], seconds=600, moves=2000)
    check(layout, [ELL])
    assert len(layout.lengths) == 1


def test_an_interruption_returns_the_best_layout_so_far():
    calls = []

    def stop(share, length):
        calls.append(length)
        if len(calls) == 2:
            raise KeyboardInterrupt

    layout = nest([ELL], (None, 4), copies=3, seconds=600, moves=10**6, progress=stop)
    check(layout, [ELL])
    assert layout.interrupted
    assert layout.length <= calls[0]


@pytest.mark.parametrize("searches", [1, 2, 3])
def test_better_layouts_are_shown_as_they_are_found(monkeypatch, searches):
    """Each is complete and verified, and shorter than the one before; the last is no shorter than what is returned."""
    monkeypatch.setattr(nesting_calls, "PREVIEW", 0.0)
    shown, shares = [], []
    layout = nest(
        [ELL, SQUARE], (None, 4), copies=[4, 3], rotations_deg=[0, 180], seconds=600, moves=5 if jit.INTERPRETED else 600,
        better=shown.append, progress=lambda share, length: shares.append((share, length)), searches=searches,
    )  # fmt: skip
    for each in (*shown, layout):
        check(each, [ELL, SQUARE])
        assert len(each) == 7
    lengths = [each.length for each in shown]
    assert lengths == sorted(lengths, reverse=True)
    assert all(layout.length <= length for length in lengths)
    assert shares[-1][0] <= 1.0


def test_searches_side_by_side_follow_from_the_seed():
    options = {"copies": [3, 3], "rotations_deg": [0, 90], "seconds": 600, "moves": MOVES, "searches": 3}
    first, again = (nest([ELL, SQUARE], (None, 4), **options) for _ in range(2))
    check(first, [ELL, SQUARE])
    assert all(np.array_equal(a, b) for a, b in zip(first.polygons, again.polygons, strict=True))
    alone = nest([ELL, SQUARE], (None, 4), **(options | {"searches": 1, "moves": max(1, MOVES // 3)}))
    assert first.length <= alone.length  # the first of them has the same seed


def test_an_interruption_ends_all_searches():
    def stop(share, length):
        raise KeyboardInterrupt

    layout = nest([ELL], (None, 4), copies=3, seconds=600, moves=10**7, progress=stop, searches=2)
    check(layout, [ELL])
    assert layout.interrupted


def test_an_error_of_a_callback_is_raised():
    def fail(*arguments):
        raise ArithmeticError("mine")

    for searches in (1, 2):
        with pytest.raises(ArithmeticError, match="mine"):
            nest([ELL], (None, 4), copies=3, seconds=600, moves=10**7, progress=fail, searches=searches)


def test_an_interruption_before_the_first_layout_is_raised(monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(nesting, "_prepare", stop)
    with pytest.raises(KeyboardInterrupt):
        nest([ELL], (None, 4), seconds=1)


@pytest.mark.parametrize(
    ("sheet", "options"),
    [
        ((None, 2), {"rotations_deg": [90]}),
        ((None, 2), {"rotations_deg": [45], "copies": 4}),
        ((None, 2), {"gap": 3.0, "copies": 3}),
        ((None, 2), {"rotations_deg": [270.0, 33.3], "gap": 0.5, "copies": np.int64(3)}),
        ((1, 1), {"rotations_deg": [180], "copies": 3, "gap": 1e15}),
        ((1e40, 1.5), {"rotations_deg": [10, 100], "copies": 3}),
    ],
)
def test_no_angle_is_taken_for_granted_and_no_gap_too_large(sheet, options):
    layout = nest([SQUARE], sheet, moves=MOVES, seconds=600, **options)
    check(layout, [SQUARE])
    assert len(layout) == options.get("copies", 1)
    assert set(layout.angle_deg.tolist()) <= set(options.get("rotations_deg", [0.0]))


def test_a_piece_that_turns_freely_fits_wherever_it_can():
    bar = [[0, 0], [10, 0], [10, 1], [0, 1]]
    angle = np.radians(7.5)
    tight = 10 * np.sin(angle) + np.cos(angle)  # between the spread turns; at 7.5° the bar is as wide as the sheet
    layout = nest(
        [bar], (10 * np.cos(angle) + np.sin(angle) + 1e-9, tight + 1e-9), rotations_deg=None, moves=1, seconds=600
    )
    check(layout, [bar])
    slanted = np.array(bar) @ np.array([[np.cos(0.1), np.sin(0.1)], [-np.sin(0.1), np.cos(0.1)]])
    check(nest([slanted], (None, 1.01), rotations_deg=None, moves=1, seconds=600), [slanted])
    with pytest.raises(InvalidInput, match=r"pieces\[0\]: .* is larger than the sheet"):
        nest([slanted], (None, 0.99), rotations_deg=None)


@pytest.mark.parametrize("scale", [1e-74, 1e-20, 1e60])
def test_layouts_do_not_depend_on_the_unit(scale):
    scale = 2.0 ** round(np.log2(scale))
    pieces = [np.array(ELL, float), np.array(SQUARE) * 0.7]
    options = {"copies": 2, "rotations_deg": [30, 90], "moves": MOVES, "seconds": 600}
    plain = nest(pieces, (None, 4), gap=0.1, **options)
    scaled = nest([p * scale for p in pieces], (None, 4 * scale), gap=0.1 * scale, **options)
    assert all((a * scale == b).all() for a, b in zip(plain.polygons, scaled.polygons, strict=True))
    assert plain.density == scaled.density
    assert scaled.find_overlap() is None


def test_pieces_and_sheets_have_the_least_length_of_contours():
    """From 1e-75 on, for polygons, contours and sheets alike."""
    square, least = np.array(SQUARE, float), 1e-75
    for piece in (square * least, Contour.from_polygon(square * least)):
        layout = nest([piece], (2.5 * least, least), copies=2, moves=1, seconds=600)
        assert layout.find_overlap() is None
        assert len(layout.lengths) == 1
    for make in (lambda size: [square * size], lambda size: [Contour.from_polygon(square * size)]):
        with pytest.raises(InvalidInput, match="1e-75"):
            nest(make(0.99 * least), (9 * least, 9 * least), moves=1)


def test_a_piece_of_no_copies_need_not_fit():
    layout = nest([SQUARE, ELL], (1, 1), copies=[2, 0], moves=1, seconds=600)
    assert layout.piece.tolist() == [0, 0]
    assert layout.sheet.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("pieces", "sheet", "options", "message"),
    [
        ([], (9, 9), {}, "pieces: is empty"),
        ([SQUARE], (9, 9), {"copies": 0}, "copies: is zero"),
        ([SQUARE], (9, 9), {"copies": [1, 2]}, "copies: has 2 rows for 1 pieces"),
        ([SQUARE, ELL], (9, 1.5), {}, r"pieces\[1\]: 3 × 2 is larger than the sheet"),
        ([SQUARE, ELL], (2.5, 9), {}, r"pieces\[1\]: 3 × 2 is larger than the sheet"),
        ([SQUARE, SQUARE[:2]], (9, 9), {}, r"pieces\[1\]: has 2 different corners"),
        ([[[0, 0], [1, 1], [1, 0], [0, 1]]], (9, 9), {}, r"pieces\[0\]: crosses or touches itself"),
        ([[[0, 0], [1, math.nan], [1, 0]]], (9, 9), {}, r"pieces\[0\]\[1\]: is NaN"),
        ([SQUARE], (9, -9), {}, "sheet height: -9 is not positive"),
        ([SQUARE], 9, {}, "sheet: expected two numbers"),
        ([SQUARE], (9, 9), {"rotations_deg": []}, "rotations_deg"),
        ([SQUARE], (9, 9), {"rotations_deg": [[0.0], None]}, "rotations_deg: has 2 rows for 1 pieces"),
        ([SQUARE], (9, 9), {"gap": -1.0}, "gap: -1 is not between"),
        ([SQUARE], (9, 9), {"seconds": 0.0}, "seconds: 0 is not positive"),
        (None, (9, 9), {}, "pieces: expected a list"),
        (3, (9, 9), {}, "pieces: expected a list"),
        ("square", (9, 9), {}, "pieces: expected a list"),
        (np.array(3.0), (9, 9), {}, "pieces: is one number"),
        ([None], (9, 9), {}, r"pieces\[0\]"),
        ([SQUARE], None, {}, "sheet: expected two numbers"),
        ([SQUARE], np.array(3.0), {}, "sheet: expected two numbers"),
        ([SQUARE], ([1, 2], 3), {}, "sheet width"),
        ([SQUARE], (9, math.inf), {}, "sheet height: is infinite"),
        ([SQUARE], (9, 1e-300), {}, "sheet height: 1e-300 is below 1e-75"),
        ([SQUARE], (9, 9.9e-76), {}, "sheet height: 9.9e-76 is below 1e-75"),
        ([SQUARE], (9, 1e76), {}, "sheet height: 1e\\+76 is beyond"),
        (
            [np.array(SQUARE) * 9.9e-76],
            (9e-75, 9e-75),
            {},
            r"pieces\[0\]: its largest coordinate is 9.9e-76, below 1e-75",
        ),
        (
            [np.array(SQUARE) * 1e-300],
            (9e-75, 9e-75),
            {},
            r"pieces\[0\]: its largest coordinate is 1e-300, below 1e-75",
        ),
        ([np.array(SQUARE) * 1e76], (9e75, 9e75), {}, "is beyond|sheet height"),
        ([SQUARE], (9, 9), {"copies": [[1, 2], [3]]}, "copies: is neither"),
        ([SQUARE], (9, 9), {"copies": None}, "copies"),
        ([SQUARE], (9, 9), {"copies": True}, "copies"),
        ([SQUARE], (9, 9), {"copies": 10_001}, "copies"),
        ([SQUARE] * 2, (9, 9), {"copies": 6000}, "copies: 12000 pieces in all"),
        ([SQUARE], (9, 9), {"rotations_deg": 90}, "rotations_deg"),
        ([SQUARE], (9, 9), {"rotations_deg": "free"}, "rotations_deg"),
        ([SQUARE], (9, 9), {"rotations_deg": [math.nan]}, "rotations_deg"),
        ([SQUARE], (9, 9), {"rotations_deg": np.arange(2000.0) / 9}, "rotations_deg.*more than 1000"),
        ([SQUARE], (9, 9), {"moves": 1.5}, "moves"),
        ([SQUARE], (9, 9), {"moves": "all"}, "moves"),
        ([SQUARE], (9, 9), {"seed": -1}, "seed"),
        ([SQUARE], (9, 9), {"seed": None}, "seed"),
        ([SQUARE], (9, 9), {"progress": 3}, "progress: cannot be called"),
        ([SQUARE], (9, 9), {"better": 3}, "better: cannot be called"),
        ([SQUARE], (9, 9), {"searches": 0}, "searches"),
        ([SQUARE], (9, 9), {"searches": 1.5}, "searches"),
        ([SQUARE], (9, 9e9), {}, r"pieces\[0\]: is 1 large, less than"),
        ([[[0, 0], [1, 0], [0.5, 1e-320]]], (9, 9), {}, r"pieces\[0\]"),
        ([[[0, 0], [1, 0], [0.5, 1e-17]]], (9, 9), {}, r"pieces\[0\]: has no area"),
        ([SQUARE], (None, 9), {"gap": 1e10, "copies": 2}, "gap: 1e.10 is more than"),
    ],
)
def test_bad_input_is_named(pieces, sheet, options, message):
    with pytest.raises(InvalidInput, match=message):
        nest(pieces, sheet, **options)
