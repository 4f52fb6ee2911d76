"""The question when moving contours first meet, for one motion or for many."""

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import LARGEST_ANGLE
from abut.contours.motion.impact_search import (
    ANSWER_COLUMNS,
    BOXES,
    DEFAULT_TOLERANCE,
    LEAST_TOLERANCE,
    STATUS,
    STEPS,
    TIME,
    find_impacts,
)
from abut.contours.motion.impacts import ContourImpacts, ImpactStatus
from abut.contours.motion.near_places import (
    AX,
    AY,
    BX,
    BY,
    COLUMNS,
    DISTANCE,
    NORMAL_X,
    NORMAL_Y,
    SIGMA,
    TAU,
    find_near,
)
from abut.contours.motion.plane_motion import MOTION_COLUMNS, find_extents
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for
from abut.core.types import Number, PointsLike, VectorLike

QUERIES_ON_THREADS = 64
ROOM = 24
"""Contacts of a query that there is room for at first."""
SPACING = 2.0**-20
"""Of the extent: contacts of a query are no closer together, of two that are only the nearer is handed out."""


def time_of_impact(
    a: Contour,
    b: Contour,
    pose_a_t0: VectorLike | PointsLike,
    pose_a_t1: VectorLike | PointsLike,
    pose_b_t0: VectorLike | PointsLike | None = None,
    pose_b_t1: VectorLike | PointsLike | None = None,
    *,
    min_distance: Number = 0.0,
    tolerance: Number | None = None,
) -> ContourImpacts:
    """When two moving contours first meet between t = 0 and t = 1, never late, and every contact at that time.

    Position and angle change evenly from the one pose to the other: the origin of the contour's own coordinates moves on a straight line, and the
    contour turns about it, by more than a full turn where the angles say so. Contours that touch at t = 0, or of which one holds the other, meet
    at 0, wherever they go.

    Args:
        a, b: the contours.
        pose_a_t0, pose_a_t1: (3,) x, y and angle in radians of a at t = 0 and at t = 1; or (k,3), many motions, one row of the result each.
        pose_b_t0, pose_b_t1: those of b: (3,) or (k,3). By default b stays where it is: at the identity, or at pose_b_t0.
        min_distance: contours this near to one another count as meeting.
        tolerance: at the time of an impact the contours are at most this much further apart than `min_distance`, so contours that pass one another
            by less may count as meeting. By default, and at least, 2⁻⁴⁰ and 2⁻⁴³ of the extent of the motion: how far from the origin a contour
            comes, with the length of the arc that it turns by.

    Returns:
        Times and what they mean; contacts are all places within the tolerance at that time.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> fall = contours.time_of_impact(tile, tile, (0.5, 3.0, 0.0), (0.5, 0.0, 0.0))
        >>> print(f"{fall.time[0]:.9f}", contours.ImpactStatus(fall.status[0]).name)
        0.666666667 IMPACT
        >>> sorted(fall.point.round(6).tolist()), fall.normal[0].round(6).tolist()
        ([[0.5, 1.0], [1.0, 1.0]], [0.0, -1.0])
        >>> contours.time_of_impact(tile, tile, (0, 3.0, 0), (3.0, 3.0, 0)).time
        array([inf])
    """
    handles = [arrays.instance(contour, name, Contour)._handle[0] for contour, name in ((a, "a"), (b, "b"))]
    rows_a = _rows(pose_a_t0, pose_a_t1, "pose_a")
    if pose_b_t0 is None and pose_b_t1 is not None:
        raise InvalidInput("pose_b_t1", "needs pose_b_t0")
    start_b = np.zeros(3) if pose_b_t0 is None else pose_b_t0
    rows_b = _rows(start_b, start_b if pose_b_t1 is None else pose_b_t1, "pose_b")
    count = max(len(rows_a), len(rows_b))
    if len({len(rows_a), len(rows_b)} - {1}) > 1:
        raise InvalidInput("pose_b_t0", f"has {len(rows_b)} rows for {len(rows_a)} of pose_a_t0")
    if not len(rows_a) or not len(rows_b):
        count = 0
    motions = np.zeros((2 * count, MOTION_COLUMNS))
    motions[:count, :6], motions[count:, :6] = rows_a[: max(count, 0)], rows_b[: max(count, 0)]
    motions[:count, 11], motions[count:, 11] = a.boxes.nodes[0, 0], b.boxes.nodes[0, 0]
    distance = arrays.scalar(min_distance, "min_distance", least=0.0)
    allowed = 0.0 if tolerance is None else arrays.positive(tolerance, "tolerance")
    tables = np.repeat(np.array(handles, np.int64), count)
    pairs = np.stack([np.arange(count), np.arange(count) + count], axis=1)
    answers = np.empty((count, ANSWER_COLUMNS))
    with threads_for(count, QUERIES_ON_THREADS):
        find_impacts(tables, motions, pairs, 1.0, distance, allowed, answers)
    time, status = answers[:, TIME].copy(), answers[:, STATUS].astype(np.int64)
    size = find_extents(motions).reshape(2, count).max(axis=0)
    within = np.maximum(allowed if allowed > 0.0 else DEFAULT_TOLERANCE * size, LEAST_TOLERANCE * size)
    contacts, query = _contacts(tables, motions, pairs, time, status, distance + within, SPACING * size)
    return ContourImpacts(
        time=frozen(time),
        status=frozen(status),
        query=frozen(query),
        point=frozen(0.5 * (contacts[:, AX : AY + 1] + contacts[:, BX : BY + 1])),
        normal=frozen(contacts[:, NORMAL_X : NORMAL_Y + 1].copy()),
        distance=frozen(contacts[:, DISTANCE].copy()),
        parameter_a=frozen(contacts[:, SIGMA].copy()),
        parameter_b=frozen(contacts[:, TAU].copy()),
        boxes_compared=frozen(answers[:, BOXES].astype(np.int64)),
        segment_steps=frozen(answers[:, STEPS].astype(np.int64)),
    )


def _rows(t0: VectorLike | PointsLike, t1: VectorLike | PointsLike, name: str) -> Floats:
    """(k,6) poses at t = 0, and by how much they change."""
    ends = []
    for value, at in ((t0, f"{name}_t0"), (t1, f"{name}_t1")):
        one = arrays.shape_of(value) == (3,)
        row = arrays.coordinates(value, at, (3,) if one else (None, 3)).reshape(-1, 3)
        wild = np.flatnonzero(np.abs(row[:, 2]) > LARGEST_ANGLE)
        if len(wild):
            k = int(wild[0])
            raise InvalidInput(at, f"angle {row[k, 2]:g} is beyond ±{LARGEST_ANGLE:g}", None if one else k)
        ends.append(row)
    if len({len(ends[0]), len(ends[1])} - {1}) > 1:
        raise InvalidInput(f"{name}_t1", f"has {len(ends[1])} rows for {len(ends[0])} of {name}_t0")
    start, end = np.broadcast_arrays(*ends)
    return np.concatenate([start, end - start], axis=1)


def _contacts(
    tables: Integers, motions: Floats, pairs: Integers, time: Floats, status: Integers, within: Floats, spacing: Floats
) -> tuple[Floats, Integers]:
    """Places that are near one another at the times of impact, and the queries they belong to."""
    met = np.flatnonzero((status == ImpactStatus.IMPACT) | (status == ImpactStatus.AT_START))
    now = np.zeros(2 * len(time))
    now[met], now[met + len(time)] = time[met], time[met]
    place = motions[:, :3] + now[:, np.newaxis] * motions[:, 3:6]
    poses = np.stack([np.cos(place[:, 2]), np.sin(place[:, 2]), place[:, 0], place[:, 1]], axis=1)
    rows, query = [np.empty((0, COLUMNS))], [np.empty(0, np.int64)]
    room, waiting = ROOM, met
    while len(waiting):
        out, counts = np.empty((len(waiting) * room, COLUMNS)), np.zeros(len(waiting), np.int64)
        with threads_for(len(waiting), QUERIES_ON_THREADS):
            find_near(tables, poses, pairs[waiting], within[waiting], spacing[waiting], room, out, counts)
        settled = counts < room
        kept = (np.arange(room) < np.where(settled, counts, 0)[:, np.newaxis]).reshape(-1)
        rows.append(out[kept])
        query.append(np.repeat(waiting[settled], counts[settled]))
        room, waiting = 8 * room, waiting[~settled]
    found, of = np.concatenate(rows), np.concatenate(query)
    order = np.lexsort((found[:, SIGMA], of))
    return found[order], of[order]
