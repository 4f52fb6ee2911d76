"""Polygons made of unit squares, whose overlap is plain from the squares; exact areas and distances of any polygon. Slow and obvious."""

from fractions import Fraction

import numpy as np


def grow_cells(rng, count):
    """A connected set of unit squares without holes or squares that meet at a corner only, grown at random."""
    while True:
        cells = {(0, 0)}
        while len(cells) < count:
            x, y = list(cells)[rng.integers(len(cells))]
            dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[rng.integers(4)]
            cells.add((x + dx, y + dy))
        loops = outline_loops(cells)
        if len(loops) == 1 and len(set(loops[0])) == len(loops[0]):
            return cells, loops[0]


def outline_loops(cells):
    """Closed anticlockwise loops of corners, corners on straight lines included."""
    following = {}
    for x, y in cells:
        square = ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1))
        for k, side in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
            if (x + side[0], y + side[1]) not in cells:
                following.setdefault(square[k], []).append(square[(k + 1) % 4])
    loops = []
    while following:
        loop = [next(iter(following))]
        while True:
            targets = following[loop[-1]]
            target = targets.pop()
            if not targets:
                del following[loop[-1]]
            if target == loop[0]:
                break
            loop.append(target)
        loops.append(loop)
    return loops


def exact_area(polygon):
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in polygon]
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1], strict=True)) / 2


def clip(subject, a, b):
    """What of a convex polygon lies left of the line ab; all Fractions."""

    def side(p):
        return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

    out = []
    for p, q in zip(subject, subject[1:] + subject[:1], strict=True):
        sp, sq = side(p), side(q)
        if sp >= 0:
            out.append(p)
        if sp * sq < 0:
            t = sp / (sp - sq)
            out.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    return out


def do_convex_overlap(a, b):
    """Whether two convex anticlockwise polygons have area in common."""
    a, b = ([(Fraction(float(x)), Fraction(float(y))) for x, y in polygon] for polygon in (a, b))
    for p, q in zip(b, b[1:] + b[:1], strict=True):
        a = clip(a, p, q)
        if not a:
            return False
    return sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(a, a[1:] + a[:1], strict=True)) > 0


def distance_to_edges(points, polygon):
    """Least distance of points from the edges of a polygon."""
    start, end = polygon[None], np.roll(polygon, -1, axis=0)[None]
    way, offset = end - start, points[:, None] - start
    t = np.clip((way * offset).sum(-1) / (way * way).sum(-1), 0.0, 1.0)
    return np.linalg.norm(offset - t[..., None] * way, axis=-1).min()


def distance(a, b):
    """Distance of two polygons that do not cross."""
    return min(distance_to_edges(a, b), distance_to_edges(b, a))


def star(rng, count, noise):
    angle = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    radius = 1.0 + 0.3 * np.sin(3 * angle) + noise * rng.normal(size=count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
