"""Cells whose corners come in any order: which way round they run, by exact signs, and the same cells the right way round.

Four corners make one tetrahedron, whatever their order. A hexahedron, wedge or pyramid may be numbered as its mirror image; so is a polygon that
runs clockwise. Where a cell is neither right nor a mirror image, it stays as it is, and is refused where cells are judged (`convexity`).
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.cell_shapes import HEXAHEDRON, PYRAMID, TETRAHEDRON, WEDGE, Shape, loops_of
from abut.cells.map.darts import Indices, Loops
from abut.cells.space import convexity
from abut.core.arrays import Floats, Integers, frozen
from abut.core.jit import kernel
from abut.geometry.predicates import orient_3d
from abut.geometry.rows import vector_at

MIRRORED = {
    TETRAHEDRON.corner_count: (0, 2, 1, 3),
    PYRAMID.corner_count: (0, 3, 2, 1, 4),
    WEDGE.corner_count: (3, 4, 5, 0, 1, 2),
    HEXAHEDRON.corner_count: (4, 5, 6, 7, 0, 1, 2, 3),
}
"""The corners of each shape, by their number, as its mirror image has them."""


@kernel
def _sign_tetrahedra(vertices: Floats, rows: Integers, signs: NDArray[np.int8]) -> None:
    for k in range(len(rows)):
        a, b = vector_at(vertices, rows[k, 0]), vector_at(vertices, rows[k, 1])
        signs[k] = orient_3d(a, b, vector_at(vertices, rows[k, 2]), vector_at(vertices, rows[k, 3]))


def sign_tetrahedra(points: Floats, rows: Integers) -> NDArray[np.int8]:
    """(n,) 1 for tetrahedra in abut's order, −1 for those the other way round, 0 for flat ones."""
    signs = np.empty(len(rows), np.int8)
    _sign_tetrahedra(points, frozen(np.ascontiguousarray(rows, np.int64).view()), signs)
    return signs


def turn_tetrahedra(points: Floats, rows: Integers) -> Integers:
    """The same tetrahedra, all in abut's order but for flat ones."""
    turned = sign_tetrahedra(points, rows) < 0
    return np.where(turned[:, np.newaxis], rows[:, MIRRORED[4]], rows) if turned.any() else rows


def turn_shapes(points: Floats, shape: Shape, rows: Integers) -> Integers:
    """The same cells, mirrored where all of their corners lie behind their faces, or, with faces that bulge, where their volume is negative."""
    if shape.corner_count == TETRAHEDRON.corner_count:
        return turn_tetrahedra(points, rows)
    loops, _ = loops_of(shape, rows)
    turned = find_turned(points, loops, len(rows))
    return np.where(turned[:, np.newaxis], rows[:, MIRRORED[shape.corner_count]], rows) if turned.any() else rows


def find_turned(points: Floats, loops: Loops, count: int) -> NDArray[np.bool_]:
    """(cells,) which cells run clockwise seen from inside."""
    verdict = convexity.judge_cells(points, loops, count).verdict
    bulging = (verdict == convexity.WARPED) & (volumes_of(points, loops, count) < 0)
    return (verdict == convexity.INVERTED) | bulging


def volumes_of(points: Floats, loops: Loops, count: int) -> Floats:
    """Six times the volume enclosed by faces that run anticlockwise seen from inside, relative to a corner of each cell."""
    first = points[loops.vertex[loops.start[np.searchsorted(loops.cell, np.arange(count))]]]
    face = np.repeat(np.arange(len(loops.cell)), loops.sizes)
    dart = np.arange(len(loops.vertex))
    following = np.where(dart + 1 == loops.start[face + 1], loops.start[face], dart + 1)
    origin = first[loops.cell[face]]
    a, b, c = (points[loops.vertex[rows]] - origin for rows in (loops.start[face], dart, following))
    parts = -np.einsum("ij,ij->i", a, np.cross(b, c))
    return np.bincount(loops.cell[face], weights=parts, minlength=count).astype(np.float64)


def turn_polygons(points: Floats, loops: list[Integers]) -> list[Integers]:
    """The same polygons of the plane; those that run clockwise are reversed."""
    sizes = [len(loop) for loop in loops]
    start = np.cumsum([0, *sizes])
    vertex: Indices = np.concatenate(loops).astype(np.int32) if loops else np.empty(0, np.int32)
    verdict = convexity.judge_polygons(points, Loops(vertex, start, np.arange(len(loops), dtype=np.int32)))
    return [
        loop[::-1] if verdict[row] == convexity.INVERTED else loop for row, loop in enumerate(loops)
    ]  # one that lies on both sides of its edges is refused later
