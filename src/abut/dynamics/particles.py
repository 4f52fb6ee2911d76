"""What every model made of particles has: positions, velocities, masses, gravity, a force of the user's, and the answer to contact.

A model proposes positions (`propose`), somebody else says how far each particle came and what it touched, and the model takes note (`accept`):
figure 5.3 of Jund 2010. A particle that was stopped loses the part of its velocity that points into the obstacle, and Coulomb friction takes
from the rest (§5.3, first and second case). It bounces with what it had before the step, times the restitution: a force that presses it
against the wall does not make it jump.
"""

from abc import ABC, abstractmethod

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.geometry.vec import add_scaled, dot, norm

SHORTEST_STEP = 1.0 / arrays.LARGEST_COORDINATE
"""Velocities are lengths over it, and stay finite."""


class ParticleModel(ABC):
    """n particles. `position` and `velocity` (n,3) may be set as a whole; masses (n,) are given once, one number standing for all."""

    def __init__(self, points: object, *, mass: object, fixed: object, gravity: object) -> None:
        self._position = arrays.points(points, "points", keep=True)
        count = len(self._position)
        if not count:
            raise InvalidInput("points", "is empty: a model has at least one particle")
        self._velocity = frozen(np.zeros((count, 3)))
        self.mass = read_each(mass, "mass", count, zero=False)
        self.fixed = _read_fixed(fixed, count)
        inverse = 1.0 / self.mass
        inverse[self.fixed] = 0.0
        self.inverse_mass = frozen(inverse)
        self.gravity = arrays.coordinates(gravity, "gravity", (3,), keep=True)
        self._force: Floats | None = None
        self._pending = self._velocity
        self._past = 0.0
        """The length of the step whose mean `velocity` is; 0 where it is that of this moment."""

    def __len__(self) -> int:
        return len(self._position)

    @property
    def position(self) -> Floats:
        """(n,3) where the particles are."""
        return self._position

    @position.setter
    def position(self, value: object) -> None:
        self._position = arrays.coordinates(value, "position", (len(self), 3), keep=True)

    @property
    def velocity(self) -> Floats:
        """(n,3) how they move; zero for fixed particles."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: object) -> None:
        given = np.array(arrays.coordinates(value, "velocity", (len(self), 3)))
        given[self.inverse_mass == 0.0] = 0.0
        self._velocity, self._past = frozen(given), 0.0

    @property
    def force(self) -> Floats | None:
        """(n,3) forces of the user's on each particle, kept until set anew; None for none. Fixed particles do not feel them."""
        return self._force

    @force.setter
    def force(self, value: object) -> None:
        self._force = None if value is None else arrays.coordinates(value, "force", (len(self), 3), keep=True)

    @abstractmethod
    def propose(self, dt: float) -> Floats:
        """(n,3) where the particles would be after a time dt if nothing were in their way. The state does not change before `accept`."""

    def accept(
        self, reached: Floats, normal: Floats | None = None, *, restitution: float = 0.0, friction: float = 0.0
    ) -> None:
        """Take note of where the particles came (n,3) after `propose`, and of unit normals (n,3) into what stopped them, zero for none."""
        bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0)
        rough = arrays.scalar(friction, "friction", least=0.0)
        blocked = None if normal is None else arrays.coordinates(normal, "normal", (len(self), 3))
        self._position = arrays.coordinates(reached, "reached", (len(self), 3), keep=True)
        velocity = self._pending
        if blocked is not None:
            velocity = velocity.copy()
            respond(velocity, self._velocity, blocked, bounce, rough)
        self._velocity = frozen(velocity)

    def momentum(self) -> Floats:
        """(3,) total momentum."""
        return frozen((self.mass[:, np.newaxis] * self._velocity).sum(axis=0))

    def angular_momentum(self) -> Floats:
        """(3,) total angular momentum about the origin."""
        return frozen((self.mass[:, np.newaxis] * np.cross(self._position, self._velocity)).sum(axis=0))

    def kinetic_energy(self) -> float:
        """The sum of m·v²/2."""
        return float(0.5 * (self.mass * (self._velocity**2).sum(axis=1)).sum())

    def _outer_acceleration(self) -> Floats:
        """(n,3) of gravity and the user's force; zero for fixed particles."""
        outer = np.where(self.inverse_mass[:, np.newaxis] > 0.0, self.gravity, 0.0)
        if self._force is not None:
            outer += self.inverse_mass[:, np.newaxis] * self._force
        return frozen(outer)


def read_step(dt: object) -> float:
    """The length of a step; negative ones go back in time."""
    length = arrays.scalar(dt, "dt")
    if abs(length) < SHORTEST_STEP:
        raise InvalidInput("dt", f"{length:g} is too short for velocities")
    return length


def read_each(value: object, name: str, count: int, *, zero: bool = True) -> Floats:
    """(count,) numbers from as many or from one: positive, or zero where that is allowed."""
    single = isinstance(value, int | float | np.number)
    result = np.array(np.broadcast_to(arrays.coordinates(value, name, () if single else (count,)), count))
    bad = result < 0.0 if zero else result <= 0.0
    if bad.any():
        row = int(np.argmax(bad))
        reason = f"{result[row]:g} is {'negative' if zero else 'not positive'}"
        raise InvalidInput(name, reason, None if single else row)
    return frozen(result)


def _read_fixed(fixed: object, count: int) -> Integers:
    return arrays.selection(fixed, "fixed", count)


@kernel
def respond(velocity: Floats, before: Floats, normal: Floats, restitution: float, friction: float) -> None:
    """Take from each velocity what points along its normal, turn back what did before the step times the restitution, and apply friction."""
    for i in range(len(velocity)):
        v = (velocity[i, 0], velocity[i, 1], velocity[i, 2])
        n = (normal[i, 0], normal[i, 1], normal[i, 2])
        inwards = dot(v, n)
        if not inwards > 0.0:
            continue
        back = restitution * min(max(dot((before[i, 0], before[i, 1], before[i, 2]), n), 0.0), inwards)
        along = add_scaled(v, n, -inwards)
        speed = norm(along)
        lost = friction * (inwards + back)
        kept = 1.0 - lost / speed if speed > lost else 0.0
        for k in range(3):
            velocity[i, k] = kept * along[k] - back * n[k]
