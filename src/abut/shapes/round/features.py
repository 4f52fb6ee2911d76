"""What a round shape touches with along an axis: a point of its rim or its tip, a line of its side, or the disc of an end.

That is written into the pool's room for it, as a core of its own: a point, a segment, or a polygon of one face. The rest is `manifold`'s, for which
it is a core as any other. So a cylinder on a floor has two points on the line where it touches, at its true height, and rolls as a circle does;
standing, it has corners of a polygon whose corners lie on the true rim, one of them where it is deepest. A half-space is a polygon below the other
shape, wide enough for it.
"""

import math

from abut.convex.depth.search import across
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel, stay_apart
from abut.geometry.frames import Frame, carry_back, carry_points, turn_back
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot, scale
from abut.shapes.columns import CYLINDRICAL, FACE_A, FACE_B, FACETED, HALF_SPACE, OFFSET
from abut.shapes.manifold import ALIGNED, Axis, find_axis, measure_extent, touch, touch_face
from abut.shapes.pool import DISC_SIDES, F0, F1, FEATURES, FORM, IN_A, MEASURES, V0, V1, Cores
from abut.shapes.round.axis import find_axis_curved
from abut.shapes.round.support import is_round

STRAIGHT = 1e-4
"""Sine of the tilt below which a disc is not turned to its deepest point: it lies, and its corners last from step to step. By so little tilt they
are off by 0.9 % of STRAIGHT of the radius."""
WIDE = 4.0
"""Times the size of the other shape: the radius of the polygon that stands for a half-space."""


@kernel
def _put_disc(cores: Cores, slot: int, center: Vec3, normal: Vec3, u: Vec3, radius: float) -> None:
    """The room's polygon, its first corner along u, anticlockwise seen against the normal."""
    first, face, v = cores.table[slot, V0], cores.table[slot, F0], cross(normal, u)
    for k in range(DISC_SIDES):
        angle = 2.0 * math.pi * k / DISC_SIDES
        p = add_scaled(add_scaled(center, u, radius * math.cos(angle)), v, radius * math.sin(angle))
        put_vector(cores.vertices, first + k, 0, p)
    put_vector(cores.planes, face, 0, normal)
    cores.planes[face, OFFSET] = dot(normal, center)
    cores.table[slot, V1], cores.table[slot, F1] = first + DISC_SIDES, face + 1


@kernel
def _put_ends(cores: Cores, slot: int, p: Vec3, q: Vec3, count: int) -> None:
    """A segment in the room, or a point."""
    first = cores.table[slot, V0]
    put_vector(cores.vertices, first, 0, p)
    put_vector(cores.vertices, first + 1, 0, q)
    cores.table[slot, V1], cores.table[slot, F1] = first + count, cores.table[slot, F0]


@kernel
def put_feature(cores: Cores, s: int, slot: int, n: Vec3, size: float, near: Vec3) -> None:
    """What shape s touches with along n, out of it, in its own frame. size, near: of the other shape, for a half-space's polygon."""
    stay_apart()
    form, first = cores.table[s, FORM], vector_at(cores.vertices, cores.table[s, MEASURES])
    if form == HALF_SPACE:
        height = dot(first, near) - cores.vertices[cores.table[s, MEASURES] + 1, 0]
        _put_disc(cores, slot, add_scaled(near, first, -height), first, across(first), WIDE * size)
        return
    radius, half, _ = first
    tilt = math.hypot(n[0], n[1])
    u = (n[0] / tilt, n[1] / tilt, 0.0) if tilt > STRAIGHT else (1.0, 0.0, 0.0)
    rim = (radius * u[0], radius * u[1])
    if n[2] <= -ALIGNED or (form == CYLINDRICAL and n[2] >= ALIGNED):
        up = 1.0 if n[2] > 0.0 else -1.0
        _put_disc(cores, slot, (0.0, 0.0, up * half), (0.0, 0.0, up), u, radius)
        return
    low = (rim[0], rim[1], -half)
    if form == CYLINDRICAL:
        high = (rim[0], rim[1], half)
        if tilt >= ALIGNED:
            _put_ends(cores, slot, low, high, 2)
        else:
            _put_ends(cores, slot, low if n[2] < 0.0 else high, high, 1)
        return
    slant = math.hypot(radius, 2.0 * half)
    if (2.0 * half * tilt + radius * n[2]) / slant >= ALIGNED:
        _put_ends(cores, slot, low, (0.0, 0.0, half), 2)
    elif n[2] * 2.0 * half > radius * tilt:
        _put_ends(cores, slot, (0.0, 0.0, half), low, 1)
    else:
        _put_ends(cores, slot, low, low, 1)


@kernel
def find_axis_of(cores: Cores, space: Floats, sa: int, sb: int, frame: Frame, limit: float, front_only: bool) -> Axis:
    """As `find_axis`, of whatever shapes."""
    if is_round(cores, sa, sb):
        return find_axis_curved(cores, sa, sb, frame, limit)
    return find_axis(cores, space, sa, sb, frame, limit, front_only)


@kernel
def _forget_faces(cores: Cores, sa: int, sb: int, ids: Integers, first: int, last: int) -> None:
    """Round shapes have no numbered faces."""
    for k in range(first, last):
        if cores.table[sa, FORM] != FACETED:
            ids[k, FACE_A] = -1
        if cores.table[sb, FORM] != FACETED:
            ids[k, FACE_B] = -1


@kernel
def touch_of(
    cores: Cores,
    space: Floats,
    names: Integers,
    sa: int,
    sb: int,
    frame: Frame,
    axis: Axis,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """As `touch`, of whatever shapes; part IN_A is written where b is round."""
    stay_apart()
    if not is_round(cores, sa, sb) or axis[0] - cores.radius[sa] - cores.radius[sb] > margin:
        return touch(cores, space, names, sa, sb, frame, axis, margin, rows, ids, count)
    slot = len(cores.table) - FEATURES
    own, other = sa, sb
    if cores.table[sa, FORM] != FACETED:
        size = measure_extent(cores.vertices, cores.table[sb, V0], cores.table[sb, V1]) + cores.radius[sb]
        put_feature(cores, sa, slot, axis[1], size, axis[3])
        own = slot
    if cores.table[sb, FORM] != FACETED:
        size = measure_extent(cores.vertices, cores.table[sa, V0], cores.table[sa, V1]) + cores.radius[sa]
        other = integer(slot + 1)
        n = turn_back(frame[0], scale(axis[1], -1.0))
        put_feature(cores, sb, other, n, size, carry_back(frame, axis[2]))
        carry_points(frame, cores.vertices, cores.table[other, V0], cores.table[other, V1], space[IN_A])
    last = touch(cores, space, names, own, other, frame, axis, margin, rows, ids, count)
    _forget_faces(cores, sa, sb, ids, count, last)
    return last


@kernel
def touch_face_of(
    cores: Cores,
    space: Floats,
    names: Integers,
    sa: int,
    sb: int,
    frame: Frame,
    face: int,
    away: Vec3,
    least: float,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """As `touch_face` with a face of b, which is faceted, and whatever shape a."""
    stay_apart()
    own = sa
    if cores.table[sa, FORM] != FACETED:
        own = len(cores.table) - FEATURES
        put_feature(cores, sa, own, away, 0.0, away)
    last = touch_face(cores, space, names, own, sb, frame, False, face, away, least, margin, rows, ids, count)
    _forget_faces(cores, sa, sb, ids, count, last)
    return last
