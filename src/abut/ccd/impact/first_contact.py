"""First contact of one pair in floating point, with a certificate: root-guided separating-axis carving.

A stack of intervals of time, the leftmost on top. On each: (1) if the coplanarity cubic P keeps one sign, nothing meets: done. (2) Else take
its first root t, roughly at first. (3) If the pair is apart there, the direction that shows it keeps the pair apart on a whole interval
around t (`separating_direction.carve`): what is left of it and what is right of it go back on the stack. (4) If it is not apart, t is refined and the
contact certified: P surely has opposite signs at t ± δ, and the contact point surely stays inside both features between. Then what lies left of
t − δ is searched in the same way before t − δ is the answer. (5) What can be neither parted nor certified is UNDECIDED, and left to `exact`.

The inside test. With c1 = r2×r3, c2 = r3×r1, c3 = r1×r2, for every s: (s·c1)·r1 + (s·c2)·r2 + (s·c3)·r3 = P·s. So at a root of P the numbers
w_k = s·c_k are weights with Σ w_k·r_k = 0. The vertex (the origin) is inside the face when all w_k > 0; edge 0 r1 crosses edge r2 r3 when
w2, w3, −w1 and w1 + w2 + w3 are > 0. s is the normal at t: n = c1 + c2 + c3 of the face, n = c2 + c3 = r1×(r2 − r3) of the edges.

Rounding, with W = Σ|s_i|·size_j·size_k over the axes i and the two others: c_k is off by (4 + 4 + 2)u·2·size_j·size_k, a product with s and the
sums by 3u more: 26u·W; the sum of all three by 3·26u·W + 2u·6W = 90u·W. Over a time δ, w_k changes by at most δ·Σ|s_i|·2·(size_j·speed_k +
speed_j·size_k), thrice that for the sum.

Invariants: all time left of the interval on top is certainly free. FREE and HIT are certain. A HIT's time is not late, and early by at most
`tolerance`. Comparisons are written so that NaN (which finite input does not give) would end as UNDECIDED, never as FREE.
"""

from typing import Any

from abut.ccd.impact.coplanarity import (
    CROSSING,
    MISSING,
    coplanarity,
    coplanarity_noise,
    first_root,
    has_one_sign,
    slope,
)
from abut.ccd.impact.relative_paths import FLOOR, UNIT, RelativePaths, paths_at
from abut.ccd.impact.separating_direction import NONE_HI, NONE_LO, carve, carve_by_list
from abut.core.jit import element, inlined
from abut.core.scratch import load, reserve_floats, store
from abut.geometry.bernstein import Cubic, evaluate, restrict
from abut.geometry.vec import Vec3, add, cross, dot, subtract

FREE, HIT, LIMIT, UNDECIDED = 0, 1, 2, 3
"""FREE, HIT and LIMIT are `results.Status`; UNDECIDED never leaves the package."""
NEVER = 2.0
"""The time of a pair that is free."""
BOUND_INSIDE = 96.0 * UNIT
ROUGH, FINE = 0.1, 4.0 * UNIT
"""Accuracy of a root, as a part of its interval: enough to find a direction that parts the pair, and to certify a contact."""
SHARE = 0.02
"""An interval without a root is split where |P| is least, unless that is nearer to an end than this part of it."""
REACH = 2.5
"""P is brought above its noise by a step of noise/|P′| from its root; this multiple allows for the root's own error and for curvature."""
ROOM = 128
"""Numbers for 64 intervals. A step takes one interval away and adds two at most, so that STEPS = 63 never overflow it."""
STEPS = 63


@element
def _speeds(p: RelativePaths) -> Vec3:
    """A bound on |r_j(1) − r_j(0)| along each axis."""
    a, b, c = subtract(p[3], p[0]), subtract(p[4], p[1]), subtract(p[5], p[2])
    return (
        max(abs(a[0]), abs(b[0]), abs(c[0])),
        max(abs(a[1]), abs(b[1]), abs(c[1])),
        max(abs(a[2]), abs(b[2]), abs(c[2])),
    )


@inlined
def _weigh(is_face: bool, r1: Vec3, r2: Vec3, r3: Vec3) -> tuple[float, Vec3, Vec3]:
    """The least of the inside conditions at one time, the direction across the edge where it fails, and the normal."""
    c1, c2, c3 = cross(r2, r3), cross(r3, r1), cross(r1, r2)
    n = add(c2, c3)
    if is_face:
        n = add(n, c1)
    w1, w2, w3 = dot(n, c1), dot(n, c2), dot(n, c3)
    if is_face:
        if w1 <= w2 and w1 <= w3:
            least, edge = w1, subtract(r3, r2)
        elif w2 <= w3:
            least, edge = w2, subtract(r1, r3)
        else:
            least, edge = w3, subtract(r2, r1)
    else:
        across_a, across_b = min(w2, w3), min(-w1, w1 + w2 + w3)
        if across_a < across_b:
            least, edge = across_a, r1
        else:
            least, edge = across_b, subtract(r3, r2)
    return least, cross(edge, n), n


@inlined
def _look(is_face: bool, p: RelativePaths, sizes: Vec3, t: float) -> tuple[float, Vec3, float, float]:
    """At time t: the least of the inside conditions, the normal, and the free interval around t if the contact point is outside."""
    r1, r2, r3 = paths_at(p, t)
    least, s, n = _weigh(is_face, r1, r2, r3)
    left, right = carve(is_face, p, sizes, s, t, 0.0) if least < 0.0 else (NONE_LO, NONE_HI)
    return least, n, left, right


@element
def _is_certain(
    p: RelativePaths, sizes: Vec3, b: Cubic, noise: float, lo: float, hi: float, least: float, n: Vec3
) -> bool:
    """Whether P surely changes sign in [lo, hi], and `least`, a weight inside it, is so large that all are positive there."""
    at_lo, at_hi = evaluate(b, lo), evaluate(b, hi)
    if not ((at_lo > noise and at_hi < -noise) or (at_lo < -noise and at_hi > noise)):
        return False
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    speeds = _speeds(p)
    error = x * (sizes[1] * sizes[2]) + y * (sizes[2] * sizes[0]) + z * (sizes[0] * sizes[1])
    change = (
        x * (sizes[1] * speeds[2] + speeds[1] * sizes[2])
        + y * (sizes[2] * speeds[0] + speeds[2] * sizes[0])
        + z * (sizes[0] * speeds[1] + speeds[0] * sizes[1])
    )
    return least > BOUND_INSIDE * error + 6.0 * (hi - lo) * change + FLOOR


@inlined
def _push(ends: Any, depth: int, lo: float, hi: float) -> int:
    """Put an interval on the stack, unless it is empty; the new depth."""
    if not lo < hi:
        return depth
    store(ends, 2 * depth, lo)
    store(ends, 2 * depth + 1, hi)
    return depth + 1


@element
def first_contact(
    is_face: bool, p: RelativePaths, sizes: Vec3, t_max: float, tolerance: float, max_steps: int
) -> tuple[int, float]:
    """Status and time of the first contact in [0, t_max]; NEVER when FREE, a lower bound when UNDECIDED.

    A contact up to `tolerance` after t_max may be found too. `max_steps` up to STEPS bounds the intervals looked at; what
    is left then is UNDECIDED."""
    b, noise = coplanarity(p), coplanarity_noise(sizes)
    ends = reserve_floats(ROOM)
    store(ends, 0, 0.0)
    store(ends, 1, t_max)
    depth, hit = 1, NEVER
    for _ in range(min(max_steps, STEPS)):
        depth -= 1
        lo, hi = float(load(ends, 2 * depth)), float(load(ends, 2 * depth + 1))
        c = b if lo == 0.0 and hi == 1.0 else restrict(b, lo, hi)
        if not has_one_sign(c, noise):
            x, kind = first_root(c, noise, -1.0, ROUGH)
            t = lo + x * (hi - lo)
            if kind == MISSING:  # halves, or what is left and right of the turning point, will show it
                left = right = t if SHARE < x < 1.0 - SHARE else 0.5 * (lo + hi)
            else:
                least, n, left, right = _look(is_face, p, sizes, t)
                if left > right and kind == CROSSING:
                    x, kind = first_root(c, noise, x, FINE)
                    t = lo + x * (hi - lo)
                    least, n, left, right = _look(is_face, p, sizes, t)
                if left > right and kind == CROSSING and least > 0.0:
                    steepness = abs(slope(c, x))
                    reach = (REACH * noise / steepness) * (hi - lo) + FINE if steepness > 0.0 else 1.0
                    before, after = max(lo, t - reach), min(1.0, t + reach)
                    near = after - before <= max(tolerance, FINE)
                    if near and _is_certain(p, sizes, b, noise, before, after, least, n):
                        hit, depth = before, 0  # what is right of it no longer matters
                        left, right = before, hi
                if left > right:
                    left, right = carve_by_list(is_face, p, sizes, t, hi)
                    if left > right:
                        return UNDECIDED, lo
            depth = _push(ends, depth, right, hi)
            depth = _push(ends, depth, lo, left)
        if depth == 0:
            return (FREE, NEVER) if hit == NEVER else (HIT, hit)
    return UNDECIDED, float(load(ends, 2 * depth - 2))
