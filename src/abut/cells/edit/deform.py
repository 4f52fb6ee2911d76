"""An environment whose vertices move (Jund 2010, §3.4.2): what is read, checked, cut where it must be, and told to those who are in it."""

from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from abut.cells.arguments import read_numbers
from abut.cells.edit.deformation import find_moved
from abut.cells.edit.moved_vertices import Moved
from abut.cells.space.records import REACH, spoil_records
from abut.cells.walk.reentrant_edges import Remembered
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

if TYPE_CHECKING:
    from abut.cells.environment import Environment


def deform(env: "Environment", vertices: object, moved: object) -> None:
    """`Environment.deform`."""
    rows, points = _read_moved(env, vertices, moved)
    if not len(rows):
        return
    around = env._around
    if around is None or not np.array_equal(rows, around.rows):
        around = env._around = Moved(env._fabric, env.cell_count, rows)
    largest = around.put(env._space, points)
    env._fabric.renew_centres(around.centres)
    env._given = None
    unsound = around.list_unsound(env._space)
    if len(unsound):
        _recut(env, around, unsound)
        parts = around.parts[around.parts < len(env._part_cell)]
        spoil_records(env._space, parts)
        env._versions.note_parts(parts, part_count=len(env._part_cell))
    else:
        around.spoil(env._space)
        env._versions.note_moved(around)
    _fit_reach(env, largest, len(rows))
    env._index, env._reentrant = None, Remembered()


def _read_moved(env: "Environment", vertices: object, moved: object) -> tuple[Integers, Floats]:
    """The rows of the vertices that move, and where to."""
    count = env._fabric.vertex_count
    if moved is None:
        return _find_moved(env, vertices, count)
    points = arrays.points(vertices, "vertices", dimensions=env.dimension)
    rows = read_numbers(moved, "moved", count)
    if len(points) != len(rows):
        raise InvalidInput("vertices", f"has {len(points)} rows, {len(rows)} are to move")
    return arrays.frozen(np.ascontiguousarray(rows)), points


def _find_moved(env: "Environment", vertices: object, count: int) -> tuple[Integers, Floats]:
    """The rows that differ from what is there. Where all are float64 rows already, only those are looked at for numbers that are not finite."""
    if _is_plain(vertices, (count, env.dimension)):
        points = arrays.frozen(vertices.view())
    else:
        points = arrays.points(vertices, "vertices", dimensions=env.dimension)
        if len(points) != count:
            raise InvalidInput("vertices", f"has {len(points)} rows, the environment has {count}")
    rows = np.empty(len(points), np.int64)
    rows = arrays.frozen(rows[: find_moved(points, env._space.vertices, rows)])
    try:
        return rows, arrays.points(arrays.frozen(points.take(rows, axis=0)), "vertices", dimensions=env.dimension)
    except InvalidInput as error:
        raise InvalidInput(error.name, error.reason, None if error.row is None else int(rows[error.row])) from None


def _is_plain(value: object, shape: tuple[int, int]) -> TypeGuard[Floats]:
    """Whether this is an array of this shape that kernels can read as it is."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != shape:
        return False
    return value.flags.c_contiguous and value.flags.aligned


def _recut(env: "Environment", around: Moved, unsound: Integers) -> None:
    """Make the parts of cells anew whose faces are flat no longer, or that are convex no longer; undo the move where they cannot be."""
    cells = np.unique(env._part_cell[unsound]).tolist()
    rings = env._open_rings()
    for cell in cells:
        rings.keep(cell)
    try:
        env._perform(rings, dented=set(cells))
    except InvalidInput as error:
        around.put_back(env._space)
        env._fabric.renew_centres(around.centres)
        if env.dimension == 3:
            raise
        words = f"cell {error.row} turns flat, inside out or non-convex"
        raise InvalidInput("vertices", words) from None


def _fit_reach(env: "Environment", largest: float, moved_count: int) -> None:
    """Let the records hold for vertices that moved further out, or be finer again where most of them moved in."""
    space = env._space
    if 2 * moved_count >= env._fabric.vertex_count:
        largest = float(np.abs(space.vertices).max(initial=0.0))
    elif largest <= space.reach:
        return
    wanted = REACH * largest
    if wanted > 2 * space.reach or wanted < space.reach / 2:
        env._fabric.reach = wanted
        env._refit()
