"""From stretches of single segments to contacts of contours: joined at joints, told apart by kind, with points and normals.

A place where segments join is found once by every segment there. Stretches of which one begins where another ends, on both contours, are
one contact. A contact that is no certain crossing is one where a passes from one side of b to the other (`crossing_number`); otherwise it touches.

Normals point from a to b: along n_a − n_b, n being the outward normals. Where one contour has a corner the other's normal is taken.
"""

import math

from abut.contours.curve.cubic import Four, tangent_at, transform
from abut.contours.meet.columns import (
    BEGIN_A,
    BEGIN_B,
    CERTAIN,
    END_A,
    END_B,
    FURTHEST,
    KIND,
    NORMAL_X,
    NORMAL_Y,
    PLACE_A,
    PLACE_B,
    POINT_X,
    POINT_Y,
    STRETCH_COLUMNS,
)
from abut.contours.meet.crossing_number import cyclic, is_crossing, overlap, point_on, shorter_way, span, split
from abut.contours.meet.kinds import Kind
from abut.contours.meet.views import BRIEF, MEETING, STILL, View, magnitude, segment_of
from abut.core.arrays import Floats
from abut.core.jit import element, kernel
from abut.geometry.vec import Vec2

CROSSING, TOUCH, INTERVAL = (kind.value for kind in Kind)
SAME_PLACE = 2.0**-40
"""Ends of stretches nearer than this part of the magnitude, on both contours, are one place."""
SAME_PARAMETER = 0.01
"""And no further in parameters than this: where a contour touches itself, one place has several."""
CORNER = 1e-7
"""Sine of the angle between tangents at a joint above which it is a corner; rounding of a control point turns one by less, unless it is short."""
OPPOSITE = 1e-6
"""|n_a − n_b| below which both normals agree: one contour touches the other from inside."""
SAMPLES = 4
"""Points of a stretch that are looked at: a stretch that ends where it begins, once around, is long."""


@element
def _same(a: View, b: View, pose: Four, s: float, t: float, p: float, q: float, near: float) -> bool:
    """Whether (s, t) and (p, q) are one place on both contours; beginning and end of a are told apart."""
    if abs(s - p) > SAME_PARAMETER or cyclic(t, q, float(b.leaf_count)) > SAME_PARAMETER:
        return False
    x, y = point_on(a, s, pose)
    u, v = point_on(a, p, pose)
    return abs(x - u) <= near and abs(y - v) <= near


@element
def _is_long(view: View, begin: float, end: float, brief: float) -> bool:
    """Whether a stretch of a contour leaves the neighbourhood `brief` of its beginning."""
    if end == begin:
        return False
    x, y = point_on(view, begin, STILL)
    for k in range(1, SAMPLES + 1):
        u, v = point_on(view, begin + k * (end - begin) / SAMPLES, STILL)
        if (u - x) * (u - x) + (v - y) * (v - y) > brief * brief:
            return True
    return False


@element
def _is_before(raw: Floats, i: int, j: int) -> bool:
    return raw[i, BEGIN_A] < raw[j, BEGIN_A] or (raw[i, BEGIN_A] == raw[j, BEGIN_A] and raw[i, END_A] < raw[j, END_A])


@kernel
def _sort(raw: Floats, count: int) -> None:
    """Rows ascending by their beginning on a, then by their end: a point at a joint before the stretch that begins there.

    Shell's sort: in place, nothing allocated."""
    gap = 1
    while gap < count:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for k in range(gap, count):
            i = k
            while i >= gap and _is_before(raw, i, i - gap):
                for c in range(STRETCH_COLUMNS - 1):
                    raw[i, c], raw[i - gap, c] = raw[i - gap, c], raw[i, c]
                i -= gap


@kernel
def _find_places(raw: Floats, count: int) -> None:
    """The place of a stretch that is one point is that point. Those of longer ones are open: a tangency is within rounding for a while."""
    for k in range(count):
        is_point = raw[k, BEGIN_A] == raw[k, END_A] and raw[k, BEGIN_B] == raw[k, END_B]
        raw[k, PLACE_A], raw[k, PLACE_B] = (raw[k, BEGIN_A], raw[k, BEGIN_B]) if is_point else (-1.0, -1.0)


@element
def _keep_place(raw: Floats, into: int, other: int) -> None:
    """Of two stretches that are joined, the one that is a point tells where: at a joint, one side may be a tangency while another is not."""
    raw[into, CERTAIN] = 0.0
    if raw[into, PLACE_A] < 0.0:
        raw[into, PLACE_A], raw[into, PLACE_B] = raw[other, PLACE_A], raw[other, PLACE_B]


@kernel
def _reach_on(raw: Floats, first: int, kept: int) -> None:
    """Bring FURTHEST of rows from `first` on up to date, where their ends have grown."""
    for k in range(first, kept):
        furthest = max(raw[k, END_A], raw[k - 1, FURTHEST] if k > 0 else -math.inf)
        if k > first and raw[k, FURTHEST] >= furthest:
            break
        raw[k, FURTHEST] = furthest


@kernel
def _join(a: View, b: View, pose: Four, raw: Floats, count: int, near: float, brief: float) -> tuple[int, int]:
    """Join stretches, sorted, into contacts: the first rows of `raw` itself, as many as returned; and how many pairs were compared.

    Short stretches that overlap on both contours are one place, which then spans both: at a cusp, or where a segment has no length. Where
    b turns back on itself, two long ones begin or end at one place: these stay two."""
    kept, period, compared = 0, float(b.leaf_count), 0
    for k in range(count):
        s0, s1, t0, t1 = raw[k, BEGIN_A], raw[k, END_A], raw[k, BEGIN_B], raw[k, END_B]
        joined, long = False, _is_long(a, s0, s1, brief)
        for c in range(kept - 1, -1, -1):
            if raw[c, FURTHEST] < s0 - SAME_PARAMETER:
                break  # no row up to c reaches this one
            compared += 1
            p0, p1, q0, q1 = raw[c, BEGIN_A], raw[c, END_A], raw[c, BEGIN_B], raw[c, END_B]
            follows = _same(a, b, pose, p1, q1, s0, t0, near)
            beside = _same(a, b, pose, p0, q0, s0, t0, near) or _same(a, b, pose, p1, q1, s1, t1, near)
            across = s0 <= p1 and p0 <= s1 and overlap(q0, q1, t0, t1, period)
            if not (follows or beside or across):
                continue
            other_long = _is_long(a, p0, p1, brief)
            if not long and not other_long:
                raw[c, BEGIN_A], raw[c, END_A] = min(p0, s0), max(p1, s1)
                raw[c, BEGIN_B], raw[c, END_B] = span(q0, q1, t0, t1, period)
            elif follows or (beside and not (long and other_long)):
                if p1 == p0 and s1 > p1:
                    raw[c, BEGIN_B] = t0
                if s1 > p1:
                    raw[c, END_A], raw[c, END_B] = s1, t1
            else:
                continue
            _keep_place(raw, c, k)
            _reach_on(raw, c, kept)
            joined = True
            break
        if not joined:
            for col in range(STRETCH_COLUMNS - 1):
                raw[kept, col] = raw[k, col]
            kept += 1
            raw[kept - 1, FURTHEST] = max(s1, raw[kept - 2, FURTHEST] if kept > 1 else -math.inf)
    return (kept, compared)


@kernel
def _join_ends(a: View, b: View, pose: Four, raw: Floats, kept: int, near: float) -> int:
    """Contacts that run over the joint of the last and the first segment of a become one, which begins before it."""
    n = float(a.leaf_count)
    c = 0
    while c < kept:
        joined = False
        if raw[c, BEGIN_A] > SAME_PARAMETER:
            break  # rows ascend by their beginning
        first = kept
        while first > 0 and raw[first - 1, FURTHEST] >= n - SAME_PARAMETER:
            first -= 1
        for k in range(first, kept):
            if (
                k != c
                and raw[k, END_A] >= n - SAME_PARAMETER
                and _same(a, b, pose, raw[k, END_A], raw[k, END_B], raw[c, BEGIN_A] + n, raw[c, BEGIN_B], near)
            ):
                raw[k, END_A], raw[k, END_B] = max(raw[k, END_A], raw[c, END_A] + n), raw[c, END_B]
                _keep_place(raw, k, c)
                _reach_on(raw, k, kept)
                joined = True
                break
        if joined:
            for k in range(c, kept - 1):
                for col in range(STRETCH_COLUMNS):
                    raw[k, col] = raw[k + 1, col]
            kept -= 1
        else:
            c += 1
    return kept


@element
def _outward(view: View, sigma: float, pose: Four) -> tuple[float, float, bool]:
    """Outward unit normal at a parameter, and whether there is a corner; the mean of both sides there."""
    nearest = math.floor(sigma + 0.5)
    i, t = split(sigma, view.leaf_count)
    corner = False
    if abs(sigma - nearest) <= 1e-9:
        x, y = tangent_at(transform(segment_of(view, (int(nearest) - 1) % view.leaf_count), pose), 1.0)
        u, v = tangent_at(transform(segment_of(view, int(nearest) % view.leaf_count), pose), 0.0)
        corner = abs(x * v - y * u) > CORNER or x * u + y * v < 0.0
        x, y = x + u, y + v
        length = math.sqrt(x * x + y * y)
        if length > 0.0:
            x, y = x / length, y / length
    else:
        x, y = tangent_at(transform(segment_of(view, i), pose), t)
    return (view.orientation * y, -view.orientation * x, corner)


@element
def normal_between(a: View, b: View, pose: Four, sigma: float, tau: float) -> Vec2:
    """Unit normal from a to b where the point sigma of a, moved by the pose, and tau of b meet; in b's coordinates."""
    ax, ay, corner_a = _outward(a, sigma, pose)
    bx, by, corner_b = _outward(b, tau, STILL)
    if corner_a and not corner_b:
        return (-bx, -by)
    if corner_b and not corner_a:
        return (ax, ay)
    x, y = ax - bx, ay - by
    length = math.sqrt(x * x + y * y)
    if length <= OPPOSITE:
        return (ax, ay)
    return (x / length, y / length)


@kernel
def make_contacts(a: View, b: View, pose: Four, raw: Floats, count: int, out: Floats) -> tuple[int, int]:
    """Contacts in b's coordinates from the first `count` stretches in `raw`, into `out` as far as it reaches; how many there are, and how
    many pairs of them were compared."""
    size = magnitude(a, b, pose)
    delta, brief = MEETING * size, BRIEF * size
    _find_places(raw, count)
    _sort(raw, count)
    near, kept, compared = SAME_PLACE * size, count + 1, 0
    while count < kept:  # what was joined may meet others
        kept = count
        count, more = _join(a, b, pose, raw, count, near, brief)
        compared += more
    kept = _join_ends(a, b, pose, raw, count, near)
    for k in range(min(kept, len(out))):
        s0, s1, t0, t1 = raw[k, BEGIN_A], raw[k, END_A], raw[k, BEGIN_B], raw[k, END_B]
        if _is_long(a, s0, s1, brief):
            kind = INTERVAL
        elif raw[k, CERTAIN] == 1.0:
            kind = CROSSING
        else:
            crosses, more = is_crossing(a, b, pose, raw, kept, k, delta, brief)
            kind = CROSSING if crosses else TOUCH
            compared += more
        period = float(b.leaf_count)
        sigma, tau = 0.5 * (s0 + s1), t0 + 0.5 * shorter_way(t0, t1, period)
        if kind != INTERVAL and raw[k, PLACE_A] >= 0.0:
            sigma, tau = raw[k, PLACE_A], raw[k, PLACE_B]
        if s0 >= a.leaf_count:
            s0, s1 = s0 - a.leaf_count, s1 - a.leaf_count
        out[k, BEGIN_A], out[k, END_A], out[k, BEGIN_B], out[k, END_B] = s0, s1, t0, t1
        out[k, POINT_X], out[k, POINT_Y] = point_on(a, sigma, pose)
        out[k, NORMAL_X], out[k, NORMAL_Y] = normal_between(a, b, pose, sigma, tau % period)
        out[k, KIND] = float(kind)
    return (kept, compared)
