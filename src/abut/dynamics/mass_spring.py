"""Masses joined by springs with stiffness and damping (Jund 2010, §5.2.1): lines, surfaces, any graph.

The force on p_i is (k (rest − |d|) − c (v_i − v_j)·u) u, with d = p_i − p_j and u = d / |d| (equation 5.1 and its damping). Springs on edges
alone let the body fold; springs across two edges, from each particle to the next but one (figure 5.1), resist bending. Each particle gathers
its own springs in a fixed order, so that results do not depend on threads; both ends compute the same bits with opposite signs. A spring of
length zero has no direction and no force.
"""

from typing import Literal

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel, parallel, prange
from abut.dynamics.integrators import INTEGRATORS
from abut.dynamics.particles import ParticleModel, read_each, read_step
from abut.geometry.vec import dot, norm, subtract
from abut.mesh import as_mesh

STABLE_SHARE = 0.25
"""Substeps are this part of the stability limit 2 / ω or shorter: Verlet's frequencies are then at most (ω·dt)² / 24 = 1 % too high."""
MOST_SUBSTEPS = 2**20
"""A step that needs more is a mistake: one of them takes some microseconds at least."""
PARALLEL_FROM = 20_000  # springs; waking the threads costs as much as some thousands
CHUNK = 1024


class MassSpring(ParticleModel):
    """Particles (n,3) joined by springs (k,2). Lengths at rest are those of the points given, unless `rest` says otherwise.

    Stiffness, damping (k,) or one number each. `propose` divides its time into as many substeps as stability asks for, or into `substeps`.
    """

    def __init__(
        self,
        points: object,
        springs: object,
        *,
        mass: object = 1.0,
        stiffness: object = 100.0,
        damping: object = 0.0,
        rest: object = None,
        fixed: object = (),
        gravity: object = (0.0, 0.0, 0.0),
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

    @classmethod
    def from_mesh(
        cls, mesh: object, *, stiffness: float = 100.0, bending: float = 10.0, **options: object
    ) -> "MassSpring":
        """Springs along the edges of a mesh, and of stiffness `bending` between the far corners of faces with a common edge."""
        surface = as_mesh(mesh)
        across = bending_pairs(surface)
        springs = np.concatenate((surface.edges, across))
        strengths = np.repeat(_read_strengths(stiffness, bending), (len(surface.edges), len(across)))
        return cls(surface.vertices, springs, stiffness=strengths, **options)  # type: ignore[arg-type]

    @classmethod
    def from_line(
        cls, points: object, *, stiffness: float = 100.0, bending: float = 10.0, **options: object
    ) -> "MassSpring":
        """Springs along a line of particles, and of stiffness `bending` from each to the next but one (figure 5.1)."""
        line = arrays.points(points, "points")
        i = np.arange(len(line))
        springs = np.concatenate([np.stack((i[:-k], i[k:]), axis=1) for k in (1, 2)])
        strengths = np.repeat(_read_strengths(stiffness, bending), (max(len(line) - 1, 0), max(len(line) - 2, 0)))
        return cls(line, springs, stiffness=strengths, **options)  # type: ignore[arg-type]

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

    def propose(self, dt: float) -> Floats:
        """(n,3) where the springs, gravity and the user's force bring the particles within a time dt."""
        length = read_step(dt)
        count = self.substeps or max(1.0, float(np.ceil(abs(length) / (STABLE_SHARE * self.longest_step))))
        if count > MOST_SUBSTEPS:
            raise InvalidInput("dt", f"{length:g} asks for {count:g} substeps: the springs are too stiff for it")
        outer = self._outer_acceleration()

        def accelerate(position: Floats, velocity: Floats) -> Floats:
            return self._accelerate(position, velocity, outer)

        position, velocity = self._position, self._velocity
        for _ in range(int(count)):
            position, velocity = self._step(accelerate, position, velocity, length / count)
        self._pending = velocity
        return frozen(position)

    def _gather(self) -> None:
        """For each particle its springs, in the order of the springs: neighbour, rest, stiffness and damping of each."""
        ends = np.concatenate((self.springs[:, 0], self.springs[:, 1]))
        others = np.concatenate((self.springs[:, 1], self.springs[:, 0]))
        which = np.tile(np.arange(len(self.springs)), 2)
        order = np.lexsort((which, ends))
        self._offsets = frozen(np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=len(self))))))
        self._others = frozen(others[order])
        self._constants = frozen(np.stack((self.rest, self.stiffness, self.damping), axis=1)[which[order]])

    def _accelerate(self, position: Floats, velocity: Floats, outer: Floats) -> Floats:
        position, velocity = frozen(position), frozen(velocity)  # a type of its own to Numba: one to compile
        result = np.empty((len(self), 3))
        tables = (self._offsets, self._others, self._constants, self.inverse_mass, outer)
        if len(self.springs) < PARALLEL_FROM:
            accelerate_rows(0, len(self), position, velocity, *tables, result)
        else:
            accelerate_chunks(position, velocity, *tables, result)
        return result


def _read_strengths(stiffness: object, bending: object) -> tuple[float, float]:
    """Of springs along edges, and across them."""
    return (arrays.scalar(stiffness, "stiffness", least=0.0), arrays.scalar(bending, "bending", least=0.0))


def bending_pairs(mesh: object) -> Integers:
    """(b,2) the far corners of each two faces with a common edge, each pair once; edges of the mesh are left out."""
    mesh = as_mesh(mesh)
    sides = mesh.face_edges.ravel()
    corners = mesh.faces.ravel()  # side i is opposite corner i
    order = np.lexsort((np.arange(len(sides)), sides))
    sides, corners = sides[order], corners[order]
    twice = np.flatnonzero((sides[:-1] == sides[1:]) & (sides[:-1] >= 0) & (corners[:-1] != corners[1:]))
    pairs = np.sort(np.stack((corners[twice], corners[twice + 1]), axis=1), axis=1)
    count = len(mesh.vertices)
    keys = np.setdiff1d(pairs @ (count, 1), mesh.edges @ (count, 1))
    return frozen(np.stack(np.divmod(keys, count), axis=1))


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
    """Accelerations of particles first to last − 1."""
    for i in range(first, last):
        x = (position[i, 0], position[i, 1], position[i, 2])
        v = (velocity[i, 0], velocity[i, 1], velocity[i, 2])
        fx, fy, fz = 0.0, 0.0, 0.0
        for slot in range(offsets[i], offsets[i + 1]):
            j = others[slot]
            d = subtract(x, (position[j, 0], position[j, 1], position[j, 2]))
            length = norm(d)
            if length > 0.0:
                relative = subtract(v, (velocity[j, 0], velocity[j, 1], velocity[j, 2]))
                rest, stiffness, damping = constants[slot, 0], constants[slot, 1], constants[slot, 2]
                pull = (stiffness * (rest - length) - damping * (dot(relative, d) / length)) / length
                fx, fy, fz = fx + pull * d[0], fy + pull * d[1], fz + pull * d[2]
        w = inverse_mass[i]
        result[i, 0], result[i, 1], result[i, 2] = outer[i, 0] + w * fx, outer[i, 1] + w * fy, outer[i, 2] + w * fz


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
    count = len(position)
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        accelerate_rows(
            chunk * CHUNK,
            min(count, (chunk + 1) * CHUNK),
            position,
            velocity,
            offsets,
            others,
            constants,
            inverse_mass,
            outer,
            result,
        )
