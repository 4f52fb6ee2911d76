"""Fitting the boxes of packet trees: oriented along the eigenvectors of the corners' covariance, or axis-aligned from the leaves up.

Both work on the normalised float32 corners, eight triangles at a time, and grow every box by PAD, which covers the rounding.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, generic, implement, kernel, parallel, prange, threads_for
from abut.core.lanes import lane, load_8, maximum, minimum, splat_8
from abut.geometry.eigen import eigenvectors_symmetric
from abut.geometry.vec import Vec3, dot
from abut.trees.packets.boxes import AABB_FIELDS, EMPTY, OBB_FIELDS, PAD, WIDTH, Aabb8, Obb8
from abut.trees.packets.packet_order import PARALLEL_FACES

SUBTREE_LEVEL = 2  # subtrees of 64 leaves are fitted in parallel, the few levels above them in turn
Packed = NDArray[np.float32]


class Surface(NamedTuple):
    """What is fitted: faces (n,3) in the order of the slots; lanes and corners to be filled; the first node and the number of nodes of each level."""

    vertices: Floats
    faces: Integers
    frame: Floats
    lanes: Packed
    corners: Floats
    starts: Integers
    counts: Integers


class Oriented(NamedTuple):
    """Boxes (packets, fields, 8) along eigenvectors, and the sums over the corners of each node that give them."""

    boxes: Packed
    moments: Floats


class Aligned(NamedTuple):
    """Boxes along the axes."""

    boxes: Packed


@generic
def fit_at(way: Any, surface: Surface, level: int, i: int) -> None:
    """Fit node i of a level; the nodes below it are fitted already."""
    raise NotImplementedError


def allocate(kind: type[Obb8] | type[Aabb8], packet_count: int) -> Any:
    """Packets whose lanes are all empty."""
    boxes = np.zeros((packet_count, OBB_FIELDS if kind is Obb8 else AABB_FIELDS, WIDTH), dtype=np.float32)
    boxes[:, 3:6] = -EMPTY
    return kind(boxes)


@element
def _reduce(low: Any, high: Any) -> tuple[float, float]:
    """The smallest lane of the first and the largest of the second."""
    least, most = lane(low, 0), lane(high, 0)
    for k in range(1, WIDTH):
        least = min(least, lane(low, k))
        most = max(most, lane(high, k))
    return float(least), float(most)


@element
def _middle_and_half(lanes: Packed, first: int, last: int, u: Vec3) -> tuple[float, float]:
    """Middle and half length of the interval of u·x over the corners in leaves first … last − 1."""
    ux, uy, uz = splat_8(np.float32(u[0])), splat_8(np.float32(u[1])), splat_8(np.float32(u[2]))
    low, high = splat_8(EMPTY), splat_8(-EMPTY)
    for leaf in range(first, last):
        for c in range(3):
            at = (leaf * 3 + c) * (3 * WIDTH)
            p = ux * load_8(lanes, at) + uy * load_8(lanes, at + WIDTH) + uz * load_8(lanes, at + 2 * WIDTH)
            low, high = minimum(low, p), maximum(high, p)
    least, most = _reduce(low, high)
    return 0.5 * (least + most), 0.5 * (most - least)


@element
def _as_float32(u: Vec3) -> Vec3:
    return (float(np.float32(u[0])), float(np.float32(u[1])), float(np.float32(u[2])))


@element
def _combine(x: float, u: Vec3, y: float, v: Vec3, z: float, w: Vec3) -> Vec3:
    return (
        x * u[0] + y * v[0] + z * w[0],
        x * u[1] + y * v[1] + z * w[1],
        x * u[2] + y * v[2] + z * w[2],
    )


@kernel
def _sum_leaf(lanes: Packed, leaf: int, moments: Floats) -> None:
    """Sums of x, y, z, xx, xy, xz, yy, yz, zz over the 24 corners of a leaf; repeated slots count again, which only tilts the axes."""
    sx = sy = sz = xx = xy = xz = yy = yz = zz = 0.0
    for c in range(3):
        for k in range(WIDTH):
            x, y, z = float(lanes[leaf, 3 * c, k]), float(lanes[leaf, 3 * c + 1, k]), float(lanes[leaf, 3 * c + 2, k])
            sx += x
            sy += y
            sz += z
            xx += x * x
            xy += x * y
            xz += x * z
            yy += y * y
            yz += y * z
            zz += z * z
    m = moments[leaf]
    m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8] = sx, sy, sz, xx, xy, xz, yy, yz, zz


@kernel
def _fit_node_obb(lanes: Packed, first: int, last: int, m: Floats, boxes: Packed, node: int) -> None:
    """Box of the leaves first … last − 1 along the eigenvectors of the covariance of their corners (Meseure 1998, eq. 1 and 2)."""
    n = 3.0 * WIDTH * (last - first)
    x, y, z = m[0] / n, m[1] / n, m[2] / n
    _, axes, _ = eigenvectors_symmetric(
        m[3] / n - x * x, m[6] / n - y * y, m[8] / n - z * z, m[4] / n - x * y, m[5] / n - x * z, m[7] / n - y * z
    )
    u, v, w = _as_float32(axes[0]), _as_float32(axes[1]), _as_float32(axes[2])
    mu, hu = _middle_and_half(lanes, first, last, u)
    mv, hv = _middle_and_half(lanes, first, last, v)
    mw, hw = _middle_and_half(lanes, first, last, w)
    # The rounded axes are orthonormal to 1e-7 only; one correction makes u·center the middle to second order.
    c = _combine(mu, u, mv, v, mw, w)
    d = _combine(mu - dot(u, c), u, mv - dot(v, c), v, mw - dot(w, c), w)
    p, k = node >> 3, node & 7
    for i in range(3):
        boxes[p, i, k] = c[i] + d[i]
        boxes[p, 6 + 3 * i, k] = u[i]
        boxes[p, 7 + 3 * i, k] = v[i]
        boxes[p, 8 + 3 * i, k] = w[i]
    boxes[p, 3, k] = np.float32(hu) + PAD
    boxes[p, 4, k] = np.float32(hv) + PAD
    boxes[p, 5, k] = np.float32(hw) + PAD


@kernel
def _gather(surface: Surface, leaf: int) -> None:
    """Copy the corners of eight triangles into their slots, as they are and normalised."""
    vertices, faces, frame, lanes, corners, _, _ = surface
    n, scale = len(faces), frame[3]
    for k in range(WIDTH):
        slot = min(leaf * WIDTH + k, n - 1)
        for c in range(3):
            v = faces[slot, c]
            for i in range(3):
                x = vertices[v, i]
                lanes[leaf, 3 * c + i, k] = (x - frame[i]) * scale
                corners[slot, 3 * c + i] = x


@implement(fit_at, Oriented, Surface)
def fit_at_oriented(way: Oriented, surface: Surface, level: int, i: int) -> None:
    """To all corners below it, from the sums over them."""
    starts, counts, moments, span = surface.starts, surface.counts, way.moments, WIDTH**level
    node = starts[level] + i
    if level == 0:
        _sum_leaf(surface.lanes, i, moments)
    else:
        below = starts[level - 1] + WIDTH * i
        for m in range(9):
            total = 0.0
            for k in range(min(WIDTH, counts[level - 1] - WIDTH * i)):
                total += moments[below + k, m]
            moments[node, m] = total
    _fit_node_obb(surface.lanes, i * span, min((i + 1) * span, counts[0]), moments[node], way.boxes, node)


@implement(fit_at, Aligned, Surface)
def fit_at_aligned(way: Aligned, surface: Surface, level: int, i: int) -> None:
    """A leaf to its corners, any other to the eight boxes below it."""
    starts, boxes = surface.starts, way.boxes
    node = starts[level] + i
    for axis in range(3):
        if level == 0:
            at = i * (9 * WIDTH) + axis * WIDTH
            a, b, c = (
                load_8(surface.lanes, at),
                load_8(surface.lanes, at + 3 * WIDTH),
                load_8(surface.lanes, at + 6 * WIDTH),
            )
            low, high = _reduce(minimum(minimum(a, b), c), maximum(maximum(a, b), c))
        else:
            at = (starts[level - 1] // WIDTH + i) * (AABB_FIELDS * WIDTH) + axis * WIDTH
            center, half = load_8(boxes, at), load_8(boxes, at + 3 * WIDTH)
            low, high = _reduce(center - half, center + half)
        boxes[node >> 3, axis, node & 7] = 0.5 * (low + high)
        boxes[node >> 3, 3 + axis, node & 7] = np.float32(0.5 * (high - low)) + PAD


@kernel
def _fit_subtree(way: Any, surface: Surface, split: int, task: int) -> None:
    """Fill and fit what lies below a node of the level `split`, and the node."""
    first, last = task * WIDTH**split, min((task + 1) * WIDTH**split, surface.counts[0])
    for leaf in range(first, last):
        _gather(surface, leaf)
    for level in range(split + 1):
        span = WIDTH**level
        for i in range(first // span, (last + span - 1) // span):
            fit_at(way, surface, level, i)


@kernel
def _fit_above(way: Any, surface: Surface, split: int) -> None:
    for level in range(split + 1, len(surface.counts)):
        for i in range(surface.counts[level]):
            fit_at(way, surface, level, i)


@parallel
def _fit_subtrees(way: Any, surface: Surface, split: int) -> None:
    for task in prange(surface.counts[split]):  # one parallel region: each costs a wait for the busiest core
        _fit_subtree(way, surface, split, task)


def fit(boxes: Packed, surface: Surface) -> None:
    """Fill lanes and corners, and fit boxes of either kind at every level, from the leaves upwards."""
    if boxes.shape[1] == OBB_FIELDS:
        way: Any = Oriented(boxes, np.empty((int(surface.starts[-1]), 9)))
    else:
        way = Aligned(boxes)
    split = min(SUBTREE_LEVEL, len(surface.counts) - 1)
    with threads_for(len(surface.faces), PARALLEL_FACES):
        _fit_subtrees(way, surface, split)
    _fit_above(way, surface, split)
