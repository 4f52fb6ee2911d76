"""Which islands fall asleep: those whose bodies have all been slow for a while, and that are pressed against something that no contact moves.

What the ground carries may lose the little motion it has left; what flies may not, however slow. Bodies without any motion, on which nothing pulls,
lose none. A body that gains speed is at its start, not at its end: on a slope just too steep it is slow for long.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.world.bodies import Store
from abut.world.body_rows import SPIN, VELOCITY
from abut.world.islands import find_islands

if TYPE_CHECKING:
    from abut.world.world import World

SLEEP_SPEED = 10.0  # in slops a unit of time
SLEEP_TIME = 0.5
NOISE = 0.05
"""In slops a unit of time: a gain of speed in half of SLEEP_TIME that stands for a force, and not for the trembling of a pile. Under a gravity of
2,000 slops a unit of time squared, as SI's with the default slop, it is a slope 0.006° too steep."""


def find_tired(
    world: "World", touching: Integers, pressed: Integers, deep: Integers, dt: float
) -> tuple[NDArray[np.bool_], Integers]:
    """(n,) bodies that shall sleep now, and the island of each. touching, pressed, deep (k,2): pairs of bodies that touch, that pushed each other in
    the last step, and that are still pushed apart, which has no velocity: those stay awake."""
    store, links = world._store, world._links
    awake, speeds = store.movable & ~store.asleep, store.speeds()
    _count_rest(store, awake & (speeds < SLEEP_SPEED * world.slop), NOISE * world.slop, dt)
    root = np.empty(len(awake), np.int64)
    find_islands(np.concatenate((touching, links.chains)), awake.astype(np.int64), root)
    least, floats = np.full(len(awake), np.inf), np.ones(len(awake), np.bool_)
    np.minimum.at(least, root[awake], store.rest_time[awake])
    pulled = links.find_pulled(len(awake)) | ((store.pull != 0.0) & world.gravity.any())
    np.logical_and.at(floats, root[awake], ((speeds == 0.0) & ~pulled)[awake])
    lies = np.zeros(len(awake), np.bool_)
    lies[root[links.find_held()]] = True
    least[root[deep]] = 0.0
    # What leans on a body that somebody else is moving stays awake.
    driven = store.find_driven()
    for k in (0, 1):
        least[root[touching[driven[touching[:, 1 - k]], k]]] = 0.0
        lies[root[pressed[~store.movable[pressed[:, 1 - k]], k]]] = True
    return awake & (least[root] >= SLEEP_TIME) & (lies | floats)[root], root


def _count_rest(store: Store, slow: NDArray[np.bool_], noise: float, dt: float) -> None:
    """How long bodies have been slow, and not gaining speed: that is looked at twice in SLEEP_TIME.

    Not for bodies that stand for a linkage, on which the world does not pull: a cloth that settles trembles by more."""
    half = 0.5 * SLEEP_TIME
    motion = np.concatenate(
        (store.state[:, VELOCITY:SPIN], store.radius[:, np.newaxis] * store.state[:, SPIN:]), axis=1
    )
    fresh, middle = store.rest_time == 0.0, (store.rest_time < half) & (store.rest_time + dt >= half)
    store.rest_time = np.where(slow, store.rest_time + dt, 0.0)
    store.motion_t0[fresh] = motion[fresh]
    store.motion_t1[middle] = motion[middle]
    late = store.rest_time >= SLEEP_TIME
    gains = late & (store.pull != 0.0) & _gains_speed(store.motion_t0, store.motion_t1, motion, noise)
    store.motion_t0[gains], store.motion_t1[gains], store.rest_time[gains] = store.motion_t1[gains], motion[gains], half


def _gains_speed(first: Floats, second: Floats, third: Floats, noise: float) -> NDArray[np.bool_]:
    """Whether motions (n,6) grew twice, the same way, and by more than noise."""
    earlier, later = second - first, third - second
    grows = np.linalg.norm(third, axis=1) > np.linalg.norm(second, axis=1)
    return grows & ((earlier * later).sum(axis=1) > 0.0) & (np.linalg.norm(later, axis=1) > noise)
