"""One pair of hulls: walk, proof, and depth where they meet.

The features of the last answer are tried first: `proof` settles for most that they still are the closest. Else the walk goes on from them, and what
it arrives at is proved likewise. If no proof is found, all features are tried.

Hulls that meet, or come closer than NEAR, have a depth (`depth`); the direction is then that of the face or the edges it
comes from, if these give no greater depth than the polytope did.
"""

from typing import NamedTuple

import numpy as np

from abut.convex.depth.features import name_features, points_of
from abut.convex.depth.polytope import Polytope
from abut.convex.depth.search import FAILED, FLAT, FOUND, deepest_point, find_depth
from abut.convex.features.access import (
    EDGE,
    FACE,
    VERTEX,
    a_vertex_of,
    climb,
    edge_part,
    invert,
    leap,
    normal_of,
    offset_of,
    vertex_at,
)
from abut.convex.features.exhaustive import Range, find_closest, find_least_depth
from abut.convex.features.proof import NEAR, TOLERANCE, direction, prove
from abut.convex.features.walk import CIRCLE, OVERLAP, closest_points, walk, walk_once
from abut.convex.hull.tables import View
from abut.core.jit import element, integer, kernel
from abut.geometry.frames import Frame, carry, turn, turn_back
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, norm_sq, scale, subtract

IS_APART, IS_TOUCHING, IS_OVERLAPPING = 0, 1, 2
BY_WALK, BY_CIRCLE, BY_ALL = 0, 1, 2
MOST_IN_CIRCLE = 64
"""Features of a circle that are looked at. Circles have two or three; of a longer one the answer may fail its check, and all features are tried."""


class Pair(NamedTuple):
    """Two hulls, each by the range of its features, and the frames between them. extent: both radii and the distance of the middles."""

    hulls: View
    polytope: Polytope
    a: Range
    b: Range
    b_to_a: Frame
    a_to_b: Frame
    extent: float


@element
def pair_of(view: View, polytope: Polytope, a: Range, b: Range, b_to_a: Frame, radii: float) -> Pair:
    """The pair of hulls a and b. radii: the sum of both."""
    return Pair(view, polytope, a, b, b_to_a, invert(b_to_a), radii + norm(b_to_a[1]))


class Answer(NamedTuple):
    """Of one pair, in the frame of a: see `results.Tracks`. found_by: BY_WALK, BY_CIRCLE or BY_ALL."""

    status: int
    distance: float
    p: Vec3
    q: Vec3
    normal: Vec3
    a: int
    b: int
    steps: int
    found_by: int


@kernel
def _out_of_circle(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame, tolerance: float) -> tuple[int, int]:
    """Vertices and edges of the features a walk goes round, the closest of them: once around, by walks of one step."""
    least, own, other = np.inf, a_vertex_of(view, a) * 4 + VERTEX, a_vertex_of(view, b) * 4 + VERTEX
    x, y = a, b
    for _ in range(MOST_IN_CIRCLE):
        if x & 3 != FACE and y & 3 != FACE:
            p, q = closest_points(view, x, y, b_to_a, a_to_b)
            away = norm_sq(subtract(p, q))
            if away < least:
                least, own, other = away, x, y
        _, x, y = walk_once(view, x, y, b_to_a, a_to_b, tolerance)
        if x == a and y == b:
            break
    return own, other


@kernel
def _try_all(pair: Pair, steps: int, normal: Vec3) -> Answer:
    """The closest features of hulls that do not overlap. normal: what is answered if they touch."""
    view, b_to_a, a_to_b, extent = pair.hulls, pair.b_to_a, pair.a_to_b, pair.extent
    own, other = find_closest(view, pair.a, pair.b, b_to_a, a_to_b)
    p, q = closest_points(view, own, other, b_to_a, a_to_b)
    distance = norm(subtract(p, q))
    if distance <= NEAR * TOLERANCE * extent:
        return Answer(IS_TOUCHING, distance, p, q, normal, own, other, steps, BY_ALL)
    n = direction(view, own, other, p, q, b_to_a, extent)
    return Answer(IS_APART, distance, p, q, n, own, other, steps, BY_ALL)


class _Depth(NamedTuple):
    """status as of `find_depth`; the depth, its direction, the features it is between, the polytope's faces, and how it was found."""

    status: int
    depth: float
    normal: Vec3
    a: int
    b: int
    face_count: int
    found_by: int


@kernel
def _measure(pair: Pair, walked: Answer) -> _Depth:
    """The depth of two hulls, from the features and the direction that are known of them."""
    view, polytope, b_to_a, tolerance = pair.hulls, pair.polytope, pair.b_to_a, TOLERANCE * pair.extent
    status, depth, n, v, w, face_count, nearest = find_depth(
        view, polytope, walked.a, walked.b, b_to_a, walked.normal, tolerance
    )
    if status == FLAT:
        return _Depth(FLAT, depth, n, walked.a, walked.b, 0, walked.found_by)
    if status == FAILED:
        depth, n, own, other = find_least_depth(view, pair.a, pair.b, b_to_a)
        return _Depth(FAILED, depth, n, own, other, 0, BY_ALL)
    own, other, n, depth = name_features(view, polytope, nearest, v, w, n, depth, b_to_a, tolerance)
    return _Depth(FOUND, depth, n, own, other, face_count, walked.found_by)


@kernel
def _overlap(pair: Pair, found: _Depth, steps: int) -> Answer:
    """The answer for hulls of a known depth."""
    depth, n, tolerance = found.depth, found.normal, TOLERANCE * pair.extent
    is_held, p = deepest_point(pair.hulls, pair.polytope, found.face_count, depth, n, tolerance)
    q = add_scaled(p, n, -depth)
    if not is_held:
        p, q = points_of(pair.hulls, found.a, found.b, n, depth, pair.b_to_a)
    verdict = IS_OVERLAPPING if depth > NEAR * tolerance else IS_TOUCHING
    return Answer(verdict, -depth, p, q, n, found.a, found.b, steps, found.found_by)


@kernel
def _meet(pair: Pair, walked: Answer) -> Answer:
    """The answer for hulls that meet, or nearly (the walk's answer says IS_TOUCHING), or whose closest points failed the check (IS_APART)."""
    near = NEAR * TOLERANCE * pair.extent
    found = _measure(pair, walked)
    depth, n = found.depth, found.normal
    if found.status == FLAT or depth < -near or (walked.status == IS_APART and depth < 0.0):
        return _try_all(pair, walked.steps, n)
    if walked.status == IS_TOUCHING and depth <= near:
        by = found.found_by
        return Answer(IS_TOUCHING, walked.distance, walked.p, walked.q, n, walked.a, walked.b, walked.steps, by)
    return _overlap(pair, found, walked.steps)


@element
def _reach_along(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame) -> tuple[float, Vec3]:
    """How far apart two features are along their own direction, of a face or of crossed edges, from a to b; 0 where they have none."""
    i, j = a >> 2, b >> 2
    if a & 3 == FACE:
        n = normal_of(view, i)
        return dot(n, carry(b_to_a, vertex_at(view, a_vertex_of(view, b)))) - offset_of(view, i), n
    if b & 3 == FACE:
        n = normal_of(view, j)
        height = dot(n, carry(a_to_b, vertex_at(view, a_vertex_of(view, a)))) - offset_of(view, j)
        return height, scale(turn(b_to_a[0], n), -1.0)
    if a & 3 == EDGE and b & 3 == EDGE:
        n = cross(edge_part(view, i, 3), turn(b_to_a[0], edge_part(view, j, 3)))
        size = norm(n)
        if size > 0.0:
            inwards = dot(n, edge_part(view, i, 7)) + dot(n, edge_part(view, i, 10))
            n = scale(n, (-1.0 if inwards > 0.0 else 1.0) / size)
            return dot(n, subtract(carry(b_to_a, edge_part(view, j, 0)), edge_part(view, i, 0))), n
    return 0.0, (0.0, 0.0, 0.0)


@kernel
def _answer_from(pair: Pair, first_a: int, first_b: int) -> Answer:
    """Closest points or depth of two hulls, walking from two features, negative where none are known."""
    view, b_to_a, extent, middle = pair.hulls, pair.b_to_a, pair.extent, pair.b_to_a[1]
    away = norm(middle)
    guess = scale(middle, 1.0 / away) if away > 0.0 else (1.0, 0.0, 0.0)
    own, other = first_a, first_b
    if own < 0 or other < 0:
        back = turn_back(b_to_a[0], scale(guess, -1.0))
        own = climb(view, leap(view, pair.a[0], guess), guess)[0] * 4 + VERTEX
        other = climb(view, leap(view, pair.b[0], back), back)[0] * 4 + VERTEX
    holds, distance, p, q, n = prove(view, own, other, b_to_a, pair.a_to_b, extent)
    if holds:
        return Answer(IS_APART, distance, p, q, n, own, other, 0, BY_WALK)
    tolerance = TOLERANCE * extent
    reach, n = _reach_along(view, own, other, b_to_a, pair.a_to_b)
    if reach < -NEAR * tolerance:  # as they do where the hulls overlapped: the walk would only lead into them
        known = Answer(IS_OVERLAPPING, reach, p, q, n, own, other, 0, BY_WALK)
        found = _measure(pair, known)
        if found.status == FOUND and found.depth > NEAR * tolerance:
            return _overlap(pair, found, 0)
    return _walk_on(pair, own, other, guess)


@kernel
def _walk_on(pair: Pair, own: int, other: int, guess: Vec3) -> Answer:
    """The answer where the features are not known to be the closest. guess: from the middle of a to that of b."""
    view, b_to_a, a_to_b, extent = pair.hulls, pair.b_to_a, pair.a_to_b, pair.extent
    tolerance = TOLERANCE * extent
    outcome, own, other, steps = walk(view, own, other, b_to_a, a_to_b, tolerance)
    found_by, status, distance, n = BY_WALK, IS_OVERLAPPING, 0.0, guess
    if outcome == CIRCLE:
        found_by = BY_CIRCLE
        own, other = _out_of_circle(view, own, other, b_to_a, a_to_b, tolerance)
    p, q = closest_points(view, own, other, b_to_a, a_to_b)
    if outcome != OVERLAP:
        distance = norm(subtract(p, q))
        status = IS_TOUCHING
        if distance > NEAR * tolerance:
            status = IS_APART
            holds, distance, p, q, n = prove(view, own, other, b_to_a, a_to_b, extent)
            if holds:
                return Answer(IS_APART, distance, p, q, n, own, other, steps, found_by)
    elif own & 3 == FACE or other & 3 == FACE:
        n = direction(view, own, other, p, q, b_to_a, extent)
    return _meet(pair, Answer(status, distance, p, q, n, own, other, steps, found_by))


@kernel
def answer_pair(pair: Pair, first_a: int, first_b: int) -> Answer:
    """Closest points or depth of two hulls, walking from two features, negative where none are known.

    The status is the same from all features. Distances from different ones agree to a quarter of NEAR (see `proof.CHECKED`), so where that
    could make the difference between touching and not, the features are forgotten."""
    answer = _answer_from(pair, first_a, first_b)
    if first_a < 0 or first_b < 0:
        return answer
    near = NEAR * TOLERANCE * pair.extent
    if abs(answer.distance) > 2.0 * near or abs(answer.distance) < 0.5 * near:
        return answer
    return _answer_from(pair, integer(-1), integer(-1))
