"""The shapes with fixed corners: faces of tetrahedra, pyramids, wedges and hexahedra, corners numbered as VTK numbers them.

Each face runs anticlockwise seen from inside the cell. How the faces of a shape are sewn to one another is the same for every cell, so it is
found once.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Loops
from abut.cells.map.sewing import sew_edges
from abut.core.arrays import Integers


class Shape(NamedTuple):
    """A kind of cell: its faces as loops of local corners."""

    name: str
    corner_count: int
    faces: tuple[tuple[int, ...], ...]


TETRAHEDRON = Shape("tetrahedra", 4, ((0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)))
PYRAMID = Shape("pyramids", 5, ((0, 1, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)))
WEDGE = Shape("wedges", 6, ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)))
HEXAHEDRON = Shape("hexahedra", 8, ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)))


@functools.cache
def _local(shape: Shape) -> tuple[Indices, Integers, Indices]:
    """Corners of the shape's darts, where its faces begin, and φ2."""
    corners = np.array([corner for face in shape.faces for corner in face], np.int32)
    start = np.cumsum([0, *(len(face) for face in shape.faces)])
    loops = Loops(corners, start, np.zeros(len(shape.faces), np.int32))
    return corners, start, sew_edges(loops, shape.name)


def loops_of(shape: Shape, corners: NDArray[Any], first_cell: int = 0) -> tuple[Loops, Indices]:
    """The faces of cells of one shape, given their corners (n, corner_count), and φ2."""
    local, start, phi2 = _local(shape)
    count, darts = len(corners), len(local)
    base = darts * np.arange(count)
    starts = np.append((base[:, np.newaxis] + start[:-1]).ravel(), darts * count)
    cells = np.repeat(np.arange(first_cell, first_cell + count, dtype=np.int32), len(shape.faces))
    vertex = corners.astype(np.int32)[:, local].ravel()
    return Loops(vertex, starts, cells), (base[:, np.newaxis].astype(np.int32) + phi2).ravel()


def concatenate(parts: list[tuple[Loops, Indices]]) -> tuple[Loops, Indices]:
    """One set of faces, whose darts and φ2 follow one another; cells keep their numbers."""
    offsets = np.cumsum([0, *(len(loops.vertex) for loops, _ in parts)])
    starts = [loops.start[:-1] + offset for (loops, _), offset in zip(parts, offsets, strict=False)]
    together = Loops(
        np.concatenate([loops.vertex for loops, _ in parts]),
        np.concatenate([*starts, offsets[-1:]]),
        np.concatenate([loops.cell for loops, _ in parts]),
    )
    linked = [phi2 + np.int32(offset) for (_, phi2), offset in zip(parts, offsets, strict=False)]
    return together, np.concatenate(linked)
