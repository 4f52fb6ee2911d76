"""`collide`: which faces of two bodies meet, of one body with itself, or of two bodies at many poses; `contains`: which points lie inside."""

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers
from abut.discrete.bodies import Body, Deformable, Rigid, as_body, closedness, rigid_poses
from abut.discrete.contacts import Contacts
from abut.discrete.inside import find_inside
from abut.discrete.search import (
    MAYBE_HELD,
    find_held,
    search_first,
    search_in_turn,
    search_itself,
    search_meeting,
    search_meeting_many,
    search_near,
    search_near_many,
)
from abut.discrete.traversal import Pairs
from abut.errors import InvalidInput, Unsupported

ROOM = 1024  # pairs a query has room for at once; one with more is searched again
QUERIES_AT_ONCE = 4096
# Fewer queries than this are searched on one thread: a parallel region waits for the busiest core, often longer than they take.
PARALLEL_FIRST, PARALLEL_ALL = 2048, 32
UNLIMITED = np.iinfo(np.int64).max
NO_PAIRS: Pairs = arrays.frozen(np.empty((0, 2), dtype=np.int32))
# Trees relate two frames in float32; a body this much larger than the other is beyond it.
LARGEST_RATIO = 2.0**100


def collide(a: object, b: object = None, *, margin: float = 0.0, first: bool = False, poses: object = None) -> Contacts:
    """The contacts of two bodies, or of one body with itself.

    a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body for this call. Without b, the pairs of faces of a
    that have more in common than the vertices they share.
    margin: grow the facets of both bodies by this on every side (Δl of Meseure 1998 §7: with the largest displacement of a body in a step,
    nothing passes through unseen). Faces are reported when they are no farther apart than twice the margin.
    first: stop at the first pair; the answer has at most one row a query.
    poses: (k,4,4) poses of a rigid body a, asked about in one call; `query` tells which one a row belongs to.

    Verdicts are exact for the world coordinates of the vertices (`Rigid.vertices`, `Deformable.vertices`).
    """
    body_a = a if isinstance(a, (Rigid, Deformable)) else as_body(a, "a")
    reach = 0.0 if type(margin) in (float, int) and margin == 0 else 2.0 * arrays.scalar(margin, "margin", least=0.0)
    limit = 1 if first else UNLIMITED
    if b is None:
        return _collide_itself(body_a, reach, limit, poses)
    body_b = b if isinstance(b, (Rigid, Deformable)) else as_body(b, "b")
    check_sizes(body_a, body_b)
    if reach * max(body_a._scale, body_b._scale) > LARGEST_RATIO:
        raise Unsupported(f"a margin of {margin:.0e}, which is too large beside the bodies")
    if poses is not None:
        if isinstance(body_a, Deformable):
            raise Unsupported("poses of a deformable body a: its vertices already say where it is")
        return _collide_many(body_a, rigid_poses(poses, "poses"), body_b, reach, limit)
    if first and reach == 0.0:
        return _find_first(body_a, body_b)
    return _collide_once(body_a, body_b, reach, limit)


def check_sizes(a: Body, b: Body) -> None:
    """Refuse bodies whose sizes are too far apart for their trees."""
    ratio = a._scale / b._scale
    if not 1.0 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise Unsupported(f"bodies whose sizes differ by a factor of {max(ratio, 1.0 / ratio):.0e}")


def find_holder(a: Body, pose_a: Floats, b: Body) -> int:
    """Whether one of two bodies that do not meet lies inside the other: 0, A_IN_B or B_IN_A."""
    return find_held(a._handle, pose_a, closedness(a.mesh), b._handle, b.pose, closedness(b.mesh))


def _find_first(a: Body, b: Body) -> Contacts:
    """The quick way for the commonest question: do they collide?"""
    pose_a, pose_b = a._pose, b._pose
    record = np.empty(5, dtype=np.int64)
    count = search_first(a._handle, pose_a, b._handle, pose_b, record)
    work = record[2:]
    if count == 0:
        return Contacts(a, pose_a, b, pose_b, NO_PAIRS, work, 0)
    if count == MAYBE_HELD:
        return Contacts(a, pose_a, b, pose_b, NO_PAIRS, work, find_holder(a, pose_a, b))
    return Contacts(a, pose_a, b, pose_b, record[:2].reshape(1, 2), work, 0)


def _search_once(a: Body, pose_a: Floats, b: Body, reach: float, limit: int, work: Integers) -> tuple[int, Pairs]:
    """The count (or MAYBE_HELD) and the slots of all pairs of one query."""
    room = 1 if limit == 1 else ROOM
    while True:
        out = np.empty((room, 2), dtype=np.int32)
        if reach > 0.0:
            count = search_near(a._handle, pose_a, b._handle, b.pose, reach, out, limit, work)
        else:
            count = search_meeting(a._handle, pose_a, b._handle, b.pose, out, limit, work)
        if count <= room:
            return count, out[: max(count, 0)]
        room = count
        work[:] = 0


def _collide_once(a: Body, b: Body, reach: float, limit: int) -> Contacts:
    work = np.zeros(3, dtype=np.int64)
    pose = a.pose
    count, pairs = _search_once(a, pose, b, reach, limit, work)
    held = find_holder(a, pose, b) if count == MAYBE_HELD or (reach > 0.0 and not _meet(a, pose, b)) else 0
    return Contacts(a, pose, b, b.pose, pairs, work, held)


def _meet(a: Body, pose_a: Floats, b: Body) -> bool:
    """Whether any faces meet: with a margin, rows alone do not tell."""
    record = np.empty(5, dtype=np.int64)
    return search_first(a._handle, pose_a, b._handle, b.pose, record) > 0


def _collide_many(a: Body, poses: Floats, b: Body, reach: float, limit: int) -> Contacts:
    room = 1 if limit == 1 else ROOM
    counts = np.zeros(len(poses), dtype=np.int64)
    work = np.zeros((len(poses), 3), dtype=np.int64)
    found: list[Pairs] = []
    if len(poses) < (PARALLEL_FIRST if limit == 1 else PARALLEL_ALL):
        return _collide_each(a, poses, b, reach, limit)
    for start in range(0, len(poses), QUERIES_AT_ONCE):
        part = slice(start, min(start + QUERIES_AT_ONCE, len(poses)))
        out = np.empty(((part.stop - start) * room, 2), dtype=np.int32)
        if reach > 0.0:
            search_near_many(
                a._handle, poses[part], b._handle, b.pose, reach, room, out, limit, counts[part], work[part]
            )
        else:
            search_meeting_many(a._handle, poses[part], b._handle, b.pose, room, out, limit, counts[part], work[part])
        for i in np.flatnonzero(counts[part] > 0):
            if counts[start + i] <= room:
                found.append(out[i * room : i * room + counts[start + i]])
            else:
                again = np.zeros(3, dtype=np.int64)
                found.append(_search_once(a, poses[start + i], b, reach, limit, again)[1])
    pairs = np.concatenate(found) if found else NO_PAIRS
    held = _find_holders(a, poses, b, reach, counts)
    return Contacts(a, poses, b, b.pose, pairs, work.sum(axis=0), held, np.maximum(counts, 0))


def _find_holders(a: Body, poses: Floats, b: Body, reach: float, counts: Integers) -> NDArray[np.int8]:
    """`find_holder` for each query in which no faces meet."""
    held = np.zeros(len(poses), dtype=np.int8)
    for i in np.flatnonzero(counts == MAYBE_HELD if reach == 0.0 else counts != 0):
        if counts[i] == MAYBE_HELD or not _meet(a, poses[i], b):
            held[i] = find_holder(a, poses[i], b)
    return held


def _collide_each(a: Body, poses: Floats, b: Body, reach: float, limit: int) -> Contacts:
    """A few queries, one after the other."""
    room = 1 if limit == 1 else ROOM
    counts = np.zeros(len(poses), dtype=np.int64)
    work = np.zeros(3, dtype=np.int64)
    out = np.empty((len(poses) * room, 2), dtype=np.int32)
    search_in_turn(a._handle, poses, b._handle, b.pose, reach, room, out, limit, counts, work)
    found: list[Pairs] = []
    for i in np.flatnonzero(counts > 0):
        if counts[i] <= room:
            found.append(out[i * room : i * room + counts[i]])
        else:
            again = np.zeros(3, dtype=np.int64)
            found.append(_search_once(a, poses[i], b, reach, limit, again)[1])
    pairs = np.concatenate(found) if found else NO_PAIRS
    held = _find_holders(a, poses, b, reach, counts)
    return Contacts(a, poses, b, b.pose, pairs, work, held, np.maximum(counts, 0))


def _collide_itself(body: Body, reach: float, limit: int, poses: object) -> Contacts:
    if poses is not None:
        raise Unsupported("poses without a second body: a rigid body meets itself alike at every pose")
    if reach > 0.0:
        raise Unsupported("a margin for the contacts of a body with itself")
    work = np.zeros(3, dtype=np.int64)
    room = ROOM
    while True:
        out = np.empty((room, 2), dtype=np.int32)
        count = search_itself(body._handle, body.pose, body._packets.faces, out, limit, work)
        if count <= room:
            break
        room = count
        work[:] = 0
    pairs = out[:count]
    swap = body._packets.order[pairs[:, 0]] > body._packets.order[pairs[:, 1]]
    pairs[swap] = pairs[swap, ::-1]
    return Contacts(body, body.pose, body, body.pose, pairs, work, 0)


def contains(a: object, points: object) -> NDArray[np.bool_]:
    """(n,) which of the points (n,3) lie inside a closed body; points of its surface count as inside.

    Exact for the world coordinates of the vertices. A body that is not closed is refused.
    """
    body = as_body(a, "a")
    if not body.mesh.is_closed:
        raise InvalidInput("a", "is not closed: it has no inside")
    own = arrays.points(points, "points")
    out = np.empty(len(own), dtype=np.bool_)
    find_inside(body._handle, body.pose, own, not body.mesh.is_oriented, out)
    return out
