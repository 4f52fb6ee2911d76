"""Convex parts of polygons."""

import numpy as np

from abut.contours.nesting.parts import convex_parts
from contours.nesting.oracle_polygons import do_convex_overlap, exact_area, grow_cells, star
from contours.nesting.test_verify import NOTCHED, SQUARE


def test_convex_parts_are_convex_and_cover_the_polygon_exactly(rng):
    polygons = [np.array(grow_cells(rng, 9)[1], float) for _ in range(5)] + [star(rng, 41, 0.05), NOTCHED, SQUARE]
    for polygon in polygons:
        parts = convex_parts(polygon)
        assert sum(exact_area(part) for part in parts) == exact_area(polygon)
        for part in parts:
            edges = np.roll(part, -1, axis=0) - part
            after = np.roll(edges, -1, axis=0)
            assert (edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0] >= -1e-15).all()
        for i, a in enumerate(parts):
            assert not any(do_convex_overlap(a, b) for b in parts[:i])
    assert len(convex_parts(SQUARE)) == 1
