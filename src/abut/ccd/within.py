"""First time that two features come within a distance d > 0: conservative advancement with certified steps.

At a time t the closest points of the two features give a direction s. Along it both are linear in time, so that the interval on which they
surely stay more than d apart is known (`separation.carve` with margin d·|s|), and the search goes on from its end (Mirtich 1996; here without
a bound on velocities, since the gap along a fixed s is exact). It stops when the distance is at most d·(1 + SEPARATION_TOLERANCE): a step is never
shorter than the time that the gap needs to shrink by that excess, and near a contact the steps shrink as those of Newton's method do.

Invariants: all time before t is certainly free, so a HIT is never late, and nothing closer than d is missed. The pair may be up to the tolerance
further apart than d at the time reported, and one that stays between d and that much more is reported too. Where d is below some 1e-13 of
the pair's own size rounding hides it: such a pair is reported as soon as it cannot be certified free. LIMIT: the bound on the steps was reached.
"""

from abut.ccd.carve import FREE, HIT, LIMIT, NEVER
from abut.ccd.relative import Paths, paths_at
from abut.ccd.separation import carve
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, norm, subtract
from abut.jit import element

SEPARATION_TOLERANCE = 1e-6
"""How much further apart than d, as a part of d, a pair may be when it is reported."""
WITHIN_STEPS = 1000
"""Steps that one query may take by default; a few suffice, and some dozens when features turn fast."""
ROUND_UP = 1.0 + 2.0**-40


@element
def closest_vector(is_face: bool, r1: Vec3, r2: Vec3, r3: Vec3) -> Vec3:
    """From the origin to triangle r1 r2 r3, or from segment 0 r1 to segment r2 r3."""
    origin = (0.0, 0.0, 0.0)
    if is_face:
        return closest_point_triangle(origin, r1, r2, r3)[1]
    _, _, on_a, on_b, _ = closest_segment_segment(origin, r1, r2, r3)
    return subtract(on_b, on_a)


@element
def first_within(
    is_face: bool, p: Paths, sizes: Vec3, distance: float, t_max: float, max_steps: int
) -> tuple[int, float]:
    """Status and time of the first moment in [0, t_max] at which the pair is within `distance` > 0."""
    t = 0.0
    enough = distance * (1.0 + SEPARATION_TOLERANCE)
    for _ in range(max_steps):
        r1, r2, r3 = paths_at(p, t)
        s = closest_vector(is_face, r1, r2, r3)
        length = norm(s)
        if not length > enough:
            return HIT, t
        _, end = carve(is_face, p, sizes, s, t, distance * length * ROUND_UP)
        if end >= t_max:
            return FREE, NEVER
        if not end > t:  # rounding hides the gap
            return HIT, t
        t = end
    return LIMIT, t
