"""Many contours at once: which pairs are near (sweep and prune on the root boxes), and all their contacts in one call.

Each contour's root box, turned and moved, gives an upright rectangle. Sorted by their left sides, only those that begin before another
ends are compared in y, then the root boxes themselves on their four axes. No pair that meets is left out: boxes are padded, and compared with δ more.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import PlanePosesLike, as_poses
from abut.contours.meet.collide import collide_rows
from abut.contours.meet.columns import NORMAL_X, NORMAL_Y, POINT_X, POINT_Y
from abut.contours.meet.queries import NO_LIMIT
from abut.contours.meet.results import ContourContacts
from abut.contours.meet.tree_search import boxes_overlap
from abut.contours.meet.views import MEETING, box_of, magnitude, open_contour, pose_at, reach_of, relative
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.types import IndicesLike


@kernel
def _find_rectangles(tables: Integers, poses: Floats, max_distance: float, out: Floats) -> None:
    """(m,4) least x, largest x, least y, largest y of the root boxes."""
    for i in range(len(tables)):
        view = open_contour(int(tables[i]))
        c, s, away_x, away_y = pose_at(poses, i)
        root = box_of(view, 1)
        x, y = c * root.x - s * root.y + away_x, s * root.x + c * root.y + away_y
        ex, ey = abs(c * root.axis_x - s * root.axis_y), abs(s * root.axis_x + c * root.axis_y)
        slack = max_distance + MEETING * (reach_of(view) + abs(away_x) + abs(away_y))
        rx, ry = ex * root.along + ey * root.across + slack, ey * root.along + ex * root.across + slack
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = x - rx, x + rx, y - ry, y + ry


@kernel
def _sweep(
    tables: Integers, poses: Floats, rectangles: Floats, order: Integers, max_distance: float, out: Integers
) -> int:
    """Pairs whose root boxes overlap, into `out` as far as it reaches; how many there are."""
    count = 0
    for k in range(len(order)):
        i = int(order[k])
        for m in range(k + 1, len(order)):
            j = int(order[m])
            if rectangles[j, 0] > rectangles[i, 1]:
                break
            if rectangles[j, 2] > rectangles[i, 3] or rectangles[i, 2] > rectangles[j, 3]:
                continue
            a, b = open_contour(int(tables[i])), open_contour(int(tables[j]))
            pose = relative(pose_at(poses, i), pose_at(poses, j))
            if not boxes_overlap(a, 1, b, 1, pose, max_distance + MEETING * magnitude(a, b, pose)):
                continue
            if count < len(out):
                out[count, 0], out[count, 1] = min(i, j), max(i, j)
            count += 1
    return count


def as_list(contours: Iterable[Contour]) -> list[Contour]:
    """The contours of a sequence or another iterable, each checked."""
    return arrays.items(contours, "contours", Contour)


def as_tables(contours: Sequence[Contour]) -> Integers:
    """(m,) addresses of the contours' tables; valid while the contours live."""
    return np.array([contour._handle[0] for contour in as_list(contours)], np.int64)


def pairs(contours: Iterable[Contour], poses: PlanePosesLike) -> Integers:
    """Which of many contours are near one another: those whose root boxes overlap.

    Args:
        contours: m contours.
        poses: (m,3) x, y and angle in radians, or (m,3,3): one of each.

    Returns:
        (p,2) pairs i < j, sorted. No pair that meets is left out.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> contours.pairs([tile, tile, tile], [(0, 0, 0), (0.9, 0, 0), (1.8, 0, 0)]).tolist()
        [[0, 1], [1, 2]]
    """
    return frozen(find_pairs(*placed(as_list(contours), poses)))


def placed(contours: Sequence[Contour], poses: PlanePosesLike) -> tuple[Integers, Floats]:
    """Tables of the contours and as many poses (m,4)."""
    tables, rows = as_tables(contours), as_poses(poses)
    if len(rows) != len(tables):
        raise InvalidInput("poses", f"has {len(rows)} rows for {len(tables)} contours")
    return tables, rows


def find_pairs(tables: Integers, poses: Floats, max_distance: float = 0.0) -> Integers:
    """The same from tables and poses (m,4), with boxes that are nearer than `max_distance`."""
    rectangles = np.empty((len(tables), 4))
    _find_rectangles(tables, poses, max_distance, rectangles)
    order = np.argsort(rectangles[:, 0], kind="stable")
    out = np.empty((4 * len(tables) + 16, 2), np.int64)
    count = _sweep(tables, poses, rectangles, order, max_distance, out)
    if count > len(out):
        out = np.empty((count, 2), np.int64)
        _sweep(tables, poses, rectangles, order, max_distance, out)
    found = out[:count]
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def collide_all(
    contours: Iterable[Contour], poses: PlanePosesLike, near: IndicesLike | None = None
) -> tuple[Integers, ContourContacts]:
    """All contacts of many contours in one call.

    Args:
        contours: m contours.
        poses: (m,3) x, y and angle in radians, or (m,3,3): one of each.
        near: (p,2) the pairs to ask about, a first; those of `pairs` by default.

    Returns:
        Pairs (p,2) of contours that may meet, and their contacts in the world: `query` is the row of the pair.

    Examples:
        >>> from abut import contours
        >>> tile = contours.Contour.from_polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
        >>> near, hits = contours.collide_all([tile, tile, tile], [(0, 0, 0), (0.9, 0.5, 0), (1.8, 0, 0)])
        >>> near[hits.query].tolist()
        [[0, 1], [0, 1], [1, 2], [1, 2]]
    """
    shapes = as_list(contours)
    tables, rows = placed(shapes, poses)
    chosen = frozen(find_pairs(tables, rows)) if near is None else arrays.indices(near, "near", 2, len(shapes))
    hits = collide_rows(tables[chosen], rows[chosen[:, 0]], rows[chosen[:, 1]], NO_LIMIT)
    return chosen, in_world(hits, rows[chosen[:, 1]])


def in_world(hits: ContourContacts, poses_b: Floats) -> ContourContacts:
    """Contacts in the coordinates of their b, brought into the world by the poses (k,4) of the b of each query."""
    c, s, x, y = poses_b[hits.query].T
    rows = hits._rows.copy()
    (px, py), (nx, ny) = hits.point.T, hits.normal.T
    rows[:, POINT_X], rows[:, POINT_Y] = c * px - s * py + x, s * px + c * py + y
    rows[:, NORMAL_X], rows[:, NORMAL_Y] = c * nx - s * ny, s * nx + c * ny
    return ContourContacts(rows, hits.query, hits._numbers)
