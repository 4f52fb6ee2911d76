"""Surfaces that hold from one side: who passes through them.

Whether a pair passes is settled when it comes near: it is held if the deepest contact shows that the other is on the side that holds, and is no
deeper than it has come in the last step; else it passes, until the two are apart with the other on that side. A pair that is held stays so as long
as it is near.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Integers
from abut.world.bodies.store import Store, rotations_of
from abut.world.contacts.points import ContactPoints

FACING = 0.5
"""Cosine between the direction of the side that holds and the normal of a contact, from which on the contact is on that side."""
NO_KEYS = np.empty(0, np.int64)


class Gates:
    """Pairs that are known, as one-way body · 2³² + other, ascending: as the last step left them, and as the step that is tried has them."""

    def __init__(self) -> None:
        self.known = self.now = (NO_KEYS, NO_KEYS)
        """those that pass, and those that are held"""

    def keep(self) -> None:
        """Make what was tried what is known."""
        self.known = self.now

    def passes(self, body: int, others: Integers) -> NDArray[np.bool_]:
        """(k,) one-way bodies that a body passes now."""
        return np.isin((others << 32) | body, self.now[0])

    def find_held(
        self, store: Store, found: ContactPoints, pairs: Integers, slop: float, dt: float
    ) -> NDArray[np.bool_]:
        """(n,) contacts of pairs of bodies (n,2) that hold. What they make of the pairs is `now`."""
        held = np.ones(len(pairs), np.bool_)
        opens = store.alive & store.one_way.any(axis=1)
        passing, holding = [NO_KEYS], [NO_KEYS]
        for k in (0, 1):
            rows = np.flatnonzero(opens[pairs[:, k]])
            if not len(rows):
                continue
            gate, other = pairs[rows, k], pairs[rows, 1 - k]
            way = (rotations_of(store.quaternion[gate]) @ store.one_way[gate][:, :, np.newaxis])[:, :, 0]
            normal = found.normal[rows] * (1.0 if k == 0 else -1.0)
            faces = (normal * way).sum(axis=1) >= FACING
            speed = -((_speeds_at(store, other, found, rows) - _speeds_at(store, gate, found, rows)) * normal).sum(
                axis=1
            )
            keys, deepest, of = _find_deepest((gate << 32) | other, found.separation[rows])
            apart = found.separation[rows][deepest] >= 0.0
            came = found.separation[rows][deepest] >= -(slop + dt * np.maximum(speed[deepest], 0.0))
            passed, was_held = np.isin(keys, self.known[0]), np.isin(keys, self.known[1])
            holds = was_held | (faces[deepest] & np.where(passed, apart, came))
            held[rows] &= holds[of] & faces
            passing.append(keys[~holds])
            holding.append(keys[holds])
        self.now = np.sort(np.concatenate(passing)), np.sort(np.concatenate(holding))
        return held


def _find_deepest(keys: Integers, separation: NDArray[np.float64]) -> tuple[Integers, Integers, Integers]:
    """The keys, each once; for each the row of the deepest contact; and for each row which key it has."""
    order = np.lexsort((separation, keys))
    each, first, of = np.unique(keys[order], return_index=True, return_inverse=True)
    inverse = np.empty(len(keys), np.int64)
    inverse[order] = of
    return each, order[first], inverse


def _speeds_at(store: Store, bodies: Integers, found: ContactPoints, rows: Integers) -> NDArray[np.float64]:
    arm = found.point[rows] - store.position[bodies]
    return store.velocity[bodies] + np.cross(store.angular_velocity[bodies], arm)
