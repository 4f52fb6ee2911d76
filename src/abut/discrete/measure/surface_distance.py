"""The smallest distance between two surfaces that do not meet, and from a point to a surface: branch and bound over packet trees.

Boxes bound the distance from below, eight at a time; the nearest children are visited first, so that the first leaves reached give a good bound from
above. At the leaves, triangles are filtered along a line: if along any unit vector d the far end of one and the near end of the other are at least as
far apart as the best pair so far, they cannot be nearer. The lines are that of the best pair so far, that of the two boxes' centers, the normals
of the two triangles, and the line between their centers.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.core.lanes import bits, lane, lowest_bit, splat_8
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.measure.leaf_filters import lanes_near, near_8, near_along, reach_along
from abut.discrete.search.pairs import BOX_TESTS, EXACT_TESTS, TRIANGLE_TESTS
from abut.discrete.search.placement import place_corner, relate_frames, stay, world_triangle
from abut.geometry.frames import turn_back_by
from abut.geometry.triangles import closest_separate_triangles
from abut.geometry.vec import ZERO, Vec3, subtract, unit_or
from abut.trees.packets.boxes import WIDTH, Change, bound_8, largest_half, read_box, splat_3
from abut.trees.packets.packet_tree import Handle, PacketTree, open_tree

# A bound in float32 is reduced by this part; its own rounding is below 1e-6, and the boxes were grown by the slack already.
SAFE = 1.0 - 1e-5
HEAP = 1024
START_LEAVES = 24  # leaves whose facing triangles are measured to find a good start
KEPT = 1424  # where they are kept meanwhile, beyond all that the stack holds then

Best = tuple[float, int, int, Vec3, Vec3]
"""Squared distance, slots in a and b, the two points; all in the world."""


@kernel
def _measure_pair(
    a: PacketTree, slot_a: int, pose_a: Floats, b: PacketTree, slot_b: int, pose_b: Floats, best: Best
) -> Best:
    """The better of the best so far and a pair of triangles."""
    s, t = world_triangle(a.corners, slot_a, pose_a), world_triangle(b.corners, slot_b, pose_b)
    _, _, point_a, point_b, distance_sq = closest_separate_triangles(s[0], s[1], s[2], t[0], t[1], t[2])
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
    witness = unit_or(turn_back_by(pose_a, subtract(best[4], best[3])), ZERO)
    reach = scale * np.sqrt(best[0]) + slack
    low, high = reach_along(a.lanes, leaf_a, splat_3(witness))
    of_b = lanes_near(low, high, b, leaf_b, to_a, witness, reach)
    if of_b == 0:
        return best
    low_2, high_2 = reach_along(a.lanes, leaf_a, splat_3(line))
    of_b &= lanes_near(low_2, high_2, b, leaf_b, to_a, line, reach)
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
        mask = near_along(low, high, triangle, witness, reach) & near_along(low_2, high_2, triangle, line, reach)
        work[TRIANGLE_TESTS] += WIDTH
        if mask != 0:
            mask &= near_8(a.lanes, leaf_a, triangle, reach * (1.0 + 1e-5))
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
    _, high = reach_along(a.lanes, leaf_a, splat_3(line))
    low, _ = reach_along(b.lanes, leaf_b, splat_3(turned))
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
    p, q = here[0], there[0]
    return unit_or((float(q[0] - p[0]), float(q[1] - p[1]), float(q[2] - p[2])), ZERO)


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
