"""The nearest points of a core and a triangle, by trying all features: what the walk does for two hulls is longer than that for three edges.

A point or a segment against a triangle: its ends, the three edges, and whether it passes through. A polytope: its vertices against the triangle, the
triangle's corners against its faces, and all edges.
"""

import math

from abut.core.arrays import Floats
from abut.core.jit import kernel, stay_apart
from abut.geometry.rows import vector_at
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, add_scaled, cross, distance_sq, dot, lerp, subtract
from abut.shapes.columns import END, OFFSET, START
from abut.shapes.pool import E0, E1, F0, F1, V0, V1, Cores

Nearest = tuple[float, Vec3, Vec3]
"""Squared distance, 0 where the two meet; the points."""


@kernel
def _pass_through(p: Vec3, q: Vec3, triangle: Floats) -> tuple[bool, Vec3]:
    """Whether the segment pq crosses the triangle in its first three rows, and where."""
    a, b, c = vector_at(triangle, 0), vector_at(triangle, 1), vector_at(triangle, 2)
    n = cross(subtract(b, a), subtract(c, a))
    here, there = dot(n, subtract(p, a)), dot(n, subtract(q, a))
    if not here * there < 0.0:
        return False, p
    x = lerp(p, q, here / (here - there))
    inside = (
        dot(n, cross(subtract(b, a), subtract(x, a))) >= 0.0 and dot(n, cross(subtract(c, b), subtract(x, b))) >= 0.0
    )
    return inside and dot(n, cross(subtract(a, c), subtract(x, c))) >= 0.0, x


@kernel
def _is_over(cores: Cores, face: int, p: Vec3) -> bool:
    """Whether a point projects into a face."""
    n, first, last = vector_at(cores.planes, face), cores.starts[face], cores.starts[face + 1]
    for k in range(first, last):
        u = vector_at(cores.vertices, cores.loops[k])
        v = vector_at(cores.vertices, cores.loops[k + 1 if k + 1 < last else first])
        if dot(n, cross(subtract(v, u), subtract(p, u))) < 0.0:
            return False
    return True


@kernel
def nearest_to_triangle(cores: Cores, sa: int, triangle: Floats) -> Nearest:
    """Core sa and the triangle in the first three rows, in a's frame. Polytopes must not overlap it: of those only the boundary is seen."""
    stay_apart()
    row = cores.table[sa]
    best, p, q = math.inf, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(row[V0], row[V1]):
        x = vector_at(cores.vertices, i)
        _, y, d = closest_point_triangle(x, vector_at(triangle, 0), vector_at(triangle, 1), vector_at(triangle, 2))
        if d < best:
            best, p, q = d, x, y
    for e in range(row[E0], row[E1]):
        u, v = vector_at(cores.vertices, cores.edges[e, START]), vector_at(cores.vertices, cores.edges[e, END])
        crosses, x = _pass_through(u, v, triangle)
        if crosses:
            return 0.0, x, x
        for k in range(3):
            _, _, x, y, d = closest_segment_segment(u, v, vector_at(triangle, k), vector_at(triangle, (k + 1) % 3))
            if d < best:
                best, p, q = d, x, y
    for f in range(row[F0], row[F1]):
        for k in range(3):
            y = vector_at(triangle, k)
            height = dot(vector_at(cores.planes, f), y) - cores.planes[f, OFFSET]
            if height >= 0.0 and height * height < best and _is_over(cores, f, y):
                best, p, q = height * height, add_scaled(y, vector_at(cores.planes, f), -height), y
    return min(best, distance_sq(p, q)), p, q
