"""A cubic on [0, 1] by its four Bernstein coefficients, whose least and largest bound it.

One step s·a + t·b with s = fl(1 − t), in u = 2⁻⁵³: s is off by u/2 at most (exact for t ≥ ½), each product by u times itself, the sum by u times
itself, together (½ + 1 + 1)u·max|b|. Three steps lead to a value or to a coefficient of a piece: 7.5u·max|b|. What is left up to BOUND_CASTELJAU
covers terms in u², and underflow where u·max|b| > 2⁻⁴⁵⁴.
"""

from abut.core.jit import element, inlined

BOUND_CASTELJAU = 8.0 * 2.0**-53

Cubic = tuple[float, float, float, float]


@inlined
def restrict(b: Cubic, lo: float, hi: float) -> Cubic:
    """The coefficients on [lo, hi]: the blossom at (lo, lo, lo), (lo, lo, hi), (lo, hi, hi) and (hi, hi, hi)."""
    s, t = 1.0 - lo, 1.0 - hi
    l0, l1, l2 = s * b[0] + lo * b[1], s * b[1] + lo * b[2], s * b[2] + lo * b[3]
    h0, h1, h2 = t * b[0] + hi * b[1], t * b[1] + hi * b[2], t * b[2] + hi * b[3]
    ll0, ll1 = s * l0 + lo * l1, s * l1 + lo * l2
    hh0, hh1 = t * h0 + hi * h1, t * h1 + hi * h2
    return (s * ll0 + lo * ll1, t * ll0 + hi * ll1, s * hh0 + lo * hh1, t * hh0 + hi * hh1)


@element
def evaluate(b: Cubic, t: float) -> float:
    """The value at t."""
    s = 1.0 - t
    r0, r1, r2 = s * b[0] + t * b[1], s * b[1] + t * b[2], s * b[2] + t * b[3]
    return s * (s * r0 + t * r1) + t * (s * r1 + t * r2)
