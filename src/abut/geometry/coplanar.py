"""Exact tests and overlaps of triangles, segments and rays that lie in one plane, degenerate ones included.

A triangle may be a segment or a point (repeated or collinear vertices); a segment pq is the triangle p, q, q. In the
plane, two convex sets are disjoint if and only if a facet of their difference A − B has the origin strictly outside.
Where that difference has an area, each of its facets is parallel to an edge of A or of B (or to the ray); where it has
none, all lies on a line and a coordinate axis separates. So edges and axes decide, by exact signs, with no special
cases.

From space to the plane: sets of one plane meet if and only if their projections along all three coordinate axes meet,
because along at least one axis the projection of that plane is one-to-one. One projection suffices when a triangle
keeps an area in it.
"""

from abut.core.jit import element
from abut.geometry.determinants import LARGEST_FLOAT, clamp_ray, cross_ray_line, cross_segment_line
from abut.geometry.predicates import orient_2d, orient_direction
from abut.geometry.segments import closest_point_segment
from abut.geometry.vec import Vec2, Vec3, cross, drop_axis, lerp, subtract

ALL_AXES = -1  # in place of an axis: no projection is known to be one-to-one, so all three must agree


@element
def _apart(a: float, b: float, c: float, p: float, q: float, r: float) -> bool:
    """Whether the intervals spanned by a, b, c and by p, q, r are disjoint."""
    return max(a, b, c) < min(p, q, r) or max(p, q, r) < min(a, b, c)


@element
def _edge_separates(a: Vec2, b: Vec2, c: Vec2, p: Vec2, q: Vec2, r: Vec2) -> bool:
    """Whether p, q and r lie strictly on one side of line ab, and c does not."""
    side = orient_2d(a, b, p)
    return side != 0 and orient_2d(a, b, q) == side and orient_2d(a, b, r) == side and orient_2d(a, b, c) != side


@element
def meet_triangle_triangle_2d(a0: Vec2, a1: Vec2, a2: Vec2, b0: Vec2, b1: Vec2, b2: Vec2) -> bool:
    """Whether two triangles of the plane have a common point (exact; touching counts; segments and points allowed)."""
    if _apart(a0[0], a1[0], a2[0], b0[0], b1[0], b2[0]) or _apart(a0[1], a1[1], a2[1], b0[1], b1[1], b2[1]):
        return False
    a, b = (a0, a1, a2), (b0, b1, b2)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        if _edge_separates(a[i], a[j], a[k], b0, b1, b2) or _edge_separates(b[i], b[j], b[k], a0, a1, a2):
            return False
    return True


@element
def meet_segment_segment_2d(a0: Vec2, a1: Vec2, b0: Vec2, b1: Vec2) -> bool:
    """Whether two segments of the plane have a common point (exact; touching counts; zero length allowed)."""
    return meet_triangle_triangle_2d(a0, a1, a1, b0, b1, b1)


@element
def _orient_ray(o: Vec2, d: Vec2, p: Vec2) -> int:
    """Exact sign of det(d, p − o): on which side of a ray from o along d lies p. In space, the last row is z."""
    return orient_direction((d[0], d[1], 0.0), (p[0], p[1], 0.0), (o[0], o[1], 1.0), (o[0], o[1], 0.0))


@element
def _behind(a: float, b: float, c: float, o: float, d: float) -> bool:
    """Whether, on a line, a, b and c lie strictly behind a ray that starts at o along d."""
    return (d >= 0.0 and max(a, b, c) < o) or (d <= 0.0 and min(a, b, c) > o)


@element
def meet_ray_triangle_2d(o: Vec2, d: Vec2, a: Vec2, b: Vec2, c: Vec2) -> bool:
    """Whether the ray o + t·d, t ≥ 0, meets a triangle of the plane (exact; a zero direction makes it the point o)."""
    if _behind(a[0], b[0], c[0], o[0], d[0]) or _behind(a[1], b[1], c[1], o[1], d[1]):
        return False
    side = _orient_ray(o, d, a)
    if side != 0 and _orient_ray(o, d, b) == side and _orient_ray(o, d, c) == side:
        return False
    corners = (a, b, c)
    for i in range(3):
        p, q, r = corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]
        side = orient_2d(p, q, o)
        # det(q − p, d) = −det(d, q − p) has the sign of `side` when the ray leaves the line pq.
        if side != 0 and orient_2d(p, q, r) != side and side * _orient_ray(p, d, q) <= 0:
            return False
    return True


@element
def _precedes(a: Vec3, b: Vec3) -> bool:
    """Lexicographic order, which is monotone along every line."""
    if a[0] != b[0]:
        return a[0] < b[0]
    if a[1] != b[1]:
        return a[1] < b[1]
    return a[2] < b[2]


@element
def ends_of_collinear(a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec3]:
    """The two outer ones of three collinear points."""
    low, high = (b, a) if _precedes(b, a) else (a, b)
    return (c if _precedes(c, low) else low), (c if _precedes(high, c) else high)


@element
def _largest_axis(a: Vec3) -> int:
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    return 0 if x >= y and x >= z else (1 if y >= z else 2)


@element
def _flat_axis(a: Vec3, b: Vec3, c: Vec3) -> int:
    """A coordinate axis along which abc keeps an area (exact), the best first; ALL_AXES if abc has no area."""
    first = _largest_axis(cross(subtract(b, a), subtract(c, a)))
    for i in range(3):
        axis = (first + i) % 3
        if orient_2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis)) != 0:
            return axis
    return ALL_AXES


@element
def is_collinear(a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether three points of space lie on one line (exact): the triangle's area is zero."""
    return _flat_axis(a, b, c) == ALL_AXES


@element
def _axis_of_both(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> int:
    """A coordinate axis on which two triangles' plane is seen one-to-one; ALL_AXES when all points are on one line."""
    axis = _flat_axis(a0, a1, a2)
    if axis == ALL_AXES:
        axis = _flat_axis(b0, b1, b2)
    if axis == ALL_AXES:  # two segments: they span a plane if an end of one is off the other
        low_a, high_a = ends_of_collinear(a0, a1, a2)
        low_b, high_b = ends_of_collinear(b0, b1, b2)
        axis = _flat_axis(low_a, high_a, low_b)
        if axis == ALL_AXES:
            axis = _flat_axis(low_a, high_a, high_b)
        if axis == ALL_AXES:
            axis = _flat_axis(low_a, low_b, high_b)
    return axis


@element
def _meet_along(axis: int, a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> bool:
    """Whether coplanar triangles meet, seen along an axis that is one-to-one on their plane, or along ALL_AXES."""
    for i in range(3):
        if (axis in (i, ALL_AXES)) and not meet_triangle_triangle_2d(
            drop_axis(a0, i), drop_axis(a1, i), drop_axis(a2, i), drop_axis(b0, i), drop_axis(b1, i), drop_axis(b2, i)
        ):
            return False
    return True


@element
def meet_coplanar_triangle_triangle(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> bool:
    """Whether two triangles that lie in one plane of space have a common point (exact; segments and points allowed)."""
    axis = _flat_axis(a0, a1, a2)
    if axis == ALL_AXES:
        axis = _flat_axis(b0, b1, b2)
    return _meet_along(axis, a0, a1, a2, b0, b1, b2)


@element
def meet_coplanar_ray_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Whether a ray and a triangle that lie in one plane of space meet (exact; segments and points allowed)."""
    axis = _flat_axis(a, b, c)
    for i in range(3):
        if (axis in (i, ALL_AXES)) and not meet_ray_triangle_2d(
            drop_axis(o, i), drop_axis(d, i), drop_axis(a, i), drop_axis(b, i), drop_axis(c, i)
        ):
            return False
    return True


@element
def _cross_properly(axis: int, p: Vec3, q: Vec3, a: Vec3, b: Vec3) -> bool:
    """Whether segments pq and ab, seen along an axis, cross in a point that is inside both."""
    if axis == ALL_AXES:
        return False
    p2, q2, a2, b2 = drop_axis(p, axis), drop_axis(q, axis), drop_axis(a, axis), drop_axis(b, axis)
    return orient_2d(a2, b2, p2) * orient_2d(a2, b2, q2) < 0 and orient_2d(p2, q2, a2) * orient_2d(p2, q2, b2) < 0


Extremes = tuple[Vec3, Vec3, Vec3, Vec3, Vec3, Vec3]


@element
def _extend(e: Extremes, empty: bool, p: Vec3) -> Extremes:
    """The points with the smallest and largest x, y and z, with p taken in; of equal ones the lexicographic first."""
    if empty:
        return (p, p, p, p, p, p)
    return (
        p if p[0] < e[0][0] or (p[0] == e[0][0] and _precedes(p, e[0])) else e[0],
        p if p[0] > e[1][0] or (p[0] == e[1][0] and _precedes(p, e[1])) else e[1],
        p if p[1] < e[2][1] or (p[1] == e[2][1] and _precedes(p, e[2])) else e[2],
        p if p[1] > e[3][1] or (p[1] == e[3][1] and _precedes(p, e[3])) else e[3],
        p if p[2] < e[4][2] or (p[2] == e[4][2] and _precedes(p, e[4])) else e[4],
        p if p[2] > e[5][2] or (p[2] == e[5][2] and _precedes(p, e[5])) else e[5],
    )


@element
def overlap_coplanar_triangle_triangle(a0: Vec3, a1: Vec3, a2: Vec3, b0: Vec3, b1: Vec3, b2: Vec3) -> tuple[Vec3, Vec3]:
    """The two ends of the overlap of coplanar triangles that meet, along the axis in which the overlap extends most.

    The corners of the overlap are the vertices of one that lie in the other and the crossings of edges; exact signs
    pick them. When the triangles touch in a point the two ends are equal (up to rounding), when in a segment they are
    its ends.
    """
    axis = _axis_of_both(a0, a1, a2, b0, b1, b2)
    a, b = (a0, a1, a2), (b0, b1, b2)
    empty = True
    e = (a0, a0, a0, a0, a0, a0)
    for i in range(3):
        if _meet_along(axis, a[i], a[i], a[i], b0, b1, b2):
            e, empty = _extend(e, empty, a[i]), False
        if _meet_along(axis, b[i], b[i], b[i], a0, a1, a2):
            e, empty = _extend(e, empty, b[i]), False
        for j in range(3):
            p, q, r, s = a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]
            if _cross_properly(axis, p, q, r, s):
                e, empty = _extend(e, empty, lerp(p, q, cross_segment_line(p, q, r, s, axis))), False
    x, y, z = e[1][0] - e[0][0], e[3][1] - e[2][1], e[5][2] - e[4][2]
    if x >= y and x >= z:
        return e[0], e[1]
    return (e[2], e[3]) if y >= z else (e[4], e[5])


@element
def enter_coplanar_segment_triangle(p: Vec3, q: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    """The smallest parameter at which segment pq is in triangle abc; they must be coplanar and meet."""
    axis = _axis_of_both(p, q, q, a, b, c)
    if _meet_along(axis, p, p, p, a, b, c):
        return 0.0
    t = 1.0
    corners = (a, b, c)
    for i in range(3):
        r, s = corners[i], corners[(i + 1) % 3]
        if _meet_along(axis, r, r, r, p, q, q):
            t = min(t, closest_point_segment(r, p, q)[0])
        if _cross_properly(axis, p, q, r, s):
            t = min(t, cross_segment_line(p, q, r, s, axis))
    return t


@element
def _cross_ray_edge(o: Vec3, d: Vec3, p: Vec3, q: Vec3) -> float:
    """The parameter at which a ray crosses the coplanar edge pq, to which it is not parallel."""
    first = _largest_axis(cross(d, subtract(q, p)))
    for i in range(3):
        axis = (first + i) % 3
        if _orient_ray(drop_axis(p, axis), drop_axis(d, axis), drop_axis(q, axis)) != 0:
            return cross_ray_line(o, d, p, q, axis)
    return 0.0


@element
def enter_coplanar_ray_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    """The smallest t ≥ 0 at which o + t·d is in triangle abc; they must be coplanar and meet."""
    if meet_coplanar_triangle_triangle(o, o, o, a, b, c):
        return 0.0
    t = LARGEST_FLOAT
    k = _largest_axis(d)  # d is not zero here, since the ray meets the triangle elsewhere than in o
    corners = (a, b, c)
    for i in range(3):
        p, q = corners[i], corners[(i + 1) % 3]
        if meet_coplanar_ray_triangle(o, d, p, p, p):
            t = min(t, clamp_ray((p[k] - o[k]) / d[k]))
        elif not meet_coplanar_ray_triangle(o, d, q, q, q) and meet_coplanar_ray_triangle(o, d, p, q, q):
            t = min(t, _cross_ray_edge(o, d, p, q))
    return t
