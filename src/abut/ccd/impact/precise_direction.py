"""Directions along which two features are as far apart as they are, to rounding: what closest points do not give where the gap is small.

The difference of two closest points is off by rounding of the features' size, and its direction by as much of the gap: of features of
size 1 that are g apart it misses some 2⁻⁵²/g of the gap. But the closest points lie inside a vertex, an edge or a face of each feature, and the
direction between these is a polynomial of their corners: a difference of vertices, (u × r) × u across an edge u, the cross product of two edges. Here
they are computed in twice the precision, so that a direction is off by rounding of itself, on thin triangles and nearly parallel edges too.
What is thinner than rounding is as good as an edge or a vertex, whose directions are in the list as well.
"""

from abut.ccd.impact.relative_paths import RelativePaths, paths_at
from abut.ccd.impact.separating_direction import NONE_HI, carve
from abut.core.jit import element
from abut.geometry.exact.double_double import Wide, rounded, wide_cross, wide_difference, widen
from abut.geometry.vec import Vec3, norm, subtract

FACE_COUNT, EDGES_COUNT = 7, 9


@element
def _across(u: Wide, r: Wide) -> Vec3:
    """The part of r across u, times |u|²."""
    return rounded(wide_cross(wide_cross(u, r), u))


@element
def fine_direction(is_face: bool, index: int, r1: Vec3, r2: Vec3, r3: Vec3) -> Vec3:
    """Direction `index` of those between the origin and the parts of triangle r1 r2 r3, or between those of segments 0 r1 and r2 r3."""
    if is_face:
        if index == 0:
            return rounded(wide_cross(wide_difference(r2, r1), wide_difference(r3, r1)))
        if index < 4:
            p, q = (r1, r2) if index == 1 else ((r2, r3) if index == 2 else (r3, r1))
            return _across(wide_difference(q, p), widen(p))
        return r1 if index == 4 else (r2 if index == 5 else r3)
    if index < 3:
        other = wide_difference(r3, r2)
        if index == 0:
            return rounded(wide_cross(widen(r1), other))
        return _across(other, widen(r2) if index == 1 else wide_difference(r2, r1))
    if index < 5:
        return _across(widen(r1), widen(r2 if index == 3 else r3))
    if index < 7:
        return r2 if index == 5 else r3
    return subtract(r2 if index == 7 else r3, r1)


@element
def carve_finely(is_face: bool, p: RelativePaths, sizes: Vec3, distance: float, t: float, until: float) -> float:
    """The latest time up to which one of the directions at t surely keeps the pair more than `distance` apart; below 0 if none does."""
    r1, r2, r3 = paths_at(p, t)
    latest = NONE_HI
    for index in range(FACE_COUNT if is_face else EDGES_COUNT):
        s = fine_direction(is_face, index, r1, r2, r3)
        largest = max(abs(s[0]), abs(s[1]), abs(s[2]))
        if largest > 0.0:  # of length 1 to 2: the margin must not vanish
            s = (s[0] / largest, s[1] / largest, s[2] / largest)
            latest = max(latest, carve(is_face, p, sizes, s, t, distance * norm(s))[1])
            if latest >= until:
                break
    return latest
