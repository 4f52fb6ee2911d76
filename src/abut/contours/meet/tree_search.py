"""Simultaneous descent of two trees of boxes (Rivera 2002, §4): pairs of boxes that overlap lead to their children, basic boxes to the segments.

Boxes are compared on the four axes of the two, as in the paper, each allowed δ more: a pair of segments that meet is never left out.
"""

import math

from abut.contours.curve.cubic import Four, transform
from abut.contours.meet.segment_meeting import meet
from abut.contours.meet.tables import BRIEF, MEETING, View, magnitude, segment_of
from abut.core.arrays import Floats
from abut.core.jit import element, inlined, kernel
from abut.core.scratch import load, reserve_integers, store

WAITING_NUMBERS = 512
"""Pairs of boxes that wait, two numbers each. A pop adds four at most and goes one level down in a tree; n ≤ 2³⁰ gives 60 levels, 3·60 + 1 pairs."""


@inlined
def _box_gaps(a: View, i: int, b: View, j: int, pose: Four) -> tuple[float, float, float, float, float]:
    """Gaps between box i of a, moved by the pose, and box j of b along b's axes and along a's, negative where they overlap; and by how much
    those along a's axes shrink when b grows by 1 on all sides."""
    p, q = 6 * i, 6 * j
    x, y = load(a.nodes, p), load(a.nodes, p + 1)
    c, s = pose[0], pose[1]
    x, y = c * x - s * y + pose[2] - load(b.nodes, q), s * x + c * y + pose[3] - load(b.nodes, q + 1)
    ax, ay = load(a.nodes, p + 2), load(a.nodes, p + 3)
    ax, ay = c * ax - s * ay, s * ax + c * ay
    bx, by = load(b.nodes, q + 2), load(b.nodes, q + 3)
    along, across = abs(ax * bx + ay * by), abs(ax * by - ay * bx)
    a0, a1 = load(a.nodes, p + 4), load(a.nodes, p + 5)
    b0, b1 = load(b.nodes, q + 4), load(b.nodes, q + 5)
    return (
        abs(x * bx + y * by) - (b0 + a0 * along + a1 * across),
        abs(y * bx - x * by) - (b1 + a0 * across + a1 * along),
        abs(x * ax + y * ay) - (a0 + b0 * along + b1 * across),
        abs(y * ax - x * ay) - (a1 + b0 * across + b1 * along),
        along + across,
    )


@inlined
def boxes_overlap(a: View, i: int, b: View, j: int, pose: Four, slack: float) -> bool:
    """Whether box i of a, moved by the pose, and box j of b overlap once b's is grown by `slack`."""
    u, v, w, z, shrinks = _box_gaps(a, i, b, j, pose)
    return u <= slack and v <= slack and w <= slack * shrinks and z <= slack * shrinks


@kernel
def find_meetings(a: View, b: View, pose: Four, raw: Floats, limit: int) -> tuple[int, int, int]:
    """Stretches where a, moved by the pose, meets b, into `raw` as far as it reaches, `limit` at most; boxes and segments compared."""
    size = magnitude(a, b, pose)
    return find_within(a, b, pose, MEETING * size, BRIEF * size, raw, limit)


@kernel
def find_within(
    a: View, b: View, pose: Four, delta: float, brief: float, raw: Floats, limit: int
) -> tuple[int, int, int]:
    """The same for a δ of the caller's own: stretches where the curves are within it."""
    waiting = reserve_integers(WAITING_NUMBERS)
    store(waiting, 0, 1)
    store(waiting, 1, 1)
    top, count, boxes, leaves = 1, 0, 0, 0
    while top > 0:
        top -= 1
        i, j = load(waiting, 2 * top), load(waiting, 2 * top + 1)
        boxes += 1
        if not boxes_overlap(a, i, b, j, pose, delta):
            continue
        if i >= a.leaf_count and j >= b.leaf_count:
            leaves += 1
            c = transform(segment_of(a, i - a.leaf_count), pose)
            count = meet(
                c, segment_of(b, j - b.leaf_count), i - a.leaf_count, j - b.leaf_count, delta, brief, raw, count, limit
            )
            if count >= limit:
                break
            continue
        top = _descend(waiting, top, i, a.leaf_count, j, b.leaf_count)
    return (count, boxes, leaves)


@element
def _descend(waiting: Floats, top: int, i: int, count_a: int, j: int, count_b: int) -> int:
    """Let the children of boxes i and j wait: two where one of the boxes is basic, else four."""
    a0, a1 = (i, i) if i >= count_a else (2 * i, 2 * i + 1)
    b0, b1 = (j, j) if j >= count_b else (2 * j, 2 * j + 1)
    for p in range(a0, a1 + 1):
        for q in range(b0, b1 + 1):
            store(waiting, 2 * top, p)
            store(waiting, 2 * top + 1, q)
            top += 1
    return top


@element
def box_gap(a: View, i: int, b: View, j: int, pose: Four) -> float:
    """A lower bound on the distance of box i of a, moved by the pose, and box j of b: gaps along the two axes of a box add up as squares."""
    u, v, w, z, _ = _box_gaps(a, i, b, j, pose)
    u, v, w, z = max(u, 0.0), max(v, 0.0), max(w, 0.0), max(z, 0.0)
    return math.sqrt(max(u * u + v * v, w * w + z * z))
