"""The ray along +x: which triangles it crosses, and which way. Summed over a closed surface this is how often the surface winds around a point.

Where the ray would meet an edge or a vertex, its point is thought moved by (0, ε, ε²) with ε → 0, the same way for every triangle, so each
crossing is counted once. Signs are exact, so is the count.
"""

from abut.core.jit import element
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.vec import Vec2, Vec3

ON_SURFACE = 1 << 40
"""Returned instead of a crossing for a point of the triangle."""


@element
def side_of_axis_ray(u: Vec2, v: Vec2, p: Vec2) -> int:
    """orient_2d(u, v, p), with p moved by (ε, ε²) where it lies on the line; 0 only if u = v."""
    sign = orient_2d(u, v, p)
    if sign != 0:
        return sign
    if u[1] != v[1]:
        return 1 if u[1] > v[1] else -1
    return int(v[0] > u[0]) - int(v[0] < u[0])


@element
def cross_ray(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> int:
    """Signed crossing of the ray from p along +x with a triangle: 1 where it leaves (with the normal), −1 where it enters; ON_SURFACE."""
    sign = orient_3d(a, b, c, p)
    if sign == 0 and meet_segment_triangle(p, p, a, b, c):
        return ON_SURFACE
    q, u, v, w = (p[1], p[2]), (a[1], a[2]), (b[1], b[2]), (c[1], c[2])
    side = side_of_axis_ray(u, v, q)
    if side == 0 or side_of_axis_ray(v, w, q) != side or side_of_axis_ray(w, u, q) != side:
        return 0
    return side if sign == -side else 0
