"""A polytope of triangles that grows point by point: what `depth` searches.

Points of the difference of two hulls, and around them triangles that know their neighbours. A new point replaces the triangles it sees by a cone over
their outline. A triangle that is too thin to have a normal sees the origin under no angle: its distance is infinite, and every point sees it.

All memory is behind pointers, reserved once for each task: an array that is handed from function to function would be counted each time. Triangles
have no holes in their numbering. Failure case, told by the result: an outline that is no loop, which rounding can make of nearly coplanar triangles.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex.triples import put_triple, triple_at
from abut.core.arrays import Floats, Integers
from abut.core.handles import FloatsAt, IntegersAt, pack, unpack
from abut.core.jit import element, kernel
from abut.core.scratch import load, store
from abut.geometry.vec import Vec3, cross, dot, norm_sq, scale, subtract

MOST_POINTS = 2048
MOST_FACES = 2 * MOST_POINTS
HELD, SEEN = 0, 1

THIN = 64.0
"""Triangles lower than so many tolerances have no normal."""

_FLOATS = (3 * MOST_POINTS, 3 * MOST_FACES, MOST_FACES)
_INTEGERS = (2 * MOST_POINTS, 3 * MOST_FACES, 3 * MOST_FACES, MOST_FACES, MOST_FACES, 3 * MOST_FACES, MOST_POINTS)


class Polytope(NamedTuple):
    """Pointers to points (n,3), triangles' normals (f,3) and distances from the origin (f,); to the vertices (n,2) of a and b that points come from,
    triangles' corners (f,3), anticlockwise from outside, their neighbours across the sides from corner k to k + 1, and states; and memory for the
    search: triangles seen, their outline (from, to, and the triangle behind), and the new triangle that starts at each point."""

    points: FloatsAt
    normals: FloatsAt
    distances: FloatsAt
    owners: IntegersAt
    corners: IntegersAt
    neighbours: IntegersAt
    states: IntegersAt
    seen: IntegersAt
    outline: IntegersAt
    starts: IntegersAt


class Polytopes:
    """Memory for some tasks. `handle` (tasks, fields): what `open_polytope` takes a row of; it is valid as long as this object lives."""

    def __init__(self, count: int) -> None:
        ends = np.cumsum([*_FLOATS, *_INTEGERS])
        self._memory = np.empty((count, ends[-1]))
        self.handle: Integers = np.stack([pack(Polytope, *_cut(row, ends[:-1])) for row in self._memory])


def _cut(row: Floats, ends: Integers) -> list[NDArray[Any]]:
    """The arrays of one task, in its part of the memory."""
    parts = np.split(row, ends)
    return [*parts[: len(_FLOATS)], *(part.view(np.int64) for part in parts[len(_FLOATS) :])]


def reserve_polytopes(count: int) -> Polytopes:
    """Memory for so many tasks."""
    return Polytopes(count)


@element
def open_polytope(handle: Any, task: int) -> Polytope:
    """The memory of a task, in a kernel."""
    return unpack(Polytope, handle[task])


@element
def put_point(polytope: Polytope, k: int, a: int, b: int, w: Vec3) -> None:
    """Write point k, and the vertices it is the difference of."""
    store(polytope.owners, 2 * k, a)
    store(polytope.owners, 2 * k + 1, b)
    put_triple(polytope.points, k, w)


@element
def _set_face(polytope: Polytope, f: int, i: int, j: int, k: int, thin: float) -> None:
    p, q, r = triple_at(polytope.points, i), triple_at(polytope.points, j), triple_at(polytope.points, k)
    n = cross(subtract(q, p), subtract(r, p))
    area_sq = norm_sq(n)
    side_sq = max(norm_sq(subtract(q, p)), norm_sq(subtract(r, p)), norm_sq(subtract(r, q)))
    put_triple(polytope.corners, f, (i, j, k))
    store(polytope.states, f, HELD)
    if area_sq <= thin * thin * side_sq:
        store(polytope.distances, f, np.inf)
        return
    n = scale(n, 1.0 / math.sqrt(area_sq))
    put_triple(polytope.normals, f, n)
    store(polytope.distances, f, (dot(n, p) + dot(n, q) + dot(n, r)) / 3.0)


@element
def close_four(polytope: Polytope, above: bool, thin: float) -> None:
    """Four triangles around the first four points, the last of which is above the first three or below."""
    one, two = (2, 1) if above else (1, 2)
    for f, (i, j, k) in enumerate(((0, one, two), (0, 3, one), (one, 3, two), (two, 3, 0))):
        _set_face(polytope, f, i, j, k, thin)
    for f, others in enumerate(((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))):
        put_triple(polytope.neighbours, f, others)


@element
def _see(polytope: Polytope, f: int, w: Vec3, tolerance: float) -> int:
    """List the triangles that w sees, from f on, and mark them. Their number."""
    seen, states = polytope.seen, polytope.states
    store(seen, 0, f)
    store(states, f, SEEN)
    count, k = 1, 0
    while k < count:
        g = load(seen, k)
        k += 1
        for side in range(3):
            other = load(polytope.neighbours, 3 * g + side)
            if load(states, other) == SEEN:
                continue
            d = load(polytope.distances, other)
            if d == np.inf or dot(triple_at(polytope.normals, other), w) - d > tolerance:
                store(states, other, SEEN)
                store(seen, count, other)
                count += 1
    return count


@element
def _trace(polytope: Polytope, seen_count: int) -> int:
    """List the sides around the triangles seen: from, to, and the triangle behind. Their number."""
    count = 0
    for s in range(seen_count):
        g = load(polytope.seen, s)
        for side in range(3):
            other = load(polytope.neighbours, 3 * g + side)
            if load(polytope.states, other) != SEEN:
                i, j = load(polytope.corners, 3 * g + side), load(polytope.corners, 3 * g + (side + 1) % 3)
                put_triple(polytope.outline, count, (i, j, other))
                store(polytope.starts, i, -1)
                count += 1
    return count


@kernel
def grow(polytope: Polytope, f: int, k: int, face_count: int, tolerance: float) -> int:
    """Replace the triangles that point k sees, f one of them, by a cone over them; the number of triangles, or −1 where that is not possible."""
    seen_count = _see(polytope, f, triple_at(polytope.points, k), tolerance)
    side_count = _trace(polytope, seen_count)
    if side_count < 3 or face_count + side_count - seen_count > MOST_FACES:
        return -1
    starts, neighbours = polytope.starts, polytope.neighbours
    for s in range(side_count):
        i, j, behind = triple_at(polytope.outline, s)
        if load(starts, i) != -1:
            return -1
        slot = load(polytope.seen, s) if s < seen_count else face_count + s - seen_count
        _set_face(polytope, slot, i, j, k, THIN * tolerance)
        store(starts, i, slot)
        store(neighbours, 3 * slot, behind)
        at = 0
        while load(polytope.corners, 3 * behind + at) != j or load(polytope.corners, 3 * behind + (at + 1) % 3) != i:
            at += 1
            if at == 3:
                return -1
        store(neighbours, 3 * behind + at, slot)
    for s in range(side_count):
        i, j, _ = triple_at(polytope.outline, s)
        after = load(starts, j)
        if after < 0:
            return -1
        store(neighbours, 3 * load(starts, i) + 1, after)
        store(neighbours, 3 * after + 2, load(starts, i))
    if side_count >= seen_count:
        return face_count + side_count - seen_count
    return _fill_holes(polytope, side_count, seen_count, face_count)


@element
def _fill_holes(polytope: Polytope, first: int, last: int, face_count: int) -> int:
    """Put the last triangles in the places of those in the list of the seen, from `first` to before `last`, that no new one took."""
    for s in range(first, last):
        hole = load(polytope.seen, s)
        while face_count > 0 and load(polytope.states, face_count - 1) == SEEN:
            face_count -= 1
        if hole >= face_count:
            continue
        face_count -= 1
        store(polytope.states, hole, HELD)
        store(polytope.distances, hole, load(polytope.distances, face_count))
        put_triple(polytope.normals, hole, triple_at(polytope.normals, face_count))
        put_triple(polytope.corners, hole, triple_at(polytope.corners, face_count))
        for side in range(3):
            other = load(polytope.neighbours, 3 * face_count + side)
            store(polytope.neighbours, 3 * hole + side, other)
            for x in range(3):
                if load(polytope.neighbours, 3 * other + x) == face_count:
                    store(polytope.neighbours, 3 * other + x, hole)
    return face_count


@element
def nearest_face(polytope: Polytope, face_count: int) -> int:
    """The triangle that is nearest to the origin, −1 where none has a distance."""
    nearest, least = -1, np.inf
    for f in range(face_count):
        if load(polytope.distances, f) < least:
            nearest, least = f, load(polytope.distances, f)
    return nearest
