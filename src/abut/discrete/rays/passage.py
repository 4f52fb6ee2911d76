"""Whether a ray or a segment passes through a triangle: exact, and so that neighbouring triangles agree.

The line passes a triangle where it has all three edges on the same side, by exact signs. Where it meets an edge or a vertex, it is thought moved by
(ε, ε², ε³) with ε → 0 (simulation of simplicity, Edelsbrunner and Mücke 1990): the same way for every triangle, so a line that passes through a
closed surface at an edge or a vertex passes exactly one of the faces there, or an odd number, alternately in and out. Where it only touches, it
passes none or an even number. It never passes a triangle that is parallel to it, or one without area.

Along the line nothing is moved: the ends of a segment and the start of a ray belong to it, and a face that holds one of them is passed there.

A `Line` is given by two points: p and q of a segment; o and a direction d of a ray, whose side of an edge is det(d, a − o, b − o).
With e = b − a that of the moved line is s + ε (d×e)_x + ε² (d×e)_y + ε³ (d×e)_z.
"""

import math
from typing import NamedTuple

from abut.core.jit import element
from abut.geometry.determinants import cross_ray_plane, cross_segment_plane
from abut.geometry.predicates import orient_3d, orient_differences_2d, orient_direction
from abut.geometry.vec import ZERO, Vec3, cross, dot, drop_axis, scale, subtract, unit_or

AHEAD = math.inf  # the t of what is not passed


class Line(NamedTuple):
    """start; end, the other end of a segment or the direction of a ray; whether it is a segment."""

    start: Vec3
    end: Vec3
    is_segment: bool


@element
def _orient(line: Line, a: Vec3, b: Vec3) -> int:
    """On which side of the line as it is the edge ab passes; 0 where they meet or are parallel."""
    p, q = line.start, line.end
    return orient_3d(p, q, a, b) if line.is_segment else orient_direction(q, a, b, p)


@element
def side_of_edge(line: Line, a: Vec3, b: Vec3) -> int:
    """On which side of the moved line the edge ab passes; 0 only where it is parallel to the line, or has no length."""
    side = _orient(line, a, b)
    if side != 0:
        return side
    tail, q = (line.start if line.is_segment else ZERO), line.end
    for axis in range(3):
        side = orient_differences_2d(drop_axis(tail, axis), drop_axis(q, axis), drop_axis(a, axis), drop_axis(b, axis))
        if side != 0:
            return side
    return 0


@element
def pass_triangle(line: Line, a: Vec3, b: Vec3, c: Vec3) -> tuple[int, float]:
    """1 where the line leaves through triangle abc (with its normal), −1 where it enters, 0 if it does not pass; and t, in lengths of the line."""
    side = side_of_edge(line, a, b)
    if side == 0 or side_of_edge(line, b, c) != side or side_of_edge(line, c, a) != side:
        return 0, AHEAD
    p, q = line.start, line.end
    if orient_3d(a, b, c, p) == side:  # the plane lies behind
        return 0, AHEAD
    if not line.is_segment:
        return side, cross_ray_plane(p, q, a, b, c)
    if orient_3d(a, b, c, q) == -side:
        return 0, AHEAD
    return side, cross_segment_plane(p, q, a, b, c)


@element
def _height(line: Line, d: Vec3, a: Vec3, b: Vec3, unit: float) -> float:
    """How far the line passes from the edge ab, times the edge; exactly 0 where it meets the edge. `unit` makes the edge about 1."""
    if _orient(line, a, b) == 0:
        return 0.0
    return abs(dot(cross(d, subtract(a, line.start)), scale(subtract(b, a), unit)))


@element
def weigh_passage(line: Line, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """The weights of a, b and c where the line passes."""
    d = unit_or(subtract(line.end, line.start) if line.is_segment else line.end, ZERO)
    u, v = subtract(b, a), subtract(c, a)
    size = max(abs(u[0]), abs(u[1]), abs(u[2]), abs(v[0]), abs(v[1]), abs(v[2]))
    unit = 1.0 / max(size, 2.0**-1022)
    x, y, z = _height(line, d, b, c, unit), _height(line, d, c, a, unit), _height(line, d, a, b, unit)
    total = x + y + z
    return (x / total, y / total, z / total) if total > 0.0 else (1.0, 0.0, 0.0)
