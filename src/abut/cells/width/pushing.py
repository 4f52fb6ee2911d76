"""What walls that move do to a mobile with a width: they push it ahead of them, and never come nearer than its radius while there is room.

The step of the environment is gone in pieces. At the beginning of each the contacts are gathered; the body's motion over the rest of the step is the
least that keeps it before all of them (`projection`), and both go on, together, up to the first time at which something else comes too near. No
wall can pass a body: a body and walls that go straight are apart up to that time (`separation`).

Where there is not room enough, walls that close in from two sides say, the pieces become short. Then the body makes do with SQUEEZE of the distance,
and with that of it again, but nothing ever comes through it. What ends nearer than the radius is told.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import Row
from abut.cells.settle.reaches import Reach
from abut.cells.space.planar import lower_points
from abut.cells.space.predicates import NOWHERE, holds
from abut.cells.space.records import BLOCKED, NO_FACE, Space, renew_record
from abut.cells.walk.segment_walk import COUNT, Front, begin, push
from abut.cells.width.contacts import TOUCH, Paths, Walls
from abut.cells.width.projection import distinct, project_vertices, room_of
from abut.cells.width.thickness import CLOSE, Thickness
from abut.cells.width.wall_lists import Box, grow, meets_face
from abut.cells.width.wide_moves import walk
from abut.core.arrays import Floats, frozen
from abut.core.jit import integer, kernel
from abut.core.records import Records
from abut.geometry.rows import vector_at

MOST_PIECES = 400
MOST_TRIES, LEAST_PORTION = 12, 2.0**-40
AHEAD = 1.0 + 2.0**-10
"""How far before a wall a body is pushed, in units of the distance at which it stops: what turns with the wall does not come too near at once."""
SHORT, MOST_SHORT, SQUEEZE = 2.0**-8, 12, 0.75
"""A piece of less than this part of what is left is short; after so many of them the body makes do with this part of the distance."""


class Pushed(NamedTuple):
    """Where a body is in the end, and what pushed it."""

    position: Floats
    touches: Records
    """the first contact of each simplex that was pushed, of TOUCH"""
    done: float
    """the share of the step that was gone; where that is not 1, walls that move have come to where the body is"""


class Freedom:
    """How the vertices of a body may move: each by itself, and only where it is pushed. A rigid body has another one."""

    is_straight = True
    """whether vertices go straight from one place to the next, so that a part of a free piece is free"""

    def find_end(self, position: Floats, near: Records, room: Floats) -> tuple[Floats, Floats]:
        """Plan a motion, the nearest to the one that is wanted that leaves no contact less than its room: where it ends, and what each contact
        adds."""
        motion, pushed = np.zeros_like(position), np.zeros(len(near))
        project_vertices(near, room, np.ones(len(position), np.bool_), motion, pushed)
        return position + motion, pushed

    def portion(self) -> float:
        """How much of the planned motion may be one straight piece."""
        return 1.0

    def at_share(self, position: Floats, end: Floats, share: float) -> Floats:
        """Where the body is at a share of the planned motion."""
        return end if share >= 1.0 else position + share * (end - position)

    def take(self, share: float) -> None:
        """This share of the planned motion was gone."""


def follow(
    thickness: Thickness,
    space: Space,
    before: Floats,
    position: Floats,
    part: NDArray[np.int32],
    freedom: Freedom,
    *,
    stops: bool = False,
) -> Pushed:
    """Let the walls go from `before` to where they are, and the body as it wants to. `part` holds each vertex at the beginning, in the tables as
    they are now. With `stops` it ends at the first contact; `done` says where."""
    at, done, home, nothing = position, 0.0, position, np.empty(0, TOUCH)
    least, pieces, short = thickness.least, 0, 0  # the distance at which walls stop
    told: dict[int, Records] = {}
    while done < 1.0 and pieces < MOST_PIECES:
        walls, near = Walls(before, space.vertices, done, 1.0), nothing
        if pieces and not stops:
            near = thickness.find_near(space, walls, Paths(at, at, part), home, thickness.every, least * CLOSE, True)
            near = distinct(near)
        end, pushed = freedom.find_end(at, near, room_of(near, least * AHEAD, walls))
        for touch in near[pushed > 0.0]:
            told.setdefault(int(touch["row"]), touch.copy())
        at, share, touches = _go(thickness, space, walls, Paths(at, end, part), home, least, freedom)
        for touch in touches:
            told.setdefault(int(touch["row"]), touch.copy())
        done = 1.0 if share >= 1.0 else done + share * (1.0 - done)
        if stops and len(touches):
            break
        short = short + 1 if share < SHORT else 0
        if short > MOST_SHORT:
            least, short = SQUEEZE * least, 0
            if stops or before is space.vertices:
                break  # among walls at rest a body stops where it can go no further
        pieces += 1
    rows = [told[row] for row in sorted(told)]
    return Pushed(at, np.array(rows, TOUCH) if rows else nothing, done)


def _go(
    thickness: Thickness, space: Space, walls: Walls, paths: Paths, home: Floats, least: float, freedom: Freedom
) -> tuple[Floats, float, Records]:
    """Go as far on a planned motion as one piece may: where that is, the share of the motion, and what is touched there."""
    portion, found = freedom.portion(), np.empty(0, TOUCH)
    for _ in range(MOST_TRIES):
        goal = freedom.at_share(paths.start, paths.end, portion)
        last = walls.begin + portion * (walls.end - walls.begin) if portion < 1.0 else walls.end
        touches = thickness.find_first(
            space, walls._replace(end=last), Paths(paths.start, goal, paths.part), home, thickness.outer, least
        )
        share = float(touches["time"].min(initial=np.inf))
        if share > 1.0:
            freedom.take(portion)
            return goal, portion, found
        found = touches[touches["time"] <= share].copy()
        found["time"] = walls.begin + share * (last - walls.begin)
        portion *= share
        if freedom.is_straight:
            freedom.take(portion)
            return paths.start + share * (goal - paths.start), portion, found
        if portion < LEAST_PORTION:
            break
    freedom.take(0.0)
    return paths.start, 0.0, found


def first_time(thickness: Thickness, space: Space, before: Floats, position: Floats, part: NDArray[np.int32]) -> float:
    """When a wall first comes too near to a body that stays where it is; infinite for never."""
    paths = Paths(position, position, part)
    touches = thickness.find_first(
        space, Walls(before, space.vertices, 0.0, 1.0), paths, position, thickness.outer, thickness.least
    )
    return float(touches["time"].min(initial=np.inf))


@kernel
def _find_holding(space: Space, fronts: Front, seed: Row, box: Box, x: tuple[float, float, float]) -> int:
    """The free part in a box, come to from `seed`, that holds a point; −1 where none does."""
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    begin(front)
    push(front, seed)
    at = 0
    while at < front.state[COUNT]:
        part = integer(front.queue[at])
        at += 1
        if space.stale[part]:
            renew_record(space, part)
        if holds(space, part, x):
            return part
        for slot in range(space.face.shape[1]):
            dart, beyond = integer(space.face[part, slot]), integer(space.neighbour[part, slot])
            if dart != NO_FACE and beyond != BLOCKED and meets_face(space, dart, box):
                push(front, beyond)
    return -1


def find_way(
    thickness: Thickness, interior: Interior, position: Floats, part: NDArray[np.int32], goal: Floats
) -> tuple[Floats, NDArray[np.int32], bool]:
    """Points where they were pushed to: by a walk from where they are, as points, at the end of the step, else by a search of the cells between; and
    whether all are there. One that is not stays where its walk ended."""
    reached, parts = walk(interior, position, part, goal)
    space, found = interior.space, True
    for row in np.flatnonzero((reached != goal).any(axis=1)).tolist():
        p, q = vector_at(position, row), vector_at(goal, row)
        size = float(np.abs(goal[row] - position[row]).max()) + thickness.radius
        box = grow(grow((p, p), p, size), q, size)
        holder = int(_find_holding(space, thickness.front(space), integer(part[row]), box, q))
        if holder == NOWHERE:
            found = False
        else:
            reached[row], parts[row] = goal[row], holder
    return reached, parts, found


def tell_vertices(interior: Interior, touches: Records, position: Floats) -> Reach:
    """The vertices among simplices that were pushed."""
    chosen = touches[touches["a"] == touches["c"]]
    space, dimension = interior.space, interior.dimension
    corners = np.stack([chosen[name] for name in ("u", "v", "w")], axis=1)[:, :dimension]
    return Reach(
        frozen(chosen["a"].copy()),
        frozen(np.zeros(len(chosen), np.int64)),
        frozen(chosen["time"].copy()),
        lower_points(position[chosen["a"]], dimension),
        frozen(interior.part_cell[space.cell[chosen["dart"]]].astype(np.int64)),
        frozen(corners),
    )
