"""Vectors of the plane and of space as tuples of floats: algebra that compiles to plain scalar code.

Functions of the plane end in `_2d`. None but `unit_or` tests for zero length.
"""

import math

from abut.core.jit import element

Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]

ZERO: Vec3 = (0.0, 0.0, 0.0)


@element
def add(a: Vec3, b: Vec3) -> Vec3:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@element
def subtract(a: Vec3, b: Vec3) -> Vec3:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@element
def scale(a: Vec3, s: float) -> Vec3:
    """s·a."""
    return (a[0] * s, a[1] * s, a[2] * s)


@element
def add_scaled(a: Vec3, b: Vec3, s: float) -> Vec3:
    """a + s·b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@element
def lerp(a: Vec3, b: Vec3, t: float) -> Vec3:
    """The point (1 − t)·a + t·b: exactly a at t = 0 and exactly b at t = 1."""
    return ((1.0 - t) * a[0] + t * b[0], (1.0 - t) * a[1] + t * b[1], (1.0 - t) * a[2] + t * b[2])


@element
def dot(a: Vec3, b: Vec3) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@element
def cross(a: Vec3, b: Vec3) -> Vec3:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@element
def norm_sq(a: Vec3) -> float:
    """|a|²."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@element
def norm(a: Vec3) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@element
def unit(a: Vec3) -> Vec3:
    """a / |a|. For vectors that are not zero and whose squares neither vanish nor overflow."""
    length = norm(a)
    return (a[0] / length, a[1] / length, a[2] / length)


@element
def unit_or(a: Vec3, other: Vec3) -> Vec3:
    """a / |a| for a vector of any size; `other` in place of the zero vector's."""
    size = max(abs(a[0]), abs(a[1]), abs(a[2]))
    if size == 0.0:
        return other
    a = (a[0] / size, a[1] / size, a[2] / size)
    return scale(a, 1.0 / norm(a))


@element
def distance_sq(a: Vec3, b: Vec3) -> float:
    """|a − b|²."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return x * x + y * y + z * z


@element
def drop_axis(a: Vec3, axis: int) -> Vec2:
    """The projection of a along a coordinate axis, oriented so that a cross product's component keeps its sign.

    orient_2d of three projections along `axis` is the sign of component `axis` of (b − a) × (c − a).
    """
    if axis == 0:
        return (a[1], a[2])
    if axis == 1:
        return (a[2], a[0])
    return (a[0], a[1])


@element
def add_2d(a: Vec2, b: Vec2) -> Vec2:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1])


@element
def subtract_2d(a: Vec2, b: Vec2) -> Vec2:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1])


@element
def scale_2d(a: Vec2, s: float) -> Vec2:
    """s·a."""
    return (a[0] * s, a[1] * s)


@element
def dot_2d(a: Vec2, b: Vec2) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1]


@element
def cross_2d(a: Vec2, b: Vec2) -> float:
    """a × b, a number: positive when b lies anticlockwise of a."""
    return a[0] * b[1] - a[1] * b[0]


@element
def perpendicular_2d(a: Vec2) -> Vec2:
    """A turned anticlockwise by a right angle."""
    return (-a[1], a[0])


@element
def norm_sq_2d(a: Vec2) -> float:
    """|a|²."""
    return a[0] * a[0] + a[1] * a[1]


@element
def norm_2d(a: Vec2) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1])
