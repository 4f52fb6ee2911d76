"""An environment: a part of the plane or of space, cut into convex cells, some of which are obstacles. What particles move in.

Users see cells as they gave them; the map consists of convex parts with exactly planar faces (`subdivision`). Where every cell is whole,
the two are the same. The outside is an obstacle.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers
from abut.cells import integrity
from abut.cells.darts import Darts
from abut.cells.deformation import find_unsound, list_around
from abut.cells.location import Index, build_index
from abut.cells.signs import NOWHERE
from abut.cells.space import REACH, Space, fit_planes, link_cells
from abut.cells.subdivision import Centres, move_centres
from abut.errors import InvalidInput


class Tables(NamedTuple):
    """All that is derived from the cells and the vertices."""

    darts: Darts
    space: Space
    part_cell: Integers
    """(parts,) the cell of each part"""
    centres: Centres
    """of the cells that are cut; they are the last rows of the vertices"""


class Environment:
    """Convex cells and a map of darts over them. Made by the functions of `abut.cells`, not by hand."""

    def __init__(
        self, tables: Tables, vertices: Floats, obstacle: NDArray[np.bool_], remake: Callable[[Floats], Tables] | None
    ) -> None:
        self._take(tables)
        self._vertices = vertices
        self._obstacle = obstacle
        self._remake = remake  # None where cells are never cut
        self._stamps = np.zeros(len(tables.part_cell), np.int64)
        self._version = 0
        self._cut_version = 0

    def _take(self, tables: Tables) -> None:
        self._darts, self._space, self._part_cell, self._centres = tables
        self._index: Index | None = None
        self._parts_by_cell: tuple[Integers, Integers] | None = None

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self._darts.dimension

    @property
    def vertices(self) -> Floats:
        """(n, dimension) as given, without the centres of cells that are cut."""
        return self._vertices

    @property
    def darts(self) -> Darts:
        """The map of the parts. Do not write into it."""
        return self._darts

    @property
    def cell_count(self) -> int:
        """How many cells there are, as given."""
        return len(self._obstacle)

    @property
    def part_cell(self) -> Integers:
        """(parts,) the cell of each part; parts are the cells of the map."""
        return self._part_cell

    @property
    def obstacle(self) -> NDArray[np.bool_]:
        """(cells,) a copy of the marks."""
        return self._obstacle.copy()

    @property
    def byte_count(self) -> int:
        """Memory of the map and of its records."""
        tables = [*self._darts, *self._space]
        unique = {id(table): table.nbytes for table in tables if isinstance(table, np.ndarray)}
        return sum(unique.values())

    def set_obstacle(self, cells: object, obstacle: object) -> None:
        """Mark cells as obstacles (True) or free (False). Only these cells and their neighbours are touched.

        A particle inside a cell that becomes an obstacle stays where it is: every move out of the closed cell is then a collision or leads on.
        """
        chosen = arrays.indices(np.reshape(np.asarray(cells), (-1, 1)), "cells", 1, self.cell_count)[:, 0]
        marks = np.broadcast_to(as_mask(obstacle, "obstacle", None), chosen.shape)
        self._obstacle[chosen] = marks
        concerned = np.zeros(self.cell_count, np.bool_)
        concerned[chosen] = True
        parts = np.flatnonzero(concerned[self._part_cell])
        self._space.obstacle[parts] = self._obstacle[self._part_cell[parts]]
        faces = self._space.face[parts]
        beyond = self._space.cell[self._space.across[faces[faces >= 0]]]
        around = np.concatenate((parts, beyond[beyond >= 0].astype(np.int64)))
        link_cells(self._space, np.unique(around))

    def deform(self, vertices: object) -> None:
        """Move the vertices (n, dimension). Particles stay where they are; their next move begins with `Particles.settle`.

        Only cells around vertices that moved are looked at. One that lost its convexity or the planarity of a face is cut about its centre.
        One that turns flat or inside out, the sign of an environment that collides with itself, is refused with its number
        (`InvalidInput`), and the environment stays as it was.
        """
        points = arrays.points(vertices, "vertices", dimensions=self.dimension, keep=True)
        if points.shape != self._vertices.shape:
            raise InvalidInput("vertices", f"has {len(points)} rows, the environment has {len(self._vertices)}")
        moved = np.flatnonzero((points != self._vertices).any(axis=1))
        if not len(moved):
            return
        listed = np.zeros(len(self._part_cell), np.bool_)
        list_around(self._space, moved, listed)
        concerned = np.zeros(self.cell_count, np.bool_)
        concerned[self._part_cell[listed]] = True
        parts = np.flatnonzero(listed)
        centres = np.flatnonzero(concerned[self._centres.cell])
        if len(centres):
            parts = np.flatnonzero(concerned[self._part_cell])
        space = self._space
        rows = np.concatenate((moved, len(points) + centres))
        before = space.vertices[rows]
        space.vertices[moved, : self.dimension] = points[moved]
        move_centres(space.vertices, len(points), self._centres, centres)
        unsound = find_unsound(space, parts)
        if unsound != NOWHERE:
            space.vertices[rows] = before
            if self._remake is None:
                cell = int(self._part_cell[unsound])
                raise InvalidInput("vertices", f"cell {cell} turns flat, inside out or non-convex")
            self._rebuild(points)
            return
        if np.abs(points[moved]).max() > space.reach:
            self._space = space._replace(reach=REACH * float(np.abs(points[moved]).max()))
            fit_planes(self._space, np.arange(len(self._part_cell)))
        fit_planes(self._space, parts)
        self._version += 1
        self._stamps[parts] = self._version
        self._vertices, self._index = points, None

    def _rebuild(self, points: Floats) -> None:
        """Make all tables anew, cutting what must be cut; particles are then all settled again."""
        assert self._remake is not None
        self._take(self._remake(points))
        self._version += 1
        self._cut_version = self._version
        self._stamps = np.full(len(self._part_cell), self._version, np.int64)
        self._space.obstacle[:] = self._obstacle[self._part_cell]
        link_cells(self._space, np.arange(len(self._part_cell)))
        self._vertices = points

    def _list_parts(self) -> tuple[Integers, Integers]:
        """Where the parts of each cell begin in the second array."""
        if self._parts_by_cell is None:
            order = np.argsort(self._part_cell, kind="stable")
            start = np.searchsorted(self._part_cell[order], np.arange(self.cell_count + 1))
            self._parts_by_cell = (start, order)
        return self._parts_by_cell

    def check_integrity(self) -> list[str]:
        """What is wrong with the map; empty when it is sound."""
        return integrity.check_integrity(self._darts)

    def _located(self) -> Index:
        if self._index is None:
            self._index = build_index(self._space)
        return self._index


def as_mask(value: object, name: str, count: int | None) -> NDArray[np.bool_]:
    """(count,) booleans from booleans or from the integers 0 and 1; one value for all where count is None."""
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        if mask.dtype.kind not in "iu" or not np.isin(mask, (0, 1)).all():
            raise InvalidInput(name, f"holds other values than False and True (dtype {mask.dtype})")
        mask = mask.astype(np.bool_)
    if count is not None and mask.shape != (count,):
        raise InvalidInput(name, f"has shape {mask.shape}, expected ({count},)")
    return mask
