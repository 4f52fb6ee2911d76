"""The least distance of two contours: branch and bound on the trees of boxes, then on pieces of segments, with witnesses on both curves.

Pairs of boxes are taken nearest first and left out when their gap is no less than the best distance so far, less TOLERANCE. A pair of
segments first improves the best by a descent in both parameters (Newton, kept in [0, 1]², halved until the distance falls). Then pieces
are left out when a line across the best direction or across a chord separates their control points by as much; others are cut. A
descent may end in a minimum that is not the least: cutting goes on until the bound proves it.

Guarantee: no points of the two curves are nearer than distance − (δ + TOLERANCE·distance), δ being `views.MEETING` of the magnitude.
"""

import math

from abut.contours.curve.cubic import (
    Four,
    Segment,
    derivative_at,
    extremes,
    point_at,
    project,
    restrict,
    second_at,
    transform,
)
from abut.contours.meet.segment_meeting import size_of
from abut.contours.meet.stacks import PAIR_NUMBERS, push_pair, push_pieces
from abut.contours.meet.tree_search import box_gap
from abut.contours.meet.views import MEETING, View, magnitude, segment_of
from abut.core.jit import element, integer, kernel
from abut.core.scratch import load, reserve_floats, reserve_integers, store

TOLERANCE = 1e-12
DESCENT_STEPS = 40
HALVINGS = 30
WAITING, PIECES, PIECE_NUMBERS = 256, 160, 640
"""Pairs of boxes as in `stacks`; pieces: each cut adds one, each parameter is halved 48 times at most."""
NARROWEST = 2.0**-48

Best = tuple[float, float, float]
"""Distance, and the parameters of both."""


@element
def _distance_sq(a: Segment, b: Segment, s: float, t: float) -> float:
    x, y = point_at(a, s)
    u, v = point_at(b, t)
    return (x - u) * (x - u) + (y - v) * (y - v)


@element
def _step(a: Segment, b: Segment, s: float, t: float) -> tuple[float, float]:
    """A step that goes down: Newton where the Hessian is positive, Gauss–Newton elsewhere; parameters that would leave [0, 1] stay."""
    x, y = point_at(a, s)
    u, v = point_at(b, t)
    x, y = x - u, y - v
    ax, ay = derivative_at(a, s)
    bx, by = derivative_at(b, t)
    p, q = x * ax + y * ay, -(x * bx + y * by)  # half the gradient
    aa, bb, ab = ax * ax + ay * ay, bx * bx + by * by, -(ax * bx + ay * by)
    a2x, a2y = second_at(a, s)
    b2x, b2y = second_at(b, t)
    h, k = aa + x * a2x + y * a2y, bb - x * b2x - y * b2y
    fixed_s, fixed_t = (
        (s <= 0.0 and p > 0.0) or (s >= 1.0 and p < 0.0),
        (t <= 0.0 and q > 0.0) or (t >= 1.0 and q < 0.0),
    )
    if fixed_s or fixed_t:
        ds = 0.0 if fixed_s else -p / max(h, 0.1 * aa, 1e-300)
        dt = 0.0 if fixed_t else -q / max(k, 0.1 * bb, 1e-300)
        return (ds, dt)
    det = h * k - ab * ab
    if h <= 0.0 or k <= 0.0 or det <= 1e-3 * aa * bb:
        h, k = 1.1 * aa + 1e-300, 1.1 * bb + 1e-300
        det = h * k - ab * ab
        if det <= 0.0:
            return (0.0, 0.0)
    return (-(p * k - ab * q) / det, -(h * q - ab * p) / det)


@element
def go_down(a: Segment, b: Segment, s: float, t: float) -> Best:
    """The end of a descent from (s, t): distance squared, and the parameters."""
    here = _distance_sq(a, b, s, t)
    for _ in range(DESCENT_STEPS):
        ds, dt = _step(a, b, s, t)
        moved = False
        for _ in range(HALVINGS):
            p, q = min(max(s + ds, 0.0), 1.0), min(max(t + dt, 0.0), 1.0)
            there = _distance_sq(a, b, p, q)
            if there < here:
                s, t, here, moved = p, q, there, True
                break
            if abs(ds) + abs(dt) < 1e-9:
                break
            ds, dt = 0.25 * ds, 0.25 * dt
        if not moved:
            break
    return (here, s, t)


@element
def _separation(a: Segment, b: Segment, x: float, y: float) -> float:
    """How far control points are apart along a direction, negative where they overlap."""
    length = math.sqrt(x * x + y * y)
    if length <= 0.0:
        return 0.0
    p, q = project(a, a[0], a[1], x / length, y / length), project(b, a[0], a[1], x / length, y / length)
    return max(
        min(p[0], p[1], p[2], p[3]) - max(q[0], q[1], q[2], q[3]),
        min(q[0], q[1], q[2], q[3]) - max(p[0], p[1], p[2], p[3]),
    )


@element
def _curve_separation(a: Segment, b: Segment, x: float, y: float) -> float:
    """The same for the curves themselves: where the nearest points are inside both, this bound is their distance."""
    length = math.sqrt(x * x + y * y)
    if length <= 0.0:
        return 0.0
    p = extremes(project(a, a[0], a[1], x / length, y / length))
    q = extremes(project(b, a[0], a[1], x / length, y / length))
    return max(p[0] - q[1], q[0] - p[1])


@element
def least_between(a: Segment, b: Segment, best: Best, x: float, y: float, delta: float) -> Best:
    """The least distance of two segments, or `best` where it is no less by more than the tolerance; (x, y): the direction of the best before."""
    pieces = reserve_floats(PIECE_NUMBERS)
    top = push_pieces(pieces, integer(0), 0.0, 1.0, 0.0, 1.0)
    while top > 0:
        top -= 1
        s0, s1 = load(pieces, 4 * top), load(pieces, 4 * top + 1)
        t0, t1 = load(pieces, 4 * top + 2), load(pieces, 4 * top + 3)
        p, q = restrict(a, s0, s1), restrict(b, t0, t1)
        enough = best[0] * (1.0 - TOLERANCE) - delta
        if _curve_separation(p, q, x, y) >= enough:
            continue
        if (
            _separation(p, q, p[1] - p[7], p[6] - p[0]) >= enough
            or _separation(p, q, q[1] - q[7], q[6] - q[0]) >= enough
        ):
            continue
        if _separation(p, q, p[0] + p[6] - q[0] - q[6], p[1] + p[7] - q[1] - q[7]) >= enough:
            continue
        start = best_corner(p, q)
        square, s, t = go_down(p, q, start[0], start[1])
        if square < best[0] * best[0]:
            best = (math.sqrt(square), s0 + s * (s1 - s0), t0 + t * (t1 - t0))
            u, v = point_at(a, best[1])
            w, z = point_at(b, best[2])
            x, y = u - w, v - z
            enough = best[0] * (1.0 - TOLERANCE) - delta
            if _curve_separation(p, q, x, y) >= enough:
                continue
        size_a, size_b = size_of(p), size_of(q)
        if size_a + size_b <= delta or top + 2 > PIECES:
            continue  # nearer by less than their sizes
        if size_a >= size_b and s1 - s0 > NARROWEST:
            middle = 0.5 * (s0 + s1)
            top = push_pieces(pieces, top, s0, middle, t0, t1)
            top = push_pieces(pieces, top, middle, s1, t0, t1)
        elif t1 - t0 > NARROWEST:
            middle = 0.5 * (t0 + t1)
            top = push_pieces(pieces, top, s0, s1, t0, middle)
            top = push_pieces(pieces, top, s0, s1, middle, t1)
    return best


@element
def best_corner(a: Segment, b: Segment) -> tuple[float, float]:
    """Parameters of the nearest pair among beginnings, middles and ends."""
    least, s, t = 1e300, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            d = _distance_sq(a, b, 0.5 * i, 0.5 * j)
            if d < least:
                least, s, t = d, 0.5 * i, 0.5 * j
    return (s, t)


@kernel
def find_nearest(a: View, b: View, pose: Four) -> tuple[float, float, float, int, int]:
    """Least distance of a, moved by the pose, and b, which do not meet; parameters of both contours; boxes and segments compared."""
    delta = MEETING * magnitude(a, b, pose)
    nodes, gaps = reserve_integers(PAIR_NUMBERS), reserve_floats(WAITING)
    top = push_pair(nodes, integer(0), integer(1), integer(1))
    store(gaps, 0, 0.0)
    boxes, leaves = 0, 0
    distance, sigma, tau = 1e300, 0.0, 0.0
    x, y = 0.0, 0.0
    while top > 0:
        top -= 1
        if load(gaps, top) >= distance * (1.0 - TOLERANCE) - delta:
            continue
        i, j = load(nodes, 2 * top), load(nodes, 2 * top + 1)
        if i >= a.leaf_count and j >= b.leaf_count:
            leaves += 1
            p, q = transform(segment_of(a, i - a.leaf_count), pose), segment_of(b, j - b.leaf_count)
            found, s, t = least_between(p, q, (distance, -1.0, 0.0), x, y, delta)
            if s >= 0.0:
                distance, sigma, tau = found, i - a.leaf_count + s, j - b.leaf_count + t
                u, v = point_at(p, s)
                w, z = point_at(q, t)
                x, y = u - w, v - z
            continue
        a0, a1 = (i, i) if i >= a.leaf_count else (2 * i, 2 * i + 1)
        b0, b1 = (j, j) if j >= b.leaf_count else (2 * j, 2 * j + 1)
        first = top
        for m in range(a0, a1 + 1):
            for n in range(b0, b1 + 1):
                boxes += 1
                gap = box_gap(a, m, b, n, pose)
                if gap >= distance * (1.0 - TOLERANCE) - delta:
                    continue
                place = top
                while place > first and load(gaps, place - 1) < gap:  # the nearest last
                    store(gaps, place, load(gaps, place - 1))
                    store(nodes, 2 * place, load(nodes, 2 * place - 2))
                    store(nodes, 2 * place + 1, load(nodes, 2 * place - 1))
                    place -= 1
                store(gaps, place, gap)
                push_pair(nodes, place, integer(m), integer(n))
                top += 1
    return (distance, sigma, tau, boxes, leaves)
