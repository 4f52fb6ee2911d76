"""Particles and bones: Verlet steps, and constraints restored by successive relaxation (Peyré 2001, §5.2.2; Jakobsen 2001).

Masses sit at the ends of the bones. A step moves every particle freely, then visits the constraints in turn, to and fro, and moves the two ends
of each that is broken, in inverse proportion to their masses, until it holds. A length may be fixed or lie between two bounds. A limit on the
angle between two bones is one on the distance of their far ends. The velocity is what the particles moved, over dt, so that whatever stopped
them, a constraint or an obstacle, is in it. It is the mean of the step, that of its middle: so the next step gains a·(dt before + dt) / 2, the
first one a·dt / 2, and a free particle follows its parabola exactly, whatever the lengths of the steps.

Corrections are equal and opposite: momentum is kept. The sweeps end when one finds every constraint within the tolerance, or when they are used
up; `violation` says how far off the worst one was. Two particles in the same place are moved apart along x. Constraints that contradict one
another are averaged, never satisfied.
"""

from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.core.showing import count, describe
from abut.core.types import IndicesLike, Number, PointsLike, VectorLike
from abut.dynamics.particles import ParticleModel, read_each, read_step
from abut.geometry.rows import vector_at
from abut.geometry.vec import norm, scale, subtract


class AngleLimits(NamedTuple):
    """Limits on the angles at joints, in radians, as `Linkage` takes them."""

    joints: IndicesLike
    """(m,3) three particles each, the joint in the middle"""
    least: ArrayLike = 0.0
    """(m,) or one number for all, from 0 to π, which is stretched"""
    most: ArrayLike = np.pi

    def __repr__(self) -> str:
        return describe(self, count(len(np.atleast_1d(np.asarray(self.joints, object))), "joint"))


class MotionOptions(TypedDict, total=False):
    """Options of every `Linkage`: what moves it, and how carefully it is relaxed."""

    fixed: IndicesLike
    gravity: VectorLike
    drag: Number
    sweeps: int
    tolerance: Number


class RopeOptions(MotionOptions, total=False):
    """Options of `Linkage` beside its bones and their angles."""

    mass: ArrayLike
    shortest: ArrayLike | None
    longest: ArrayLike | None
    radius: ArrayLike


class LinkageOptions(RopeOptions, total=False):
    """Options of `Linkage` beside its bones."""

    angles: AngleLimits | None


class Linkage(ParticleModel):
    """Particles joined by bones, which keep the lengths at which they are given, or stay between two bounds.

    Args:
        points: (n,3) where the particles start, at rest.
        bones: (k,2) the particles at the ends of each.
        mass: (n,) or one number for all.
        shortest, longest: bounds on the lengths of the bones, (k,) or one number; by default the lengths at which they are given.
        angles: limits on the angles between bones.
        radius: of the bones as cylinders with round ends, for collisions (`capsules`), (k,) or one number; it does not change the motion.
        fixed: (f,) particles that nothing moves.
        gravity: (3,) acceleration of all particles that are not fixed.
        drag: the part of its velocity that a particle loses in a unit of time.
        sweeps: how often the relaxation visits the constraints in a step, at most.
        tolerance: how far a length may be off for the relaxation to end, as a part of that length.

    Examples:
        >>> import numpy as np
        >>> from abut import dynamics
        >>> arm = dynamics.Linkage([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1], [1, 2]], fixed=[0], gravity=(0, 0, -10), drag=2.0)
        >>> arm
        Linkage(3 particles, 1 fixed, 2 bones)
        >>> for _ in range(2000):
        ...     arm.accept(arm.propose(0.01))
        >>> (arm.position[2].round(2) + 0).tolist()  # it hangs down, as long as before
        [0.0, 0.0, -2.0]
    """

    def __init__(
        self,
        points: PointsLike,
        bones: IndicesLike,
        *,
        mass: ArrayLike = 1.0,
        shortest: ArrayLike | None = None,
        longest: ArrayLike | None = None,
        angles: AngleLimits | None = None,
        radius: ArrayLike = 0.0,
        fixed: IndicesLike = (),
        gravity: VectorLike = (0.0, 0.0, 0.0),
        drag: Number = 0.0,
        sweeps: int = 32,
        tolerance: Number = 1e-3,
    ) -> None:
        super().__init__(points, mass=mass, fixed=fixed, gravity=gravity)
        self.bones = _read_bones(bones, len(self))
        self.length = frozen(np.linalg.norm(np.subtract(*self._position[self.bones.T]), axis=1))
        low = self.length if shortest is None else read_each(shortest, "shortest", len(self.bones))
        high = self.length if longest is None else read_each(longest, "longest", len(self.bones))
        _check_bounds(low, high, "shortest")
        links, least, most = self._limit_angles(angles)
        self._links = frozen(np.concatenate((self.bones, links)))
        self._low, self._high = frozen(np.concatenate((low, least))), frozen(np.concatenate((high, most)))
        self.radius = read_each(radius, "radius", len(self.bones))
        self.drag = arrays.scalar(drag, "drag", least=0.0)
        self.sweeps = arrays.count(sweeps, "sweeps", least=1)
        self.tolerance = arrays.scalar(tolerance, "tolerance", least=0.0, most=1.0)
        self.violation = 0.0
        """How far off the worst constraint was that the last sweep of the last proposal met, as a part of the length it should have."""
        self._dt = 1.0

    def _facts(self) -> tuple[str, ...]:
        return (*super()._facts(), count(len(self.bones), "bone"))

    def _lines(self) -> Integers:
        return self.bones

    def capsules(self) -> tuple[Floats, Floats]:
        """The bones as cylinders with round ends: their ends (k,2,3) and radii (k,)."""
        return frozen(self._position[self.bones]), self.radius

    def propose(self, dt: Number) -> Floats:
        """(n,3) where Verlet's step and the relaxation bring the particles within a time dt.

        Args:
            dt: the length of the step; a negative one goes back in time.
        """
        step = read_step(dt)
        kept = max(0.0, 1.0 - self.drag * abs(step))
        gained = (
            0.5 * (self._past + step) * self._outer_acceleration()
        )  # from the middle of the step before to that of this one
        position = self._position + step * (kept * self._velocity + gained)
        self.violation = relax(
            position, self.inverse_mass, self._links, self._low, self._high, self.sweeps, self.tolerance
        )
        self._dt = step
        self._pending = (position - self._position) / step
        return frozen(position)

    def accept(
        self,
        reached: PointsLike,
        normal: PointsLike | None = None,
        *,
        restitution: Number = 0.0,
        friction: Number = 0.0,
    ) -> None:
        """As every model; but the velocity of a particle that met no obstacle is what it moved, whatever else kept it back.

        Args:
            reached: (n,3) where the particles are now.
            normal: (n,3) unit normals into what stopped each particle, zero for none; by default nothing did.
            restitution: from 0 to 1, the part of the speed before the step with which a particle bounces.
            friction: Coulomb's coefficient.
        """
        moved = (arrays.coordinates(reached, "reached", (len(self), 3)) - self._position) / self._dt
        super().accept(reached, normal, restitution=restitution, friction=friction)
        stopped = np.zeros(len(self), np.bool_) if normal is None else (np.asarray(normal) != 0.0).any(axis=1)
        self._velocity = frozen(np.where(stopped[:, np.newaxis], self._velocity, moved))
        self._past = self._dt

    def _limit_angles(self, angles: AngleLimits | None) -> tuple[Integers, Floats, Floats]:
        """Angle limits as limits on the distance of the far ends, by the law of cosines."""
        if angles is None:
            return np.empty((0, 2), np.int64), np.empty(0), np.empty(0)
        if not isinstance(angles, AngleLimits):
            raise InvalidInput("angles", f"is a {type(angles).__name__}, expected AngleLimits")
        joints = arrays.indices(angles.joints, "joints", 3, len(self))
        twice = (joints == np.roll(joints, 1, axis=1)).any(axis=1)
        if twice.any():
            raise InvalidInput("joints", "names a particle twice", int(np.argmax(twice)))
        least, most = read_each(angles.least, "least", len(joints)), read_each(angles.most, "most", len(joints))
        _check_bounds(least, most, "least")
        if (most > np.pi).any():
            raise InvalidInput("most", "is above π", int(np.argmax(most > np.pi)))
        start, middle, end = (self._position[joints[:, k]] for k in range(3))
        a, b = np.linalg.norm(start - middle, axis=1), np.linalg.norm(end - middle, axis=1)
        bounds = [np.sqrt(np.maximum(a**2 + b**2 - 2.0 * a * b * np.cos(angle), 0.0)) for angle in (least, most)]
        return joints[:, [0, 2]], bounds[0], bounds[1]


def _read_bones(bones: IndicesLike, size: int) -> Integers:
    pairs = arrays.indices(bones, "bones", 2, size, keep=True)
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        raise InvalidInput("bones", "joins a particle to itself", int(np.argmax(loops)))
    return pairs


def _check_bounds(low: Floats, high: Floats, name: str) -> None:
    if (low > high).any():
        row = int(np.argmax(low > high))
        raise InvalidInput(name, f"{low[row]:g} is above the upper bound {high[row]:g}", row)


@kernel
def relax(
    position: Floats, inverse_mass: Floats, links: Integers, low: Floats, high: Floats, sweeps: int, tolerance: float
) -> float:
    """Sweep over the links, forwards and backwards in turn, until one sweep finds all within the tolerance of their bounds.

    Returns the worst that the last sweep found, as a part of the length it should have.
    """
    link_count = len(links)
    worst = 0.0
    for sweep in range(sweeps + 1):
        worst = 0.0
        for at in range(link_count):
            link = at if sweep % 2 == 0 else link_count - 1 - at
            i, j = links[link, 0], links[link, 1]
            d = subtract(vector_at(position, j), vector_at(position, i))
            length = norm(d)
            goal = min(max(length, low[link]), high[link])
            total = inverse_mass[i] + inverse_mass[j]
            if goal == length or total == 0.0:
                continue
            worst = max(worst, abs(goal - length) / max(goal, length))
            if sweep == sweeps:  # the last round only measures
                continue
            if length > 0.0:
                d = scale(d, float((goal - length) / (length * total)))
            else:
                d = (goal / total, 0.0, 0.0)
            for k in range(3):
                position[i, k] -= inverse_mass[i] * d[k]
                position[j, k] += inverse_mass[j] * d[k]
        if worst <= tolerance:
            break
    return worst
