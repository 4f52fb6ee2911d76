"""Cells of an environment cut by a plane: which ones, in what order, and what is done where halves are too thin (`slicing` cuts each)."""

from typing import TYPE_CHECKING

import numpy as np

from abut.cells.arguments import read_items, read_numbers
from abut.cells.edit.grafts import Ring
from abut.cells.edit.slicing import Bulging, Plane, slice_cells
from abut.cells.edit.slits import faces_between, open_faces
from abut.cells.edit.surgery import Rings, split_cell
from abut.cells.space.convexity import NotStarShaped
from abut.cells.space.tables import follow_rings
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput

if TYPE_CHECKING:
    from abut.cells.environment import Environment


def read_plane(env: "Environment", plane: object, cells: object) -> tuple[Floats, Floats, Integers]:
    """A point, a normal and the cells to cut."""
    given = read_items(plane, "plane")
    if len(given) != 2:
        raise InvalidInput("plane", f"has {len(given)} items, expected a point and a normal")
    point = arrays.coordinates(given[0], "plane", (env.dimension,))
    normal = arrays.coordinates(given[1], "plane", (env.dimension,))
    if not np.linalg.norm(normal) > 0.0:
        raise InvalidInput("plane", "has no normal")
    knife = Plane(env.vertices, point, normal)
    if cells is None:
        chosen = _find_passed(env, knife.sides())
        if not len(chosen):
            raise InvalidInput("plane", "passes through no cell")
        return point, normal, chosen
    numbers = read_numbers(cells, "cells", env.cell_count)
    if not len(numbers):
        raise InvalidInput("cells", "names no cell")
    for row, cell in enumerate(numbers.tolist()):
        rings = env._rings_of(cell)
        if not rings or not knife.passes(rings):
            raise InvalidInput("cells", f"the plane does not pass through the inside of cell {cell}", row)
    return point, normal, np.unique(numbers)


def cut_by_plane(env: "Environment", point: Floats, normal: Floats, chosen: Integers, slit: bool) -> Integers:
    """Cut cells by a plane; those whose halves are too thin for their bulging faces are split first."""
    split: list[int] = []
    while True:
        rings, heirs = env._open_rings(), []
        vertices, count = [env.vertices], env.cell_count
        cells = set(chosen.tolist())
        for cell in split:
            centre, pieces = _split(env, rings, cell, env._fabric.vertex_count + len(vertices) - 1, count)
            vertices.append(centre)
            heirs += [(cell, piece) for piece in pieces[1:]]
            count += len(pieces) - 1
            cells |= set(pieces) if cell in cells else set()
        knife = Plane(np.concatenate(vertices), point, normal)
        passed = sorted(cell for cell in cells if knife.passes(rings[cell]))
        pairs: list[tuple[int, int]] = []
        try:
            pairs = slice_cells(rings, knife, passed, count)
            added = np.concatenate((*vertices[1:], np.array(knife.added).reshape(-1, env.dimension)))
            finish_cut(env, rings, added, pairs, heirs + pairs, slit)
        except (NotStarShaped, Bulging) as error:
            origin = {heir: cell for cell, heir in heirs + pairs[::-1]}
            failed = {origin.get(cell, cell) for cell in error.cells}
            more = [cell for cell in sorted(failed) if env._fabric.centre_of(cell) is not None]
            if not more or failed & set(split) or env.dimension == 2:
                raise
            split += more
        else:
            return arrays.frozen(np.array(pairs, np.int64))


def _split(env: "Environment", rings: Rings, cell: int, centre: int, first_cell: int) -> tuple[Floats, list[int]]:
    """Let the parts of a cell that is cut become cells: where its centre lies, which becomes a vertex, and their numbers."""
    row = int(env._fabric.centre_rows["vertex"][env._fabric.centre_of(cell)])
    parts: list[list[Ring]] = []
    for part in env._list_parts()[cell].tolist():
        darts, sizes = follow_rings(env._darts.phi1, env._fabric.faces_of(np.array([part])))
        corners = env._darts.vertex[darts]
        named = np.where(corners == row, centre, corners)
        parts.append([ring.tolist() for ring in np.split(named, np.cumsum(sizes)[:-1])])
    return env._space.vertices[row : row + 1], split_cell(rings, cell, parts, centre, first_cell)


def finish_cut(
    env: "Environment",
    rings: Rings,
    added: Floats,
    pairs: list[tuple[int, int]],
    heirs: list[tuple[int, int]],
    slit: bool,
) -> None:
    """Make a cut that `rings` holds, opened as a slit where that is wished for."""
    if slit:
        between = faces_between(rings, [cell for cell, _ in pairs], [cell for _, cell in pairs])
        vertices = np.concatenate((env.vertices, added))
        doubled = open_faces(rings, vertices, between, len(vertices))
        added = np.concatenate((added, vertices[doubled]))
    env._perform(rings, added, heirs, {heir for cell, heir in heirs if cell in env._dented})


def _find_passed(env: "Environment", heights: Floats) -> Integers:
    """The cells that have corners on both sides, by the heights of all vertices."""
    inner = (env._darts.cell >= 0) & (env._darts.vertex < len(heights))
    part, height = env._darts.cell[inner], heights[env._darts.vertex[inner]]
    behind, before = np.zeros(env.cell_count, np.bool_), np.zeros(env.cell_count, np.bool_)
    behind[env._part_cell[part[height < 0]]] = True
    before[env._part_cell[part[height > 0]]] = True
    return np.flatnonzero(behind & before)
