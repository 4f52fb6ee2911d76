"""What proves that closest points of two features are those of the hulls: both hulls lie behind planes through the points, across the normal.

A hull is convex, so it lies behind a plane through a vertex if no edge there rises above the plane; through a point of an edge, if the edge is
in the plane (which its foot tells) and both its faces fall; through a face, if the plane is the face's. These look at one feature only, and at
slopes, which are exact to rounding however short the edges are: a slope s lets the hull reach s times its size beyond the plane at most. A wedge
of two nearly coplanar faces has both of them fall, to rounding, along the opposite of its normal too: there the middle of the hull tells inside
from outside.

`prove` asks this of features as they are, before any step of a walk: under coherent motion it is most often all that is done.
"""

import math

from abut.convex.hull import View
from abut.convex.regions import (
    EDGE,
    FACE,
    VERTEX,
    Frame,
    a_vertex_of,
    apply,
    climb,
    edge_part,
    neighbour_at,
    normal_of,
    offset_of,
    side_at,
    side_offset,
    turn,
    turn_back,
    vertex_at,
)
from abut.convex.walk import closest_points
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.jit import element
from abut.scratch import load

TOLERANCE = 16 * 2.0**-52
"""Of the scale (both radii and the distance of the middles): a transformed coordinate has some eight roundings, a height over a plane sixteen."""

NEAR = 4096.0
"""Tolerances within which closest points are too close to give a direction: 1.5e-11 of the scale."""

BENT = 64.0
"""The direction between points at a distance d is off by some tolerances divided by d; so many are allowed for."""

Proof = tuple[bool, float, Vec3, Vec3, Vec3]
"""Whether it holds; distance, the points of a and b, and the unit normal from a to b, in the frame of a."""


@element
def _lean_vertex(view: View, v: int, n: Vec3) -> float:
    """The steepest rise of the edges of v along n, 0 where none rises."""
    x, most_sq = vertex_at(view, v), 0.0
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        arm = subtract(neighbour_at(view, link), x)
        rise = dot(arm, n)
        if rise > 0.0:
            most_sq = max(most_sq, rise * rise / norm_sq(arm))
    return math.sqrt(most_sq)


@element
def _lean(view: View, feature: int, n: Vec3, d: Vec3) -> float:
    """How steeply a hull may rise above the plane across n through a vertex or an edge, whose foot lies along d: at most 0 if not at all."""
    if feature & 3 == VERTEX:
        return _lean_vertex(view, feature >> 2, n)
    e = feature >> 2
    sides = max(dot(edge_part(view, e, 7), n), dot(edge_part(view, e, 10), n))
    return max(abs(dot(edge_part(view, e, 3), d)), sides)


@element
def direction(view: View, a: int, b: int, p: Vec3, q: Vec3, b_to_a: Frame, extent: float) -> Vec3:
    """From a to b: the normal of a face or of two edges where the features have one, which is exact at any distance."""
    if a & 3 == FACE:
        return normal_of(view, a >> 2)
    if b & 3 == FACE:
        return scale(turn(b_to_a, normal_of(view, b >> 2)), -1.0)
    d = subtract(q, p)
    size = math.sqrt(norm_sq(d))
    if a & 3 == EDGE and b & 3 == EDGE:
        n = cross(edge_part(view, a >> 2, 3), turn(b_to_a, edge_part(view, b >> 2, 3)))
        sine = math.sqrt(norm_sq(n))
        if sine * extent > size:  # the error of n is a rounding divided by the sine, that of d by size / extent
            n = scale(n, 1.0 / sine)
            along = dot(n, d)
            if abs(along) > 0.999 * size:
                return n if along > 0.0 else scale(n, -1.0)
    return scale(d, 1.0 / size)


@element
def _prove_face(
    view: View, f: int, v: int, to_face: Frame, tolerance: float, extent: float
) -> tuple[bool, float, Vec3]:
    """Whether v is the other hull's lowest vertex over a face and projects into it; its height; and itself, in the frame of the face."""
    p, n = apply(to_face, vertex_at(view, v)), normal_of(view, f)
    least = 0.0
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        least = min(least, dot(p, side_at(view, link)) - side_offset(view, link))
    height = dot(p, n) - offset_of(view, f)
    fall = _lean_vertex(view, v, turn_back(to_face, scale(n, -1.0)))
    return least >= -tolerance and height > NEAR * tolerance and fall * extent <= tolerance, height, p


@element
def prove(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame, extent: float) -> Proof:
    """The closest points of two features, and whether they are those of the hulls, which are apart."""
    tolerance = TOLERANCE * extent
    if b & 3 == FACE:
        if a & 3 != VERTEX:
            return False, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        holds, height, x = _prove_face(view, b >> 2, a >> 2, a_to_b, tolerance, extent)
        n = normal_of(view, b >> 2)
        foot = apply(b_to_a, add_scaled(x, n, -height))
        return holds, height, vertex_at(view, a >> 2), foot, scale(turn(b_to_a, n), -1.0)
    if a & 3 == FACE:
        if b & 3 != VERTEX:
            return False, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        holds, height, q = _prove_face(view, a >> 2, b >> 2, b_to_a, tolerance, extent)
        n = normal_of(view, a >> 2)
        return holds, height, add_scaled(q, n, -height), q, n
    p, q = closest_points(view, a, b, b_to_a, a_to_b)
    distance = math.sqrt(norm_sq(subtract(p, q)))
    if distance <= NEAR * tolerance:
        return False, distance, p, q, (0.0, 0.0, 0.0)
    n = direction(view, a, b, p, q, b_to_a, extent)
    slack = BENT * tolerance / distance
    middle = (b_to_a[9], b_to_a[10], b_to_a[11])
    if min(dot(n, p), dot(n, subtract(middle, q))) < -slack * extent:
        return False, distance, p, q, n
    d = scale(subtract(q, p), 1.0 / distance)
    back, back_d = turn_back(b_to_a, scale(n, -1.0)), turn_back(b_to_a, d)
    return _lean(view, a, n, d) <= slack and _lean(view, b, back, back_d) <= slack, distance, p, q, n


@element
def miss(view: View, a: int, b: int, distance: float, n: Vec3, b_to_a: Frame) -> float:
    """How much more a distance is than that of two planes across n between which the hulls are not: an upper bound on its error."""
    _, top = climb(view, a_vertex_of(view, a), n)
    _, bottom = climb(view, a_vertex_of(view, b), turn_back(b_to_a, scale(n, -1.0)))
    return distance - (dot(n, (b_to_a[9], b_to_a[10], b_to_a[11])) - bottom - top)
