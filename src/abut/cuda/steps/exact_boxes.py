"""Whether the swept boxes of two features meet in float64, where those in float32 do: only ends that are equal in float32 leave that open."""

import math
from typing import Any

import numpy as np

from abut.core.scratch import load
from abut.cuda.device import inlined
from abut.cuda.warps import index_at

HUGE = np.float32(np.inf)


@inlined
def _extent32(points: Any, at: int, corners: int) -> Any:
    """The interval of a feature along the axis of the row that begins at `at`."""
    low, high = HUGE, -HUGE
    for k in range(corners):
        x, y = load(points, at + 192 * k), load(points, at + 192 * k + 96)
        low, high = min(low, x, y), max(high, x, y)
    return low, high


@inlined
def _extent(ids: Any, at: int, corners: int, axis: int, v_t0: Any, v_t1: Any) -> Any:
    """The same in float64; ids: the rows of the corners."""
    low, high = math.inf, -math.inf
    for k in range(corners):
        place = 3 * index_at(ids, at + 32 * k) + axis
        x, y = load(v_t0, place), load(v_t1, place)
        low, high = min(low, x, y), max(high, x, y)
    return low, high


@inlined
def boxes_meet(is_face: bool, points: Any, ids: Any, first: Any, second: Any, v_t0: Any, v_t1: Any) -> bool:
    """first, second: of the query's and the target's feature, where its points and its corners stand in shared memory."""
    corners_a, corners_b = (1, 3) if is_face else (2, 2)
    for axis in range(3):
        low_a, high_a = _extent32(points, first[0] + 32 * axis, corners_a)
        low_b, high_b = _extent32(points, second[0] + 32 * axis, corners_b)
        if low_a == high_b or low_b == high_a:
            l_a, h_a = _extent(ids, first[1], corners_a, axis, v_t0, v_t1)
            l_b, h_b = _extent(ids, second[1], corners_b, axis, v_t0, v_t1)
            if l_a > h_b or l_b > h_a:
                return False
    return True
