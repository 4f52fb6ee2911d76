"""What an environment is made of: the tables that walks read, and the notes by which those who are inside find themselves again.

`Environment` reads arguments and answers users; surgery, cuts and deformation change the interior; particles and mobiles read it. Tables are never
replaced behind somebody's back: after a change of their number `take_views` is called, and the version counts up (`versions`).
"""

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.grafts import Ring
from abut.cells.edit.history import History
from abut.cells.edit.moved_vertices import Moved
from abut.cells.edit.surgery import Rings
from abut.cells.edit.versions import Versions
from abut.cells.edit.vertex_rows import VertexRows
from abut.cells.map.darts import Indices
from abut.cells.map.growing_tables import Lists, Rows
from abut.cells.space.location import Index, build_index
from abut.cells.space.records import fit_planes, pack_space, spoil_records
from abut.cells.space.tables import Fabric, Tables
from abut.cells.walk.reentrant_edges import Remembered
from abut.core import arrays
from abut.core.arrays import Floats, Integers

NO_REGION = -1


class Recipe(NamedTuple):
    """What is known of the cells as they were given."""

    rings: Callable[[int], list[Ring]]
    """the loops of a cell's faces, anticlockwise seen from inside; in the plane its one outline"""
    name: str
    """of the cells, in messages"""


class Inhabitant(Protocol):
    """Who has results that refer to the tables, and will ask what became of its parts since a version (`settling.Places`)."""

    seen: int

    def complete_results(self) -> None:
        """The tables are about to change."""
        ...

    def catch_up(self) -> None:
        """The environment is about to change: what has happened up to now must be followed."""
        ...

    def first_touch(self) -> float:
        """When a wall first touches somebody in the last deformation, never late; infinite for never, NaN where one does, and when is not known."""
        ...


class Motion(NamedTuple):
    """The last deformation, while somebody may have to follow it. Where vertices were is in `Fabric.origin`."""

    version: int
    """in which they have moved"""
    step: float
    """how far one of them went at most"""
    rows: Integers
    """of the vertices, centers among them"""


class Interior:
    """The tables of an environment and what is remembered about them."""

    def __init__(self, tables: Tables, vertices: Floats, obstacle: NDArray[np.bool_], recipe: Recipe) -> None:
        self.fabric = Fabric(tables, len(vertices))
        self.given: Floats | None = vertices
        """The vertices of users; None after a deformation, until asked for."""
        self._largest: float | None = None
        self.marks = Rows(obstacle=obstacle, region=np.full(len(obstacle), NO_REGION))
        self.region_names: tuple[str, ...] = ()
        self.recipe = recipe
        self.rings: dict[int, list[Ring]] = {}
        """Of cells that are not as they were given."""
        self.dented: set[int] = set()
        """Cells that a deformation has made non-convex."""
        self.history = History()
        self.inhabitants: weakref.WeakSet[Inhabitant] = weakref.WeakSet()
        """Who is inside: surgery tells them."""
        self.versions = Versions(len(tables.part_cell))
        self.motion: Motion | None = None
        self._addresses, self._packed_space = np.empty(0, np.int64), None
        self.take_views()

    def take_views(self) -> None:
        """Read the tables anew, after their number of rows has changed; forget what was computed from the old."""
        self.darts, self.space, self.part_cell = self.fabric.darts, self.fabric.space, self.fabric.part_cell
        self.index: Index | None = None
        self.reentrant = Remembered()
        self.around: Moved | None = None
        """The vertices that moved last."""

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.darts.dimension

    @property
    def vertices(self) -> Floats:
        """(n, dimension) as given, then those that cuts have added; without the centers of cells that are cut."""
        if self.given is None:
            self.given = arrays.frozen(self.space.vertices[: self.fabric.vertex_count, : self.dimension].copy())
        return self.given

    def vertex_rows(self, added: Floats | None = None) -> VertexRows:
        """The same by number, without a copy, until the tables change; and some that are to be added."""
        known = self.space.vertices[: self.fabric.vertex_count, : self.dimension]
        return VertexRows(known, np.empty((0, self.dimension)) if added is None else added)

    @property
    def largest(self) -> float:
        """The largest coordinate of all vertices."""
        if self._largest is None:
            known = self.space.vertices[: self.fabric.vertex_count]
            self._largest = max(float(known.max(initial=0.0)), -float(known.min(initial=0.0)))
        return self._largest

    def note_vertices(self, added: Floats | None = None) -> None:
        """Vertices have been added; or all may have changed."""
        self.given = None
        if added is None or self._largest is None:
            self._largest = None
        else:
            self._largest = max(self._largest, float(np.abs(added).max(initial=0.0)))

    @property
    def cell_count(self) -> int:
        """Cells as given and after cuts; cells that were merged into others count."""
        return self.marks.count

    @property
    def obstacle(self) -> NDArray[np.bool_]:
        """(cells,) the marks themselves."""
        return self.marks["obstacle"]

    @property
    def region(self) -> Integers:
        """(cells,) the row of `region_names` that each cell belongs to, NO_REGION for none."""
        return self.marks["region"]

    @property
    def byte_count(self) -> int:
        """Memory of the map and of its records."""
        tables = [*self.darts, *self.space]
        unique = {id(table): table.nbytes for table in tables if isinstance(table, np.ndarray)}
        return sum(unique.values())

    @property
    def version(self) -> int:
        """Counts up with every change."""
        return self.versions.latest

    def rings_of(self, cell: int) -> list[Ring]:
        """The faces of a cell as loops of vertices."""
        return self.rings[cell] if cell in self.rings else self.recipe.rings(cell)

    def open_rings(self) -> Rings:
        """All cells as loops, to be changed."""
        return Rings(self.dimension, self.rings_of, self._cells_around)

    def _cells_around(self, vertex: int) -> list[int]:
        if vertex >= self.fabric.vertex_count:
            return []
        return np.unique(self.part_cell[self.fabric.stars[vertex]]).tolist()

    def refit(self) -> None:
        """Renew all records, for vertices further away or nearer."""
        self.fabric.weave()
        self.take_views()
        spoil_records(self.space, np.arange(len(self.part_cell)))

    def bring_up_to_date(self) -> None:
        """Have all who are inside follow what has happened; then the last deformation is over."""
        for inhabitant in list(self.inhabitants):
            inhabitant.catch_up()
        if self.motion is not None:
            self.fabric.origin[self.motion.rows] = self.space.vertices[self.motion.rows]
            self.motion = None

    def note_motion(self, step: float, rows: Integers) -> None:
        """The vertices in these rows have moved."""
        self.motion = Motion(self.version, step, rows)

    def renew_records(self) -> None:
        """Bring all records up to date."""
        stale = np.flatnonzero(self.space.stale)
        if len(stale):
            fit_planes(self.space, stale)

    def changed_since(self, seen: int) -> NDArray[np.bool_]:
        """(parts,) which parts have changed after version `seen`."""
        return self.versions.changed(np.arange(len(self.part_cell)), seen)

    def list_parts(self) -> Lists:
        """The parts of each cell."""
        return self.fabric.parts_of(self.cell_count)

    def cells_then(self, parts: Indices, seen: int) -> Integers:
        """The cells to which parts belonged in version `seen`."""
        if self.history.latest <= seen:
            return self.part_cell[parts].astype(np.int64)
        cells = {part: self.history.cell_of(part, seen) for part in np.unique(parts).tolist()}
        return np.array([self.part_cell[p] if (c := cells[p]) is None else c for p in parts.tolist()], np.int64)

    def located(self) -> Index:
        """The index that finds the cell of a point."""
        if self.index is None:
            self.index = build_index(self.space)
        return self.index

    def packed(self) -> Integers:
        """The addresses of the space's tables, for kernels that are called often."""
        if self._packed_space is not self.space:
            self._addresses, self._packed_space = pack_space(self.space), self.space
        return self._addresses

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed_space": None}  # a copy lies elsewhere
