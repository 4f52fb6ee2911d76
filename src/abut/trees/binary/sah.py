"""Cuts by the surface area heuristic, with the primitives' centroids in bins (Wald 2007).

A box is hit as often as its surface is large, so the cost of a cut is the sum over both sides of surface times primitives. Of each
axis BINS − 1 planes are tried. Where all centroids coincide the range is halved.
"""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.scratch import load, reserve_floats, store
from abut.trees.binary.tree import END, START
from abut.trees.volumes import Primitives

BINS = 16
FIELDS = 7  # of a bin: count, low x y z, high x y z
SCRATCH = 3 * BINS * FIELDS + BINS  # the bins of each axis, then the costs of the left sides
LEAF = -1


@parallel
def _bound_primitives(vertices: Floats, rows: Integers, boxes: Floats) -> None:
    for i in prange(len(rows)):
        for axis in range(3):
            low = high = vertices[rows[i, 0], axis]
            for corner in range(1, rows.shape[1]):
                x = vertices[rows[i, corner], axis]
                low, high = min(low, x), max(high, x)
            boxes[i, axis], boxes[i, 3 + axis] = low, high


@element
def _bin(center: float, lowest: float, scale: float) -> int:
    return min(max(int((center - lowest) * scale), 0), BINS - 1)


@kernel
def _center(boxes: Floats, primitive: int, axis: int) -> float:
    return 0.5 * boxes[primitive, axis] + 0.5 * boxes[primitive, 3 + axis]


@kernel
def _clear_bins(bins: Any, axis: int) -> None:
    for b in range(axis * BINS, (axis + 1) * BINS):
        store(bins, b * FIELDS, 0.0)
        for k in range(1, 4):
            store(bins, b * FIELDS + k, np.inf)
            store(bins, b * FIELDS + 3 + k, -np.inf)


@kernel
def _fill_bins(
    bins: Any, axis: int, boxes: Floats, order: Integers, start: int, end: int, lowest: float, scale: float
) -> None:
    # Indices: axis < 3, bin < BINS, field < FIELDS.
    for i in range(start, end):
        primitive = order[i]
        at = (axis * BINS + _bin(_center(boxes, primitive, axis), lowest, scale)) * FIELDS
        store(bins, at, load(bins, at) + 1.0)
        for k in range(3):
            store(bins, at + 1 + k, min(load(bins, at + 1 + k), boxes[primitive, k]))
            store(bins, at + 4 + k, max(load(bins, at + 4 + k), boxes[primitive, 3 + k]))


@kernel
def _cheapest_plane(bins: Any, axis: int) -> tuple[float, int]:
    """Cost of the best plane of an axis, and the last bin before it."""
    costs = 3 * BINS * FIELDS
    best, plane = np.inf, -1
    for sweep in range(2):  # from the left into the scratch, from the right to a decision
        count, x0, y0, z0, x1, y1, z1 = 0.0, np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
        for step in range(BINS - 1):
            b = step if sweep == 0 else BINS - 1 - step
            at = (axis * BINS + b) * FIELDS
            count += load(bins, at)
            x0, y0, z0 = min(x0, load(bins, at + 1)), min(y0, load(bins, at + 2)), min(z0, load(bins, at + 3))
            x1, y1, z1 = max(x1, load(bins, at + 4)), max(y1, load(bins, at + 5)), max(z1, load(bins, at + 6))
            cost = 0.0
            if count > 0.0:
                x, y, z = x1 - x0, y1 - y0, z1 - z0
                cost = count * (x * y + y * z + z * x)
            if sweep == 0:
                store(bins, costs + b, cost if count > 0.0 else np.inf)
            elif count > 0.0 and cost + load(bins, costs + b - 1) < best:
                best, plane = cost + load(bins, costs + b - 1), b - 1
    return best, plane


@kernel
def _part(
    boxes: Floats, order: Integers, start: int, end: int, axis: int, lowest: float, scale: float, plane: int
) -> int:
    low, high = start, end
    while low < high:
        if _bin(_center(boxes, order[low], axis), lowest, scale) <= plane:
            low += 1
        else:
            high -= 1
            order[low], order[high] = order[high], order[low]
    return low


@kernel
def _find_cut(boxes: Floats, order: Integers, start: int, end: int) -> int:
    bins = reserve_floats(SCRATCH)
    best, best_axis, best_plane, best_lowest, best_scale = np.inf, -1, -1, 0.0, 0.0
    for axis in range(3):
        lowest, highest = np.inf, -np.inf
        for i in range(start, end):
            center = _center(boxes, order[i], axis)
            lowest, highest = min(lowest, center), max(highest, center)
        if highest - lowest <= BINS * TINIEST:  # no width to divide by
            continue
        scale = BINS / (highest - lowest)
        _clear_bins(bins, axis)
        _fill_bins(bins, axis, boxes, order, start, end, lowest, scale)
        cost, plane = _cheapest_plane(bins, axis)
        if cost < best:
            best, best_axis, best_plane, best_lowest, best_scale = cost, axis, plane, lowest, scale
    if best_axis < 0:
        return (start + end) // 2
    return _part(boxes, order, start, end, best_axis, best_lowest, best_scale, best_plane)


TINIEST: float = float(np.finfo(np.float64).tiny)


@parallel
def _cut_level(
    boxes: Floats, order: Integers, nodes: Integers, first: int, last: int, cuts: Integers, leaf_size: int, halve: bool
) -> None:
    for node in prange(first, last):
        start, end = nodes[node, START], nodes[node, END]
        if end - start <= leaf_size:
            cuts[node - first] = LEAF
        elif halve:
            cuts[node - first] = (start + end) // 2
        else:
            cuts[node - first] = _find_cut(boxes, order, start, end)


def cut_levels(primitives: Primitives, leaf_size: int, deepest: int):
    """How to cut a level of nodes, for `build`; rearranges the primitives' order. Below `deepest` ranges are halved."""
    boxes = np.empty((len(primitives.rows), 6))
    _bound_primitives(primitives.vertices, primitives.rows, boxes)

    def cut_level(nodes: Integers, first: int, last: int, depth: int, cuts: Integers) -> None:
        _cut_level(boxes, primitives.order, nodes, first, last, cuts, leaf_size, depth >= deepest)

    return cut_level
