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
from abut.cells.darts import Darts, Indices, Loops
from abut.cells.deformation import find_moved, find_unsound, list_around, list_tetrahedra, put_rows
from abut.cells.location import Index, build_index
from abut.cells.sewing import sew_edges
from abut.cells.signs import NOWHERE
from abut.cells.space import REACH, Space, fit_planes, link_cells, pack_space, spoil_records
from abut.cells.subdivision import Centres, move_centres
from abut.cells.surgery import cut_cell, merge_cells, sew_cells
from abut.errors import InvalidInput, Unsupported


class Tables(NamedTuple):
    """All that is derived from the cells and the vertices."""

    darts: Darts
    space: Space
    part_cell: Integers
    """(parts,) the cell of each part"""
    centres: Centres
    """of the cells that are cut; they are the last rows of the vertices"""


class Recipe(NamedTuple):
    """How tables are made anew after surgery, or after a deformation that forces cells to be cut."""

    link: Callable[[], tuple[Loops, Indices]]
    """the faces of the cells as given, and φ2"""
    make: Callable[..., Tables]
    name: str
    """of the cells, in messages"""


class Environment:
    """Convex cells and a map of darts over them. Made by the functions of `abut.cells`, not by hand."""

    def __init__(self, tables: Tables, vertices: Floats, obstacle: NDArray[np.bool_], recipe: Recipe | None) -> None:
        self._take(tables)
        self._given: Floats | None = vertices  # None after a deformation, until asked for
        self._given_count = len(vertices)
        self._obstacle = obstacle
        self._heir = np.arange(len(obstacle))  # what each cell has been merged into
        self._recipe = recipe  # None where cells are never cut
        self._loops: Loops | None = None  # the faces after surgery
        self._may_be_dented = False
        self._stamps = np.zeros(len(tables.part_cell), np.int64)
        self._version = 0
        self._cut_version = 0
        self._addresses, self._packed_space = np.empty(0, np.int64), None

    def _take(self, tables: Tables) -> None:
        self._darts, self._space, self._part_cell, self._centres = tables
        self._around: tuple[Integers, Integers, Integers, Indices] | None = None
        self._index: Index | None = None
        self._parts_by_cell: tuple[Integers, Integers] | None = None

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self._darts.dimension

    @property
    def vertices(self) -> Floats:
        """(n, dimension) as given, without the centres of cells that are cut."""
        if self._given is None:
            self._given = arrays.frozen(self._space.vertices[: self._given_count, : self.dimension].copy())
        return self._given

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

    def deform(self, vertices: object, moved: object = None) -> None:
        """Move the vertices (n, dimension), or those rows of them that `moved` names (k,). Particles stay where they are; their next move begins
        with `Particles.settle`.

        Only cells around vertices that moved are looked at, and only the records that particles meet are renewed. A cell that lost its
        convexity or the planarity of a face is cut about its centre. One that turns flat or inside out, the sign of an environment that
        collides with itself, is refused with its number (`InvalidInput`), and the environment stays as it was.
        """
        rows, points = self._read_moved(vertices, moved)
        if not len(rows):
            return
        parts, centres, corners = self._list_around(rows)
        space = self._space
        touched = arrays.frozen(np.concatenate((rows, self._given_count + centres)))
        before = arrays.frozen(space.vertices.take(touched, axis=0))
        put_rows(space.vertices, rows, points)
        move_centres(space.vertices, self._given_count, self._centres, centres)
        unsound = find_unsound(space, parts, corners)
        if unsound != NOWHERE:
            whole = space.vertices[: self._given_count, : self.dimension].copy()
            put_rows(space.vertices, touched, before)
            if self._recipe is None:
                cell = int(self._part_cell[unsound])
                raise InvalidInput("vertices", f"cell {cell} turns flat, inside out or non-convex")
            self._rebuild(arrays.frozen(whole), self._loops, self._obstacle)
            return
        spoil_records(self._space, parts)
        self._fit_reach(points)
        self._version += 1
        self._stamps[parts] = self._version
        self._given, self._index = None, None

    def _fit_reach(self, points: Floats) -> None:
        """Let the records hold for vertices that moved further out, or be finer again where most of them moved in."""
        space, largest = self._space, float(np.abs(points).max())
        if 2 * len(points) >= self._given_count:
            largest = float(np.abs(space.vertices).max(initial=1.0 if self.dimension == 2 else 0.0))
        elif largest <= space.reach:
            return
        wanted = REACH * largest
        if wanted > 2 * space.reach or wanted < space.reach / 2:
            self._space = space._replace(reach=wanted)
            spoil_records(self._space, np.arange(len(self._part_cell)))

    def _read_moved(self, vertices: object, moved: object) -> tuple[Integers, Floats]:
        """The rows of the vertices that move, and where to."""
        points = arrays.points(vertices, "vertices", dimensions=self.dimension)
        if moved is None:
            if len(points) != self._given_count:
                raise InvalidInput("vertices", f"has {len(points)} rows, the environment has {self._given_count}")
            rows = np.empty(len(points), np.int64)
            rows = arrays.frozen(rows[: find_moved(points, self._space.vertices, rows)])
            return rows, arrays.frozen(points.take(rows, axis=0))
        rows = arrays.indices(np.reshape(np.asarray(moved), (-1, 1)), "moved", 1, self._given_count)[:, 0]
        if len(points) != len(rows):
            raise InvalidInput("vertices", f"has {len(points)} rows, {len(rows)} are to move")
        return arrays.frozen(np.ascontiguousarray(rows)), points

    def _list_around(self, rows: Integers) -> tuple[Integers, Integers, Indices]:
        """The parts that change with some vertices, the centres, and the corners of parts that are tetrahedra. Kept, since mostly the same vertices
        move again."""
        if self._around is not None and np.array_equal(rows, self._around[0]):
            return self._around[1:]
        listed = np.zeros(len(self._part_cell), np.bool_)
        list_around(self._space, rows, listed)
        parts, centres = np.flatnonzero(listed), np.empty(0, np.int64)
        if len(self._centres.cell):
            concerned = np.zeros(self.cell_count, np.bool_)
            concerned[self._part_cell[parts]] = True
            centres = np.flatnonzero(concerned[self._centres.cell])
            parts = np.flatnonzero(concerned[self._part_cell]) if len(centres) else parts
        corners = np.empty((len(parts), 4), np.int32)
        list_tetrahedra(self._space, parts, corners)
        self._around = (rows.copy(), parts, centres, corners)
        return parts, centres, corners

    def merge(self, a: int, b: int) -> None:
        """Take away the faces between two cells, which become one, cell a; cell b has nothing left, and keeps its number.

        The result must be convex, and both free or both obstacles. Particles in either go on in the one.
        """
        a, b = self._read_cell(a, "a"), self._read_cell(b, "b")
        recipe = self._demand_recipe("merge")
        if self._obstacle[a] != self._obstacle[b]:
            raise InvalidInput("cells", f"one of {a} and {b} is an obstacle, the other is free")
        loops = merge_cells(self._loops if self._loops is not None else recipe.link()[0], a, b)
        self._rebuild(self.vertices, loops, self._obstacle)
        self._heir[self._heir == b] = a

    def cut(self, cell: int, corners: object) -> int:
        """Divide a cell by a new face through some of its corners, given in order; the number of the new cell.

        Two corners that follow one another share an edge of the cell or one of its faces, which is then cut in two on both sides. Seen from
        the cell that keeps its number, the loop runs anticlockwise. Nothing changes for particles but the cell they are in; mark one of
        the two as an obstacle to close the way.
        """
        cell = self._read_cell(cell, "cell")
        recipe = self._demand_recipe("cut")
        loop = arrays.indices(np.reshape(np.asarray(corners), (-1, 1)), "corners", 1, len(self.vertices))[:, 0]
        if len(loop) < 3 or len(np.unique(loop)) != len(loop):
            raise InvalidInput("corners", "must be three or more different vertices")
        new = self.cell_count
        loops = cut_cell(self._loops if self._loops is not None else recipe.link()[0], cell, loop, new)
        self._rebuild(self.vertices, loops, np.append(self._obstacle, self._obstacle[cell]))
        self._heir = np.append(self._heir, new)
        return new

    def sew(self, a: int, b: int) -> None:
        """Join two cells along their border faces that have the same corners in space, so that the way between them is open.

        The corners of b give way to those of a, wherever they are used; their rows of the vertices are no longer used.
        """
        a, b = self._read_cell(a, "a"), self._read_cell(b, "b")
        recipe = self._demand_recipe("sew")
        loops = sew_cells(self._loops if self._loops is not None else recipe.link()[0], self.vertices, a, b)
        self._rebuild(self.vertices, loops, self._obstacle)

    def _demand_recipe(self, action: str) -> Recipe:
        if self._recipe is None:
            raise Unsupported(f"{action} in the plane")
        return self._recipe

    def _read_cell(self, value: object, name: str) -> int:
        return arrays.count(value, name, most=self.cell_count - 1)

    def _rebuild(self, points: Floats, loops: Loops | None, obstacle: NDArray[np.bool_]) -> None:
        """Make all tables anew, cutting what must be cut; particles are then all settled again."""
        recipe = self._demand_recipe("deformation")
        faces, phi2 = recipe.link() if loops is None else (loops, sew_edges(loops, recipe.name))
        # Cells that a deformation dented stay, cut, through later surgery.
        may_dent = self._may_be_dented or loops is self._loops
        self._take(recipe.make(points, faces, phi2, obstacle, recipe.name, cut_dented=may_dent))
        self._may_be_dented = may_dent
        self._loops, self._obstacle = loops, obstacle
        self._given, self._given_count = points, len(points)
        self._version += 1
        self._cut_version = self._version
        self._stamps = np.full(len(self._part_cell), self._version, np.int64)

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

    def _packed(self) -> Integers:
        """The addresses of the space's tables, for kernels that are called often."""
        if self._packed_space is not self._space:
            self._addresses, self._packed_space = pack_space(self._space), self._space
        return self._addresses

    def _renew_records(self) -> None:
        """Bring all records up to date."""
        stale = np.flatnonzero(self._space.stale)
        if len(stale):
            fit_planes(self._space, stale)

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
