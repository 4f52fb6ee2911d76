"""Orders with everything at random together: holes, sheets of several sizes, borders, grain, faults, mirrors, cuts, priorities; judged in
rationals."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Part, Sheet, nest
from abut.contours.nesting.pieces import signed_area
from abut.contours.nesting.tables import turn
from abut.core import jit
from conftest import SOAK
from contours.nesting.oracle_polygons import distance_to_edges
from contours.nesting.test_holes import draw_cells

BLOCKS = 60 if SOAK else (1 if jit.INTERPRETED else 3)
CASES = 2 if jit.INTERPRETED else 8


def edges(rings):
    """All edges of a region, in rationals."""
    points = [[(Fraction(float(x)), Fraction(float(y))) for x, y in ring] for ring in rings]
    return [(p, q) for ring in points for p, q in zip(ring, ring[1:] + ring[:1], strict=True)]


def cut(sides, y):
    """Intervals of a horizontal line inside a region (even-odd), which no corner is at the height of."""
    xs = sorted(p[0] + (y - p[1]) * (q[0] - p[0]) / (q[1] - p[1]) for p, q in sides if (p[1] > y) != (q[1] > y))
    return list(zip(xs[::2], xs[1::2], strict=True))


def do_regions_overlap(a, b):
    """Whether two regions with holes have area in common: between any two heights at which something begins, ends or crosses, one line tells all."""
    a, b = edges(a), edges(b)
    heights = {p[1] for p, _ in a + b}
    for (p, q), (r, s) in itertools.product(a, b):
        det = (q[0] - p[0]) * (s[1] - r[1]) - (q[1] - p[1]) * (s[0] - r[0])
        if det:
            t = ((r[0] - p[0]) * (s[1] - r[1]) - (r[1] - p[1]) * (s[0] - r[0])) / det
            if 0 <= t <= 1:
                heights.add(p[1] + t * (q[1] - p[1]))
    for low, high in itertools.pairwise(sorted(heights)):
        y = (low + high) / 2
        if any(max(i[0], j[0]) < min(i[1], j[1]) for i in cut(a, y) for j in cut(b, y)):
            return True
    return False


def draw_part(rng, scale):
    _, outline, holes = draw_cells(rng, int(rng.integers(1, 5)))
    stretch, shift = rng.choice([1.0, 0.7, 1.3], 2) * scale, rng.normal(size=2).round(1)
    return Part(outline * stretch + shift, [hole * stretch + shift for hole in holes])


def draw_sheet(rng, size):
    if rng.random() < 0.2:
        angle = np.sort(rng.uniform(0, 2 * np.pi, 9))
        outline = size * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return Sheet(count=int(rng.integers(1, 3)), outline=outline, grain_deg=float(rng.choice([0, 90])))
    faults = [np.array([[0.3, 0.3], [0.4, 0.3], [0.35, 0.45]]) * size] if rng.random() < 0.3 else []
    border = float(rng.choice([0.0, 0.05])) * size
    wide = size * float(rng.choice([1.0, 2.0]))
    return Sheet(
        wide,
        size,
        None if rng.random() < 0.5 else int(rng.integers(1, 4)),
        border,
        None,
        faults,
        float(rng.choice([0, 90, 30])),
    )


def rings_of(layout, row):
    return [layout.polygons[row], *layout.holes[row]]


def check(layout, pieces, sheets, order, angles):
    """All that the documentation says of a layout."""
    placed = np.bincount(layout.piece, minlength=len(pieces)) + np.bincount(layout.unplaced, minlength=len(pieces))
    assert placed.tolist() == order["copies"]
    for piece in set(layout.unplaced.tolist()):  # on plain sheets without end there is room for what fits at all
        for sheet in sheets:
            if sheet.count is None and sheet.outline is None and not sheet.faults:
                with pytest.raises(InvalidInput, match="larger than the sheet"):
                    nest(
                        [pieces[piece]],
                        sheet,
                        rotations_deg=angles,
                        mirror=order["mirror"][piece],
                        seconds=600,
                        moves=1,
                    )
    gap = order["gap"] + order["kerf"]
    for row, piece in enumerate(layout.piece.tolist()):
        part, flip = pieces[piece], -1.0 if layout.mirrored[row] else 1.0
        assert flip > 0.0 or order["mirror"][piece]
        for ring, contour in zip(rings_of(layout, row), (part.outline, *part.holes), strict=True):
            own = turn(contour.segments[:, 0], layout.angle_deg[row], flip) + layout.position[row]
            np.testing.assert_allclose(
                (ring.min(axis=0), ring.max(axis=0)), (own.min(axis=0), own.max(axis=0)), atol=1e-11
            )
            assert abs(signed_area(ring)) == pytest.approx(contour.area, rel=1e-11)
        width, height = layout.sizes[layout.sheet[row]]
        ring = layout.polygons[row]
        assert ring.min() >= 0.0
        assert (ring.max(axis=0) <= (min(width, layout.lengths[layout.sheet[row]]), height)).all()
    for i, j in itertools.combinations(range(len(layout)), 2):
        if layout.sheet[i] == layout.sheet[j]:
            a, b = rings_of(layout, i), rings_of(layout, j)
            if (a[0].min(axis=0) < b[0].max(axis=0)).all() and (b[0].min(axis=0) < a[0].max(axis=0)).all():
                assert not do_regions_overlap(a, b), (i, j)
            if gap > 0.0:
                apart = min(min(distance_to_edges(r, s), distance_to_edges(s, r)) for r in a for s in b)
                assert apart >= gap * (1.0 - 1e-12) - 1e-13


@pytest.mark.parametrize("block", range(BLOCKS))
def test_orders_of_everything(block):
    rng, within = np.random.default_rng([41, block]), 0
    for _ in range(CASES):
        count = int(rng.integers(1, 4))
        pieces = [draw_part(rng, float(rng.choice([1.0, 0.3, 2.1]))) for _ in range(count)]
        size = float(rng.choice([6.0, 9.3, 14.1]))
        sheets = [draw_sheet(rng, size) for _ in range(int(rng.integers(1, 4)))]
        order = {
            "copies": rng.integers(1, 4, count).tolist(),
            "gap": float(rng.choice([0.0, 0.0, 0.1])),
            "kerf": float(rng.choice([0.0, 0.0, 0.05])),
            "mirror": (rng.random(count) < 0.4).tolist(),
            "priority": rng.integers(0, 3, count).tolist(),
        }
        angles = [[0.0], [0.0, 90.0, 180.0, 270.0], [0.0, 37.0]][int(rng.integers(3))]
        settings = {
            "rotations_deg": angles,
            "seconds": 600,
            "moves": 20,
            "seed": block,
            "searches": int(rng.integers(1, 3)),
            **order,
        }
        try:
            layout = nest(pieces, sheets, **settings)
        except InvalidInput:
            with pytest.raises(InvalidInput, match=r"larger than|no piece finds a place"):
                nest(pieces, sheets, **settings)
            continue
        check(layout, pieces, sheets, order, angles)
        within += 1
    assert within > 0
