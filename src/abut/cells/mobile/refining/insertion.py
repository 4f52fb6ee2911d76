"""Particles put on edges where these hit something (Jund 2010, §4.2.1, figure 4.5).

An edge ab that is hit at x becomes two, ax and xb; a face abc at it becomes axc and xbc, with a new edge xc. Everything new is tested before
it is taken: the edges, the triangle axb between the old edge and the new ones, and where faces are tested, the faces. What does not pass a test
is left as it is, so that the state stays free of collisions.
"""

from abut.cells.map.darts import Row
from abut.cells.mobile.refining.growth import (
    EDGES,
    FACES,
    NOBODY,
    VERTICES,
    Growth,
    add_edge,
    link_corner,
    next_beside,
    opposite,
    set_corner,
    set_end,
)
from abut.cells.mobile.refining.shape import GIVEN
from abut.cells.mobile.steps.step_tests import list_cells
from abut.cells.mobile.sweeps.edge_sweep import search_triangle
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.segment_walk import ANY_CELL, Front, follow
from abut.core.arrays import Floats, Integers
from abut.core.jit import integer, kernel
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, dot, norm, subtract

SHORTEST = 0.1
"""Pieces of an edge shorter than this share of its first length are not made."""
FIRST_PULL, PULL_GROWTH, LAST_PULL = 2.0**-44, 16.0, 2.0**-12
"""How far a new particle is pulled off the obstacle, in lengths of the edge: nothing first, then from the rounding of a point on."""


@kernel
def is_free_edge(space: Space, front: Front, cell: Row, p: Vec3, q: Vec3) -> bool:
    """Whether a segment is free whose begin lies in a cell."""
    return follow(space, front, False, cell, p, q, integer(ANY_CELL))[1] == NO_FACE


@kernel
def is_free_triangle(space: Space, front: Front, cell: Row, p: Vec3, g: Vec3, q: Vec3) -> bool:
    """Whether a triangle is free whose first corner lies in a cell, and whose side gq is free."""
    free = list_cells(space, front, integer(2), (cell, cell, cell, cell), (p, p, p, p), (g, q, q, q))
    return free == 2 and not search_triangle(space, front, p, g, q)[0] < float("inf")


@kernel
def _fits(space: Space, front: Front, growth: Growth, edge: int, x: Vec3, with_faces: int) -> bool:
    """Whether all that a particle at x brings is free."""
    a, b = growth.edges[edge, 0], growth.edges[edge, 1]
    p, q = vector_at(growth.position, a), vector_at(growth.position, b)
    p_cell, q_cell = integer(growth.cell[a]), integer(growth.cell[b])
    if not is_free_edge(space, front, q_cell, q, x) or not is_free_triangle(space, front, p_cell, p, x, q):
        return False
    face = next_beside(growth, a, b, NOBODY)
    while face != NOBODY:
        c = opposite(growth, face, a, b)
        r = vector_at(growth.position, c)
        if not is_free_edge(space, front, integer(growth.cell[c]), r, x):
            return False
        if with_faces == 1:
            if not is_free_triangle(space, front, p_cell, p, x, r):
                return False
            if not is_free_triangle(space, front, q_cell, q, x, r):
                return False
        face = next_beside(growth, a, b, face)
    return True


@kernel
def _place_on_root(growth: Growth, vertex: int, ends_0: int) -> float:
    """Where a vertex is on the given edge that it belongs to."""
    if growth.parents[vertex, 0] != GIVEN:
        return growth.ratio[vertex]
    return 0.0 if vertex == ends_0 else 1.0


@kernel
def _link(growth: Growth, edge: int, x: Vec3, cell: Row, share: float) -> int:
    """Put a particle on an edge; its number."""
    a, b, new = growth.edges[edge, 0], growth.edges[edge, 1], growth.in_use[VERTICES]
    growth.in_use[VERTICES] = new + 1
    put_vector(growth.position, new, 0, x)
    growth.cell[new] = cell
    growth.edge_head[new], growth.face_head[new] = NOBODY, NOBODY
    known = a if growth.parents[a, 0] != GIVEN else b
    first, last = a, b
    if growth.parents[known, 0] != GIVEN:
        first, last = growth.parents[known, 0], growth.parents[known, 1]
    begin, end = _place_on_root(growth, a, first), _place_on_root(growth, b, first)
    growth.parents[new, 0], growth.parents[new, 1] = first, last
    growth.ratio[new] = begin + share * (end - begin)
    set_end(growth, edge, 1, new)
    turned = growth.edge_is_turned[edge]
    add_edge(growth, new, b, growth.root[edge], growth.length[edge], turned)
    face = next_beside(growth, a, b, NOBODY)
    while face != NOBODY:
        c, other = opposite(growth, face, a, b), growth.in_use[FACES]
        growth.in_use[FACES] = other + 1
        growth.face_is_turned[other], growth.is_pierced[other] = growth.face_is_turned[face], growth.is_pierced[face]
        for k in range(3):
            corner = growth.faces[face, k]
            growth.faces[other, k] = new if corner == a else corner
            link_corner(growth, 3 * other + k)
        for k in range(3):
            if growth.faces[face, k] == b:
                set_corner(growth, face, k, new)
        add_edge(growth, c, new, GIVEN, 0.0, integer(0))
        face = next_beside(growth, a, b, NOBODY)
    return new


@kernel
def _insert(space: Space, front: Front, growth: Growth, edge: int, point: Vec3, normal: Vec3, with_faces: int) -> int:
    """Put a particle on an edge where that touches a point; NOBODY where the edge is too short or no place for it is free."""
    a, b = growth.edges[edge, 0], growth.edges[edge, 1]
    p, q = vector_at(growth.position, a), vector_at(growth.position, b)
    along = subtract(q, p)
    length_sq, length = dot(along, along), norm(along)
    if growth.root[edge] == GIVEN or length_sq == 0.0:
        return NOBODY
    share = dot(subtract(point, p), along) / length_sq
    if min(share, 1.0 - share) * length < SHORTEST * growth.length[edge]:
        return NOBODY
    pull = 0.0
    while pull <= LAST_PULL:
        x = add_scaled(add_scaled(p, along, share), normal, -pull * length)
        pull = max(FIRST_PULL, pull * PULL_GROWTH)
        cell, slot, _, _ = follow(space, front, False, integer(growth.cell[a]), p, x, integer(ANY_CELL))
        if slot == NO_FACE and not space.obstacle[cell] and _fits(space, front, growth, edge, x, with_faces):
            return _link(growth, edge, x, cell, share)
    return NOBODY


@kernel
def insert_particles(
    space: Space,
    fronts: Front,
    growth: Growth,
    edges: Integers,
    points: Floats,
    normals: Floats,
    is_hybrid: int,
    with_faces: int,
    first: int,
    is_divided: Integers,
    inserted: Integers,
) -> int:
    """Put particles on edges that were hit, from hit `first` on; the hit for which there is no room any more, or how many there are.

    `inserted` gets for each hit the new vertex, the number of vertices at the beginning or more; NOBODY where the edge stays as it is, and −2
    where it has been divided at its other end's hit.
    """
    front = Front(fronts.seen[0], fronts.queue[0], fronts.state[0])
    for hit in range(first, len(edges)):
        edge = edges[hit]
        if is_divided[edge] == 1:
            inserted[hit] = -2
            continue
        a, b = growth.edges[edge, 0], growth.edges[edge, 1]
        inserted[hit] = NOBODY
        if is_hybrid == 1 and (growth.parents[a, 0] != GIVEN or growth.parents[b, 0] != GIVEN):
            continue
        beside, face = 0, next_beside(growth, a, b, NOBODY)
        while face != NOBODY:
            beside += 1
            face = next_beside(growth, a, b, face)
        if (
            growth.in_use[VERTICES] + 1 > len(growth.cell)
            or growth.in_use[EDGES] + 1 + beside > len(growth.root)
            or growth.in_use[FACES] + beside > len(growth.faces)
        ):
            return hit
        new = _insert(space, front, growth, edge, vector_at(points, hit), vector_at(normals, hit), with_faces)
        inserted[hit] = new
        is_divided[edge] = 0 if new == NOBODY else 1
    return len(edges)
