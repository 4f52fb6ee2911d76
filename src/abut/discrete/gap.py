"""The smallest distance between two surfaces that do not meet, and from a point to a surface: branch and bound over packet trees.

Boxes bound the distance from below, eight at a time; the nearest children are visited first, so that the first leaves reached give a good bound from
above. At the leaves, triangles are filtered along a line: if along any unit vector d the far end of one and the near end of the other are at least as
far apart as the best pair so far, they cannot be nearer. The lines are that of the best pair so far and that of the two boxes' centers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers
from abut.bvh.packets import Handle, PacketTree, open_tree
from abut.discrete.narrow import load_corner, world_corner
from abut.discrete.traversal import BOX_TESTS, EXACT_TESTS, TRIANGLE_TESTS, place_corner, relate_frames, stay
from abut.geometry.triangles import closest_separate_triangles
from abut.geometry.vec import Vec3, subtract
from abut.jit import element, kernel
from abut.lanes import bits, lane, lowest_bit, maximum, minimum, splat_8
from abut.scratch import load, reserve_floats, reserve_integers, store
from abut.volumes.packed import WIDTH, bound_8, largest_half, read_box

# A bound in float32 is reduced by this part; its own rounding is below 1e-6, and the boxes were grown by the slack already.
SAFE = 1.0 - 1e-5
NOTHING = np.inf

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


@kernel
def _improve(
    a: PacketTree,
    b: PacketTree,
    leaf_a: int,
    leaf_b: int,
    pose_a: Floats,
    pose_b: Floats,
    slack: float,
    best: Best,
    line: Vec3,
    work: Integers,
) -> Best:
    """Look for a nearer pair among the triangles of two leaves; `line` leads from one box to the other, in the frame of a."""
    scale = a.frame[3]
    witness = _unit(*_into_frame(pose_a, subtract(best[4], best[3])))
    low, high = reach_along(a.lanes, leaf_a, _splat3(witness))
    low_2, high_2 = reach_along(a.lanes, leaf_a, _splat3(line))
    for k in range(min(WIDTH, len(b.corners) - leaf_b * WIDTH)):
        slot_b = leaf_b * WIDTH + k
        triangle = (
            place_corner(b.corners, slot_b, 0, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 1, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 2, pose_b, pose_a, a.frame),
        )
        reach = scale * np.sqrt(best[0]) + slack
        mask = _near_along(low, high, triangle, witness, reach) & _near_along(low_2, high_2, triangle, line, reach)
        work[TRIANGLE_TESTS] += WIDTH
        while mask != 0:
            slot_a = leaf_a * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if slot_a >= len(a.corners):
                break
            work[EXACT_TESTS] += 1
            _, _, point_a, point_b, distance_sq = closest_separate_triangles(
                world_corner(a.corners, slot_a, 0, pose_a),
                world_corner(a.corners, slot_a, 1, pose_a),
                world_corner(a.corners, slot_a, 2, pose_a),
                world_corner(b.corners, slot_b, 0, pose_b),
                world_corner(b.corners, slot_b, 1, pose_b),
                world_corner(b.corners, slot_b, 2, pose_b),
            )
            if distance_sq < best[0]:
                best = (distance_sq, slot_a, slot_b, point_a, point_b)
    return best


@element
def push_nearest_last(
    stack: Any, bounds: Any, height: int, first: int, step: int, near: Any, unit_sq: float, best_sq: float
) -> int:
    """Push the children that may hold something nearer, the nearest on top; the new height."""
    start = height
    for k in range(WIDTH):
        bound = float(lane(near, k)) * SAFE / unit_sq
        if bound < best_sq:
            at = height
            while at > start and load(bounds, at - 1) < bound:
                store(bounds, at, load(bounds, at - 1))
                store(stack, at, load(stack, at - 1))
                at -= 1
            store(bounds, at, bound)
            store(stack, at, first + step * k)
            height += 1
    return height


@kernel
def find_gap(
    a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, seed_a: int, seed_b: int, work: Integers
) -> Best:
    """The nearest points of two surfaces that do not meet. The search starts from the distance of two given slots."""
    to_b, slack_b = relate_frames(a.frame, pose_a, b.frame, pose_b)
    to_a, slack_a = relate_frames(b.frame, pose_b, a.frame, pose_a)
    unit_a, unit_b = a.frame[3] * a.frame[3], b.frame[3] * b.frame[3]
    best = (NOTHING, seed_a, seed_b, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    _, _, point_a, point_b, distance_sq = closest_separate_triangles(
        world_corner(a.corners, seed_a, 0, pose_a),
        world_corner(a.corners, seed_a, 1, pose_a),
        world_corner(a.corners, seed_a, 2, pose_a),
        world_corner(b.corners, seed_b, 0, pose_b),
        world_corner(b.corners, seed_b, 1, pose_b),
        world_corner(b.corners, seed_b, 2, pose_b),
    )
    best = (distance_sq, seed_a, seed_b, point_a, point_b)
    stack, bounds = reserve_integers(156), reserve_floats(156)  # as in `traversal`
    store(stack, 0, (a.root << 32) | b.root)
    store(bounds, 0, 0.0)
    height = 1
    while height > 0:
        height -= 1
        if load(bounds, height) >= best[0]:
            continue
        entry = load(stack, height)
        node_a, node_b = entry >> 32, entry & 0xFFFFFFFF
        child_a, child_b = int(a.child[node_a]), int(b.child[node_b])
        if child_a < 0 and child_b < 0:
            here, there = (
                read_box(a.packed, node_a, stay(), np.float32(0.0)),
                read_box(b.packed, node_b, to_a, np.float32(0.0)),
            )
            line = _unit(there[0][0] - here[0][0], there[0][1] - here[0][1], there[0][2] - here[0][2])
            best = _improve(a, b, node_a, node_b, pose_a, pose_b, float(slack_a), best, line, work)
            continue
        work[BOX_TESTS] += WIDTH
        if child_b < 0 or (
            child_a >= 0 and largest_half(a.packed, node_a) * to_b.scale >= largest_half(b.packed, node_b)
        ):
            near = bound_8(a.packed, child_a, read_box(b.packed, node_b, to_a, slack_a))
            first, step, unit = ((child_a * WIDTH) << 32) | node_b, 1 << 32, unit_a
        else:
            near = bound_8(b.packed, child_b, read_box(a.packed, node_a, to_b, slack_b))
            first, step, unit = (node_a << 32) | (child_b * WIDTH), 1, unit_b
        height = push_nearest_last(stack, bounds, height, first, step, near, unit, best[0])
    return best


@kernel
def measure_gap(
    handle_a: Handle, pose_a: Floats, handle_b: Handle, pose_b: Floats, seed_a: int, seed_b: int, work: Integers
) -> Best:
    """The same for two bodies."""
    return find_gap(open_tree(handle_a), pose_a, open_tree(handle_b), pose_b, seed_a, seed_b, work)
