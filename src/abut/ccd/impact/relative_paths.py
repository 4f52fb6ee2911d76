"""The motion of three points seen from a fourth: where every test of a pair of features starts.

With x₀ the base point (the vertex of a vertex-face pair, the first end of edge a), r_j(t) = x_j(t) − x₀(t), j = 1, 2, 3, are linear in t and
given by their values at both ends: six vectors. `sizes` holds, for each axis, the largest |component| among them.

Rounding: with u = 2⁻⁵³ each component of each r is off by u·size of its axis at most. If the largest size is outside 2^±30, all are scaled by
one power of two. Sizes are then below 2³⁰ and the largest at least 2⁻³⁰, so that products of four neither overflow nor, but for parts
below FLOOR, underflow: an underflow costs 2⁻¹⁰⁷⁴ each, times at most three more factors below 2³¹ and some dozens of terms, far below 2⁻⁹⁰⁰.
"""

import math

from abut.core.jit import element, inlined
from abut.geometry.vec import Vec3, lerp, subtract

UNIT = 2.0**-53
FLOOR = 2.0**-900
LOW, HIGH = 2.0**-30, 2.0**30

Quad = tuple[Vec3, Vec3, Vec3, Vec3]
"""Four points: v, f0, f1, f2 of a vertex-face pair, or ea0, ea1, eb0, eb1 of an edge-edge pair."""
RelativePaths = tuple[Vec3, Vec3, Vec3, Vec3, Vec3, Vec3]
"""r1, r2, r3 at t = 0, then at t = 1."""


@element
def _largest(a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    return max(abs(a), abs(b), abs(c), abs(d), abs(e), abs(f))


@inlined
def measure(p: RelativePaths) -> Vec3:
    """The largest |component| along each axis."""
    return (
        _largest(p[0][0], p[1][0], p[2][0], p[3][0], p[4][0], p[5][0]),
        _largest(p[0][1], p[1][1], p[2][1], p[3][1], p[4][1], p[5][1]),
        _largest(p[0][2], p[1][2], p[2][2], p[3][2], p[4][2], p[5][2]),
    )


@element
def _times(a: Vec3, exponent: int) -> Vec3:
    return (math.ldexp(a[0], exponent), math.ldexp(a[1], exponent), math.ldexp(a[2], exponent))


@element
def _rescale(p: RelativePaths, exponent: int) -> RelativePaths:
    return (
        _times(p[0], exponent),
        _times(p[1], exponent),
        _times(p[2], exponent),
        _times(p[3], exponent),
        _times(p[4], exponent),
        _times(p[5], exponent),
    )


@inlined
def relative_paths(
    x0: Vec3, x1: Vec3, x2: Vec3, x3: Vec3, y0: Vec3, y1: Vec3, y2: Vec3, y3: Vec3
) -> tuple[RelativePaths, Vec3, float]:
    """The paths of x1, x2, x3 seen from x0, x at t = 0 and y at t = 1; their sizes; and the power of two by which both were multiplied."""
    paths = (
        subtract(x1, x0),
        subtract(x2, x0),
        subtract(x3, x0),
        subtract(y1, y0),
        subtract(y2, y0),
        subtract(y3, y0),
    )
    sizes = measure(paths)
    largest = max(sizes[0], sizes[1], sizes[2])
    if (largest < LOW or largest > HIGH) and largest > 0.0:
        exponent = -math.frexp(largest)[1]
        return _rescale(paths, exponent), _times(sizes, exponent), math.ldexp(1.0, exponent)
    return paths, sizes, 1.0


@inlined
def paths_at(p: RelativePaths, t: float) -> tuple[Vec3, Vec3, Vec3]:
    """r1, r2 and r3 at time t. Each component is off by 4u·size at most: u from r, 2½u from the interpolation."""
    return lerp(p[0], p[3], t), lerp(p[1], p[4], t), lerp(p[2], p[5], t)
