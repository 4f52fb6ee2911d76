"""Cubic Bézier segments of the plane, as tuples of eight numbers: evaluation, restriction, extremes.

A segment is (x0, y0, x1, y1, x2, y2, x3, y3), its four control points in turn; parameters run from 0 to 1. At 0 and 1 the end
points come out bit by bit. With u = 2⁻⁵³ and M the largest magnitude of a coordinate, a value or a control point of a
restriction is off by at most 8u·M (three levels of s·p + t·q, each 2.5u·M; see `geometry.roots`).
"""

import math

from abut.core.jit import element
from abut.geometry.bernstein import restrict as restrict_cubic
from abut.geometry.vec import Vec2

Segment = tuple[float, float, float, float, float, float, float, float]
Four = tuple[float, float, float, float]


@element
def value_at(p: Four, t: float) -> float:
    """One coordinate at t."""
    s = 1.0 - t
    return s * s * s * p[0] + 3.0 * s * s * t * p[1] + 3.0 * s * t * t * p[2] + t * t * t * p[3]


@element
def rate_at(p: Four, t: float) -> float:
    """The derivative of one coordinate at t."""
    s = 1.0 - t
    return 3.0 * s * s * (p[1] - p[0]) + 6.0 * s * t * (p[2] - p[1]) + 3.0 * t * t * (p[3] - p[2])


@element
def point_at(c: Segment, t: float) -> Vec2:
    """The point at t."""
    return (value_at((c[0], c[2], c[4], c[6]), t), value_at((c[1], c[3], c[5], c[7]), t))


@element
def derivative_at(c: Segment, t: float) -> Vec2:
    """The first derivative at t."""
    return (rate_at((c[0], c[2], c[4], c[6]), t), rate_at((c[1], c[3], c[5], c[7]), t))


@element
def second_at(c: Segment, t: float) -> Vec2:
    """The second derivative at t."""
    s = 1.0 - t
    return (
        6.0 * (s * (c[4] - 2.0 * c[2] + c[0]) + t * (c[6] - 2.0 * c[4] + c[2])),
        6.0 * (s * (c[5] - 2.0 * c[3] + c[1]) + t * (c[7] - 2.0 * c[5] + c[3])),
    )


@element
def tangent_at(c: Segment, t: float) -> Vec2:
    """The unit tangent at t; where the derivative vanishes, the direction in which the curve leaves (at t = 1: comes), (0, 0) for a single point."""
    x, y = derivative_at(c, t)
    if x * x + y * y <= 0.0:
        x, y = second_at(c, t)
        if t == 1.0:
            x, y = -x, -y
    if x * x + y * y <= 0.0:
        x, y = c[6] - c[0], c[7] - c[1]
    length = math.sqrt(x * x + y * y)
    if length <= 0.0:
        return (0.0, 0.0)
    return (x / length, y / length)


@element
def restrict(c: Segment, lo: float, hi: float) -> Segment:
    """The piece between the parameters lo and hi."""
    x = restrict_cubic((c[0], c[2], c[4], c[6]), lo, hi)
    y = restrict_cubic((c[1], c[3], c[5], c[7]), lo, hi)
    return (x[0], y[0], x[1], y[1], x[2], y[2], x[3], y[3])


@element
def reverse(c: Segment) -> Segment:
    """The same curve run through from its end."""
    return (c[6], c[7], c[4], c[5], c[2], c[3], c[0], c[1])


@element
def transform(c: Segment, pose: Four) -> Segment:
    """The segment turned and moved; a pose is (cosine, sine, x, y)."""
    k, s, x, y = pose
    return (
        k * c[0] - s * c[1] + x,
        s * c[0] + k * c[1] + y,
        k * c[2] - s * c[3] + x,
        s * c[2] + k * c[3] + y,
        k * c[4] - s * c[5] + x,
        s * c[4] + k * c[5] + y,
        k * c[6] - s * c[7] + x,
        s * c[6] + k * c[7] + y,
    )


@element
def extremes(p: Four) -> Vec2:
    """Least and largest value of one coordinate over [0, 1]: at the ends, or where the derivative vanishes."""
    lo, hi = min(p[0], p[3]), max(p[0], p[3])
    if min(p[1], p[2]) >= lo and max(p[1], p[2]) <= hi:
        return (lo, hi)  # the values are convex combinations of the control values
    a, b, c = (p[3] - p[0]) - 3.0 * (p[2] - p[1]), (p[2] - p[1]) - (p[1] - p[0]), p[1] - p[0]
    discriminant = b * b - a * c  # a·t² + 2b·t + c is a third of the derivative
    if discriminant <= 0.0:
        return (lo, hi)  # monotone
    q = -(b + math.copysign(math.sqrt(discriminant), b))
    for t in (c / q, q / a if a != 0.0 else -1.0):  # |q| ≥ √discriminant > 0
        if 0.0 < t < 1.0:
            v = value_at(p, t)
            lo, hi = min(lo, v), max(hi, v)
    return (lo, hi)


@element
def project(c: Segment, x: float, y: float, ex: float, ey: float) -> Four:
    """The control points' coordinates along a direction, from an origin."""
    return (
        (c[0] - x) * ex + (c[1] - y) * ey,
        (c[2] - x) * ex + (c[3] - y) * ey,
        (c[4] - x) * ex + (c[5] - y) * ey,
        (c[6] - x) * ex + (c[7] - y) * ey,
    )
