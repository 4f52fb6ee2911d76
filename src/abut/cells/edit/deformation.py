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


def deform(inside: Interior, vertices: PointsLike, moved: IndicesLike | None) -> None:
    """`Environment.deform`."""
    rows, points = _read_moved(inside, vertices, moved)
    if not len(rows):
        return
    inside.bring_up_to_date()
    around = inside.around
    if around is None or not np.array_equal(rows, around.rows):
        around = inside.around = Moved(inside.fabric, inside.cell_count, rows)
    largest = around.put(inside.space, points)
    inside.fabric.renew_centers(around.centers)
    inside.given, before = None, inside.version
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
    moved = np.concatenate((rows, inside.fabric.center_rows["vertex"][centers]))
    inside.note_motion(around.step + CENTER_ERROR * inside.space.reach, moved)
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
