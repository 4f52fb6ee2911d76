"""An environment: a part of the plane or of space, cut into convex cells, some of which are obstacles. What particles move in.

Users see cells as they gave them; the map consists of convex parts with exactly planar faces (`subdivision`). Where every cell is whole,
the two are the same. The outside is an obstacle. Surgery changes the cells concerned and their neighbours only (`grafts`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_array, read_flag, read_numbers
from abut.cells.edit.deform import deform
from abut.cells.edit.interior import Interior
from abut.cells.edit.plane_cut import cut_by_plane, finish_cut, read_plane
from abut.cells.edit.slits import faces_between, open_faces
from abut.cells.edit.surgery import common_faces, cut_cell, merge_cells, sew_cells
from abut.cells.edit.surgery_commit import perform
from abut.cells.edit.surroundings import enclose_plane, enclose_space
from abut.cells.map import integrity
from abut.cells.map.darts import Darts
from abut.cells.space.misfits import describe_strangers
from abut.cells.space.records import REACH, link_cells
from abut.cells.walk.reentrant_edges import Remembered
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported


class Environment:
    """Convex cells and a map of darts over them. Made by the functions of `abut.cells`, not by hand."""

    def __init__(self, interior: Interior) -> None:
        self.interior = interior
        """The tables and notes, for the other parts of `abut.cells`."""

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.interior.darts.dimension

    @property
    def vertices(self) -> Floats:
        """(n, dimension) as given, then those that cuts have added; without the centres of cells that are cut."""
        return self.interior.vertices

    @property
    def darts(self) -> Darts:
        """The map of the parts. Do not write into it."""
        return self.interior.darts

    @property
    def cell_count(self) -> int:
        """How many cells there are, as given and after cuts; cells that were merged into others count."""
        return self.interior.marks.count

    @property
    def part_cell(self) -> Integers:
        """(parts,) the cell of each part, −1 for numbers not in use; parts are the cells of the map. Surgery writes into it."""
        return self.interior.part_cell

    @property
    def obstacle(self) -> NDArray[np.bool_]:
        """(cells,) a copy of the marks."""
        return self.interior.obstacle.copy()

    @property
    def byte_count(self) -> int:
        """Memory of the map and of its records."""
        tables = [*self.interior.darts, *self.interior.space]
        unique = {id(table): table.nbytes for table in tables if isinstance(table, np.ndarray)}
        return sum(unique.values())

    def set_obstacle(self, cells: object, obstacle: object) -> None:
        """Mark cells as obstacles (True) or free (False). Only these cells and their neighbours are touched.

        A particle inside a cell that becomes an obstacle stays where it is until the cell is free again: all its moves are collisions at time 0.
        One on the border, where a free cell touches it, goes on there. So do the vertices of mobiles.
        """
        chosen = read_numbers(cells, "cells", self.cell_count)
        marks = as_mask(obstacle, "obstacle", None)
        if marks.shape not in ((), (1,), chosen.shape):
            raise InvalidInput("obstacle", f"has shape {marks.shape}, expected one mark or ({len(chosen)},)")
        before = self.interior.obstacle.copy()
        self.interior.obstacle[chosen] = marks
        changed = np.flatnonzero(self.interior.obstacle != before)
        if not len(changed):
            return
        _, parts = self.interior.list_parts().gather(changed)
        self.interior.space.obstacle[parts] = self.interior.obstacle[self.interior.part_cell[parts]]
        faces = self.interior.space.face[parts]
        beyond = self.interior.space.cell[self.interior.space.across[faces[faces >= 0]]]
        around = np.concatenate((parts, beyond[beyond >= 0])).astype(np.int64)
        link_cells(self.interior.space, np.unique(around))
        self.interior.reentrant = Remembered()
        self.interior.versions.note_parts(parts.astype(np.int64), part_count=len(self.interior.part_cell))

    def deform(self, vertices: object, moved: object = None) -> None:
        """Move the vertices (n, dimension), or those rows of them that `moved` names (k,). Particles stay where they are; their next move begins
        with `Particles.settle`.

        Only cells around vertices that moved are looked at, and only the records that particles meet are renewed. A cell that lost its
        convexity or the planarity of a face is cut about its centre. One that turns flat or inside out, the sign of an environment that
        collides with itself, is refused with its number (`InvalidInput`), and the environment stays as it was.
        """
        deform(self.interior, vertices, moved)

    def faces_of(self, cell: int) -> list[list[int]]:
        """The faces of a cell as loops of vertices, anticlockwise seen from inside; in the plane its outline. A cell merged into another has none."""
        return [list(ring) for ring in self.interior.rings_of(self._read_cell(cell, "cell"))]

    def merge(self, a: int, b: int) -> None:
        """Take away the faces between two cells, which become one, cell a; cell b has nothing left, and keeps its number.

        The result must be convex (but for rounding), and both free or both obstacles. Particles in either go on in the one.
        """
        a, b = self._read_cell(a, "a"), self._read_cell(b, "b")
        if self.interior.obstacle[a] != self.interior.obstacle[b]:
            raise InvalidInput("cells", f"one of {a} and {b} is an obstacle, the other is free")
        rings = self.interior.open_rings()
        merge_cells(rings, a, b)
        perform(self.interior, rings, heirs=[(b, a)], dented={a} if b in self.interior.dented else set())

    def cut(
        self,
        cell: int | None = None,
        corners: object = None,
        *,
        plane: tuple[object, object] | None = None,
        cells: object = None,
        slit: bool = False,
    ) -> Any:
        """Divide a cell along some of its corners, or cells by a plane. With `slit`, the way between the halves is closed.

        `cut(cell, corners)` divides a cell by a new face through some of its corners, given in order, and returns the number of the new cell. Two
        corners that follow one another share an edge of the cell or one of its faces, which is then cut in two on both sides. Seen from the
        cell that keeps its number, the loop runs anticlockwise. In the plane, `corners` are two, and the cell to the left of the line
        from the first to the second keeps its number.

        `cut(plane=(point, normal))` divides all cells that the plane (in the plane: the line) passes through, `cells=[…]` those alone. It
        returns (k,2): the number of each cut cell, kept by the half behind the plane, and that of the half the normal points to. New
        vertices are added to `vertices`. A cell with bulging faces of which a half would not be star-shaped falls into its parts first,
        which become cells. Cells of which the plane meets only a face, an edge or a corner are not cut; where no cell is
        cut, or one of `cells` is not, `InvalidInput` says so.

        With `slit=True` the two sides get vertices of their own along the cut, which is then a wall without thickness; `sew` closes it.
        """
        if (plane is None) == (corners is None):
            raise InvalidInput("plane", "give either a cell and its corners, or a plane")
        slit = read_flag(slit, "slit")
        if plane is not None:
            if cell is not None:
                raise InvalidInput("cell", "is given beside a plane; `cells` chooses those that it cuts")
            return cut_by_plane(self.interior, *read_plane(self.interior, plane, cells), slit)
        if cells is not None:
            raise InvalidInput("cells", "is given without a plane")
        pair = (self._read_cell(cell, "cell"), self.cell_count)
        loop = read_numbers(corners, "corners", self.interior.fabric.vertex_count)
        if (len(loop) != 2 and self.dimension == 2) or (len(loop) < 3 and self.dimension == 3) or _repeats(loop):
            count = "two" if self.dimension == 2 else "three or more"
            raise InvalidInput("corners", f"must be {count} different vertices")
        rings = self.interior.open_rings()
        cut_cell(rings, pair[0], loop.tolist(), pair[1])
        finish_cut(self.interior, rings, np.empty((0, self.dimension)), [pair], [pair], slit)
        return pair[1]

    def sew(self, a: object, b: object) -> None:
        """Join cells a and b (numbers, or arrays of as many) along their border faces that have the same corners in space, so that the way is open.

        The corners of b give way to those of a, wherever they are used; their rows of the vertices are no longer used.
        """
        rings = self.interior.open_rings()
        for row, (one, other) in enumerate(zip(*self._read_pairs(a, b), strict=True)):
            # Pairs before this one may have joined it on the way.
            if not sew_cells(rings, self.vertices, one, other) and not (row and common_faces(rings, one, other)):
                kind = "faces" if self.dimension == 3 else "edges"
                raise InvalidInput("cells", f"{one} and {other} have no border {kind} in the same place")
        perform(self.interior, rings)

    def unsew(self, a: object, b: object) -> None:
        """Close the way between cells a and b (numbers, or arrays of as many) along the faces they share: a wall without thickness.

        Both sides get vertices of their own, but for the rim of the slit, where they stay joined. A slit needs a corner inside or at the
        border; a single face in the middle of the environment cannot be opened.
        """
        rings = self.interior.open_rings()
        between = faces_between(rings, *self._read_pairs(a, b))
        perform(
            self.interior,
            rings,
            self.vertices[open_faces(rings, self.vertices, between, self.interior.fabric.vertex_count)],
        )

    def _read_pairs(self, a: object, b: object) -> tuple[list[int], list[int]]:
        first, second = (read_numbers(value, name, self.cell_count).tolist() for value, name in ((a, "a"), (b, "b")))
        if len(first) != len(second) or not first:
            raise InvalidInput("b", f"has {len(second)} cells for {len(first)}")
        return first, second

    def surround(self, factor: float = 2.0) -> Integers:
        """Put free cells around the environment, out to `factor` times its size, so that particles can leave it and come back; their numbers.

        In the plane these are triangles up to a box, around any border. In space they are frustums on the faces of the border, which must be in
        one piece and star-shaped about its middle; `Unsupported` else (`abut.cells.from_surface` with `outside=True` fills a box around any
        closed surface). Hollows inside stay as they are. Once more `surround` puts further cells around these.
        """
        scale = arrays.scalar(factor, "factor", least=1.0 + 2.0**-10, most=2.0**20)
        rings, first = self.interior.open_rings(), self.cell_count
        enclose = enclose_space if self.dimension == 3 else enclose_plane
        added = enclose(rings, self.interior.darts, self.interior.part_cell, self.vertices, scale, first)
        self.interior.fabric.reach = max(self.interior.fabric.reach, REACH * float(np.abs(added).max()))
        self.interior.refit()
        try:
            perform(self.interior, rings, added)
        except InvalidInput as error:
            words = f"surrounding an environment whose border is not star-shaped about its middle ({error})"
            raise Unsupported(words) from None
        return np.arange(first, self.cell_count)

    def _read_cell(self, value: object, name: str) -> int:
        return arrays.count(value, name, most=self.cell_count - 1)

    def check_integrity(self) -> list[str]:
        """What is wrong with the map; empty when it is sound."""
        return integrity.check_integrity(self.interior.darts)

    def find_strangers(self) -> list[str]:
        """Vertices that lie in cells of which they are no corners, a line each; empty for cells that fit.

        One inside a cell says that cells overlap. One on the border of a cell (a hanging node) says that cells touch there without being joined:
        particles meet a wall. Not found: cells that overlap while no vertex of either lies in the other.
        """
        return describe_strangers(
            self.interior.space, self.interior.located(), self.interior.fabric.vertex_count, self.interior.part_cell
        )


def _repeats(numbers: Integers) -> bool:
    return len(np.unique(numbers)) != len(numbers)


def as_mask(value: object, name: str, count: int | None) -> NDArray[np.bool_]:
    """(count,) booleans from booleans or from the integers 0 and 1; one value for all where count is None."""
    mask = read_array(value, name)
    if mask.dtype != np.bool_:
        if mask.dtype.kind not in "iu" or not np.isin(mask, (0, 1)).all():
            raise InvalidInput(name, f"holds other values than False and True (dtype {mask.dtype})")
        mask = mask.astype(np.bool_)
    if count is not None and mask.shape != (count,):
        raise InvalidInput(name, f"has shape {mask.shape}, expected ({count},)")
    return mask
