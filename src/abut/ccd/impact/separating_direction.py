"""Directions that keep two features apart, and for how long: the certificate that a pair is free.

Along a fixed direction s the numbers g_j(t) = s·r_j(t) are linear. A vertex and a face are apart while g1, g2, g3 all have one sign, two edges
while g2, g3, g2 − g1, g3 − g1 do. So any s, however it was found, yields an interval of time during which the pair is surely free, by three or
four linear inequalities: `carve`. It needs no accuracy in s.

Rounding, with u = 2⁻⁵³ and S = Σ|s_i|·size_i: g is off by 4u·S (r by u, products and sums by 3u), a difference of two by 10u·S. An end of the
interval is the root of the line through two rounded numbers, each below 2S + e and rounded once more (2u·S); it is off by 2u of itself, which
changes the line's value there by 8u·S. Together 20u·S; the numbers are compared with e = 32u·S instead of zero.
"""

from abut.ccd.impact.relative_paths import FLOOR, UNIT, RelativePaths, paths_at
from abut.core.jit import element, inlined
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, norm_sq, subtract

BOUND_SEPARATION = 32.0 * UNIT
NONE_LO, NONE_HI = 2.0, -1.0
"""The empty interval."""
DIRECTION_COUNT = 13


@inlined
def _clip(at_t0: float, at_t1: float, lo: float, hi: float) -> tuple[float, float]:
    """The part of [lo, hi] where a linear function is positive."""
    if at_t0 > 0.0:
        if not at_t1 > 0.0:
            hi = min(hi, at_t0 / (at_t0 - at_t1))
    elif at_t1 > 0.0:
        lo = max(lo, at_t0 / (at_t0 - at_t1))
    else:
        return NONE_LO, NONE_HI
    return lo, hi


@inlined
def carve(is_face: bool, p: RelativePaths, sizes: Vec3, s: Vec3, t: float, margin: float) -> tuple[float, float]:
    """The largest interval around t on which s surely keeps the pair more than margin/|s| apart; lo > hi: none.

    `is_face`: a vertex and a face, else two edges. `margin` ≥ 0 is in the units of s·r."""
    e = BOUND_SEPARATION * (abs(s[0]) * sizes[0] + abs(s[1]) * sizes[1] + abs(s[2]) * sizes[2]) + (margin + FLOOR)
    a0, b0, c0 = dot(s, p[0]), dot(s, p[1]), dot(s, p[2])
    a1, b1, c1 = dot(s, p[3]), dot(s, p[4]), dot(s, p[5])
    if (1.0 - t) * b0 + t * b1 < 0.0:
        a0, b0, c0, a1, b1, c1 = -a0, -b0, -c0, -a1, -b1, -c1
    lo, hi = _clip(b0 - e, b1 - e, 0.0, 1.0)
    lo, hi = _clip(c0 - e, c1 - e, lo, hi)
    if is_face:
        lo, hi = _clip(a0 - e, a1 - e, lo, hi)
    else:
        lo, hi = _clip((b0 - a0) - e, (b1 - a1) - e, lo, hi)
        lo, hi = _clip((c0 - a0) - e, (c1 - a1) - e, lo, hi)
    return (lo, hi) if lo <= t <= hi else (NONE_LO, NONE_HI)


@element
def _perpendicular(u: Vec3, p: Vec3) -> Vec3:
    """The part of p that is perpendicular to u; zero when u is."""
    length_sq = norm_sq(u)
    return add_scaled(p, u, -dot(u, p) / length_sq) if length_sq > 0.0 else (0.0, 0.0, 0.0)


@element
def _direction_face(index: int, r1: Vec3, r2: Vec3, r3: Vec3) -> Vec3:
    """A direction that may part the origin from triangle r1 r2 r3."""
    if index < 6:
        n = cross(subtract(r2, r1), subtract(r3, r1))
        if index == 0:
            return n
        if index < 3:
            return cross(subtract(r2, r1) if index == 1 else subtract(r3, r2), n)
        if index == 3:
            return cross(subtract(r1, r3), n)
        return _perpendicular(subtract(r2, r1), r1) if index == 4 else _perpendicular(subtract(r3, r2), r2)
    if index == 6:
        return _perpendicular(subtract(r1, r3), r3)
    if index < 10:
        return r1 if index == 7 else (r2 if index == 8 else r3)
    return subtract(r2, r1) if index == 10 else (subtract(r3, r2) if index == 11 else subtract(r3, r1))


@element
def _direction_edges(index: int, r1: Vec3, r2: Vec3, r3: Vec3) -> Vec3:
    """A direction that may part segment 0 r1 from segment r2 r3."""
    other = subtract(r3, r2)
    if index < 3:
        n = cross(r1, other)
        return n if index == 0 else cross(r1 if index == 1 else other, n)
    if index == 3:  # between the middles
        return subtract(add(r2, r3), r1)
    if index < 7:
        u = other if index == 5 else r1
        return _perpendicular(u, r3 if index == 6 else r2)
    if index < 10:
        return r1 if index == 7 else (r2 if index == 8 else r3)
    return subtract(r2, r1) if index == 10 else (subtract(r3, r1) if index == 11 else other)


@element
def carve_by_list(is_face: bool, p: RelativePaths, sizes: Vec3, t: float, until: float) -> tuple[float, float]:
    """The longest interval around t that one of the candidate directions at t yields; the first that holds [t, until].

    Normals, edge normals, perpendiculars, the r_j and the edges themselves: coplanar and collinear motion and zero-length
    edges are covered without a special case."""
    r1, r2, r3 = paths_at(p, t)
    lo, hi = NONE_LO, NONE_HI
    for index in range(DIRECTION_COUNT):
        s = _direction_face(index, r1, r2, r3) if is_face else _direction_edges(index, r1, r2, r3)
        left, right = carve(is_face, p, sizes, s, t, 0.0)
        if right - left > hi - lo:
            lo, hi = left, right
            if hi >= until:
                break
    return lo, hi
