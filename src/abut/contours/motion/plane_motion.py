"""How a contour moves from t = 0 to t = 1: its pivot on a parabola, or a line, and its angle as evenly; and how fast its points come nearer along a
direction.

A point p of the contour is at c(t) + R(θ(t))·(p − pivot). Its velocity along a unit vector n is n·c′ + θ′·m·(x − c), m = (n_y, −n_x):
linear in its place x, so that a box or a hull has its bound at a corner. The second derivative along n is at most
n·c″ + (|θ″| + θ′²)·r, r being how far a point is from the pivot at most. Both bounds together say how long no point of a piece passes a line
(`safe_time`), as in conservative advancement (Mirtich 1996), but with the velocities of the pieces themselves.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.contours.curve.cubic import Four
from abut.contours.meet.views import relative, turn, turn_back
from abut.core.arrays import Floats
from abut.core.jit import element, inlined, kernel
from abut.geometry.vec import Vec2

MOTION_COLUMNS = 12
"""Of a motion as a row: place of the pivot, angle; their first and their second derivatives, by t; the pivot in the contour's coordinates; how far a
control point is from it at most."""


class Motion(NamedTuple):
    """A row of motions."""

    x: float
    y: float
    angle: float
    speed_x: float
    speed_y: float
    rate: float
    change_x: float
    """second derivatives"""
    change_y: float
    change: float
    pivot_x: float
    pivot_y: float
    radius: float


@element
def motion_at(rows: Floats, i: int) -> Motion:
    """Row i."""
    return Motion(
        rows[i, 0],
        rows[i, 1],
        rows[i, 2],
        rows[i, 3],
        rows[i, 4],
        rows[i, 5],
        rows[i, 6],
        rows[i, 7],
        rows[i, 8],
        rows[i, 9],
        rows[i, 10],
        rows[i, 11],
    )


@element
def pose_of(motion: Motion, t: float) -> Four:
    """Where the contour's coordinates are at t: (cosine, sine, x, y)."""
    angle = motion.angle + t * (motion.rate + 0.5 * t * motion.change)
    x = motion.x + t * (motion.speed_x + 0.5 * t * motion.change_x)
    y = motion.y + t * (motion.speed_y + 0.5 * t * motion.change_y)
    c, s = math.cos(angle), math.sin(angle)
    return (c, s, x - (c * motion.pivot_x - s * motion.pivot_y), y - (s * motion.pivot_x + c * motion.pivot_y))


@element
def extent(motion: Motion) -> float:
    """What roundings of places and turns are measured by: how far a point is from the origin at most, a turn counted by its length."""
    along = abs(motion.x) + abs(motion.y) + abs(motion.speed_x) + abs(motion.speed_y)
    turned = 1.0 + abs(motion.angle) + abs(motion.rate) + 0.5 * abs(motion.change)
    pivot = abs(motion.pivot_x) + abs(motion.pivot_y)
    return along + 0.5 * (abs(motion.change_x) + abs(motion.change_y)) + (motion.radius + pivot) * turned


@element
def pose_between(a: Motion, b: Motion, t: float) -> Four:
    """Where a's coordinates are at t, in b's."""
    return relative(pose_of(a, t), pose_of(b, t))


class Moment(NamedTuple):
    """Two moving contours at one time, in b's coordinates."""

    pose: Four
    """of a"""
    pivot_a: Vec2
    pivot_b: Vec2
    closing_x: float
    """velocity of a's pivot, seen from b's"""
    closing_y: float
    rate_a: float
    rate_b: float
    change_x: float
    """its change"""
    change_y: float
    turning: float
    """the most by which turning adds to a second derivative from now on"""
    fastest: float
    """the most by which turning adds to a velocity from now on"""


@inlined
def _largest(rate: float, change: float, t: float) -> float:
    """The largest angular speed from t to 1."""
    return max(abs(rate + t * change), abs(rate + change))


@element
def moment_of(a: Motion, b: Motion, t: float) -> Moment:
    """Both at t."""
    pose_b = pose_of(b, t)
    pose = relative(pose_of(a, t), pose_b)
    only = (pose_b[0], pose_b[1], 0.0, 0.0)
    vx, vy = turn_back(
        only,
        a.speed_x - b.speed_x + t * (a.change_x - b.change_x),
        a.speed_y - b.speed_y + t * (a.change_y - b.change_y),
    )
    ax, ay = turn_back(only, a.change_x - b.change_x, a.change_y - b.change_y)
    most_a, most_b = _largest(a.rate, a.change, t), _largest(b.rate, b.change, t)
    turning = (abs(a.change) + most_a * most_a) * a.radius + (abs(b.change) + most_b * most_b) * b.radius
    return Moment(
        pose,
        turn(pose, a.pivot_x, a.pivot_y),
        (b.pivot_x, b.pivot_y),
        vx,
        vy,
        a.rate + t * a.change,
        b.rate + t * b.change,
        ax,
        ay,
        turning,
        most_a * a.radius + most_b * b.radius,
    )


@inlined
def safe_time(now: Moment, nx: float, ny: float, turned_a: float, turned_b: float, gap: float) -> float:
    """How long two pieces stay apart that a gap separates along n, the unit vector from a's to b's.

    turned_a: the most that turning adds to the speed along n of a point of a's piece; turned_b: the least of b's."""
    pull = 0.5 * (max(0.0, nx * now.change_x + ny * now.change_y) + now.turning)
    slope = nx * now.closing_x + ny * now.closing_y
    first = _time_to(gap, slope + turned_a - turned_b, pull)
    pull = 0.5 * max(0.0, nx * now.change_x + ny * now.change_y)
    return max(first, _time_to(gap, slope + now.fastest, pull)) * (1.0 - 2.0**-40)


@inlined
def _time_to(gap: float, slope: float, bend: float) -> float:
    """The positive time at which slope·t + bend·t² is the gap; bend ≥ 0."""
    if gap <= 0.0:
        return 0.0
    if bend <= 0.0 and slope <= 0.0:
        return math.inf
    root = math.sqrt(slope * slope + 4.0 * gap * bend)
    if slope >= 0.0:
        return 2.0 * gap / (slope + root)
    return (root - slope) / (2.0 * bend)


@kernel
def _find_extents(motions: Floats, out: Floats) -> None:
    for i in range(len(motions)):
        out[i] = extent(motion_at(motions, i))


def find_extents(motions: Floats) -> Floats:
    """(m,) `extent` of rows of motions."""
    out = np.empty(len(motions))
    _find_extents(motions, out)
    return out
