"""The tests of one vertex that moves while its neighbours stay: its own way, its edges, its faces, and which of them need no test (Jund 2010, §4.2).

Edges are tested quasi-continuously (algorithm 8: a segment from the new position along the edge) or continuously (`sweeping`). Two eliminations:

    by cells      the start, the target and the other end lie in one closed cell, which is convex and holds the swept triangle
    by direction  the vertex moves into its own closed body: it lies behind all its faces, strictly so behind one of those at the edge

The second rests on the body being free of obstacles inside, and on the move not turning it inside out. For the swept tetrahedra of its faces
are then the part that the body loses, and the swept triangle lies in their border. A vertex pushed through the far side of a body thinner than
its step breaks that premise; the edges are then not tested in that step.
"""

from typing import NamedTuple

import numpy as np

from abut.arrays import Floats, Integers
from abut.cells.convexity import point_2d, point_3d
from abut.cells.darts import Indices, Row
from abut.cells.following import (
    ANY_CELL,
    EDGE_TESTS,
    EDGES_BEHIND,
    EDGES_INSIDE,
    FACE_TESTS,
    Front,
    begin,
    follow,
)
from abut.cells.space import NO_FACE, Space
from abut.cells.sweeping import First, search_triangle
from abut.cells.sweeping_faces import search_tetrahedron
from abut.geometry.predicates import orient_2d, orient_3d
from abut.geometry.vec import Vec3
from abut.jit import integer, kernel, stay_apart

CULL_CELLS, CULL_DIRECTION = 1, 2
FACES_QUASI, FACES_CONTINUOUS = 1, 2
NOTHING = -1
Ends = tuple[Row, Row, Row, Row]
Points = tuple[Vec3, Vec3, Vec3, Vec3]


class Body(NamedTuple):
    """The state of a mobile and who is whose neighbour."""

    position: Floats
    """(n,3); z is 0 in the plane"""
    cell: Indices
    """(n,) a free cell in whose closure each vertex lies"""
    start: Integers
    """(n + 1,) where the edges of each vertex begin"""
    ring: Integers
    """(k,2) their other ends and their numbers"""
    fan_start: Integers
    """(n + 1,) where the faces of each vertex begin (in the plane: its edges, where they have an inner side)"""
    fan: Integers
    """(k,3) the other two corners, so that the three run anticlockwise seen from outside (in the plane the two ends, the inside to their left),
    and the number of the face"""


class Rules(NamedTuple):
    """How vertices are tested and what they do when they hit something."""

    is_continuous: bool
    is_exhaustive: bool
    culls: int
    """CULL_CELLS, CULL_DIRECTION, both or 0"""
    faces: int
    """FACES_QUASI, FACES_CONTINUOUS or 0"""
    restitution: float
    """below 0: vertices stop; 0: they slide; above: they bounce"""


@kernel
def goes_inwards(space: Space, body: Body, row: Row, g: Vec3) -> bool:
    """Whether a vertex that moves to g goes behind all its faces, or along them."""
    first, last = body.fan_start[row], body.fan_start[row + 1]
    for k in range(first, last):
        if side_of_fan(space, body, row, k, g) > 0:
            return False
    return bool(last > first)


@kernel
def side_of_fan(space: Space, body: Body, row: Row, k: Row, g: Vec3) -> int:
    """1 where g lies outside of a face of the vertex, −1 behind it, 0 in its plane."""
    i, j = body.fan[k, 0], body.fan[k, 1]
    if space.dimension == 2:
        return -orient_2d(point_2d(body.position, i), point_2d(body.position, j), (g[0], g[1]))
    return orient_3d(point_3d(body.position, row), point_3d(body.position, i), point_3d(body.position, j), g)


@kernel
def is_behind(space: Space, body: Body, row: Row, other: Row, g: Vec3) -> bool:
    """Whether g lies strictly behind a face at the edge from the vertex to another: its swept triangle then borders on volume that the body loses."""
    for k in range(body.fan_start[row], body.fan_start[row + 1]):
        if (body.fan[k, 0] == other or body.fan[k, 1] == other) and side_of_fan(space, body, row, k, g) < 0:
            return True
    return False


@kernel
def _list_cells(space: Space, front: Front, count: int, cells: Ends, begins: Points, ends: Points) -> int:
    """Fill the front with the cells of some segments, each given by a cell that holds its begin; how many of them are free."""
    begin(front)
    free = 0
    for k in range(count):
        _, slot, _, _ = follow(space, front, True, cells[k], begins[k], ends[k], integer(ANY_CELL))
        free += 1 if slot == NO_FACE else 0
    return free


@kernel
def test_edge(
    space: Space, front: Front, rules: Rules, p: Vec3, p_cell: Row, g: Vec3, g_cell: Row, q: Vec3, q_cell: Row
) -> First:
    """What an edge meets first whose end moves from p to g, freely, while q stays. A quasi-continuous test may miss what gq does not cross.

    By dichotomy nothing is known about a hit but that there is one: its time is 0, its dart that of the face that gq goes through.
    """
    stay_apart()
    if not rules.is_continuous:
        cell, slot, _, _ = follow(space, front, False, g_cell, g, q, q_cell)
        if slot == NO_FACE:
            return np.inf, 0, NO_FACE
        if not rules.is_exhaustive:
            return 0.0, space.dimension - 1, space.face[cell, slot]
    if _list_cells(space, front, integer(2), (p_cell, p_cell, p_cell, p_cell), (p, p, p, p), (g, q, q, q)) < 2:
        # An obstacle has been put in the way of the edge: all that can be asked is whether it gets free.
        is_free = rules.is_continuous and follow(space, front, False, g_cell, g, q, q_cell)[1] == NO_FACE
        return (np.inf if is_free else 0.0), space.dimension - 1, space.face[g_cell, 0]
    time, kind, dart = search_triangle(space, front, p, g, q)
    if time == np.inf and not rules.is_continuous:
        return 0.0, space.dimension - 1, space.face[g_cell, 0]
    return time, kind, dart


@kernel
def _test_face(
    space: Space, front: Front, rules: Rules, p: Vec3, p_cell: Row, g: Vec3, g_cell: Row, b: Vec3, b_cell: Row, c: Vec3
) -> First:
    """What a face with the corners b and c and one that moves from p to g meets first; its edges are free."""
    is_hit = rules.faces == FACES_CONTINUOUS
    if not is_hit:
        _list_cells(space, front, integer(2), (g_cell, g_cell, g_cell, g_cell), (g, g, g, g), (b, c, c, c))
        is_hit = search_triangle(space, front, b, c, g)[0] < np.inf
    if not is_hit:
        return np.inf, 0, NO_FACE
    _list_cells(space, front, integer(4), (p_cell, p_cell, p_cell, b_cell), (p, p, p, b), (g, b, c, c))
    time, kind, dart = search_tetrahedron(space, front, p, g, b, c)
    if time == np.inf and rules.faces == FACES_QUASI:
        return 0.0, space.dimension - 1, space.face[p_cell, 0]
    return time, kind, dart


@kernel
def find_first(
    space: Space, front: Front, body: Body, rules: Rules, row: Row, g: Vec3, g_cell: Row
) -> tuple[float, int, Row, Row, Row]:
    """What the edges and faces of a vertex meet first on its free way to g: time, kind, dart, edge and face (one of them NOTHING)."""
    stay_apart()
    p, p_cell = point_3d(body.position, row), integer(body.cell[row])
    best, kind, dart, edge, face = np.inf, 0, NO_FACE, NOTHING, NOTHING
    by_cells, stays = rules.culls & CULL_CELLS != 0, p_cell == g_cell
    inwards = (rules.culls & CULL_DIRECTION) != 0 and goes_inwards(space, body, row, g)
    for k in range(body.start[row], body.start[row + 1]):
        other = body.ring[k, 0]
        q, q_cell = point_3d(body.position, other), integer(body.cell[other])
        if by_cells and stays and q_cell == p_cell:
            front.state[EDGES_INSIDE] += 1
            continue
        if inwards and is_behind(space, body, row, other, g):
            front.state[EDGES_BEHIND] += 1
            continue
        front.state[EDGE_TESTS] += 1
        goal = q_cell if by_cells else integer(ANY_CELL)
        time, new_kind, new_dart = test_edge(space, front, rules, p, p_cell, g, g_cell, q, goal)
        if time < best:
            best, kind, dart, edge = time, new_kind, new_dart, body.ring[k, 1]
    if rules.faces == 0 or best < np.inf:
        return best, kind, dart, edge, face
    for k in range(body.fan_start[row], body.fan_start[row + 1]):
        i, j = body.fan[k, 0], body.fan[k, 1]
        if by_cells and stays and body.cell[i] == p_cell and body.cell[j] == p_cell:
            continue
        if inwards and side_of_fan(space, body, row, k, g) < 0:
            continue
        front.state[FACE_TESTS] += 1
        b, c = point_3d(body.position, i), point_3d(body.position, j)
        time, new_kind, new_dart = _test_face(space, front, rules, p, p_cell, g, g_cell, b, integer(body.cell[i]), c)
        if time < best:
            best, kind, dart, face = time, new_kind, new_dart, body.fan[k, 2]
    return best, kind, dart, edge, face


@kernel
def find_blocked(space: Space, fronts: Front, body: Body, edges: Integers, faces: Integers) -> tuple[int, int]:
    """The first edge that is not free, and the first face that is not; −1 where all are."""
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    for k in range(len(edges) + len(faces)):
        face = k - len(edges)
        a, b = (edges[k, 0], edges[k, 1]) if face < 0 else (faces[face, 0], faces[face, 1])
        c = b if face < 0 else faces[face, 2]
        p, g, q = point_3d(body.position, a), point_3d(body.position, b), point_3d(body.position, c)
        cell = integer(body.cell[a])
        free = _list_cells(
            space, front, integer(1 if face < 0 else 2), (cell, cell, cell, cell), (p, p, p, p), (g, q, q, q)
        )
        if face < 0 and free < 1:
            return k, NOTHING
        if face >= 0 and (free < 2 or search_triangle(space, front, p, g, q)[0] < np.inf):
            return NOTHING, face
    return NOTHING, NOTHING
