"""Bodies and the particles of linkages and soft bodies side by side, as the solver wants them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Records, put, vector
from abut.impulses.records import ALONE
from abut.world.bodies.state import AT_REST, name_fields
from abut.world.joints.opening import Strings
from abut.world.solver.link_constraints import Bonds
from abut.world.solver.tissues import Tissues


@kernel
def write_bodies(bodies: Records, states: Records, inverse: Floats, inertia: Floats, awake: NDArray[np.bool_]) -> None:
    """What moves, or does not, of the bodies of a store, into records (n,). inverse (n,10): see `Store`."""
    for i in range(len(bodies)):
        body, state = bodies[i], states[i]
        put(body.position, vector(state.position))
        put(body.velocity, vector(state.velocity))
        put(body.angular_velocity, vector(state.angular_velocity))
        for k in range(4):
            body.quaternion[k] = state.quaternion[k]
        for r in range(3):
            for c in range(3):
                body.inertia[r, c] = inertia[i, r, c]
                body.own_inverse_inertia[3 * r + c] = inverse[i, 1 + 3 * r + c] if awake[i] else 0.0
        body.inverse_mass = inverse[i, 0] if awake[i] else 0.0


@kernel
def read_states(bodies: Records, states: Records) -> None:
    """States (n,) of the first bodies."""
    for i in range(len(states)):
        body, state = bodies[i], states[i]
        put(state.position, vector(body.position))
        put(state.velocity, vector(body.velocity))
        put(state.angular_velocity, vector(body.angular_velocity))
        for k in range(4):
            state.quaternion[k] = body.quaternion[k]


class Joined(NamedTuple):
    """Bodies, and behind them the particles of linkages and of soft bodies that are awake, as the solver wants them."""

    bodies: Records
    """(n+m,) see `BODY`"""
    moving: NDArray[np.bool_]
    """(n+m,)"""
    ends: Integers
    """(n,2) rows of the particles between which a body stands, twice the same for a ball, twice the first for a soft body; ALONE for what is no
    part of either"""
    bonds: Bonds
    soft: NDArray[np.bool_]
    """(n,) soft bodies: what moves, and is pushed, are the particles of their surfaces"""
    tissues: Tissues
    """of the soft bodies that are awake; their particles come last"""
    strings: Strings
    """links of linkages that something is joined to: they are solved for with the joints, and are none of the bonds"""

    @property
    def alone(self) -> NDArray[np.bool_]:
        """(n,) bodies that stand neither for a linkage nor for a soft body."""
        return (self.ends[:, 0] == ALONE) & ~self.soft

    def states(self) -> Floats:
        """(n,13) of the bodies; those that stand for a linkage are moved with it, not turned."""
        states, standing = np.empty((len(self.ends), len(AT_REST))), ~self.alone & ~self.soft
        read_states(self.bodies, name_fields(states))
        name_fields(states)["position"][standing] = self.bodies["position"][self.ends[standing]].mean(axis=1)
        return states

    def mark_free(self, bodies: Integers, sides: Integers) -> None:
        """Bodies without contact are free, and particles of linkages that neither touch anything nor hang on something."""
        first, free = len(self.ends), self.bodies["is_free"]
        free[:] = True
        free[bodies.ravel()] = False
        free[sides[sides != ALONE]] = False
        free[first:][self.bonds.inverse_mass == 0.0] = False
        for low, high in first + self.bonds.spans[:, :2]:
            free[low:high] = free[low:high].all()

    def find_sides(self, bodies: Integers, points: Floats) -> tuple[Integers, Floats, NDArray[np.bool_]]:
        """For contacts of bodies (n,2) at points: rows (n,4) and shares (n,2) of their sides, and which are of bones that hang together."""
        if self.alone.all():
            nobody = np.full((len(bodies), 2), ALONE)
            return np.concatenate((bodies, nobody), axis=1), np.zeros((len(bodies), 2)), np.zeros(len(bodies), np.bool_)
        ends = self.ends[bodies]
        rows = np.concatenate((np.where(ends[:, :, 0] == ALONE, bodies, ends[:, :, 0]), ends[:, :, 1]), axis=1)
        rows[:, 2:][ends[:, :, 0] == ends[:, :, 1]] = ALONE
        a, b = (self.bodies["position"][rows[:, k : k + 2]] for k in (0, 2))
        along = b - a
        length = np.maximum((along**2).sum(axis=2), np.finfo(np.float64).tiny)
        share = np.clip(((points[:, np.newaxis] - a) * along).sum(axis=2) / length, 0.0, 1.0)
        joined = np.zeros(len(bodies), np.bool_)
        for k in (0, 2):
            joined |= (rows[:, [k]] == rows[:, [1, 3]]).any(axis=1) & (rows[:, k] != ALONE)
        return rows, share, joined
