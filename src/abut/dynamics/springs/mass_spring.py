"""Masses joined by springs with stiffness and damping (Jund 2010, §5.2.1): lines, surfaces, any graph.

The force on p_i is (k (rest − |d|) − c (v_i − v_j)·u) u, with d = p_i − p_j and u = d / |d| (equation 5.1 and its damping). Springs on edges
alone let the body fold; springs across two edges, from each particle to the next but one (figure 5.1), resist bending. A spring of length zero
has no direction and no force.

Particles may be put on springs and taken away again, as an adaptive response to contact asks (`divided_springs`).

What springs pull is in `spring_forces`.
"""

import itertools
from typing import Literal, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.showing import count
from abut.core.types import IndicesLike, Number, PointsLike, VectorLike
from abut.dynamics.integrators import INTEGRATORS
from abut.dynamics.particles import ParticleModel, read_each, read_step
from abut.dynamics.springs.bending import bending_pairs
from abut.dynamics.springs.divided_springs import DividedSprings, Springs
from abut.dynamics.springs.inserted_motion import Motions, extend, give_back, put_between
from abut.dynamics.springs.spring_forces import accelerate, accelerate_chunks
from abut.mesh import MeshLike, as_mesh

STABLE_SHARE = 0.25
"""Substeps are this part of the stability limit 2 / ω or shorter: Verlet's frequencies are then at most (ω·dt)² / 24 = 1 % too high."""
MOST_SUBSTEPS = 2**20
"""A step that needs more is a mistake: one of them takes some microseconds at least."""
PARALLEL_FROM = 20_000  # springs; waking the threads costs as much as some thousands


class SpringOptions(TypedDict, total=False):
    """Options of `MassSpring` beside its springs and their stiffness."""

    mass: ArrayLike
    damping: ArrayLike
    rest: ArrayLike | None
    fixed: IndicesLike
    gravity: VectorLike
    integrator: Literal["verlet", "euler", "rk4"]
    substeps: int | None


class MassSpring(ParticleModel):
    """Particles joined by springs.

    `propose` divides its time into as many substeps as stability asks for, or into `substeps`.

    Args:
        points: (n,3) where the particles start, at rest.
        springs: (k,2) the particles at the ends of each.
        mass: (n,) or one number for all.
        stiffness: force by length, (k,) or one number for all.
        damping: force by speed along the spring, (k,) or one number for all.
        rest: lengths at rest, (k,) or one number for all; by default those between the points given.
        fixed: (f,) particles that nothing moves.
        gravity: (3,) acceleration of all particles that are not fixed.
        integrator: "verlet" (kick, drift, kick), "euler" (symplectic) or "rk4"; the first two keep the energy of a free body within a bound.
        substeps: in how many a step is divided; by default the fewest that are no longer than a quarter of the stability limit.

    Examples:
        >>> from abut import dynamics
        >>> model = dynamics.MassSpring([[0, 0, 0], [0, 0, -1]], [[0, 1]], stiffness=50, damping=1, fixed=[0], gravity=(0, 0, -10))
        >>> model
        MassSpring(2 particles, 1 fixed, 1 spring)
        >>> for _ in range(2000):
        ...     model.accept(model.propose(0.01))
        >>> model.position[1].round(3).tolist()  # 10 / 50 longer than at rest
        [0.0, 0.0, -1.2]
    """

    def __init__(
        self,
        points: PointsLike,
        springs: IndicesLike,
        *,
        mass: ArrayLike = 1.0,
        stiffness: ArrayLike = 100.0,
        damping: ArrayLike = 0.0,
        rest: ArrayLike | None = None,
        fixed: IndicesLike = (),
        gravity: VectorLike = (0.0, 0.0, 0.0),
        integrator: Literal["verlet", "euler", "rk4"] = "verlet",
        substeps: int | None = None,
    ) -> None:
        super().__init__(points, mass=mass, fixed=fixed, gravity=gravity)
        self._step = INTEGRATORS[arrays.choice(integrator, "integrator", INTEGRATORS)]
        self.springs = arrays.indices(springs, "springs", 2, len(self), keep=True)
        loops = self.springs[:, 0] == self.springs[:, 1]
        if loops.any():
            raise InvalidInput("springs", "joins a particle to itself", int(np.argmax(loops)))
        self.stiffness = read_each(stiffness, "stiffness", len(self.springs))
        self.damping = read_each(damping, "damping", len(self.springs))
        length = np.linalg.norm(np.subtract(*self._position[self.springs.T]), axis=1)
        self.rest = frozen(length) if rest is None else read_each(rest, "rest", len(self.springs))
        self.substeps = None if substeps is None else arrays.count(substeps, "substeps", least=1)
        self._inserted_bending = 0.0
        self._divided: DividedSprings | None = None
        self._gather()

    def _facts(self) -> tuple[str, ...]:
        return (*super()._facts(), count(len(self.springs), "spring"))

    def _lines(self) -> Integers:
        return self.springs

    @classmethod
    def from_mesh(
        cls, mesh: MeshLike, *, stiffness: Number = 100.0, bending: Number = 10.0, **options: Unpack[SpringOptions]
    ) -> "MassSpring":
        """A model of the vertices of a mesh, with springs along its edges, and across them between the far corners of two faces.

        Args:
            mesh: whatever `abut.as_mesh` takes.
            stiffness: of the springs along edges.
            bending: stiffness of the springs between the far corners of faces with a common edge.
            **options: as for `MassSpring`.

        Examples:
            >>> from abut import dynamics, scenes
            >>> dynamics.MassSpring.from_mesh(scenes.cloth(2, 2), bending=1.0, fixed=[0, 2])
            MassSpring(9 particles, 2 fixed, 24 springs)
        """
        surface = as_mesh(mesh)
        across = bending_pairs(surface)
        springs = np.concatenate((surface.edges, across))
        strengths = np.repeat(_read_strengths(stiffness, bending), (len(surface.edges), len(across)))
        return cls(surface.vertices, springs, stiffness=strengths, **options)

    @classmethod
    def from_line(
        cls, points: PointsLike, *, stiffness: Number = 100.0, bending: Number = 10.0, **options: Unpack[SpringOptions]
    ) -> "MassSpring":
        """A line of particles, with springs from each to the next, and to the next but one (figure 5.1).

        Args:
            points: (n,3) in the order of the line.
            stiffness: of the springs to the next.
            bending: stiffness of the springs to the next but one.
            **options: as for `MassSpring`.

        Examples:
            >>> from abut import dynamics
            >>> dynamics.MassSpring.from_line([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]).springs.tolist()
            [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]]
        """
        line = arrays.points(points, "points")
        i = np.arange(len(line))
        springs = np.concatenate([np.stack((i[:-k], i[k:]), axis=1) for k in (1, 2)])
        strengths = np.repeat(_read_strengths(stiffness, bending), (max(len(line) - 1, 0), max(len(line) - 2, 0)))
        model = cls(line, springs, stiffness=strengths, **options)
        model._inserted_bending = _read_strengths(stiffness, bending)[1]
        return model

    def insert(self, ends: IndicesLike, ratio: ArrayLike) -> Integers:
        """Put a particle on each of some springs; returns their numbers (k,).

        The spring is divided: its pieces together are as stiff, as damped and as long at rest as it was, and those of a line (`from_line`) get
        springs against bending. A particle begins on the straight line between its neighbours on the spring, with the velocity between theirs, and
        takes its mass from them: total mass, center of mass, momentum and the state of rest stay what they are, and so does the elastic energy.

        Args:
            ends: (k,2) the given particles at the ends of each spring.
            ratio: (k,) or one number, from 0 at the second end to 1 at the first, neither included.

        Raises:
            InvalidInput: no spring joins the ends, or a particle is on that place already.

        Examples:
            >>> from abut import dynamics
            >>> model = dynamics.MassSpring([[0, 0, 0], [1, 0, 0]], [[0, 1]], stiffness=30.0)
            >>> model.insert([[0, 1]], 0.75).tolist(), model.mass.tolist(), model.position[2].tolist()
            ([2], [0.25, 0.75, 1.0], [0.25, 0.0, 0.0])
            >>> model.springs.tolist(), model.stiffness.tolist(), model.rest.tolist()
            ([[0, 2], [2, 1]], [120.0, 40.0], [0.25, 0.75])
        """
        divided = self._divided or DividedSprings(
            Springs(self.springs, self.stiffness, self.damping, self.rest), self.mass, self._inserted_bending
        )
        pairs = arrays.indices(ends, "ends", 2, len(self))
        share = read_each(ratio, "ratio", len(pairs), zero=False)
        if (share >= 1.0).any():
            raise InvalidInput("ratio", "is not below 1", int(np.argmax(share >= 1.0)))
        rows = [divided.row_of(*pair) for pair in pairs.tolist()]
        if None in rows:
            raise InvalidInput("ends", "are joined by no spring", rows.index(None))
        taken, first = divided.copy(), len(self)
        motions = extend(self._motion(), len(pairs))
        for number, row, pair, part in zip(itertools.count(first), rows, pairs.tolist(), share.tolist(), strict=False):
            put_between(motions, number, taken.insert(cast("int", row), pair[0], 1.0 - part))
        self._divided = taken
        self._replace_particles(motions, np.arange(first))
        return frozen(np.arange(first, len(self)))

    def remove(self, particles: IndicesLike) -> None:
        """Take away particles that `insert` has put there; those behind them move up.

        Springs and masses are what they would be without them; their momentum goes to their neighbours on the spring.

        Args:
            particles: (k,) their numbers.

        Raises:
            InvalidInput: one of them has not been inserted.

        Examples:
            >>> from abut import dynamics
            >>> model = dynamics.MassSpring([[0, 0, 0], [1, 0, 0]], [[0, 1]])
            >>> model.remove(model.insert([[0, 1]], 0.5))
            >>> model, model.rest.tolist(), model.mass.tolist()
            (MassSpring(2 particles, 1 spring), [1.0], [1.0, 1.0])
        """
        gone = arrays.selection(particles, "particles", len(self))
        left = None if self._divided is None else self._divided.copy()
        motions = extend(self._motion(), 0)
        for row, particle in enumerate(gone.tolist()):
            old = None if left is None else left.remove(particle)
            if old is None:
                raise InvalidInput("particles", f"{particle} has not been inserted", row)
            give_back(motions, particle, old)
        if left is None:
            return
        kept = np.setdiff1d(np.arange(len(self)), gone)
        number = np.zeros(len(self), np.int64)
        number[kept] = np.arange(len(kept))
        left.renumber(number, len(kept))
        self._divided = left
        for motion in (motions.velocity, motions.pending):
            motion[self.fixed] = 0.0
        self._replace_particles(Motions(*(table[kept] for table in motions)), kept)

    def _motion(self) -> Motions:
        return Motions(self.mass, self._position, self._velocity, self._pending)

    def _replace_particles(self, motions: Motions, kept: Integers) -> None:
        """Other particles, of which the first are those kept, and the springs that go with them."""
        self.mass, self._position, self._velocity, self._pending = (frozen(table) for table in motions)
        inverse = 1.0 / self.mass
        inverse[self.fixed] = 0.0
        self.inverse_mass = frozen(inverse)
        if self._force is not None:
            force = np.zeros((len(self), 3))
            force[: len(kept)] = self._force[kept]
            self._force = frozen(force)
        if self._divided is not None:
            springs = self._divided.springs()
            self.springs, self.stiffness = frozen(springs.ends), frozen(springs.stiffness)
            self.damping, self.rest = frozen(springs.damping), frozen(springs.rest)
        self._gather()

    def elastic_energy(self) -> float:
        """The sum of k·(|d| − rest)²/2."""
        length = np.linalg.norm(np.subtract(*self._position[self.springs.T]), axis=1)
        return float(0.5 * (self.stiffness * (length - self.rest) ** 2).sum())

    def energy(self) -> float:
        """Kinetic, elastic, and in the field of gravity."""
        height = float((self.mass[:, np.newaxis] * self._position * self.gravity).sum())
        return self.kinetic_energy() + self.elastic_energy() - height

    @property
    def longest_step(self) -> float:
        """A bound below which symplectic steps are stable: 2 / ω with ω² ≤ 2 Σk / m (Gershgorin), and m / Σc for the damping."""
        rates = [np.zeros(len(self)), np.zeros(len(self))]
        for total, values in zip(rates, (self.stiffness, self.damping), strict=True):
            for end in (0, 1):
                np.add.at(total, self.springs[:, end], values)
        with np.errstate(over="ignore"):  # infinite: no step is short enough
            fastest = float(np.sqrt(2.0 * (rates[0] * self.inverse_mass).max()))
            thickest = float((rates[1] * self.inverse_mass).max())
        return min(2.0 / fastest if fastest > 0.0 else np.inf, 1.0 / thickest if thickest > 0.0 else np.inf)

    def propose(self, dt: Number) -> Floats:
        """(n,3) where the springs, gravity and the user's force bring the particles within a time dt.

        Args:
            dt: the length of the step; a negative one goes back in time.
        """
        length = read_step(dt)
        share = STABLE_SHARE * self.longest_step
        steps = self.substeps or (max(1.0, float(np.ceil(abs(length) / share))) if share > 0.0 else np.inf)
        if steps > MOST_SUBSTEPS:
            raise InvalidInput("dt", f"{length:g} asks for {steps:g} substeps: the springs are too stiff for it")
        outer = self._outer_acceleration()

        def respond_to(position: Floats, velocity: Floats) -> Floats:
            return self._accelerate(position, velocity, outer)

        position, velocity = self._position, self._velocity
        for _ in range(int(steps)):
            position, velocity = self._step(respond_to, position, velocity, length / steps)
        self._pending = velocity
        return frozen(position)

    def _gather(self) -> None:
        """For each particle its springs, in the order of the springs: neighbor, rest, stiffness and damping of each."""
        ends = np.concatenate((self.springs[:, 0], self.springs[:, 1]))
        others = np.concatenate((self.springs[:, 1], self.springs[:, 0]))
        which = np.tile(np.arange(len(self.springs)), 2)
        order = np.lexsort((which, ends))
        self._offsets = frozen(np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=len(self))))))
        self._others = frozen(others[order])
        self.constants = frozen(np.stack((self.rest, self.stiffness, self.damping), axis=1))
        """(k,3) length at rest, stiffness and damping of each spring"""
        self._gathered = frozen(self.constants[which[order]])

    def _accelerate(self, position: Floats, velocity: Floats, outer: Floats) -> Floats:
        position, velocity = frozen(position), frozen(velocity)  # a type of its own to Numba: one to compile
        result = np.empty((len(self), 3))
        if len(self.springs) < PARALLEL_FROM:
            accelerate(position, velocity, self.springs, self.constants, self.inverse_mass, outer, result)
        else:
            tables = (self._offsets, self._others, self._gathered, self.inverse_mass, outer)
            accelerate_chunks(position, velocity, *tables, result)
        return result


def _read_strengths(stiffness: Number, bending: Number) -> tuple[float, float]:
    """Of springs along edges, and across them."""
    return (arrays.scalar(stiffness, "stiffness", least=0.0), arrays.scalar(bending, "bending", least=0.0))
