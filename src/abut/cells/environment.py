"""An environment: a part of the plane or of space, cut into convex cells, some of which are obstacles. What particles move in.

Users see cells as they gave them; the map consists of convex parts with exactly planar faces (`subdivision`). Where every cell is whole,
the two are the same. The outside is an obstacle.
"""

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers
from abut.cells import integrity
from abut.cells.darts import Darts
from abut.cells.location import Index, build_index
from abut.cells.space import Space, link_cells
from abut.errors import InvalidInput


class Environment:
    """Convex cells and a map of darts over them. Made by the functions of `abut.cells`, not by hand."""

    def __init__(
        self, darts: Darts, space: Space, vertices: Floats, part_cell: Integers, obstacle: NDArray[np.bool_]
    ) -> None:
        self._darts = darts
        self._space = space
        self._vertices = vertices
        self._part_cell = part_cell
        self._obstacle = obstacle
        self._index: Index | None = None

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
