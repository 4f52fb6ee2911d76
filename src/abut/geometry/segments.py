"""Closest points of points and segments, in space and (`_2d`) in the plane.

Every candidate is a point of the segments themselves (its parameter is clamped to [0, 1]), and the nearest candidate
wins: parallel, zero-length and identical segments are no special case, and a badly conditioned candidate can lose but
never mislead. All is computed from differences of input points, so that far from the origin only the returned points
are rounded to the coordinates' grid, not the distance.

Names: `closest_x_y(x…, y…)` returns the parameters on x and y, their points, and `distance_sq` last. Input must be
finite and its squares must neither overflow nor underflow: lengths below 1e-150 count as zero.
"""

from abut.core.jit import element
from abut.geometry.vec import (
    Vec2,
    Vec3,
    add_scaled,
    cross,
    dot,
    dot_2d,
    lerp,
    norm_sq,
    norm_sq_2d,
    subtract,
    subtract_2d,
)

ClosestOnSegment = tuple[float, Vec3, float]
ClosestOnSegment2 = tuple[float, Vec2, float]
ClosestOnSegments = tuple[float, float, Vec3, Vec3, float]

# Lines whose sine squared exceeds this are solved to 1e-13 of the input's size at once; the rounding error of the
# solution grows as 2⁻⁵³/sine, and below this it is refined.
STEEP_SQ = 2.0**-10
# Each refinement multiplies the error by about 2⁻⁵³/sine. Two suffice where the sine exceeds 2⁻⁴⁰; below that, an end
# point of one segment is as close as that to the optimum.
REFINEMENTS = 2


@element
def _project(w: Vec3, u: Vec3) -> float:
    """Parameter of the point of the segment from 0 to u that is nearest to w."""
    along, length_sq = dot(w, u), norm_sq(u)
    if along <= 0.0 or length_sq == 0.0:
        return 0.0
    return 1.0 if along >= length_sq else along / length_sq


@element
def closest_point_segment(p: Vec3, a: Vec3, b: Vec3) -> ClosestOnSegment:
    """The point of segment ab nearest to p: parameter in [0, 1] (0 at a, also when a = b), point, squared distance.

    Args:
        p: a point (x, y, z).
        a, b: the segment's ends.
    """
    w, u = subtract(p, a), subtract(b, a)
    t = _project(w, u)
    # From the nearer end, so that nothing is rounded when t is 0 or 1.
    offset = add_scaled(w, u, -t) if t <= 0.5 else add_scaled(subtract(p, b), u, 1.0 - t)
    return t, lerp(a, b, t), norm_sq(offset)


@element
def closest_point_segment_2d(p: Vec2, a: Vec2, b: Vec2) -> ClosestOnSegment2:
    """The same in the plane.

    Args:
        p: a point (x, y).
        a, b: the segment's ends.
    """
    w, u = subtract_2d(p, a), subtract_2d(b, a)
    along, length_sq = dot_2d(w, u), norm_sq_2d(u)
    if along <= 0.0 or length_sq == 0.0:
        return 0.0, a, norm_sq_2d(w)
    if along >= length_sq:
        return 1.0, b, norm_sq_2d(subtract_2d(p, b))
    t = along / length_sq
    point = ((1.0 - t) * a[0] + t * b[0], (1.0 - t) * a[1] + t * b[1])
    if t <= 0.5:
        offset = (w[0] - t * u[0], w[1] - t * u[1])
    else:
        offset = ((p[0] - b[0]) + (1.0 - t) * u[0], (p[1] - b[1]) + (1.0 - t) * u[1])
    return t, point, norm_sq_2d(offset)


@element
def is_steep(u: Vec3, v: Vec3, n: float, m_sq: float) -> bool:
    """Whether the sine between u and v is at least that of STEEP_SQ; |u × v|² is n²·m_sq. False when squares underflow."""
    u_sq, v_sq = norm_sq(u), norm_sq(v)
    return u_sq > 0.0 and v_sq > 0.0 and (n / u_sq) * (n / v_sq) * m_sq >= STEEP_SQ


@element
def closest_inside_lines(u: Vec3, v: Vec3, w: Vec3) -> tuple[bool, float, float]:
    """Parameters (s, t) in [0, 1] for which w + s·u − t·v is shortest, when this lies inside; else False.

    With n = u × v, s = −det(w, v, n)/|n|² and t = −det(w, u, n)/|n|². n is divided by its largest component first, so
    that no fourth power of a length appears. A refinement solves again for what is left of w.
    """
    n = cross(u, v)
    size = max(abs(n[0]), abs(n[1]), abs(n[2]))
    if size == 0.0:
        return False, 0.0, 0.0
    m = (n[0] / size, n[1] / size, n[2] / size)
    m_sq = norm_sq(m)
    s = -dot(cross(w, v), m) / m_sq / size
    t = -dot(cross(w, u), m) / m_sq / size
    if not is_steep(u, v, size, m_sq):
        for _ in range(REFINEMENTS):
            rest = add_scaled(add_scaled(w, u, s), v, -t)
            s -= dot(cross(rest, v), m) / m_sq / size
            t -= dot(cross(rest, u), m) / m_sq / size
    return 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0, s, t


@element
def closest_segment_segment(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3) -> ClosestOnSegments:
    """The nearest points of two segments: parameters s on a and t on b, their points, squared distance.

    Five candidates: each end against the other segment, and the common perpendicular where it meets both. Among
    parallel segments' many nearest pairs, one with an end point is returned.

    Args:
        a0, a1: the ends of one segment (x, y, z).
        b0, b1: those of the other.
    """
    t, point_b, best = closest_point_segment(a0, b0, b1)
    s, point_a = 0.0, a0
    other, point, distance_sq = closest_point_segment(a1, b0, b1)
    if distance_sq < best:
        s, t, point_a, point_b, best = 1.0, other, a1, point, distance_sq
    other, point, distance_sq = closest_point_segment(b0, a0, a1)
    if distance_sq < best:
        s, t, point_a, point_b, best = other, 0.0, point, b0, distance_sq
    other, point, distance_sq = closest_point_segment(b1, a0, a1)
    if distance_sq < best:
        s, t, point_a, point_b, best = other, 1.0, point, b1, distance_sq
    u, v, w = subtract(a1, a0), subtract(b1, b0), subtract(a0, b0)
    inside, s_inside, t_inside = closest_inside_lines(u, v, w)
    if inside:
        distance_sq = norm_sq(add_scaled(add_scaled(w, u, s_inside), v, -t_inside))
        if distance_sq < best:
            s, t, best = s_inside, t_inside, distance_sq
            point_a, point_b = lerp(a0, a1, s), lerp(b0, b1, t)
    return s, t, point_a, point_b, best
