"""Queries from Python: kernels that take addresses of contours' tables, for one query or for many.

Many queries run in CHUNKS pieces on all threads, each with its own memory for stretches. A query that finds more than it has room for says so
by its count, and is asked again alone.
"""

import numpy as np

from abut.contours.curve.cubic import Four
from abut.contours.meet.columns import (
    BEGIN_A,
    BEGIN_B,
    DISTANCE,
    DISTANCE_BOXES,
    DISTANCE_SEGMENTS,
    NEAREST_A,
    NEAREST_B,
    NUMBER_COLUMNS,
    STRETCH_COLUMNS,
    WITNESS_AX,
    WITNESS_AY,
    WITNESS_BX,
    WITNESS_BY,
)
from abut.contours.meet.contact_merging import make_contacts
from abut.contours.meet.crossing_number import point_on
from abut.contours.meet.distance_search import find_nearest
from abut.contours.meet.kinds import Relation
from abut.contours.meet.tree_search import boxes_overlap, find_meetings
from abut.contours.meet.views import MEETING, STILL, View, magnitude, open_contour, pose_at, relative, turn, turn_back
from abut.contours.meet.winding import wind
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel, parallel, prange
from abut.core.scratch import as_array, load, reserve_floats

APART, CONTACT, A_IN_B, B_IN_A = (relation.value for relation in Relation)
RAW_ROOM = 512
"""Stretches that a query of many has room for."""
CHUNKS = 64
NO_LIMIT = 2**62


@kernel
def relate(a: View, b: View, pose: Four) -> int:
    """APART, A_IN_B or B_IN_A, for contours that do not meet: one point of each decides."""
    size = magnitude(a, b, pose)
    if not boxes_overlap(a, 1, b, 1, pose, MEETING * size):
        return APART
    x, y = turn(pose, load(a.segments, 0), load(a.segments, 1))
    if wind(b, x, y, MEETING * size)[0] != 0:
        return A_IN_B
    x, y = turn_back(pose, load(b.segments, 0), load(b.segments, 1))
    if wind(a, x, y, MEETING * size)[0] != 0:
        return B_IN_A
    return APART


@element
def _meets(a: View, b: View, pose: Four) -> int:
    raw = as_array(reserve_floats(STRETCH_COLUMNS), (1, STRETCH_COLUMNS))
    count, _, _ = find_meetings(a, b, pose, raw, integer(1))
    return CONTACT if count > 0 else relate(a, b, pose)


@kernel
def meet_once(table_a: int, table_b: int, c: float, s: float, x: float, y: float) -> int:
    """Whether a, moved by a pose, meets b or lies within it or around it."""
    return _meets(open_contour(table_a), open_contour(table_b), (c, s, x, y))


@kernel
def collide_once(
    table_a: int, table_b: int, c: float, s: float, x: float, y: float, raw: Floats, out: Floats, limit: int
) -> tuple[int, int, int, int, int, int]:
    """Relation, number of contacts (in b's coordinates, in `out`), number of stretches, boxes, segments and places compared.

    Where there are more stretches than `raw` has rows, nothing is in `out` and the number of contacts is that of stretches."""
    a, b, pose = open_contour(table_a), open_contour(table_b), (c, s, x, y)
    count, boxes, leaves = find_meetings(a, b, pose, raw, limit)
    if count == 0:
        return (relate(a, b, pose), 0, 0, boxes, leaves, 0)
    if count > len(raw):
        return (CONTACT, count, count, boxes, leaves, 0)
    contacts, compared = make_contacts(a, b, pose, raw, count, out)
    return (CONTACT, contacts, count, boxes, leaves, compared)


@parallel
def meet_many(tables: Integers, poses_a: Floats, poses_b: Floats, relations: Integers) -> None:
    """`meet_once` for rows of tables (k,2) and poses (k,4) of both."""
    for i in prange(len(tables)):
        pose = relative(pose_at(poses_a, i), pose_at(poses_b, i))
        relations[i] = _meets(open_contour(tables[i, 0]), open_contour(tables[i, 1]), pose)


@parallel
def collide_many(
    tables: Integers, poses_a: Floats, poses_b: Floats, room: int, out: Floats, limit: int, numbers: Integers
) -> None:
    """`collide_once` for rows of tables and poses. Query i writes to out[i·room:];
    numbers[i] as `columns` has them."""
    k = len(tables)
    for chunk in prange(CHUNKS):
        raw = np.empty((RAW_ROOM, STRETCH_COLUMNS))
        for i in range(chunk * k // CHUNKS, (chunk + 1) * k // CHUNKS):
            c, s, x, y = relative(pose_at(poses_a, i), pose_at(poses_b, i))
            found = collide_once(tables[i, 0], tables[i, 1], c, s, x, y, raw, out[i * room : (i + 1) * room], limit)
            for q in range(NUMBER_COLUMNS):
                numbers[i, q] = found[q]


@kernel
def measure_once(table_a: int, table_b: int, c: float, s: float, x: float, y: float, out: Floats) -> int:
    """Relation; into `out`: distance, parameters of both, witnesses x, y of both in b's coordinates, boxes and segments compared."""
    a, b, pose = open_contour(table_a), open_contour(table_b), (c, s, x, y)
    raw = as_array(reserve_floats(STRETCH_COLUMNS), (1, STRETCH_COLUMNS))
    count, boxes, leaves = find_meetings(a, b, pose, raw, integer(1))
    if count > 0:
        sigma, tau = raw[0, BEGIN_A], raw[0, BEGIN_B]
        out[DISTANCE] = 0.0
        relation = CONTACT
    else:
        relation = relate(a, b, pose)
        out[DISTANCE], sigma, tau, more, pairs = find_nearest(a, b, pose)
        boxes, leaves = boxes + more, leaves + pairs
    out[NEAREST_A], out[NEAREST_B] = sigma, tau
    out[WITNESS_AX], out[WITNESS_AY] = point_on(a, sigma, pose)
    out[WITNESS_BX], out[WITNESS_BY] = point_on(b, tau, STILL)
    out[DISTANCE_BOXES], out[DISTANCE_SEGMENTS] = float(boxes), float(leaves)
    return relation


@parallel
def measure_many(tables: Integers, poses_a: Floats, poses_b: Floats, out: Floats, relations: Integers) -> None:
    """`measure_once` for rows of tables and poses."""
    for i in prange(len(tables)):
        c, s, x, y = relative(pose_at(poses_a, i), pose_at(poses_b, i))
        relations[i] = measure_once(tables[i, 0], tables[i, 1], c, s, x, y, out[i])
