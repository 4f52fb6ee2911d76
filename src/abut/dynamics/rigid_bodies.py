"""Free motion of rigid bodies: mass, center and inertia of a closed mesh, and steps that keep energy and angular momentum.

Rotation follows the implicit midpoint rule in the body's frame (Austin, Krishnaprasad and Wang 1993, "Almost Poisson integration of rigid
body systems"): the step is one rotation about the mean angular velocity, found by Newton's method. Angular momentum in the world is kept
because the body turns by the very rotation that turns its momentum; energy is kept because the rule keeps every quadratic invariant. Both
hold to rounding for any length of step, so the length may be chosen: it is stretched such that a turn about a principal axis is exact.

Conventions: quaternions are (w, x, y, z) and turn body coordinates into world ones; positions are centers of mass; inertia is about the
center, in the body's frame; velocities and angular velocities are in world coordinates. Bodies whose inertia is singular, zero or
infinite (a rod without thickness, a body that somebody else moves) turn at constant angular velocity.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from abut.core import arrays
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import element, kernel
from abut.core.showing import ROWS_SHOWN, count, describe, table_html
from abut.core.types import Number, PointsLike, PosesLike
from abut.geometry.eigen import eigenvectors_symmetric
from abut.geometry.quaternions import (
    Quaternion,
    conjugate,
    from_columns,
    matrix_columns,
    multiply,
    normalise,
    rotate,
    turning,
)
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, dot, norm, scale, subtract
from abut.mesh import MeshLike, as_mesh

MOST_ANGLE = 0.5
"""Radians that a substep turns at most. Moments of a real body obey I₁ ≤ I₂ + I₃, so the gyroscopic term is then at most a quarter of the
linear one, and Newton's method converges from the angular velocity at the start."""
MOST_SUBSTEPS = 4096
MOST_NEWTON_STEPS = 12  # convergence is quadratic: four are enough in practice
NEWTON_DONE = 2.0**-49
"""A last correction below this part of the angular velocity: eight units of rounding."""
LEAST_DETERMINANT = 2.0**-60
"""Of an inertia of trace 1; below it a rod is a line, and its spin about itself means nothing."""
SYMMETRIC = 1e-9
"""Of the trace: inertias that were turned by a rotation of float64 are off by 1e-15 of it."""

Inertia = tuple[float, float, float, float, float, float]  # xx, yy, zz, xy, xz, yz
Turned = tuple[Quaternion, Vec3, bool]


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, center of mass and inertia of a body."""

    mass: float
    center: Floats
    """(3,) center of mass, in the mesh's coordinates"""
    inertia: Floats
    """(3,3) about the center, along the mesh's axes"""

    def __repr__(self) -> str:
        return describe(self, f"mass {self.mass:.6g}")

    def _repr_html_(self) -> str:
        names = ("mass", "center", "principal moments")
        return table_html(repr(self), names, [[self.mass], [self.center.tolist()], [self.principal()[0].tolist()]], 1)

    def principal(self) -> tuple[Floats, Floats]:
        """Principal moments (3,), the largest first, and the principal axes as columns of a rotation (3,3)."""
        m = self.inertia
        moments, axes, _ = eigenvectors_symmetric(m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        return frozen(np.array(moments)), frozen(np.array(axes).T.copy())


@dataclass(frozen=True, eq=False)
class RigidState:
    """Where n bodies are and how they move."""

    position: Floats
    """(n,3) of the centers of mass"""
    quaternion: Floats
    """(n,4) w, x, y, z: turns body coordinates into world ones"""
    velocity: Floats
    """(n,3) of the centers of mass"""
    angular_velocity: Floats
    """(n,3) in the world, radians in a unit of time"""

    def __len__(self) -> int:
        return len(self.position)

    def __repr__(self) -> str:
        return describe(self, count(len(self), "body", "bodies"))

    def _repr_html_(self) -> str:
        names = ("position", "quaternion", "velocity", "angular_velocity")
        return table_html(repr(self), names, [getattr(self, name)[:ROWS_SHOWN].tolist() for name in names], len(self))

    def poses(self) -> Floats:
        """(n,4,4) poses that place meshes whose origin is the center of mass."""
        result = np.zeros((len(self), 4, 4))
        _write_poses(self.position, self.quaternion, result)
        return frozen(result)

    def energy(self, mass: ArrayLike, inertia: ArrayLike) -> Floats:
        """(n,) kinetic energy of each body.

        Args:
            mass: (n,) of the bodies.
            inertia: (n,3,3) of the bodies, in their frames.
        """
        masses, inertias = self._read(mass, inertia)
        turning = (self.angular_velocity * self._angular(inertias)).sum(axis=1)
        return frozen(0.5 * (masses * (self.velocity**2).sum(axis=1) + turning))

    def angular_momentum(self, mass: ArrayLike, inertia: ArrayLike) -> Floats:
        """(n,3) angular momentum of each body about the origin of the world.

        Args:
            mass: (n,) of the bodies.
            inertia: (n,3,3) of the bodies, in their frames.
        """
        masses, inertias = self._read(mass, inertia)
        return frozen(self._angular(inertias) + masses[:, np.newaxis] * np.cross(self.position, self.velocity))

    def _read(self, mass: ArrayLike, inertia: ArrayLike) -> tuple[Floats, Floats]:
        return (
            arrays.coordinates(mass, "mass", (len(self),)),
            arrays.coordinates(inertia, "inertia", (len(self), 3, 3)),
        )

    def _angular(self, inertia: Floats) -> Floats:
        turn = self.poses()[:, :3, :3]
        return (turn @ inertia @ turn.transpose(0, 2, 1) @ self.angular_velocity[:, :, np.newaxis])[:, :, 0]


def as_properties(mass: float, center: Floats, inertia: Floats) -> MassProperties:
    """Mass properties that numbers hold: an inertia goes with the fifth power of the size."""
    if not (np.isfinite(mass) and np.isfinite(center).all() and np.isfinite(inertia).all()):
        raise InvalidInput("density", "makes a mass or an inertia beyond 1e308: the body is too large, or too dense")
    if not mass > 0.0:
        raise InvalidInput("density", "makes a mass below 1e-323, which is 0: the body is too small, or too light")
    return MassProperties(mass, frozen(center), frozen(inertia))


def mass_properties(mesh: MeshLike, density: Number = 1.0) -> MassProperties:
    """Mass, center and inertia of the solid that a closed, outwards oriented mesh bounds. What is enclosed twice counts twice.

    Args:
        mesh: whatever `abut.as_mesh` takes.
        density: mass by volume.

    Raises:
        InvalidInput: where the surface is open, not consistently oriented, inside out or without volume.

    Examples:
        >>> from abut import dynamics, scenes
        >>> found = dynamics.mass_properties(scenes.box((1, 2, 3), center=(0, 0, 5)), density=2.0)
        >>> found
        MassProperties(mass 12)
        >>> found.center.round(9).tolist(), found.principal()[0].round(9).tolist()  # m(b² + c²)/12
        ([0.0, 0.0, 5.0], [13.0, 10.0, 5.0])
    """
    weight, solid = arrays.positive(density, "density"), as_mesh(mesh)
    if solid.volume <= 0.0:  # raises for open surfaces
        reason = "its faces are oriented inwards" if solid.volume < 0.0 else "it is flat"
        raise InvalidInput("faces", f"the surface encloses no positive volume ({solid.volume:g}): {reason}")
    middle = 0.5 * solid.bounds[0] + 0.5 * solid.bounds[1]
    moments = np.zeros(10)
    _integrate(solid.vertices, solid.faces, middle[0], middle[1], middle[2], moments)
    volume, first = moments[0], moments[1:4]
    xx, yy, zz, xy, xz, yz = moments[4:]
    with np.errstate(all="ignore"):
        offset = first / volume
        second = np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)]) - volume * np.outer(offset, offset)
        inertia = weight * (np.trace(second) * np.eye(3) - second)
        return as_properties(weight * volume, middle + offset, inertia)


def rigid_state(
    poses: PosesLike, velocity: PointsLike | None = None, angular_velocity: PointsLike | None = None
) -> RigidState:
    """The state of bodies at these poses, at rest unless velocities are given.

    Args:
        poses: (n,4,4) of bodies whose origin is their center of mass.
        velocity: (n,3) of the centers of mass.
        angular_velocity: (n,3) in the world, radians in a unit of time.

    Examples:
        >>> import numpy as np
        >>> from abut import dynamics
        >>> state = dynamics.rigid_state(np.eye(4)[np.newaxis], velocity=[[1, 0, 0]])
        >>> state, state.quaternion.tolist()
        (RigidState(1 body), [[1.0, 0.0, 0.0, 0.0]])
    """
    at = arrays.rigid_poses(poses, "poses")
    size = len(at)
    quaternion = np.empty((size, 4))
    _read_rotations(at, quaternion)
    speeds = [
        np.zeros((size, 3)) if value is None else arrays.coordinates(value, name, (size, 3), keep=True)
        for value, name in ((velocity, "velocity"), (angular_velocity, "angular_velocity"))
    ]
    return RigidState(frozen(at[:, :3, 3].copy()), frozen(quaternion), *map(frozen, speeds))


def advance(state: RigidState, inertia: ArrayLike, dt: Number) -> RigidState:
    """The state after a time dt without forces. `advance_bodies` is the kernel that does it in place.

    Args:
        state: where the bodies are and how they move.
        inertia: (n,3,3) of the bodies, in their frames.
        dt: the length of the step; a negative one goes back in time.

    Raises:
        InvalidInput: where a body turns more than 2,048 radians in the step, or where its inertia is not that of a body.

    Examples:
        >>> import numpy as np
        >>> from abut import dynamics
        >>> start = dynamics.rigid_state(np.eye(4)[np.newaxis], [[0, 0, 2]], [[0, 0, np.pi]])
        >>> after = dynamics.advance(start, [np.diag([1, 1, 1])], 0.5)  # a quarter of a turn
        >>> after.position.round(9).tolist()
        [[0.0, 0.0, 1.0]]
        >>> ((after.poses()[0, :3, :3] @ (1, 0, 0)).round(9) + 0).tolist()
        [0.0, 1.0, 0.0]
    """
    arrays.instance(state, "state", RigidState)
    step = arrays.scalar(dt, "dt")
    bodies = np.array(_read_inertia(inertia, len(state)))  # writable, as a World's: one type to compile
    position, quaternion = state.position.copy(), state.quaternion.copy()
    velocity, angular_velocity = state.velocity.copy(), state.angular_velocity.copy()
    failed = advance_bodies(position, quaternion, velocity, angular_velocity, bodies, step)
    if failed:
        raise InvalidInput(
            "inertia", f"{failed} of {len(state)} bodies turn too fast, or their moments are not those of a body"
        )
    return RigidState(frozen(position), frozen(quaternion), frozen(velocity), frozen(angular_velocity))


def _read_inertia(inertia: ArrayLike, size: int) -> Floats:
    """(size,3,3) symmetric, and no moment about an axis negative."""
    given = arrays.coordinates(inertia, "inertia", (size, 3, 3))
    skew = np.abs(given - given.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    moments = given[:, range(3), range(3)]
    for bad, reason in (
        ((moments < 0.0).any(axis=1), "has a negative moment"),
        (skew > SYMMETRIC * moments.sum(axis=1), "is not symmetric"),
    ):
        if bad.any():
            raise InvalidInput("inertia", reason, int(np.argmax(bad)))
    return given


@element
def apply_inertia(m: Inertia, v: Vec3) -> Vec3:
    """The product of a symmetric matrix (xx, yy, zz, xy, xz, yz) with v."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[4] * v[2],
        m[3] * v[0] + m[1] * v[1] + m[5] * v[2],
        m[4] * v[0] + m[5] * v[1] + m[2] * v[2],
    )


@element
def solve_columns(a: Vec3, b: Vec3, c: Vec3, right: Vec3) -> Vec3:
    """X with x·a + y·b + z·c = right, by Cramer's rule; the columns must be independent."""
    bc = cross(b, c)
    s = 1.0 / dot(a, bc)
    return (dot(right, bc) * s, dot(right, cross(c, a)) * s, dot(right, cross(a, b)) * s)


@element
def _mean_spin(m: Inertia, spin: Vec3, half: float) -> tuple[Vec3, bool]:
    """The angular velocity at the middle of a step: I(ω − ω₀) + half·ω × Iω = 0, in the body's frame, and whether it was found."""
    w = spin
    size = norm(spin)
    for _ in range(MOST_NEWTON_STEPS):
        momentum = apply_inertia(m, w)
        residual = add_scaled(apply_inertia(m, subtract(w, spin)), cross(w, momentum), half)
        a, b, c = (m[0], m[3], m[4]), (m[3], m[1], m[5]), (m[4], m[5], m[2])
        ja = add_scaled(a, subtract(cross(w, a), cross(momentum, (1.0, 0.0, 0.0))), half)
        jb = add_scaled(b, subtract(cross(w, b), cross(momentum, (0.0, 1.0, 0.0))), half)
        jc = add_scaled(c, subtract(cross(w, c), cross(momentum, (0.0, 0.0, 1.0))), half)
        change = solve_columns(ja, jb, jc, residual)
        w = subtract(w, change)
        if norm(change) <= NEWTON_DONE * size:
            return w, True
    return w, False


@element
def turn_freely(q: Quaternion, spin: Vec3, m: Inertia, dt: float) -> Turned:
    """Orientation and angular velocity (world) after a free turn of length dt, and whether all of it converged."""
    speed = norm(spin)
    angle = abs(dt) * speed
    trace = m[0] + m[1] + m[2]
    share = 1.0 / trace if 0.0 < trace < math.inf else 0.0
    unit = (m[0] * share, m[1] * share, m[2] * share, m[3] * share, m[4] * share, m[5] * share)
    a, b, c = (unit[0], unit[3], unit[4]), (unit[3], unit[1], unit[5]), (unit[4], unit[5], unit[2])
    plain = not dot(a, cross(b, c)) > LEAST_DETERMINANT
    if plain or angle > MOST_ANGLE * MOST_SUBSTEPS:
        return normalise(multiply(turning(spin, dt * speed), q)), spin, plain
    steps = math.ceil(angle / MOST_ANGLE)
    w = rotate(conjugate(q), spin)
    done = True
    for _ in range(steps):
        speed = norm(w)
        half = math.tan(0.5 * dt / steps * speed) / speed if speed > 0.0 else 0.0
        mean, found = _mean_spin(unit, w, half)
        done = done and found
        turn = normalise((1.0, half * mean[0], half * mean[1], half * mean[2]))  # Cayley's rotation
        w = solve_columns(a, b, c, rotate(conjugate(turn), apply_inertia(unit, w)))
        q = normalise(multiply(q, turn))
    return q, rotate(q, w), done


@kernel
def advance_bodies(
    position: Floats, quaternion: Floats, velocity: Floats, angular_velocity: Floats, inertia: Floats, dt: float
) -> int:
    """Advance bodies freely, in place; returns how many did not converge (their angular momentum is kept all the same)."""
    failed = 0
    for i in range(len(position)):
        for k in range(3):
            position[i, k] += dt * velocity[i, k]
        spin = vector_at(angular_velocity, i)
        if spin[0] == 0.0 and spin[1] == 0.0 and spin[2] == 0.0:
            continue
        q = (quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3])
        body = inertia[i]
        m = (body[0, 0], body[1, 1], body[2, 2], body[0, 1], body[0, 2], body[1, 2])
        q, spin, done = turn_freely(q, spin, m, dt)
        quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3] = q
        put_vector(angular_velocity, i, 0, spin)
        failed += not done
    return failed


@kernel
def _write_poses(position: Floats, quaternion: Floats, poses: Floats) -> None:
    for i in range(len(position)):
        columns = matrix_columns((quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3]))
        for k in range(3):
            poses[i, k, 0], poses[i, k, 1], poses[i, k, 2] = columns[0][k], columns[1][k], columns[2][k]
            poses[i, k, 3] = position[i, k]
        poses[i, 3, 3] = 1.0


@kernel
def _read_rotations(poses: Floats, quaternion: Floats) -> None:
    for i in range(len(poses)):
        at = poses[i]
        q = from_columns((at[0, 0], at[1, 0], at[2, 0]), (at[0, 1], at[1, 1], at[2, 1]), (at[0, 2], at[1, 2], at[2, 2]))
        quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3] = q


@kernel
def _integrate(vertices: Floats, faces: Integers, x: float, y: float, z: float, moments: Floats) -> None:
    """Volume, first and second moments (xx yy zz xy xz yz) about (x, y, z): a sum over the tetrahedra from there to each face.

    Over the tetrahedron 0abc, ∫ppᵀ = |abc| (ssᵀ + aaᵀ + bbᵀ + ccᵀ) / 120 with s = a + b + c."""
    for face in range(len(faces)):
        i, j, k = faces[face, 0], faces[face, 1], faces[face, 2]
        a = (vertices[i, 0] - x, vertices[i, 1] - y, vertices[i, 2] - z)
        b = (vertices[j, 0] - x, vertices[j, 1] - y, vertices[j, 2] - z)
        c = (vertices[k, 0] - x, vertices[k, 1] - y, vertices[k, 2] - z)
        size = dot(a, cross(b, c))
        s = add_scaled(add_scaled(a, b, 1.0), c, 1.0)
        moments[0] += size / 6.0
        first = scale(s, size / 24.0)
        for axis in range(3):
            moments[1 + axis] += first[axis]
        for row in range(6):
            p = row if row < 3 else (0 if row < 5 else 1)
            r = row if row < 3 else (1 if row == 3 else 2)
            moments[4 + row] += size / 120.0 * (s[p] * s[r] + a[p] * a[r] + b[p] * b[r] + c[p] * c[r])
