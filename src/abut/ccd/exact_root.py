"""One root of an integer cubic, held exactly, and the sign of integer quadratics there.

A root is either a ratio NUM/DEN, or the only root of the cubic inside an interval (K/D, (K + 1)/D), D = 2^level. The cubic is kept in
Bernstein form on that interval, times 3·8^level, which makes it integers; halving the interval and moving to the next one are sums with
small factors.

Descartes' rule in Bernstein form: without a change of sign among the coefficients there is no root in the open interval, with one there is
exactly one; for a cubic without double roots, halving ends (Collins and Akritas 1976; Farouki 2012). Double roots are found first: they are ratios.

Sign of a quadratic q at the root x. If its coefficients on the interval have no two opposite signs, that is its sign. Else the interval is
halved. A quadratic that vanishes at x would do so for ever; so after ZERO_TEST_AFTER halvings the remainder of the cubic by q, which
vanishes at x if q does, tells whether q(x) = 0: it is linear, so its root is a ratio, or it is zero and q divides the cubic.
"""

from abut.arrays import Integers
from abut.ccd.integers import (
    OVERFLOW,
    copy,
    divide_by_power,
    dyadic_below,
    execute,
    product,
    program,
    ratio_below,
    rows,
    sign,
    total,
)
from abut.jit import kernel, stay_apart

# The header's other columns
MODE, LEVEL = 1, 2
INSIDE, AT_START, RATIO = 0, 1, 2
"""Modes: the root is inside the interval, it is its left end (also in NUM/DEN), or it is NUM/DEN."""

ONE, K, D, NUM, DEN = rows(1, 5)
B0, B1, B2, B3 = rows(6, 4)  # the cubic on the interval
P0, P1, P2, P3 = rows(10, 4)  # its coefficients of 1, t, t², t³
Q0, Q1, Q2 = rows(14, 3)  # coefficients of 1, t, t² of a quadratic
C0, C1, C2 = rows(17, 3)  # the same on the interval
T0, T1, T2, T3, T4, T5 = rows(20, 6)
ROOT_ROWS = 26

ZERO_TEST_AFTER = 6
TIME_LEVEL = 56
"""An interval of this level is shorter than the distance of doubles next to 1."""

TO_BERNSTEIN = program(
    total(B0, (3, P0)),
    total(B1, (3, P0), (1, P1)),
    total(B2, (3, P0), (2, P1), (1, P2)),
    total(B3, (3, P0), (3, P1), (3, P2), (3, P3)),
)
MIDDLE = program(total(T0, (1, B0), (3, B1), (3, B2), (1, B3)))
KEEP_LEFT = program(
    total(B3, (1, B0), (3, B1), (3, B2), (1, B3)),
    total(B2, (2, B0), (4, B1), (2, B2)),
    total(B1, (4, B0), (4, B1)),
    total(B0, (8, B0)),
    total(K, (2, K)),
    total(D, (2, D)),
)
KEEP_RIGHT = program(
    total(B0, (1, B0), (3, B1), (3, B2), (1, B3)),
    total(B1, (2, B1), (4, B2), (2, B3)),
    total(B2, (4, B2), (4, B3)),
    total(B3, (8, B3)),
    total(K, (2, K), (1, ONE)),
    total(D, (2, D)),
)
TO_NEXT = program(
    total(T0, (-1, B0), (6, B1), (-12, B2), (8, B3)),
    total(T1, (1, B1), (-4, B2), (4, B3)),
    total(B1, (-1, B2), (2, B3)),
    total(B0, (1, B3)),
    total(B2, (1, T1)),
    total(B3, (1, T0)),
    total(K, (1, K), (1, ONE)),
)
TO_PARENT = program(  # times 8, when the interval is the left half of its parent
    total(B3, (-1, B0), (6, B1), (-12, B2), (8, B3)),
    total(B2, (1, B0), (-4, B1), (4, B2)),
    total(B1, (-1, B0), (2, B1)),
)
QUADRATIC_LEFT = program(
    total(C2, (1, C0), (2, C1), (1, C2)),
    total(C1, (2, C0), (2, C1)),
    total(C0, (4, C0)),
)
QUADRATIC_RIGHT = program(
    total(C0, (1, C0), (2, C1), (1, C2)),
    total(C1, (2, C1), (2, C2)),
    total(C2, (4, C2)),
)
# q on the interval, times 2·4^level: B0 = q0·D² + q1·K·D + q2·K², B2 the same with K + 1, and 2·B1 = B0 + B2 − q2
RESTRICT = program(
    product(T0, Q2, K),
    product(T1, Q1, D),
    total(T2, (1, T0), (1, T1)),
    product(T3, T2, K),
    product(T2, Q0, D),
    product(T4, T2, D),
    total(T3, (1, T3), (1, T4)),
    total(T4, (1, T3), (1, T1), (2, T0), (1, Q2)),
    total(C0, (2, T3)),
    total(C1, (1, T3), (1, T4), (-1, Q2)),
    total(C2, (2, T4)),
)
QUADRATIC_AT_RATIO = program(
    product(T0, Q2, NUM),
    product(T1, Q1, DEN),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T0, Q0, DEN),
    product(T2, T0, DEN),
    total(T0, (1, T1), (1, T2)),
)
CUBIC_AT_RATIO = program(
    product(T0, P3, NUM),
    product(T1, P2, DEN),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T2, DEN, DEN),
    product(T0, P1, T2),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T0, P0, T2),
    product(T2, T0, DEN),
    total(T0, (1, T1), (1, T2)),
)
RATIO_MINUS_START = program(  # NUM/DEN − K/D, and NUM/DEN − (K + 1)/D, times D·DEN
    product(T0, NUM, D),
    product(T1, K, DEN),
    total(T0, (1, T0), (-1, T1)),
    total(T1, (1, T0), (-1, DEN)),
)
NEGATE_RATIO = program(total(NUM, (-1, NUM)), total(DEN, (-1, DEN)))
LINEAR_ROOT = program(total(NUM, (-1, Q0)), total(DEN, (1, Q1)))
# q2²·p = (…)·q + R1·t + R0 with L = q2·p2 − p3·q1, R1 = q2²·p1 − q2·p3·q0 − L·q1, R0 = q2²·p0 − L·q0; the root is −R0/R1
REMAINDER_ROOT = program(
    product(T0, Q2, P2),
    product(T1, P3, Q1),
    total(T0, (1, T0), (-1, T1)),
    product(T1, Q2, Q2),
    product(T2, T1, P1),
    product(T3, Q2, P3),
    product(T4, T3, Q0),
    product(T3, T0, Q1),
    total(DEN, (1, T2), (-1, T4), (-1, T3)),
    product(T2, T1, P0),
    product(T3, T0, Q0),
    total(NUM, (1, T3), (-1, T2)),
)


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
    halvings = 0
    while w[0, OVERFLOW] == 0:
        first, second, third = sign(w, C0), sign(w, C1), sign(w, C2)
        low, high = min(first, second, third), max(first, second, third)
        if low * high >= 0:
            return high if high != 0 else low
        if halvings == ZERO_TEST_AFTER and _vanishes(w):
            return 0
        half = _halve(w)
        if half == 0:
            return _sign_at_ratio(w)
        if half < 0:
            execute(w, QUADRATIC_LEFT)
        else:
            execute(w, QUADRATIC_RIGHT)
        halvings += 1
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
