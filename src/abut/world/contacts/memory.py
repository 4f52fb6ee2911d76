"""The contacts of the last step and their impulses, from which the next one starts; and those of bodies that sleep."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records, record
from abut.world.bodies.store import Store
from abut.world.contacts.matching import match_impulses
from abut.world.contacts.points import ContactPoints, join_points, no_points

SAME = 10.0  # in slops: contacts of a pair that are so near from step to step are one, whatever their features
IMPULSE = record(
    ("normal_impulse", "f8"),
    ("tangent_impulse", "f8"),
    ("bitangent_impulse", "f8"),
    ("rolling_impulse", "f8", 3),
    ("total_normal_impulse", "f8"),
)
"""What a contact hands on to the next step: forces, for that may be longer or shorter, and last the normal impulse of the whole step."""
FORCES = ("normal_impulse", "tangent_impulse", "bitangent_impulse", "rolling_impulse")
TOTAL = "total_normal_impulse"


class ContactMemory:
    """See above. `points`, `bodies` (n,2) and `impulses` have one row per contact."""

    def __init__(self) -> None:
        self.points = no_points()
        """with separations of 0"""
        self.bodies = np.empty((0, 2), np.int64)
        self.impulses = np.empty(0, IMPULSE)
        self.placements = np.empty((0, 7))
        """where the step left the bodies"""

    def match(self, found: ContactPoints, slop: float) -> Records:
        """(n,) what the last step knew of these contacts; zeros where it did not know one."""
        impulses = np.zeros(len(found.ids), IMPULSE)
        table = np.empty(1 << (2 * max(len(self.bodies), 1)).bit_length(), np.int64)
        owner = np.empty(len(found.ids), np.int64)
        width = IMPULSE.itemsize // 8
        old, new = (each.view(np.float64).reshape(-1, width) for each in (self.impulses, impulses))
        before, now = (self.points.features, self.points.points), (found.features, found.points)
        match_impulses(*before, old, *now, new, table, owner, SAME * slop)
        return impulses

    def impulses_of(self, found: ContactPoints, slop: float) -> Floats:
        """(n,) normal impulse of the last step at these contacts."""
        return self.match(found, slop)[TOTAL]

    def start(self, contacts: Records, found: ContactPoints, slop: float, h: float) -> None:
        """Give contacts the impulses that the forces of the last substep make in one of the length h."""
        known = self.match(found, slop)
        for name in FORCES:
            contacts[name] = known[name] * h

    def add_pushed(self, store: Store, found: ContactPoints) -> ContactPoints:
        """Contacts, and behind them those that pushed in the last step, of colliders that have none now: they bounced within it."""
        gone = (self.impulses[TOTAL] > 0.0) & ~np.isin(self.points.keys, found.keys)
        # Nobody has put it elsewhere since.
        stays = (store.placement[: len(self.placements)] == self.placements).all(axis=1)
        gone &= stays[self.bodies].all(axis=1)
        return join_points([found, self.points.take(gone)]) if gone.any() else found

    def keep(self, kept: Any) -> None:
        """Forget all other contacts."""
        self.points, self.bodies, self.impulses = self.points.take(kept), self.bodies[kept], self.impulses[kept]

    def remember(
        self, found: ContactPoints, pairs: Integers, contacts: Records, awake: NDArray[np.bool_], h: float
    ) -> None:
        """Keep the contacts of this step, whose last substep had the length h, and those of bodies that sleep."""
        self.keep(~awake[self.bodies].any(axis=1))
        fresh, sleeping = np.empty(len(pairs), IMPULSE), len(self.impulses)
        for name in FORCES:
            fresh[name] = contacts[name] / h
        fresh[TOTAL] = contacts[TOTAL]
        now = ContactPoints(found.numbers.copy(), found.ids)
        now.separation[:] = 0.0
        self.points = join_points([self.points, now])
        self.bodies = np.concatenate((self.bodies, pairs))
        impulses = np.empty(sleeping + len(fresh), IMPULSE)
        impulses[:sleeping], impulses[sleeping:] = self.impulses, fresh
        self.impulses = impulses
