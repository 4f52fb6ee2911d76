"""`Particles` on the device: positions and cells lie there from move to move, and moves of an environment that stays as it is never leave it.

After a deformation or surgery the particles are settled on the processor, as others are (`settle.settling`), and the tables of the environment go to
the device anew, both at the next move.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.cells.arguments import Walk
from abut.cells.environment import Environment
from abut.cells.particles import Particles, hold
from abut.cells.settle.settling import Places, place_points
from abut.cells.space.records import Space
from abut.cells.walk.events import EVENT, TALLY
from abut.cells.walk.results import COLLISION, Found
from abut.core import arrays
from abut.core.errors import InvalidInput, Unsupported
from abut.cuda import memory
from abut.cuda.arrays import read
from abut.cuda.device import cuda, cupy, empty, kernel_arguments, records
from abut.cuda.particles import walk
from abut.cuda.particles.moves import MovesOnDevice

THREADS = 64
FINISH_THREADS = 32


class _Mirrored(Places):
    """Places whose points lie on the device, and are fetched when the host needs them: before the environment changes."""

    @property
    def position(self) -> Any:
        """(n,3)"""
        self._fetch()
        return self.__dict__["position"]

    @position.setter
    def position(self, value: Any) -> None:
        self.__dict__["position"], self.__dict__["is_newer"] = value, True

    @property
    def part(self) -> Any:
        """(n,)"""
        self._fetch()
        return self.__dict__["part"]

    @part.setter
    def part(self, value: Any) -> None:
        self.__dict__["part"], self.__dict__["is_newer"] = value, True

    def _fetch(self) -> None:
        there = self.__dict__.pop("there", None)
        if there is not None:
            self.__dict__["position"], self.__dict__["part"] = map(cupy.asnumpy, there)

    def leave(self, position: Any, part: Any) -> None:
        """The points of the device are the newer ones."""
        self.__dict__["there"], self.__dict__["is_newer"] = (position, part), False


class ParticlesOnDevice(Particles):
    """`Particles` made of points on a CUDA device, or with `device="cuda"`."""

    def __init__(
        self,
        environment: Environment,
        points: Any,
        walk: Walk = "planes",
        *,
        debug: bool = False,
        device: object = None,
    ) -> None:
        arrays.instance(environment, "environment", Environment)
        if arrays.choice(walk, "walk", ("planes", "darts")) != "planes" or arrays.flag(debug, "debug"):
            raise Unsupported("walk='darts' and debug on a CUDA device")
        if environment.dimension != 3:
            raise Unsupported("environments of the plane on a CUDA device")
        self._environment = environment
        there = read(points, "points", (None, 3))
        places: Any = place_points(environment.interior, memory.to_host(there))
        places.__class__ = _Mirrored
        self._places: Any = places
        self._place, self._part = there.copy(), cupy.asarray(places.part)
        self._reached, self._debug, self._heading = [], False, None
        self._tables: tuple[int, Space] | None = None
        self._hard = empty(len(self._part), np.int32)
        self._hard_count = memory.Window(memory.zeros((1,), np.int64))
        places.leave(self._place, self._part)

    def __len__(self) -> int:
        return len(self._part)

    @property
    def position(self) -> Any:
        """(n,3) where they are, on the device: a copy."""
        self._take()
        return self._place.copy()

    @property
    def cell(self) -> Any:
        """(n,) the free cell in whose closure each lies, on the device."""
        return cupy.asarray(self._places.cell)

    def _take(self) -> None:
        """Follow what the host has changed."""
        if self._places.__dict__["is_newer"]:
            self._place, self._part = cupy.asarray(self._places.position), cupy.asarray(self._places.part)
            self._places.leave(self._place, self._part)

    def settle(self) -> NDArray[np.bool_]:
        """As `Particles.settle`; the answer lies on the host."""
        places = self._places
        if places.is_settled:
            self._reached = []
            return arrays.frozen(np.zeros(len(self), np.bool_))
        _, pushed, _, self._reached = places.settle()
        self._take()
        return arrays.frozen(pushed)

    def _space(self) -> Space:
        interior = self._environment.interior
        version = interior.versions.latest
        if self._tables is None or self._tables[0] != version:
            interior.renew_records()
            space = interior.space
            there: list[Any] = [
                cuda.to_device(np.ascontiguousarray(t)) if isinstance(t, np.ndarray) else t for t in space
            ]
            self._tables = version, Space(*there)
        return self._tables[1]

    def move(self, targets: Any) -> MovesOnDevice:
        """As `Particles.move`: targets and answers on the device."""
        places, interior, count = self._places, self._environment.interior, len(self)
        goal = self._read(targets)
        if places.seen != interior.versions.latest or places.pending is not None:
            self._refuse_bad(goal)
            self.settle()
        self._take()
        held = places.held
        if len(held):
            self._refuse_bad(goal)
            goal = goal.copy()
            goal[cupy.asarray(held)] = self._place[cupy.asarray(held)]
        space = self._space()
        position, cells = cupy.empty((count, 3)), cupy.empty(count, dtype=np.int32)
        status, tests = cupy.empty(count, dtype=np.int8), cupy.empty(count, dtype=np.int32)
        hard = self._go(space, goal, position, cells, status, tests)
        read_events, faulty = self._finish(space, hard, position, cells, status, tests)
        if faulty:
            self._refuse_bad(goal)
        if len(held):
            status[cupy.asarray(held)] = COLLISION
            darts = interior.space.face[places.part[held], 0]
            found_events, read_events = read_events, lambda: hold(found_events(), held, 3, darts)
        self._place, self._part = position, cells
        places.leave(position, cells)
        no_events: Any = None
        found = Found(3, status, tests, no_events, cells, interior.space.face, interior.part_cell)
        moves = MovesOnDevice(position, found, read_events)
        places.remember(moves)
        return moves

    def _go(self, space: Space, goal: Any, position: Any, cells: Any, status: Any, tests: Any) -> int:
        """The certain part of all moves; how many are left."""
        if len(self) == 0:
            return 0
        self._launch(space, goal, position, cells, status, tests)
        return int(memory.to_host(self._hard_count.take(1))[0])

    def _launch(self, space: Space, goal: Any, position: Any, cells: Any, status: Any, tests: Any) -> None:
        chosen = walk.walk_tetrahedra if space.planes.shape[2] == 4 else walk.walk_polyhedra
        rows = kernel_arguments(self._place, goal, self._part, position, cells, status, tests)
        grid, now = -(-len(self) // THREADS), memory.stream()
        self._hard_count.clear()
        chosen[grid, THREADS, now](space.planes, space.neighbour, space.reach, *rows, self._hard, self._hard_count.row)

    def _finish(self, space: Space, hard: int, position: Any, cells: Any, status: Any, tests: Any) -> Any:
        """The rest, exactly: a function that fetches what was met, and whether a target is not finite."""
        if hard == 0:
            return (lambda: np.empty(0, EVENT)), False
        events, tally = records(hard, EVENT), records(hard, TALLY)
        shaped = kernel_arguments(self._place, cells, position, status, tests)
        grid = -(-hard // FINISH_THREADS)
        walk.finish_moves[grid, FINISH_THREADS, memory.stream()](space, *shaped, events, tally, self._hard)

        def fetch() -> Any:
            written = tally.copy_to_host()["events"] > 0
            return events.copy_to_host()[written]

        return fetch, bool(tally[:1].copy_to_host()["faults"][0])

    def _read(self, targets: Any) -> Any:
        """(n,3) float64 of the device; whether they are finite is found out by the walk."""
        if isinstance(targets, cupy.ndarray) and targets.dtype == np.float64 and targets.flags.c_contiguous:
            own = targets
        else:
            own = read(targets, "targets", (None, 3))
        if own.shape != (len(self), 3):
            raise InvalidInput("targets", f"has shape {own.shape} for {len(self)} particles")
        return own

    def _refuse_bad(self, goal: Any) -> None:
        if not bool((abs(goal) <= arrays.LARGEST_COORDINATE).all()):
            arrays.points(memory.to_host(goal), "targets")
