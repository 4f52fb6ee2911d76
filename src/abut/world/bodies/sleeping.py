"""Which islands fall asleep: those whose bodies have all been slow for a while, and that are pressed against something that no contact moves.

What the ground carries may lose the little motion it has left; what flies may not, however slow. Bodies without any motion, on which nothing pulls,
lose none. A body that gains speed is at its start, not at its end: on a slope just too steep it is slow for long.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.world.bodies.islands import find_islands
from abut.world.bodies.materials import find_conveyors
from abut.world.bodies.store import Store

SLEEP_SPEED = 10.0  # in slops per unit of time
SLEEP_TIME = 0.5
NOISE = 0.05
"""In slops per unit of time: a gain of speed in half of SLEEP_TIME that stands for a force, and not for the trembling of a pile. Under a gravity of
2,000 slops per unit of time squared, as SI's with the default slop, it is a slope 0.006° too steep."""


class Neighbors(NamedTuple):
    """Pairs of bodies (k,2) in a step."""

    touching: Integers
    pressed: Integers
    """that pushed each other"""
    deep: Integers
    """that are still pushed apart, which has no velocity: they stay awake"""
    linked: Integers
    """whose parts hang together: those of a linkage"""


class Sleepers:
    """Who sleeps with whom: bodies that fell asleep together wake together."""

    def __init__(self) -> None:
        self.island = np.empty(0, np.int64)
        """(n,) of each body, the last that it slept in"""

    def wake(self, store: Store, slots: Integers) -> None:
        """Wake bodies and all of their islands."""
        if not len(slots):
            return
        self._grow(len(store.alive))
        asleep = slots[store.asleep[slots]]
        woken = store.asleep & np.isin(self.island, self.island[asleep])
        woken[slots] = True
        store.asleep[woken], store.rest_time[woken] = False, 0.0

    def put_to_sleep(self, store: Store, tired: NDArray[np.bool_], root: Integers) -> None:
        """Let bodies (n,) sleep, with those of the same island."""
        self._grow(len(store.alive))
        self.island[tired] = root[tired]
        store.asleep[tired] = True
        store.motion[tired] = 0.0

    def _grow(self, size: int) -> None:
        if len(self.island) < size:
            self.island = np.concatenate((self.island, np.arange(len(self.island), size)))


def find_tired(
    store: Store, neighbors: Neighbors, pulled: NDArray[np.bool_], held: Integers, slop: float, dt: float
) -> tuple[NDArray[np.bool_], Integers]:
    """(n,) bodies that shall sleep now, and the island of each.

    pulled (n,): gravity or a force acts on it. held: bodies that hang on something fixed."""
    touching, pressed, deep, linked = neighbors
    awake, speeds = store.movable & ~store.asleep, store.speeds()
    _count_rest(store, awake & (speeds < SLEEP_SPEED * slop), NOISE * slop, dt)
    root = np.empty(len(awake), np.int64)
    find_islands(np.concatenate((touching, linked)), awake.astype(np.int64), root)
    least, floats = np.full(len(awake), np.inf), np.ones(len(awake), np.bool_)
    np.minimum.at(least, root[awake], store.rest_time[awake])
    np.logical_and.at(floats, root[awake], ((speeds == 0.0) & ~pulled)[awake])
    lies = np.zeros(len(awake), np.bool_)
    lies[root[held]] = True
    least[root[deep]] = 0.0
    # What leans on a body that somebody else is moving stays awake, and so does what a belt carries, and a belt that carries itself.
    carries = find_conveyors(store)
    least[root[touching[carries[touching]]]] = 0.0
    driven = store.find_driven() | carries
    for k in (0, 1):
        least[root[touching[driven[touching[:, 1 - k]], k]]] = 0.0
        lies[root[pressed[~store.movable[pressed[:, 1 - k]], k]]] = True
    return awake & (least[root] >= SLEEP_TIME) & (lies | floats)[root], root


def _count_rest(store: Store, slow: NDArray[np.bool_], noise: float, dt: float) -> None:
    """How long bodies have been slow, and not gaining speed: that is looked at twice in SLEEP_TIME.

    Not for bodies that stand for a linkage, on which the world does not pull: a cloth that settles trembles by more."""
    half = 0.5 * SLEEP_TIME
    motion = np.concatenate((store.velocity, store.radius[:, np.newaxis] * store.angular_velocity), axis=1)
    fresh, middle = store.rest_time == 0.0, (store.rest_time < half) & (store.rest_time + dt >= half)
    store.rest_time = np.where(slow, store.rest_time + dt, 0.0)
    store.motion_t0[fresh] = motion[fresh]
    store.motion_t1[middle] = motion[middle]
    late = store.rest_time >= SLEEP_TIME
    gains = late & (store.pull != 0.0) & _gains_speed(store.motion_t0, store.motion_t1, motion, noise)
    store.motion_t0[gains], store.motion_t1[gains], store.rest_time[gains] = store.motion_t1[gains], motion[gains], half


def _gains_speed(first: Floats, second: Floats, third: Floats, noise: float) -> NDArray[np.bool_]:
    """Whether motions (n,6) grew twice, in the same direction, and by more than noise."""
    earlier, later = second - first, third - second
    grows = np.linalg.norm(third, axis=1) > np.linalg.norm(second, axis=1)
    return grows & ((earlier * later).sum(axis=1) > 0.0) & (np.linalg.norm(later, axis=1) > noise)
