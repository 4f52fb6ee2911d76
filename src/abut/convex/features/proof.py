"""What proves that closest points of two features are those of the hulls: two planes across one normal, between which no vertex of either hull is.

Points of the hulls are at most their distance apart, so it is an upper bound; how far the planes are apart is a lower bound, whatever the normal.
The answer stands if the two agree, to CHECKED tolerances. Both planes come from climbing to the farthest vertices (`climb`), which looks at one
vertex with its neighbours on either side where the features still are the closest: under coherent motion that is most often all that is done.

Slopes at the features alone prove too little: on a thin hull the edges of a vertex may all lie within rounding of the plane, while the hull behind
them rises above it by its thickness.

The direction between points at a distance d is off by some tolerances divided by d, and planes across it are closer than the hulls by
that times their size. So where they disagree by no more than that, the normal is turned away from the vertex that sticks out, and asked again.
"""

from abut.convex.features.access import (
    EDGE,
    FACE,
    VERTEX,
    a_vertex_of,
    climb,
    edge_part,
    normal_of,
    offset_of,
    side_at,
    side_offset,
    vertex_at,
)
from abut.convex.features.walk import closest_points
from abut.convex.hull.tables import View
from abut.core.jit import element
from abut.core.scratch import load
from abut.geometry.frames import Frame, carry, turn, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, norm_sq, scale, subtract

TOLERANCE = 16 * 2.0**-52
"""Of the scale (both radii and the distance of the middles): a transformed coordinate has some eight roundings, a height over a plane sixteen."""

NEAR = 4096.0
"""Tolerances within which closest points are too close to give a direction: 1.5e-11 of the scale."""

CHECKED = 1024.0
"""Tolerances by which the planes may be closer than the points: a quarter of NEAR, so that hulls this is proved of are apart."""

BENT = 64.0
"""The direction between points at a distance d is off by some tolerances divided by d; so many are allowed for."""

MOST_TURNS = 16
"""Normals that are tried: each turn settles one vertex, and three of them settle the normal but for what they undo of one another."""

Proof = tuple[bool, float, Vec3, Vec3, Vec3]
"""Whether it holds; distance, the points of a and b, and the unit normal from a to b, in the frame of a."""


@element
def direction(view: View, a: int, b: int, p: Vec3, q: Vec3, b_to_a: Frame, extent: float) -> Vec3:
    """From a to b: the normal of a face or of two edges where the features have one, which is exact at any distance."""
    if a & 3 == FACE:
        return normal_of(view, a >> 2)
    if b & 3 == FACE:
        return scale(turn(b_to_a[0], normal_of(view, b >> 2)), -1.0)
    d = subtract(q, p)
    size = norm(d)
    if a & 3 == EDGE and b & 3 == EDGE:
        n = cross(edge_part(view, a >> 2, 3), turn(b_to_a[0], edge_part(view, b >> 2, 3)))
        sine = norm(n)
        if sine * extent > size:  # the error of n is a rounding divided by the sine, that of d by size / extent
            n = scale(n, 1.0 / sine)
            along = dot(n, d)
            if abs(along) > size - BENT * TOLERANCE * extent:  # else an end of an edge is closer than its line
                return n if along > 0.0 else scale(n, -1.0)
    return scale(d, 1.0 / size)


@element
def _is_over_face(view: View, f: int, p: Vec3, tolerance: float) -> bool:
    """Whether a point, in the frame of the face, projects into it."""
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        if dot(p, side_at(view, link)) - side_offset(view, link) < -tolerance:
            return False
    return True


@element
def _support(
    view: View, a: int, b: int, p: Vec3, q: Vec3, n: Vec3, distance: float, b_to_a: Frame, extent: float
) -> tuple[bool, Vec3]:
    """Whether no vertex of the hulls lies between the planes through p and q, across n or a normal that is the same to rounding; and that normal."""
    tolerance = TOLERANCE * extent
    v, w = a_vertex_of(view, a), a_vertex_of(view, b)
    for _ in range(MOST_TURNS):
        v, _ = climb(view, v, n)
        w, _ = climb(view, w, turn_back(b_to_a[0], scale(n, -1.0)))
        between = subtract(carry(b_to_a, vertex_at(view, w)), vertex_at(view, v))
        short = distance - dot(n, between)
        if short <= CHECKED * tolerance:
            return True, n
        if short * distance > BENT * tolerance * extent:
            return False, n
        out = subtract(between, subtract(q, p))
        n = add_scaled(n, out, short / norm_sq(out))
        n = scale(n, 1.0 / norm(n))
    return False, n


@element
def prove(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame, extent: float) -> Proof:
    """The closest points of two features, and whether they are those of the hulls, which are apart."""
    tolerance, none = TOLERANCE * extent, (0.0, 0.0, 0.0)
    over = True
    if b & 3 == FACE:
        if a & 3 != VERTEX:
            return False, 0.0, none, none, none
        x, n = carry(a_to_b, vertex_at(view, a >> 2)), normal_of(view, b >> 2)
        distance = dot(x, n) - offset_of(view, b >> 2)
        p, q = vertex_at(view, a >> 2), carry(b_to_a, add_scaled(x, n, -distance))
        n, over = scale(turn(b_to_a[0], n), -1.0), _is_over_face(view, b >> 2, x, tolerance)
    elif a & 3 == FACE:
        if b & 3 != VERTEX:
            return False, 0.0, none, none, none
        q, n = carry(b_to_a, vertex_at(view, b >> 2)), normal_of(view, a >> 2)
        distance = dot(q, n) - offset_of(view, a >> 2)
        p, over = add_scaled(q, n, -distance), _is_over_face(view, a >> 2, q, tolerance)
    else:
        p, q = closest_points(view, a, b, b_to_a, a_to_b)
        distance, n = norm(subtract(p, q)), none
        if distance > NEAR * tolerance:
            n = direction(view, a, b, p, q, b_to_a, extent)
    if not over or distance <= NEAR * tolerance:
        return False, distance, p, q, n
    holds, n = _support(view, a, b, p, q, n, distance, b_to_a, extent)
    return holds, distance, p, q, n
