"""How near a moving point, segment or triangle comes to a moving triangle, and the first time that it is nearer than a distance.

Conservative advancement along fixed directions (Mirtich 1996; here without a bound on velocities): closest points at a time t give a direction n, and
along n all corners go straight, so the first time at which two of them may be nearer than the distance along n is a root of a linear function. Until
then the two are certainly further apart; from there the search goes on. So a time is never late.

A body that turns about what it touches has corners that go on towards the wall's side of every plane between the two, past the wall. So where steps
are short it is halved, again and again, towards the wall: the halves that are further away have planes of their own. And a pair that begins at the
distance, or nearer by no more than BAND, may come nearer by a little (GIVE), down to the band's end. One that is nearer than that is kept from
coming nearer. PAD covers the rounding: coordinates are taken relative to a corner of the wall, with S their largest magnitude; a difference, its
product with a unit vector and the sum of three are off by 8·2⁻⁵³·S at most, closest points and their direction by some 20·2⁻⁵³·S. A direction that
is off costs time and never safety.
"""

import math

from abut.core.jit import element, kernel, stay_apart
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, distance_sq, dot, lerp, scale, subtract

Corners = tuple[Vec3, Vec3, Vec3]
Nearest = tuple[Vec3, Vec3, Vec3, Vec3, float]
PAD = 2.0**-46
"""Of the largest coordinate."""
BAND, GIVE = 2.0**-10 - 2.0**-20, 2.0**-13
"""Of the distance."""
MOST_HALVES = 20
MOST_STEPS = 100
SHORT_STEP = 2.0**-3
LEAST_STEP, NEAR_STEP = 2.0**-40, 2.0**-12
"""Of the motion: a shorter step is none; one that is shorter than the second ends the search where the two are as near as they may."""
NEAR_ENOUGH = 1.0 + 2.0**-20
NEVER = math.inf


@kernel
def _nearest_to_point(p: Vec3, w: Corners) -> tuple[Vec3, Vec3, float]:
    stay_apart()
    return closest_point_triangle(p, w[0], w[1], w[2])


@kernel
def _nearest_of_segments(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> tuple[float, float, Vec3, Vec3, float]:
    stay_apart()
    return closest_segment_segment(p, q, r, s)


@element
def _on_side(i: int, t: float) -> Vec3:
    """Weights of the point at t on the side from corner i to the next."""
    if i == 0:
        return (1.0 - t, t, 0.0)
    return (0.0, 1.0 - t, t) if i == 1 else (t, 0.0, 1.0 - t)


@kernel
def nearest(size: int, a: Corners, w: Corners) -> Nearest:
    """Weights on the first `size` corners of a, and on w, the two points, and their distance, of two that do not cross: of corners and triangles, and
    of sides and sides. The triangle of a point or of a segment is one without width."""
    stay_apart()
    shares, on_body = (1.0, 0.0, 0.0), a[0]
    weights, on_wall, best = _nearest_to_point(a[0], w)
    for i in range(1, size):
        other, point, gap_sq = _nearest_to_point(a[i], w)
        if gap_sq < best:
            shares, weights, on_body, on_wall, best = _on_side(i, 0.0), other, a[i], point, gap_sq
    if size > 1:
        for i in range(1 if size == 2 else 3):
            for j in range(3):
                s, t, here, there, gap_sq = _nearest_of_segments(a[i], a[(i + 1) % 3], w[j], w[(j + 1) % 3])
                if gap_sq < best:
                    shares, weights, on_body, on_wall, best = _on_side(i, s), _on_side(j, t), here, there, gap_sq
    if size == 3:
        for j in range(3):
            other, point, gap_sq = _nearest_to_point(w[j], a)
            if gap_sq < best:
                shares, weights, on_body, on_wall, best = other, _on_side(j, 0.0), point, w[j], gap_sq
    return shares, weights, on_body, on_wall, math.sqrt(best)


@element
def corner_weights(i: int) -> Vec3:
    """Weights of corner i."""
    return _on_side(i, 0.0)


@kernel
def nearest_to_corner(size: int, a: Corners, p: Vec3) -> tuple[Vec3, Vec3, float]:
    """Weights of the point of a segment or triangle that is nearest to p, that point, and the distance."""
    stay_apart()
    triangle = (a[0], a[1], a[2] if size == 3 else a[1])
    shares, on_body, gap_sq = _nearest_to_point(p, triangle)
    return (shares[0], shares[1] + shares[2], 0.0) if size == 2 else shares, on_body, math.sqrt(gap_sq)


@element
def shifted(a: Corners, origin: Vec3) -> Corners:
    """Seen from a point."""
    return subtract(a[0], origin), subtract(a[1], origin), subtract(a[2], origin)


@element
def between(a: Corners, b: Corners, t: float) -> Corners:
    """At a time."""
    return lerp(a[0], b[0], t), lerp(a[1], b[1], t), lerp(a[2], b[2], t)


@element
def largest(a: Corners) -> float:
    """The largest magnitude of a coordinate."""
    most = 0.0
    for corner in a:
        most = max(most, abs(corner[0]), abs(corner[1]), abs(corner[2]))
    return most


@kernel
def _advance(
    size: int, a0: Corners, a1: Corners, w0: Corners, w1: Corners, n: Vec3, bound: float, t: float, last: float
) -> float:
    """Until when the gap along n stays above a bound that it is not below at t."""
    stay_apart()
    end = last
    for i in range(size):
        for j in range(3):
            begin, after = dot(n, subtract(w0[j], a0[i])), dot(n, subtract(w1[j], a1[i]))
            if begin + (after - begin) * last < bound:
                root = (begin - bound) / (begin - after) if begin > after else t
                end = min(end, max(root, t))
    return end


@element
def _halve(size: int, a: Corners, i: int) -> tuple[Corners, Corners]:
    """The halves of a segment, or of a triangle on both sides of the middle of the side from corner i on."""
    if size == 2:
        middle = lerp(a[0], a[1], 0.5)
        return (a[0], middle, middle), (middle, a[1], a[1])
    p, q, r = a[i], a[(i + 1) % 3], a[(i + 2) % 3]
    middle = lerp(p, q, 0.5)
    return (p, middle, r), (middle, q, r)


@kernel
def _advance_by_halves(
    size: int, a0: Corners, a1: Corners, w0: Corners, w1: Corners, bound: float, t: float, last: float
) -> float:
    """`_advance` of the halves that are further from the wall, one after another, and of what is left, each along its own direction."""
    stay_apart()
    end, rest, wall = last, t, between(w0, w1, t)
    for _ in range(MOST_HALVES):
        longest = 0
        for i in range(1, size if size == 3 else 1):
            p, q = a0[i], a0[(i + 1) % 3]
            if distance_sq(p, q) > distance_sq(a0[longest], a0[(longest + 1) % 3]):
                longest = i
        one0, other0 = _halve(size, a0, longest)
        one1, other1 = _halve(size, a1, longest)
        _, _, p, q, gap = nearest(size, between(one0, one1, t), wall)
        _, _, r, s, other_gap = nearest(size, between(other0, other1, t), wall)
        if not min(gap, other_gap) > 0.0:
            return t
        if gap > other_gap:
            near0, near1, far0, far1 = other0, other1, one0, one1
            n, toward = scale(subtract(s, r), 1.0 / other_gap), scale(subtract(q, p), 1.0 / gap)
        else:
            near0, near1, far0, far1 = one0, one1, other0, other1
            n, toward = scale(subtract(q, p), 1.0 / gap), scale(subtract(s, r), 1.0 / other_gap)
        end = min(end, _advance(size, far0, far1, w0, w1, toward, bound, t, end))
        a0, a1 = near0, near1
        rest = _advance(size, a0, a1, w0, w1, n, bound, t, end)
        if rest >= end or end <= t:
            return end
    return min(end, rest)


@kernel
def first_within(
    size: int, a0: Corners, a1: Corners, w0: Corners, w1: Corners, least: float, last: float
) -> tuple[float, Vec3, Vec3, Vec3, Vec3, float]:
    """The first time up to `last` at which two that go straight from time 0 to 1 are nearer than `least`, or than they are at first:
    (time or NEVER, weights on the body, weights on the wall, the direction to the wall, the point of the wall, the distance then)."""
    stay_apart()
    origin = w0[0]
    a0, a1, w0, w1 = shifted(a0, origin), shifted(a1, origin), shifted(w0, origin), shifted(w1, origin)
    pad = PAD * max(largest(a0), largest(a1), largest(w0), largest(w1))
    t, none = 0.0, (0.0, 0.0, 0.0)
    bound = least
    shares, weights, on_wall, n, gap = none, none, none, none, 0.0
    for step in range(MOST_STEPS):
        shares, weights, on_body, on_wall, gap = nearest(size, between(a0, a1, t), between(w0, w1, t))
        if step == 0:
            hardest = least * (1.0 - BAND)
            bound = min(least, max(gap - GIVE * least, hardest)) if gap > hardest + pad else gap - pad
        if not gap > pad:
            break
        n = scale(subtract(on_wall, on_body), 1.0 / gap)
        end = _advance(size, a0, a1, w0, w1, n, bound + 0.25 * pad, t, last)
        if end < last and end - t < SHORT_STEP and size > 1:
            end = max(end, _advance_by_halves(size, a0, a1, w0, w1, bound + 0.25 * pad, t, last))
        if end >= last:
            return NEVER, shares, weights, n, on_wall, gap
        if end - t <= LEAST_STEP or (end - t <= NEAR_STEP and gap <= bound * NEAR_ENOUGH + pad):
            break
        t = end
    point = (on_wall[0] + origin[0], on_wall[1] + origin[1], on_wall[2] + origin[2])
    return t, shares, weights, n, point, gap
