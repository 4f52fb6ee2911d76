"""When walls come to the edges and faces of a mobile without a width, while these stay where they are.

Such an edge is looked at as a capsule that is hardly there: THIN of the environment's size. A wall that comes that near counts as one that reaches
it, so times are never late, and early by no more than the wall takes for that. Of what touched a wall already, nothing is told: for that the place
at the end decides (`pierced`).
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.space.records import REACH
from abut.cells.width.contacts import TOUCH, Paths, Walls
from abut.cells.width.thickness import Thickness
from abut.core.arrays import Floats, Integers
from abut.core.records import Records

THIN, TOUCHES = 2.0**-34, 2.0**-44
"""Of the largest coordinate: how near is a contact, and how near is one from the beginning."""


def make_thin(interior: Interior, count: int, edges: Integers, faces: Integers) -> Thickness:
    """The edges and faces of a mobile without a width."""
    return Thickness(THIN * interior.space.reach / REACH, count, edges, faces)


def find_passing(thin: Thickness, interior: Interior, position: Floats, part: NDArray[np.int32]) -> Records:
    """A row (TOUCH) for each edge and face that a wall comes to in the last deformation; `part` held the vertices at its beginning."""
    motion, space = interior.motion, interior.space
    rows = np.arange(thin.vertex_count, len(thin.simplices))
    if motion is None or not len(rows):
        return np.empty(0, TOUCH)
    before, after = interior.fabric.origin, space.vertices
    moved = np.concatenate((before[motion.rows], after[motion.rows]))
    low, high = moved.min(axis=0) - thin.least, moved.max(axis=0) + thin.least
    rows = rows[_meets(thin, position, rows, low, high)]
    paths = Paths(position, position, part)
    touches = thin.find_first(space, Walls(before, after, 0.0, 1.0), paths, position, rows, thin.least)
    return touches[(touches["time"] <= 1.0) & (touches["distance"] > TOUCHES * space.reach / REACH)]


def _meets(thin: Thickness, position: Floats, rows: Integers, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Which simplices have boxes that meet that of what moves; where all cells around move, nearly all do."""
    corners = position[thin.simplices[rows]]
    return ((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high)).all(axis=1)
