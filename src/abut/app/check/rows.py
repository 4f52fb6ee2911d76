"""Rows of `Rows` from the contacts of a frame and the impacts of a step, and how deep an impact becomes by the end of its step.

The depth follows two points that meet, one on each feature, from the impact to the end of the step: how far they have moved past each other along the
normal. It is 0 where they move apart again. Rows are of frame 0, their times those in the step; `shift` puts them where they belong.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.app.check.findings import Contact, Rows
from abut.ccd import Impacts
from abut.core.arrays import Floats, Integers, frozen
from abut.discrete import Contacts
from abut.mesh import Mesh

# Triangles flatter than this (the square of the sine of an angle) are taken as their longest side: weights along their normal
# would be rounding errors.
FLAT = 1e-20


def empty_rows() -> Rows:
    """No rows."""
    none, numbers, vectors = np.empty(0, np.int64), np.empty(0), np.empty((0, 3))
    return _rows(none, none, none, numbers, vectors, vectors, numbers)


def rows_of_contacts(contacts: Contacts) -> Rows:
    """Faces that cut each other at a frame. Their depth is the length of the cut."""
    count = len(contacts)
    cut = contacts.segment[:, 1] - contacts.segment[:, 0]
    kind = np.full(count, Contact.FACE_FACE)
    depth = np.linalg.norm(cut, axis=1)
    return _rows(kind, contacts.face_a, contacts.face_b, np.zeros(count), contacts.point, contacts.normal, depth)


def rows_of_impacts(impacts: Impacts, mesh: Mesh, v_t0: Floats, v_t1: Floats) -> Rows:
    """Features that meet in a step."""
    depth = measure_depths(impacts, mesh, v_t0, v_t1)
    return _rows(impacts.kind, impacts.a, impacts.b, impacts.time, impacts.point, impacts.normal, depth)


def rows_at_frame(kind: Contact, found: Sequence[tuple[int, int, Floats, Floats, float]]) -> Rows:
    """Rows of one kind at a frame, each given as a, b, point, normal and depth."""
    a, b, point, normal, depth = zip(*found, strict=True) if found else ((),) * 5
    count = len(found)
    return _rows(
        np.full(count, kind),
        np.array(a, np.int64),
        np.array(b, np.int64),
        np.zeros(count),
        np.array(point, float).reshape(count, 3),
        np.array(normal, float).reshape(count, 3),
        np.array(depth, float),
    )


def shift(rows: Rows, frame: int) -> Rows:
    """The same rows, of another frame."""
    return rows._replace(frame=frozen(rows.frame + frame), time=frozen(rows.time + frame))


def select(rows: Rows, which: Integers | NDArray[np.bool_] | slice) -> Rows:
    """Some of the rows."""
    return _freeze(column[which] for column in rows)


def in_order(rows: Rows) -> Rows:
    """The rows in order of frame, kind, a and b."""
    return select(rows, np.lexsort((rows.b, rows.a, rows.kind, rows.frame)))


def earliest(rows: Rows) -> Rows:
    """The first row in time, of those at one time the first by frame, kind, a and b; none of none."""
    return select(rows, np.lexsort((rows.b, rows.a, rows.kind, rows.frame, rows.time))[:1])


def deepest(rows: Rows, count: int) -> Rows:
    """The rows of largest depth, deepest first; among equals in order of frame, kind, a and b."""
    if len(rows.depth) > count:  # sort no more than there is need for
        least = np.partition(rows.depth, -count)[-count]
        rows = select(rows, rows.depth >= least)
    return select(rows, np.lexsort((rows.b, rows.a, rows.kind, rows.frame, -rows.depth))[:count])


def join(parts: Sequence[Rows]) -> Rows:
    """All rows of all parts, in their order."""
    if not parts:
        return empty_rows()
    return _freeze(np.concatenate(columns) for columns in zip(*parts, strict=True))


def measure_depths(impacts: Impacts, mesh: Mesh, v_t0: Floats, v_t1: Floats) -> Floats:
    """(n,) how far the two features of each impact move into each other by the end of the step, along the normal."""
    depth = np.zeros(len(impacts))
    for kind in (Contact.VERTEX_FACE, Contact.EDGE_EDGE):
        rows = np.flatnonzero(impacts.kind == kind)
        if not len(rows):
            continue
        a, b = impacts.a[rows], impacts.b[rows]
        corners_a = a[:, np.newaxis] if kind == Contact.VERTEX_FACE else mesh.edges[a]
        corners_b = (mesh.faces if kind == Contact.VERTEX_FACE else mesh.edges)[b]
        time, point = impacts.time[rows], impacts.point[rows]
        past = _travel(corners_a, v_t0, v_t1, time, point) - _travel(corners_b, v_t0, v_t1, time, point)
        depth[rows] = np.maximum((past * impacts.normal[rows]).sum(axis=1), 0.0)
    return depth


def _rows(
    kind: NDArray[np.integer], a: Integers, b: Integers, time: Floats, point: Floats, normal: Floats, depth: Floats
) -> Rows:
    frame = np.zeros(len(kind), np.int64)
    return _freeze((frame, kind.astype(np.int8), a.astype(np.int64), b.astype(np.int64), time, point, normal, depth))


def _freeze(columns: Iterable[Any]) -> Rows:
    return Rows(*(frozen(np.ascontiguousarray(column).view()) for column in columns))


def _travel(corners: Integers, v_t0: Floats, v_t1: Floats, time: Floats, point: Floats) -> Floats:
    """(n,3) how far the point of each feature that is nearest to `point` at `time` moves from then to the end."""
    start, motion = v_t0[corners], v_t1[corners] - v_t0[corners]
    shape = start + time[:, np.newaxis, np.newaxis] * motion
    weights = _weigh(shape, point)
    return (weights[:, :, np.newaxis] * motion).sum(axis=1) * (1.0 - time)[:, np.newaxis]


def _weigh(shape: Floats, point: Floats) -> Floats:
    """(n,c) weights of the corners of each vertex, edge or face for the point nearest to `point`, to a clamping of faces' weights."""
    count, corner_count, _ = shape.shape
    if corner_count == 1:
        return np.ones((count, 1))
    to_point, u = point - shape[:, 0], shape[:, 1] - shape[:, 0]
    if corner_count == 2:
        s = np.clip(_divide(_dot(to_point, u), _dot(u, u)), 0.0, 1.0)
        return np.stack((1.0 - s, s), axis=1)
    v = shape[:, 2] - shape[:, 0]
    uu, uv, vv, pu, pv = _dot(u, u), _dot(u, v), _dot(v, v), _dot(to_point, u), _dot(to_point, v)
    area = uu * vv - uv * uv
    proper = area > FLAT * uu * vv
    along_u = uu >= vv
    s = np.where(proper, _divide(pu * vv - pv * uv, area), np.where(along_u, _divide(pu, uu), 0.0))
    t = np.where(proper, _divide(pv * uu - pu * uv, area), np.where(along_u, 0.0, _divide(pv, vv)))
    weights = np.clip(np.stack((1.0 - s - t, s, t), axis=1), 0.0, 1.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _dot(a: Floats, b: Floats) -> Floats:
    return (a * b).sum(axis=1)


def _divide(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
