"""All pairs of overlapping boxes, in one call: the search in blocks of sixteen (`trees.blocks`, `sorted_pairs`), a box being what a point sweeps from
its lower to its upper corner.

The pairs are exactly those of the float64 boxes, closed (touching counts), whatever the order along the curve and the number of threads.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from abut.broad.sorted_pairs import find_pairs_once
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel, threads_for
from abut.core.types import PointsLike
from abut.trees.blocks.block_tree import build_boxes
from abut.trees.blocks.swept import Frame, Small, frame_between

BoxesLike: TypeAlias = ArrayLike
"""(n,6) boxes: lower corner x, y, z, then upper corner."""


@kernel
def _bound(boxes: Any, bounds: Floats) -> int:
    """Grow bounds (2,3) to hold all boxes; the first box whose lower corner is above its upper one, or −1."""
    wrong = -1
    for i in range(len(boxes) - 1, -1, -1):
        for axis in range(3):
            lo, hi = boxes[i, axis], boxes[i, axis + 3]
            bounds[0, axis] = min(bounds[0, axis], lo)
            bounds[1, axis] = max(bounds[1, axis], hi)
            if lo > hi:
                wrong = i
    return wrong


@kernel
def _place(boxes: Any, frame: Frame, intervals: Small) -> None:
    """The boxes' intervals (n,3,2) in the frame: `swept` tells why this order of operations keeps the order of numbers."""
    origin = (frame.x, frame.y, frame.z)
    for i in range(len(boxes)):
        for axis in range(3):
            intervals[i, axis, 0] = (boxes[i, axis] - origin[axis]) * frame.scale
            intervals[i, axis, 1] = (boxes[i, axis + 3] - origin[axis]) * frame.scale


def _read(value: BoxesLike, name: str, count: int | None) -> tuple[Floats, Floats]:
    boxes = arrays.coordinates(value, name, (count, 6))
    bounds = np.array([[np.inf] * 3, [-np.inf] * 3])
    wrong = _bound(boxes, bounds)
    if wrong >= 0:
        raise InvalidInput(name, "has its lower corner above its upper corner", wrong)
    return boxes, bounds


def read_boxes(value: BoxesLike, name: str, count: int | None = None) -> Floats:
    """(n,6) float64 boxes, lower corner before upper; a box whose ends are in the wrong order is refused."""
    return _read(value, name, count)[0]


def overlapping_pairs(boxes: BoxesLike) -> Integers:
    """All pairs of boxes that overlap, sorted. Touching counts.

    The pairs are exactly those of the float64 numbers given, and the same for any number of threads.

    Args:
        boxes: (n,6) lower corner x, y, z, then upper corner.

    Returns:
        (p,2) int64 rows i < j.

    Examples:
        >>> import abut
        >>> boxes = [[0, 0, 0, 2, 2, 2], [1, 1, 1, 3, 3, 3], [4, 0, 0, 5, 1, 1], [5, 1, 1, 6, 2, 2]]
        >>> abut.broad.overlapping_pairs(boxes).tolist()
        [[0, 1], [2, 3]]
    """
    checked, bounds = _read(boxes, "boxes", None)
    frame = frame_between(bounds, 0.0)
    intervals = np.empty((len(checked), 3, 2), dtype=np.float32)
    _place(checked, frame, intervals)
    with threads_for(len(checked)):
        own = build_boxes(checked, intervals, frame)
        return frozen(find_pairs_once(own))


def turning_boxes(centers: PointsLike, radii: ArrayLike) -> Floats:
    """Cubes that hold bodies in every rotation about their centers: such a box need not be resized while the body turns.

    Args:
        centers: (n,3) about which the bodies turn.
        radii: (n,) distance of each body's farthest vertex from its center.

    Returns:
        (n,6) boxes, as wide as the radii on all sides, rounded outwards.

    Examples:
        >>> import abut
        >>> abut.broad.turning_boxes([[4.5, 0.5, 0.5]], [0.25]).round(6).tolist()
        [[4.25, 0.25, 0.25, 4.75, 0.75, 0.75]]
    """
    middle = arrays.points(centers, "centers")
    half = arrays.coordinates(radii, "radii", (len(middle),))[:, np.newaxis]
    if (half < 0).any():
        raise InvalidInput("radii", "is negative", int((half < 0).argmax()))
    return np.hstack([np.nextafter(middle - half, -np.inf), np.nextafter(middle + half, np.inf)])
