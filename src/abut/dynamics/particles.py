"""What every model made of particles has: positions, velocities, masses, gravity, a force of the user's, and the answer to contact.

A model proposes positions (`propose`), somebody else says how far each particle came and what it touched, and the model takes note (`accept`):
figure 5.3 of Jund 2010. A particle that was stopped loses the part of its velocity that points into the obstacle, and Coulomb friction takes
from the rest (§5.3, first and second case). It bounces with what it had before the step, times the restitution: a force that presses it
against the wall does not make it jump.
"""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.showing import count, describe
from abut.core.types import IndicesLike, Number, PointsLike, VectorLike
from abut.dynamics.picture import line_drawing
from abut.geometry.rows import vector_at
from abut.geometry.vec import add_scaled, dot, norm

SHORTEST_STEP = 1.0 / arrays.LARGEST_COORDINATE
"""Velocities are lengths over it, and stay finite."""


class ParticleModel(ABC):
    """n particles: what all models have.

    `position` and `velocity` (n,3) may be set as a whole; masses (n,) are given once, one number standing for all.

    Args:
        points: (n,3) where the particles start, at rest.
        mass: (n,) or one number for all.
        fixed: (k,) particles that nothing moves.
        gravity: (3,) acceleration of all particles that are not fixed.

    Examples:
        >>> from abut import dynamics
        >>> rope = dynamics.rope((0, 0, 1), (1, 0, 1), 3, mass=0.1, gravity=(0, 0, -10))
        >>> isinstance(rope, dynamics.ParticleModel), len(rope)
        (True, 3)
        >>> rope.accept(rope.propose(0.5))  # nothing is in the way: fallen by 10·0.5²/2
        >>> rope.position[:, 2].round(3).tolist()
        [-0.25, -0.25, -0.25]
        >>> (rope.momentum().round(3) + 0).tolist()  # of the middle of the step
        [0.0, 0.0, -0.75]
    """

    def __init__(self, points: PointsLike, *, mass: ArrayLike, fixed: IndicesLike, gravity: VectorLike) -> None:
        self._position = arrays.points(points, "points", keep=True)
        size = len(self._position)
        if not size:
            raise InvalidInput("points", "is empty: a model has at least one particle")
        self._velocity = frozen(np.zeros((size, 3)))
        self.mass = read_each(mass, "mass", size, zero=False)
        self.fixed = _read_fixed(fixed, size)
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

    def __repr__(self) -> str:
        return describe(self, *self._facts())

    def _repr_html_(self) -> str:
        return line_drawing(repr(self), self._position[self._lines()], self._position)

    def _facts(self) -> tuple[str, ...]:
        """What `repr` says, in counts."""
        held = (f"{len(self.fixed):,} fixed",) if len(self.fixed) else ()
        return (count(len(self), "particle"), *held)

    def _lines(self) -> Integers:
        """(k,2) particles between which a picture has lines."""
        return np.empty((0, 2), np.int64)

    @property
    def position(self) -> Floats:
        """(n,3) where the particles are."""
        return self._position

    @position.setter
    def position(self, value: PointsLike) -> None:
        self._position = arrays.coordinates(value, "position", (len(self), 3), keep=True)

    @property
    def velocity(self) -> Floats:
        """(n,3) how they move; zero for fixed particles."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: PointsLike) -> None:
        given = np.array(arrays.coordinates(value, "velocity", (len(self), 3)))
        given[self.inverse_mass == 0.0] = 0.0
        self._velocity, self._past = frozen(given), 0.0

    @property
    def force(self) -> Floats | None:
        """(n,3) forces of the user's on each particle, kept until set anew; None for none. Fixed particles do not feel them."""
        return self._force

    @force.setter
    def force(self, value: PointsLike | None) -> None:
        self._force = None if value is None else arrays.coordinates(value, "force", (len(self), 3), keep=True)

    @abstractmethod
    def propose(self, dt: Number) -> Floats:
        """(n,3) where the particles would be after a time dt if nothing were in their way. The state does not change before `accept`.

        Args:
            dt: the length of the step; a negative one goes back in time.
        """

    def accept(
        self,
        reached: PointsLike,
        normal: PointsLike | None = None,
        *,
        restitution: Number = 0.0,
        friction: Number = 0.0,
    ) -> None:
        """Take note of where the particles came after `propose`, and of what stopped them.

        Args:
            reached: (n,3) where they are now.
            normal: (n,3) unit normals into what stopped each particle, zero for none; by default nothing did.
            restitution: from 0 to 1, the part of the speed before the step with which a particle bounces.
            friction: Coulomb's coefficient.
        """
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


def read_step(dt: Number) -> float:
    """The length of a step; negative ones go back in time."""
    length = arrays.scalar(dt, "dt")
    if abs(length) < SHORTEST_STEP:
        raise InvalidInput("dt", f"{length:g} is too short for velocities")
    return length


def read_each(value: ArrayLike, name: str, size: int, *, zero: bool = True) -> Floats:
    """(size,) numbers from as many or from one: positive, or zero where that is allowed."""
    single = isinstance(value, int | float | np.number)
    result = np.array(np.broadcast_to(arrays.coordinates(value, name, () if single else (size,)), size))
    bad = result < 0.0 if zero else result <= 0.0
    if bad.any():
        row = int(np.argmax(bad))
        reason = f"{result[row]:g} is {'negative' if zero else 'not positive'}"
        raise InvalidInput(name, reason, None if single else row)
    return frozen(result)


def _read_fixed(fixed: IndicesLike, size: int) -> Integers:
    return arrays.selection(fixed, "fixed", size)


@kernel
def respond(velocity: Floats, before: Floats, normal: Floats, restitution: float, friction: float) -> None:
    """Take from each velocity what points along its normal, turn back what did before the step times the restitution, and apply friction."""
    for i in range(len(velocity)):
        v, n = vector_at(velocity, i), vector_at(normal, i)
        inwards = dot(v, n)
        if not inwards > 0.0:
            continue
        back = restitution * min(max(dot(vector_at(before, i), n), 0.0), inwards)
        along = add_scaled(v, n, -inwards)
        speed = norm(along)
        lost = friction * (inwards + back)
        kept = 1.0 - lost / speed if speed > lost else 0.0
        for k in range(3):
            velocity[i, k] = kept * along[k] - back * n[k]
