"""What a world consists of, and what holds for all of it: gravity, and which pairs meet."""

from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import AbutError, InvalidInput
from abut.core.types import IndicesLike, Number, VectorLike
from abut.world.bodies.store import STATIC, Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.pair_rules import PairFilter
from abut.world.films import Film
from abut.world.joints.table import Joints
from abut.world.linkages.links import Links
from abut.world.results import SensorEvents, WorldContacts
from abut.world.soft.bodies import Softs
from abut.world.step import Motor


class Core:
    """The parts of a world, and who stands for what."""

    def __init__(
        self,
        gravity: VectorLike = (0.0, 0.0, -9.81),
        *,
        slop: Number = 0.005,
        substeps: int = 8,
        sweeps: int = 2,
        sleeping: bool = True,
        filter: PairFilter | None = None,
    ) -> None:
        self.slop = arrays.positive(slop, "slop")
        self._store, self._colliders = Store(), Colliders()
        self.gravity = gravity
        self._motor = Motor(
            arrays.count(substeps, "substeps", least=1),
            arrays.count(sweeps, "sweeps", least=1),
            arrays.flag(sleeping, "sleeping"),
        )
        self._links, self._joints, self._softs = Links(), Joints(), Softs()
        self._touching, self._touched = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
        """Pairs of the last answer of `contacts`, and of the one before."""
        self._known: WorldContacts | None = None
        self._names: dict[str, int] = {}
        self._films: list[Film] = []
        self._sensed = SensorEvents(*(frozen(np.empty((0, 2), np.int64)) for _ in range(3)))
        self.filter = filter

    def __len__(self) -> int:
        return len(self._store)

    def __getstate__(self) -> dict[str, Any]:
        is_known = self._known is not None  # the copy gives the same answer again
        content = {name: value for name, value in vars(self).items() if name != "_films"}
        return {**content, "_known": None, "_touching": self._touched if is_known else self._touching}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._films = []

    @property
    def handles(self) -> Integers:
        """The handles of all bodies, ascending by slot."""
        return frozen(self._store.handles(np.flatnonzero(self._store.alive)))

    @property
    def gravity(self) -> Floats:
        """(3,) the acceleration of free bodies; setting it wakes them."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: VectorLike) -> None:
        self._gravity = arrays.coordinates(value, "gravity", (3,), keep=True)
        self._store.asleep[:], self._store.rest_time[:] = False, 0.0

    @property
    def filter(self) -> PairFilter | None:
        """Which pairs of bodies meet, beside layers and masks: a function of two arrays of handles (k,), the smaller of each pair in the first, that
        gives (k,) booleans; None: all do.

        It is asked about each pair once when the two come near each other, about all that do in one call, sorted; its answer holds as long as they
        stay near. What it answers may depend on the handles alone. Setting it wakes all bodies."""
        return self._colliders.rules.ask

    @filter.setter
    def filter(self, value: PairFilter | None) -> None:
        self._colliders.rules.change_filter(value)
        self._store.asleep[:], self._store.rest_time[:] = False, 0.0
        self._changed()

    def ignore(self, a: IndicesLike, b: IndicesLike, *, ignored: bool = True) -> None:
        """Let pairs of bodies pass through each other, or with `ignored=False` meet again. They wake up.

        It ends when one of the two is removed. Questions (`ray`, `overlap`, …) see both all the same.

        Args:
            a, b: (k,) handles of the two bodies of each pair, or one that stands for all.
            ignored: whether they are to be ignored.
        """
        first, second = (
            np.concatenate([self._store.read(int(each), name) for each in arrays.selection(handles, name, 2**62)])
            for handles, name in ((a, "a"), (b, "b"))
        )
        if len(first) != len(second) and 1 not in (len(first), len(second)):
            raise InvalidInput("b", f"has {len(second)} handles for {len(first)}")
        pairs = np.stack(np.broadcast_arrays(first, second), axis=1)
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise InvalidInput("b", "is the same body as a", int(np.argmax(pairs[:, 0] == pairs[:, 1])))
        self._colliders.rules.ignore(pairs, arrays.flag(ignored, "ignored"))
        self._motor.wake_neighbors(self._store, np.unique(pairs))
        self._changed()

    def _slots(self, handles: IndicesLike | None) -> Integers:
        return np.flatnonzero(self._store.alive) if handles is None else self._store.read(handles)

    def _changed(self) -> None:
        self._known = None

    def _place(self) -> None:
        self._links.follow(self._store)
        self._softs.follow(self._store)
        if self._colliders.settle(self._store, self.slop):
            self._changed()

    def _is_static(self, handle: int) -> bool:
        return bool(self._store.kind[self._store.read(handle)][0] == STATIC)

    def _stand_ins(self) -> list[int]:
        """Handles of the bodies that stand for parts of linkages."""
        return self._store.handles(self._links.slots).tolist()

    def validate(self) -> None:
        """Raise AbutError unless the parts agree with each other: slots, colliders, boxes, pairs, states."""
        store, colliders = self._store, self._colliders
        colliders.sap.validate()
        used = np.flatnonzero(colliders.body >= 0)
        if not np.array_equal(used, colliders.sap.handles):
            raise AbutError("the colliders are not those of the sweep and prune")
        if not np.array_equal(np.unique(colliders.body[used]), np.flatnonzero(store.alive)):
            raise AbutError("a body has no collider, or a collider no body")
        if not np.isfinite(store.state).all():
            raise AbutError("a state is not finite")
        if (np.abs(np.linalg.norm(store.state[:, 3:7], axis=1) - 1.0) > 1e-9).any():
            raise AbutError("a rotation is not one")
        if (store.inverse[~store.movable] != 0.0).any():
            raise AbutError("a body that nothing moves has a mass")
