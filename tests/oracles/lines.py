"""Slow and obvious answers about lines, points and surfaces, in rationals: one linear system a triangle, one simplex distance a face.

The symbolic move of the code is a number here, so small that no sign of doubles of ordinary size can hang on it.
"""

from fractions import Fraction

import numpy as np

from oracles.rationals import distance_sq, exact, solve

EPSILON = Fraction(1, 2**600)
MOVE = (EPSILON, EPSILON**2, EPSILON**3)


def passages(start, direction, triangles, longest=None):
    """Sorted (t, face, entering) of the line start + t·direction, 0 ≤ t ≤ longest, moved aside by MOVE, through triangles (m,3,3).

    t is that of the line where it is."""
    o, d = exact(start), exact(direction)
    found = []
    for face, triangle in enumerate(np.asarray(triangles)):
        a, b, c = map(exact, triangle)
        u, v = ([x - y for x, y in zip(p, a, strict=True)] for p in (b, c))
        matrix = [[-d[i], u[i], v[i]] for i in range(3)]
        moved = solve(matrix, [o[i] + MOVE[i] - a[i] for i in range(3)])
        if moved is None or not (moved[1] > 0 and moved[2] > 0 and moved[1] + moved[2] < 1):
            continue
        t = solve(matrix, [o[i] - a[i] for i in range(3)])[0]
        if t < 0 or (longest is not None and t > longest):
            continue
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        found.append((t, face, sum(x * y for x, y in zip(d, normal, strict=True)) < 0))
    return sorted(found)


def segment_passages(start, end, triangles):
    """The same for a segment: its direction is the exact difference."""
    p, q = exact(start), exact(end)
    return passages(p, [y - x for x, y in zip(p, q, strict=True)], triangles, 1)


def squared_distances(point, triangles):
    """Exact squared distances of a point to triangles (m,3,3)."""
    return [distance_sq([point], list(triangle)) for triangle in np.asarray(triangles).tolist()]


def winding_sums(points, triangles):
    """(n,) sums of the faces' solid angles in long double, in full spheres (van Oosterom and Strackee 1983)."""
    points, total = np.asarray(points, np.longdouble), np.zeros(len(points), np.longdouble)
    for triangle in np.asarray(triangles, np.longdouble):
        u, v, w = (corner - points for corner in triangle)
        x, y, z = (np.sqrt((s * s).sum(axis=1)) for s in (u, v, w))
        volume = (u * np.cross(v, w)).sum(axis=1)
        rest = x * y * z + (u * v).sum(axis=1) * z + (v * w).sum(axis=1) * x + (w * u).sum(axis=1) * y
        total += 2 * np.arctan2(volume, rest)
    return total / (4 * np.longdouble("3.14159265358979323846264338327950288"))
