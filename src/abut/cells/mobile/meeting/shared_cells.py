"""Primitives of mobiles that share a cell during a step: the candidates of a continuous test between mobiles (Jund 2010, conclusion, §2).

A primitive whose vertices move straight from one place to another stays in the box about both places of all of them. Each cell remembers the
primitives whose boxes it meets: beginning with the cells of the vertices, all cells around the corners of a cell that was met are asked, by
the planes of their records. What moves is connected, and cells with a common point have a common corner; so two primitives that touch at
some time have a common cell. Obstacles are cells too, for a quasi-continuous move may pass them. Who meets whom and when is asked in
`dynamics.impacts`.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from abut.cells.arguments import read_items
from abut.cells.map.darts import Row
from abut.cells.mobile.meeting.meetings import join_by_cell, settle_all
from abut.cells.mobile.mobile import Mobile
from abut.cells.mobile.refining.shape import Shape
from abut.cells.mobile.sweeps.edge_sweep import lower, upper
from abut.cells.space.planar import raise_points
from abut.cells.space.records import NO_FACE, Space
from abut.cells.walk.segment_walk import COUNT, STAMP, Front, begin, make_fronts, push
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.types import PointsLike
from abut.geometry.rows import vector_at
from abut.geometry.vec import Vec3


class Passing(NamedTuple):
    """The vertices of all mobiles one after another, what they carry, and pairs that share a cell during the step and no vertex."""

    vertices_t0: Floats
    """(n,3); z is 0 in the plane"""
    vertices_t1: Floats
    edges: Integers
    faces: Integers
    """(m,3), in the plane the edges (m,2)"""
    vertex_start: Integers
    """(bodies + 1,) where the vertices of each mobile begin; likewise its edges and faces"""
    edge_start: Integers
    face_start: Integers
    vertex_face: Integers
    """(k,2) a vertex and a face, sorted"""
    edge_edge: Integers
    """(k,2) two edges, the smaller first, sorted; none in the plane"""


@kernel
def _meets_box(space: Space, cell: Row, low: Vec3, high: Vec3) -> bool:
    """Whether a cell may meet a box: no plane of its record has all of the box certainly beyond it."""
    for slot in range(space.planes.shape[2]):
        top = space.planes[cell, 3, slot]
        for axis in range(3):
            n = space.planes[cell, axis, slot]
            top += n * (high[axis] if n > 0.0 else low[axis])
        if top < -1.0:
            return False
    return True


@kernel
def _ask_around(space: Space, front: Front, vertex: Row, low: Vec3, high: Vec3) -> None:
    """Add the cells around a vertex that meet a box."""
    for k in range(space.star_begin[vertex], space.star_end[vertex]):
        cell = space.star[k]
        if front.seen[cell] != front.state[STAMP]:
            if _meets_box(space, cell, low, high):
                push(front, cell)
            else:
                front.seen[cell] = front.state[STAMP]


@kernel
def _list_swept(
    space: Space,
    fronts: Front,
    vertices_t0: Floats,
    vertices_t1: Floats,
    cell: Integers,
    corners: Integers,
    owner: Integers,
    place: Integers,
) -> int:
    """The cells of primitives (a, b, c), corners repeated in edges and vertices: pairs while the tables hold them; how many there are."""
    front, count = Front(fronts.seen[0], fronts.queue[0], fronts.state[0]), 0
    for row in range(len(corners)):
        begin(front)
        low = high = vector_at(vertices_t0, corners[row, 0])
        for k in range(3):
            p, q = vector_at(vertices_t0, corners[row, k]), vector_at(vertices_t1, corners[row, k])
            low, high = lower(low, lower(p, q)), upper(high, upper(p, q))
            push(front, cell[corners[row, k]])
        done = 0
        while done < front.state[COUNT]:
            here = front.queue[done]
            done += 1
            if count < len(owner):
                owner[count], place[count] = row, here
            count += 1
            for slot in range(space.face.shape[1]):
                face = space.face[here, slot]
                if face == NO_FACE:
                    continue
                dart = face
                while True:
                    _ask_around(space, front, space.vertex[dart], low, high)
                    dart = space.phi1[dart]
                    if dart == face or space.dimension == 2:
                        break
    return count


def find_passing(bodies: Sequence[Mobile], positions_t0: Sequence[PointsLike]) -> Passing:
    """The candidates of the step that brought mobiles of one environment from `positions_t0`, one (n, dimension) array each, to where they are."""
    bodies, given = arrays.items(bodies, "bodies", Mobile), read_items(positions_t0, "positions_t0")
    if not bodies:
        raise InvalidInput("bodies", "is empty")
    starts = _read_positions(bodies, given)
    environment = settle_all(bodies)
    environment.interior.renew_records()
    in_plane = environment.dimension == 2
    vertex_start = np.cumsum([0, *map(len, bodies)])
    edges = [body.edges + first for body, first in zip(bodies, vertex_start, strict=False)]
    faces = edges if in_plane else [body.faces + first for body, first in zip(bodies, vertex_start, strict=False)]
    edge_start, face_start = np.cumsum([0, *map(len, edges)]), np.cumsum([0, *map(len, faces)])
    vertices_t0 = np.concatenate(starts)
    vertices_t1 = np.concatenate([body.shape.position for body in bodies])
    cell = np.concatenate([body.shape.cell for body in bodies]).astype(np.int64)
    all_edges, all_faces = np.concatenate(edges), np.concatenate(faces)
    count, edge_count = int(vertex_start[-1]), len(all_edges)
    corners = np.concatenate(
        (np.arange(count)[:, np.newaxis].repeat(3, axis=1), all_edges[:, [0, 1, 1]], all_faces[:, [0, 1, -1]])
    )
    fronts, size = make_fronts(environment.interior.space, 1), 8 * len(corners)
    while True:
        owner, place = np.empty(size, np.int64), np.empty(size, np.int64)
        found = _list_swept(environment.interior.space, fronts, vertices_t0, vertices_t1, cell, corners, owner, place)
        if found <= size:
            break
        size = found
    owner, place = owner[:found], place[:found]
    begins = np.searchsorted(owner, [0, count, count + edge_count, len(corners)])
    lists = [(owner[a:b], place[a:b]) for a, b in itertools.pairwise(begins)]
    vertex_face = join_by_cell(*lists[0], *lists[2]) - [0, count + edge_count]
    edge_edge = np.empty((0, 2), np.int64)
    if not in_plane:
        edge_edge = join_by_cell(*lists[1], *lists[1]) - count
        edge_edge = edge_edge[edge_edge[:, 0] < edge_edge[:, 1]]
    return Passing(
        vertices_t0,
        vertices_t1,
        all_edges,
        all_faces,
        vertex_start,
        edge_start,
        face_start,
        _meeting_boxes(vertices_t0, vertices_t1, np.arange(count)[:, np.newaxis], all_faces, vertex_face),
        _meeting_boxes(vertices_t0, vertices_t1, all_edges, all_edges, edge_edge),
    )


def _read_positions(bodies: Sequence[Mobile], positions_t0: Sequence[PointsLike]) -> list[Floats]:
    if len(positions_t0) != len(bodies):
        raise InvalidInput("positions_t0", f"has {len(positions_t0)} arrays for {len(bodies)} mobiles")
    starts = []
    for row, (body, given) in enumerate(zip(bodies, positions_t0, strict=True)):
        points = arrays.points(given, "positions_t0", dimensions=body.environment.dimension)
        if len(points) != len(body):
            raise InvalidInput("positions_t0", f"has {len(points)} vertices for {len(body)}", row)
        starts.append(raise_points(points))
    return starts


def _meeting_boxes(
    vertices_t0: Floats, vertices_t1: Floats, rows_a: Integers, rows_b: Integers, pairs: Integers
) -> Integers:
    """The pairs of primitives, given by their vertices, whose boxes meet and that share no vertex."""
    boxes = []
    for rows in (rows_a, rows_b):
        both = np.concatenate((vertices_t0[rows], vertices_t1[rows]), axis=1)
        boxes.append((both.min(axis=1, initial=np.inf), both.max(axis=1, initial=-np.inf)))
    (low_a, high_a), (low_b, high_b) = boxes
    a, b = pairs.T
    met = ((low_a[a] <= high_b[b]) & (high_a[a] >= low_b[b])).all(axis=1)
    shared = (rows_a[a][:, :, np.newaxis] == rows_b[b][:, np.newaxis]).any(axis=(1, 2))
    return pairs[met & ~shared]


def put_back(body: Mobile, shape: Shape) -> None:
    """Let a mobile be where it was, in an environment that has not changed since; its shape must have the same vertices."""
    body.shape = shape
    body._places.position, body._places.part = shape.position, shape.cell
