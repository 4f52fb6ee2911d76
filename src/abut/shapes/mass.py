"""Mass, center and inertia of round shapes, by their formulas; polytopes and meshes are integrated by `dynamics.mass_properties`."""

import math

import numpy as np

from abut.core.arrays import Floats, frozen
from abut.core.errors import InvalidInput
from abut.dynamics import MassProperties
from abut.dynamics.rigid_bodies import as_properties
from abut.mesh import Mesh


def weigh_sphere(radius: float, density: float) -> MassProperties:
    """A solid ball around the origin."""
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    return as_properties(mass, np.zeros(3), np.diag([0.4 * mass * radius**2] * 3))


def weigh_capsule(radius: float, length: float, density: float) -> MassProperties:
    """A solid cylinder along z with half a ball on each end; the centers of the half balls are `length` apart."""
    tube, ball = density * math.pi * radius**2 * length, density * 4.0 / 3.0 * math.pi * radius**3
    along = (0.5 * tube + 0.4 * ball) * radius**2
    # Half a ball: 83/320 m r² about its own center of mass, which lies 3/8 r beyond the middle of the ball.
    across = tube * (radius**2 / 4.0 + length**2 / 12.0)
    across += ball * (83.0 / 320.0 * radius**2 + (0.5 * length + 0.375 * radius) ** 2)
    return as_properties(tube + ball, np.zeros(3), np.diag([across, across, along]))


def weigh_cylinder(radius: float, length: float, density: float) -> MassProperties:
    """A solid cylinder along z, the origin in its middle."""
    mass = density * math.pi * radius**2 * length
    across = mass * (radius**2 / 4.0 + length**2 / 12.0)
    return as_properties(mass, np.zeros(3), np.diag([across, across, 0.5 * mass * radius**2]))


def weigh_cone(radius: float, length: float, density: float) -> MassProperties:
    """A solid cone along z, the origin midway between base and tip; its center of mass is a quarter of the length above the base."""
    mass = density * math.pi * radius**2 * length / 3.0
    across = mass * 3.0 / 80.0 * (4.0 * radius**2 + length**2)
    return as_properties(mass, np.array([0.0, 0.0, -0.25 * length]), np.diag([across, across, 0.3 * mass * radius**2]))


def weigh_shell(mesh: Mesh, density: float) -> MassProperties:
    """A surface of a mass per area. Over a triangle ∫ x xᵀ = area / 12 · (Σ v vᵀ + (Σ v)(Σ v)ᵀ)."""
    mass = density * mesh.face_areas
    corners = mesh.vertices[mesh.faces]
    total = float(mass.sum())
    if not total > 0.0:
        raise InvalidInput("shape", "has faces of no area: it has no mass")
    with np.errstate(over="ignore", invalid="ignore"):
        center: Floats = (mass[:, np.newaxis] * corners.mean(axis=1)).sum(axis=0) / total
        every = np.concatenate((corners - center, (corners - center).sum(axis=1, keepdims=True)), axis=1)
        second = np.einsum("f,fki,fkj->ij", mass / 12.0, every, every)
        return as_properties(total, center, np.trace(second) * np.eye(3) - second)


def combine(parts: list[MassProperties], rotations: list[Floats], offsets: list[Floats]) -> MassProperties:
    """One body of several parts, each turned and moved into the body's frame."""
    total = sum(part.mass for part in parts)
    centers = [r @ part.center + t for part, r, t in zip(parts, rotations, offsets, strict=True)]
    center: Floats = np.sum([part.mass * c for part, c in zip(parts, centers, strict=True)], axis=0) / total
    inertia = np.zeros((3, 3))
    for part, r, c in zip(parts, rotations, centers, strict=True):
        d = c - center
        inertia += r @ part.inertia @ r.T + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(float(total), frozen(center), frozen(inertia))
