"""The shape of a mobile that may change: its vertices, edges and faces, and which of them have been put there by an adaptive response.

Rows of inserted particles follow those of the vertices given; taking one away closes the gap. Given edges keep their numbers: one that has been
divided is its first piece. So do given faces.
"""

from typing import NamedTuple

import numpy as np

from abut.cells.map.darts import Indices
from abut.core.arrays import Floats, Integers

GIVEN = -1


class Shape(NamedTuple):
    """The vertices, edges and faces of a mobile, and which of them have been inserted."""

    position: Floats
    cell: Indices
    edges: Integers
    faces: Integers
    """(m,3), empty for a body of edges"""
    root: Integers
    """(k,) the given edge that each edge is a piece of; GIVEN for one inside a face"""
    length: Floats
    """(k,) the first length of that"""
    parents: Integers
    """(n,2) the ends of the given edge that a particle was put on; GIVEN for the vertices given"""
    ratio: Floats
    """(n,) where on it: 0 at the first end, 1 at the second"""


def begin_shape(position: Floats, cell: Indices, edges: Integers, faces: Integers | None) -> Shape:
    """A shape as given."""
    return Shape(
        position,
        cell,
        edges,
        np.empty((0, 3), np.int64) if faces is None else faces,
        np.arange(len(edges)),
        np.linalg.norm(position[edges[:, 0]] - position[edges[:, 1]], axis=1),
        np.full((len(cell), 2), GIVEN),
        np.zeros(len(cell)),
    )
