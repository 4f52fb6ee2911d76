"""The law that collisions make no energy, for islands that push nothing but one another.

The solver takes contacts in turn, a few times, with normals of the beginning of the step: what it gives is close to a solution, on either side of it.
The motion of an island is split in the one that it would have as a rigid body, which holds all of its momentum and angular momentum, and the
rest, which holds none: their energies add up. Where the energy has grown, the rest is scaled down until it has not. Uniform gravity does no
work in the frame of the island's center of mass.
"""

import numpy as np
from numpy.typing import NDArray

from abut.arrays import Floats, Integers
from abut.world.impulses import POSITION, SPIN, TURN, VELOCITY
from abut.world.islands import find_islands
from abut.world.store import Store

ROUNDING = 1e-13
"""Growth of the energy that sums of float64 make by themselves."""


class _Motion:
    """Momentum and energy of some bodies in the frame of their center of mass."""

    def __init__(self, state: Floats, mass: Floats, inertia: Floats, rotation: Floats) -> None:
        self.mass = mass[:, np.newaxis]
        total = mass.sum()
        self.velocity = (self.mass * state[:, VELOCITY:SPIN]).sum(axis=0) / total
        self.arm = state[:, POSITION:TURN] - (self.mass * state[:, POSITION:TURN]).sum(axis=0) / total
        self.own, self.spin = state[:, VELOCITY:SPIN] - self.velocity, state[:, SPIN:]
        self.inertia = rotation @ inertia @ rotation.transpose(0, 2, 1)

    def energy(self, own: Floats, spin: Floats) -> float:
        """Of velocities (n,3) and spins (n,3)."""
        turning = (self.inertia @ spin[:, :, np.newaxis])[:, :, 0]
        return 0.5 * float((self.mass * own**2).sum() + (spin * turning).sum())

    def find_rigid(self) -> Floats:
        """The spin of the whole that has its angular momentum."""
        momentum = (self.mass * np.cross(self.arm, self.own)).sum(axis=0)
        momentum += (self.inertia @ self.spin[:, :, np.newaxis])[:, :, 0].sum(axis=0)
        spread = (self.mass * (self.arm**2)).sum() * np.eye(3) - (self.mass * self.arm).T @ self.arm
        return np.linalg.solve(spread + self.inertia.sum(axis=0), momentum)


def limit_energy(
    store: Store, state: Floats, alone: NDArray[np.bool_], pairs: Integers, gravity: Floats, paces: Floats
) -> None:
    """Scale down motion that an island has got from nowhere. state: what the step made of store.state. pairs (n,2): bodies that pushed each other.
    alone (n,): bodies that do not stand for a linkage. paces (n,): the part of the step that passed for each body."""
    movable = store.movable & alone
    free = _find_free(store, movable, pairs, paces, bool(gravity.any()))
    if not free.any():
        return
    root = np.empty(len(free), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    members = np.flatnonzero(free)
    members = members[np.argsort(root[members], kind="stable")]
    for bodies in np.split(members, np.flatnonzero(np.diff(root[members])) + 1):
        _limit_island(store, state, bodies)


def _find_free(
    store: Store, movable: NDArray[np.bool_], pairs: Integers, paces: Floats, falls: bool
) -> NDArray[np.bool_]:
    """(n,) bodies of islands that are pushed by nothing from outside."""
    root = np.empty(len(movable), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    pushed, held = np.zeros(len(movable), np.bool_), np.zeros(len(movable), np.bool_)
    for k in (0, 1):
        pushed[pairs[:, k]] = True
        held[root[pairs[~movable[pairs[:, 1 - k]], k]]] = True
    if falls:
        uneven = movable & pushed & ((paces < 1.0) | (store.pull != 1.0))
        held[root[uneven]] = True
    return movable & pushed & ~held[root]


def _limit_island(store: Store, state: Floats, bodies: Integers) -> None:
    mass, inertia = 1.0 / store.inverse[bodies, 0], store.inertia[bodies]
    before = _Motion(store.state[bodies], mass, inertia, store.rotations(bodies))
    after = _Motion(state[bodies], mass, inertia, store.rotations(bodies, state))
    most, now = before.energy(before.own, before.spin), after.energy(after.own, after.spin)
    if now <= most * (1.0 + ROUNDING):
        return
    spin = after.find_rigid()
    rigid = np.asarray(np.cross(spin, after.arm), np.float64)
    whole = np.broadcast_to(spin, after.spin.shape)
    rest = after.energy(after.own - rigid, after.spin - spin)
    room = most - after.energy(rigid, whole)
    part = np.sqrt(max(room, 0.0) / rest) if rest > 0.0 else 0.0
    state[bodies, VELOCITY:SPIN] = after.velocity + rigid + part * (after.own - rigid)
    state[bodies, SPIN:] = spin + part * (after.spin - spin)
