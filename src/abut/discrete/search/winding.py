"""Which points lie inside a closed surface: signed crossings of a ray, counted exactly, on edges and vertices too.

From each point a ray runs along +x of the world (`geometry.axis_ray`). A point on the surface itself counts as inside.
The winding number tells inside from outside where faces are consistently oriented; otherwise the parity of the crossings does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.lanes import lowest_bit
from abut.core.scratch import load, reserve_integers, store
from abut.discrete.search.placement import displacement, to_frame, world_corner
from abut.discrete.search.triangle_packets import meet_box_8
from abut.geometry.axis_ray import ON_SURFACE, cross_ray
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3
from abut.trees.packets.boxes import WIDTH, overlap_8
from abut.trees.packets.packet_tree import Handle, PacketTree, open_tree

LENGTH = 4.0  # of the ray, in units of the normalised frame, where the surface lies within √3 of the origin
SLACK = 2e-6  # rounding of float32 on coordinates up to LENGTH


@element
def _ray_box(p: Vec3, pose: Floats, frame: Floats) -> Any:
    """The ray in the tree's normalised frame, as a box of no width grown by SLACK."""
    q = to_frame(p, pose, frame)
    moved = frame[3] * displacement(frame, pose)
    half, thin = np.float32(0.5 * LENGTH + SLACK + moved), np.float32(SLACK + moved)
    ax, ay, az = pose[0, 0], pose[0, 1], pose[0, 2]  # +x of the world
    axes = (
        (np.float32(ax), np.float32(ay), np.float32(az)),
        (np.float32(pose[1, 0]), np.float32(pose[1, 1]), np.float32(pose[1, 2])),
        (np.float32(pose[2, 0]), np.float32(pose[2, 1]), np.float32(pose[2, 2])),
    )
    center = (
        np.float32(q[0] + 0.5 * LENGTH * ax),
        np.float32(q[1] + 0.5 * LENGTH * ay),
        np.float32(q[2] + 0.5 * LENGTH * az),
    )
    return center, axes, (half, thin, thin)


@element
def is_near(p: Vec3, pose: Floats, frame: Floats) -> bool:
    """Whether a point of the world lies in the cube that holds the surface, with a little to spare."""
    q = to_frame(p, pose, frame)
    far = 1.0 + 1e-9 + frame[3] * displacement(frame, pose)
    return abs(q[0]) <= far and abs(q[1]) <= far and abs(q[2]) <= far


@kernel
def winding(tree: PacketTree, pose: Floats, p: Vec3, parity: bool) -> int:
    """How often the surface winds around p; with `parity`, the number of crossings modulo 2; ON_SURFACE if p lies on it."""
    total, touches = count_crossings(tree, pose, p)
    if touches:
        return ON_SURFACE
    return total & 1 if parity else total


@kernel
def count_crossings(tree: PacketTree, pose: Floats, p: Vec3) -> tuple[int, bool]:
    """The signed crossings of the ray from p with the triangles that do not hold p, and whether any does."""
    touches = False
    if not is_near(p, pose, tree.frame):
        return 0, touches
    ray = _ray_box(p, pose, tree.frame)
    stack = reserve_integers(128)  # seven siblings at each of at most 11 levels
    store(stack, 0, tree.root)
    height, total = 1, 0
    while height > 0:
        height -= 1
        node = load(stack, height)
        child = int(load(tree.child, node))
        if child >= 0:
            mask = overlap_8(tree.packed, child, ray)
            while mask != 0:
                store(stack, height, child * WIDTH + lowest_bit(mask))
                mask &= mask - 1
                height += 1
            continue
        mask = meet_box_8(ray, tree.lanes, node)
        while mask != 0:
            slot = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if slot >= tree.slot_count:
                break
            crossing = cross_ray(
                p,
                world_corner(tree.corners, slot, 0, pose),
                world_corner(tree.corners, slot, 1, pose),
                world_corner(tree.corners, slot, 2, pose),
            )
            if crossing == ON_SURFACE:
                touches = True
            else:
                total += crossing
    return total, touches


@kernel
def count_around(handle: Handle, pose: Floats, points: Floats, out: Integers) -> None:
    """For each point the crossings of its ray with the triangles that do not hold it."""
    tree = open_tree(handle)
    for i in range(len(points)):
        out[i] = count_crossings(tree, pose, vector_at(points, i))[0]


@parallel
def find_inside(handle: Handle, pose: Floats, points: Floats, parity: bool, out: NDArray[np.bool_]) -> None:
    """Whether each point lies inside the surface or on it."""
    for i in prange(len(points)):
        out[i] = winding(open_tree(handle), pose, vector_at(points, i), parity) != 0
