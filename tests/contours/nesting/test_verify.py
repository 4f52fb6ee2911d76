"""The exact test for overlap against squares and exact clipping."""

import numpy as np
import pytest

from abut.contours.nesting.pieces import signed_area
from abut.contours.nesting.verify import find_overlap, find_self_contact
from abut.core import jit
from conftest import SOAK
from contours.nesting.oracle_polygons import distance, do_convex_overlap, exact_area, grow_cells

CASES = 20_000 if SOAK else (60 if jit.INTERPRETED else 600)
MAPS = np.array([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [-1.0, 3.0]], [[1.0, 3.0], [0.0, 1.0]]])
"""Integer maps that keep the orientation: overlap stays what it was."""


def test_overlap_of_squares_is_exact_where_edges_and_corners_coincide(rng):
    met = 0
    for case in range(CASES):
        (cells_a, loop_a), (cells_b, loop_b) = grow_cells(rng, 6), grow_cells(rng, 1 + case % 6)
        shift = rng.integers(-2, 3, 2)
        expected = bool(cells_a & {(x + shift[0], y + shift[1]) for x, y in cells_b})
        a, b = np.array(loop_a, float), np.array(loop_b, float) + shift
        to = MAPS[case % 3].T
        assert (find_overlap([a @ to, np.roll(b, case, axis=0) @ to]) is not None) == expected, (loop_a, loop_b, shift)
        met += expected
    assert 0.2 * CASES < met < 0.8 * CASES


def test_overlap_of_triangles_is_that_of_exact_clipping(rng):
    met = 0
    for case in range(CASES):
        a, b = rng.integers(-3, 4, (2, 3, 2)).astype(float)
        if case % 2:
            b += rng.normal(size=2) * 2.0**-50  # as near to touching as it gets
        a, b = (t if signed_area(t) > 0 else t[::-1].copy() for t in (a, b))
        if exact_area(a) <= 0 or exact_area(b) <= 0:
            continue
        expected = do_convex_overlap(a, b)
        assert (find_overlap([a, b]) is not None) == expected, (a, b)
        met += expected
    assert met > CASES // 10


SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])
NOTCHED = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0], [0.0, 4.0]])


@pytest.mark.parametrize(
    ("other", "overlaps"),
    [
        (SQUARE, True),  # the same
        (SQUARE + np.array([4.0, 0.0]), False),  # side by side
        (SQUARE + 4.0, False),  # a corner on a corner
        (SQUARE * 0.25 + 1.0, True),  # inside, nothing touches
        (SQUARE * 2.0 - 2.0, True),  # around
        (np.array([[4.0, 0.0], [6.0, 0.0], [4.0, 4.0]]), False),
        (np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 4.0]]), True),  # half of it, corners on corners
        (np.array([[4.0, 2.0], [6.0, 1.0], [6.0, 3.0]]), False),  # a corner on an edge
        (np.array([[4.0, 2.0], [6.0, 1.0], [6.0, 3.0], [0.0, 5.0]]), True),  # the same corner, reaching across
        (np.array([[2.0, 2.0], [6.0, 0.0], [6.0, 4.0]]), True),
    ],
)
def test_named_neighbours_of_a_square(other, overlaps):
    assert (find_overlap([SQUARE, other]) is not None) == overlaps
    assert (find_overlap([other, SQUARE]) is not None) == overlaps


def test_a_wedge_in_a_notch_touches_only():
    wedge = np.array([[2.0, 1.0], [4.0, 4.0], [0.0, 4.0]])
    assert find_overlap([NOTCHED, wedge]) is None
    assert find_overlap([NOTCHED, wedge - (0.0, 2.0**-40)]) == (0, 1)
    assert find_overlap([NOTCHED, wedge - (0.0, 1.0)], sheet=np.array([0, 1])) is None


def test_gap_is_kept_or_reported(rng):
    for _ in range(20):
        a, b = (np.array(grow_cells(rng, 5)[1], float) for _ in range(2))
        b = b @ MAPS[1].T * 0.3 + (9.0, 1.0)
        apart = distance(a, b)
        assert find_overlap([a, b], 0.999999 * apart) is None
        assert find_overlap([a, b], 1.000001 * apart) == (0, 1)


@pytest.mark.parametrize(
    ("polygon", "found"),
    [
        (SQUARE, None),
        (NOTCHED, None),
        (SQUARE[[0, 2, 1, 3]], (0, 2)),  # a bow
        (np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 0.0], [0.0, 4.0]]), (0, 2)),  # touches itself
        (np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 0.0], [2.0, 4.0]]), (0, 1)),  # runs back
        (np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 4.0], [2.0, 2.0]]), (0, 2)),  # a corner on an edge
        (np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [4.0, 4.0]]), None),  # a flat corner
    ],
)
def test_polygons_that_meet_themselves_are_found(polygon, found):
    assert find_self_contact(np.ascontiguousarray(polygon)) == found
