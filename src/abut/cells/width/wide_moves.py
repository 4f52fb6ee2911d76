"""How a mobile with a width moves among walls at rest: all vertices at the same time, each as far as what it belongs to is free.

Every vertex has a share of its path, at first all of it. Where a simplex comes too near to a wall, those of its corners that bring it there are given
the share up to that time, and all simplices around them are asked again, until none comes too near; corners of a simplex that is hit again and
again stay where they are. Shares only fall, and a body that does not move is free, so this ends.

Sliding: what is left of the motion is projected onto the planes of the contacts (`projection`), and tried as another move.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.walk.by_planes import move_rows
from abut.cells.walk.events import EVENT, TALLY
from abut.cells.width.contacts import TOUCH, Paths, Walls
from abut.cells.width.projection import distinct, project_vertices, room_of
from abut.cells.width.thickness import CLOSE, Thickness
from abut.core.arrays import Floats
from abut.core.records import Records

MOST_TRIES = 8
MOST_SLIDES = 4
LEAST_WEIGHT = 2.0**-20
"""A corner with less of the point that is nearest to a wall does not answer for it."""
LEAST_SLIDE = 2.0**-30
"""Of a motion: less is not gone."""


class Went(NamedTuple):
    """How far a body came."""

    position: Floats
    part: NDArray[np.int32]
    time: Floats
    """(n,) the share of its straight path at which each vertex, or what it belongs to, met a wall; 1 where it did not"""
    touch: Records
    """(n,) of TOUCH: that contact; row −1 where there was none"""


def walk(
    interior: Interior, position: Floats, part: NDArray[np.int32], goal: Floats
) -> tuple[Floats, NDArray[np.int32]]:
    """Where points come that are sent somewhere, as particles."""
    n = len(part)
    reached, parts = np.array(goal, order="C"), part.copy()
    interior.renew_records()
    tables = (np.empty(n, np.int8), np.empty(n, np.int32), np.empty(n, EVENT), np.zeros(1, TALLY))
    move_rows(interior.packed(), interior.space.reach, 0, n, 0, position, parts, reached, *tables)
    return reached, parts


def no_touches(count: int) -> Records:
    """A row for each vertex that has met nothing."""
    touches = np.zeros(count, TOUCH)
    touches["row"] = touches["dart"] = -1
    return touches


def move(
    thickness: Thickness, interior: Interior, position: Floats, part: NDArray[np.int32], goal: Floats, *, slides: bool
) -> Went:
    """Send all vertices towards their goals."""
    count = len(part)
    time, touch = np.ones(count), no_touches(count)
    at, parts, end = position, part, goal
    for turn in range(MOST_SLIDES + 1):
        share, met = _find_shares(thickness, interior, at, parts, end)
        hit = share < 1.0
        fresh = hit & (touch["row"] < 0)
        touch[fresh] = met[fresh]
        if turn == 0:
            time = share
        rest = (1.0 - share)[:, np.newaxis] * (end - at)
        after = np.where(hit[:, np.newaxis], at + share[:, np.newaxis] * (end - at), end)
        at, parts = walk(interior, at, parts, after)
        if not slides or not hit.any():
            break
        rest = _along_walls(thickness, interior, at, parts, rest)
        if not np.abs(rest).max() > LEAST_SLIDE * np.abs(goal - position).max():
            break
        end = at + rest
    return Went(at, parts, time, touch)


def _along_walls(thickness: Thickness, interior: Interior, at: Floats, part: NDArray[np.int32], rest: Floats) -> Floats:
    """What is left of a motion that does not go into walls."""
    points = interior.space.vertices
    walls, paths = Walls(points, points, 0.0, 1.0), Paths(at, at, part)
    within = thickness.least * CLOSE
    near = distinct(thickness.find_near(interior.space, walls, paths, at, thickness.every, within, True))
    motion = np.array(rest, order="C")
    room = room_of(near, thickness.least, walls)
    goes = (rest != 0.0).any(axis=1)  # vertices that have arrived stay
    project_vertices(near, room, goes, motion, np.zeros(len(near)))
    return motion


def _find_shares(
    thickness: Thickness, interior: Interior, at: Floats, part: NDArray[np.int32], goal: Floats
) -> tuple[Floats, Records]:
    """(n,) how much of its path each vertex may go, and what stopped it."""
    count, points, simplices = len(part), interior.space.vertices, thickness.simplices
    motion = goal - at
    share, met = np.ones(count), no_touches(count)
    goes = (motion != 0.0).any(axis=1)
    chosen, tries, walls = thickness.outer, 0, Walls(points, points, 0.0, 1.0)
    while True:
        chosen = chosen[goes[simplices[chosen]].any(axis=1)]
        end = np.where(share[:, np.newaxis] == 1.0, goal, at + share[:, np.newaxis] * motion)
        touches = thickness.find_first(interior.space, walls, Paths(at, end, part), at, chosen, thickness.least)
        hits = touches[touches["time"] <= 1.0]
        if not len(hits):
            return share, met
        tries += 1
        lowered, before = np.zeros(count, np.bool_), share.copy()
        for hit in hits[np.argsort(hits["time"], kind="stable")]:
            rows = np.unique([hit["a"], hit["b"], hit["c"]])
            if tries <= MOST_TRIES:
                rows = _who_brings(hit, rows, before, motion)
                new = before[rows] * float(hit["time"])
            else:
                rows = rows[before[rows] > 0.0]
                new = np.zeros(len(rows))
            is_less = new < share[rows]
            rows, new = rows[is_less], new[is_less]
            share[rows], lowered[rows] = new, True
            met[rows] = hit
        chosen = thickness.outer[lowered[simplices[thickness.outer]].any(axis=1)]


def _who_brings(hit: Records, rows: NDArray[np.int64], share: Floats, motion: Floats) -> NDArray[np.int64]:
    """The corners of a simplex that bring it nearer to the wall; all that move where none does so."""
    weights = {int(hit[name]): 0.0 for name in ("a", "b", "c")}
    for name in ("a", "b", "c"):
        weights[int(hit[name])] += float(hit["share_" + name])
    towards = motion[rows] @ np.array([hit["nx"], hit["ny"], hit["nz"]])
    heavy = np.array([weights[row] > LEAST_WEIGHT for row in rows.tolist()])
    brings = heavy & (towards > 0.0) & (share[rows] > 0.0)
    return rows[brings] if brings.any() else rows[share[rows] > 0.0]


def move_as_one(
    thickness: Thickness, interior: Interior, position: Floats, part: NDArray[np.int32], goal: Floats
) -> Went:
    """Send all vertices the same share of their ways."""
    count, points = len(part), interior.space.vertices
    touches = thickness.find_first(
        interior.space,
        Walls(points, points, 0.0, 1.0),
        Paths(position, goal, part),
        position,
        thickness.outer,
        thickness.least,
    )
    share = min(float(touches["time"].min(initial=np.inf)), 1.0)
    met, time = no_touches(count), np.ones(count)
    if not (touches["time"] <= 1.0).any():
        return Went(*walk(interior, position, part, goal), time, met)
    for touch in touches[touches["time"] <= share]:
        met[[touch["a"], touch["b"], touch["c"]]] = touch
    time[:] = share
    return Went(*walk(interior, position, part, position + share * (goal - position)), time, met)
