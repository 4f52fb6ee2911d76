"""Contact polygons: the face of one core cut to the outline of a face of the other (Sutherland and Hodgman 1974), at most four points kept.

Each point has an identity that lasts while the same features touch: a corner of the incident face, or the crossing of one of its edges with a side
of the reference face. By it the solver finds the impulse that the point had in the step before.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.geometry.frames import Frame, carry
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, distance_sq, dot, subtract
from abut.shapes.pool import CUT, REFERENCE, SPARE

MOST_POINTS = 4
SIDE = 1 << 12
"""Sides of the reference face are numbered from here on; no face has as many corners."""


@kernel
def _write(points: Floats, ids: Integers, i: int, p: Vec3, corner: int, edge: int) -> None:
    put_vector(points, i, 0, p)
    ids[i, 0], ids[i, 1] = corner, edge


@kernel
def load_face(vertices: Floats, starts: Integers, loops: Integers, face: int, frame: Frame, out: Floats) -> int:
    """The corners of a face, seen from outside the frame; how many."""
    stay_apart()
    first, last = starts[face], starts[face + 1]
    for k in range(first, last):
        put_vector(out, k - first, 0, carry(frame, vector_at(vertices, loops[k])))
    return last - first


@kernel
def _cut_side(
    start: Vec3,
    side: Vec3,
    number: int,
    points: Floats,
    ids: Integers,
    count: int,
    is_open: bool,
    out: Floats,
    out_ids: Integers,
) -> int:
    """What lies behind the plane through `start` with normal `side`."""
    kept = 0
    for i in range(count):
        following = (i + 1) % count
        p, q = vector_at(points, i), vector_at(points, following)
        here, there = dot(side, subtract(p, start)), dot(side, subtract(q, start))
        if here <= 0.0:
            _write(out, out_ids, kept, p, ids[i, 0], ids[i, 1])
            kept += 1
        if (here <= 0.0) != (there <= 0.0) and (not is_open or i == 0):
            crossing = add_scaled(p, subtract(q, p), here / (here - there))
            leaving = here <= 0.0
            corner = ids[i, 1] * 2 * SIDE + SIDE + number
            _write(out, out_ids, kept, crossing, corner, SIDE + number if leaving else ids[i, 1])
            kept += 1
    return kept


@kernel
def cut_polygon(space: Floats, names: Integers, sides: int, normal: Vec3, count: int) -> int:
    """Cut the polygon in part CUT to the prism over part REFERENCE, whose outward normal is given; how many points are left there."""
    stay_apart()
    is_open = count <= 2
    reference = space[REFERENCE]
    points, ids, spare, spare_ids = space[CUT], names[0], space[SPARE], names[1]
    for k in range(sides):
        start, end = vector_at(reference, k), vector_at(reference, (k + 1) % sides)
        count = _cut_side(start, cross(subtract(end, start), normal), k, points, ids, count, is_open, spare, spare_ids)
        points, ids, spare, spare_ids = spare, spare_ids, points, ids
        if count == 0:
            return 0
    if sides % 2 == 1:
        for i in range(count):
            _write(space[CUT], names[0], i, vector_at(points, i), ids[i, 0], ids[i, 1])
    return count


@kernel
def choose_four(points: Floats, depths: Floats, count: int, normal: Vec3) -> tuple[int, int, int, int]:
    """The deepest point, the one farthest from it, and those that span the largest triangles on both sides of the two; −1 where there is none.

    Column 0 of `depths` holds separations, the lowest the deepest."""
    stay_apart()
    first = 0
    for i in range(1, count):
        if depths[i, 0] < depths[first, 0]:
            first = i
    second, most = -1, 0.0
    for i in range(count):
        d = distance_sq(vector_at(points, i), vector_at(points, first))
        if d > most:
            second, most = i, d
    if second < 0:
        return first, -1, -1, -1
    u = subtract(vector_at(points, second), vector_at(points, first))
    third, fourth, most, least = -1, -1, 0.0, 0.0
    for i in range(count):
        area = dot(normal, cross(u, subtract(vector_at(points, i), vector_at(points, first))))
        if i in (first, second) or math.isnan(area):
            continue
        if area > most:
            third, most = i, area
        if area < least:
            fourth, least = i, area
    return first, second, third, fourth
