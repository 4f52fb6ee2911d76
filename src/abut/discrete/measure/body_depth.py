"""How deep one closed surface lies in another: the largest distance from a point of one, inside the other, to the other's surface.

This is the pointwise penetration depth. For two bodies that overlap a little it is the width of the overlap, whatever the size of the
triangles; for a body inside another it tells how deep its deepest point lies. It is found by branch and bound over the boxes of one
surface: with q any point of the other surface, no point of a box is deeper than the box's farthest corner from q. Each box takes q nearest to its
center, so that the bound is off only to second order. `triangle_depth` searches the triangles that are left. It ends when nothing deeper by more than
the part TOLERANCE can be left.

Which side of the surface a point lies on is asked of `inside` only where it must be: no surface lies nearer to a point than its distance d, so
all points nearer than d to it lie on its side.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.measure.nearest_point import find_nearest
from abut.discrete.measure.triangle_depth import TOLERANCE, Depth, Entry, is_inside, make_room, search_triangle
from abut.discrete.search.placement import own_corner, stay, to_frame, world_corner
from abut.geometry.frames import carry_by
from abut.geometry.vec import Vec3, distance_sq
from abut.trees.packets.boxes import WIDTH, largest_half, read_box
from abut.trees.packets.packet_tree import Handle, PacketTree, open_tree

ENTRY_FLOATS = 8


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
    center = (
        float(box[0][0]) / scale + a.frame[0],
        float(box[0][1]) / scale + a.frame[1],
        float(box[0][2]) / scale + a.frame[2],
    )
    p = carry_by(pose_a, center)
    d_sq, slot, q = find_nearest(b, p, above[3], target - radius)
    d = np.sqrt(d_sq)
    bound = min(d + radius, _farthest(box, to_frame(q, pose_a, a.frame)) / scale)
    if bound <= target:
        return 0.0, above[1], q, slot
    if is_inside(b, parity, p, above[1]):
        return bound, (p, d), q, slot
    # The way from p to a point inside passes through the surface, d away at least.
    return max(0.0, min(bound, radius - d)), (p, -d), q, slot


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
def find_depth(
    a: PacketTree, pose_a: Floats, b: PacketTree, parity: bool, cutters: Integers, slack: float, floor: float
) -> Depth:
    """The deepest point of the surface a inside the closed surface b, if it is deeper than `floor`; else that floor, and slot −1 in a.

    cutters: the pairs of slots that meet, and slack, the rounding of their corners, as `search_triangle` has them.
    """
    none, room = integer(-1), make_room()
    best = (floor, none, none, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    nodes, floats = (
        reserve_integers(192),
        reserve_floats(768),
    )  # 96 entries: seven siblings at each of at most 11 levels
    q = own_corner(b.corners, 0, 0)  # of which nothing is known: any point of b will do
    entry = _measure_node(a, pose_a, a.root, b, parity, (np.inf, (q, 0.0), q, integer(0)), best)
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
                best, room = search_triangle(a, pose_a, slot, b, parity, cutters, slack, entry, best, room)
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
    handle_a: Handle,
    pose_a: Floats,
    handle_b: Handle,
    pose_b: Floats,
    parity: bool,
    cutters: Integers,
    slack: float,
    floor: float,
) -> Depth:
    """The same for two bodies; points in the world. The search takes place in the coordinates of b."""
    relative = np.empty((4, 4))
    for i in range(3):
        for j in range(4):
            relative[i, j] = 0.0
            for k in range(3):
                relative[i, j] += pose_b[k, i] * (pose_a[k, j] - (pose_b[k, 3] if j == 3 else 0.0))
    a, b = open_tree(handle_a), open_tree(handle_b)
    depth, slot_a, slot_b, p, q = find_depth(a, relative, b, parity, cutters, slack, floor)
    return depth, slot_a, slot_b, carry_by(pose_b, p), carry_by(pose_b, q)
