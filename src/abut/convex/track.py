"""Closest features of many pairs of hulls, remembered from one call to the next: where bodies move little, few steps lead to the new ones.

Each pair is walked in the frame of its first hull, relative to the hull's middle, so that the places of bodies in the world cost no digits but
those of their distance. Pairs are independent; the result does not depend on the number of threads.
"""

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.convex.hull import Hull, Hulls, open_hulls
from abut.convex.pair import BY_ALL, BY_CIRCLE, answer_pair
from abut.convex.polytope import Polytope, reserve_polytopes
from abut.convex.regions import FACE, Frame, apply, invert, turn
from abut.convex.results import Tracks
from abut.errors import InvalidInput
from abut.geometry.vec import Vec3, add
from abut.jit import integer, kernel, parallel, prange, threads_for

TASKS = 16
"""Parts that a batch is cut into; each has its own memory for depths."""

PAIRS_FOR_THREADS = 256
"""A pair takes 0.2 µs and more; entering a parallel loop takes 10 to 40 µs."""


class Job(NamedTuple):
    """What a batch is asked: hulls, bodies' hulls and poses, pairs of bodies, and the features to start from."""

    handle: Any
    starts: Any
    middles: Any
    radii: Any
    which: Any
    poses: Any
    pairs: Any
    features: Any


class Rows(NamedTuple):
    """What it answers, one row a pair. numbers: distance, point_a, point_b, normal. counts: status, steps, way."""

    numbers: Floats
    features: Integers
    counts: Integers


@kernel
def _read_pose(poses: Floats, body: int) -> Frame:
    m = poses[body]
    return (m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2], m[0, 3], m[1, 3], m[2, 3])


@kernel
def _vector(array: Floats, row: int) -> Vec3:
    return (array[row, 0], array[row, 1], array[row, 2])


@kernel
def _relate(a: Frame, b: Frame, middle_a: Vec3, middle_b: Vec3) -> Frame:
    """From b's frame to a's, both relative to their middles. The translations are subtracted first: that is exact where the bodies are close."""
    inverse = (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8], 0.0, 0.0, 0.0)
    x, y, z = (
        turn(inverse, (b[0], b[3], b[6])),
        turn(inverse, (b[1], b[4], b[7])),
        turn(inverse, (b[2], b[5], b[8])),
    )
    t = turn(inverse, add(turn(b, middle_b), (b[9] - a[9], b[10] - a[10], b[11] - a[11])))
    return (
        x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2],
        t[0] - middle_a[0], t[1] - middle_a[1], t[2] - middle_a[2],
    )  # fmt: skip


@kernel
def _track_pair(job: Job, polytope: Polytope, k: int, rows: Rows) -> None:
    view = open_hulls(job.handle)
    body_a, body_b = job.pairs[k, 0], job.pairs[k, 1]
    i, j = job.which[body_a], job.which[body_b]
    s = job.starts
    a = (s[i, 0], s[i, 1], s[i, 2], s[i + 1, 0], s[i + 1, 1], s[i + 1, 2])
    b = (s[j, 0], s[j, 1], s[j, 2], s[j + 1, 0], s[j + 1, 1], s[j + 1, 2])
    middle_a, pose_a = _vector(job.middles, i), _read_pose(job.poses, body_a)
    b_to_a = _relate(pose_a, _read_pose(job.poses, body_b), middle_a, _vector(job.middles, j))
    first_a, first_b = job.features[k, 0], job.features[k, 1]
    if first_a >= 0 and first_b >= 0:
        first_a += 4 * s[i, first_a & 3]
        first_b += 4 * s[j, first_b & 3]
    result = answer_pair(view, polytope, first_a, first_b, a, b, b_to_a, invert(b_to_a), job.radii[i] + job.radii[j])
    rows.features[k, 0] = result.a - 4 * s[i, result.a & 3]
    rows.features[k, 1] = result.b - 4 * s[j, result.b & 3]
    p, q, n = (
        apply(pose_a, add(result.p, middle_a)),
        apply(pose_a, add(result.q, middle_a)),
        turn(pose_a, result.normal),
    )
    rows.numbers[k, 0] = result.distance
    for axis in range(3):
        rows.numbers[k, 1 + axis], rows.numbers[k, 4 + axis], rows.numbers[k, 7 + axis] = p[axis], q[axis], n[axis]
    rows.counts[k, 0], rows.counts[k, 1], rows.counts[k, 2] = result.status, result.steps, result.way


@kernel
def _track_part(job: Job, polytopes: Polytope, task: int, task_count: int, rows: Rows) -> None:
    polytope = Polytope(
        polytopes.points[task],
        polytopes.owners[task],
        polytopes.corners[task],
        polytopes.neighbours[task],
        polytopes.planes[task],
        polytopes.states[task],
        polytopes.stack[task],
        polytopes.horizon[task],
        polytopes.starts[task],
    )
    count = len(job.pairs)
    for k in range(task * count // task_count, (task + 1) * count // task_count):
        _track_pair(job, polytope, k, rows)


@parallel
def _track_parts(job: Job, polytopes: Polytope, rows: Rows) -> None:
    for task in prange(TASKS):
        _track_part(job, polytopes, integer(task), TASKS, rows)


class _Memory(threading.local):
    """Memory for depths, kept between calls of a thread."""

    polytopes: Polytope | None = None

    def reserve(self) -> Polytope:
        if self.polytopes is None:
            self.polytopes = reserve_polytopes(TASKS)
        return self.polytopes


_memory = _Memory()


def _read_features(features: object, hulls: Hulls, which: Integers, pairs: Integers) -> Integers:
    """(p,2) features of earlier results, checked against the hulls; (−1, −1) starts anew."""
    if features is None:
        return np.full((len(pairs), 2), -1, dtype=np.int64)
    given = arrays.coordinates(features, "features", (len(pairs), 2)).astype(np.int64)
    index, kind = given >> 2, given & 3
    hull = which[pairs]
    counts = np.diff(hulls.starts, axis=0)
    known = (kind <= FACE) & (index < counts[hull, np.minimum(kind, FACE)])
    good = (given < 0).any(axis=1) | (known.all(axis=1) & ~(kind == FACE).all(axis=1))
    if not good.all():
        raise InvalidInput("features", "is not a pair of features of these hulls", int((~good).argmax()))
    return given


def track_many(hulls: Hulls, pairs: object, poses: object, features: object = None, which: object = None) -> Tracks:
    """Closest features, distance or depth of many pairs of bodies.

    pairs: (p,2) indices of bodies. poses: (n,4,4) of bodies. which: (n,) the hull of each body, by default body i has hull i. features: those of
    an earlier result for the same pairs, `result.features`; a pair with −1 starts anew.
    """
    placed = arrays.poses(poses, "poses")
    chosen = np.arange(len(placed)) if which is None else np.asarray(which)
    chosen = arrays.indices(np.reshape(chosen, (-1, 1)), "which", 1, len(hulls)).ravel()
    if len(chosen) != len(placed):
        raise InvalidInput("which", f"has {len(chosen)} rows for {len(placed)} poses")
    rows = arrays.indices(pairs, "pairs", 2, len(placed))
    return _track(hulls, rows, placed, _read_features(features, hulls, chosen, rows), chosen)


def _track(hulls: Hulls, pairs: Integers, poses: Floats, features: Integers, which: Integers) -> Tracks:
    count = len(pairs)
    rows = Rows(np.empty((count, 10)), np.empty((count, 2), dtype=np.int64), np.empty((count, 3), dtype=np.int64))
    bodies = frozen(which), frozen(poses)
    job = Job(hulls.handle, hulls.starts, hulls.middles, hulls.radii, *bodies, frozen(pairs), frozen(features))
    if count < PAIRS_FOR_THREADS:
        _track_part(job, _memory.reserve(), 0, 1, rows)
    else:
        with threads_for(count, PAIRS_FOR_THREADS):
            _track_parts(job, _memory.reserve(), rows)
    numbers, ways = rows.numbers, rows.counts[:, 2]
    return Tracks(
        distance=frozen(numbers[:, 0].copy()),
        point_a=frozen(numbers[:, 1:4].copy()),
        point_b=frozen(numbers[:, 4:7].copy()),
        normal=frozen(numbers[:, 7:].copy()),
        feature_a=frozen(rows.features[:, 0].copy()),
        feature_b=frozen(rows.features[:, 1].copy()),
        status=frozen(rows.counts[:, 0].astype(np.int8)),
        steps=frozen(rows.counts[:, 1].copy()),
        circle_count=int((ways == BY_CIRCLE).sum()),
        exhaustive_count=int((ways == BY_ALL).sum()),
    )


_last: "weakref.WeakKeyDictionary[Hull, weakref.WeakKeyDictionary[Hull, tuple[Hulls, Integers]]]" = (
    weakref.WeakKeyDictionary()
)


def track(hull_a: Hull, hull_b: Hull, pose_a: object = None, pose_b: object = None) -> Tracks:
    """Closest features, distance or depth of two hulls: a result of one row. The features are remembered for the next call with the same hulls.

    pose_a, pose_b: (4,4), by default the hulls stand where their points are. The memory changes how many steps are walked, not what is found
    (of several closest pairs of points, it may change which).
    """
    identity = np.eye(4)
    poses = np.stack(
        [
            identity if pose is None else arrays.pose(pose, name)
            for pose, name in ((pose_a, "pose_a"), (pose_b, "pose_b"))
        ]
    )
    known = _last.setdefault(hull_a, weakref.WeakKeyDictionary())
    hulls, features = known.get(hull_b) or (Hulls([hull_a, hull_b]), np.full((1, 2), -1, dtype=np.int64))
    result = _track(hulls, np.array([[0, 1]]), poses, features, np.arange(2))
    known[hull_b] = hulls, frozen(result.features)
    return result
