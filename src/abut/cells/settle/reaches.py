"""Which walls have reached which points while the environment moved, when and where."""

from dataclasses import dataclass

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.settle.moving_cells import corners_of, sliver_at
from abut.cells.space.planar import lower_points
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False, repr=False)
class Reach:
    """Points that walls have reached since they were last brought up to date: one row for each, deformation after deformation.

    A point that was reached goes along with the wall from then on, to where the same place of the wall is in the end.

    Examples:
        >>> import abut
        >>> env = abut.cells.channel(2, 1, 1)
        >>> crowd = abut.cells.Particles(env, [[1.75, 0.5, 0.5], [0.5, 0.5, 0.5]])
        >>> vertices = env.vertices.copy()
        >>> vertices[vertices[:, 0] == 2, 0] = 1.5
        >>> env.deform(vertices)
        >>> crowd.settle().tolist()
        [True, False]
        >>> crowd.reached
        Reach(1 point)
        >>> crowd.reached.time.round(9).tolist(), crowd.reached.corners.shape
        ([0.5], (1, 3))
    """

    particle: Integers
    """(k,) the particle, or the vertex of a mobile"""
    deformation: Integers
    """(k,) in which deformation, counted from 0 since the points were last settled"""
    time: Floats
    """(k,) when, from 0 to 1 of the deformation, on which vertices go straight: never late, early by rounding alone"""
    point: Floats
    """(k, dimension) where the point was then"""
    cell: Integers
    """(k,) the cell that it was in, whose wall it is, as numbered in that deformation"""
    corners: Integers
    """(k, dimension) the vertices of the wall: of an edge in the plane, of a triangle of a face in space"""

    def __len__(self) -> int:
        return len(self.particle)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "point"))

    def _repr_html_(self) -> str:
        names = ("particle", "deformation", "time", "point", "cell", "corners")
        columns = tuple(getattr(self, name)[:ROWS_SHOWN].tolist() for name in names)
        return table_html(repr(self), names, columns, len(self))


def read_reach(interior: Interior, rows: Integers, fates: Records, points: Floats) -> Reach:
    """The rows of one deformation."""
    space, dimension = interior.space, interior.dimension
    corners = np.empty((len(rows), dimension), np.int64)
    for row, fate in enumerate(fates):
        chosen = corners_of(dimension, int(fate["k"]))[:dimension]
        dart = int(fate["dart"])
        ids = sliver_at(space, interior.fabric.origin, int(fate["part"]), dart).ids if dart >= 0 else (-1,) * 4
        corners[row] = [ids[i] for i in chosen]
    return Reach(
        frozen(rows.astype(np.int64)),
        frozen(np.zeros(len(rows), np.int64)),
        frozen(np.array(fates["earliest"])),
        lower_points(points, dimension),
        frozen(interior.part_cell[fates["part"]].astype(np.int64)),
        frozen(corners),
    )


def join_reaches(reaches: list[Reach], dimension: int) -> Reach:
    """One table of several deformations, in their order."""
    if not reaches:
        empty = np.empty(0, np.int64)
        nowhere = np.empty((0, dimension))
        return Reach(empty, empty, np.empty(0), nowhere, empty, np.empty((0, dimension), np.int64))
    numbers = np.repeat(np.arange(len(reaches)), [len(each) for each in reaches])
    columns = {
        name: frozen(np.concatenate([getattr(each, name) for each in reaches]))
        for name in ("particle", "time", "point", "cell", "corners")
    }
    return Reach(deformation=frozen(numbers), **columns)
