"""Which way an edge or a face is lifted off the walls that have come through it, and how far.

An edge that goes into a wall at x and comes out at y is lifted in the direction of both walls' inward normals, at a right angle to itself, by the
height of the ridge that the planes of the two walls make, but never by more than LIFT of the chord xy and of what the walls have moved together: the
next round sees what is left. Its ends share the way as they share the place: the least motion that takes the middle of xy there. A face goes with
the wall that has come through it, along its own normal.
"""

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.mobile.walls.pierced import corners_of_wall
from abut.core.arrays import Floats, Integers
from abut.core.records import Records

LIFT = 0.5
FURTHER = 1.0 + 2.0**-10
"""A little more than the ridge is high."""
FLAT = 1e-3
"""The normals of two walls add up to less than this where they bound a thin plate, which can only be followed."""


class Lifts:
    """The lifts of the edges and faces of a body."""

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
        if steep < FLAT:
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
