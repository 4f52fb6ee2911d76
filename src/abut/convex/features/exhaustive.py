"""Closest features and depth by trying all: the last resort where floating point left the walk or the growing polytope without a proof.

Work grows with the product of the hulls' sizes; results count how often it was needed. A face of the difference A − B is a face of a against the
vertex of b farthest in its direction, the same with a and b exchanged, or two edges that both lie on top along their common perpendicular.
"""

import math

import numpy as np

from abut.convex.features.access import (
    EDGE,
    FACE,
    PARALLEL_SQ,
    VERTEX,
    climb,
    closest_on_edges,
    edge_length,
    edge_part,
    normal_of,
    offset_of,
    vertex_at,
)
from abut.convex.hull.tables import View
from abut.core.jit import element, kernel
from abut.core.scratch import load
from abut.geometry.frames import Frame, carry, turn, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm_sq, scale, subtract

Range = tuple[int, int, int, int, int, int]
"""The first vertex, edge and face of a hull, and those after its last."""


@element
def _height_over(view: View, f: int, p: Vec3) -> float:
    """Height of a point over a face that it projects into, else infinity."""
    for link in range(load(view.face_starts, f), load(view.face_starts, f + 1)):
        side = int(load(view.face_links, link))
        e = side >> 1
        if dot(subtract(p, edge_part(view, e, 0)), edge_part(view, e, 7 + 3 * (side & 1))) < 0.0:
            return np.inf
    height = dot(p, normal_of(view, f)) - offset_of(view, f)
    return height if height >= 0.0 else np.inf


@kernel
def find_closest(view: View, a: Range, b: Range, b_to_a: Frame, a_to_b: Frame) -> tuple[int, int]:
    """The closest features of two hulls that are apart."""
    least, own, other = np.inf, a[0] * 4 + VERTEX, b[0] * 4 + VERTEX
    for f in range(a[2], a[5]):
        for w in range(b[0], b[3]):
            height = _height_over(view, f, carry(b_to_a, vertex_at(view, w)))
            if height < least:
                least, own, other = height, f * 4 + FACE, w * 4 + VERTEX
    for f in range(b[2], b[5]):
        for v in range(a[0], a[3]):
            height = _height_over(view, f, carry(a_to_b, vertex_at(view, v)))
            if height < least:
                least, own, other = height, v * 4 + VERTEX, f * 4 + FACE
    least = least * least
    for v in range(a[0], a[3]):
        for w in range(b[0], b[3]):
            away = norm_sq(subtract(vertex_at(view, v), carry(b_to_a, vertex_at(view, w))))
            if away < least:
                least, own, other = away, v * 4 + VERTEX, w * 4 + VERTEX
    none = (0.0, 0.0, 0.0)
    for e in range(a[1], a[4]):
        p, u, length = edge_part(view, e, 0), edge_part(view, e, 3), edge_length(view, e)
        for w in range(b[0], b[3]):
            x = subtract(p, carry(b_to_a, vertex_at(view, w)))
            s, _ = closest_on_edges(u, length, none, 0.0, x)
            if norm_sq(add_scaled(x, u, s)) < least:
                least, own, other = norm_sq(add_scaled(x, u, s)), e * 4 + EDGE, w * 4 + VERTEX
        for g in range(b[1], b[4]):
            v, x = turn(b_to_a[0], edge_part(view, g, 3)), subtract(p, carry(b_to_a, edge_part(view, g, 0)))
            s, t = closest_on_edges(u, length, v, edge_length(view, g), x)
            away = norm_sq(add_scaled(add_scaled(x, u, s), v, -t))
            if away < least:
                least, own, other = away, e * 4 + EDGE, g * 4 + EDGE
    for g in range(b[1], b[4]):
        q, v, length = edge_part(view, g, 0), edge_part(view, g, 3), edge_length(view, g)
        for w in range(a[0], a[3]):
            x = subtract(q, carry(a_to_b, vertex_at(view, w)))
            s, _ = closest_on_edges(v, length, none, 0.0, x)
            if norm_sq(add_scaled(x, v, s)) < least:
                least, own, other = norm_sq(add_scaled(x, v, s)), w * 4 + VERTEX, g * 4 + EDGE
    return own, other


@element
def _is_on_top(view: View, e: int, n: Vec3) -> bool:
    """Whether an edge perpendicular to n is farthest along n: both its faces go down."""
    return dot(edge_part(view, e, 7), n) <= 0.0 and dot(edge_part(view, e, 10), n) <= 0.0


@kernel
def find_least_depth(view: View, a: Range, b: Range, b_to_a: Frame) -> tuple[float, Vec3, int, int]:
    """The least extent of the difference, its direction, and the features it is between; infinite where the difference has no face."""
    least, best, own, other = np.inf, (0.0, 0.0, 1.0), a[0] * 4 + VERTEX, b[0] * 4 + VERTEX
    w, v = b[0], a[0]
    origin = b_to_a[1]
    for f in range(a[2], a[5]):
        n = normal_of(view, f)
        w, height = climb(view, w, turn_back(b_to_a[0], scale(n, -1.0)))
        depth = offset_of(view, f) + height - dot(n, origin)
        if depth < least:
            least, best, own, other = depth, n, f * 4 + FACE, w * 4 + VERTEX
    for f in range(b[2], b[5]):
        n = scale(turn(b_to_a[0], normal_of(view, f)), -1.0)
        v, height = climb(view, v, n)
        depth = height + offset_of(view, f) - dot(n, origin)
        if depth < least:
            least, best, own, other = depth, n, v * 4 + VERTEX, f * 4 + FACE
    for e in range(a[1], a[4]):
        u, p = edge_part(view, e, 3), edge_part(view, e, 0)
        for g in range(b[1], b[4]):
            n = cross(u, turn(b_to_a[0], edge_part(view, g, 3)))
            size = norm_sq(n)
            if size <= PARALLEL_SQ:
                continue
            n = scale(n, 1.0 / math.sqrt(size))
            for _ in range(2):
                n = scale(n, -1.0)
                if _is_on_top(view, e, n) and _is_on_top(view, g, turn_back(b_to_a[0], scale(n, -1.0))):
                    depth = dot(n, subtract(p, carry(b_to_a, edge_part(view, g, 0))))
                    if depth < least:
                        least, best, own, other = depth, n, e * 4 + EDGE, g * 4 + EDGE
    return least, best, own, other
