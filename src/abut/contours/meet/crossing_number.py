"""Whether a contact is a crossing: the intersection number of the two arcs that pass it, one of each contour.

The arcs reach from the contact to where no other contact is, in both parameters at once: where b passes one place several times, each
passage is asked about alone. Let a's arc run from p to q and b's from e to f. Seen from a point, b's arc sweeps an angle. As the point
goes from p to q that angle changes by what a's arc sweeps seen from f, less what it sweeps seen from e, and by 2π more wherever the point
passes from one side of b's arc to the other. So the four angles, added up, are 2π times the number of passages, with signs: a
crosses b where that is not zero.

No tangents are compared: corners, cusps, tangencies of any order and joints need no cases of their own. The ends of the arcs are
further than δ from the other contour, beyond rounding, as there is no contact.
"""

import math

from abut.contours.curve.cubic import Four, point_at, restrict, transform
from abut.contours.meet.columns import BEGIN_A, BEGIN_B, END_A, END_B, FURTHEST
from abut.contours.meet.segment_meeting import size_of
from abut.contours.meet.stacks import NARROWEST_PIECE, PIECE_NUMBERS, push_halves
from abut.contours.meet.views import STILL, View, segment_of, turn
from abut.core.arrays import Floats
from abut.core.jit import element, kernel
from abut.core.scratch import load, reserve_floats, store

ARC = 0.25
"""How far an arc reaches on either side of its contact, in segments: no further than half the way to the next contact, ..."""
FAR = 4.0
"""... but so many times the length below which a contact is a point."""


@element
def split(sigma: float, count: int) -> tuple[int, float]:
    """Segment and parameter within it of a parameter of the whole contour."""
    whole = math.floor(sigma)
    return (int(whole) % count, sigma - whole)


@element
def point_on(view: View, sigma: float, pose: Four) -> tuple[float, float]:
    """The point of a contour at a parameter, moved by a pose."""
    i, t = split(sigma, view.leaf_count)
    x, y = point_at(segment_of(view, i), t)
    return turn(pose, x, y)


@kernel
def _sweep_piece(view: View, i: int, lo: float, hi: float, pose: Four, x: float, y: float, delta: float) -> float:
    """The angle that segment i sweeps from lo to hi, seen from (x, y): halved until every piece lies on one side of a line through that point."""
    c = transform(segment_of(view, i), pose)
    pieces = reserve_floats(PIECE_NUMBERS)
    store(pieces, 0, lo)
    store(pieces, 1, hi)
    top, total = 1, 0.0
    while top > 0:
        top -= 1
        lo, hi = load(pieces, 2 * top), load(pieces, 2 * top + 1)
        p = restrict(c, lo, hi)
        u, v = 0.5 * (p[0] + p[6]) - x, 0.5 * (p[1] + p[7]) - y
        least = 1.0
        for k in range(4):
            least = min(least, u * (p[2 * k] - x) + v * (p[2 * k + 1] - y))
        if least > 0.0 or size_of(p) <= delta or hi - lo <= NARROWEST_PIECE:
            ax, ay, bx, by = p[0] - x, p[1] - y, p[6] - x, p[7] - y
            total += math.atan2(ax * by - ay * bx, ax * bx + ay * by)
            continue
        top = push_halves(pieces, top, lo, hi)
    return total


@kernel
def _sweep(view: View, begin: float, end: float, pose: Four, x: float, y: float, delta: float) -> float:
    """The angle that a contour sweeps from one parameter to the next, seen from (x, y)."""
    total = 0.0
    first, last = math.floor(begin), math.ceil(end)
    for k in range(first, last):
        i = k % view.leaf_count
        total += _sweep_piece(view, i, max(begin - k, 0.0), min(end - k, 1.0), pose, x, y, delta)
    return total


@element
def cyclic(x: float, y: float, period: float) -> float:
    """How far apart two parameters of a closed contour are."""
    d = abs(x - y) % period
    return min(d, period - d)


@element
def shorter_way(begin: float, end: float, period: float) -> float:
    """From one parameter of a closed contour to another: the shorter way around, with its sign."""
    return (end - begin + 0.5 * period) % period - 0.5 * period


@element
def _gap(begin: float, end: float, first: float, last: float, period: float) -> float:
    """How far apart two stretches of a closed contour are, in its parameter; 0 where they overlap."""
    middles = cyclic(0.5 * (begin + end), 0.5 * (first + last), period)
    return max(middles - 0.5 * (end - begin) - 0.5 * (last - first), 0.0)


@element
def _ordered(begin: float, end: float, period: float) -> tuple[float, float]:
    """A stretch of b from its lower end to its upper: the shorter way around."""
    step = shorter_way(begin, end, period)
    return (begin, begin + step) if step >= 0.0 else (begin + step, begin)


@element
def overlap(begin: float, end: float, first: float, last: float, period: float) -> bool:
    """Whether two stretches of b overlap."""
    begin, end = _ordered(begin, end, period)
    first, last = _ordered(first, last, period)
    return _gap(begin, end, first, last, period) <= 0.0


@element
def span(begin: float, end: float, first: float, last: float, period: float) -> tuple[float, float]:
    """The shortest stretch of b that holds two."""
    begin, end = _ordered(begin, end, period)
    first, last = _ordered(first, last, period)
    turns = math.floor((0.5 * (begin + end) - 0.5 * (first + last)) / period + 0.5) * period
    return (min(begin, first + turns), max(end, last + turns))


@element
def _reach(view: View, begin: float, end: float, pose: Four, most: float, far: float) -> float:
    """How far an arc reaches beyond a contact from `begin` to `end`: ARC, or as far as it takes to get away from it; `most` at most."""
    x, y = point_on(view, begin, pose)
    u, v = point_on(view, end, pose)
    reach = min(ARC, most)
    while reach < most:
        p, q = point_on(view, begin - reach, pose)
        r, s = point_on(view, end + reach, pose)
        if max(abs(p - x), abs(q - y)) > far and max(abs(r - u), abs(s - v)) > far:
            break
        reach = min(2.0 * reach, most)
    return reach


@kernel
def _nearest(raw: Floats, kept: int, row: int, n: float, m: float) -> tuple[float, int]:
    """How far, in the parameters of both, the nearest contact is that does not overlap contact `row`; how many were looked at.

    Rows ascend by their beginning on a, and FURTHEST says how far all up to a row reach: so the search goes both ways, around the
    joint of a as well, and ends where a alone is further."""
    begin, end = raw[row, BEGIN_A], raw[row, END_A]
    first, last = _ordered(raw[row, BEGIN_B], raw[row, END_B], m)
    nearest, looked = max(n, m), 0
    for direction in (1, -1):
        for step in range(1, kept):
            k = row + direction * step
            around = 0.0 if 0 <= k < kept else n
            k = k % kept
            if direction > 0 and raw[k, BEGIN_A] + around - end >= nearest:
                break
            if direction < 0 and begin - (raw[k, FURTHEST] - around) >= nearest:
                break
            looked += 1
            t0, t1 = _ordered(raw[k, BEGIN_B], raw[k, END_B], m)
            gap = max(_gap(begin, end, raw[k, BEGIN_A], raw[k, END_A], n), _gap(first, last, t0, t1, m))
            if gap > 0.0:
                nearest = min(nearest, gap)
    return (nearest, looked)


@kernel
def is_crossing(
    a: View, b: View, pose: Four, raw: Floats, kept: int, row: int, delta: float, brief: float
) -> tuple[bool, int]:
    """Whether a passes from one side of b to the other at contact `row` of the first `kept` of `raw`, in a's parameter and in b's;
    and how many other contacts were looked at."""
    n, m = float(a.leaf_count), float(b.leaf_count)
    begin, end = raw[row, BEGIN_A], raw[row, END_A]
    first, last = _ordered(raw[row, BEGIN_B], raw[row, END_B], m)
    nearest, looked = _nearest(raw, kept, row, n, m)
    s = _reach(a, begin, end, pose, 0.5 * min(nearest, n - (end - begin)), FAR * brief)
    t = _reach(b, first, last, STILL, 0.5 * min(nearest, m - (last - first)), FAR * brief)
    begin, end, first, last = begin - s, end + s, first - t, last + t
    px, py = point_on(a, begin, pose)
    qx, qy = point_on(a, end, pose)
    ex, ey = point_on(b, first, STILL)
    fx, fy = point_on(b, last, STILL)
    angle = _sweep(b, first, last, STILL, qx, qy, delta) - _sweep(b, first, last, STILL, px, py, delta)
    angle -= _sweep(a, begin, end, pose, fx, fy, delta) - _sweep(a, begin, end, pose, ex, ey, delta)
    return (abs(angle) > math.pi, looked)
