"""Values of the orientation determinants, and where an edge or a ray crosses a plane or a line.

A point on an edge is constructed from the ratio of two determinants. When a plane is nearly parallel to the edge, both
are almost all rounding error; so those that cancel are summed again as expansions (Shewchuk 1997), and a value is
always right to about 2⁻⁴⁶. Only constructions use these: verdicts come from `predicates`. Coordinates beyond 2^±300
are first scaled by a power of two.
"""

import math

from abut.core.jit import element
from abut.core.scratch import reserve_floats
from abut.geometry.exact import expansions
from abut.geometry.vec import Vec2, Vec3, drop_axis, subtract

# A determinant of at least this share of the sum of its products' magnitudes has lost at most four bits.
CLEAR = 2.0**-4
BOUND_3D = (7.0 + 56.0 * 2.0**-53) * 2.0**-53
"""Shewchuk's o3derrboundA."""
SLACK = 2.0**-50
"""Three roundings of sums and one of a quotient, at most 2⁻⁵³ each, for either bound; doubled."""
TINY = 2.0**-800
"""Above what underflowing products lose, 2⁻¹⁰⁷⁴ times a coordinate of at most 1e75."""
LARGEST_FLOAT = 1.7976931348623157e308
# Coordinates for which expansions are exact, as in `predicates`.
SMALLEST = 2.0**-300
LARGEST = 2.0**300


@element
def _fits(a: Vec3) -> bool:
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    return (
        (x == 0.0 or SMALLEST <= x <= LARGEST)
        and (y == 0.0 or SMALLEST <= y <= LARGEST)
        and (z == 0.0 or SMALLEST <= z <= LARGEST)
    )


@element
def _rounded(u: Vec3, v: Vec3, w: Vec3) -> tuple[float, float]:
    """det(u, v, w) in floating point, and the sum of the magnitudes of its products."""
    x1, x2 = u[1] * v[2], u[2] * v[1]
    y1, y2 = u[2] * v[0], u[0] * v[2]
    z1, z2 = u[0] * v[1], u[1] * v[0]
    det = w[0] * (x1 - x2) + w[1] * (y1 - y2) + w[2] * (z1 - z2)
    size = (abs(x1) + abs(x2)) * abs(w[0]) + (abs(y1) + abs(y2)) * abs(w[1]) + (abs(z1) + abs(z2)) * abs(w[2])
    return det, size


@element
def determinant_2d(a: Vec2, b: Vec2, c: Vec2) -> float:
    """det(b − a, c − a): twice the signed area of abc."""
    left = (b[0] - a[0]) * (c[1] - a[1])
    right = (b[1] - a[1]) * (c[0] - a[0])
    if abs(left - right) >= CLEAR * (abs(left) + abs(right)):
        return left - right
    buffer = reserve_floats(12)  # two components a product
    count = expansions.add_product_2(buffer, 0, b[0], c[1])
    count = expansions.add_product_2(buffer, count, -b[1], c[0])
    count = expansions.add_product_2(buffer, count, -a[0], c[1])
    count = expansions.add_product_2(buffer, count, a[1], c[0])
    count = expansions.add_product_2(buffer, count, a[0], b[1])
    count = expansions.add_product_2(buffer, count, -a[1], b[0])
    return expansions.estimate(buffer, count)


@element
def determinant_direction_2d(d: Vec2, a: Vec2, p: Vec2) -> float:
    """det(d, a − p)."""
    left = d[0] * (a[1] - p[1])
    right = d[1] * (a[0] - p[0])
    if abs(left - right) >= CLEAR * (abs(left) + abs(right)):
        return left - right
    buffer = reserve_floats(8)
    count = expansions.add_product_2(buffer, 0, d[0], a[1])
    count = expansions.add_product_2(buffer, count, -d[0], p[1])
    count = expansions.add_product_2(buffer, count, -d[1], a[0])
    count = expansions.add_product_2(buffer, count, d[1], p[0])
    return expansions.estimate(buffer, count)


@element
def determinant_3d(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """det(b − a, c − a, d − a): six times the signed volume of abcd."""
    det, size = _rounded(subtract(b, a), subtract(c, a), subtract(d, a))
    if abs(det) >= CLEAR * size:
        return det
    buffer = reserve_floats(96)  # 24 components a determinant
    count = expansions.add_determinant(buffer, 0, 1.0, b, c, d)
    count = expansions.add_determinant(buffer, count, -1.0, a, c, d)
    count = expansions.add_determinant(buffer, count, 1.0, a, b, d)
    count = expansions.add_determinant(buffer, count, -1.0, a, b, c)
    return expansions.estimate(buffer, count)


@element
def determinant_direction(d: Vec3, a: Vec3, b: Vec3, p: Vec3) -> float:
    """det(d, a − p, b − p)."""
    det, size = _rounded(subtract(a, p), subtract(b, p), d)
    if abs(det) >= CLEAR * size:
        return det
    buffer = reserve_floats(72)
    count = expansions.add_determinant(buffer, 0, 1.0, d, a, b)
    count = expansions.add_determinant(buffer, count, -1.0, d, a, p)
    count = expansions.add_determinant(buffer, count, -1.0, d, p, b)
    return expansions.estimate(buffer, count)


@element
def _largest(a: Vec3) -> float:
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@element
def _exponent(size: float) -> int:
    return math.frexp(size)[1]


@element
def _shift(a: Vec3, exponent: int) -> Vec3:
    return (math.ldexp(a[0], -exponent), math.ldexp(a[1], -exponent), math.ldexp(a[2], -exponent))


@element
def _times_power(t: float, exponent: int) -> float:
    """t·2^exponent for t ≥ 0, at most LARGEST_FLOAT."""
    if exponent > 0 and t > math.ldexp(LARGEST_FLOAT, -exponent):
        return LARGEST_FLOAT
    return math.ldexp(t, exponent)


@element
def clamp_unit(t: float) -> float:
    """The number of [0, 1] nearest to t; 0 for NaN."""
    return min(t, 1.0) if t > 0.0 else 0.0


@element
def clamp_ray(t: float) -> float:
    """The finite number t ≥ 0 nearest to t; 0 for NaN."""
    return min(t, LARGEST_FLOAT) if t > 0.0 else 0.0


@element
def cross_segment_plane(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    """The parameter in [0, 1] at which segment pq crosses the plane abc.

    Its ends must not lie strictly on one side, nor both in the plane.
    """
    if not (_fits(p) and _fits(q) and _fits(a) and _fits(b) and _fits(c)):
        k = _exponent(max(_largest(p), _largest(q), _largest(a), _largest(b), _largest(c)))
        p, q, a, b, c = _shift(p, k), _shift(q, k), _shift(a, k), _shift(b, k), _shift(c, k)
    side_p, side_q = determinant_3d(a, b, c, p), determinant_3d(a, b, c, q)
    return clamp_unit(side_p / (side_p - side_q)) if side_p != side_q else 0.0


@element
def bound_crossing(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[float, float]:
    """Bounds of the parameter at which segment pq crosses the plane abc from its positive side; (1, ∞) where rounding hides p's side.

    The determinants are off by BOUND_3D of the sums of their products' magnitudes (Shewchuk 1997); what the ratios round, and what
    products lose to underflow, is covered by SLACK and TINY.
    """
    u, v = subtract(b, a), subtract(c, a)
    det_p, size_p = _rounded(u, v, subtract(p, a))
    det_q, size_q = _rounded(u, v, subtract(q, a))
    error_p, error_q = BOUND_3D * size_p, BOUND_3D * size_q
    if not (det_p - error_p > TINY and -det_q - error_q > TINY):
        return 1.0, math.inf
    low, high = (
        (det_p - error_p) / (det_p - error_p - det_q + error_q),
        (det_p + error_p) / (det_p + error_p - det_q - error_q),
    )
    return low * (1.0 - SLACK), high * (1.0 + SLACK)


@element
def cross_ray_plane(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    """The parameter t ≥ 0 at which o + t·d crosses the plane abc, to which d must not be parallel."""
    k, k_d = 0, 0
    if not (_fits(o) and _fits(d) and _fits(a) and _fits(b) and _fits(c)):
        k, k_d = _exponent(max(_largest(o), _largest(a), _largest(b), _largest(c))), _exponent(_largest(d))
        o, d, a, b, c = _shift(o, k), _shift(d, k_d), _shift(a, k), _shift(b, k), _shift(c, k)
    speed = determinant_direction(d, b, c, a)
    t = clamp_ray(determinant_3d(a, b, c, o) / -speed) if speed != 0.0 else 0.0
    return _times_power(t, k - k_d)


@element
def cross_segment_line(p: Vec3, q: Vec3, a: Vec3, b: Vec3, axis: int) -> float:
    """The parameter in [0, 1] at which segment pq crosses the line ab, all seen along an axis; conditions as above."""
    if not (_fits(p) and _fits(q) and _fits(a) and _fits(b)):
        k = _exponent(max(_largest(p), _largest(q), _largest(a), _largest(b)))
        p, q, a, b = _shift(p, k), _shift(q, k), _shift(a, k), _shift(b, k)
    line_a, line_b = drop_axis(a, axis), drop_axis(b, axis)
    side_p = determinant_2d(line_a, line_b, drop_axis(p, axis))
    side_q = determinant_2d(line_a, line_b, drop_axis(q, axis))
    return clamp_unit(side_p / (side_p - side_q)) if side_p != side_q else 0.0


@element
def cross_ray_line(o: Vec3, d: Vec3, a: Vec3, b: Vec3, axis: int) -> float:
    """The parameter t ≥ 0 at which o + t·d crosses the line ab, seen along an axis; d and ab must not look parallel."""
    k, k_d = 0, 0
    if not (_fits(o) and _fits(d) and _fits(a) and _fits(b)):
        k, k_d = _exponent(max(_largest(o), _largest(a), _largest(b))), _exponent(_largest(d))
        o, d, a, b = _shift(o, k), _shift(d, k_d), _shift(a, k), _shift(b, k)
    line_a, line_b = drop_axis(a, axis), drop_axis(b, axis)
    speed = determinant_direction_2d(drop_axis(d, axis), line_b, line_a)
    t = clamp_ray(determinant_2d(line_a, line_b, drop_axis(o, axis)) / speed) if speed != 0.0 else 0.0
    return _times_power(t, k - k_d)
