"""Surfaces and half-spaces: the lowest points of a surface are vertices, so these decide. At most eight are contacts, spread over them all."""

import math

from abut.convex.depth.search import across
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.geometry.frames import Frame, carry
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot
from abut.shapes.columns import FACE_B
from abut.shapes.manifold import POINTS, put_row
from abut.shapes.pool import FACE, MEASURES, T0, T1, Cores, Trees

DIRECTIONS = 7
"""Of the contacts: one more is the deepest."""


@kernel
def find_lowest(cores: Cores, trees: Trees, sa: int, sb: int, frame: Frame) -> tuple[float, Vec3, Vec3]:
    """How far surface sb, in `frame`, is from half-space sa, less than 0 as deep as it goes in; the normal, and the lowest vertex."""
    stay_apart()
    n, offset = vector_at(cores.vertices, cores.table[sa, MEASURES]), cores.vertices[cores.table[sa, MEASURES] + 1, 0]
    least, lowest = math.inf, n
    for t in range(cores.table[sb, T0], cores.table[sb, T1]):
        for k in range(3):
            p = carry(frame, vector_at(trees.points, trees.triangles[t, k]))
            height = dot(n, p) - offset
            if height < least:
                least, lowest = height, p
    return least, n, lowest


@kernel
def touch_half_space(
    cores: Cores,
    trees: Trees,
    sa: int,
    sb: int,
    frame: Frame,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """Rows of half-space sa with a surface that stands in `frame`; the number of rows then."""
    stay_apart()
    n, offset = vector_at(cores.vertices, cores.table[sa, MEASURES]), cores.vertices[cores.table[sa, MEASURES] + 1, 0]
    u = across(n)
    v = cross(n, u)
    best, corners, faces = reserve_floats(8), reserve_integers(8), reserve_integers(8)
    for k in range(DIRECTIONS + 1):
        store(best, k, -math.inf)
        store(corners, k, -1)
    for t in range(cores.table[sb, T0], cores.table[sb, T1]):
        for k in range(3):
            p = carry(frame, vector_at(trees.points, trees.triangles[t, k]))
            height = dot(n, p) - offset
            if height > margin:
                continue
            for d in range(DIRECTIONS + 1):
                angle = 2.0 * math.pi * d / DIRECTIONS
                reach = -height
                if d < DIRECTIONS:
                    reach = dot(p, u) * math.cos(angle) + dot(p, v) * math.sin(angle)
                if reach > load(best, d):
                    store(best, d, reach)
                    store(corners, d, trees.triangles[t, k])
                    store(faces, d, trees.triangles[t, FACE])
    for d in range(DIRECTIONS + 1):
        corner, is_new = load(corners, d), True
        for e in range(d):
            is_new = is_new and load(corners, e) != corner
        if corner < 0 or not is_new:
            continue
        p = carry(frame, vector_at(trees.points, corner))
        height = dot(n, p) - offset
        put_row(rows, ids, count, add_scaled(p, n, -0.5 * height), n, height, -1, -1, (POINTS << 60) | (corner + 1))
        ids[count, FACE_B] = load(faces, d)
        count += 1
    return count
