"""The rotation nearest to a 3×3 matrix: its polar factor, proper and defined whatever the matrix.

One-sided Jacobi rotations make the columns of A·V orthogonal (Hestenes 1958); then A = U·S·Vᵀ without A's conditioning being squared, as it
is where AᵀA is diagonalised (Jund 2010, §5.2.2). R = U·Vᵀ with both frames right-handed maximises tr(RᵀA) among rotations (Kabsch 1978): of a
reflected matrix the smallest singular value is turned round. Where A has rank 2 (planar shapes) R is still unique. Of rank 1 (a line) or 0 (a
point) it is not: then the part that A leaves open is taken from a rotation given, the one before.
"""

import math

from abut.core.jit import element
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, scale, unit

MOST_SWEEPS = 16  # convergence is quadratic: five are enough in practice
ORTHOGONAL = 2.0**-52
"""Columns whose cosine is below this are orthogonal: a rotation would change nothing but rounding."""
LEAST_RANK = 2.0**-46
"""Singular values below this part of the largest are zero: sums over some hundred particles are rounded by as much."""

SMALLEST = 2.0**-1000
"""Matrices whose entries are all below this count as zero: their reciprocals would overflow."""

Matrix = tuple[Vec3, Vec3, Vec3]  # columns


@element
def _turn(b: Vec3, c: Vec3, v: Vec3, w: Vec3) -> tuple[Vec3, Vec3, Vec3, Vec3, bool]:
    """Rotate columns b and c until they are orthogonal, v and w with them; whether there was anything to do."""
    bb, cc, bc = dot(b, b), dot(c, c), dot(b, c)
    if abs(bc) <= ORTHOGONAL * math.sqrt(bb * cc):
        return b, c, v, w, False
    theta = (cc - bb) / (2.0 * bc)
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    t = -t if theta < 0.0 else t
    cosine = 1.0 / math.sqrt(t * t + 1.0)
    sine = t * cosine
    return (
        add_scaled(scale(b, cosine), c, -sine),
        add_scaled(scale(c, cosine), b, sine),
        add_scaled(scale(v, cosine), w, -sine),
        add_scaled(scale(w, cosine), v, sine),
        True,
    )


@element
def _across(u: Vec3, wanted: Vec3) -> Vec3:
    """A unit vector orthogonal to the unit vector u, nearest to a unit vector; any where that is along u."""
    side = add_scaled(wanted, u, -dot(wanted, u))
    if norm(side) > LEAST_RANK:
        return unit(add_scaled(side, u, -dot(side, u)))
    axis = (1.0, 0.0, 0.0) if abs(u[0]) < 0.5 else (0.0, 1.0, 0.0)
    return unit(cross(u, axis))


@element
def apply(a: Matrix, v: Vec3) -> Vec3:
    """The product of a matrix with v."""
    return add_scaled(add_scaled(scale(a[0], v[0]), a[1], v[1]), a[2], v[2])


@element
def polar_rotation(a: Matrix, before: Matrix) -> Matrix:
    """The rotation nearest to a; what a leaves open is taken from the rotation `before`. The matrix must be finite."""
    size = 0.0
    for column in a:
        size = max(size, abs(column[0]), abs(column[1]), abs(column[2]))
    if size < SMALLEST:
        return before
    b, c, d = scale(a[0], 1.0 / size), scale(a[1], 1.0 / size), scale(a[2], 1.0 / size)
    v, w, x = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _ in range(MOST_SWEEPS):
        b, c, v, w, first = _turn(b, c, v, w)
        b, d, v, x, second = _turn(b, d, v, x)
        c, d, w, x, third = _turn(c, d, w, x)
        if not (first or second or third):
            break
    if dot(c, c) > dot(b, b):
        b, c, v, w = c, b, w, v
    if dot(d, d) > dot(b, b):
        b, d, v, x = d, b, x, v
    if dot(d, d) > dot(c, c):
        c, d, w, x = d, c, x, w
    u = unit(b)
    wanted = unit(c) if norm(c) > LEAST_RANK * norm(b) else apply(before, w)
    second_axis = _across(u, wanted)
    third_axis = cross(u, second_axis)
    # Both frames right-handed: x = v × w up to its sign, which the swaps may have turned.
    x = cross(v, w)
    return (
        add_scaled(add_scaled(scale(u, v[0]), second_axis, w[0]), third_axis, x[0]),
        add_scaled(add_scaled(scale(u, v[1]), second_axis, w[1]), third_axis, x[1]),
        add_scaled(add_scaled(scale(u, v[2]), second_axis, w[2]), third_axis, x[2]),
    )
