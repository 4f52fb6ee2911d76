"""Proof that placed pieces do not overlap, by exact signs on the coordinates that are written out.

A piece is bounded by rings: an anticlockwise outline, and clockwise ones around its holes. Rings are simple and do not touch one another;
the piece lies to
the left of each. The interiors of two pieces meet in one of three ways: two edges cross; at a point where a corner of one lies on the
other's boundary, the
sectors of both have a direction in common; or a ring that touches nothing of the other piece lies inside it. (Where no edges cross and no
sectors meet, a
ring with a point inside the other piece touches its boundary nowhere: it would arrive there through the sector of that piece. And of two different
pieces whose interiors meet, one has a ring with a point inside the other.) All three are decided by `orient_2d` and comparisons of input
coordinates, so the verdict is right for every finite input. Touching is no overlap, and a piece in another's hole overlaps nothing.

With a gap, the distance of two polygons is that of a corner and an edge. It is computed in floating point, and the error it can have is taken
off before it is compared: a layout that passes keeps its gap, one whose distance is within ROUNDING of it may be refused.
"""

import math
from collections.abc import Sequence

import numpy as np

from abut.contours.curve.rows import vector_at_2d
from abut.contours.nesting.columns import HIGH_X, HIGH_Y, LOW_X, LOW_Y
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.geometry.predicates import orient_2d
from abut.geometry.segments import closest_point_segment_2d
from abut.geometry.vec import Vec2

ROUNDING = 2.0**-48
"""Of the size of both polygons together: 32 times the unit rounding bounds the error of a distance of a corner and an edge."""
FINE, CROSSING, CLOSE = 0, 1, 2


@element
def _is_same_direction(v: Vec2, a: Vec2, b: Vec2) -> bool:
    """Whether a and b lie in the same direction from v."""
    if orient_2d(v, a, b) != 0:
        return False
    along_x = (a[0] > v[0] and b[0] > v[0]) or (a[0] < v[0] and b[0] < v[0])
    along_y = (a[1] > v[1] and b[1] > v[1]) or (a[1] < v[1] and b[1] < v[1])
    return along_x or along_y


@element
def is_in_sector(v: Vec2, following: Vec2, previous: Vec2, d: Vec2) -> bool:
    """Whether the direction from v to d lies strictly between those to `following` and, anticlockwise, to `previous`."""
    turn = orient_2d(v, following, previous)
    if turn > 0:
        return orient_2d(v, following, d) > 0 and orient_2d(v, d, previous) > 0
    if turn == 0:
        return orient_2d(v, following, d) > 0
    return not (orient_2d(v, previous, d) >= 0 and orient_2d(v, d, following) >= 0)


@element
def do_sectors_meet(v: Vec2, following_a: Vec2, previous_a: Vec2, following_b: Vec2, previous_b: Vec2) -> bool:
    """Whether the open sectors of two anticlockwise boundaries at their common point v have a direction in common."""
    return (
        is_in_sector(v, following_a, previous_a, following_b)
        or is_in_sector(v, following_a, previous_a, previous_b)
        or is_in_sector(v, following_b, previous_b, following_a)
        or is_in_sector(v, following_b, previous_b, previous_a)
        or _is_same_direction(v, following_a, following_b)
        or _is_same_direction(v, previous_a, previous_b)
    )


@element
def is_on_segment(p: Vec2, a: Vec2, b: Vec2) -> bool:
    """Whether p lies on the closed segment ab."""
    return (
        min(a[0], b[0]) <= p[0] <= max(a[0], b[0])
        and min(a[1], b[1]) <= p[1] <= max(a[1], b[1])
        and orient_2d(a, b, p) == 0
    )


@kernel
def _corner(corners: Floats, start: int, end: int, k: int) -> Vec2:
    """Corner k of the polygon start:end, counted round."""
    return vector_at_2d(corners, start + (k - start) % (end - start))


@kernel
def is_inside(corners: Floats, start: int, end: int, p: Vec2) -> bool:
    """Whether p lies inside the polygon; it is not on its boundary."""
    inside = False
    for k in range(start, end):
        a, b = _corner(corners, start, end, k), _corner(corners, start, end, k + 1)
        if (a[1] > p[1]) != (b[1] > p[1]) and (orient_2d(a, b, p) > 0) == (b[1] > a[1]):
            inside = not inside
    return inside


@kernel
def _near_edges(corners: Floats, start: int, end: int, box: Floats, gap: float, found: Integers) -> int:
    """Edges, by their first corner, whose boxes are within `gap` of a box."""
    count = 0
    for k in range(start, end):
        a, b = _corner(corners, start, end, k), _corner(corners, start, end, k + 1)
        if (
            min(a[0], b[0]) <= box[HIGH_X] + gap
            and max(a[0], b[0]) >= box[LOW_X] - gap
            and min(a[1], b[1]) <= box[HIGH_Y] + gap
            and max(a[1], b[1]) >= box[LOW_Y] - gap
        ):
            found[count] = k
            count += 1
    return count


@kernel
def _edge_distance(a0: Vec2, a1: Vec2, b0: Vec2, b1: Vec2) -> float:
    """Distance of two segments that do not cross."""
    nearest = min(closest_point_segment_2d(a0, b0, b1)[2], closest_point_segment_2d(a1, b0, b1)[2])
    nearest = min(nearest, closest_point_segment_2d(b0, a0, a1)[2], closest_point_segment_2d(b1, a0, a1)[2])
    return math.sqrt(nearest)


@kernel
def _check_edges(corners: Floats, s: int, e: int, i: int, t: int, f: int, j: int) -> tuple[bool, bool]:
    """Edge i of polygon s:e against edge j of t:f: whether the interiors meet there, and whether the edges touch."""
    a0, a1 = _corner(corners, s, e, i), _corner(corners, s, e, i + 1)
    b0, b1 = _corner(corners, t, f, j), _corner(corners, t, f, j + 1)
    side_b0, side_b1 = orient_2d(a0, a1, b0), orient_2d(a0, a1, b1)
    if side_b0 * side_b1 > 0:
        return False, False
    side_a0, side_a1 = orient_2d(b0, b1, a0), orient_2d(b0, b1, a1)
    if side_a0 * side_a1 > 0:
        return False, False
    if side_b0 * side_b1 < 0 and side_a0 * side_a1 < 0:
        return True, True
    meet, touch = False, False
    # Every touching point is a corner of one polygon, and each corner begins one edge.
    if side_b0 == 0 and b0 != a1 and is_on_segment(b0, a0, a1):
        touch = True
        previous_a = _corner(corners, s, e, i - 1) if b0 == a0 else a0
        meet = do_sectors_meet(b0, a1, previous_a, b1, _corner(corners, t, f, j - 1))
    if side_a0 == 0 and a0 not in (b0, b1) and is_on_segment(a0, b0, b1):
        touch = True
        meet = meet or do_sectors_meet(a0, a1, _corner(corners, s, e, i - 1), b1, b0)
    return meet, touch


@kernel
def _check_rings(
    corners: Floats,
    boxes: Floats,
    first: Integers,
    r: int,
    q: int,
    gap: float,
    size: float,
    edges_a: Integers,
    edges_b: Integers,
) -> tuple[int, bool]:
    """Edges of ring r against those of ring q: FINE, CROSSING or CLOSE, and whether they touch."""
    s, e, t, f = first[r], first[r + 1], first[q], first[q + 1]
    count_a = _near_edges(corners, s, e, boxes[q], gap, edges_a)
    count_b = _near_edges(corners, t, f, boxes[r], gap, edges_b)
    touches, close = False, False
    for k in range(count_a):
        a0, a1 = _corner(corners, s, e, edges_a[k]), _corner(corners, s, e, edges_a[k] + 1)
        low_x, high_x = min(a0[0], a1[0]) - gap, max(a0[0], a1[0]) + gap
        low_y, high_y = min(a0[1], a1[1]) - gap, max(a0[1], a1[1]) + gap
        for m in range(count_b):
            b0, b1 = _corner(corners, t, f, edges_b[m]), _corner(corners, t, f, edges_b[m] + 1)
            if (b0[0] < low_x and b1[0] < low_x) or (b0[0] > high_x and b1[0] > high_x):
                continue
            if (b0[1] < low_y and b1[1] < low_y) or (b0[1] > high_y and b1[1] > high_y):
                continue
            meet, touch = _check_edges(corners, s, e, edges_a[k], t, f, edges_b[m])
            if meet:
                return CROSSING, True
            touches = touches or touch
            if gap > 0.0 and not (_edge_distance(a0, a1, b0, b1) - ROUNDING * size >= gap):
                close = True
    return (CLOSE if close else FINE), touches


@kernel
def _is_in_piece(corners: Floats, first: Integers, piece: Integers, i: int, p: Vec2) -> bool:
    """Whether p lies inside piece i, on an odd number of whose rings' insides; it is on none of them."""
    inside = False
    for r in range(piece[i], piece[i + 1]):
        if is_inside(corners, first[r], first[r + 1], p):
            inside = not inside
    return inside


@kernel
def _is_any_ring_inside(corners: Floats, first: Integers, piece: Integers, i: int, j: int, touched: Integers) -> bool:
    """Whether a ring of piece i that touches nothing of piece j lies inside it."""
    found = False
    for r in range(piece[i], piece[i + 1]):
        found = found or (touched[r] == 0 and _is_in_piece(corners, first, piece, j, vector_at_2d(corners, first[r])))
    return found


@kernel
def _check_pair(
    corners: Floats, boxes: Floats, first: Integers, piece: Integers, i: int, j: int, gap: float,
    edges_a: Integers, edges_b: Integers, touched: Integers,
) -> int:  # fmt: skip
    """FINE, CROSSING or CLOSE."""
    a, b = boxes[piece[i]], boxes[piece[j]]  # of the outlines
    size = max(a[HIGH_X], b[HIGH_X]) - min(a[LOW_X], b[LOW_X])
    size += max(a[HIGH_Y], b[HIGH_Y]) - min(a[LOW_Y], b[LOW_Y])
    close = False
    for k in range(2):
        for r in range(piece[j if k else i], piece[(j if k else i) + 1]):
            touched[r] = 0
    for r in range(piece[i], piece[i + 1]):
        for q in range(piece[j], piece[j + 1]):
            if not _are_boxes_near(boxes, r, q, gap):
                continue
            found, touch = _check_rings(corners, boxes, first, r, q, gap, size, edges_a, edges_b)
            if found == CROSSING:
                return CROSSING
            close = close or found == CLOSE
            if touch:
                touched[r] = touched[q] = 1
    if _is_any_ring_inside(corners, first, piece, i, j, touched) or _is_any_ring_inside(
        corners, first, piece, j, i, touched
    ):
        return CROSSING
    return CLOSE if close else FINE


@kernel
def _are_boxes_near(boxes: Floats, i: int, j: int, gap: float) -> bool:
    """Whether two boxes are within the gap of one another."""
    return (
        boxes[i, LOW_X] <= boxes[j, HIGH_X] + gap
        and boxes[j, LOW_X] <= boxes[i, HIGH_X] + gap
        and boxes[i, LOW_Y] <= boxes[j, HIGH_Y] + gap
        and boxes[j, LOW_Y] <= boxes[i, HIGH_Y] + gap
    )


@kernel
def _check_all(
    corners: Floats, boxes: Floats, first: Integers, piece: Integers, sheet: Integers, gap: float
) -> tuple[int, int, int]:
    """The first pair that overlaps or is too close, with what it is; (-1, -1, FINE) where there is none."""
    n = len(piece) - 1
    edges_a, edges_b = np.empty(len(corners), np.int64), np.empty(len(corners), np.int64)
    touched = np.empty(len(first), np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            if sheet[i] == sheet[j] and _are_boxes_near(boxes, piece[i], piece[j], gap):
                found = _check_pair(corners, boxes, first, piece, i, j, gap, edges_a, edges_b, touched)
                if found != FINE:
                    return i, j, found
    return -1, -1, FINE


@kernel
def _do_edges_touch(corners: Floats, i: int, j: int) -> bool:
    """Whether edges i < j of a closed polygon meet, other than neighbours in their common corner."""
    n = len(corners)
    a0, a1 = _corner(corners, 0, n, i), _corner(corners, 0, n, i + 1)
    b0, b1 = _corner(corners, 0, n, j), _corner(corners, 0, n, j + 1)
    if min(a0[1], a1[1]) > max(b0[1], b1[1]) or min(b0[1], b1[1]) > max(a0[1], a1[1]):
        return False
    if min(a0[0], a1[0]) > max(b0[0], b1[0]) or min(b0[0], b1[0]) > max(a0[0], a1[0]):
        return False
    if j == i + 1 and _is_same_direction(a1, a0, b1):
        return True
    if i == 0 and j == n - 1 and _is_same_direction(a0, a1, b0):
        return True
    if j == i + 1 or (i == 0 and j == n - 1):
        return False
    return orient_2d(a0, a1, b0) * orient_2d(a0, a1, b1) <= 0 and orient_2d(b0, b1, a0) * orient_2d(b0, b1, a1) <= 0


@kernel
def _first_contact(corners: Floats, order: Integers, low: Floats, high: Floats) -> tuple[int, int]:
    n = len(corners)
    first, second = n, n
    for k in range(n):
        m = k + 1
        while m < n and low[order[m]] <= high[order[k]]:
            i, j = min(order[k], order[m]), max(order[k], order[m])
            if (i < first or (i == first and j < second)) and _do_edges_touch(corners, i, j):
                first, second = i, j
            m += 1
    return first, second


def find_self_contact(corners: Floats) -> tuple[int, int] | None:
    """The first two edges, by their first corners, at which the closed polygon crosses or touches itself; None where it is simple."""
    following = np.roll(corners[:, 0], -1)
    low, high = np.minimum(corners[:, 0], following), np.maximum(corners[:, 0], following)
    first, second = _first_contact(corners, np.argsort(low, kind="stable"), low, high)
    return None if first == len(corners) else (first, second)


def find_overlap(
    polygons: Sequence[Floats],
    gap: float = 0.0,
    sheet: Integers | None = None,
    holes: Sequence[Sequence[Floats]] = (),
) -> tuple[int, int] | None:
    """The first two pieces of one sheet whose interiors meet, or that are closer than `gap`; None where there are none.

    Polygons are simple and anticlockwise; `holes`, where given, are for each piece the clockwise rings around its holes, strictly within
    it and apart from one
    another. Without a gap the answer is exact; touching is allowed. Whatever their scale: they are first brought near 1 by a power of two,
    which rounds nothing.
    """
    power = -math.frexp(max(float(np.abs(polygon).max()) for polygon in polygons))[1]
    groups = [[polygon, *(holes[k] if k < len(holes) else ())] for k, polygon in enumerate(polygons)]
    rings = [np.ldexp(ring, power) for group in groups for ring in group]
    first = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])]).astype(np.int64)
    piece = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings])
    sheets = np.zeros(len(polygons), np.int64) if sheet is None else sheet.astype(np.int64)
    i, j, found = _check_all(np.concatenate(rings), boxes, first, piece, sheets, math.ldexp(gap, power))
    return None if found == FINE else (i, j)


def find_loose_hole(polygon: Floats, holes: Sequence[Floats]) -> int | None:
    """The first hole that is not strictly within the simple anticlockwise polygon, or that meets or lies in another hole; None where all is well.

    Holes are clockwise. One turned round is a piece that must lie inside the outline, touching nothing, with no other one near it."""
    for k, hole in enumerate(holes):
        around = [polygon, *holes[:k]]
        for number, other in enumerate(around):
            turned = hole[::-1] if number == 0 else hole
            first = np.array([0, len(other), len(other) + len(turned)])
            rings = np.concatenate([other, turned])
            boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in (other, turned)])
            edges = np.empty((2, len(rings)), np.int64)
            found, touches = _check_rings(rings, boxes, first, 0, 1, 0.0, 1.0, edges[0], edges[1])
            p, q = (float(turned[0, 0]), float(turned[0, 1])), (float(other[0, 0]), float(other[0, 1]))
            is_within = is_inside(rings, 0, len(other), p)
            is_around = is_inside(rings, len(other), len(rings), q)
            if found != FINE or touches or is_around or is_within != (number == 0):
                return k
    return None
