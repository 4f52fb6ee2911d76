"""Outlines of few corners that hold those of many."""

import numpy as np

from abut.contours.nesting.outline import MOST_CORNERS, ROUGH_AREA, simplify
from abut.contours.nesting.pieces import signed_area
from abut.contours.nesting.verify import find_self_contact
from abut.core import jit
from contours.nesting.oracle_polygons import star


def test_simplified_outlines_hold_the_polygon(rng):
    count = 120 if jit.INTERPRETED else 2000
    for noise in (0.0, 0.004):
        polygon = star(rng, count, noise)
        outline = simplify(polygon, signed_area(polygon))
        assert len(outline) <= (200 if noise else MOST_CORNERS)
        assert find_self_contact(outline) is None
        assert signed_area(polygon) <= signed_area(outline) <= (1.0 + ROUGH_AREA + 1e-12) * signed_area(polygon)
        assert all(is_inside(outline * (1.0 + 1e-12), corner) for corner in polygon)


def is_inside(polygon, p):
    a, b = polygon, np.roll(polygon, -1, axis=0)
    crosses = (a[:, 1] > p[1]) != (b[:, 1] > p[1])
    x = a[:, 0] + (p[1] - a[:, 1]) / np.where(crosses, b[:, 1] - a[:, 1], 1.0) * (b[:, 0] - a[:, 0])
    return int((crosses & (x > p[0])).sum()) % 2 == 1
