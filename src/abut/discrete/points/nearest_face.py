"""The face nearest to a point: branch and bound over a packet tree in float32; double precision decides among the few faces that are left.

Boxes are visited nearest first. At a leaf, eight triangles are bounded from below and above at once (`trees.packets.point_bounds`); those that may be
nearest wait in a short list, and are measured when it is full or the search is over. Among faces at the same computed distance the smallest number
wins, and edges are measured from the same end in every face, so that the answer depends neither on the tree nor on where the search began.
"""

import math
from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.lanes import bits, lane, lowest_bit, splat_8
from abut.core.scratch import load, reserve_floats, reserve_integers, store
from abut.discrete.search.placement import displacement, to_frame, world_triangle
from abut.discrete.search.tree_view import TreeView, open_view
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.segments import closest_point_segment
from abut.geometry.triangles import ClosestOnTriangle, closest_point_triangle
from abut.geometry.vec import ZERO, Vec3, scale
from abut.trees.packets.boxes import WIDTH
from abut.trees.packets.packet_tree import Handle
from abut.trees.packets.point_bounds import BLIND, bound_point_8, bound_triangle_8, place_point

CHUNK = 256  # points that one thread answers in turn, each search beginning at the face of the last
ROOM = 64  # faces that may wait
NOTHING = -1
GROWTH = 1.0 + 1e-5  # bounds are rounded by less
SMALLEST = 2.0**-200  # products of four lengths stay in the range of doubles

Nearest = tuple[float, int, Vec3, Vec3]
"""Squared distance, slot, weights, point; magnified, see `magnification`."""
NONE: Nearest = (math.inf, NOTHING, ZERO, ZERO)


@element
def _is_before(a: Vec3, b: Vec3) -> bool:
    if a[0] != b[0]:
        return a[0] < b[0]
    return a[1] < b[1] if a[1] != b[1] else a[2] < b[2]


@element
def _put_weights(i: int, j: int, t: float) -> Vec3:
    """1 − t at corner i, t at corner j."""
    x = (1.0 - t if i == 0 else 0.0) + (t if j == 0 else 0.0)
    y = (1.0 - t if i == 1 else 0.0) + (t if j == 1 else 0.0)
    z = (1.0 - t if i == 2 else 0.0) + (t if j == 2 else 0.0)
    return (x, y, z)


@element
def closest_on_face(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> ClosestOnTriangle:
    """`closest_point_triangle`, with the same numbers for a point of an edge in all faces that share it."""
    weights, point, best = closest_point_triangle(p, a, b, c)
    if min(weights[0], weights[1], weights[2]) > 0.0:
        return weights, point, best
    best = math.inf
    corners = (a, b, c)
    for i in range(3):
        first, last = i, (i + 1) % 3
        if _is_before(corners[last], corners[first]):
            first, last = last, first
        t, on_edge, offset_sq = closest_point_segment(p, corners[first], corners[last])
        if offset_sq < best:
            weights, point, best = _put_weights(first, last, t), on_edge, offset_sq
    return weights, point, best


@element
def magnification(p: Vec3, pose: Floats, frame: Any) -> float:
    """1; where a point and the body lie so close to the origin that squares might vanish, the power of two that makes them about 1."""
    size = max(abs(p[0]), abs(p[1]), abs(p[2]))
    size = max(size, abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3]))
    size = max(size, abs(frame[0]), abs(frame[1]), abs(frame[2]), 1.0 / frame[3])
    if size >= SMALLEST:
        return 1.0
    return math.ldexp(1.0, min(1023, -math.frexp(size)[1]))


@kernel
def measure_slot(view: TreeView, pose: Floats, slot: int, p: Vec3, factor: float) -> ClosestOnTriangle:
    """The point of the face in a slot nearest to p, magnified."""
    a, b, c = world_triangle(view.corners, slot, pose)
    return closest_on_face(scale(p, factor), scale(a, factor), scale(b, factor), scale(c, factor))


@kernel
def _improve(
    view: TreeView, order: Integers, pose: Floats, slot: int, p: Vec3, factor: float, reach: float, best: Nearest
) -> Nearest:
    """The better of the best so far and the face in a slot, if that is within reach."""
    weights, point, offset_sq = measure_slot(view, pose, slot, p, factor)
    if offset_sq > best[0] or (offset_sq == best[0] and best[1] >= 0 and order[slot] >= order[best[1]]):
        return best
    return (offset_sq, slot, weights, point) if math.sqrt(offset_sq) / factor <= reach else best


@element
def _upper(best_sq: float, factor: float, unit: float, upper: float) -> float:
    """The bound that a measured distance gives, in the normalised frame, if it is lower."""
    return min(upper, math.sqrt(best_sq) / factor * unit * GROWTH)


@element
def single_sq(upper: float, slack: Any) -> Any:
    """The square of a bound and the slack, in float32, rounded upwards."""
    reach = np.float32(min(upper, float(BLIND)) * GROWTH) + np.float32(slack)
    return reach * reach


@element
def push_nearest_last(stack: Any, bounds: Any, height: int, first: int, near: Any, most: Any) -> int:
    """Push the children whose bounds are at most `most`, the nearest on top; the new height."""
    start, mask = height, bits(near <= splat_8(most))
    while mask != 0:
        k = lowest_bit(mask)
        mask &= mask - 1
        bound, at = float(lane(near, k)), height
        while at > start and load(bounds, at - 1) < bound:
            store(bounds, at, load(bounds, at - 1))
            store(stack, at, load(stack, at - 1))
            at -= 1
        store(bounds, at, bound)
        store(stack, at, first + k)
        height += 1
    return height


@kernel
def find_nearest(view: TreeView, order: Integers, pose: Floats, p: Vec3, reach: float, seed: int) -> Nearest:
    """The nearest face that is no farther than `reach`. The search starts at the face in slot `seed`, or without one (NOTHING)."""
    unit, factor = view.frame[3], magnification(p, pose, view.frame)
    q, slack = place_point(to_frame(p, pose, view.frame), unit * displacement(view.frame, pose))
    best, upper, waiting = NONE, reach * unit * GROWTH, 0
    if seed >= 0:
        best = _improve(view, order, pose, seed, p, factor, reach, best)
        upper = _upper(best[0], factor, unit, upper)
    stack, bounds = reserve_integers(128), reserve_floats(128)  # seven siblings at each of at most 11 levels
    slots, lows = reserve_integers(72), reserve_floats(72)  # ROOM and a leaf
    store(stack, 0, view.root)
    store(bounds, 0, 0.0)
    height = 1
    while height > 0:
        height -= 1
        most = single_sq(upper, slack)
        if load(bounds, height) > most:
            continue
        node = load(stack, height)
        child = int(load(view.child, node))
        if child >= 0:
            near = bound_point_8(view.boxes, view.oriented, child, q, slack)
            height = push_nearest_last(stack, bounds, height, child * WIDTH, near, most)
            continue
        low, high = bound_triangle_8(view.lanes, node, q)
        for k in range(WIDTH):
            upper = min(upper, math.sqrt(float(lane(high, k))) * GROWTH + float(slack))
        mask = bits(low <= splat_8(single_sq(upper, slack)))
        while mask != 0:
            k = lowest_bit(mask)
            mask &= mask - 1
            if node * WIDTH + k < view.slot_count:
                store(slots, waiting, node * WIDTH + k)
                store(lows, waiting, float(lane(low, k)))
                waiting += 1
        if waiting >= ROOM:
            for i in range(waiting):
                if load(lows, i) <= single_sq(upper, slack):
                    best = _improve(view, order, pose, load(slots, i), p, factor, reach, best)
                    upper = _upper(best[0], factor, unit, upper)
            waiting = 0
    for i in range(waiting):
        if load(lows, i) <= single_sq(upper, slack):
            best = _improve(view, order, pose, load(slots, i), p, factor, reach, best)
            upper = _upper(best[0], factor, unit, upper)
    return best


@parallel
def find_nearest_faces(
    handle: Handle,
    oriented: bool,
    order: Integers,
    pose: Floats,
    points: Floats,
    sequence: Integers,
    reach: float,
    face: Integers,
    distance: Floats,
    weights: Floats,
    nearest: Floats,
) -> None:
    """For each point the nearest face (−1 if none is within reach), its distance, weights and point; in the order of `sequence`."""
    for chunk in prange((len(points) + CHUNK - 1) // CHUNK):
        view = open_view(handle, oriented)
        seed = NOTHING
        for k in range(chunk * CHUNK, min(len(points), (chunk + 1) * CHUNK)):
            i = sequence[k]
            p = vector_at(points, i)
            best = find_nearest(view, order, pose, p, reach, seed)
            seed = best[1]
            factor = magnification(p, pose, view.frame)
            put_vector(weights, i, 0, best[2])
            if seed < 0:
                face[i], distance[i] = NOTHING, math.inf
                put_vector(nearest, i, 0, (math.inf, math.inf, math.inf))
            else:
                face[i], distance[i] = order[seed], math.sqrt(best[0]) / factor
                put_vector(nearest, i, 0, scale(best[3], 1.0 / factor))
