"""Reading features, and climbing: the steps that walk, depth and proof are made of.

A feature is a number: four times its index among all hulls' vertices, edges or faces, plus its kind. A frame `b_to_a` takes points of hull b to the
frame of hull a (`geometry.frames`).
"""

from abut.convex.hull.tables import EDGE_ROW, PLANE_ROW, SEEDS, SIDE_ROW, View
from abut.convex.triples import triple_at, triple_from
from abut.core.jit import element
from abut.core.scratch import load
from abut.geometry.frames import Frame, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, subtract

VERTEX, EDGE, FACE = 0, 1, 2

PARALLEL_SQ = 1e-28
"""Squared sine below which edges count as parallel: an angle of 1e-14, some roundings of a unit vector."""

NEAR_TOP = 0.9
"""Squared cosine from which on a vertex is so near to a direction that no seed is looked at: 18°."""

RISE = 4 * 2.0**-52
"""Part of the sum of its terms that the rise of an edge is off by: a difference, a product and two sums are rounded, half of 2^-52 each."""


@element
def invert(frame: Frame) -> Frame:
    """The frame that undoes this one."""
    x, y, z = frame[0]
    t = turn_back(frame[0], frame[1])
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])), (-t[0], -t[1], -t[2])


@element
def vertex_at(view: View, v: int) -> Vec3:
    """Coordinates of a vertex, relative to its hull's middle."""
    return triple_at(view.vertices, v)


@element
def edge_part(view: View, e: int, part: int) -> Vec3:
    """Three numbers of an edge: 0 tail, 3 direction, 7 into the left face, 10 into the right face."""
    return triple_from(view.edges, e * EDGE_ROW + part)


@element
def edge_length(view: View, e: int) -> float:
    """Length of an edge."""
    return load(view.edges, e * EDGE_ROW + 6)


@element
def normal_of(view: View, f: int) -> Vec3:
    """Unit normal of a face."""
    return triple_from(view.planes, f * PLANE_ROW)


@element
def offset_of(view: View, f: int) -> float:
    """Distance of a face's plane from the middle."""
    return load(view.planes, f * PLANE_ROW + 3)


@element
def end_of(view: View, e: int, end: int) -> int:
    """Tail (0) or head (1) of an edge; its left (2) or right (3) face, −1 where there is none."""
    return int(load(view.edge_links, e * 4 + end))


@element
def a_vertex_of(view: View, feature: int) -> int:
    """A vertex of a feature."""
    kind, i = feature & 3, feature >> 2
    if kind == VERTEX:
        return i
    if kind == FACE:
        i = int(load(view.face_links, load(view.face_starts, i))) >> 1
    return end_of(view, i, 0)


@element
def neighbour_at(view: View, link: int) -> Vec3:
    """Coordinates of the vertex at the other end of a vertex's link."""
    return vertex_at(view, int(load(view.neighbours, link)))


@element
def edge_to(view: View, link: int) -> int:
    """The edge of a vertex's link."""
    return int(load(view.vertex_edges, link))


@element
def side_at(view: View, link: int) -> Vec3:
    """Unit vector of a face's link into the face."""
    return triple_from(view.sides, link * SIDE_ROW)


@element
def side_offset(view: View, link: int) -> float:
    """That vector's product with the points of the edge."""
    return load(view.sides, link * SIDE_ROW + 3)


@element
def climb(view: View, v: int, d: Vec3) -> tuple[int, float]:
    """The vertex farthest along a direction and how far it is: uphill from v, to a vertex that no neighbour exceeds (of a convex hull, the top).

    Edges are asked whether they rise, not vertices which is higher: on a thin hull with short edges all neighbours are as high as v to rounding.
    What rises by more than its own rounding does rise, so the climb ends."""
    while True:
        x = vertex_at(view, v)
        best, most = -1, 0.0
        for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
            arm = subtract(neighbour_at(view, link), x)
            i, j, k = arm[0] * d[0], arm[1] * d[1], arm[2] * d[2]
            rise = i + j + k
            if rise > most and rise > RISE * (abs(i) + abs(j) + abs(k)):
                best, most = link, rise
        if best < 0:
            return v, dot(x, d)
        v = int(load(view.neighbours, best))


@element
def leap(view: View, v: int, d: Vec3) -> int:
    """A vertex of the hull that is about as far along a direction as any, or v if that is better: where to climb from. On a hull of thousands of
    vertices a climb to the other side takes a hundred steps, each of which waits for memory."""
    first = int(load(view.seed_starts, v))
    if first < 0:
        return v
    x = vertex_at(view, v)
    most = dot(x, d)
    if most > 0.0 and most * most >= NEAR_TOP * dot(x, x) * dot(d, d):
        return v
    best = -1
    for k in range(first, first + SEEDS):
        height = dot(triple_at(view.seed_points, k), d)
        if height > most:
            best, most = k, height
    return v if best < 0 else int(load(view.seeds, best))


@element
def climb_faces(view: View, f: int, p: Vec3) -> int:
    """The face in whose pseudo-region, the cone from the middle over the face, a point lies: where n·p / distance is largest.

    Faces on the polar body are vertices, so uphill over the faces' edges leads to the top. The hull has a volume."""
    height = dot(normal_of(view, f), p) / offset_of(view, f)
    while True:
        best = -1
        for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
            side = int(load(view.face_links, link))
            g = end_of(view, side >> 1, 3 - (side & 1))
            other = dot(normal_of(view, g), p) / offset_of(view, g)
            if other > height:
                best, height = g, other
        if best < 0:
            return f
        f = best


@element
def closest_on_edges(u: Vec3, length_u: float, v: Vec3, length_v: float, w: Vec3) -> tuple[float, float]:
    """Parameters s in [0, length_u] and t in [0, length_v] for which w + s·u − t·v is shortest; u and v are unit vectors,
    or zero with a length of zero.

    s = −det(w, v, n)/|n|² with n = u × v, whose error grows with 1/sine, not 1/sine² as that of the normal equations."""
    n = cross(u, v)
    sine_sq = dot(n, n)
    s = -dot(cross(w, v), n) / sine_sq if sine_sq > PARALLEL_SQ else -dot(u, w)
    s = min(max(s, 0.0), length_u)
    t = dot(v, add_scaled(w, u, s))
    if t < 0.0 or t > length_v:
        t = min(max(t, 0.0), length_v)
        s = min(max(-dot(u, add_scaled(w, v, -t)), 0.0), length_u)
    return s, t
