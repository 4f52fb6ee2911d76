"""The walk from feature to feature: V-Clip (Mirtich 1998), which completes the Voronoi marching of Lin and Canny (Peyré 2001, §3.4).

Two features hold the closest points of two hulls when each lies, where it is closest, in the other's Voronoi region. The walk starts at any two
features, clips one by the planes of the other's region, and where it sticks out goes on to the neighbour behind that plane. A vertex below a face is
in no region: the pseudo-regions inside (Peyré 2001, §3.5) tell whether it is inside the hull or which face it is outside of.

Regions are closed and thickened by a tolerance, some roundings of the coordinates, so that no step is taken for a rounding error alone. The next
features depend on the present ones only. So a walk that does not end comes back to features it has seen, and Brent's method (1980) notices: it
remembers the features of every step whose number is a power of two. No limit on the steps is needed. What a walk that turned in a circle
arrived at is checked like any other answer, by `proof`.
"""

from abut.convex.features.access import (
    EDGE,
    FACE,
    VERTEX,
    climb_faces,
    closest_on_edges,
    edge_length,
    edge_part,
    edge_to,
    end_of,
    neighbour_at,
    normal_of,
    offset_of,
    side_at,
    side_offset,
    vertex_at,
)
from abut.convex.hull.tables import View
from abut.core.jit import element
from abut.core.scratch import load
from abut.geometry.frames import Frame, carry, turn
from abut.geometry.vec import Vec3, add_scaled, dot, norm, norm_sq, scale, subtract

STAY, OWN, OTHER, MEET = 0, 1, 2, 3
"""What a step says: these features are the closest; replace the first; replace the second; the hulls touch or overlap."""

APART, OVERLAP, CIRCLE = 0, 1, 2
"""How a walk ended: at closest features; at features that meet, or a vertex inside the other hull; where it had been before."""

SLOPE = 16 * 2.0**-52
"""An edge falls towards a face if the cosine is below this: directions turned into the other frame are off by some roundings."""

Step = tuple[int, int]


@element
def _leave_vertex(view: View, v: int, p: Vec3, tolerance: float) -> int:
    """The edge of v behind whose plane a point lies, farthest behind it; −1 where it lies in the region of v."""
    origin = vertex_at(view, v)
    x = subtract(p, origin)
    most, chosen = tolerance, -1
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        arm = subtract(neighbour_at(view, link), origin)
        out = dot(x, arm)
        if out > 0.0 and out > most * norm(arm):
            most, chosen = out / norm(arm), link
    return edge_to(view, chosen) if chosen >= 0 else -1


@element
def _leave_edge(view: View, e: int, p: Vec3, tolerance: float) -> int:
    """The vertex or face of e in whose direction a point lies outside of the region of e, farthest outside; −1 where it lies inside."""
    x = subtract(p, edge_part(view, e, 0))
    s = dot(x, edge_part(view, e, 3))
    most, feature = tolerance, -1
    if -s > most:
        most, feature = -s, end_of(view, e, 0) * 4 + VERTEX
    s -= edge_length(view, e)
    if s > most:
        most, feature = s, end_of(view, e, 1) * 4 + VERTEX
    for side in range(2):
        out = dot(x, edge_part(view, e, 7 + 3 * side))
        if out > most and end_of(view, e, 2 + side) >= 0:
            most, feature = out, end_of(view, e, 2 + side) * 4 + FACE
    return feature


@element
def _step_vertex_vertex(view: View, v: int, w: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    edge = _leave_vertex(view, v, carry(to_own, vertex_at(view, w)), tolerance)
    if edge >= 0:
        return OWN, edge * 4 + EDGE
    edge = _leave_vertex(view, w, carry(to_other, vertex_at(view, v)), tolerance)
    return (OTHER, edge * 4 + EDGE) if edge >= 0 else (STAY, -1)


@element
def _step_vertex_edge(view: View, v: int, e: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    """The edge is clipped by the planes of the vertex; what is left is nearest inside, or at an end towards a neighbour of the vertex."""
    feature = _leave_edge(view, e, carry(to_other, vertex_at(view, v)), tolerance)
    if feature >= 0:
        return OTHER, feature
    origin = vertex_at(view, v)
    tail = subtract(carry(to_own, edge_part(view, e, 0)), origin)
    u, length = turn(to_own[0], edge_part(view, e, 3)), edge_length(view, e)
    low, high, low_link, high_link = 0.0, length, -1, -1
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        arm = subtract(neighbour_at(view, link), origin)
        n = scale(arm, 1.0 / norm(arm))
        at_tail, slope = dot(tail, n), dot(u, n)
        at_head = at_tail + length * slope
        if at_tail > tolerance and at_head > tolerance:
            return OWN, edge_to(view, link) * 4 + EDGE
        if at_tail > tolerance and -at_tail / slope > low:
            low, low_link = -at_tail / slope, link
        elif at_head > tolerance and -at_tail / slope < high:
            high, high_link = -at_tail / slope, link
    along = dot(tail, u)  # half the derivative of the squared distance, at the parameter x: along + x
    if low_link >= 0 and along + low > tolerance:
        return OWN, edge_to(view, low_link) * 4 + EDGE
    if high_link >= 0 and along + high < -tolerance:
        return OWN, edge_to(view, high_link) * 4 + EDGE
    return STAY, -1


@element
def _clip_to_ends(view: View, e: int, tail: Vec3, u: Vec3, length: float, tolerance: float) -> tuple[int, float, float]:
    """Clip a segment by the planes across the ends of an edge: a vertex to go to, or −1 and what is left. `tail` is relative to e's tail."""
    n, own_length = edge_part(view, e, 3), edge_length(view, e)
    low, high, low_end, high_end = 0.0, length, -1, -1
    at_tail, slope = dot(tail, n), dot(u, n)
    at_head = at_tail + length * slope
    for end in range(2):
        out_tail = -at_tail if end == 0 else at_tail - own_length
        out_head = -at_head if end == 0 else at_head - own_length
        if out_tail > tolerance and out_head > tolerance:
            return end_of(view, e, end) * 4 + VERTEX, low, high
        crossing = ((0.0 if end == 0 else own_length) - at_tail) / slope if slope != 0.0 else 0.0
        if out_tail > tolerance:
            low, low_end = crossing, end
        if out_head > tolerance:
            high, high_end = crossing, end
    along = dot(
        tail, u
    )  # the derivative towards the vertex at that end, whose own place along u is own_length·slope or 0
    if low_end >= 0 and along + low - low_end * own_length * slope > tolerance:
        return end_of(view, e, low_end) * 4 + VERTEX, low, high
    if high_end >= 0 and along + high - high_end * own_length * slope < -tolerance:
        return end_of(view, e, high_end) * 4 + VERTEX, low, high
    return -1, low, high


@element
def _falls_to_face(view: View, face: int, p: Vec3, u: Vec3, flat: float) -> bool:
    """Whether the distance to a face's plane, at p, falls along u by more than `flat` a unit. p is relative to a point of the face."""
    n = normal_of(view, face)
    slope = dot(u, n)
    return (slope if dot(p, n) >= 0.0 else -slope) < -flat


@element
def _clip_edge(view: View, e: int, other: int, to_own: Frame, tolerance: float) -> int:
    """The neighbour of e that the other hull's edge is closer to, or −1 where it is closest to e inside the region of e."""
    origin = edge_part(view, e, 0)
    tail = subtract(carry(to_own, edge_part(view, other, 0)), origin)
    u, length = turn(to_own[0], edge_part(view, other, 3)), edge_length(view, other)
    feature, low, high = _clip_to_ends(view, e, tail, u, length, tolerance)
    if feature >= 0:
        return feature
    low_face, high_face = -1, -1
    for side in range(2):
        face = end_of(view, e, 2 + side)
        if face >= 0:
            n = edge_part(view, e, 7 + 3 * side)
            at_tail, slope = dot(tail, n), dot(u, n)
            at_head = at_tail + length * slope
            if at_tail > tolerance and at_head > tolerance:
                return face * 4 + FACE
            if at_tail > tolerance and -at_tail / slope > low:
                low, low_face = -at_tail / slope, face
            elif at_head > tolerance and -at_tail / slope < high:
                high, high_face = -at_tail / slope, face
    # Slopes are cosines: a distance that falls by less than the tolerance over the whole edge does not count.
    flat = tolerance / length
    back = (-u[0], -u[1], -u[2])
    if low_face >= 0 and _falls_to_face(view, low_face, add_scaled(tail, u, low), back, flat):
        return low_face * 4 + FACE
    if high_face >= 0 and _falls_to_face(view, high_face, add_scaled(tail, u, high), u, flat):
        return high_face * 4 + FACE
    return -1


@element
def _step_edge_edge(view: View, e: int, g: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    feature = _clip_edge(view, e, g, to_own, tolerance)
    if feature >= 0:
        return OWN, feature
    feature = _clip_edge(view, g, e, to_other, tolerance)
    return (OTHER, feature) if feature >= 0 else (STAY, -1)


@element
def _step_vertex_face(view: View, v: int, f: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    p = carry(to_other, vertex_at(view, v))
    most, chosen = tolerance, -1
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        out = side_offset(view, link) - dot(p, side_at(view, link))
        if out > most:
            most, chosen = out, link
    if chosen >= 0:
        return OTHER, (int(load(view.face_links, chosen)) >> 1) * 4 + EDGE
    height = dot(p, normal_of(view, f)) - offset_of(view, f)
    n = turn(to_own[0], normal_of(view, f))
    sign = 1.0 if height >= 0.0 else -1.0
    origin, lowest = vertex_at(view, v), -SLOPE
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        arm = subtract(neighbour_at(view, link), origin)
        fall = sign * dot(arm, n)
        if fall < 0.0 and fall < lowest * norm(arm):
            lowest, chosen = fall / norm(arm), link
    if chosen >= 0:
        return OWN, edge_to(view, chosen) * 4 + EDGE
    if height > tolerance:
        return STAY, -1
    return _leave_face_inwards(view, f, p, height, tolerance)


@element
def _leave_face_inwards(view: View, f: int, p: Vec3, height: float, tolerance: float) -> Step:
    """A point in or below a face, of which no neighbour is closer to the face: inside the hull, or outside of another face."""
    if offset_of(view, f) <= tolerance:  # flat: the other side
        side = int(load(view.face_links, load(view.face_starts, f)))
        g = end_of(view, side >> 1, 3 - (side & 1))
        return (OTHER, g * 4 + FACE) if -height > tolerance else (MEET, -1)
    g = climb_faces(view, f, p)
    return (OTHER, g * 4 + FACE) if dot(p, normal_of(view, g)) - offset_of(view, g) > tolerance else (MEET, -1)


@element
def _nearest_side(view: View, f: int, tail: Vec3, u: Vec3, length: float) -> int:
    """The edge of a face that is nearest to a segment."""
    nearest, least = -1, 0.0
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        e = int(load(view.face_links, link)) >> 1
        n, w = edge_part(view, e, 3), subtract(tail, edge_part(view, e, 0))
        s, t = closest_on_edges(u, length, n, edge_length(view, e), w)
        away = norm_sq(add_scaled(add_scaled(w, u, s), n, -t))
        if nearest < 0 or away < least:
            nearest, least = e, away
    return nearest


@element
def _step_edge_face(view: View, e: int, f: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    """The edge is clipped by the planes of the face, and goes on to the lower end of what is left."""
    tail, u = carry(to_other, edge_part(view, e, 0)), turn(to_other[0], edge_part(view, e, 3))
    length = edge_length(view, e)
    low, high, low_link, high_link = 0.0, length, -1, -1
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        n = side_at(view, link)
        at_tail, slope = dot(tail, n) - side_offset(view, link), dot(u, n)
        at_head = at_tail + length * slope
        if at_tail < 0.0 and at_head < 0.0:
            low = high + 1.0
        elif at_tail < 0.0 and -at_tail / slope > low:
            low, low_link = -at_tail / slope, link
        elif at_head < 0.0 and -at_tail / slope < high:
            high, high_link = -at_tail / slope, link
        if low > high:
            return OTHER, _nearest_side(view, f, tail, u, length) * 4 + EDGE
    n = normal_of(view, f)
    height, slope = dot(tail, n) - offset_of(view, f), dot(u, n)
    at_low, at_high = height + low * slope, height + high * slope
    if min(at_low, at_high) <= tolerance and max(at_low, at_high) >= -tolerance:
        return MEET, -1
    # Whether the lower end is that at `low`: by the slope, which is exact where the heights of a short edge's ends are the same to rounding.
    at_start = (slope >= 0.0) == (at_low > 0.0)
    bound = low_link if at_start else high_link
    if bound >= 0:
        return OTHER, (int(load(view.face_links, bound)) >> 1) * 4 + EDGE
    return OWN, end_of(view, e, 0 if at_start else 1) * 4 + VERTEX


@element
def _step(view: View, own: int, other: int, to_own: Frame, to_other: Frame, tolerance: float) -> Step:
    """One step for two features, the first of no higher dimension than the second."""
    i, j, kinds = own >> 2, other >> 2, (own & 3) * 3 + (other & 3)
    if kinds == VERTEX * 3 + VERTEX:
        return _step_vertex_vertex(view, i, j, to_own, to_other, tolerance)
    if kinds == VERTEX * 3 + EDGE:
        return _step_vertex_edge(view, i, j, to_own, to_other, tolerance)
    if kinds == VERTEX * 3 + FACE:
        return _step_vertex_face(view, i, j, to_own, to_other, tolerance)
    if kinds == EDGE * 3 + EDGE:
        return _step_edge_edge(view, i, j, to_own, to_other, tolerance)
    return _step_edge_face(view, i, j, to_own, to_other, tolerance)


@element
def walk_once(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame, tolerance: float) -> tuple[int, int, int]:
    """One step: what it says, and the features it leads to. Not both may be faces."""
    if (a & 3) <= (b & 3):
        verdict, feature = _step(view, a, b, b_to_a, a_to_b, tolerance)
        return verdict, (feature if verdict == OWN else a), (feature if verdict == OTHER else b)
    verdict, feature = _step(view, b, a, a_to_b, b_to_a, tolerance)
    return verdict, (feature if verdict == OTHER else a), (feature if verdict == OWN else b)


@element
def walk(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame, tolerance: float) -> tuple[int, int, int, int]:
    """How the walk from features a and b ended, at which features, after how many steps. Not both may be faces."""
    seen_a, seen_b, power, steps = -1, -1, 1, 0
    while True:
        verdict, a, b = walk_once(view, a, b, b_to_a, a_to_b, tolerance)
        if verdict == STAY:
            return APART, a, b, steps
        if verdict == MEET:
            return OVERLAP, a, b, steps
        steps += 1
        if a == seen_a and b == seen_b:
            return CIRCLE, a, b, steps
        if steps == power:
            seen_a, seen_b, power = a, b, 2 * power


@element
def closest_points(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame) -> tuple[Vec3, Vec3]:
    """The closest points of two features, in the frame of a; of a face, the foot on its plane. Not both may be faces."""
    kind_a, kind_b, i, j = a & 3, b & 3, a >> 2, b >> 2
    if kind_a == FACE:
        q = carry(b_to_a, vertex_at(view, j)) if kind_b == VERTEX else carry(b_to_a, edge_part(view, j, 0))
        return add_scaled(q, normal_of(view, i), offset_of(view, i) - dot(q, normal_of(view, i))), q
    if kind_b == FACE:
        p = vertex_at(view, i) if kind_a == VERTEX else edge_part(view, i, 0)
        x = carry(a_to_b, p)
        foot = add_scaled(x, normal_of(view, j), offset_of(view, j) - dot(x, normal_of(view, j)))
        return p, carry(b_to_a, foot)
    if kind_a == VERTEX:
        p = vertex_at(view, i)
        if kind_b == VERTEX:
            return p, carry(b_to_a, vertex_at(view, j))
        q, v = carry(b_to_a, edge_part(view, j, 0)), turn(b_to_a[0], edge_part(view, j, 3))
        return p, add_scaled(q, v, min(max(dot(v, subtract(p, q)), 0.0), edge_length(view, j)))
    p, u = edge_part(view, i, 0), edge_part(view, i, 3)
    if kind_b == VERTEX:
        q = carry(b_to_a, vertex_at(view, j))
        return add_scaled(p, u, min(max(dot(u, subtract(q, p)), 0.0), edge_length(view, i))), q
    q, v = carry(b_to_a, edge_part(view, j, 0)), turn(b_to_a[0], edge_part(view, j, 3))
    s, t = closest_on_edges(u, edge_length(view, i), v, edge_length(view, j), subtract(p, q))
    return add_scaled(p, u, s), add_scaled(q, v, t)
