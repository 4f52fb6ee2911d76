"""Environments and what is in them as things of a page (`abut.viewer`), still or frame by frame.

Of an environment the walls are drawn: the border, and the faces of obstacles, both seen through. The faces between free cells and the edges of all
cells are there as well, switched off at first in space: they show where everything is cut open. In the plane cells are drawn, at height 0.

What is drawn of a frame is a list of forms. Forms of one name that keep their triangles or edges from frame to frame are one thing whose points
move; one that changes otherwise, as by surgery or by particles on edges, is another thing from that frame on.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from abut.cells.edit.interior import Interior
from abut.cells.map.darts import OUTSIDE
from abut.cells.space.planar import raise_points
from abut.cells.space.records import BLOCKED, NO_FACE
from abut.cells.space.tables import follow_rings
from abut.core.arrays import Floats, Integers
from abut.viewer import Faces, Lines, Points, Scene, Thing

MOST_FACES = 50_000
"""Between free cells, of which more are not drawn, nor are the edges of as many cells: the page would be large, and nobody sees so many."""


class Form(NamedTuple):
    """Something of one frame."""

    name: str
    points: Floats
    """(n,3)"""
    rows: Integers | None
    """(m,3) triangles, (m,2) edges, None for points alone"""
    colour: str
    opacity: float = 1.0
    is_hidden: bool = False
    radius: float = 0.0
    """of edges"""
    normals: Floats | None = None
    """of points alone"""


class Drawn(Protocol):
    """What has forms: environments, and who is in them."""

    def _forms(self) -> list[Form]: ...


def _triangles(interior: Interior, faces: Integers) -> Integers:
    """(m,3) fans of faces, given by a dart of each; anticlockwise seen from inside their cells."""
    if not len(faces):
        return np.empty((0, 3), np.int64)
    darts, sizes = follow_rings(interior.darts.phi1, faces)
    first = np.cumsum(sizes) - sizes
    place = np.arange(len(darts)) - np.repeat(first, sizes)
    inner = np.flatnonzero((place > 0) & (place < np.repeat(sizes, sizes) - 1))
    corners = interior.darts.vertex[darts].astype(np.int64)
    return np.stack((np.repeat(corners[first], sizes)[inner], corners[inner], corners[inner + 1]), axis=1)


def _used(name: str, places: Floats, rows: Integers, colour: str, opacity: float, is_hidden: bool = False) -> Form:
    """A form of the points that its rows name."""
    chosen, local = np.unique(rows, return_inverse=True)
    return Form(name, places[chosen], local.reshape(rows.shape), colour, opacity, is_hidden)


def _edges(interior: Interior) -> Integers:
    """(k,2) the edges of cells between their corners."""
    inner = np.flatnonzero(interior.darts.cell >= 0)
    ends = np.stack((interior.darts.vertex[inner], interior.darts.vertex[interior.darts.phi1[inner]]), axis=1)
    ends = np.sort(ends.astype(np.int64), axis=1)
    return np.unique(ends[(ends < interior.fabric.vertex_count).all(axis=1)], axis=0)


def list_environment(interior: Interior) -> list[Form]:
    """The walls of an environment, and its cells."""
    space, in_plane = interior.space, interior.dimension == 2
    places = raise_points(interior.space.vertices[:, :2]) if in_plane else interior.space.vertices
    live = np.flatnonzero(interior.part_cell >= 0)
    if in_plane:
        blocked = space.obstacle[live]
        first = space.face[live, 0].astype(np.int64)
        forms = [
            _used("cells", places, _triangles(interior, first[~blocked]), "blue", 0.15),
            _used("obstacles", places, _triangles(interior, first[blocked]), "stone", 0.6),
            _used("edges of cells", places, _edges(interior), "grey", 0.6),
        ]
        return [form for form in forms if form.rows is not None and len(form.rows)]
    faces = space.face[live]
    owner, slot = np.nonzero((faces != NO_FACE) & ~space.obstacle[live][:, np.newaxis])
    darts = faces[owner, slot].astype(np.int64)
    is_wall = space.neighbour[live[owner], slot] == BLOCKED
    is_border = is_wall & (space.cell[space.across[darts]] == OUTSIDE)
    once = ~is_wall & (darts < space.across[darts])
    forms = [
        _used("border", places, _triangles(interior, darts[is_border])[:, ::-1], "blue", 0.15),
        _used("obstacles", places, _triangles(interior, darts[is_wall & ~is_border]), "stone", 0.5),
    ]
    if np.count_nonzero(once) <= MOST_FACES:
        forms.append(_used("faces of cells", places, _triangles(interior, darts[once]), "teal", 0.3, True))
        forms.append(_used("edges of cells", places, _edges(interior), "grey", 0.6, True))
    return [form for form in forms if form.rows is not None and len(form.rows)]


def list_body(name: str, position: Floats, edges: Integers, faces: Integers | None, radius: float) -> list[Form]:
    """A mobile: its faces, or its edges as rods of its radius."""
    if faces is not None and len(faces):
        return [Form(name, position, faces, "red")]
    return [Form(name, position, edges, "red", radius=radius)]


def _is_same(form: Form, other: Form) -> bool:
    """Whether two forms of a name are one thing that moves."""
    if form.rows is None or other.rows is None:
        return form.rows is other.rows
    if form.rows is other.rows:
        return True
    return len(form.points) == len(other.points) and np.array_equal(form.rows, other.rows)


def make_scene(frames: Sequence[Sequence[Form]], times: Floats, title: str) -> Scene:
    """The things of all frames."""
    runs: dict[str, list[list[tuple[int, Form]]]] = {}
    for k, forms in enumerate(frames):
        for form in forms:
            own = runs.setdefault(form.name, [])
            if own and own[-1][-1][0] == k - 1 and _is_same(own[-1][-1][1], form):
                own[-1].append((k, form))
            else:
                own.append([(k, form)])
    things = [_make_thing(run, len(frames)) for own in runs.values() for run in own]
    return Scene(things, times, title=title)


def _make_thing(run: list[tuple[int, Form]], frame_count: int) -> Thing:
    """What is one thing through some frames that follow one another."""
    first, last, form = run[0][0], run[-1][0], run[0][1]
    shown = None if len(run) == frame_count else (np.arange(frame_count) >= first) & (np.arange(frame_count) <= last)
    if form.rows is None:
        empty = np.empty((0, 3))
        known = dict(run)
        each = [known.get(k) for k in range(frame_count)]
        points = [empty if at is None else at.points for at in each]
        normals = [empty if at is None or at.normals is None else at.normals for at in each]
        has_normals = form.normals is not None
        return Points(form.name, points, normals if has_normals else None, colour=form.colour, hidden=form.is_hidden)
    moves = any(other is not form and not np.array_equal(other.points, form.points) for _, other in run)
    points = form.points
    if moves:
        points = np.stack([run[min(max(k - first, 0), len(run) - 1)][1].points for k in range(frame_count)])
    if form.rows.shape[1] == 2:
        return Lines(
            form.name, points, form.rows, radius=form.radius, colour=form.colour, opacity=form.opacity, shown=shown,
            hidden=form.is_hidden,
        )  # fmt: skip
    return Faces(
        form.name, points, form.rows, colour=form.colour, opacity=form.opacity, shown=shown, hidden=form.is_hidden
    )
