"""Where two features meet at a known time, and the normal there, from a to b. Constructed in floating point: nothing is decided here.

The point is the middle of the closest points, one on each feature. The normal is that of the face (a = vertex, b = face), or the cross product of the
edges, with the sign that it had just before the contact: against the velocity u of b's contact point as seen from a's, since b − a ≈ −ε·u a
moment ε before; at t = 0 too. If the features slide along each other (u has no part along the normal) the side of b at t = 0 counts, then
that at t = 1, then the face's own orientation.

Where the normal is zero (a face without area, parallel edges): the part of −u, else of b − a at t = 0 or 1, that is perpendicular to the
feature's longest edge; else any perpendicular. Where the features are clearly apart (min_distance) it is the closest direction. It is always finite
and of length 1.
"""

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import element, parallel, prange, threads_for
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, lerp, norm, scale, subtract

APART = 1e-6
"""Features further apart than this part of their extent and motion do not touch up to rounding and the tolerance in time."""
FLAT = 1e-12
"""A cross product of unit vectors below this has no direction worth the name; nor has the part of a unit vector along another."""


@element
def _largest(a: Vec3) -> float:
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@element
def _unit(a: Vec3) -> Vec3:
    """The vector of length 1 along a; zero when a is. Divided by its largest component first: squares must not vanish."""
    size = _largest(a)
    if not size > 0.0:
        return (0.0, 0.0, 0.0)
    a = (a[0] / size, a[1] / size, a[2] / size)
    return scale(a, 1.0 / norm(a))


@element
def _longest(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    size_a, size_b, size_c = _largest(a), _largest(b), _largest(c)
    if size_a >= size_b and size_a >= size_c:
        return a
    return b if size_b >= size_c else c


@element
def _any_perpendicular(a: Vec3) -> Vec3:
    """A unit vector perpendicular to the unit vector a; any when a is zero."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    axis = (1.0, 0.0, 0.0)
    if y <= x and y <= z:
        axis = (0.0, 1.0, 0.0)
    elif z <= x:
        axis = (0.0, 0.0, 1.0)
    return _unit(add_scaled(axis, a, -dot(axis, a)))


@element
def _part_across(a: Vec3, along: Vec3) -> Vec3:
    """The direction of the part of a that is perpendicular to the unit vector `along`; zero when there is none."""
    a = _unit(a)
    part = add_scaled(a, along, -dot(a, along))
    return _unit(part) if norm(part) > FLAT else (0.0, 0.0, 0.0)


@element
def _orient(normal: Vec3, u: Vec3, gap_t0: Vec3, gap_t1: Vec3) -> Vec3:
    """The normal or its opposite: against u, else towards b at t = 0, else away from b at t = 1."""
    side = -dot(normal, _unit(u))
    if abs(side) <= FLAT:
        side = dot(normal, _unit(gap_t0))
    if abs(side) <= FLAT:
        side = -dot(normal, _unit(gap_t1))
    return scale(normal, -1.0) if side < 0.0 else normal


@element
def _choose_normal(crossed: Vec3, along: Vec3, gap: Vec3, gap_t0: Vec3, gap_t1: Vec3, extent: float) -> Vec3:
    """The normal from the cross product, the longest edge, and b's contact point seen from a's: now, at t = 0 and at t = 1."""
    if _largest(gap) > APART * extent:
        return _unit(gap)
    u = subtract(gap_t1, gap_t0)
    if norm(crossed) > FLAT:
        return _orient(_unit(crossed), u, gap_t0, gap_t1)
    along = _unit(along)
    normal = _part_across(scale(u, -1.0), along)
    if norm(normal) < 0.5:
        normal = _part_across(gap_t0, along)
    if norm(normal) < 0.5:
        normal = _any_perpendicular(along)
    return normal


@element
def _blend(a: Vec3, b: Vec3, c: Vec3, weights: Vec3) -> Vec3:
    return add_scaled(add_scaled(scale(a, weights[0]), b, weights[1]), c, weights[2])


@element
def contact_point_normal_vertex_face(
    v_t0: Vec3,
    a_t0: Vec3,
    b_t0: Vec3,
    c_t0: Vec3,
    v_t1: Vec3,
    a_t1: Vec3,
    b_t1: Vec3,
    c_t1: Vec3,
    time: float,
) -> tuple[Vec3, Vec3]:
    """Where vertex v and face abc meet at that time, and the unit normal from v to the face."""
    # Seen from v: far from the origin only the point is rounded to the coordinates' grid.
    a0, b0, c0 = subtract(a_t0, v_t0), subtract(b_t0, v_t0), subtract(c_t0, v_t0)
    a1, b1, c1 = subtract(a_t1, v_t1), subtract(b_t1, v_t1), subtract(c_t1, v_t1)
    a, b, c = lerp(a0, a1, time), lerp(b0, b1, time), lerp(c0, c1, time)
    weights, gap, _ = closest_point_triangle((0.0, 0.0, 0.0), a, b, c)
    gap_t0, gap_t1 = _blend(a0, b0, c0, weights), _blend(a1, b1, c1, weights)
    ab, bc, ca = subtract(b, a), subtract(c, b), subtract(a, c)
    extent = max(_largest(ab), _largest(bc), _largest(ca), _largest(gap_t0), _largest(gap_t1))
    normal = _choose_normal(cross(_unit(ab), _unit(ca)), _longest(ab, bc, ca), gap, gap_t0, gap_t1, extent)
    return add_scaled(lerp(v_t0, v_t1, time), gap, 0.5), normal


@element
def contact_point_normal_edge_edge(
    a0_t0: Vec3,
    a1_t0: Vec3,
    b0_t0: Vec3,
    b1_t0: Vec3,
    a0_t1: Vec3,
    a1_t1: Vec3,
    b0_t1: Vec3,
    b1_t1: Vec3,
    time: float,
) -> tuple[Vec3, Vec3]:
    """Where edges a and b meet at that time, and the unit normal from a to b."""
    u0, u1 = subtract(a1_t0, a0_t0), subtract(a1_t1, a0_t1)
    v0, v1 = subtract(b1_t0, b0_t0), subtract(b1_t1, b0_t1)
    w0, w1 = subtract(b0_t0, a0_t0), subtract(b0_t1, a0_t1)
    u, v, w = lerp(u0, u1, time), lerp(v0, v1, time), lerp(w0, w1, time)
    s, t, on_a, on_b, _ = closest_segment_segment((0.0, 0.0, 0.0), u, w, add(w, v))
    gap = subtract(on_b, on_a)
    gap_t0 = add_scaled(add_scaled(w0, v0, t), u0, -s)
    gap_t1 = add_scaled(add_scaled(w1, v1, t), u1, -s)
    extent = max(_largest(u), _largest(v), _largest(gap_t0), _largest(gap_t1))
    normal = _choose_normal(cross(_unit(u), _unit(v)), _longest(u, v, u), gap, gap_t0, gap_t1, extent)
    return add(lerp(a0_t0, a0_t1, time), add_scaled(on_a, gap, 0.5)), normal


@parallel
def _describe(is_face: bool, queries: Floats, time: Floats, point: Floats, normal: Floats) -> None:
    for i in prange(len(queries)):
        points = queries[i]
        p, q, r, s = vector_at(points, 0), vector_at(points, 1), vector_at(points, 2), vector_at(points, 3)
        t, u, v, w = vector_at(points, 4), vector_at(points, 5), vector_at(points, 6), vector_at(points, 7)
        if is_face:
            where, along = contact_point_normal_vertex_face(p, q, r, s, t, u, v, w, time[i])
        else:
            where, along = contact_point_normal_edge_edge(p, q, r, s, t, u, v, w, time[i])
        put_vector(point, i, 0, where)
        put_vector(normal, i, 0, along)


def describe(is_face: bool, queries: Floats, time: Floats) -> tuple[Floats, Floats]:
    """(n,3) points and unit normals, from a to b, of contacts at known times; queries (n,8,3)."""
    point, normal = np.empty((len(queries), 3)), np.empty((len(queries), 3))
    with threads_for(len(queries)):
        _describe(is_face, queries, time, point, normal)
    return point, normal
