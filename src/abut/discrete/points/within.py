"""`faces_within`: the faces of a surface within a radius of points."""

import math

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel, parallel, prange, threads_for
from abut.core.lanes import bits, lowest_bit, splat_8
from abut.core.scratch import load, reserve_integers, store
from abut.core.types import Number, PointsLike
from abut.discrete.bodies import BodyLike, as_body
from abut.discrete.points.nearest_face import magnification, measure_slot, single_sq
from abut.discrete.points.results import NearFaces
from abut.discrete.search.placement import displacement, to_frame
from abut.discrete.search.tree_view import TreeView, open_view
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3
from abut.trees.packets.boxes import WIDTH
from abut.trees.packets.packet_tree import Handle
from abut.trees.packets.point_bounds import bound_point_8, bound_triangle_8, place_point

PARALLEL_POINTS = 256  # fewer are answered on one thread


@kernel
def list_faces(
    view: TreeView,
    order: Integers,
    pose: Floats,
    p: Vec3,
    radius: float,
    face: Integers,
    distance: Floats,
    base: int,
    room: int,
) -> int:
    """The faces no farther from p than a radius, ascending, from row `base` on, as far as there is room; how many there are."""
    unit, factor = view.frame[3], magnification(p, pose, view.frame)
    q, slack = place_point(to_frame(p, pose, view.frame), unit * displacement(view.frame, pose))
    most = splat_8(single_sq(radius * unit, slack))
    stack = reserve_integers(128)  # seven siblings at each of at most 11 levels
    store(stack, 0, view.root)
    height, found = 1, 0
    while height > 0:
        height -= 1
        node = load(stack, height)
        child = int(load(view.child, node))
        if child >= 0:
            mask = bits(bound_point_8(view.boxes, view.oriented, child, q, slack) <= most)
            while mask != 0:
                store(stack, height, child * WIDTH + lowest_bit(mask))
                mask &= mask - 1
                height += 1
            continue
        mask = bits(bound_triangle_8(view.lanes, node, q)[0] <= most)
        while mask != 0:
            slot = node * WIDTH + lowest_bit(mask)
            mask &= mask - 1
            if slot >= view.slot_count:
                break
            far = math.sqrt(measure_slot(view, pose, slot, p, factor)[2]) / factor
            if far > radius:
                continue
            at = base + found
            found += 1
            if found > room:
                continue
            while at > base and face[at - 1] > order[slot]:
                face[at], distance[at] = face[at - 1], distance[at - 1]
                at -= 1
            face[at], distance[at] = order[slot], far
    return found


@parallel
def find_faces_within(
    handle: Handle,
    oriented: bool,
    order: Integers,
    pose: Floats,
    points: Floats,
    radii: Floats,
    start: Integers,
    face: Integers,
    distance: Floats,
    counts: Integers,
) -> None:
    """For each point the faces within its radius, from start[i] to start[i + 1], as far as there is room; and how many there are."""
    for i in prange(len(points)):
        view = open_view(handle, oriented)
        base, room, p = int(start[i]), int(start[i + 1] - start[i]), vector_at(points, i)
        counts[i] = list_faces(view, order, pose, p, float(radii[i]), face, distance, base, room)


def faces_within(body: BodyLike, points: PointsLike, radius: Number) -> NearFaces:
    """The faces of a surface within a radius of each of many points: those that a ball about the point touches.

    Args:
        body: a `Rigid` or `Deformable` body; anything that `as_mesh` takes becomes a rigid body for this call.
        points: (n,3) points of the world.
        radius: one length for all points, or (n,) one for each; a face at exactly this computed distance is among them.

    Returns:
        A row of faces per point, ascending, with their distances.

    Examples:
        >>> import abut
        >>> near = abut.faces_within(abut.scenes.box((2.0, 2.0, 2.0)), [[0.5, 0.2, 1.1], [0.0, 0.0, 0.0]], 0.25)
        >>> len(near), near[0].tolist(), near[1].tolist(), near.distance.round(3)
        (2, [10, 11], [], array([0.1  , 0.235]))
    """
    known = as_body(body, "body")
    own = arrays.points(points, "points")
    radii = frozen(np.ascontiguousarray(arrays.stacked(radius, "radius", (), len(own))))
    if (radii < 0.0).any():
        row = int(np.argmax(radii < 0.0))
        raise InvalidInput("radius", f"{radii[row]:g} is negative", row if np.ndim(radius) else None)
    counts = np.zeros(len(own), np.int64)
    start, face, distance = np.zeros(len(own) + 1, np.int64), np.empty(0, np.int64), np.empty(0)
    with threads_for(len(own), PARALLEL_POINTS):
        for _ in range(2):  # to count, and to list
            find_faces_within(
                *known._view, known._packets.order, known._pose, own, radii, start, face, distance, counts
            )
            start = np.concatenate(([0], np.cumsum(counts)))
            if len(face) == start[-1]:
                break
            face, distance = np.empty(start[-1], np.int64), np.empty(start[-1])
    return NearFaces(frozen(start), frozen(face), frozen(distance))
