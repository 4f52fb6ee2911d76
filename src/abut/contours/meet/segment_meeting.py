"""Where two cubic segments meet: all places, crossings, touches and stretches in common, none lost to rounding and none invented.

Two curves *meet* where their gap (see `graphs`) is at most δ, the bound on rounding that the caller states. The places form closed
stretches in both parameters. A pair of pieces is settled where control points are apart by more than δ, where the gap is monotone
(one stretch at most), where it is convex or concave (two at most), or where it stays within 2δ altogether (all of it). Other pairs
are cut in two at the middle of their common axis. Pieces that are not graphs are halved.

A stretch is *certain* to be a crossing where the gap changes sign from beyond δ to beyond δ inside both segments. All others
(touches, meetings at a joint, stretches in common) are classified later, by what lies before and after. A stretch that must be shorter
than `brief` is given as one point.

Work: an ordinary pair is settled at once, a tangency in one or two cuts. What stays unsettled shrinks to within 2δ: with contact of
order k the last pieces are δ^(1/k) long. At a cusp pieces are halved until they are within δ, then they count as points.
"""

import math

from abut.contours.curve.cubic import Segment, project, restrict, reverse, value_at
from abut.contours.meet.columns import BEGIN_A, BEGIN_B, CERTAIN, END_A, END_B
from abut.contours.meet.graphs import bend_range, common_axis, difference_bounds, gap_at, parameter_at, slope_range
from abut.contours.meet.stacks import push_pieces
from abut.contours.meet.stretches import NO_STRETCH, Found, bowl_stretches, nothing, rising_stretch
from abut.core.arrays import Floats
from abut.core.jit import element, integer, kernel
from abut.core.scratch import load, reserve_floats

Cut = tuple[float, float, float, float, float, float]
"""Parameters of a at the beginning, middle and end of the common stretch, then those of b."""

CUT_A, CUT_B, CUT_BOTH = -1, -2, -3
"""In place of a number of stretches: which piece is to be cut. Both are cut where they have the middle of the axis in common."""
NO_CUT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
PENDING, PENDING_NUMBERS = 256, 1024
"""Pairs of pieces that wait: each cut adds one, and each parameter is halved 48 times at most before a piece counts as a point."""
NARROWEST = 2.0**-48


@element
def apart_across(a: Segment, b: Segment, x: float, y: float, delta: float) -> bool:
    """Whether the control points are separated by more than δ·|(x, y)| along the direction (x, y)."""
    p, q = project(a, a[0], a[1], x, y), project(b, a[0], a[1], x, y)
    slack = delta * math.sqrt(x * x + y * y)
    return min(p[0], p[1], p[2], p[3]) > max(q[0], q[1], q[2], q[3]) + slack or (
        min(q[0], q[1], q[2], q[3]) > max(p[0], p[1], p[2], p[3]) + slack
    )


@element
def are_apart(a: Segment, b: Segment, delta: float) -> bool:
    """Whether a line across or along one of the chords separates the control points by more than δ."""
    ax, ay, bx, by = a[6] - a[0], a[7] - a[1], b[6] - b[0], b[7] - b[1]
    return (
        apart_across(a, b, -ay, ax, delta)
        or apart_across(a, b, -by, bx, delta)
        or apart_across(a, b, ax, ay, delta)
        or apart_across(a, b, bx, by, delta)
    )


@element
def size_of(c: Segment) -> float:
    """The largest coordinate difference of control points from the first."""
    x = max(abs(c[2] - c[0]), abs(c[4] - c[0]), abs(c[6] - c[0]))
    y = max(abs(c[3] - c[1]), abs(c[5] - c[1]), abs(c[7] - c[1]))
    return max(x, y)


@element
def _meet_point(b: Segment, x: float, y: float, delta: float) -> tuple[int, float]:
    """Whether a piece passes a point within 2δ (1 or 0, and its parameter), or CUT_B where it is no graph over its chord."""
    ex, ey = b[6] - b[0], b[7] - b[1]
    length = math.sqrt(ex * ex + ey * ey)
    if length <= 0.0:
        return (CUT_B, 0.0)
    ex, ey = ex / length, ey / length
    u, v = project(b, x, y, ex, ey), project(b, x, y, -ey, ex)
    fits, _, _ = slope_range(u, v)
    if not fits:
        return (CUT_B, 0.0)
    t = parameter_at(u, 0.0)
    du, dv = value_at(u, t), value_at(v, t)
    return (1 if du * du + dv * dv <= 4.0 * delta * delta else 0, t)


@element
def _compare(a: Segment, b: Segment, delta: float, brief: float) -> tuple[Found, Cut]:
    """Settle a pair of pieces that are larger than δ, or say what to cut. Parameters are those of the pieces."""
    ex, ey, direction, exists = common_axis(a, b)
    if exists == 0.0:
        none = a[6] == a[0] and a[7] == a[1]
        return ((CUT_A if none else CUT_B, NO_STRETCH, NO_STRETCH), NO_CUT)
    c = b if direction > 0.0 else reverse(b)
    graph_a = (project(a, a[0], a[1], ex, ey), project(a, a[0], a[1], -ey, ex))
    graph_b = (project(c, a[0], a[1], ex, ey), project(c, a[0], a[1], -ey, ex))
    fits_a, slope_a0, slope_a1 = slope_range(graph_a[0], graph_a[1])
    fits_b, slope_b0, slope_b1 = slope_range(graph_b[0], graph_b[1])
    if not (fits_a and fits_b):
        first = not fits_a and (fits_b or size_of(a) >= size_of(b))
        return ((CUT_A if first else CUT_B, NO_STRETCH, NO_STRETCH), NO_CUT)
    lo, hi = max(graph_a[0][0], graph_b[0][0]), min(graph_a[0][3], graph_b[0][3])
    if lo > hi + delta:
        return (nothing(), NO_CUT)
    g0, s0, t0 = gap_at(graph_a, graph_b, lo)
    if lo >= hi:  # one ends where the other begins
        near = (lo - hi) * (lo - hi) + g0 * g0 <= delta * delta
        t0 = t0 if direction > 0.0 else 1.0 - t0
        return ((1 if near else 0, (s0, s0, t0, t0, 0.0), NO_STRETCH), NO_CUT)
    g1, s1, t1 = gap_at(graph_a, graph_b, hi)
    slope_lo, slope_hi = slope_a0 - slope_b1, slope_a1 - slope_b0
    at = (s0, s1, t0, t1)
    width = hi - lo
    lowest = max(g0 + min(slope_lo, 0.0) * width, g1 - max(slope_hi, 0.0) * width)
    highest = min(g0 + max(slope_hi, 0.0) * width, g1 - min(slope_lo, 0.0) * width)
    if lowest > delta or highest < -delta:
        return (nothing(), NO_CUT)
    bend_lo, bend_hi = 0.0, 0.0
    if slope_lo < 0.0 < slope_hi:
        bend_a, bend_b = bend_range(graph_a[0], graph_a[1]), bend_range(graph_b[0], graph_b[1])
        bend_lo, bend_hi = bend_a[0] - bend_b[1], bend_a[1] - bend_b[0]
        if bend_lo <= 0.0 <= bend_hi:
            bounds = difference_bounds(graph_a, graph_b, s0, s1, t0, t1)
            if bounds[0] > delta or bounds[1] < -delta:
                return (nothing(), NO_CUT)
            if bounds[0] >= -2.0 * delta and bounds[1] <= 2.0 * delta:
                return (_facing((1, (s0, s1, t0, t1, 0.0), NO_STRETCH), direction), NO_CUT)
            slope_lo, slope_hi = bounds[2], bounds[3]
    if slope_lo >= 0.0:
        found = rising_stretch(graph_a, graph_b, at, (g0, g1), 1.0, lo, hi, slope_lo, delta, brief)
    elif slope_hi <= 0.0:
        found = rising_stretch(graph_a, graph_b, at, (-g0, -g1), -1.0, lo, hi, -slope_hi, delta, brief)
    elif bend_lo > 0.0:
        found = bowl_stretches(graph_a, graph_b, at, (g0, g1), 1.0, lo, hi, bend_lo, delta, brief)
    elif bend_hi < 0.0:
        found = bowl_stretches(graph_a, graph_b, at, (-g0, -g1), -1.0, lo, hi, -bend_hi, delta, brief)
    else:
        _, sm, tm = gap_at(graph_a, graph_b, 0.5 * (lo + hi))
        cut = (s0, sm, s1, t0, tm, t1) if direction > 0.0 else (s0, sm, s1, 1.0 - t0, 1.0 - tm, 1.0 - t1)
        return ((CUT_BOTH, NO_STRETCH, NO_STRETCH), cut)
    return (_facing(found, direction), NO_CUT)


@element
def _facing(found: Found, direction: float) -> Found:
    """Stretches in the parameter of b itself, where it was turned around."""
    if direction > 0.0:
        return found
    count, (s0, s1, t0, t1, k), (p0, p1, q0, q1, m) = found
    return (count, (s0, s1, 1.0 - t0, 1.0 - t1, k), (p0, p1, 1.0 - q0, 1.0 - q1, m))


@element
def _settle(a: Segment, b: Segment, delta: float, brief: float, narrow: bool) -> tuple[Found, Cut]:
    """`_compare` for pieces of any size: those within δ are points, those whose parameters cannot be halved further meet throughout."""
    if are_apart(a, b, delta):
        return (nothing(), NO_CUT)
    small_a, small_b = size_of(a) <= delta, size_of(b) <= delta
    if narrow or (small_a and small_b):
        return ((1, (0.0, 1.0, 0.0, 1.0, 0.0), NO_STRETCH), NO_CUT)
    if small_a:
        met, t = _meet_point(b, a[0], a[1], delta)
        return ((met, (0.0, 1.0, t, t, 0.0), NO_STRETCH), NO_CUT)
    if small_b:
        met, s = _meet_point(a, b[0], b[1], delta)
        return ((CUT_A if met == CUT_B else met, (s, s, 0.0, 1.0, 0.0), NO_STRETCH), NO_CUT)
    return _compare(a, b, delta, brief)


@element
def between(lo: float, hi: float, share: float) -> float:
    """A share of the way from one parameter to another."""
    return lo + share * (hi - lo)


@kernel
def meet(
    a: Segment, b: Segment, i: int, j: int, delta: float, brief: float, raw: Floats, count: int, limit: int
) -> int:
    """Append the stretches where segment i of a and segment j of b meet to `raw`, as far as it reaches; their number with those before.

    A row: i + s at the beginning and end, j + t there, 1 where it is a certain crossing inside both segments. Ends at `limit`."""
    pending = reserve_floats(PENDING_NUMBERS)
    waiting = push_pieces(pending, integer(0), 0.0, 1.0, 0.0, 1.0)
    while waiting > 0 and count < limit:
        waiting -= 1
        s0, s1 = load(pending, 4 * waiting), load(pending, 4 * waiting + 1)
        t0, t1 = load(pending, 4 * waiting + 2), load(pending, 4 * waiting + 3)
        p = a if s1 - s0 == 1.0 else restrict(a, s0, s1)
        q = b if t1 - t0 == 1.0 else restrict(b, t0, t1)
        narrow = (s1 - s0 <= NARROWEST and t1 - t0 <= NARROWEST) or waiting + 2 > PENDING
        (verdict, one, two), cut = _settle(p, q, delta, brief, narrow)
        for k in range(max(verdict, 0)):
            found = one if k == 0 else two
            if count < len(raw):
                raw[count, BEGIN_A], raw[count, END_A] = i + between(s0, s1, found[0]), i + between(s0, s1, found[1])
                raw[count, BEGIN_B], raw[count, END_B] = j + between(t0, t1, found[2]), j + between(t0, t1, found[3])
                raw[count, CERTAIN] = found[4]
            count += 1
        middle_s, middle_t = 0.5 * (s0 + s1), 0.5 * (t0 + t1)
        if verdict == CUT_BOTH:
            first_s, middle_s, last_s = between(s0, s1, cut[0]), between(s0, s1, cut[1]), between(s0, s1, cut[2])
            first_t, middle_t, last_t = between(t0, t1, cut[3]), between(t0, t1, cut[4]), between(t0, t1, cut[5])
            waiting = push_pieces(pending, waiting, first_s, middle_s, min(first_t, middle_t), max(first_t, middle_t))
            waiting = push_pieces(pending, waiting, middle_s, last_s, min(middle_t, last_t), max(middle_t, last_t))
        elif verdict == CUT_A and s1 - s0 > NARROWEST:
            waiting = push_pieces(pending, waiting, s0, middle_s, t0, t1)
            waiting = push_pieces(pending, waiting, middle_s, s1, t0, t1)
        elif verdict < 0:
            waiting = push_pieces(pending, waiting, s0, s1, t0, middle_t)
            waiting = push_pieces(pending, waiting, s0, s1, middle_t, t1)
    return count
