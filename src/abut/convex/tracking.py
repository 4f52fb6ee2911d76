"""Closest features of many pairs of hulls, remembered from one call to the next: where bodies move little, few steps lead to the new ones.

Each pair is walked in the frame of its first hull, relative to the hull's middle, so that the places of bodies in the world cost no digits but
those of their distance. Pairs are independent; the result does not depend on the number of threads.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np

from abut.convex.bodies import (
    PAIRS_FOR_THREADS,
    TASKS,
    memory,
    range_of,
    read_bodies,
    read_pose,
    read_poses,
    relate_middles,
    whole_numbers,
)
from abut.convex.depth.polytope import open_polytope
from abut.convex.features.access import EDGE, FACE, VERTEX
from abut.convex.hull.hull import Hull
from abut.convex.hull.hulls import Hulls
from abut.convex.hull.tables import EDGE_ROW, PLANE_ROW, SIDE_ROW, View, open_hulls
from abut.convex.pair import BY_ALL, BY_CIRCLE, answer_pair, pair_of
from abut.convex.results import Tracks
from abut.convex.triples import put_triple, triple_at
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.handles import FloatsAt, IntegersAt, pack, unpack
from abut.core.jit import element, integer, kernel, parallel, prange
from abut.core.scratch import load, prefetch, store
from abut.core.types import IndicesLike, PoseLike, PosesLike
from abut.geometry.frames import carry, turn
from abut.geometry.vec import add

_PAIR, _BOTH, _STANDING = frozen(np.array([[0, 1]])), frozen(np.arange(2)), frozen(np.eye(4))
"""Of two bodies: the one pair, the hull of each, and the pose of one that stands where its points are."""

AHEAD = 6
"""Pairs between asking for the stored features and reading them: a pair takes some 100 ns, memory as much or more."""


class Job(NamedTuple):
    """What a kernel sees of a batch: pointers.

    The question: hulls' starts (h + 1, 3), middles (h,3) and radii; bodies' hulls and poses (n,4,4), pairs (p,2) of bodies, and the features (p,2)
    to start from. The answer: the arrays of `Tracks`, and how each row was found."""

    starts: IntegersAt
    middles: FloatsAt
    radii: FloatsAt
    which: IntegersAt
    poses: FloatsAt
    pairs: IntegersAt
    features: IntegersAt
    distance: FloatsAt
    point_a: FloatsAt
    point_b: FloatsAt
    normal: FloatsAt
    feature_a: IntegersAt
    feature_b: IntegersAt
    status: IntegersAt
    steps: IntegersAt
    found_by: IntegersAt


@element
def _foresee(view: View, job: Job, k: int, side: int) -> None:
    """Ask for what the features that a pair starts from have stored: by the time it is their turn, it has come."""
    feature = load(job.features, 2 * k + side)
    if feature < 0:
        return
    kind = feature & 3
    i = (feature >> 2) + load(job.starts, 3 * load(job.which, load(job.pairs, 2 * k + side)) + kind)
    if kind == VERTEX:
        prefetch(view.vertices, 3 * i)
        prefetch(view.neighbours, integer(load(view.vertex_starts, i)))
    elif kind == EDGE:
        prefetch(view.edges, i * EDGE_ROW)
        prefetch(view.edges, i * EDGE_ROW + 8)
    else:
        prefetch(view.planes, i * PLANE_ROW)
        prefetch(view.sides, SIDE_ROW * integer(load(view.face_starts, i)))


@kernel
def track_part(handle: Any, table: Any, polytopes: Any, count: int, task: int, task_count: int) -> None:
    """Answer the pairs of one of several tasks."""
    view, job, polytope = open_hulls(handle), unpack(Job, table), open_polytope(polytopes, task)
    last = (task + 1) * count // task_count
    for k in range(task * count // task_count, last):
        if k + AHEAD < last:
            _foresee(view, job, k + AHEAD, 0)
            _foresee(view, job, k + AHEAD, 1)
        body_a, body_b = load(job.pairs, 2 * k), load(job.pairs, 2 * k + 1)
        i, j = load(job.which, body_a), load(job.which, body_b)
        a, b = range_of(job.starts, i), range_of(job.starts, j)
        middle_a, pose_a = triple_at(job.middles, i), read_pose(job.poses, body_a)
        b_to_a = relate_middles(pose_a, read_pose(job.poses, body_b), middle_a, triple_at(job.middles, j))
        first_a, first_b = load(job.features, 2 * k), load(job.features, 2 * k + 1)
        if first_a >= 0 and first_b >= 0:
            first_a += 4 * load(job.starts, 3 * i + (first_a & 3))
            first_b += 4 * load(job.starts, 3 * j + (first_b & 3))
        pair = pair_of(view, polytope, a, b, b_to_a, load(job.radii, i) + load(job.radii, j))
        result = answer_pair(pair, first_a, first_b)
        store(job.feature_a, k, result.a - 4 * load(job.starts, 3 * i + (result.a & 3)))
        store(job.feature_b, k, result.b - 4 * load(job.starts, 3 * j + (result.b & 3)))
        put_triple(job.point_a, k, carry(pose_a, add(result.p, middle_a)))
        put_triple(job.point_b, k, carry(pose_a, add(result.q, middle_a)))
        put_triple(job.normal, k, turn(pose_a[0], result.normal))
        store(job.distance, k, result.distance)
        store(job.status, k, result.status)
        store(job.steps, k, result.steps)
        store(job.found_by, k, result.found_by)


@parallel
def _track_parts(handle: Any, table: Any, polytopes: Any, count: int) -> None:
    for task in prange(TASKS):
        track_part(handle, table, polytopes, count, integer(task), TASKS)


@kernel
def _find_unknown(features: Integers, pairs: Any, which: Any, starts: Any) -> int:
    """The first row that is neither negative nor a pair of features of its hulls, not both faces; −1 where there is none."""
    for k in range(len(features)):
        faces = 0
        for side in range(2):
            hull, index, kind = which[pairs[k, side]], features[k, side] >> 2, features[k, side] & 3
            if kind > FACE or index >= starts[hull + 1, kind] - starts[hull, kind]:
                faces = 2
            faces += kind == FACE
        if faces > 1 and features[k, 0] >= 0 and features[k, 1] >= 0:
            return k
    return -1


def _read_features(features: IndicesLike | None, hulls: Hulls, which: Integers, pairs: Integers) -> Integers:
    """(p,2) features of earlier results, checked against the hulls; (−1, −1) starts anew."""
    if features is None:
        return np.full((len(pairs), 2), -1, dtype=np.int64)
    given = whole_numbers(features, "features", (len(pairs), 2))
    wrong = _find_unknown(given, pairs, which, hulls.starts)
    if wrong >= 0:
        raise InvalidInput("features", "is not a pair of features of these hulls", wrong)
    return given


def track_many(
    hulls: Hulls,
    pairs: IndicesLike,
    poses: PosesLike,
    features: IndicesLike | None = None,
    which: IndicesLike | None = None,
) -> Tracks:
    """Closest features, distance or depth of many pairs of bodies.

    The features of an earlier result change how many steps are walked, not what is found.

    Args:
        hulls: the shapes.
        pairs: (p,2) indices of bodies.
        poses: (n,4,4) of the bodies.
        features: (p,2) those of an earlier result for the same pairs, `result.features`; a pair with −1 starts anew.
        which: (n,) the hull of each body; by default body i has hull i.

    Returns:
        One row per pair, world coordinates.

    Examples:
        >>> import numpy as np
        >>> from abut import convex
        >>> cube = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        >>> poses = np.tile(np.eye(4), (3, 1, 1))
        >>> poses[:, 0, 3] = 0.0, 3.0, 3.5
        >>> tracks = convex.track_many(convex.Hulls([cube]), [[0, 1], [1, 2]], poses, which=[0, 0, 0])
        >>> tracks
        Tracks(2 pairs, 1 apart, 1 overlapping)
        >>> tracks.distance.tolist()
        [2.0, -0.5]
    """
    rows, placed, chosen = read_bodies(hulls, pairs, poses, which)
    return _track(hulls, rows, placed, _read_features(features, hulls, chosen, rows), chosen)


def _track(hulls: Hulls, pairs: Integers, poses: Floats, features: Integers, which: Integers) -> Tracks:
    n = len(pairs)
    distance, point_a, point_b, normal = np.empty(n), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    feature_a, feature_b, status, steps, found_by = np.empty((5, n), dtype=np.int64)
    answers = (distance, point_a, point_b, normal, feature_a, feature_b, status, steps, found_by)
    given = [np.ascontiguousarray(array) for array in (which, poses, pairs, features)]
    table, polytopes = pack(Job, hulls.starts, hulls.middles, hulls.radii, *given, *answers), memory.reserve()
    if n < PAIRS_FOR_THREADS:
        track_part(hulls.handle, table, polytopes.handle, n, 0, 1)
    else:
        _track_parts(hulls.handle, table, polytopes.handle, n)
    counts = np.bincount(found_by, minlength=BY_ALL + 1).tolist()
    kinds = status.astype(np.int8)
    for array in (*answers, kinds):
        frozen(array)
    return Tracks(
        distance,
        point_a,
        point_b,
        normal,
        feature_a,
        feature_b,
        kinds,
        steps,
        circle_count=counts[BY_CIRCLE],
        exhaustive_count=counts[BY_ALL],
    )


class Desk:
    """Room for one body and a few others, each of which makes a pair with it, packed once: for kernels that ask again and again with `track_part`.

    Who asks writes `poses` (count + 1, 4, 4), the one body first, and `which`, the hull of each; the answers are in `distance`, `normal` and
    `point_b`."""

    def __init__(self, hulls: Hulls, count: int) -> None:
        self.hulls = hulls
        self.poses, self.which = np.tile(np.eye(4), (count + 1, 1, 1)), np.zeros(count + 1, np.int64)
        self.distance, self.normal, self.point_b = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
        self._pairs = np.stack((np.zeros(count, np.int64), np.arange(1, count + 1)), axis=1)
        self._features, self._point_a = np.full((count, 2), -1, np.int64), np.empty((count, 3))
        self._kinds = [np.empty(count, np.int64) for _ in range(5)]
        given = (self.which, self.poses, self._pairs, self._features)
        answers = (self.distance, self._point_a, self.point_b, self.normal, *self._kinds)
        self.table = pack(Job, hulls.starts, hulls.middles, hulls.radii, *given, *answers)


_last: "weakref.WeakKeyDictionary[Hull, weakref.WeakKeyDictionary[Hull, tuple[Hulls, Integers]]]" = (
    weakref.WeakKeyDictionary()
)


def track(hull_a: Hull, hull_b: Hull, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None) -> Tracks:
    """Closest features, distance or depth of two hulls: a result of one row.

    The features are remembered for the next call with the same hulls. The memory changes how many steps are walked, not what is found (of several
    closest features, or pairs of points, it may change which).

    Args:
        hull_a, hull_b: the hulls.
        pose_a, pose_b: (4,4) where they are; by default they stand where their points are.

    Returns:
        One row, world coordinates.

    Examples:
        >>> import numpy as np
        >>> from abut import convex
        >>> cube = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        >>> pose = np.eye(4)
        >>> pose[0, 3] = 3.0
        >>> convex.track(cube, cube, pose_b=pose).distance.tolist()
        [2.0]
    """
    arrays.instance(hull_a, "hull_a", Hull)
    arrays.instance(hull_b, "hull_b", Hull)
    poses = np.empty((2, 4, 4))
    poses[0] = _STANDING if pose_a is None else arrays.pose(pose_a, "pose_a")
    poses[1] = _STANDING if pose_b is None else arrays.pose(pose_b, "pose_b")
    known = _last.setdefault(hull_a, weakref.WeakKeyDictionary())
    hulls, features = known.get(hull_b) or (Hulls([hull_a, hull_b]), np.full((1, 2), -1, dtype=np.int64))
    result = _track(hulls, _PAIR, read_poses(poses), features, _BOTH)
    known[hull_b] = hulls, frozen(result.features)
    return result
