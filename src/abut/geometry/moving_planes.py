"""A point at rest and a triangle whose corners go straight: on which side of its plane the point is, while time goes from 0 to 1.

The orientation of the moving corners a, b, c and the point p is a cubic in time, and linear in each corner by itself. So its Bernstein coefficients
are orientations of mixed corners: b0 and b3 those at the two ends, 3·b1 the sum of the three with one corner at the end, 3·b2 with two. Each
comes with a bound on its rounding error (Shewchuk 1997), and with an exact sign where that does not suffice. No coefficient negative: p is never
behind the plane. The sign just after time 0 is that of the first coefficient that is not zero.
"""

from typing import Any, NamedTuple

from abut.core.jit import element
from abut.core.scratch import reserve_integers
from abut.geometry.bernstein import Cubic
from abut.geometry.exact import wide
from abut.geometry.predicates import BOUND_3D, FLOOR, orient_3d
from abut.geometry.vec import Vec3, subtract

UNIT = 2.0**-53
BOUND_SUM = BOUND_3D + 8.0 * UNIT
"""Of three determinants, their two sums and a division by three, against the sum of the permanents."""


class MovingTriangle(NamedTuple):
    """Three corners at time 0 and at time 1."""

    a0: Vec3
    b0: Vec3
    c0: Vec3
    a1: Vec3
    b1: Vec3
    c1: Vec3


@element
def _orient(a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> tuple[float, float, float]:
    """The orientation, the permanent, and what underflow may add."""
    u, v, w = subtract(b, a), subtract(c, a), subtract(p, a)
    x1, x2 = u[1] * v[2], u[2] * v[1]
    y1, y2 = u[2] * v[0], u[0] * v[2]
    z1, z2 = u[0] * v[1], u[1] * v[0]
    wx, wy, wz = abs(w[0]), abs(w[1]), abs(w[2])
    det = w[0] * (x1 - x2) + w[1] * (y1 - y2) + w[2] * (z1 - z2)
    permanent = (abs(x1) + abs(x2)) * wx + (abs(y1) + abs(y2)) * wy + (abs(z1) + abs(z2)) * wz
    return det, permanent, FLOOR * (wx + wy + wz + 1.0)


@element
def measure_sides(t: MovingTriangle, p: Vec3) -> tuple[Cubic, float]:
    """The Bernstein coefficients of the orientation of the triangle and the point, and a bound on the error of each."""
    first, size_0, floor_0 = _orient(t.a0, t.b0, t.c0, p)
    last, size_3, floor_3 = _orient(t.a1, t.b1, t.c1, p)
    x, size_x, _ = _orient(t.a1, t.b0, t.c0, p)
    y, size_y, _ = _orient(t.a0, t.b1, t.c0, p)
    z, size_z, _ = _orient(t.a0, t.b0, t.c1, p)
    u, size_u, _ = _orient(t.a0, t.b1, t.c1, p)
    v, size_v, _ = _orient(t.a1, t.b0, t.c1, p)
    w, size_w, _ = _orient(t.a1, t.b1, t.c0, p)
    size = max(size_0, size_3, size_x + size_y + size_z, size_u + size_v + size_w)
    return (first, (x + y + z) / 3.0, (u + v + w) / 3.0, last), BOUND_SUM * size + 4.0 * (floor_0 + floor_3)


@element
def _add_orientation(buffer: Any, a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> None:
    """det(b, c, p) − det(a, c, p) + det(a, b, p) − det(a, b, c)."""
    wide.add_determinant(buffer, 1.0, b, c, p)
    wide.add_determinant(buffer, -1.0, a, c, p)
    wide.add_determinant(buffer, 1.0, a, b, p)
    wide.add_determinant(buffer, -1.0, a, b, c)


@element
def sign_of_side(t: MovingTriangle, p: Vec3, k: int) -> int:
    """The exact sign of coefficient k, 0 to 3."""
    if k == 0:
        return orient_3d(t.a0, t.b0, t.c0, p)
    if k == 3:
        return orient_3d(t.a1, t.b1, t.c1, p)
    buffer = reserve_integers(256)  # wide.LIMB_COUNT
    wide.clear(buffer)
    if k == 1:
        _add_orientation(buffer, t.a1, t.b0, t.c0, p)
        _add_orientation(buffer, t.a0, t.b1, t.c0, p)
        _add_orientation(buffer, t.a0, t.b0, t.c1, p)
    else:
        _add_orientation(buffer, t.a0, t.b1, t.c1, p)
        _add_orientation(buffer, t.a1, t.b0, t.c1, p)
        _add_orientation(buffer, t.a1, t.b1, t.c0, p)
    return wide.sign_of(buffer)


@element
def _lies_along(t: MovingTriangle, p: Vec3) -> bool:
    """Whether the triangle stays in a plane along two axes that holds the point."""
    for k in range(3):
        x = p[k]
        if t.a0[k] == x and t.b0[k] == x and t.c0[k] == x and t.a1[k] == x and t.b1[k] == x and t.c1[k] == x:
            return True
    return False


@element
def is_never_behind(t: MovingTriangle, p: Vec3, sides: Cubic, error: float) -> bool:
    """Whether no Bernstein coefficient is negative, exactly; then the point is at no time behind the plane."""
    if sides[0] > error and sides[1] > error and sides[2] > error and sides[3] > error:
        return True
    if sides[0] < -error or sides[1] < -error or sides[2] < -error or sides[3] < -error:
        return False
    if _lies_along(t, p):
        return True
    if t.a0 == t.a1 and t.b0 == t.b1 and t.c0 == t.c1:
        return orient_3d(t.a0, t.b0, t.c0, p) >= 0
    never = True
    for k in range(4):
        never = never and (sides[k] > error or sign_of_side(t, p, k) >= 0)
    return never
