"""The axis along which two cores are farthest apart, or least deep in each other: all faces, and all pairs of edges that can carry one.

Signed distances along an axis: positive apart, negative the depth. Faces against vertices; then edges, where the Gauss map tells which pairs
span a face of the Minkowski difference (Gregorius, GDC 2013). An edge's arc runs anticlockwise about it, from its left face's normal to its right
face's; with A, B those of an edge of a and C, D the reversed ones of an edge of b, the axis s·(e_a × e_b) lies on both arcs just when

    s A·e_b > 0,  s B·e_b < 0,  s C·e_a < 0,  s D·e_a > 0.

That holds for half circles too, so flat polytopes (triangles) need nothing else; a segment's own edge has the whole circle, and no condition.
All in the frame of a.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.geometry.frames import Frame, turn
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, dot, norm_sq, scale, subtract
from abut.shapes.columns import END, LEFT, OFFSET, RIGHT, START

PARALLEL_SQ = 1e-10
"""Squared sine below which two edges span no axis of their own: the faces beside them give one within 1e-5 of it."""

EdgeAxis = tuple[float, Vec3, int, int]


@kernel
def separate_faces(
    planes: Floats, first: int, last: int, points: Floats, p0: int, p1: int, limit: float
) -> tuple[float, int]:
    """The largest distance of the points from a face's plane, over the faces, and that face; stops beyond the limit."""
    stay_apart()
    best, found = -math.inf, -1
    for f in range(first, last):
        least = math.inf
        for i in range(p0, p1):
            least = min(least, planes[f, 0] * points[i, 0] + planes[f, 1] * points[i, 1] + planes[f, 2] * points[i, 2])
            if least - planes[f, OFFSET] <= best:
                break
        if least - planes[f, OFFSET] > best:
            best, found = least - planes[f, OFFSET], f
            if best > limit:
                break
    return best, found


@kernel
def separate_edges(
    planes: Floats,
    edges: Integers,
    a: Floats,
    a0: int,
    a1: int,
    b: Floats,
    b_offset: int,
    b0: int,
    b1: int,
    frame: Frame,
    limit: float,
) -> EdgeAxis:
    """The largest distance along an axis of two edges, the axis, and the edges; −inf without one.

    b holds the vertices of b in a's frame, vertex v in row v − b_offset; `frame` is b's, seen from a.
    """
    stay_apart()
    best, axis, found_a, found_b = -math.inf, (0.0, 0.0, 0.0), -1, -1
    for j in range(b0, b1):
        start, end = edges[j, START] - b_offset, edges[j, END] - b_offset
        q = vector_at(b, start)
        e_b = subtract(vector_at(b, end), q)
        round_b = edges[j, LEFT] < 0
        left_b, right_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if not round_b:
            left_b, right_b = (
                turn(frame[0], vector_at(planes, edges[j, LEFT])),
                turn(frame[0], vector_at(planes, edges[j, RIGHT])),
            )
        length_b = norm_sq(e_b)
        for i in range(a0, a1):
            start, end = edges[i, START], edges[i, END]
            p = vector_at(a, start)
            e_a = subtract(vector_at(a, end), p)
            s = 0.0
            if edges[i, LEFT] >= 0:
                s = dot(vector_at(planes, edges[i, LEFT]), e_b)
                if not s * dot(vector_at(planes, edges[i, RIGHT]), e_b) < 0.0:
                    continue
            if not round_b:
                t = dot(left_b, e_a)  # C is −left: s·C·e_a < 0 asks for the sign of left·e_a
                if not t * dot(right_b, e_a) < 0.0 or s * t < 0.0:
                    continue
                s = t if s == 0.0 else s
            normal = cross(e_a, e_b)
            length_sq = norm_sq(normal)
            if length_sq <= PARALLEL_SQ * norm_sq(e_a) * length_b:
                continue
            offset = dot(normal, subtract(q, p))
            if s == 0.0:
                s = offset  # two segments: either side
            sign = 1.0 if s >= 0.0 else -1.0
            length = math.sqrt(length_sq)
            distance = sign * offset / length
            if distance > best:
                best, axis, found_a, found_b = distance, scale(normal, sign / length), i, j
                if best > limit:
                    return best, axis, found_a, found_b
    return best, axis, found_a, found_b
