"""Which features a depth comes from, and their points: the direction of a polytope's triangle is off by roundings over its height, that of a face or
of two edges is not.

A feature's own direction is taken if it gives no greater depth than the polytope did.
"""

from abut.convex.depth.polytope import Polytope
from abut.convex.depth.search import ALIGNED, support
from abut.convex.features.access import (
    EDGE,
    FACE,
    VERTEX,
    closest_on_edges,
    edge_length,
    edge_part,
    edge_to,
    end_of,
    normal_of,
    vertex_at,
)
from abut.convex.hull.tables import View
from abut.core.jit import element, kernel
from abut.core.scratch import load
from abut.geometry.frames import Frame, carry, turn, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, scale, subtract

NAMED = 64.0
"""Tolerances by which the depth along a feature's own direction may exceed the polytope's."""


@element
def _face_along(view: View, v: int, n: Vec3) -> tuple[int, float]:
    """The face at a vertex whose normal is nearest to n, and their cosine."""
    best, face = -2.0, -1
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        e = edge_to(view, link)
        for side in range(2, 4):
            f = end_of(view, e, side)
            if f >= 0 and dot(normal_of(view, f), n) > best:
                best, face = dot(normal_of(view, f), n), f
    return face, best


@element
def _perpendicular(view: View, e: int, g: int, n: Vec3, b_to_a: Frame) -> tuple[Vec3, float]:
    """The common perpendicular of two edges, on the side of n, and the cosine between them; −2 where the edges are parallel."""
    m = cross(edge_part(view, e, 3), turn(b_to_a[0], edge_part(view, g, 3)))
    size = norm(m)
    if size <= 1e-14:
        return n, -2.0
    m = scale(m, (1.0 if dot(m, n) >= 0.0 else -1.0) / size)
    return m, dot(m, n)


@element
def _edge_between(view: View, v: int, w: int) -> int:
    """The edge from v to w, −1 where there is none."""
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        if load(view.neighbours, link) == w:
            return edge_to(view, link)
    return -1


@element
def _edges_of(view: View, polytope: Polytope, nearest: int, n: Vec3, b_to_a: Frame) -> tuple[int, int, Vec3, float]:
    """The edges whose four ends a triangle of the polytope comes from, as `_edges_along`."""
    first = load(polytope.corners, 3 * nearest)
    a, b = load(polytope.owners, 2 * first), load(polytope.owners, 2 * first + 1)
    own, other = -1, -1
    for k in range(1, 3):
        corner = load(polytope.corners, 3 * nearest + k)
        v, w = load(polytope.owners, 2 * corner), load(polytope.owners, 2 * corner + 1)
        own = _edge_between(view, a, v) if own < 0 and v != a else own
        other = _edge_between(view, b, w) if other < 0 and w != b else other
    if own < 0 or other < 0:
        return -1, -1, n, -2.0
    m, cosine = _perpendicular(view, own, other, n, b_to_a)
    return own, other, m, cosine


@kernel
def _edges_along(view: View, v: int, w: int, n: Vec3, b_to_a: Frame) -> tuple[int, int, Vec3, float]:
    """The edges at v and at w whose common perpendicular is nearest to n, that perpendicular, and the cosine."""
    best, own, other, normal = -2.0, -1, -1, n
    for link in range(load(view.vertex_starts, v), load(view.vertex_starts, v + 1)):
        e = edge_to(view, link)
        for link_b in range(load(view.vertex_starts, w), load(view.vertex_starts, w + 1)):
            g = edge_to(view, link_b)
            m, cosine = _perpendicular(view, e, g, n, b_to_a)
            if cosine > best:
                best, own, other, normal = cosine, e, g, m
    return own, other, normal, best


@kernel
def name_features(
    view: View,
    polytope: Polytope,
    nearest: int,
    v: int,
    w: int,
    n: Vec3,
    depth: float,
    b_to_a: Frame,
    tolerance: float,
) -> tuple[int, int, Vec3, float]:
    """The features that a depth along n comes from, their exact direction, and the depth along it. v and w are farthest along n and −n."""
    face, cosine = _face_along(view, v, n)
    if cosine > ALIGNED:
        m = normal_of(view, face)
        _, bottom, x = support(view, b_to_a, m, v, w)
        if dot(m, x) <= depth + NAMED * tolerance:
            return face * 4 + FACE, bottom * 4 + VERTEX, m, dot(m, x)
    face, cosine = _face_along(view, w, turn_back(b_to_a[0], scale(n, -1.0)))
    if cosine > ALIGNED:
        m = scale(turn(b_to_a[0], normal_of(view, face)), -1.0)
        top, _, x = support(view, b_to_a, m, v, w)
        if dot(m, x) <= depth + NAMED * tolerance:
            return top * 4 + VERTEX, face * 4 + FACE, m, dot(m, x)
    own, other, m, cosine = _edges_of(view, polytope, nearest, n, b_to_a)
    if cosine <= ALIGNED:
        own, other, m, cosine = _edges_along(view, v, w, n, b_to_a)
    if cosine > ALIGNED:
        _, _, x = support(view, b_to_a, m, v, w)
        if dot(m, x) <= depth + NAMED * tolerance:
            return own * 4 + EDGE, other * 4 + EDGE, m, dot(m, x)
    return v * 4 + VERTEX, w * 4 + VERTEX, n, depth


@kernel
def points_of(view: View, a: int, b: int, n: Vec3, depth: float, b_to_a: Frame) -> tuple[Vec3, Vec3]:
    """Points of two overlapping features, a depth apart along n; one of them is a vertex, or both are edges."""
    if a & 3 == VERTEX:
        p = vertex_at(view, a >> 2)
        return p, add_scaled(p, n, -depth)
    if b & 3 == VERTEX:
        q = carry(b_to_a, vertex_at(view, b >> 2))
        return add_scaled(q, n, depth), q
    p, u = edge_part(view, a >> 2, 0), edge_part(view, a >> 2, 3)
    q, v = carry(b_to_a, edge_part(view, b >> 2, 0)), turn(b_to_a[0], edge_part(view, b >> 2, 3))
    s, _ = closest_on_edges(u, edge_length(view, a >> 2), v, edge_length(view, b >> 2), subtract(p, q))
    p = add_scaled(p, u, s)
    return p, add_scaled(p, n, -depth)
