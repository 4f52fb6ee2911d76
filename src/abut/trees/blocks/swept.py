"""What vertices sweep between t = 0 and t = 1: intervals along the directions of a k-DOP, in float64 and, in the same order, in float32.

A vertex moves along a segment, so its projection on any direction stays between those of the two ends, and the hull of a primitive's
vertices bounds the primitive. Intervals are float64, their projections rounded outwards as in `trees.volumes.kdop` (along an axis they are exact).

The float32 twin of a bound x is (x − origin)·scale, rounded to nearest. Each of the three steps keeps order: x ≤ y gives x₃₂ ≤ y₃₂. So
two float32 intervals that are apart are apart in float64, two that overlap by more than a point overlap in float64, and only where
float32 ends are equal has float64 to decide (`meet_exactly`). Nothing has to be rounded outwards, and the pairs are those of float64.

A margin m is split: every interval grows by m/2 on both sides (times the direction's length, rounded outwards).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel, parallel, prange
from abut.core.scratch import load
from abut.trees.volumes.kdop import COLUMNS, FIRST_AXIS, FIRST_DIAGONAL, project, reach_along
from abut.trees.volumes.rounding import above, below

Small = NDArray[np.float32]
Indices = NDArray[np.int32]

VOLUMES = {"aabb": COLUMNS[6], **{f"kdop{k}": columns for k, columns in COLUMNS.items()}}
"""Name of a volume: its number of directions."""

DIAGONAL_COLUMNS, EDGE_COLUMNS, AXES_AND_DIAGONALS = COLUMNS[8], COLUMNS[12], COLUMNS[14]
SMALLEST_HALF = 2.0**-60  # a scene that is smaller, beside its margin, is one cell of the curve
EXTENT = 0.25  # half the size of the scene in float32: sums of three coordinates stay below 1


class Moving(NamedTuple):
    """A body during a step: positions at both ends (n,3), faces (m,3), edges (k,2)."""

    positions_t0: Floats
    positions_t1: Floats
    faces: Integers
    edges: Integers


class Frame(NamedTuple):
    """Float32 coordinates are (x − (x, y, z))·scale; half is half the size of the scene in them, margin half the margin in the world."""

    x: float
    y: float
    z: float
    scale: float
    half: float
    margin: float


@element
def direction_of(columns: int, column: int) -> int:
    """Row of `kdop.DIRECTIONS` of a column. The first three columns go into the boxes of trees: the axes, where the volume has them."""
    if columns == DIAGONAL_COLUMNS:
        return FIRST_DIAGONAL + column
    if columns == EDGE_COLUMNS:
        return column
    if column < 3 or columns == AXES_AND_DIAGONALS:
        return FIRST_AXIS + column
    return column - 3 if column < FIRST_DIAGONAL else column


@kernel
def _bound(positions: Floats, bounds: Floats) -> None:
    for i in range(len(positions)):
        for axis in range(3):
            bounds[0, axis] = min(bounds[0, axis], positions[i, axis])
            bounds[1, axis] = max(bounds[1, axis], positions[i, axis])


def frame_of(bodies: list[Moving], margin: float) -> Frame:
    """The frame of all that moves. The scale is a power of two: multiplying by it rounds nothing."""
    bounds = np.array([[np.inf] * 3, [-np.inf] * 3])
    for body in bodies:
        _bound(body.positions_t0, bounds)
        _bound(body.positions_t1, bounds)
    return frame_between(bounds, margin)


def frame_between(bounds: Floats, margin: float) -> Frame:
    """The frame of what lies between two corners (2,3)."""
    if bounds[0, 0] > bounds[1, 0]:
        return Frame(0.0, 0.0, 0.0, 1.0, EXTENT, margin / 2)
    middle = bounds[0] / 2 + bounds[1] / 2
    half = float((bounds[1] / 2 - bounds[0] / 2).max())
    size = half + margin
    # 2^-1020 and less would scale beyond the largest double; such a scene is left at the size it has then.
    exponent = max(math.frexp(size)[1], -1000) if size > 0 else 0
    scale = math.ldexp(EXTENT, -exponent)
    x, y, z = middle.tolist()
    return Frame(x, y, z, scale, half * scale if half * scale > SMALLEST_HALF else EXTENT, margin / 2)


@element
def _grow(lo: float, hi: float, direction: int, margin: float) -> tuple[float, float]:
    if margin == 0.0:
        return lo, hi
    reach = reach_along(direction, margin)
    return below(lo - reach), above(hi + reach)


@kernel
def sweep_vertex(motion: Any, vertex: int, direction: int, margin: float) -> tuple[float, float]:
    """The interval of a vertex along a direction, grown by `margin`; motion (n,6) holds both ends, an array or a pointer."""
    at = vertex * 6
    p0, g0 = project(direction, (load(motion, at), load(motion, at + 1), load(motion, at + 2)))
    p1, g1 = project(direction, (load(motion, at + 3), load(motion, at + 4), load(motion, at + 5)))
    return _grow(min(p0 - g0, p1 - g1), max(p0 + g0, p1 + g1), direction, margin)


@kernel
def _sweep_primitive(
    motion: Any, elements: Any, corner_count: int, i: int, direction: int, margin: float
) -> tuple[float, float]:
    lo, hi = np.inf, -np.inf
    for corner in range(corner_count):
        low, high = sweep_vertex(motion, load(elements, i * corner_count + corner), direction, margin)
        lo, hi = min(lo, low), max(hi, high)
    return lo, hi


@kernel
def meet_exactly(
    motion_a: Any,
    elements_a: Any,
    corners_a: int,
    a: int,
    motion_b: Any,
    elements_b: Any,
    corners_b: int,
    b: int,
    columns: int,
    margin: float,
) -> bool:
    """Whether the float64 intervals of two primitives meet along every direction of the volume (touching counts)."""
    for column in range(columns):
        direction = direction_of(columns, column)
        lo_a, hi_a = _sweep_primitive(motion_a, elements_a, corners_a, a, direction, margin)
        lo_b, hi_b = _sweep_primitive(motion_b, elements_b, corners_b, b, direction, margin)
        if lo_a > hi_b or lo_b > hi_a:
            return False
    return True


@kernel
def _sweep_row(
    positions_t0: Floats, positions_t1: Floats, frame: Frame, i: int, motion: Floats, placed: Small, intervals: Small
) -> None:
    columns = intervals.shape[1]
    for axis in range(3):
        motion[i, axis] = positions_t0[i, axis]
        motion[i, 3 + axis] = positions_t1[i, axis]
    for end in range(2):
        placed[i, 3 * end] = (motion[i, 3 * end] - frame.x) * frame.scale
        placed[i, 3 * end + 1] = (motion[i, 3 * end + 1] - frame.y) * frame.scale
        placed[i, 3 * end + 2] = (motion[i, 3 * end + 2] - frame.z) * frame.scale
    for column in range(columns):
        direction = direction_of(columns, column)
        origin = project(direction, (frame.x, frame.y, frame.z))[0]
        lo, hi = sweep_vertex(motion, i, direction, frame.margin)
        intervals[i, column, 0] = (lo - origin) * frame.scale
        intervals[i, column, 1] = (hi - origin) * frame.scale


@kernel
def _sweep_boxes(
    positions_t0: Floats, positions_t1: Floats, frame: Frame, motion: Floats, placed: Small, intervals: Small
) -> None:
    for i in range(len(positions_t0)):
        _sweep_row(positions_t0, positions_t1, frame, i, motion, placed, intervals)


@parallel
def _sweep_dops(
    positions_t0: Floats, positions_t1: Floats, frame: Frame, motion: Floats, placed: Small, intervals: Small
) -> None:
    for i in prange(len(positions_t0)):
        _sweep_row(positions_t0, positions_t1, frame, i, motion, placed, intervals)


def sweep_vertices(body: Moving, frame: Frame, motion: Floats, placed: Small, intervals: Small) -> None:
    """Write both ends side by side (n,6) in float64 and in the frame, and the intervals (n, columns, 2) in the frame."""
    sweep = _sweep_boxes if intervals.shape[1] == 3 else _sweep_dops  # boxes are done before other threads have started
    sweep(body.positions_t0, body.positions_t1, frame, motion, placed, intervals)
