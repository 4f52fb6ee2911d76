"""Oriented boxes in the plane and their binary tree (Rivera 2002, §3.1): basic boxes around segments, upper boxes around basic boxes.

A basic box takes its axes from the covariance of five uniform samples, its sides from the true extremes of the cubic along those axes
(a quadratic equation), and is grown by a tolerance. An upper box takes its axes from the covariance of the basic boxes' centers below
it, weighted by arc length, and is fitted to the corners of all basic boxes below ("basic": O(n log n), though the paper states O(n)) or
of its two children ("children": O(n)).

Layout: nodes (2n, 6) float64, one row per box: center x, y, first axis x, y, half sides along the first and the second axis. Row 1 is the
root, row k has the children 2k and 2k + 1, rows n to 2n − 1 are the basic boxes of segments 0 to n − 1: 2n − 1 boxes for any n. Below
every node lie consecutive segments, in the cyclic order of the contour. Row 0 holds the reach: how far a control point is from the
origin at most.

Invariant: a box holds its curve and its basic boxes as real numbers; PAD·reach is added to the half sides for it.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.contours.curve.cubic import Four, Segment, derivative_at, extremes, point_at, project
from abut.core import arrays
from abut.core.arrays import Floats, frozen
from abut.core.errors import AbutError, InvalidInput
from abut.core.handles import FloatsAt, pack
from abut.core.jit import element, kernel
from abut.core.showing import count, describe
from abut.geometry.vec import Vec2

UNIT = 2.0**-53
PAD = 32.0 * UNIT
"""Projections, extremes and centers are each off by less than 8u·reach; three of them meet in a half side."""
SAMPLES = 5
Fit: TypeAlias = Literal["basic", "children"]
"""What upper boxes are fitted to."""
# Gauss–Legendre nodes and weights on [0, 1]: the arc length only weighs the covariance.
NODES = ((0.1127016653792583, 0.2777777777777778), (0.5, 0.4444444444444444), (0.8872983346207417, 0.2777777777777778))


@element
def segment_at(segments: Floats, i: int) -> Segment:
    """Segment i of an array (n,4,2)."""
    return (
        segments[i, 0, 0],
        segments[i, 0, 1],
        segments[i, 1, 0],
        segments[i, 1, 1],
        segments[i, 2, 0],
        segments[i, 2, 1],
        segments[i, 3, 0],
        segments[i, 3, 1],
    )


@element
def main_axis(xx: float, xy: float, yy: float) -> Vec2:
    """Unit eigenvector of the larger eigenvalue of [[xx, xy], [xy, yy]]; (1, 0) where both are equal."""
    half = 0.5 * (xx - yy)
    radius = math.sqrt(half * half + xy * xy)
    if radius <= 0.0:
        return (1.0, 0.0)
    if half >= 0.0:
        x, y = half + radius, xy
    else:
        x, y = abs(xy), math.copysign(radius - half, xy)
    length = math.sqrt(x * x + y * y)
    return (x / length, y / length)


@element
def sample_axis(c: Segment) -> Vec2:
    """Main axis of the covariance of SAMPLES points at uniform parameters, about their mean."""
    mx, my = 0.0, 0.0
    for k in range(SAMPLES):
        x, y = point_at(c, k / (SAMPLES - 1))
        mx, my = mx + x / SAMPLES, my + y / SAMPLES
    xx, xy, yy = 0.0, 0.0, 0.0
    for k in range(SAMPLES):
        x, y = point_at(c, k / (SAMPLES - 1))
        xx, xy, yy = xx + (x - mx) * (x - mx), xy + (x - mx) * (y - my), yy + (y - my) * (y - my)
    return main_axis(xx / (SAMPLES - 1), xy / (SAMPLES - 1), yy / (SAMPLES - 1))


@element
def arc_length(c: Segment) -> float:
    """Arc length by three Gauss nodes: a weight, not a measure."""
    total = 0.0
    for t, w in NODES:
        x, y = derivative_at(c, t)
        total += w * math.sqrt(x * x + y * y)
    return total


@element
def basic_below(node: int, leaf_count: int) -> tuple[int, int]:
    """The first and the last basic box below a box, in the contour's order."""
    first, last = node, node
    while first < leaf_count:
        first *= 2
    while last < leaf_count:
        last = 2 * last + 1
    return (first, last)


@element
def box_extent(node: Floats, x: float, y: float, ex: float, ey: float) -> Four:
    """Least and largest coordinate of a box along an axis and across it, from an origin."""
    u, v = (node[0] - x) * ex + (node[1] - y) * ey, (node[1] - y) * ex - (node[0] - x) * ey
    c, s = abs(node[2] * ex + node[3] * ey), abs(node[3] * ex - node[2] * ey)
    ru, rv = node[4] * c + node[5] * s, node[4] * s + node[5] * c
    return (u - ru, u + ru, v - rv, v + rv)


@kernel
def _set_box(node: Floats, x: float, y: float, ex: float, ey: float, extent: Four, grow: float) -> None:
    u, v = 0.5 * (extent[0] + extent[1]), 0.5 * (extent[2] + extent[3])
    node[0], node[1] = x + u * ex - v * ey, y + u * ey + v * ex
    node[2], node[3] = ex, ey
    node[4], node[5] = 0.5 * (extent[1] - extent[0]) + grow, 0.5 * (extent[3] - extent[2]) + grow


@kernel
def _fit_basic(segments: Floats, grown: Floats, pad: float, nodes: Floats, sums: Floats) -> None:
    """Basic boxes, and the sums that the covariances above them are made of: l, l·x, l·y, l·x², l·x·y, l·y²."""
    n = len(segments)
    for i in range(n):
        c = segment_at(segments, i)
        ex, ey = sample_axis(c)
        u, v = project(c, c[0], c[1], ex, ey), project(c, c[0], c[1], -ey, ex)
        (u0, u1), (v0, v1) = extremes(u), extremes(v)
        _set_box(nodes[n + i], c[0], c[1], ex, ey, (u0, u1, v0, v1), grown[i] + pad)
        x, y = nodes[n + i, 0] - segments[0, 0, 0], nodes[n + i, 1] - segments[0, 0, 1]
        weight = arc_length(c)
        sums[n + i, 0], sums[n + i, 1], sums[n + i, 2] = weight, weight * x, weight * y
        sums[n + i, 3], sums[n + i, 4], sums[n + i, 5] = weight * x * x, weight * x * y, weight * y * y


@kernel
def _fit_upper(segments: Floats, pad: float, to_basic: bool, nodes: Floats, sums: Floats) -> None:
    n = len(segments)
    for k in range(n - 1, 0, -1):
        for q in range(6):
            sums[k, q] = sums[2 * k, q] + sums[2 * k + 1, q]
        weight = max(sums[k, 0], 5e-324)
        mx, my = sums[k, 1] / weight, sums[k, 2] / weight
        ex, ey = main_axis(sums[k, 3] / weight - mx * mx, sums[k, 4] / weight - mx * my, sums[k, 5] / weight - my * my)
        x, y = mx + segments[0, 0, 0], my + segments[0, 0, 1]
        first, last = basic_below(k, n) if to_basic else (2 * k, 2 * k + 1)
        u0, u1, v0, v1 = box_extent(nodes[first], x, y, ex, ey)
        i = first
        while i != last:
            i = i + 1 if i + 1 < 2 * n else n  # the last segment is followed by the first
            a0, a1, b0, b1 = box_extent(nodes[i], x, y, ex, ey)
            u0, u1, v0, v1 = min(u0, a0), max(u1, a1), min(v0, b0), max(v1, b1)
        _set_box(nodes[k], x, y, ex, ey, (u0, u1, v0, v1), pad)


@kernel
def _find_reach(segments: Floats) -> float:
    """The largest distance of a control point from the origin, no less."""
    largest = 0.0
    for i in range(len(segments)):
        for k in range(4):
            largest = max(largest, segments[i, k, 0] * segments[i, k, 0] + segments[i, k, 1] * segments[i, k, 1])
    return math.sqrt(largest) * (1.0 + 4.0 * UNIT)


@kernel
def find_bounds(segments: Floats) -> Floats:
    """(2,2) least and largest x and y of the curve."""
    result = np.empty((2, 2))
    for axis in range(2):
        lo, hi = np.inf, -np.inf
        for i in range(len(segments)):
            a, b = extremes((segments[i, 0, axis], segments[i, 1, axis], segments[i, 2, axis], segments[i, 3, axis]))
            lo, hi = min(lo, a), max(hi, b)
        result[0, axis], result[1, axis] = lo, hi
    return result


@kernel
def _find_excess(segments: Floats, nodes: Floats) -> tuple[int, int, float]:
    """The node out of which its curve or a basic box below it sticks furthest, the segment, and by how much; by brute force, from each leaf up."""
    n = len(nodes) // 2
    pieces = len(segments) // n
    worst, at, of = 0.0, 0, 0
    for i in range(len(segments)):
        c = segment_at(segments, i)
        leaf = n + i // pieces
        k = leaf
        while k > 0:
            node = nodes[k]
            u = extremes(project(c, node[0], node[1], node[2], node[3]))
            v = extremes(project(c, node[0], node[1], -node[3], node[2]))
            out = max(max(u[1], -u[0]) - node[4], max(v[1], -v[0]) - node[5])
            if k < n:
                a0, a1, b0, b1 = box_extent(nodes[leaf], node[0], node[1], node[2], node[3])
                out = max(out, max(a1, -a0) - node[4], max(b1, -b0) - node[5])
            if out > worst:
                worst, at, of = out, k, i
            k //= 2
    return (at, of, worst)


@kernel
def _find_excesses(segments: Floats, nodes: Floats, out: Floats) -> None:
    """(n,) by how much the segments of each basic box stick out of it."""
    n = len(nodes) // 2
    pieces = len(segments) // n
    for i in range(len(segments)):
        c, node = segment_at(segments, i), nodes[n + i // pieces]
        u = extremes(project(c, node[0], node[1], node[2], node[3]))
        v = extremes(project(c, node[0], node[1], -node[3], node[2]))
        over = max(max(u[1], -u[0]) - node[4], max(v[1], -v[0]) - node[5])
        out[i // pieces] = max(out[i // pieces], over)


class ContourTable(NamedTuple):
    """A contour as kernels see it (`core.handles`)."""

    segments: FloatsAt
    """(n,4,2)"""
    nodes: FloatsAt
    """(2n,6) boxes"""
    leaf_count: int
    orientation: int


@dataclass(frozen=True, eq=False, repr=False)
class Boxes:
    """The binary tree of a contour's oriented boxes; `len` is their number, 2n − 1 for n segments. Immutable."""

    nodes: Floats
    """(2n,6) center x, y, first axis x, y, half sides along it and across; row 1 is the root, row k has the children 2k and 2k + 1, and rows
    n to 2n − 1 are the basic boxes of segments 0 to n − 1. Row 0 holds how far a control point is from the origin at most."""

    def __len__(self) -> int:
        return len(self.nodes) - 1

    def __repr__(self) -> str:
        return describe(self, count(len(self), "box", "boxes"), f"{self.leaf_count:,} basic")

    def _repr_svg_(self) -> str:
        from abut.contours.curve.drawing import draw_curves

        return draw_curves([], self.corners)

    @property
    def leaf_count(self) -> int:
        """The number of basic boxes."""
        return len(self.nodes) // 2

    @property
    def corners(self) -> Floats:
        """(2n−1,4,2) corners of all boxes, root first, anticlockwise."""
        x, y, ex, ey, a, b = self.nodes[1:].T
        signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
        return np.stack(
            [np.stack([x + p * a * ex - q * b * ey, y + p * a * ey + q * b * ex], axis=1) for p, q in signs], axis=1
        )

    def validate(self, segments: ArrayLike) -> None:
        """Raise unless every box holds its part of the curve and the basic boxes below it, to rounding (PAD·reach).

        Args:
            segments: (n,4,2) those that the boxes were built around, or (n·k,4,2): k pieces of each, as a rough contour has them.

        Raises:
            AbutError: says which segment sticks out of which box, and by how much.
        """
        segments = arrays.coordinates(segments, "segments", (None, 4, 2))
        if not len(segments) or len(segments) % self.leaf_count:
            raise InvalidInput("segments", f"{len(segments)} are not a multiple of the {self.leaf_count} basic boxes")
        node, segment, excess = _find_excess(segments, self.nodes)
        if excess > PAD * self.nodes[0, 0]:
            raise AbutError(f"boxes: segment {segment} sticks out of box {node} by {excess:.3g}")

    def holds(self, segments: ArrayLike) -> NDArray[np.bool_]:
        """Which basic boxes hold their segments, to rounding (PAD·reach).

        Args:
            segments: as of `validate`.

        Returns:
            (n,) booleans.
        """
        segments = arrays.coordinates(segments, "segments", (None, 4, 2))
        if not len(segments) or len(segments) % self.leaf_count:
            raise InvalidInput("segments", f"{len(segments)} are not a multiple of the {self.leaf_count} basic boxes")
        out = np.zeros(self.leaf_count)
        _find_excesses(segments, self.nodes, out)
        return frozen(out <= PAD * self.nodes[0, 0])

    def table(self, segments: Floats, orientation: int) -> NDArray[np.int64]:
        """What kernels read a contour from.

        Args:
            segments: (n,4,2) of the contour; it and the boxes must live as long as the table is in use.
            orientation: +1 or −1.

        Returns:
            (4,) a packed `ContourTable`.
        """
        return frozen(pack(ContourTable, segments, self.nodes, len(segments), orientation))


def build_boxes(segments: ArrayLike, grown: ArrayLike | None = None, fit: Fit = "basic") -> Boxes:
    """The tree of oriented boxes over cubic Bézier segments.

    Args:
        segments: (n,4,2) control points, in the order of the contour.
        grown: (n,) by how much the basic box of each segment is grown on all sides; by nothing by default.
        fit: "basic", upper boxes fitted to the corners of all basic boxes below, O(n log n); "children", to those of the two boxes below, O(n).

    Returns:
        The 2n − 1 boxes.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> contours.build_boxes(tile.segments, grown=[0.1, 0.1, 0.1, 0.1])
        Boxes(7 boxes, 4 basic)
    """
    segments = arrays.coordinates(segments, "segments", (None, 4, 2))
    if not len(segments):
        raise InvalidInput("segments", "is empty: a contour has at least one segment")
    if grown is not None:
        grown = arrays.coordinates(grown, "grown", (len(segments),)).copy()
    if not isinstance(fit, str) or fit not in get_args(Fit):
        raise InvalidInput("fit", f"{fit!r} is neither 'basic' nor 'children'")
    nodes, sums = np.empty((2 * len(segments), 6)), np.empty((2 * len(segments), 6))
    reach = _find_reach(segments)
    nodes[0] = (reach, 0.0, 0.0, 0.0, 0.0, 0.0)
    tolerances = np.zeros(len(segments)) if grown is None else np.ascontiguousarray(grown)
    tolerances.flags.writeable = False  # one type of array for the kernel
    _fit_basic(segments, tolerances, PAD * reach, nodes, sums)
    _fit_upper(segments, PAD * reach, fit == "basic", nodes, sums)
    return Boxes(frozen(nodes))
