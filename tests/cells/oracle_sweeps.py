"""Swept triangles and tetrahedra in rational arithmetic: how much of them lies in the closed free parts, by area and by volume.

What sweeps stays free as long as all of its area or volume is covered. The time at which that ends is among those at which the moving edge or face
passes a corner of the pieces, and is found by halving their sorted list. Shares nothing with `abut.cells`.
"""

from fractions import Fraction

import numpy as np

from cells.oracle_cells import det, exact, height, minus


def near(parts, *points):
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return [part for part in parts if (part.low <= high).all() and (part.high >= low).all()]


def clip_polygon(polygon, face):
    heights = [height(face, x) for x in polygon]
    kept = []
    for k, x in enumerate(polygon):
        h, after, y = heights[k], heights[(k + 1) % len(polygon)], polygon[(k + 1) % len(polygon)]
        if h >= 0:
            kept.append(x)
        if (h > 0 and after < 0) or (h < 0 and after > 0):
            t = h / (h - after)
            kept.append(tuple(a + t * (b - a) for a, b in zip(x, y, strict=True)))
    return kept


def area_along(polygon, i, j):
    """Twice the signed area of a polygon, seen in coordinates i and j."""
    return sum(a[i] * b[j] - a[j] * b[i] for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True))


def pieces_of_triangle(parts, triangle):
    """What of a triangle lies in each part, each piece once: one in a face of two parts would be counted twice."""
    seen, pieces = set(), []
    for part in parts:
        polygon = triangle
        for face in part.faces:
            polygon = clip_polygon(polygon, face) if polygon else polygon
        if len(polygon) < 3:
            continue
        flat = [face for face in part.faces if all(height(face, x) == 0 for x in triangle)]
        if len(polygon[0]) == 3 and flat:
            key = frozenset(flat[0])
            if key in seen:
                continue
            seen.add(key)
        pieces.append(polygon)
    return pieces


def is_triangle_free(parts, triangle):
    axes = [(0, 1)] if len(triangle[0]) == 2 else [(0, 1), (1, 2), (2, 0)]
    i, j = next((i, j) for i, j in axes if area_along(triangle, i, j) != 0)
    pieces = pieces_of_triangle([part for part in parts if part.free], triangle)
    return sum(abs(area_along(piece, i, j)) for piece in pieces) == abs(area_along(triangle, i, j))


def is_flat(p, g, q):
    u, v = minus(g, p), minus(q, p)
    return all(u[i] * v[j] == u[j] * v[i] for i in range(len(u)) for j in range(i))


def moved(p, g, t):
    return tuple(a + t * (b - a) for a, b in zip(p, g, strict=True))


def last_free(times, is_free):
    """The largest of the sorted times, which begin with 0, until which all is free."""
    low, high = 0, len(times)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_free(times[middle]) else (low, middle)
    return times[low]


def sweep_edge(parts, p, g, q):
    """How long an edge stays in the free parts whose end moves from p to g; None where it sweeps no area."""
    parts = near(parts, p, g, q)
    p, g, q = exact(p), exact(g), exact(q)
    if is_flat(p, g, q):
        return None
    if is_triangle_free(parts, [p, g, q]):
        return Fraction(1)
    axes = [(0, 1)] if len(p) == 2 else [(0, 1), (1, 2), (2, 0)]
    i, j = next((i, j) for i, j in axes if area_along([p, g, q], i, j) != 0)
    times = {Fraction(0)}
    for piece in pieces_of_triangle(parts, [p, g, q]):
        for x in piece:
            alpha, beta = area_along([x, g, q], i, j), area_along([p, x, q], i, j)
            if alpha + beta != 0:
                times.add(beta / (alpha + beta))
    return last_free(sorted(times), lambda t: t == 0 or is_triangle_free(parts, [p, moved(p, g, t), q]))


def clip_tetrahedron(corners, face):
    """The part of a tetrahedron before a plane, as tetrahedra."""
    heights = [height(face, x) for x in corners]
    inside = [k for k in range(4) if heights[k] > 0]
    outside = [k for k in range(4) if heights[k] < 0]
    on = [corners[k] for k in range(4) if heights[k] == 0]
    if not outside:
        return [corners]
    if not inside:
        return []
    cut = {}
    for a in inside:
        for b in outside:
            t = heights[a] / (heights[a] - heights[b])
            cut[a, b] = tuple(x + t * (y - x) for x, y in zip(corners[a], corners[b], strict=True))
    if len(inside) == 1:
        return [[corners[inside[0]], *cut.values(), *on]]
    a, b = inside[0], inside[1]
    if len(inside) == 3:
        c, d = inside[2], outside[0]
        low, high = [corners[a], corners[b], corners[c]], [cut[a, d], cut[b, d], cut[c, d]]
    elif len(on) == 0:
        c, d = outside
        low, high = [corners[a], cut[a, c], cut[a, d]], [corners[b], cut[b, c], cut[b, d]]
    else:  # two inside, one on, one outside: a pyramid over the quadrangle a, b, cut
        d = outside[0]
        return [[corners[a], corners[b], cut[b, d], on[0]], [corners[a], cut[b, d], cut[a, d], on[0]]]
    return [[*low, high[2]], [low[0], low[1], high[1], high[2]], [low[0], *high]]


def volume(corners):
    a, b, c, d = corners
    return abs(det(minus(b, a), minus(c, a), minus(d, a)))


def pieces_of_tetrahedron(parts, corners):
    pieces = []
    for part in parts:
        tetrahedra = [corners]
        for face in part.faces:
            tetrahedra = [piece for each in tetrahedra for piece in clip_tetrahedron(each, face)]
        pieces += tetrahedra
    return pieces


def sweep_face(parts, p, g, b, c):
    """How long a face stays in the free parts whose corner moves from p to g; None where it sweeps no volume."""
    parts = near(parts, p, g, b, c)
    p, g, b, c = exact(p), exact(g), exact(b), exact(c)
    whole = volume([p, g, b, c])
    if whole == 0:
        return None
    free = [part for part in parts if part.free]

    def is_free(t):
        corners = [p, moved(p, g, t), b, c]
        return t == 0 or sum(map(volume, pieces_of_tetrahedron(free, corners))) == t * whole

    if is_free(Fraction(1)):
        return Fraction(1)
    times = {Fraction(0)}
    for piece in pieces_of_tetrahedron(parts, [p, g, b, c]):
        for x in piece:
            # Of x = αp + βg + γb + δc: the face passes x when its corner divides pg as α to β.
            alpha = det(minus(b, g), minus(c, g), minus(x, g))
            beta = -det(minus(b, p), minus(c, p), minus(x, p))
            if alpha + beta != 0:
                times.add(beta / (alpha + beta))
    return last_free(sorted(t for t in times if 0 <= t <= 1), is_free)
