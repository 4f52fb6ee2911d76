"""The tables of an environment as surgery changes them: rows of darts, parts, vertices and centers that are given back and taken.

Everything that a walk reads (`space`) and the map itself (`darts`) are views of these rows. Vertices that users gave or a cut has put in are the
first rows, in their order; the centers of cells that are cut lie behind them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import UNUSED, Darts, Indices
from abut.cells.map.growing_tables import Lists, Rows
from abut.cells.space.records import NO_FACE, Space
from abut.cells.space.subdivision import Centers, move_centers
from abut.core.arrays import Floats, Integers

NO_CELL = -1


class Tables(NamedTuple):
    """All that is derived from the cells and the vertices."""

    darts: Darts
    space: Space
    part_cell: Integers
    """(parts,) the cell of each part"""
    centers: Centers
    """of the cells that are cut; they are the last rows of the vertices"""


class Displaced(NamedTuple):
    """Rows of the vertices that centers had, and that they have now."""

    before: Integers
    now: Integers


class Fabric:
    """Growing tables. After changes to the rows, `weave` renews the views `darts` and `space`."""

    def __init__(self, tables: Tables, vertex_count: int) -> None:
        darts, space, part_cell, centers = tables
        self._dimension, self.vertex_count = darts.dimension, vertex_count
        self.reach = space.reach
        links = {"phi1": darts.phi1, "phi1_inverse": darts.phi1_inverse, "phi2": darts.phi2}
        if darts.dimension == 3:
            links["phi3"] = darts.phi3
        self.dart_rows = Rows(**links, vertex=darts.vertex, cell=darts.cell)
        self.part_rows = Rows(
            obstacle=space.obstacle,
            face=space.face,
            neighbour=space.neighbour,
            planes=space.planes,
            stale=space.stale,
            cell=part_cell,
        )
        self.vertex_rows = Rows(vertices=space.vertices, origin=space.vertices.copy())
        self.stars = Lists(space.star_begin, space.star_end, space.star)
        count = len(centers.cell)
        self.center_rows = Rows(cell=centers.cell, vertex=vertex_count + np.arange(count))
        self.center_corners = Lists(centers.start[:-1].copy(), centers.start[1:].copy(), centers.corner)
        self._center_of: dict[int, int] | None = None
        self._parts_of: Lists | None = None
        self.weave()

    def weave(self) -> None:
        """Renew the views."""
        rows = self.dart_rows
        empty = np.empty(0, np.int32)
        self.darts = darts = Darts(
            self._dimension,
            rows["phi1"],
            rows["phi1_inverse"],
            rows["phi2"],
            rows["phi3"] if self._dimension == 3 else empty,
            rows["vertex"],
            rows["cell"],
        )
        parts, self.part_cell = self.part_rows, self.part_rows["cell"]  # results make this view read-only, not the rows
        self.stars.extend(self.vertex_rows.count)
        self.space = Space(
            self._dimension,
            self.vertex_rows["vertices"],
            darts.phi1,
            darts.phi1_inverse,
            darts.phi2,
            darts.phi3 if self._dimension == 3 else darts.phi2,
            darts.vertex,
            darts.cell,
            parts["obstacle"],
            parts["face"],
            parts["neighbour"],
            parts["planes"],
            self.stars.begin,
            self.stars.end,
            self.stars.pool,
            self.reach,
            parts["stale"],
        )

    @property
    def origin(self) -> Floats:
        """Where the vertices were before the last deformation; where they are, but for those that it has moved."""
        return self.vertex_rows["origin"]

    @property
    def slots(self) -> int:
        """How many faces a part may have."""
        return self.space.face.shape[1]

    def parts_of(self, cell_count: int) -> Lists:
        """The parts of each cell; listed when first asked for, then kept up to date."""
        if self._parts_of is None:
            order = np.argsort(self.part_cell, kind="stable").astype(np.int32)
            start = np.searchsorted(self.part_cell[order], np.arange(cell_count + 1))
            self._parts_of = Lists(start[:-1].copy(), start[1:].copy(), order)
        self._parts_of.extend(cell_count)
        return self._parts_of

    def center_of(self, cell: int) -> int | None:
        """The number of the center of a cell, where it is cut."""
        if self._center_of is None:
            self._center_of = {cell: k for k, cell in enumerate(self.center_rows["cell"].tolist()) if cell != NO_CELL}
        return self._center_of.get(cell)

    def drop_centers(self, cells: list[int]) -> None:
        """Cells that are cut no longer."""
        numbers = [number for cell in cells if (number := self.center_of(cell)) is not None]
        gone = np.array(numbers, np.int64)
        self.vertex_rows.give_back(self.center_rows["vertex"][gone])
        self.center_rows["cell"][gone] = NO_CELL
        self.center_rows.give_back(gone)
        for cell in cells:
            (self._center_of or {}).pop(cell, None)

    def add_centers(self, centers: Centers, points: Floats) -> Integers:
        """Centers of cells that are cut, and where they lie; their rows of the vertices."""
        count = len(centers.cell)
        rows, numbers = self.vertex_rows.take(count), self.center_rows.take(count)
        self.vertex_rows["vertices"][rows] = self.origin[rows] = points
        self.center_rows["cell"][numbers], self.center_rows["vertex"][numbers] = centers.cell, rows
        self.center_corners.extend(self.center_rows.count)
        order = np.argsort(numbers)
        sizes = np.diff(centers.start)
        owners = np.repeat(numbers, sizes)
        ordered = np.argsort(owners, kind="stable")
        self.center_corners.replace(numbers[order], owners[ordered], centers.corner[ordered])
        if self._center_of is not None:
            self._center_of.update(zip(centers.cell.tolist(), numbers.tolist(), strict=True))
        return rows

    def list_centers(self, is_concerned: NDArray[np.bool_]) -> Integers:
        """The numbers of the centers of these cells (a mark for each, and False at the end)."""
        return np.flatnonzero(is_concerned[self.center_rows["cell"]])

    def renew_centers(self, chosen: Integers) -> None:
        """Put centers, by their numbers, where their corners now say."""
        rows, corners = self.center_rows, self.center_corners
        move_centers(self.space.vertices, rows["vertex"], corners.begin, corners.end, corners.pool, chosen)

    def renew_origins(self, chosen: Integers) -> None:
        """Put the origins of centers where the origins of their corners say."""
        rows, corners = self.center_rows, self.center_corners
        move_centers(self.origin, rows["vertex"], corners.begin, corners.end, corners.pool, chosen)

    def add_vertices(self, points: Floats) -> Displaced:
        """Vertices (n,3) behind those that are there, before the centers: centers in the way get other rows."""
        first = self.vertex_count
        self.vertex_count += len(points)
        moved = self.vertex_rows.claim(first, self.vertex_count)
        rows = self.vertex_rows.take(len(moved))
        self._move_centers(moved, rows)
        self.vertex_rows["vertices"][first : self.vertex_count] = points
        self.origin[first : self.vertex_count] = points
        self.weave()
        return Displaced(moved, rows)

    def _move_centers(self, old: Integers, new: Integers) -> None:
        """Other rows of the vertices for some centers."""
        empty, vertices = np.empty(0, np.int32), self.vertex_rows["vertices"]
        vertices[new], self.origin[new] = vertices[old], self.origin[old]
        self.stars.extend(self.vertex_rows.count)
        for row, other in zip(old.tolist(), new.tolist(), strict=True):
            parts = self.stars[row].copy()
            self.center_rows["vertex"][self.center_of(int(self.part_cell[parts[0]]))] = other
            darts = self.darts_of(parts.astype(np.int64))
            vertex = self.dart_rows["vertex"]
            vertex[darts[vertex[darts] == row]] = other
            place, gone = np.array([other]), np.array([row])
            self.stars.replace(place, np.full(len(parts), other), parts)
            self.stars.replace(gone, empty.astype(np.int64), empty)

    def remove_last_vertices(self, count: int, displaced: Displaced) -> None:
        """Take back what `add_vertices` has added; centers go back to the rows that they had."""
        self.vertex_rows.give_back(np.arange(self.vertex_count - count, self.vertex_count))
        self.vertex_count -= count
        for row in displaced.before.tolist():
            self.vertex_rows.claim(row, row + 1)
        self._move_centers(displaced.now, displaced.before)
        self.vertex_rows.give_back(displaced.now)
        self.vertex_rows.trim()
        self.weave()

    def faces_of(self, parts: Integers) -> Integers:
        """A dart of each face of these parts."""
        faces = self.space.face[parts]
        return faces[faces != NO_FACE].astype(np.int64)

    def darts_of(self, parts: Integers) -> Integers:
        """All darts of these parts."""
        faces = self.faces_of(parts)
        return faces if self._dimension == 2 else follow_rings(self.darts.phi1, faces)[0]

    def drop_darts(self, darts: Integers) -> None:
        """Take darts away."""
        for name in ("phi1", "phi1_inverse", "phi2", "phi3")[: self._dimension + 1]:
            self.dart_rows[name][darts] = darts
        self.dart_rows["cell"][darts], self.dart_rows["vertex"][darts] = UNUSED, 0
        self.dart_rows.give_back(darts)


def follow_rings(phi1: Indices, first: Integers) -> tuple[Integers, Integers]:
    """The darts of faces that begin with these, ring after ring, and the sizes of the rings."""
    columns, current = [first], phi1[first].astype(np.int64)
    going = current != first
    while going.any():
        columns.append(np.where(going, current, NO_FACE))
        current = phi1[current].astype(np.int64)
        going &= current != first
    table = np.stack(columns, axis=1)
    inside = table != NO_FACE
    return table[inside], inside.sum(axis=1)
