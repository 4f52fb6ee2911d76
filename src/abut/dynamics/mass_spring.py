"""Masses joined by springs with stiffness and damping (Jund 2010, §5.2.1): lines, surfaces, any graph.

The force on p_i is (k (rest − |d|) − c (v_i − v_j)·u) u, with d = p_i − p_j and u = d / |d| (equation 5.1 and its damping). Springs on edges
alone let the body fold; springs across two edges, from each particle to the next but one (figure 5.1), resist bending. A spring of length zero
has no direction and no force.

On one thread each spring is looked at once, and pulls both its ends. On several, each particle gathers its own springs in their order: both ends
then compute the same bits with opposite signs, so results do not depend on threads.
"""

from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import element, kernel, parallel, prange
from abut.core.showing import count
from abut.core.types import IndicesLike, Number, PointsLike, VectorLike
from abut.dynamics.integrators import INTEGRATORS
from abut.dynamics.particles import ParticleModel, read_each, read_step
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, dot, norm, subtract
from abut.mesh import MeshLike, as_mesh

STABLE_SHARE = 0.25
"""Substeps are this part of the stability limit 2 / ω or shorter: Verlet's frequencies are then at most (ω·dt)² / 24 = 1 % too high."""
MOST_SUBSTEPS = 2**20
"""A step that needs more is a mistake: one of them takes some microseconds at least."""
PARALLEL_FROM = 20_000  # springs; waking the threads costs as much as some thousands
CHUNK = 1024


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
        return cls(line, springs, stiffness=strengths, **options)

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
        fastest = float(np.sqrt(2.0 * (rates[0] * self.inverse_mass).max()))
        thickest = float((rates[1] * self.inverse_mass).max())
        return min(2.0 / fastest if fastest > 0.0 else np.inf, 1.0 / thickest if thickest > 0.0 else np.inf)

    def propose(self, dt: Number) -> Floats:
        """(n,3) where the springs, gravity and the user's force bring the particles within a time dt.

        Args:
            dt: the length of the step; a negative one goes back in time.
        """
        length = read_step(dt)
        steps = self.substeps or max(1.0, float(np.ceil(abs(length) / (STABLE_SHARE * self.longest_step))))
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


def bending_pairs(mesh: MeshLike) -> Integers:
    """(b,2) the far corners of each two faces with a common edge, each pair once; edges of the mesh are left out.

    Args:
        mesh: whatever `abut.as_mesh` takes.

    Examples:
        >>> from abut import dynamics
        >>> dynamics.bending_pairs(([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])).tolist()
        [[1, 3]]
    """
    mesh = as_mesh(mesh)
    sides = mesh.face_edges.ravel()
    corners = mesh.faces.ravel()  # side i is opposite corner i
    order = np.lexsort((np.arange(len(sides)), sides))
    sides, corners = sides[order], corners[order]
    twice = np.flatnonzero((sides[:-1] == sides[1:]) & (sides[:-1] >= 0) & (corners[:-1] != corners[1:]))
    pairs = np.sort(np.stack((corners[twice], corners[twice + 1]), axis=1), axis=1)
    base = len(mesh.vertices)
    keys = np.setdiff1d(pairs @ (base, 1), mesh.edges @ (base, 1))
    return frozen(np.stack(np.divmod(keys, base), axis=1))


@element
def pull_of_spring(d: Vec3, relative: Vec3, rest: float, stiffness: float, damping: float) -> float:
    """The force on an end, as a part of d, its place from the other end; `relative` is its velocity from there."""
    length = norm(d)
    if length == 0.0:
        return 0.0
    return (stiffness * (rest - length) - damping * (dot(relative, d) / length)) / length


@kernel
def accelerate(
    position: Floats,
    velocity: Floats,
    springs: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """Accelerations of all particles by their springs, added to those of `outer`."""
    for i in range(len(position)):
        put_vector(result, i, 0, (0.0, 0.0, 0.0))
    for s in range(len(springs)):
        i, j = springs[s, 0], springs[s, 1]
        d = subtract(vector_at(position, i), vector_at(position, j))
        relative = subtract(vector_at(velocity, i), vector_at(velocity, j))
        pull = pull_of_spring(d, relative, constants[s, 0], constants[s, 1], constants[s, 2])
        put_vector(result, i, 0, add_scaled(vector_at(result, i), d, pull))
        put_vector(result, j, 0, add_scaled(vector_at(result, j), d, -pull))
    for i in range(len(position)):
        put_vector(result, i, 0, add_scaled(vector_at(outer, i), vector_at(result, i), inverse_mass[i]))


@kernel
def accelerate_rows(
    first: int,
    last: int,
    position: Floats,
    velocity: Floats,
    offsets: Integers,
    others: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """The same for particles first to last − 1, each from its own springs: constants (2k,3) go from particle to particle."""
    for i in range(first, last):
        x, v = vector_at(position, i), vector_at(velocity, i)
        force = (0.0, 0.0, 0.0)
        for slot in range(offsets[i], offsets[i + 1]):
            j = others[slot]
            d = subtract(x, vector_at(position, j))
            relative = subtract(v, vector_at(velocity, j))
            pull = pull_of_spring(d, relative, constants[slot, 0], constants[slot, 1], constants[slot, 2])
            force = add_scaled(force, d, pull)
        put_vector(result, i, 0, add_scaled(vector_at(outer, i), force, inverse_mass[i]))


@parallel
def accelerate_chunks(
    position: Floats,
    velocity: Floats,
    offsets: Integers,
    others: Integers,
    constants: Floats,
    inverse_mass: Floats,
    outer: Floats,
    result: Floats,
) -> None:
    """Accelerations of all particles, on all threads."""
    total = len(position)
    for chunk in prange((total + CHUNK - 1) // CHUNK):
        accelerate_rows(
            chunk * CHUNK,
            min(total, (chunk + 1) * CHUNK),
            position,
            velocity,
            offsets,
            others,
            constants,
            inverse_mass,
            outer,
            result,
        )
