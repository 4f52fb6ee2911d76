"""Which contacts a step needs: with a margin of some slop and of what the bodies can move in it, so that they are seen before they overlap."""

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.world.bodies.forces import bound_gains
from abut.world.bodies.sleeping import Sleepers
from abut.world.bodies.store import Store
from abut.world.contacts.points import ContactPoints
from abut.world.phases.attempts import Parts

MARGIN = 2.0  # of a body, in slops
LOOKAHEAD = 0.5
"""A body's margin for its speed is at most this part of its radius: beyond it, contacts far ahead would slow what only passes by. Continuous
linkages look as far ahead as they go, and put up with that."""


def find_growth(world: Parts, dt: float) -> Floats:
    """(n,) how far around each body contacts are looked for."""
    store = world.store
    speeds = store.speeds() + np.where(store.movable, bound_gains(store, world.gravity) * dt, 0.0)
    most = np.where(world.links.find_continuous(len(speeds)), np.inf, LOOKAHEAD * store.radius)
    growth = MARGIN * world.slop + np.minimum(dt * speeds, most)
    world.softs.find_growth(growth, speeds, world.slop, dt)
    return growth


def find_contacts(world: Parts, sleepers: Sleepers, growth: Floats, dt: float) -> tuple[ContactPoints, Integers]:
    """The contacts that the solver needs, and their bodies; what is touched, or will be as things move, wakes up first."""
    store, colliders = world.store, world.colliders
    while True:
        busy = (store.movable & ~store.asleep) | store.find_driven() | store.stirred
        found = colliders.meet(*colliders.find_near(store, growth, busy, store.movable), remember=True)
        pairs = colliders.body[found.colliders]
        if store.one_way.any():
            held = colliders.gates.find_held(store, found, pairs, world.slop, dt)
            found, pairs = found.take(held), pairs[held]
        if not store.asleep.any():
            return found, np.ascontiguousarray(pairs)
        waits = np.flatnonzero(store.asleep[pairs].any(axis=1) & busy[pairs].any(axis=1))
        near = found.separation[waits] <= world.slop + dt * _closing_speeds(store, pairs[waits], found.take(waits))
        roused = pairs[waits[near]]
        roused = np.unique(roused[store.asleep[roused]])
        if not len(roused):
            return found, np.ascontiguousarray(pairs)
        sleepers.wake(store, roused)
        while len(more := world.joints.find_roused(store)):
            sleepers.wake(store, more)


def _closing_speeds(store: Store, pairs: Integers, found: ContactPoints) -> Floats:
    """(n,) speeds at which points of contact come near each other; 0 where they part."""
    speeds = np.zeros((2, len(pairs), 3))
    for k in range(2):
        slots = pairs[:, k]
        arm = found.point - store.position[slots]
        speeds[k] = store.velocity[slots] + np.cross(store.angular_velocity[slots], arm)
    return np.maximum(((speeds[0] - speeds[1]) * found.normal).sum(axis=1), 0.0)
