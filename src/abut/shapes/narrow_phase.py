"""The narrow phase: which colliders of a list of pairs touch, and where; cores against cores, cores against the triangles of a surface.

In a pair with a surface the core comes first. The surface's tree gives the triangles near the core, and each is met as a flat polytope, by the axis
along which the two are least deep in each other. That is never deeper than the core is in the whole surface: whatever parts the core and the surface
parts it from each triangle. The axis counts where it is one of the surface (`summits`), not of the triangulation alone; else the face's normal
does, if it is near, and so a box slides over a tiled floor as over a plane. A wall that stands across a face of the core says nothing: its foot does.

What lies behind a triangle of a solid does not touch it: other triangles are in front of it. Where none has a contact, and yet the core meets some,
it goes out in front of the triangle for which that is the shortest path: as far as it is deep, and wholly if it has sunk in beyond its middle.
A terrain is solid below: a core whose middle is under a triangle is pushed up through it.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.core.scratch import load, reserve_integers, store
from abut.geometry.frames import (
    Frame,
    carry,
    carry_back,
    carry_points,
    carry_points_back,
    frame_of,
    relate,
    turn,
    turn_back,
)
from abut.geometry.rows import put_vector, vector_at, vector_in
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, scale, subtract
from abut.shapes.columns import (
    CHILD,
    COLLIDER_A,
    COLLIDER_B,
    FACE_B,
    FIRST,
    HALF_SPACE,
    LAST,
    NORMAL,
    OFFSET,
    POINT,
    SEPARATION,
    TRACKED,
    TRACKED_A,
    TRACKED_B,
    TRACKED_NORMAL,
)
from abut.shapes.manifold import IDENTITY, POINTS, Axis, find_axis_round, put_row
from abut.shapes.pool import F0, F1, FACE, FORM, IN_A, IN_B, KIND, ROOT, SIDE, SURFACE, TRIANGLE, V0, V1, Cores, Trees
from abut.shapes.round.features import find_axis_of, touch_face_of, touch_of
from abut.shapes.round.half_space import touch_half_space
from abut.shapes.round.support import find_farthest, is_round
from abut.shapes.summits import is_summit
from abut.shapes.surfaces import BOTH, GROUND

MOST_ROWS = 8
"""No core has more rows with another core or with one triangle."""
FULL = -1
FLUSH = 1.0 - 1e-12
"""Cosine from which a contact normal is the face's own: what rounding leaves of 1."""
LEAST_FACING = math.cos(math.radians(30.0))
"""A face decides instead of an axis up to this angle from its normal; what meets it more from the side meets a neighbor first."""
OWN_AXIS, NO_CONTACT = -1, -2


@kernel
def _finish(frame: Frame, i: int, j: int, rows: Floats, ids: Integers, first: int, last: int) -> None:
    """Rows from a's frame into the world, with the colliders they belong to."""
    for k in range(first, last):
        put_vector(rows, k, POINT, carry(frame, vector_in(rows, k, POINT)))
        put_vector(rows, k, NORMAL, turn(frame[0], vector_in(rows, k, NORMAL)))
        ids[k, COLLIDER_A], ids[k, COLLIDER_B] = i, j


@kernel
def bound_core(points: Floats, count: int, grown: float) -> tuple[Vec3, Vec3]:
    """The box of a core whose vertices stand in the first rows of `points`, grown on every side."""
    x0, y0, z0, x1, y1, z1 = math.inf, math.inf, math.inf, -math.inf, -math.inf, -math.inf
    for i in range(count):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        x0, y0, z0, x1, y1, z1 = min(x0, x), min(y0, y), min(z0, z), max(x1, x), max(y1, y), max(z1, z)
    return (x0 - grown, y0 - grown, z0 - grown), (x1 + grown, y1 + grown, z1 + grown)


@kernel
def keep_own(cores: Cores, space: Floats, sa: int) -> None:
    """The vertices of a core in part IN_B: triangles come into a's frame, so that "in b's frame" is a's own."""
    first = cores.table[sa, V0]
    for i in range(first, cores.table[sa, V1]):
        put_vector(space[IN_B], i - first, 0, vector_at(cores.vertices, i))


@kernel
def load_triangle(
    points: Floats, triangles: Integers, t: int, frame: Frame, vertices: Floats, planes: Floats, in_a: Floats
) -> Vec3:
    """Triangle t, seen from outside the frame, into the pool's room for one and into part IN_A; its unit normal, zero if it has no area."""
    stay_apart()
    for k in range(3):
        p = carry(frame, vector_at(points, triangles[t, k]))
        put_vector(vertices, k, 0, p)
        put_vector(in_a, k, 0, p)
    a = vector_at(vertices, 0)
    normal = cross(subtract(vector_at(vertices, 1), a), subtract(vector_at(vertices, 2), a))
    length = norm(normal)
    if length == 0.0:
        return (0.0, 0.0, 0.0)
    normal = scale(normal, 1.0 / length)
    height = dot(normal, a)
    for axis in range(3):
        planes[0, axis], planes[1, axis] = normal[axis], -normal[axis]
    planes[0, OFFSET], planes[1, OFFSET] = height, -height
    return normal


@kernel
def _is_above(points: Floats, triangles: Integers, t: int, p: Vec3) -> bool:
    """Whether triangle t of a terrain is straight above (or below) a point of the terrain's frame."""
    inside = True
    for k in range(3):
        u, v = vector_at(points, triangles[t, k]), vector_at(points, triangles[t, (k + 1) % 3])
        inside = inside and (v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0]) >= 0.0
    return inside


@kernel
def _measure_exit(cores: Cores, sa: int, face: int) -> float:
    """How far core sa must go to be wholly in front of a face of the triangle that is loaded; its plane, not only the triangle."""
    outward = vector_at(cores.planes, face)
    lowest = dot(outward, find_farthest(cores, sa, scale(outward, -1.0)))
    return cores.planes[face, OFFSET] - lowest + cores.radius[sa]


@kernel
def _choose_face(
    cores: Cores, trees: Trees, side: int, t: int, frame: Frame, middle: Vec3, axis: Axis, normal: Vec3
) -> int:
    """What decides about triangle t: the axis (OWN_AXIS), one of its faces instead (0 the front, 1 the back), or nothing (NO_CONTACT)."""
    stay_apart()
    facing = -dot(axis[1], normal)
    if side == GROUND and (facing <= 0.0 or axis[0] == math.inf):
        below = dot(normal, carry(frame, middle)) <= cores.planes[0, OFFSET]
        return 0 if below and _is_above(trees.points, trees.triangles, t, middle) else NO_CONTACT
    if side != BOTH and facing <= 0.0:
        return NO_CONTACT
    if abs(facing) >= FLUSH:
        return OWN_AXIS
    along = turn_back(frame[0], scale(axis[1], -1.0))
    if is_summit(trees.points, trees.triangles, trees.rings, t, along, abs(facing)):
        return OWN_AXIS
    if abs(facing) < LEAST_FACING:
        return NO_CONTACT
    return 0 if facing > 0.0 else 1


@kernel
def touch_triangle(
    cores: Cores,
    trees: Trees,
    space: Floats,
    names: Integers,
    sa: int,
    side: int,
    t: int,
    frame: Frame,
    middle: Vec3,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> tuple[int, float, float]:
    """Rows of core sa with triangle t of a surface, whose frame is seen from a; `middle` is the core's, in the surface's frame.

    The number of rows then; how far the core must go to be out in front of the triangle, infinite where they do not meet; and the least depth that it
    has there, 0 where it comes from behind."""
    stay_apart()
    normal = load_triangle(trees.points, trees.triangles, t, frame, cores.vertices, cores.planes, space[IN_A])
    if normal == (0.0, 0.0, 0.0):
        return count, math.inf, 0.0
    axis = find_axis_of(cores, space, sa, TRIANGLE, IDENTITY, margin + cores.radius[sa], side == GROUND)
    if axis[0] == math.inf and side != GROUND:
        return count, math.inf, 0.0
    face = _choose_face(cores, trees, side, t, frame, middle, axis, normal)
    exit_length, depth = math.inf, 0.0
    if axis[0] <= cores.radius[sa] or (side == GROUND and face >= 0):
        from_back = side == BOTH and dot(normal, carry(frame, middle)) < cores.planes[0, OFFSET]
        exit_length = _measure_exit(cores, sa, 1 if from_back else 0)
        if side == BOTH or dot(axis[1], normal) < 0.0:
            depth = max(0.0, cores.radius[sa] - axis[0])
    if face == NO_CONTACT:
        return count, exit_length, depth
    if face == OWN_AXIS:
        last = touch_of(cores, space, names, sa, TRIANGLE, IDENTITY, axis, margin, rows, ids, count)
    else:
        away = scale(normal, -1.0 if face == 0 else 1.0)
        # No deeper than what parts the two: that is never more than what parts the core and the whole surface.
        least = axis[0] if axis[0] < 0.0 and side != GROUND else -math.inf
        last = touch_face_of(cores, space, names, sa, TRIANGLE, IDENTITY, face, away, least, margin, rows, ids, count)
    for k in range(count, last):
        ids[k, FACE_B] = trees.triangles[t, FACE]
    return last, exit_length, depth


@kernel
def _leave(
    cores: Cores,
    trees: Trees,
    space: Floats,
    names: Integers,
    sa: int,
    side: int,
    t: int,
    frame: Frame,
    middle: Vec3,
    exit_length: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """Rows that lead core sa out in front of triangle t, which it must go so far for."""
    normal = load_triangle(trees.points, trees.triangles, t, frame, cores.vertices, cores.planes, space[IN_A])
    face = 1 if side == BOTH and dot(normal, carry(frame, middle)) < cores.planes[0, OFFSET] else 0
    outward = vector_at(cores.planes, face)
    away, least = scale(outward, -1.0), cores.radius[sa] - exit_length
    last = touch_face_of(cores, space, names, sa, TRIANGLE, IDENTITY, face, away, least, 0.0, rows, ids, count)
    if last == count:
        deepest = find_farthest(cores, sa, away)
        deepest = add_scaled(deepest, outward, -cores.radius[sa] + 0.5 * exit_length)
        put_row(rows, ids, count, deepest, away, -exit_length, -1, face, POINTS << 60)
        last = count + 1
    for k in range(count, last):
        ids[k, FACE_B] = trees.triangles[t, FACE]
    return last


@kernel
def _meet_surface(
    cores: Cores,
    trees: Trees,
    space: Floats,
    names: Integers,
    sa: int,
    sb: int,
    frame: Frame,
    margin: float,
    rows: Floats,
    ids: Integers,
    count: int,
) -> int:
    """Rows of core sa with a surface, or FULL."""
    first, last = cores.table[sa, V0], cores.table[sa, V1]
    low, high = bound_core(space[IN_B], last - first, margin + cores.radius[sa])
    middle = scale((low[0] + high[0], low[1] + high[1], low[2] + high[2]), 0.5)
    keep_own(cores, space, sa)
    nodes, boxes, side = trees.nodes, trees.boxes, cores.table[sb, SIDE]
    start, exit_length, depth, gate = count, math.inf, 0.0, -1
    stack = reserve_integers(256)  # one sibling at each level; `trees.binary.build` stays below 64 + log₂ m
    store(stack, 0, cores.table[sb, ROOT])
    height = 1
    while height > 0:
        height -= 1
        node = load(stack, height)
        # Whatever is below a terrain touches it, however deep.
        above = boxes[node, 2] > high[2] and side != GROUND
        if above or boxes[node, 0] > high[0] or boxes[node, 1] > high[1]:
            continue
        if boxes[node, 3] < low[0] or boxes[node, 4] < low[1] or boxes[node, 5] < low[2]:
            continue
        child = nodes[node, CHILD]
        if child != 0:
            store(stack, height, child + 1)
            store(stack, height + 1, child)
            height += 2
            continue
        for t in range(nodes[node, FIRST], nodes[node, LAST]):
            if count + MOST_ROWS > len(rows):
                return FULL
            count, length, least = touch_triangle(
                cores, trees, space, names, sa, side, t, frame, middle, margin, rows, ids, count
            )
            depth = max(depth, least)
            if length < exit_length:
                exit_length, gate = length, t
    if gate < 0:
        return count
    for k in range(start, count):
        if rows[k, SEPARATION] <= 0.0:
            return count
    if count + MOST_ROWS > len(rows):
        return FULL
    exit_length = (
        min(exit_length, depth) if depth > 0.0 else exit_length
    )  # no farther than it is deep, where that is known
    return _leave(cores, trees, space, names, sa, side, gate, frame, middle, exit_length, rows, ids, count)


@kernel
def _recall(known: Floats, k: int, own: Frame) -> Axis:
    """What was tracked, in a's frame."""
    normal = turn_back(own[0], vector_in(known, k, TRACKED_NORMAL))
    p, q = vector_in(known, k, TRACKED_A), vector_in(known, k, TRACKED_B)
    return known[k, TRACKED], normal, carry_back(own, p), carry_back(own, q)


@kernel
def meet_pairs(
    cores: Cores,
    trees: Trees,
    space: Floats,
    names: Integers,
    poses: Floats,
    shapes: Integers,
    pairs: Integers,
    margins: Floats,
    known: Floats,
    state: Integers,
    rows: Floats,
    ids: Integers,
) -> bool:
    """Rows of all pairs of colliders, of which the first has a core, where they are no farther apart than the pair's margin.

    known (k,10): what was tracked of hulls (see `columns`); a distance that is not a number is still to be found.
    From pair state[0] and row state[1] on. False if the rows are full: call again with more of them."""
    for k in range(state[0], len(pairs)):
        i, j, count = pairs[k, 0], pairs[k, 1], state[1]
        state[0] = k
        if count + MOST_ROWS > len(rows):
            return False
        sa, sb, own = int(shapes[i]), int(shapes[j]), frame_of(poses, i)
        frame = relate(own, frame_of(poses, j))
        if cores.table[sb, KIND] == SURFACE and cores.table[sa, FORM] == HALF_SPACE:
            last = touch_half_space(cores, trees, sa, sb, frame, margins[k], rows, ids, count)
        elif cores.table[sb, KIND] == SURFACE:
            carry_points_back(frame, cores.vertices, cores.table[sa, V0], cores.table[sa, V1], space[IN_B])
            last = _meet_surface(cores, trees, space, names, sa, sb, frame, margins[k], rows, ids, count)
            if last == FULL:
                return False
        else:
            if known[k, TRACKED] - cores.radius[sa] - cores.radius[sb] > margins[k]:
                continue
            carry_points_back(frame, cores.vertices, cores.table[sa, V0], cores.table[sa, V1], space[IN_B])
            carry_points(frame, cores.vertices, cores.table[sb, V0], cores.table[sb, V1], space[IN_A])
            if not math.isnan(known[k, TRACKED]):
                axis = _recall(known, k, own)
            elif is_round(cores, sa, sb):
                axis = find_axis_of(
                    cores, space, sa, sb, frame, margins[k] + cores.radius[sa] + cores.radius[sb], False
                )
            elif cores.table[sa, F0] == cores.table[sa, F1]:
                axis = find_axis_round(cores, space, sa, sb)
            else:
                axis = find_axis_of(cores, space, sa, sb, frame, margins[k], False)
            last = touch_of(cores, space, names, sa, sb, frame, axis, margins[k], rows, ids, count)
        _finish(own, i, j, rows, ids, count, last)
        state[1] = last
    return True
