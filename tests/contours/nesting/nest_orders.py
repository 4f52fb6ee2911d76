"""Random orders for `nest`, all options drawn together, and what a layout must be, found by another road than the search and its proof.

Overlap is decided by horizontal slabs: between two neighbouring heights of corners and crossings no edges change places, so the intervals
that two polygons cut out of the line in the middle of each slab tell, in rationals, whether they have area in common.
"""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from abut.contours import Contour
from contours.nesting.oracle_polygons import distance, grow_cells

SURE = 1e-11
"""Of the size: polygons this far apart in floating point are apart."""


class Drawn(NamedTuple):
    """An order, and what is needed to judge its result."""

    pieces: list
    sheet: tuple
    options: dict
    angles: list
    """of each piece, None where it turns freely"""
    copies: list


def _turned(points, degrees):
    radians = math.radians(degrees)
    cosine, sine = math.cos(radians), math.sin(radians)
    x, y = np.asarray(points, float).T
    return np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=1)


# --- drawing


def _draw_polygon(rng):
    kind = rng.integers(7)
    if kind == 0:
        return np.array(grow_cells(rng, int(rng.integers(1, 7)))[1], float)
    if kind == 1:  # a rectangle, sometimes very thin
        return np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * rng.choice([0.001, 0.3, 1.0, 1.0, 2.5], 2)
    if kind == 2:  # a triangle of whole numbers
        while True:
            corners = rng.integers(0, 4, (3, 2)).astype(float)
            if (corners[1, 0] - corners[0, 0]) * (corners[2, 1] - corners[0, 1]) != (
                (corners[1, 1] - corners[0, 1]) * (corners[2, 0] - corners[0, 0])
            ):
                return corners
    count = int(rng.integers(3, 14))
    angle = np.sort(rng.uniform(0.0, 2 * np.pi, count)) if kind < 6 else np.linspace(0.0, 2 * np.pi, count + 1)[:-1]
    if np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() > 3.0:  # a star around its middle needs corners all around
        angle = np.linspace(0.0, 2 * np.pi, count + 1)[:-1]
    radius = rng.uniform(0.2, 1.0, count) if kind < 5 else np.ones(count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _draw_contour(rng):
    angle = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)
    control = (1.0 + 0.3 * rng.uniform(-1, 1) * np.cos(2 * angle))[:, None] * np.stack(
        [np.cos(angle), rng.uniform(0.4, 1.0) * np.sin(angle)], axis=1
    )
    return Contour(control, roughness=float(rng.choice([0.0, 0.002])), detail=2, seed=int(rng.integers(100)))


def _draw_angles(rng):
    choice = rng.integers(7)
    if choice == 0:
        return None
    if choice == 1:
        return [0.0]
    if choice == 2:
        return rng.choice([0, 90, 180, 270], rng.integers(1, 4), replace=False).tolist()
    if choice == 3:
        return rng.choice([30.0, 45.0, 60.0, 120.0, 135.0, 225.0], rng.integers(1, 4), replace=False).tolist()
    if choice == 4:
        return (90.0 * rng.integers(-8, 9, 2) + rng.choice([0.0, 1e-7, -1e-10, 1e-12], 2)).tolist()
    return rng.uniform(-400.0, 400.0, rng.integers(1, 4)).tolist()


def _sizes(points, angles):
    """Width and height at each angle; for a piece that turns freely at every half degree."""
    every = np.arange(0.0, 180.0, 0.5) if angles is None else angles
    points = points - points[0]  # far from the origin, turning would round by parts of the distance
    return np.array([np.ptp(_turned(points, angle), axis=0) for angle in every])


def outline(piece):
    """Corners, or many points of a contour."""
    return (
        piece.point(np.linspace(0.0, len(piece), 40 * len(piece))) if isinstance(piece, Contour) else np.asarray(piece)
    )


def draw_order(rng):
    """Everything at random: shapes, scales, offsets, angles, gaps, sheets that are tight, roomy or too small."""
    count = int(rng.integers(1, 5))
    scale = float(rng.choice([1.0, 1.0, 1.0, 3.7, 1e-3, 1e5, 2.0**-230, 1e60]))
    pieces = [_draw_contour(rng) if rng.random() < 0.08 else _draw_polygon(rng) for _ in range(count)]
    if rng.random() < 0.3:
        pieces = [
            p if isinstance(p, Contour) else np.ascontiguousarray(p * rng.choice([0.1, 1.0, 3.0])) for p in pieces
        ]
    each = rng.random() < 0.5
    angles = [_draw_angles(rng) for _ in range(count)] if each else [_draw_angles(rng)] * count
    sizes = [_sizes(outline(p), a) for p, a in zip(pieces, angles, strict=True)]
    tight = max(float(size[:, 1].min()) for size in sizes)
    height = tight * float(
        rng.choice([1.0, 1.0 + 1e-9, 1.05, 1.5, 2.0, 4.0, 0.9], p=[0.1, 0.1, 0.2, 0.2, 0.2, 0.17, 0.03])
    )
    widest = max(float(size[size[:, 1] <= height * (1 + 1e-9), 0].min(initial=size[:, 0].max())) for size in sizes)
    width = None if rng.random() < 0.5 else widest * float(rng.choice([1.0, 1.1, 2.0, 5.0, 1e9]))
    gap = float(rng.choice([0.0, 0.0, 0.01, 0.3, 3.0])) * height
    pieces = [
        p.moved((*rng.normal(size=2), 0.0)) if isinstance(p, Contour) and scale == 1.0
        else Contour.from_segments(p.segments * scale) if isinstance(p, Contour)
        else (p[::-1] if rng.random() < 0.3 else p) * scale + scale * np.round(rng.normal(size=2) * rng.choice([0.0, 10.0]))
        for p in pieces
    ]  # fmt: skip
    copies = rng.integers(0, 4, count).tolist() if rng.random() < 0.5 else [int(rng.integers(1, 6))] * count
    if not any(copies):
        copies[0] = 1
    options = {
        "copies": copies if each or len(set(copies)) > 1 else copies[0],
        "rotations_deg": angles if each else angles[0],
        "gap": gap * scale,
        "moves": int(rng.choice([1, 5, 40])),
        "seconds": float(rng.choice([60.0, 60.0, 1e-3])),
        "seed": int(rng.integers(1000)),
    }
    sheet = (math.inf if width is None and rng.random() < 0.5 else width and width * scale, height * scale)
    return Drawn(pieces, sheet, options, angles, copies)


# --- judging


def find_misfit(order):
    """The first piece that is in the order and larger than the sheet at every angle, and whether rounding may decide: (row, unsure)."""
    width, height = order.sheet
    width = math.inf if width is None else width
    unsure = False
    for row, (piece, angles, copies) in enumerate(zip(order.pieces, order.angles, order.copies, strict=True)):
        # For a curve the polygon around it counts, which is up to 2e-4 larger.
        loose = 5e-4 if isinstance(piece, Contour) else 1e-11
        if not copies:
            continue
        sizes = _sizes(outline(piece), angles)
        step = 0.01 if angles is None else 0.0  # between two angles half a degree apart
        ratio = np.maximum(sizes[:, 0] / width, sizes[:, 1] / height).min()
        if ratio > 1.0 + loose + step:
            return row, unsure
        unsure = unsure or ratio > 1.0 - loose
    return None, unsure


def _cut(polygon, y):
    """Intervals of a horizontal line inside a polygon."""
    xs = sorted(
        p[0] + (y - p[1]) * (q[0] - p[0]) / (q[1] - p[1])
        for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True)
        if (p[1] > y) != (q[1] > y)
    )
    return list(zip(xs[::2], xs[1::2], strict=True))


def do_overlap(a, b):
    """Whether two simple polygons have area in common, in rationals."""
    a, b = ([(Fraction(float(x)), Fraction(float(y))) for x, y in polygon] for polygon in (a, b))
    heights = {p[1] for p in a + b}
    for p, q in zip(a, a[1:] + a[:1], strict=True):
        for r, s in zip(b, b[1:] + b[:1], strict=True):
            det = (q[0] - p[0]) * (s[1] - r[1]) - (q[1] - p[1]) * (s[0] - r[0])
            if det:
                t = ((r[0] - p[0]) * (s[1] - r[1]) - (r[1] - p[1]) * (s[0] - r[0])) / det
                if 0 <= t <= 1:
                    heights.add(p[1] + t * (q[1] - p[1]))
    ordered = sorted(heights)
    for low, high in itertools.pairwise(ordered):
        y = (low + high) / 2
        if any(max(i[0], j[0]) < min(i[1], j[1]) for i in _cut(a, y) for j in _cut(b, y)):
            return True
    return False


def _is_around(polygon, p):
    a, b = polygon, np.roll(polygon, -1, axis=0)
    crosses = (a[:, 1] > p[1]) != (b[:, 1] > p[1])
    x = a[:, 0] + (p[1] - a[:, 1]) / np.where(crosses, b[:, 1] - a[:, 1], 1.0) * (b[:, 0] - a[:, 0])
    return int((crosses & (x > p[0])).sum()) % 2 == 1


def _do_edges_cross(a, b):
    """In floating point; what that takes for a crossing is looked at again in rationals: edges of two pieces may lie along one line."""
    p, q, r, s = a[:, None], np.roll(a, -1, axis=0)[:, None], b[None], np.roll(b, -1, axis=0)[None]
    seem = (_side(p, q, r) != _side(p, q, s)) & (_side(r, s, p) != _side(r, s, q))
    return any(_cross_exactly(a[i], a[(i + 1) % len(a)], b[j], b[(j + 1) % len(b)]) for i, j in np.argwhere(seem))


def _side(u, v, w):
    return np.sign((v - u)[..., 0] * (w - u)[..., 1] - (v - u)[..., 1] * (w - u)[..., 0])


def _cross_exactly(*corners):
    p, q, r, s = (np.array([Fraction(float(x)) for x in corner]) for corner in corners)
    return _side(p, q, r) != _side(p, q, s) and _side(r, s, p) != _side(r, s, q)


def check_pair(a, b, gap, size):
    """Two polygons near 1 on one sheet."""
    crossing = _do_edges_cross(a, b)
    apart = 0.0 if crossing else distance(a, b)
    if gap > 0.0:
        assert not crossing
        assert apart >= gap - 1e-14 * size, (apart, gap)
    if crossing or apart < SURE * size:
        assert not do_overlap(a, b)
    else:
        assert not _is_around(a, b[0])
        assert not _is_around(b, a[0])


def check_layout(layout, order):
    """All that the documentation says of a layout."""
    width, height = order.sheet
    width = math.inf if width is None else width
    scale = 1.0 / height
    assert layout.piece.tolist() == [row for row, n in enumerate(order.copies) for _ in range(n)]
    assert layout.size == (width, height)
    assert sorted(set(layout.sheet.tolist())) == list(range(len(layout.lengths)))
    assert not layout.interrupted
    assert width < math.inf or len(layout.lengths) == 1
    near = [polygon * scale for polygon in layout.polygons]
    areas = []
    for row, (piece, sheet, angle) in enumerate(zip(layout.piece, layout.sheet, layout.angle_deg, strict=True)):
        polygon = layout.polygons[row]
        assert polygon.min() >= 0.0
        assert polygon[:, 0].max() <= min(width, layout.lengths[sheet])
        assert polygon[:, 1].max() <= height
        allowed = order.angles[piece]
        assert allowed is None or any(abs((angle - a + 180.0) % 360.0 - 180.0) < 1e-9 for a in allowed)
        _check_shape(near[row], order.pieces[piece], angle, layout.position[row], scale)
        x, y = (near[row] - near[row][0]).T
        areas.append(0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()))
    for k, length in enumerate(layout.lengths):
        assert length == max(p[:, 0].max() for p, s in zip(layout.polygons, layout.sheet, strict=True) if s == k)
    used = (len(layout.lengths) - 1) * width * scale if len(layout.lengths) > 1 else 0.0
    assert math.isclose(layout.density, sum(areas) / (used + layout.lengths[-1] * scale), rel_tol=1e-9)
    assert layout.moves <= order.options["moves"] + len(layout)
    for i in range(len(near)):
        for j in range(i):
            if layout.sheet[i] == layout.sheet[j]:
                size = max(1.0, float(near[i].max()), float(near[j].max()))
                check_pair(near[i], near[j], layout.gap * scale, size)


def _check_shape(polygon, piece, angle, position, scale):
    """The polygon is the piece, turned and moved; of a contour it holds all points, and little else."""
    own = _turned(outline(piece) * scale, angle) + position * scale
    rounding = 1e-13 * max(1.0, float(np.abs(own).max()), float(np.abs(position).max()) * scale)
    if not isinstance(piece, Contour):
        away = np.abs(own[:, None] - polygon[None]).max(axis=2)
        assert away.min(axis=1).max() <= rounding
        assert away.min(axis=0).max() <= rounding
        return
    outside = [p for p in own[::7] if not _is_around(polygon, p)]
    size = float(np.ptp(own, axis=0).max())
    assert np.ptp(polygon, axis=0).max() <= size * (1.0 + 1e-3)
    if outside:
        assert all(
            distance(np.array([p, p + 1e-9 * size, p + np.array([1e-9 * size, 0.0])]), polygon) < 1e-8 * size
            for p in outside
        )
