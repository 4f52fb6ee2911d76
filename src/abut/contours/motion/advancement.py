"""When two moving segments come as near as a distance: conservative advancement of pieces, each with a clock of its own.

A pair of pieces that is proven to be further apart than the distance until τ is looked at as it is at τ. The nearest points (a descent) give a
direction n; the extremes of both pieces along n give a gap that is certain, whatever the descent found; gap and velocities of the hulls along n give
a time during which the pieces do not pass one another along n (`plane_motion.safe_time`), and τ moves on by it: Newton's method from the safe side,
since both the gap and its rate are exact where pieces are nearly convex. Where the extremes along n tell less than half of the distance, or where
the hull turns much faster than the nearest points do, the larger piece is cut, and its halves inherit τ. So τ is never late, and it ends where
points of both curves are within `aim` beyond the distance, or where the pair is safe until `best`.
"""

import math
from typing import Any

from abut.contours.curve.cubic import (
    Segment,
    derivative_at,
    extremes,
    point_at,
    project,
    restrict,
    second_at,
    tangent_at,
    transform,
)
from abut.contours.meet.distance_search import best_corner, go_down
from abut.contours.meet.segment_meeting import size_of
from abut.contours.motion.plane_motion import Moment, Motion, moment_of, pose_between, safe_time
from abut.core.jit import element, inlined, integer
from abut.core.scratch import load, reserve_floats, store

PIECES, PIECE_NUMBERS = 200, 1000
"""Pieces that wait, five numbers each: a cut adds one, each parameter is halved 48 times at most."""
NARROWEST = 2.0**-48
SLIDES = 12
"""Steps towards the nearest point, and of false position."""
LOOSE, SHORT = 4.0, 0.25
"""A hull is cut whose bound makes a step so many times shorter than the nearest points would, if that is less than such a part of the time left."""
STEPS = 400
"""Steps of one pair of pieces before one is cut all the same. A step leaves at most three quarters of the gap where hulls are not loose."""
MOST_STEPS = 200_000
"""Steps of a pair of segments after which it is given up as not settled."""


@inlined
def _turned(c: Segment, pivot_x: float, pivot_y: float, nx: float, ny: float, rate: float) -> tuple[float, float]:
    """The least and the most that turning adds to the speed along n of a point of a segment."""
    p = project(c, pivot_x, pivot_y, rate * ny, -rate * nx)
    return (min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3]))


@element
def certain_gap(p: Segment, q: Segment, nx: float, ny: float) -> float:
    """How far q is beyond p along a unit vector, curves and not hulls; negative where they overlap."""
    _, end = extremes(project(p, p[0], p[1], nx, ny))
    begin, _ = extremes(project(q, p[0], p[1], nx, ny))
    return begin - end


@element
def _facing(p: Segment, q: Segment, s: float, t: float) -> tuple[float, float]:
    """The parameter of q nearest to the point s of p, from t on, and how fast that point comes nearer with s; by q's tangent, not by the line
    between the points, which rounding turns where they are very near to one another."""
    x, y = point_at(p, s)
    for _ in range(SLIDES):
        u, v = point_at(q, t)
        bx, by = derivative_at(q, t)
        b2x, b2y = second_at(q, t)
        square = bx * bx + by * by
        bend = square + (u - x) * b2x + (v - y) * b2y
        new = min(max(t - ((u - x) * bx + (v - y) * by) / max(bend, 0.5 * square, 1e-300), 0.0), 1.0)
        moved, t = abs(new - t), new
        if moved <= 1e-15:
            break
    ax, ay = derivative_at(p, s)
    u, v = point_at(q, t)
    if not 0.0 < t < 1.0:
        return (t, (u - x) * ax + (v - y) * ay)
    bx, by = derivative_at(q, t)
    side = (v - y) * bx - (u - x) * by
    rate = ay * bx - ax * by
    return (t, rate if side >= 0.0 else -rate)


@element
def slide(p: Segment, q: Segment, s: float, t: float) -> tuple[float, float]:
    """Better parameters of the nearest points: where the distance to q, seen from a point that runs along p, stops falling (false position).

    Where curves nearly touch, a descent in both parameters stalls, as only the distance times the curvature holds it."""
    t, slope = _facing(p, q, s, t)
    far = 1.0 if slope > 0.0 else 0.0
    far_t, far_slope = _facing(p, q, far, t)
    if slope * far_slope >= 0.0:
        return (far, far_t) if far_slope != 0.0 else (s, t)
    side, middle = 0, s
    for _ in range(SLIDES):
        middle = min(max((s * far_slope - far * slope) / (far_slope - slope), min(s, far)), max(s, far))
        t, now = _facing(p, q, middle, t)
        if now == 0.0 or abs(far - s) <= 1e-15:
            return (middle, t)
        if now * far_slope > 0.0:
            far, far_slope = middle, now
            slope, side = (0.5 * slope if side == 1 else slope), 1
        else:
            s, slope = middle, now
            far_slope, side = (0.5 * far_slope if side == -1 else far_slope), -1
    return (middle, t)


@element
def separate(p: Segment, q: Segment, s: float, t: float, distance: float) -> tuple[float, float, float, float]:
    """How far two points, s of p and t of q, are apart; a direction that separates the segments, and by how much. It is that between the points, if
    it tells half of what they are further apart than the distance, else the best of that and those across the tangents: of points very near to one
    another rounding turns the first."""
    x, y = point_at(p, s)
    u, v = point_at(q, t)
    apart = math.sqrt((u - x) * (u - x) + (v - y) * (v - y))
    if apart <= 0.0:
        return (0.0, 1.0, 0.0, 0.0)
    nx, ny = (u - x) / apart, (v - y) / apart
    gap = certain_gap(p, q, nx, ny)
    if gap >= 0.5 * (apart + distance):
        return (apart, nx, ny, gap)
    bx, by = nx, ny
    for k in range(2):
        x, y = tangent_at(p, s) if k == 0 else tangent_at(q, t)
        if x * ny - y * nx < 0.0:
            x, y = -x, -y
        across = certain_gap(p, q, -y, x)
        if across > gap:
            bx, by, gap = -y, x, across
    return (apart, bx, by, gap)


@element
def time_along(now: Moment, p: Segment, q: Segment, nx: float, ny: float, gap: float) -> float:
    """How long segments p of a and q of b, as they are now, stay apart that a gap separates along n."""
    _, turned_a = _turned(p, now.pivot_a[0], now.pivot_a[1], nx, ny, now.rate_a)
    turned_b, _ = _turned(q, now.pivot_b[0], now.pivot_b[1], nx, ny, now.rate_b)
    return safe_time(now, nx, ny, turned_a, turned_b, gap)


@inlined
def _push(pieces: Any, top: int, s0: float, s1: float, t0: float, t1: float, tau: float) -> int:
    k = 5 * top
    store(pieces, k, s0)
    store(pieces, k + 1, s1)
    store(pieces, k + 2, t0)
    store(pieces, k + 3, t1)
    store(pieces, k + 4, tau)
    return top + 1


@element
def advance(
    a: Motion, b: Motion, one: Segment, two: Segment, tau: float, best: float, distance: float, aim: float, pad: float
) -> tuple[float, bool, int]:
    """The time at which segment one of a and two of b are within distance + aim, or `best` where that is not before `best`; whether that is
    settled; and the steps taken. They are known to be further apart than the distance until tau; `pad`: what rounding may change a gap by.

    Not settled: no room, or no end. The time is then one until which they are apart, still."""
    pieces = reserve_floats(PIECE_NUMBERS)
    top, steps, settled = _push(pieces, integer(0), 0.0, 1.0, 0.0, 1.0, tau), 0, True
    while top > 0:
        top -= 1
        s0, s1 = load(pieces, 5 * top), load(pieces, 5 * top + 1)
        t0, t1, tau = load(pieces, 5 * top + 2), load(pieces, 5 * top + 3), load(pieces, 5 * top + 4)
        if tau >= best:
            continue
        if steps > MOST_STEPS:
            best, settled = min(best, tau), False  # those that wait are looked at as well: the earliest counts
            continue
        piece_a, q = restrict(one, s0, s1), restrict(two, t0, t1)
        s, t = best_corner(transform(piece_a, pose_between(a, b, tau)), q)
        cut = False
        for _ in range(STEPS):
            steps += 1
            now = moment_of(a, b, tau)
            p = transform(piece_a, now.pose)
            _, s, t = go_down(p, q, s, t)
            apart, nx, ny, gap = separate(p, q, s, t, distance)
            if apart > distance + aim and gap - distance < 0.5 * (apart - distance):
                s, t = slide(p, q, s, t)
                apart, nx, ny, gap = separate(p, q, s, t, distance)
            if apart <= distance + aim:
                best = tau
                break
            if gap - distance < 0.5 * (apart - distance):
                cut = True
                break
            step = time_along(now, p, q, nx, ny, gap - distance - pad)
            tau += step
            if tau >= best:
                break
            if step < SHORT * (best - tau):
                x, y = point_at(p, s)
                u, v = point_at(q, t)
                turned_a = now.rate_a * ((x - now.pivot_a[0]) * ny - (y - now.pivot_a[1]) * nx)
                turned_b = now.rate_b * ((u - now.pivot_b[0]) * ny - (v - now.pivot_b[1]) * nx)
                if safe_time(now, nx, ny, turned_a, turned_b, gap - distance - pad) > LOOSE * step:
                    cut = True
                    break
        else:
            cut = True
        if not cut:
            continue
        size_a, size_b = size_of(piece_a), size_of(q)
        halves_a = s1 - s0 > NARROWEST and (size_a >= size_b or t1 - t0 <= NARROWEST)
        if top + 2 > PIECES or not (halves_a or t1 - t0 > NARROWEST):
            best, settled = tau, False
            continue
        # The half in which the nearest point lies is looked at first: it tells most about the others.
        if halves_a:
            middle = 0.5 * (s0 + s1)
            if s < 0.5:
                top = _push(pieces, top, middle, s1, t0, t1, tau)
                top = _push(pieces, top, s0, middle, t0, t1, tau)
            else:
                top = _push(pieces, top, s0, middle, t0, t1, tau)
                top = _push(pieces, top, middle, s1, t0, t1, tau)
        else:
            middle = 0.5 * (t0 + t1)
            if t < 0.5:
                top = _push(pieces, top, s0, s1, middle, t1, tau)
                top = _push(pieces, top, s0, s1, t0, middle, tau)
            else:
                top = _push(pieces, top, s0, s1, t0, middle, tau)
                top = _push(pieces, top, s0, s1, middle, t1, tau)
    return (best, settled, steps)
