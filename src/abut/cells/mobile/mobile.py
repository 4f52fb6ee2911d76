"""Mobiles: bodies whose vertices, edges and faces move inside a partition (Jund 2010, chapters 4 and 5).

State: for each vertex its position and a free cell that holds it. Edges and faces are kept free of obstacles by testing what they sweep each
time a vertex moves. Nothing else is remembered: the cells that an edge passes are walked again when they are needed.

Vertices move colour by colour (`colouring`), ascending in each, so that answers do not depend on the number of threads.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.cells.environment import Environment
from abut.cells.mobile.body_shape import BodyLike, read_shape
from abut.cells.mobile.refining.adaptive import move_adaptively
from abut.cells.mobile.refining.shape import GIVEN, begin_shape
from abut.cells.mobile.response import Response, hit_at_once, move_rigidly, run
from abut.cells.mobile.results import BodyMoves, make_results
from abut.cells.mobile.rules import After, Answering, Cull, Faces, Mode, Search, read_rules
from abut.cells.mobile.steps.colouring import Links, check_edges, link_vertices
from abut.cells.mobile.steps.step_tests import CULL_CLEAR, CULL_DIRECTION, FACES_CONTINUOUS, Body, Rules, find_blocked
from abut.cells.mobile.walls.body_reach import BodyReach, join_tables
from abut.cells.mobile.walls.wall_answers import BodyPlaces
from abut.cells.mobile.wide_response import list_clearance, move_widely, widen
from abut.cells.picture import draw_plane
from abut.cells.scenery import Form, list_body, make_scene
from abut.cells.settle.reaches import Reach, join_reaches
from abut.cells.settle.settling import find_places
from abut.cells.space.planar import lower_points, raise_points
from abut.cells.space.predicates import NOWHERE
from abut.cells.walk.reentrant_edges import Voxels
from abut.cells.walk.segment_walk import Front, make_fronts
from abut.cells.width.clearances import Clearance
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import thread_count
from abut.core.showing import count, describe
from abut.core.types import Number, PointsLike
from abut.viewer import Scene

_NO_FACES = np.empty((0, 3), np.int64)
_NO_ROWS = np.empty(0, np.int64)
PARALLEL_FROM = 200_000
"""Vertices from which on all threads are used: there is one parallel loop per colour, and waking threads may take milliseconds."""


class Mobile:
    """A body inside an environment: vertices, edges and faces that move and never cross an obstacle.

    Args:
        environment: the cells in which it moves.
        shape: a mesh (whatever `abut.as_mesh` takes), or (points, edges): (n, dimension) and (k,2). In the plane only the latter.
        radius: how far walls stay away from its vertices, edges and faces: vertices are balls, edges capsules, faces have thickness. With 0, nothing
            has a width.

    Raises:
        InvalidInput: a vertex is in no free cell, an edge is not free, or something is nearer to a wall than the radius.

    Examples:
        A rod turns about its upper end until it meets an edge of the cube in the middle:

        >>> import abut
        >>> hall = abut.cells.channel(3, 3, 3, obstacle=[cell == 13 for cell in range(27)])
        >>> rod = abut.cells.Mobile(hall, ([[0.05, 0.3, 1.5], [1.5, 2.95, 1.5]], [[0, 1]]))
        >>> moves = rod.move([[2.95, 0.3, 1.5], [1.5, 2.95, 1.5]], mode="continuous")
        >>> moves
        BodyMoves(2 vertices, 1 free, 1 collision)
        >>> moves.edge.tolist(), moves.point[0].round(6).tolist(), moves.time.round(6).tolist()
        ([0, -1], [1.0, 2.0, 1.5], [0.019056, 1.0])
    """

    def __init__(self, environment: Environment, shape: BodyLike, radius: Number = 0.0) -> None:
        arrays.instance(environment, "environment", Environment)
        width = arrays.scalar(radius, "radius", least=0.0)
        self._environment = environment
        points, edges, faces = read_shape(shape, environment.dimension)
        check_edges(edges)
        position = raise_points(points)
        self._places = BodyPlaces(environment.interior, position, find_places(environment.interior, position))
        self.shape = begin_shape(self._places.position, self._places.part, edges, faces)
        self._places.edges, self._places.faces = self.shape.edges, self.shape.faces
        self._reached: tuple[list[Reach], list[BodyReach]] = ([], [])
        """The vertices in space, their parts, the edges and faces, for the other parts of `abut.cells`."""
        self._made_in = environment.interior.version
        self._fronts: Front | None = None
        self._links: dict[bool, Links] = {}
        self._faces_are_free = False
        self._free_in: Voxels | None = None
        blocked, _ = self._find_blocked(edges, _NO_FACES)
        if blocked != NOWHERE:
            raise InvalidInput("edges", "is not inside the free cells", int(blocked))
        if width > 0.0:
            self._list_pierced()
            self._places.thickness = widen(environment.interior, self.shape, width)

    def __len__(self) -> int:
        return len(self.shape.cell)

    def __repr__(self) -> str:
        edges, faces = count(len(self.shape.edges), "edge"), count(len(self.shape.faces), "face")
        return describe(self, count(len(self), "vertex", "vertices"), edges, faces)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_links": {}}  # they hold addresses, and a copy lies elsewhere

    def _repr_svg_(self) -> str | None:
        """In the plane, the edges among the cells."""
        return draw_plane(self._environment.interior, points=self.position, edges=self.shape.edges)

    def _forms(self) -> list[Form]:
        """Faces or edges, for pages."""
        return list_body("body", self.shape.position, self.shape.edges, self.shape.faces, self.radius)

    def _scene(self) -> Scene:
        return make_scene([self._forms()], np.zeros(1), repr(self))

    @property
    def environment(self) -> Environment:
        """Where it moves."""
        return self._environment

    @property
    def position(self) -> Floats:
        """(n, dimension) where its vertices are."""
        return lower_points(self.shape.position, self._environment.dimension)

    @property
    def radius(self) -> float:
        """How far walls stay away from it."""
        return 0.0 if self._places.thickness is None else self._places.thickness.radius

    def clearance(self, within: Number | None = None, *, every: bool = False) -> Clearance:
        """The walls that are near: for each edge and face, and each vertex without an edge, the nearest one.

        The edges of faces are not told by themselves. An environment that has changed is followed first (`settle`).

        Args:
            within: walls further away than this are left out; by default twice the radius.
            every: whether to tell all walls that are near, and those of the corners of edges and faces as well: where they differ in the point of
                the wall, they are rows of their own.

        Raises:
            InvalidInput: no distance is given, and the radius is 0.

        Examples:
            >>> import abut
            >>> bead = abut.cells.Mobile(abut.cells.channel(3, 1, 1), ([[0.5, 0.5, 0.375], [2.5, 0.5, 0.375]], [[0, 1]]), radius=0.25)
            >>> near = bead.clearance()
            >>> near
            Clearance(1 wall)
            >>> near.edge.tolist(), near.distance.tolist(), near.normal.tolist()
            ([0], [0.375], [[0.0, 0.0, -1.0]])
        """
        if within is None and not self.radius > 0.0:
            raise InvalidInput("within", "must be given for a mobile without a radius")
        most = arrays.positive(2.0 * self.radius if within is None else within, "within")
        if not self._places.is_settled:
            self.settle()
        return list_clearance(
            self._environment.interior, self.shape, self._places.thickness, most, arrays.flag(every, "every")
        )

    @property
    def edges(self) -> Integers:
        """(k,2) the two vertices of each edge, as they are now; given edges keep their numbers, one that has been divided is its first piece."""
        return arrays.frozen(self.shape.edges.view())

    @property
    def faces(self) -> Integers:
        """(m,3) the vertices of each face, as they are now; none for a body of edges."""
        return arrays.frozen(self.shape.faces.view())

    @property
    def cell(self) -> Integers:
        """(n,) the free cell in whose closure each vertex lies."""
        return arrays.frozen(self._places.cell)

    @property
    def is_inserted(self) -> NDArray[np.bool_]:
        """(n,) whether an adaptive response has put the particle there."""
        return self.shape.parents[:, 0] != GIVEN

    @property
    def parents(self) -> Integers:
        """(n,2) for an inserted particle the two vertices of the edge that it was put on; −1 for the vertices given."""
        return arrays.frozen(self.shape.parents.view())

    @property
    def ratio(self) -> Floats:
        """(n,) where on that edge, from 0 at the first vertex to 1 at the second."""
        return arrays.frozen(self.shape.ratio.view())

    @property
    def groups(self) -> list[Integers]:
        """Vertices that may move at the same time: no two of a group share an edge. They move group by group."""
        return self._linked(False).groups

    def move(
        self,
        targets: PointsLike,
        mode: Mode = "quasi",
        response: Answering = "static",
        cull: Cull = "cells",
        *,
        search: Search = "exhaustive",
        after: After = "stop",
        restitution: Number = 0.0,
        faces: Faces | None = None,
    ) -> BodyMoves:
        """Send each vertex towards its target, one after another, each as far as it, its edges and its faces are free.

        A body with a radius moves all its vertices at the same time, and all that it sweeps is tested, whatever `mode`, `cull`, `search` and
        `faces` say. An environment that has changed is followed first (`settle`).

        Args:
            targets: (n, dimension) where each vertex is to go.
            mode: "quasi" tests the new place of each edge, "continuous" all that it sweeps.
            response: what happens where something is hit. "static": the vertex stops. "adaptive": a particle is put on the edge that was hit, and the
                vertex goes on; particles that nothing touches any more are taken away. "hybrid": one particle per edge, then static.
                "rigid": all vertices stop at the same share of their paths.
            cull: which tests that cannot find anything are left out. "cells": of edges and faces in one cell, or where no obstacle sticks out.
                "direction": of those that move into their own closed body; "both" leaves out what "cells" does; "none".
            search: how the first contact of a quasi-continuous hit is found, "exhaustive" (exactly) or by "dichotomy".
            after: what a vertex does after a hit: "stop", "slide" along the contact plane, or "bounce".
            restitution: how much of the normal motion comes back in a bounce, from 0 to 1.
            faces: "none", "quasi" or "continuous", as `mode` for faces, in space. By default they are tested continuously where edges are, else not.

        Returns:
            How each vertex's move ended, one row per vertex of the mobile as it is now.

        Raises:
            Unsupported: `cull` by direction of a body that is not closed, `faces` of one that was given as edges, a rigid response after which
                vertices go on, or particles on edges or bounces of a body with a radius.
        """
        rules = read_rules(self.shape, mode, cull, search, after, restitution, faces)
        if rules.culls & CULL_DIRECTION and not self._linked(True).is_closed:
            raise Unsupported("elimination by direction of a body that is not closed and consistently oriented")
        arrays.choice(response, "response", ("static", "adaptive", "hybrid", "rigid"))
        if response == "rigid" and after != "stop":
            raise Unsupported(f"{after!r} of a rigid response")
        goals = self._read_targets(targets)
        interior = self._environment.interior
        if not self._places.is_settled:
            self.settle()
        if interior.dimension == 2:
            goals = raise_points(goals)
        if self._places.thickness is not None:
            goals, held = self._hold(goals, response)
            done = move_widely(interior, self._places.thickness, self.shape, goals, response, after)
            return self._take(done, held)
        pierced = self._list_pierced() if rules.faces and not self._faces_are_free else _NO_ROWS
        self._faces_are_free = rules.faces == FACES_CONTINUOUS and bool(rules.is_continuous) and not len(pierced)
        rules = self._add_voxels(rules)
        goals, held = self._hold(goals, response)
        links = self._linked(bool(rules.culls & CULL_DIRECTION) or rules.faces != 0)
        if len(pierced):
            links = links.with_pierced(pierced)
        fronts = self._front(thread_count() if len(self) >= PARALLEL_FROM else 1)
        interior.renew_records()
        step = (interior, fronts, self.shape, links, goals, rules)
        if response == "static":
            done = run(*step)
        elif response == "rigid":
            done = move_rigidly(*step)
        else:
            done = move_adaptively(*step, is_hybrid=response == "hybrid")
        return self._take(done, held)

    def _take(self, done: Response, held: NDArray[np.bool_] | None) -> BodyMoves:
        """Go where a response has come to; `held` are vertices inside obstacles."""
        done = done if held is None else hit_at_once(done, held, self._environment.interior)
        if done.links is not None:
            self._links = {len(done.links.turned) > 0: done.links}
        self.shape = done.shape
        self._places.position, self._places.part = self.shape.position, self.shape.cell
        self._places.edges, self._places.faces = self.shape.edges, self.shape.faces
        return make_results(done, self._environment.dimension, self.position, self.cell)

    def _hold(self, goals: Floats, response: str) -> tuple[Floats, NDArray[np.bool_] | None]:
        """Vertices inside cells that have become obstacles do not move, nor does a rigid body that has one: goals, and which vertices are held."""
        held = self._environment.interior.space.obstacle[self.shape.cell]
        if not held.any():
            return goals, None
        stays = held | (response == "rigid")
        return np.where(stays[:, np.newaxis], self.shape.position, goals), held

    def settle(self) -> NDArray[np.bool_]:
        """Bring the body up to date with an environment that was deformed or cut; `move` does it too.

        Vertices follow as particles do (`Particles.settle`). Edges and faces that walls have come through are lifted off these; `reached` names
        them, and says which are not free even so. Such an edge or face is free to leave: it is tested by its new place alone.

        Returns:
            (n,) whether a wall has reached each vertex.
        """
        places = self._places
        if places.is_settled:
            self._reached = [], []
            return arrays.frozen(np.zeros(len(self), np.bool_))
        settled = places.settle()
        pushed, self._reached = settled.pushed, (settled.reached, places.tables())
        self.shape = self.shape._replace(position=places.position, cell=places.part)
        self._fronts, self._faces_are_free = None, False
        return arrays.frozen(pushed)

    @property
    def reached(self) -> BodyReach:
        """What walls have reached of the body, as `settle` found when it was last called, by you or by `move`."""
        vertices, tables = self._reached
        dimension = self._environment.dimension
        return join_tables(join_reaches(vertices, dimension), tables, dimension)

    def _front(self, count: int) -> Front:
        """Scratch for so many threads."""
        if self._fronts is None or len(self._fronts.seen) != count:
            self._fronts = make_fronts(self._environment.interior.space, count)
        return self._fronts

    def _linked(self, with_fans: bool) -> Links:
        if with_fans not in self._links:
            shape = self.shape
            self._links[with_fans] = link_vertices(
                shape.position, shape.edges, shape.faces, self._environment.dimension, with_fans
            )
        return self._links[with_fans]

    def _find_blocked(self, edges: Integers, faces: Integers) -> tuple[int, int]:
        shape, links = self.shape, self._linked(False)
        body = Body(shape.position, shape.cell, *links.tables)
        return find_blocked(
            self._environment.interior.space,
            self._front(1),
            body,
            arrays.frozen(edges.view()),
            arrays.frozen(faces.view()),
        )

    def _add_voxels(self, rules: Rules) -> Rules:
        """Rules that go by voxels too, where these are known and all edges are free: an obstacle may have been put over some."""
        if not rules.culls:
            return rules
        interior = self._environment.interior
        voxels = interior.reentrant.find(interior.space)
        if voxels is None:
            return rules
        if self._free_in is not voxels:
            if interior.space.obstacle[self.shape.cell].any():
                return rules
            if self._find_blocked(self.shape.edges, _NO_FACES)[0] != NOWHERE:
                return rules
            self._free_in = voxels
        return rules._replace(culls=rules.culls | CULL_CLEAR, voxels=voxels)

    def _list_pierced(self) -> Integers:
        """The faces that an obstacle has come into since the mobile was made; before anything has changed, such a face is refused."""
        faces, pierced, first = self.shape.faces, list[int](), 0
        while first < len(faces):
            _, blocked = self._find_blocked(np.empty((0, 2), np.int64), faces[first:])
            if blocked == NOWHERE:
                break
            pierced.append(first + int(blocked))
            first = pierced[-1] + 1
        if pierced and self._made_in == self._environment.interior.version:
            raise InvalidInput("faces", "is not inside the free cells", pierced[0])
        return np.array(pierced, np.int64)

    def _read_targets(self, targets: PointsLike) -> Floats:
        goal = arrays.points(targets, "targets", dimensions=self._environment.dimension)
        if len(goal) != len(self):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self)} vertices")
        return goal
