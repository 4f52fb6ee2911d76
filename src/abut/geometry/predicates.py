"""Exact orientation signs (being written)."""

from abut.geometry.vec import Vec2, Vec3
from abut.jit import element


@element
def orient_2d(a: Vec2, b: Vec2, c: Vec2) -> int:
    """Sign of det(b − a, c − a): 1 when a, b, c turn anticlockwise, 0 when they are collinear, −1 otherwise."""
    d = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return int(d > 0.0) - int(d < 0.0)


@element
def orient_3d(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Sign of det(b − a, c − a, d − a): 1 when d lies on the side to which the normal (b − a) × (c − a) points."""
    u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    v = (c[0] - a[0], c[1] - a[1], c[2] - a[2])
    w = (d[0] - a[0], d[1] - a[1], d[2] - a[2])
    e = w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0])
    return int(e > 0.0) - int(e < 0.0)


@element
def orient_direction(d: Vec3, a: Vec3, b: Vec3, p: Vec3) -> int:
    """Sign of det(d, a − p, b − p): on which side of the directed line through p along d the directed edge ab passes."""
    u = (a[0] - p[0], a[1] - p[1], a[2] - p[2])
    v = (b[0] - p[0], b[1] - p[1], b[2] - p[2])
    e = d[0] * (u[1] * v[2] - u[2] * v[1]) + d[1] * (u[2] * v[0] - u[0] * v[2]) + d[2] * (u[0] * v[1] - u[1] * v[0])
    return int(e > 0.0) - int(e < 0.0)
