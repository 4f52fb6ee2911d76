"""Squared distances of a point and a triangle, and of two segments, in numbers of any kind: fractions for straight motion, decimals for turning.

Every pair of parts is looked at and the least distance taken: planes and lines where the foot lies inside, else the parts around them. No closest
points are followed from region to region, as the library does.
"""

import itertools
from decimal import Decimal, localcontext


def minus(p, q):
    return [x - y for x, y in zip(p, q, strict=True)]


def dot(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


def cross(p, q):
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def point_segment(p, a, b):
    u, w = minus(b, a), minus(p, a)
    along, length = dot(w, u), dot(u, u)
    if length == 0 or along <= 0:
        return dot(w, w)
    if along >= length:
        return dot(minus(p, b), minus(p, b))
    return dot(w, w) - along * along / length


def point_triangle(p, a, b, c):
    n = cross(minus(b, a), minus(c, a))
    if any(n) and all(dot(n, cross(minus(y, x), minus(p, x))) >= 0 for x, y in ((a, b), (b, c), (c, a))):
        return dot(n, minus(p, a)) ** 2 / dot(n, n)
    return min(point_segment(p, x, y) for x, y in ((a, b), (b, c), (c, a)))


def segment_segment(a0, a1, b0, b1):
    found = [point_segment(a0, b0, b1), point_segment(a1, b0, b1), point_segment(b0, a0, a1), point_segment(b1, a0, a1)]
    u, v, w = minus(a1, a0), minus(b1, b0), minus(b0, a0)
    n = cross(u, v)
    nn = dot(n, n)
    if nn:
        s, t = dot(cross(w, v), n), dot(cross(w, u), n)
        if 0 <= s <= nn and 0 <= t <= nn:
            found.append(dot(n, w) ** 2 / nn)
    return min(found)


def distance_sq(points, is_face):
    """Of the four points of a query."""
    return (point_triangle if is_face else segment_segment)(*points)


def cosine_sine(x):
    """Of a decimal, to the precision of the context, by their series."""
    with localcontext() as context:
        context.prec += 5
        cosine, sine, term = Decimal(0), Decimal(0), Decimal(1)
        for k in itertools.count(1):
            if k % 2:
                cosine += term if k % 4 == 1 else -term
            else:
                sine += term if k % 4 == 2 else -term
            term = term * x / k
            if abs(term) < Decimal(10) ** -context.prec:
                break
    return +cosine, +sine
