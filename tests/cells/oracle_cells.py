"""Walks in rational arithmetic, slow and obvious: a segment is clipped against every convex part, and the closed intervals are joined.

Shares nothing with `abut.cells` but the rule by which cells with faces that are not planar are cut: from the lowest corner of the face, about
the mean of the corners, rounded as float64.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


def exact(point):
    return tuple(Fraction(float(x)) for x in point)


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def det(u, v, w):
    return w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0])


def height(face, q):
    """Positive inside: an inward plane through three corners, or a line with the inside to its left."""
    if len(q) == 2:
        (a, b), u = face[:2], minus(face[1], face[0])
        return u[0] * (q[1] - a[1]) - u[1] * (q[0] - a[0])
    a, b, c = face[:3]
    return det(minus(b, a), minus(c, a), minus(q, a))


@dataclass
class Part:
    cell: int
    faces: list  # loops of exact points, inward
    walls: list  # for each face, whether nothing or an obstacle lies beyond
    free: bool

    def __post_init__(self):
        corners = np.array([[float(x) for x in point] for face in self.faces for point in face])
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)

    def holds(self, q):
        return all(height(face, q) >= 0 for face in self.faces)

    def clip(self, p, q):
        """The closed interval of [0, 1] in which the segment is in the closed part, or None."""
        low, high = Fraction(0), Fraction(1)
        for face in self.faces:
            at_p, at_q = height(face, p), height(face, q)
            if at_p < 0 and at_q < 0:
                return None
            if at_p == at_q:
                continue
            t = at_p / (at_p - at_q)
            if at_q < at_p:
                high = min(high, t)
            else:
                low = max(low, t)
        return (low, high) if low <= high else None

    def kind_of(self, q):
        """Dimension of the vertex, edge, face or interior of the part in which a point of it lies."""
        held = [face for face in self.faces if height(face, q) == 0]
        if not held:
            return len(q)
        if any(q == corner for face in held for corner in face):
            return 0
        if len(q) == 2:
            return 1
        for face in held:
            for k, a in enumerate(face):
                u, v = minus(face[(k + 1) % len(face)], a), minus(q, a)
                if all(u[i] * v[j] == u[j] * v[i] for i, j in ((0, 1), (1, 2), (2, 0))):
                    along = sum(x * y for x, y in zip(u, v, strict=True))
                    if 0 < along < sum(x * x for x in u):
                        return 1
        return 2


def build(vertices, cells, obstacle):
    """Parts of cells that are given as lists of inward loops of vertex numbers (in the plane: edges)."""
    points = [exact(vertex) for vertex in vertices]
    owners = {}
    for number, loops in enumerate(cells):
        for loop in loops:
            owners.setdefault(frozenset(loop), []).append(number)
    parts = []
    for number, loops in enumerate(cells):
        flat = [is_planar([points[v] for v in loop]) for loop in loops]
        walls = [
            len(owners[frozenset(loop)]) == 1
            or any(obstacle[other] for other in owners[frozenset(loop)] if other != number)
            for loop in loops
        ]
        if all(flat):
            parts.append(Part(number, [[points[v] for v in loop] for loop in loops], walls, not obstacle[number]))
            continue
        corners = list(dict.fromkeys(v for loop in loops for v in loop))
        total = np.zeros(3)
        for v in corners:
            total = total + np.asarray(vertices[v])
        centre = exact(total / len(corners))
        for loop, is_flat, wall in zip(loops, flat, walls, strict=True):
            for piece in [loop] if is_flat else fan(loop):
                ring = [points[v] for v in piece]
                sides = [[a, centre, b] for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
                parts.append(Part(number, [ring, *sides], [wall] + [False] * len(sides), not obstacle[number]))
    return parts


def is_planar(ring):
    return len(ring) < 4 or all(height(ring[:3], q) == 0 for q in ring[3:])


def fan(loop):
    k = loop.index(min(loop))
    turned = loop[k:] + loop[:k]
    return [[turned[0], a, b] for a, b in itertools.pairwise(turned[1:])]


def near(parts, p, q):
    low, high = np.minimum(p, q), np.maximum(p, q)
    return [part for part in parts if (part.low <= high).all() and (part.high >= low).all()]


def walk(parts, p, q):
    """When the segment leaves the closed free parts for good: 1 when it never does; and the parts around that point."""
    around = near(parts, p, q)
    start, goal = exact(p), exact(q)
    intervals = [part.clip(start, goal) for part in around if part.free]
    intervals = sorted(interval for interval in intervals if interval is not None)
    reached = Fraction(0)
    for low, high in intervals:
        if low <= reached:
            reached = max(reached, high)
    return reached, around


def point_at(p, q, t):
    a, b = exact(p), exact(q)
    return tuple(x + t * (y - x) for x, y in zip(a, b, strict=True))


def touches(parts, q):
    """Whether an obstacle or the outside meets a point."""
    for part in parts:
        if part.holds(q):
            if not part.free:
                return True
            if any(wall and height(face, q) == 0 for face, wall in zip(part.faces, part.walls, strict=True)):
                return True
    return False
