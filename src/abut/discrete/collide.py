"""`collide`: which faces of two bodies meet, of one body with itself, or of two bodies at many poses."""

from typing import overload

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import Unsupported
from abut.core.jit import threads_for
from abut.core.poses import own_poses
from abut.core.types import Number, PosesLike
from abut.discrete.bodies import (
    BODIES,
    LARGEST_RATIO,
    LEAST_RATIO,
    Body,
    BodyLike,
    Deformable,
    Rigid,
    as_body,
    check_sizes,
)
from abut.discrete.budget import ContactSearch, search_within
from abut.discrete.contacts import Contacts
from abut.discrete.containment import find_holder
from abut.discrete.margins import check_margin, meet, rule_of
from abut.discrete.search.pairs import UNLIMITED, Pairs
from abut.discrete.search.queries import (
    MAYBE_HELD,
    ROOM,
    search_all,
    search_first,
    search_first_rigid,
    search_itself,
    search_many,
)
from abut.discrete.solids import Solid
from abut.mesh import MeshLike

QUERIES_AT_ONCE = 1024
# Fewer queries than this are searched on one thread: entering a parallel loop takes longer than it saves (`jit.threads_for`).
PARALLEL_FIRST, PARALLEL_ALL = 128, 8
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.int32)
NO_MARGIN = 0.0


@overload
def collide(a: BodyLike, b: None = None, *, margin: Number = NO_MARGIN, first: bool = False) -> Contacts: ...
@overload
def collide(a: BodyLike, b: BodyLike, *, margin: Number = NO_MARGIN, first: bool = False) -> Contacts: ...
@overload
def collide(
    a: Rigid | MeshLike | Solid,
    b: BodyLike | Solid,
    *,
    margin: Number = NO_MARGIN,
    first: bool = False,
    poses: PosesLike | None = None,
) -> Contacts: ...
@overload
def collide(a: BodyLike | Solid, b: Solid, *, margin: Number = NO_MARGIN, first: bool = False) -> Contacts: ...
@overload
def collide(
    a: BodyLike,
    b: BodyLike | None = None,
    *,
    margin: Number = NO_MARGIN,
    first: bool = False,
    poses: PosesLike | None = None,
    budget: Number,
) -> ContactSearch: ...
def collide(
    a: BodyLike | Solid,
    b: BodyLike | Solid | None = None,
    *,
    margin: Number = NO_MARGIN,
    first: bool = False,
    poses: PosesLike | None = None,
    budget: Number | None = None,
) -> Contacts | ContactSearch:
    """The contacts of two bodies, of one body with itself, or of two bodies at many poses of the first.

    Verdicts are exact for the world coordinates of the vertices (`Rigid.vertices`, `Deformable.vertices`). A closed body inside another
    collides with it, though no faces meet.

    Args:
        a, b: `Rigid` or `Deformable` bodies; anything that `as_mesh` takes becomes a rigid body for this call. Without b, the pairs of faces
            of a that have more in common than the vertices they share; with a margin also those that share none and come near. Shapes of
            `abut.shapes` are taken beside them, where they lie or placed by `Shape.at`: rows with one are points of contact, and the
            face of a shape that has none is −1.
        margin: a length by which the facets of both bodies are grown on every side (Δl of Meseure 1998 §7: with the largest displacement of a
            body in a step, nothing passes through unseen). Faces are reported when they are no farther apart than twice the margin.
        first: whether to stop at the first pair; the answer has at most one row per query then.
        poses: (k,4,4) poses of a rigid body a, answered in one call; `query` tells which one a row belongs to.
        budget: seconds after which the search ends, wherever it is. The answer then is a `ContactSearch`: what is found and proven so far,
            to be resumed. Making bodies of meshes and compiling do not count.

    Returns:
        One row per pair of faces, sorted by query, face of a and face of b; true if the bodies collide.

    Raises:
        Unsupported: poses without b or of a deformable a, sizes that differ by more than 2¹⁰⁰.

    Examples:
        >>> import abut
        >>> box, ball = abut.scenes.box(), abut.scenes.icosphere(2, center=(0.0, 0.0, 1.4))
        >>> hits = abut.collide(box, ball)
        >>> bool(hits), round(float(hits.depth.max()), 2)
        (True, 0.1)
        >>> abut.collide(box, ball, first=True)
        Contacts(1 pair, 1 of 1 query colliding)
    """
    first = first if type(first) is bool else arrays.flag(first, "first")
    if (
        first
        and margin is NO_MARGIN
        and poses is None
        and budget is None
        and isinstance(a, BODIES)
        and isinstance(b, BODIES)
    ):
        return _find_first(a, b)
    if isinstance(a, Solid) or isinstance(b, Solid):
        if budget is not None:
            raise Unsupported("a budget for a shape, which answers at once")
        return _ask_solid(a, b, arrays.scalar(margin, "margin", least=0.0), first, poses)
    body_a = as_body(a, "a")
    is_zero = type(margin) in (float, int) and margin == 0
    min_distance = 0.0 if is_zero else 2.0 * arrays.scalar(margin, "margin", least=0.0)
    limit = 1 if first else UNLIMITED
    if b is None:
        check_margin(margin, min_distance, body_a._scale)
        if budget is not None and poses is None:
            return search_within(body_a, None, None, min_distance, limit, budget)
        return _collide_itself(body_a, min_distance, limit, poses)
    body_b = as_body(b, "b")
    check_sizes(body_a, body_b)
    check_margin(margin, min_distance, max(body_a._scale, body_b._scale))
    if poses is not None:
        if isinstance(body_a, Deformable):
            raise Unsupported("poses of a deformable body a: its vertices already say where it is")
        own = own_poses(poses, "poses")
        if budget is not None:
            return search_within(body_a, own, body_b, min_distance, limit, budget)
        return _collide_many(body_a, own, body_b, min_distance, limit)
    if budget is not None:
        return search_within(body_a, None, body_b, min_distance, limit, budget)
    if first and min_distance == 0.0:
        return _find_first(body_a, body_b)
    return _collide_once(body_a, body_b, min_distance, limit)


def _ask_solid(
    a: BodyLike | Solid, b: BodyLike | Solid | None, margin: float, first: bool, poses: PosesLike | None
) -> Contacts:
    """What a shape answers, of two things of which one is a shape at least."""
    solid = a if isinstance(a, Solid) else b
    if b is None or not isinstance(solid, Solid):
        raise Unsupported("a shape with itself: it does not fold")
    places = None if poses is None else own_poses(poses, "poses")
    if places is not None and isinstance(a, Deformable):
        raise Unsupported("poses of a deformable body a: its vertices already say where it is")
    return solid._collide(a, b, margin, first, places)


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
        return Contacts(a, pose_a, b, pose_b, (), found, find_holder(a, pose_a, b, pose_b))
    return Contacts(a, pose_a, b, pose_b, (found[4:],), found, 0)


def _search_once(
    a: Body, pose_a: Floats, b: Body, min_distance: float, limit: int, work: Integers, room: int = ROOM
) -> tuple[int, Pairs]:
    """The count (or MAYBE_HELD) and the slots of all pairs of one query; room: for so many pairs at first."""
    return search_all(a._handle, pose_a, b._handle, b._pose, rule_of(min_distance), work, limit=limit, room=room)


def _collide_once(a: Body, b: Body, min_distance: float, limit: int) -> Contacts:
    work = np.zeros(3, dtype=np.int64)
    pose = a._pose
    count, pairs = _search_once(a, pose, b, min_distance, limit, work)
    held = (
        find_holder(a, pose, b, b._pose) if count == MAYBE_HELD or (min_distance > 0.0 and not meet(a, pose, b)) else 0
    )
    return Contacts(a, pose, b, b._pose, pairs, work, held)


def _collide_many(a: Body, poses: Floats, b: Body, min_distance: float, limit: int) -> Contacts:
    room = 1 if limit == 1 else ROOM
    counts = np.zeros(len(poses), dtype=np.int64)
    work = np.zeros((len(poses), 3), dtype=np.int64)
    found: list[Pairs] = []
    for start in range(0, len(poses), QUERIES_AT_ONCE):
        part = slice(start, min(start + QUERIES_AT_ONCE, len(poses)))
        out = np.empty(((part.stop - start) * room, 2), dtype=np.int32)
        with threads_for(len(poses), PARALLEL_FIRST if limit == 1 else PARALLEL_ALL):
            search_many(
                a._handle,
                poses[part],
                b._handle,
                b._pose,
                rule_of(min_distance),
                room,
                out,
                limit,
                counts[part],
                work[part],
            )
        if room == 1:
            found.append(out[counts[part] > 0])
            continue
        for i in np.flatnonzero(counts[part] > 0):
            if counts[start + i] <= room:
                found.append(out[i * room : i * room + counts[start + i]])
            else:
                again, enough = np.zeros(3, dtype=np.int64), int(counts[start + i])
                found.append(_search_once(a, poses[start + i], b, min_distance, limit, again, enough)[1])
    pairs = np.concatenate(found) if found else NO_PAIRS
    held = _find_holders(a, poses, b, min_distance, counts)
    return Contacts(a, poses, b, b._pose, pairs, work.sum(axis=0), held, np.maximum(counts, 0))


def _find_holders(a: Body, poses: Floats, b: Body, min_distance: float, counts: Integers) -> NDArray[np.int8]:
    """`find_holder` for each query in which no faces meet."""
    held = np.zeros(len(poses), dtype=np.int8)
    for i in np.flatnonzero(counts == MAYBE_HELD if min_distance == 0.0 else counts != 0):
        if counts[i] == MAYBE_HELD or not meet(a, poses[i], b):
            held[i] = find_holder(a, poses[i], b, b._pose)
    return held


def _collide_itself(body: Body, min_distance: float, limit: int, poses: PosesLike | None) -> Contacts:
    if poses is not None:
        raise Unsupported("poses without a second body: a rigid body meets itself alike at every pose")
    work = np.zeros(3, dtype=np.int64)
    room = ROOM
    while True:
        out = np.empty((room, 2), dtype=np.int32)
        count = search_itself(body._handle, body._pose, body._packets.faces, min_distance, out, limit, work)
        if count <= room:
            break
        room = count
        work[:] = 0
    pairs = out[:count]
    swap = body._packets.order[pairs[:, 0]] > body._packets.order[pairs[:, 1]]
    pairs[swap] = pairs[swap, ::-1]
    return Contacts(body, body._pose, body, body._pose, pairs, work, 0)
