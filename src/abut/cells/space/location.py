"""The cell of any point: a grid of boxes lists the cells that reach into each, and exact signs choose among them.

Points on a face, edge or vertex belong to several closed cells: the lowest free one is taken, or an obstacle where none is free. No walk is
needed, so points in hollows and in separate pieces are found alike. The index is built with the environment, whose
vertices are looked up in it (`misfits`), and after changes when the first point is asked for (about 8 entries a cell).
"""

from typing import NamedTuple

import numpy as np

from abut.cells.map.darts import Indices, Row
from abut.cells.space.predicates import NOWHERE, holds
from abut.cells.space.records import NO_FACE, Space
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3

MOST_BOXES = 1 << 24


class Index(NamedTuple):
    """A grid over the vertices; the cells whose bounding boxes meet each box, ascending."""

    lowest: Floats
    scale: Floats
    """boxes per unit of length, along each axis"""
    shape: Integers
    start: Integers
    cells: Indices


@element
def _box_of(x: float, lowest: float, scale: float, count: int) -> int:
    """Monotone in x, so that a point between two others lies in a box between theirs."""
    position = (x - lowest) * scale
    if not position > 0.0:
        return 0
    return count - 1 if position >= count else int(position)


@kernel
def _reach_of(space: Space, cell: Row) -> tuple[float, float, float, float, float, float]:
    """The bounding box of a cell; empty for numbers that are not in use."""
    x0, y0, z0, x1, y1, z1 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    for slot in range(space.face.shape[1]):
        face = space.face[cell, slot]
        if face == NO_FACE:
            continue
        dart = face
        while True:
            x, y, z = vector_at(space.vertices, space.vertex[dart])
            x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
            x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
            dart = space.phi1[dart]
            if dart == face:
                break
    return x0, y0, z0, x1, y1, z1


@kernel
def _enter(space: Space, index: Index, fill: Integers, counting: bool) -> None:
    """Count the cells of each box, or list them."""
    shape, lowest, scale = index.shape, index.lowest, index.scale
    for cell in range(space.face.shape[0]):
        x0, y0, z0, x1, y1, z1 = _reach_of(space, cell)
        if x0 > x1:
            continue
        j0, j1 = _box_of(y0, lowest[1], scale[1], shape[1]), _box_of(y1, lowest[1], scale[1], shape[1])
        k0, k1 = _box_of(z0, lowest[2], scale[2], shape[2]), _box_of(z1, lowest[2], scale[2], shape[2])
        for i in range(_box_of(x0, lowest[0], scale[0], shape[0]), _box_of(x1, lowest[0], scale[0], shape[0]) + 1):
            for j in range(j0, j1 + 1):
                for k in range(k0, k1 + 1):
                    box = (i * shape[1] + j) * shape[2] + k
                    if counting:
                        fill[box + 1] += 1
                    else:
                        index.cells[fill[box]] = cell
                        fill[box] += 1


def build_index(space: Space) -> Index:
    """About one box a cell."""
    is_used = np.zeros(len(space.vertices), np.bool_)
    is_used[space.vertex] = True
    used = space.vertices[is_used]
    lowest, highest = used.min(axis=0), used.max(axis=0)
    extent = highest - lowest
    solid = extent > 0
    count = min(max(len(space.face), 1), MOST_BOXES)
    side = np.exp(np.log(extent[solid]).sum() / solid.sum()) * count ** (-1.0 / solid.sum())
    shape = np.ones(3, np.int64)
    shape[solid] = np.clip(np.ceil(extent[solid] / side), 1, count).astype(np.int64)
    while shape.prod() > 4 * MOST_BOXES:
        shape[np.argmax(shape)] = (shape.max() + 1) // 2
    scale = np.where(solid, shape / np.where(solid, extent, 1.0), 0.0)
    start = np.zeros(int(shape.prod()) + 1, np.int64)
    empty = Index(lowest, scale, shape, start, np.empty(0, np.int32))
    _enter(space, empty, start, True)
    np.cumsum(start, out=start)
    index = empty._replace(cells=np.empty(int(start[-1]), np.int32))
    _enter(space, index, start[:-1].copy(), False)
    return index


@kernel
def box_of_point(index: Index, q: Vec3) -> int:
    """The box in which a point lies; for points beyond the grid, the nearest."""
    shape = index.shape
    i = _box_of(q[0], index.lowest[0], index.scale[0], shape[0])
    j = _box_of(q[1], index.lowest[1], index.scale[1], shape[1])
    k = _box_of(q[2], index.lowest[2], index.scale[2], shape[2])
    return (i * shape[1] + j) * shape[2] + k


@kernel
def _find(space: Space, index: Index, points: Floats, found: Indices) -> None:
    for row in range(len(points)):
        q = vector_at(points, row)
        box = box_of_point(index, q)
        found[row] = NOWHERE
        for entry in range(index.start[box], index.start[box + 1]):
            cell = index.cells[entry]
            if found[row] != NOWHERE and space.obstacle[cell]:
                continue
            if holds(space, integer(cell), q):
                found[row] = cell
                if not space.obstacle[cell]:
                    break


def find_cells(space: Space, index: Index, points: Floats) -> Indices:
    """For each point (n,3) the lowest free cell that holds it, else the lowest obstacle, else NOWHERE."""
    found = np.empty(len(points), np.int32)
    _find(space, index, points, found)
    return found
