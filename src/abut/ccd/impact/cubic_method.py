"""The cubic method of Wan 2022 (after Provot 1997 and Bridson 2002), for comparison: roots of the coplanarity equation, then an inside test.

The roots of P(t) in [0, 1] are enclosed (`geometry.roots`), and at the middle of each the weights of the contact point are computed from the
normal there. The pair counts as hit at the first root whose weights are all above −INSIDE_TOLERANCE.

This is not conservative. It may miss contacts: those of coplanar motion (P ≡ 0, no roots to speak of), of edges parallel and faces without area
at the time of contact, and any whose weights are off by more than the tolerance. It may invent contacts: at near-tangent roots that are none, and
within the tolerance outside of a face or edge. Its times may be late by the error of a root. `ccd.vertex_face(method="cubic")` uses it, nothing else.
"""

from abut.ccd.impact.coplanarity import coplanarity, coplanarity_noise
from abut.ccd.impact.first_contact import FREE, HIT, NEVER
from abut.ccd.impact.relative_paths import RelativePaths, paths_at
from abut.core.jit import element
from abut.geometry.roots import enclose_cubic_bernstein
from abut.geometry.vec import Vec3, add, cross, dot, norm_sq

INSIDE_TOLERANCE = 1e-6
"""How far outside a contact point may be, as a part of the face or edge."""


@element
def _is_inside(is_face: bool, p: RelativePaths, t: float) -> bool:
    r1, r2, r3 = paths_at(p, t)
    c1, c2, c3 = cross(r2, r3), cross(r3, r1), cross(r1, r2)
    n = add(add(c1, c2), c3) if is_face else add(c2, c3)
    length_sq = norm_sq(n)
    if not length_sq > 0.0:
        return False
    w1, w2, w3 = dot(n, c1) / length_sq, dot(n, c2) / length_sq, dot(n, c3) / length_sq
    if is_face:
        return min(w1, w2, w3) >= -INSIDE_TOLERANCE
    return min(w2, w3, -w1, 1.0 + w1) >= -INSIDE_TOLERANCE


@element
def impact_by_cubic(is_face: bool, p: RelativePaths, sizes: Vec3) -> tuple[int, float]:
    """Status and time of the first root of P at which the pair seems to meet."""
    b = coplanarity(p)
    roots = enclose_cubic_bernstein(b[0], b[1], b[2], b[3], coplanarity_noise(sizes))
    for i in range(roots.enclosure_count):
        enclosure = roots.first if i == 0 else (roots.second if i == 1 else roots.third)
        t = 0.5 * (enclosure.lo + enclosure.hi)
        if _is_inside(is_face, p, t):
            return HIT, t
    return FREE, NEVER
