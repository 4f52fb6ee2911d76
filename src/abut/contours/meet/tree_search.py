"""Simultaneous descent of two trees of boxes (Rivera 2002, §4): pairs of boxes that overlap lead to their children, basic boxes to the segments.

Boxes are compared on the four axes of the two, as in the paper, each allowed δ more: a pair of segments that meet is never left out.
"""

import math

from abut.contours.curve.cubic import Four, transform
from abut.contours.meet.segment_meeting import meet
from abut.contours.meet.stacks import PAIR_NUMBERS, push_children, push_pair
from abut.contours.meet.views import BRIEF, MEETING, View, box_of, magnitude, segment_of
from abut.core.arrays import Floats
from abut.core.jit import element, inlined, integer, kernel
from abut.core.scratch import load, reserve_integers


@inlined
def _box_gaps(a: View, i: int, b: View, j: int, pose: Four) -> tuple[float, float, float, float, float]:
    """Gaps between box i of a, moved by the pose, and box j of b along b's axes and along a's, negative where they overlap; and by how much
    those along a's axes shrink when b grows by 1 on all sides."""
    p, q = box_of(a, i), box_of(b, j)
    c, s = pose[0], pose[1]
    x, y = c * p.x - s * p.y + pose[2] - q.x, s * p.x + c * p.y + pose[3] - q.y
    ax, ay = c * p.axis_x - s * p.axis_y, s * p.axis_x + c * p.axis_y
    bx, by = q.axis_x, q.axis_y
    along, across = abs(ax * bx + ay * by), abs(ax * by - ay * bx)
    return (
        abs(x * bx + y * by) - (q.along + p.along * along + p.across * across),
        abs(y * bx - x * by) - (q.across + p.along * across + p.across * along),
        abs(x * ax + y * ay) - (p.along + q.along * along + q.across * across),
        abs(y * ax - x * ay) - (p.across + q.along * across + q.across * along),
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
    pairs = reserve_integers(PAIR_NUMBERS)
    top = push_pair(pairs, integer(0), integer(1), integer(1))
    count, boxes, segments = 0, 0, 0
    while top > 0:
        top -= 1
        i, j = load(pairs, 2 * top), load(pairs, 2 * top + 1)
        boxes += 1
        if not boxes_overlap(a, i, b, j, pose, delta):
            continue
        if i >= a.leaf_count and j >= b.leaf_count:
            segments += 1
            i, j = i - a.leaf_count, j - b.leaf_count
            count = meet(transform(segment_of(a, i), pose), segment_of(b, j), i, j, delta, brief, raw, count, limit)
            if count >= limit:
                break
            continue
        top = push_children(pairs, top, i, a.leaf_count, j, b.leaf_count)
    return (count, boxes, segments)


@element
def box_gap(a: View, i: int, b: View, j: int, pose: Four) -> float:
    """A lower bound on the distance of box i of a, moved by the pose, and box j of b: gaps along the two axes of a box add up as squares."""
    u, v, w, z, _ = _box_gaps(a, i, b, j, pose)
    u, v, w, z = max(u, 0.0), max(v, 0.0), max(w, 0.0), max(z, 0.0)
    return math.sqrt(max(u * u + v * v, w * w + z * z))
