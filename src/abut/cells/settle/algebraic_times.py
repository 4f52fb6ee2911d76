"""Times at which polynomials with rational coefficients vanish, compared without rounding: for the few questions that floating point leaves open.

A polynomial is a tuple of integers or fractions, of t⁰ first, without zeros at the end; () is zero. A `Moment` is a rational number, or the one
root of a polynomial without multiple roots between two rational numbers that are none. Signs of other polynomials there are found by halving that
interval, after a common root has been ruled out by a greatest common divisor; degrees are three and less.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

Rational = Fraction | int
Polynomial = tuple[Rational, ...]
HALF = Fraction(1, 2)
CLOSE = Fraction(1, 2**56)


def trimmed(coefficients: list[Rational]) -> Polynomial:
    """Without zeros at the end."""
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def sign(x: Rational) -> int:
    """−1, 0 or 1."""
    return (x > 0) - (x < 0)


def sign_at(p: Polynomial, t: Fraction) -> int:
    """The sign of the value at t: of that times a power of its denominator, so that integers stay integers."""
    total, power = 0, 1
    for c in reversed(p):
        total, power = total * t.numerator + c * power, power * t.denominator
    return sign(total)


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product."""
    product: list[Rational] = [0] * (len(p) + len(q))
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            product[i + j] += x * y
    return trimmed(product)


def add(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """p + factor·q."""
    longest = max(len(p), len(q))
    padded = (list(each) + [0] * (longest - len(each)) for each in (p, q))
    return trimmed([x + factor * y for x, y in zip(*padded, strict=True)])


def derivative(p: Polynomial) -> Polynomial:
    """The derivative."""
    return trimmed([k * c for k, c in enumerate(p)][1:])


def _divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder."""
    rest: list[Rational] = list(p)
    quotient: list[Rational] = [0] * max(len(p) - len(q) + 1, 0)
    for k in range(len(quotient) - 1, -1, -1):
        quotient[k] = Fraction(rest[k + len(q) - 1]) / q[-1]
        for i, c in enumerate(q):
            rest[k + i] -= quotient[k] * c
    return trimmed(quotient), trimmed(rest[: len(q) - 1] if len(p) >= len(q) else rest)


def common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """The greatest common divisor."""
    while q:
        p, q = q, _divide(p, q)[1]
    return p


def _bernstein_signs(p: Polynomial, lo: Fraction, hi: Fraction) -> list[int]:
    """The signs of the Bernstein coefficients on [lo, hi]."""
    shifted: Polynomial = ()
    for c in reversed(p):  # p(lo + (hi − lo)·s)
        shifted = add(multiply(shifted, (lo, hi - lo)), (c,) if c else ())
    row = [*map(Fraction, shifted), *[Fraction(0)] * (len(p) - len(shifted))]
    degree = len(row) - 1
    binomial = [1]
    for k in range(degree):
        binomial.append(binomial[k] * (degree - k) // (k + 1))
    row = [c / b for c, b in zip(row, binomial, strict=True)]
    for k in range(1, degree + 1):
        for i in range(degree, k - 1, -1):
            row[i] += row[i - 1]
    return [sign(c) for c in row]


@dataclass
class Moment:
    """The rational number lo where lo = hi, else the one root of `polynomial` inside (lo, hi)."""

    polynomial: Polynomial
    lo: Fraction
    hi: Fraction

    def narrow(self) -> None:
        """Halve the interval."""
        middle = (self.lo + self.hi) * HALF
        at = sign_at(self.polynomial, middle)
        if at == 0:
            self.lo = self.hi = middle
        elif at == sign_at(self.polynomial, self.lo):
            self.lo = middle
        else:
            self.hi = middle

    def enclosed(self) -> tuple[float, float]:
        """Two floats next to one another, or nearly so, that enclose this time; one of them twice where it is that."""
        while self.hi - self.lo > CLOSE * self.hi:
            self.narrow()
        lo, hi = float(self.lo), float(self.hi)
        return (lo if lo <= self.lo else math.nextafter(lo, -1.0)), (hi if hi >= self.hi else math.nextafter(hi, 2.0))

    def sign_of(self, p: Polynomial) -> int:
        """The sign of a polynomial at this time."""
        if not p:
            return 0
        if self.lo < self.hi:
            shared = common_divisor(p, self.polynomial)
            if sign_at(shared, self.lo) * sign_at(shared, self.hi) < 0:
                return 0
        while self.lo < self.hi:
            signs = _bernstein_signs(p, self.lo, self.hi)
            if signs[0] != 0 and all(each == signs[0] for each in signs):
                return signs[0]
            self.narrow()
        return sign_at(p, self.lo)

    def sign_after(self, p: Polynomial) -> int:
        """The sign just after this time; 0 for the zero polynomial."""
        while p:
            if found := self.sign_of(p):
                return found
            p = derivative(p)
        return 0

    def is_before(self, other: "Moment") -> bool:
        """Whether this time is earlier than another."""
        while self.hi >= other.lo and other.hi >= self.lo:
            if self.lo == self.hi:
                if other.lo == other.hi:
                    return self.lo < other.lo
                if sign_at(other.polynomial, self.lo) == 0 and other.lo < self.lo < other.hi:
                    return False
            elif other.lo == other.hi:
                if sign_at(self.polynomial, other.lo) == 0 and self.lo < other.lo < self.hi:
                    return False
            elif self._is_same(other):
                return False
            for each in (self, other):
                if each.lo < each.hi:
                    each.narrow()
        return self.hi < other.lo

    def _is_same(self, other: "Moment") -> bool:
        """Whether both are one root: then a common divisor changes its sign where the intervals overlap."""
        shared = common_divisor(self.polynomial, other.polynomial)
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return lo < hi and sign_at(shared, lo) * sign_at(shared, hi) < 0


def roots_of(p: Polynomial) -> list[Moment]:
    """The roots in [0, 1), ascending."""
    if len(p) < 2:
        return []
    simple = _divide(p, common_divisor(p, derivative(p)))[0]
    found: list[Moment] = []
    waiting = [(Fraction(0), Fraction(1))]
    while waiting:
        lo, hi = waiting.pop()
        signs = [each for each in _bernstein_signs(simple, lo, hi) if each]
        changes = sum(a != b for a, b in itertools.pairwise(signs))
        at_lo = sign_at(simple, lo) == 0
        if at_lo:
            found.append(Moment(simple, lo, lo))
        if changes == 0:
            continue
        if changes == 1 and not at_lo and sign_at(simple, hi) != 0:
            found.append(Moment(simple, lo, hi))
            continue
        middle = (lo + hi) * HALF
        waiting += [(middle, hi), (lo, middle)]
    return found
