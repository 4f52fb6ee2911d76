"""`collide`: which faces of two bodies meet, of one body with itself, or of two bodies at many poses; `contains`: which points lie inside."""

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import threads_for
from abut.discrete.bodies import BODIES, Body, Deformable, Rigid, as_body, closedness, own_poses
from abut.discrete.contact_rules import Meet, Near
from abut.discrete.contacts import Contacts
from abut.discrete.containment import find_inside
from abut.discrete.entries import (
    MAYBE_HELD,
    ROOM,
    UNLIMITED,
    find_held,
    search_all,
    search_first,
    search_first_rigid,
    search_itself,
    search_many,
)
from abut.discrete.traversal import Pairs

QUERIES_AT_ONCE = 1024
# Fewer queries than this are searched on one thread: entering a parallel loop takes longer than it saves (`jit.threads_for`).
PARALLEL_FIRST, PARALLEL_ALL = 128, 8
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.int32)
NO_MARGIN = 0.0
# Trees relate two frames in float32; a body this much larger than the other is beyond it.
LARGEST_RATIO = 2.0**100
LEAST_RATIO = 2.0**-100


def collide(
    a: object, b: object = None, *, margin: float = NO_MARGIN, first: bool = False, poses: object = None
) -> Contacts:
    """The contacts of two bodies, or of one body with itself.

    a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body for this call. Without b, the pairs of faces of a
    that have more in common than the vertices they share.
    margin: grow the facets of both bodies by this on every side (Δl of Meseure 1998 §7: with the largest displacement of a body in a step,
    nothing passes through unseen). Faces are reported when they are no farther apart than twice the margin.
    first: stop at the first pair; the answer has at most one row a query.
    poses: (k,4,4) poses of a rigid body a, asked about in one call; `query` tells which one a row belongs to.

    Verdicts are exact for the world coordinates of the vertices (`Rigid.vertices`, `Deformable.vertices`).
    """
    first = first if type(first) is bool else arrays.flag(first, "first")
    if first and margin is NO_MARGIN and poses is None and isinstance(a, BODIES) and isinstance(b, BODIES):
        return _find_first(a, b)
    body_a = as_body(a, "a")
    reach = 0.0 if type(margin) in (float, int) and margin == 0 else 2.0 * arrays.scalar(margin, "margin", least=0.0)
    limit = 1 if first else UNLIMITED
    if b is None:
        return _collide_itself(body_a, reach, limit, poses)
    body_b = as_body(b, "b")
    check_sizes(body_a, body_b)
    if reach * max(body_a._scale, body_b._scale) > LARGEST_RATIO:
        raise Unsupported(f"a margin of {margin:.0e}, which is too large beside the bodies")
    if poses is not None:
        if isinstance(body_a, Deformable):
            raise Unsupported("poses of a deformable body a: its vertices already say where it is")
        return _collide_many(body_a, own_poses(poses), body_b, reach, limit)
    if first and reach == 0.0:
        return _find_first(body_a, body_b)
    return _collide_once(body_a, body_b, reach, limit)


def check_sizes(a: Body, b: Body) -> None:
    """Refuse bodies whose sizes are too far apart for their trees."""
    ratio = a._scale / b._scale
    if not LEAST_RATIO <= ratio <= LARGEST_RATIO:
        raise Unsupported(f"bodies whose sizes differ by a factor of {max(ratio, 1.0 / ratio):.0e}")


def find_holder(a: Body, pose_a: Floats, b: Body) -> int:
    """Whether one of two bodies that do not meet lies inside the other: 0, A_IN_B or B_IN_A."""
    return find_held(a._handle, pose_a, closedness(a.mesh), b._handle, b._pose, closedness(b.mesh))


def _find_first(a: Body, b: Body) -> Contacts:
    """The quick way for the commonest question: do they collide?"""
    if not LEAST_RATIO <= a._scale / b._scale <= LARGEST_RATIO:
        check_sizes(a, b)
    pose_a, at_a = a._place
    pose_b, at_b = b._place
    if type(a) is Rigid and type(b) is Rigid:
        found = search_first_rigid(a._at, at_a, b._at, at_b)
    else:
        found = search_first(a._handle, pose_a, b._handle, pose_b)
    count = found[3]
    if count == 0:
        return Contacts(a, pose_a, b, pose_b, (), found, 0)
    if count == MAYBE_HELD:
        return Contacts(a, pose_a, b, pose_b, (), found, find_holder(a, pose_a, b))
    return Contacts(a, pose_a, b, pose_b, (found[4:],), found, 0)


def _rule(reach: float) -> Meet | Near:
    return Near(reach) if reach > 0.0 else Meet(0)


def _search_once(
    a: Body, pose_a: Floats, b: Body, reach: float, limit: int, work: Integers, room: int = ROOM
) -> tuple[int, Pairs]:
    """The count (or MAYBE_HELD) and the slots of all pairs of one query; room: for so many pairs at first."""
    return search_all(a._handle, pose_a, b._handle, b._pose, _rule(reach), work, limit=limit, room=room)


def _collide_once(a: Body, b: Body, reach: float, limit: int) -> Contacts:
    work = np.zeros(3, dtype=np.int64)
    pose = a._pose
    count, pairs = _search_once(a, pose, b, reach, limit, work)
    held = find_holder(a, pose, b) if count == MAYBE_HELD or (reach > 0.0 and not _meet(a, pose, b)) else 0
    return Contacts(a, pose, b, b._pose, pairs, work, held)


def _meet(a: Body, pose_a: Floats, b: Body) -> bool:
    """Whether any faces meet: with a margin, rows alone do not tell."""
    return search_first(a._handle, pose_a, b._handle, b._pose)[3] > 0


def _collide_many(a: Body, poses: Floats, b: Body, reach: float, limit: int) -> Contacts:
    room = 1 if limit == 1 else ROOM
    counts = np.zeros(len(poses), dtype=np.int64)
    work = np.zeros((len(poses), 3), dtype=np.int64)
    found: list[Pairs] = []
    for start in range(0, len(poses), QUERIES_AT_ONCE):
        part = slice(start, min(start + QUERIES_AT_ONCE, len(poses)))
        out = np.empty(((part.stop - start) * room, 2), dtype=np.int32)
        with threads_for(len(poses), PARALLEL_FIRST if limit == 1 else PARALLEL_ALL):
            search_many(
                a._handle, poses[part], b._handle, b._pose, _rule(reach), room, out, limit, counts[part], work[part]
            )
        if room == 1:
            found.append(out[counts[part] > 0])
            continue
        for i in np.flatnonzero(counts[part] > 0):
            if counts[start + i] <= room:
                found.append(out[i * room : i * room + counts[start + i]])
            else:
                again, enough = np.zeros(3, dtype=np.int64), int(counts[start + i])
                found.append(_search_once(a, poses[start + i], b, reach, limit, again, enough)[1])
    pairs = np.concatenate(found) if found else NO_PAIRS
    held = _find_holders(a, poses, b, reach, counts)
    return Contacts(a, poses, b, b._pose, pairs, work.sum(axis=0), held, np.maximum(counts, 0))


def _find_holders(a: Body, poses: Floats, b: Body, reach: float, counts: Integers) -> NDArray[np.int8]:
    """`find_holder` for each query in which no faces meet."""
    held = np.zeros(len(poses), dtype=np.int8)
    for i in np.flatnonzero(counts == MAYBE_HELD if reach == 0.0 else counts != 0):
        if counts[i] == MAYBE_HELD or not _meet(a, poses[i], b):
            held[i] = find_holder(a, poses[i], b)
    return held


def _collide_itself(body: Body, reach: float, limit: int, poses: object) -> Contacts:
    if poses is not None:
        raise Unsupported("poses without a second body: a rigid body meets itself alike at every pose")
    if reach > 0.0:
        raise Unsupported("a margin for the contacts of a body with itself")
    work = np.zeros(3, dtype=np.int64)
    room = ROOM
    while True:
        out = np.empty((room, 2), dtype=np.int32)
        count = search_itself(body._handle, body._pose, body._packets.faces, out, limit, work)
        if count <= room:
            break
        room = count
        work[:] = 0
    pairs = out[:count]
    swap = body._packets.order[pairs[:, 0]] > body._packets.order[pairs[:, 1]]
    pairs[swap] = pairs[swap, ::-1]
    return Contacts(body, body._pose, body, body._pose, pairs, work, 0)


def contains(a: object, points: object) -> NDArray[np.bool_]:
    """(n,) which of the points (n,3) lie inside a closed body; points of its surface count as inside.

    Exact for the world coordinates of the vertices. A body that is not closed is refused.
    """
    body = as_body(a, "a")
    if not body.mesh.is_closed:
        raise InvalidInput("a", "is not closed: it has no inside")
    own = arrays.points(points, "points")
    out = np.empty(len(own), dtype=np.bool_)
    find_inside(body._handle, body._pose, own, not body.mesh.is_oriented, out)
    return out
