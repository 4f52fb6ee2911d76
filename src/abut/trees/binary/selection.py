"""Ways to part a range of primitives in two, in place: at the median of keys, and about a plane."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, dot
from abut.trees.volumes import Primitives

MULTIPLIER, INCREMENT, MODULUS = 1103515245, 12345, 2**31  # pivots: the classic C generator, products below 2⁶²

Keys = NDArray[np.floating[Any]]


@element
def _next_random(seed: int) -> int:
    return (MULTIPLIER * (seed % MODULUS) + INCREMENT) % MODULUS


@kernel
def _swap(keys: Keys, order: Integers, i: int, j: int) -> None:
    keys[i], keys[j] = keys[j], keys[i]
    order[i], order[j] = order[j], order[i]


@kernel
def select(keys: Keys, order: Integers, start: int, end: int, middle: int) -> None:
    """Rearrange [start, end) so that keys before `middle` are at most, and those from it on at least, keys[middle].

    Hoare's quickselect. Pivots are medians of three, two of them pseudo-random, so that no order of the input is bad, and equal keys
    are parted evenly, so that identical ones are not bad either: expected linear time.
    """
    left, right, seed = start, end - 1, middle + 1
    while left < right:
        seed = _next_random(seed)
        a = keys[left + (seed >> 8) % (right - left + 1)]
        seed = _next_random(seed)
        b = keys[left + (seed >> 8) % (right - left + 1)]
        c = keys[(left + right) >> 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                _swap(keys, order, i, j)
                i, j = i + 1, j - 1
        # All of [left, j] are at most the pivot, all of [i, right] at least; those in between equal it.
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def cut_median(direction: Vec3, primitives: Primitives, keys: Floats, start: int, end: int) -> int:
    """Half of the primitives to each side, by the centroid along a direction. Returns where the second half starts."""
    vertices, rows, order = primitives
    for k in range(start, end):
        along = 0.0
        for corner in range(rows.shape[1]):
            along += dot(direction, vector_at(vertices, rows[order[k], corner]))
        keys[k] = along
    middle = (start + end) // 2
    select(keys, order, start, end, middle)
    return middle


@kernel
def mean_along(direction: Vec3, primitives: Primitives, start: int, end: int) -> float:
    """Where the mean of the vertices lies along a direction; a vertex counts once for each primitive that has it."""
    vertices, rows, order = primitives
    count = float(rows.shape[1] * (end - start))
    along = 0.0
    for k in range(start, end):
        for corner in range(rows.shape[1]):
            along += dot(direction, vector_at(vertices, rows[order[k], corner])) / count
    return along


@kernel
def _side(direction: Vec3, plane: float, vertices: Floats, rows: Integers, row: int) -> int:
    """−1, 1: on that side of the plane, touching it at most; 0: across it or in it."""
    is_below, is_above = False, False
    for corner in range(rows.shape[1]):
        along = dot(direction, vector_at(vertices, rows[row, corner]))
        is_below |= along < plane
        is_above |= along > plane
    return int(is_above) - int(is_below)


@kernel
def cut_plane(direction: Vec3, plane: float, primitives: Primitives, start: int, end: int) -> int:
    """Primitives before and behind a plane; each one that straddles it goes to whichever side is then lighter.

    Returns where the second side starts: `start` or `end` when a side stays empty.
    """
    vertices, rows, order = primitives
    low, k, high = start, start, end  # [start, low) before, [low, k) across, [high, end) behind the plane
    while k < high:
        side = _side(direction, plane, vertices, rows, order[k])
        if side < 0:
            order[k], order[low] = order[low], order[k]
            low, k = low + 1, k + 1
        elif side > 0:
            high -= 1
            order[k], order[high] = order[high], order[k]
        else:
            k += 1
    before, across, behind = low - start, high - low, end - high
    # One after the other to the lighter side: they even out as far as there are any.
    joining = min(max((behind + across - before + 1) // 2, 0), across)
    return low + joining
