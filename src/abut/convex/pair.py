"""One pair of hulls: walk, check, and depth where they meet.

The features of the last answer are tried first: `check` proves of most that they still are the closest. Else the walk goes on from them, and what it
arrives at is proved likewise. If no proof is found, all features are tried.

Hulls that meet, or come closer than NEAR, are asked for their depth (`polytope`); the direction is then that of the face or the edges it
comes from, if these give no greater depth than the polytope did.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.convex.depth import FAILED, FLAT, FOUND, deepest_point, find_depth
from abut.convex.depth_features import name_features, points_of
from abut.convex.exhaustive import Range, find_closest, find_least_depth
from abut.convex.features import (
    EDGE,
    FACE,
    VERTEX,
    Frame,
    a_vertex_of,
    apply,
    climb,
    edge_part,
    normal_of,
    offset_of,
    turn,
    turn_back,
    vertex_at,
)
from abut.convex.hull import View
from abut.convex.polytope import Polytope
from abut.convex.proof import NEAR, TOLERANCE, direction, prove
from abut.convex.walk import CIRCLE, OVERLAP, closest_points, walk, walk_once
from abut.core.jit import element, integer, kernel
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm_sq, scale, subtract

IS_APART, IS_TOUCHING, IS_OVERLAPPING = 0, 1, 2
BY_WALK, BY_CIRCLE, BY_ALL = 0, 1, 2
MOST_IN_CIRCLE = 64
"""Features of a circle that are looked at. Circles have two or three; of a longer one the answer may fail its check, and all features are tried."""


class Answer(NamedTuple):
    """Of one pair, in the frame of a: see `results.Tracks`. way: BY_WALK, BY_CIRCLE or BY_ALL."""

    status: int
    distance: float
    p: Vec3
    q: Vec3
    normal: Vec3
    a: int
    b: int
    steps: int
    way: int


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
def _try_all(
    view: View, a: Range, b: Range, b_to_a: Frame, a_to_b: Frame, extent: float, steps: int, normal: Vec3
) -> Answer:
    """The closest features of hulls that do not overlap. normal: what is answered if they touch."""
    own, other = find_closest(view, a, b, b_to_a, a_to_b)
    p, q = closest_points(view, own, other, b_to_a, a_to_b)
    distance = math.sqrt(norm_sq(subtract(p, q)))
    if distance <= NEAR * TOLERANCE * extent:
        return Answer(IS_TOUCHING, distance, p, q, normal, own, other, steps, BY_ALL)
    n = direction(view, own, other, p, q, b_to_a, extent)
    return Answer(IS_APART, distance, p, q, n, own, other, steps, BY_ALL)


class _Depth(NamedTuple):
    """status as of `find_depth`; the depth, its direction, the features it is between, the polytope's faces, and the way it was found."""

    status: int
    depth: float
    normal: Vec3
    a: int
    b: int
    face_count: int
    way: int


@kernel
def _measure(
    view: View, polytope: Polytope, walked: Answer, a: Range, b: Range, b_to_a: Frame, tolerance: float
) -> _Depth:
    """The depth of two hulls, from the features and the direction that are known of them."""
    status, depth, n, v, w, face_count, nearest = find_depth(
        view, polytope, walked.a, walked.b, b_to_a, walked.normal, tolerance
    )
    if status == FLAT:
        return _Depth(FLAT, depth, n, walked.a, walked.b, 0, walked.way)
    if status == FAILED:
        depth, n, own, other = find_least_depth(view, a, b, b_to_a)
        return _Depth(FAILED, depth, n, own, other, 0, BY_ALL)
    own, other, n, depth = name_features(view, polytope, nearest, v, w, n, depth, b_to_a, tolerance)
    return _Depth(FOUND, depth, n, own, other, face_count, walked.way)


@kernel
def _overlap(view: View, polytope: Polytope, found: _Depth, steps: int, b_to_a: Frame, tolerance: float) -> Answer:
    """The answer for hulls of a known depth."""
    depth, n = found.depth, found.normal
    is_held, p = deepest_point(view, polytope, found.face_count, depth, n, tolerance)
    q = add_scaled(p, n, -depth)
    if not is_held:
        p, q = points_of(view, found.a, found.b, n, depth, b_to_a)
    verdict = IS_OVERLAPPING if depth > NEAR * tolerance else IS_TOUCHING
    return Answer(verdict, -depth, p, q, n, found.a, found.b, steps, found.way)


@kernel
def _meet(
    view: View, polytope: Polytope, walked: Answer, a: Range, b: Range, b_to_a: Frame, a_to_b: Frame, extent: float
) -> Answer:
    """The answer for hulls that meet, or nearly (the walk's answer says IS_TOUCHING), or whose closest points failed the check (IS_APART)."""
    tolerance, near = TOLERANCE * extent, NEAR * TOLERANCE * extent
    found = _measure(view, polytope, walked, a, b, b_to_a, tolerance)
    depth = found.depth
    if found.status == FLAT or depth < -near or (walked.status == IS_APART and depth < 0.0):
        return _try_all(view, a, b, b_to_a, a_to_b, extent, walked.steps, found.normal)
    if walked.status == IS_TOUCHING and depth <= near:
        n = found.normal
        return Answer(IS_TOUCHING, walked.distance, walked.p, walked.q, n, walked.a, walked.b, walked.steps, found.way)
    return _overlap(view, polytope, found, walked.steps, b_to_a, tolerance)


@element
def _reach_along(view: View, a: int, b: int, b_to_a: Frame, a_to_b: Frame) -> tuple[float, Vec3]:
    """How far apart two features are along their own direction, of a face or of crossed edges, from a to b; 0 where they have none."""
    i, j = a >> 2, b >> 2
    if a & 3 == FACE:
        n = normal_of(view, i)
        return dot(n, apply(b_to_a, vertex_at(view, a_vertex_of(view, b)))) - offset_of(view, i), n
    if b & 3 == FACE:
        n = normal_of(view, j)
        height = dot(n, apply(a_to_b, vertex_at(view, a_vertex_of(view, a)))) - offset_of(view, j)
        return height, scale(turn(b_to_a, n), -1.0)
    if a & 3 == EDGE and b & 3 == EDGE:
        n = cross(edge_part(view, i, 3), turn(b_to_a, edge_part(view, j, 3)))
        size = math.sqrt(norm_sq(n))
        if size > 0.0:
            inwards = dot(n, edge_part(view, i, 7)) + dot(n, edge_part(view, i, 10))
            n = scale(n, (-1.0 if inwards > 0.0 else 1.0) / size)
            return dot(n, subtract(apply(b_to_a, edge_part(view, j, 0)), edge_part(view, i, 0))), n
    return 0.0, (0.0, 0.0, 0.0)


@kernel
def _answer_from(
    view: View,
    polytope: Polytope,
    first_a: int,
    first_b: int,
    a: Range,
    b: Range,
    b_to_a: Frame,
    a_to_b: Frame,
    radii: float,
) -> Answer:
    """Closest points or depth of hulls a and b, walking from two features, negative where none are known. radii: the sum of both."""
    middle = (b_to_a[9], b_to_a[10], b_to_a[11])
    away = math.sqrt(norm_sq(middle))
    extent = radii + away
    guess = scale(middle, 1.0 / away) if away > 0.0 else (1.0, 0.0, 0.0)
    own, other = first_a, first_b
    if own < 0 or other < 0:
        own = climb(view, a[0], guess)[0] * 4 + VERTEX
        other = climb(view, b[0], turn_back(b_to_a, scale(guess, -1.0)))[0] * 4 + VERTEX
    holds, distance, p, q, n = prove(view, own, other, b_to_a, a_to_b, extent)
    if holds:
        return Answer(IS_APART, distance, p, q, n, own, other, 0, BY_WALK)
    tolerance = TOLERANCE * extent
    reach, n = _reach_along(view, own, other, b_to_a, a_to_b)
    if reach < -NEAR * tolerance:  # as they do where the hulls overlapped: the walk would only lead into them
        known = Answer(IS_OVERLAPPING, reach, p, q, n, own, other, 0, BY_WALK)
        found = _measure(view, polytope, known, a, b, b_to_a, tolerance)
        if found.status == FOUND and found.depth > NEAR * tolerance:
            return _overlap(view, polytope, found, 0, b_to_a, tolerance)
    return _walk_on(view, polytope, own, other, a, b, b_to_a, a_to_b, guess, extent)


@kernel
def _walk_on(
    view: View,
    polytope: Polytope,
    own: int,
    other: int,
    a: Range,
    b: Range,
    b_to_a: Frame,
    a_to_b: Frame,
    guess: Vec3,
    extent: float,
) -> Answer:
    """The answer where the features are not known to be the closest. guess: from the middle of a to that of b."""
    tolerance = TOLERANCE * extent
    outcome, own, other, steps = walk(view, own, other, b_to_a, a_to_b, tolerance)
    way, status, distance, n = BY_WALK, IS_OVERLAPPING, 0.0, guess
    if outcome == CIRCLE:
        way = BY_CIRCLE
        own, other = _out_of_circle(view, own, other, b_to_a, a_to_b, tolerance)
    p, q = closest_points(view, own, other, b_to_a, a_to_b)
    if outcome != OVERLAP:
        distance = math.sqrt(norm_sq(subtract(p, q)))
        status = IS_TOUCHING
        if distance > NEAR * tolerance:
            status = IS_APART
            holds, distance, p, q, n = prove(view, own, other, b_to_a, a_to_b, extent)
            if holds:
                return Answer(IS_APART, distance, p, q, n, own, other, steps, way)
    elif own & 3 == FACE or other & 3 == FACE:
        n = direction(view, own, other, p, q, b_to_a, extent)
    walked = Answer(status, distance, p, q, n, own, other, steps, way)
    return _meet(view, polytope, walked, a, b, b_to_a, a_to_b, extent)


@kernel
def answer_pair(
    view: View,
    polytope: Polytope,
    first_a: int,
    first_b: int,
    a: Range,
    b: Range,
    b_to_a: Frame,
    a_to_b: Frame,
    radii: float,
) -> Answer:
    """Closest points or depth of hulls a and b, walking from two features, negative where none are known. radii: the sum of both.

    The status is the same from all features. Distances from different ones agree to a quarter of NEAR (see `check.CHECKED`), so where that
    could make the difference between touching and not, the features are forgotten."""
    answer = _answer_from(view, polytope, first_a, first_b, a, b, b_to_a, a_to_b, radii)
    if first_a < 0 or first_b < 0:
        return answer
    near = NEAR * TOLERANCE * (radii + math.sqrt(norm_sq((b_to_a[9], b_to_a[10], b_to_a[11]))))
    if abs(answer.distance) > 2.0 * near or abs(answer.distance) < 0.5 * near:
        return answer
    return _answer_from(view, polytope, integer(-1), integer(-1), a, b, b_to_a, a_to_b, radii)
