"""The ends of boxes along three axes, kept sorted by insertion while boxes move: which pairs begin or cease to overlap (Baraff 1992).

When a lower end passes an upper end, two boxes begin or cease to overlap along that axis, and only then the other axes are looked at. A box that
does not move costs nothing; one that moves costs the ends it passes. Equal ends: lower before upper, so that touching counts.

A box is moved as a whole, all three axes, before the next. A pair that begins to overlap is apart from the old box along some axes, and an end is
passed along each of them: it is noted at the first of these axes only, and likewise a pair that ends. So every change of the set is noted once,
and the set need not be searched.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel

Keys = NDArray[np.int64]


@element
def _is_before(value: float, code: int, other: float, other_code: int) -> bool:
    """Whether an end stands before another; odd codes are upper ends."""
    return value < other or (value == other and (code & 1) < (other_code & 1))


@kernel
def _meet(a: Floats, b: Floats, axes: int) -> bool:
    """Whether two boxes overlap along the first `axes` axes."""
    meets = True
    for axis in range(axes):
        meets = meets and a[axis] <= b[axis + 3] and b[axis] <= a[axis + 3]
    return meets


@kernel
def _slide(
    boxes: Floats, old: Floats, axis: int, code: int, values: Any, codes: Any, places: Any, log: Keys, counts: Keys
) -> None:
    """Move one end to its place along an axis, and note the pairs that change. counts: notes, swaps, comparisons. boxes[id] is the new box."""
    i = code >> 1
    value = boxes[i, axis + 3 * (code & 1)]
    at, last = places[code], len(values) - 1
    rises = value > values[at]
    step = 1 if rises else -1
    while 0 <= at + step <= last:
        other, passed = values[at + step], codes[at + step]
        counts[2] += 1
        if not (_is_before(other, passed, value, code) if rises else _is_before(value, code, other, passed)):
            break
        values[at], codes[at] = other, passed
        places[passed] = at
        at += step
        j = passed >> 1
        if (passed ^ code) & 1 and j != i:
            begins = rises == (code & 1 == 1)
            now, before = boxes[i], old
            if not begins:
                now, before = old, boxes[i]
            if _meet(now, boxes[j], 3) and _meet(before, boxes[j], axis):
                log[counts[0]] = (min(i, j) << 32) | max(i, j)
                counts[0] += 1
    counts[1] += abs(at - places[code])
    values[at], codes[at] = value, code
    places[code] = at


@kernel
def move_boxes(
    ids: Integers,
    targets: Floats,
    boxes: Floats,
    values: Floats,
    codes: Any,
    places: Any,
    log: Keys,
    counts: Keys,
    first: int,
    most: int,
) -> int:
    """Move the boxes from `first` on, and return how many are done: fewer than all when the log may not hold what follows, or after `most` swaps."""
    old = np.empty(6)
    for k in range(first, len(ids)):
        if counts[0] + values.shape[1] // 2 > len(log) or counts[1] > most:
            return k
        i = ids[k]
        for c in range(6):
            old[c] = boxes[i, c]
            boxes[i, c] = targets[k, c]
        for axis in range(3):
            upper_first = boxes[i, axis + 3] > old[axis + 3]  # lower and upper end of a box never pass one another
            for turn in range(2):
                code = 2 * i + (1 if upper_first == (turn == 0) else 0)
                _slide(boxes, old, axis, code, values[axis], codes[axis], places[axis], log, counts)
    return len(ids)
