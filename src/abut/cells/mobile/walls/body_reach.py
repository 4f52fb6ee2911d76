"""What walls have reached of a mobile: the rows that `Mobile.reached` answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.cells.settle.reaches import Reach, join_reaches
from abut.cells.space.planar import lower_points
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records
from abut.core.showing import count, describe


@dataclass(frozen=True, eq=False, repr=False)
class BodyReach:
    """What walls have reached of a mobile since it was last brought up to date: vertices, and edges and faces that they came through.

    Edges and faces are looked at where they are after each deformation, and lifted off the walls. An edge that a wall thinner than one
    step has passed as a whole is not among them.

    Examples:
        >>> import abut
        >>> square = [[0, 0], [1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [2, 2], [3, 2], [1.5, 0.25]]
        >>> room = abut.cells.polygons(square, [[0, 1, 5, 4], [1, 8, 6, 5], [8, 2, 6], [2, 3, 7, 6], [1, 2, 8]], [False] * 4 + [True])
        >>> rod = abut.cells.Mobile(room, ([[0.5, 0.5], [2.5, 0.5]], [[0, 1]]))
        >>> room.deform([[1.5, 1.0]], moved=[8])
        >>> rod.settle().tolist()
        [False, False]
        >>> rod.reached
        BodyReach(1 edge)
        >>> rod.reached.is_free.tolist(), (rod.position[:, 1] >= 1.0).tolist()
        ([True], [True, True])
    """

    vertices: Reach
    """the vertices that walls have reached"""
    edge: Integers
    """(k,) the edges that walls came through, −1 for a face"""
    face: Integers
    """(k,) the faces that walls came through between their edges, −1 for an edge"""
    deformation: Integers
    """(k,) in which change of the environment, counted from 0 since the mobile was last settled"""
    point: Floats
    """(k, dimension) the middle of what lay in the wall, before it was lifted; of a face its middle"""
    corners: Integers
    """(k, dimension) vertices of the wall at which the edge went in, three of them in space; −1 where that is not known"""
    time: Floats
    """(k,) when a wall first reached the edge or face where it was before the deformation, or pushed it: never late, 0 where it touched it already"""
    is_free: NDArray[np.bool_]
    """(k,) whether the edge or face could be lifted off and is free now"""

    def __len__(self) -> int:
        return len(self.vertices) + len(self.edge)

    def __repr__(self) -> str:
        parts = (
            (len(self.vertices), "vertex", "vertices"),
            (int((self.edge >= 0).sum()), "edge", "edges"),
            (int((self.face >= 0).sum()), "face", "faces"),
        )
        return describe(self, *(count(number, one, many) for number, one, many in parts if number))


def tell(dimension: int, names: Integers, touches: Records, change: int, is_free: NDArray[np.bool_]) -> BodyReach:
    """Rows of what was touched."""
    walls = np.stack([touches[name] for name in ("u", "v", "w")], axis=1)[:, :dimension]
    points = np.stack([touches[name] for name in ("x", "y", "z")], axis=1)
    return BodyReach(
        join_reaches([], dimension),
        frozen(names[:, 1].copy()),
        frozen(names[:, 2].copy()),
        frozen(np.full(len(touches), change)),
        lower_points(points, dimension),
        frozen(walls),
        frozen(np.array(touches["time"])),
        frozen(is_free),
    )


def tabulate(
    dimension: int, rows: Integers, told: list[tuple[Floats, Integers]], edge_count: int, walls: Records, change: int,
    times: Floats,
) -> BodyReach:  # fmt: skip
    """Rows of what walls have come through."""
    points, corners = (np.array(column) for column in zip(*told, strict=True))
    return BodyReach(
        join_reaches([], dimension),
        frozen(np.where(rows < edge_count, rows, -1)),
        frozen(np.where(rows < edge_count, -1, rows - edge_count)),
        frozen(np.full(len(rows), change)),
        lower_points(points, dimension),
        frozen(corners.astype(np.int64)),
        frozen(times),
        frozen(np.array(walls["is_free"][rows])),
    )


def join_tables(vertices: Reach, tables: list[BodyReach], dimension: int) -> BodyReach:
    """One table of all changes."""
    empty = np.empty(0, np.int64)
    if not tables:
        corners = np.empty((0, dimension), np.int64)
        return BodyReach(
            vertices, empty, empty, empty, np.empty((0, dimension)), corners, np.empty(0), np.empty(0, np.bool_)
        )
    names = ("edge", "face", "deformation", "point", "corners", "time", "is_free")
    return BodyReach(vertices, *(frozen(np.concatenate([getattr(each, name) for each in tables])) for name in names))
