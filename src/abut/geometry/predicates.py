"""Exact orientation signs: on which side of a line or plane a point lies, for every finite input.

Three stages. A floating-point filter (Shewchuk 1997, with his error bounds and a floor that covers underflow) decides nearly all. What it
leaves goes to expansions: first the determinant of the rounded differences, which is decisive when those were exact or when it exceeds the
error they can cause, then that of the coordinates themselves. Coordinates beyond 2^±300, where expansions could lose bits, go to integers
of fixed width (`wide`). So the sign is right for all finite doubles, overflow and underflow included; NaN and infinity are the caller's to
refuse. Integers are taken as doubles (exact up to 2⁵³).

Sign convention: all predicates are the sign of det(b − a, c − a, …).
"""

from abut.core.jit import element, stay_apart
from abut.core.scratch import reserve_floats, reserve_integers
from abut.geometry.exact import expansions, wide
from abut.geometry.exact.expansions import difference_tail
from abut.geometry.vec import Vec2, Vec3, subtract

UNIT = 2.0**-53
BOUND_2D = (3.0 + 16.0 * UNIT) * UNIT  # Shewchuk's ccwerrboundA: the filter
BOUND_2D_ROUNDED = (2.0 + 12.0 * UNIT) * UNIT  # ccwerrboundB: exact determinant of rounded differences
BOUND_3D = (7.0 + 56.0 * UNIT) * UNIT  # o3derrboundA
BOUND_3D_ROUNDED = (3.0 + 28.0 * UNIT) * UNIT  # o3derrboundB
# An underflowing product is off by at most 2⁻¹⁰⁷⁵, times a third factor in space. A floor 2⁷⁰ times larger costs nothing but a few
# exact tests on inputs below 1e-100.
FLOOR = 2.0**-1000
# Expansions are exact when every coordinate is 0 or lies in this range: products of three stay below 2⁹⁹¹ after splitting, and their
# lowest bits at or above 2^(3·(−300 − 52)) = 2⁻¹⁰⁵⁶.
SMALLEST = 2.0**-300
LARGEST = 2.0**300


@element
def _fits(x: float) -> bool:
    return x == 0.0 or SMALLEST <= abs(x) <= LARGEST


@element
def _fits_2d(a: Vec2) -> bool:
    return _fits(a[0]) and _fits(a[1])


@element
def _fits_3d(a: Vec3) -> bool:
    return _fits(a[0]) and _fits(a[1]) and _fits(a[2])


@element
def _sign(x: float) -> int:
    return int(x > 0.0) - int(x < 0.0)


@element
def _as_floats_2d(a: Vec2) -> Vec2:
    return (float(a[0]), float(a[1]))


@element
def _as_floats_3d(a: Vec3) -> Vec3:
    return (float(a[0]), float(a[1]), float(a[2]))


@element
def _is_exact_difference_2d(a: Vec2, b: Vec2) -> bool:
    return difference_tail(a[0], b[0]) == 0.0 and difference_tail(a[1], b[1]) == 0.0


@element
def _is_exact_difference(a: Vec3, b: Vec3) -> bool:
    return (
        difference_tail(a[0], b[0]) == 0.0 and difference_tail(a[1], b[1]) == 0.0 and difference_tail(a[2], b[2]) == 0.0
    )


@element
def orient_2d(a: Vec2, b: Vec2, c: Vec2) -> int:
    """Exact sign of det(b − a, c − a): 1 when a, b, c turn anticlockwise, −1 clockwise, 0 when they are collinear.

    Args:
        a, b, c: points (x, y).
    """
    a, b, c = _as_floats_2d(a), _as_floats_2d(b), _as_floats_2d(c)
    left = (b[0] - a[0]) * (c[1] - a[1])
    right = (b[1] - a[1]) * (c[0] - a[0])
    det = left - right
    bound = BOUND_2D * (abs(left) + abs(right)) + FLOOR
    if det > bound:
        return 1
    if -det > bound:
        return -1
    return _orient_2d_exact(a, b, c)


@element
def _orient_2d_exact(a: Vec2, b: Vec2, c: Vec2) -> int:
    stay_apart()
    if not (_fits_2d(a) and _fits_2d(b) and _fits_2d(c)):
        return _orient_2d_wide(a, b, c)
    ux, uy, vx, vy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    buffer = reserve_floats(12)  # two components a product, at most six products
    count = expansions.add_product_2(buffer, 0, ux, vy)
    count = expansions.add_product_2(buffer, count, -uy, vx)
    det = expansions.estimate(buffer, count)
    if _is_exact_difference_2d(b, a) and _is_exact_difference_2d(c, a):
        return _sign(det)
    if abs(det) > BOUND_2D_ROUNDED * (abs(ux * vy) + abs(uy * vx)):
        return _sign(det)
    # det(b, c) − det(a, c) + det(a, b)
    count = expansions.add_product_2(buffer, 0, b[0], c[1])
    count = expansions.add_product_2(buffer, count, -b[1], c[0])
    count = expansions.add_product_2(buffer, count, -a[0], c[1])
    count = expansions.add_product_2(buffer, count, a[1], c[0])
    count = expansions.add_product_2(buffer, count, a[0], b[1])
    count = expansions.add_product_2(buffer, count, -a[1], b[0])
    return _sign(expansions.estimate(buffer, count))


@element
def _orient_2d_wide(a: Vec2, b: Vec2, c: Vec2) -> int:
    stay_apart()
    buffer = reserve_integers(256)
    wide.clear(buffer)
    wide.add_product_3(buffer, b[0], c[1], 1.0)
    wide.add_product_3(buffer, -b[1], c[0], 1.0)
    wide.add_product_3(buffer, -a[0], c[1], 1.0)
    wide.add_product_3(buffer, a[1], c[0], 1.0)
    wide.add_product_3(buffer, a[0], b[1], 1.0)
    wide.add_product_3(buffer, -a[1], b[0], 1.0)
    return wide.sign_of(buffer)


@element
def _filter_3d(u: Vec3, v: Vec3, w: Vec3) -> tuple[float, float, float]:
    """det(u, v, w), the sum of the magnitudes of its products, and the floor against underflow."""
    x1, x2 = u[1] * v[2], u[2] * v[1]
    y1, y2 = u[2] * v[0], u[0] * v[2]
    z1, z2 = u[0] * v[1], u[1] * v[0]
    wx, wy, wz = abs(w[0]), abs(w[1]), abs(w[2])
    det = w[0] * (x1 - x2) + w[1] * (y1 - y2) + w[2] * (z1 - z2)
    permanent = (abs(x1) + abs(x2)) * wx + (abs(y1) + abs(y2)) * wy + (abs(z1) + abs(z2)) * wz
    return det, permanent, FLOOR * (wx + wy + wz + 1.0)


@element
def orient_3d(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Exact sign of det(b − a, c − a, d − a): 1 when d lies on the side to which (b − a) × (c − a) points, 0 in the plane.

    Args:
        a, b, c: points (x, y, z) of the plane.
        d: the point in question.
    """
    a, b, c, d = _as_floats_3d(a), _as_floats_3d(b), _as_floats_3d(c), _as_floats_3d(d)
    det, permanent, floor = _filter_3d(subtract(b, a), subtract(c, a), subtract(d, a))
    bound = BOUND_3D * permanent + floor
    if det > bound:
        return 1
    if -det > bound:
        return -1
    return _orient_3d_exact(a, b, c, d)


@element
def is_clearly_positive(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> bool:
    """Whether the filter of `orient_3d` alone says 1."""
    det, permanent, floor = _filter_3d(subtract(b, a), subtract(c, a), subtract(d, a))
    return det > BOUND_3D * permanent + floor


@element
def _is_same(a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether a is b or c, or b is c."""
    return a == b or b == c or c == a


@element
def _orient_3d_exact(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    stay_apart()
    if _is_same(a, b, c) or _is_same(b, c, d) or a == d:  # triangles of one mesh share vertices all the time
        return 0
    if not (_fits_3d(a) and _fits_3d(b) and _fits_3d(c) and _fits_3d(d)):
        return _orient_3d_wide(a, b, c, d)
    u, v, w = subtract(b, a), subtract(c, a), subtract(d, a)
    buffer = reserve_floats(96)  # 24 components a determinant, at most four
    count = expansions.add_determinant(buffer, 0, 1.0, u, v, w)
    det = expansions.estimate(buffer, count)
    if _is_exact_difference(b, a) and _is_exact_difference(c, a) and _is_exact_difference(d, a):
        return _sign(det)
    if abs(det) > BOUND_3D_ROUNDED * _filter_3d(u, v, w)[1]:
        return _sign(det)
    count = expansions.add_determinant(buffer, 0, 1.0, b, c, d)
    count = expansions.add_determinant(buffer, count, -1.0, a, c, d)
    count = expansions.add_determinant(buffer, count, 1.0, a, b, d)
    count = expansions.add_determinant(buffer, count, -1.0, a, b, c)
    return _sign(expansions.estimate(buffer, count))


@element
def _orient_3d_wide(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    stay_apart()
    buffer = reserve_integers(256)
    wide.clear(buffer)
    wide.add_determinant(buffer, 1.0, b, c, d)
    wide.add_determinant(buffer, -1.0, a, c, d)
    wide.add_determinant(buffer, 1.0, a, b, d)
    wide.add_determinant(buffer, -1.0, a, b, c)
    return wide.sign_of(buffer)


@element
def orient_direction(d: Vec3, a: Vec3, b: Vec3, p: Vec3) -> int:
    """Exact sign of det(d, a − p, b − p): on which side of the line through p along d the directed edge ab passes.

    Args:
        d: a direction (x, y, z).
        a, b: the ends of the edge.
        p: a point of the line.
    """
    d, a, b, p = _as_floats_3d(d), _as_floats_3d(a), _as_floats_3d(b), _as_floats_3d(p)
    det, permanent, floor = _filter_3d(subtract(a, p), subtract(b, p), d)  # a cyclic permutation
    bound = BOUND_3D * permanent + floor
    if det > bound:
        return 1
    if -det > bound:
        return -1
    return _orient_direction_exact(d, a, b, p)


@element
def _orient_direction_exact(d: Vec3, a: Vec3, b: Vec3, p: Vec3) -> int:
    stay_apart()
    # det(d, a, b) − det(d, a, p) − det(d, p, b)
    if _fits_3d(d) and _fits_3d(a) and _fits_3d(b) and _fits_3d(p):
        buffer = reserve_floats(72)
        count = expansions.add_determinant(buffer, 0, 1.0, d, a, b)
        count = expansions.add_determinant(buffer, count, -1.0, d, a, p)
        count = expansions.add_determinant(buffer, count, -1.0, d, p, b)
        return _sign(expansions.estimate(buffer, count))
    limbs = reserve_integers(256)
    wide.clear(limbs)
    wide.add_determinant(limbs, 1.0, d, a, b)
    wide.add_determinant(limbs, -1.0, d, a, p)
    wide.add_determinant(limbs, -1.0, d, p, b)
    return wide.sign_of(limbs)


@element
def orient_differences_2d(p: Vec2, q: Vec2, a: Vec2, b: Vec2) -> int:
    """Exact sign of det(q − p, b − a): which way one has to turn from the one direction to the other.

    Args:
        p, q: two points (x, y).
        a, b: two others.
    """
    p, q, a, b = _as_floats_2d(p), _as_floats_2d(q), _as_floats_2d(a), _as_floats_2d(b)
    left = (q[0] - p[0]) * (b[1] - a[1])
    right = (q[1] - p[1]) * (b[0] - a[0])
    det = left - right
    bound = BOUND_2D * (abs(left) + abs(right)) + FLOOR
    if det > bound:
        return 1
    if -det > bound:
        return -1
    if p == q or a == b:
        return 0
    # det(q, b) − det(q, a) − det(p, b) + det(p, a)
    if _fits_2d(p) and _fits_2d(q) and _fits_2d(a) and _fits_2d(b):
        buffer = reserve_floats(16)  # two components a product
        count = 0
        for u, v in ((q, b), (a, q), (b, p), (p, a)):
            count = expansions.add_product_2(buffer, count, u[0], v[1])
            count = expansions.add_product_2(buffer, count, -u[1], v[0])
        return _sign(expansions.estimate(buffer, count))
    limbs = reserve_integers(256)
    wide.clear(limbs)
    for u, v in ((q, b), (a, q), (b, p), (p, a)):
        wide.add_product_3(limbs, u[0], v[1], 1.0)
        wide.add_product_3(limbs, -u[1], v[0], 1.0)
    return wide.sign_of(limbs)
