"""Whether a swept edge meets an obstacle, however small, and when first: the continuous detection of Jund 2010, §4.3, in the plane and in space.

An edge whose end moves from p to g while its other end q stays sweeps the triangle pgq. It is free when the triangle lies in the union F of the
closed free cells: touching is no collision, as for particles. The front holds the cells that the segments pg and pq, both in F, pass; it
grows by the cells around every edge of the environment that meets the triangle (in the plane: every vertex). Nothing else leads on: where the
triangle crosses a face, it does so in a segment; that ends on an edge of the face, or on pg or pq, but not twice on gq.

Why this finds all. The part of the triangle outside of F is open in it. Its border is of dimension 1, since pq lies in F, and almost all of it
lies in the interiors of faces between a free cell and an obstacle, or, where the triangle lies in the plane of such an edge, along an edge.
`_enters_face` decides the first: an open face meets the closed triangle, a corner of which lies beyond the face. `_enters_along_edge` decides
the second. Both ask exact signs of input coordinates only. A triangle without area is covered by pg and pq.

Times. The edge turns about q. It meets an edge ab of the environment when the plane qab holds its moving end: t = det(q,a,b,p) / (det(q,a,b,p) −
det(q,a,b,g)), rounded and made early. Where several meet, the earliest counts; where rounding leaves none, the time is 0, never late.
"""

import numpy as np

from abut.cells.map.darts import Row
from abut.cells.space.convexity import is_collinear
from abut.cells.space.predicates import MISSED, NOWHERE, THROUGH_EDGE, leave_tie, pass_face, side_of_face
from abut.cells.space.records import BLOCKED, NO_FACE, Space, corners_of_face, measure_plane
from abut.cells.walk.segment_walk import COUNT, TESTS, VISITS, Front, push_around, push_star
from abut.core.jit import element, inlined, kernel, stay_apart
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.determinants import cross_segment_plane
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec2, Vec3, drop_axis

First = tuple[float, int, Row]
"""Time, kind (a `cells.Kind`) and dart of what is met first; the time is infinite where nothing is."""
Plane = tuple[float, float, float, float]


@element
def open_segment_meets(a: Vec2, b: Vec2, p: Vec2, g: Vec2, q: Vec2) -> bool:
    """Whether the open segment ab and the closed triangle pgq, which runs anticlockwise and has area, have a common point."""
    s, t, u = orient_2d(a, b, p), orient_2d(a, b, g), orient_2d(a, b, q)
    if s >= 0 and t >= 0 and u >= 0:
        a, b, s, t, u = b, a, -s, -t, -u
    if s < 0 and t < 0 and u < 0:
        return False
    corners, sides = (p, g, q), (s, t, u)
    for i in range(3):
        j = (i + 1) % 3
        # The triangle begins, along ab, where its border crosses the line to the right, and ends where it comes back.
        if sides[i] >= 0 and sides[j] < 0 and orient_2d(corners[i], corners[j], b) <= 0:
            return False
        if sides[i] < 0 and sides[j] >= 0 and orient_2d(corners[i], corners[j], a) <= 0:
            return False
    return True


@element
def _in_triangle(w: Vec2, p: Vec2, g: Vec2, q: Vec2) -> bool:
    """Whether w lies in the closed triangle, which runs anticlockwise."""
    return orient_2d(p, g, w) >= 0 and orient_2d(g, q, w) >= 0 and orient_2d(q, p, w) >= 0


@element
def _raised(a: Vec3, axis: int) -> Vec3:
    """A point above another one along an axis: planes through both stand for lines."""
    return (a[0] + (axis == 0), a[1] + (axis == 1), a[2] + (axis == 2))


@element
def lower(a: Vec3, b: Vec3) -> Vec3:
    """The lower of each coordinate."""
    return (min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]))


@element
def upper(a: Vec3, b: Vec3) -> Vec3:
    """The higher of each coordinate."""
    return (max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2]))


@element
def _boxes_meet(a: Vec3, b: Vec3, lowest: Vec3, highest: Vec3) -> bool:
    """Whether the box of segment ab meets another: most edges of a large cell are far from a small triangle."""
    low, high = lower(a, b), upper(a, b)
    return (
        low[0] <= highest[0]
        and low[1] <= highest[1]
        and low[2] <= highest[2]
        and high[0] >= lowest[0]
        and high[1] >= lowest[1]
        and high[2] >= lowest[2]
    )


@inlined
def side_of(plane: Plane, p: Vec3, g: Vec3, q: Vec3, w: Vec3) -> int:
    """On which side of the triangle w lies: by the plane's record where that is certain, else exactly."""
    height = plane[0] * w[0] + plane[1] * w[1] + plane[2] * w[2] + plane[3]
    if height > 1.0:
        return 1
    if height < -1.0:
        return -1
    return orient_3d(p, g, q, w)


@kernel
def open_face_meets(space: Space, face: Row, plane: Plane, p: Vec3, g: Vec3, q: Vec3, beyond: bool) -> bool:
    """Whether the open face and the closed triangle pgq have a common point, their planes being different.

    Both cut the line common to the two planes in an interval; its ends lie on the edges that pass from above the other's plane to below ("down")
    and from below to above ("up"). Their order is a sign of two edges (`geometry.crossings`). With `beyond`, a corner of the triangle must
    also lie beyond the face.
    """
    stay_apart()
    s, t, u = side_of_face(space, face, p), side_of_face(space, face, g), side_of_face(space, face, q)
    turned = False
    if s >= 0 and t >= 0 and u >= 0:
        if beyond:
            return False
        s, t, u, turned = -s, -t, -u, True
    if (s < 0 and t < 0 and u < 0) or (s == 0 and t == 0 and u == 0):
        return False
    down, up, above, dart = NO_FACE, NO_FACE, False, face
    side = side_of(plane, p, g, q, vector_at(space.vertices, space.vertex[dart]))
    while True:
        following = space.phi1[dart]
        after = side_of(plane, p, g, q, vector_at(space.vertices, space.vertex[following]))
        above |= after > 0
        if side >= 0 and after < 0:
            down = dart
        if side < 0 and after >= 0:
            up = dart
        dart, side = following, after
        if dart == face:
            break
    if down == NO_FACE or not above:
        return False
    # Of a dart that goes up, the end is above. A face that is turned over runs the other way round.
    first_high, first_low = space.vertex[down], space.vertex[space.phi1[down]]
    last_high, last_low = space.vertex[space.phi1[up]], space.vertex[up]
    if turned:
        first_high, first_low, last_high, last_low = last_high, last_low, first_high, first_low
    corners, sides = (p, g, q), (s, t, u)
    for i in range(3):
        x, y = corners[i], corners[(i + 1) % 3]
        is_below, ends_below = sides[i] < 0, sides[(i + 1) % 3] < 0
        if is_below == ends_below:
            continue
        if ends_below:  # down: the later end of the triangle's interval, against the beginning of the face's
            a, b = vector_at(space.vertices, first_high), vector_at(space.vertices, first_low)
            if orient_3d(x, y, a, b) >= 0:
                return False
        else:
            a, b = vector_at(space.vertices, last_high), vector_at(space.vertices, last_low)
            if orient_3d(y, x, a, b) <= 0:
                return False
    return True


@kernel
def _passes(space: Space, face: Row, p: Vec3, g: Vec3) -> bool:
    """Whether the moving end itself passes a face, out of the free cells or into them again: what the edge enters of the face between its end and
    its new place comes after its end was stopped."""
    if side_of_face(space, face, g) < 0:
        return pass_face(space, face, p, g)[0] != MISSED
    return side_of_face(space, face, p) < 0 and pass_face(space, face, g, p)[0] != MISSED


@kernel
def _time_of_face(space: Space, face: Row, p: Vec3, g: Vec3, q: Vec3) -> First:
    """When the edge first meets a face that its triangle enters."""
    if side_of_face(space, face, q) == 0:  # the common segment points at q: all of it is met at once
        a, b, c = corners_of_face(space, face)
        return cross_segment_plane(p, g, a, b, c), 2, face
    best, hit, dart = np.inf, face, face
    while True:
        following = space.phi1[dart]
        a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
        side_a, side_b = orient_3d(p, g, q, a), orient_3d(p, g, q, b)
        if side_a * side_b <= 0 and side_a != side_b and meet_segment_triangle(a, b, p, g, q):
            time = cross_segment_plane(p, g, q, a, b)
            if time < best:
                best, hit = time, dart
        dart = following
        if dart == face:
            break
    if best == np.inf:
        return (np.inf if _passes(space, face, p, g) else 0.0), 2, face
    return best, 1, hit


@kernel
def _enters_along_edge(space: Space, dart: Row, p: Vec3, g: Vec3, q: Vec3) -> First:
    """When the triangle enters an obstacle along an edge that lies in its plane; infinite where it does not."""
    towards = leave_tie(space, THROUGH_EDGE, dart, p)
    if (
        towards != NOWHERE
        and leave_tie(space, THROUGH_EDGE, dart, g) != NOWHERE
        and leave_tie(space, THROUGH_EDGE, dart, q) != NOWHERE
    ):
        return np.inf, 1, dart
    axis = 0
    while orient_2d(drop_axis(p, axis), drop_axis(g, axis), drop_axis(q, axis)) == 0:
        axis += 1
    turn = orient_2d(drop_axis(p, axis), drop_axis(g, axis), drop_axis(q, axis))
    x, y, z = drop_axis(p, axis), drop_axis(g if turn > 0 else q, axis), drop_axis(q if turn > 0 else g, axis)
    a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[space.phi1[dart]])
    if not open_segment_meets(drop_axis(a, axis), drop_axis(b, axis), x, y, z):
        return np.inf, 1, dart
    if orient_2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(q, axis)) == 0:
        return cross_segment_plane(p, g, a, b, _raised(a, axis)), 1, dart
    best = np.inf
    if _in_triangle(drop_axis(a, axis), x, y, z):
        best = cross_segment_plane(p, g, q, _raised(q, axis), a)
    if _in_triangle(drop_axis(b, axis), x, y, z):
        best = min(best, cross_segment_plane(p, g, q, _raised(q, axis), b))
    if (
        best == np.inf
    ):  # the moving end is stopped by the edge itself: else p and g, or q too, would lie on the same, open side
        best = cross_segment_plane(p, g, a, b, _raised(a, axis))
    return best, 1, dart


@kernel
def grow_in_volume(
    space: Space, front: Front, cell: Row, plane: Plane, p: Vec3, g: Vec3, q: Vec3, deciding: bool
) -> First:
    """Look at one cell in space: list the cells around its edges that meet the triangle, and where `deciding`, what it enters."""
    stay_apart()
    best, kind, hit = np.inf, 0, NO_FACE
    front.state[VISITS] += 1
    lowest, highest = lower(lower(p, g), q), upper(upper(p, g), q)
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face == NO_FACE:
            continue
        dart, low, high = face, False, False
        a = vector_at(space.vertices, space.vertex[dart])
        side_a = side_of(plane, p, g, q, a)
        while True:
            following = space.phi1[dart]
            b = vector_at(space.vertices, space.vertex[following])
            side_b = side_of(plane, p, g, q, b)
            front.state[TESTS] += 1
            low, high = low or side_b < 0, high or side_b > 0
            if (
                side_a * side_b <= 0
                and dart < space.phi2[dart]
                and _boxes_meet(a, b, lowest, highest)
                and meet_segment_triangle(a, b, p, g, q)
            ):
                if side_a * side_b < 0:
                    push_around(space, front, dart)
                else:
                    push_star(space, front, space.vertex[dart])
                    push_star(space, front, space.vertex[following])
                    if deciding and side_a == 0 and side_b == 0:
                        time, new_kind, new_hit = _enters_along_edge(space, dart, p, g, q)
                        if time < best:
                            best, kind, hit = time, new_kind, new_hit
            dart, a, side_a = following, b, side_b
            if dart == face:
                break
        if deciding and low and high and space.neighbour[cell, slot] == BLOCKED:
            front.state[TESTS] += 5
            if open_face_meets(space, face, plane, p, g, q, True):
                time, new_kind, new_hit = _time_of_face(space, face, p, g, q)
                if time < best:
                    best, kind, hit = time, new_kind, new_hit
    return best, kind, hit


@kernel
def _grow_in_polygon(space: Space, front: Front, cell: Row, p: Vec3, g: Vec3, q: Vec3, turn: int) -> First:
    """The same in the plane, where the vertices in the triangle lead on and edges are what is entered."""
    best, kind, hit = np.inf, 0, NO_FACE
    front.state[VISITS] += 1
    x, y, z = (p[0], p[1]), (g[0], g[1]), (q[0], q[1])
    if turn < 0:
        y, z = z, y
    for slot in range(space.face.shape[1]):
        dart = space.face[cell, slot]
        if dart == NO_FACE:
            continue
        following = space.phi1[dart]
        a, b = vector_at(space.vertices, space.vertex[dart]), vector_at(space.vertices, space.vertex[following])
        front.state[TESTS] += 3
        holds_a = _in_triangle((a[0], a[1]), x, y, z)
        if holds_a:
            push_star(space, front, space.vertex[dart])
        if space.neighbour[cell, slot] != BLOCKED:
            continue
        front.state[TESTS] += 3
        if (
            side_of_face(space, dart, p) >= 0
            and side_of_face(space, dart, g) >= 0
            and side_of_face(space, dart, q) >= 0
        ):
            continue
        if not open_segment_meets((a[0], a[1]), (b[0], b[1]), x, y, z):
            continue
        time, new_kind, new_hit = np.inf, 0, dart
        if side_of_face(space, dart, q) == 0:
            time, new_kind = cross_segment_plane(p, g, a, _raised(a, 2), b), 1
        else:
            if holds_a:
                time = cross_segment_plane(p, g, q, _raised(q, 2), a)
            if _in_triangle((b[0], b[1]), x, y, z):
                other = cross_segment_plane(p, g, q, _raised(q, 2), b)
                if other < time:
                    time, new_hit = other, following
            if time == np.inf and not _passes(space, dart, p, g):
                time = 0.0
        if time < best:
            best, kind, hit = time, new_kind, new_hit
    return best, kind, hit


@kernel
def search_triangle(space: Space, front: Front, p: Vec3, g: Vec3, q: Vec3) -> First:
    """What the edge from q to a point that moves from p to g meets first. The front holds the cells of the free segments pg and pq.

    Where pg is free only up to some time, the front holds the cells until then, and what is met before that is found likewise: the part of the
    triangle swept until then meets no edge and enters no face that the whole does not.
    """
    stay_apart()
    best, kind, hit = np.inf, 0, NO_FACE
    if is_collinear(p, g, q):
        return best, kind, hit
    turn, plane = 0, measure_plane(p, g, q, space.reach)
    if space.dimension == 2:
        turn = orient_2d((p[0], p[1]), (g[0], g[1]), (q[0], q[1]))
    done = 0
    while done < front.state[COUNT]:
        cell = front.queue[done]
        done += 1
        if space.dimension == 2:
            time, new_kind, new_hit = _grow_in_polygon(space, front, cell, p, g, q, turn)
        else:
            time, new_kind, new_hit = grow_in_volume(space, front, cell, plane, p, g, q, True)
        if time < best:
            best, kind, hit = time, new_kind, new_hit
    return best, kind, hit
