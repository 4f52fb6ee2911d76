"""An environment whose vertices move (Jund 2010, §3.4.2): what is read, checked, cut where it must be, and told to those who are in it."""

from typing import TypeGuard

import numpy as np

from abut.cells.arguments import read_numbers
from abut.cells.edit.interior import Interior
from abut.cells.edit.moved_vertices import CENTER_ERROR, Moved, find_moved
from abut.cells.edit.surgery_commit import perform
from abut.cells.space.records import REACH, spoil_records
from abut.cells.walk.reentrant_edges import Remembered
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, PointsLike

FIRST_GAP, GAP_GROWTH = 2.0**-40, 16.0
"""What is given up of a share at which a point is touched: next to nothing first."""
MOST_TRIES = 40
CLOSE = 2.0**-12
"""Where only trying tells (edges and faces), the share is this close to the largest."""


def deform(inside: Interior, vertices: PointsLike, moved: IndicesLike | None) -> None:
    """`Environment.deform`."""
    rows, points = _read_moved(inside, vertices, moved)
    if len(rows):
        inside.bring_up_to_date()
        _move(inside, rows, points)


def deform_until_touched(inside: Interior, vertices: PointsLike, moved: IndicesLike | None) -> float:
    """The same, but only as far as nobody inside is touched; how far that is.

    The share of the step is tried, and lowered to where somebody is touched first, a little less each time; where nothing but trying
    tells, by halving.
    """
    rows, points = _read_moved(inside, vertices, moved)
    if not len(rows):
        return 1.0
    inside.bring_up_to_date()
    start = inside.space.vertices[rows][:, : inside.dimension]
    free, taken, share, gap, there, is_exact = 0.0, 1.0, 1.0, FIRST_GAP, 0.0, False
    for _ in range(MOST_TRIES):
        try:
            _move(inside, rows, points if share == 1.0 else start + share * (points - start))
            there, touched = share, _find_touch(inside)
        except InvalidInput:
            if share == 1.0:
                raise
            touched = np.nan  # cells that are sound at the end need not be so on the way
        is_known = not np.isnan(touched)
        if touched == np.inf:
            free = share
        else:
            taken = share
        if taken - free <= CLOSE * taken or (touched == np.inf and is_exact):
            break
        share, is_exact = 0.5 * (free + taken), is_known and touched < np.inf
        if is_exact:
            share, gap = max(free, taken * touched * (1.0 - gap)), min(gap * GAP_GROWTH, 0.5)
    if there != free:
        _move(inside, rows, start if free == 0.0 else start + free * (points - start))
    return free


def _find_touch(inside: Interior) -> float:
    """When somebody is touched first in the last deformation; NaN where it is only known that somebody is."""
    touches = [each.first_touch() for each in list(inside.inhabitants)]
    known = [touch for touch in touches if not np.isnan(touch)]
    first = min(known, default=np.inf)
    return first if first < np.inf or len(known) == len(touches) else np.nan


def _move(inside: Interior, rows: Integers, points: Floats) -> None:
    """Move some vertices, none of which has moved since the last `bring_up_to_date` but for these."""
    inside.motion = None
    around = inside.around
    if around is None or not np.array_equal(rows, around.rows):
        around = inside.around = Moved(inside.fabric, inside.cell_count, rows)
    largest = around.put(inside.space, points)
    inside.fabric.renew_centers(around.centers)
    inside.note_vertices()
    before = inside.version
    unsound, centers = around.list_unsound(inside.space), around.centers
    if len(unsound):
        _recut(inside, around, unsound)
        parts = around.parts[around.parts < len(inside.part_cell)]
        spoil_records(inside.space, parts)
        inside.versions.note_parts(parts, part_count=len(inside.part_cell))
        centers = _find_centers(inside, before)
        inside.fabric.renew_origins(centers)
    else:
        around.spoil(inside.space)
        inside.versions.note_moved(around)
    gone = inside.space.vertices[rows] - inside.fabric.origin[rows]
    step = float(np.sqrt((gone**2).sum(axis=1).max())) * (1.0 + CENTER_ERROR) + CENTER_ERROR * inside.space.reach
    inside.note_motion(step, np.concatenate((rows, inside.fabric.center_rows["vertex"][centers])))
    _fit_reach(inside, largest, len(rows))
    inside.index, inside.reentrant = None, Remembered()


def _read_moved(inside: Interior, vertices: PointsLike, moved: IndicesLike | None) -> tuple[Integers, Floats]:
    """The rows of the vertices that move, and where to."""
    count = inside.fabric.vertex_count
    if moved is None:
        return _find_moved(inside, vertices, count)
    points = arrays.points(vertices, "vertices", dimensions=inside.dimension)
    rows = read_numbers(moved, "moved", count)
    if len(points) != len(rows):
        raise InvalidInput("vertices", f"has {len(points)} rows, {len(rows)} are to move")
    return arrays.frozen(np.ascontiguousarray(rows)), points


def _find_moved(inside: Interior, vertices: PointsLike, count: int) -> tuple[Integers, Floats]:
    """The rows that differ from what is there. Where all are float64 rows already, only those are looked at for numbers that are not finite."""
    if _is_plain(vertices, (count, inside.dimension)):
        points = arrays.frozen(vertices.view())
    else:
        points = arrays.points(vertices, "vertices", dimensions=inside.dimension)
        if len(points) != count:
            raise InvalidInput("vertices", f"has {len(points)} rows, the environment has {count}")
    rows = np.empty(len(points), np.int64)
    rows = arrays.frozen(rows[: find_moved(points, inside.space.vertices, rows)])
    try:
        return rows, arrays.points(arrays.frozen(points.take(rows, axis=0)), "vertices", dimensions=inside.dimension)
    except InvalidInput as error:
        raise InvalidInput(error.name, error.reason, None if error.row is None else int(rows[error.row])) from None


def _is_plain(value: object, shape: tuple[int, int]) -> TypeGuard[Floats]:
    """Whether this is an array of this shape that kernels can read as it is."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != shape:
        return False
    return value.flags.c_contiguous and value.flags.aligned


def _recut(inside: Interior, around: Moved, unsound: Integers) -> None:
    """Make the parts of cells anew whose faces are flat no longer, or that are convex no longer; undo the move where they cannot be."""
    cells = np.unique(inside.part_cell[unsound]).tolist()
    rings = inside.open_rings()
    for cell in cells:
        rings.keep(cell)
    try:
        perform(inside, rings, dented=set(cells))
    except InvalidInput as error:
        around.put_back(inside.space)
        inside.fabric.renew_centers(around.centers)
        if inside.dimension == 3:
            raise
        words = f"cell {error.row} turns flat, inside out or non-convex"
        raise InvalidInput("vertices", words) from None


def _find_centers(inside: Interior, before: int) -> Integers:
    """The centers of all cells that have changed after a version, by their numbers."""
    concerned = np.zeros(inside.cell_count + 1, np.bool_)  # the last one stands for no cell
    cells = inside.part_cell[inside.changed_since(before)]
    concerned[cells[cells >= 0]] = True
    return inside.fabric.list_centers(concerned)


def _fit_reach(inside: Interior, largest: float, moved_count: int) -> None:
    """Let the records hold for vertices that moved further out, or be finer again where most of them moved in."""
    space = inside.space
    if 2 * moved_count >= inside.fabric.vertex_count:
        largest = float(np.abs(space.vertices).max(initial=0.0))
    elif largest <= space.reach:
        return
    wanted = REACH * largest
    if wanted > 2 * space.reach or wanted < space.reach / 2:
        inside.fabric.reach = wanted
        inside.refit()
