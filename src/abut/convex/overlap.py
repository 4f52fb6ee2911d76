"""Whether hulls meet, and nothing else: by what proved it the last time, while that still does.

Hulls are apart if a plane across some axis parts them; they overlap if four points of their difference span a tetrahedron that holds the origin.
Either proof is remembered, as an axis or as four pairs of vertices, and tried first. Where it fails, a polytope grows towards the origin (as in
`depth`) until it holds the origin or a plane is found that parts it from the origin (the question of Gilbert, Johnson and Keerthi 1988). What
is within rounding of touching is left to `pair`: the answer is always that of `track_many`, `status != APART`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.convex.bodies import (
    PAIRS_FOR_THREADS,
    TASKS,
    memory,
    range_of,
    read_bodies,
    read_pose,
    relate_middles,
    whole_numbers,
)
from abut.convex.depth.polytope import THIN, Polytope, grow, nearest_face, open_polytope, put_point
from abut.convex.depth.search import AGREED, close_if_solid, highest_owners, put_pair, start_quickly, support
from abut.convex.features.access import climb, vertex_at
from abut.convex.features.proof import NEAR, TOLERANCE
from abut.convex.hull.hulls import Hulls
from abut.convex.hull.tables import View, open_hulls
from abut.convex.pair import IS_APART, answer_pair, pair_of
from abut.convex.triples import put_triple, triple_at
from abut.core import arrays
from abut.core.arrays import ORTHONORMAL, Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.handles import FloatsAt, IntegersAt, pack, unpack
from abut.core.jit import element, integer, kernel, parallel, prange
from abut.core.scratch import load, store
from abut.core.showing import ROWS_SHOWN, count, describe, table_html
from abut.core.types import IndicesLike, PosesLike
from abut.geometry.frames import Frame, carry, turn_back
from abut.geometry.vec import Vec3, cross, dot, norm, scale, subtract

MEET, PART, UNKNOWN = 0, 1, 2

MOST_POINTS_TRIED = 60
"""After so many points the pair is so near to touching, or so flat, that it is left to `pair`."""


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Whether hulls a and b overlap, and what proves it: one row per pair."""

    overlap: NDArray[np.bool_]
    """(p,) whether they overlap or touch: within the rounding of `Status.TOUCHING`"""
    axis: Floats
    """(p,3) where they are apart, a unit vector in the frame of a's points, across which a plane parts a from b; else zeros"""
    corners: Integers
    """(p,4,2) vertices of a and of b: four pairs whose differences hold the origin between them; where they are apart, the first pair is
    farthest along the axis; −1 where neither is known"""

    def __len__(self) -> int:
        return len(self.overlap)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "pair"), f"{np.count_nonzero(self.overlap):,} overlapping")

    def _repr_html_(self) -> str:
        axes = list(map(tuple, self.axis[:ROWS_SHOWN].tolist()))
        return table_html(repr(self), ("overlap", "axis"), (self.overlap.tolist(), axes), len(self))


@element
def _difference(view: View, a: int, b: int, b_to_a: Frame) -> Vec3:
    return subtract(vertex_at(view, a), carry(b_to_a, vertex_at(view, b)))


@element
def _is_behind(p: Vec3, q: Vec3, r: Vec3, s: Vec3, tolerance: float, extent: float) -> bool:
    """Whether the origin is on the side of the triangle p q r that s is on, both by more than NEAR tolerances and what rounding does to thin ones."""
    n = cross(subtract(q, p), subtract(r, p))
    own, other = -dot(n, p), dot(n, subtract(s, p))
    least = tolerance * (NEAR * (abs(n[0]) + abs(n[1]) + abs(n[2])) + 16.0 * extent * extent)
    return (own > least and other > least) or (own < -least and other < -least)


@element
def _hold_origin(p: Vec3, q: Vec3, r: Vec3, s: Vec3, tolerance: float, extent: float) -> bool:
    """Whether the origin is inside a tetrahedron and away from its faces."""
    return (
        _is_behind(p, q, r, s, tolerance, extent)
        and _is_behind(p, q, s, r, tolerance, extent)
        and _is_behind(p, r, s, q, tolerance, extent)
        and _is_behind(q, r, s, p, tolerance, extent)
    )


@element
def _gap(view: View, v: int, w: int, axis: Vec3, b_to_a: Frame) -> tuple[float, int, int]:
    """How far a plane across the axis can part the hulls, and the vertices farthest along it, climbing from v and w."""
    v, top = climb(view, v, axis)
    w, bottom = climb(view, w, turn_back(b_to_a[0], scale(axis, -1.0)))
    return dot(axis, b_to_a[1]) - bottom - top, v, w


@kernel
def _find_corners(
    view: View, polytope: Polytope, face_count: int, corners: Any, k: int, tolerance: float, extent: float
) -> None:
    """Of a polytope that holds the origin: the triangle that the ray from point 0 through the origin leaves by, and point 0."""
    p = triple_at(polytope.points, 0)
    for f in range(face_count):
        i, j, m = triple_at(polytope.corners, f)
        if i == 0 or j == 0 or m == 0:
            continue
        q, r, s = triple_at(polytope.points, i), triple_at(polytope.points, j), triple_at(polytope.points, m)
        if _hold_origin(p, q, r, s, tolerance, extent):
            for x, corner in enumerate((integer(0), i, j, m)):
                store(corners, 8 * k + 2 * x, load(polytope.owners, 2 * corner))
                store(corners, 8 * k + 2 * x + 1, load(polytope.owners, 2 * corner + 1))
            return


@kernel
def _search(
    view: View, polytope: Polytope, v: int, w: int, axis: Vec3, b_to_a: Frame, tolerance: float, is_solid: bool
) -> tuple[int, Vec3, int, int, int]:
    """MEET and the polytope's faces; PART, the axis and the vertices farthest along it; or UNKNOWN. is_solid: the polytope has four points."""
    near = NEAR * tolerance
    if not is_solid:
        is_solid, v, w = start_quickly(view, polytope, v, w, b_to_a, axis, THIN * tolerance)
    if not is_solid:
        return UNKNOWN, axis, v, w, 0
    face_count = 4
    for point_count in range(4, MOST_POINTS_TRIED):
        f = nearest_face(polytope, face_count)
        if f < 0:
            return UNKNOWN, axis, v, w, 0
        d, n = load(polytope.distances, f), triple_at(polytope.normals, f)
        if d > near:
            return MEET, n, v, w, face_count
        v, w = highest_owners(view, polytope, f, n)
        v, w, x = support(view, b_to_a, n, v, w)
        reach = dot(n, x)
        if reach < -2.0 * near:  # of those that are hardly farther apart, `pair` may say that they touch
            return PART, n, v, w, face_count
        if reach - d <= AGREED * tolerance:
            return UNKNOWN, n, v, w, face_count
        put_point(polytope, point_count, v, w, x)
        face_count = grow(polytope, f, integer(point_count), face_count, tolerance)
        if face_count < 0:
            return UNKNOWN, n, v, w, 0
    return UNKNOWN, axis, v, w, 0


class Job(NamedTuple):
    """Pointers: see `tracking.Job` and `Overlaps`. axis and corners hold the last proofs, then the new ones."""

    starts: IntegersAt
    middles: FloatsAt
    radii: FloatsAt
    which: IntegersAt
    poses: FloatsAt
    pairs: IntegersAt
    axis: FloatsAt
    corners: IntegersAt
    overlap: IntegersAt


@element
def _still_meet(view: View, corners: Any, k: int, first_a: int, first_b: int, b_to_a: Frame, extent: float) -> bool:
    """Whether four pairs of vertices still prove that the hulls overlap."""
    at = 8 * k
    p = _difference(view, first_a + load(corners, at), first_b + load(corners, at + 1), b_to_a)
    q = _difference(view, first_a + load(corners, at + 2), first_b + load(corners, at + 3), b_to_a)
    r = _difference(view, first_a + load(corners, at + 4), first_b + load(corners, at + 5), b_to_a)
    s = _difference(view, first_a + load(corners, at + 6), first_b + load(corners, at + 7), b_to_a)
    return _hold_origin(p, q, r, s, TOLERANCE * extent, extent)


@kernel
def _renew(view: View, polytope: Polytope, job: Job, k: int, i: int, j: int, b_to_a: Frame, extent: float) -> None:
    """Find a new proof for a pair of hulls i and j, or without one ask `pair`."""
    a, b, tolerance = range_of(job.starts, i), range_of(job.starts, j), TOLERANCE * extent
    middle = b_to_a[1]
    axis, away = triple_at(job.axis, k), norm(middle)
    if dot(axis, axis) == 0.0:
        axis = scale(middle, 1.0 / away) if away > 0.0 else (1.0, 0.0, 0.0)
    known = load(job.corners, 8 * k) >= 0
    v = a[0] + load(job.corners, 8 * k) if known else a[0]
    w = b[0] + load(job.corners, 8 * k + 1) if known else b[0]
    is_solid = False
    if (
        known
    ):  # a tetrahedron that held the origin is near to it still; of an axis the corners are one point, or no volume
        for x in range(4):
            corner_a, corner_b = load(job.corners, 8 * k + 2 * x), load(job.corners, 8 * k + 2 * x + 1)
            put_pair(view, polytope, integer(x), a[0] + corner_a, b[0] + corner_b, b_to_a)
        is_solid = close_if_solid(polytope, THIN * tolerance)
    verdict, axis, v, w, face_count = _search(view, polytope, v, w, axis, b_to_a, tolerance, is_solid)
    for x in range(8):
        store(job.corners, 8 * k + x, -1)
    if verdict == MEET:
        _find_corners(view, polytope, face_count, job.corners, k, tolerance, extent)
    elif verdict == PART:
        for x in range(4):
            store(job.corners, 8 * k + 2 * x, v)
            store(job.corners, 8 * k + 2 * x + 1, w)
    else:
        pair = pair_of(view, polytope, a, b, b_to_a, load(job.radii, i) + load(job.radii, j))
        answer = answer_pair(pair, integer(-1), integer(-1))
        verdict = PART if answer.status == IS_APART else MEET
        axis = answer.normal
    if load(job.corners, 8 * k) >= 0:
        for x in range(4):
            store(job.corners, 8 * k + 2 * x, load(job.corners, 8 * k + 2 * x) - a[0])
            store(job.corners, 8 * k + 2 * x + 1, load(job.corners, 8 * k + 2 * x + 1) - b[0])
    put_triple(job.axis, k, axis if verdict == PART else (0.0, 0.0, 0.0))
    store(job.overlap, k, 1 if verdict == MEET else 0)


@kernel
def _ask_part(handle: Any, table: Any, polytopes: Any, count: int, task: int, task_count: int) -> None:
    view, job, polytope = open_hulls(handle), unpack(Job, table), open_polytope(polytopes, task)
    for k in range(task * count // task_count, (task + 1) * count // task_count):
        body_a, body_b = load(job.pairs, 2 * k), load(job.pairs, 2 * k + 1)
        i, j = load(job.which, body_a), load(job.which, body_b)
        middle_a, middle_b = triple_at(job.middles, i), triple_at(job.middles, j)
        b_to_a = relate_middles(read_pose(job.poses, body_a), read_pose(job.poses, body_b), middle_a, middle_b)
        extent = load(job.radii, i) + load(job.radii, j) + norm(b_to_a[1])
        if load(job.corners, 8 * k) >= 0:
            first_a, first_b, axis = load(job.starts, 3 * i), load(job.starts, 3 * j), triple_at(job.axis, k)
            if dot(axis, axis) > 0.0:
                v, w = first_a + load(job.corners, 8 * k), first_b + load(job.corners, 8 * k + 1)
                gap, v, w = _gap(view, v, w, axis, b_to_a)
                if gap > 2.0 * NEAR * TOLERANCE * extent:
                    store(job.corners, 8 * k, v - first_a)
                    store(job.corners, 8 * k + 1, w - first_b)
                    store(job.overlap, k, 0)
                    continue
            elif _still_meet(view, job.corners, k, first_a, first_b, b_to_a, extent):
                store(job.overlap, k, 1)
                continue
        _renew(view, polytope, job, k, i, j, b_to_a, extent)


@parallel
def _ask_parts(handle: Any, table: Any, polytopes: Any, count: int) -> None:
    for task in prange(TASKS):
        _ask_part(handle, table, polytopes, count, integer(task), TASKS)


@kernel
def _find_wrong(axis: Floats, corners: Integers, pairs: Any, which: Any, starts: Any) -> int:
    """The first row that is no proof for its hulls: an axis that is neither a unit vector nor zero, or corners that they do not have; −1 if none."""
    for k in range(len(pairs)):
        length = axis[k, 0] * axis[k, 0] + axis[k, 1] * axis[k, 1] + axis[k, 2] * axis[k, 2]
        known, good = corners[k, 0, 0] >= 0, length == 0.0 or abs(length - 1.0) <= ORTHONORMAL
        for side in range(2):
            hull = which[pairs[k, side]]
            count = starts[hull + 1, 0] - starts[hull, 0]
            for x in range(4):
                corner = corners[k, x, side]
                good = good and corner < count and (corner >= 0) == known
        if not good:
            return k
    return -1


def _read_last(last: Overlaps, hulls: Hulls, pairs: Integers, which: Integers) -> tuple[Floats, Integers]:
    """Copies of the proofs of an earlier result, checked against the hulls."""
    arrays.instance(last, "last", Overlaps)
    axis = np.array(arrays.coordinates(last.axis, "last.axis", (len(pairs), 3)))
    corners = whole_numbers(last.corners, "last.corners", (len(pairs), 4, 2))
    wrong = _find_wrong(axis, corners, pairs, which, hulls.starts)
    if wrong >= 0:
        raise InvalidInput("last", "is not a result for pairs of these hulls", wrong)
    return axis, corners


def overlap_many(
    hulls: Hulls,
    pairs: IndicesLike,
    poses: PosesLike,
    last: Overlaps | None = None,
    which: IndicesLike | None = None,
) -> Overlaps:
    """Whether many pairs of bodies overlap or touch: quicker than `track_many`, and always of the same opinion.

    Args:
        hulls: the shapes.
        pairs: (p,2) indices of bodies.
        poses: (n,4,4) of the bodies.
        last: an earlier result for the same pairs, whose proofs are tried first.
        which: (n,) the hull of each body; by default body i has hull i.

    Returns:
        One row per pair.

    Examples:
        >>> import numpy as np
        >>> from abut import convex
        >>> cube = convex.Hull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        >>> poses = np.tile(np.eye(4), (3, 1, 1))
        >>> poses[:, 0, 3] = 0.0, 3.0, 3.5
        >>> found = convex.overlap_many(convex.Hulls([cube]), [[0, 1], [1, 2]], poses, which=[0, 0, 0])
        >>> found, found.overlap.tolist()
        (Overlaps(2 pairs, 1 overlapping), [False, True])
    """
    rows, placed, chosen = read_bodies(hulls, pairs, poses, which)
    n = len(rows)
    axis, corners = np.zeros((n, 3)), np.full((n, 4, 2), -1, dtype=np.int64)
    if last is not None:
        axis, corners = _read_last(last, hulls, rows, chosen)
    overlap = np.empty(n, dtype=np.int64)
    given = [np.ascontiguousarray(array) for array in (chosen, placed, rows)]
    table = pack(Job, hulls.starts, hulls.middles, hulls.radii, *given, axis, corners, overlap)
    polytopes = memory.reserve()
    if n < PAIRS_FOR_THREADS:
        _ask_part(hulls.handle, table, polytopes.handle, n, 0, 1)
    else:
        _ask_parts(hulls.handle, table, polytopes.handle, n)
    return Overlaps(frozen(overlap != 0), frozen(axis), frozen(corners))
