"""A ray against the eight boxes of a packet, and against the eight triangles of a leaf: which of them it may meet, in float32.

The ray is p + t·d in the normalised frame of the tree, with |d| = 1, and starts where it enters the cube that holds the surface, so that no
coordinate and no t is much larger than 1 (`place_ray`, in double precision). Boxes are met where their slabs are, each grown by the ray's slack;
triangles where the line does not surely pass two of their edges on different sides. Nothing that the ray touches is left out.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core.jit import element
from abut.core.lanes import bits, maximum, minimum, splat_8, where
from abut.geometry.vec import Vec3, add_scaled, cross, dot, subtract
from abut.trees.packets.boxes import AABB_FIELDS, OBB_FIELDS, WIDTH, load_3, splat_3

# Coordinates up to X, t up to 3.5·X, unit 2⁻²⁴: a center in the axes of a box is off by at most 20 units of X, a direction by 7, which acts along t,
# and the quotient by 3 of t. Together below 50·2⁻²⁴·X < 3e-6·X. The moments w below are off by at most 25 units of X, and by the slack of the start.
UNIT_SLACK = 4e-6
DOUBLE_SLACK = 4e-15  # of the distance from the start of the ray: what double precision rounds on the way to the cube
EDGE_SLACK = np.float32(1e-6)  # of a moment: edges are off by 4 units, products of moments and edges by 6
CUBE = 1.0 + 1e-5
FAR = 1e5
LONGEST = 1e30
BLIND = 1e15  # a slack that lets everything pass
THIN = np.float32(1e-12)  # a smaller component of the direction is taken for this: over the whole ray that is nothing


class Ray(NamedTuple):
    """start and direction (float32), last (the largest t), slack, twist (what an edge may be off by, beside EDGE_SLACK), skipped (t of the start)."""

    start: Any
    direction: Any
    last: float
    slack: float
    twist: float
    skipped: float


@element
def _single(p: Vec3) -> Any:
    return (np.float32(p[0]), np.float32(p[1]), np.float32(p[2]))


@element
def place_ray(p: Vec3, d: Vec3, moved: float) -> tuple[bool, Ray]:
    """A ray in the normalised frame, cut to the cube of the tree; False if it misses that. moved: what coordinates may be off by."""
    size = max(abs(p[0]), abs(p[1]), abs(p[2]))
    extra = DOUBLE_SLACK * size + moved
    if not extra < FAR:  # nothing can be told here
        return True, Ray(_single((0.0, 0.0, 0.0)), _single((1.0, 0.0, 0.0)), LONGEST, BLIND, BLIND, -np.inf)
    wall = CUBE + extra
    first, last = 0.0, LONGEST
    for k in range(3):
        if d[k] == 0.0:
            if abs(p[k]) > wall:
                return False, Ray(_single(p), _single(d), 0.0, 0.0, 0.0, 0.0)
        else:
            near, far = (-wall - p[k]) / d[k], (wall - p[k]) / d[k]
            first, last = max(first, min(near, far)), min(last, max(near, far))
    if first > last:
        return False, Ray(_single(p), _single(d), 0.0, 0.0, 0.0, 0.0)
    start = add_scaled(p, d, first)
    return True, Ray(_single(start), _single(d), last - first, UNIT_SLACK * wall + extra, 2.0 * extra, first)


@element
def _slab(s: Any, f: Any, half: Any, first: Any, last: Any) -> Any:
    """The part of an interval of t in which |s − t·f| ≤ half."""
    f = where(abs(f) < splat_8(THIN), splat_8(THIN), f)
    inverse = splat_8(np.float32(1.0)) / f
    near, far = (s - half) * inverse, (s + half) * inverse
    return maximum(first, minimum(near, far)), minimum(last, maximum(near, far))


@element
def enter_8(boxes: Any, oriented: bool, packet: int, ray: Ray, last: float) -> tuple[int, Any]:
    """Mask of the lanes whose boxes the ray may meet up to `last`, and for each of them where it enters."""
    at = packet * ((OBB_FIELDS if oriented else AABB_FIELDS) * WIDTH)
    s, half = subtract(load_3(boxes, at), splat_3(ray.start)), load_3(boxes, at + 3 * WIDTH)
    f = splat_3(ray.direction)
    if oriented:
        x, y, z = load_3(boxes, at + 6 * WIDTH), load_3(boxes, at + 9 * WIDTH), load_3(boxes, at + 12 * WIDTH)
        u0, u1, u2 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
        s = (dot(u0, s), dot(u1, s), dot(u2, s))
        f = (dot(u0, f), dot(u1, f), dot(u2, f))
    zero, grown = splat_8(np.float32(0.0)), splat_8(np.float32(ray.slack))
    used = half[0] >= zero
    half = (maximum(half[0], zero), maximum(half[1], zero), maximum(half[2], zero))
    low, high = zero, splat_8(np.float32(last + ray.slack))
    low, high = _slab(s[0], f[0], half[0] + grown, low, high)
    low, high = _slab(s[1], f[1], half[1] + grown, low, high)
    low, high = _slab(s[2], f[2], half[2] + grown, low, high)
    return bits((low <= high) & used), low


@element
def _sum_abs(a: Any) -> Any:
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@element
def _side(w: Any, e: Any, slack: Any, twist: Any) -> tuple[Any, Any]:
    """Whether the line passes an edge surely on the one side, and surely on the other. w: the moment of the line about its first end."""
    s, error = dot(w, e), twist * _sum_abs(w) + slack * _sum_abs(e)
    return s > error, s < splat_8(np.float32(0.0)) - error


@element
def pass_triangle_8(lanes: Any, leaf: int, ray: Ray) -> int:
    """Mask of the triangles of a leaf that the line of the ray may meet."""
    at, base, d = leaf * (9 * WIDTH), splat_3(ray.start), splat_3(ray.direction)
    a = subtract(load_3(lanes, at), base)
    b = subtract(load_3(lanes, at + 3 * WIDTH), base)
    c = subtract(load_3(lanes, at + 6 * WIDTH), base)
    slack, twist = splat_8(np.float32(ray.slack)), splat_8(np.float32(EDGE_SLACK + ray.twist))
    left_a, right_a = _side(cross(d, a), subtract(b, a), slack, twist)
    left_b, right_b = _side(cross(d, b), subtract(c, b), slack, twist)
    left_c, right_c = _side(cross(d, c), subtract(a, c), slack, twist)
    return bits((left_a | left_b | left_c) & (right_a | right_b | right_c)) ^ 255
