"""Numbers of twice the precision, as unevaluated sums of two doubles (Dekker 1971), and the few vectors that need them.

A sum or product is off by 2⁻¹⁰⁰ or so of the numbers that go in, as long as nothing overflows and no error term falls below the smallest number.
"""

from abut.core.jit import element
from abut.geometry.exact.expansions import two_product, two_sum
from abut.geometry.vec import Vec3

Double = tuple[float, float]
"""A rounded number and what is missing from it."""
Wide = tuple[Double, Double, Double]
"""A vector."""


@element
def _add(a: Double, b: Double) -> Double:
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = two_sum(s, e + t)
    return two_sum(s, e + f)


@element
def _multiply(a: Double, b: Double) -> Double:
    p, e = two_product(a[0], b[0])
    return two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@element
def _minor(a: Double, b: Double, c: Double, d: Double) -> Double:
    """a·b − c·d."""
    p, q = _multiply(a, b), _multiply(c, d)
    return _add(p, (-q[0], -q[1]))


@element
def widen(a: Vec3) -> Wide:
    """The same vector."""
    return (a[0], 0.0), (a[1], 0.0), (a[2], 0.0)


@element
def wide_difference(a: Vec3, b: Vec3) -> Wide:
    """a − b, without error."""
    return two_sum(a[0], -b[0]), two_sum(a[1], -b[1]), two_sum(a[2], -b[2])


@element
def wide_cross(a: Wide, b: Wide) -> Wide:
    """a × b."""
    return _minor(a[1], b[2], a[2], b[1]), _minor(a[2], b[0], a[0], b[2]), _minor(a[0], b[1], a[1], b[0])


@element
def rounded(a: Wide) -> Vec3:
    """The vector in doubles."""
    return a[0][0], a[1][0], a[2][0]
