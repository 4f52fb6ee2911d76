"""All pairs of overlapping boxes, in one call: the search in blocks of sixteen (`blocks`, `search`, `runs`), a box being what a point sweeps from
its lower to its upper corner.

The pairs are exactly those of the float64 boxes, closed (touching counts), whatever the order along the curve and the number of threads.
"""

import numpy as np

from abut import arrays
from abut.arrays import Floats, Integers, frozen
from abut.broad.blocks import build
from abut.broad.runs import Search, find_pairs
from abut.broad.search import LARGER, Rules
from abut.broad.swept import Moving, frame_of
from abut.errors import InvalidInput
from abut.jit import threads_for

_NO_FACES, _NO_EDGES = np.empty((0, 3), dtype=np.int64), np.empty((0, 2), dtype=np.int64)


def read_boxes(value: object, name: str, count: int | None = None) -> Floats:
    """(n,6) float64 boxes, lower corner before upper; a box whose ends are in the wrong order is refused."""
    boxes = arrays.coordinates(value, name, (count, 6))
    wrong = (boxes[:, :3] > boxes[:, 3:]).any(axis=1)
    if wrong.any():
        raise InvalidInput(name, "has its lower corner above its upper corner", int(wrong.argmax()))
    return boxes


def overlapping_pairs(boxes: object) -> Integers:
    """(p,2) int64 pairs i < j of boxes that overlap, sorted. Touching counts.

    boxes: (n,6) lower corner x, y, z, then upper corner. The result is the same for any number of threads.
    """
    checked = read_boxes(boxes, "boxes")
    body = Moving(checked[:, :3].copy(), checked[:, 3:].copy(), _NO_FACES, _NO_EDGES)
    with threads_for(len(checked)):
        own = build([body], frame_of([body], 0.0), 3, ends=False)[0].vertices
        return frozen(find_pairs([Search(own, own, Rules(LARGER, False, 0.0))])[0].astype(np.int64))


def turning_boxes(centres: object, radii: object) -> Floats:
    """(n,6) cubes about centres (n,3), each of half-width radii (n,): what holds a body in every rotation about its centre.

    A radius is the distance of the body's farthest vertex from the centre. Such a box need not be resized while the body turns.
    """
    middle = arrays.points(centres, "centres")
    reach = arrays.coordinates(radii, "radii", (len(middle),))[:, np.newaxis]
    if (reach < 0).any():
        raise InvalidInput("radii", "is negative", int((reach < 0).argmax()))
    return np.hstack([np.nextafter(middle - reach, -np.inf), np.nextafter(middle + reach, np.inf)])
