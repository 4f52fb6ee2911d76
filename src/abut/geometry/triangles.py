"""Closest points of points, segments and triangles against triangles.

As in `segments`, every candidate lies on the primitives and the nearest wins: the projection inside the triangle where
there is one, and the three edges. So slivers, zero-area and point triangles need no tolerance. Whether a segment or
triangle meets a triangle is decided exactly (`crossings`); the distance is 0 then, and both points are one common
point.

Names: `closest_x_y(x…, y…)` returns parameters on x and y (t on a segment, weights of the three vertices on a triangle:
not negative, of sum 1 up to rounding), their points, and `distance_sq` last. Input must be finite and its squares must
neither overflow nor underflow: lengths below 1e-150 count as zero. Separate things may be so close that `distance_sq`
is rounded to 0; only `crossings` tells.
"""

from abut.core.jit import element
from abut.geometry.crossings import SEPARATE, intersect_segment_triangle, intersect_triangle_triangle
from abut.geometry.segments import REFINEMENTS, closest_inside_lines, closest_point_segment, is_steep
from abut.geometry.vec import Vec3, add_scaled, cross, dot, lerp, norm_sq, subtract

ClosestOnTriangle = tuple[Vec3, Vec3, float]
ClosestOnSegmentTriangle = tuple[float, Vec3, Vec3, Vec3, float]
ClosestOnTriangles = tuple[Vec3, Vec3, Vec3, Vec3, float]

# With weights above this, no edge can be as near; below it the edges are tried too, so that a point on an edge or
# vertex is found on it without rounding.
CLEARLY_INSIDE = 2.0**-20


@element
def _project_inside(w: Vec3, u: Vec3, v: Vec3) -> tuple[bool, bool, float, float]:
    """Whether triangle 0, u, v holds the foot of w, whether its angle at 0 is neither small nor flat, the weights.

    With n = u × v the weight of u is det(w, v, n)/|n|², that of v det(u, w, n)/|n|²; n is divided by its largest
    component first, so that no fourth power of a length appears. In a sliver, each refinement solves again for what is
    left of w.
    """
    n = cross(u, v)
    size = max(abs(n[0]), abs(n[1]), abs(n[2]))
    if size == 0.0:
        return False, False, 0.0, 0.0
    m = (n[0] / size, n[1] / size, n[2] / size)
    m_sq = norm_sq(m)
    s = dot(cross(w, v), m) / m_sq / size
    t = dot(cross(u, w), m) / m_sq / size
    steep = is_steep(u, v, size, m_sq)
    if not steep:
        for _ in range(REFINEMENTS):
            rest = add_scaled(add_scaled(w, u, -s), v, -t)
            s += dot(cross(rest, v), m) / m_sq / size
            t += dot(cross(u, rest), m) / m_sq / size
    return s >= 0.0 and t >= 0.0 and s + t <= 1.0, steep, s, t


@element
def _edge_weights(i: int, t: float) -> Vec3:
    """Weights of the point at t on the edge from vertex i to the next."""
    if i == 0:
        return (1.0 - t, t, 0.0)
    if i == 1:
        return (0.0, 1.0 - t, t)
    return (t, 0.0, 1.0 - t)


@element
def closest_point_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> ClosestOnTriangle:
    """The point of triangle abc nearest to p: weights of a, b and c, point, squared distance.

    Args:
        p: a point (x, y, z).
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    w, u, v = subtract(p, a), subtract(b, a), subtract(c, a)
    inside, steep, s, t = _project_inside(w, u, v)
    weights, point, best = (1.0, 0.0, 0.0), a, norm_sq(w)
    if inside:
        foot = add_scaled(add_scaled(a, u, s), v, t)
        offset_sq = norm_sq(add_scaled(add_scaled(w, u, -s), v, -t))
        if offset_sq < best:
            weights, point, best = (max(0.0, 1.0 - s - t), s, t), foot, offset_sq
        if steep and min(weights[0], s, t) >= CLEARLY_INSIDE:
            return weights, point, best
    corners = (a, b, c)
    for i in range(3):
        t, on_edge, offset_sq = closest_point_segment(p, corners[i], corners[(i + 1) % 3])
        if offset_sq < best:
            weights, point, best = _edge_weights(i, t), on_edge, offset_sq
    return weights, point, best


@element
def _closest_inside_edges(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3) -> tuple[bool, float, float, float]:
    """Whether the common perpendicular of two segments meets both, its parameters, and its squared length."""
    u, v, w = subtract(a1, a0), subtract(b1, b0), subtract(a0, b0)
    inside, s, t = closest_inside_lines(u, v, w)
    return inside, s, t, norm_sq(add_scaled(add_scaled(w, u, s), v, -t))


@element
def closest_segment_triangle(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> ClosestOnSegmentTriangle:
    """The nearest points of segment pq and triangle abc: parameter, weights, the two points, squared distance.

    Args:
        p, q: the segment's ends (x, y, z).
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    status, t, point_p = intersect_segment_triangle(p, q, a, b, c)
    if status != SEPARATE:
        return t, closest_point_triangle(point_p, a, b, c)[0], point_p, point_p, 0.0
    weights, point_a, best = closest_point_triangle(p, a, b, c)
    t, point_p = 0.0, p
    other_weights, other, offset_sq = closest_point_triangle(q, a, b, c)
    if offset_sq < best:
        t, weights, point_p, point_a, best = 1.0, other_weights, q, other, offset_sq
    corners = (a, b, c)
    for i in range(3):
        r, s = corners[i], corners[(i + 1) % 3]
        along_p, other, offset_sq = closest_point_segment(r, p, q)
        if offset_sq < best:
            t, weights, point_p, point_a, best = along_p, _edge_weights(i, 0.0), other, r, offset_sq
        inside, along_p, along_r, offset_sq = _closest_inside_edges(p, q, r, s)
        if inside and offset_sq < best:
            t, weights, best = along_p, _edge_weights(i, along_r), offset_sq
            point_p, point_a = lerp(p, q, along_p), lerp(r, s, along_r)
    return t, weights, point_p, point_a, best


@element
def closest_triangle_triangle(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> ClosestOnTriangles:
    """The nearest points of two triangles: weights on a, weights on b, the two points, squared distance.

    Triangles that meet give the middle of their intersection. Otherwise a vertex and a triangle, or an edge and an
    edge, are nearest: six and nine candidates.

    Args:
        a0, a1, a2: the vertices of one triangle (x, y, z).
        b0, b1, b2: those of the other.
    """
    status, low, high = intersect_triangle_triangle(a0, a1, a2, b0, b1, b2)
    if status != SEPARATE:
        point = lerp(low, high, 0.5)
        weights_a = closest_point_triangle(point, a0, a1, a2)[0]
        weights_b = closest_point_triangle(point, b0, b1, b2)[0]
        return weights_a, weights_b, point, point, 0.0
    return closest_separate_triangles(a0, a1, a2, b0, b1, b2)


@element
def closest_separate_triangles(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> ClosestOnTriangles:
    """The same for triangles that are known not to meet.

    Args:
        a0, a1, a2: the vertices of one triangle (x, y, z).
        b0, b1, b2: those of the other.
    """
    a, b = (a0, a1, a2), (b0, b1, b2)
    weights_a, point_a = (1.0, 0.0, 0.0), a0
    weights_b, point_b, best = closest_point_triangle(a0, b0, b1, b2)
    for i in range(3):
        weights, point, offset_sq = closest_point_triangle(a[i], b0, b1, b2)
        if offset_sq < best:
            weights_a, weights_b, point_a, point_b, best = _edge_weights(i, 0.0), weights, a[i], point, offset_sq
        weights, point, offset_sq = closest_point_triangle(b[i], a0, a1, a2)
        if offset_sq < best:
            weights_a, weights_b, point_a, point_b, best = weights, _edge_weights(i, 0.0), point, b[i], offset_sq
        for j in range(3):
            p, q, r, s = a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]
            inside, along_a, along_b, offset_sq = _closest_inside_edges(p, q, r, s)
            if inside and offset_sq < best:
                weights_a, weights_b, best = _edge_weights(i, along_a), _edge_weights(j, along_b), offset_sq
                point_a, point_b = lerp(p, q, along_a), lerp(r, s, along_b)
    return weights_a, weights_b, point_a, point_b, best
