"""How kernels see contours: through tables of addresses (`Boxes.table`), so that one number stands for a contour between Python and a kernel.

Whoever passes a table's address keeps the contour alive.
"""

import math
from typing import NamedTuple

from abut.contours.curve.boxes import ContourTable
from abut.contours.curve.cubic import Four, Segment
from abut.core.arrays import Floats
from abut.core.handles import unpack
from abut.core.jit import element, inlined
from abut.core.scratch import load, pointer_to_integers
from abut.geometry.vec import Vec2

UNIT = 2.0**-53
MEETING = 64.0 * UNIT
"""δ, as a part of the magnitude of a query: curves this near to one another meet.

A control point that was turned and moved is off by 3u·M, one of a restricted piece by 8u·M, a value of the gap by 8u·M more, on both
curves: less than 40u·M in all. So meetings of the curves as given are never lost, and what is reported is nearer than 2δ."""
BRIEF = 2.0**-20
"""Curves that stay within δ for longer than this part of the magnitude have a stretch in common; for less, they cross or touch in a point."""


STILL = (1.0, 0.0, 0.0, 0.0)
"""The pose that moves nothing."""


View = ContourTable
"""A contour in a kernel: flat numbers behind pointers."""


class Box(NamedTuple):
    """A box of a contour's tree."""

    x: float
    y: float
    axis_x: float
    axis_y: float
    along: float
    """half side along the axis"""
    across: float


@element
def open_contour(table: int) -> View:
    """The contour behind the address of its table."""
    return unpack(ContourTable, pointer_to_integers(table))


@element
def segment_of(view: View, i: int) -> Segment:
    """Segment i."""
    p, k = view.segments, 8 * i
    return (
        load(p, k),
        load(p, k + 1),
        load(p, k + 2),
        load(p, k + 3),
        load(p, k + 4),
        load(p, k + 5),
        load(p, k + 6),
        load(p, k + 7),
    )


@inlined
def box_of(view: View, k: int) -> Box:
    """Box k."""
    p, at = view.nodes, 6 * k
    return Box(load(p, at), load(p, at + 1), load(p, at + 2), load(p, at + 3), load(p, at + 4), load(p, at + 5))


@element
def reach_of(view: View) -> float:
    """How far a control point is from the origin at most."""
    return load(view.nodes, 0)


@element
def pose_at(poses: Floats, i: int) -> Four:
    """Row i of poses (k,4)."""
    return (poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3])


@element
def turn(pose: Four, x: float, y: float) -> Vec2:
    """A point turned and moved; a pose is (cosine, sine, x, y)."""
    return (pose[0] * x - pose[1] * y + pose[2], pose[1] * x + pose[0] * y + pose[3])


@element
def turn_back(pose: Four, x: float, y: float) -> Vec2:
    """A point moved and turned back."""
    x, y = x - pose[2], y - pose[3]
    return (pose[0] * x + pose[1] * y, pose[0] * y - pose[1] * x)


@element
def relative(pose_a: Four, pose_b: Four) -> Four:
    """The pose of a as b sees it."""
    x, y = turn_back(pose_b, pose_a[2], pose_a[3])
    c, s = pose_b[0] * pose_a[0] + pose_b[1] * pose_a[1], pose_b[0] * pose_a[1] - pose_b[1] * pose_a[0]
    return (c, s, x, y)


@element
def magnitude(a: View, b: View, pose: Four) -> float:
    """How far from the origin of b's coordinates a point of either contour is at most."""
    return max(reach_of(a) + math.sqrt(pose[2] * pose[2] + pose[3] * pose[3]), reach_of(b))
