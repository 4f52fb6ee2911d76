"""Where and when parts of a mobile come as near to walls as they may, and what is near them now: kernels over rows of simplices.

A simplex is a row (a, b, c) of vertices: a vertex comes three times, the last of an edge twice. Walls go straight from `before` to `after`, from
one share of that way to another; in an environment at rest the two are one table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Row
from abut.cells.space.records import Space
from abut.cells.walk.segment_walk import Front
from abut.cells.width.separation import NEVER, Corners, corner_weights, first_within, nearest, nearest_to_corner
from abut.cells.width.wall_lists import Box, grow, list_walls
from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, integer, kernel
from abut.core.records import Records, record
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, lerp, scale, subtract

TOUCH = record(
    ("row", "i8"), ("corners", "i8"), ("time", "f8"), ("distance", "f8"), ("dart", "i8"),
    *((name, "f8") for name in ("nx", "ny", "nz", "x", "y", "z")),
    *((name, "i8") for name in ("a", "b", "c", "u", "v", "w")),
    *((name, "f8") for name in ("share_a", "share_b", "share_c", "share_u", "share_v", "share_w")),
)  # fmt: skip
"""A simplex and a wall: the row of the simplex and how many corners it has, when they are how far apart, a dart of the wall, the direction from the
body to the wall and the point of the wall, the vertices of the simplex a, b, c and of the wall u, v, w, and their weights in the two points."""
FOUND, ROOM = 0, 1


class Walls(NamedTuple):
    """Where the vertices of walls are at the beginning and at the end of the step, and from which share of it to which it is asked about."""

    before: Floats
    after: Floats
    begin: float
    end: float


class Paths(NamedTuple):
    """Where the vertices of a mobile are, where they go, and for each a free part from which what is near it can be reached."""

    start: Floats
    end: Floats
    part: NDArray[np.int32]


@inlined
def _size(a: Row, b: Row, c: Row) -> int:
    return integer(1) if a == b else integer(2) if b == c else integer(3)


@inlined
def _corners(table: Floats, a: Row, b: Row, c: Row) -> Corners:
    return vector_at(table, a), vector_at(table, b), vector_at(table, c)


@inlined
def _wall_at(walls: Walls, time: float, u: Row, v: Row, w: Row) -> Corners:
    return (
        lerp(vector_at(walls.before, u), vector_at(walls.after, u), time),
        lerp(vector_at(walls.before, v), vector_at(walls.after, v), time),
        lerp(vector_at(walls.before, w), vector_at(walls.after, w), time),
    )


@inlined
def _write(
    touch: Records, row: Row, size: int, time: float, gap: float, dart: Row, n: Vec3, p: Vec3, body: tuple[Row, Row, Row],
    wall: tuple[Row, Row, Row], shares: Vec3, weights: Vec3,
) -> None:  # fmt: skip
    touch.row, touch.corners, touch.time, touch.distance, touch.dart = row, size, time, gap, dart
    touch.nx, touch.ny, touch.nz = n
    touch.x, touch.y, touch.z = p
    touch.a, touch.b, touch.c = body
    touch.u, touch.v, touch.w = wall
    touch.share_a, touch.share_b, touch.share_c = shares
    touch.share_u, touch.share_v, touch.share_w = weights


@kernel
def _box_of(paths: Paths, home: Floats, a: Row, b: Row, c: Row, by: float) -> Box:
    p = vector_at(paths.start, a)
    box = (p, p)
    for k in range(3):
        row = a if k == 0 else b if k == 1 else c
        box = grow(grow(box, vector_at(paths.start, row), by), vector_at(paths.end, row), by)
        box = grow(box, vector_at(home, row), by)
    return box


@kernel
def find_first(
    space: Space, fronts: Front, walls: Walls, paths: Paths, home: Floats, simplices: Integers, chosen: Integers,
    least: float, room: Integers, touches: Records,
) -> int:  # fmt: skip
    """For each chosen simplex the first time at which a wall is nearer than `least` (`first_within`), NEVER where none is; `home` is where vertices
    were when their parts held them. The room that a list of walls needs, if that was too little."""
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    for k in range(len(chosen)):
        row = chosen[k]
        a, b, c = simplices[row, 0], simplices[row, 1], simplices[row, 2]
        size = _size(a, b, c)
        seeds = (integer(paths.part[a]), integer(paths.part[b]), integer(paths.part[c]))
        box = _box_of(paths, home, a, b, c, least * (1.0 + 2.0**-20))
        count = list_walls(space, walls.before, walls.after, front, seeds, box, room)
        if count > len(room):
            return count
        start, end, best = _corners(paths.start, a, b, c), _corners(paths.end, a, b, c), NEVER
        is_still = start == end
        touches[k].time, touches[k].row, touches[k].corners = NEVER, row, size
        for i in range(count):
            wall = (room[i, 1], room[i, 2], room[i, 3])
            first, last = _wall_at(walls, walls.begin, *wall), _wall_at(walls, walls.end, *wall)
            if (is_still and first == last) or _apart(box, first, last):
                continue
            time, shares, weights, n, p, gap = first_within(size, start, end, first, last, least, min(best, 1.0))
            if time < best:
                best = time
                _write(touches[k], row, size, time, gap, room[i, 0], n, p, (a, b, c), wall, shares, weights)
    return 0


@inlined
def _apart(box: Box, first: Corners, last: Corners) -> bool:
    """Whether a triangle that goes straight lies beside a box."""
    for k in range(3):
        least = min(first[0][k], first[1][k], first[2][k], last[0][k], last[1][k], last[2][k])
        most = max(first[0][k], first[1][k], first[2][k], last[0][k], last[1][k], last[2][k])
        if most < box[0][k] or least > box[1][k]:
            return True
    return False


@kernel
def find_near(
    space: Space, fronts: Front, walls: Walls, paths: Paths, home: Floats, simplices: Integers, chosen: Integers,
    within: float, is_each: bool, room: Integers, touches: Records,
) -> tuple[int, int]:  # fmt: skip
    """What is within a distance of simplices at the beginning: of each wall that is, where `is_each`, and of each simplex that is nearest in its
    inside; else the nearest wall of each simplex. How many, which may be more than fit in, and the room that a list needs, if it was too little."""
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    found = integer(0)
    for k in range(len(chosen)):
        row = chosen[k]
        a, b, c = simplices[row, 0], simplices[row, 1], simplices[row, 2]
        size = _size(a, b, c)
        seeds = (integer(paths.part[a]), integer(paths.part[b]), integer(paths.part[c]))
        box = _box_of(paths, home, a, b, c, within)
        count = list_walls(space, walls.before, walls.after, front, seeds, box, room)
        if count > len(room):
            return found, count
        start, best, slot = _corners(paths.start, a, b, c), within, found
        for i in range(count):
            wall = (room[i, 1], room[i, 2], room[i, 3])
            corners = _wall_at(walls, walls.begin, *wall)
            if _apart(box, corners, corners):
                continue
            for j in range(4 if is_each and size > 1 else 1):
                if j == 0:
                    shares, weights, on_body, on_wall, gap = nearest(size, start, corners)
                else:  # things that lie along a wall are near it in several places
                    shares, on_body, gap = nearest_to_corner(size, start, corners[j - 1])
                    weights, on_wall = corner_weights(j - 1), corners[j - 1]
                inside = shares[0] > 0.0 and (size < 2 or shares[1] > 0.0) and (size < 3 or shares[2] > 0.0)
                if gap > best or (is_each and not inside):
                    continue
                if found == slot or is_each:
                    found += 1
                if found <= len(touches):
                    n = scale(subtract(on_wall, on_body), 1.0 / gap) if gap > 0.0 else (0.0, 0.0, 0.0)
                    _write(
                        touches[found - 1], row, size, walls.begin, gap, room[i, 0], n, on_wall, (a, b, c), wall, shares,
                        weights,
                    )  # fmt: skip
                if not is_each:
                    best = gap
    return found, 0
