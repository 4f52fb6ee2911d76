"""Particles: points that follow straight paths through the free cells of an environment (Jund 2010, chapter 3).

State: the position and a free cell in whose closure it lies, exactly. `move` sends every particle along a segment to its target; it arrives, or
stops where its path leaves the free cells. Moves of many particles run on all threads; the answers do not depend on how many there are.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import Walk
from abut.cells.environment import Environment
from abut.cells.map.darts import Indices
from abut.cells.picture import draw_plane
from abut.cells.scenery import Form, make_scene
from abut.cells.settle.reaches import Reach, join_reaches
from abut.cells.settle.settling import place_points
from abut.cells.space.planar import lower_points, raise_points
from abut.cells.space.predicates import NOWHERE
from abut.cells.walk.by_darts import begin_rows, turn_rows
from abut.cells.walk.by_planes import move_chunks, move_rows
from abut.cells.walk.events import EVENT, TALLY
from abut.cells.walk.invariants import refuse_ends, refuse_legs, refuse_states
from abut.cells.walk.results import COLLISION, Found, Moves
from abut.core import arrays, devices, jit
from abut.core.arrays import Floats, Integers
from abut.core.devices import Device
from abut.core.errors import InvalidInput
from abut.core.showing import count as count_of
from abut.core.showing import describe
from abut.core.types import PointsLike
from abut.viewer import Scene

PARALLEL_FROM = 100_000
"""Particles from which on all threads are used. Waking them costs as much as moving tens of thousands."""
CHUNK = 8192


class Heading(NamedTuple):
    """What a walk on darts remembers of each particle."""

    dart: Integers
    """that it was heading for"""
    is_inner: NDArray[np.bool_]
    """whether it is inside of its cell, and not on the border"""


class Particles:
    """Points inside an environment, each in a free cell that it remembers, so that a move costs the same in small and in large environments.

    `debug` checks invariants by exact signs: before and after every move, that each particle lies in its closed cell; in the walk on darts also
    the pre- and postconditions of the thesis' algorithms, after each cell passed (`invariants`). What does not hold raises `AssertionError`.

    Args:
        environment: the cells in which they move.
        points: (n, dimension) where they are at first.
        walk: how paths are followed. "planes" (the default) goes by records of planes, fast; "darts" is the thesis' walk, which turns to a predicted
            face and counts its orientation tests. Both give the same answers; `tests` counts planes in the one, orientation tests in the other.
        debug: whether to check invariants, for tests of the library itself.
        device: "cuda" to keep the particles on a CUDA device, whatever memory the points lie in; None: where the points lie. Targets and answers
            then lie there too; see docs/cuda.md.

    Raises:
        InvalidInput: a point lies outside of every cell, or only obstacles hold it.

    Examples:
        >>> import abut
        >>> channel = abut.cells.channel(3, 1, 1)
        >>> crowd = abut.cells.Particles(channel, [[0.5, 0.5, 0.5], [0.5, 0.25, 0.5]])
        >>> crowd.move([[2.5, 0.5, 0.5], [0.5, 2.25, 0.5]])
        Moves(2 particles, 1 free, 1 collision)
        >>> crowd.position.tolist(), crowd.cell.tolist()
        ([[2.5, 0.5, 0.5], [0.5, 1.0, 0.5]], [2, 0])
    """

    def __new__(
        cls,
        environment: Environment,
        points: PointsLike,
        walk: Walk = "planes",
        *,
        debug: bool = False,
        device: Device = None,
    ) -> "Particles":
        """Those on a device are of a class of their own."""
        if cls is Particles and devices.chosen(device, points):
            return object.__new__(devices.part("particles.crowd").ParticlesOnDevice)
        return object.__new__(cls)

    def __init__(
        self,
        environment: Environment,
        points: PointsLike,
        walk: Walk = "planes",
        *,
        debug: bool = False,
        device: Device = None,
    ) -> None:
        arrays.instance(environment, "environment", Environment)
        arrays.choice(walk, "walk", ("planes", "darts"))
        self._environment, self._debug = environment, arrays.flag(debug, "debug")
        self._position = arrays.points(points, "points", dimensions=environment.dimension, keep=True)
        self._places = places = place_points(environment.interior, raise_points(self._position))
        self._reached: list[Reach] = []
        count = len(places.part)
        self._events = np.empty(count, EVENT)
        """What moves write, before it is handed out."""
        self._heading: Heading | None = None
        if walk == "darts":
            self._heading = Heading(np.full(count, NOWHERE, np.int64), np.empty(count, np.bool_))
            begin_rows(environment.interior.space, np.arange(count), places.position, places.part, *self._heading)

    def __len__(self) -> int:
        return len(self._places.part)

    def _forms(self) -> list[Form]:
        """Where they are, for pages."""
        return [Form("particles", raise_points(self.position), None, "red")]

    def _scene(self) -> Scene:
        return make_scene([self._forms()], np.zeros(1), repr(self))

    def __repr__(self) -> str:
        return describe(self, count_of(len(self), "particle"), count_of(self._environment.cell_count, "cell"))

    def _repr_svg_(self) -> str | None:
        """In the plane, the particles among the cells."""
        return draw_plane(self._environment.interior, points=self._position)

    @property
    def environment(self) -> Environment:
        """Where they move."""
        return self._environment

    @property
    def position(self) -> Floats:
        """(n, dimension) where they are."""
        return self._position

    @property
    def cell(self) -> Integers:
        """(n,) the free cell in whose closure each lies, or the obstacle that its cell has become; the lowest-numbered choice is not guaranteed
        after moves."""
        return arrays.frozen(self._places.cell)

    def move(self, targets: PointsLike) -> Moves:
        """Send each particle straight to its target.

        It stops where its path leaves the free cells. An environment that has changed is followed first (`settle`).

        Args:
            targets: (n, dimension) where each particle is to go; they may lie outside of the environment.

        Returns:
            How each move ended, one row per particle.
        """
        places, interior, count = self._places, self._environment.interior, len(self._places.part)
        goal = self._read_targets(targets)
        if places.seen != interior.versions.latest or places.pending is not None:
            arrays.points(goal, "targets", dimensions=interior.dimension)  # a refusal leaves everything as it was
            self.settle()
        space = interior.space
        if len(places.held):
            goal = arrays.points(goal, "targets", dimensions=space.dimension).copy()
            goal[places.held] = self._position[places.held]
        is_shared = self._heading is None and count >= PARALLEL_FROM and jit.thread_count() > 1
        position, cells = raise_points(goal), places.part.copy()
        status, tests = np.empty(count, np.int8), np.empty(count, np.int32)
        tally = np.zeros(-(-count // CHUNK) if is_shared else 1, TALLY)
        answer = (cells, position, status, tests, self._events, tally)
        if self._heading is not None:
            arrays.points(goal, "targets", dimensions=space.dimension)
        if self._debug:
            self._check_before(position)
        if self._heading is not None:
            turn_rows(space, places.position, *self._heading, *answer)
        elif is_shared:
            interior.renew_records()
            move_chunks(interior.packed(), space.reach, places.position, *answer)
        else:
            move_rows(interior.packed(), space.reach, 0, count, 0, places.position, *answer)
        if tally["faults"][0]:
            arrays.points(goal, "targets", dimensions=space.dimension)  # names the row and the reason
        if self._debug:
            self._check_after(raise_points(goal), cells, position, status)
        places.position, places.part = position, cells
        self._position = lower_points(position, space.dimension)
        events = _gather_events(self._events, tally)
        if len(places.held):
            status[places.held] = COLLISION
            events = hold(events, places.held, space.dimension, space.face[cells[places.held], 0])
        found = Found(space.dimension, status, tests, events, cells, space.face, interior.part_cell)
        moves = Moves(self._position, found)
        places.remember(moves)
        return moves

    def settle(self) -> NDArray[np.bool_]:
        """Bring the particles up to date with an environment that was deformed or cut; `move` does it too.

        Only particles in cells that moved are looked at. In a deformation vertices go straight from where they were to where they are; a particle
        that a wall reaches on the way goes along with that wall, and `reached` says when, where and by which. All others stay where they
        are, to the last bit.

        Returns:
            (n,) whether a wall has reached each.
        """
        places, interior = self._places, self._environment.interior
        if places.is_settled:
            self._reached = []
            return arrays.frozen(np.zeros(len(self), np.bool_))
        rows, pushed, is_recut, self._reached = places.settle()
        if self._heading is not None:
            if is_recut:
                self._heading.dart[rows] = NOWHERE
            begin_rows(interior.space, rows, places.position, places.part, *self._heading)
        self._position = lower_points(places.position, interior.dimension)
        return arrays.frozen(pushed)

    @property
    def reached(self) -> Reach:
        """Which particles walls have reached, as `settle` found when it was last called, by you or by `move`."""
        return join_reaches(self._reached, self._environment.dimension)

    def _check_before(self, targets: Floats) -> None:
        space, places = self._environment.interior.space, self._places
        refuse_states(space, places.part, places.position)
        if self._heading is not None:
            refuse_legs(space, places.position, targets, places.part, *self._heading)

    def _check_after(self, targets: Floats, cells: Indices, position: Floats, status: NDArray[np.int8]) -> None:
        space = self._environment.interior.space
        refuse_states(space, cells, position)
        if self._heading is not None:
            refuse_ends(space, targets, cells, self._heading.is_inner, position, status != COLLISION)

    def _read_targets(self, targets: PointsLike) -> Floats:
        """The targets; where they are float64 rows already, the walk itself finds numbers that are not finite."""
        dimension = self._environment.dimension
        if type(targets) is np.ndarray and targets.dtype == np.float64 and targets.shape == (len(self), dimension):
            return targets
        goal = arrays.points(targets, "targets", dimensions=dimension)
        if len(goal) != len(self):
            raise InvalidInput("targets", f"has {len(goal)} rows for {len(self)} particles")
        return goal


def _gather_events(events: NDArray[Any], tally: NDArray[Any]) -> NDArray[Any]:
    """A copy of the rows that were written, chunk after chunk."""
    counts = tally["events"].tolist()
    if len(counts) == 1:
        return events[: counts[0]].copy()
    begin = np.arange(len(counts)) * len(events) // len(counts)
    return np.concatenate([events[first : first + count] for first, count in zip(begin, counts, strict=True)])


def hold(events: NDArray[Any], rows: Integers, kind: int, darts: Indices) -> NDArray[Any]:
    """The events of a batch, in which these particles, each inside of an obstacle, collide at once."""
    held = np.zeros(len(rows), EVENT)
    held["particle"], held["kind"], held["dart"] = rows, kind, darts
    return np.concatenate((events[~np.isin(events["particle"], rows)], held))
