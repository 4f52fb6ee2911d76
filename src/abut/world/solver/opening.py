"""What a step is solved with, from the arrays of a world: contacts with their sides and materials, and the ledger of energies."""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.impulses.records import ALONE, CONTACT
from abut.shapes.pool import KIND, SURFACE, V0, V1
from abut.world.bodies.islands import find_islands
from abut.world.bodies.materials import combine_friction, combine_restitution, find_conveyors, find_slips
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.points import ContactPoints
from abut.world.solver.energy import NONE, Ledger


def open_contacts(
    store: Store, colliders: Colliders, found: ContactPoints, pairs: Integers, sides: Integers, shares: Floats
) -> Records:
    """(n,) contacts at points between pairs (n,2) of bodies, with the materials of both; sides (n,4), shares (n,2): see `Joined.find_sides`."""
    contacts = np.zeros(len(pairs), CONTACT)
    for column, name in enumerate(("body_a", "body_b", "end_a", "end_b")):
        contacts[name] = sides[:, column]
    contacts["share_a"], contacts["share_b"] = shares.T
    contacts["third_a"] = contacts["third_b"] = ALONE
    contacts["rolling_lever"] = np.sqrt(store.rolling[pairs].prod(axis=1))
    contacts["friction"] = combine_friction(store, pairs)
    contacts["restitution"] = combine_restitution(store, pairs)
    contacts["slip"] = find_slips(store, pairs)
    cores = colliders.pool.cores
    for side, number in (("a", found.collider_a), ("b", found.collider_b)):
        shape = colliders.shape[number] + 1
        table = cores.table[shape]
        is_ball = (table[:, KIND] != SURFACE) & (table[:, V1] - table[:, V0] == 1)
        contacts[f"radius_{side}"] = np.where(is_ball, cores.radius[shape], 0.0)
        contacts[f"center_{side}"] = colliders.poses[number, 9:]
    return contacts


def open_ledger(
    store: Store, pairs: Integers, jointed: Integers, alone: NDArray[np.bool_], awake: NDArray[np.bool_], size: int
) -> tuple[Integers, Ledger]:
    """(size,) the island of each body, NONE for those that touch a linkage and for what does not move; and a ledger.

    pairs (k,2): bodies that touch or may touch in the step, or have a joint. jointed: bodies with a joint, which may give them energy. alone (n,):
    bodies that do not stand for a linkage."""
    movable = awake & alone
    root = np.empty(len(movable), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    linked, driven, held = (np.zeros(len(movable), np.bool_) for _ in range(3))
    moved = store.find_driven() | find_conveyors(store)
    driven[root[moved & movable]] = True
    for k in (0, 1):
        linked[root[pairs[~alone[pairs[:, 1 - k]], k]]] = True
        driven[root[pairs[moved[pairs[:, 1 - k]], k]]] = True
        held[root[pairs[~movable[pairs[:, 1 - k]], k]]] = True
    driven[root[jointed]] = True
    island, allowed, is_held = np.full(size, NONE), np.zeros(size), np.zeros(size, np.bool_)
    island[: len(root)] = np.where(movable & ~linked[root], root, NONE)
    is_held[: len(root)] = held
    allowed[: len(root)] = np.where(driven, np.inf, 0.0)
    before, now, taken, spare, start = np.zeros((5, size))
    return island, Ledger(before, now, taken, spare, allowed, start, is_held)
