"""Combinatorial maps of dimension 2 and 3 as arrays of darts (Jund 2010, §2.2.2).

A dart is a directed edge of a face of a cell. φ1 leads to the next dart of its face, φ2 to the dart of the neighbouring face on the same edge
(in the plane: of the neighbouring cell), φ3 to the same edge of the same face seen from the neighbouring volume. φ2 and φ3 turn the
direction around. Every dart is sewn: faces at the border are sewn to darts of the outside, whose cell is OUTSIDE.

Invariants (`integrity` checks them): φ1 is a permutation without fixed points and φ1⁻¹ its inverse; φ2 and φ3 are involutions without fixed
points; so is φ1∘φ3; φ2 and φ3 turn the edge around; a face lies in one cell. Seen from inside its cell a face runs anticlockwise: for corners
a, b, c that follow one another, (b − a) × (c − a) points into the cell.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.core.showing import count, describe

Indices = NDArray[np.int32]
Row = Any
"""The number of a dart, vertex, face or cell, as it comes out of a table."""

OUTSIDE = -1
"""The cell of darts beyond the border. It is an obstacle, and not convex: nothing is ever decided by its shape."""
UNUSED = -2
"""The cell of darts that surgery took away and has not used again. All their links lead to themselves."""


class Darts(NamedTuple):
    """A combinatorial map, one row per dart. In the plane `phi3` is empty and cells are faces; in space cells are volumes."""

    dimension: int
    phi1: Indices
    phi1_inverse: Indices
    phi2: Indices
    phi3: Indices
    vertex: Indices
    """where the dart begins: a row of the vertices"""
    cell: Indices
    """the cell of highest dimension it belongs to, or OUTSIDE, or UNUSED"""

    def __repr__(self) -> str:
        return describe(self, count(len(self.phi1), "dart"), f"dimension {self.dimension}")


class Loops(NamedTuple):
    """Faces one after another, each the loop of its corners; the faces of a cell follow one another. Darts are numbered in this order."""

    vertex: Indices
    start: Integers
    """(faces + 1,) where each face begins"""
    cell: Indices
    """(faces,) the cell of each face"""

    @property
    def sizes(self) -> Integers:
        """How many corners each face has."""
        return np.diff(self.start)


def join_loops(loops: Loops) -> tuple[Indices, Indices]:
    """φ1 and φ1⁻¹ of faces that lie one after another."""
    count = len(loops.vertex)
    phi1 = np.arange(1, count + 1, dtype=np.int32)
    phi1_inverse = np.arange(-1, count - 1, dtype=np.int32)
    first, last = loops.start[:-1], loops.start[1:] - 1
    phi1[last] = first
    phi1_inverse[first] = last
    return phi1, phi1_inverse
