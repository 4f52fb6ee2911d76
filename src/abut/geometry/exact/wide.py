"""Exact sums of products of any three finite doubles, as one integer wide enough for all of them.

A finite double is m·2ᵉ with |m| < 2⁵³ and −1126 ≤ e ≤ 971 (`frexp` of a subnormal included), so a product of three is an integer times
2⁻³³⁷⁸, below 2^(3·1024 + 3378) = 2⁶⁴⁵⁰. The integer is kept as LIMB_COUNT limbs in base 2²⁷ (6,912 bits), each an int64 that takes
thousands of additions before it can overflow; carries are settled once, at the end. There is no overflow and no underflow: this is where
`predicates` ends when coordinates are so large or so small that expansions would lose bits.
"""

import math
from typing import Any

from abut.core.jit import element, stay_apart
from abut.core.scratch import load, store
from abut.geometry.vec import Vec3

LIMB_BITS = 27
LIMB_MASK = (1 << LIMB_BITS) - 1
LIMB_COUNT = 256
LOWEST_EXPONENT = -3 * 1126


@element
def _digits(x: float) -> tuple[int, int, int]:
    """|x| = (low + high·2²⁷)·2ᵉ."""
    m, e = math.frexp(abs(x))
    mantissa = int(m * 9007199254740992.0)  # 2⁵³
    return mantissa & LIMB_MASK, mantissa >> LIMB_BITS, int(e) - 53


@element
def clear(buffer: Any) -> None:
    """Set the LIMB_COUNT limbs to zero."""
    for i in range(LIMB_COUNT):
        store(buffer, i, 0)


@element
def _add_digit(buffer: Any, sign: int, position: int, digit: int) -> None:
    """Add sign·digit·2^position, 0 ≤ digit < 2²⁷."""
    limb = position // LIMB_BITS
    shifted = digit << (position - limb * LIMB_BITS)
    store(buffer, limb, load(buffer, limb) + sign * (shifted & LIMB_MASK))
    store(buffer, limb + 1, load(buffer, limb + 1) + sign * (shifted >> LIMB_BITS))


@element
def add_product_3(buffer: Any, x: float, y: float, z: float) -> None:
    """Add x·y·z."""
    stay_apart()
    if x == 0.0 or y == 0.0 or z == 0.0:
        return
    sign = -1 if ((x < 0.0) != (y < 0.0)) != (z < 0.0) else 1
    x0, x1, ex = _digits(x)
    y0, y1, ey = _digits(y)
    z0, z1, ez = _digits(z)
    # x·y in four digits
    s = x0 * y0
    p0 = s & LIMB_MASK
    s = (s >> LIMB_BITS) + x0 * y1 + x1 * y0
    p1 = s & LIMB_MASK
    s = (s >> LIMB_BITS) + x1 * y1
    p2 = s & LIMB_MASK
    p3 = s >> LIMB_BITS
    # times z in six; each sum stays below 2⁵⁶
    at = ex + ey + ez - LOWEST_EXPONENT
    s = p0 * z0
    _add_digit(buffer, sign, at, s & LIMB_MASK)
    s = (s >> LIMB_BITS) + p1 * z0 + p0 * z1
    _add_digit(buffer, sign, at + LIMB_BITS, s & LIMB_MASK)
    s = (s >> LIMB_BITS) + p2 * z0 + p1 * z1
    _add_digit(buffer, sign, at + 2 * LIMB_BITS, s & LIMB_MASK)
    s = (s >> LIMB_BITS) + p3 * z0 + p2 * z1
    _add_digit(buffer, sign, at + 3 * LIMB_BITS, s & LIMB_MASK)
    s = (s >> LIMB_BITS) + p3 * z1
    _add_digit(buffer, sign, at + 4 * LIMB_BITS, s & LIMB_MASK)
    _add_digit(buffer, sign, at + 5 * LIMB_BITS, s >> LIMB_BITS)


@element
def add_determinant(buffer: Any, sign: float, x: Vec3, y: Vec3, z: Vec3) -> None:
    """Add sign·det(x, y, z), sign being ±1."""
    x0, x1, x2 = sign * x[0], sign * x[1], sign * x[2]
    add_product_3(buffer, x0, y[1], z[2])
    add_product_3(buffer, -x0, y[2], z[1])
    add_product_3(buffer, x1, y[2], z[0])
    add_product_3(buffer, -x1, y[0], z[2])
    add_product_3(buffer, x2, y[0], z[1])
    add_product_3(buffer, -x2, y[1], z[0])


@element
def sign_of(buffer: Any) -> int:
    """Settle the carries; the sign of the sum."""
    carry = 0
    nonzero = 0
    for i in range(LIMB_COUNT):
        total = load(buffer, i) + carry
        carry = total >> LIMB_BITS  # rounds down, so every limb is left in [0, 2²⁷)
        nonzero |= total & LIMB_MASK
    if carry < 0:
        return -1
    return 1 if nonzero != 0 else 0
