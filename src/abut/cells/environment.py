"""An environment: a part of the plane or of space, cut into convex cells, some of which are obstacles. What particles move in.

Users see cells as they gave them; the map consists of convex parts with exactly planar faces (`subdivision`). Where every cell is whole,
the two are the same. The outside is an obstacle. Surgery changes the cells concerned and their neighbours only (`grafts`).
"""

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_mask, read_numbers
from abut.cells.edit.cuts.corner_cut import cut_along
from abut.cells.edit.cuts.plane_cut import cut_by_plane, read_plane
from abut.cells.edit.cuts.seams import sew_pairs, unsew_pairs
from abut.cells.edit.deformation import deform, deform_until_touched
from abut.cells.edit.interior import Interior
from abut.cells.edit.obstacles import mark_obstacles
from abut.cells.edit.surgery import merge_cells
from abut.cells.edit.surgery_commit import perform
from abut.cells.edit.surroundings import surround
from abut.cells.map import integrity
from abut.cells.map.darts import Darts
from abut.cells.picture import draw_plane, tabulate
from abut.cells.scenery import Form, list_environment, make_scene
from abut.cells.space.misfits import describe_strangers
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.showing import count, describe
from abut.core.types import FlagsLike, IndicesLike, Number, PointsLike, VectorLike
from abut.viewer import Scene


class Environment:
    """A part of the plane or of space, cut into convex cells, some of which are obstacles: what particles and mobiles move in.

    Made by `polygons`, `tetrahedra`, `hexahedra`, `mixed`, `polyhedra`, `channel` and `from_surface`, not by hand. The outside is an obstacle.

    Args:
        interior: the tables that those functions have made.

    Examples:
        >>> import abut
        >>> env = abut.cells.channel(4, 1, 1)
        >>> env.cut(plane=([1.5, 0.5, 0.5], [1, 0, 0])).tolist()
        [[1, 4]]
        >>> env.set_obstacle([4], True)
        >>> env
        Environment(5 cells, 1 obstacle)
    """

    def __init__(self, interior: Interior) -> None:
        self.interior = interior
        """The tables and notes, for the other parts of `abut.cells`."""
        self._drawn: tuple[int, list[Form]] | None = None

    def __repr__(self) -> str:
        facts = [count(self.cell_count, "cell"), count(int(self.interior.obstacle.sum()), "obstacle")]
        return describe(self, *facts, *(["in the plane"] if self.dimension == 2 else []))

    def _repr_svg_(self) -> str | None:
        """In the plane, the cells."""
        return draw_plane(self.interior)

    def _repr_html_(self) -> str | None:
        """In space, and where there are too many cells for a picture, how many there are of each thing."""
        return None if draw_plane(self.interior) is not None else tabulate(self.interior, repr(self))

    def _forms(self) -> list[Form]:
        """Walls and cells, for pages; the same list until something changes."""
        version = self.interior.version
        if self._drawn is None or self._drawn[0] != version:
            self._drawn = version, list_environment(self.interior)
        return self._drawn[1]

    def _scene(self) -> Scene:
        return make_scene([self._forms()], np.zeros(1), repr(self))

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.interior.darts.dimension

    @property
    def vertices(self) -> Floats:
        """(n, dimension) as given, then those that cuts have added; without the centers of cells that are cut."""
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
    def region_names(self) -> tuple[str, ...]:
        """What the regions are called that the cells were made in (`abut.cells.load`, `abut.cells.from_surface`); empty for cells made by hand."""
        return self.interior.region_names

    @property
    def region(self) -> Integers:
        """(cells,) a copy: the row of `region_names` that each cell belongs to, −1 for none. Halves of a cell belong where it did; of two cells that
        are merged the first tells."""
        return self.interior.region.copy()

    def cells_in(self, region: str) -> Integers:
        """The cells of a region, those that are merged into others left out.

        Args:
            region: its name, one of `region_names`.

        Returns:
            (k,) their numbers.

        Raises:
            InvalidInput: there is no such region.

        Examples:
            >>> import abut
            >>> ball = abut.cells.channel(2, 1, 1)
            >>> ball.region_names
            ()
        """
        arrays.choice(region, "region", self.region_names)
        wanted = self.region_names.index(region)
        own = np.flatnonzero(self.interior.region == wanted)
        return arrays.frozen(np.array([c for c in own.tolist() if self.interior.rings.get(c) != []], np.int64))

    @property
    def byte_count(self) -> int:
        """Memory of the map and of its records."""
        return self.interior.byte_count

    def set_obstacle(self, cells: IndicesLike, obstacle: FlagsLike) -> None:
        """Mark cells as obstacles (True) or free (False). Only these cells and their neighbours are touched.

        A particle inside a cell that becomes an obstacle stays where it is until the cell is free again: all its moves are collisions at time 0.
        One on the border, where a free cell touches it, goes on there. So do the vertices of mobiles.

        Args:
            cells: (k,) their numbers, or one.
            obstacle: (k,) their new marks, or one for all.
        """
        chosen = read_numbers(cells, "cells", self.cell_count)
        marks = read_mask(obstacle, "obstacle", None)
        if marks.shape not in ((), (1,), chosen.shape):
            raise InvalidInput("obstacle", f"has shape {marks.shape}, expected one mark or ({len(chosen)},)")
        mark_obstacles(self.interior, chosen, marks)

    @overload
    def deform(
        self, vertices: PointsLike, moved: IndicesLike | None = None, *, stop: Literal[False] = False
    ) -> None: ...

    @overload
    def deform(self, vertices: PointsLike, moved: IndicesLike | None = None, *, stop: Literal[True]) -> float: ...

    def deform(self, vertices: PointsLike, moved: IndicesLike | None = None, *, stop: bool = False) -> float | None:
        """Move the vertices, each straight to its new place. Particles stay where they are unless a wall reaches them (`Particles.settle`).

        Only cells around vertices that moved are looked at, and only the records that particles meet are renewed. A cell that lost its
        convexity or the planarity of a face is cut about its center.

        Args:
            vertices: (n, dimension) where all of them are now, or (k, dimension) those that `moved` names.
            moved: (k,) the rows of the vertices that move; by default all are compared with what was there.
            stop: whether to go only as far as no particle, and no vertex, edge or face of a mobile, is pushed by a wall. Points are followed all
                along the step, and the share is never late; edges and faces are looked at in the places that are tried.

        Returns:
            With `stop`, the share of the step that was gone, from 0 to 1; else nothing.

        Raises:
            InvalidInput: a cell turns flat or inside out, the sign of an environment that collides with itself; by its number. The environment
                stays as it was.
        """
        if arrays.flag(stop, "stop"):
            return deform_until_touched(self.interior, vertices, moved)
        return deform(self.interior, vertices, moved)

    def faces_of(self, cell: Number) -> list[list[int]]:
        """The faces of a cell as loops of vertices, anticlockwise seen from inside; in the plane its outline. A cell merged into another has none.

        Args:
            cell: its number.
        """
        return [list(ring) for ring in self.interior.rings_of(self._read_cell(cell, "cell"))]

    def merge(self, a: Number, b: Number) -> None:
        """Take away the faces between two cells, which become one, cell a; cell b has nothing left, and keeps its number.

        The result must be convex (but for rounding), and both free or both obstacles. Particles in either go on in the one.

        Args:
            a, b: the numbers of the cells.
        """
        a, b = self._read_cell(a, "a"), self._read_cell(b, "b")
        if self.interior.obstacle[a] != self.interior.obstacle[b]:
            raise InvalidInput("cells", f"one of {a} and {b} is an obstacle, the other is free")
        rings = self.interior.open_rings()
        merge_cells(rings, a, b)
        perform(self.interior, rings, heirs=[(b, a)], dented={a} if b in self.interior.dented else set())

    @overload
    def cut(self, cell: Number, corners: IndicesLike, *, slit: bool = False) -> int: ...

    @overload
    def cut(
        self, *, plane: tuple[VectorLike, VectorLike], cells: IndicesLike | None = None, slit: bool = False
    ) -> Integers: ...

    def cut(
        self,
        cell: Number | None = None,
        corners: IndicesLike | None = None,
        *,
        plane: tuple[VectorLike, VectorLike] | None = None,
        cells: IndicesLike | None = None,
        slit: bool = False,
    ) -> int | Integers:
        """Divide a cell along some of its corners, or cells by a plane. With `slit`, the path between the halves is closed.

        `cut(cell, corners)` divides a cell by a new face through some of its corners. Two corners that follow one another share an edge of the cell
        or one of its faces, which is then cut in two on both sides; one that bulges only along its bends, so that it stays where it is.
        Seen from the cell that keeps its number, the loop runs anticlockwise.
        In the plane, `corners` are two, and the cell to the left of the line from the first to the second keeps its number.

        `cut(plane=(point, normal))` divides all cells that the plane (in the plane: the line) passes through. The half behind the plane keeps the
        number. New vertices are added to `vertices`. A cell with bulging faces of which a half would not be star-shaped falls into its
        parts first, which become cells. Cells of which the plane meets only a face, an edge or a corner are not cut.

        With `slit=True` the two sides get vertices of their own along the cut, which is then a wall without thickness; `sew` closes it.

        Args:
            cell: the number of the cell to divide along corners.
            corners: (k,) vertices of the new face, in order.
            plane: a point and a normal, (dimension,) each.
            cells: (k,) the cells that the plane may cut; by default all.
            slit: whether the cut becomes a wall.

        Returns:
            Along corners, the number of the new cell. By a plane, (k,2) for each cell that was cut its number, and that of the half the normal
            points to.

        Raises:
            InvalidInput: no cell is cut, or one of `cells` is not; or the halves would not be cells.
        """
        if (plane is None) == (corners is None):
            raise InvalidInput("plane", "give either a cell and its corners, or a plane")
        slit = arrays.flag(slit, "slit")
        if plane is not None:
            if cell is not None:
                raise InvalidInput("cell", "is given beside a plane; `cells` chooses those that it cuts")
            return cut_by_plane(self.interior, *read_plane(self.interior, plane, cells), slit)
        if cells is not None:
            raise InvalidInput("cells", "is given without a plane")
        return cut_along(self.interior, self._read_cell(cell, "cell"), () if corners is None else corners, slit)

    def sew(self, a: IndicesLike, b: IndicesLike) -> None:
        """Join cells a and b along their border faces that have the same corners in space, so that the path between them is open.

        The corners of b give way to those of a, wherever they are used; their rows of the vertices are no longer used.

        Args:
            a, b: the numbers of two cells, or (k,) of as many pairs.
        """
        sew_pairs(self.interior, *self._read_pairs(a, b))

    def unsew(self, a: IndicesLike, b: IndicesLike) -> None:
        """Close the path between cells a and b along the faces they share: a wall without thickness.

        Both sides get vertices of their own, but for the rim of the slit, where they stay joined. A slit needs a corner inside or at the
        border; a single face in the middle of the environment cannot be opened.

        Args:
            a, b: the numbers of two cells, or (k,) of as many pairs.
        """
        unsew_pairs(self.interior, *self._read_pairs(a, b))

    def _read_pairs(self, a: IndicesLike, b: IndicesLike) -> tuple[list[int], list[int]]:
        first, second = (read_numbers(value, name, self.cell_count).tolist() for value, name in ((a, "a"), (b, "b")))
        if len(first) != len(second) or not first:
            raise InvalidInput("b", f"has {len(second)} cells for {len(first)}")
        return first, second

    def surround(self, factor: Number = 2.0) -> Integers:
        """Put free cells around the environment, so that particles can leave it and come back.

        In the plane these are triangles up to a box, around any border. In space they are frustums on the faces of the border, which must be in
        one piece and star-shaped about its middle. Hollows inside stay as they are. Once more `surround` puts further cells around these.

        Args:
            factor: how many times as large the environment is afterwards.

        Returns:
            (k,) the numbers of the new cells.

        Raises:
            Unsupported: the border in space is not as stated (`abut.cells.from_surface` with `outside=True` fills a box around any closed surface).
        """
        scale = arrays.scalar(factor, "factor", least=1.0 + 2.0**-10, most=2.0**20)
        return surround(self.interior, scale)

    def _read_cell(self, value: Number | None, name: str) -> int:
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
