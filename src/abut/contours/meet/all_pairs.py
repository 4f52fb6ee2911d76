"""Many contours at once: which pairs are near (sweep and prune on the root boxes), and all their contacts in one call.

Each contour's root box, turned and moved, gives an upright rectangle. Sorted by their left sides, only those that begin before another
ends are compared in y, then the root boxes themselves on their four axes. No pair that meets is left out: boxes are padded, and compared with δ more.
"""

from collections.abc import Sequence

import numpy as np

from abut.contours.curve.contour import Contour
from abut.contours.curve.poses import as_poses
from abut.contours.meet.collide import _collide_rows
from abut.contours.meet.entries import NO_LIMIT
from abut.contours.meet.results import Contacts
from abut.contours.meet.tables import MEETING, magnitude, open_contour, relative
from abut.contours.meet.tree_search import boxes_overlap
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.scratch import load


@kernel
def _find_rectangles(tables: Integers, poses: Floats, reach: float, out: Floats) -> None:
    """(m,4) least x, largest x, least y, largest y of the root boxes."""
    for i in range(len(tables)):
        view = open_contour(int(tables[i]))
        c, s = poses[i, 0], poses[i, 1]
        x, y, ex, ey = load(view.nodes, 6), load(view.nodes, 7), load(view.nodes, 8), load(view.nodes, 9)
        x, y = c * x - s * y + poses[i, 2], s * x + c * y + poses[i, 3]
        ex, ey = abs(c * ex - s * ey), abs(s * ex + c * ey)
        a, b = load(view.nodes, 10), load(view.nodes, 11)
        slack = reach + MEETING * (load(view.nodes, 0) + abs(poses[i, 2]) + abs(poses[i, 3]))
        rx, ry = ex * a + ey * b + slack, ey * a + ex * b + slack
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = x - rx, x + rx, y - ry, y + ry


@kernel
def _sweep(tables: Integers, poses: Floats, rectangles: Floats, order: Integers, reach: float, out: Integers) -> int:
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
            pose = relative(
                (poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3]),
                (poses[j, 0], poses[j, 1], poses[j, 2], poses[j, 3]),
            )
            if not boxes_overlap(a, 1, b, 1, pose, reach + MEETING * magnitude(a, b, pose)):
                continue
            if count < len(out):
                out[count, 0], out[count, 1] = min(i, j), max(i, j)
            count += 1
    return count


def as_list(contours: object) -> list[Contour]:
    """The contours of a sequence or another iterable, each checked."""
    return arrays.items(contours, "contours", Contour)


def as_tables(contours: Sequence[Contour]) -> Integers:
    """(m,) addresses of the contours' tables; valid while the contours live."""
    return np.array([contour._handle[0] for contour in as_list(contours)], np.int64)


def pairs(contours: Sequence[Contour], poses: object) -> Integers:
    """(p,2) pairs i < j of contours whose root boxes overlap at these poses, (m,3) or (m,3,3); sorted."""
    return frozen(find_pairs(*_placed(as_list(contours), poses)))


def _placed(contours: Sequence[Contour], poses: object) -> tuple[Integers, Floats]:
    """Tables of the contours and as many poses (m,4)."""
    tables, rows = as_tables(contours), as_poses(poses)
    if len(rows) != len(tables):
        raise InvalidInput("poses", f"has {len(rows)} rows for {len(tables)} contours")
    return tables, rows


def find_pairs(tables: Integers, poses: Floats, reach: float = 0.0) -> Integers:
    """The same from tables and poses (m,4), with boxes that are nearer than `reach`."""
    rectangles = np.empty((len(tables), 4))
    _find_rectangles(tables, poses, reach, rectangles)
    order = np.argsort(rectangles[:, 0], kind="stable")
    out = np.empty((4 * len(tables) + 16, 2), np.int64)
    count = _sweep(tables, poses, rectangles, order, reach, out)
    if count > len(out):
        out = np.empty((count, 2), np.int64)
        _sweep(tables, poses, rectangles, order, reach, out)
    found = out[:count]
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def collide_all(contours: Sequence[Contour], poses: object, near: object = None) -> tuple[Integers, Contacts]:
    """Pairs (p,2) of contours that may meet (or those given as `near`) and all their contacts; `query` is the row of the pair, a its first."""
    shapes = as_list(contours)
    tables, rows = _placed(shapes, poses)
    chosen = frozen(find_pairs(tables, rows)) if near is None else arrays.indices(near, "near", 2, len(shapes))
    hits = _collide_rows(tables[chosen], rows[chosen[:, 0]], rows[chosen[:, 1]], NO_LIMIT)
    return chosen, in_world(hits, rows[chosen[:, 1]])


def in_world(hits: Contacts, poses_b: Floats) -> Contacts:
    """Contacts in the coordinates of their b, brought into the world by the poses (k,4) of the b of each query."""
    c, s, x, y = poses_b[hits.query].T
    rows = hits._rows.copy()
    px, py, nx, ny = rows[:, 4:8].T.copy()
    rows[:, 4], rows[:, 5] = c * px - s * py + x, s * px + c * py + y
    rows[:, 6], rows[:, 7] = c * nx - s * ny, s * nx + c * ny
    return Contacts(frozen(rows), hits.query, hits._numbers)
