"""The tests of one vertex that moves while its neighbours stay: its own path, its edges, its faces, and which of them need no test (Jund 2010, §4.2).

Edges are tested quasi-continuously (algorithm 8: a segment from the new position along the edge) or continuously (`edge_sweep`). Two eliminations:

    by cells      the start, the target and the other end lie in one closed cell, which is convex and holds the swept triangle; or no
                  obstacle sticks out near the three (`reentrant_edges`)
    by direction  the vertex moves into its own closed body: behind all its faces

The second would rest on the body being free of obstacles inside, and on the move not turning it inside out. Neither can be relied on: a spike
enters a face unseen where only the new places of edges are tested (figure 4.10, case 5), and a vertex may be pushed through a part thinner
than its step. So edges are left out by direction only where no obstacle sticks out near them, which by itself tells that they are free.
"""

from typing import NamedTuple

import numpy as np

from abut.cells.map.darts import Indices, Row
from abut.cells.mobile.sweeps.edge_sweep import First, lower, search_triangle, upper
from abut.cells.mobile.sweeps.face_sweep import search_tetrahedron
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.reentrant_edges import Voxels, is_clear
from abut.cells.walk.segment_walk import (
    ANY_CELL,
    EDGE_TESTS,
    EDGES_BEHIND,
    EDGES_CLEAR,
    EDGES_INSIDE,
    FACE_TESTS,
    Front,
    begin,
    follow,
)
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, integer, kernel, stay_apart
from abut.core.records import Records, record
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3, cross, dot, subtract

CULL_CELLS, CULL_DIRECTION, CULL_CLEAR = 1, 2, 4
"""The last says that the voxels of `Rules` hold and that the edges are free where they are."""
FACES_QUASI, FACES_CONTINUOUS = 1, 2
NOTHING = -1
Ends = tuple[Row, Row, Row, Row]
Points = tuple[Vec3, Vec3, Vec3, Vec3]


OWN_EDGE = record(("other", "i8"), ("number", "i8"))
"""An edge of a vertex: its other end, and which of the mobile's edges it is."""
OWN_FACE = record(("first", "i8"), ("second", "i8"), ("number", "i8"))
"""A face of a vertex: its other two corners, so that the three run anticlockwise seen from outside (in the plane the two ends, the inside to
their left), and which of the mobile's faces it is (`number_of`)."""


class Body(NamedTuple):
    """The state of a mobile and who is whose neighbour."""

    position: Floats
    """(n,3); z is 0 in the plane"""
    cell: Indices
    """(n,) a free cell in whose closure each vertex lies"""
    edge_start: Integers
    """(n + 1,) where the edges of each vertex begin"""
    edges: Records
    """(k,) of OWN_EDGE"""
    face_start: Integers
    """(n + 1,) where the faces of each vertex begin (in the plane: its edges, where they have an inner side)"""
    faces: Records
    """(k,) of OWN_FACE"""


class Rules(NamedTuple):
    """How vertices are tested and what they do when they hit something."""

    is_continuous: bool
    is_exhaustive: bool
    culls: int
    """of CULL_CELLS, CULL_DIRECTION and CULL_CLEAR"""
    faces: int
    """FACES_QUASI, FACES_CONTINUOUS or 0"""
    restitution: float
    """below 0: vertices stop; 0: they slide; above: they bounce"""
    voxels: Voxels
    """where obstacles stick out"""


@kernel
def goes_inwards(space: Space, body: Body, row: Row, g: Vec3) -> bool:
    """Whether a vertex that moves to g goes behind all its faces, or along them; rounded, for nothing rests on it."""
    first, last = body.face_start[row], body.face_start[row + 1]
    p = vector_at(body.position, row)
    for k in range(first, last):
        face = body.faces[k]
        a, b = vector_at(body.position, face.first), vector_at(body.position, face.second)
        if space.dimension == 2:
            u, v = subtract(b, a), subtract(g, a)
            if u[0] * v[1] - u[1] * v[0] < 0.0:
                return False
        elif dot(cross(subtract(a, p), subtract(b, p)), subtract(g, p)) > 0.0:
            return False
    return bool(last > first)


@inlined
def tests_all(rules: Rules) -> bool:
    """Whether all that a vertex does on its path is tested continuously: then the first contact is known from one try."""
    return rules.is_continuous and rules.faces != FACES_QUASI


@inlined
def enclose(low: Vec3, high: Vec3, x: Vec3) -> tuple[Vec3, Vec3]:
    """The box grown to hold x."""
    return lower(low, x), upper(high, x)


@inlined
def is_clear_about(rules: Rules, p: Vec3, g: Vec3, a: Vec3, b: Vec3) -> bool:
    """Whether eliminations may go by voxels, and no obstacle sticks out in the box about some points."""
    if (rules.culls & CULL_CLEAR) == 0:
        return False
    return is_clear(rules.voxels, lower(lower(p, g), lower(a, b)), upper(upper(p, g), upper(a, b)))


@kernel
def list_cells(space: Space, front: Front, count: int, cells: Ends, begins: Points, ends: Points) -> int:
    """Fill the front with the cells of some segments, each given by a cell that holds its begin; how many of them are free."""
    begin(front)
    free = 0
    for k in range(count):
        _, slot, _, _ = follow(space, front, True, cells[k], begins[k], ends[k], integer(ANY_CELL))
        free += 1 if slot == NO_FACE else 0
    return free


@kernel
def test_edge(
    space: Space,
    front: Front,
    rules: Rules,
    p: Vec3,
    p_cell: Row,
    g: Vec3,
    g_cell: Row,
    q: Vec3,
    q_cell: Row,
    is_reached: bool,
) -> First:
    """What an edge meets first whose end moves from p to g while q stays. A quasi-continuous test may miss what gq does not cross.

    A continuous one may be asked where g is not reached: then what the edge meets before its end is stopped is among what is found.

    By dichotomy nothing is known about a hit but that there is one: its time is 0, its dart that of the face that gq goes through.
    """
    stay_apart()
    if not rules.is_continuous:
        cell, slot, _, _ = follow(space, front, False, g_cell, g, q, q_cell)
        if slot == NO_FACE:
            return np.inf, 0, NO_FACE
        if not rules.is_exhaustive:
            return 0.0, space.dimension - 1, space.face[cell, slot]
    ends_free = list_cells(space, front, integer(2), (p_cell, p_cell, p_cell, p_cell), (p, p, p, p), (g, q, q, q))
    if ends_free < (2 if is_reached else 1):
        # An obstacle has been put in the way of the edge: all that can be asked is whether it gets free.
        is_free = rules.is_continuous and is_reached and follow(space, front, False, g_cell, g, q, q_cell)[1] == NO_FACE
        return (np.inf if is_free else 0.0), space.dimension - 1, space.face[g_cell, 0]
    time, kind, dart = search_triangle(space, front, p, g, q)
    if time == np.inf and not rules.is_continuous:
        return 0.0, space.dimension - 1, space.face[g_cell, 0]
    return time, kind, dart


@kernel
def _test_face(
    space: Space,
    front: Front,
    rules: Rules,
    p: Vec3,
    p_cell: Row,
    g: Vec3,
    g_cell: Row,
    b: Vec3,
    b_cell: Row,
    c: Vec3,
    edges_are_free: bool,
) -> First:
    """What a face with the corners b and c and one that moves from p to g meets first, other than with its edges."""
    is_hit = rules.faces == FACES_CONTINUOUS
    if not is_hit:
        list_cells(space, front, integer(2), (g_cell, g_cell, g_cell, g_cell), (g, g, g, g), (b, c, c, c))
        is_hit = search_triangle(space, front, b, c, g)[0] < np.inf
    if not is_hit:
        return np.inf, 0, NO_FACE
    list_cells(space, front, integer(4), (p_cell, p_cell, p_cell, b_cell), (p, p, p, b), (g, b, c, c))
    time, kind, dart = search_tetrahedron(space, front, p, g, b, c, edges_are_free)
    if time == np.inf and rules.faces == FACES_QUASI:
        return 0.0, space.dimension - 1, space.face[p_cell, 0]
    return time, kind, dart


@kernel
def _test_place(space: Space, front: Front, g: Vec3, g_cell: Row, b: Vec3, c: Vec3) -> First:
    """Whether a face is free in its new place. All that can be asked of one that an obstacle has come into: on its path it meets that."""
    free = list_cells(space, front, integer(2), (g_cell, g_cell, g_cell, g_cell), (g, g, g, g), (b, c, c, c))
    if free == 2 and search_triangle(space, front, b, c, g)[0] == np.inf:
        return np.inf, 0, NO_FACE
    return 0.0, space.dimension - 1, space.face[g_cell, 0]


@element
def number_of(number: Row) -> Row:
    """The face that a number stands for. A face that an obstacle has come into is written as −2 − its number."""
    return number if number >= 0 else -2 - number


@kernel
def find_first(
    space: Space, front: Front, body: Body, rules: Rules, row: Row, g: Vec3, g_cell: Row, is_reached: bool
) -> tuple[float, int, Row, Row, Row]:
    """What the edges and faces of a vertex meet first on its path to g: time, kind, dart, edge and face (one of them NOTHING).

    The path is free, or `g_cell` is the last cell of its free part.
    """
    stay_apart()
    p, p_cell = vector_at(body.position, row), integer(body.cell[row])
    best, kind, dart, edge, face = np.inf, 0, NO_FACE, NOTHING, NOTHING
    by_cells, stays = rules.culls & CULL_CELLS != 0, p_cell == g_cell
    inwards = (rules.culls & CULL_DIRECTION) != 0 and goes_inwards(space, body, row, g)
    for k in range(body.edge_start[row], body.edge_start[row + 1]):
        other = body.edges[k].other
        q, q_cell = vector_at(body.position, other), integer(body.cell[other])
        if by_cells and stays and q_cell == p_cell:
            front.state[EDGES_INSIDE] += 1
            continue
        if (by_cells or inwards) and is_clear_about(rules, p, g, q, q):
            front.state[EDGES_CLEAR if by_cells else EDGES_BEHIND] += 1
            continue
        front.state[EDGE_TESTS] += 1
        goal = q_cell if by_cells else integer(ANY_CELL)
        time, new_kind, new_dart = test_edge(space, front, rules, p, p_cell, g, g_cell, q, goal, is_reached)
        if time < best:
            best, kind, dart, edge = time, new_kind, new_dart, body.edges[k].number
    edges_are_free = is_reached and best == np.inf
    if rules.faces == 0 or not (edges_are_free or tests_all(rules)):
        return best, kind, dart, edge, face
    for k in range(body.face_start[row], body.face_start[row + 1]):
        i, j = body.faces[k].first, body.faces[k].second
        if by_cells and stays and body.cell[i] == p_cell and body.cell[j] == p_cell:
            continue
        b, c = vector_at(body.position, i), vector_at(body.position, j)
        if (by_cells or inwards) and is_clear_about(rules, p, g, b, c):
            continue
        front.state[FACE_TESTS] += 1
        if body.faces[k].number < 0:
            time, new_kind, new_dart = _test_place(space, front, g, g_cell, b, c)
        else:
            time, new_kind, new_dart = _test_face(
                space, front, rules, p, p_cell, g, g_cell, b, integer(body.cell[i]), c, edges_are_free
            )
        if time < best:
            best, kind, dart, edge, face = time, new_kind, new_dart, NOTHING, number_of(body.faces[k].number)
    return best, kind, dart, edge, face


@kernel
def find_blocked(space: Space, fronts: Front, body: Body, edges: Integers, faces: Integers) -> tuple[int, int]:
    """The first edge that is not free, and the first face that is not; −1 where all are."""
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    for k in range(len(edges) + len(faces)):
        face = k - len(edges)
        a, b = (edges[k, 0], edges[k, 1]) if face < 0 else (faces[face, 0], faces[face, 1])
        c = b if face < 0 else faces[face, 2]
        p, g, q = vector_at(body.position, a), vector_at(body.position, b), vector_at(body.position, c)
        cell = integer(body.cell[a])
        free = list_cells(
            space, front, integer(1 if face < 0 else 2), (cell, cell, cell, cell), (p, p, p, p), (g, q, q, q)
        )
        if face < 0 and free < 1:
            return k, NOTHING
        if face >= 0 and (free < 2 or search_triangle(space, front, p, g, q)[0] < np.inf):
            return NOTHING, face
    return NOTHING, NOTHING
