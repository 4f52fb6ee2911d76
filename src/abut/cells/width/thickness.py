"""A mobile's vertices, edges and faces as simplices with a radius, and the questions that they ask of the walls.

Simplices are numbered: vertices, then edges, then faces. The *outer* ones are those that are no part of a larger one: what they sweep holds what the
others do, so that they alone are asked about times; all are asked where contacts are gathered, each for the points inside it.
"""

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.space.records import Space
from abut.cells.walk.segment_walk import Front, make_fronts
from abut.cells.width.contacts import TOUCH, Paths, Walls, find_first, find_near
from abut.cells.width.projection import distinct
from abut.core.arrays import Floats, Integers, frozen
from abut.core.records import Records

STOP = 1.0 + 2.0**-10
"""Where a body stops, in units of its radius. What it has above that lets it turn about what it touches (`separation.BAND`)."""
CLOSE = 1.0 + 2.0**-4
"""Walls within this much of the radius count as contacts that a motion must respect from its beginning."""
FIRST_ROOM, FIRST_CONTACTS = 256, 64


class Thickness:
    """The simplices of a mobile, and room for answers."""

    def __init__(self, radius: float, count: int, edges: Integers, faces: Integers) -> None:
        self.radius = radius
        self.least = radius * STOP
        """the distance at which it stops"""
        self.vertex_count, self.edge_count = count, len(edges)
        rows = np.repeat(np.arange(count), 3).reshape(-1, 3)
        self.simplices = np.ascontiguousarray(np.concatenate((rows, edges[:, [0, 1, 1]], faces)), dtype=np.int64)
        self.outer = self._find_outer(edges, faces)
        self.every = np.arange(len(self.simplices))
        self._room = np.empty((FIRST_ROOM, 4), np.int64)
        self._contacts = np.empty(FIRST_CONTACTS, TOUCH)
        self._fronts: Front | None = None

    def _find_outer(self, edges: Integers, faces: Integers) -> Integers:
        lone = np.ones(self.vertex_count, np.bool_)
        lone[edges] = False
        sides = np.sort(np.concatenate((faces[:, :2], faces[:, 1:], faces[:, ::2])), axis=1)
        names = {tuple(side) for side in sides.tolist()}
        bare = [k for k, edge in enumerate(np.sort(edges, axis=1).tolist()) if tuple(edge) not in names]
        first_edge, first_face = self.vertex_count, self.vertex_count + len(edges)
        every_face = first_face + np.arange(len(faces))
        return np.concatenate((np.flatnonzero(lone), first_edge + np.array(bare, np.int64), every_face))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_fronts": None}

    def name(self, row: int) -> tuple[int, int, int]:
        """The vertex, edge or face of a row; −1 for the two others."""
        first_face = self.vertex_count + self.edge_count
        if row < self.vertex_count:
            return row, -1, -1
        return (-1, row - self.vertex_count, -1) if row < first_face else (-1, -1, row - first_face)

    def front(self, space: Space) -> Front:
        """Scratch for a search."""
        if self._fronts is None or self._fronts.seen.shape[1] != len(space.face):
            self._fronts = make_fronts(space, 1)
        return self._fronts

    def find_first(
        self, space: Space, walls: Walls, paths: Paths, home: Floats, chosen: Integers, least: float
    ) -> Records:
        """Of each chosen simplex the first time at which a wall is nearer than `least` (`contacts.find_first`)."""
        touches, paths = np.zeros(len(chosen), TOUCH), paths._replace(end=frozen(paths.end.view()))
        while True:
            need = find_first(
                space, self.front(space), walls, paths, home, self.simplices, chosen, least, self._room, touches
            )  # fmt: skip
            if not need:
                return touches
            self._room = np.empty((2 * need, 4), np.int64)

    def find_near(
        self, space: Space, walls: Walls, paths: Paths, home: Floats, chosen: Integers, within: float, is_each: bool
    ) -> Records:
        """What is within a distance of the chosen simplices (`contacts.find_near`)."""
        while True:
            found, need = find_near(
                space, self.front(space), walls, paths, home, self.simplices, chosen, within, is_each, self._room,
                self._contacts,
            )  # fmt: skip
            if need:
                self._room = np.empty((2 * need, 4), np.int64)
            elif found > len(self._contacts):
                self._contacts = np.empty(2 * found, TOUCH)
            else:
                return self._contacts[:found].copy()

    def list_near_now(
        self, interior: Interior, position: Floats, part: NDArray[np.int32], within: float, every: bool = False
    ) -> Records:
        """The nearest wall of each outer simplex that has one within a distance, where the body is; or every wall of every simplex."""
        points = interior.space.vertices
        at, walls = Paths(position, position, part), Walls(points, points, 0.0, 1.0)
        if every:
            return distinct(self.find_near(interior.space, walls, at, position, self.every, within, True))
        return self.find_near(interior.space, walls, at, position, self.outer, within, False)
