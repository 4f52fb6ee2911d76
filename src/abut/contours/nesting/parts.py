"""A simple polygon as convex parts: ears cut off, then joined again where the union stays convex (Hertel & Mehlhorn 1983).

Ears with the shortest diagonal go first, and the longest diagonals are dissolved first: parts become few and fat. Signs are exact, so
the parts cover the polygon and nothing else, whatever its shape. Corners are anticlockwise.
"""

import numpy as np

from abut.contours.curve.rows import vector_at_2d
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.predicates import orient_2d


@kernel
def _is_ear(points: Floats, previous: Integers, following: Integers, v: int) -> bool:
    a, b, c = vector_at_2d(points, previous[v]), vector_at_2d(points, v), vector_at_2d(points, following[v])
    if orient_2d(a, b, c) <= 0:
        return False
    w = int(following[following[v]])
    while w != previous[v]:
        p = vector_at_2d(points, w)
        if p not in (a, b, c) and orient_2d(a, b, p) >= 0 and orient_2d(b, c, p) >= 0 and orient_2d(c, a, p) >= 0:
            return False
        w = int(following[w])
    return True


@kernel
def _cut_ears(points: Floats) -> Integers:
    """(m,3) triangles of the corners; flat corners end no triangle."""
    n = len(points)
    triangles, count = np.empty((n, 3), np.int64), 0
    previous, following = np.arange(n) - 1, np.arange(n) + 1
    previous[0], following[n - 1] = n - 1, 0
    start, left = 0, n
    while left > 3:
        best, shortest, v = -1, np.inf, start
        for _ in range(left):
            x = points[previous[v], 0] - points[following[v], 0]
            y = points[previous[v], 1] - points[following[v], 1]
            length = x * x + y * y
            if length < shortest and _is_ear(points, previous, following, v):
                best, shortest = v, length
            v = following[v]
        if best < 0:  # only flat corners are left
            break
        p, w = previous[best], following[best]
        triangles[count, 0], triangles[count, 1], triangles[count, 2] = p, best, w
        count, left, start = count + 1, left - 1, w
        following[p], previous[w] = w, p
    if left == 3:
        triangles[count, 0], triangles[count, 1], triangles[count, 2] = previous[start], start, following[start]
        count += 1
    return triangles[:count]


def _joined(points: Floats, loop_a: list[int], loop_b: list[int], a: int, b: int) -> list[int] | None:
    """The union of two loops along the edge a→b of the first and b→a of the second, if it is convex at both ends."""
    i, j = loop_a.index(b), loop_b.index(a)
    loop = loop_a[i:] + loop_a[:i]  # b … a
    rest = loop_b[j:] + loop_b[:j]  # a … b
    union = loop + rest[1:-1]
    size = len(union)
    for corner in (a, b):
        k = union.index(corner)
        before, after = union[k - 1], union[(k + 1) % size]
        if orient_2d(tuple(points[before]), tuple(points[corner]), tuple(points[after])) < 0:
            return None
    return union


def convex_parts(points: Floats) -> list[Floats]:
    """Convex anticlockwise polygons whose union is the simple anticlockwise polygon."""
    loops = dict(enumerate(_cut_ears(points).tolist()))
    owner = {(row[k], row[(k + 1) % 3]): number for number, row in loops.items() for k in range(3)}
    diagonals = [(a, b) for a, b in owner if a < b and (b, a) in owner]
    for a, b in sorted(diagonals, key=lambda edge: -np.hypot(*(points[edge[0]] - points[edge[1]]))):
        first, second = owner[a, b], owner[b, a]
        union = _joined(points, loops[first], loops[second], a, b)
        if union is not None:
            loops[first] = union
            del loops[second]
            for k, corner in enumerate(union):
                owner[corner, union[(k + 1) % len(union)]] = first
    return [points[loop] for loop in loops.values()]
