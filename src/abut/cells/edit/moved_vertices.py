"""What changes with some vertices, kept while the same ones move again: the parts around them, and how far these vertices may go before a part must
be looked at.

A tetrahedron of width w (its least extent in any direction) is neither flat nor inside out as long as no corner is w/2 away from where it was: in
every direction some of it is left, all along the straight path of its corners. The width is the distance between two opposite edges or between a
corner and a face, which is D/|u×v| with the determinant D of three of its edges and two edges u and v; so it is at least D/L², L its longest
edge. So one number for the vertices, how far the furthest is from the *reference*, says for most parts at once that they are sound; exact signs
decide for those that are THIN, and for parts that are no tetrahedra. A reference is taken when the same vertices move for the second time,
and anew when they have gone too far, if it is likely to last for LASTING moves.

Rounding: the bound on the width is lowered by DETERMINANT_ERROR L, more than D can be off; CENTER_ERROR of the reach is more than centers, which are
means of corners, are off from where exact ones would be.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.soundness import list_tetrahedra, list_unsound
from abut.cells.map.darts import Indices
from abut.cells.space.records import Space, spoil_listed
from abut.cells.space.tables import Fabric
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import element, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, dot, norm_sq, subtract

THIN = 1 / 16
"""The share of the tetrahedra that are still looked at while the others need not be."""
LASTING = 8
"""To take a reference costs as much as to look at all parts some five times."""
DETERMINANT_ERROR = 2.0**-45
CENTER_ERROR = 2.0**-40
SMALLEST_SQ = 1e-200
"""Of edges so short that their squares lose digits nothing is said."""
WORD = 8
"""bytes"""


@element
def bound_width(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """A lower bound on the width of a tetrahedron; 0 where it is not certainly positively oriented."""
    u, v, w = subtract(b, a), subtract(c, a), subtract(d, a)
    longest_sq = max(norm_sq(u), norm_sq(v), norm_sq(w))
    longest_sq = max(longest_sq, norm_sq(subtract(c, b)), norm_sq(subtract(d, b)))
    longest_sq = max(longest_sq, norm_sq(subtract(d, c)))
    if not longest_sq > SMALLEST_SQ:
        return 0.0
    return max(dot(cross(u, v), w) / longest_sq - DETERMINANT_ERROR * np.sqrt(longest_sq), 0.0)


@kernel
def bound_widths(vertices: Floats, corners: Indices, widths: Floats) -> None:
    """The same for rows of corners; 0 for those that are no tetrahedra."""
    for k in range(len(corners)):
        widths[k] = 0.0
        if corners[k, 0] >= 0:
            a, b = vector_at(vertices, corners[k, 0]), vector_at(vertices, corners[k, 1])
            c, d = vector_at(vertices, corners[k, 2]), vector_at(vertices, corners[k, 3])
            widths[k] = bound_width(a, b, c, d)


@kernel
def find_moved(points: Floats, vertices: Floats, rows: Integers) -> int:
    """List the rows of `points` that differ from the vertices; how many."""
    count = 0
    for row in range(len(points)):
        moved = False
        for axis in range(points.shape[1]):
            moved |= points[row, axis] != vertices[row, axis]
        rows[count] = row
        count += 1 if moved else 0
    return count


@kernel
def put_rows(
    vertices: Floats, rows: Integers, points: Floats, before: Floats, reference: Floats
) -> tuple[float, float, float]:
    """Write points (n,2) or (n,3) into some rows of the vertices, and what was there into `before`.

    In the same pass: the largest magnitude of a coordinate, and the squares of how far a point goes at most, and is at most from the reference.
    """
    largest, step_sq, drift_sq = 0.0, 0.0, 0.0
    for k in range(len(rows)):
        row, step, drift = rows[k], 0.0, 0.0
        for axis in range(points.shape[1]):
            x, old = points[k, axis], vertices[row, axis]
            before[k, axis] = old
            vertices[row, axis] = x
            largest = max(largest, abs(x))
            step += (x - old) * (x - old)
            drift += (x - reference[k, axis]) * (x - reference[k, axis])
        step_sq, drift_sq = max(step_sq, step), max(drift_sq, drift)
    return largest, step_sq, drift_sq


@kernel
def put_back(vertices: Floats, rows: Integers, before: Floats) -> None:
    """Undo `put_rows`; backwards, since a row may be named twice."""
    for k in range(len(rows) - 1, -1, -1):
        for axis in range(3):
            vertices[rows[k], axis] = before[k, axis]


@kernel
def list_around(space: Space, vertices: Integers, is_listed: NDArray[np.bool_]) -> None:
    """Mark the parts around these vertices."""
    for vertex in vertices:
        for k in range(space.star_begin[vertex], space.star_end[vertex]):
            is_listed[space.star[k]] = True


class Moved:
    """Some vertices that move, by their rows, and the parts around them."""

    def __init__(self, fabric: Fabric, cell_count: int, rows: Integers) -> None:
        space, part_cell = fabric.space, fabric.part_cell
        self.rows = rows.copy()
        self.version = 0
        """in which they last moved"""
        self.is_listed = np.zeros(len(part_cell), np.bool_)
        list_around(space, rows, self.is_listed)
        self.parts, self.centers = np.flatnonzero(self.is_listed), np.empty(0, np.int64)
        """the parts that change, ascending, and the centers, by their numbers"""
        if fabric.center_rows.count:
            concerned = np.zeros(cell_count + 1, np.bool_)  # the last one stands for no cell
            concerned[part_cell[self.parts]] = True
            self.centers = fabric.list_centers(concerned)
            if len(self.centers):
                self.is_listed = concerned[part_cell]
                self.parts = np.flatnonzero(self.is_listed)
        self._corners = np.empty((len(self.parts), 4), np.int32)
        list_tetrahedra(space, self.parts, self._corners)
        self._before, self._reference = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
        self._limit, self._drift, self._step, self._count = np.inf, np.inf, 0.0, 0
        self._thin: tuple[Integers, Indices] | None = None

    def put(self, space: Space, points: Floats) -> float:
        """Move the vertices; the largest magnitude of a coordinate."""
        largest, step_sq, drift_sq = put_rows(
            space.vertices, self.rows, frozen(points.view()), self._before, self._reference
        )
        self._step, self._drift = float(np.sqrt(step_sq)), float(np.sqrt(drift_sq))
        self._count += 1
        return largest

    def put_back(self, space: Space) -> None:
        """Undo the last `put`."""
        put_back(space.vertices, self.rows, self._before)

    def list_unsound(self, space: Space) -> Integers:
        """The parts that are not sound, now that the vertices have moved."""
        slack = CENTER_ERROR * space.reach
        if self._thin is not None and 2.0 * self._drift + slack < self._limit:
            return _list_unsound(space, *self._thin)
        found = _list_unsound(space, self.parts, self._corners)
        if not len(found) and self._count > 1 and 2.0 * LASTING * self._step + slack < self._limit:
            self._take_reference(space)
        return found

    def _take_reference(self, space: Space) -> None:
        self._reference = space.vertices.take(self.rows, axis=0)
        widths = np.empty(len(self.parts))
        bound_widths(space.vertices, self._corners, widths)
        unknown = len(widths) - np.count_nonzero(widths)
        last = unknown + int(THIN * (len(widths) - unknown))
        self._limit = float(np.partition(widths, last)[last]) if last < len(widths) else 0.0
        thin = np.flatnonzero(widths < self._limit)
        self._thin = (self.parts[thin], self._corners[thin])

    def spoil(self, space: Space) -> None:
        """Mark the records of the parts as out of date."""
        if len(self.parts):
            first, last = int(self.parts[0]) // WORD, int(self.parts[-1]) // WORD  # words before the last are whole
            chosen = slice(first * WORD, last * WORD)
            listed, stale = self.is_listed[chosen].view(np.uint64), space.stale[chosen].view(np.uint64)
            spoil_listed(space, self.is_listed, listed, stale, first)


def _list_unsound(space: Space, parts: Integers, corners: Indices) -> Integers:
    unsound = np.empty(len(parts), np.int64)
    return unsound[: list_unsound(space, parts, corners, unsound)]
