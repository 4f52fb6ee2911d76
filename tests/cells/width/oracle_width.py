"""Distances in rationals, from the definition: the least over the corners, the sides and the insides of both; and all walls, from the lists of
cells."""

from fractions import Fraction
from itertools import pairwise

import numpy as np


def exact(point):
    return tuple(Fraction(float(c)) for c in point) + (Fraction(0),) * (3 - len(point))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def along(a, u, t):
    return tuple(x + t * y for x, y in zip(a, u, strict=True))


def cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def clamped(t):
    return min(max(t, Fraction(0)), Fraction(1))


def point_segment(p, a, b):
    u, w = minus(b, a), minus(p, a)
    t = clamped(dot(w, u) / dot(u, u)) if dot(u, u) else Fraction(0)
    d = minus(w, along((0, 0, 0), u, t))
    return dot(d, d)


def segment_segment(a, b, c, d):
    """The quadratic in the two parameters, at its one stationary point if that is inside, and on its border."""
    best = min(point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b))
    u, v, w = minus(b, a), minus(d, c), minus(a, c)
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    det = uu * vv - uv * uv
    if det:
        s, t = (uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det
        if 0 <= s <= 1 and 0 <= t <= 1:
            gap = minus(along(a, u, s), along(c, v, t))
            best = min(best, dot(gap, gap))
    return best


def point_triangle(p, a, b, c):
    best = min(point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a))
    n = cross(minus(b, a), minus(c, a))
    if not dot(n, n):
        return best
    foot = along(p, n, -dot(minus(p, a), n) / dot(n, n))
    sides = [dot(cross(minus(r, q), minus(foot, q)), n) for q, r in ((a, b), (b, c), (c, a))]
    if all(side >= 0 for side in sides):
        best = min(best, dot(minus(p, foot), minus(p, foot)))
    return best


def crosses(p, q, a, b, c):
    n = cross(minus(b, a), minus(c, a))
    hp, hq = dot(minus(p, a), n), dot(minus(q, a), n)
    if (hp > 0) == (hq > 0) or not dot(n, n):
        return False
    x = along(p, minus(q, p), hp / (hp - hq))
    return all(dot(cross(minus(r, s), minus(x, s)), n) >= 0 for s, r in ((a, b), (b, c), (c, a)))


def distance_sq(body, wall):
    """Of a point, segment or triangle and a triangle or segment, as lists of exact corners."""
    a, w = list(body), list(wall)
    sides_a, sides_w = list(pairwise([*a, a[0]])) if len(a) > 1 else [], list(pairwise([*w, w[0]]))
    if len(w) == 3 and any(crosses(p, q, *w) for p, q in sides_a):
        return Fraction(0)
    if len(a) == 3 and any(crosses(p, q, *a) for p, q in sides_w):
        return Fraction(0)
    gaps = [segment_segment(*s, *t) for s in sides_a for t in sides_w]
    gaps += [point_triangle(p, *w) if len(w) == 3 else point_segment(p, *w) for p in a]
    if len(a) == 3:
        gaps += [point_triangle(p, *a) for p in w]
    return min(gaps)


def list_walls(environment):
    """Rows of vertices: the faces of free cells that no free cell shares, in triangles; in the plane edges. From the lists of faces alone."""
    sides = {}
    for cell in range(environment.cell_count):
        if not environment.obstacle[cell]:
            for ring in environment.faces_of(cell):
                pieces = pairwise([*ring, ring[0]]) if environment.dimension == 2 else [ring]
                for piece in pieces:
                    sides.setdefault(frozenset(piece), []).append(list(piece))
    return [own[0] for own in sides.values() if len(own) == 1]


def triangles_of(ring):
    return [ring] if len(ring) < 3 else [[ring[0], b, c] for b, c in pairwise(ring[1:])]


def least_distance_sq(parts, points, walls, places, within):
    """The square of the least distance between the parts (rows of `points`) and the walls, where it is below `within`; else None. Walls whose boxes
    are further away than that are left out."""
    triangles = [triangle for ring in walls for triangle in triangles_of(ring)]
    corners = places[np.array(triangles)]
    low, high = corners.min(axis=1) - within, corners.max(axis=1) + within
    best = None
    for part in parts:
        own = points[list(part)]
        for k in np.flatnonzero(((own.max(axis=0) >= low) & (own.min(axis=0) <= high)).all(axis=1)).tolist():
            gap = distance_sq([exact(p) for p in own], [exact(places[row]) for row in triangles[k]])
            best = gap if best is None else min(best, gap)
    return best
