"""What kernels write for each move: a row for every particle, and an *event* for those that met more than the inside of a cell.

Most moves end in the interior of a cell, and nothing but that is to be said. So time, kind, dart and normal are written for the others only,
as events in the order in which they come; `results.Moves` spreads them over all rows when asked. Each chunk of particles writes its events
from the row on at which the chunk begins, so that threads share no counter.

What is called for each event is inlined: handing over a space and an answer, some two hundred numbers, takes longer than the work.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices, Row
from abut.cells.space.predicates import THROUGH_VERTEX, place, touches_obstacle
from abut.cells.space.records import Space
from abut.cells.walk.results import COLLISION, CONTACT
from abut.cells.walk.stop_point import Stop, outward_normal
from abut.core.arrays import Floats
from abut.core.jit import inlined, integer, kernel
from abut.geometry.rows import put_vector
from abut.geometry.vec import Vec3

_COLLISION, _CONTACT = int(COLLISION), int(CONTACT)


EVENT = np.dtype(
    [
        ("particle", np.int64),
        ("kind", np.int64),
        ("dart", np.int64),
        ("time", np.float64),
        ("normal", np.float64, (3,)),
    ]
)
"""What a particle met: a row of `Answer.events`."""
TALLY = np.dtype([("events", np.int64), ("faults", np.int64)])
"""Of a chunk: how many events it has written; in the first row also whether a target was not finite or too large."""


class Answer(NamedTuple):
    """The tables of a batch of moves."""

    cells: Indices
    position: Floats
    """(n,3) targets, then the points reached"""
    status: NDArray[np.int8]
    tests: Indices
    events: NDArray[np.void]
    """(n,) of dtype EVENT"""
    tally: NDArray[np.void]
    """(chunks,) of dtype TALLY"""


@inlined
def write_event(
    answer: Answer, begin: Row, chunk: Row, row: Row, kind: Row, dart: Row, time: float, normal: Vec3
) -> None:
    """One more event of a chunk that begins with row `begin`."""
    event = answer.events[begin + answer.tally[chunk]["events"]]
    answer.tally[chunk]["events"] += 1
    event["particle"], event["kind"], event["dart"], event["time"] = row, kind, dart, time
    for axis in range(3):
        event["normal"][axis] = normal[axis]


@inlined
def write_collision(
    space: Space, answer: Answer, begin: Row, chunk: Row, row: Row, through: int, hit: Row, stop: Stop
) -> None:
    """The particle has stopped where its path leaves the free cells, in `through` and `hit`."""
    point, time, normal = stop
    answer.status[row] = _COLLISION
    put_vector(answer.position, row, 0, point)
    kind = 0 if through == THROUGH_VERTEX else space.dimension - 1 - through
    write_event(answer, begin, chunk, row, kind, hit, time, normal)


@kernel
def write_place(space: Space, answer: Answer, begin: Row, chunk: Row, row: Row, cell: Row, q: Vec3) -> int:
    """The particle has reached its target q in the closed cell; the kind of what it lies in. Nothing is written in the interior."""
    kind, dart, slot = place(space, cell, q)
    if kind == space.dimension:
        return kind
    normal = (0.0, 0.0, 0.0)
    if touches_obstacle(space, cell, kind, dart, slot):
        answer.status[row] = _CONTACT
        normal = outward_normal(space, integer(space.face[cell, slot]))
    write_event(answer, begin, chunk, row, kind, dart, 1.0, normal)
    return kind
