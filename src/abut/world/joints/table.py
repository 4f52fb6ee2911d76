"""The joints of a world: who hangs together with whom, what the last step left, and what the next one starts from.

A handle is a number that is given once. A joint that broke stays, and holds nothing, until it is removed. For a step the joints whose bodies are
awake become a `Rack` (`opening`); what they gave is kept as forces, for the next step may be longer or shorter.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core import arrays
from abut.core.arrays import Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.records import Records
from abut.world.bodies.store import Store
from abut.world.joints.coordinates import CONE, DISTANCE, NAMES
from abut.world.joints.definition import Freedom, Joint
from abut.world.joints.records import HOLD, JOINT, MOTOR, ROW, SPRING

WORLD = -1


NOBODY = frozen(np.empty(0, np.int64))


class Joints:
    """See above. All arrays have one row per joint, but `rows` and `owner`, which have one per row."""

    def __init__(self) -> None:
        self._next = 0
        self.specs: list[Joint] = []
        self.handles = np.empty(0, np.int64)
        self.slots = np.empty((0, 2), np.int64)
        """of the two bodies; WORLD for none"""
        self.joints = np.empty(0, JOINT)
        self.rows = np.empty(0, ROW)
        """their impulses are forces"""
        self.owner = np.empty(0, np.int64)
        self.broken = np.empty(0, np.bool_)
        self.broke = np.empty(0, np.int64)
        """handles of those that broke in the last step"""

    def __len__(self) -> int:
        return len(self.specs)

    # --- who

    @property
    def pairs(self) -> Integers:
        """(k,2) bodies that hang together."""
        return self.slots[~self.broken & (self.slots != WORLD).all(axis=1)]

    @property
    def members(self) -> Integers:
        """Bodies with a joint."""
        found = np.unique(self.slots[~self.broken])
        return found[found != WORLD]

    @property
    def apart(self) -> Integers:
        """Pairs of bodies that do not collide, smaller · 2³² + larger."""
        passes = np.array([not spec.collide for spec in self.specs], np.bool_) & ~self.broken
        pairs = self.slots[passes & (self.slots != WORLD).all(axis=1)]
        return np.unique((pairs.min(axis=1, initial=2**31) << 32) | pairs.max(axis=1, initial=0))

    def find_held(self, store: Store) -> Integers:
        """Bodies that hang on something that nothing moves."""
        if not self.specs:
            return NOBODY
        movable = np.append(store.movable, False)
        kept = self.slots[~self.broken]
        return np.concatenate([kept[~movable[kept[:, 1 - k]], k] for k in (0, 1)])

    def find_driven(self) -> Integers:
        """Bodies that a motor turns or pushes."""
        if not self.specs:
            return NOBODY
        runs = (self.rows["kind"] == MOTOR) & (self.rows["speed"] != 0.0) & (self.rows["most_force"] > 0.0)
        found = np.unique(self.slots[np.unique(self.owner[runs])][~self.broken[np.unique(self.owner[runs])]])
        return found[found != WORLD]

    def find_roused(self, store: Store) -> Integers:
        """Sleepers that hang together with what is awake, moved by the user or new."""
        if not self.specs:
            return NOBODY
        busy = np.append((store.movable & ~store.asleep) | store.find_driven() | store.stirred, False)
        asleep = np.append(store.asleep, False)
        kept = self.slots[~self.broken]
        return np.unique(np.concatenate([kept[asleep[kept[:, k]] & busy[kept[:, 1 - k]], k] for k in (0, 1)]))

    # --- come and go

    def read(self, handles: object, name: str = "handles") -> Integers:
        """The rows of handles, one or many."""
        raw = arrays.selection(handles, name, 2**62)
        rows = np.searchsorted(self.handles, raw)
        known = rows < len(self.handles)
        known[known] = self.handles[rows[known]] == raw[known]
        if not known.all():
            row = int(np.argmin(known))
            raise InvalidInput(name, f"{raw[row]} is no joint of this world, or was removed", row)
        if len(np.unique(rows)) < len(rows):
            raise InvalidInput(name, "names a joint twice")
        return rows

    def add(self, spec: Joint, slots: Integers, joint: Records) -> int:
        """Take a joint between bodies (2,); joint (1,): its record, with both frames."""
        for name, freedom in spec.freedoms.items():
            rows = _rows_of(NAMES.index(name), freedom)
            self.rows = _join(self.rows, rows)
            self.owner = np.concatenate((self.owner, np.full(len(rows), len(self.specs))))
        self.joints = _join(self.joints, joint)
        self.slots = np.concatenate((self.slots, slots[np.newaxis]))
        self.handles = np.append(self.handles, self._next)
        self.broken = np.append(self.broken, False)
        self.specs.append(spec)
        self._next += 1
        return self._next - 1

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget all others."""
        rows, number = kept[self.owner], np.cumsum(kept) - 1
        self.rows, self.owner = self.rows[rows], number[self.owner[rows]]
        self.joints, self.slots, self.handles = self.joints[kept], self.slots[kept], self.handles[kept]
        self.broken = self.broken[kept]
        self.specs = [spec for spec, stays in zip(self.specs, kept.tolist(), strict=True) if stays]

    def set_freedom(self, row: int, name: str, freedom: Freedom) -> None:
        """Give one coordinate of a joint other limits, another motor or spring; impulses of what stays are kept."""
        spec, mine = self.specs[row], self.owner == row
        number = NAMES.index(name)
        old, fresh = np.flatnonzero(mine & (self.rows["coordinate"] == number)), _rows_of(number, freedom)
        for at in old:
            fresh["impulse"][fresh["kind"] == self.rows["kind"][at]] = self.rows["impulse"][at]
        order = np.concatenate((np.delete(self.owner, old), np.full(len(fresh), row)))
        rows = _join(np.delete(self.rows, old), fresh)
        place = np.argsort(order, kind="stable")
        self.rows, self.owner = rows[place], order[place]
        self.specs[row] = Joint(**{**vars(spec), "freedoms": {**spec.freedoms, name: freedom}})

    # --- a step

    def remember(self, which: Integers, joints: Records, rows: Records, dt: float, substeps: int) -> Integers:
        """Take what a step made of some of the joints, and let break what is overloaded: their bodies."""
        if not self.specs:
            self.broke = NOBODY
            return NOBODY
        mine = np.flatnonzero(np.isin(self.owner, which))
        self.rows["impulse"][mine] = rows["impulse"] * (substeps / dt)
        self.rows["side"][mine] = rows["side"]
        self.joints["twist"][which] = joints["twist"]
        for name in ("force", "torque"):
            self.joints[name][which] = joints[name] / dt
        most = np.array([(spec.break_force, spec.break_torque) for spec in self.specs]).reshape(-1, 2)
        with np.errstate(over="ignore"):  # more than any number breaks what breaks at all
            loads = np.stack([np.linalg.norm(self.joints[name], axis=1) for name in ("force", "torque")], axis=1)
        breaks = (loads > most).any(axis=1) & ~self.broken & np.isin(np.arange(len(most)), which)
        self.broken |= breaks
        self.broke = frozen(self.handles[breaks])
        self.rows["impulse"][breaks[self.owner]] = 0.0
        found = np.unique(self.slots[breaks])
        return found[found != WORLD]


def _rows_of(coordinate: int, freedom: Freedom) -> Records:
    """What a freedom asks for."""
    rows, count = np.zeros(4, ROW), 0
    rows["coordinate"] = coordinate
    # A length, and the angle of a cone, are never less than 0.
    low = -np.inf if coordinate in (CONE, DISTANCE) and freedom.low <= 0.0 else freedom.low
    if np.isfinite(low) or np.isfinite(freedom.high):
        rows["low"][count], rows["high"][count], rows["kind"][count] = low, freedom.high, HOLD
        count += 1
    if (freedom.stiffness > 0.0 or freedom.damping > 0.0) and freedom.spring_force > 0.0:
        for name in ("stiffness", "damping", "rest"):
            rows[name][count] = getattr(freedom, name)
        rows["kind"][count], rows["most_force"][count] = SPRING, freedom.spring_force
        count += 1
    for force, speed in ((freedom.motor_force, freedom.speed), (freedom.friction, 0.0)):
        if force > 0.0:
            rows["kind"][count], rows["speed"][count], rows["most_force"][count] = MOTOR, speed, force
            count += 1
    return rows[:count]


def _join(one: Records, two: Records) -> Records:
    """One behind the other, of the very dtype that kernels know."""
    both = np.zeros(len(one) + len(two), JOINT if "first_row" in (one.dtype.names or ()) else ROW)
    both[: len(one)], both[len(one) :] = one, two
    return both
