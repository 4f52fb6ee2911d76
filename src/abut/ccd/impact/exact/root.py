"""One root of an integer cubic, held exactly, and the sign of integer quadratics there.

A root is either a ratio NUM/DEN, or the only root of the cubic inside an interval (K/D, (K + 1)/D), D = 2^level. The cubic is kept in
Bernstein form on that interval, times 3·8^level, which makes it integers; halving the interval and moving to the next one are sums with
small factors.

Descartes' rule in Bernstein form: without a change of sign among the coefficients there is no root in the open interval, with one there is
exactly one; for a cubic without double roots, halving ends (Collins and Akritas 1976; Farouki 2012). Double roots are found first: they are ratios.

Sign of a quadratic q at the root x. If its coefficients on the interval have no two opposite signs, that is its sign. Else the interval is
halved. A quadratic that vanishes at x would do so for ever; so the remainder of the cubic by q, which vanishes at x if q does, tells whether
q(x) = 0: it is linear, so its root is a ratio, or it is zero and q divides the cubic. Nearly always this can be answered modulo a prime: if the
resultant, or the discriminant of the cubic, is not zero modulo the prime, it is not zero.
"""

import math

from abut.ccd.impact.coplanarity import CROSSING, first_root
from abut.ccd.impact.exact.integers import (
    OVERFLOW,
    PRIME,
    approximate,
    copy,
    divide_by_power,
    dyadic_below,
    execute,
    ratio_below,
    residue,
    set_scaled,
    sign,
)
from abut.ccd.impact.exact.tables import (
    AT_START,
    B0,
    B1,
    B2,
    B3,
    C0,
    C1,
    C2,
    CUBIC_AT_RATIO,
    DEN,
    INSIDE,
    KEEP,
    KEEP_LEFT,
    KEEP_RIGHT,
    KEPT_LEVEL,
    LEVEL,
    LINEAR_ROOT,
    MIDDLE,
    MODE,
    N0,
    NEGATE_RATIO,
    NUM,
    ONE,
    P0,
    P1,
    P2,
    P3,
    Q0,
    Q1,
    Q2,
    QUADRATIC_AT_RATIO,
    QUADRATIC_LEFT,
    QUADRATIC_RIGHT,
    RATIO,
    RATIO_MINUS_START,
    REMAINDER_ROOT,
    RESTORE,
    RESTRICT,
    T0,
    T1,
    TAKE_ZOOM,
    TO_BERNSTEIN,
    TO_NEXT,
    TO_PARENT,
    UNSHIFTED,
    ZOOM,
    D,
    K,
    M,
    Z,
)
from abut.core.arrays import Integers
from abut.core.jit import kernel, stay_apart

TIME_LEVEL = 56
"""An interval of this level is shorter than the distance of doubles next to 1."""
GUESS_ACCURACY = 2.0**-50
ZOOM_BITS = 44
"""By how many levels one step narrows an interval. The root of a cubic in floating point is mostly good to a few units of 2⁻⁵²."""


@kernel
def start(w: Integers) -> None:
    """The interval [0, 1], for the cubic in P0 … P3."""
    w[ONE, 0] = w[ONE, 1] = w[D, 0] = w[D, 1] = 1
    w[K, 0] = 0
    w[0, LEVEL] = 0
    w[0, MODE] = INSIDE
    execute(w, TO_BERNSTEIN)


@kernel
def _first_sign(w: Integers, row: int, count: int) -> int:
    """The sign just right of the interval's start: that of the first coefficient that is not zero."""
    for i in range(count):
        s = sign(w, row + i)
        if s != 0:
            return s
    return 0


@kernel
def _last_sign(w: Integers, row: int, count: int) -> int:
    """The sign just left of the interval's end."""
    for i in range(count - 1, -1, -1):
        s = sign(w, row + i)
        if s != 0:
            return s
    return 0


@kernel
def count_changes(w: Integers) -> int:
    """Changes of sign among the cubic's coefficients, zeros left out."""
    count, last = 0, 0
    for i in range(4):
        s = sign(w, B0 + i)
        if s * last < 0:
            count += 1
        if s != 0:
            last = s
    return count


@kernel
def keep_left(w: Integers) -> None:
    """Go on to the left half of the interval."""
    execute(w, KEEP_LEFT)
    w[0, LEVEL] += 1


@kernel
def advance(w: Integers) -> bool:
    """Go on to the largest interval of the binary tree that starts where this one ends; False at 1."""
    stay_apart()
    execute(w, TO_NEXT)
    while w[0, LEVEL] > 0 and w[K, 1] & 1 == 0:
        execute(w, TO_PARENT)
        for i in range(4):
            divide_by_power(w, B0 + i, 3)
        divide_by_power(w, K, 1)
        divide_by_power(w, D, 1)
        w[0, LEVEL] -= 1
    return not (w[0, LEVEL] == 0 and w[K, 0] == 1)


@kernel
def _halve(w: Integers) -> int:
    """Halve the interval around its only root: −1 when the left half is kept, 1 the right, 0 when the root is its start now."""
    stay_apart()
    execute(w, MIDDLE)
    middle = sign(w, T0)
    if middle == -_first_sign(w, B0, 4):
        keep_left(w)
        return -1
    execute(w, KEEP_RIGHT)
    w[0, LEVEL] += 1
    if middle == 0:
        take_start(w)
        return 0
    return 1


@kernel
def enter(w: Integers) -> None:
    """Take the only root inside the interval, and keep the interval for `leave`."""
    execute(w, KEEP)
    w[0, KEPT_LEVEL] = w[0, LEVEL]
    w[0, MODE] = INSIDE
    _zoom(w)


@kernel
def leave(w: Integers) -> None:
    """Go back to the interval that was entered."""
    execute(w, RESTORE)
    w[0, LEVEL] = w[0, KEPT_LEVEL]


@kernel
def _zoom(w: Integers) -> None:
    """Narrow the interval around its only root by ZOOM_BITS levels at once, or up to TIME_LEVEL, if a guess in floating point is right."""
    stay_apart()
    bits = min(ZOOM_BITS, TIME_LEVEL - w[0, LEVEL])
    if bits < 4:
        return
    power = max(w[B0, 0], w[B1, 0], w[B2, 0], w[B3, 0])
    b = (approximate(w, B0, power), approximate(w, B1, power), approximate(w, B2, power), approximate(w, B3, power))
    x, kind = first_root(b, 0.0, -1.0, GUESS_ACCURACY)
    if kind != CROSSING:
        return
    cell = int(math.ldexp(x, int(bits)))
    set_scaled(w, Z, w[ONE, 1], bits)
    before = _first_sign(w, B0, 4)
    for _ in range(3):
        if not 0 <= cell < 1 << bits:
            return
        set_scaled(w, M, cell, UNSHIFTED)
        execute(w, ZOOM)
        first, last = _first_sign(w, N0, 4), _last_sign(w, N0, 4)
        if first == before and last == -before:
            execute(w, TAKE_ZOOM)
            w[0, LEVEL] += bits
            return
        if sign(w, N0) == 0:  # the root itself
            return
        cell += 1 if first == before else -1


@kernel
def take_start(w: Integers) -> None:
    """The root is the start of the interval."""
    copy(w, NUM, K)
    copy(w, DEN, D)
    w[0, MODE] = AT_START


@kernel
def _sign_at_ratio(w: Integers) -> int:
    """The sign of the quadratic at NUM/DEN, DEN > 0."""
    execute(w, QUADRATIC_AT_RATIO)
    return sign(w, T0)


@kernel
def sign_of_cubic_at_ratio(w: Integers) -> int:
    """The sign of the cubic at NUM/DEN, DEN > 0."""
    execute(w, CUBIC_AT_RATIO)
    return sign(w, T0)


@kernel
def make_positive(w: Integers) -> None:
    """Change the signs of NUM and DEN where DEN < 0."""
    if sign(w, DEN) < 0:
        execute(w, NEGATE_RATIO)


@kernel
def _is_ratio_inside(w: Integers) -> bool:
    """Whether K/D < NUM/DEN < (K + 1)/D."""
    execute(w, RATIO_MINUS_START)
    return sign(w, T0) > 0 and sign(w, T1) < 0


@kernel
def _vanishes(w: Integers) -> bool:
    """Whether the quadratic, not zero everywhere, is zero at the root inside the interval. If the root is a ratio, NUM/DEN has it then."""
    stay_apart()
    if sign(w, Q2) == 0:
        if sign(w, Q1) == 0:
            return False
        execute(w, LINEAR_ROOT)
        make_positive(w)
        vanishes = _is_ratio_inside(w) and sign_of_cubic_at_ratio(w) == 0
    else:
        execute(w, REMAINDER_ROOT)
        if sign(w, DEN) == 0:  # the quadratic divides the cubic, or they have no common root
            return sign(w, NUM) == 0 and _first_sign(w, C0, 3) != _last_sign(w, C0, 3)
        make_positive(w)
        vanishes = _is_ratio_inside(w) and _sign_at_ratio(w) == 0
    if vanishes:
        w[0, MODE] = RATIO
    return vanishes


@kernel
def _have_common_root(w: Integers) -> bool:
    """Whether the resultant of the cubic and the quadratic is zero modulo PRIME."""
    q0, q1, q2 = residue(w, Q0), residue(w, Q1), residue(w, Q2)
    p0, p1, p2, p3 = residue(w, P0), residue(w, P1), residue(w, P2), residue(w, P3)
    if q2 == 0:
        return True
    lead = (q2 * p2 - p3 * q1) % PRIME
    square = q2 * q2 % PRIME
    r1 = (square * p1 % PRIME - q2 * p3 % PRIME * q0 % PRIME - lead * q1 % PRIME) % PRIME
    r0 = (square * p0 - lead * q0) % PRIME
    return (q0 * r1 % PRIME * r1 % PRIME - q1 * r0 % PRIME * r1 % PRIME + q2 * r0 % PRIME * r0 % PRIME) % PRIME == 0


@kernel
def has_double_root(w: Integers) -> bool:
    """Whether the discriminant of the cubic is zero modulo PRIME. Without it there is certainly no double root."""
    a, b, c, d = residue(w, P3), residue(w, P2), residue(w, P1), residue(w, P0)
    ac, bd, ad, bc, bb = a * c % PRIME, b * d % PRIME, a * d % PRIME, b * c % PRIME, b * b % PRIME
    # 18·a·b·c·d − 4·b³·d + b²·c² − 4·a·c³ − 27·a²·d²
    positive = 18 * (ac * bd % PRIME) + bc * bc % PRIME
    negative = 4 * (bb * bd % PRIME) + 4 * (ac * (c * c % PRIME) % PRIME) + 27 * (ad * ad % PRIME)
    return (positive - negative) % PRIME == 0


@kernel
def sign_at_root(w: Integers, q: int) -> int:
    """The sign of the quadratic with coefficients of 1, t, t² in rows q, q + 1, q + 2, at the root."""
    stay_apart()
    if w[q, 0] == 0 and w[q + 1, 0] == 0 and w[q + 2, 0] == 0:
        return 0
    for i in range(3):
        copy(w, Q0 + i, q + i)
    if w[0, MODE] != INSIDE:
        return _sign_at_ratio(w)
    execute(w, RESTRICT)
    tested = False
    while w[0, OVERFLOW] == 0:
        first, second, third = sign(w, C0), sign(w, C1), sign(w, C2)
        low, high = min(first, second, third), max(first, second, third)
        if low * high >= 0:
            return high if high != 0 else low
        if not tested and _have_common_root(w) and _vanishes(w):
            return 0
        tested = True
        half = _halve(w)
        if half == 0:
            return _sign_at_ratio(w)
        if half < 0:
            execute(w, QUADRATIC_LEFT)
        else:
            execute(w, QUADRATIC_RIGHT)
    return 0


@kernel
def time_of_root(w: Integers) -> float:
    """A time that is not after the root, and early by less than 2⁻⁴⁹."""
    stay_apart()
    while w[0, MODE] == INSIDE and w[0, LEVEL] < TIME_LEVEL and w[0, OVERFLOW] == 0:
        _halve(w)
    if w[0, MODE] == RATIO:
        return ratio_below(w, NUM, DEN)
    return dyadic_below(w, K, w[0, LEVEL])
