"""How near a moving point, segment or triangle comes to a moving triangle, and the first time that it is nearer than a distance.

Conservative advancement along fixed directions (Mirtich 1996; here without a bound on velocities): closest points at a time t give a direction n, and
along n all corners go straight, so the first time at which two of them may be nearer than the distance along n is a root of a linear function. Until
then the two are certainly further apart; from there the search goes on. So a time is never late.

A pair that begins nearer than the distance is kept from coming nearer than it is. PAD covers the rounding: coordinates are taken relative to a corner
of the wall, with S their largest magnitude; a difference, its product with a unit vector and the sum of three are off by 8·2⁻⁵³·S at most, closest
points and their direction by some 20·2⁻⁵³·S. A direction that is off costs time and never safety.
"""

import math

from abut.core.jit import element, kernel, stay_apart
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, dot, lerp, scale, subtract

Corners = tuple[Vec3, Vec3, Vec3]
Nearest = tuple[Vec3, Vec3, Vec3, Vec3, float]
PAD = 2.0**-46
"""Of the largest coordinate."""
MOST_STEPS = 100
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
        most = max(most, max(abs(corner[0]), max(abs(corner[1]), abs(corner[2]))))
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


@kernel
def first_within(
    size: int, a0: Corners, a1: Corners, w0: Corners, w1: Corners, least: float, last: float
) -> tuple[float, Vec3, Vec3, Vec3, Vec3, float]:
    """The first time up to `last` at which two that go straight from time 0 to 1 are nearer than `least`, or than they are at first:
    (time or NEVER, weights on the body, weights on the wall, the direction to the wall, the point of the wall, the distance then)."""
    stay_apart()
    origin = w0[0]
    a0, a1, w0, w1 = shifted(a0, origin), shifted(a1, origin), shifted(w0, origin), shifted(w1, origin)
    pad = PAD * max(max(largest(a0), largest(a1)), max(largest(w0), largest(w1)))
    t, none = 0.0, (0.0, 0.0, 0.0)
    bound = least
    shares, weights, on_wall, n, gap = none, none, none, none, 0.0
    for step in range(MOST_STEPS):
        shares, weights, on_body, on_wall, gap = nearest(size, between(a0, a1, t), between(w0, w1, t))
        if step == 0:
            bound = min(least, gap - pad)
        if not gap > pad:
            break
        n = scale(subtract(on_wall, on_body), 1.0 / gap)
        end = _advance(size, a0, a1, w0, w1, n, bound + 0.25 * pad, t, last)
        if end >= last:
            return NEVER, shares, weights, n, on_wall, gap
        if end - t <= LEAST_STEP or (end - t <= NEAR_STEP and gap <= bound * NEAR_ENOUGH + pad):
            break
        t = end
    point = (on_wall[0] + origin[0], on_wall[1] + origin[1], on_wall[2] + origin[2])
    return t, shares, weights, n, point, gap
