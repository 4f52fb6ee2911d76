"""Slow and obvious answers, in exact arithmetic, which share no code with abut.

Doubles become Fractions or (scaled by one power of two a case) integers, so nothing is rounded.
"""

import itertools
import math
from fractions import Fraction

import numpy as np


def as_integers(cases):
    """Doubles (n, k, 3) as Python integers in an object array, each case multiplied by its own power of two."""
    mantissas, exponents = np.frexp(np.asarray(cases, dtype=np.float64))
    integers = (mantissas * 2.0**53).astype(np.int64).astype(object)
    exponents = np.where(mantissas == 0.0, np.iinfo(np.int32).max, exponents).astype(np.int64)
    shifts = exponents - exponents.min(axis=(1, 2), keepdims=True)
    return integers * (2 ** np.where(mantissas == 0.0, 0, shifts).astype(object))


def _cross(u, v):
    (a, b, c), (x, y, z) = u, v
    return (b * z - c * y, c * x - a * z, a * y - b * x)


def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _choose(candidates):
    """For each case the first candidate that is not zero."""
    chosen = candidates[0]
    for candidate in candidates[1:]:
        zero = np.array([x == 0 and y == 0 and z == 0 for x, y, z in zip(*chosen, strict=True)], dtype=bool)
        if not zero.any():
            break
        chosen = tuple(np.where(zero, new, old) for new, old in zip(candidate, chosen, strict=True))
    return chosen


def meet_triangles(integers):
    """Whether triangles 0, 1, 2 and 3, 4, 5 of each case (n, 6, 3) meet: separating axes, in integers.

    They are disjoint when the origin is not in D = A − B, and then some direction separates them strictly. Any
    direction found is a proof; these are enough, by the dimension of D: - 3: a facet of D is a face of A or B, or
    spanned by an edge of each: both normals and the nine edge × edge. - 2: D lies in a plane whose normal N is any of
    those that is not zero. Either N separates, or the plane holds the origin and
      an edge of D does, with normal N × e for one of the six edges e.
    - 1: D lies on a line along any edge e that is not zero. Either the line misses the origin, and the part of w = a −
    b that
      is perpendicular to e, (e × w) × e, separates; or e does.
    - 0: D is the point w, and w separates.
    """
    points = [tuple(integers[:, i, k] for k in range(3)) for i in range(6)]
    edges = [
        tuple(points[j][k] - points[i][k] for k in range(3))
        for i, j in ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3))
    ]
    offset = tuple(points[0][k] - points[3][k] for k in range(3))
    normals = [_cross(edges[0], edges[1]), _cross(edges[3], edges[4])]
    normals += [_cross(edges[i], edges[j]) for i in range(3) for j in range(3, 6)]
    normal, edge = _choose(normals), _choose(edges)
    axes = [*normals, *(_cross(normal, e) for e in edges), edge, _cross(_cross(edge, offset), edge), offset]
    meets = np.ones(len(integers), dtype=bool)
    for axis in axes:
        along = np.stack([_dot(axis, p) for p in points], axis=1)
        a, b = along[:, :3], along[:, 3:]
        apart = (a.max(axis=1) < b.min(axis=1)) | (b.max(axis=1) < a.min(axis=1))
        meets &= ~apart.astype(bool)
    return meets


def meet_segment_triangle(cases):
    """Segments 0, 1 against triangles 2, 3, 4 of each case (n, 5, 3): a segment is a flat triangle."""
    cases = np.asarray(cases)
    return meet_triangles(as_integers(cases[:, [0, 1, 1, 2, 3, 4]]))


def meet_ray_triangle(cases):
    """Rays from 0 along direction 1 against triangles 2, 3, 4 of each case (n, 5, 3).

    No point of the triangle is further along the ray than the furthest vertex: a long enough segment stands for the
    ray.
    """
    integers = as_integers(cases)
    o, d = integers[:, 0], integers[:, 1]
    speed = (d * d).sum(axis=1)
    reach = np.max([((integers[:, i] - o) * d).sum(axis=1) for i in (2, 3, 4)], axis=0)
    # The same power of two scales positions and d, so o + t·d is scaled with them.
    t = np.array([max(0, -(-r // s)) if s else 0 for r, s in zip(reach, speed, strict=True)], dtype=object)
    q = o + t[:, None] * d
    return meet_triangles(np.stack([o, q, q, integers[:, 2], integers[:, 3], integers[:, 4]], axis=1))


def exact(point):
    """The coordinates as Fractions."""
    return tuple(Fraction(x) for x in point)


def solve(matrix, right):
    """The solution of a square linear system in Fractions, or None when it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i and rows[r][i] != 0:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def _difference(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _inner(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _feature_distance_sq(a, b):
    """Squared distance of two affine hulls if it is attained at one pair of points, with all weights ≥ 0; else None."""
    base = _difference(a[0], b[0])
    directions = [_difference(p, a[0]) for p in a[1:]] + [_difference(b[0], p) for p in b[1:]]
    weights = solve([[_inner(u, v) for v in directions] for u in directions], [-_inner(u, base) for u in directions])
    if weights is None:
        return None
    weights_a, weights_b = weights[: len(a) - 1], weights[len(a) - 1 :]
    if min(weights, default=0) < 0 or sum(weights_a) > 1 or sum(weights_b) > 1:
        return None
    for weight, u in zip(weights, directions, strict=True):
        base = tuple(x + weight * y for x, y in zip(base, u, strict=True))
    return _inner(base, base)


def distance_sq(a, b):
    """Exact squared distance of two simplices (lists of one to three points), of the plane or of space.

    All pairs of faces are tried. Take a nearest pair of points whose weights have the fewest positive ones: if their
    faces' directions were dependent, both points could move, at the same distance, until a weight became 0. So the pair
    of faces that holds the nearest points has a regular system, and singular ones may be left out.
    """
    a, b = [exact(p) for p in a], [exact(p) for p in b]
    faces_a = [f for k in range(len(a)) for f in itertools.combinations(a, k + 1)]
    faces_b = [f for k in range(len(b)) for f in itertools.combinations(b, k + 1)]
    found = (_feature_distance_sq(f, g) for f in faces_a for g in faces_b)
    return min(d for d in found if d is not None)


def distance(a, b):
    """The distance itself, as a Fraction with an error below 2⁻⁴⁰⁰."""
    return root(distance_sq(a, b))


def root(x):
    """The square root of a Fraction, with an error below 2⁻⁴⁰⁰."""
    x = Fraction(x)
    return Fraction(math.isqrt((x.numerator << 800) // x.denominator), 1 << 400)


def meet_triangles_by_hulls(a, b):
    """Whether two triangles meet: the origin is in the hull of at most four differences of vertices (Carathéodory)."""
    a, b = [exact(p) for p in a], [exact(p) for p in b]
    differences = list({_difference(p, q) for p in a for q in b})
    for k in range(1, 5):
        for corners in itertools.combinations(differences, k):
            # Least squares weights; their residual must vanish and none be negative.
            directions = [_difference(p, corners[0]) for p in corners[1:]]
            matrix = [[_inner(u, v) for v in directions] for u in directions]
            weights = solve(matrix, [-_inner(u, corners[0]) for u in directions])
            if weights is None or min(weights, default=0) < 0 or sum(weights) > 1:
                continue
            point = corners[0]
            for weight, u in zip(weights, directions, strict=True):
                point = tuple(x + weight * y for x, y in zip(point, u, strict=True))
            if not any(point):
                return True
    return False


def volume(a, b, c, d):
    """Six times the signed volume of a tetrahedron."""
    return _inner(_cross(_difference(b, a), _difference(c, a)), _difference(d, a))


def _nearest_pair(a, b):
    """The nearest point of the line or segment a to b, with the squared distance, when both lines are not parallel."""
    u, v, w = _difference(a[1], a[0]), _difference(b[1], b[0]), _difference(a[0], b[0])
    solution = solve([[_inner(u, u), -_inner(u, v)], [_inner(u, v), -_inner(v, v)]], [-_inner(u, w), -_inner(v, w)])
    if solution is None or not (0 <= solution[0] <= 1 and 0 <= solution[1] <= 1):
        return None
    s, t = solution
    offset = tuple(z + s * x - t * y for x, y, z in zip(u, v, w, strict=True))
    return tuple(x + s * y for x, y in zip(a[0], u, strict=True)), _inner(offset, offset)


def corners(a, b):
    """Points of the intersection of two simplices, all its corners among them, exactly. Empty when they are disjoint.

    A corner is a vertex of one in the other, a point of an edge of each, or the point where an edge of one crosses the
    other's plane.
    """
    a, b = [exact(p) for p in a], [exact(p) for p in b]
    found = {p for p in a if distance_sq([p], b) == 0} | {p for p in b if distance_sq([p], a) == 0}
    for edge in itertools.combinations(a, 2):
        for other in itertools.combinations(b, 2):
            pair = _nearest_pair(edge, other)
            if pair is not None and pair[1] == 0:
                found.add(pair[0])
    for simplex, plane in ((a, b), (b, a)):
        if len(plane) < 3:
            continue
        normal = _cross(_difference(plane[1], plane[0]), _difference(plane[2], plane[0]))
        for p, q in itertools.combinations(simplex, 2):
            side_p, side_q = _inner(normal, _difference(p, plane[0])), _inner(normal, _difference(q, plane[0]))
            if side_p * side_q < 0:
                t = side_p / (side_p - side_q)
                point = tuple(x + t * (y - x) for x, y in zip(p, q, strict=True))
                if distance_sq([point], plane) == 0:
                    found.add(point)
    return found
