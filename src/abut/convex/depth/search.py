"""Depth of overlapping hulls: a polytope grows inside their difference until its face nearest to the origin is one of the difference (EPA, van den
Bergen 2001).

The difference A − B holds the origin when the hulls overlap, and the depth is the origin's distance from its boundary. Depth lies between two bounds:
the nearest face of the polytope, which is inside the difference, and the difference's extent along any direction. Where they agree to rounding, the
depth is found, and it is the least there is, not that of a local minimum. The search starts with the direction of the last depth, if one is known:
its face of the difference is then in the polytope from the first.

Failure cases, told by the result: no room for more points, and a polytope that could not grow.
"""

import numpy as np

from abut.convex.depth.polytope import MOST_POINTS, THIN, Polytope, close_four, grow, nearest_face, put_point
from abut.convex.features.access import EDGE, FACE, VERTEX, a_vertex_of, climb, end_of, leap, vertex_at
from abut.convex.hull.tables import View
from abut.convex.triples import triple_at
from abut.core.jit import element, kernel
from abut.core.scratch import load
from abut.geometry.frames import Frame, carry, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, norm_sq, scale, subtract

FOUND, FLAT, FAILED = 0, 1, 2
"""How the search ended: with a depth; the difference has no volume; without an answer."""

AGREED, NEARLY = 2.0, 64.0
"""Bounds that differ by so many tolerances agree; where no new point can tell them apart, by so many."""

ALIGNED = 1.0 - 1e-9
"""Cosine of directions that are taken for one: 4.5e-5, more than the normal of a thin triangle is off."""


@element
def support(view: View, b_to_a: Frame, n: Vec3, a: int, b: int) -> tuple[int, int, Vec3]:
    """The vertices of a and b that are farthest along n and −n, climbing from a and b or from seeds, and their difference."""
    back = turn_back(b_to_a[0], (-n[0], -n[1], -n[2]))
    top, _ = climb(view, leap(view, a, n), n)
    bottom, _ = climb(view, leap(view, b, back), back)
    return top, bottom, subtract(vertex_at(view, top), carry(b_to_a, vertex_at(view, bottom)))


@element
def unit(d: Vec3) -> Vec3:
    """A vector divided by its length, which is not zero."""
    return scale(d, 1.0 / norm(d))


@element
def across(d: Vec3) -> Vec3:
    """A unit vector perpendicular to a unit vector."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if x <= y and x <= z:
        return unit(cross(d, (1.0, 0.0, 0.0)))
    return unit(cross(d, (0.0, 1.0, 0.0))) if y <= z else unit(cross(d, (0.0, 0.0, 1.0)))


@element
def close_if_solid(polytope: Polytope, thin: float) -> bool:
    """Put triangles around the first four points, if they span a volume."""
    p, q = triple_at(polytope.points, 0), triple_at(polytope.points, 1)
    r, s = triple_at(polytope.points, 2), triple_at(polytope.points, 3)
    n = cross(subtract(q, p), subtract(r, p))
    area, height = norm(n), dot(n, subtract(s, p))
    if abs(height) <= thin * area or area <= thin * norm(subtract(q, p)):
        return False
    close_four(polytope, height > 0.0, thin)
    return True


@element
def put_pair(view: View, polytope: Polytope, k: int, a: int, b: int, b_to_a: Frame) -> None:
    """Write point k, the difference of the vertices a and b."""
    put_point(polytope, k, a, b, subtract(vertex_at(view, a), carry(b_to_a, vertex_at(view, b))))


@element
def _corner_of(view: View, face: int, third: int) -> int:
    """A vertex of a face, a third or two thirds of the way around."""
    first = load(view.face_starts, face)
    side = int(load(view.face_links, first + third * (load(view.face_starts, face + 1) - first) // 3))
    return end_of(view, side >> 1, side & 1)


@element
def _start_from(view: View, polytope: Polytope, own: int, other: int, b_to_a: Frame, guess: Vec3, thin: float) -> bool:
    """Whether the difference's face between two features, a face and a vertex or two edges, spans a volume with the point farthest behind it."""
    i, j, kinds = own >> 2, other >> 2, (own & 3) * 3 + (other & 3)
    if kinds == FACE * 3 + VERTEX:
        for k in range(3):
            put_pair(view, polytope, k, _corner_of(view, i, k), j, b_to_a)
    elif kinds == VERTEX * 3 + FACE:
        for k in range(3):
            put_pair(view, polytope, k, i, _corner_of(view, j, k), b_to_a)
    elif kinds == EDGE * 3 + EDGE:
        for k in range(3):
            put_pair(view, polytope, k, end_of(view, i, k & 1), end_of(view, j, k >> 1), b_to_a)
    else:
        return False
    a, b, w = support(view, b_to_a, scale(guess, -1.0), load(polytope.owners, 0), load(polytope.owners, 1))
    put_point(polytope, 3, a, b, w)
    return close_if_solid(polytope, thin)


@element
def start_quickly(
    view: View, polytope: Polytope, a: int, b: int, b_to_a: Frame, guess: Vec3, thin: float
) -> tuple[bool, int, int]:
    """Whether the points farthest along `guess` and along three directions at equal angles to it span a volume; the last vertices of a and b."""
    u = across(guess)
    v = cross(guess, u)
    back = scale(guess, -1.0 / 3.0)
    a, b, p = support(view, b_to_a, guess, a, b)
    put_point(polytope, 0, a, b, p)
    for k in range(3):  # corners of a regular tetrahedron: ⅔√2 across, at thirds of a turn
        x, y = (
            (0.9428090415820634, 0.0)
            if k == 0
            else (-0.4714045207910317, 0.816496580927726 if k == 1 else -0.816496580927726)
        )
        a, b, w = support(view, b_to_a, add_scaled(add_scaled(back, u, x), v, y), a, b)
        put_point(polytope, k + 1, a, b, w)
    return close_if_solid(polytope, thin), a, b


@kernel
def _start_anyhow(
    view: View, polytope: Polytope, a: int, b: int, b_to_a: Frame, guess: Vec3, thin: float
) -> tuple[int, Vec3, int, int]:
    """Four points of the difference that span a volume. Else FLAT, the direction it has no extent in, and vertices of a and b."""
    directions = (guess, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    p, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for turn in range(4):
        a, b, p = support(view, b_to_a, directions[turn], a, b)
        put_point(polytope, 0, a, b, p)
        a, b, q = support(view, b_to_a, scale(directions[turn], -1.0), a, b)
        put_point(polytope, 1, a, b, q)
        u = subtract(q, p)
        if norm(u) > thin:
            break
    if norm(u) <= thin:
        return FLAT, guess, a, b
    u = unit(u)
    v, farthest = across(u), thin
    w = cross(u, v)
    for d in (v, scale(v, -1.0), w, scale(w, -1.0)):
        a, b, r = support(view, b_to_a, d, a, b)
        x = subtract(r, p)
        off = norm(add_scaled(x, u, -dot(x, u)))
        if off > farthest:
            farthest = off
            put_point(polytope, 2, a, b, r)
    if farthest == thin:
        return FLAT, v, a, b
    n = unit(cross(u, subtract(triple_at(polytope.points, 2), p)))
    above = False
    farthest = thin
    for d in (n, scale(n, -1.0)):
        a, b, r = support(view, b_to_a, d, a, b)
        off = dot(subtract(r, p), d)
        if off > farthest:
            farthest = off
            above = dot(d, n) > 0.0
            put_point(polytope, 3, a, b, r)
    if farthest == thin:
        return FLAT, n, a, b
    close_four(polytope, above, thin)
    return FOUND, n, a, b


@kernel
def find_depth(
    view: View, polytope: Polytope, own: int, other: int, b_to_a: Frame, guess: Vec3, tolerance: float
) -> tuple[int, float, Vec3, int, int, int, int]:
    """How the search ended; depth; the direction from a to b along which it is least; the vertices farthest along it; number of faces; the nearest.

    A negative depth says that the hulls are apart by at least that much. own, other: any features; guess: a unit vector."""
    n, a, b, thin = guess, a_vertex_of(view, own), a_vertex_of(view, other), THIN * tolerance
    is_solid = _start_from(view, polytope, own, other, b_to_a, guess, thin)
    if not is_solid:
        is_solid, a, b = start_quickly(view, polytope, a, b, b_to_a, guess, thin)
    if not is_solid:
        status, n, a, b = _start_anyhow(view, polytope, a, b, b_to_a, guess, thin)
        if status == FLAT:
            height = dot(n, triple_at(polytope.points, 0))
            return FLAT, -abs(height), (n if height <= 0.0 else scale(n, -1.0)), a, b, 0, -1
    point_count, face_count = 4, 4
    while True:
        f = nearest_face(polytope, face_count)
        if f < 0:
            return FAILED, 0.0, n, a, b, 0, -1
        d, n = load(polytope.distances, f), triple_at(polytope.normals, f)
        a, b = highest_owners(view, polytope, f, n)
        a, b, w = support(view, b_to_a, n, a, b)
        depth = dot(n, w)
        if depth - d <= AGREED * tolerance or depth < -NEARLY * tolerance:
            return FOUND, depth, n, a, b, face_count, f
        if _is_old(polytope, point_count, a, b, w, tolerance):
            return (FOUND if depth - d <= NEARLY * tolerance else FAILED), depth, n, a, b, face_count, f
        if point_count == MOST_POINTS:
            return FAILED, depth, n, a, b, face_count, f
        put_point(polytope, point_count, a, b, w)
        face_count = grow(polytope, f, point_count, face_count, tolerance)
        point_count += 1
        if face_count < 0:
            return FAILED, depth, n, a, b, 0, f


@element
def highest_owners(view: View, polytope: Polytope, f: int, n: Vec3) -> tuple[int, int]:
    """Of the vertices of a and of b that a triangle comes from, those that are farthest along n and −n."""
    corner = load(polytope.corners, 3 * f)
    a, b = load(polytope.owners, 2 * corner), load(polytope.owners, 2 * corner + 1)
    top = dot(vertex_at(view, a), n)
    d = dot(triple_at(polytope.points, corner), n)
    bottom = top - d  # of b, without its origin's height: the same for all
    for k in range(1, 3):
        corner = load(polytope.corners, 3 * f + k)
        own = load(polytope.owners, 2 * corner)
        height = dot(vertex_at(view, own), n)
        low = height - dot(triple_at(polytope.points, corner), n)
        if height > top:
            top, a = height, own
        if low < bottom:
            bottom, b = low, load(polytope.owners, 2 * corner + 1)
    return a, b


@element
def _is_old(polytope: Polytope, point_count: int, a: int, b: int, w: Vec3, tolerance: float) -> bool:
    """Whether the polytope has a point of these vertices, or one where w is."""
    for k in range(point_count):
        if load(polytope.owners, 2 * k) == a and load(polytope.owners, 2 * k + 1) == b:
            return True
        if norm_sq(subtract(triple_at(polytope.points, k), w)) <= tolerance * tolerance:
            return True
    return False


@kernel
def deepest_point(
    view: View, polytope: Polytope, face_count: int, depth: float, normal: Vec3, tolerance: float
) -> tuple[bool, Vec3]:
    """Whether the difference's face across `normal` is in the polytope, and the point of a that is deepest inside b.

    Of the triangles of that face one holds the origin's foot: the one whose smallest barycentric coordinate is largest. The point has the same
    coordinates with respect to the vertices of a that the triangle comes from."""
    best, chosen, weights = -np.inf, -1, (1.0, 0.0, 0.0)
    for f in range(face_count):
        d, n = load(polytope.distances, f), triple_at(polytope.normals, f)
        if d > depth + NEARLY * tolerance or dot(n, normal) < ALIGNED:
            continue
        foot = scale(n, d)
        i, j, k = triple_at(polytope.corners, f)
        p, q, r = (
            subtract(triple_at(polytope.points, i), foot),
            subtract(triple_at(polytope.points, j), foot),
            subtract(triple_at(polytope.points, k), foot),
        )
        x, y, z = dot(cross(q, r), n), dot(cross(r, p), n), dot(cross(p, q), n)
        total = x + y + z
        if min(x, y, z) / total > best:
            best, chosen, weights = min(x, y, z) / total, f, (x / total, y / total, z / total)
    if chosen < 0:
        return False, (0.0, 0.0, 0.0)
    i, j, k = triple_at(polytope.corners, chosen)
    x, y, z = max(weights[0], 0.0), max(weights[1], 0.0), max(weights[2], 0.0)
    total = x + y + z
    p = scale(vertex_at(view, load(polytope.owners, 2 * i)), x / total)
    p = add_scaled(p, vertex_at(view, load(polytope.owners, 2 * j)), y / total)
    return True, add_scaled(p, vertex_at(view, load(polytope.owners, 2 * k)), z / total)
