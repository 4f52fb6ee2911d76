"""What a mobile does where it hits something (Jund 2010, figure 4.5 and §5.3): it stays behind, gets new particles, or stops as a whole.

    static    each vertex stops before what it, its edges or its faces hit; it may slide or bounce from there
    adaptive  where an edge is hit, a particle is put on it at the contact, and the vertex goes on (`refining.adaptive`)
    hybrid    the same, but an edge that has a particle on it already is answered as in static
    rigid     all vertices stop at the same share of their paths: the body is rolled back to its first impact

A rigid try moves all vertices to the same share of their paths; where something is hit, the body goes back and tries the share before that. It
does not move at all if no share passes.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.edit.interior import Interior
from abut.cells.mobile.refining.shape import Shape
from abut.cells.mobile.steps.colouring import Links
from abut.cells.mobile.steps.packed_move import ANSWER, pack_move
from abut.cells.mobile.steps.step_tests import Body, Rules
from abut.cells.mobile.steps.vertex_steps import MOST_TRIES, move_vertices
from abut.cells.walk.results import COLLISION, FREE
from abut.cells.walk.segment_walk import Front
from abut.core.arrays import Floats, Integers
from abut.core.records import Records

FIRST_GAP, GAP_GROWTH = 2.0**-20, 4.0
"""Share of the path that a rigid body gives up before an impact, and by how much that grows with each try."""


class Response(NamedTuple):
    """A mobile after a move, and how the moves of its vertices ended."""

    shape: Shape
    answer: Records
    """of ANSWER"""
    source: Integers
    """(n,) the row each vertex had before the move, −1 for a new one"""
    links: Links | None = None
    """of a shape that has changed"""


def run(
    interior: Interior,
    fronts: Front,
    shape: Shape,
    links: Links,
    goals: Floats,
    rules: Rules,
) -> Response:
    """Move all vertices towards their goals, group by group; each group on as many threads as there are fronts."""
    count, space = len(shape.cell), interior.space
    shape = shape._replace(position=np.array(shape.position, order="C"), cell=np.array(shape.cell, np.int32))
    body = Body(shape.position, shape.cell, *links.tables)
    answer = np.empty(count, ANSWER)
    response = Response(shape, answer, np.arange(count))
    packed, goals = interior.packed(), np.ascontiguousarray(goals)
    if len(fronts.seen) == 1:
        move_vertices(packed, *pack_move(space, fronts, 0, body, links.addresses, rules, answer, links.order, goals))
        return response

    def move_some(chunk: int, some: Integers) -> None:
        move_vertices(packed, *pack_move(space, fronts, chunk, body, links.addresses, rules, answer, some, goals))

    threads = len(fronts.seen)
    with ThreadPoolExecutor(threads) as pool:
        for group in links.groups:
            list(pool.map(move_some, range(threads), np.array_split(group, threads)))
    return response


def move_rigidly(
    interior: Interior, fronts: Front, shape: Shape, links: Links, goals: Floats, rules: Rules
) -> Response:
    """Move all vertices by the largest share of their paths that was found free."""
    begin, gap, share, contact, impact = shape.position, FIRST_GAP, 1.0, 1.0, None
    tried = run(interior, fronts, shape, links, goals, rules)
    for _ in range(MOST_TRIES):
        hit = tried.answer["status"] == COLLISION
        if not hit.any():
            break
        impact = tried
        contact = share * float(tried.answer["time"][hit].min())
        share = contact * (1.0 - gap)
        gap = min(gap * GAP_GROWTH, 0.5)
        tried = run(interior, fronts, shape, links, begin + share * (goals - begin), rules)
    else:
        tried = tried._replace(shape=shape)
    if impact is None:
        return tried
    hit = impact.answer["status"] == COLLISION
    impact.answer["status"][~hit] = FREE
    impact.answer["time"][:] = contact
    return impact._replace(shape=tried.shape)


def hit_at_once(done: Response, held: NDArray[np.bool_], interior: Interior) -> Response:
    """The same answer, in which vertices that were inside obstacles have collided at once."""
    answer, rows = done.answer, np.flatnonzero((done.source >= 0) & held[np.maximum(done.source, 0)])
    answer["status"][rows], answer["kind"][rows] = COLLISION, interior.dimension
    answer["dart"][rows] = interior.space.face[done.shape.cell[rows], 0]
    answer["edge"][rows], answer["face"][rows] = -1, -1
    answer["time"][rows], answer["normal"][rows], answer["point"][rows] = 0.0, 0.0, done.shape.position[rows]
    return done
