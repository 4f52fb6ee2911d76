"""The smallest distance between two surfaces that do not meet, and from a point to a surface: branch and bound over packet trees.

Boxes bound the distance from below, eight at a time; the nearest children are visited first, so that the first leaves reached give a good bound from
above. At the leaves, triangles are filtered along a line: if along any unit vector d the far end of one and the near end of the other are at least as
far apart as the best pair so far, they cannot be nearer. The lines are that of the best pair so far, that of the two boxes' centers, the normals
of the two triangles, and the line between their centers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.core.lanes import bits, lane, lowest_bit, maximum, minimum, splat_8
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.traversal import BOX_TESTS, EXACT_TESTS, TRIANGLE_TESTS, place_corner, relate_frames, stay
from abut.discrete.triangle_packets import load_corner, world_corner
from abut.geometry.triangles import closest_separate_triangles
from abut.geometry.vec import Vec3, subtract
from abut.trees.packets.boxes import WIDTH, Change, bound_8, largest_half, read_box
from abut.trees.packets.packet_tree import Handle, PacketTree, open_tree

# A bound in float32 is reduced by this part; its own rounding is below 1e-6, and the boxes were grown by the slack already.
SAFE = 1.0 - 1e-5
HEAP = 1024
START_LEAVES = 24  # leaves whose facing triangles are measured to find a good start
KEPT = 1424  # where they are kept meanwhile, beyond all that the stack holds then

Best = tuple[float, int, int, Vec3, Vec3]
"""Squared distance, slots in a and b, the two points; all in the world."""


@element
def reach_along(lanes: NDArray[np.float32], leaf: int, d: Any) -> Any:
    """Smallest and largest d·x of the corners of each of eight triangles."""
    a, b, c = load_corner(lanes, leaf, 0), load_corner(lanes, leaf, 1), load_corner(lanes, leaf, 2)
    x = d[0] * a[0] + d[1] * a[1] + d[2] * a[2]
    y = d[0] * b[0] + d[1] * b[1] + d[2] * b[2]
    z = d[0] * c[0] + d[1] * c[1] + d[2] * c[2]
    return minimum(minimum(x, y), z), maximum(maximum(x, y), z)


@element
def _unit(x: float, y: float, z: float) -> Vec3:
    """Shortened to length 1, or 0 for the zero vector, along which nothing is far apart."""
    size = max(abs(x), abs(y), abs(z))
    if size == 0.0:
        return (0.0, 0.0, 0.0)
    x, y, z = x / size, y / size, z / size
    length = np.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


@element
def _into_frame(pose: Floats, d: Vec3) -> Vec3:
    """A direction of the world in the frame of a body."""
    return (
        pose[0, 0] * d[0] + pose[1, 0] * d[1] + pose[2, 0] * d[2],
        pose[0, 1] * d[0] + pose[1, 1] * d[1] + pose[2, 1] * d[2],
        pose[0, 2] * d[0] + pose[1, 2] * d[1] + pose[2, 2] * d[2],
    )


@element
def _splat3(d: Vec3) -> Any:
    return (splat_8(np.float32(d[0])), splat_8(np.float32(d[1])), splat_8(np.float32(d[2])))


@element
def _near_along(low: Any, high: Any, triangle: Any, d: Vec3, reach: float) -> int:
    """Mask of the lanes whose interval along d comes nearer to that of a triangle than `reach`."""
    x = d[0] * triangle[0][0] + d[1] * triangle[0][1] + d[2] * triangle[0][2]
    y = d[0] * triangle[1][0] + d[1] * triangle[1][1] + d[2] * triangle[1][2]
    z = d[0] * triangle[2][0] + d[1] * triangle[2][1] + d[2] * triangle[2][2]
    first, last = splat_8(np.float32(min(x, y, z) - reach)), splat_8(np.float32(max(x, y, z) + reach))
    return bits((low > last) | (high < first)) ^ 255


@element
def _dot8(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@element
def _subtract8(a: Any, b: Any) -> Any:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@element
def _cross8(a: Any, b: Any) -> Any:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@element
def _is_far(d: Any, v0: Any, v1: Any, v2: Any, w0: Any, w1: Any, w2: Any, reach: Any) -> Any:
    """Mask of the lanes where, along a vector d of any length, triangles v and w are farther apart than `reach`."""
    a, b, c = _dot8(d, v0), _dot8(d, v1), _dot8(d, v2)
    e, f, g = _dot8(d, w0), _dot8(d, w1), _dot8(d, w2)
    low, high = minimum(minimum(a, b), c), maximum(maximum(a, b), c)
    first, last = minimum(minimum(e, f), g), maximum(maximum(e, f), g)
    gap = maximum(first - high, low - last)
    return (gap > splat_8(np.float32(0.0))) & (gap * gap > reach * reach * _dot8(d, d))


@element
def _near_8(lanes: Any, leaf: int, triangle: Any, reach: float) -> int:
    """Mask of the triangles of a leaf that may come nearer to a triangle than `reach`: along both normals, and between the centers."""
    base = _splat3(triangle[0])
    zero = _subtract8(base, base)
    w1, w2 = _subtract8(_splat3(triangle[1]), base), _subtract8(_splat3(triangle[2]), base)
    v0 = _subtract8(load_corner(lanes, leaf, 0), base)
    v1 = _subtract8(load_corner(lanes, leaf, 1), base)
    v2 = _subtract8(load_corner(lanes, leaf, 2), base)
    far = splat_8(np.float32(reach))
    apart = _is_far(_cross8(w1, w2), v0, v1, v2, zero, w1, w2, far)
    apart = apart | _is_far(_cross8(_subtract8(v1, v0), _subtract8(v2, v0)), v0, v1, v2, zero, w1, w2, far)
    x = v0[0] + v1[0] + v2[0] - w1[0] - w2[0]
    y = v0[1] + v1[1] + v2[1] - w1[1] - w2[1]
    z = v0[2] + v1[2] + v2[2] - w1[2] - w2[2]
    return bits(apart | _is_far((x, y, z), v0, v1, v2, zero, w1, w2, far)) ^ 255


@element
def _lanes_near(low_a: Any, high_a: Any, b: PacketTree, leaf_b: int, to_a: Change, d: Vec3, reach: float) -> int:
    """Mask of the triangles of a leaf of b whose interval along d, a direction in the frame of a, comes near those of a leaf of a."""
    first, last = lane(low_a, 0), lane(high_a, 0)
    for k in range(1, WIDTH):
        first, last = min(first, lane(low_a, k)), max(last, lane(high_a, k))
    r, t = to_a.rotation, to_a.translation
    turned = (
        r[0][0] * d[0] + r[1][0] * d[1] + r[2][0] * d[2],
        r[0][1] * d[0] + r[1][1] * d[1] + r[2][1] * d[2],
        r[0][2] * d[0] + r[1][2] * d[1] + r[2][2] * d[2],
    )
    offset = t[0] * d[0] + t[1] * d[1] + t[2] * d[2]
    scale = float(to_a.scale)
    low, high = reach_along(b.lanes, leaf_b, _splat3(turned))
    near, far = (float(first) - reach - offset) / scale, (float(last) + reach - offset) / scale
    return bits((low > splat_8(np.float32(far))) | (high < splat_8(np.float32(near)))) ^ 255


@kernel
def _measure_pair(
    a: PacketTree, slot_a: int, pose_a: Floats, b: PacketTree, slot_b: int, pose_b: Floats, best: Best
) -> Best:
    """The better of the best so far and a pair of triangles."""
    _, _, point_a, point_b, distance_sq = closest_separate_triangles(
        world_corner(a.corners, slot_a, 0, pose_a),
        world_corner(a.corners, slot_a, 1, pose_a),
        world_corner(a.corners, slot_a, 2, pose_a),
        world_corner(b.corners, slot_b, 0, pose_b),
        world_corner(b.corners, slot_b, 1, pose_b),
        world_corner(b.corners, slot_b, 2, pose_b),
    )
    return (distance_sq, slot_a, slot_b, point_a, point_b) if distance_sq < best[0] else best


@kernel
def _improve(
    a: PacketTree,
    b: PacketTree,
    leaf_a: int,
    leaf_b: int,
    pose_a: Floats,
    pose_b: Floats,
    to_a: Change,
    slack: float,
    best: Best,
    line: Vec3,
    work: Integers,
) -> Best:
    """Look for a nearer pair among the triangles of two leaves; `line` leads from one box to the other, in the frame of a."""
    scale = a.frame[3]
    witness = _unit(*_into_frame(pose_a, subtract(best[4], best[3])))
    reach = scale * np.sqrt(best[0]) + slack
    low, high = reach_along(a.lanes, leaf_a, _splat3(witness))
    of_b = _lanes_near(low, high, b, leaf_b, to_a, witness, reach)
    if of_b == 0:
        return best
    low_2, high_2 = reach_along(a.lanes, leaf_a, _splat3(line))
    of_b &= _lanes_near(low_2, high_2, b, leaf_b, to_a, line, reach)
    while of_b != 0:
        slot_b = leaf_b * WIDTH + lowest_bit(of_b)
        of_b &= of_b - 1
        if slot_b >= b.slot_count:
            break
        triangle = (
            place_corner(b.corners, slot_b, 0, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 1, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 2, pose_b, pose_a, a.frame),
        )
        reach = scale * np.sqrt(best[0]) + slack
        mask = _near_along(low, high, triangle, witness, reach) & _near_along(low_2, high_2, triangle, line, reach)
        work[TRIANGLE_TESTS] += WIDTH
        if mask != 0:
            mask &= _near_8(a.lanes, leaf_a, triangle, reach * (1.0 + 1e-5))
        while mask != 0:
            slot_a = leaf_a * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if slot_a >= a.slot_count:
                break
            work[EXACT_TESTS] += 1
            best = _measure_pair(a, slot_a, pose_a, b, slot_b, pose_b, best)
    return best


@element
def nearer_than(near: Any, best_sq: float, factor: float) -> int:
    """Mask of the lanes whose bound, times a factor, may be below the best: the best is rounded upwards to float32."""
    return bits(near < splat_8(np.float32(best_sq / factor * (1.0 + 1e-6))))


@element
def push_nearest_last(
    stack: Any, bounds: Any, height: int, first: int, step: int, near: Any, unit_sq: float, best_sq: float
) -> int:
    """Push the children that may hold something nearer, the nearest on top; the new height."""
    start, factor = height, SAFE / unit_sq
    mask = nearer_than(near, best_sq, factor)
    while mask != 0:
        k = lowest_bit(mask)
        mask &= mask - 1
        bound, at = float(lane(near, k)) * factor, height
        while at > start and load(bounds, at - 1) < bound:
            store(bounds, at, load(bounds, at - 1))
            store(stack, at, load(stack, at - 1))
            at -= 1
        store(bounds, at, bound)
        store(stack, at, first + step * k)
        height += 1
    return height


@element
def _facing(a: PacketTree, leaf_a: int, b: PacketTree, leaf_b: int, to_a: Change, line: Vec3) -> tuple[int, int]:
    """The slots of the two triangles that reach farthest towards each other along a line from leaf a to leaf b."""
    r = to_a.rotation
    turned = (
        r[0][0] * line[0] + r[1][0] * line[1] + r[2][0] * line[2],
        r[0][1] * line[0] + r[1][1] * line[1] + r[2][1] * line[2],
        r[0][2] * line[0] + r[1][2] * line[1] + r[2][2] * line[2],
    )
    _, high = reach_along(a.lanes, leaf_a, _splat3(line))
    low, _ = reach_along(b.lanes, leaf_b, _splat3(turned))
    at_a, at_b = 0, 0
    for k in range(1, WIDTH):
        if lane(high, k) > lane(high, at_a):
            at_a = k
        if lane(low, k) < lane(low, at_b):
            at_b = k
    return min(leaf_a * WIDTH + at_a, a.slot_count - 1), min(leaf_b * WIDTH + at_b, b.slot_count - 1)


@element
def _push_heap(stack: Any, bounds: Any, size: int, entry: int, bound: float) -> int:
    """Add an entry to a heap with the smallest bound on top; a full heap forgets it. The new size."""
    if size == HEAP:
        return size
    at = size
    while at > 0 and load(bounds, (at - 1) >> 1) > bound:
        store(bounds, at, load(bounds, (at - 1) >> 1))
        store(stack, at, load(stack, (at - 1) >> 1))
        at = (at - 1) >> 1
    store(bounds, at, bound)
    store(stack, at, entry)
    return size + 1


@element
def _drop_top(stack: Any, bounds: Any, size: int) -> None:
    """Close the gap that the top of a heap has left: the last of `size` + 1 entries sinks to its place."""
    bound, entry = load(bounds, size), load(stack, size)
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and load(bounds, below + 1) < load(bounds, below):
            below += 1
        if load(bounds, below) >= bound:
            break
        store(bounds, at, load(bounds, below))
        store(stack, at, load(stack, below))
        at = below
    store(bounds, at, bound)
    store(stack, at, entry)


@element
def _bound_children(
    a: PacketTree, b: PacketTree, node_a: int, node_b: int, to_a: Change, slack_a: Any, to_b: Change, slack_b: Any
) -> Any:
    """Open the larger of two nodes: squared bounds of its children in the world, the first entry, and the step from one to the next."""
    child_a, child_b = int(load(a.child, node_a)), int(load(b.child, node_b))
    if child_b < 0 or (child_a >= 0 and largest_half(a.packed, node_a) * to_b.scale >= largest_half(b.packed, node_b)):
        near = bound_8(a.packed, child_a, read_box(b.packed, node_b, to_a, slack_a))
        return near, ((child_a * WIDTH) << 32) | node_b, 1 << 32, a.frame[3] * a.frame[3]
    near = bound_8(b.packed, child_b, read_box(a.packed, node_a, to_b, slack_b))
    return near, (node_a << 32) | (child_b * WIDTH), 1, b.frame[3] * b.frame[3]


@element
def _line_between(a: PacketTree, b: PacketTree, node_a: int, node_b: int, to_a: Change) -> Vec3:
    """Unit vector between the centers of two boxes, in the frame of a."""
    here, there = read_box(a.packed, node_a, stay(), np.float32(0.0)), read_box(b.packed, node_b, to_a, np.float32(0.0))
    return _unit(there[0][0] - here[0][0], there[0][1] - here[0][1], there[0][2] - here[0][2])


@element
def _empty_heap(stack: Any, bounds: Any, size: int) -> None:
    """Turn a heap into a stack with the smallest bound on top."""
    while size > 1:
        size -= 1
        entry, bound = load(stack, 0), load(bounds, 0)
        _drop_top(stack, bounds, size)
        store(stack, size, entry)
        store(bounds, size, bound)


@kernel
def _dive(a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, frames: Any, work: Integers) -> Best:
    """The facing triangles of the leaves reached by always opening the nearest box: without any bound a heap would only fill."""
    to_a, slack_a, to_b, slack_b = frames
    node_a, node_b = a.root, b.root
    while load(a.child, node_a) >= 0 or load(b.child, node_b) >= 0:
        near, first, step, _ = _bound_children(a, b, node_a, node_b, to_a, slack_a, to_b, slack_b)
        work[BOX_TESTS] += WIDTH
        nearest = 0
        for k in range(1, WIDTH):
            if lane(near, k) < lane(near, nearest):
                nearest = k
        entry = first + step * nearest
        node_a, node_b = entry >> 32, entry & 0xFFFFFFFF
    slot_a, slot_b = _facing(a, node_a, b, node_b, to_a, _line_between(a, b, node_a, node_b, to_a))
    zero, none = (0.0, 0.0, 0.0), integer(0)
    return _measure_pair(a, slot_a, pose_a, b, slot_b, pose_b, (np.inf, none, none, zero, zero))


@kernel
def _find_start(
    a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, frames: Any, stack: Any, bounds: Any, work: Integers
) -> tuple[Best, int]:
    """A pair that is nearly the nearest: the facing triangles of the START_LEAVES most promising pairs of leaves, best first.

    What is left to search lies on the stack then, the nearest on top; the second number is its height.
    """
    to_a, slack_a, to_b, slack_b = frames
    best = _dive(a, pose_a, b, pose_b, frames, work)
    size, leaves, is_whole = _push_heap(stack, bounds, 0, (a.root << 32) | b.root, 0.0), 0, True
    while size > 0 and leaves < START_LEAVES and load(bounds, 0) < best[0]:
        entry, lowest = load(stack, 0), load(bounds, 0)
        size -= 1
        _drop_top(stack, bounds, size)
        node_a, node_b = entry >> 32, entry & 0xFFFFFFFF
        if load(a.child, node_a) < 0 and load(b.child, node_b) < 0:
            slot_a, slot_b = _facing(a, node_a, b, node_b, to_a, _line_between(a, b, node_a, node_b, to_a))
            best = _measure_pair(a, slot_a, pose_a, b, slot_b, pose_b, best)
            work[EXACT_TESTS] += 1
            store(stack, KEPT + leaves, entry)  # only two of its triangles are measured
            store(bounds, KEPT + leaves, lowest)
            leaves += 1
            continue
        near, first, step, unit = _bound_children(a, b, node_a, node_b, to_a, slack_a, to_b, slack_b)
        work[BOX_TESTS] += WIDTH
        mask, factor = nearer_than(near, best[0], SAFE / unit), SAFE / unit
        while mask != 0:
            k = lowest_bit(mask)
            mask &= mask - 1
            is_whole &= size < HEAP
            size = _push_heap(stack, bounds, size, first + step * k, float(lane(near, k)) * factor)
    if not is_whole:  # something was forgotten: all over again, with a good bound
        store(stack, 0, (a.root << 32) | b.root)
        store(bounds, 0, 0.0)
        return best, 1
    _empty_heap(stack, bounds, size)
    for k in range(leaves - 1, -1, -1):
        store(stack, size, load(stack, KEPT + k))
        store(bounds, size, load(bounds, KEPT + k))
        size += 1
    return best, size


@kernel
def find_gap(a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, work: Integers) -> Best:
    """The nearest points of two surfaces that do not meet: depth first, from a good start, until nothing can be nearer."""
    to_b, slack_b = relate_frames(a.frame, pose_a, b.frame, pose_b)
    to_a, slack_a = relate_frames(b.frame, pose_b, a.frame, pose_a)
    stack, bounds = (
        reserve_integers(1456),
        reserve_floats(1456),
    )  # KEPT and START_LEAVES; HEAP, START_LEAVES and 156 as in `traversal` are no more
    best, height = _find_start(a, pose_a, b, pose_b, (to_a, slack_a, to_b, slack_b), stack, bounds, work)
    while height > 0:
        height -= 1
        if load(bounds, height) >= best[0]:
            continue
        entry = load(stack, height)
        node_a, node_b = entry >> 32, entry & 0xFFFFFFFF
        if load(a.child, node_a) < 0 and load(b.child, node_b) < 0:
            line = _line_between(a, b, node_a, node_b, to_a)
            best = _improve(a, b, node_a, node_b, pose_a, pose_b, to_a, float(slack_a), best, line, work)
            continue
        work[BOX_TESTS] += WIDTH
        near, first, step, unit = _bound_children(a, b, node_a, node_b, to_a, slack_a, to_b, slack_b)
        height = push_nearest_last(stack, bounds, height, first, step, near, unit, best[0])
    return best


@kernel
def measure_gap(handle_a: Handle, pose_a: Floats, handle_b: Handle, pose_b: Floats, work: Integers) -> Best:
    """The same for two bodies."""
    return find_gap(open_tree(handle_a), pose_a, open_tree(handle_b), pose_b, work)
