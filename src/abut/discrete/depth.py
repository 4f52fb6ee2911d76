"""How deep one closed surface lies in another: the largest distance from a point of one, inside the other, to the other's surface.

This is the pointwise penetration depth. For two bodies that overlap a little it is the width of the overlap, whatever the size of the
triangles; for a body inside another it tells how deep its deepest point lies. It is found by branch and bound over the boxes and triangles of one
surface: with q any point of the other surface, no point of a box is deeper than the box's farthest corner from q. Each box takes q nearest to its
center, so that the bound is off only to second order. Triangles are split where they are large beside the depth. The search ends when nothing deeper
by more than the part TOLERANCE can be left.

Which side of the surface a point lies on is asked of `inside` only where it must be: no surface lies nearer to a point than its distance d, so
all points nearer than d to it lie on its side.
"""

from typing import Any

import numpy as np

from abut.arrays import Floats
from abut.bvh.packets import Handle, PacketTree, open_tree
from abut.discrete.gap import push_nearest_last, reach_along
from abut.discrete.inside import winding
from abut.discrete.narrow import transform, world_corner
from abut.discrete.traversal import stay
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, distance_sq, lerp
from abut.jit import element, integer, kernel
from abut.lanes import bits, lowest_bit, splat_8
from abut.scratch import load, reserve_floats, reserve_integers, store
from abut.volumes.packed import WIDTH, bound_8, largest_half, read_box

TOLERANCE = 5e-3
IDENTITY = np.eye(4)
SPLITS = 10  # a triangle is halved at most so often along each side

Nearest = tuple[float, int, Vec3]
"""Squared distance, slot, point."""
Depth = tuple[float, int, int, Vec3, Vec3]
"""Depth, slots in a and b, deepest point of a, nearest point of b."""
Known = tuple[Vec3, float]
"""A point and its distance to the surface, negative outside: all nearer points lie on the same side."""
Entry = tuple[float, Known, Vec3, int]
"""An upper bound, what is known of a point, a point of b near it, and that one's slot."""
ENTRY_FLOATS = 8


@element
def _point_box(p: Vec3, frame: Floats) -> Any:
    """A point in the normalised frame of a tree, as a box of no size."""
    x, y, z = normalise(p, frame)
    center = (np.float32(x), np.float32(y), np.float32(z))
    slack = np.float32(1e-6) * (np.float32(2.0) + abs(center[0]) + abs(center[1]) + abs(center[2]))
    return center, stay().rotation, (slack, slack, slack)


@element
def normalise(p: Vec3, frame: Floats) -> Vec3:
    """A point in the normalised frame of a tree."""
    return (frame[3] * (p[0] - frame[0]), frame[3] * (p[1] - frame[1]), frame[3] * (p[2] - frame[2]))


@element
def to_frame(p: Vec3, pose: Floats, frame: Floats) -> Vec3:
    """A point seen from outside, in the normalised frame of a tree at a pose."""
    x, y, z = p[0] - pose[0, 3], p[1] - pose[1, 3], p[2] - pose[2, 3]
    own = (
        pose[0, 0] * x + pose[1, 0] * y + pose[2, 0] * z,
        pose[0, 1] * x + pose[1, 1] * y + pose[2, 1] * z,
        pose[0, 2] * x + pose[1, 2] * y + pose[2, 2] * z,
    )
    return normalise(own, frame)


@element
def _closest_in_slot(corners: Floats, slot: int, p: Vec3) -> tuple[float, Vec3]:
    at = 9 * slot
    u = (load(corners, at), load(corners, at + 1), load(corners, at + 2))
    v = (load(corners, at + 3), load(corners, at + 4), load(corners, at + 5))
    w = (load(corners, at + 6), load(corners, at + 7), load(corners, at + 8))
    _, point, offset_sq = closest_point_triangle(p, u, v, w)
    return offset_sq, point


@kernel
def find_nearest(tree: PacketTree, p: Vec3, seed: int, enough: float) -> Nearest:
    """The point of a surface nearest to p, or any point of it no farther than `enough`. The search starts at the triangle in slot `seed`."""
    enough_sq = enough * enough if enough > 0.0 else -1.0
    best, point = _closest_in_slot(tree.corners, seed, p)
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
            offset_sq, candidate = _closest_in_slot(tree.corners, i, p)
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


@element
def _is_inside(b: PacketTree, parity: bool, p: Vec3, known: Known) -> bool:
    """Which side p lies on, from a known point if it is near enough."""
    d = known[1]
    if distance_sq(p, known[0]) < d * d:
        return d > 0.0
    return winding(b, IDENTITY, p, parity) != 0


@element
def _farthest(box: Any, q: Vec3) -> float:
    """Distance from q to the farthest corner of a box."""
    x, y, z = float(box[0][0]) - q[0], float(box[0][1]) - q[1], float(box[0][2]) - q[2]
    u, v, w, half = box[1][0], box[1][1], box[1][2], box[2]
    along_u = abs(x * u[0] + y * u[1] + z * u[2]) + half[0]
    along_v = abs(x * v[0] + y * v[1] + z * v[2]) + half[1]
    along_w = abs(x * w[0] + y * w[1] + z * w[2]) + half[2]
    return np.sqrt(along_u * along_u + along_v * along_v + along_w * along_w)


@kernel
def _measure_point(
    b: PacketTree, parity: bool, p: Vec3, slot_a: int, radius: float, near: Entry, best: Depth
) -> tuple[bool, int, Depth]:
    """Measure p, a point of a. Whether points within `radius` of it may be deeper than the best, a slot of b near p, and the best."""
    target = best[0] * (1.0 + TOLERANCE)
    d_sq, slot_b, q = find_nearest(b, p, near[3], target - radius)
    d = np.sqrt(d_sq)
    if d + radius <= target:
        return False, slot_b, best
    if d > best[0] or d >= radius:
        if not _is_inside(b, parity, p, near[1]):
            return d < radius, slot_b, best
        if d > best[0]:
            best = (d, slot_a, slot_b, p, q)
    return d + radius > best[0] * (1.0 + TOLERANCE), slot_b, best


@element
def _push_triangle(stack: Any, height: int, u: Vec3, v: Vec3, w: Vec3, splits: float) -> int:
    at = 10 * height
    for i in range(3):
        store(stack, at + i, u[i])
        store(stack, at + 3 + i, v[i])
        store(stack, at + 6 + i, w[i])
    store(stack, at + 9, splits)
    return height + 1


@element
def _reach(b: PacketTree, slot: int, u: Vec3, v: Vec3, w: Vec3) -> float:
    """The largest distance from a point of triangle uvw to the triangle in a slot of b: it is convex, so a corner has it."""
    du, dv = _closest_in_slot(b.corners, slot, u)[0], _closest_in_slot(b.corners, slot, v)[0]
    return np.sqrt(max(du, dv, _closest_in_slot(b.corners, slot, w)[0]))


@kernel
def _search_triangle(
    a: PacketTree, pose_a: Floats, slot: int, b: PacketTree, parity: bool, near: Entry, best: Depth
) -> Depth:
    """Search one triangle of a, split into four again and again where it may hold a deeper point."""
    stack = reserve_floats(310)  # ten numbers a triangle, three siblings at each of SPLITS levels, and one
    height = _push_triangle(
        stack,
        0,
        world_corner(a.corners, slot, 0, pose_a),
        world_corner(a.corners, slot, 1, pose_a),
        world_corner(a.corners, slot, 2, pose_a),
        float(SPLITS),
    )
    while height > 0:
        height -= 1
        at = 10 * height
        u = (load(stack, at), load(stack, at + 1), load(stack, at + 2))
        v = (load(stack, at + 3), load(stack, at + 4), load(stack, at + 5))
        w = (load(stack, at + 6), load(stack, at + 7), load(stack, at + 8))
        splits = load(stack, at + 9)
        if (
            max(distance_sq(near[2], u), distance_sq(near[2], v), distance_sq(near[2], w))
            <= (best[0] * (1.0 + TOLERANCE)) ** 2
        ):
            continue
        p = ((u[0] + v[0] + w[0]) / 3.0, (u[1] + v[1] + w[1]) / 3.0, (u[2] + v[2] + w[2]) / 3.0)
        radius = np.sqrt(max(distance_sq(p, u), distance_sq(p, v), distance_sq(p, w)))
        go_on, slot_b, best = _measure_point(b, parity, p, slot, radius, near, best)
        if not go_on or splits <= 0.0 or _reach(b, slot_b, u, v, w) <= best[0] * (1.0 + TOLERANCE):
            continue
        x, y, z = lerp(u, v, 0.5), lerp(v, w, 0.5), lerp(w, u, 0.5)
        height = _push_triangle(stack, height, u, x, z, splits - 1.0)
        height = _push_triangle(stack, height, x, v, y, splits - 1.0)
        height = _push_triangle(stack, height, z, y, w, splits - 1.0)
        height = _push_triangle(stack, height, x, y, z, splits - 1.0)
    return best


@kernel
def _measure_node(
    a: PacketTree, pose_a: Floats, node: int, b: PacketTree, parity: bool, above: Entry, best: Depth
) -> Entry:
    """What is known of a node: an upper bound of the depth of all that its box holds (0 where it need not be searched), and its center."""
    scale = a.frame[3]
    box = read_box(a.packed, node, stay(), np.float32(0.0))
    target = best[0] * (1.0 + TOLERANCE)
    if _farthest(box, to_frame(above[2], pose_a, a.frame)) <= target * scale:
        return (0.0, *above[1:])
    half = box[2]
    radius = np.sqrt(float(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])) / scale
    p = transform(
        pose_a,
        float(box[0][0]) / scale + a.frame[0],
        float(box[0][1]) / scale + a.frame[1],
        float(box[0][2]) / scale + a.frame[2],
    )
    d_sq, slot, q = find_nearest(b, p, above[3], target - radius)
    d = np.sqrt(d_sq)
    bound = min(d + radius, _farthest(box, to_frame(q, pose_a, a.frame)) / scale)
    if bound <= target:
        return 0.0, above[1], q, slot
    if _is_inside(b, parity, p, above[1]):
        return bound, (p, d), q, slot
    return 0.0 if d >= radius else bound, (p, -d), q, slot


@kernel
def _try_corner(a: PacketTree, pose_a: Floats, node: int, b: PacketTree, entry: Entry, best: Depth) -> Depth:
    """Measure a corner in a node if it is surely deeper than the best: a good best soon saves the most."""
    d = entry[1][1]
    if entry[0] == 0.0 or d <= best[0]:
        return best
    while load(a.child, node) >= 0:
        node = int(load(a.child, node)) * WIDTH
    slot = node * WIDTH
    p = world_corner(a.corners, slot, 0, pose_a)
    offset_sq = distance_sq(p, entry[1][0])
    if offset_sq >= (d - best[0]) ** 2:
        return best
    d_sq, slot_b, q = find_nearest(b, p, entry[3], 0.0)
    if d_sq > best[0] * best[0]:
        return np.sqrt(d_sq), slot, slot_b, p, q
    return best


@element
def _load_entry(nodes: Any, floats: Any, at: int) -> Entry:
    f = ENTRY_FLOATS * at
    p = (load(floats, f + 1), load(floats, f + 2), load(floats, f + 3))
    q = (load(floats, f + 5), load(floats, f + 6), load(floats, f + 7))
    return load(floats, f), (p, load(floats, f + 4)), q, load(nodes, 2 * at + 1)


@element
def _store_entry(nodes: Any, floats: Any, at: int, node: int, entry: Entry) -> None:
    f = ENTRY_FLOATS * at
    store(nodes, 2 * at, node)
    store(nodes, 2 * at + 1, entry[3])
    store(floats, f, entry[0])
    store(floats, f + 4, entry[1][1])
    for i in range(3):
        store(floats, f + 1 + i, entry[1][0][i])
        store(floats, f + 5 + i, entry[2][i])


@kernel
def find_depth(a: PacketTree, pose_a: Floats, b: PacketTree, parity: bool, floor: float) -> Depth:
    """The deepest point of the surface a inside the closed surface b, if it is deeper than `floor`; else that floor, and slot −1 in a."""
    none = integer(-1)
    best = (floor, none, none, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    nodes, floats = (
        reserve_integers(192),
        reserve_floats(768),
    )  # 96 entries: seven siblings at each of at most 11 levels
    far = (np.inf, 0.0, 0.0)
    entry = _measure_node(a, pose_a, a.root, b, parity, (np.inf, (far, 0.0), far, integer(0)), best)
    _store_entry(nodes, floats, 0, a.root, entry)
    height = 1
    while height > 0:
        height -= 1
        node, entry = load(nodes, 2 * height), _load_entry(nodes, floats, height)
        if entry[0] <= best[0] * (1.0 + TOLERANCE):
            continue
        child = int(load(a.child, node))
        if child < 0:
            for slot in range(node * WIDTH, min((node + 1) * WIDTH, a.slot_count)):
                best = _search_triangle(a, pose_a, slot, b, parity, entry, best)
            continue
        start = height
        for k in range(WIDTH):
            if largest_half(a.packed, child * WIDTH + k) < 0.0:
                continue
            below = _measure_node(a, pose_a, child * WIDTH + k, b, parity, entry, best)
            best = _try_corner(a, pose_a, child * WIDTH + k, b, below, best)
            if below[0] > 0.0:
                at = height
                while (
                    at > start and load(floats, ENTRY_FLOATS * (at - 1) + 4) > below[1][1]
                ):  # the deepest center on top
                    _store_entry(nodes, floats, at, load(nodes, 2 * (at - 1)), _load_entry(nodes, floats, at - 1))
                    at -= 1
                _store_entry(nodes, floats, at, child * WIDTH + k, below)
                height += 1
    return best


@kernel
def measure_depth(
    handle_a: Handle, pose_a: Floats, handle_b: Handle, pose_b: Floats, parity: bool, floor: float
) -> Depth:
    """The same for two bodies; points in the world. The search takes place in the coordinates of b."""
    relative = np.empty((4, 4))
    for i in range(3):
        for j in range(4):
            relative[i, j] = 0.0
            for k in range(3):
                relative[i, j] += pose_b[k, i] * (pose_a[k, j] - (pose_b[k, 3] if j == 3 else 0.0))
    depth, slot_a, slot_b, p, q = find_depth(open_tree(handle_a), relative, open_tree(handle_b), parity, floor)
    return depth, slot_a, slot_b, transform(pose_b, p[0], p[1], p[2]), transform(pose_b, q[0], q[1], q[2])
