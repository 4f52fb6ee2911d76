"""Stretches where the gap of two graphs is within δ, for gaps that are monotone or convex: at most one, at most two.

A stretch is given by the parameters of both graphs at its ends. It is a *certain* crossing where the gap changes sign from beyond δ to
beyond δ. A stretch that must be shorter than `brief` is given as one point: the root of a crossing, the lowest place of a touch,
the end of the graphs where that is within δ. Otherwise both its ends are searched.
"""

import math

from abut.contours.curve.cubic import Four, rate_at, value_at
from abut.contours.meet.graphs import Graph, gap_at, gap_slope, parameter_at
from abut.core.jit import element

Stretch = tuple[float, float, float, float, float]
"""Parameters of a where a stretch begins and ends, those of b there, and 1 for a certain crossing."""
Found = tuple[int, Stretch, Stretch]
"""How many stretches, 0 to 2, and they."""

NO_STRETCH = (0.0, 0.0, 0.0, 0.0, 0.0)
NEWTON_STEPS = 12
CONVERGED = 2.0**-44
"""A Newton step in parameters after which the next is rounding."""
SEARCH_STEPS = 200
"""Halving every third step ends in 3·53 steps."""


@element
def nothing() -> Found:
    """No stretch."""
    return (0, NO_STRETCH, NO_STRETCH)


@element
def _search(a: Graph, b: Graph, level: float, sign: float, lo: float, hi: float) -> tuple[float, float]:
    """Parameters where sign·gap rises through `level` between lo and hi, by halving and secants (Illinois)."""
    f0, f1 = sign * gap_at(a, b, lo)[0] - level, sign * gap_at(a, b, hi)[0] - level
    x = lo
    for k in range(SEARCH_STEPS):
        x = 0.5 * (lo + hi) if k % 3 == 2 or f1 <= f0 else lo - f0 * (hi - lo) / (f1 - f0)
        if not lo < x < hi:
            x = 0.5 * (lo + hi)
        if not lo < x < hi:
            break
        f = sign * gap_at(a, b, x)[0] - level
        if f < 0.0:
            lo, f0 = x, f
            f1 *= 0.5
        else:
            hi, f1 = x, f
            f0 *= 0.5
    return (parameter_at(a[0], x), parameter_at(b[0], x))


@element
def _cross(
    a: Graph, b: Graph, start: Four, ends: tuple[float, float], sign: float, lo: float, hi: float
) -> tuple[float, float]:
    """Parameters of the one root of the gap between lo and hi, where sign·gap rises from ends[0] < 0 to ends[1] > 0.

    start: the parameters of a at lo and hi, then those of b. Newton in both parameters from the secant's root; if it leaves the stretch, a search."""
    s0, s1, t0, t1 = start
    share = ends[0] / (ends[0] - ends[1])
    s, t = s0 + share * (s1 - s0), t0 + share * (t1 - t0)
    for _ in range(NEWTON_STEPS):
        x, y = value_at(a[0], s) - value_at(b[0], t), value_at(a[1], s) - value_at(b[1], t)
        p, q, r, w = rate_at(a[0], s), rate_at(b[0], t), rate_at(a[1], s), rate_at(b[1], t)
        across = p * w - q * r
        if across == 0.0:
            break
        ds, dt = (x * w - y * q) / across, (x * r - y * p) / across
        s, t = s - ds, t - dt
        if not (s0 <= s <= s1 and t0 <= t <= t1):
            break
        if abs(ds) + abs(dt) <= CONVERGED:
            return (s, t)
    return _search(a, b, 0.0, sign, lo, hi)


@element
def rising_stretch(
    a: Graph,
    b: Graph,
    at: Four,
    g: tuple[float, float],
    sign: float,
    lo: float,
    hi: float,
    least: float,
    delta: float,
    brief: float,
) -> Found:
    """The stretch of a gap that does not fall along [lo, hi] once multiplied by sign, its slope being `least` or more.

    at: parameters of a at lo and hi, then of b; g: the gap times sign there."""
    s0, s1, t0, t1 = at
    if g[0] > delta or g[1] < -delta:
        return nothing()
    short = 2.0 * delta <= brief * least
    if g[0] < -delta and g[1] > delta:
        if short:
            s, t = _cross(a, b, at, g, sign, lo, hi)
            return (1, (s, s, t, t, 1.0), NO_STRETCH)
        p, q = _search(a, b, -delta, sign, lo, hi), _search(a, b, delta, sign, lo, hi)
        return (1, (p[0], q[0], p[1], q[1], 1.0), NO_STRETCH)
    begin, end = (s0, t0), (s1, t1)
    if g[0] < -delta:
        begin = (s1, t1) if short else _search(a, b, -delta, sign, lo, hi)
    if g[1] > delta:
        end = (s0, t0) if short else _search(a, b, delta, sign, lo, hi)
    return (1, (begin[0], end[0], begin[1], end[1], 0.0), NO_STRETCH)


@element
def _lowest(a: Graph, b: Graph, sign: float, lo: float, hi: float) -> float:
    """Where the slope of a gap that is convex once multiplied by sign changes from negative to positive."""
    _, s, t = gap_at(a, b, lo)
    f0 = sign * gap_slope(a, b, s, t)
    if f0 >= 0.0:
        return lo
    _, s, t = gap_at(a, b, hi)
    f1 = sign * gap_slope(a, b, s, t)
    if f1 <= 0.0:
        return hi
    width = hi - lo
    x = lo
    for k in range(SEARCH_STEPS):
        x = 0.5 * (lo + hi) if k % 3 == 2 else lo - f0 * (hi - lo) / (f1 - f0)
        if not lo < x < hi:
            x = 0.5 * (lo + hi)
        if not lo < x < hi or hi - lo <= 1e-14 * width:
            break
        _, s, t = gap_at(a, b, x)
        f = sign * gap_slope(a, b, s, t)
        if f < 0.0:
            lo, f0 = x, f
            f1 *= 0.5
        elif f > 0.0:
            hi, f1 = x, f
            f0 *= 0.5
        else:
            break
    return x


@element
def bowl_stretches(
    a: Graph,
    b: Graph,
    at: Four,
    g: tuple[float, float],
    sign: float,
    lo: float,
    hi: float,
    bend: float,
    delta: float,
    brief: float,
) -> Found:
    """The stretches of a gap that is convex along [lo, hi] once multiplied by sign, its second derivative being `bend` or more.

    Else as `rising_stretch`."""
    s0, s1, t0, t1 = at
    if g[0] < -delta and g[1] < -delta:
        return nothing()
    begin, end = sign * gap_slope(a, b, s0, t0), sign * gap_slope(a, b, s1, t1)
    if begin >= 0.0:
        return rising_stretch(a, b, at, g, sign, lo, hi, begin, delta, brief)
    if end <= 0.0:
        mirrored = (1.0 - s1, 1.0 - s0, 1.0 - t1, 1.0 - t0)
        return _swapped(
            rising_stretch(_turned(a), _turned(b), mirrored, (g[1], g[0]), sign, -hi, -lo, -end, delta, brief)
        )
    # Tangents at the ends meet below the curve.
    if _wedge(g, begin, end, hi - lo) > delta:
        return nothing()
    x = _lowest(a, b, sign, lo, hi)
    low, s, t = gap_at(a, b, x)
    low *= sign
    if low > delta:
        return nothing()
    if low >= -delta:
        short = 8.0 * delta <= brief * brief * bend  # |u − x| ≤ √(2·(δ − low)/bend)
        first, last = (s, t), (s, t)
        if g[0] <= delta:
            first = (s0, t0)
        elif not short:
            first = _search(a, b, -delta, -sign, lo, x)
        if g[1] <= delta:
            last = (s1, t1)
        elif not short:
            last = _search(a, b, delta, sign, x, hi)
        return (1, (first[0], last[0], first[1], last[1], 0.0), NO_STRETCH)
    # Beyond −δ in the middle: a stretch on either side, if its end is not beyond −δ too. The slope at the root is at least √(2·bend·δ).
    falling, rising = NO_STRETCH, NO_STRETCH
    count = 0
    steep = math.sqrt(2.0 * bend * delta)
    if g[1] >= -delta:
        _, rising, _ = rising_stretch(a, b, (s, s1, t, t1), (low, g[1]), sign, x, hi, steep, delta, brief)
        count += 1
    if g[0] >= -delta:
        mirrored = (1.0 - s, 1.0 - s0, 1.0 - t, 1.0 - t0)
        _, falling, _ = _swapped(
            rising_stretch(_turned(a), _turned(b), mirrored, (low, g[0]), sign, -x, -lo, steep, delta, brief)
        )
        count += 1
    if count == 1 and g[0] >= -delta:
        return (1, falling, NO_STRETCH)
    return (count, rising, falling)


@element
def _wedge(g: tuple[float, float], begin: float, end: float, width: float) -> float:
    """Where the tangents at both ends of a convex function meet: below its least value."""
    x = (g[1] - g[0] - end * width) / (begin - end)
    return g[0] + begin * min(max(x, 0.0), width)


@element
def _turned(graph: Graph) -> Graph:
    """The graph seen from behind: u becomes −u, the parameter 1 − t."""
    u, v = graph
    return ((-u[3], -u[2], -u[1], -u[0]), (v[3], v[2], v[1], v[0]))


@element
def _swapped(found: Found) -> Found:
    """A stretch found on turned graphs, in the parameters of the graphs themselves."""
    count, (s0, s1, t0, t1, certain), other = found
    return (count, (1.0 - s1, 1.0 - s0, 1.0 - t1, 1.0 - t0, certain), other)
