"""Rays against shapes: planes of a polytope, a ball, capsule, cylinder or cone by its quadratic, the triangles of a surface through its tree.

A ray is o + t·d with |d| = 1 and t ≥ 0. It meets closed sets: touching counts. One that starts inside a convex shape meets it at t = 0, without a
normal; so does one that starts inside a solid surface, which is decided by who asks (`world.queries`).
Of a surface both sides are met. A triangle is met up to EDGE of its size beyond its edges, so that no ray slips between two neighbors.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.core.scratch import load, reserve_integers, store
from abut.geometry.frames import carry_back, frame_of, turn, turn_back
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, norm_sq, scale, subtract
from abut.shapes.columns import (
    CHILD,
    FACETED,
    FIRST,
    HIT_COLLIDER,
    HIT_DISTANCE,
    HIT_FACE,
    HIT_NORMAL,
    LAST,
    OFFSET,
)
from abut.shapes.pool import F0, F1, FACE, FORM, KIND, ROOT, SURFACE, V0, V1, Cores, Trees
from abut.shapes.round.rays import meet_round

EDGE = 1e-12
Met = tuple[float, Vec3, int]
NOWHERE = (math.inf, (0.0, 0.0, 0.0), -1)


@element
def _meet_ball(o: Vec3, d: Vec3, c: Vec3, r: float) -> float:
    """Where a ray enters a ball; inf if it does not, 0 from inside."""
    w = subtract(o, c)
    if norm_sq(w) <= r * r:
        return 0.0
    b = dot(w, d)
    root = r * r - norm_sq(add_scaled(w, d, -b))  # not b² − |w|² + r²: from afar that has no digits left
    if b >= 0.0 or root < 0.0:
        return math.inf
    return -b - math.sqrt(root)


@element
def _meet_capsule(o: Vec3, d: Vec3, a: Vec3, b: Vec3, r: float) -> tuple[float, Vec3]:
    """Where a ray enters a capsule, and the point of its axis that is nearest there."""
    u = subtract(b, a)
    length = norm(u)
    u = scale(u, 1.0 / length)
    w = subtract(o, a)
    d_across, w_across = add_scaled(d, u, -dot(d, u)), add_scaled(w, u, -dot(w, u))
    best, at = _meet_ball(o, d, a, r), a
    other = _meet_ball(o, d, b, r)
    if other < best:
        best, at = other, b
    qa, qb, qc = norm_sq(d_across), dot(d_across, w_across), norm_sq(w_across) - r * r
    t = math.inf
    if qc <= 0.0:
        t = 0.0
    elif qa > 0.0 and qb < 0.0 and qb * qb >= qa * qc:
        t = (-qb - math.sqrt(qb * qb - qa * qc)) / qa
    if t < best:
        along = dot(w, u) + t * dot(d, u)
        if 0.0 <= along <= length:
            best, at = t, add_scaled(a, u, along)
    return best, at


@kernel
def _meet_core(cores: Cores, s: int, o: Vec3, d: Vec3) -> Met:
    if cores.table[s, FORM] != FACETED:
        t, normal = meet_round(cores, s, o, d)
        return t, normal, -1
    vertices, first = cores.vertices, cores.table[s, V0]
    a = vector_at(vertices, first)
    if cores.table[s, F0] == cores.table[s, F1]:
        t, at = _meet_ball(o, d, a, cores.radius[s]), a
        if cores.table[s, V1] - first == 2:
            t, at = _meet_capsule(o, d, a, vector_at(vertices, first + 1), cores.radius[s])
        if t == math.inf or t == 0.0:
            return t, (0.0, 0.0, 0.0), -1
        return t, scale(subtract(add_scaled(o, d, t), at), 1.0 / cores.radius[s]), -1
    enter, leave, face = 0.0, math.inf, -1
    for f in range(cores.table[s, F0], cores.table[s, F1]):
        n = vector_at(cores.planes, f)
        height, slope = dot(n, o) - cores.planes[f, OFFSET], dot(n, d)
        if slope == 0.0:
            if height > 0.0:
                return math.inf, (0.0, 0.0, 0.0), -1
        elif slope < 0.0:
            if -height / slope > enter:
                enter, face = -height / slope, f
        else:
            leave = min(leave, -height / slope)
    if enter > leave:
        return math.inf, (0.0, 0.0, 0.0), -1
    if face < 0:
        return 0.0, (0.0, 0.0, 0.0), -1
    return enter, vector_at(cores.planes, face), face - cores.table[s, F0]


@element
def _meet_triangle(o: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3) -> float:
    u, v, w = subtract(b, a), subtract(c, a), subtract(o, a)
    n = cross(u, v)
    slope = dot(n, d)
    if slope == 0.0:
        return math.inf
    side = cross(w, d)
    s, r = dot(side, v) / slope * -1.0, dot(side, u) / slope
    if s < -EDGE or r < -EDGE or s + r > 1.0 + EDGE:
        return math.inf
    t = -dot(n, w) / slope
    return t if t >= 0.0 else math.inf


@kernel
def _misses(boxes: Floats, i: int, o: Vec3, d: Vec3, best: float) -> bool:
    """Whether a ray passes box i by, or reaches it only after `best`."""
    low, high = 0.0, best
    for k in range(3):
        if d[k] == 0.0:
            if o[k] < boxes[i, k] or o[k] > boxes[i, k + 3]:
                return True
        else:
            p, q = (boxes[i, k] - o[k]) / d[k], (boxes[i, k + 3] - o[k]) / d[k]
            slack = EDGE * max(abs(p), abs(q))
            low, high = max(low, min(p, q) - slack), min(high, max(p, q) + slack)
    return low > high


@kernel
def _meet_tree(trees: Trees, root: int, o: Vec3, d: Vec3, best: float) -> Met:
    points, triangles, nodes, boxes = trees.points, trees.triangles, trees.nodes, trees.boxes
    found, normal = -1, (0.0, 0.0, 0.0)
    stack = reserve_integers(256)
    store(stack, 0, root)
    height = 1
    while height > 0:
        height -= 1
        node = load(stack, height)
        if _misses(boxes, node, o, d, best):
            continue
        if nodes[node, CHILD] != 0:
            store(stack, height, nodes[node, CHILD] + 1)
            store(stack, height + 1, nodes[node, CHILD])
            height += 2
            continue
        for t in range(nodes[node, FIRST], nodes[node, LAST]):
            a, b = vector_at(points, triangles[t, 0]), vector_at(points, triangles[t, 1])
            c = vector_at(points, triangles[t, 2])
            distance = _meet_triangle(o, d, a, b, c)
            if distance < best:
                best, found = distance, triangles[t, FACE]
                n = cross(subtract(b, a), subtract(c, a))
                normal = scale(n, 1.0 / norm(n))
    return best if found >= 0 else math.inf, normal, found


@kernel
def cast_rays(
    cores: Cores,
    trees: Trees,
    poses: Floats,
    shapes: Integers,
    boxes: Floats,
    origins: Floats,
    directions: Floats,
    max_distance: float,
    found: Integers,
    numbers: Floats,
) -> None:
    """The first collider on each ray: found (k,2) collider and face, −1 for none; numbers (k,4) distance and normal. Shape −1 is left out."""
    for r in range(len(origins)):
        o, d = vector_at(origins, r), vector_at(directions, r)
        best = max_distance
        found[r, HIT_COLLIDER], found[r, HIT_FACE], numbers[r, HIT_DISTANCE] = -1, -1, math.inf
        for i in range(len(shapes)):
            s = shapes[i]
            if s < 0:
                continue
            if _misses(boxes, i, o, d, best):
                continue
            frame = frame_of(poses, i)
            own_o, own_d = carry_back(frame, o), turn_back(frame[0], d)
            if cores.table[s, KIND] == SURFACE:
                t, normal, face = _meet_tree(trees, cores.table[s, ROOT], own_o, own_d, best)
            else:
                t, normal, face = _meet_core(cores, s, own_o, own_d)
            if t <= best and (t < best or found[r, HIT_COLLIDER] < 0) and t < math.inf:
                best = t
                found[r, HIT_COLLIDER], found[r, HIT_FACE], numbers[r, HIT_DISTANCE] = i, face, t
                put_vector(numbers, r, HIT_NORMAL, turn(frame[0], normal))
