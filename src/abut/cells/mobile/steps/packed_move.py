"""A move of a mobile on its way from Python to the kernel and back: what it needs as one table of numbers, and what it answers.

Tables that kernels get from Python are counted in every variable that holds them, which took a third of the time. So their addresses are handed
over (`core.handles`); they live in the caller.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.mobile.steps.step_tests import OWN_EDGE, OWN_FACE, Body, Rules
from abut.cells.space.records import Space
from abut.cells.walk.reentrant_edges import Voxels
from abut.cells.walk.segment_walk import COUNTERS, Front
from abut.core.arrays import Floats, Integers
from abut.core.handles import FloatsAt, Integers32At, IntegersAt, unpack
from abut.core.jit import inlined
from abut.core.records import Records, record
from abut.core.scratch import as_array

ANSWER = record(
    ("status", "i4"),
    ("kind", "i4"),
    ("dart", "i4"),
    ("edge", "i4"),
    ("face", "i4"),
    ("tests", "i4"),
    ("visits", "i4"),
    ("edge_tests", "i4"),
    ("edges_inside", "i4"),
    ("edges_clear", "i4"),
    ("edges_behind", "i4"),
    ("face_tests", "i4"),
    ("time", "f8"),
    ("normal", "f8", 3),
    ("point", "f8", 3),
)
"""How the move of a vertex ended, and what was counted in `segment_walk.Front` on the way; see `results.BodyMoves`."""


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
    tests_faces: int
    seen: IntegersAt
    queue: Integers32At
    state: IntegersAt
    position: FloatsAt
    cell: Integers32At
    edge_start: IntegersAt
    edges: Annotated[Any, OWN_EDGE]
    face_start: IntegersAt
    faces: Annotated[Any, OWN_FACE]
    answer: Annotated[Any, ANSWER]
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
    answer: Records,
    rows: Integers,
    goals: Floats,
) -> tuple[Integers, Floats]:
    """The `PackedMove` of front `chunk`, then the numbers that are not whole; `links` are the addresses of the tables of neighbours.

    Faster than `handles.pack`, which looks at each table.
    """
    voxels, front = rules.voxels, (fronts.seen[chunk], fronts.queue[chunk], fronts.state[chunk])
    sizes = (len(body.cell), len(body.edges), len(body.faces), len(rows), *voxels.words.shape, voxels.depth)
    choices = (rules.is_continuous, rules.is_exhaustive, rules.culls, rules.faces)
    moving, others = addresses_of(*front, body.position, body.cell), addresses_of(answer, rows, goals, voxels.words)
    packed = (*sizes, *choices, *moving, *links, *others)
    reals = (space.reach, rules.restitution, voxels.x, voxels.y, voxels.z, voxels.per_unit)
    return np.array(packed, np.int64), np.array(reals)


@inlined
def unpack_move(packed: Integers, reals: Floats, cells: int) -> tuple[Front, Body, Rules, Records, Integers, Floats]:
    """The same again, inside a kernel. The tables live in the caller, and no two of them overlap."""
    table = unpack(PackedMove, packed)
    count = table.vertex_count
    restitution, x, y, z, per_unit = reals[1], reals[2], reals[3], reals[4], reals[5]  # the first is the space's
    front = Front(as_array(table.seen, (cells,)), as_array(table.queue, (cells,)), as_array(table.state, (COUNTERS,)))
    body = Body(
        as_array(table.position, (count, 3)),
        as_array(table.cell, (count,)),
        as_array(table.edge_start, (count + 1,)),
        as_array(table.edges, (table.edge_count,)),
        as_array(table.face_start, (count + 1,)),
        as_array(table.faces, (table.face_count,)),
    )
    answer = as_array(table.answer, (count,))
    words = as_array(table.words, (table.voxel_columns, table.voxel_rows, table.voxel_words))
    voxels = Voxels(x, y, z, per_unit, table.voxel_depth, words)
    is_continuous, is_exhaustive = table.is_continuous != 0, table.is_exhaustive != 0
    rules = Rules(is_continuous, is_exhaustive, table.culls, table.tests_faces, restitution, voxels)
    rows, goals = as_array(table.rows, (table.row_count,)), as_array(table.goals, (count, 3))
    return front, body, rules, answer, rows, goals
