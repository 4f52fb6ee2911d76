"""Which triangles of a leaf may come near others: eight at a time, by their extents along a line.

If along any unit vector the far end of one and the near end of the other are at least as far apart as the best pair so far, they cannot be nearer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.jit import element
from abut.core.lanes import bits, lane, maximum, minimum, splat_8
from abut.discrete.search.triangle_packets import load_corner
from abut.geometry.frames import turn_back
from abut.geometry.vec import Vec3, cross, dot, subtract
from abut.trees.packets.boxes import WIDTH, Change, splat_3
from abut.trees.packets.packet_tree import PacketTree


@element
def reach_along(lanes: NDArray[np.float32], leaf: int, d: Any) -> Any:
    """Smallest and largest d·x of the corners of each of eight triangles."""
    a, b, c = load_corner(lanes, leaf, 0), load_corner(lanes, leaf, 1), load_corner(lanes, leaf, 2)
    x, y, z = dot(d, a), dot(d, b), dot(d, c)
    return minimum(minimum(x, y), z), maximum(maximum(x, y), z)


@element
def near_along(low: Any, high: Any, triangle: Any, d: Vec3, reach: float) -> int:
    """Mask of the lanes whose interval along d comes nearer to that of a triangle than `reach`."""
    x, y, z = dot(d, triangle[0]), dot(d, triangle[1]), dot(d, triangle[2])
    first, last = splat_8(np.float32(min(x, y, z) - reach)), splat_8(np.float32(max(x, y, z) + reach))
    return bits((low > last) | (high < first)) ^ 255


@element
def _is_far(d: Any, v0: Any, v1: Any, v2: Any, w0: Any, w1: Any, w2: Any, reach: Any) -> Any:
    """Mask of the lanes where, along a vector d of any length, triangles v and w are farther apart than `reach`."""
    a, b, c = dot(d, v0), dot(d, v1), dot(d, v2)
    e, f, g = dot(d, w0), dot(d, w1), dot(d, w2)
    low, high = minimum(minimum(a, b), c), maximum(maximum(a, b), c)
    first, last = minimum(minimum(e, f), g), maximum(maximum(e, f), g)
    gap = maximum(first - high, low - last)
    return (gap > splat_8(np.float32(0.0))) & (gap * gap > reach * reach * dot(d, d))


@element
def near_8(lanes: Any, leaf: int, triangle: Any, reach: float) -> int:
    """Mask of the triangles of a leaf that may come nearer to a triangle than `reach`: along both normals, and between the centers."""
    base = splat_3(triangle[0])
    zero = subtract(base, base)
    w1, w2 = subtract(splat_3(triangle[1]), base), subtract(splat_3(triangle[2]), base)
    v0 = subtract(load_corner(lanes, leaf, 0), base)
    v1 = subtract(load_corner(lanes, leaf, 1), base)
    v2 = subtract(load_corner(lanes, leaf, 2), base)
    far = splat_8(np.float32(reach))
    apart = _is_far(cross(w1, w2), v0, v1, v2, zero, w1, w2, far)
    apart = apart | _is_far(cross(subtract(v1, v0), subtract(v2, v0)), v0, v1, v2, zero, w1, w2, far)
    x = v0[0] + v1[0] + v2[0] - w1[0] - w2[0]
    y = v0[1] + v1[1] + v2[1] - w1[1] - w2[1]
    z = v0[2] + v1[2] + v2[2] - w1[2] - w2[2]
    return bits(apart | _is_far((x, y, z), v0, v1, v2, zero, w1, w2, far)) ^ 255


@element
def lanes_near(low_a: Any, high_a: Any, b: PacketTree, leaf_b: int, to_a: Change, d: Vec3, reach: float) -> int:
    """Mask of the triangles of a leaf of b whose interval along d, a direction in the frame of a, comes near those of a leaf of a."""
    first, last = lane(low_a, 0), lane(high_a, 0)
    for k in range(1, WIDTH):
        first, last = min(first, lane(low_a, k)), max(last, lane(high_a, k))
    turned, offset = turn_back(to_a.rotation, d), dot(to_a.translation, d)
    scale = float(to_a.scale)
    low, high = reach_along(b.lanes, leaf_b, splat_3(turned))
    near, far = (float(first) - reach - offset) / scale, (float(last) + reach - offset) / scale
    return bits((low > splat_8(np.float32(far))) | (high < splat_8(np.float32(near)))) ^ 255
