"""Eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, §8.5).

Whatever the matrix (zero, repeated eigenvalues, graded), the axes are orthonormal within ORTHONORMAL and right-handed:
they are rotated from the identity and orthonormalised once more at the end. The matrix must be finite.
"""

import math

from abut.core.jit import element
from abut.geometry.vec import Vec3, add_scaled, cross, dot, unit

MOST_SWEEPS = 16  # convergence is quadratic: six are enough in practice
NEGLIGIBLE = 2.0**-70
"""Off-diagonal entries below this part of the largest entry are taken as zero."""

ORTHONORMAL = 2.0**-49
"""How far an entry of AᵀA may be from that of the identity: 16 units of rounding, where a division by a norm makes 7."""

Turned = tuple[float, float, float, float, Vec3, Vec3]
Eigen = tuple[Vec3, tuple[Vec3, Vec3, Vec3], bool]


@element
def _turn(pp: float, qq: float, pq: float, rp: float, rq: float, p: Vec3, q: Vec3) -> Turned:
    """Rotate axes p and q so that entry pq vanishes: entries pp, qq, rp, rq and the axes afterwards."""
    if abs(pq) <= NEGLIGIBLE:
        return pp, qq, rp, rq, p, q
    theta = (qq - pp) / (2.0 * pq)
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    p_turned = (c * p[0] - s * q[0], c * p[1] - s * q[1], c * p[2] - s * q[2])
    q_turned = (s * p[0] + c * q[0], s * p[1] + c * q[1], s * p[2] + c * q[2])
    return pp - t * pq, qq + t * pq, c * rp - s * rq, s * rp + c * rq, p_turned, q_turned


@element
def _orthonormal(u: Vec3, v: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """The right-handed frame whose first axis is along u and whose second is nearest to v; both are nearly unit."""
    u = unit(u)
    v = unit(add_scaled(v, u, -dot(u, v)))
    return u, v, unit(cross(u, v))


@element
def eigenvectors_symmetric(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> Eigen:
    """Eigenvalues in descending order, unit eigenvectors in that order, and whether the rotations converged.

    The axes are a right-handed frame whether they converged or not.

    Args:
        xx, yy, zz: the diagonal of the matrix.
        xy, xz, yz: its other entries.
    """
    size = max(abs(xx), abs(yy), abs(zz), abs(xy), abs(xz), abs(yz))
    u, v, w = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if size == 0.0:
        return (0.0, 0.0, 0.0), (u, v, w), True
    xx, yy, zz, xy, xz, yz = xx / size, yy / size, zz / size, xy / size, xz / size, yz / size
    converged = False
    for _ in range(MOST_SWEEPS):
        if abs(xy) <= NEGLIGIBLE and abs(xz) <= NEGLIGIBLE and abs(yz) <= NEGLIGIBLE:
            converged = True
            break
        xx, yy, xz, yz, u, v = _turn(xx, yy, xy, xz, yz, u, v)
        xy = 0.0
        xx, zz, xy, yz, u, w = _turn(xx, zz, xz, xy, yz, u, w)
        xz = 0.0
        yy, zz, xy, xz, v, w = _turn(yy, zz, yz, xy, xz, v, w)
        yz = 0.0
    if yy > xx:
        xx, yy, u, v = yy, xx, v, u
    if zz > xx:
        xx, zz, u, w = zz, xx, w, u
    if zz > yy:
        yy, zz, v, w = zz, yy, w, v
    return (xx * size, yy * size, zz * size), _orthonormal(u, v), converged
