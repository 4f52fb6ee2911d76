"""The pairs that floating point leaves undecided, decided by integers: whether they meet, and when first.

The coordinates are doubles, so one power of two makes them integers. With r_j(t) as in `relative_paths`, c1 = r2×r3, c2 = r3×r1 and c3 = r1×r2 are
quadratic and P = r1·c1 is cubic, all with integer coefficients. The pair can only meet at a root of P, and there all c_k are parallel. Along an
axis where the normal N (c1 + c2 + c3 of a face, c2 + c3 of two edges) is not zero, the signs of the c_k tell whether the contact point is inside
both features (`first_contact`). Where N = 0 the triangle has no area, or the edges are parallel: then they meet if one of the points is on one of
the segments, cross product zero and scalar product ≤ 0. Roots and signs: `root`.

If P ≡ 0 (coplanar motion) the verdict can change only where one of these quadratics has a root: all roots of all of them are tried, and 0 and 1.

Every finite input is decided, unless a number needs more than 13,446 bits: the status is LIMIT then, which counts as a hit. Coordinates whose
highest and lowest bits are up to 300 binary digits apart leave 12,000 bits, or 4,000 halvings, to tell a near miss from a contact.
"""

import math

import numpy as np
from numpy.typing import NDArray

from abut.ccd.impact.exact.integers import (
    OVERFLOW,
    combine,
    copy,
    execute,
    multiply,
    set_scaled,
    sign,
)
from abut.ccd.impact.exact.root import (
    advance,
    count_changes,
    enter,
    has_double_root,
    keep_left,
    leave,
    make_positive,
    sign_at_root,
    sign_of_cubic_at_ratio,
    start,
    take_start,
    time_of_root,
)
from abut.ccd.impact.exact.tables import (
    ALL,
    B0,
    COPLANARITY,
    CROSS,
    DEN,
    DIFFERENCES,
    DOUBLE_ROOT,
    END_TO_END,
    ENDS,
    MINUS,
    MODE,
    NORMAL,
    NORMAL_EDGES,
    NORMAL_FACE,
    NOT,
    NUM,
    OTHER_ROOT,
    P0,
    P1,
    P2,
    P3,
    PATH,
    PLUS,
    RATIO,
    RATIO_FROM_1,
    SCALAR,
    SECOND,
    SLOPE_AT_RATIO,
    SUM_OF_CROSSES,
    T0,
    T1,
    T3,
    T5,
    THIRD,
    TRIPLE_ROOT,
)
from abut.ccd.impact.first_contact import FREE, HIT, LIMIT, NEVER, UNDECIDED
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart


@kernel
def _mantissa(x: float) -> tuple[int, int]:
    """The odd m and the e with x = m·2ᵉ; (0, 0) for zero."""
    if x == 0.0:
        return 0, 0
    fraction, e = math.frexp(x)
    m, exponent = int(fraction * 9007199254740992.0), int(e) - 53
    while m & 1 == 0:
        m >>= 1
        exponent += 1
    return m, exponent


@kernel
def _set_paths(w: Integers, points: Floats) -> None:
    """The paths as integers, from eight points: four at t = 0, then the same at t = 1."""
    stay_apart()
    lowest = 10000
    for i in range(8):
        for d in range(3):
            m, e = _mantissa(points[i, d])
            if m != 0:
                lowest = min(lowest, e)
    for d in range(3):
        for end in range(2):
            for j in range(4):
                m, e = _mantissa(points[4 * end + j, d])
                row = T0 if j == 0 else T1
                set_scaled(w, row, m, e - lowest if m != 0 else 0)
                if j > 0:
                    combine(w, PATH + 2 * (3 * (j - 1) + d) + end, T1, PLUS, T0, MINUS, T0, NOT, T0, NOT)
    execute(w, END_TO_END)


@kernel
def _add_product(w: Integers, out: int, a: int, b: int, by: int) -> None:
    """Quadratic out += by·a·b, a and b linear."""
    stay_apart()
    for i in range(2):
        for j in range(2):
            multiply(w, T0, a + i, b + j)
            combine(w, out + i + j, out + i + j, PLUS, T0, by, T0, NOT, T0, NOT)


@kernel
def _clear(w: Integers, row: int, count: int) -> None:
    for i in range(count):
        w[row + i, 0] = 0


@kernel
def _set_quadratics(w: Integers, is_face: bool) -> None:
    """The cross products, their sum, the normal, and P into P0 … P3."""
    stay_apart()
    _clear(w, CROSS, 27)
    for k in range(3):
        a, b = PATH + 6 * ((k + 1) % 3), PATH + 6 * ((k + 2) % 3)
        for d in range(3):
            for flip in range(2):
                e, f = 2 * ((d + 1 + flip) % 3), 2 * ((d + 2 - flip) % 3)
                _add_product(w, CROSS + 3 * (3 * k + d), a + e, b + f, 1 - 2 * flip)
    execute(w, SUM_OF_CROSSES)
    if is_face:
        execute(w, NORMAL_FACE)
    else:
        execute(w, NORMAL_EDGES)
    execute(w, COPLANARITY)


@kernel
def _set_scalar_products(w: Integers, is_face: bool) -> None:
    """Face: r1·r2, r2·r3, r3·r1. Edges: r2·r3, (r2 − r1)·(r3 − r1), r2·(r2 − r1), r3·(r3 − r1)."""
    stay_apart()
    _clear(w, SCALAR, 12)
    execute(w, DIFFERENCES)
    r1, r2, r3 = PATH, PATH + 6, PATH + 12
    left = (r1, r2, r3, r1) if is_face else (r2, SECOND, r2, r3)
    right = (r2, r3, r1, r1) if is_face else (r3, THIRD, SECOND, THIRD)
    for i in range(3 if is_face else 4):
        for d in range(0, 6, 2):
            _add_product(w, SCALAR + 3 * i, left[i] + d, right[i] + d, PLUS)


@kernel
def _is_on_segment(w: Integers, crossed: int, scalar: int) -> bool:
    """Whether a cross product is zero and a scalar product is not positive."""
    stay_apart()
    for d in range(3):
        if sign_at_root(w, crossed + 3 * d) != 0:
            return False
    return sign_at_root(w, scalar) <= 0


@kernel
def _meets_degenerate(w: Integers, is_face: bool) -> bool:
    """Whether they meet at the root, where the normal is zero: whether a point is on a segment."""
    stay_apart()
    _set_scalar_products(w, is_face)
    c1, c2, c3 = CROSS, CROSS + 9, CROSS + 18
    crossed = (c3, c1, c2, c2) if is_face else (c1, ALL, c3, c2)
    on_segment = False
    for i in range(3 if is_face else 4):
        on_segment = on_segment or _is_on_segment(w, crossed[i], SCALAR + 3 * i)
    return on_segment


@kernel
def _meets(w: Integers, is_face: bool) -> bool:
    """Whether the features meet at the root, at which P is zero."""
    stay_apart()
    for d in range(3):
        n = sign_at_root(w, NORMAL + 3 * d)
        if n == 0:
            continue
        if sign_at_root(w, CROSS + 9 + 3 * d) * n < 0 or sign_at_root(w, CROSS + 18 + 3 * d) * n < 0:
            return False
        first = sign_at_root(w, CROSS + 3 * d) * n
        if is_face:
            return first >= 0
        return first <= 0 and sign_at_root(w, ALL + 3 * d) * n >= 0
    return _meets_degenerate(w, is_face)


@kernel
def _try_ratio(w: Integers, is_face: bool) -> float:
    """The time of NUM/DEN if it is in [0, 1] and they meet there."""
    stay_apart()
    make_positive(w)
    execute(w, RATIO_FROM_1)
    if sign(w, NUM) < 0 or sign(w, T0) < 0:
        return NEVER
    w[0, MODE] = RATIO
    return time_of_root(w) if _meets(w, is_face) else NEVER


@kernel
def _find_double_root(w: Integers) -> bool:
    """Whether the cubic has a double root; it is NUM/DEN then.

    It is the root of the remainder R of 9·p3·P by P′. If R ≡ 0 the root is triple, −p2/(3·p3); a quadratic (p3 = 0) can
    only have the root −p1/(2·p2), which is that of R too."""
    stay_apart()
    if (sign(w, P3) == 0 and sign(w, P2) == 0) or not has_double_root(w):
        return False
    execute(w, DOUBLE_ROOT)
    if sign(w, DEN) == 0:
        if sign(w, NUM) != 0:
            return False
        execute(w, TRIPLE_ROOT)
    make_positive(w)
    if sign_of_cubic_at_ratio(w) != 0:
        return False
    execute(w, SLOPE_AT_RATIO)
    return sign(w, T0) == 0


@kernel
def _first_of_ratios(w: Integers, is_face: bool) -> float:
    """First contact at the roots of a cubic with the double root r = NUM/DEN; the other one is −p2/p3 − 2r."""
    stay_apart()
    other, best = sign(w, P3) != 0, NEVER
    for attempt in range(2 if other else 1):
        if attempt == 1:
            execute(w, OTHER_ROOT)
            copy(w, NUM, T5)
            copy(w, DEN, T3)
        best = min(best, _try_ratio(w, is_face))
    return best


@kernel
def _first_at_roots(w: Integers, is_face: bool) -> float:
    """First contact in [0, 1] at a root of the cubic in P0 … P3, which is not zero everywhere; NEVER when there is none."""
    stay_apart()
    if _find_double_root(w):
        return _first_of_ratios(w, is_face)
    start(w)
    start_tried, going = False, True
    while w[0, OVERFLOW] == 0:
        if sign(w, B0) == 0 and not start_tried:
            take_start(w)
            if _meets(w, is_face):
                return time_of_root(w)
        if not going:  # the interval starts at 1
            break
        count = count_changes(w)
        if count > 1:
            keep_left(w)
            start_tried = True
            continue
        if count == 1:
            enter(w)
            if _meets(w, is_face):
                return time_of_root(w)
            leave(w)
        start_tried = False
        going = advance(w)
    return NEVER


@kernel
def _first_coplanar(w: Integers, is_face: bool) -> float:
    """First contact when P ≡ 0: at 0, at 1, or at a root of one of the quadratics."""
    stay_apart()
    _set_scalar_products(w, is_face)
    best = NEVER
    start(w)
    for q in range(CROSS - 3, SCALAR + 12, 3):
        if q < CROSS:
            execute(w, ENDS)
        else:
            w[P3, 0] = 0
            for i in range(3):
                copy(w, P0 + i, q + i)
        if w[P0, 0] != 0 or w[P1, 0] != 0 or w[P2, 0] != 0:
            best = min(best, _first_at_roots(w, is_face))
    return best


@kernel
def decide_exactly(is_face: bool, points: Floats, w: Integers) -> tuple[int, float]:
    """Status and time of the first contact in [0, 1]: not late, and early by less than 2⁻⁴⁹.

    points (8,3): four points at t = 0, then the same at t = 1. w: a workspace of EXACT_ROWS rows."""
    w[0, OVERFLOW] = 0
    _set_paths(w, points)
    _set_quadratics(w, is_face)
    zero = w[P0, 0] == 0 and w[P1, 0] == 0 and w[P2, 0] == 0 and w[P3, 0] == 0
    time = _first_coplanar(w, is_face) if zero else _first_at_roots(w, is_face)
    if w[0, OVERFLOW] != 0:
        return LIMIT, 0.0
    return (HIT, time) if time < NEVER else (FREE, NEVER)


@kernel
def decide_undecided(is_face: bool, queries: Floats, w: Integers, status: NDArray[np.int8], time: Floats) -> None:
    """Decide those that are UNDECIDED. queries (n,8,3); w: a workspace of EXACT_ROWS rows."""
    for i in range(len(queries)):
        if status[i] == UNDECIDED:
            status[i], time[i] = decide_exactly(is_face, queries[i], w)
