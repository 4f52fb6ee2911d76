"""The law that contacts make no energy: what bodies of an island have, and what is done where the solver would leave them with more.

The impulses of a substep, and of the bounce at the end, keep the law by themselves (`sweeps`, `restitution`), with one exception: what pushes bodies
out of a depth moves them, and is taken back where they are then, not where they were; that leaves energy in what began a step deep in each other,
and may do so where sweeps end before they have converged. For such islands, if nothing pushes them from outside, there is a last resort
(`limit_energy`). The motion of an island is split in the one that it would have as a rigid body, which holds all of its momentum and angular
momentum, and the rest, which holds none: their energies add up. The rest is scaled down until there is no more energy than before; where even the
first has more, the island moves as one rigid body for the step. Uniform gravity does no work in the frame of the island's center of mass.

A ledger (7,n) has an entry for each island, at its lowest body: the energy before and now, what contacts took since the step began, room, what may
come from outside (any amount where the user moves something), the energy at the start of a pass, and 1 where it touches what nothing moves.
"""

import math

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.dynamics.rigid_bodies import turn_freely
from abut.geometry.quaternions import conjugate, matrix_columns, multiply, normalise, rotate
from abut.geometry.vec import dot, norm_sq
from abut.world.bodies import Store
from abut.world.body_rows import POSITION, SPIN, TURN, VELOCITY, get
from abut.world.islands import find_islands

ROUNDING = 1e-13
"""Growth of the energy that sums of float64 make by themselves."""
BEFORE, NOW, LOST, SPARE, ALLOWED, START, HELD_UP = range(7)
NONE = -1


def open_ledger(
    store: Store, pairs: Integers, alone: NDArray[np.bool_], awake: NDArray[np.bool_], size: int
) -> tuple[Integers, Floats]:
    """(size,) the island of each body, NONE for those that touch a linkage and for what does not move; and a ledger (7,size).

    pairs (k,2): bodies that touch or may touch in the step. alone (n,): bodies that do not stand for a linkage."""
    movable = awake & alone
    root = np.empty(len(movable), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    linked, driven, held = (np.zeros(len(movable), np.bool_) for _ in range(3))
    moved = store.find_driven()
    for k in (0, 1):
        linked[root[pairs[~alone[pairs[:, 1 - k]], k]]] = True
        driven[root[pairs[moved[pairs[:, 1 - k]], k]]] = True
        held[root[pairs[~movable[pairs[:, 1 - k]], k]]] = True
    island, ledger = np.full(size, NONE), np.zeros((7, size))
    island[: len(root)] = np.where(movable & ~linked[root], root, NONE)
    ledger[HELD_UP, : len(root)] = held
    ledger[ALLOWED, : len(root)] = np.where(driven, np.inf, 0.0)
    return island, ledger


@kernel
def add_energies(state: Floats, inverse: Floats, inertia: Floats, island: Integers, total: Floats) -> None:
    """The kinetic energy of each island, at its root. inertia (n,3,3): in the bodies' frames."""
    total[:] = 0.0
    for i in range(len(state)):
        if island[i] == NONE:
            continue
        w = rotate(conjugate((state[i, 3], state[i, 4], state[i, 5], state[i, 6])), get(state, i, SPIN))
        m = inertia[i]
        turning = 0.0
        for k in range(3):
            turning += w[k] * dot((m[k, 0], m[k, 1], m[k, 2]), w)
        total[island[i]] += 0.5 * (norm_sq(get(state, i, VELOCITY)) / inverse[i, 0] + turning)


@kernel
def remember(state: Floats, room: Floats) -> None:
    """Keep velocities and spins in room (n,6)."""
    for i in range(len(state)):
        for k in range(6):
            room[i, k] = state[i, VELOCITY + k]


@kernel
def weaken(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    island: Integers,
    start: Floats,
    most: Floats,
    part: Floats,
    change: Floats,
    room: Floats,
) -> None:
    """Take back as much of what a pass has changed as islands have more energy from it than `most`; what is left of it is `part`.

    start: the energies before the pass. change: room. room (n,6): velocities before the pass, written over. All impulses of the pass were given
    where the bodies are now, so that each part of them keeps momentum. With s of the change the energy is start + b·s + c·s², c that of the
    change itself; where even the least of it is too much, that is taken."""
    add_energies(state, inverse, inertia, island, part)
    for i in range(len(state)):
        for k in range(6):
            now = state[i, VELOCITY + k]
            state[i, VELOCITY + k], room[i, k] = now - room[i, k], now
    add_energies(state, inverse, inertia, island, change)
    for i in range(len(part)):
        c, b, after = change[i], part[i] - start[i] - change[i], part[i]
        part[i] = 1.0
        if b + c > most[i] + ROUNDING * after and c > 0.0:
            square = b * b + 4.0 * c * most[i]
            root = math.sqrt(square) if square > 0.0 else 0.0
            part[i] = 2.0 * most[i] / (b + root) if b > 0.0 and most[i] >= 0.0 else (root - b) / (2.0 * c)
            part[i] = min(1.0, max(0.0, part[i]))
    for i in range(len(state)):
        s = part[island[i]] if island[i] != NONE else 1.0
        for k in range(6):
            state[i, VELOCITY + k] = room[i, k] if s == 1.0 else room[i, k] - (1.0 - s) * state[i, VELOCITY + k]


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
        return np.linalg.solve(self.spread(), momentum)

    def spread(self) -> Floats:
        """(3,3) the inertia of the whole."""
        apart = (self.mass * (self.arm**2)).sum() * np.eye(3) - (self.mass * self.arm).T @ self.arm
        return apart + self.inertia.sum(axis=0)


def limit_energy(
    store: Store, state: Floats, alone: NDArray[np.bool_], pairs: Integers, gravity: Floats, paces: Floats, dt: float
) -> int:
    """Scale down motion that an island has got from nowhere; how many islands that were.

    state: what the step made of store.state. alone (n,): bodies that do not stand for a linkage. pairs (n,2): bodies that pushed each other.
    paces (n,): the part of the step dt that passed for each body."""
    movable = store.movable & alone
    free = _find_free(store, movable, pairs, paces, bool(gravity.any()))
    if not free.any():
        return 0
    root = np.empty(len(free), np.int64)
    find_islands(pairs, movable.astype(np.int64), root)
    members = np.flatnonzero(free)
    members = members[np.argsort(root[members], kind="stable")]
    islands = np.split(members, np.flatnonzero(np.diff(root[members])) + 1)
    return sum(_limit_island(store, state, bodies, dt * float(paces[bodies].min())) for bodies in islands)


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
        uneven = movable & pushed & ((paces < paces.max()) | (store.pull != 1.0))
        held[root[uneven]] = True
    return movable & pushed & ~held[root]


def _limit_island(store: Store, state: Floats, bodies: Integers, dt: float) -> bool:
    mass, inertia = 1.0 / store.inverse[bodies, 0], store.inertia[bodies]
    before = _Motion(store.state[bodies], mass, inertia, store.rotations(bodies))
    after = _Motion(state[bodies], mass, inertia, store.rotations(bodies, state))
    most, now = before.energy(before.own, before.spin), after.energy(after.own, after.spin)
    if now <= most * (1.0 + ROUNDING):
        return False
    spin = after.find_rigid()
    rigid = np.asarray(np.cross(spin, after.arm), np.float64)
    whole = np.broadcast_to(spin, after.spin.shape)
    rest = after.energy(after.own - rigid, after.spin - spin)
    room = most - after.energy(rigid, whole)
    if room < -ROUNDING * now:
        _move_rigidly(store, state, bodies, before, after.velocity, dt)
        return True
    part = np.sqrt(max(room, 0.0) / rest) if rest > 0.0 else 0.0
    state[bodies, VELOCITY:SPIN] = after.velocity + rigid + part * (after.own - rigid)
    state[bodies, SPIN:] = spin + part * (after.spin - spin)
    return True


def _move_rigidly(store: Store, state: Floats, bodies: Integers, before: _Motion, velocity: Floats, dt: float) -> None:
    """Move an island as one rigid body for this step, from where it was; then it has the least energy that its momenta allow.

    Bodies may have come so near one another that they would have to turn faster, as a skater who draws in the arms: no velocities undo that."""
    spin = before.find_rigid()
    (a, d, e), (_, b, f), (_, _, c) = before.spread().tolist()
    turned, turning, _ = turn_freely((1.0, 0.0, 0.0, 0.0), tuple(spin.tolist()), (a, b, c, d, e, f), dt)
    arms = before.arm @ np.transpose(matrix_columns(turned)).T
    way = 0.5 * dt * (before.velocity + velocity)
    state[bodies, POSITION:TURN] = store.state[bodies, POSITION:TURN] - before.arm + way + arms
    for body in bodies.tolist():
        state[body, TURN:VELOCITY] = normalise(multiply(turned, tuple(store.state[body, TURN:VELOCITY].tolist())))
    state[bodies, VELOCITY:SPIN] = velocity + np.cross(turning, arms)
    state[bodies, SPIN:] = turning
