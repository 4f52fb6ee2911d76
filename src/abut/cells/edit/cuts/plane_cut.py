"""Cells of an environment cut by a plane: which ones, in what order, and what is done where halves are too thin (`slicing` cuts each)."""

import numpy as np

from abut.cells.arguments import read_items, read_numbers
from abut.cells.edit.cuts.bulging_faces import open_bulging
from abut.cells.edit.cuts.slicing import Bulging, Plane, slice_cells
from abut.cells.edit.cuts.slits import faces_between, open_faces
from abut.cells.edit.grafts import Ring
from abut.cells.edit.interior import Interior
from abut.cells.edit.surgery import Rings, split_cell
from abut.cells.edit.surgery_commit import perform
from abut.cells.space.convexity import NotStarShaped
from abut.cells.space.tables import follow_rings
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import IndicesLike, VectorLike


def read_plane(
    inside: Interior, plane: tuple[VectorLike, VectorLike], cells: IndicesLike | None
) -> tuple[Floats, Floats, Integers]:
    """A point, a normal and the cells to cut."""
    given = read_items(plane, "plane")
    if len(given) != 2:
        raise InvalidInput("plane", f"has {len(given)} items, expected a point and a normal")
    point = arrays.coordinates(given[0], "plane", (inside.dimension,))
    normal = arrays.coordinates(given[1], "plane", (inside.dimension,))
    if not np.linalg.norm(normal) > 0.0:
        raise InvalidInput("plane", "has no normal")
    knife = Plane(inside.vertex_rows(), inside.largest, point, normal)
    if cells is None:
        chosen = _find_passed(inside, knife.sides(inside.vertices))
        if not len(chosen):
            raise InvalidInput("plane", "passes through no cell")
        return point, normal, chosen
    numbers = read_numbers(cells, "cells", inside.cell_count)
    if not len(numbers):
        raise InvalidInput("cells", "names no cell")
    for row, cell in enumerate(numbers.tolist()):
        rings = inside.rings_of(cell)
        if not rings or not knife.passes(rings):
            raise InvalidInput("cells", f"the plane does not pass through the inside of cell {cell}", row)
    return point, normal, np.unique(numbers)


def cut_by_plane(inside: Interior, point: Floats, normal: Floats, chosen: Integers, slit: bool) -> Integers:
    """Cut cells by a plane; those whose halves are too thin for their bulging faces are split first."""
    split: list[int] = []
    while True:
        rings, heirs = inside.open_rings(), []
        centers, count = [np.empty((0, inside.dimension))], inside.cell_count
        cells = set(chosen.tolist())
        for cell in split:
            center, pieces = _split(inside, rings, cell, inside.fabric.vertex_count + len(centers) - 1, count)
            centers.append(center)
            heirs += [(cell, piece) for piece in pieces[1:]]
            count += len(pieces) - 1
            cells |= set(pieces) if cell in cells else set()
        split_at = np.concatenate(centers)
        knife = Plane(inside.vertex_rows(split_at), inside.largest, point, normal)
        passed = sorted(cell for cell in cells if knife.passes(rings[cell]))
        bent = open_bulging(inside, rings, knife, passed) if inside.dimension == 3 else set[int]()
        pairs: list[tuple[int, int]] = []
        try:
            pairs = slice_cells(rings, knife, passed, count)
            added = np.concatenate((split_at, np.array(knife.added).reshape(-1, inside.dimension)))
            finish_cut(inside, rings, added, pairs, heirs + pairs, slit, bent)
        except (NotStarShaped, Bulging) as error:
            origin = {heir: cell for cell, heir in heirs + pairs[::-1]}
            failed = {origin.get(cell, cell) for cell in error.cells}
            more = [cell for cell in sorted(failed) if inside.fabric.center_of(cell) is not None]
            if not more or failed & set(split) or inside.dimension == 2:
                raise
            split += more
        else:
            return arrays.frozen(np.array(pairs, np.int64))


def _split(inside: Interior, rings: Rings, cell: int, center: int, first_cell: int) -> tuple[Floats, list[int]]:
    """Let the parts of a cell that is cut become cells: where its center lies, which becomes a vertex, and their numbers."""
    row = int(inside.fabric.center_rows["vertex"][inside.fabric.center_of(cell)])
    parts: list[list[Ring]] = []
    for part in inside.list_parts()[cell].tolist():
        darts, sizes = follow_rings(inside.darts.phi1, inside.fabric.faces_of(np.array([part])))
        corners = inside.darts.vertex[darts]
        named = np.where(corners == row, center, corners)
        parts.append([ring.tolist() for ring in np.split(named, np.cumsum(sizes)[:-1])])
    return inside.space.vertices[row : row + 1, : inside.dimension], split_cell(rings, cell, parts, center, first_cell)


def finish_cut(
    inside: Interior,
    rings: Rings,
    added: Floats,
    pairs: list[tuple[int, int]],
    heirs: list[tuple[int, int]],
    slit: bool,
    bent: set[int] | None = None,
) -> None:
    """Make a cut that `rings` holds, opened as a slit where that is wished for. The cells of `bent` need not be convex."""
    if slit:
        between = faces_between(rings, [cell for cell, _ in pairs], [cell for _, cell in pairs])
        vertices = inside.vertex_rows(added)
        doubled = open_faces(rings, vertices, between, len(vertices))
        added = np.concatenate((added, vertices.take(doubled)))
    dented = inside.dented | (bent or set())
    perform(inside, rings, added, heirs, dented | {heir for cell, heir in heirs if cell in dented})


def _find_passed(inside: Interior, heights: Floats) -> Integers:
    """The cells that have corners on both sides, by the heights of all vertices."""
    inner = (inside.darts.cell >= 0) & (inside.darts.vertex < len(heights))
    part, height = inside.darts.cell[inner], heights[inside.darts.vertex[inner]]
    behind, before = np.zeros(inside.cell_count, np.bool_), np.zeros(inside.cell_count, np.bool_)
    behind[inside.part_cell[part[height < 0]]] = True
    before[inside.part_cell[part[height > 0]]] = True
    return np.flatnonzero(behind & before)
