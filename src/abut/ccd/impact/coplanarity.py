"""When the four points of a pair are coplanar: P(t) = det(r1, r2, r3), a cubic, in Bernstein form.

With U = r1⁰×r2⁰, W = r1¹×r2¹ and V = r1⁰×r2¹ + r1¹×r2⁰ (upper indices: t = 0 and 1) the coefficients are b0 = U·r3⁰, 3b1 = U·r3¹ + V·r3⁰,
3b2 = W·r3⁰ + V·r3¹, b3 = W·r3¹ (Tang, Manocha and Tong 2010, *Fast continuous collision detection using deforming non-penetration
filters*). Where the coefficients on an interval have one sign, P has it too, and the pair does not meet there.

Rounding, with u = 2⁻⁵³ and M the product of the three sizes: a determinant has six products of three factors, each factor off by u and each
product rounded five times: 6·8u·M for b0 and b3. b1 is a mean of three determinants, with four more roundings: 6·12u·M = 72u·M. Blossoming
to an interval adds 7½u·max|b| ≤ 45u·M (`geometry.bernstein`), in all 117u·M; the bounds below leave room for terms in u².

`first_root` is a guess that decides nothing: whoever uses it certifies what follows from it.
"""

import math

from abut.ccd.impact.relative_paths import FLOOR, UNIT, RelativePaths
from abut.core.jit import element, inlined
from abut.geometry.bernstein import Cubic
from abut.geometry.vec import Vec3, add, cross, dot

BOUND_COPLANARITY = 128.0 * UNIT
THIRD = 1.0 / 3.0
NEWTON_STEPS = 60
CROSSING, TOUCHING, MISSING = 0, 1, 2
"""What `first_root` found."""


@inlined
def coplanarity(p: RelativePaths) -> Cubic:
    """The Bernstein coefficients of P on [0, 1]."""
    u = cross(p[0], p[1])
    w = cross(p[3], p[4])
    v = add(cross(p[0], p[4]), cross(p[3], p[1]))
    return (
        dot(u, p[2]),
        (dot(u, p[5]) + dot(v, p[2])) * THIRD,
        (dot(w, p[2]) + dot(v, p[5])) * THIRD,
        dot(w, p[5]),
    )


@inlined
def coplanarity_noise(sizes: Vec3) -> float:
    """A bound on the error of a coefficient of P, on [0, 1] and on any interval inside."""
    return BOUND_COPLANARITY * (sizes[0] * sizes[1] * sizes[2]) + FLOOR


@inlined
def has_one_sign(b: Cubic, noise: float) -> bool:
    """Whether P surely keeps one sign, and is not zero."""
    return min(b[0], b[1], b[2], b[3]) > noise or max(b[0], b[1], b[2], b[3]) < -noise


@element
def slope(b: Cubic, t: float) -> float:
    """P′ at t."""
    s = 1.0 - t
    return 3.0 * (s * s * (b[1] - b[0]) + 2.0 * s * t * (b[2] - b[1]) + t * t * (b[3] - b[2]))


@element
def _newton(c: Cubic, lo: float, hi: float, rises: bool, guess: float, accuracy: float) -> float:
    """A root of c0 + c1·t + c2·t² + c3·t³ between lo and hi, where it changes sign once; `rises`: from − to +."""
    t = guess
    if not lo < t < hi:
        t = 0.5 * (lo + hi)
    for _ in range(NEWTON_STEPS):
        value = ((c[3] * t + c[2]) * t + c[1]) * t + c[0]
        if value == 0.0:
            break
        if (value < 0.0) == rises:
            lo = t
        else:
            hi = t
        step = value / ((3.0 * c[3] * t + 2.0 * c[2]) * t + c[1])
        before = t
        t = t - step
        if not lo < t < hi:
            t = 0.5 * (lo + hi)
            if not lo < t < hi:
                break
        elif abs(t - before) <= accuracy:
            break
    return t


@element
def _turns(c: Cubic) -> tuple[float, float]:
    """Where the slope of c0 + c1·t + … is zero, ascending; 2 for none in (0, 1)."""
    a, b = 3.0 * c[3], c[2]
    inner = b * b - a * c[1]
    if not inner >= 0.0:
        return 2.0, 2.0
    q = -(b + math.copysign(math.sqrt(inner), b))
    x = q / a if a != 0.0 else 2.0
    y = c[1] / q if q != 0.0 else 2.0
    x = x if 0.0 < x < 1.0 else 2.0
    y = y if 0.0 < y < 1.0 else 2.0
    return min(x, y), max(x, y)


@element
def first_root(b: Cubic, noise: float, guess: float, accuracy: float) -> tuple[float, int]:
    """A guess of the first root in [0, 1], and what it is; without one, where |P| is least.

    CROSSING: the sign changes there. TOUCHING: |P| is not above the noise. MISSING: there seems to be no root.
    `guess`: where to start (negative: unknown)."""
    if abs(b[0]) <= noise:
        return 0.0, TOUCHING
    c = (b[0], 3.0 * (b[1] - b[0]), 3.0 * ((b[0] - b[1]) + (b[2] - b[1])), (b[3] - b[0]) + 3.0 * (b[1] - b[2]))
    above_0, above_1, above_2, above_3 = b[0] > 0.0, b[1] > 0.0, b[2] > 0.0, b[3] > 0.0
    if int(above_0 != above_1) + int(above_1 != above_2) + int(above_2 != above_3) == 1:
        if guess < 0.0:  # where the control polygon crosses zero
            if above_0 != above_1:
                guess = THIRD * (b[0] / (b[0] - b[1]))
            elif above_1 != above_2:
                guess = THIRD * (1.0 + b[1] / (b[1] - b[2]))
            else:
                guess = THIRD * (2.0 + b[2] / (b[2] - b[3]))
        return _newton(c, 0.0, 1.0, not above_0, guess, accuracy), CROSSING
    first, second = _turns(c)
    lo, best, least = 0.0, 1.0, abs(b[3])
    for piece in range(3):
        hi = 1.0 if piece == 2 else (first if piece == 0 else second)
        if hi > 1.0:
            continue
        value = b[3] if hi == 1.0 else ((c[3] * hi + c[2]) * hi + c[1]) * hi + c[0]
        if (value > 0.0) != above_0:
            return _newton(c, lo, hi, not above_0, guess, accuracy), CROSSING
        if abs(value) <= noise:
            return hi, TOUCHING
        if abs(value) < least:
            best, least = hi, abs(value)
        lo = hi
    return best, MISSING
