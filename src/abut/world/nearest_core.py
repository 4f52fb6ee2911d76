"""What is nearest to one shape in one place, among convex colliders: one kernel for the whole search, since a call of it costs more than its work."""

import math

from abut.convex.bodies import memory
from abut.convex.tracking import Desk, track_part
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.shapes.columns import GAP, GAP_NORMAL, GAP_POINT
from abut.shapes.pool import CONVEX, guest_of
from abut.world.contacts.colliders import MOST_ASKED
from abut.world.contacts.pairs import choose_near

PAIRS = MOST_ASKED


@kernel
def _put_pose(poses: Floats, at: int, rows: Floats, row: int) -> None:
    for r in range(3):
        for c in range(3):
            poses[at, r, c] = rows[row, 3 * r + c]
        poses[at, r, 3] = rows[row, 9 + r]


@kernel
def _search(
    hulls: Integers,
    job: Integers,
    polytopes: Integers,
    desk_poses: Floats,
    which: Integers,
    distance: Floats,
    normal: Floats,
    point: Floats,
    place: Floats,
    box: Floats,
    shape: int,
    bits: int,
    layers: Integers,
    bodies: Integers,
    shapes: Integers,
    boxes: Floats,
    poses: Floats,
    table: Integers,
    radii: Floats,
    near: Integers,
    room: Floats,
    numbers: Floats,
    other: Integers,
) -> None:
    """numbers (1,7), other (1,): what is nearest, as `Queries` has it; infinite and −1 before. near (PAIRS,2) and room (2,PAIRS): working memory."""
    gaps_sq, last = room[0], room[1:, :2]
    last[0, 0], last[0, 1] = -1.0, -1.0
    _put_pose(desk_poses, 0, place, 0)
    which[0] = shape
    while last[0, 0] < math.inf:
        count = choose_near(
            box, numbers, last, PAIRS, CONVEX, bits, layers, bodies, shapes, boxes, table, near, gaps_sq
        )
        for k in range(count):
            which[k + 1] = shapes[near[k, 1]] + 1
            _put_pose(desk_poses, k + 1, poses, near[k, 1])
        track_part(hulls, job, polytopes, count, 0, 1)
        for k in range(count):
            radius = radii[which[k + 1]]
            gap = distance[k] - radius - radii[shape]
            if gap < numbers[0, GAP]:
                numbers[0, GAP], other[0] = gap, near[k, 1]
                for axis in range(3):
                    numbers[0, GAP_NORMAL + axis] = normal[k, axis]
                    numbers[0, GAP_POINT + axis] = point[k, axis] - radius * normal[k, axis]


def search_nearest(
    desk: Desk,
    place: Floats,
    box: Floats,
    bits: int,
    layers: Integers,
    colliders: tuple[Integers, Integers, Floats, Floats],
    table: Integers,
    radii: Floats,
    work: tuple[Integers, Floats],
    numbers: Floats,
    other: Integers,
) -> None:
    """The nearest collider that has a core; the shape that is asked about is the last of the table. colliders: bodies, shapes, boxes and poses."""
    bodies, shapes, boxes, poses = colliders
    _search(
        desk.hulls.handle,
        desk.table,
        memory.reserve().handle,
        desk.poses,
        desk.which,
        desk.distance,
        desk.normal,
        desk.point_b,
        place,
        box,
        guest_of(table),
        bits,
        layers,
        bodies,
        shapes,
        boxes,
        poses,
        table,
        radii,
        *work,
        numbers,
        other,
    )
