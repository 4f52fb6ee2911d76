"""The questions: do contours meet, where, how far apart are they, what lies inside; for one pose or for many, and for many contours.

`pose` and `poses` place a; b stays where it is. One pose is (x, y, angle) or a 3×3 matrix, many are (k,3) or (k,3,3). Points and
normals come in world coordinates. Contours that hold one another count as meeting.
"""

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import as_pose, as_poses
from abut.contours.meet.contact_merging import COLUMNS
from abut.contours.meet.entries import (
    NO_LIMIT,
    RAW_COLUMNS,
    RAW_ROOM,
    collide_many,
    collide_once,
    measure_many,
    measure_once,
    meet_many,
    meet_once,
)
from abut.contours.meet.results import Contacts, Distance
from abut.contours.meet.tables import relative
from abut.contours.meet.winding import wind_many
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import threads_for

ROOM = 24
"""Contacts that a query of many has room for at first."""
FEW = 64
"""Queries that run on one thread: starting others takes longer."""


def _table(contour: object, name: str) -> int:
    return arrays.instance(contour, name, Contour)._handle[0]


def _buffers(stretches: int, contacts: int) -> tuple[Floats, Floats]:
    return np.empty((stretches, RAW_COLUMNS)), np.empty((contacts, COLUMNS))


def _ask(table_a: int, table_b: int, pose: tuple[float, float, float, float], limit: int) -> tuple[Floats, list[int]]:
    """Contacts of one query and its numbers, with as much room as it needs."""
    stretches, contacts = RAW_ROOM, ROOM
    while True:
        raw, out = _buffers(stretches, contacts)
        numbers = collide_once(table_a, table_b, *pose, raw, out, limit)
        if numbers[2] <= stretches and numbers[1] <= contacts:
            return out[: numbers[1]].copy(), list(numbers)
        stretches, contacts = max(stretches, numbers[2]), max(contacts, numbers[1])


def _rows_of(a: Contour, b: Contour, poses: object) -> tuple[Integers, Floats, Floats]:
    poses_a = as_poses(poses)
    tables = np.empty((len(poses_a), 2), np.int64)
    tables[:] = (_table(a, "a"), _table(b, "b"))
    poses_b = np.zeros((len(poses_a), 4))
    poses_b[:, 0] = 1.0
    return tables, poses_a, poses_b


def _refuse_both(pose: object, poses: object) -> None:
    if pose is not None and poses is not None:
        raise InvalidInput("poses", "cannot be given together with pose")


def meets(a: Contour, b: Contour, *, pose: object = None, poses: object = None) -> bool | NDArray[np.bool_]:
    """Whether a meets b, lies within it or around it: one bool, or (k,) for `poses`. Touching counts."""
    if poses is None:
        return meet_once(_table(a, "a"), _table(b, "b"), *as_pose(pose)) != 0
    _refuse_both(pose, poses)
    tables, poses_a, poses_b = _rows_of(a, b, poses)
    relations = np.empty(len(tables), np.int64)
    with threads_for(len(tables), FEW):
        meet_many(tables, poses_a, poses_b, relations)
    return frozen(relations != 0)


def collide(a: Contour, b: Contour, *, pose: object = None, poses: object = None, first: bool = False) -> Contacts:
    """Where a meets b: every crossing, touch and stretch in common. `first` stops at the first that is found."""
    limit = 1 if arrays.flag(first, "first") else NO_LIMIT
    if poses is not None:
        _refuse_both(pose, poses)
        return _collide_rows(*_rows_of(a, b, poses), limit)
    table_a, table_b = _table(a, "a"), _table(b, "b")
    rows, numbers = _ask(table_a, table_b, as_pose(pose), limit)
    rows.flags.writeable = False
    return Contacts(rows, np.zeros(len(rows), np.int64), np.array([numbers]))


def _collide_rows(tables: Integers, poses_a: Floats, poses_b: Floats, limit: int) -> Contacts:
    """Contacts of many queries, in the coordinates of b."""
    count = len(tables)
    out, numbers = np.empty((count * ROOM, COLUMNS)), np.empty((count, 6), np.int64)
    with threads_for(count, FEW):
        collide_many(tables, poses_a, poses_b, ROOM, out, limit, numbers)
    found = numbers[:, 1]
    crowded = np.flatnonzero((numbers[:, 2] > RAW_ROOM) | (found > ROOM))
    again: dict[int, Floats] = {}
    for i in crowded.tolist():
        again[i], row = _ask(
            int(tables[i, 0]), int(tables[i, 1]), relative(tuple(poses_a[i]), tuple(poses_b[i])), limit
        )
        numbers[i] = row
    kept = np.where(np.isin(np.arange(count), crowded), 0, found)
    rows = out.reshape(count, ROOM, COLUMNS)[np.arange(ROOM) < kept[:, np.newaxis]]
    query = np.repeat(np.arange(count), kept)
    if again:
        rows = np.concatenate([rows, *again.values()])
        query = np.concatenate([query, *(np.full(len(part), i) for i, part in again.items())])
        order = np.argsort(query, kind="stable")
        rows, query = rows[order], query[order]
    return Contacts(frozen(rows), frozen(query), frozen(numbers))


def distance(a: Contour, b: Contour, *, pose: object = None, poses: object = None) -> Distance:
    """The least distance between the curves of a and b, with the points where it is taken."""
    if poses is None:
        out = np.empty((1, 9))
        relation = measure_once(_table(a, "a"), _table(b, "b"), *as_pose(pose), out[0])
        return Distance(frozen(out), np.array([relation]))
    _refuse_both(pose, poses)
    tables, poses_a, poses_b = _rows_of(a, b, poses)
    rows, relations = np.empty((len(tables), 9)), np.empty(len(tables), np.int64)
    with threads_for(len(tables), FEW):
        measure_many(tables, poses_a, poses_b, rows, relations)
    return Distance(frozen(rows), frozen(relations))


def winding(contour: Contour, points: object) -> Integers:
    """(k,) how often a contour runs around points (k,2), anticlockwise."""
    return _wind(contour, points)[0]


def contains(contour: Contour, points: object) -> NDArray[np.bool_]:
    """(k,) whether points (k,2) lie within a contour, where its winding number is not zero, or on it to rounding."""
    numbers, on = _wind(contour, points)
    return frozen((numbers != 0) | (on != 0))


def _wind(contour: Contour, points: object) -> tuple[Integers, Integers]:
    rows = arrays.points(points, "points", dimensions=2)
    numbers, on = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    with threads_for(len(rows), FEW):
        wind_many(_table(contour, "contour"), rows, numbers, on)
    return frozen(numbers), frozen(on)
