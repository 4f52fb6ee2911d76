"""A polygon, with holes or without, as convex parts: ears cut off, then joined again where the union stays convex (Hertel & Mehlhorn 1983).

Holes are first joined to the outline, and to one another, by slits along diagonals that cross nothing (Held 2001, §3: FIST), so that one
loop of corners goes round everything; the two sides of a slit may be joined again like any diagonal.

Ears with the shortest diagonal go first, and the longest diagonals are dissolved first: parts become few and fat. Signs are exact, so
the parts cover the polygon and nothing else, whatever its shape. Corners are anticlockwise.
"""

from collections.abc import Sequence

import numpy as np

from abut.contours.curve.rows import vector_at_2d
from abut.contours.nesting.verify import is_in_sector
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.predicates import orient_2d
from abut.geometry.vec import Vec2


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


def _is_clear(u: Vec2, v: Vec2, ring: list[Vec2]) -> bool:
    """Whether the segment uv meets the ring's edges in none but its own ends; directions at the ends are looked at elsewhere."""
    for k, b in enumerate(ring):
        a = ring[k - 1]
        if a in (u, v) or b in (u, v):
            continue
        if orient_2d(u, v, a) * orient_2d(u, v, b) <= 0 and orient_2d(a, b, u) * orient_2d(a, b, v) <= 0:
            apart_x = min(a[0], b[0]) > max(u[0], v[0]) or min(u[0], v[0]) > max(a[0], b[0])
            apart_y = min(a[1], b[1]) > max(u[1], v[1]) or min(u[1], v[1]) > max(a[1], b[1])
            if not (apart_x or apart_y):
                return False
    return True


def _find_slit(loop: list[Vec2], hole: list[Vec2], others: list[list[Vec2]]) -> tuple[int, int] | None:
    """The shortest diagonal from a corner of the loop to one of the hole that crosses nothing; None where there is none."""
    a, b = np.array(loop), np.array(hole)
    away = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    for at in np.argsort(away, axis=None, kind="stable").tolist():
        i, j = divmod(at, len(hole))
        v, u = loop[i], hole[j]
        if not is_in_sector(v, loop[(i + 1) % len(loop)], loop[i - 1], u):
            continue
        if not is_in_sector(u, hole[(j + 1) % len(hole)], hole[j - 1], v):
            continue
        if all(_is_clear(u, v, ring) for ring in (loop, hole, *others)):
            return i, j
    return None


def join_holes(outline: Floats, holes: Sequence[Floats]) -> Floats:
    """One anticlockwise loop around the polygon less its holes, with slits. Holes are clockwise, strictly within, and apart from one another."""
    loop = [(float(x), float(y)) for x, y in outline]
    waiting = [[(float(x), float(y)) for x, y in hole] for hole in holes]
    while waiting:
        for k, hole in enumerate(waiting):
            slit = _find_slit(loop, hole, waiting[:k] + waiting[k + 1 :])
            if slit is not None:
                i, j = slit
                loop = loop[: i + 1] + hole[j:] + hole[: j + 1] + loop[i:]
                del waiting[k]
                break
        else:  # some hole of a polygon always sees the loop
            raise AssertionError("no hole sees the outline: holes are not strictly within it")
    return np.array(loop)


def convex_parts(points: Floats, holes: Sequence[Floats] = ()) -> list[Floats]:
    """Convex anticlockwise polygons whose union is the simple anticlockwise polygon less its holes (clockwise, strictly within, apart from
    one another)."""
    points = join_holes(points, holes) if holes else points
    number: dict[tuple[float, ...], int] = {}
    same = [
        number.setdefault(tuple(row), k) for k, row in enumerate(points.tolist())
    ]  # both sides of a slit have one number
    loops = {k: [same[corner] for corner in row] for k, row in enumerate(_cut_ears(points).tolist())}
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
