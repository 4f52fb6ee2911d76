"""Roots of a cubic in [0, 1], each inside an interval that surely holds it: no root is lost to rounding.

The cubic is kept in Bernstein form. Its coefficients on a piece [lo, hi] bound it there, and their signs tell when it
has no root or one at most (variation diminishing: Farouki, "The Bernstein polynomial basis: a centennial
retrospective", 2012). Other pieces are split. Every sign is compared with one bound, `noise`, on the rounding error
plus the caller's `error`, so it holds for all cubics within `error`.

Invariants: enclosures are closed, ascending, disjoint and within [0, 1]; outside them the cubic has a certain sign.
With u = 2⁻⁵³ and noise = error + 8u·max|b|, a simple root r far from others gets a width of about
2.5·noise/|p′(r)| + 2u. Known limits: roots that rounding cannot tell apart share an enclosure, tangency is not told
from a near miss, and a root at exactly 0 or 1 is only POSSIBLE, as the sign need not change inside. All finite input is
valid. Contraction to fused multiply-add lowers the errors, so the bounds hold on CUDA too.
"""

import math

from abut.core.jit import element
from abut.core.scratch import load, reserve_floats, store
from abut.geometry.bernstein import BOUND_CASTELJAU, Cubic, restrict
from abut.geometry.enclosures import (
    CONVERGED,
    LIMIT,
    POSSIBLE,
    Enclosure,
    Roots,
    append,
    end_trail,
    no_roots,
    note_sign,
    note_uncertain,
    start_trail,
)

UNIT = 2.0**-53
# Power basis: b1 = c0 + c1/3, b2 = c0 + (2·c1 + c2)/3, b3 = (c0 + c1) + (c2 + c3). No term passes through more than
# three roundings, so each b is off by 3u·Σ|c| at most; the rest covers u² and underflow.
BOUND_POWER = 3.5 * UNIT
ROUND_UP = 1.0 + 4.0 * UNIT  # the sum error + 8u·max|b| is itself rounded
# Very large or small coefficients are scaled by a power of two. Then products of two neither overflow nor vanish.
LARGE, SHRINK = 2.0**500, 2.0**-600
SMALL, GROW = 2.0**-400, 2.0**800
REACH = 1.25  # a step from a root that should lift |p| above the noise aims at this multiple of it
FLAT = 8.0  # a piece whose coefficients are all below this multiple of the noise is not split further
# Work. The coefficients of a piece of width w lie within 6w·max|b| of each other, and 15u·max|b| more when rounded.
# With w ≤ 6u that is at most 51u·max|b|, so they have one certain sign or are all flat (8·noise ≥ 64u·max|b|): after
# GUIDED splits, halving ends within 51 levels, with few unfinished pieces on a level. The two ends of a crossing exceed
# the noise, so they stay (2·8 − 15)u/6 apart or more: 56 halvings, every second step after the first OPEN.
PIECES = 512
GUIDED = 24
DEPTH = 1 + GUIDED + 51
OPEN = 8
CROSSING = OPEN + 2 * 56


@element
def _evaluate(b: Cubic, t: float) -> Cubic:
    """The value at t (error below BOUND_CASTELJAU·max|b|), and the first three derivatives."""
    s = 1.0 - t
    r0, r1, r2 = s * b[0] + t * b[1], s * b[1] + t * b[2], s * b[2] + t * b[3]
    q0, q1 = s * r0 + t * r1, s * r1 + t * r2
    curvature = 6.0 * ((r2 - r1) - (r1 - r0))
    return (s * q0 + t * q1, 3.0 * (q1 - q0), curvature, 6.0 * ((b[3] - b[0]) - 3.0 * (b[2] - b[1])))


@element
def _is_above(b: Cubic, noise: float) -> bool:
    return b[0] > noise and b[1] > noise and b[2] > noise and b[3] > noise


@element
def _is_flat(b: Cubic, noise: float) -> bool:
    return abs(b[0]) <= noise and abs(b[1]) <= noise and abs(b[2]) <= noise and abs(b[3]) <= noise


@element
def _negate(b: Cubic) -> Cubic:
    return (-b[0], -b[1], -b[2], -b[3])


@element
def _crosses_upwards(b: Cubic, noise: float) -> bool:
    """Whether the signs are certain but for one place, −…−?+…+: at most one root, and p goes from − to + there."""
    below_0 = b[0] < -noise
    below_1 = below_0 and b[1] < -noise
    above_3 = b[3] > noise
    above_2 = above_3 and b[2] > noise
    return (above_2 and (b[1] > noise or below_0)) or (below_1 and (b[2] < -noise or above_3))


@element
def _reach(level: float, d1: float, d2: float, d3: float) -> float:
    """The step, at most 1, over which the first, second or third derivative alone changes p by `level`."""
    step = 1.0
    if abs(d1) > level:
        step = level / abs(d1)
    if abs(d2) * step * step > 2.0 * level:
        step = math.sqrt(2.0 * level / abs(d2))
    if abs(d3) * step * step * step > 6.0 * level:
        step = (6.0 * level / abs(d3)) ** (1.0 / 3.0)
    return step


@element
def _crossing_guess(c: Cubic, lo: float, hi: float, noise: float) -> float:
    """Where to look first in [lo, hi]: an uncertain end, else where the control polygon crosses zero."""
    if not c[0] < -noise:
        return lo
    if not c[3] > noise:
        return hi
    if c[1] >= 0.0:
        fraction = c[0] / (c[0] - c[1]) / 3.0
    elif c[2] >= 0.0:
        fraction = (1.0 + c[1] / (c[1] - c[2])) / 3.0
    else:
        fraction = (2.0 + c[2] / (c[2] - c[3])) / 3.0
    return min(lo + (hi - lo) * fraction, hi)


@element
def _tighten(b: Cubic, lo: float, hi: float, guess: float, noise: float) -> tuple[float, float, bool]:
    """Narrow [lo, hi], where p goes from − to + once at most, by certain signs only; and whether that converged.

    Laguerre's method, which is not slowed by a near-double root, with bisection until a value is lost in the noise;
    then steps to both sides until it is certain again."""
    x = guess
    for iteration in range(CROSSING):
        p, d1, d2, d3 = _evaluate(b, x)
        if p > noise:
            hi = x
        elif p < -noise:
            lo = x
        else:
            centre = x - p / d1 if d1 > noise else x
            step = _reach(REACH * noise, d1, d2, d3) + UNIT
            lo = _step_out(b, lo, min(centre, hi), -step, noise)
            hi = _step_out(b, hi, max(centre, lo), step, noise)
            return lo, hi, True
        middle = lo + 0.5 * (hi - lo)
        if not lo < middle < hi:
            return lo, hi, True
        slope = d1 + math.sqrt(max(4.0 * d1 * d1 - 6.0 * p * d2, 0.0))
        x = x - 3.0 * p / slope if slope > noise and (iteration < OPEN or iteration % 2 == 0) else middle
        if not lo < x < hi:
            x = middle
    return lo, hi, False


@element
def _step_out(b: Cubic, end: float, centre: float, step: float, noise: float) -> float:
    """The first of centre + step·2ᵏ, k = 0, 1, …, where p surely has the sign of `step`; `end` if none comes before."""
    x = centre + step
    while (x - end) * step < 0.0:
        if math.copysign(1.0, step) * _evaluate(b, x)[0] > noise:
            return x
        step *= 2.0
        x = centre + step
    return end


@element
def _split_fraction(c: Cubic, noise: float) -> float:
    """Where to split a piece, in its own (0, 1): where an uncertain end leaves the noise, else at an extremum."""
    d0, d1, d2 = c[1] - c[0], c[2] - c[1], c[3] - c[2]
    second_0, second_1 = d1 - d0, d2 - d1
    third = second_1 - second_0
    fraction = 0.5
    if abs(c[0]) <= noise:
        fraction = _reach(REACH * noise, 3.0 * d0, 6.0 * second_0, 6.0 * third)
    elif abs(c[3]) <= noise:
        fraction = 1.0 - _reach(REACH * noise, 3.0 * d2, 6.0 * second_1, 6.0 * third)
    else:
        # p′/3 = d0 + 2·second_0·s + third·s². With c0 > 0 the minimum is its root with positive slope; where it has no
        # root, the vertex is taken. The form without cancellation, divided only when the fraction is in (0, 1).
        side = 1.0 if c[0] > 0.0 else -1.0
        half = side * second_0
        root = math.sqrt(max(d1 * d1 - d0 * d2, 0.0))
        over, under = (-side * d0, half + root) if half > 0.0 else (root - half, side * third)
        if 0.0 < over < under:
            fraction = over / under
    return fraction


@element
def _walk(b: Cubic, noise: float, sign_t0: int, sign_t1: int) -> Roots:
    """Walk from 0 to 1 over pieces, split as needed. The signs at 0 and 1 are known without rounding (0: uncertain)."""
    ends = reserve_floats(DEPTH)  # right ends of the pieces still to come, the nearest last
    store(ends, 0, 1.0)
    depth = 1
    lo = 0.0
    trail = start_trail(sign_t0)
    for piece in range(PIECES):
        hi = float(load(ends, depth - 1))
        c = restrict(b, lo, hi)
        opposite = _negate(c)
        if _is_above(c, noise):
            trail = note_sign(trail, 1)
        elif _is_above(opposite, noise):
            trail = note_sign(trail, -1)
        elif _crosses_upwards(c, noise) or _crosses_upwards(opposite, noise):
            rises = _crosses_upwards(c, noise)
            up, before = (c, -1) if rises else (opposite, 1)
            guess = _crossing_guess(up, lo, hi, noise)
            left, right, converged = _tighten(b if rises else _negate(b), lo, hi, guess, noise)
            if not converged:
                break
            if left > lo or up[0] < -noise:
                trail = note_sign(trail, before)
            trail = note_uncertain(trail, left, right)
            if right < hi or up[3] > noise:
                trail = note_sign(trail, -before)
        elif _is_flat(c, FLAT * noise):
            trail = note_uncertain(trail, lo, hi)
        else:
            fraction = _split_fraction(c, noise) if piece < GUIDED else 0.5
            middle = lo + (hi - lo) * fraction
            if not lo < middle < hi:
                middle = lo + (hi - lo) * 0.5
            if depth == DEPTH or not lo < middle < hi:
                break
            store(ends, depth, middle)
            depth += 1
            continue
        lo = hi
        depth -= 1
        if depth == 0:
            break
    status = CONVERGED
    if depth > 0:
        status = LIMIT
        trail = note_uncertain(trail, lo, 1.0)
    if sign_t1 != 0:
        trail = note_sign(trail, sign_t1)
    return end_trail(trail, status)


@element
def _scale(largest: float) -> float:
    """The power of two that brings coefficients up to `largest` into a range where nothing overflows."""
    if largest > LARGE:
        return SHRINK
    return GROW if largest < SMALL else 1.0


@element
def enclose_cubic_bernstein(b0: float, b1: float, b2: float, b3: float, error: float) -> Roots:
    """Enclose the roots in [0, 1] of b0·(1−t)³ + 3·b1·t(1−t)² + 3·b2·t²(1−t) + b3·t³, and of all cubics near it.

    `error` ≥ 0 bounds how far each given coefficient may be from the true one (0: they are exact). Every root in [0, 1]
    of every cubic within `error` lies in an enclosure, and a CERTAIN enclosure holds for each of these cubics a root
    where the sign changes. When all coefficients are within `error` the zero polynomial is among them: the enclosure is
    [0, 1], POSSIBLE.

    Args:
        b0, b1, b2, b3: the Bernstein coefficients: the values at the ends, and the two control values between them.
        error: a bound, not negative, of how far each may be from the true one; 0 where they are exact.
    """
    largest = max(abs(b0), abs(b1), abs(b2), abs(b3))
    if not largest > error:
        return append(no_roots(), Enclosure(0.0, 1.0, POSSIBLE))
    given = (float(b0), float(b1), float(b2), float(b3))
    if _is_above(given, error) or _is_above(_negate(given), error):
        return no_roots()
    scale = _scale(largest)
    b = (b0 * scale, b1 * scale, b2 * scale, b3 * scale)
    noise = (error * scale + BOUND_CASTELJAU * (largest * scale)) * ROUND_UP
    return _walk(b, noise, int(b0 > error) - int(b0 < -error), int(b3 > error) - int(b3 < -error))


@element
def _from_powers(c0: float, c1: float, c2: float, c3: float) -> tuple[Cubic, float]:
    """Bernstein coefficients of c0 + c1·t + c2·t² + c3·t³, and a bound on their errors."""
    b = (c0, c0 + c1 / 3.0, c0 + (2.0 * c1 + c2) / 3.0, (c0 + c1) + (c2 + c3))
    return b, BOUND_POWER * ((abs(c0) + abs(c1)) + (abs(c2) + abs(c3)))


@element
def enclose_cubic(c0: float, c1: float, c2: float, c3: float) -> Roots:
    """Enclose the roots in [0, 1] of c0 + c1·t + c2·t² + c3·t³, to the accuracy u·Σ|c| of its value.

    Every root in [0, 1] of this very cubic lies in an enclosure; the zero polynomial gives [0, 1], POSSIBLE.

    Args:
        c0, c1, c2, c3: the coefficients, of t⁰ first.
    """
    scale = _scale(max(abs(c0), abs(c1), abs(c2), abs(c3)))
    (b0, b1, b2, b3), error = _from_powers(c0 * scale, c1 * scale, c2 * scale, c3 * scale)
    return enclose_cubic_bernstein(b0, b1, b2, b3, error)


@element
def enclose_quadratic(c0: float, c1: float, c2: float) -> Roots:
    """Enclose the roots in [0, 1] of c0 + c1·t + c2·t², as a cubic with c3 = 0 (degree elevation).

    Args:
        c0, c1, c2: the coefficients, of t⁰ first.
    """
    return enclose_cubic(c0, c1, c2, 0.0)
