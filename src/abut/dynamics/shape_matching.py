"""Shape matching: particles drawn towards the rigid copy of their shape at rest that lies nearest (Müller 2005; Jund 2010, §5.2.2).

Each cluster of particles finds the translation and rotation that bring its rest positions nearest to where they are (equations 5.2 to 5.5), and
its particles' goals there. A step adds α (goal − position) / dt to each velocity, α being the stiffness in (0, 1]: no connectivity, and stable for
any dt. A particle in several clusters has the mean of their goals, and counts in each of them with its mass divided by their number; then the
corrections sum to zero, as do their moments: momentum and angular momentum are kept. Of a shape in rigid motion the goals are the positions.
Without damping a deformed body vibrates on and on. Damping draws velocities towards the rigid motion of the cluster that has its momenta.

Adaptive form (equation 5.6): a particle inserted on an edge rests at the same ratio between the rest positions of the ends. Its mass, which weighs
its say in the fit, should be small, or the body tilts towards where particles were inserted.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel, parallel, prange
from abut.core.showing import count
from abut.core.types import IndicesLike, Number, PointsLike, VectorLike
from abut.dynamics.particles import ParticleModel, read_each, read_step
from abut.dynamics.rigid_bodies import solve_columns
from abut.geometry.polar import apply, polar_rotation
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import add, add_scaled, cross, dot, scale, subtract

PARALLEL_FROM = 20_000  # members of clusters
CHUNK = 64
INSERTED = 0.01
"""Mass of an inserted particle, as a part of its neighbors': a hundred of them weigh as much as one given."""
SINGULAR = 2.0**-40
"""Clusters whose inertia has a smaller determinant, as a part of its trace cubed, are lines."""


class ShapeMatching(ParticleModel):
    """Particles that are drawn back to the shape in which they were given.

    A particle of no cluster falls freely.

    Args:
        points: (n,3) where the particles start, and what they are drawn back to.
        clusters: particles that keep their shape together, an array (c,k) or a sequence of c sequences; by default one cluster of all.
        mass: (n,) or one number for all.
        stiffness: from 0 to 1, the part of the path to its goal that a particle is sent in a step.
        damping: the rate at which motion within a cluster dies down: by exp(−damping·dt).
        fixed: (f,) particles that nothing moves.
        gravity: (3,) acceleration of all particles that are not fixed.

    Examples:
        >>> import numpy as np
        >>> from abut import dynamics, scenes
        >>> cube = scenes.box((1, 1, 1)).vertices
        >>> model = dynamics.ShapeMatching(cube, damping=5.0)
        >>> model.position = cube * (1, 1, 0.2)  # pressed flat
        >>> for _ in range(200):
        ...     model.accept(model.propose(0.01))
        >>> np.ptp(model.position, axis=0).round(2).tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        points: PointsLike,
        clusters: IndicesLike | Sequence[IndicesLike] | None = None,
        *,
        mass: ArrayLike = 1.0,
        stiffness: Number = 0.5,
        damping: Number = 0.0,
        fixed: IndicesLike = (),
        gravity: VectorLike = (0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(points, mass=mass, fixed=fixed, gravity=gravity)
        self.stiffness = arrays.scalar(stiffness, "stiffness", least=0.0, most=1.0)
        self.damping = arrays.scalar(damping, "damping", least=0.0)
        self.rest = self._position
        self._members, self._starts = _read_clusters(clusters, len(self))
        self._turns = np.tile(np.eye(3), (len(self._starts) - 1, 1, 1))
        self._prepare()

    def _facts(self) -> tuple[str, ...]:
        return (*super()._facts(), count(len(self._turns), "cluster"))

    @property
    def rotations(self) -> Floats:
        """(c,3,3) the rotation of each cluster at the last proposal; identity before."""
        return frozen(self._turns.copy())

    def goals(self) -> Floats:
        """(n,3) where the shapes at rest would have the particles now."""
        goals, fitted = np.empty((len(self), 3)), np.empty((len(self._members), 3))
        tables = (self._position, self._members, self._starts, self._weight, self._local, self._turns)
        if len(self._members) < PARALLEL_FROM:
            match_rows(0, len(self._turns), *tables, fitted)
        else:
            match_chunks(*tables, fitted)
        average_rows(self._slots, self._slot_starts, fitted, self._position, goals)
        return frozen(goals)

    def propose(self, dt: Number) -> Floats:
        """(n,3) where momentum, gravity, the user's force and the shape bring the particles within a time dt.

        Args:
            dt: the length of the step; a negative one goes back in time.
        """
        length = read_step(dt)
        pull = self.stiffness / length * (self.goals() - self._position)
        pull[self.inverse_mass == 0.0] = 0.0
        self._pending = self._damp(length) + pull + length * self._outer_acceleration()
        return frozen(self._position + length * self._pending)

    def insert(self, ends: IndicesLike, ratio: ArrayLike, mass: ArrayLike | None = None) -> Integers:
        """Insert a particle on each of some edges; returns their numbers (k,).

        They lie on the edges now, move with them, rest on the edges at rest, and join every cluster that has both ends.

        Args:
            ends: (k,2) particles at the ends of each edge.
            ratio: (k,) or one number, from 0 at the second end to 1 at the first.
            mass: (k,) or one number; by default a hundredth of the mean mass of the ends.
        """
        pairs = arrays.indices(ends, "ends", 2, len(self))
        share = read_each(ratio, "ratio", len(pairs))
        if (share > 1.0).any():
            raise InvalidInput("ratio", "is above 1", int(np.argmax(share > 1.0)))
        given = INSERTED * self.mass[pairs].mean(axis=1) if mass is None else mass
        added = read_each(given, "mass", len(pairs), zero=False)
        numbers = len(self) + np.arange(len(pairs))
        r = share[:, np.newaxis]
        groups = [self._members[a:b] for a, b in zip(self._starts[:-1], self._starts[1:], strict=True)]
        for number, (i, j) in zip(numbers, pairs, strict=True):
            groups = [np.append(group, number) if i in group and j in group else group for group in groups]
        for name in ("rest", "_position", "_velocity", "_pending"):
            table = getattr(self, name)
            between = r * table[pairs[:, 0]] + (1.0 - r) * table[pairs[:, 1]]
            setattr(self, name, frozen(np.concatenate((table, between))))
        self.mass = frozen(np.concatenate((self.mass, added)))
        self.inverse_mass = frozen(np.concatenate((self.inverse_mass, 1.0 / added)))
        self._force = None if self._force is None else frozen(np.concatenate((self._force, np.zeros((len(pairs), 3)))))
        self._members, self._starts = _join(groups)
        self._prepare()
        return frozen(numbers)

    def remove(self, particles: IndicesLike) -> None:
        """Remove particles; those behind them move up. Nothing else changes (Jund 2010, end of §5.2.2).

        Args:
            particles: (k,) their numbers; at least one of the model's must stay.
        """
        gone = arrays.selection(particles, "particles", len(self))
        keep = np.ones(len(self), np.bool_)
        keep[gone] = False
        if not keep.any():
            raise InvalidInput("particles", "are all there are: a model has at least one particle")
        number = np.cumsum(keep) - 1
        groups = [self._members[a:b] for a, b in zip(self._starts[:-1], self._starts[1:], strict=True)]
        groups = [number[group[keep[group]]] for group in groups]
        filled = np.array([len(group) > 0 for group in groups], np.bool_)
        self._turns = np.ascontiguousarray(self._turns[filled])
        self._members, self._starts = _join([group for group in groups if len(group)])
        for name in ("rest", "_position", "_velocity", "_pending", "mass", "inverse_mass"):
            setattr(self, name, frozen(getattr(self, name)[keep]))
        self._force = None if self._force is None else frozen(self._force[keep])
        self.fixed = frozen(np.flatnonzero(self.inverse_mass == 0.0))
        self._prepare()

    def _damp(self, dt: float) -> Floats:
        """Velocities, drawn towards the rigid motions of the clusters."""
        if self.damping == 0.0:
            return self._velocity
        rigid, fitted = np.empty((len(self), 3)), np.empty((len(self._members), 3))
        fit_velocities(self._position, self._velocity, self._members, self._starts, self._weight, fitted)
        average_rows(self._slots, self._slot_starts, fitted, self._velocity, rigid)
        rigid[self.inverse_mass == 0.0] = 0.0
        return self._velocity + (1.0 - np.exp(-self.damping * abs(dt))) * (rigid - self._velocity)

    def _prepare(self) -> None:
        """Weights, rest positions about the clusters' centers, and the slots of each particle."""
        share = np.bincount(self._members, minlength=len(self))
        self._weight = frozen(self.mass[self._members] / share[self._members])
        cluster = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        total = np.bincount(cluster, self._weight, len(self._turns))
        weighted = self._weight[:, np.newaxis] * self.rest[self._members]
        center = np.stack([np.bincount(cluster, weighted[:, k], len(self._turns)) / total for k in range(3)], axis=1)
        self._local = frozen(self.rest[self._members] - center[cluster])
        self._slots = frozen(np.argsort(self._members, kind="stable"))
        self._slot_starts = frozen(np.concatenate(([0], np.cumsum(share))))


def _read_clusters(clusters: IndicesLike | Sequence[IndicesLike] | None, size: int) -> tuple[Integers, Integers]:
    if clusters is None:
        return _join([np.arange(size)])
    if not isinstance(clusters, Iterable) or isinstance(clusters, str):
        raise InvalidInput("clusters", f"is a {type(clusters).__name__}, expected a sequence of clusters")
    groups: list[Integers] = []
    for row, group in enumerate(clusters):
        name = f"clusters[{row}]"
        members = arrays.selection(group, name, size)
        if not len(members) or len(np.unique(members)) < len(members):
            raise InvalidInput("clusters", "holds a particle twice" if len(members) else "is empty", row)
        groups.append(members)
    return _join(groups)


def _join(groups: list[Integers]) -> tuple[Integers, Integers]:
    """All members in one array, and where each cluster starts."""
    members = np.concatenate([np.empty(0, np.int64), *groups])
    return frozen(members), frozen(np.cumsum([0, *map(len, groups)]))


@kernel
def match_rows(
    first: int,
    last: int,
    position: Floats,
    members: Integers,
    starts: Integers,
    weight: Floats,
    local: Floats,
    turns: Floats,
    fitted: Floats,
) -> None:
    """Goals of the members of clusters first to last − 1, and the clusters' rotations, which start from those before."""
    for cluster in range(first, last):
        begin, end = starts[cluster], starts[cluster + 1]
        total, center = 0.0, (0.0, 0.0, 0.0)
        near = vector_at(position, int(members[begin]))  # sums stay small far from the origin
        for slot in range(begin, end):
            i = members[slot]
            total += weight[slot]
            away = subtract(vector_at(position, i), near)
            center = add_scaled(center, away, weight[slot])
        center = add(near, scale(center, 1.0 / total))
        a, b, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for slot in range(begin, end):
            i = members[slot]
            p = scale(subtract(vector_at(position, i), center), weight[slot])
            a, b = add_scaled(a, p, local[slot, 0]), add_scaled(b, p, local[slot, 1])
            c = add_scaled(c, p, local[slot, 2])
        turn = turns[cluster]
        before = (
            (turn[0, 0], turn[1, 0], turn[2, 0]),
            (turn[0, 1], turn[1, 1], turn[2, 1]),
            (turn[0, 2], turn[1, 2], turn[2, 2]),
        )
        rotation = polar_rotation((a, b, c), before)
        for k in range(3):
            turn[k, 0], turn[k, 1], turn[k, 2] = rotation[0][k], rotation[1][k], rotation[2][k]
        for slot in range(begin, end):
            put_vector(fitted, slot, 0, add(center, apply(rotation, vector_at(local, slot))))


@parallel
def match_chunks(
    position: Floats, members: Integers, starts: Integers, weight: Floats, local: Floats, turns: Floats, fitted: Floats
) -> None:
    """Goals of all members, on all threads: clusters write to places of their own."""
    total = len(turns)
    for chunk in prange((total + CHUNK - 1) // CHUNK):
        last = min(total, (chunk + 1) * CHUNK)
        match_rows(chunk * CHUNK, last, position, members, starts, weight, local, turns, fitted)


@kernel
def fit_velocities(
    position: Floats, velocity: Floats, members: Integers, starts: Integers, weight: Floats, fitted: Floats
) -> None:
    """Velocities of the rigid motion that has a cluster's momentum and angular momentum.

    The inertia of a line or point is singular; of a line's, L = (tr I / 2)·ω.
    """
    for cluster in range(len(starts) - 1):
        total, center, drift = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for slot in range(starts[cluster], starts[cluster + 1]):
            i = members[slot]
            total += weight[slot]
            center = add_scaled(center, vector_at(position, i), weight[slot])
            drift = add_scaled(drift, vector_at(velocity, i), weight[slot])
        center, drift = scale(center, 1.0 / total), scale(drift, 1.0 / total)
        a, b, c, momentum = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for slot in range(starts[cluster], starts[cluster + 1]):
            i, w = members[slot], weight[slot]
            r, v = subtract(vector_at(position, i), center), subtract(vector_at(velocity, i), drift)
            momentum = add_scaled(momentum, cross(r, v), w)
            a = add_scaled(a, cross(r, cross((1.0, 0.0, 0.0), r)), w)  # I e = Σ w r × (e × r)
            b = add_scaled(b, cross(r, cross((0.0, 1.0, 0.0), r)), w)
            c = add_scaled(c, cross(r, cross((0.0, 0.0, 1.0), r)), w)
        trace = a[0] + b[1] + c[2]
        spin = (0.0, 0.0, 0.0)
        if dot(a, cross(b, c)) > SINGULAR * trace * trace * trace:
            spin = solve_columns(a, b, c, momentum)
        elif trace > 0.0:
            spin = scale(momentum, 2.0 / trace)
        for slot in range(starts[cluster], starts[cluster + 1]):
            i = members[slot]
            r = subtract(vector_at(position, i), center)
            put_vector(fitted, slot, 0, add(drift, cross(spin, r)))


@kernel
def average_rows(slots: Integers, slot_starts: Integers, fitted: Floats, position: Floats, goals: Floats) -> None:
    """The mean of each particle's goals, in the order of its clusters; where it is, if it is in none."""
    for i in range(len(goals)):
        begin, end = slot_starts[i], slot_starts[i + 1]
        for k in range(3):
            total = 0.0
            for slot in range(begin, end):
                total += fitted[slots[slot], k]
            goals[i, k] = total / (end - begin) if end > begin else position[i, k]
