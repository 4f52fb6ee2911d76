"""How far a core and the triangles of a surface are apart: signed distance, and the point that shows it."""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.core.scratch import load, reserve_integers, store
from abut.geometry.frames import Frame, carry, carry_points_back, frame_of, relate, turn
from abut.geometry.rows import put_vector
from abut.geometry.vec import Vec3, dot, norm, scale, subtract
from abut.shapes.columns import CHILD, FACETED, FIRST, GAP, GAP_NORMAL, GAP_POINT, HALF_SPACE, LAST
from abut.shapes.core_triangle import nearest_to_triangle
from abut.shapes.manifold import IDENTITY
from abut.shapes.narrow_phase import bound_core, keep_own, load_triangle
from abut.shapes.pool import FORM, IN_A, IN_B, ROOT, TRIANGLE, V0, V1, Cores, Trees
from abut.shapes.round.features import find_axis_of
from abut.shapes.round.half_space import find_lowest

Gap = tuple[float, Vec3, Vec3]


@kernel
def measure_triangle(cores: Cores, space: Floats, sa: int) -> Gap:
    """Signed distance of core sa, not grown, from the triangle that is loaded; the normal towards it, and its nearest point; in a's frame."""
    stay_apart()
    gap, normal, _, q = find_axis_of(cores, space, sa, TRIANGLE, IDENTITY, math.inf, False)
    if gap <= 0.0 or cores.table[sa, FORM] != FACETED:
        return gap, normal, q
    d, p, q = nearest_to_triangle(cores, sa, space[IN_A])
    distance = math.sqrt(d)
    if distance == 0.0:  # they touch; what is left of the gap is rounding
        return 0.0, normal, q
    return distance, scale(subtract(q, p), 1.0 / distance), q


@kernel
def _measure_surface(cores: Cores, trees: Trees, space: Floats, sa: int, sb: int, frame: Frame, best: float) -> Gap:
    """The same for the nearest triangle of a surface, if it is nearer than `best`."""
    low, high = bound_core(space[IN_B], cores.table[sa, V1] - cores.table[sa, V0], 0.0)
    keep_own(cores, space, sa)
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
        if apart > 0.0 and apart > best:
            continue
        child = trees.nodes[node, CHILD]
        if child != 0:
            store(stack, height, child + 1)
            store(stack, height + 1, child)
            height += 2
            continue
        for t in range(trees.nodes[node, FIRST], trees.nodes[node, LAST]):
            front = load_triangle(trees.points, trees.triangles, t, frame, cores.vertices, cores.planes, space[IN_A])
            if dot(front, front) == 0.0:
                continue
            gap, direction, at = measure_triangle(cores, space, sa)
            if gap < best:
                best, normal, point = gap, direction, at
    return best, normal, point


@kernel
def find_closest(
    cores: Cores,
    trees: Trees,
    space: Floats,
    poses: Floats,
    shapes: Integers,
    pairs: Integers,
    numbers: Floats,
    found: Integers,
) -> None:
    """Of pairs (m,2) of a core and a surface, those that are nearer than what the core's row of `numbers` holds, which then are written there.

    numbers (k,7): see `columns`; distances are less the radius. found (k,): the number of the pair, left alone where none is nearer."""
    for row in range(len(pairs)):
        i, j = pairs[row, 0], pairs[row, 1]
        own, sa = frame_of(poses, i), int(shapes[i])
        frame, best = relate(own, frame_of(poses, j)), float(numbers[i, GAP] + cores.radius[sa])
        if cores.table[sa, FORM] == HALF_SPACE:
            gap, normal, point = find_lowest(cores, trees, sa, int(shapes[j]), frame)
        else:
            carry_points_back(frame, cores.vertices, cores.table[sa, V0], cores.table[sa, V1], space[IN_B])
            gap, normal, point = _measure_surface(cores, trees, space, sa, int(shapes[j]), frame, best)
        if gap < best:
            found[i], numbers[i, GAP] = row, gap - cores.radius[sa]
            put_vector(numbers, i, GAP_NORMAL, turn(own[0], normal))
            put_vector(numbers, i, GAP_POINT, carry(own, point))
