"""First time that two features come within a distance d > 0: conservative advancement with certified steps.

At a time t the closest points of the two features give a direction s. Along it both are linear in time, so that the interval on which they
surely stay more than d apart is known (`carve` of `separating_direction`, with margin d·|s|), and the search goes on from its end (Mirtich 1996;
here without a bound on velocities, since the gap along a fixed s is exact). Where the gap is small beside the features, closest points say too
little about the direction, and those of `precise_direction` are taken as well.

It stops when the distance is at most d·(1 + DISTANCE_TOLERANCE) + SLACK·S, S the sum of `sizes`: a step is never shorter than the time that the gap
needs to shrink by that excess, and near a contact the steps shrink as those of Newton's method do.

Invariants: all time before t is certainly free, so a HIT is never late, and nothing closer than d is missed. The pair may be up to the excess
further apart than d at the time reported, and one that stays between d and that much more is reported too. LIMIT: the bound on the steps was reached.

Rounding, with u = 2⁻⁵³: `carve` asks for a gap of 32u·Σ|s_i|·size_i/|s| beyond d, at most 32u·S; the places r_j(t) and the direction take 6u·S
more. SLACK is twice that, less than 10⁻¹⁴·S. A distance computed from such places is off by 10u·S. So what is reported is at most
d·(1 + 10⁻⁶) + 4·10⁻¹⁴·L apart, where L is the largest difference of a coordinate between two points of the pair in the step (S ≤ 3L).
"""

from abut.ccd.impact.first_contact import FREE, HIT, LIMIT, NEVER
from abut.ccd.impact.precise_direction import carve_finely
from abut.ccd.impact.relative_paths import UNIT, RelativePaths, paths_at
from abut.ccd.impact.separating_direction import carve
from abut.core.jit import element
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, norm, subtract

DISTANCE_TOLERANCE = 1e-6
"""How much further apart than d, as a part of d, a pair may be when it is reported."""
SLACK = 76.0 * UNIT
"""How much further apart a pair may be beside that, as a part of the sum of its sizes along the axes."""
NEAR = 1e-4
"""Gaps below this part of the sizes' sum are parted by fine directions. Closest points are then off by some 10u·S, and the gap along
their direction is short by some 10u/NEAR of S, 10⁻⁷ of the gap at most."""
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
    is_face: bool, p: RelativePaths, sizes: Vec3, distance: float, t_max: float, max_steps: int
) -> tuple[int, float]:
    """Status and time of the first moment in [0, t_max] at which the pair is within `distance` > 0."""
    t, size = 0.0, sizes[0] + sizes[1] + sizes[2]
    enough = distance * (1.0 + DISTANCE_TOLERANCE) + SLACK * size
    for _ in range(max_steps):
        r1, r2, r3 = paths_at(p, t)
        s = closest_vector(is_face, r1, r2, r3)
        length = norm(s)
        if not length > enough:
            return HIT, t
        _, end = carve(is_face, p, sizes, s, t, distance * length * ROUND_UP)
        if length < NEAR * size and end < t_max:
            end = max(end, carve_finely(is_face, p, sizes, distance * ROUND_UP, t, t_max))
        if end >= t_max:
            return FREE, NEVER
        if not end > t:  # rounding hides the gap
            return HIT, t
        t = end
    return LIMIT, t
