"""Places where contours are near one another, and proof that contours are clear.

Of every two segments that are nearer than some distance, the nearest points, not closer together than a spacing; if there are more than ROOM, those
nearest of all.
"""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from abut.contours.curve.cubic import Four, point_at, transform
from abut.contours.meet.columns import STRETCH_COLUMNS
from abut.contours.meet.contact_merging import normal_between
from abut.contours.meet.distance_search import least_between
from abut.contours.meet.queries import APART, relate
from abut.contours.meet.stacks import PAIR_NUMBERS, push_pair
from abut.contours.meet.tree_search import box_gap, find_within
from abut.contours.meet.views import (
    BRIEF,
    MEETING,
    View,
    box_of,
    magnitude,
    open_contour,
    pose_at,
    relative,
    segment_of,
    turn,
)
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel, parallel, prange
from abut.core.scratch import as_array, load, reserve_floats, reserve_integers

ROOM = 12
"""Places of a pair that are kept: two are enough for polygons, rough contours rest on several."""
AX, AY, BX, BY, NORMAL_X, NORMAL_Y, DISTANCE, SIGMA, TAU = range(9)
"""Columns of what is found: point on a, point on b, unit normal from a to b, distance, parameters of a and of b."""
COLUMNS = 9
TOO_NEAR = 2.0**-30
"""Of the magnitude: between points nearer than this rounding turns the line; the normal is then that of the tangents."""


class Places(NamedTuple):
    """Places where two contours are near one another, in world coordinates, one row each."""

    bodies: Integers
    """(k,2) a and b"""
    point_a: Floats
    """(k,2) on a"""
    point: Floats
    """(k,2) midway: where impulses act on both"""
    normal: Floats
    """(k,2) unit vector from a to b"""
    distance: Floats
    """(k,)"""

    def take(self, rows: NDArray[Any]) -> "Places":
        """Some of them: by numbers or by booleans."""
        return Places(self.bodies[rows], self.point_a[rows], self.point[rows], self.normal[rows], self.distance[rows])


def places_from(rows: Floats, bodies: Integers) -> Places:
    """Places from what `find_near` writes."""
    point_a, point_b, normal = rows[:, AX : AY + 1], rows[:, BX : BY + 1], rows[:, NORMAL_X : NORMAL_Y + 1]
    return Places(bodies, point_a.copy(), 0.5 * (point_a + point_b), normal.copy(), rows[:, DISTANCE].copy())


@kernel
def _keep(
    out: Floats, count: int, row: tuple[float, float, float, float, float, float, float, float, float], spacing: float
) -> int:
    """Keep a place if it is nearer than those within `spacing` of it, and than the furthest where there is no room; how many there are."""
    place, furthest = -1, 0
    for k in range(count):
        x, y = out[k, AX] - row[AX], out[k, AY] - row[AY]
        if x * x + y * y < spacing * spacing:
            place = k
            break
        if out[k, DISTANCE] > out[furthest, DISTANCE]:
            furthest = k
    if place < 0:
        place = count if count < len(out) else furthest
    if place < count and out[place, DISTANCE] <= row[DISTANCE]:
        return count
    for c in range(COLUMNS):
        out[place, c] = row[c]
    return max(count, place + 1)


@kernel
def _find_near(a: View, pose_a: Four, b: View, pose_b: Four, max_distance: float, spacing: float, out: Floats) -> int:
    """Places in world coordinates where segments are nearer than `max_distance`."""
    pose = relative(pose_a, pose_b)
    size = magnitude(a, b, pose)
    delta = MEETING * size
    waiting = reserve_integers(PAIR_NUMBERS)
    top, count = push_pair(waiting, integer(0), integer(1), integer(1)), 0
    while top > 0:
        top -= 1
        i, j = load(waiting, 2 * top), load(waiting, 2 * top + 1)
        if box_gap(a, i, b, j, pose) >= max_distance:
            continue
        if i >= a.leaf_count and j >= b.leaf_count:
            p, q = transform(segment_of(a, i - a.leaf_count), pose), segment_of(b, j - b.leaf_count)
            distance, s, t = least_between(p, q, (max_distance, -1.0, 0.0), 0.0, 0.0, delta)
            if s >= 0.0:
                x, y = point_at(p, s)
                u, v = point_at(q, t)
                sigma, tau = i - a.leaf_count + s, j - b.leaf_count + t
                if distance > TOO_NEAR * size:
                    nx, ny = (u - x) / distance, (v - y) / distance
                else:
                    nx, ny = normal_between(a, b, pose, sigma, tau)
                x, y = turn(pose_b, x, y)
                u, v = turn(pose_b, u, v)
                nx, ny = turn((pose_b[0], pose_b[1], 0.0, 0.0), nx, ny)
                count = _keep(out, count, (x, y, u, v, nx, ny, distance, sigma, tau), spacing)
            continue
        # Only the larger box: with both, and the overlap of grown boxes in place of their gap, this takes 6 % longer.
        if j >= b.leaf_count or (i < a.leaf_count and box_of(a, i).along >= box_of(b, j).along):
            for child in range(2 * i, 2 * i + 2):
                top = push_pair(waiting, top, integer(child), j)
        else:
            for child in range(2 * j, 2 * j + 2):
                top = push_pair(waiting, top, i, integer(child))
    return count


@parallel
def find_near(
    tables: Integers,
    poses: Floats,
    pairs: Integers,
    max_distance: Floats,
    spacing: Floats,
    room: int,
    out: Floats,
    counts: Integers,
) -> None:
    """Near places of pairs (p,2) of contours, nearer than max_distance (p,), not closer together than spacing (p,); pair k has rows k·room to
    (k + 1)·room of `out`."""
    for k in prange(len(pairs)):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        counts[k] = _find_near(
            open_contour(int(tables[i])),
            pose_at(poses, i),
            open_contour(int(tables[j])),
            pose_at(poses, j),
            max_distance[k],
            spacing[k],
            out[k * room : (k + 1) * room],
        )


@kernel
def _is_clear(a: View, b: View, pose: Four, clear: float) -> bool:
    raw = as_array(reserve_floats(STRETCH_COLUMNS), (1, STRETCH_COLUMNS))
    size = magnitude(a, b, pose)
    count, _, _ = find_within(a, b, pose, max(clear, MEETING * size), BRIEF * size, raw, integer(1))
    return count == 0 and relate(a, b, pose) == APART


@parallel
def find_blocked(tables: Integers, poses: Floats, pairs: Integers, clear: float, blocked: Integers) -> None:
    """1 for pairs of contours that are nearer than `clear`, overlap or hold one another; else 0."""
    for k in prange(len(pairs)):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        pose = relative(pose_at(poses, i), pose_at(poses, j))
        blocked[k] = 0 if _is_clear(open_contour(int(tables[i])), open_contour(int(tables[j])), pose, clear) else 1
