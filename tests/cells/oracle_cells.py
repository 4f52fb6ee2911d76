"""Walks in rational arithmetic, slow and obvious: a segment is clipped against every convex part, and the closed intervals are joined.

Shares no code with `abut.cells`. How a cell that is not convex with flat faces is cut into parts is the map's choice; `build` takes it from there
and checks that the parts are convex, fill the cells and agree on both sides of a face. Which faces are walls follows from the cells alone.
"""

import functools
import math
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


def plane_of(face):
    """The plane of `height` as whole numbers, one for each coordinate and one for 1, but for a positive factor."""
    a, u = face[0], minus(face[1], face[0])
    normal = (-u[1], u[0]) if len(a) == 2 else cross(u, minus(face[2], a))
    return homogeneous((*normal, -sum(x * y for x, y in zip(normal, a, strict=True))))[:-1]


@functools.lru_cache(20_000)
def homogeneous(point):
    """Whole numbers: the coordinates times the last, which is positive. Sums of products of these need no fractions, which take 20 times as long."""
    scale = math.lcm(*(x.denominator for x in point))
    return (*(x.numerator * (scale // x.denominator) for x in point), scale)


def value(plane, point):
    """`height`, but for a positive factor."""
    return sum(x * y for x, y in zip(plane, point, strict=True))


@dataclass
class Part:
    cell: int
    faces: list  # loops of exact points, inward
    walls: list  # for each face, whether nothing or an obstacle lies beyond
    free: bool
    numbers: (
        list  # for each face, the vertices: those of a slit differ on its two sides though they lie in the same place
    )

    def __post_init__(self):
        corners = np.array([[float(x) for x in point] for face in self.faces for point in face])
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)

    @functools.cached_property
    def planes(self):
        return [plane_of(face) for face in self.faces]

    def holds(self, q):
        return all(value(plane, homogeneous(q)) >= 0 for plane in self.planes)

    def clip(self, p, q):
        """The closed interval of [0, 1] in which the segment is in the closed part, or None."""
        low, high, start, goal = Fraction(0), Fraction(1), homogeneous(p), homogeneous(q)
        for plane in self.planes:
            at_p, at_q = value(plane, start) * goal[-1], value(plane, goal) * start[-1]
            if at_p < 0 and at_q < 0:
                return None
            if at_p == at_q:
                continue
            t = Fraction(at_p, at_p - at_q)
            if at_q < at_p:
                high = min(high, t)
            else:
                low = max(low, t)
        return (low, high) if low <= high else None

    def place(self, q):
        """The vertices of the smallest vertex, edge or face of the part that holds a point of it; all of them in the interior."""
        at = next(
            (v for f, n in zip(self.faces, self.numbers, strict=True) for x, v in zip(f, n, strict=True) if x == q),
            None,
        )
        if at is not None:
            return {at}
        at_q = homogeneous(q)
        met = [k for k, plane in enumerate(self.planes) if value(plane, at_q) == 0]
        on = [set(self.numbers[k]) for k in met if lies_in(self.faces[k], q)]
        return set.intersection(*on) if on else set().union(*map(set, self.numbers))

    def kind_of(self, q):
        """Dimension of the vertex, edge, face or interior of the part in which a point of it lies."""
        at = homogeneous(q)
        held = [face for face, plane in zip(self.faces, self.planes, strict=True) if value(plane, at) == 0]
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


def build(vertices, cells, obstacle, subdivision=None, centres=None):
    """Parts of cells that are given as lists of inward loops of vertex numbers (in the plane: edges).

    `subdivision` says for each cell how it is cut into parts, as lists of loops too, and `centres` where vertices lie that only these have; without
    it, every cell is one part. How a cell is cut is the map's choice. That the parts fill the cells is checked here: they are convex, with flat
    faces; faces between two parts of a cell come twice, once each way; the others make up the cell's, in the same pieces on both sides.
    """
    points = {number: exact(vertex) for number, vertex in enumerate(vertices)}
    points |= {number: exact(vertex) for number, vertex in (centres or {}).items()}
    owners, pieces = {}, {}
    for number, loops in enumerate(cells):
        for loop in loops:
            owners.setdefault(frozenset(loop), []).append(number)
    parts = []
    for number, loops in enumerate(cells):
        walls = {
            frozenset(loop): len(owners[frozenset(loop)]) == 1
            or any(obstacle[other] for other in owners[frozenset(loop)] if other != number)
            for loop in loops
        }
        chosen = [loops] if subdivision is None else subdivision[number]
        homes = find_homes(loops, chosen)
        for loop in map(frozenset, loops):
            own = {piece for piece, home in homes.items() if home == loop}
            assert pieces.setdefault(loop, own) == own, "two cells cut a face differently"
        for rings in chosen:
            faces = [[points[v] for v in ring] for ring in rings]
            assert all(is_flat(face) for face in faces)
            assert is_convex(faces)
            blocked = [walls.get(homes.get(frozenset(ring)), False) for ring in rings]
            parts.append(Part(number, faces, blocked, not obstacle[number], rings))
    return parts


def find_homes(loops, parts):
    """For each face of the parts of a cell that is not between two of them, the face of the cell it is a piece of; both as sets of vertices."""
    seen = {}
    for rings in parts:
        for ring in rings:
            seen.setdefault(frozenset(ring), []).append(ring)
    for pair in seen.values():
        assert len(pair) == 1 or (len(pair) == 2 and set(arrows(pair[0])) == {(v, u) for u, v in arrows(pair[1])})
    outer = [pair[0] for pair in seen.values() if len(pair) == 1]
    homes = {}
    for loop in loops:
        backwards = {(v, u) for u, v in arrows(loop)}
        own = [ring for ring in outer if set(ring) <= set(loop) and not backwards & set(arrows(ring))]
        inside = {arrow for ring in own for arrow in arrows(ring)}
        assert {(u, v) for u, v in inside if (v, u) not in inside} == set(arrows(loop))
        assert all(frozenset(ring) not in homes for ring in own)
        homes |= {frozenset(ring): frozenset(loop) for ring in own}
    assert len(homes) == len(outer)
    return homes


def arrows(ring):
    """The directed edges of a loop; an edge of the plane is its own."""
    return [tuple(ring)] if len(ring) == 2 else list(zip(ring, ring[1:] + ring[:1], strict=True))


def is_convex(rings):
    """No corner behind a face, and one before it; in the plane, only its two ends on an edge."""
    corners = {corner for ring in rings for corner in ring}
    for ring in rings:
        plane, own = plane_of(ring), set(ring)
        heights = [value(plane, homogeneous(q)) for q in corners if q not in own]
        if min(heights) < 0 or max(heights) == 0 or (min(heights) == 0 and len(ring) == 2):
            return False
    return True


def lies_in(ring, q):
    """Whether a point of the part lies in one of its flat faces, not only in the plane of it."""
    if height(ring, q) != 0:
        return False
    if len(q) == 2:
        return True
    normal = cross(minus(ring[1], ring[0]), minus(ring[2], ring[0]))
    around = zip(ring, ring[1:] + ring[:1], strict=True)
    return all(sum(x * y for x, y in zip(normal, cross(minus(b, a), minus(q, a)), strict=True)) >= 0 for a, b in around)


def triples(ring):
    return zip(ring[-1:] + ring[:-1], ring, ring[1:] + ring[:1], strict=True)


def is_flat(ring):
    """Planar, and turning one way at each corner."""
    if len(ring) < 3:
        return True
    normals = [cross(minus(b, a), minus(c, b)) for a, b, c in triples(ring)]
    if len(ring) > 3 and any(height([a, b, c], q) != 0 for a, b, c in triples(ring) for q in ring):
        return False
    return all(sum(x * y for x, y in zip(normals[0], normal, strict=True)) > 0 for normal in normals)


def cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


class Boxed(list):
    """Parts, and the boxes about them as arrays: most parts are far from a way."""

    def __init__(self, parts):
        super().__init__(parts)
        self.low, self.high = np.array([part.low for part in parts]), np.array([part.high for part in parts])

    def near(self, low, high):
        return [self[k] for k in np.flatnonzero(((self.low <= high) & (self.high >= low)).all(axis=1)).tolist()]


def near(parts, p, q):
    low, high = np.minimum(p, q), np.maximum(p, q)
    if isinstance(parts, Boxed):
        return parts.near(low, high)
    return [part for part in parts if (part.low <= high).all() and (part.high >= low).all()]


def walk(parts, p, q, cell=None):
    """When the segment leaves the closed free parts for good: 1 when it never does; and the parts around that point.

    Parts are joined where they meet; or, from the parts of a cell on, where they share the vertex, edge or face in which the way goes on.
    """
    around = near(parts, p, q)
    start, goal = exact(p), exact(q)
    if cell is not None:
        reached, _ = follow(around, p, q, cell)
        return reached, around
    reached = Fraction(0)
    for low, high in sorted(interval for part in around if part.free and (interval := part.clip(start, goal))):
        if low <= reached:
            reached = max(reached, high)
    return reached, around


def follow(parts, p, q, cell):
    """When the segment, which begins in a cell, leaves the free parts, and the parts in which it ends."""
    start, goal = exact(p), exact(q)
    intervals = [(interval, part) for part in parts if part.free and (interval := part.clip(start, goal)) is not None]
    known = [item for item in intervals if item[1].cell == cell and item[0][0] == 0]
    waiting = [(interval, part) for interval, part in intervals if all(part is not other for _, other in known)]
    for (_, high), part in known:  # grows
        here = point_at(p, q, high)
        place = part.place(here)
        joined = [item for item in waiting if item[0][0] <= high <= item[0][1] and item[1].place(here) == place]
        known += joined
        waiting = [item for item in waiting if all(item[1] is not other for _, other in joined)]
    reached = max(high for (_, high), _ in known)
    return reached, [part for (_, high), part in known if high == reached]


def joined(parts, ends, q):
    """The parts that share with one of `ends` the vertex, edge, face or inside in which a point lies. The two sides of a slit are strangers to one
    another: they may lie apart, and overlap."""
    places = [end.place(q) for end in ends]
    return [part for part in parts if part.holds(q) and part.place(q) in places]


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
