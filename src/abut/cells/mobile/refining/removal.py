"""Particles on edges that nothing holds any more are taken away (Jund 2010, §5.3).

One that lies near the segment between its neighbours on the edge goes, if that segment, the triangle between it and the two pieces, and the faces
that come together are free. Else it stays.
"""

from abut.cells.mobile.refining.growth import (
    NOBODY,
    Growth,
    corner_of,
    next_beside,
    next_edge,
    opposite,
    set_corner,
    set_end,
)
from abut.cells.mobile.refining.insertion import is_free_edge, is_free_triangle
from abut.cells.mobile.refining.shape import GIVEN
from abut.cells.space.records import Space
from abut.cells.walk.segment_walk import Front
from abut.core.arrays import Integers
from abut.core.jit import integer, kernel
from abut.geometry.rows import vector_at
from abut.geometry.vec import add_scaled, dot, subtract

STRAIGHT = 0.02
"""A particle is near the segment between its neighbours when its distance is at most this share of the segment's length."""


@kernel
def _find_pieces(growth: Growth, v: int) -> tuple[int, int]:
    """The two pieces of an edge that meet in a particle, the lower first; NOBODY where there are not two."""
    first, second, edge = NOBODY, NOBODY, next_edge(growth, v, NOBODY)
    while edge != NOBODY:
        if growth.root[edge] != GIVEN:
            if second != NOBODY:
                return NOBODY, NOBODY
            first, second = (edge, NOBODY) if first == NOBODY else (first, edge)
        edge = next_edge(growth, v, edge)
    return (first, second) if second != NOBODY else (NOBODY, NOBODY)


@kernel
def _are_paired(growth: Growth, v: int, u: int, w: int) -> bool:
    """Whether each face around v between it and u has one fellow between v and w, across a common edge, and there are no others."""
    face = next_beside(growth, v, v, NOBODY)
    while face != NOBODY:
        has_u, has_w = corner_of(growth, face, u) != NOBODY, corner_of(growth, face, w) != NOBODY
        if has_u == has_w:
            return False
        near, far = (u, w) if has_u else (w, u)
        c, fellows, other = opposite(growth, face, v, near), 0, next_beside(growth, v, v, NOBODY)
        while other != NOBODY:
            if corner_of(growth, other, c) != NOBODY and corner_of(growth, other, far) != NOBODY:
                fellows += 1
            other = next_beside(growth, v, v, other)
        if fellows != 1:
            return False
        face = next_beside(growth, v, v, face)
    return True


@kernel
def _can_go(space: Space, front: Front, growth: Growth, v: int, u: int, w: int, with_faces: int) -> bool:
    """Whether a particle between u and w is near their segment, and all that comes in its place is free."""
    p, x, q = vector_at(growth.position, u), vector_at(growth.position, v), vector_at(growth.position, w)
    along = subtract(q, p)
    length_sq, away = dot(along, along), subtract(x, p)
    off = add_scaled(away, along, -(dot(away, along) / length_sq if length_sq > 0.0 else 0.0))
    if dot(off, off) > STRAIGHT**2 * length_sq or not _are_paired(growth, v, u, w):
        return False
    u_cell = integer(growth.cell[u])
    if not is_free_edge(space, front, u_cell, p, q) or not is_free_triangle(space, front, u_cell, p, x, q):
        return False
    if with_faces == 0:
        return True
    face = next_beside(growth, v, u, NOBODY)
    while face != NOBODY:
        c = opposite(growth, face, v, u)
        r = vector_at(growth.position, c)
        if not is_free_triangle(space, front, u_cell, p, q, r):
            return False
        face = next_beside(growth, v, u, face)
    return True


@kernel
def _drop_edge(growth: Growth, edge: int) -> None:
    set_end(growth, edge, 0, NOBODY)
    set_end(growth, edge, 1, NOBODY)


@kernel
def _join(growth: Growth, v: int, u: int, w: int, first: int) -> None:
    """Let w be where v was, in the first piece and the faces beside u; all else at v goes."""
    set_end(growth, first, 0 if growth.edges[first, 0] == v else 1, w)  # its other end is u
    edge = next_edge(growth, v, NOBODY)
    while edge != NOBODY:
        _drop_edge(growth, edge)
        edge = next_edge(growth, v, NOBODY)
    face = next_beside(growth, v, v, NOBODY)
    while face != NOBODY:
        if corner_of(growth, face, u) != NOBODY:
            set_corner(growth, face, corner_of(growth, face, v), w)
        else:
            for k in range(3):
                set_corner(growth, face, k, NOBODY)
        face = next_beside(growth, v, v, NOBODY)


@kernel
def remove_particles(
    space: Space, fronts: Front, growth: Growth, rows: Integers, with_faces: int, is_gone: Integers
) -> int:
    """Take those of some particles away that may go, and say which; how many."""
    front, count = Front(fronts.seen[0], fronts.queue[0], fronts.state[0]), 0
    for v in rows:
        first, second = _find_pieces(growth, v)
        if first == NOBODY:
            continue
        u = growth.edges[first, 0] + growth.edges[first, 1] - v
        w = growth.edges[second, 0] + growth.edges[second, 1] - v
        if u != w and _can_go(space, front, growth, v, u, w, with_faces):
            _join(growth, v, u, w, first)
            is_gone[v] = 1
            count += 1
    return count
