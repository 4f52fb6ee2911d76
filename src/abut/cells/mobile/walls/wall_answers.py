"""What a mobile does where the environment has moved into it: its vertices go along with walls that reach them, and edges and faces that walls come
through are lifted off these (Jund 2010, §5.5, seen from the tool).

Lifts (`lifts`) are tried in rounds. Vertices walk to their new places as particles do, so they never leave the free cells. What is not free after
MOST_ROUNDS is told (`BodyReach.is_free`).
"""

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import Indices
from abut.cells.mobile.walls.body_reach import BodyReach, tabulate, tell
from abut.cells.mobile.walls.lifts import Lifts
from abut.cells.mobile.walls.pierced import WALL, Points, find_walls
from abut.cells.settle.settling import Places
from abut.cells.walk.segment_walk import make_fronts
from abut.cells.width.passing_walls import find_passing, make_thin
from abut.cells.width.pushing import Freedom, find_way, first_time, follow, tell_vertices
from abut.cells.width.thickness import Thickness
from abut.cells.width.wide_moves import walk
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records

MOST_ROUNDS = 32


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
            tell(interior.dimension, names, passed, self._changes, np.full(len(passed), is_free, np.bool_))
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
        return tell(interior.dimension, names, touches, self._changes, is_free)

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
        edges, faces = frozen(self.edges.view()), frozen(self.faces.view())
        find_walls(space, make_fronts(space, 1), points, edges, faces, walls)
        return walls

    def _lift(self, walls: Records, came: Records | None) -> None:
        """Lift what walls have come through off them; `came` says when they did.

        Nothing that is free is lifted into a wall: of the rounds that leave all such edges and faces free, the body stays as the best has left it.
        """
        pierced = np.flatnonzero(~walls["is_free"])
        if not len(pierced):
            return
        lifts = Lifts(self._interior, self.edges, self.faces)
        told = [lifts.describe(k, walls[k], self.position) for k in pierced.tolist()]
        still, best = pierced, (len(pierced), self.position, self.part, walls)
        for _ in range(MOST_ROUNDS):
            goal = self.position + lifts.find(still, walls, self.position)
            self.position, self.part = walk(self._interior, self.position, self.part, goal)
            walls = self.list_walls()
            still = np.flatnonzero(~walls["is_free"])
            if len(still) < best[0] and np.isin(still, pierced).all():
                best = len(still), self.position, self.part, walls
            if not len(still):
                break
        _, self.position, self.part, walls = best
        times = np.zeros(len(self.edges) + len(self.faces))
        if came is not None:
            times[came["row"] - len(self.part)] = came["time"]
        self._tables.append(
            tabulate(self._interior.dimension, pierced, told, len(self.edges), walls, self._changes, times[pierced])
        )
