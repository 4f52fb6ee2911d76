"""Winding numbers: how often a contour runs around a point, anticlockwise.

Counted are the crossings of the ray from the point to the right. A part of the contour whose box lies beside the ray or behind its
beginning has none. If its box lies wholly to the right, only its two ends count: every crossing in between is undone by another. So one
path down the tree is looked at, and at its end a segment is halved until the point is beside all pieces. A point within δ of the curve
is *on* it, whichever number comes out.
"""

from abut.contours.curve.boxes import basic_below
from abut.contours.curve.cubic import Segment, restrict
from abut.contours.meet.segment_meeting import size_of
from abut.contours.meet.stacks import NARROWEST_PIECE, PIECE_NUMBERS, push_halves
from abut.contours.meet.views import MEETING, View, box_of, open_contour, reach_of, segment_of
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.scratch import load, reserve_floats, reserve_integers, store

NODES = 128
"""Boxes that wait: one more per level."""


@element
def _rises(y0: float, y1: float, y: float) -> int:
    """How often a curve that stays to the right of a point at height y crosses its ray upwards, less downwards."""
    return (1 if y1 > y else 0) - (1 if y0 > y else 0)


@element
def _around(view: View, node: int, y: float) -> int:
    first, last = basic_below(node, view.leaf_count)
    y0 = load(view.segments, 8 * (first - view.leaf_count) + 1)
    return _rises(y0, load(view.segments, 8 * (last - view.leaf_count) + 7), y)


@element
def _wind_segment(c: Segment, x: float, y: float, delta: float) -> tuple[int, bool]:
    """Winding of one segment about a point, and whether the point is on it."""
    pieces = reserve_floats(PIECE_NUMBERS)
    store(pieces, 0, 0.0)
    store(pieces, 1, 1.0)
    top, total, on = 1, 0, False
    while top > 0:
        top -= 1
        lo, hi = load(pieces, 2 * top), load(pieces, 2 * top + 1)
        p = restrict(c, lo, hi)
        if min(p[1], p[3], p[5], p[7]) > y + delta or max(p[1], p[3], p[5], p[7]) < y - delta:
            continue
        if max(p[0], p[2], p[4], p[6]) < x - delta:
            continue
        if min(p[0], p[2], p[4], p[6]) > x + delta:
            total += _rises(p[1], p[7], y)
            continue
        if size_of(p) <= delta or hi - lo <= NARROWEST_PIECE:
            on = True
            total += _rises(p[1], p[7], y)
            continue
        top = push_halves(pieces, top, lo, hi)
    return (total, on)


@kernel
def wind(view: View, x: float, y: float, delta: float) -> tuple[int, bool]:
    """Winding number of a contour about a point in its own coordinates, and whether the point is on it, within δ."""
    waiting = reserve_integers(NODES)
    store(waiting, 0, 1)
    top, total, on = 1, 0, False
    while top > 0:
        top -= 1
        k = load(waiting, top)
        box = box_of(view, k)
        ex, ey = abs(box.axis_x), abs(box.axis_y)
        dx, dy = box.x - x, box.y - y
        rx, ry = ex * box.along + ey * box.across + delta, ey * box.along + ex * box.across + delta
        if abs(dy) > ry or dx < -rx:
            continue
        if dx > rx:
            total += _around(view, k, y)
        elif k >= view.leaf_count:
            part, here = _wind_segment(segment_of(view, k - view.leaf_count), x, y, delta)
            total, on = total + part, on or here
        else:
            store(waiting, top, 2 * k)
            store(waiting, top + 1, 2 * k + 1)
            top += 2
    return (total, on)


@kernel
def _wind_at(table: int, x: float, y: float) -> tuple[int, bool]:
    view = open_contour(table)
    return wind(view, x, y, MEETING * max(reach_of(view), abs(x), abs(y)))


@parallel
def wind_many(table: int, points: Floats, windings: Integers, on: Integers) -> None:
    """Winding numbers about points (k,2)."""
    for i in prange(len(points)):
        windings[i], on[i] = _wind_at(table, points[i, 0], points[i, 1])
