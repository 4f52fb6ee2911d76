"""When continuous bodies must stop within a step, and what they might meet."""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.shapes.pool import KIND, SURFACE, T0, T1
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import Store, rotations_of
from abut.world.contacts.colliders import Colliders
from abut.world.continuous.advancement import Advancement
from abut.world.continuous.poses import place_at

NO_TRIANGLE = -1


def find_stops(
    store: Store,
    colliders: Colliders,
    after: Records,
    slop: float,
    part: float,
    held: Integers,
    soft: NDArray[np.bool_],
) -> Floats:
    """(n,) the part of the step after which continuous bodies come within `part` of a slop of something, going to the states `after`; 1: they do not.

    held: pairs of colliders, smaller · 2³² + larger, that the solver has kept apart; of those only the center is looked at. soft (n,): bodies
    that are left out, for their faces do not stay as they are (`soft.passing`)."""
    before, times = name_fields(store.state), np.ones(len(after))
    fast = np.flatnonzero(store.movable & store.continuous & ~store.asleep)
    there = np.flatnonzero(colliders.body >= 0)
    table = colliders.pool.cores.table
    start, end = before["position"], after["position"]
    reach = store.radius[:, np.newaxis] + 2.0 * slop
    spheres = np.concatenate((np.minimum(start, end) - reach, np.maximum(start, end) + reach), axis=1)
    # What does not turn has its own box; a static surface of any size is not a ball.
    own = colliders.boxes[there] + np.array([-1, -1, -1, 1, 1, 1]) * 2.0 * slop
    still = before[colliders.body[there]] == after[colliders.body[there]]
    boxes = np.where(still[:, np.newaxis], own, spheres[colliders.body[there]])
    rows = [np.empty((0, 3), np.int64)]
    for body in fast:
        box = spheres[body]
        near = there[(boxes[:, :3] <= box[3:]).all(axis=1) & (boxes[:, 3:] >= box[:3]).all(axis=1)]
        others = colliders.body[near]
        keys = (np.minimum(body, others) << 32) | np.maximum(body, others)
        may_meet = agree(store, int(body), others) & ~np.isin(keys, colliders.apart)
        near = near[(others != body) & ~soft[others] & may_meet & colliders.rules.allow(int(body), others)]
        near = near[~_pass(store, colliders, after, int(body), colliders.body[near])]
        own = np.flatnonzero(colliders.body == body)
        for j in near.tolist():
            is_surface = table[colliders.shape[j] + 1, KIND] == SURFACE
            triangles = _find_triangles(colliders, before, after, j, box) if is_surface else np.array([NO_TRIANGLE])
            every = [a.ravel() for a in np.meshgrid(own, triangles, indexing="ij")]
            rows.append(np.stack((every[0], np.full(len(every[0]), j), every[1]), axis=1))
    joined = np.concatenate(rows)
    if len(joined):
        Advancement(store, colliders, after, joined).run(slop, part, held, times)
    return times


def _find_triangles(colliders: Colliders, before: Records, after: Records, j: int, box: Floats) -> Integers:
    """Triangles of surface j, at either end of the step, in the neighbourhood of a box."""
    pool, shape = colliders.pool, colliders.shape[j] + 1
    first, last = pool.cores.table[shape, T0], pool.cores.table[shape, T1]
    poses = np.empty((2, 12))
    place_at(before, after, colliders.body, colliders.local, np.array([j, j]), np.array([0.0, 1.0]), poses)
    corners = pool.trees.points[pool.trees.triangles[first:last, :3]]
    ends = [corners @ pose[:9].reshape(3, 3).T + pose[9:] for pose in poses]
    low = np.minimum(ends[0].min(axis=1), ends[1].min(axis=1))
    high = np.maximum(ends[0].max(axis=1), ends[1].max(axis=1))
    return first + np.flatnonzero((low <= box[3:]).all(axis=1) & (high >= box[:3]).all(axis=1))


def _pass(store: Store, colliders: Colliders, after: Records, body: int, others: Integers) -> NDArray[np.bool_]:
    """(k,) which others let a body through: one-way bodies that it passes already, or that it comes to from a side that does not hold."""
    way = (rotations_of(store.quaternion[others]) @ store.one_way[others][:, :, np.newaxis])[:, :, 0]
    moved = after["position"] - store.position
    along = ((moved[body] - moved[others]) * way).sum(axis=1)
    return way.any(axis=1) & (colliders.gates.passes(body, others) | (along >= 0.0))


def agree(store: Store, body: int, others: Integers) -> NDArray[np.bool_]:
    """(k,) which others have layers and masks that let a body meet them."""
    met = (store.layer[body] & store.mask[others]) != 0
    return met & ((store.solid_layer[others] & store.mask[body]) != 0)
