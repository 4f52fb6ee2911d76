"""What is inside sensors: bodies that touch or overlap one, or hold it, or are held, by the same contacts as everything else has.

Sensors do not see each other."""

import numpy as np

from abut.core.arrays import Integers, frozen
from abut.world.bodies.store import SENSOR, Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.containment import add_held
from abut.world.contacts.pairs import compare_pairs
from abut.world.results import SensorEvents, unite_rows

NO_PAIRS = np.empty((0, 2), np.int64)


def find_inside(store: Store, colliders: Colliders) -> Integers:
    """(k,2) handles of sensors and of the bodies inside them, sorted; the colliders are in place."""
    senses = store.alive & (store.kind == SENSOR)
    if not senses.any():
        return NO_PAIRS
    pairs, margins = colliders.find_near(store, np.zeros(len(senses)), senses, store.alive, sensing=True)
    kept = senses[colliders.body[pairs]].sum(axis=1) == 1
    found = add_held(colliders, pairs[kept], colliders.meet(pairs[kept], margins[kept]))
    bodies = colliders.body[found.colliders]
    is_first = senses[bodies[:, 0]]
    sensor, other = np.where(is_first, bodies[:, 0], bodies[:, 1]), np.where(is_first, bodies[:, 1], bodies[:, 0])
    return unite_rows(store.handles(sensor), store.handles(other))


def compare_inside(before: Integers, now: Integers) -> SensorEvents:
    """What has changed between two answers of `find_inside`."""
    begun, ended = np.empty_like(now), np.empty_like(before)
    counts = compare_pairs(before, now, begun, ended)
    begun, ended = begun[: counts[0]].copy(), ended[: counts[1]].copy()
    fresh = {(a, b) for a, b in begun.tolist()}
    stays = np.array([(a, b) not in fresh for a, b in now.tolist()], np.bool_)
    return SensorEvents(frozen(begun), frozen(now[stays]), frozen(ended))
