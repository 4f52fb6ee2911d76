"""What a mobile does where the environment has moved into it: its vertices go along with walls that reach them, and edges and faces that walls come
through are lifted off these (Jund 2010, §5.5, seen from the tool).

An edge that goes into a wall at x and comes out at y is lifted in the direction of both walls' inward normals, at a right angle to itself, by the
height of the ridge that the planes of the two walls make, but never by more than LIFT of the chord xy and of what the walls have moved together: the
next round sees what is left. Its ends share the way as they share the place: the least motion that takes the middle of xy there. A face goes with
the wall that has come through it, along its own normal. Vertices walk to their new places as particles do, so they never leave the free cells. What
is not free after MOST_ROUNDS is told (`BodyReach.is_free`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import Indices
from abut.cells.mobile.pierced import WALL, Points, corners_of_wall, find_walls
from abut.cells.settle.reaches import Reach, join_reaches
from abut.cells.settle.settling import Places
from abut.cells.space.planar import lower_points
from abut.cells.walk.segment_walk import make_fronts
from abut.cells.width.passing_walls import find_passing, make_thin
from abut.cells.width.pushing import Freedom, find_way, first_time, follow, tell_vertices
from abut.cells.width.thickness import Thickness
from abut.cells.width.wide_moves import walk
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records
from abut.core.showing import count, describe

MOST_ROUNDS = 32
LIFT = 0.5
FURTHER = 1.0 + 2.0**-10
"""A little more than the ridge is high."""


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


class BodyPlaces(Places):
    """The places of a mobile's vertices, which know its edges and faces."""

    edges: Integers
    faces: Integers
    """(k,2), (m,3); the mobile sets them"""

    def __init__(self, interior: Interior, position: Floats, part: Indices) -> None:
        super().__init__(interior, position, part)
        self.edges, self.faces = np.empty((0, 2), np.int64), np.empty((0, 3), np.int64)
        self.thickness: Thickness | None = None
        """of a mobile with a width"""
        self.freedom = Freedom()
        """how its vertices may be pushed"""
        self._tables: list[BodyReach] = []
        self._changes = 0
        self._looked: tuple[Integers, Integers, Thickness] | None = None

    def tables(self) -> list[BodyReach]:
        """What has happened to edges and faces since this was last asked."""
        tables, self._tables, self._changes = self._tables, [], 0
        return tables

    def catch_up(self) -> None:
        """As for points; then edges and faces are lifted off the walls that have come through them."""
        if self.seen == self._interior.version:
            return
        if self.thickness is not None and self._interior.motion is not None and not len(self.held):
            self._tables.append(self._give_way(self.thickness))
            self._changes += 1
            return
        begin, came, parts = self.position, None, self.part
        if self._interior.motion is not None and len(self.edges) and not len(self.held):
            parts = self.parts_at_start()
            came = find_passing(self._thin(), self._interior, begin, parts)
        super().catch_up()
        if len(self.edges) and not self._interior.space.obstacle[self.part].any():
            walls = self.list_walls()
            if came is not None and len(passed := self._list_passed(came, walls)):
                self._bring_back(passed, begin, parts)
                walls = self.list_walls()
            self._lift(walls, came)
        self._changes += 1

    def _thin(self) -> Thickness:
        """The edges and faces of a mobile without a width, as they are now."""
        known = self._looked
        if known is None or known[0] is not self.edges or known[1] is not self.faces:
            thin = make_thin(self._interior, len(self.part), self.edges, self.faces)
            self._looked = known = (self.edges, self.faces, thin)
        return known[2]

    def _list_passed(self, came: Records, walls: Records) -> Records:
        """The edges and faces that walls have come to while none of their corners was pushed, and that are free all the same."""
        pushed = self.pending.pushed if self.pending is not None else np.zeros(len(self.part), np.bool_)
        still = ~(pushed[came["a"]] | pushed[came["b"]] | pushed[came["c"]])
        return came[still & walls["is_free"][came["row"] - len(self.part)]]

    def _bring_back(self, passed: Records, begin: Floats, parts: Indices) -> None:
        """Let walls push the body that have passed something of it as a whole, and tell of what they have."""
        interior, thin = self._interior, self._thin()
        gone = follow(thin, interior.space, interior.fabric.origin, begin, parts, Freedom())
        is_free = False
        if gone.done >= 1.0:
            position, part, is_free = find_way(thin, interior, self.position, self.part, gone.position)
            if is_free:
                self.position, self.part = position, part
        names = np.array([thin.name(int(row)) for row in passed["row"]], np.int64)
        self._tables.append(
            _tell(interior.dimension, names, passed, self._changes, np.full(len(passed), is_free, np.bool_))
        )

    def _give_way(self, thickness: Thickness) -> BodyReach:
        """Let walls push a body with a width."""
        interior, begin = self._interior, self.position
        space, origin = interior.space, interior.fabric.origin
        gone = follow(thickness, space, origin, begin, self.parts_at_start(), self.freedom)
        super().catch_up()
        self.position, self.part, is_there = find_way(thickness, interior, self.position, self.part, gone.position)
        near = thickness.list_near_now(interior, self.position, self.part, thickness.radius)
        reach = tell_vertices(interior, gone.touches, begin)
        if self.pending is not None:
            self.pending.pushed[(self.position != begin).any(axis=1)] = True
            self.pending = self.pending._replace(reached=[*self.pending.reached[:-1], reach])
        touches = gone.touches[gone.touches["row"] >= thickness.vertex_count]
        names = np.array([thickness.name(int(row)) for row in touches["row"]], np.int64).reshape(-1, 3)
        is_free = ~np.isin(touches["row"], near["row"]) & (gone.done >= 1.0 and is_there)
        return _tell(interior.dimension, names, touches, self._changes, is_free)

    def first_touch(self) -> float:
        """As for points; NaN where only an edge or a face is not free in the end."""
        if self.thickness is not None and self._interior.motion is not None and not len(self.held):
            table = (self._interior.fabric.origin, self.position, self.parts_at_start())
            return first_time(self.thickness, self._interior.space, *table)
        first = super().first_touch()
        if not len(self.edges):
            return first
        came = find_passing(self._thin(), self._interior, self.position, self.parts_at_start())
        first = min(first, float(came["time"].min(initial=np.inf)))
        if first < np.inf:
            return first
        parts, _ = self.try_motion()
        if self._interior.space.obstacle[parts].any():
            return first
        return first if self.list_walls(parts)["is_free"].all() else float("nan")

    def list_walls(self, part: Indices | None = None) -> Records:
        """A row for each edge and face (`pierced.WALL`), for the parts in which vertices are, or others."""
        space = self._interior.space
        walls = np.zeros(len(self.edges) + len(self.faces), WALL)
        points = Points(self.position, self.part if part is None else part)
        find_walls(space, make_fronts(space, 1), points, self.edges, self.faces, walls)
        return walls

    def _lift(self, walls: Records, came: Records | None) -> None:
        """Lift what walls have come through off them; `came` says when they did."""
        pierced = np.flatnonzero(~walls["is_free"])
        if not len(pierced):
            return
        lifts = _Lifts(self._interior, self.edges, self.faces)
        told = [lifts.describe(k, walls[k], self.position) for k in pierced.tolist()]
        still = pierced
        for _ in range(MOST_ROUNDS):
            goal = self.position + lifts.find(still, walls, self.position)
            self.position, self.part = walk(self._interior, self.position, self.part, goal)
            walls = self.list_walls()
            still = np.flatnonzero(~walls["is_free"])
            if not len(still):
                break
        times = np.zeros(len(self.edges) + len(self.faces))
        if came is not None:
            times[came["row"] - len(self.part)] = came["time"]
        self._tables.append(
            _tabulate(self._interior.dimension, pierced, told, len(self.edges), walls, self._changes, times[pierced])
        )


class _Lifts:
    """Which way, and how far."""

    def __init__(self, interior: Interior, edges: Integers, faces: Integers) -> None:
        self._interior, self._edges, self._faces = interior, edges, faces

    def _plane(self, part: int, dart: int) -> tuple[Floats, Floats]:
        """A corner of a wall, and its inward unit normal."""
        points = self._interior.space.vertices[corners_of_wall(self._interior, dart)]
        if self._interior.dimension == 2:
            along = points[1] - points[0]
            normal = np.array([-along[1], along[0], 0.0])
        else:
            normal = np.cross(points[1] - points[0], points[2] - points[0])
        return points[0], normal / max(float(np.linalg.norm(normal)), np.finfo(float).tiny)

    def _motion(self, darts: set[int]) -> Floats:
        """How far walls have gone in the last deformation: the corner that went furthest."""
        interior = self._interior
        rows = np.unique(np.concatenate([corners_of_wall(interior, dart) for dart in darts]))
        if interior.motion is None:
            return np.zeros(3)
        gone = interior.space.vertices[rows] - interior.fabric.origin[rows]
        return gone[int(np.argmax((gone**2).sum(axis=1)))]

    def describe(self, k: int, wall: Records, position: Floats) -> tuple[Floats, Integers]:
        """Where an edge or a face is in the wall, and the wall's corners."""
        dimension = self._interior.dimension
        if k < len(self._edges):
            x, y = self._chord(k, wall, position)
            return (x + y) / 2, corners_of_wall(self._interior, int(wall["entry"]))[:dimension]
        corners = np.full(dimension, -1)
        if wall["entry"] >= 0:
            corners = corners_of_wall(self._interior, int(wall["entry"]))[:dimension]
        return position[self._faces[k - len(self._edges)]].mean(axis=0), corners

    def _chord(self, k: int, wall: Records, position: Floats) -> tuple[Floats, Floats]:
        a, b = position[self._edges[k]]
        ends = []
        for p, q, part, dart in ((a, b, wall["part"], wall["entry"]), (b, a, wall["exit_part"], wall["exit"])):
            corner, normal = self._plane(int(part), int(dart))
            begin, end = float(normal @ (p - corner)), float(normal @ (q - corner))
            share = min(max(begin / (begin - end), 0.0), 1.0) if begin > end else 0.0
            ends.append(p + share * (q - p))
        return ends[0], ends[1]

    def find(self, chosen: Integers, walls: Records, position: Floats) -> Floats:
        """(n,3) how far each vertex is to go."""
        lift = np.zeros_like(position)
        size = np.zeros(len(position))
        for k in chosen.tolist():
            moves = (
                self._lift_edge(k, walls[k], position)
                if k < len(self._edges)
                else self._lift_face(k, walls[k], position)
            )
            for row, move in moves:
                length = float(np.linalg.norm(move))
                if length > size[row]:
                    lift[row], size[row] = move, length
        return lift

    def _lift_edge(self, k: int, wall: Records, position: Floats) -> list[tuple[int, Floats]]:
        i, j = self._edges[k].tolist()
        a, b = position[i], position[j]
        length = float(np.linalg.norm(b - a))
        along = (b - a) / max(length, np.finfo(float).tiny)
        (_, first), (_, second) = (
            self._plane(int(wall[part]), int(wall[dart])) for part, dart in (("part", "entry"), ("exit_part", "exit"))
        )
        x, y = self._chord(k, wall, position)
        gone = self._motion({int(wall["entry"]), int(wall["exit"])})
        gone = gone - (gone @ along) * along
        chord = float(np.linalg.norm(y - x))
        up = first + second
        up = up - (up @ along) * along
        steep = float(np.linalg.norm(up))
        most = LIFT * (chord + float(np.linalg.norm(gone)))
        if steep < 1e-3:  # a thin plate: it can only be followed
            move = gone
        else:
            up /= steep
            slope = float(second @ along) * float(first @ up)
            fall = float(first @ along)
            under = float(second @ up) - slope / fall if fall < 0.0 else 0.0
            height = chord * float(second @ along) / under if under > 0.0 else most
            move = up * min(max(height, 0.0) * FURTHER + 2.0**-40 * length, max(most, 2.0**-30 * length))
        share = min(max(float(((x + y) / 2 - a) @ along) / max(length, np.finfo(float).tiny), 0.0), 1.0)
        weight = (1.0 - share) ** 2 + share**2
        return [(i, move * (1.0 - share) / weight), (j, move * share / weight)]

    def _lift_face(self, k: int, wall: Records, position: Floats) -> list[tuple[int, Floats]]:
        rows = self._faces[k - len(self._edges)].tolist()
        if wall["entry"] < 0:
            return []  # its edges are lifted
        a, b, c = position[rows]
        normal = np.cross(b - a, c - a)
        normal /= max(float(np.linalg.norm(normal)), np.finfo(float).tiny)
        gone = float(self._motion({int(wall["entry"])}) @ normal)
        if gone == 0.0:
            gone = 2.0**-6 * float(np.linalg.norm(b - a))
        return [(row, LIFT * gone * normal) for row in rows]


def _tell(dimension: int, names: Integers, touches: Records, change: int, is_free: NDArray[np.bool_]) -> BodyReach:
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


def _tabulate(
    dimension: int, rows: Integers, told: list[tuple[Floats, Integers]], edge_count: int, walls: Records, change: int,
    times: Floats,
) -> BodyReach:  # fmt: skip
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
