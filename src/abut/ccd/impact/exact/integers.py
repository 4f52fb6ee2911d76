"""Integers of any size in the rows of one array, for compiled code: sums with small factors, products, signs.

Row i of a workspace w (int64) holds the number Σ w[i, 1 + k]·2^(27k), k below its count w[i, 0]. All digits are in [0, 2²⁷) but the highest,
which is in [−2²⁷, 2²⁷) and not 0: it has the sign of the number. Zero has no digits. Products are sums over columns of at most DIGITS/2
products below 2⁵⁴, which int64 holds.

Row 0 is a header: w[0, 0] is set when a result had no room. Results may stand in the row of an operand, except those of `multiply`.

Straight-line formulas are tables (`program`) that `execute` reads. Calls written out would compile once for each set of literal row numbers.
"""

import math
from typing import cast

import numpy as np

from abut.core.arrays import Integers, frozen
from abut.core.jit import kernel, stay_apart

BITS = 27
BASE = 1 << BITS
MASK = BASE - 1
DIGITS = 498  # 13,446 bits
PRIME = (1 << 31) - 1
OVERFLOW = 0
"""Column of the header that tells of a result without room."""


Line = tuple[int, ...]


def rows(first: int, count: int) -> list[int]:
    """Numbers of rows as NumPy integers. Those of Python would be literals to Numba, which compiles a function again for each literal."""
    return cast("list[int]", list(np.arange(first, first + count, dtype=np.int64)))


def total(out: int, *terms: tuple[int, int]) -> Line:
    """A line of a program: row out = Σ factor·row over up to four terms (factor, row)."""
    padded = (*terms, *[(0, terms[0][1])] * (4 - len(terms)))
    return (0, out, *(number for term in padded for number in term))


def product(out: int, a: int, b: int) -> Line:
    """A line of a program: row out = row a · row b; out must be neither."""
    return (1, out, 0, a, 0, b, 0, 0, 0, 0)


def program(*lines: Line) -> Integers:
    """A program, to be executed line by line."""
    return frozen(np.array(lines, dtype=np.int64))


def workspace(rows: int) -> Integers:
    """Rows that all hold zero."""
    return np.zeros((rows, DIGITS + 2), dtype=np.int64)


@kernel
def sign(w: Integers, a: int) -> int:
    """1, 0 or −1."""
    count = w[a, 0]
    if count == 0:
        return 0
    return 1 if w[a, count] > 0 else -1


@kernel
def _finish(w: Integers, out: int, count: int, carry: int) -> None:
    """Write the carry behind `count` digits and bring the number into its one form."""
    stay_apart()
    while carry != 0 and carry != -1 and count < DIGITS:
        count += 1
        w[out, count] = carry & MASK
        carry >>= BITS
    if carry == -1:
        count += 1
        w[out, count] = -1
    elif carry != 0:
        w[0, OVERFLOW] = 1
    while count > 0:
        if w[out, count] == 0:
            count -= 1
        elif w[out, count] == -1 and count > 1:
            count -= 1
            w[out, count] -= BASE
        else:
            break
    w[out, 0] = count


@kernel
def combine(w: Integers, out: int, a: int, by_a: int, b: int, by_b: int, c: int, by_c: int, d: int, by_d: int) -> None:
    """Row out = by_a·a + by_b·b + by_c·c + by_d·d, the factors below 2³⁰. Any row may stand for a term with factor 0."""
    stay_apart()
    count_a, count_b, count_c, count_d = w[a, 0], w[b, 0], w[c, 0], w[d, 0]
    count = max(count_a, count_b, count_c, count_d)
    carry = 0
    for k in range(1, count + 1):
        if k <= count_a:
            carry += by_a * w[a, k]
        if k <= count_b:
            carry += by_b * w[b, k]
        if k <= count_c:
            carry += by_c * w[c, k]
        if k <= count_d:
            carry += by_d * w[d, k]
        w[out, k] = carry & MASK
        carry >>= BITS
    _finish(w, out, count, carry)


@kernel
def copy(w: Integers, out: int, a: int) -> None:
    """Row out = a."""
    stay_apart()
    for k in range(w[a, 0] + 1):
        w[out, k] = w[a, k]


@kernel
def multiply(w: Integers, out: int, a: int, b: int) -> None:
    """Row out = a·b; out must be neither a nor b."""
    stay_apart()
    count_a, count_b = w[a, 0], w[b, 0]
    if count_a == 0 or count_b == 0:
        w[out, 0] = 0
        return
    if count_a + count_b > DIGITS:
        w[0, OVERFLOW] = 1
        w[out, 0] = 0
        return
    carry = 0
    for k in range(count_a + count_b - 1):
        for i in range(max(0, k - count_b + 1), min(k, count_a - 1) + 1):
            carry += w[a, 1 + i] * w[b, 1 + k - i]
        w[out, 1 + k] = carry & MASK
        carry >>= BITS
    _finish(w, out, count_a + count_b - 1, carry)


@kernel
def execute(w: Integers, lines: Integers) -> None:
    """Run a program."""
    stay_apart()
    for i in range(len(lines)):
        out, a, b, c, d = lines[i, 1], lines[i, 3], lines[i, 5], lines[i, 7], lines[i, 9]
        if lines[i, 0] == 1:
            multiply(w, out, a, b)
        else:
            combine(w, out, a, lines[i, 2], b, lines[i, 4], c, lines[i, 6], d, lines[i, 8])


@kernel
def divide_by_power(w: Integers, a: int, bits: int) -> None:
    """Row a = a/2^bits, rounded down, bits < 27."""
    stay_apart()
    count = w[a, 0]
    for k in range(1, count + 1):
        above = (w[a, k + 1] & ((1 << bits) - 1)) << (BITS - bits) if k < count else 0
        w[a, k] = (w[a, k] >> bits) + above
    _finish(w, a, count, 0)


@kernel
def set_scaled(w: Integers, out: int, mantissa: int, exponent: int) -> None:
    """Row out = mantissa·2^exponent, |mantissa| < 2⁵⁴, exponent ≥ 0."""
    stay_apart()
    skipped = exponent // BITS
    if skipped + 4 > DIGITS:
        w[0, OVERFLOW] = 1
        w[out, 0] = 0
        return
    for k in range(1, skipped + 1):
        w[out, k] = 0
    shift = exponent - skipped * BITS
    low, high = (mantissa & MASK) << shift, mantissa >> BITS
    w[out, skipped + 1] = low & MASK
    _finish(w, out, skipped + 1, (low >> BITS) + (high << shift))


@kernel
def residue(w: Integers, a: int) -> int:
    """A mod PRIME, in [0, PRIME)."""
    rest = 0
    for k in range(w[a, 0], 0, -1):
        rest = ((rest << BITS) + w[a, k]) % PRIME
    return rest


@kernel
def approximate(w: Integers, a: int, power: int) -> float:
    """a/2^(27·power), by its three highest digits, for a count of at most power."""
    count = w[a, 0]
    value = 0.0
    for k in range(max(1, count - 2), count + 1):
        value += math.ldexp(float(w[a, k]), int(BITS * (k - 1 - power)))
    return value


@kernel
def _leading(w: Integers, a: int) -> tuple[int, int]:
    """m and e with 2⁵² ≤ m < 2⁵³ and m·2ᵉ ≤ a < (m + 1)·2ᵉ, for a > 0 (e is negative when a is below 2⁵²)."""
    count = w[a, 0]
    m = w[a, count]
    if count > 1:
        m = (m << BITS) + w[a, count - 1]
    exponent = BITS * max(count - 2, 0)
    while m < 1 << 52:
        m <<= 1
        exponent -= 1
        if exponent >= 0:
            digit = exponent // BITS
            m += (w[a, 1 + digit] >> (exponent - digit * BITS)) & 1
    while m >= 1 << 53:
        m >>= 1
        exponent += 1
    return m, exponent


@kernel
def dyadic_below(w: Integers, a: int, power: int) -> float:
    """The largest double ≤ a/2^power, for a ≥ 0."""
    if w[a, 0] == 0:
        return 0.0
    m, exponent = _leading(w, a)
    return math.ldexp(float(m), int(exponent - power))


@kernel
def ratio_below(w: Integers, a: int, b: int) -> float:
    """A number ≤ a/b that is low by less than 2⁻⁴⁹ of itself, for a ≥ 0 and b > 0."""
    if w[a, 0] == 0:
        return 0.0
    m_a, e_a = _leading(w, a)
    m_b, e_b = _leading(w, b)
    # m_b may be low by 2⁻⁵² of itself, the quotient and the product are rounded by 2⁻⁵³ each.
    return math.ldexp(float(m_a) / float(m_b) * (1.0 - 2.0**-50), int(e_a - e_b))
