"""How far shapes are apart: signed distances of a core from cores and from the triangles of surfaces, with the points that show it."""

import math

from abut.arrays import Floats, Integers
from abut.geometry.vec import Vec3, add_scaled, dot, norm, scale, subtract
from abut.jit import kernel, stay_apart
from abut.scratch import load, reserve_integers, store
from abut.shapes.frames import Frame, carry, carry_points, carry_points_back, frame_of, relate, turn
from abut.shapes.meet import IDENTITY, NOTHING, find_axis
from abut.shapes.narrow import bound_core, load_triangle
from abut.shapes.nearest import find_farthest, measure_cores
from abut.shapes.pool import IN_A, IN_B, KIND, ROOT, SURFACE, TRIANGLE, V0, V1, Cores, Trees

Gap = tuple[float, Vec3, Vec3]


@kernel
def _measure(cores: Cores, space: Floats, sa: int, sb: int, frame: Frame) -> Gap:
    """Signed distance of two cores with their radii, the normal from a to b, and the point of b; in a's frame, all parts in place."""
    stay_apart()
    first, last, count = cores.table[sa, V0], cores.table[sa, V1], cores.table[sb, V1] - cores.table[sb, V0]
    grown = cores.radius[sa] + cores.radius[sb]
    distance, _, p, q = measure_cores(cores.vertices, first, last, space[IN_A], 0, count)
    if distance > 0.0:
        normal = scale(subtract(q, p), 1.0 / distance)
        return distance - grown, normal, add_scaled(q, normal, -cores.radius[sb])
    kind, gap, normal, _, _, _, _ = find_axis(cores, space, sa, sb, frame, math.inf, False)
    if kind == NOTHING:
        return -grown, (0.0, 0.0, 1.0), p
    i = find_farthest(space[IN_A], 0, count, scale(normal, -1.0))
    q = (space[IN_A, i, 0], space[IN_A, i, 1], space[IN_A, i, 2])
    return gap - grown, normal, add_scaled(q, normal, -cores.radius[sb])


@kernel
def _measure_surface(cores: Cores, trees: Trees, space: Floats, sa: int, sb: int, frame: Frame, best: float) -> Gap:
    """The same for the nearest triangle of a surface, if it is nearer than `best`."""
    first, last = cores.table[sa, V0], cores.table[sa, V1]
    low, high = bound_core(space[IN_B], last - first, 0.0)
    for i in range(first, last):
        for axis in range(3):
            space[IN_B, i - first, axis] = cores.vertices[i, axis]
    normal, point = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    stack = reserve_integers(256)
    store(stack, 0, cores.table[sb, ROOT])
    height = 1
    while height > 0:
        height -= 1
        node = load(stack, height)
        x = max(0.0, trees.boxes[node, 0] - high[0], low[0] - trees.boxes[node, 3])
        y = max(0.0, trees.boxes[node, 1] - high[1], low[1] - trees.boxes[node, 4])
        z = max(0.0, trees.boxes[node, 2] - high[2], low[2] - trees.boxes[node, 5])
        apart = norm((x, y, z))
        if apart > 0.0 and apart - cores.radius[sa] > best:  # a core that overlaps may be deeper than its radius
            continue
        child = trees.nodes[node, 0]
        if child != 0:
            store(stack, height, child + 1)
            store(stack, height + 1, child)
            height += 2
            continue
        for t in range(trees.nodes[node, 1], trees.nodes[node, 2]):
            front = load_triangle(trees.points, trees.triangles, t, frame, cores.vertices, cores.planes, space[IN_A])
            if dot(front, front) == 0.0:
                continue
            gap, direction, at = _measure(cores, space, sa, TRIANGLE, IDENTITY)
            if gap < best:
                best, normal, point = gap, direction, at
    return best, normal, point


@kernel
def find_closest(
    cores: Cores, trees: Trees, space: Floats, poses: Floats, shapes: Integers, boxes: Floats, i: int, numbers: Floats
) -> int:
    """The collider nearest to collider i, which has a core: its number, −1 without any; numbers (7,): distance, normal, point of the other.

    Shapes below 0 are left out. boxes: of all colliders, to leave out those that are farther away than the best so far."""
    best, found = math.inf, -1
    own, sa = frame_of(poses, i), shapes[i]
    for j in range(len(shapes)):
        sb = shapes[j]
        if sb < 0 or j == i:
            continue
        x = max(0.0, boxes[j, 0] - boxes[i, 3], boxes[i, 0] - boxes[j, 3])
        y = max(0.0, boxes[j, 1] - boxes[i, 4], boxes[i, 1] - boxes[j, 4])
        z = max(0.0, boxes[j, 2] - boxes[i, 5], boxes[i, 2] - boxes[j, 5])
        if norm((x, y, z)) > max(best, 0.0):  # of several that overlap, the deepest
            continue
        frame = relate(own, frame_of(poses, j))
        carry_points_back(frame, cores.vertices, cores.table[sa, V0], cores.table[sa, V1], space[IN_B])
        if cores.table[sb, KIND] == SURFACE:
            gap, normal, point = _measure_surface(cores, trees, space, sa, sb, frame, best)
        else:
            carry_points(frame, cores.vertices, cores.table[sb, V0], cores.table[sb, V1], space[IN_A])
            gap, normal, point = _measure(cores, space, sa, sb, frame)
        if gap < best:
            best, found = gap, j
            numbers[0] = gap
            numbers[1], numbers[2], numbers[3] = turn(own[0], normal)
            numbers[4], numbers[5], numbers[6] = carry(own, point)
    return found
