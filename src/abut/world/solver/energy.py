"""The law that contacts make no energy: what the bodies of an island have, and what is taken back where a pass leaves them with more.

The impulses of a substep, and of the bounce at the end, keep the law by themselves (`sweeps`, `restitution`), with one exception: what pushes bodies
out of a depth moves them, and is taken back where they are then, not where they were; that leaves energy in what began a step deep in each other,
and may do so where sweeps end before they have converged. For such islands there is a last resort (`energy_limit`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Records, vector
from abut.geometry.quaternions import conjugate, rotate
from abut.geometry.vec import dot, norm_sq

ROUNDING = 1e-13
"""Growth of the energy that sums of float64 make by themselves."""
NONE = -1


class Ledger(NamedTuple):
    """Energies of islands (n,), each at its lowest body."""

    before: Floats
    """without the contacts of the substep"""
    now: Floats
    taken: Floats
    """by contacts since the step began"""
    spare: Floats
    """room"""
    allowed: Floats
    """what may come from outside: any amount where the user moves something"""
    start: Floats
    """before a pass"""
    is_held: NDArray[np.bool_]
    """whether the island touches what nothing moves"""


@kernel
def add_energies(bodies: Records, island: Integers, total: Floats) -> None:
    """The kinetic energy of each island, at its root."""
    total[:] = 0.0
    for i in range(len(bodies)):
        if island[i] == NONE:
            continue
        body = bodies[i]
        q, m = body.quaternion, body.inertia
        w = rotate(conjugate((q[0], q[1], q[2], q[3])), vector(body.angular_velocity))
        turning = 0.0
        for k in range(3):
            turning += w[k] * dot((m[k, 0], m[k, 1], m[k, 2]), w)
        total[island[i]] += 0.5 * (norm_sq(vector(body.velocity)) / body.inverse_mass + turning)


@kernel
def keep_velocities(bodies: Records) -> None:
    """Keep velocities before a pass."""
    for i in range(len(bodies)):
        body = bodies[i]
        for k in range(3):
            body.kept_velocity[k] = body.velocity[k]
            body.kept_angular_velocity[k] = body.angular_velocity[k]


@kernel
def weaken(bodies: Records, island: Integers, start: Floats, most: Floats, part: Floats, change: Floats) -> None:
    """Take back as much of what a pass has changed as islands have more energy from it than `most`; what is left of it is `part`.

    start: the energies before the pass. change: room. The kept velocities are those before the pass, and written over. All impulses of the pass were
    given where the bodies are now, so that each part of them keeps momentum. With s of the change the energy is start + b·s + c·s², c that of the
    change itself; where even the least of it is too much, that is taken."""
    add_energies(bodies, island, part)
    for i in range(len(bodies)):
        body = bodies[i]
        for k in range(3):
            now, turning = body.velocity[k], body.angular_velocity[k]
            body.velocity[k], body.kept_velocity[k] = now - body.kept_velocity[k], now
            body.angular_velocity[k] = turning - body.kept_angular_velocity[k]
            body.kept_angular_velocity[k] = turning
    add_energies(bodies, island, change)
    for i in range(len(part)):
        c, b, after = change[i], part[i] - start[i] - change[i], part[i]
        part[i] = 1.0
        if b + c > most[i] + ROUNDING * after and c > 0.0:
            square = b * b + 4.0 * c * most[i]
            root = math.sqrt(square) if square > 0.0 else 0.0
            part[i] = 2.0 * most[i] / (b + root) if b > 0.0 and most[i] >= 0.0 else (root - b) / (2.0 * c)
            part[i] = min(1.0, max(0.0, part[i]))
    for i in range(len(bodies)):
        body, s = bodies[i], part[island[i]] if island[i] != NONE else 1.0
        for k in range(3):
            now, turning = body.kept_velocity[k], body.kept_angular_velocity[k]
            body.velocity[k] = now if s == 1.0 else now - (1.0 - s) * body.velocity[k]
            body.angular_velocity[k] = turning if s == 1.0 else turning - (1.0 - s) * body.angular_velocity[k]
