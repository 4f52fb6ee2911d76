"""The walls near a mobile, as users see them."""

from dataclasses import dataclass

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.space.planar import lower_points
from abut.cells.width.thickness import Thickness
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records
from abut.core.showing import ROWS_SHOWN, count, describe, table_html


@dataclass(frozen=True, eq=False, repr=False)
class Clearance:
    """The nearest walls of a mobile: one row for each edge, face or lone vertex that has one near, or for each wall. The answer to
    `Mobile.clearance`.

    Examples:
        >>> import abut
        >>> rod = abut.cells.Mobile(abut.cells.channel(1, 1, 1), ([[0.5, 0.5, 0.25], [0.5, 0.5, 0.5]], [[0, 1]]), radius=0.2)
        >>> rod.clearance().edge.tolist(), rod.clearance().wall_point.tolist()
        ([0], [[0.5, 0.5, 0.0]])
    """

    vertex: Integers
    """(k,) the vertex, −1 for an edge or a face"""
    edge: Integers
    """(k,) the edge, or −1"""
    face: Integers
    """(k,) the face, or −1"""
    distance: Floats
    """(k,) between it, without its width, and the wall: to rounding"""
    point: Floats
    """(k, dimension) its nearest point"""
    wall_point: Floats
    """(k, dimension) the nearest point of the wall"""
    normal: Floats
    """(k, dimension) unit vector from the one to the other; zero where they touch"""
    cell: Integers
    """(k,) the free cell before the wall"""
    corners: Integers
    """(k, dimension) vertices of the wall"""
    weights: Floats
    """(k, dimension) of which `wall_point` is the mean with these weights"""

    def __len__(self) -> int:
        return len(self.edge)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "wall"))

    def _repr_html_(self) -> str:
        names = ("vertex", "edge", "face", "distance", "point", "normal")
        return table_html(repr(self), names, [getattr(self, name)[:ROWS_SHOWN].tolist() for name in names], len(self))


def make_clearance(interior: Interior, thickness: Thickness, near: Records, position: Floats) -> Clearance:
    """The rows of `Thickness.list_near_now`."""
    names = np.array([thickness.name(int(row)) for row in near["row"]], np.int64).reshape(-1, 3)
    wall_point, normal = (
        np.stack([near[axis] for axis in axes], axis=1) for axes in (("x", "y", "z"), ("nx", "ny", "nz"))
    )
    point = sum(near["share_" + name][:, np.newaxis] * position[near[name]] for name in ("a", "b", "c"))
    corners = np.stack([near[name] for name in ("u", "v", "w")], axis=1)[:, : interior.dimension]
    weights, dimension = np.stack([near["share_" + name] for name in ("u", "v", "w")], axis=1), interior.dimension
    if dimension == 2:  # the last corner comes twice
        weights = np.stack((weights[:, 0], weights[:, 1] + weights[:, 2]), axis=1)
    return Clearance(
        frozen(names[:, 0].copy()),
        frozen(names[:, 1].copy()),
        frozen(names[:, 2].copy()),
        frozen(near["distance"].copy()),
        lower_points(np.asarray(point, dtype=np.float64), dimension),
        lower_points(wall_point, dimension),
        lower_points(normal, dimension),
        frozen(interior.part_cell[interior.space.cell[near["dart"]]].astype(np.int64)),
        frozen(corners),
        frozen(weights),
    )
