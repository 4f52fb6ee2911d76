"""What a step is solved with, from the arrays of a world: contacts with their sides and materials, and the ledger of energies."""

import math

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Records, put
from abut.impulses.records import ALONE, CONTACT
from abut.shapes.narrow_phase import COLLIDER_A, COLLIDER_B
from abut.shapes.pool import KIND, SURFACE, V0, V1
from abut.world.bodies.islands import find_islands
from abut.world.bodies.materials import combine, find_conveyors, find_slips
from abut.world.bodies.store import Store
from abut.world.contacts.colliders import Colliders
from abut.world.contacts.points import ContactPoints
from abut.world.solver.energy import NONE, Ledger


def open_contacts(
    store: Store, colliders: Colliders, found: ContactPoints, pairs: Integers, sides: Integers, shares: Floats
) -> Records:
    """(n,) contacts at points between pairs (n,2) of bodies, with the materials of both; sides (n,4), shares (n,2): see `Joined.find_sides`."""
    contacts, cores = np.zeros(len(pairs), CONTACT), colliders.pool.cores
    shapes = colliders.shape[found.colliders] + 1
    _write_sides(contacts, sides, shares, shapes, cores.table, cores.radius, found.ids, colliders.poses)
    _write_materials(contacts, pairs, store.friction, store.restitution, store.rolling, store.rules)
    if store.surface_velocity.any():
        contacts["slip"] = find_slips(store, pairs)
    return contacts


@kernel
def _write_sides(
    contacts: Records,
    sides: Integers,
    shares: Floats,
    shapes: Integers,
    table: Integers,
    radii: Floats,
    ids: Integers,
    poses: Floats,
) -> None:
    """Bodies and ends, and of balls radius and center. shapes (n,2): their rows in the table."""
    for i in range(len(contacts)):
        contact = contacts[i]
        contact.body_a, contact.body_b, contact.end_a, contact.end_b = (
            sides[i, 0],
            sides[i, 1],
            sides[i, 2],
            sides[i, 3],
        )
        contact.share_a, contact.share_b = shares[i, 0], shares[i, 1]
        contact.third_a, contact.third_b = ALONE, ALONE
        contact.radius_a, contact.radius_b = _ball(table, radii, shapes[i, 0]), _ball(table, radii, shapes[i, 1])
        a, b = ids[i, COLLIDER_A], ids[i, COLLIDER_B]
        put(contact.center_a, (poses[a, 9], poses[a, 10], poses[a, 11]))
        put(contact.center_b, (poses[b, 9], poses[b, 10], poses[b, 11]))


@kernel
def _ball(table: Integers, radii: Floats, shape: int) -> float:
    """The radius of a ball, 0 for anything else."""
    is_ball = table[shape, KIND] != SURFACE and table[shape, V1] - table[shape, V0] == 1
    return float(radii[shape]) if is_ball else 0.0


@kernel
def _write_materials(
    contacts: Records, pairs: Integers, friction: Floats, restitution: Floats, rolling: Floats, rules: Integers
) -> None:
    """What two surfaces make of each other."""
    for i in range(len(contacts)):
        contact, a, b = contacts[i], pairs[i, 0], pairs[i, 1]
        contact.rolling_lever = math.sqrt(rolling[a] * rolling[b])
        u, v = float(friction[a]), float(friction[b])
        contact.friction = combine(u, v, max(rules[a, 0], rules[b, 0]), math.sqrt(u * v))
        u, v = float(restitution[a]), float(restitution[b])
        contact.restitution = combine(u, v, max(rules[a, 1], rules[b, 1]), max(u, v))


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
