"""A polytope that grows inside the difference of two hulls, until its face nearest to the origin is one of the difference (van den Bergen 2001, EPA).

The difference A − B holds the origin when the hulls overlap, and the depth is the origin's distance from its boundary. Depth lies between two bounds:
the nearest face of the polytope, which is inside the difference, and the difference's extent along any direction. Where they agree to rounding, the
depth is found; a face that is too thin to have a normal sees the origin under no angle and is left out.

Failure cases, told by the result: no room for more points, and a horizon that is no loop, which rounding can make of nearly coplanar faces.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers
from abut.convex.hull import View
from abut.convex.regions import Frame, apply, climb, turn_back, vertex_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.jit import element, kernel

MOST_POINTS = 2048
MOST_FACES = 2 * MOST_POINTS
HELD, SEEN = 0, 1

FOUND, FLAT, FAILED = 0, 1, 2
"""How the search ended: with a depth; the difference has no volume; without an answer."""

THIN = 64.0
"""Triangles lower than so many tolerances have no normal."""

AGREED, NEARLY = 2.0, 64.0
"""Bounds that differ by so many tolerances agree; where no new point can tell them apart, by so many."""

ALIGNED = 1.0 - 1e-9
"""Cosine of directions that are taken for one: 4.5e-5, more than the normal of a thin triangle is off."""


class Polytope(NamedTuple):
    """Points of the difference (n,3) and the vertices (n,2) of a and b that they come from; triangles (f,3), anticlockwise from outside, their
    neighbours across the sides from corner k to k + 1, planes (f,4), and states; memory for the search."""

    points: Floats
    owners: Integers
    corners: Integers
    neighbours: Integers
    planes: Floats
    states: Integers
    stack: Integers
    horizon: Integers
    starts: Integers


def reserve_polytopes(count: int) -> Polytope:
    """Memory for so many tasks, one row each."""

    def integers(*shape: int) -> NDArray[np.int64]:
        return np.empty((count, *shape), dtype=np.int64)

    return Polytope(
        np.empty((count, MOST_POINTS, 3)),
        integers(MOST_POINTS, 2),
        integers(MOST_FACES, 3),
        integers(MOST_FACES, 3),
        np.empty((count, MOST_FACES, 4)),
        integers(MOST_FACES),
        integers(3 * MOST_FACES),
        integers(MOST_FACES, 3),
        integers(MOST_POINTS),
    )


@element
def support(view: View, b_to_a: Frame, n: Vec3, a: int, b: int) -> tuple[int, int, Vec3]:
    """The vertices of a and b that are farthest along n and −n, climbing from a and b, and their difference."""
    top, _ = climb(view, a, n)
    bottom, _ = climb(view, b, turn_back(b_to_a, (-n[0], -n[1], -n[2])))
    return top, bottom, subtract(vertex_at(view, top), apply(b_to_a, vertex_at(view, bottom)))


@element
def unit(d: Vec3) -> Vec3:
    """A vector divided by its length, which is not zero."""
    return scale(d, 1.0 / math.sqrt(norm_sq(d)))


@element
def across(d: Vec3) -> Vec3:
    """A unit vector perpendicular to a unit vector."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if x <= y and x <= z:
        return unit(cross(d, (1.0, 0.0, 0.0)))
    return unit(cross(d, (0.0, 1.0, 0.0))) if y <= z else unit(cross(d, (0.0, 0.0, 1.0)))


@kernel
def _put(polytope: Polytope, k: int, a: int, b: int, w: Vec3) -> None:
    polytope.owners[k, 0], polytope.owners[k, 1] = a, b
    for axis in range(3):
        polytope.points[k, axis] = w[axis]


@element
def point_at(points: Floats, k: int) -> Vec3:
    """Point k."""
    return (points[k, 0], points[k, 1], points[k, 2])


@kernel
def _set_face(polytope: Polytope, f: int, i: int, j: int, k: int, thin: float) -> None:
    p, q, r = point_at(polytope.points, i), point_at(polytope.points, j), point_at(polytope.points, k)
    n = cross(subtract(q, p), subtract(r, p))
    length = math.sqrt(norm_sq(n))
    side = math.sqrt(max(norm_sq(subtract(q, p)), norm_sq(subtract(r, p)), norm_sq(subtract(r, q))))
    polytope.corners[f, 0], polytope.corners[f, 1], polytope.corners[f, 2] = i, j, k
    polytope.states[f] = HELD
    if length <= thin * side:
        polytope.planes[f, 3] = np.inf
        return
    n = scale(n, 1.0 / length)
    polytope.planes[f, 0], polytope.planes[f, 1], polytope.planes[f, 2] = n[0], n[1], n[2]
    polytope.planes[f, 3] = (dot(n, p) + dot(n, q) + dot(n, r)) / 3.0


@kernel
def _start(
    view: View, polytope: Polytope, a: int, b: int, b_to_a: Frame, guess: Vec3, thin: float
) -> tuple[int, Vec3, int, int]:
    """Four points of the difference that span a volume. Else FLAT, the direction it has no extent in, and vertices of a and b."""
    directions = (guess, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    p, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for turn in range(4):
        a, b, p = support(view, b_to_a, directions[turn], a, b)
        _put(polytope, 0, a, b, p)
        a, b, q = support(view, b_to_a, scale(directions[turn], -1.0), a, b)
        _put(polytope, 1, a, b, q)
        u = subtract(q, p)
        if math.sqrt(norm_sq(u)) > thin:
            break
    if math.sqrt(norm_sq(u)) <= thin:
        return FLAT, guess, a, b
    u = unit(u)
    v, farthest = across(u), thin
    w = cross(u, v)
    for d in (v, scale(v, -1.0), w, scale(w, -1.0)):
        a, b, r = support(view, b_to_a, d, a, b)
        x = subtract(r, p)
        off = math.sqrt(norm_sq(add_scaled(x, u, -dot(x, u))))
        if off > farthest:
            farthest = off
            _put(polytope, 2, a, b, r)
    if farthest == thin:
        return FLAT, v, a, b
    n = unit(cross(u, subtract(point_at(polytope.points, 2), p)))
    above = False
    farthest = thin
    for d in (n, scale(n, -1.0)):
        a, b, r = support(view, b_to_a, d, a, b)
        off = dot(subtract(r, p), d)
        if off > farthest:
            farthest = off
            above = dot(d, n) > 0.0
            _put(polytope, 3, a, b, r)
    if farthest == thin:
        return FLAT, n, a, b
    _close(polytope, above, thin)
    return FOUND, n, a, b


@kernel
def _close(polytope: Polytope, above: bool, thin: float) -> None:
    """Four triangles around the first four points, the last of which is above the first three or below."""
    one, two = (2, 1) if above else (1, 2)
    for f, (i, j, k) in enumerate(((0, one, two), (0, 3, one), (one, 3, two), (two, 3, 0))):
        _set_face(polytope, f, i, j, k, thin)
    for f, (i, j, k) in enumerate(((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))):
        polytope.neighbours[f, 0], polytope.neighbours[f, 1], polytope.neighbours[f, 2] = i, j, k


@kernel
def _see(polytope: Polytope, f: int, w: Vec3, face_count: int, tolerance: float) -> int:
    """Mark the faces that w sees, from f on, and list the sides around them: from, to, and the face behind. Their number."""
    stack, horizon, states = polytope.stack, polytope.horizon, polytope.states
    depth, count = 1, 0
    stack[0] = f
    states[f] = SEEN
    while depth > 0:
        depth -= 1
        g = stack[depth]
        for k in range(3):
            other = polytope.neighbours[g, k]
            if states[other] == SEEN:
                continue
            d = polytope.planes[other, 3]
            n = (polytope.planes[other, 0], polytope.planes[other, 1], polytope.planes[other, 2])
            if d == np.inf or dot(n, w) - d > tolerance:
                states[other] = SEEN
                stack[depth] = other
                depth += 1
    # A second pass: a face that was behind a side may have been seen later from another.
    for g in range(face_count):
        if states[g] == SEEN:
            for k in range(3):
                other = polytope.neighbours[g, k]
                if states[other] != SEEN:
                    horizon[count, 0], horizon[count, 1] = polytope.corners[g, k], polytope.corners[g, (k + 1) % 3]
                    horizon[count, 2] = other
                    count += 1
    return count


@kernel
def _grow(polytope: Polytope, f: int, k: int, face_count: int, tolerance: float) -> int:
    """Replace the faces that point k sees, f one of them, by a cone over them; the number of faces, or −1 where that is not possible."""
    w = point_at(polytope.points, k)
    side_count = _see(polytope, f, w, face_count, tolerance)
    corners, neighbours, states, starts = polytope.corners, polytope.neighbours, polytope.states, polytope.starts
    for s in range(side_count):
        starts[polytope.horizon[s, 0]] = -1
    slot, at = 0, 0
    for s in range(side_count):
        i, j, behind = polytope.horizon[s, 0], polytope.horizon[s, 1], polytope.horizon[s, 2]
        while slot < face_count and states[slot] != SEEN:
            slot += 1
        if slot == MOST_FACES or starts[i] != -1:
            return -1
        face_count = max(face_count, slot + 1)
        _set_face(polytope, slot, i, j, k, THIN * tolerance)
        starts[i] = slot
        neighbours[slot, 0] = behind
        at = 0
        while not (corners[behind, at] == j and corners[behind, (at + 1) % 3] == i):
            at += 1
            if at == 3:
                return -1
        neighbours[behind, at] = slot
    for s in range(side_count):
        i, j = polytope.horizon[s, 0], polytope.horizon[s, 1]
        if starts[j] < 0:
            return -1
        neighbours[starts[i], 1] = starts[j]
        neighbours[starts[j], 2] = starts[i]
    return _pack(polytope, face_count)


@kernel
def _pack(polytope: Polytope, face_count: int) -> int:
    """Put the last faces in the places of those that are still marked as seen, so that the faces have no holes."""
    f = 0
    while f < face_count:
        if polytope.states[f] != SEEN:
            f += 1
            continue
        face_count -= 1
        last = face_count
        polytope.states[f] = polytope.states[last]
        if f == last or polytope.states[f] == SEEN:
            continue
        for c in range(4):
            polytope.planes[f, c] = polytope.planes[last, c]
        for c in range(3):
            polytope.corners[f, c] = polytope.corners[last, c]
            other = polytope.neighbours[last, c]
            polytope.neighbours[f, c] = other
            for x in range(3):
                if polytope.neighbours[other, x] == last:
                    polytope.neighbours[other, x] = f
    return face_count


@kernel
def _nearest(polytope: Polytope, face_count: int) -> int:
    nearest, least = -1, np.inf
    for f in range(face_count):
        if polytope.planes[f, 3] < least:
            nearest, least = f, polytope.planes[f, 3]
    return nearest


@kernel
def find_depth(
    view: View, polytope: Polytope, a: int, b: int, b_to_a: Frame, guess: Vec3, tolerance: float
) -> tuple[int, float, Vec3, int, int, int]:
    """How the search ended; depth; the direction from a to b along which it is least; the vertices farthest along it; number of faces.

    A negative depth says that the hulls are apart by at least that much. a and b: any vertices; guess: a unit vector."""
    status, n, a, b = _start(view, polytope, a, b, b_to_a, guess, THIN * tolerance)
    if status == FLAT:
        height = dot(n, point_at(polytope.points, 0))
        return FLAT, -abs(height), (n if height <= 0.0 else scale(n, -1.0)), a, b, 0
    point_count, face_count = 4, 4
    while True:
        f = _nearest(polytope, face_count)
        if f < 0:
            return FAILED, 0.0, n, a, b, 0
        d, corner = polytope.planes[f, 3], polytope.corners[f, 0]
        n = (polytope.planes[f, 0], polytope.planes[f, 1], polytope.planes[f, 2])
        a, b, w = support(view, b_to_a, n, polytope.owners[corner, 0], polytope.owners[corner, 1])
        depth = dot(n, w)
        if depth - d <= AGREED * tolerance or depth < -NEARLY * tolerance:
            return FOUND, depth, n, a, b, face_count
        for k in range(point_count):
            if norm_sq(subtract(point_at(polytope.points, k), w)) <= tolerance * tolerance:
                return (FOUND if depth - d <= NEARLY * tolerance else FAILED), depth, n, a, b, face_count
        if point_count == MOST_POINTS:
            return FAILED, depth, n, a, b, face_count
        _put(polytope, point_count, a, b, w)
        face_count = _grow(polytope, f, point_count, face_count, tolerance)
        point_count += 1
        if face_count < 0:
            return FAILED, depth, n, a, b, 0


@kernel
def deepest_point(
    view: View, polytope: Polytope, face_count: int, depth: float, normal: Vec3, tolerance: float
) -> tuple[bool, Vec3]:
    """Whether the difference's face across `normal` is in the polytope, and the point of a that is deepest inside b.

    Of the triangles of that face one holds the origin's foot: the one whose smallest barycentric coordinate is largest. The point has the same
    coordinates with respect to the vertices of a that the triangle comes from."""
    best, chosen, weights = -np.inf, -1, (1.0, 0.0, 0.0)
    for f in range(face_count):
        d = polytope.planes[f, 3]
        n = (polytope.planes[f, 0], polytope.planes[f, 1], polytope.planes[f, 2])
        if d > depth + NEARLY * tolerance or dot(n, normal) < ALIGNED:
            continue
        foot = scale(n, d)
        i, j, k = polytope.corners[f, 0], polytope.corners[f, 1], polytope.corners[f, 2]
        p, q, r = (
            subtract(point_at(polytope.points, i), foot),
            subtract(point_at(polytope.points, j), foot),
            subtract(point_at(polytope.points, k), foot),
        )
        x, y, z = dot(cross(q, r), n), dot(cross(r, p), n), dot(cross(p, q), n)
        total = x + y + z
        if min(x, y, z) / total > best:
            best, chosen, weights = min(x, y, z) / total, f, (x / total, y / total, z / total)
    if chosen < 0:
        return False, (0.0, 0.0, 0.0)
    i, j, k = polytope.corners[chosen, 0], polytope.corners[chosen, 1], polytope.corners[chosen, 2]
    x, y, z = max(weights[0], 0.0), max(weights[1], 0.0), max(weights[2], 0.0)
    total = x + y + z
    p = scale(vertex_at(view, polytope.owners[i, 0]), x / total)
    p = add_scaled(p, vertex_at(view, polytope.owners[j, 0]), y / total)
    return True, add_scaled(p, vertex_at(view, polytope.owners[k, 0]), z / total)
