"""First contact of a moving vertex and face, or of two moving edges, by whole numbers and Sturm–Tarski sequences. Slow and obvious.

Coordinates become integers by one common factor. Every condition is a polynomial in t with integer coefficients (a list, lowest power
first). Its sign at a root of another polynomial is a Tarski query: the number of sign variations lost by the remainder sequence of p and p′·w
between two numbers around a single root of p is the sign of w there (Basu, Pollack and Roy 2006, theorem 2.61).
"""

import itertools
from fractions import Fraction
from math import gcd

WIDTH = Fraction(1, 2**70)


def trim(p):
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return p


def plus(p, q):
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return [x + (shorter[i] if i < len(shorter) else 0) for i, x in enumerate(longer)]


def times(p, q):
    out = [0] * max(len(p) + len(q) - 1, 0)
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            out[i + j] += x * y
    return out


def minus(p, q):
    return plus(p, [-x for x in q])


def primitive(p):
    p = trim(p)
    content = gcd(*p) if p else 1
    return [x // content for x in p]


def derivative(p):
    return [i * x for i, x in enumerate(p)][1:]


def remainder(p, q):
    """A positive multiple of the remainder of p by q."""
    p, q = trim(p), trim(q)
    lead = q[-1]
    while len(p) >= len(q):
        factor, shift = p[-1] * (1 if lead > 0 else -1), len(p) - len(q)
        p = [abs(lead) * x for x in p]
        for i, y in enumerate(q):
            p[i + shift] -= factor * y
        p = trim(p)
    return primitive(p)


def value(p, t):
    """A positive multiple of p(t), t a Fraction."""
    total, power = 0, 1
    for coefficient in reversed(p):
        total = total * t.numerator + coefficient * power
        power *= t.denominator
    return total


def sign(x):
    return (x > 0) - (x < 0)


def variations(sequence, t):
    signs = [s for s in (sign(value(p, t)) for p in sequence) if s]
    return sum(a != b for a, b in itertools.pairwise(signs))


def tarski(p, w, a, b):
    """Sum of the signs of w at the distinct roots of p between a and b, which are no roots."""
    sequence = [primitive(p), primitive(times(derivative(p), w))]
    while sequence[-1]:
        sequence.append([-x for x in remainder(sequence[-2], sequence[-1])])
    return variations(sequence, a) - variations(sequence, b)


def split(p, a, b):
    """A number near the middle of a and b that is no root of p."""
    for k in range(len(p) + 1):
        middle = a + (b - a) * Fraction(8 + k, 16)
        if value(p, middle) != 0:
            return middle
    raise AssertionError("more roots than the degree")


class Root:
    """The only root of p between a and b."""

    def __init__(self, p, a, b):
        self.p, self.a, self.b = p, a, b

    def sign_of(self, w):
        w = trim(w)
        return tarski(self.p, w, self.a, self.b) if w else 0

    def narrow(self):
        at_a = sign(value(self.p, self.a))
        crossing = at_a != sign(value(self.p, self.b))
        while self.b - self.a > WIDTH:
            middle = split(self.p, self.a, self.b)
            left = sign(value(self.p, middle)) != at_a if crossing else tarski(self.p, [1], self.a, middle)
            if left:
                self.b = middle
            else:
                self.a = middle
        return self.a, self.b


def roots_in_unit(p):
    """The roots of p in [0, 1], ascending."""
    p = trim(p)
    if len(p) < 2:
        return []
    low, high = Fraction(-1, 3), Fraction(4, 3)
    while value(p, low) == 0:
        low /= 2
    while value(p, high) == 0:
        high = (high + 1) / 2
    pending, found = [(low, high)], []
    while pending:
        a, b = pending.pop()
        count = tarski(p, [1], a, b)
        if count == 1:
            root = Root(p, a, b)
            if root.sign_of([0, 1]) >= 0 and root.sign_of([1, -1]) >= 0:
                found.append(root)
        elif count > 1:
            middle = split(p, a, b)
            pending += [(middle, b), (a, middle)]
    return found


def whole(points):
    ratios = [[float(x).as_integer_ratio() for x in point] for point in points]
    factor = max(d for point in ratios for _, d in point)  # denominators are powers of two
    return [[n * (factor // d) for n, d in point] for point in ratios]


def paths(points):
    """For each of the four points, three linear polynomials."""
    x = whole(points)
    return [[[x[i][d], x[4 + i][d] - x[i][d]] for d in range(3)] for i in range(4)]


def orientation(a, b, c, axis):
    """Twice the signed area of abc, seen along an axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    u, v = minus(b[i], a[i]), minus(b[j], a[j])
    return minus(times(u, minus(c[j], a[j])), times(v, minus(c[i], a[i])))


def volume(a, b, c, d):
    total = []
    for axis in range(3):
        total = plus(total, times(orientation(a, b, c, axis), minus(d[axis], a[axis])))
    return total


def between(p, a, b, axis):
    return minus(p[axis], a[axis]), minus(p[axis], b[axis])


def is_on(root, p, a, b):
    """Whether p is on the closed segment ab at that time."""
    if any(root.sign_of(orientation(a, b, p, axis)) for axis in range(3)):
        return False
    return all(
        root.sign_of(low) * root.sign_of(high) <= 0 for low, high in (between(p, a, b, axis) for axis in range(3))
    )


def meet_vertex_face(root, p, a, b, c):
    """Whether p, which is in a plane with abc at that time, is in the closed triangle."""
    for axis in range(3):
        if root.sign_of(orientation(a, b, c, axis)):
            signs = [root.sign_of(orientation(x, y, p, axis)) for x, y in ((a, b), (b, c), (c, a))]
            return min(signs) * max(signs) >= 0
    return any(is_on(root, p, x, y) for x, y in ((a, b), (b, c), (c, a)))


def meet_edge_edge(root, a, b, c, d):
    """Whether the closed segments ab and cd, which are in a plane at that time, have a common point."""
    for axis in range(3):
        if root.sign_of(minus(orientation(a, b, d, axis), orientation(a, b, c, axis))):  # not parallel
            sides_ab = [root.sign_of(orientation(a, b, x, axis)) for x in (c, d)]
            sides_cd = [root.sign_of(orientation(c, d, x, axis)) for x in (a, b)]
            return sides_ab[0] * sides_ab[1] <= 0 and sides_cd[0] * sides_cd[1] <= 0
    return any(is_on(root, *triple) for triple in ((a, c, d), (b, c, d), (c, a, b), (d, a, b)))


def events(four):
    """Polynomials at whose roots a coplanar configuration may change: all areas, differences of areas and coordinates."""
    out = [[0, 1], [-1, 1]]
    for axis in range(3):
        areas = [orientation(four[i], four[j], four[k], axis) for i in range(4) for j in range(i) for k in range(j)]
        out += areas
        out += [minus(x, y) for i, x in enumerate(areas) for y in areas[:i]]
        out += [plus(x, y) for i, x in enumerate(areas) for y in areas[:i]]
        out += [minus(four[i][axis], four[j][axis]) for i in range(4) for j in range(i)]
    return out


def first_contact(points, is_face):
    """Bounds, at most WIDTH apart, of the first contact in [0, 1] as Fractions; None when there is none."""
    four = paths(points)
    meet = meet_vertex_face if is_face else meet_edge_edge
    p = trim(volume(*four))
    if p:
        for root in roots_in_unit(p):
            if meet(root, *four):
                return root.narrow()
        return None
    different = {tuple(primitive(q)) for q in events(four)}
    found = [root.narrow() for q in different for root in roots_in_unit(q) if meet(root, *four)]
    return min(found, default=None)
