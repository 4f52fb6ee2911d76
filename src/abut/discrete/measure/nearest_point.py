"""The point of a surface nearest to a point: branch and bound over a packet tree, the nearest boxes first."""

from typing import Any

import numpy as np

from abut.core.arrays import Floats
from abut.core.jit import element, kernel
from abut.core.lanes import bits, lowest_bit, splat_8
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.measure.leaf_filters import reach_along
from abut.discrete.measure.surface_distance import push_nearest_last
from abut.discrete.search.placement import normalise, own_triangle, stay
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3
from abut.trees.packets.boxes import WIDTH, bound_8
from abut.trees.packets.packet_tree import PacketTree

Nearest = tuple[float, int, Vec3]
"""Squared distance, slot, point."""


@element
def _point_box(p: Vec3, frame: Floats) -> Any:
    """A point in the normalised frame of a tree, as a box of no size."""
    x, y, z = normalise(p, frame)
    center = (np.float32(x), np.float32(y), np.float32(z))
    slack = np.float32(1e-6) * (np.float32(2.0) + abs(center[0]) + abs(center[1]) + abs(center[2]))
    return center, stay().rotation, (slack, slack, slack)


@element
def closest_in_slot(corners: Floats, slot: int, p: Vec3) -> tuple[float, Vec3]:
    """The point of the triangle in a slot nearest to p, and its squared distance before it."""
    u, v, w = own_triangle(corners, slot)
    _, point, offset_sq = closest_point_triangle(p, u, v, w)
    return offset_sq, point


@kernel
def find_nearest(tree: PacketTree, p: Vec3, seed: int, enough: float) -> Nearest:
    """The point of a surface nearest to p, or any point of it no farther than `enough`. The search starts at the triangle in slot `seed`."""
    enough_sq = enough * enough if enough > 0.0 else -1.0
    best, point = closest_in_slot(tree.corners, seed, p)
    slot = seed
    if best <= enough_sq:
        return best, slot, point
    box = _point_box(p, tree.frame)
    unit = tree.frame[3] * tree.frame[3]
    stack, bounds = reserve_integers(128), reserve_floats(128)  # seven siblings at each of at most 11 levels
    store(stack, 0, tree.root)
    store(bounds, 0, 0.0)
    height = 1
    while height > 0:
        height -= 1
        if load(bounds, height) >= best:
            continue
        node = load(stack, height)
        child = int(load(tree.child, node))
        if child >= 0:
            near = bound_8(tree.packed, child, box)
            height = push_nearest_last(stack, bounds, height, child * WIDTH, 1, near, unit, best)
            continue
        mask = _near_lanes(tree, node, box[0], normalise(point, tree.frame))
        while mask != 0:
            i = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if i >= tree.slot_count:
                break
            offset_sq, candidate = closest_in_slot(tree.corners, i, p)
            if offset_sq < best:
                best, slot, point = offset_sq, i, candidate
                if best <= enough_sq:
                    return best, slot, point
    return best, slot, point


@element
def _near_lanes(tree: PacketTree, leaf: int, p: Any, q: Vec3) -> int:
    """Mask of the triangles of a leaf that reach beyond q in the direction from p to q: the others are no nearer to p than q is."""
    x, y, z = np.float32(q[0]) - p[0], np.float32(q[1]) - p[1], np.float32(q[2]) - p[2]
    slack = np.float32(2e-6) * (abs(x) + abs(y) + abs(z)) * (np.float32(2.0) + max(abs(p[0]), abs(p[1]), abs(p[2])))
    reach = x * p[0] + y * p[1] + z * p[2] + (x * x + y * y + z * z) + slack
    low, _ = reach_along(tree.lanes, leaf, (splat_8(x), splat_8(y), splat_8(z)))
    return bits(low <= splat_8(reach))
