"""A point against the eight boxes of a packet, and against the eight triangles of a leaf: bounds of distances, in float32.

The boxes and the point are in the normalised frame of the tree. Bounds are lower ones for the point moved by `slack` in any direction, which the
caller makes large enough for the rounding of float32 (`place_point`); only the last squares and sums round beyond it, by less than 1e-6 of
themselves.

Of a triangle, a point q near the closest one is constructed, no matter how well: |q − p| bounds the distance from above; and since the triangle lies
beyond the plane through its lowest corner along q − p, that plane's distance bounds it from below. The two agree where q is the closest point.
"""

from typing import Any

import numpy as np

from abut.core.jit import element
from abut.core.lanes import maximum, minimum, splat_8, where
from abut.geometry.vec import Vec3, cross, dot, norm_sq, subtract
from abut.trees.packets.boxes import AABB_FIELDS, OBB_FIELDS, WIDTH, load_3, splat_3

UNIT_SLACK = 1e-6
"""Of the sum 2 + |x| + |y| + |z|: a coordinate is rounded to 2⁻²⁴ of itself, and fewer than ten roundings follow."""
FAR = 1e6  # beyond it, in normalised units, float32 tells nothing apart
BLIND = np.float32(1e15)  # a slack that lets every box and triangle pass; its square does not overflow
TINY = np.float32(1e-12)  # a product below it says nothing
LEAST = np.float32(1e-30)


@element
def place_point(q: Vec3, moved: float) -> tuple[Any, Any]:
    """A point of the normalised frame in float32, and its slack; BLIND for one so far that float32 cannot tell. moved: what else may be off."""
    size = abs(q[0]) + abs(q[1]) + abs(q[2])
    slack = UNIT_SLACK * (2.0 + size) + moved
    if size < FAR and slack < FAR:
        return (np.float32(q[0]), np.float32(q[1]), np.float32(q[2])), np.float32(slack)
    return (np.float32(0.0), np.float32(0.0), np.float32(0.0)), BLIND


@element
def bound_point_8(boxes: Any, oriented: bool, packet: int, p: Any, slack: Any) -> Any:
    """For each lane a lower bound of the squared distance between its box and a point; infinite for an unused lane."""
    at = packet * ((OBB_FIELDS if oriented else AABB_FIELDS) * WIDTH)
    d, half = subtract(load_3(boxes, at), splat_3(p)), load_3(boxes, at + 3 * WIDTH)
    if oriented:
        x, y, z = load_3(boxes, at + 6 * WIDTH), load_3(boxes, at + 9 * WIDTH), load_3(boxes, at + 12 * WIDTH)
        d = (dot((x[0], y[0], z[0]), d), dot((x[1], y[1], z[1]), d), dot((x[2], y[2], z[2]), d))
    zero, grown = splat_8(np.float32(0.0)), splat_8(np.float32(slack))
    unused = half[0] < zero
    half = (maximum(half[0], zero), maximum(half[1], zero), maximum(half[2], zero))
    gap = (
        maximum(abs(d[0]) - half[0] - grown, zero),
        maximum(abs(d[1]) - half[1] - grown, zero),
        maximum(abs(d[2]) - half[2] - grown, zero),
    )
    return where(unused, splat_8(np.float32(np.inf)), norm_sq(gap))


@element
def _clamp(x: Any) -> Any:
    """To where no square of it overflows; between 0 and 1 as it is."""
    return minimum(maximum(x, splat_8(np.float32(-1.0))), splat_8(np.float32(2.0)))


@element
def _nearest_on_edge(a: Any, u: Any) -> Any:
    """The point of the segment from a to a + u that is near the origin."""
    zero, one = splat_8(np.float32(0.0)), splat_8(np.float32(1.0))
    t = minimum(maximum((zero - dot(a, u)) / maximum(dot(u, u), splat_8(LEAST)), zero), one)
    return (a[0] + t * u[0], a[1] + t * u[1], a[2] + t * u[2])


@element
def _nearer(p: Any, q: Any) -> Any:
    closer = norm_sq(q) < norm_sq(p)
    return (where(closer, q[0], p[0]), where(closer, q[1], p[1]), where(closer, q[2], p[2]))


@element
def bound_triangle_8(lanes: Any, leaf: int, p: Any) -> tuple[Any, Any]:
    """For each triangle of a leaf a lower and an upper bound of its squared distance from p, both for exact arithmetic: slack is the caller's."""
    zero, one = splat_8(np.float32(0.0)), splat_8(np.float32(1.0))
    at, base = leaf * (9 * WIDTH), splat_3(p)
    a = subtract(load_3(lanes, at), base)
    b = subtract(load_3(lanes, at + 3 * WIDTH), base)
    c = subtract(load_3(lanes, at + 6 * WIDTH), base)
    u, v = subtract(b, a), subtract(c, a)
    q = _nearer(_nearest_on_edge(a, u), _nearer(_nearest_on_edge(a, v), _nearest_on_edge(b, subtract(c, b))))
    n = cross(u, v)
    size = maximum(norm_sq(n), splat_8(LEAST))
    s, t = _clamp(dot(cross(v, a), n) / size), _clamp(dot(cross(a, u), n) / size)
    foot = (a[0] + s * u[0] + t * v[0], a[1] + s * u[1] + t * v[1], a[2] + s * u[2] + t * v[2])
    inside = (s >= zero) & (t >= zero) & (s + t <= one) & (norm_sq(foot) < norm_sq(q))
    q = (where(inside, foot[0], q[0]), where(inside, foot[1], q[1]), where(inside, foot[2], q[2]))
    high = norm_sq(q)
    low = minimum(dot(q, a), minimum(dot(q, b), dot(q, c)))
    return where(low > splat_8(TINY), low * (low / maximum(high, splat_8(LEAST))), zero), high
