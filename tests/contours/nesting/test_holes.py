"""Pieces with holes: what lies in a hole overlaps nothing, by unit squares, by clipping in rationals, and by shapely where it is there."""

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Contour, Part, nest
from abut.contours.nesting.parts import convex_parts, join_holes
from abut.contours.nesting.pieces import signed_area
from abut.contours.nesting.verify import find_loose_hole, find_overlap
from abut.core import jit
from contours.nesting.oracle_polygons import distance, do_convex_overlap, exact_area, outline_loops

CASES = 25 if jit.INTERPRETED else 300
MAPS = np.array([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [-1.0, 3.0]], [[1.0, 3.0], [0.0, 1.0]]])


def square(size, x=0.0, y=0.0):
    return np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) * size + (x, y)


def turned(ring):
    return np.ascontiguousarray(ring[::-1])


def draw_cells(rng, size):
    """A connected block of unit squares with some missing, none of them corner to corner; its outline and holes."""
    while True:
        cells = {(x, y) for x in range(size) for y in range(size)}
        for _ in range(int(rng.integers(0, size + 2))):
            cells.discard(tuple(int(k) for k in rng.integers(0, size, 2)))
        if not cells:
            continue
        loops = outline_loops(cells)
        if len({corner for loop in loops for corner in loop}) < sum(map(len, loops)):
            continue
        loops = [np.array(loop, float) for loop in loops]
        outer = [loop for loop in loops if signed_area(loop) > 0]
        if len(outer) == 1:
            return cells, outer[0], [loop for loop in loops if signed_area(loop) < 0]


def test_overlap_of_squares_with_holes_is_exact_where_edges_and_corners_coincide(rng):
    met, within = 0, 0
    for case in range(CASES):
        cells_a, outer_a, holes_a = draw_cells(rng, 5)
        cells_b, outer_b, holes_b = draw_cells(rng, 1 + case % 3)
        shift = rng.integers(-1, 6, 2) if case % 2 else rng.integers(1, 4, 2)  # half of them near the holes
        expected = bool(cells_a & {(x + shift[0], y + shift[1]) for x, y in cells_b})
        to = MAPS[case % 3].T
        placed = [[ring @ to for ring in (outer_a, *holes_a)], [(ring + shift) @ to for ring in (outer_b, *holes_b)]]
        for a, b in (placed, placed[::-1]):
            assert (find_overlap([a[0], b[0]], holes=[a[1:], b[1:]]) is not None) == expected, (cells_a, cells_b, shift)
        met += expected
        within += not expected and find_overlap([placed[0][0], placed[1][0]]) is not None
    assert 0.2 * CASES < met < 0.9 * CASES
    assert within > 0 or jit.INTERPRETED  # some lie in a hole


@pytest.mark.parametrize(
    ("other", "overlaps"),
    [
        (square(4.0, 3.0, 3.0), False),  # fills the hole to the last bit
        (square(2.0, 3.0, 3.0), False),  # in a corner of it
        (square(2.0, 4.0, 4.0), False),  # touches nothing
        (square(4.0, 3.0, 3.0 + 2.0**-40), True),
        (square(10.0, 0.0, 0.0), True),  # the same outline without a hole
        (square(12.0, -1.0, -1.0), True),  # around everything
        (square(1.0, 1.0, 1.0), True),  # in the material
        (np.array([[3.0, 5.0], [5.0, 3.0], [7.0, 5.0], [5.0, 7.0]]), False),  # corners on the hole's sides
        (np.array([[2.0, 5.0], [5.0, 3.0], [7.0, 5.0], [5.0, 7.0]]), True),
        (square(2.0, 10.0, 0.0), False),
    ],
)
def test_named_neighbours_of_a_frame(other, overlaps):
    frame, hole = square(10.0), turned(square(4.0, 3.0, 3.0))
    assert (find_overlap([frame, other], holes=[[hole], []]) is not None) == overlaps
    assert (find_overlap([other, frame], holes=[[], [hole]]) is not None) == overlaps


def test_two_frames_one_in_the_other():
    rings = [
        [square(10.0), turned(square(8.0, 1.0, 1.0))],
        [square(6.0, 2.0, 2.0), turned(square(4.0, 3.0, 3.0))],
        [square(2.0, 4.0, 4.0)],
    ]
    assert find_overlap([r[0] for r in rings], holes=[r[1:] for r in rings]) is None
    assert find_overlap([r[0] for r in rings], 0.9999999, holes=[r[1:] for r in rings]) is None
    assert find_overlap([r[0] for r in rings], 1.0000001, holes=[r[1:] for r in rings]) == (0, 1)
    assert find_overlap([rings[0][0], rings[0][0]], holes=[rings[0][1:], rings[0][1:]]) == (0, 1)  # the same twice
    assert find_overlap([rings[0][0], turned(rings[0][1])], holes=[rings[0][1:], []]) is None  # its own disc


def test_the_convex_parts_of_what_has_holes_are_it_exactly(rng):
    for case in range(CASES // 3):
        cells, outer, holes = draw_cells(rng, 4 + case % 3)
        to = MAPS[case % 3].T
        parts = convex_parts(outer @ to, [hole @ to for hole in holes])
        scale = np.linalg.det(MAPS[case % 3])
        assert sum(exact_area(part) for part in parts) == round(scale) * len(cells)
        assert find_overlap(parts) is None
        for part in parts:  # none reaches into a hole
            assert all(
                not do_convex_overlap(part, turned(hole @ to))
                for hole in holes
                if len(convex_parts(turned(hole @ to))) == 1
            )
        assert abs(signed_area(join_holes(outer @ to, [hole @ to for hole in holes])) - scale * len(cells)) < 1e-9


def test_round_holes_are_parts_within_rounding(rng):
    angle = np.linspace(0.0, 2 * np.pi, 30, endpoint=False)
    disc = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    holes = [turned(disc + center) for center in ((0.0, 0.0), (2.5, 0.1), (-2.3, 2.2), (0.3, -2.7))]
    parts = convex_parts(5.0 * disc, holes)
    assert sum(map(signed_area, parts)) == pytest.approx(21.0 * signed_area(disc), rel=1e-12)
    assert find_overlap(parts) is None


@pytest.mark.parametrize(
    ("holes", "words"),
    [
        ([square(2.0, 7.0, 1.0)], "hole 0"),  # touches the outline
        ([square(2.0, 9.0, 1.0)], "hole 0"),  # crosses it
        ([square(2.0, 19.0, 1.0)], "hole 0"),  # lies beside it
        ([square(12.0, -1.0, -1.0)], "hole 0"),  # around it
        ([square(1.0, 1.0, 1.0), square(2.0, 1.5, 1.5)], "hole 1"),
        ([square(4.0, 1.0, 1.0), square(1.0, 2.0, 2.0)], "hole 1"),  # a hole in a hole
        ([square(1.0, 2.0, 2.0), square(4.0, 1.0, 1.0)], "hole 1"),
        ([np.array([[1, 1], [3, 3], [3, 1], [1, 3.0]])], "crosses or touches itself"),
    ],
)
def test_holes_that_are_none_are_refused(holes, words):
    with pytest.raises(InvalidInput, match=rf'pieces\[1\]: id="lid": .*{words}'):
        nest([square(1.0), Part(square(9.0), holes, name="lid")], (None, 20), moves=1)


def test_a_hole_in_either_direction_is_a_hole():
    for hole in (square(4.0, 3.0, 3.0), turned(square(4.0, 3.0, 3.0))):
        for outline in (square(9.0), turned(square(9.0))):
            assert nest([Part(outline, [hole])], (None, 9), moves=1).density == pytest.approx((81 - 16) / 81)
    assert find_loose_hole(square(9.0), [turned(square(1.0, 1.0, 1.0)), turned(square(1.0, 3.0, 1.0))]) is None


def test_pieces_lie_in_the_holes_of_others():
    """A washer was a full disc, and its hole a second piece."""
    frame = Part(square(9.0), [square(5.0, 2.0, 2.0)], name="frame")
    layout = nest([frame, square(4.5)], (None, 9), copies=2, seconds=600, moves=2 if jit.INTERPRETED else 50)
    assert layout.length == 18.0
    assert layout.density == pytest.approx((2 * (81 - 25) + 2 * 4.5**2) / (9 * 18))
    assert layout.find_overlap() is None
    assert [len(holes) for holes in layout.holes] == [1, 1, 0, 0]
    assert not layout.holes[0][0].flags.writeable
    for inner in layout.polygons[2:]:
        assert any(distance(inner, hole) < 0.51 and find_overlap([inner, turned(hole)]) for (hole,) in layout.holes[:2])
    assert layout.to_svg().count("Z") == 6


@pytest.mark.large
def test_a_disc_lies_in_a_washer_with_a_gap():
    def disc(r):
        return Contour.from_svg(f"M{r} 0A{r} {r} 0 01{-r} 0 {r} {r} 0 01{r} 0")

    layout = nest(
        [Part(disc(20.0), [disc(10.0)]), disc(8.0)], (None, 41), copies=[2, 2], gap=1.0, seconds=600, moves=2000
    )
    assert layout.find_overlap() is None
    assert layout.length < 82.0  # beside the washers there would be no room: 41 + 40
    for k in (2, 3):
        centre = layout.polygons[k].mean(axis=0)
        reach = min(np.hypot(*(layout.polygons[j].mean(axis=0) - centre)) for j in (0, 1))
        assert reach <= 1.0 + 0.02  # ten less eight less the gap


def test_shapely_agrees(rng):
    shapely = pytest.importorskip("shapely")
    met = 0
    for case in range(CASES):
        _, outer_a, holes_a = draw_cells(rng, 5)
        _, outer_b, holes_b = draw_cells(rng, 1 + case % 4)
        turn = rng.uniform(0, 2 * np.pi)
        to = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) * 0.6
        shift = rng.uniform(-1, 5, 2)
        b = [ring @ to + shift for ring in (outer_b, *holes_b)]
        common = shapely.Polygon(outer_a, holes_a).intersection(shapely.Polygon(b[0], b[1:])).area
        if common > 1e-9 or common == 0.0:
            assert (find_overlap([outer_a, b[0]], holes=[holes_a, b[1:]]) is not None) == (common > 0.0)
            met += common > 0.0
    assert 0 < met < CASES


def test_parts_do_not_change_and_show_their_holes():
    part = Part(square(9.0), [square(5.0, 2.0, 2.0)], name="frame")
    assert repr(part) == "Part('frame', 1 hole)"
    assert part.bounds.tolist() == [[0.0, 0.0], [9.0, 9.0]]
    with pytest.raises(AttributeError, match="does not change"):
        part.name = "x"
    for bad, words in (
        ({"holes": [[[0, 0], [1, 1]]]}, r"holes\[0\]"),
        ({"holes": 3}, "holes"),
        ({"marks": [3]}, "marks"),
        ({"name": 3}, "name"),
    ):
        with pytest.raises(InvalidInput, match=words):
            Part(square(1.0), **bad)
