"""Forces on bodies, and what is locked: what a user adds between steps, and what the next step makes of it.

A force acts over the whole of the next step, however long it is, and is gone after it (as in Bullet and Box2D); an impulse acts at once. Forces are
kept as the sum of all that were added: a force and a torque about the center of mass, in the world.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import LARGEST_COORDINATE, Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.records import Records
from abut.world.bodies.store import DYNAMIC, Store, rotations_of


def refuse_unmoved(store: Store, slots: Integers) -> None:
    """Refuse bodies that no force moves."""
    fixed = store.kind[slots] != DYNAMIC
    if fixed.any():
        raise InvalidInput("handles", "names a body that is not dynamic: no force moves it", int(np.argmax(fixed)))


def moment_of(store: Store, slots: Integers, force: Floats, point: Floats | None) -> Floats:
    """(k,3) what forces at points turn bodies with, about their centers of mass; 0 without points."""
    return np.zeros((len(slots), 3)) if point is None else np.cross(point - store.position[slots], force)


def add_impulse(store: Store, slots: Integers, impulse: Floats, twist: Floats) -> None:
    """Change velocities by impulses (k,3), and spins by angular impulses (k,3), about the centers of mass."""
    free = ~store.locked[slots, :3]
    velocity = store.velocity[slots] + store.inverse_mass[slots, np.newaxis] * impulse * free
    spin = store.angular_velocity[slots] + (find_inverse_inertias(store, slots) @ twist[:, :, np.newaxis])[:, :, 0]
    fast = ~(np.abs(np.concatenate((velocity, spin), axis=1)) <= LARGEST_COORDINATE).all(axis=1)
    if fast.any():
        raise InvalidInput("impulse", f"makes a body faster than {LARGEST_COORDINATE:g}", int(np.argmax(fast)))
    store.velocity[slots], store.angular_velocity[slots] = velocity, spin


def find_inverse_inertias(store: Store, slots: Integers) -> Floats:
    """(k,3,3) in the world, 0 about axes that are locked."""
    rotation = rotations_of(store.quaternion[slots])
    inverse = rotation @ store.inverse_inertia[slots].reshape(-1, 3, 3) @ rotation.transpose(0, 2, 1)
    for row in np.flatnonzero(store.locked[slots, 3:].any(axis=1)).tolist():
        free = np.flatnonzero(~store.locked[slots[row], 3:])
        own = np.linalg.inv(inverse[row])
        inverse[row] = 0.0
        inverse[row][np.ix_(free, free)] = np.linalg.inv(own[np.ix_(free, free)])
    return inverse


def find_accelerations(store: Store, gravity: Floats) -> Floats:
    """(n,3) of all bodies, by gravity and forces."""
    pull = store.pull[:, np.newaxis] * gravity + store.inverse_mass[:, np.newaxis] * store.force
    return pull * ~store.locked[:, :3]


def bound_gains(store: Store, gravity: Floats) -> Floats:
    """(n,) by how much a point of each body may get faster in a unit of time, at most; linkages, which gravity does not pull here, as if it did."""
    pull = np.maximum(np.abs(store.pull), 1.0) * np.linalg.norm(gravity)
    push = store.inverse_mass * np.linalg.norm(store.force, axis=1)
    turn = np.linalg.norm(store.inverse_inertia, axis=1) * np.linalg.norm(store.torque, axis=1)
    return pull + push + store.radius * turn


def find_pushed(store: Store) -> NDArray[np.bool_]:
    """(n,) bodies on which something acts from outside other than uniform gravity, or that are held along some axes."""
    given = store.force.any(axis=1) | store.torque.any(axis=1)
    return store.alive & (given | store.damping.any(axis=1) | store.locked.any(axis=1))


def load_forces(bodies: Records, store: Store, gravity: Floats, awake: NDArray[np.bool_]) -> None:
    """What acts on the bodies in a step, into their records (n,)."""
    bodies["acceleration"] = find_accelerations(store, gravity) * awake[:, np.newaxis]
    bodies["torque"] = store.torque * awake[:, np.newaxis]
    bodies["damping"] = store.damping
    bodies["locked"] = store.locked
    bodies["is_locked"] = awake & store.locked.any(axis=1)
    bodies["is_driven"] = awake & (store.damping.any(axis=1) | store.torque.any(axis=1))


def clear_forces(store: Store) -> None:
    """Forget the forces of the step that was made."""
    store.force[:], store.torque[:] = 0.0, 0.0
