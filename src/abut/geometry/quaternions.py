"""Unit quaternions (w, x, y, z) as tuples of floats: rotations of space that stay rotations under rounding.

q and −q are the same rotation. A product of unit quaternions drifts by one rounding; `normalise` brings it back. None of the functions
tests for zero length but `normalise`, which takes zero as no rotation.
"""

import math

from abut.core.jit import element
from abut.geometry.vec import Vec3, cross

Quaternion = tuple[float, float, float, float]


@element
def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q followed by p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@element
def conjugate(q: Quaternion) -> Quaternion:
    """The opposite rotation."""
    return (q[0], -q[1], -q[2], -q[3])


@element
def normalise(q: Quaternion) -> Quaternion:
    """Q scaled to length 1; (1, 0, 0, 0) for zero."""
    largest = max(abs(q[0]), abs(q[1]), abs(q[2]), abs(q[3]))
    if largest == 0.0:
        return (1.0, 0.0, 0.0, 0.0)
    w, x, y, z = q[0] / largest, q[1] / largest, q[2] / largest, q[3] / largest
    s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return (w * s, x * s, y * s, z * s)


@element
def rotate(q: Quaternion, v: Vec3) -> Vec3:
    """V turned by the unit quaternion q."""
    u = (q[1], q[2], q[3])
    t = cross(u, v)
    t = (2.0 * t[0], 2.0 * t[1], 2.0 * t[2])
    s = cross(u, t)
    return (v[0] + q[0] * t[0] + s[0], v[1] + q[0] * t[1] + s[1], v[2] + q[0] * t[2] + s[2])


@element
def matrix_columns(q: Quaternion) -> tuple[Vec3, Vec3, Vec3]:
    """The images of the three axes: columns of the rotation matrix."""
    return rotate(q, (1.0, 0.0, 0.0)), rotate(q, (0.0, 1.0, 0.0)), rotate(q, (0.0, 0.0, 1.0))


@element
def from_columns(u: Vec3, v: Vec3, w: Vec3) -> Quaternion:
    """The unit quaternion of the rotation matrix with these columns; the largest component is found first (Shepperd 1978)."""
    trace = u[0] + v[1] + w[2]
    if trace >= max(u[0], v[1], w[2]):
        q = (1.0 + trace, v[2] - w[1], w[0] - u[2], u[1] - v[0])
    elif u[0] >= max(v[1], w[2]):
        q = (v[2] - w[1], 1.0 + u[0] - v[1] - w[2], u[1] + v[0], w[0] + u[2])
    elif v[1] >= w[2]:
        q = (w[0] - u[2], u[1] + v[0], 1.0 + v[1] - w[2] - u[0], v[2] + w[1])
    else:
        q = (u[1] - v[0], w[0] + u[2], v[2] + w[1], 1.0 + w[2] - u[0] - v[1])
    return normalise(q)


@element
def turning(axis: Vec3, angle: float) -> Quaternion:
    """The rotation by an angle about an axis of any length but zero; no rotation for zero."""
    length = math.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    if length == 0.0:
        return (1.0, 0.0, 0.0, 0.0)
    s = math.sin(0.5 * angle) / length
    return (math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])
