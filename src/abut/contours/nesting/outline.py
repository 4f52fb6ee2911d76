"""Outlines that are simple to search with: corners taken away, never area.

A polygon is replaced by one that contains it. Three steps grow it, in sweeps, those first that add the least area: a reflex corner goes (its
triangle is filled), an edge between two convex corners goes (its neighbours are extended until they meet), a corner on a straight line goes
for nothing. A step is taken only when the triangle it adds holds no other corner, so the outline stays simple.

Gardeyn & Wauters 2025 ("An open-source heuristic to reboot 2D nesting research") simplify likewise. New corners are rounded: the outline may
cut off 1e-15 of its size, which the margin of the search (see `tables`) exceeds a thousand times. Corners are anticlockwise.
"""

import numpy as np
from numpy.typing import NDArray

from abut.contours.curve.rows import vector_at_2d
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel

KEPT_AREA = 1e-3
"""Part of a piece's area that may be added however few corners it has. Gardeyn & Wauters take the same."""
ROUGH_AREA = 2e-2
"""Part that may be added to bring an outline down to MOST_CORNERS: noise between two rough outlines cannot interlock anyway."""
MOST_CORNERS = 40
LEAST_CORNERS = 4
FIRST_THRESHOLD = 1e-6
"""Corners go in sweeps, those first that add at most this part of the area that may be added, then with twice as much in each sweep."""
Booleans = NDArray[np.bool_]


@kernel
def _cost(points: Floats, previous: Integers, following: Integers, v: int) -> tuple[float, float, float, bool]:
    """Area that taking corner v away adds, where its successor (or the meeting point that replaces both) lands, and whether v is reflex."""
    p, w = previous[v], following[v]
    (px, py), (vx, vy), (wx, wy) = vector_at_2d(points, p), vector_at_2d(points, v), vector_at_2d(points, w)
    turn = (vx - px) * (wy - vy) - (vy - py) * (wx - vx)
    if turn <= 0.0:
        return -0.5 * turn, 0.0, 0.0, True
    q = int(following[w])
    qx, qy = vector_at_2d(points, q)
    ux, uy, sx, sy = vx - px, vy - py, wx - qx, wy - qy
    # p→v and q→w, extended beyond v and w, meet at v + s·u.
    det = ux * sy - uy * sx
    bend = (wx - vx) * (qy - wy) - (wy - vy) * (qx - wx)
    if bend <= 0.0 or det >= 0.0 or q == p:
        return np.inf, 0.0, 0.0, False
    s = ((wx - vx) * sy - (wy - vy) * sx) / det
    x, y = vx + s * ux, vy + s * uy
    area = 0.5 * abs((x - vx) * (wy - vy) - (y - vy) * (wx - vx))
    return (area if s > 0.0 else np.inf), x, y, False


@kernel
def _is_empty(
    points: Floats, alive: Booleans, order: Integers, xs: Floats, moved: float,
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float,
) -> bool:  # fmt: skip
    """Whether no corner lies in the closed anticlockwise triangle abc, its own corners excepted.

    Corners were sorted by x when they had the abscissas `xs`; none has moved by more than `moved` since.
    """
    low_x, high_x, low_y, high_y = min(ax, bx, cx), max(ax, bx, cx), min(ay, by, cy), max(ay, by, cy)
    k = np.searchsorted(xs, low_x - moved)
    while k < len(xs) and xs[k] <= high_x + moved:
        v = order[k]
        k += 1
        x, y = vector_at_2d(points, v)
        if alive[v] and low_x <= x <= high_x and low_y <= y <= high_y:
            own = (x == ax and y == ay) or (x == bx and y == by) or (x == cx and y == cy)
            inside = (
                (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0.0
                and (cx - bx) * (y - by) - (cy - by) * (x - bx) >= 0.0
                and (ax - cx) * (y - cy) - (ay - cy) * (x - cx) >= 0.0
            )
            if inside and not own:
                return False
    return True


@kernel
def _sweep(
    points: Floats, previous: Integers, following: Integers, alive: Booleans, order: Integers, xs: Floats,
    left: int, added: float, threshold: float, most: int, kept: float, rough: float,
) -> tuple[int, float]:  # fmt: skip
    """Go once round the outline and take away corners that add no more than `threshold`; corners left, and area added in all."""
    v, moved = int(order[0]), 0.0
    for _ in range(left):
        area, x, y, reflex = _cost(points, previous, following, v)
        p, w = int(previous[v]), int(following[v])
        if area <= threshold and added + area <= (rough if left > most else kept) and left > LEAST_CORNERS:
            (px, py), (vx, vy), (wx, wy) = vector_at_2d(points, p), vector_at_2d(points, v), vector_at_2d(points, w)
            if reflex:
                empty = _is_empty(points, alive, order, xs, moved, px, py, wx, wy, vx, vy)
            else:
                empty = _is_empty(points, alive, order, xs, moved, vx, vy, x, y, wx, wy)
            if empty:
                if not reflex:
                    moved = max(moved, abs(x - wx))
                    points[w, 0], points[w, 1] = x, y
                previous[w], following[p] = p, w
                alive[v] = False
                left, added = left - 1, added + area
                w = int(following[w])  # not the neighbour at once: that would wear off one side only
        v = w
    return left, added


def simplify(polygon: Floats, area: float) -> Floats:
    """An outline that contains the anticlockwise polygon and has at most its corners."""
    points, n = polygon.copy(), len(polygon)
    previous, following = np.arange(n) - 1, np.arange(n) + 1
    previous[0], following[n - 1] = n - 1, 0
    alive, left, added = np.ones(n, np.bool_), n, 0.0
    kept, rough = KEPT_AREA * area, ROUGH_AREA * area
    threshold = FIRST_THRESHOLD * kept
    while threshold < 2.0 * rough:
        rows = np.flatnonzero(alive)
        order = rows[np.argsort(points[rows, 0], kind="stable")]
        left, added = _sweep(
            points,
            previous,
            following,
            alive,
            order,
            points[order, 0],
            left,
            added,
            threshold,
            MOST_CORNERS,
            kept,
            rough,
        )
        threshold *= 2.0
    return points[alive]
