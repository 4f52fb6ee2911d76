"""Mobiles: bodies whose vertices, edges and faces move inside a partition (Jund 2010, chapters 4 and 5).

State: for each vertex its position and a free cell that holds it. Edges and faces are kept free of obstacles by testing what they sweep each
time a vertex moves. Nothing else is remembered: the cells that an edge passes are walked again when they are needed.

Vertices move colour by colour (`grouping`), ascending in each, so that answers do not depend on the number of threads.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abut import arrays
from abut.arrays import Floats, Integers
from abut.cells.body_results import BodyMoves
from abut.cells.deformation import settle_rows
from abut.cells.environment import Environment
from abut.cells.following import Front, make_fronts
from abut.cells.grouping import check_edges, close_loops, group_vertices, list_edges, list_fans, list_sides, outwards
from abut.cells.moving import COUNTED, DART, EDGE, FACE, KIND, NUMBERS, STATUS, Answer, move_vertices
from abut.cells.particles import Particles, _lower_points, _raise_points
from abut.cells.results import COLLISION
from abut.cells.signs import NOWHERE
from abut.cells.testing import (
    CULL_CELLS,
    CULL_DIRECTION,
    FACES_CONTINUOUS,
    FACES_QUASI,
    Body,
    Rules,
    find_blocked,
)
from abut.errors import InvalidInput, Unsupported
from abut.jit import thread_count
from abut.mesh import Mesh, as_mesh

Mode = Literal["quasi", "continuous"]
Cull = Literal["none", "cells", "direction", "both"]
Search = Literal["exhaustive", "dichotomy"]
After = Literal["stop", "slide", "bounce"]
Faces = Literal["none", "quasi", "continuous"]
_CULLS = {"none": 0, "cells": CULL_CELLS, "direction": CULL_DIRECTION, "both": CULL_CELLS | CULL_DIRECTION}
_FACES = {"none": 0, "quasi": FACES_QUASI, "continuous": FACES_CONTINUOUS}
PARALLEL_FROM = 200_000
"""Vertices from which on all threads are used: there is one parallel loop a colour, and waking threads may take milliseconds."""


class Mobile:
    """A body inside an environment: a mesh (whatever `abut.as_mesh` takes), or (points, edges), in the plane only the latter.

    Raises `InvalidInput` for a vertex that is in no free cell, and for an edge that is not free.
    """

    def __init__(self, environment: Environment, shape: object) -> None:
        self._environment = environment
        points, edges, faces = _read_shape(shape, environment.dimension)
        check_edges(edges)
        crowd = Particles(environment, points)
        self._inner, self._cells = crowd._inner, crowd._cells
        self._seen, self._part_cell = environment._version, environment._part_cell
        self._fronts: Front | None = None
        self._fans: tuple[Integers, Integers] | None = None
        self._inside: bool | None = None
        self._faces_are_free = False
        self._take(edges, faces)
        no_faces = np.empty((0, 3), np.int64)
        blocked, _ = find_blocked(environment._space, self._front(), self._body(False), edges, no_faces)
        if blocked != NOWHERE:
            raise InvalidInput("edges", "is not inside the free cells", int(blocked))

    def _take(self, edges: Integers, faces: Integers | None) -> None:
        self._edges, self._faces = edges, faces
        self._neighbours = list_edges(edges, len(self._cells))
        self._order, self._group_start = group_vertices(*self._neighbours)
        self._fans = None

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def environment(self) -> Environment:
        """Where it moves."""
        return self._environment

    @property
    def position(self) -> Floats:
        """(n, dimension) where its vertices are."""
        return _lower_points(self._inner.copy(), self._environment.dimension)

    @property
    def edges(self) -> Integers:
        """(k,2) the two vertices of each edge."""
        return self._edges

    @property
    def faces(self) -> Integers | None:
        """(m,3) the vertices of each face, or None."""
        return self._faces

    @property
    def cell(self) -> Integers:
        """(n,) the free cell in whose closure each vertex lies."""
        return arrays.frozen(self._part_cell[self._cells])

    @property
    def groups(self) -> list[Integers]:
        """Vertices that move at the same time: no two of a group share an edge. They move group by group."""
        return [self._order[a:b] for a, b in itertools.pairwise(self._group_start)]

    def move(
        self,
        targets: object,
        mode: Mode = "quasi",
        response: Literal["static"] = "static",
        cull: Cull = "cells",
        *,
        search: Search = "exhaustive",
        after: After = "stop",
        restitution: float = 0.0,
        faces: Faces | None = None,
    ) -> BodyMoves:
        """Send each vertex towards its target (n, dimension), one after another; how each move ended.

        `mode`: "quasi" tests the new place of each edge, "continuous" all that it sweeps. `faces` likewise for faces, in space; by default they are
        tested continuously where edges are. `cull` leaves out tests that cannot find anything: "cells" always, "direction" for closed bodies
        that no step turns inside out. `search` says how the first contact of a quasi-continuous hit is found. `after` a hit a vertex
        stops, slides along the contact plane or bounces with `restitution`.
        """
        rules = self._read_rules(mode, cull, search, after, restitution, faces)
        if response != "static":
            raise InvalidInput("response", f"{response!r} is not 'static'")
        if self._seen != self._environment._version:
            self.settle()
        goals = _raise_points(self._read_targets(targets))
        if rules.faces and not self._faces_are_free:
            self._check_faces()
        self._faces_are_free = rules.faces == FACES_CONTINUOUS and bool(rules.is_continuous)
        return self._run(goals, rules)

    def _run(self, goals: Floats, rules: Rules) -> BodyMoves:
        environment, count = self._environment, len(self._cells)
        space, dimension = environment._space, environment.dimension
        self._inner, self._cells = self._inner.copy(), self._cells.copy()
        body = self._body(bool(rules.culls & CULL_DIRECTION) or rules.faces != 0)
        answer = _make_answer(count, dimension)
        thread_total = thread_count() if count >= PARALLEL_FROM else 1
        fronts = self._front(thread_total)
        if thread_total == 1:
            move_vertices(space, fronts, 0, body, rules, answer, self._order, goals)
        else:
            with ThreadPoolExecutor(thread_total) as pool:
                for group in self.groups:
                    list(
                        pool.map(
                            lambda k, rows: move_vertices(space, fronts, k, body, rules, answer, rows, goals),
                            range(thread_total),
                            np.array_split(group, thread_total),
                        )
                    )
        numbers, measures = answer
        status, dart = numbers[:, STATUS].astype(np.int8), numbers[:, DART].copy()
        dart[dart < 0] = space.face[self._cells[dart < 0], 0]
        missed = status != COLLISION
        measures[missed, 4:] = self._inner[missed]
        columns = [numbers[:, k].copy() for k in (EDGE, FACE, *range(COUNTED, NUMBERS))]
        edge, face, *work = map(arrays.frozen, columns)
        return BodyMoves(
            arrays.frozen(status),
            self.position,
            arrays.frozen(measures[:, 0].copy()),
            arrays.frozen(numbers[:, KIND].astype(np.int8)),
            arrays.frozen(dart),
            arrays.frozen(measures[:, 1 : 1 + dimension].copy()),
            arrays.frozen(measures[:, 4 : 4 + dimension].copy()),
            edge,
            face,
            self.cell,
            *work,
        )

    def settle(self) -> NDArray[np.bool_]:
        """Bring the vertices up to date with an environment that was deformed, as `Particles.settle` does: (n,) whether a wall passed over each.

        Edges may cross obstacles afterwards. Such an edge is free to leave: it is tested by its new place alone.
        """
        environment, pushed = self._environment, np.zeros(len(self._cells), np.bool_)
        if self._seen == environment._version:
            return arrays.frozen(pushed)
        rows = np.arange(len(self._cells))
        if self._seen >= environment._cut_version:
            rows = np.flatnonzero(environment._stamps[self._cells] > self._seen)
        cell_of_row = environment._heir[self._part_cell[self._cells[rows]]]
        self._inner, self._cells = self._inner.copy(), self._cells.copy()
        parts = environment._list_parts()
        settle_rows(environment._space, *parts, cell_of_row, rows, self._cells, self._inner, pushed)
        self._seen, self._part_cell = environment._version, environment._part_cell
        self._fronts, self._faces_are_free = None, False
        return arrays.frozen(pushed)

    def _front(self, count: int = 1) -> Front:
        """Scratch for so many threads: rows of one front."""
        if self._fronts is None or len(self._fronts.seen) < count:
            self._fronts = make_fronts(self._environment._space, count)
        return self._fronts

    def _body(self, with_fans: bool) -> Body:
        fans = (np.zeros(len(self._cells) + 1, np.int64), np.empty((0, 3), np.int64))
        if with_fans:
            if self._fans is None:
                self._fans = self._make_fans()
            fans = self._fans
        return Body(self._inner, self._cells, *self._neighbours, *fans)

    def _make_fans(self) -> tuple[Integers, Integers]:
        count = len(self._cells)
        if self._environment.dimension == 2:
            return list_sides(close_loops(self._inner, self._edges), count)
        if self._faces is None:
            raise Unsupported("elimination by direction, or faces, of a body that was given as edges")
        mesh = Mesh(self._inner, self._faces)
        self._inside = mesh.is_closed and mesh.is_oriented
        faces = outwards(self._inner, self._faces, mesh.components) if self._inside else self._faces
        return list_fans(faces, count)

    def _read_rules(
        self, mode: str, cull: str, search: str, after: str, restitution: float, faces: str | None
    ) -> Rules:
        _choose(mode, "mode", ("quasi", "continuous"))
        _choose(cull, "cull", tuple(_CULLS))
        _choose(search, "search", ("exhaustive", "dichotomy"))
        _choose(after, "after", ("stop", "slide", "bounce"))
        if faces is None:
            faces = "continuous" if mode == "continuous" and self._faces is not None else "none"
        _choose(faces, "faces", tuple(_FACES))
        if self._environment.dimension == 2 and faces != "none":
            raise Unsupported("faces of a mobile in the plane")
        bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0) if after == "bounce" else 0.0
        culls = _CULLS[cull]
        if culls & CULL_DIRECTION and self._environment.dimension == 3:
            self._body(True)
            if not self._inside:
                raise Unsupported("elimination by direction of a mesh that is not closed and consistently oriented")
        return Rules(
            mode == "continuous", search == "exhaustive", culls, _FACES[faces], -1.0 if after == "stop" else bounce
        )

    def _check_faces(self) -> None:
        if self._faces is None:
            raise Unsupported("faces of a body that was given as edges")
        space, no_edges = self._environment._space, np.empty((0, 2), np.int64)
        _, blocked = find_blocked(space, self._front(), self._body(False), no_edges, self._faces)
        if blocked != NOWHERE:
            raise InvalidInput("faces", "is not inside the free cells", int(blocked))

    def _read_targets(self, targets: object) -> Floats:
        goal = arrays.points(targets, "targets", dimensions=self._environment.dimension)
        if len(goal) != len(self._cells):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self._cells)} vertices")
        return goal


def _choose(value: object, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInput(name, f"{value!r} is none of {', '.join(map(repr, choices))}")


def _read_shape(shape: object, dimension: int) -> tuple[Floats, Integers, Integers | None]:
    """Points, edges and faces."""
    if isinstance(shape, tuple) and len(shape) == 2:
        rows = np.asarray(shape[1])
        if dimension == 2 or (rows.ndim == 2 and rows.shape[1] == 2):
            points = arrays.points(shape[0], "points", dimensions=dimension, keep=True)
            return points, arrays.indices(shape[1], "edges", 2, len(points), keep=True), None
    if dimension == 2:
        raise InvalidInput("shape", "in the plane a mobile is given as (points, edges)")
    mesh = as_mesh(shape)
    return mesh.vertices, mesh.edges, mesh.faces


def _make_answer(count: int, dimension: int) -> Answer:
    numbers = np.zeros((count, NUMBERS), np.int64)
    numbers[:, KIND] = dimension
    numbers[:, DART : FACE + 1] = -1
    measures = np.zeros((count, 7))
    measures[:, 0] = 1.0
    return Answer(numbers, measures)
