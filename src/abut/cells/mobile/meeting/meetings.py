"""Mobiles that meet one another or themselves: each cell remembers the primitives inside it, and only those that share a cell are tested.

A perspective of Jund 2010 (conclusion, §2). In space an edge meets a face, in the plane an edge meets an edge; two surfaces that cross have such
a pair. The cells of an edge are those of its walk, the cells of a face those that `edge_sweep` finds for a triangle. Both lists cover their
primitive, so that two primitives with a common point have a common cell, or touch in a point that cells share; whether they meet is decided by
exact signs. Touching counts; primitives of one mobile with a common vertex are not paired.

Positions are those of now; for the way there see `shared_cells`. A mobile inside another, which no edge crosses, is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from abut.cells.environment import Environment
from abut.cells.mobile.mobile import Mobile
from abut.cells.mobile.steps.step_tests import list_cells
from abut.cells.mobile.sweeps.edge_sweep import search_triangle
from abut.cells.space.predicates import place
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.segment_walk import COUNT, Front, make_fronts, push_star
from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import integer, kernel
from abut.core.showing import ROWS_SHOWN, describe, table_html
from abut.core.showing import count as count_of
from abut.geometry.crossings import meet_segment_triangle
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3


@dataclass(frozen=True, eq=False, repr=False)
class Meetings:
    """Pairs of primitives that meet, one row per pair, sorted: the answer to `find_meetings`."""

    body_a: Integers
    """(n,) the mobile whose edge it is, by its place in the list"""
    edge_a: Integers
    """(n,) the edge"""
    body_b: Integers
    """(n,) the mobile whose face it is"""
    face_b: Integers
    """(n,) the face that the edge meets; in the plane the edge, where the pair (body, edge) of a comes before that of b"""
    candidate_count: int
    """pairs that share a cell"""

    def __len__(self) -> int:
        return len(self.body_a)

    def __repr__(self) -> str:
        return describe(self, count_of(len(self), "pair"), count_of(self.candidate_count, "candidate"))

    def _repr_html_(self) -> str:
        names = ("body_a", "edge_a", "body_b", "face_b")
        columns = [getattr(self, name)[:ROWS_SHOWN].tolist() for name in names]
        return table_html(repr(self), names, columns, len(self))


@kernel
def _list_stars(space: Space, front: Front, p: Vec3, q: Vec3) -> None:
    """Add the cells around the vertices of listed cells through which an edge passes; in space the growth of faces has them."""
    done = 0
    while done < front.state[COUNT]:
        cell = front.queue[done]
        done += 1
        for slot in range(space.face.shape[1]):
            dart = space.face[cell, slot]
            if dart != NO_FACE:
                w = vector_at(space.vertices, space.vertex[dart])
                if meet_segment_triangle(w, w, p, q, q):
                    push_star(space, front, space.vertex[dart])


@kernel
def _list_primitives(
    space: Space,
    fronts: Front,
    position: Floats,
    cell: Integers,
    corners: Integers,
    owner: Integers,
    place_of: Integers,
) -> int:
    """The cells of each primitive, (a, b, c) or (a, b, b) for an edge: pairs (primitive, cell) while the tables hold them; how many there are."""
    front, count = Front(fronts.seen[0], fronts.queue[0], fronts.state[0]), 0
    for row in range(len(corners)):
        a, b, c = corners[row, 0], corners[row, 1], corners[row, 2]
        p, g, q = vector_at(position, a), vector_at(position, b), vector_at(position, c)
        home, other = integer(cell[a]), integer(cell[b])
        list_cells(space, front, integer(3), (home, home, other, home), (p, p, g, p), (g, q, q, q))
        search_triangle(space, front, p, g, q)
        # A vertex on a face, edge or vertex of cells lies in all of them.
        for k in range(3):
            x = (p, g, q)[k]
            kind, dart, _ = place(space, integer(cell[corners[row, k]]), x)
            if kind < space.dimension:
                push_star(space, front, space.vertex[dart])
        if space.dimension == 2:
            _list_stars(space, front, p, g)
        for k in range(front.state[COUNT]):
            if count < len(owner):
                owner[count], place_of[count] = row, front.queue[k]
            count += 1
    return count


@kernel
def _test_pairs(position: Floats, corners: Integers, pairs: Integers, is_met: Integers) -> None:
    for row in range(len(pairs)):
        edge, face = pairs[row, 0], pairs[row, 1]
        p, q = vector_at(position, corners[edge, 0]), vector_at(position, corners[edge, 1])
        a, b, c = corners[face, 0], corners[face, 1], corners[face, 2]
        met = meet_segment_triangle(p, q, vector_at(position, a), vector_at(position, b), vector_at(position, c))
        is_met[row] = 1 if met else 0


def settle_all(bodies: Sequence[Mobile]) -> Environment:
    """The one environment of some mobiles, which are brought up to date with it."""
    environment = bodies[0].environment
    for row, body in enumerate(bodies):
        if body.environment is not environment:
            raise InvalidInput("bodies", "moves in another environment than the first", row)
    for body in bodies:
        body.settle()
    return environment


def find_meetings(bodies: Sequence[Mobile]) -> Meetings:
    """Find the edges of mobiles that meet faces (in the plane: edges) of another of them, or of the same, at their positions now.

    Pairs are decided by exact signs; touching counts, and primitives of one mobile with a common vertex are not paired. A mobile inside another,
    which no edge crosses, is not found. Mobiles are brought up to date with the environment first (`Mobile.settle`).

    Args:
        bodies: mobiles of one environment.

    Returns:
        One row per pair, sorted.

    Raises:
        InvalidInput: the mobiles move in different environments.

    Examples:
        >>> import abut
        >>> hall = abut.cells.channel(1, 1, 1)
        >>> leaf = abut.cells.Mobile(hall, ([[0.2, 0.2, 0.5], [0.8, 0.2, 0.5], [0.5, 0.8, 0.5]], [[0, 1, 2]]))
        >>> pin = abut.cells.Mobile(hall, ([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]], [[0, 1]]))
        >>> met = abut.cells.find_meetings([leaf, pin])
        >>> met
        Meetings(1 pair, 1 candidate)
        >>> met.body_a.tolist(), met.edge_a.tolist(), met.body_b.tolist(), met.face_b.tolist()
        ([1], [0], [0], [0])
    """
    bodies = arrays.items(bodies, "bodies", Mobile, least=1)
    environment = settle_all(bodies)
    offsets = np.cumsum([0, *(len(body) for body in bodies)])
    position = np.concatenate([body.shape.position for body in bodies])
    cell = np.concatenate([body.shape.cell for body in bodies]).astype(np.int64)
    edges = [body.edges + offset for body, offset in zip(bodies, offsets, strict=False)]
    faces = [body.faces + offset for body, offset in zip(bodies, offsets, strict=False)]
    edge_corners = np.ascontiguousarray(np.concatenate([edge[:, [0, 1, 1]] for edge in edges]))
    in_plane = environment.dimension == 2
    corners = edge_corners if in_plane else np.ascontiguousarray(np.concatenate((edge_corners, *faces)))
    pairs = _pair_up(environment.interior.space, position, cell, corners, len(edge_corners), in_plane)
    is_met = np.zeros(len(pairs), np.int64)
    _test_pairs(position, corners, pairs, is_met)
    met = pairs[is_met == 1]
    edge_body = np.repeat(np.arange(len(bodies)), [len(each) for each in edges])
    face_body = edge_body if in_plane else np.repeat(np.arange(len(bodies)), [len(each) for each in faces])
    edge_first = np.cumsum([0, *map(len, edges)])
    face_first = edge_first if in_plane else np.cumsum([0, *map(len, faces)])
    second = met[:, 1] - (0 if in_plane else len(edge_corners))
    body_a, body_b = edge_body[met[:, 0]], face_body[second]
    table = np.stack((body_a, met[:, 0] - edge_first[body_a], body_b, second - face_first[body_b]), axis=1)
    table = table[np.lexsort(table.T[::-1])]
    return Meetings(*(frozen(column.copy()) for column in table.T), candidate_count=len(pairs))


def _pair_up(
    space: Space, position: Floats, cell: Integers, corners: Integers, edge_count: int, in_plane: bool
) -> Integers:
    """Edges and faces (in the plane: edges) that share a cell and no vertex, each pair once."""
    fronts, size = make_fronts(space, 1), 8 * len(corners)
    while True:
        owner, place_of = np.empty(size, np.int64), np.empty(size, np.int64)
        count = _list_primitives(space, fronts, position, cell, corners, owner, place_of)
        if count <= size:
            break
        size = count
    owner, place_of = owner[:count], place_of[:count]
    is_edge = owner < edge_count
    edges, edge_cells = owner[is_edge], place_of[is_edge]
    others, other_cells = (edges, edge_cells) if in_plane else (owner[~is_edge], place_of[~is_edge])
    pairs = join_by_cell(edges, edge_cells, others, other_cells)
    if in_plane:
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    shared = (corners[pairs[:, 0], :2, np.newaxis] == corners[pairs[:, 1]][:, np.newaxis]).any(axis=(1, 2))
    return pairs[~shared]


def join_by_cell(first: Integers, first_cells: Integers, second: Integers, second_cells: Integers) -> Integers:
    """(n,2) the pairs of two lists of (primitive, cell) that share a cell, each once, sorted."""
    order = np.argsort(second_cells, kind="stable")
    begin = np.searchsorted(second_cells[order], first_cells, "left")
    many = np.searchsorted(second_cells[order], first_cells, "right") - begin
    left = np.repeat(first, many)
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    right = second[order][np.repeat(begin, many) + within]
    return np.unique(np.stack((left, right), axis=1), axis=0)
