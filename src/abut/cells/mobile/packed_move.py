"""A move of a mobile on its way from Python to the kernel and back: what it needs as one table of numbers, and what it answers.

Tables that kernels get from Python are counted in every variable that holds them, which took a third of the time. So their addresses are handed
over (`core.handles`); they live in the caller.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.map.darts import Indices
from abut.cells.mobile.step_tests import Body, Rules
from abut.cells.space.records import Space
from abut.cells.walk.reentrant_edges import Voxels
from abut.cells.walk.segment_walk import COUNTERS, Front
from abut.core.arrays import Floats, Integers
from abut.core.handles import FloatsAt, Integers32At, IntegersAt, unpack
from abut.core.jit import inlined
from abut.core.scratch import as_array


class Answer(NamedTuple):
    """How the move of each vertex ended, (n,) each; see `results.BodyMoves`."""

    status: Indices
    kind: Indices
    dart: Indices
    edge: Indices
    face: Indices
    tests: Indices
    """what was counted in `segment_walk.Front`, likewise the next six"""
    visits: Indices
    edge_tests: Indices
    edges_inside: Indices
    edges_clear: Indices
    edges_behind: Indices
    face_tests: Indices
    time: Floats
    normal: Floats
    """(n,3)"""
    point: Floats
    """(n,3) the point that was hit"""

    def taken(self, rows: Any) -> "Answer":
        """Those of some vertices, in this order."""
        columns: list[Any] = [column[rows] for column in self]
        return Answer(*columns)


NUMBERS = 12
"""of them are whole: in memory they are the rows of one table"""


def make_answer(count: int) -> Answer:
    """Room for so many vertices."""
    columns: list[Any] = [*np.empty((NUMBERS, count), np.int32), np.empty(count), *np.empty((2, count, 3))]
    return Answer(*columns)


class PackedMove(NamedTuple):
    """What `move_vertices` works on but the space, as sizes, choices and addresses (`core.handles`)."""

    vertex_count: int
    edge_count: int
    face_count: int
    row_count: int
    voxel_columns: int
    voxel_rows: int
    voxel_words: int
    voxel_depth: int
    is_continuous: int
    is_exhaustive: int
    culls: int
    faces: int
    seen: IntegersAt
    queue: Integers32At
    state: IntegersAt
    position: FloatsAt
    cell: Integers32At
    edge_start: IntegersAt
    edge_other: IntegersAt
    edge: IntegersAt
    face_start: IntegersAt
    face_first: IntegersAt
    face_second: IntegersAt
    face: IntegersAt
    numbers: Integers32At
    """(NUMBERS, vertex_count), those of `Answer` that are whole"""
    time: FloatsAt
    normal: FloatsAt
    point: FloatsAt
    rows: IntegersAt
    goals: FloatsAt
    words: IntegersAt


def addresses_of(*tables: NDArray[Any]) -> tuple[int, ...]:
    """Where these lie."""
    return tuple(table.__array_interface__["data"][0] for table in tables)


def pack_move(
    space: Space,
    fronts: Front,
    chunk: int,
    body: Body,
    links: tuple[int, ...],
    rules: Rules,
    answer: Answer,
    rows: Integers,
    goals: Floats,
) -> tuple[Integers, Floats]:
    """The `PackedMove` of front `chunk`, then the numbers that are not whole; `links` are the addresses of the tables of neighbours.

    Faster than `handles.pack`, which looks at each table.
    """
    voxels, front = rules.voxels, (fronts.seen[chunk], fronts.queue[chunk], fronts.state[chunk])
    sizes = (len(body.cell), len(body.edge), len(body.face), len(rows), *voxels.words.shape, voxels.depth)
    choices = (rules.is_continuous, rules.is_exhaustive, rules.culls, rules.faces)
    written = (answer.status, answer.time, answer.normal, answer.point)
    moving, others = addresses_of(*front, body.position, body.cell), addresses_of(*written, rows, goals, voxels.words)
    packed = (*sizes, *choices, *moving, *links, *others)
    reals = (space.reach, rules.restitution, voxels.x, voxels.y, voxels.z, voxels.per_unit)
    return np.array(packed, np.int64), np.array(reals)


@inlined
def unpack_move(packed: Integers, reals: Floats, cells: int) -> tuple[Front, Body, Rules, Answer, Integers, Floats]:
    """The same again, inside a kernel. The tables live in the caller, and no two of them overlap."""
    table = unpack(PackedMove, packed)
    count, edges, faces = table.vertex_count, (table.edge_count,), (table.face_count,)
    restitution, x, y, z, per_unit = reals[1], reals[2], reals[3], reals[4], reals[5]  # the first is the space's
    front = Front(as_array(table.seen, (cells,)), as_array(table.queue, (cells,)), as_array(table.state, (COUNTERS,)))
    body = Body(
        as_array(table.position, (count, 3)),
        as_array(table.cell, (count,)),
        as_array(table.edge_start, (count + 1,)),
        as_array(table.edge_other, edges),
        as_array(table.edge, edges),
        as_array(table.face_start, (count + 1,)),
        as_array(table.face_first, faces),
        as_array(table.face_second, faces),
        as_array(table.face, faces),
    )
    numbers = as_array(table.numbers, (NUMBERS, count))
    answer = Answer(
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
        numbers[6],
        numbers[7],
        numbers[8],
        numbers[9],
        numbers[10],
        numbers[11],
        as_array(table.time, (count,)),
        as_array(table.normal, (count, 3)),
        as_array(table.point, (count, 3)),
    )
    words = as_array(table.words, (table.voxel_columns, table.voxel_rows, table.voxel_words))
    voxels = Voxels(x, y, z, per_unit, table.voxel_depth, words)
    is_continuous, is_exhaustive = table.is_continuous != 0, table.is_exhaustive != 0
    rules = Rules(is_continuous, is_exhaustive, table.culls, table.faces, restitution, voxels)
    rows, goals = as_array(table.rows, (table.row_count,)), as_array(table.goals, (count, 3))
    return front, body, rules, answer, rows, goals
