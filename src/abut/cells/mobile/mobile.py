"""Mobiles: bodies whose vertices, edges and faces move inside a partition (Jund 2010, chapters 4 and 5).

State: for each vertex its position and a free cell that holds it. Edges and faces are kept free of obstacles by testing what they sweep each
time a vertex moves. Nothing else is remembered: the cells that an edge passes are walked again when they are needed.

Vertices move colour by colour (`colouring`), ascending in each, so that answers do not depend on the number of threads.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import read_array, read_choice, refuse_kind
from abut.cells.environment import Environment
from abut.cells.mobile.colouring import Links, check_edges, link_vertices
from abut.cells.mobile.refinement import GIVEN, begin_shape
from abut.cells.mobile.response import Response, move_adaptively, move_rigidly, run
from abut.cells.mobile.results import BodyMoves
from abut.cells.mobile.step_tests import (
    CULL_CELLS,
    CULL_CLEAR,
    CULL_DIRECTION,
    FACES_CONTINUOUS,
    FACES_QUASI,
    Body,
    Rules,
    find_blocked,
)
from abut.cells.mobile.vertex_steps import COUNTED, DART, EDGE, FACE, KIND, STATUS
from abut.cells.particles import Particles, _lower_points, _raise_points
from abut.cells.space.predicates import NOWHERE
from abut.cells.walk.reentrant_edges import NONE_KNOWN, Voxels, find_reentrant
from abut.cells.walk.results import COLLISION
from abut.cells.walk.segment_walk import Front, make_fronts
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import thread_count
from abut.mesh import as_mesh

Mode = Literal["quasi", "continuous"]
Cull = Literal["none", "cells", "direction", "both"]
Answering = Literal["static", "adaptive", "hybrid", "rigid"]
Search = Literal["exhaustive", "dichotomy"]
After = Literal["stop", "slide", "bounce"]
Faces = Literal["none", "quasi", "continuous"]
_CULLS = {"none": 0, "cells": CULL_CELLS, "direction": CULL_DIRECTION, "both": CULL_CELLS | CULL_DIRECTION}
_FACES = {"none": 0, "quasi": FACES_QUASI, "continuous": FACES_CONTINUOUS}
_NO_FACES = np.empty((0, 3), np.int64)
_NO_ROWS = np.empty(0, np.int64)
PARALLEL_FROM = 200_000
"""Vertices from which on all threads are used: there is one parallel loop a colour, and waking threads may take milliseconds."""


class Mobile:
    """A body inside an environment: a mesh (whatever `abut.as_mesh` takes), or (points, edges), in the plane only the latter.

    Raises `InvalidInput` for a vertex that is in no free cell, and for an edge that is not free.
    """

    def __init__(self, environment: Environment, shape: object) -> None:
        refuse_kind(environment, Environment, "environment")
        self._environment = environment
        points, edges, faces = _read_shape(shape, environment.dimension)
        check_edges(edges)
        self._crowd = Particles(environment, points)
        self._shape = begin_shape(self._crowd._inner, self._crowd._cells, edges, faces)
        self._made_in = environment.interior.version
        self._fronts: Front | None = None
        self._links: dict[bool, Links] = {}
        self._faces_are_free = False
        self._free_in: Voxels | None = None
        blocked, _ = self._find_blocked(edges, _NO_FACES)
        if blocked != NOWHERE:
            raise InvalidInput("edges", "is not inside the free cells", int(blocked))

    def __len__(self) -> int:
        return len(self._shape.cell)

    @property
    def environment(self) -> Environment:
        """Where it moves."""
        return self._environment

    @property
    def position(self) -> Floats:
        """(n, dimension) where its vertices are."""
        return _lower_points(self._shape.position, self._environment.dimension)

    @property
    def edges(self) -> Integers:
        """(k,2) the two vertices of each edge, as they are now; given edges keep their numbers, one that has been divided is its first piece."""
        return arrays.frozen(self._shape.edges.view())

    @property
    def faces(self) -> Integers:
        """(m,3) the vertices of each face, as they are now; none for a body of edges."""
        return arrays.frozen(self._shape.faces.view())

    @property
    def cell(self) -> Integers:
        """(n,) the free cell in whose closure each vertex lies."""
        return arrays.frozen(self._environment.interior.cells_then(self._shape.cell, self._crowd._seen))

    @property
    def is_inserted(self) -> NDArray[np.bool_]:
        """(n,) whether an adaptive response has put the particle there."""
        return self._shape.parents[:, 0] != GIVEN

    @property
    def parents(self) -> Integers:
        """(n,2) for an inserted particle the two vertices of the edge that it was put on; −1 for the vertices given."""
        return arrays.frozen(self._shape.parents.view())

    @property
    def ratio(self) -> Floats:
        """(n,) where on that edge, from 0 at the first vertex to 1 at the second."""
        return arrays.frozen(self._shape.ratio.view())

    @property
    def groups(self) -> list[Integers]:
        """Vertices that may move at the same time: no two of a group share an edge. They move group by group."""
        return self._linked(False).groups

    def move(
        self,
        targets: object,
        mode: Mode = "quasi",
        response: Answering = "static",
        cull: Cull = "cells",
        *,
        search: Search = "exhaustive",
        after: After = "stop",
        restitution: float = 0.0,
        faces: Faces | None = None,
    ) -> BodyMoves:
        """Send each vertex towards its target (n, dimension), one after another; how each move ended.

        `mode`: "quasi" tests the new place of each edge, "continuous" all that it sweeps. `faces` likewise for faces, in space; by default they are
        tested continuously where edges are. `response`: what happens where something is hit (`response`). `cull` leaves out tests that cannot
        find anything; "direction" and "both" need a closed body. `search` says how the first contact
        of a quasi-continuous hit is found. `after` a hit a vertex stops, slides along the contact plane or bounces with `restitution`.
        """
        rules = self._read_rules(mode, cull, search, after, restitution, faces)
        read_choice(response, "response", ("static", "adaptive", "hybrid", "rigid"))
        if response == "rigid" and after != "stop":
            raise Unsupported(f"{after!r} of a rigid response")
        goals = self._read_targets(targets)
        if self._crowd._seen != self._environment.interior.version:
            self.settle()
        if self._environment.dimension == 2:
            goals = _raise_points(goals)
        pierced = self._list_pierced() if rules.faces and not self._faces_are_free else _NO_ROWS
        self._faces_are_free = rules.faces == FACES_CONTINUOUS and bool(rules.is_continuous) and not len(pierced)
        rules = self._ask_voxels(rules)
        goals, held = self._hold(goals, response)
        links = self._linked(bool(rules.culls & CULL_DIRECTION) or rules.faces != 0)
        if len(pierced):
            links = links.with_pierced(pierced)
        fronts = self._front(thread_count() if len(self) >= PARALLEL_FROM else 1)
        self._environment.interior.renew_records()
        asked = (self._environment, fronts, self._shape, links, goals, rules)
        if response == "static":
            answer = run(*asked)
        elif response == "rigid":
            answer = move_rigidly(*asked)
        else:
            answer = move_adaptively(*asked, is_hybrid=response == "hybrid")
        answer = answer if held is None else _tell_held(answer, held, self._environment)
        if len(answer.shape.edges) != len(self._shape.edges) or len(answer.shape.cell) != len(self):
            self._links = {}
        self._shape = answer.shape
        return self._tell(answer)

    def _hold(self, goals: Floats, response: str) -> tuple[Floats, NDArray[np.bool_] | None]:
        """Vertices inside cells that have become obstacles do not move, nor does a rigid body that has one: goals, and which vertices are held."""
        held = self._environment.interior.space.obstacle[self._shape.cell]
        if not held.any():
            return goals, None
        stays = held | (response == "rigid")
        return np.where(stays[:, np.newaxis], self._shape.position, goals), held

    def _tell(self, answer: Response) -> BodyMoves:
        dimension = self._environment.dimension
        columns = arrays.frozen(np.ascontiguousarray(answer.numbers.T))
        status = columns[STATUS].astype(np.int8)
        return BodyMoves(
            arrays.frozen(status),
            self.position,
            arrays.frozen(answer.time),
            arrays.frozen(columns[KIND].astype(np.int8)),
            columns[DART],
            _lower_points(answer.normal, dimension),
            _lower_points(answer.point, dimension),
            columns[EDGE],
            columns[FACE],
            self.cell,
            *columns[COUNTED:],
            source=arrays.frozen(answer.source),
        )

    def settle(self) -> NDArray[np.bool_]:
        """Bring the vertices up to date with an environment that was deformed, as `Particles.settle` does: (n,) whether a wall passed over each.

        Edges and faces may cross obstacles afterwards. Such an edge or face is free to leave: it is tested by its new place alone.
        """
        crowd = self._crowd
        if crowd._seen == self._environment.interior.version:
            return arrays.frozen(np.zeros(len(self), np.bool_))
        crowd._inner, crowd._cells = self._shape.position.copy(), self._shape.cell.copy()
        pushed = crowd.settle()
        self._shape = self._shape._replace(position=crowd._inner, cell=crowd._cells)
        self._fronts, self._faces_are_free = None, False
        return pushed

    def _front(self, count: int) -> Front:
        """Scratch for so many threads."""
        if self._fronts is None or len(self._fronts.seen) != count:
            self._fronts = make_fronts(self._environment.interior.space, count)
        return self._fronts

    def _linked(self, with_fans: bool) -> Links:
        if with_fans not in self._links:
            shape = self._shape
            self._links[with_fans] = link_vertices(
                shape.position, shape.edges, shape.faces, self._environment.dimension, with_fans
            )
        return self._links[with_fans]

    def _find_blocked(self, edges: Integers, faces: Integers) -> tuple[int, int]:
        shape, links = self._shape, self._linked(False)
        body = Body(shape.position, shape.cell, links.start, links.ring, links.fan_start, links.fan)
        return find_blocked(self._environment.interior.space, self._front(1), body, edges, faces)

    def _read_rules(
        self, mode: str, cull: str, search: str, after: str, restitution: float, faces: str | None
    ) -> Rules:
        read_choice(mode, "mode", ("quasi", "continuous"))
        read_choice(cull, "cull", tuple(_CULLS))
        read_choice(search, "search", ("exhaustive", "dichotomy"))
        read_choice(after, "after", ("stop", "slide", "bounce"))
        if faces is None:
            faces = "continuous" if mode == "continuous" and len(self._shape.faces) else "none"
        read_choice(faces, "faces", tuple(_FACES))
        if faces != "none" and not len(self._shape.faces):
            raise Unsupported("faces of a body that was given as edges")
        bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0) if after == "bounce" else 0.0
        culls = _CULLS[cull]
        if culls & CULL_DIRECTION and not self._linked(True).is_closed:
            raise Unsupported("elimination by direction of a body that is not closed and consistently oriented")
        return Rules(
            mode == "continuous",
            search == "exhaustive",
            culls,
            _FACES[faces],
            -1.0 if after == "stop" else bounce,
            NONE_KNOWN,
        )

    def _ask_voxels(self, rules: Rules) -> Rules:
        """Rules that go by voxels too, where these are known and all edges are free: an obstacle may have been put over some."""
        if not rules.culls:
            return rules
        voxels = find_reentrant(self._environment)
        if voxels is None:
            return rules
        if self._free_in is not voxels:
            if self._environment.interior.space.obstacle[self._shape.cell].any():
                return rules
            if self._find_blocked(self._shape.edges, _NO_FACES)[0] != NOWHERE:
                return rules
            self._free_in = voxels
        return rules._replace(culls=rules.culls | CULL_CLEAR, voxels=voxels)

    def _list_pierced(self) -> Integers:
        """The faces that an obstacle has come into since the mobile was made; before anything has changed, such a face is refused."""
        faces, pierced, first = self._shape.faces, list[int](), 0
        while first < len(faces):
            _, blocked = self._find_blocked(np.empty((0, 2), np.int64), faces[first:])
            if blocked == NOWHERE:
                break
            pierced.append(first + int(blocked))
            first = pierced[-1] + 1
        if pierced and self._made_in == self._environment.interior.version:
            raise InvalidInput("faces", "is not inside the free cells", pierced[0])
        return np.array(pierced, np.int64)

    def _read_targets(self, targets: object) -> Floats:
        goal = arrays.points(targets, "targets", dimensions=self._environment.dimension)
        if len(goal) != len(self):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self)} vertices")
        return goal


def _tell_held(answer: Response, held: NDArray[np.bool_], environment: Environment) -> Response:
    """The same answer, in which vertices that were inside obstacles have collided at once."""
    rows = np.flatnonzero((answer.source >= 0) & held[np.maximum(answer.source, 0)])
    answer.numbers[rows, STATUS], answer.numbers[rows, KIND] = COLLISION, environment.dimension
    answer.numbers[rows, DART] = environment.interior.space.face[answer.shape.cell[rows], 0]
    answer.numbers[rows, EDGE : FACE + 1] = -1
    answer.time[rows], answer.normal[rows], answer.point[rows] = 0.0, 0.0, answer.shape.position[rows]
    return answer


def _read_shape(shape: object, dimension: int) -> tuple[Floats, Integers, Integers | None]:
    """Points, edges and faces."""
    if isinstance(shape, tuple) and len(shape) == 2:
        rows = read_array(shape[1], "edges")
        if dimension == 2 or (rows.ndim == 2 and rows.shape[1] == 2):
            points = arrays.points(shape[0], "points", dimensions=dimension, keep=True)
            return points, arrays.indices(shape[1], "edges", 2, len(points), keep=True), None
    if dimension == 2:
        raise InvalidInput("shape", "in the plane a mobile is given as (points, edges)")
    mesh = as_mesh(shape)
    return mesh.vertices, mesh.edges, mesh.faces
