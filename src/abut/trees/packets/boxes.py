"""Boxes in packets of eight, structure of arrays, float32: one box of another tree is tested against eight at once.

A packet is a row of FIELDS × 8 numbers; node n is lane n & 7 of packet n >> 3. `Obb8` has center (3), half extents (3) and axes (9, component
i of axis j at field 6 + 3·i + j); `Aabb8` only the first six. An unused lane has half extents of −EMPTY and meets nothing.

Coordinates are normalised: a tree's own frame is shifted and scaled by a power of two so that all of them lie in [−1, 1]. Every box is grown by
PAD when it is fitted, and the query by a slack of its caller, which together exceed the rounding errors of float32 in the tests below; so a
separation is never reported by mistake. False positives are possible, false negatives are not.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core.jit import element, generic, implement
from abut.core.lanes import bits, load_8, maximum, minimum, splat_8, where
from abut.core.scratch import load
from abut.geometry.frames import turn
from abut.geometry.vec import dot

WIDTH = 8
OBB_FIELDS = 15
AABB_FIELDS = 6
EMPTY = np.float32(1e36)  # beyond every query: sizes and margins are limited to 2¹⁰⁰ of a body

# Rounding of float32 (unit 2⁻²⁴ = 6e-8) on coordinates up to 1, so |x| ≤ √3: a projection u·x is off by at most 3·6e-8·√3 < 3.2e-7, the
# center by 1.1e-7, the axes' lack of orthogonality acts on the center only to second order. Together below 6e-7.
PAD = np.float32(1e-6)
# Added to each |u·v| so that near-parallel edges, whose cross product is all rounding error, never separate.
PARALLEL = np.float32(1e-6)
MOST = np.float32(1e38)  # the largest bound of a squared distance

Scalar = Any  # float32 in compiled code
Packed = Any  # an array of float32, or in kernels a pointer to one
Three = tuple[Scalar, Scalar, Scalar]
Box = tuple[Three, tuple[Three, Three, Three], Three]
"""A query box in the frame of the packets: center, three unit axes, half extents."""


class Obb8(NamedTuple):
    """Oriented boxes: float32 (packets, 15, 8)."""

    boxes: Packed


class Aabb8(NamedTuple):
    """Axis-aligned boxes: float32 (packets, 6, 8)."""

    boxes: Packed


class Change(NamedTuple):
    """Change of frame x ↦ scale·R·x + t from one tree's normalised frame to another's, in float32; `rotation` holds rows."""

    rotation: tuple[Three, Three, Three]
    translation: Three
    scale: Scalar


@generic
def overlap_8(packed: Any, packet: int, query: Box) -> int:
    """Bit mask of the lanes of a packet whose boxes may meet the query box."""
    raise NotImplementedError


@generic
def separate_8(packed: Any, packet: int, query: Box) -> tuple[int, Any]:
    """The same mask, and for each of its lanes how deep the boxes overlap along the axis where they do least, as a negative gap."""
    raise NotImplementedError


@generic
def bound_8(packed: Any, packet: int, query: Box) -> Any:
    """For each lane a lower bound of the squared distance between its box and the query box."""
    raise NotImplementedError


@generic
def read_box(packed: Any, node: int, change: Change, slack: Scalar) -> Box:
    """Box of one node, in the frame that `change` leads to, grown by `slack` (in units of that frame)."""
    raise NotImplementedError


@generic
def largest_half(packed: Any, node: int) -> float:
    """The largest half extent of a node's box: of two nodes the larger is opened."""
    raise NotImplementedError


@element
def _move(change: Change, c: Three) -> Three:
    p, t, s = turn(change.rotation, c), change.translation, change.scale
    return (s * p[0] + t[0], s * p[1] + t[1], s * p[2] + t[2])


@element
def _read3(b: Packed, at: int) -> Three:
    return (load(b, at), load(b, at + WIDTH), load(b, at + 2 * WIDTH))


@element
def _center_and_half(b: Packed, at: int, change: Change, slack: Scalar) -> tuple[Three, Three]:
    c, h, scale = _read3(b, at), _read3(b, at + 3 * WIDTH), change.scale
    return _move(change, c), (scale * h[0] + slack, scale * h[1] + slack, scale * h[2] + slack)


@implement(read_box, Obb8, Change)
def read_box_obb(packed: Obb8, node: int, change: Change, slack: Scalar) -> Box:
    """The axes turn with the frame."""
    b, at = packed.boxes, (node >> 3) * (OBB_FIELDS * WIDTH) + (node & 7)
    x, y, z = _read3(b, at + 6 * WIDTH), _read3(b, at + 9 * WIDTH), _read3(b, at + 12 * WIDTH)
    r = change.rotation
    axes = (turn(r, (x[0], y[0], z[0])), turn(r, (x[1], y[1], z[1])), turn(r, (x[2], y[2], z[2])))
    center, half = _center_and_half(b, at, change, slack)
    return center, axes, half


@implement(read_box, Aabb8, Change)
def read_box_aabb(packed: Aabb8, node: int, change: Change, slack: Scalar) -> Box:
    """The axes are the columns of the rotation, the same for every node: there is no change of frame between nodes."""
    r = change.rotation
    axes = ((r[0][0], r[1][0], r[2][0]), (r[0][1], r[1][1], r[2][1]), (r[0][2], r[1][2], r[2][2]))
    center, half = _center_and_half(packed.boxes, (node >> 3) * (AABB_FIELDS * WIDTH) + (node & 7), change, slack)
    return center, axes, half


@element
def _largest(b: Packed, at: int) -> Scalar:
    h = _read3(b, at + 3 * WIDTH)
    return max(h[0], h[1], h[2])


@implement(largest_half, Obb8)
def largest_half_obb(packed: Obb8, node: int) -> Scalar:
    """Of an oriented box."""
    return _largest(packed.boxes, (node >> 3) * (OBB_FIELDS * WIDTH) + (node & 7))


@implement(largest_half, Aabb8)
def largest_half_aabb(packed: Aabb8, node: int) -> Scalar:
    """Of an axis-aligned box."""
    return _largest(packed.boxes, (node >> 3) * (AABB_FIELDS * WIDTH) + (node & 7))


@element
def splat_3(v: Three) -> Any:
    """A point in all eight lanes."""
    return (splat_8(np.float32(v[0])), splat_8(np.float32(v[1])), splat_8(np.float32(v[2])))


@element
def _larger3(a: Any, b: Any, c: Any) -> Any:
    return maximum(maximum(a, b), c)


@element
def _face_gaps(t: Any, a: Any, b: Any, p0: Any, p1: Any, p2: Any) -> Any:
    """Gaps along the axes of box a: |tᵢ| − aᵢ − Σⱼ |q[i][j]|·bⱼ."""
    return (abs(t[0]) - (a[0] + dot(p0, b)), abs(t[1]) - (a[1] + dot(p1, b)), abs(t[2]) - (a[2] + dot(p2, b)))


@element
def _cross_gaps(tx: Any, ty: Any, qx: Any, qy: Any, ax: Any, ay: Any, px: Any, py: Any, p: Any, b: Any) -> Any:
    """The largest gap along the cross products of one axis of a with the three of b (Gottschalk 1996).

    x and y are the two other axes of a, in cyclic order; q their rows of a·b, p those of |a·b|, the last for the axis itself.
    """
    return _larger3(
        abs(ty * qx[0] - tx * qy[0]) - (ax * py[0] + ay * px[0] + b[1] * p[2] + b[2] * p[1]),
        abs(ty * qx[1] - tx * qy[1]) - (ax * py[1] + ay * px[1] + b[2] * p[0] + b[0] * p[2]),
        abs(ty * qx[2] - tx * qy[2]) - (ax * py[2] + ay * px[2] + b[0] * p[1] + b[1] * p[0]),
    )


@element
def _separation(t: Any, s: Any, a: Any, b: Any, q: Any, p: Any, r: Any) -> tuple[int, Any]:
    """Mask of the lanes where none of fifteen axes separates box a from boxes b, and the largest gap of those looked at.

    t and s: the vector between the centers in the axes of a and of b; q: rows of a·b; p and r: rows and columns of |a·b| + PARALLEL.
    """
    g, h = _face_gaps(t, a, b, p[0], p[1], p[2]), _face_gaps(s, b, a, r[0], r[1], r[2])
    gap = maximum(_larger3(g[0], g[1], g[2]), _larger3(h[0], h[1], h[2]))
    zero = splat_8(np.float32(0.0))
    mask = bits(gap <= zero)
    if mask == 0:
        return mask, gap
    c0 = _cross_gaps(t[1], t[2], q[1], q[2], a[1], a[2], p[1], p[2], p[0], b)
    c1 = _cross_gaps(t[2], t[0], q[2], q[0], a[2], a[0], p[2], p[0], p[1], b)
    c2 = _cross_gaps(t[0], t[1], q[0], q[1], a[0], a[1], p[0], p[1], p[2], b)
    gap = maximum(gap, _larger3(c0, c1, c2))
    return bits(gap <= zero), gap


@element
def _squared_bound(t: Any, s: Any, a: Any, b: Any, p: Any, r: Any) -> Any:
    """Squared lower bound of the distance: from the face gaps of either box, and along the line of centers."""
    zero = splat_8(np.float32(0.0))
    unused = b[0] < zero
    b = (maximum(b[0], zero), maximum(b[1], zero), maximum(b[2], zero))
    g, h = _face_gaps(t, a, b, p[0], p[1], p[2]), _face_gaps(s, b, a, r[0], r[1], r[2])
    g = (maximum(g[0], zero), maximum(g[1], zero), maximum(g[2], zero))
    h = (maximum(h[0], zero), maximum(h[1], zero), maximum(h[2], zero))
    length_sq = dot(t, t)
    reach = (
        abs(t[0]) * a[0] + abs(t[1]) * a[1] + abs(t[2]) * a[2] + abs(s[0]) * b[0] + abs(s[1]) * b[1] + abs(s[2]) * b[2]
    )
    along = maximum(length_sq - reach, zero)
    along_sq = along * (along / maximum(length_sq, splat_8(np.float32(1e-30))))
    # Where the square of the line of centers overflows, it bounds nothing; that of a gap is still a bound when cut off.
    along_sq = where(length_sq < splat_8(MOST), along_sq, zero)
    bound = minimum(_larger3(dot(g, g), dot(h, h), along_sq), splat_8(MOST))
    return where(unused, splat_8(np.float32(np.inf)), bound)


@element
def load_3(b: Packed, at: int) -> Any:
    """Eight points: x, y and z of eight lanes each, one after the other."""
    return (load_8(b, at), load_8(b, at + WIDTH), load_8(b, at + 2 * WIDTH))


@element
def _pad_abs(v: Any) -> Any:
    parallel = splat_8(PARALLEL)
    return (abs(v[0]) + parallel, abs(v[1]) + parallel, abs(v[2]) + parallel)


@element
def _relate_obb(b: Packed, packet: int, query: Box) -> Any:
    """What the tests need of a query box against eight oriented boxes: t, s, halves, q, |q| by rows and columns."""
    at = packet * (OBB_FIELDS * WIDTH)
    center, half = load_3(b, at), load_3(b, at + 24)
    x, y, z = load_3(b, at + 48), load_3(b, at + 72), load_3(b, at + 96)  # rows: component i of the three axes
    c, v = splat_3(query[0]), query[1]
    v0, v1, v2 = splat_3(v[0]), splat_3(v[1]), splat_3(v[2])
    d = (center[0] - c[0], center[1] - c[1], center[2] - c[2])
    t = (dot(v0, d), dot(v1, d), dot(v2, d))
    u0, u1, u2 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
    s = (dot(u0, d), dot(u1, d), dot(u2, d))
    q0 = (dot(v0, u0), dot(v0, u1), dot(v0, u2))
    q1 = (dot(v1, u0), dot(v1, u1), dot(v1, u2))
    q2 = (dot(v2, u0), dot(v2, u1), dot(v2, u2))
    p0, p1, p2 = _pad_abs(q0), _pad_abs(q1), _pad_abs(q2)
    r = ((p0[0], p1[0], p2[0]), (p0[1], p1[1], p2[1]), (p0[2], p1[2], p2[2]))
    return t, s, splat_3(query[2]), half, (q0, q1, q2), (p0, p1, p2), r


@element
def _relate_aabb(b: Packed, packet: int, query: Box) -> Any:
    """The same against eight axis-aligned boxes: their axes are the frame's, so a·b is the query's axes themselves."""
    at = packet * (AABB_FIELDS * WIDTH)
    center, half = load_3(b, at), load_3(b, at + 24)
    c, v = splat_3(query[0]), query[1]
    q0, q1, q2 = splat_3(v[0]), splat_3(v[1]), splat_3(v[2])
    d = (center[0] - c[0], center[1] - c[1], center[2] - c[2])
    t = (dot(q0, d), dot(q1, d), dot(q2, d))
    p0, p1, p2 = _pad_abs(q0), _pad_abs(q1), _pad_abs(q2)
    r = ((p0[0], p1[0], p2[0]), (p0[1], p1[1], p2[1]), (p0[2], p1[2], p2[2]))
    return t, d, splat_3(query[2]), half, (q0, q1, q2), (p0, p1, p2), r


@implement(overlap_8, Obb8)
def overlap_8_obb(packed: Obb8, packet: int, query: Box) -> int:
    """Fifteen axes for all eight lanes; the nine cross axes only where a lane is left."""
    t, s, a, b, q, p, r = _relate_obb(packed.boxes, packet, query)
    return _separation(t, s, a, b, q, p, r)[0]


@implement(overlap_8, Aabb8)
def overlap_8_aabb(packed: Aabb8, packet: int, query: Box) -> int:
    """The same with the axes of the frame."""
    t, s, a, b, q, p, r = _relate_aabb(packed.boxes, packet, query)
    return _separation(t, s, a, b, q, p, r)[0]


@implement(separate_8, Obb8)
def separate_8_obb(packed: Obb8, packet: int, query: Box) -> tuple[int, Any]:
    """Against oriented boxes."""
    t, s, a, b, q, p, r = _relate_obb(packed.boxes, packet, query)
    return _separation(t, s, a, b, q, p, r)


@implement(separate_8, Aabb8)
def separate_8_aabb(packed: Aabb8, packet: int, query: Box) -> tuple[int, Any]:
    """Against axis-aligned boxes."""
    t, s, a, b, q, p, r = _relate_aabb(packed.boxes, packet, query)
    return _separation(t, s, a, b, q, p, r)


@implement(bound_8, Obb8)
def bound_8_obb(packed: Obb8, packet: int, query: Box) -> Any:
    """Against oriented boxes."""
    t, s, a, b, _, p, r = _relate_obb(packed.boxes, packet, query)
    return _squared_bound(t, s, a, b, p, r)


@implement(bound_8, Aabb8)
def bound_8_aabb(packed: Aabb8, packet: int, query: Box) -> Any:
    """Against axis-aligned boxes."""
    t, s, a, b, _, p, r = _relate_aabb(packed.boxes, packet, query)
    return _squared_bound(t, s, a, b, p, r)
