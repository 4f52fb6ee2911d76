"""Moves that need no search: a vertex, its edges and its faces are certainly free, by records of planes and voxels alone.

A segment is followed from cell to cell while the face it leaves through is certain. What points that move and points that rest sweep together is
certainly free where all segments between them leave each cell through the same face. Whatever is not certain is left to `vertex_steps`.
"""

from abut.cells.map.darts import Row
from abut.cells.mobile.steps.step_tests import (
    CULL_CELLS,
    CULL_CLEAR,
    Body,
    Rules,
    enclose,
    goes_inwards,
    is_clear_about,
)
from abut.cells.mobile.sweeps.edge_sweep import lower, upper
from abut.cells.space.records import BLOCKED, Space
from abut.cells.walk.by_planes import find_exit, is_inside, is_within
from abut.cells.walk.reentrant_edges import is_clear
from abut.cells.walk.segment_walk import (
    ANY_CELL,
    EDGE_TESTS,
    EDGES_BEHIND,
    EDGES_CLEAR,
    EDGES_INSIDE,
    TESTS,
    VISITS,
    Front,
    clear_counters,
)
from abut.core.jit import inlined, integer
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3


@inlined
def _glide(space: Space, cell: Row, p: Vec3, q: Vec3, goal: Row) -> tuple[Row, int]:
    """The cell in which the segment pq ends, where records alone tell that it is free, else BLOCKED; and how many cells were looked at."""
    visits = 0
    while True:
        visits += 1
        if cell == goal:
            return cell, visits
        slot = find_exit(space, cell, p, q)
        if slot < 0:
            if is_inside(space, cell, q):
                return cell, visits
            return integer(BLOCKED), visits
        cell = integer(space.neighbour[cell, slot])
        if cell == BLOCKED:
            return cell, visits


@inlined
def _glide_together(
    space: Space, cell: Row, begins: tuple[Vec3, Vec3, Vec3], begin_count: int, ends: tuple[Vec3, Vec3], end_count: int
) -> tuple[bool, int]:
    """Whether the hull of some points of a cell and some others is certainly free: all segments between them pass the same faces.

    A face that all of them pass cuts the hull in a polygon whose corners it holds; between two such faces, the hull lies in a convex cell.
    """
    visits = 0
    while True:
        visits += 1
        slot = find_exit(space, cell, begins[0], ends[0])
        if slot < 0:
            for j in range(end_count):
                if not is_inside(space, cell, ends[j]):
                    return False, visits
            return True, visits
        for i in range(begin_count):
            for j in range(end_count):
                if i + j > 0 and find_exit(space, cell, begins[i], ends[j]) != slot:
                    return False, visits
        cell = integer(space.neighbour[cell, slot])
        if cell == BLOCKED:
            return False, visits


@inlined
def _pass_face_quickly(space: Space, body: Body, row: Row, k: Row, p: Vec3, g: Vec3) -> bool:
    """Whether records alone tell that what a face sweeps is free, its vertex staying in its cell."""
    cell, i, j = integer(body.cell[row]), body.faces[k].first, body.faces[k].second
    b, c = vector_at(body.position, i), vector_at(body.position, j)
    b_stays, c_stays = body.cell[i] == cell, body.cell[j] == cell
    if b_stays and c_stays:
        return True
    begins, ends = (p, g, b if b_stays else c), (b, c)
    begin_count, end_count = integer(3), integer(1)
    if b_stays:
        ends = (c, c)
    elif c_stays:
        ends = (b, b)
    else:
        begin_count, end_count = integer(2), integer(2)
    return _glide_together(space, cell, begins, begin_count, ends, end_count)[0]


@inlined
def _pass_edges_quickly(
    space: Space, front: Front, body: Body, rules: Rules, row: Row, p: Vec3, g: Vec3, reached: Row
) -> bool:
    """Whether records and voxels tell that no edge of a vertex hits anything, one edge after another."""
    cell, by_cells = integer(body.cell[row]), (rules.culls & CULL_CELLS) != 0
    for k in range(body.edge_start[row], body.edge_start[row + 1]):
        other = body.edges[k].other
        q, q_cell = vector_at(body.position, other), integer(body.cell[other])
        if by_cells and q_cell == cell and reached == cell:
            continue
        if by_cells and is_clear_about(rules, p, g, q, q):
            front.state[EDGES_CLEAR] += 1
            continue
        if rules.is_continuous:
            if reached != cell:
                return False
            is_free, seen = _glide_together(space, cell, (p, g, g), integer(2), (q, q), integer(1))
        else:
            last, seen = _glide(space, reached, g, q, q_cell if by_cells else integer(ANY_CELL))
            is_free = last != BLOCKED
        if not is_free:
            return False
        front.state[EDGE_TESTS] += 1
        front.state[VISITS] += seen
    return True


@inlined
def _pass_faces_quickly(space: Space, body: Body, rules: Rules, row: Row, p: Vec3, g: Vec3, reached: Row) -> bool:
    """The same of its faces."""
    for k in range(body.face_start[row], body.face_start[row + 1]):
        face = body.faces[k]
        b, c = vector_at(body.position, face.first), vector_at(body.position, face.second)
        if (rules.culls & CULL_CELLS) != 0 and is_clear_about(rules, p, g, b, c):
            continue
        if reached != body.cell[row] or not _pass_face_quickly(space, body, row, k, p, g):
            return False
    return True


@inlined
def pass_quickly(space: Space, front: Front, body: Body, rules: Rules, row: Row, g: Vec3) -> Row:
    """The cell of g, where records and voxels tell that a vertex reaches it and hits nothing, else BLOCKED. What is done is counted in the front.

    The box of all edges that leave the cell is asked for first; mostly that is all.
    """
    p, cell, slots = vector_at(body.position, row), integer(body.cell[row]), space.face.shape[1]
    clear_counters(front)
    if not is_within(g[0], g[1], g[2], space.reach):
        return integer(BLOCKED)
    reached, visits, by_cells = cell, 1, (rules.culls & CULL_CELLS) != 0
    if not is_inside(space, cell, g):
        if (rules.culls & CULL_CLEAR) == 0 and (rules.is_continuous or rules.faces != 0):
            return integer(BLOCKED)
        reached, visits = _glide(space, cell, p, g, integer(ANY_CELL))
        if reached == BLOCKED:
            return reached
    low, high, inside, leaving = lower(p, g), upper(p, g), 0, 0
    can_skip = by_cells and reached == cell
    for k in range(body.edge_start[row], body.edge_start[row + 1]):
        other = body.edges[k].other
        is_kept = can_skip and body.cell[other] == cell
        inside += 1 if is_kept else 0
        leaving += 0 if is_kept else 1
        if not is_kept or rules.faces != 0:
            low, high = enclose(low, high, vector_at(body.position, other))
    front.state[EDGES_INSIDE], front.state[VISITS] = inside, visits
    if leaving > 0:
        is_all_clear = False
        if (rules.culls & CULL_CLEAR) != 0 and (by_cells or goes_inwards(space, body, row, g)):
            is_all_clear = is_clear(rules.voxels, low, high)
        if is_all_clear:
            front.state[EDGES_CLEAR if by_cells else EDGES_BEHIND] = leaving
        else:
            if not _pass_edges_quickly(space, front, body, rules, row, p, g, reached):
                return integer(BLOCKED)
            if rules.faces != 0 and not _pass_faces_quickly(space, body, rules, row, p, g, reached):
                return integer(BLOCKED)
    front.state[TESTS] = slots * front.state[VISITS]
    return reached
