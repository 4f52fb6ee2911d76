"""Rays against cylinders, cones and half-spaces: the part of the ray inside the round side, by its quadratic, and between the ends.

Both are intervals, for the shapes are convex, and the larger beginning is where the ray enters: so none slips in between at a rim. The ray's origin
is first brought as near to the shape as it comes: from afar the quadratic has no digits left.
"""

import math

from abut.core.jit import element, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, add_scaled, dot, scale
from abut.shapes.columns import CYLINDRICAL, HALF_SPACE
from abut.shapes.pool import FORM, MEASURES, Cores

Span = tuple[float, float]
NEVER: Span = (math.inf, -math.inf)
NO_NORMAL: Vec3 = (0.0, 0.0, 0.0)


@element
def _span_below(height: float, slope: float) -> Span:
    """Where height + t·slope ≤ 0."""
    if slope == 0.0:
        return (-math.inf, math.inf) if height <= 0.0 else NEVER
    t = -height / slope
    return (t, math.inf) if slope < 0.0 else (-math.inf, t)


@element
def _roots(a: float, b: float, c: float) -> Span:
    """The roots of a t² + 2 b t + c, a not zero, the lower first; NEVER if there are none."""
    discriminant = b * b - a * c
    if discriminant < 0.0:
        return NEVER
    q = -(b + math.copysign(math.sqrt(discriminant), b))
    if q == 0.0:
        return 0.0, 0.0
    return min(q / a, c / q), max(q / a, c / q)


@element
def _span_in_cylinder(o: Vec3, d: Vec3, radius: float) -> Span:
    """Where a ray is inside an endless cylinder around z."""
    a, b, c = d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - radius * radius
    if a == 0.0:
        return (-math.inf, math.inf) if c <= 0.0 else NEVER
    return _roots(a, b, c)


@element
def _span_in_cone(o: Vec3, d: Vec3, radius: float, half: float) -> Span:
    """Where a ray is inside an endless cone around z that opens downwards from its tip at z = half."""
    k = radius / (2.0 * half)
    down, slope = k * (half - o[2]), -k * d[2]  # the radius of the cone at the ray's height: down + t·slope
    a = d[0] * d[0] + d[1] * d[1] - slope * slope
    b = o[0] * d[0] + o[1] * d[1] - down * slope
    c = o[0] * o[0] + o[1] * o[1] - down * down
    below = _span_below(-down, -slope)
    if a == 0.0:
        inside = _span_below(c, 2.0 * b)
    elif a > 0.0:
        inside = _roots(a, b, c)
    else:  # inside of both halves of the double cone, before the lower root in one and behind the upper in the other
        low, high = _roots(a, b, c)
        if low > high:  # through the tip, but for rounding
            low = high = -b / a
        inside = (high, math.inf) if slope > 0.0 else (-math.inf, low)
    return max(below[0], inside[0]), min(below[1], inside[1])


@kernel
def meet_round(cores: Cores, s: int, o: Vec3, d: Vec3) -> tuple[float, Vec3]:
    """Where a ray enters a round shape or a half-space, 0 from inside and inf if it does not; and the normal there."""
    form, row = cores.table[s, FORM], cores.table[s, MEASURES]
    first = vector_at(cores.vertices, row)
    if form == HALF_SPACE:
        height, slope = dot(first, o) - cores.vertices[row + 1, 0], dot(first, d)
        if height <= 0.0:
            return 0.0, NO_NORMAL
        return (-height / slope, first) if slope < 0.0 else (math.inf, NO_NORMAL)
    radius, half, _ = first
    shift = -dot(o, d)
    o = add_scaled(o, d, shift)
    side = _span_in_cylinder(o, d, radius) if form == CYLINDRICAL else _span_in_cone(o, d, radius, half)
    top, bottom = _span_below(o[2] - half, d[2]), _span_below(-half - o[2], -d[2])
    ends = max(top[0], bottom[0])
    enter, leave = max(side[0], ends), min(side[1], top[1], bottom[1])
    if enter > leave or leave + shift < 0.0:
        return math.inf, NO_NORMAL
    if enter + shift <= 0.0:
        return 0.0, NO_NORMAL
    if ends >= side[0]:
        return enter + shift, (0.0, 0.0, 1.0 if top[0] >= bottom[0] else -1.0)
    p = add_scaled(o, d, enter)
    across, slant = math.hypot(p[0], p[1]), math.hypot(radius, 2.0 * half)
    u = (p[0] / across, p[1] / across, 0.0) if across > 0.0 else (1.0, 0.0, 0.0)
    if form == CYLINDRICAL:
        return enter + shift, u
    return enter + shift, add_scaled(scale(u, 2.0 * half / slant), (0.0, 0.0, 1.0), radius / slant)
