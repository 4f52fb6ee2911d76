"""What keeps two features apart during a whole step, in float32: one of the 13 directions of the 26-DOP, at both ends in the same order.

Projections move linearly, so two features that a direction keeps apart at t = 0 and at t = 1, in the same order, are apart all the time (Wan 2022,
§2.2). Everything is seen from the first point: the vertex of a vertex-face pair, the first end of edge a.

Rounding. With coordinates of the frame up to 1/4 a place is off by Δ = 2⁻²⁷ (to float32; what happened before is far below), a difference of two by
2Δ, a sum of three of them by 6Δ, and a gap compares two: 12Δ. Each operation rounds by 2⁻²⁴ of numbers up to the size of the pair's tiles, six of
them at most. Gaps are compared with 16Δ and 12·2⁻²⁴ of that size.
"""

from typing import Any

import numpy as np

from abut.core.scratch import load
from abut.cuda.device import inlined

DELTA = 2.0**-27
ABSOLUTE, RELATIVE = np.float32(16.0 * DELTA), np.float32(12.0 * 2.0**-24)
ZERO = np.float32(0.0)
Row = tuple[Any, Any, Any, Any, Any, Any]
"""Along one direction: the second, third and fourth point at t = 0, then at t = 1, as seen from the first."""


@inlined
def bound_of(a: Any, b: Any) -> Any:
    """What a gap between features of two boxes is compared with."""
    size = (max(a[3], b[3]) - min(a[0], b[0])) + (max(a[4], b[4]) - min(a[1], b[1]))
    return ABSOLUTE + RELATIVE * (size + (max(a[5], b[5]) - min(a[2], b[2])))


@inlined
def _gap(is_face: bool, r: Row) -> Any:
    """How far a direction keeps the pair apart at both ends in the same order; negative where it does not."""
    if is_face:
        low = min(r[0], r[1], r[2], r[3], r[4], r[5])
        high = max(r[0], r[1], r[2], r[3], r[4], r[5])
    else:
        low = min(min(r[1], r[2]) - max(ZERO, r[0]), min(r[4], r[5]) - max(ZERO, r[3]))
        high = max(max(r[1], r[2]) - min(ZERO, r[0]), max(r[4], r[5]) - min(ZERO, r[3]))
    return max(low, -high)


@inlined
def _plus(a: Row, b: Row) -> Row:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def _minus(a: Row, b: Row) -> Row:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5]


@inlined
def widest_gap(is_face: bool, x: Row, y: Row, z: Row) -> Any:
    """The widest gap along the 13 directions."""
    gap = max(_gap(is_face, x), _gap(is_face, y), _gap(is_face, z))
    gap = max(gap, _gap(is_face, _plus(x, z)), _gap(is_face, _minus(x, z)))
    gap = max(gap, _gap(is_face, _plus(y, z)), _gap(is_face, _minus(y, z)))
    p, q = _plus(x, y), _minus(x, y)
    gap = max(gap, _gap(is_face, p), _gap(is_face, _plus(p, z)), _gap(is_face, _minus(p, z)))
    return max(gap, _gap(is_face, q), _gap(is_face, _plus(q, z)), _gap(is_face, _minus(q, z)))


@inlined
def seen_along(is_face: bool, points: Any, first: int, second: int, axis: int) -> Row:
    """The row of an axis, from places in shared memory: of the query's feature from `first` on, of the target's from `second` on."""
    a, b = first + 32 * axis, second + 32 * axis
    x, y = load(points, a), load(points, a + 96)
    if is_face:
        return (
            load(points, b) - x,
            load(points, b + 192) - x,
            load(points, b + 384) - x,
            load(points, b + 96) - y,
            load(points, b + 288) - y,
            load(points, b + 480) - y,
        )
    return (
        load(points, a + 192) - x,
        load(points, b) - x,
        load(points, b + 192) - x,
        load(points, a + 288) - y,
        load(points, b + 96) - y,
        load(points, b + 288) - y,
    )
