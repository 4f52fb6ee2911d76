"""Two cubic pieces as graphs over one axis: then their meetings are the roots of one function of one variable, the gap.

The axis lies between the two chords. A piece whose control polygon runs forward along it, nowhere steeper than STEEPEST, is the graph of a
function v(u); its slope lies between the slopes of the polygon's legs, and its second derivative is bounded by the Bernstein
coefficients of c′ × c″ (degree two) over the cube of u′. So the gap g(u) = v_a(u) − v_b(u) has bounded derivatives: where g is
monotone it has one root at most, where it is convex two, and signs at the ends tell how many. No root is found or denied by Newton alone.

Where both pieces are nearly one curve those bounds say little. Then both are restricted to what they share of the axis, and the
difference D of their control points is bounded: g = D_v − v_b′·D_u, with D as small as the distance of the two.
"""

import math

from abut.contours.curve.cubic import Four, Segment, rate_at, value_at
from abut.core.jit import element
from abut.geometry.bernstein import restrict
from abut.geometry.vec import Vec2

STEEPEST = 3.0
"""Chords within a right angle of one another are within 45° of the axis, slope 1: this leaves 26° for turning."""
FINAL_STEP = 1e-9
"""After a Newton step this small the error is its square, below rounding."""
INVERSION_STEPS = 80
"""Halving alone takes 53 to the resolution of [0, 1]."""
UNBOUNDED = 1e300

Graph = tuple[Four, Four]
"""Control values along the axis, and across it."""


@element
def slope_range(u: Four, v: Four) -> tuple[bool, float, float]:
    """Whether a piece is a graph, not too steep; then bounds on its slope. Legs of no length are left out, but not all may be."""
    lo, hi = UNBOUNDED, -UNBOUNDED
    for k in range(3):
        du, dv = u[k + 1] - u[k], v[k + 1] - v[k]
        if du > 0.0 and abs(dv) <= STEEPEST * du:
            lo, hi = min(lo, dv / du), max(hi, dv / du)
        elif du != 0.0 or dv != 0.0:
            return (False, 0.0, 0.0)
    return (hi >= lo, lo, hi)


@element
def bend_range(u: Four, v: Four) -> Vec2:
    """Bounds on the second derivative of a graph."""
    a, b, c = u[1] - u[0], u[2] - u[1], u[3] - u[2]
    x, y, z = v[1] - v[0], v[2] - v[1], v[3] - v[2]
    least, most = min(a, b, c), max(a, b, c)
    if least <= 0.0:
        return (-UNBOUNDED, UNBOUNDED)
    # c′ = 3·Bernstein(legs) and c′ × c″ = 18·Bernstein(l0 × l1, l0 × l2 / 2, l1 × l2).
    c0, c1, c2 = a * y - x * b, 0.5 * (a * z - x * c), b * z - y * c
    lo, hi = min(c0, c1, c2) * (2.0 / 3.0), max(c0, c1, c2) * (2.0 / 3.0)
    near, far = least * least * least, most * most * most
    if near <= 0.0:
        return (-UNBOUNDED, UNBOUNDED)
    return (lo / near if lo < 0.0 else lo / far, hi / near if hi > 0.0 else hi / far)


@element
def parameter_at(u: Four, x: float) -> float:
    """Where a graph's axis coordinate is x, clamped to [0, 1]: Newton, kept between bounds by halving."""
    if x <= u[0]:
        return 0.0
    if x >= u[3]:
        return 1.0
    lo, hi = 0.0, 1.0
    t = (x - u[0]) / (u[3] - u[0])
    for _ in range(INVERSION_STEPS):
        off = value_at(u, t) - x
        if off > 0.0:
            hi = t
        else:
            lo = t
        rate = rate_at(u, t)
        step = off / rate if rate > 0.0 else 2.0
        after = t - step
        if abs(step) <= FINAL_STEP:
            return min(max(after, 0.0), 1.0)
        if not lo < after < hi:
            after = 0.5 * (lo + hi)
            if hi - lo <= 2.0**-52:
                return after
        t = after
    return t


@element
def slope_at(u: Four, v: Four, t: float) -> float:
    """The slope of a graph; at a cusp's end, where u′ vanishes, that of the next leg."""
    du, dv = rate_at(u, t), rate_at(v, t)
    if du > 0.0:
        return min(max(dv / du, -STEEPEST), STEEPEST)
    return (v[3] - v[0]) / (u[3] - u[0]) if u[3] > u[0] else 0.0


@element
def gap_at(a: Graph, b: Graph, x: float) -> tuple[float, float, float]:
    """v_a − v_b at x, and the two parameters."""
    s, t = parameter_at(a[0], x), parameter_at(b[0], x)
    return (value_at(a[1], s) - value_at(b[1], t), s, t)


@element
def gap_slope(a: Graph, b: Graph, s: float, t: float) -> float:
    """The derivative of the gap where the parameters are s and t."""
    return slope_at(a[0], a[1], s) - slope_at(b[0], b[1], t)


@element
def difference_bounds(a: Graph, b: Graph, s0: float, s1: float, t0: float, t1: float) -> Four:
    """Bounds on the gap and on its slope from the difference of the two graphs, restricted to [s0, s1] and [t0, t1], the same stretch of the axis."""
    ua, va = restrict(a[0], s0, s1), restrict(a[1], s0, s1)
    ub, vb = restrict(b[0], t0, t1), restrict(b[1], t0, t1)
    fits, slope_lo, slope_hi = slope_range(ub, vb)
    if not fits:
        return (-UNBOUNDED, UNBOUNDED, -UNBOUNDED, UNBOUNDED)
    mean, spread = 0.5 * (slope_lo + slope_hi), 0.5 * (slope_hi - slope_lo)
    gap_lo, gap_hi, shift = UNBOUNDED, -UNBOUNDED, 0.0
    rate_lo, rate_hi, shear = UNBOUNDED, -UNBOUNDED, 0.0
    for k in range(4):
        x, y = ua[k] - ub[k], va[k] - vb[k]
        gap_lo, gap_hi, shift = min(gap_lo, y - mean * x), max(gap_hi, y - mean * x), max(shift, abs(x))
        if k > 0:
            dx, dy = x - (ua[k - 1] - ub[k - 1]), y - (va[k - 1] - vb[k - 1])
            rate_lo, rate_hi = min(rate_lo, dy - mean * dx), max(rate_hi, dy - mean * dx)
            shear = max(shear, abs(dx))
    gap_lo, gap_hi = gap_lo - spread * shift, gap_hi + spread * shift
    least, most = min(ua[1] - ua[0], ua[2] - ua[1], ua[3] - ua[2]), max(ua[1] - ua[0], ua[2] - ua[1], ua[3] - ua[2])
    bend_lo, bend_hi = bend_range(ub, vb)
    bend = max(-bend_lo, bend_hi)
    if least <= 0.0 or bend >= UNBOUNDED:
        return (gap_lo, gap_hi, -UNBOUNDED, UNBOUNDED)
    # g′ = (D_v′ − v_b′·D_u′) / u_a′ at equal parameters, and v_b′ changes by bend·|D_u| from there to equal u.
    rate_lo, rate_hi = rate_lo - spread * shear, rate_hi + spread * shear
    slack = bend * shift
    low = (rate_lo / least if rate_lo < 0.0 else rate_lo / most) - slack
    high = (rate_hi / least if rate_hi > 0.0 else rate_hi / most) + slack
    return (gap_lo, gap_hi, low, high)


@element
def common_axis(a: Segment, b: Segment) -> Four:
    """Unit axis between the two chords, whether b runs along it (1) or against it (−1), and 1, or 0 where a chord has no length."""
    ax, ay, bx, by = a[6] - a[0], a[7] - a[1], b[6] - b[0], b[7] - b[1]
    la, lb = math.sqrt(ax * ax + ay * ay), math.sqrt(bx * bx + by * by)
    if la <= 0.0 or lb <= 0.0:
        return (1.0, 0.0, 1.0, 0.0)
    ax, ay, bx, by = ax / la, ay / la, bx / lb, by / lb
    direction = 1.0 if ax * bx + ay * by >= 0.0 else -1.0
    x, y = ax + direction * bx, ay + direction * by
    length = math.sqrt(x * x + y * y)  # √2 at least
    return (x / length, y / length, direction, 1.0)
