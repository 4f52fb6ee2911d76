"""Segments, rays and triangles against triangles in space: whether they meet, decided by exact signs, and where.

All sets are closed: touching counts. `meet_x_y` tells only whether; `intersect_x_y` returns a status first, and then
points constructed in floating point, which never decide anything; the two always agree. Triangles may be segments or
points (zero area), segments may have length zero. Input must be finite; the verdict is then exact, for any magnitude.

SEPARATE: no common point. COPLANAR: they meet, and one plane holds both (a segment or point among them included).
CROSSING: they meet otherwise. COPLANAR does not tell an overlap with area from touching along an edge or in a vertex.
"""

from enum import IntEnum

from abut.core.jit import element
from abut.geometry.coplanar import (
    ends_of_collinear,
    enter_coplanar_ray_triangle,
    enter_coplanar_segment_triangle,
    is_collinear,
    meet_coplanar_ray_triangle,
    meet_coplanar_triangle_triangle,
    overlap_coplanar_triangle_triangle,
)
from abut.geometry.determinants import cross_ray_plane, cross_segment_plane
from abut.geometry.predicates import orient_3d, orient_direction
from abut.geometry.vec import Vec3, add_scaled, lerp


class Crossing(IntEnum):
    """How two sets meet."""

    SEPARATE = 0
    CROSSING = 1
    COPLANAR = 2


SEPARATE: int = Crossing.SEPARATE.value
CROSSING: int = Crossing.CROSSING.value
COPLANAR: int = Crossing.COPLANAR.value

ParameterAndPoint = tuple[int, float, Vec3]
Arrangement = tuple[Vec3, Vec3, Vec3, Vec3, Vec3, Vec3]


@element
def _one_side(x: int, y: int, z: int) -> bool:
    """Whether three signs are all positive or all negative."""
    return (x > 0 and y > 0 and z > 0) or (x < 0 and y < 0 and z < 0)


@element
def _no_change(x: int, y: int, z: int) -> bool:
    """Whether no two of three signs are opposite."""
    return (x >= 0 and y >= 0 and z >= 0) or (x <= 0 and y <= 0 and z <= 0)


@element
def meet_segment_segment(a0: Vec3, a1: Vec3, b0: Vec3, b1: Vec3) -> bool:
    """Whether two segments of space have a common point.

    Args:
        a0, a1: the ends of one segment (x, y, z).
        b0, b1: those of the other.
    """
    return orient_3d(a0, a1, b0, b1) == 0 and meet_coplanar_triangle_triangle(a0, a1, a1, b0, b1, b1)


@element
def _relate_segment_triangle(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> int:
    """Status of segment pq against triangle abc.

    A segment that is not in the plane meets it in one point at most, which lies in abc when pq passes all three edges
    on the same side.
    """
    side_p, side_q = orient_3d(a, b, c, p), orient_3d(a, b, c, q)
    if side_p * side_q > 0:
        return SEPARATE
    if side_p == 0 and side_q == 0:
        if is_collinear(a, b, c):
            low, high = ends_of_collinear(a, b, c)
            return COPLANAR if meet_segment_segment(p, q, low, high) else SEPARATE
        return COPLANAR if meet_coplanar_triangle_triangle(p, q, q, a, b, c) else SEPARATE
    inside = _no_change(orient_3d(p, q, a, b), orient_3d(p, q, b, c), orient_3d(p, q, c, a))
    return CROSSING if inside else SEPARATE


@element
def meet_segment_triangle(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether segment pq and triangle abc have a common point.

    Args:
        p, q: the segment's ends (x, y, z).
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    return _relate_segment_triangle(p, q, a, b, c) != SEPARATE


@element
def intersect_segment_triangle(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> ParameterAndPoint:
    """Status, parameter in [0, 1] and point where segment pq first meets triangle abc; (SEPARATE, 0, p) if it does not.

    The parameter is accurate to about 2⁻⁴⁶ even for slivers and nearly parallel planes.

    Args:
        p, q: the segment's ends (x, y, z).
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    status = _relate_segment_triangle(p, q, a, b, c)
    t = 0.0
    if status == CROSSING:
        t = cross_segment_plane(p, q, a, b, c)
    elif status == COPLANAR:
        t = enter_coplanar_segment_triangle(p, q, a, b, c)
    return status, t, lerp(p, q, t)


@element
def _relate_ray_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> int:
    """Status of the ray from o along d against triangle abc."""
    side, turn = orient_3d(a, b, c, o), orient_direction(d, b, c, a)
    if side == 0 and turn == 0:
        if is_collinear(a, b, c):
            low, high = ends_of_collinear(a, b, c)
            if orient_direction(d, low, high, o) != 0:
                return SEPARATE
        return COPLANAR if meet_coplanar_ray_triangle(o, d, a, b, c) else SEPARATE
    if turn == 0 or turn == side:  # parallel to the plane, or leaving it
        return SEPARATE
    x, y, z = orient_direction(d, a, b, o), orient_direction(d, b, c, o), orient_direction(d, c, a, o)
    return CROSSING if _no_change(x, y, z) else SEPARATE


@element
def meet_ray_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether some o + t·d with t ≥ 0 lies in triangle abc.

    A ray that starts on the triangle meets it at t = 0, one in its plane may meet it, and one of direction zero is the
    point o.

    Args:
        o: where the ray starts (x, y, z).
        d: its direction, of any length.
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    return _relate_ray_triangle(o, d, a, b, c) != SEPARATE


@element
def intersect_ray_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> ParameterAndPoint:
    """Status, smallest t ≥ 0 with o + t·d in triangle abc, and that point; (SEPARATE, 0, o) when there is none.

    t is in lengths of d, which need not be a unit vector. t and the point are kept finite.

    Args:
        o: where the ray starts (x, y, z).
        d: its direction, of any length.
        a, b, c: the triangle's vertices (x, y, z); a segment or a point is allowed.
    """
    status = _relate_ray_triangle(o, d, a, b, c)
    t = 0.0
    if status == CROSSING:
        t = cross_ray_plane(o, d, a, b, c)
    elif status == COPLANAR:
        t = enter_coplanar_ray_triangle(o, d, a, b, c)
    return status, t, add_scaled(o, d, t)


@element
def _lone_first(v0: Vec3, v1: Vec3, v2: Vec3, s0: int, s1: int, s2: int) -> tuple[Vec3, Vec3, Vec3, bool]:
    """The triangle turned so that its first vertex is alone on its side of a plane, and whether that is the lower side.

    s0, s1, s2 are the sides of its vertices: not all zero, not all of one strict sign. The lone vertex is the only one
    of its strict sign, or else (0, +, + or 0, −, −) the one in the plane; either way both edges from it cross the plane
    in one point each.
    """
    above = int(s0 > 0) + int(s1 > 0) + int(s2 > 0)
    below = int(s0 < 0) + int(s1 < 0) + int(s2 < 0)
    sign = 1 if above == 1 else (-1 if below == 1 else 0)
    lower = sign < 0 or (sign == 0 and above == 2)
    if s0 == sign:
        return v0, v1, v2, lower
    if s1 == sign:
        return v1, v2, v0, lower
    return v2, v0, v1, lower


@element
def _arrange(a: Arrangement, r0: int, r1: int, r2: int, s0: int, s1: int, s2: int) -> Arrangement:
    """Two triangles p, q, r and a, b, c so turned that p is alone above the plane abc, and a alone above the plane pqr.

    r0, r1, r2 are the sides of the first triangle's vertices, s0, s1, s2 those of the second's. "Above" includes the
    plane, and the other two vertices are below or in it. Exchanging b and c turns the plane of the second triangle
    over.
    """
    p, q, r, lower_p = _lone_first(a[0], a[1], a[2], r0, r1, r2)
    u, v, w, lower_u = _lone_first(a[3], a[4], a[5], s0, s1, s2)
    if lower_p:
        v, w = w, v
    if lower_u:
        q, r = r, q
    return p, q, r, u, v, w


@element
def _meet_flat(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> int:
    """Status of two triangles that are coplanar, or one of which has no area."""
    if is_collinear(a0, a1, a2):
        low, high = ends_of_collinear(a0, a1, a2)
        return _relate_segment_triangle(low, high, b0, b1, b2)
    if is_collinear(b0, b1, b2):
        low, high = ends_of_collinear(b0, b1, b2)
        return _relate_segment_triangle(low, high, a0, a1, a2)
    return COPLANAR if meet_coplanar_triangle_triangle(a0, a1, a2, b0, b1, b2) else SEPARATE


@element
def _relate_triangle_triangle(
    a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3
) -> tuple[int, bool, Arrangement]:
    """Status; whether this is general position; then the arrangement (after Guigue and Devillers 2003).

    Let p, q, r and a, b, c be arranged (see `_arrange`), M and N their normals, and D = M × N along the line common to
    the two planes. The first triangle cuts that line from j (on pr) to i (on pq) in the direction of D, the second from
    k (on ab) to l (on ac). The two intervals overlap when k ≤ i and j ≤ l along D. With u = p − q and v = a − b,

        det(q − p, a − p, b − p) = det(u, a − p, v) = det(u, k − i, v) = (k − i)·(v × u),

    since a − k is along v and p − i along u; and k − i is along D, where D·(v × u) = (M·v)(N·u) − (M·u)(N·v) =
    (M·v)(N·u) > 0. So orient_3d(p, q, a, b) is the order of k after i, and likewise for each other pair of edges from p
    and a.
    """
    points = (a0, a1, a2, b0, b1, b2)
    r0, r1, r2 = orient_3d(b0, b1, b2, a0), orient_3d(b0, b1, b2, a1), orient_3d(b0, b1, b2, a2)
    if _one_side(r0, r1, r2):
        return SEPARATE, False, points
    s0, s1, s2 = orient_3d(a0, a1, a2, b0), orient_3d(a0, a1, a2, b1), orient_3d(a0, a1, a2, b2)
    if _one_side(s0, s1, s2):
        return SEPARATE, False, points
    if (r0 == 0 and r1 == 0 and r2 == 0) or (s0 == 0 and s1 == 0 and s2 == 0):
        return _meet_flat(a0, a1, a2, b0, b1, b2), False, points
    points = _arrange(points, r0, r1, r2, s0, s1, s2)
    p, q, r, a, b, c = points
    overlap = orient_3d(p, q, a, b) <= 0 and orient_3d(p, r, a, c) >= 0
    return (CROSSING if overlap else SEPARATE), True, points


@element
def meet_triangle_triangle(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> bool:
    """Whether two triangles have a common point. Independent of the order of the triangles and of their vertices.

    Args:
        a0, a1, a2: the vertices of one triangle (x, y, z).
        b0, b1, b2: those of the other.
    """
    return _relate_triangle_triangle(a0, a1, a2, b0, b1, b2)[0] != SEPARATE


@element
def intersect_triangle_triangle(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> tuple[int, Vec3, Vec3]:
    """Status and the two ends of the segment in which two triangles meet; (SEPARATE, a0, a0) when they do not.

    CROSSING: each end lies on an edge of one triangle, and in the other up to the rounding of its coordinates; the two
    are equal when the triangles meet in a point. COPLANAR: the two ends of the overlap along the coordinate axis in
    which it extends most.

    Args:
        a0, a1, a2: the vertices of one triangle (x, y, z).
        b0, b1, b2: those of the other.
    """
    status, is_general, points = _relate_triangle_triangle(a0, a1, a2, b0, b1, b2)
    if status == SEPARATE:
        return status, a0, a0
    if status == COPLANAR:
        low, high = overlap_coplanar_triangle_triangle(a0, a1, a2, b0, b1, b2)
        return status, low, high
    if not is_general:  # one triangle is a segment that passes through the other
        if is_collinear(a0, a1, a2):
            p, q = ends_of_collinear(a0, a1, a2)
            point = lerp(p, q, cross_segment_plane(p, q, b0, b1, b2))
        else:
            p, q = ends_of_collinear(b0, b1, b2)
            point = lerp(p, q, cross_segment_plane(p, q, a0, a1, a2))
        return status, point, point
    p, q, r, a, b, c = points
    # The later of the intervals' beginnings j (on pr) and k (on ab), the earlier of their ends i (on pq) and l (on ac).
    if orient_3d(p, r, a, b) >= 0:
        start = lerp(a, b, cross_segment_plane(a, b, p, q, r))
    else:
        start = lerp(p, r, cross_segment_plane(p, r, a, b, c))
    if orient_3d(p, q, a, c) >= 0:
        end = lerp(p, q, cross_segment_plane(p, q, a, b, c))
    else:
        end = lerp(a, c, cross_segment_plane(a, c, p, q, r))
    return status, start, end
