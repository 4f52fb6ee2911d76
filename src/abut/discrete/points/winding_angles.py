"""How often a surface, closed or not, winds around a point: crossings of a ray, and the angles of what closes the surface.

An open surface is closed by a curtain: each edge of its boundary is drawn along −x to infinity. The closed surface winds around a point as often as
the ray along +x leaves it, which is counted exactly (`search.axis_crossings`), since that ray is parallel to the curtain. A strip of the curtain is
seen as the spherical triangle of its edge and of −x, whose area is in closed form (van Oosterom and Strackee 1983). So the number takes as many
angles as the boundary has edges, and none where there is no boundary (Martens, Trettner and Bessmeltsev 2026, "The antipodal method").

The side of a strip on which a point lies is an exact sign, moved as the ray is where it is 0: number and angles jump together. The rest is a
running bound of rounding, so value ± bound holds the number.
"""

import math

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.discrete.search.axis_crossings import count_axis_crossings
from abut.discrete.search.tree_view import open_view
from abut.geometry.axis_ray import side_of_axis_ray
from abut.geometry.rows import vector_at, vector_in
from abut.geometry.vec import Vec3, norm, subtract
from abut.trees.packets.packet_tree import Handle

UNIT = 2.0**-53
# Offsets are off by one unit, scaled ones by two, products and sums of two by eight, lengths by four and those less a coordinate by eight.
NUMERATOR, DENOMINATOR = 16.0 * UNIT, 32.0 * UNIT
ANGLE = 8.0 * UNIT  # of an angle: atan2 and its factor
WHOLE = 2.0 * math.pi


@element
def _less_along(a: Vec3, length: float) -> float:
    """|a| − a_x, without cancellation."""
    if a[0] <= 0.0:
        return length - a[0]
    return (a[1] * a[1] + a[2] * a[2]) / (length + a[0])


@element
def _move_off_axis(a: Vec3) -> Vec3:
    """A direction along +x is opposite to −x, and no arc leads from the one to the other: with p moved by (0, ε, ε²), that towards −y does."""
    return (0.0, -1.0, 0.0) if a[0] > 0.0 and a[1] == 0.0 and a[2] == 0.0 else a


@element
def angle_of_strip(p: Vec3, a: Vec3, b: Vec3) -> tuple[float, float]:
    """The signed area of the spherical triangle a, b, −x seen from p, and a bound of its error.

    tan(½Ω) = det(a, b, d) / (|a||b| + a·b + (a·d)|b| + (b·d)|a|) with d = −x, and the denominator is (|a| − a_x)(|b| − b_x) + a_y b_y + a_z b_z.
    """
    side = side_of_axis_ray((a[1], a[2]), (b[1], b[2]), (p[1], p[2]))
    if side == 0:  # the edge is along x
        return 0.0, 0.0
    u, v = subtract(a, p), subtract(b, p)
    size_u, size_v = max(abs(u[0]), abs(u[1]), abs(u[2])), max(abs(v[0]), abs(v[1]), abs(v[2]))
    if size_u == 0.0 or size_v == 0.0:
        return 0.0, WHOLE
    u, v = (u[0] / size_u, u[1] / size_u, u[2] / size_u), (v[0] / size_v, v[1] / size_v, v[2] / size_v)
    along = _less_along(u, norm(u)) * _less_along(v, norm(v))
    u, v = _move_off_axis(u), _move_off_axis(v)
    first, second = u[1] * v[2], u[2] * v[1]
    y, z = u[1] * v[1], u[2] * v[2]
    top, bottom = first - second, along + y + z
    error = NUMERATOR * (abs(first) + abs(second)) + DENOMINATOR * (along + abs(y) + abs(z))
    # det(a, b, −x) = −(a_y b_z − a_z b_y), which has the sign of −side.
    top = side * top
    if not top > 0.0:
        top = 0.0
    angle = -side * 2.0 * math.atan2(top, bottom)
    length = math.sqrt(top * top + bottom * bottom)
    if length <= 2.0 * error:
        return angle, WHOLE
    return angle, min(WHOLE, 4.0 * error / length + ANGLE * abs(angle))


@kernel
def sum_strips(strips: Floats, times: Floats, p: Vec3) -> tuple[float, float]:
    """The sum of areas of strips (k,6), ends of boundary edges, each `times` (k,) over, in full spheres; and a bound of its error."""
    total, error, size = 0.0, 0.0, 0.0
    for i in range(len(strips)):
        angle, off = angle_of_strip(p, vector_at(strips, i), vector_in(strips, i, 3))
        total += times[i] * angle
        error += abs(times[i]) * off
        size += abs(times[i] * angle)
    return total / (4.0 * math.pi), (error + (len(strips) + 8.0) * UNIT * size) / (4.0 * math.pi) * (1.0 + 1e-9)


@parallel
def find_winding_numbers(
    handle: Handle,
    oriented: bool,
    pose: Floats,
    points: Floats,
    strips: Floats,
    times: Floats,
    value: Floats,
    bound: Floats,
    crossings: Integers,
    on_surface: NDArray[np.bool_],
) -> None:
    """For each point the winding number and its bound (infinite on the surface), the crossings of its ray, and whether it lies on the surface."""
    for i in prange(len(points)):
        view = open_view(handle, oriented)
        p = vector_at(points, i)
        crossings[i], on_surface[i] = count_axis_crossings(view, pose, p)
        rest, error = sum_strips(strips, times, p)
        value[i] = crossings[i] + rest
        bound[i] = math.inf if on_surface[i] else error
