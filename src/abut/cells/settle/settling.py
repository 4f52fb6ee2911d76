"""Points inside an environment that changes: they stay where they are, and are found again when they are next asked for (Jund 2010, §3.4.2).

A deformation is a motion of the vertices, and a point is followed through the cells that move (`following`): only a wall that reaches it moves it.
Where cells have been cut or merged (§3.4.1), it is in one of those that its cell has gone into, or on the way from one: found by a walk from
the middle of a cell. Where that walk meets an obstacle, the point is left in front of it.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior, Motion
from abut.cells.map.darts import Indices, Row
from abut.cells.settle.exact_sweep import LOST
from abut.cells.settle.following import FATE, carry_rows, decide_exactly, find_at_start, follow_rows
from abut.cells.settle.reaches import Reach, read_reach
from abut.cells.settle.wall_sweep import KEPT
from abut.cells.space.location import find_cells
from abut.cells.space.predicates import NOWHERE, has_edge, holds, leave_cell, place
from abut.cells.space.records import BLOCKED, Space, renew_record
from abut.cells.walk.stop_point import mean_corner, stop_at
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import integer, kernel
from abut.core.records import Records
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, norm_sq, subtract

MOST_RESULTS = 64
"""References to results that are kept before those to results that are gone are dropped."""


@kernel
def _walk_from(space: Space, start: Row, p: Vec3) -> tuple[Row, Vec3, bool]:
    """Where a walk from the middle of a part towards p ends: the part, the place, and whether there is a wall before p."""
    part, middle = integer(start), mean_corner(space, start)
    while True:
        if space.stale[part]:  # a point found without the record may be another one
            renew_record(space, integer(part))
        reached, slot, through, hit = leave_cell(space, part, middle, p)
        if reached == part:
            return part, p, False
        if reached == NOWHERE:
            stop, _, _ = stop_at(space, part, slot, through, hit, middle, p)
            return part, stop, True
        part = integer(reached)


@kernel
def _find_again(space: Space, first: Row, last: Row, parts: Indices, p: Vec3) -> tuple[Row, Vec3, bool]:
    """Where a particle is whose cell has moved or was cut: its part, its position, and whether a wall has passed over it.

    A particle that lies on a wall may be behind it by the rounding of a new corner. The walks from all parts are tried then: those from
    beyond another wall, or around a corner, stop further away.
    """
    for k in range(first, last):
        if holds(space, parts[k], p):
            return parts[k], p, False
    nearest, place_found, least = parts[first], p, np.inf
    for k in range(first, last):
        part, stop, is_hit = _walk_from(space, integer(parts[k]), p)
        if not is_hit:
            return part, p, False
        away = norm_sq(subtract(stop, p))
        if away < least:
            nearest, place_found, least = part, stop, away
    return nearest, place_found, True


@kernel
def _free_beside(space: Space, cell: Row, q: Vec3) -> Row:
    """A free cell beside an obstacle that holds q too, because q lies on the face, edge or vertex between them; the obstacle where there is none."""
    kind, dart, slot = place(space, cell, q)
    if kind == space.dimension:
        return cell
    if kind == space.dimension - 1:
        beyond = space.neighbour[cell, slot]
        return cell if beyond == BLOCKED else beyond
    a, b = space.vertex[dart], space.vertex[space.phi1[dart]]
    for k in range(space.star_begin[a], space.star_end[a]):
        other = space.star[k]
        if not space.obstacle[other] and (kind == 0 or has_edge(space, other, a, b)):
            return other
    return cell


@kernel
def leave_obstacles(space: Space, rows: Integers, cells: Indices, position: Floats) -> None:
    """Let particles on the border of a cell that has become an obstacle count as lying in a free cell beside it."""
    for row in rows:
        if space.obstacle[cells[row]]:
            cells[row] = _free_beside(space, integer(cells[row]), vector_at(position, row))


@kernel
def settle_rows(
    space: Space,
    parts_begin: Integers,
    parts_end: Integers,
    parts: Indices,
    cell_of_row: Integers,
    rows: Integers,
    cells: Indices,
    position: Floats,
    pushed: NDArray[np.bool_],
) -> None:
    """Bring particles up to date. `parts` lists the parts of each cell; `cell_of_row` is the cell in which each of the rows was."""
    for k in range(len(rows)):
        row, cell = rows[k], cell_of_row[k]
        p = vector_at(position, row)
        cells[row], reached, pushed[row] = _find_again(space, parts_begin[cell], parts_end[cell], parts, p)
        if space.stale[cells[row]]:
            renew_record(space, integer(cells[row]))
        put_vector(position, row, 0, reached)


class Settled(NamedTuple):
    """What became of points in an environment that has changed."""

    rows: Integers
    """those whose parts changed: the others were not looked at"""
    pushed: NDArray[np.bool_]
    """(n,) whether a wall passed over each"""
    is_recut: bool
    """whether parts and darts may have other numbers now"""
    reached: list[Reach]
    """by which walls, one table for each deformation"""


class Places:
    """Where some points of an environment are, in which of its versions, and the results that still refer to its tables.

    Particles have one, and so have the vertices of a mobile. Points follow each deformation by itself, at the latest before the next change of the
    environment (`catch_up`); `settle` says what has become of them since it was last asked.
    """

    def __init__(self, interior: Interior, position: Floats, part: Indices) -> None:
        self.position, self.part = position, part
        """(n,3), z = 0 in the plane; (n,) the part that holds each"""
        self.seen = interior.version
        """the version in which that was so"""
        self.held = np.empty(0, np.int64)
        """those inside cells that have become obstacles"""
        self.pending: Settled | None = None
        """what has become of them that nobody was told"""
        self._interior = interior
        self._results: list[weakref.ref[Any]] = []
        interior.inhabitants.add(self)

    @property
    def cell(self) -> Integers:
        """(n,) the cell that holds each."""
        return self._interior.cells_then(self.part, self.seen)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to tell."""
        return self.seen == self._interior.versions.latest and self.pending is None

    def remember(self, result: Any) -> None:
        """Have a result completed before surgery changes the tables that it refers to."""
        self._results.append(weakref.ref(result))
        if len(self._results) > MOST_RESULTS:
            self._results = [result for result in self._results if result() is not None]

    def complete_results(self) -> None:
        """Surgery is about to change the tables: results that are still in use take what they need of them."""
        for result in self._results:
            if (moves := result()) is not None:
                moves.complete()
        self._results.clear()

    def settle(self) -> Settled:
        """Find the points again, and tell what became of them. Only those in parts that changed are looked at."""
        self.catch_up()
        settled = self.pending
        self.pending = None
        if settled is None:
            return Settled(np.empty(0, np.int64), np.zeros(len(self.part), np.bool_), False, [])
        return settled

    def catch_up(self) -> None:
        """Find the points again after the last deformation, or the surgeries since the last one."""
        interior = self._interior
        if self.seen == interior.version:
            return
        pushed, reached = np.zeros(len(self.part), np.bool_), []
        rows = np.flatnonzero(interior.versions.changed(self.part, self.seen))
        then = interior.cells_then(self.part[rows], self.seen)
        self.position, self.part = self.position.copy(), self.part.copy()
        is_recut = interior.history.latest > self.seen
        if interior.motion is not None:
            reached = self._follow(interior.motion, rows, then if is_recut else None, pushed)
        elif is_recut:
            self._settle_heirs(rows, then, pushed)
        leave_obstacles(interior.space, rows, self.part, self.position)
        self.held = np.flatnonzero(interior.space.obstacle[self.part])
        self.seen = interior.version
        if self.pending is not None:
            earlier = self.pending
            rows, pushed = np.union1d(rows, earlier.rows), pushed | earlier.pushed
            is_recut, reached = is_recut or earlier.is_recut, earlier.reached + reached
        self.pending = Settled(rows, pushed, is_recut, reached)

    def first_touch(self) -> float:
        """When a wall first reaches a point in the last deformation, which is left to be followed; infinite for never."""
        fates = self.try_motion()[1]
        return float(fates["earliest"][fates["outcome"] != KEPT].min(initial=np.inf))

    def try_motion(self) -> tuple[Indices, Records]:
        """The parts that points would be in after the last deformation, and the fates of those whose parts have changed."""
        interior = self._interior
        rows = np.flatnonzero(interior.versions.changed(self.part, self.seen))
        then = interior.cells_then(self.part[rows], self.seen) if interior.history.latest > self.seen else None
        parts = self.part.copy()
        fates = self._trace(0.0 if interior.motion is None else interior.motion.step, rows, then, parts)
        parts[rows] = fates["part"]
        return parts, fates

    def parts_at_start(self) -> Indices:
        """The parts, as they are numbered now, that held the points before the last deformation, which is left to be followed."""
        interior, parts = self._interior, self.part.copy()
        if interior.history.latest > self.seen:
            rows = np.flatnonzero(interior.versions.changed(self.part, self.seen))
            then, lists = interior.cells_then(self.part[rows], self.seen), interior.list_parts()
            table = (lists.begin, lists.end, lists.pool)
            find_at_start(interior.space, interior.fabric.origin, *table, then, rows, parts, self.position)
        return parts

    def _trace(self, step: float, rows: Integers, cells: Integers | None, parts: Indices) -> Records:
        """The fates of points in cells that have moved; `cells` are those in which they were, where parts have been made anew."""
        interior, origin = self._interior, self._interior.fabric.origin
        space, lists = interior.space, interior.list_parts()
        if cells is not None:
            find_at_start(space, origin, lists.begin, lists.end, lists.pool, cells, rows, parts, self.position)
        fates = np.zeros(len(rows), FATE)
        if follow_rows(space, origin, step, rows, parts, self.position, fates):
            decide_exactly(space, origin, rows, parts, self.position, fates)
        return fates

    def _follow(self, motion: Motion, rows: Integers, cells: Integers | None, pushed: NDArray[np.bool_]) -> list[Reach]:
        """Let points in cells that have moved go where these or walls take them."""
        interior, space, origin = self._interior, self._interior.space, self._interior.fabric.origin
        fates = self._trace(motion.step, rows, cells, self.part)
        chosen = np.flatnonzero(fates["outcome"] != KEPT)
        reach = read_reach(interior, rows[chosen], fates[chosen], self.position[rows[chosen]])
        pushed[rows[chosen]] = True
        carry_rows(space, origin, rows, fates, self.part, self.position)
        lost = fates["outcome"] == LOST
        if lost.any():
            cell = interior.part_cell[fates["part"][lost]].astype(np.int64)
            again, hit = rows[lost], np.zeros(len(self.part), np.bool_)
            lists = interior.list_parts()
            settle_rows(space, lists.begin, lists.end, lists.pool, cell, again, self.part, self.position, hit)
        return [reach]

    def _settle_heirs(self, rows: Integers, then: Integers, pushed: NDArray[np.bool_]) -> None:
        """Points whose cells may have been cut or merged (§3.4.1): each is in one of those that its cell has gone into, or on the way from one.

        Where an obstacle has got a part of the cell, it is a wall to those inside, who are put in front of it.
        """
        interior = self._interior
        lists, marks = interior.list_parts(), interior.obstacle
        kinds, kind_of_row = np.unique(then, return_inverse=True)
        heirs: list[list[int]] = []
        for cell in kinds.tolist():
            live = [heir for heir in interior.history.heirs_of(cell, self.seen) if len(lists[heir])]
            heirs.append([heir for heir in live if not marks[heir]] or live)
        if not len(rows):
            return
        numbers = [np.concatenate([lists[cell] for cell in cells]) for cells in heirs]
        sizes = np.array([len(parts) for parts in numbers], np.int64)
        end = np.cumsum(sizes)
        table = (end - sizes, end, np.concatenate(numbers))
        settle_rows(interior.space, *table, kind_of_row, rows, self.part, self.position, pushed)


def find_places(interior: Interior, points: Floats) -> Indices:
    """The parts of points (n,3). A point outside of every cell, or one that only obstacles hold, is refused."""
    part = find_cells(interior.space, interior.located(), points)
    lost = part == NOWHERE
    if lost.any():
        raise InvalidInput("points", "lies outside of every cell", int(np.argmax(lost)))
    held = interior.space.obstacle[part]
    if held.any():
        row = int(np.argmax(held))
        cell = int(interior.part_cell[part[row]])
        raise InvalidInput("points", f"lies in cell {cell}, an obstacle, and in no free cell", row)
    return part


def place_points(interior: Interior, points: Floats) -> Places:
    """The places of points (n,3)."""
    return Places(interior, points, find_places(interior, points))
