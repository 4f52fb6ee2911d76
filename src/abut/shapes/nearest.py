"""The nearest points of two cores: the algorithm of Gilbert, Johnson and Keerthi (1988) on their vertices.

A simplex of differences b − a closes in on the origin; each step adds the difference that lies farthest against the nearest point v so far and
keeps the corners that v needs. |v| is never below the distance and v·w/|v| never above it, so both bounds are known when it stops: when they
agree to TOLERANCE, when nothing gets nearer any more, or after MOST_STEPS. The lower bound is what a time of impact may use.
"""

import math

from abut.arrays import Floats
from abut.geometry.segments import closest_point_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.jit import element, kernel, stay_apart

TOLERANCE = 1e-13
"""Relative difference of the two bounds on the squared distance; rounding alone makes some 1e-15."""
MOST_STEPS = 64
INSIDE = 1e-24
"""A squared distance below this part of the squared size counts as none: the points are rounded to 1e-16 of their coordinates."""

Weights = tuple[float, float, float, float]
Corners = tuple[Vec3, Vec3, Vec3, Vec3]
Indices = tuple[int, int, int, int]
Nearest = tuple[float, float, Vec3, Vec3]
ORIGIN = (0.0, 0.0, 0.0)


@element
def _weigh_triangle(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, float]:
    stay_apart()
    weights, _, distance_sq = closest_point_triangle(ORIGIN, a, b, c)
    return weights, distance_sq


@element
def _is_beyond(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> bool:
    """Whether the origin is not on d's side of the plane abc (a flat tetrahedron has no side)."""
    n = cross(subtract(b, a), subtract(c, a))
    inner, outer = dot(n, subtract(d, a)), -dot(n, a)
    return not inner * outer > 0.0


@element
def _weigh_tetrahedron(w: Corners) -> tuple[Weights, bool]:
    best, found = math.inf, False
    weights = (0.25, 0.25, 0.25, 0.25)
    if _is_beyond(w[0], w[1], w[2], w[3]):
        share, d = _weigh_triangle(w[0], w[1], w[2])
        weights, best, found = (share[0], share[1], share[2], 0.0), d, True
    if _is_beyond(w[0], w[1], w[3], w[2]):
        share, d = _weigh_triangle(w[0], w[1], w[3])
        if d < best:
            weights, best, found = (share[0], share[1], 0.0, share[2]), d, True
    if _is_beyond(w[0], w[2], w[3], w[1]):
        share, d = _weigh_triangle(w[0], w[2], w[3])
        if d < best:
            weights, best, found = (share[0], 0.0, share[1], share[2]), d, True
    if _is_beyond(w[1], w[2], w[3], w[0]):
        share, d = _weigh_triangle(w[1], w[2], w[3])
        if d < best:
            weights, best, found = (0.0, share[0], share[1], share[2]), d, True
    return weights, found


@element
def _weigh(count: int, w: Corners) -> tuple[Weights, bool]:
    """Weights of the simplex' point nearest to the origin; False if a tetrahedron holds it."""
    if count == 1:
        return (1.0, 0.0, 0.0, 0.0), True
    if count == 2:
        t, _, _ = closest_point_segment(ORIGIN, w[0], w[1])
        return (1.0 - t, t, 0.0, 0.0), True
    if count == 3:
        share, _ = _weigh_triangle(w[0], w[1], w[2])
        return (share[0], share[1], share[2], 0.0), True
    return _weigh_tetrahedron(w)


@element
def _blend(share: Weights, w: Corners) -> Vec3:
    v = scale(w[0], share[0])
    v = add_scaled(v, w[1], share[1])
    v = add_scaled(v, w[2], share[2])
    return add_scaled(v, w[3], share[3])


@kernel
def find_farthest(points: Floats, first: int, last: int, direction: Vec3) -> int:
    """The point that lies farthest along a direction; the first of several."""
    best, found = -math.inf, first
    for i in range(first, last):
        s = points[i, 0] * direction[0] + points[i, 1] * direction[1] + points[i, 2] * direction[2]
        if s > best:
            best, found = s, i
    return found


@kernel
def _corner(points: Floats, i: int) -> Vec3:
    return (points[i, 0], points[i, 1], points[i, 2])


@kernel
def measure_cores(a: Floats, a0: int, a1: int, b: Floats, b0: int, b1: int) -> Nearest:
    """Distance of two sets' hulls (0 if they meet), a lower bound of it, and the nearest points on a and b."""
    stay_apart()
    zero = (0.0, 0.0, 0.0)
    w: Corners = (subtract(_corner(b, b0), _corner(a, a0)), zero, zero, zero)
    i: Indices = (a0, a0, a0, a0)
    j: Indices = (b0, b0, b0, b0)
    count, share = 1, (1.0, 0.0, 0.0, 0.0)
    v = w[0]
    v_sq, lower, size_sq = norm_sq(v), 0.0, norm_sq(v)
    for _ in range(MOST_STEPS):
        if v_sq <= INSIDE * size_sq:
            v_sq, lower = 0.0, 0.0
            break
        p, q = find_farthest(a, a0, a1, v), find_farthest(b, b0, b1, (-v[0], -v[1], -v[2]))
        new = subtract(_corner(b, q), _corner(a, p))
        size_sq = max(size_sq, norm_sq(new))
        lower = max(lower, dot(v, new) / math.sqrt(v_sq))
        known = False
        for k in range(count):
            known = known or (i[k] == p and j[k] == q)
        if known or v_sq - dot(v, new) <= TOLERANCE * v_sq:
            break
        grown, more_i, more_j = _put(w, count, new), _put_index(i, count, p), _put_index(j, count, q)
        weights, outside = _weigh(count + 1, grown)
        if not outside:
            w, i, j, share, count = grown, more_i, more_j, weights, 4
            v_sq, lower = 0.0, 0.0
            break
        nearer = _blend(weights, grown)
        nearer_sq = norm_sq(nearer)
        if not nearer_sq < v_sq:
            break
        v, v_sq = nearer, nearer_sq
        w, i, j, share, count = _keep(count + 1, grown, more_i, more_j, weights)
    point_a, point_b = zero, zero
    for k in range(count):
        point_a = add_scaled(point_a, _corner(a, i[k]), share[k])
        point_b = add_scaled(point_b, _corner(b, j[k]), share[k])
    distance = math.sqrt(v_sq)
    return distance, min(lower, distance), point_a, point_b


@element
def _put(w: Corners, at: int, new: Vec3) -> Corners:
    if at == 1:
        return (w[0], new, w[2], w[3])
    if at == 2:
        return (w[0], w[1], new, w[3])
    return (w[0], w[1], w[2], new)


@element
def _put_index(i: Indices, at: int, new: int) -> Indices:
    if at == 1:
        return (i[0], new, i[2], i[3])
    if at == 2:
        return (i[0], i[1], new, i[3])
    return (i[0], i[1], i[2], new)


@element
def _keep(
    count: int, w: Corners, i: Indices, j: Indices, share: Weights
) -> tuple[Corners, Indices, Indices, Weights, int]:
    """The corners of positive weight, moved to the front."""
    kept = 0
    new_w, new_i, new_j, new_l = w, i, j, (0.0, 0.0, 0.0, 0.0)
    for k in range(count):
        if share[k] > 0.0:
            if kept == 0:
                new_w, new_i, new_j = (w[k], w[1], w[2], w[3]), (i[k], i[1], i[2], i[3]), (j[k], j[1], j[2], j[3])
                new_l = (share[k], 0.0, 0.0, 0.0)
            else:
                new_w, new_i, new_j = (
                    _put(new_w, kept, w[k]),
                    _put_index(new_i, kept, i[k]),
                    _put_index(new_j, kept, j[k]),
                )
                new_l = _put_weight(new_l, kept, share[k])
            kept += 1
    return new_w, new_i, new_j, new_l, kept


@element
def _put_weight(share: Weights, at: int, new: float) -> Weights:
    if at == 1:
        return (share[0], new, share[2], share[3])
    if at == 2:
        return (share[0], share[1], new, share[3])
    return (share[0], share[1], share[2], new)
