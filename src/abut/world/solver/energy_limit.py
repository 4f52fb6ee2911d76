"""The last resort where contacts would leave an island with more energy than it had, and nothing pushes it from outside.

The motion of an island is split in the one that it would have as a rigid body, which holds all of its momentum and angular momentum, and the rest,
which holds none: their energies add up. The rest is scaled down until there is no more energy than before; where even the first has more, the island
moves as one rigid body for the step. Uniform gravity does no work in the frame of the island's center of mass.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.records import Records
from abut.dynamics.rigid_bodies import turn_freely
from abut.geometry.quaternions import matrix_columns, multiply, normalise
from abut.world.bodies.forces import find_pushed
from abut.world.bodies.islands import find_islands
from abut.world.bodies.materials import find_conveyors
from abut.world.bodies.state import name_fields
from abut.world.bodies.store import Store, rotations_of
from abut.world.solver.energy import ROUNDING


class _Motion:
    """Momentum and energy of some bodies in the frame of their center of mass."""

    def __init__(self, bodies: Records, mass: Floats, inertia: Floats) -> None:
        self.mass = mass[:, np.newaxis]
        total = mass.sum()
        position, velocity = bodies["position"], bodies["velocity"]
        self.velocity = (self.mass * velocity).sum(axis=0) / total
        self.arm = position - (self.mass * position).sum(axis=0) / total
        self.own, self.spin = velocity - self.velocity, bodies["angular_velocity"]
        rotation = rotations_of(bodies["quaternion"])
        self.inertia = rotation @ inertia @ rotation.transpose(0, 2, 1)

    def energy(self, own: Floats, spin: Floats) -> float:
        """Of velocities (n,3) and spins (n,3)."""
        turning = (self.inertia @ spin[:, :, np.newaxis])[:, :, 0]
        return 0.5 * float((self.mass * own**2).sum() + (spin * turning).sum())

    def find_rigid(self) -> Floats:
        """The spin of the whole that has its angular momentum."""
        momentum = (self.mass * np.cross(self.arm, self.own)).sum(axis=0)
        momentum += (self.inertia @ self.spin[:, :, np.newaxis])[:, :, 0].sum(axis=0)
        return np.linalg.solve(self.spread(), momentum)

    def spread(self) -> Floats:
        """(3,3) the inertia of the whole."""
        apart = (self.mass * (self.arm**2)).sum() * np.eye(3) - (self.mass * self.arm).T @ self.arm
        return apart + self.inertia.sum(axis=0)


def limit_energy(
    store: Store,
    after: Records,
    alone: NDArray[np.bool_],
    pairs: Integers,
    jointed: Integers,
    gravity: Floats,
    times: Floats,
    dt: float,
) -> int:
    """Scale down motion that an island has got from nowhere; how many islands that were.

    after: what the step made of the bodies. alone (n,): bodies that do not stand for a linkage. pairs (n,2): bodies that pushed each
    other. jointed: bodies with a joint. times (n,): the part of the step dt that passed for each body."""
    movable = store.movable & alone
    free = _find_free(store, movable, pairs, jointed, times, bool(gravity.any()))
    if not free.any():
        return 0
    root = np.empty(len(free), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    members = np.flatnonzero(free)
    members = members[np.argsort(root[members], kind="stable")]
    islands = np.split(members, np.flatnonzero(np.diff(root[members])) + 1)
    return sum(_limit_island(store, after, rows, dt * float(times[rows].min())) for rows in islands)


def _find_free(
    store: Store, movable: NDArray[np.bool_], pairs: Integers, jointed: Integers, times: Floats, falls: bool
) -> NDArray[np.bool_]:
    """(n,) bodies of islands that are pushed by nothing from outside."""
    root = np.empty(len(movable), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    pushed, held = np.zeros(len(movable), np.bool_), np.zeros(len(movable), np.bool_)
    for k in (0, 1):
        pushed[pairs[:, k]] = True
        held[root[pairs[~movable[pairs[:, 1 - k]], k]]] = True
    held[root[jointed]] = True
    if falls:
        uneven = movable & pushed & ((times < times.max()) | (store.pull != 1.0))
        held[root[uneven]] = True
    held[root[movable & (find_pushed(store) | find_conveyors(store))]] = True
    return movable & pushed & ~held[root]


def _limit_island(store: Store, after: Records, rows: Integers, dt: float) -> bool:
    mass, inertia = 1.0 / store.inverse_mass[rows], store.inertia[rows]
    before, now = _Motion(name_fields(store.state[rows]), mass, inertia), _Motion(after[rows], mass, inertia)
    most, energy = before.energy(before.own, before.spin), now.energy(now.own, now.spin)
    # Pushes out of a depth come and go: what is left of them is rounding, though the island may have no energy of its own.
    speed = np.linalg.norm(after["position"][rows] - store.position[rows], axis=1).max() / dt
    speed += np.linalg.norm(after["velocity"][rows], axis=1).max()
    if energy <= most * (1.0 + ROUNDING) + 0.5 * float(mass.sum()) * (ROUNDING * speed) ** 2:
        return False
    spin = now.find_rigid()
    rigid = np.asarray(np.cross(spin, now.arm), np.float64)
    whole = np.broadcast_to(spin, now.spin.shape)
    rest = now.energy(now.own - rigid, now.spin - spin)
    room = most - now.energy(rigid, whole)
    if room < -ROUNDING * energy:
        _move_rigidly(store, after, rows, before, now.velocity, dt)
        return True
    part = np.sqrt(max(room, 0.0) / rest) if rest > 0.0 else 0.0
    after["velocity"][rows] = now.velocity + rigid + part * (now.own - rigid)
    after["angular_velocity"][rows] = spin + part * (now.spin - spin)
    return True


def _move_rigidly(store: Store, after: Records, rows: Integers, before: _Motion, velocity: Floats, dt: float) -> None:
    """Move an island as one rigid body for this step, from where it was; then it has the least energy that its momenta allow.

    Bodies may have come so near one another that they would have to turn faster, as a skater who draws in the arms: no velocities undo that."""
    spin = before.find_rigid()
    (a, d, e), (_, b, f), (_, _, c) = before.spread().tolist()
    turned, turning, _ = turn_freely((1.0, 0.0, 0.0, 0.0), tuple(spin.tolist()), (a, b, c, d, e, f), dt)
    arms = before.arm @ np.transpose(matrix_columns(turned)).T
    path = 0.5 * dt * (before.velocity + velocity)
    after["position"][rows] = store.position[rows] - before.arm + path + arms
    for row in rows.tolist():
        after["quaternion"][row] = normalise(multiply(turned, tuple(store.quaternion[row].tolist())))
    after["velocity"][rows] = velocity + np.cross(turning, arms)
    after["angular_velocity"][rows] = turning
