"""The questions: do contours meet, where, how far apart are they, what lies inside; for one pose or for many, and for many contours.

`pose` and `poses` place a; b stays where it is. One pose is (x, y, angle) or a 3×3 matrix, many are (k,3) or (k,3,3). Points and
normals come in world coordinates. Contours that hold one another count as meeting.
"""

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import PlanePoseLike, PlanePosesLike, as_pose, as_poses
from abut.contours.meet.columns import (
    CONTACT_COLUMNS,
    CONTACTS,
    DISTANCE_COLUMNS,
    NUMBER_COLUMNS,
    STRETCH_COLUMNS,
    STRETCHES,
)
from abut.contours.meet.queries import (
    NO_LIMIT,
    RAW_ROOM,
    collide_many,
    collide_once,
    measure_many,
    measure_once,
    meet_many,
    meet_once,
)
from abut.contours.meet.results import ContourContacts, ContourDistance
from abut.contours.meet.views import relative
from abut.contours.meet.winding import wind_many
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for
from abut.core.types import PointsLike

ROOM = 24
"""Contacts that a query of many has room for at first."""
FEW = 64
"""Queries that run on one thread: starting others takes longer."""


def _table(contour: object, name: str) -> int:
    return arrays.instance(contour, name, Contour)._handle[0]


def _answer(
    table_a: int, table_b: int, pose: tuple[float, float, float, float], limit: int
) -> tuple[Floats, list[int]]:
    """Contacts of one query and its numbers, with as much room as it needs."""
    stretches, contacts = RAW_ROOM, ROOM
    while True:
        raw, out = np.empty((stretches, STRETCH_COLUMNS)), np.empty((contacts, CONTACT_COLUMNS))
        numbers = collide_once(table_a, table_b, *pose, raw, out, limit)
        if numbers[STRETCHES] <= stretches and numbers[CONTACTS] <= contacts:
            return out[: numbers[CONTACTS]].copy(), list(numbers)
        stretches, contacts = max(stretches, numbers[STRETCHES]), max(contacts, numbers[CONTACTS])


def _rows_of(a: Contour, b: Contour, poses: PlanePosesLike) -> tuple[Integers, Floats, Floats]:
    poses_a = as_poses(poses)
    tables = np.empty((len(poses_a), 2), np.int64)
    tables[:] = (_table(a, "a"), _table(b, "b"))
    poses_b = np.zeros((len(poses_a), 4))
    poses_b[:, 0] = 1.0
    return tables, poses_a, poses_b


def _refuse_both(pose: PlanePoseLike | None, poses: PlanePosesLike | None) -> None:
    if pose is not None and poses is not None:
        raise InvalidInput("poses", "cannot be given together with pose")


def meets(
    a: Contour, b: Contour, *, pose: PlanePoseLike | None = None, poses: PlanePosesLike | None = None
) -> bool | NDArray[np.bool_]:
    """Whether a meets b, lies within it or around it. Touching counts.

    Args:
        a, b: the contours; b stays where it is.
        pose: of a: (3,) x, y and angle in radians, or a (3,3) matrix; where a is, by default.
        poses: (k,3) or (k,3,3) many of them instead.

    Returns:
        One bool, or (k,) for `poses`.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> contours.meets(tile, tile, pose=(1.5, 0.0, 0.0))
        False
        >>> contours.meets(tile, tile, poses=[(0.5, 0.5, 0.0), (1.0, 0.0, 0.0), (1.5, 0.0, 0.0)]).tolist()
        [True, True, False]
    """
    if poses is None:
        return meet_once(_table(a, "a"), _table(b, "b"), *as_pose(pose)) != 0
    _refuse_both(pose, poses)
    tables, poses_a, poses_b = _rows_of(a, b, poses)
    relations = np.empty(len(tables), np.int64)
    with threads_for(len(tables), FEW):
        meet_many(tables, poses_a, poses_b, relations)
    return frozen(relations != 0)


def collide(
    a: Contour,
    b: Contour,
    *,
    pose: PlanePoseLike | None = None,
    poses: PlanePosesLike | None = None,
    first: bool = False,
) -> ContourContacts:
    """Every crossing, touch and common stretch of a and b.

    Args:
        a, b: the contours; b stays where it is.
        pose: of a: (3,) x, y and angle in radians, or a (3,3) matrix; where a is, by default.
        poses: (k,3) or (k,3,3) many of them instead: one call on all threads, and `query` says which.
        first: stop at the first contact that is found.

    Returns:
        Contacts in world coordinates; none, with a relation, where one contour lies within the other.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> hits = contours.collide(tile, tile, pose=(0.5, 0.25, 0.0))
        >>> hits
        ContourContacts(2 contacts, 1 query)
        >>> hits.point.round(6).tolist()
        [[1.0, 0.25], [0.5, 1.0]]
        >>> [contours.Kind(kind).name for kind in hits.kind]
        ['CROSSING', 'CROSSING']
    """
    limit = 1 if arrays.flag(first, "first") else NO_LIMIT
    if poses is not None:
        _refuse_both(pose, poses)
        return collide_rows(*_rows_of(a, b, poses), limit)
    rows, numbers = _answer(_table(a, "a"), _table(b, "b"), as_pose(pose), limit)
    return ContourContacts(rows, np.zeros(len(rows), np.int64), np.array([numbers]))


def collide_rows(tables: Integers, poses_a: Floats, poses_b: Floats, limit: int) -> ContourContacts:
    """Contacts of many queries, in the coordinates of b."""
    count = len(tables)
    out, numbers = np.empty((count * ROOM, CONTACT_COLUMNS)), np.empty((count, NUMBER_COLUMNS), np.int64)
    with threads_for(count, FEW):
        collide_many(tables, poses_a, poses_b, ROOM, out, limit, numbers)
    found = numbers[:, CONTACTS]
    crowded = np.flatnonzero((numbers[:, STRETCHES] > RAW_ROOM) | (found > ROOM))
    again: dict[int, Floats] = {}
    for i in crowded.tolist():
        again[i], row = _answer(
            int(tables[i, 0]), int(tables[i, 1]), relative(tuple(poses_a[i]), tuple(poses_b[i])), limit
        )
        numbers[i] = row
    kept = np.where(np.isin(np.arange(count), crowded), 0, found)
    rows = out.reshape(count, ROOM, CONTACT_COLUMNS)[np.arange(ROOM) < kept[:, np.newaxis]]
    query = np.repeat(np.arange(count), kept)
    if again:
        rows = np.concatenate([rows, *again.values()])
        query = np.concatenate([query, *(np.full(len(part), i) for i, part in again.items())])
        order = np.argsort(query, kind="stable")
        rows, query = rows[order], query[order]
    return ContourContacts(rows, query, numbers)


def distance(
    a: Contour, b: Contour, *, pose: PlanePoseLike | None = None, poses: PlanePosesLike | None = None
) -> ContourDistance:
    """The least distance between the curves of a and b, with the points where it is taken.

    Args:
        a, b: the contours; b stays where it is.
        pose: of a: (3,) x, y and angle in radians, or a (3,3) matrix; where a is, by default.
        poses: (k,3) or (k,3,3) many of them instead, one row of the result each.

    Returns:
        Distances of the curves, 0 where they meet; `signed` is negative where one contour holds the other.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> gap = contours.distance(tile, tile, poses=[(4.0, 5.0, 0.0), (0.5, 0.0, 0.0)])
        >>> gap.distance.round(6).tolist()
        [5.0, 0.0]
        >>> gap.point_b[0].round(6).tolist()
        [1.0, 1.0]
    """
    if poses is None:
        out = np.empty((1, DISTANCE_COLUMNS))
        relation = measure_once(_table(a, "a"), _table(b, "b"), *as_pose(pose), out[0])
        return ContourDistance(out, np.array([relation]))
    _refuse_both(pose, poses)
    tables, poses_a, poses_b = _rows_of(a, b, poses)
    rows, relations = np.empty((len(tables), DISTANCE_COLUMNS)), np.empty(len(tables), np.int64)
    with threads_for(len(tables), FEW):
        measure_many(tables, poses_a, poses_b, rows, relations)
    return ContourDistance(rows, relations)


def winding(contour: Contour, points: PointsLike) -> Integers:
    """How often a contour runs around points, anticlockwise.

    Args:
        contour: any contour, also one that crosses itself.
        points: (k,2) in the contour's coordinates.

    Returns:
        (k,) winding numbers; negative where it runs clockwise.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> contours.winding(tile, [(0.5, 0.5), (2.0, 0.5)]).tolist()
        [1, 0]
    """
    return _wind(contour, points)[0]


def contains(contour: Contour, points: PointsLike) -> NDArray[np.bool_]:
    """Whether points lie within a contour, where its winding number is not zero, or on it to rounding.

    Args:
        contour: any contour, also one that crosses itself.
        points: (k,2) in the contour's coordinates.

    Returns:
        (k,) booleans.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> contours.contains(tile, [(0.5, 0.5), (1.0, 0.5), (2.0, 0.5)]).tolist()
        [True, True, False]
    """
    numbers, on = _wind(contour, points)
    return frozen((numbers != 0) | (on != 0))


def _wind(contour: Contour, points: PointsLike) -> tuple[Integers, Integers]:
    rows = arrays.points(points, "points", dimensions=2)
    numbers, on = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    with threads_for(len(rows), FEW):
        wind_many(_table(contour, "contour"), rows, numbers, on)
    return frozen(numbers), frozen(on)
