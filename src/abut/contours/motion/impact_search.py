"""The first time at which two moving contours are within a distance: descent of both trees of boxes, every pair with a clock of its own.

A pair of boxes inherits the time until which its parents are apart, and moves it on by what gaps and velocities along the four axes of the two allow
(`plane_motion.safe_time`): until the best time so far, and it is left out; or until its gap is small for its size, and its children go on, the pair
that is apart for less time first. Pairs of segments are settled by `advancement`. No pair that comes within the distance before the best time is
ever left out, so the time is not late.
"""

import math

from abut.contours.meet.queries import APART, relate
from abut.contours.meet.stacks import PAIR_NUMBERS, push_pair
from abut.contours.meet.views import MEETING, View, box_of, open_contour, segment_of
from abut.contours.motion.advancement import advance
from abut.contours.motion.plane_motion import Moment, Motion, extent, moment_of, motion_at, safe_time
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, integer, kernel, parallel, prange
from abut.core.scratch import load, reserve_floats, reserve_integers, store

CLEAR, IMPACT, AT_START, UNRESOLVED = range(4)
"""What `find_impact` says: apart until the limit; within the distance from the time on; within it at 0, or one holds the other; apart until the
time, and no answer for later."""
WAITING = 256
"""Clocks of the pairs of boxes that wait, as many as `stacks` has pairs."""
BOX_STEPS = 1000
NEAR = 0.25
"""Of the half sides of two boxes: where they move by less in a step, their children are further apart, and take it from there."""
AIM = 2.0**-4
"""Of the tolerance: contacts as early as the first one are then within the tolerance, if they do not close sixteen times as fast."""
LEAST_TOLERANCE = 2.0**-43
"""Of the extent, as of `plane_motion`: sixteen times what rounding may change a gap by."""
DEFAULT_TOLERANCE = 2.0**-40


@inlined
def _axis_time(
    now: Moment,
    x: float,
    y: float,
    ex: float,
    ey: float,
    radii: float,
    ax: float,
    ay: float,
    ra: float,
    bx: float,
    by: float,
    rb: float,
    beyond: float,
) -> float:
    """How long boxes at a distance (x, y) stay apart along an axis e, whose half sides along it are `radii` in sum. (ax, ay) and (bx, by): their
    centers, seen
    from their pivots, times how fast these turn; ra, rb: half sides across e, likewise."""
    along = x * ex + y * ey
    side = -1.0 if along > 0.0 else 1.0  # a lies behind b, along n
    nx, ny = side * ex, side * ey
    return safe_time(now, nx, ny, ax * ny - ay * nx + ra, bx * ny - by * nx - rb, abs(along) - radii - beyond)


@element
def box_time(now: Moment, a: View, i: int, b: View, j: int, beyond: float) -> float:
    """How long box i of a and box j of b, as they are now, are further apart than `beyond` for certain."""
    p, q = box_of(a, i), box_of(b, j)
    c, s, away_x, away_y = now.pose
    px, py = c * p.x - s * p.y + away_x, s * p.x + c * p.y + away_y
    x, y = px - q.x, py - q.y
    ux, uy = c * p.axis_x - s * p.axis_y, s * p.axis_x + c * p.axis_y
    vx, vy = q.axis_x, q.axis_y
    same, other = abs(ux * vx + uy * vy), abs(ux * vy - uy * vx)
    ax, ay = now.rate_a * (px - now.pivot_a[0]), now.rate_a * (py - now.pivot_a[1])
    bx, by = now.rate_b * (q.x - now.pivot_b[0]), now.rate_b * (q.y - now.pivot_b[1])
    ra, rb = abs(now.rate_a), abs(now.rate_b)
    # Half sides of a's box along b's first axis and across it, and of b's along a's and across it.
    a_along, a_across = p.along * same + p.across * other, p.along * other + p.across * same
    b_along, b_across = q.along * same + q.across * other, q.along * other + q.across * same
    one = _axis_time(now, x, y, vx, vy, a_along + q.along, ax, ay, ra * a_across, bx, by, rb * q.across, beyond)
    two = _axis_time(now, x, y, -vy, vx, a_across + q.across, ax, ay, ra * a_along, bx, by, rb * q.along, beyond)
    three = _axis_time(now, x, y, ux, uy, p.along + b_along, ax, ay, ra * p.across, bx, by, rb * b_across, beyond)
    four = _axis_time(now, x, y, -uy, ux, p.across + b_across, ax, ay, ra * p.along, bx, by, rb * b_along, beyond)
    return max(one, two, three, four)


@element
def _box_clock(
    a: Motion, b: Motion, view_a: View, i: int, view_b: View, j: int, tau: float, best: float, beyond: float
) -> float:
    """The time until which two boxes are apart for certain, from tau on."""
    p, q = box_of(view_a, i), box_of(view_b, j)
    size = p.along + p.across + q.along + q.across
    for _ in range(BOX_STEPS):
        now = moment_of(a, b, tau)
        step = box_time(now, view_a, i, view_b, j, beyond)
        tau += step
        if tau >= best or step * (abs(now.closing_x) + abs(now.closing_y) + now.fastest) <= NEAR * size:
            break
    return tau


@kernel
def find_impact(
    view_a: View, view_b: View, a: Motion, b: Motion, limit: float, distance: float, tolerance: float
) -> tuple[float, int, int, int]:
    """The first time up to `limit`, 1 at most, at which the contours are within distance + tolerance; what that means; boxes compared, and steps of
    segments.

    inf where it is CLEAR. tolerance: ≤ 0 for the default."""
    size = max(extent(a), extent(b))
    pad = MEETING * size
    aim = AIM * max(tolerance if tolerance > 0.0 else DEFAULT_TOLERANCE * size, LEAST_TOLERANCE * size)
    beyond, end = distance + pad, limit * (1.0 + 2.0**-50)
    now = moment_of(a, b, 0.0)
    nodes, clocks = reserve_integers(PAIR_NUMBERS), reserve_floats(WAITING)
    first = box_time(now, view_a, integer(1), view_b, integer(1), beyond)
    if first <= 0.0 and relate(view_a, view_b, now.pose) != APART:
        return (0.0, AT_START, 1, 0)
    top, boxes, steps, best, settled = push_pair(nodes, integer(0), integer(1), integer(1)), 1, 0, end, True
    store(clocks, 0, first)
    while top > 0:
        top -= 1
        tau = load(clocks, top)
        if tau >= best:
            continue
        i, j = load(nodes, 2 * top), load(nodes, 2 * top + 1)
        if i >= view_a.leaf_count and j >= view_b.leaf_count:
            one, two = segment_of(view_a, i - view_a.leaf_count), segment_of(view_b, j - view_b.leaf_count)
            found, sure, taken = advance(a, b, one, two, tau, best, distance, aim, pad)
            steps += taken
            if found < best:
                best, settled = found, sure
            continue
        a0, a1 = (i, i) if i >= view_a.leaf_count else (2 * i, 2 * i + 1)
        b0, b1 = (j, j) if j >= view_b.leaf_count else (2 * j, 2 * j + 1)
        bottom = top
        for m in range(a0, a1 + 1):
            for n in range(b0, b1 + 1):
                boxes += 1
                clock = _box_clock(a, b, view_a, integer(m), view_b, integer(n), tau, best, beyond)
                if clock >= best:
                    continue
                place = top
                while place > bottom and load(clocks, place - 1) < clock:  # the earliest last
                    store(clocks, place, load(clocks, place - 1))
                    store(nodes, 2 * place, load(nodes, 2 * place - 2))
                    store(nodes, 2 * place + 1, load(nodes, 2 * place - 1))
                    place -= 1
                store(clocks, place, clock)
                push_pair(nodes, place, integer(m), integer(n))
                top += 1
    if best >= end:
        return (math.inf, CLEAR, boxes, steps)
    if not settled:
        return (min(best, limit), UNRESOLVED, boxes, steps)
    return (min(best, limit), IMPACT if best > 0.0 else AT_START, boxes, steps)


TIME, STATUS, BOXES, STEPS = range(4)
"""Columns of answers."""
ANSWER_COLUMNS = 4


@parallel
def find_impacts(
    tables: Integers,
    motions: Floats,
    pairs: Integers,
    limit: float,
    distance: float,
    tolerance: float,
    answers: Floats,
) -> None:
    """`find_impact` of pairs (p,2) of rows of tables (m,) and motions (m,12)."""
    for k in prange(len(pairs)):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        a, b = open_contour(int(tables[i])), open_contour(int(tables[j]))
        time, status, boxes, steps = find_impact(
            a, b, motion_at(motions, i), motion_at(motions, j), limit, distance, tolerance
        )
        answers[k, TIME], answers[k, STATUS], answers[k, BOXES], answers[k, STEPS] = (
            time,
            float(status),
            float(boxes),
            float(steps),
        )
