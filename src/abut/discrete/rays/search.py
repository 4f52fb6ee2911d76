"""Rays and segments through a packet tree: the first passage, any, or all of them.

Boxes and triangles are met in float32 (`trees.packets.ray_boxes`), the nearest boxes first; what is left, one or two triangles a leaf, is decided by
exact signs (`passage`). Passages are ordered by their computed t, those at the same t by face.
"""

from typing import Any

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.lanes import lane, lowest_bit
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.rays.passage import Line, pass_triangle, weigh_passage
from abut.discrete.search.placement import displacement, to_frame, world_triangle
from abut.discrete.search.tree_view import TreeView, open_view
from abut.geometry.frames import turn_back_by
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import ZERO, Vec3, add_scaled, norm, scale, subtract, unit_or
from abut.trees.packets.boxes import WIDTH
from abut.trees.packets.packet_tree import Handle
from abut.trees.packets.ray_boxes import LONGEST, enter_8, pass_triangle_8, place_ray

FIRST, ANY, ALL = 0, 1, 2
CHUNK = 64  # rays that one thread answers in turn
GROWTH = 1.0 + 1e-5


@element
def length_of(d: Vec3) -> float:
    """The length of a vector of any size."""
    size = max(abs(d[0]), abs(d[1]), abs(d[2]))
    return size * norm(scale(d, 1.0 / size)) if size > 1e-300 else size


@element
def _span(t: float, unit: float, skipped: float) -> float:
    """The parameter in the frame of the tree at a parameter of the line, rounded upwards; LONGEST for whatever cannot be told."""
    x = t * unit * GROWTH - skipped
    return x if x < LONGEST else LONGEST


@element
def push_nearest_last(stack: Any, entries: Any, height: int, first: int, mask: int, near: Any) -> int:
    """Push the children of a mask, that which the ray enters first on top; the new height."""
    start = height
    while mask != 0:
        k = lowest_bit(mask)
        mask &= mask - 1
        entry, at = float(lane(near, k)), height
        while at > start and load(entries, at - 1) < entry:
            store(entries, at, load(entries, at - 1))
            store(stack, at, load(stack, at - 1))
            at -= 1
        store(entries, at, entry)
        store(stack, at, first + k)
        height += 1
    return height


@element
def _insert(
    face: Integers, slot: Integers, t: Floats, way: Integers, first: int, at: int, row: tuple[int, int, float, int]
) -> None:
    """Put a passage where it belongs among the sorted ones from `first` to `at`."""
    while at > first and (t[at - 1] > row[2] or (t[at - 1] == row[2] and face[at - 1] > row[0])):
        face[at], slot[at], t[at], way[at] = face[at - 1], slot[at - 1], t[at - 1], way[at - 1]
        at -= 1
    face[at], slot[at], t[at], way[at] = row


@kernel
def find_passages(
    view: TreeView,
    order: Integers,
    pose: Floats,
    line: Line,
    limit: float,
    mode: int,
    face: Integers,
    slot: Integers,
    t: Floats,
    way: Integers,
    base: int,
    room: int,
) -> int:
    """The passages up to t = limit that a mode asks for, sorted, from row `base` on, as far as there is room; how many there are."""
    towards = subtract(line.end, line.start) if line.is_segment else line.end
    length = length_of(towards)
    unit = length * view.frame[3]
    moved = view.frame[3] * displacement(view.frame, pose)
    direction = unit_or(turn_back_by(pose, unit_or(towards, ZERO)), ZERO)
    meets, ray = place_ray(to_frame(line.start, pose, view.frame), direction, moved)
    last = min(ray.last, _span(limit, unit, ray.skipped))
    if not meets or last < -ray.slack:
        return 0
    stack, entries = reserve_integers(128), reserve_floats(128)  # seven siblings at each of at most 11 levels
    store(stack, 0, view.root)
    store(entries, 0, 0.0)
    height, found, best = 1, 0, limit
    while height > 0:
        height -= 1
        if load(entries, height) > last + ray.slack:
            continue
        node = load(stack, height)
        child = int(load(view.child, node))
        if child >= 0:
            mask, near = enter_8(view.boxes, view.oriented, child, ray, last)
            height = push_nearest_last(stack, entries, height, child * WIDTH, mask, near)
            continue
        mask = pass_triangle_8(view.lanes, node, ray)
        while mask != 0:
            at = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if at >= view.slot_count:
                break
            a, b, c = world_triangle(view.corners, at, pose)
            side, when = pass_triangle(line, a, b, c)
            if side == 0 or when > best:
                continue
            row = (int(order[at]), int(at), when, side)
            if mode == ALL:
                if found < room:
                    _insert(face, slot, t, way, base, base + found, row)
                found += 1
            elif found == 0 or when < t[base] or row[0] < face[base]:
                _insert(face, slot, t, way, base, base, row)
                found, best = 1, when
                last = min(last, _span(best, unit, ray.skipped))
            if mode == ANY:
                return found
    return found


@parallel
def cast_lines(
    handle: Handle,
    oriented: bool,
    order: Integers,
    pose: Floats,
    starts: Floats,
    ends: Floats,
    is_segment: bool,
    sequence: Integers,
    limits: Floats,
    mode: int,
    room: Integers,
    face: Integers,
    slot: Integers,
    t: Floats,
    way: Integers,
    counts: Integers,
) -> None:
    """The passages of each line, into rows room[i] to room[i + 1] as far as they reach, and how many there are."""
    for chunk in prange((len(starts) + CHUNK - 1) // CHUNK):
        view = open_view(handle, oriented)
        for k in range(chunk * CHUNK, min(len(starts), (chunk + 1) * CHUNK)):
            i = sequence[k]
            line = Line(vector_at(starts, i), vector_at(ends, i), is_segment)
            limit, base, least = float(limits[i]), int(room[i]), int(room[i + 1] - room[i])
            counts[i] = find_passages(view, order, pose, line, limit, mode, face, slot, t, way, base, least)


@parallel
def place_hits(
    handle: Handle,
    oriented: bool,
    pose: Floats,
    starts: Floats,
    ends: Floats,
    is_segment: bool,
    ray: Integers,
    slot: Integers,
    weights: Floats,
    points: Floats,
) -> None:
    """The weights and the point of each passage."""
    for i in prange(len(ray)):
        view = open_view(handle, oriented)
        a, b, c = world_triangle(view.corners, slot[i], pose)
        w = weigh_passage(Line(vector_at(starts, ray[i]), vector_at(ends, ray[i]), is_segment), a, b, c)
        put_vector(weights, i, 0, w)
        put_vector(points, i, 0, add_scaled(add_scaled(scale(a, w[0]), b, w[1]), c, w[2]))
