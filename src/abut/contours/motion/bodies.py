"""The bodies of an animation: what impulses act on, which of them are held, and which affect one another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abut.contours.curve.contour import Contour
from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.types import FlagsLike

GROWN = 1e-14
"""Energies that differ by less than this part of their terms are equal but for rounding."""


@dataclass(frozen=True)
class Bodies:
    """What impulses act on."""

    held: NDArray[np.bool_]
    """(m,) bool: bodies that do not move"""
    mass: Floats
    inertia: Floats
    inverse: Floats
    """(m,2) one over mass and inertia, zeros for bodies that are held"""
    radius: Floats
    """(m,) how far a point is from the centroid, at most"""
    pull: Floats
    """(m,3) accelerations by gravity, forces and torques; zeros for bodies that are held"""
    friction: Floats
    restitution: Floats
    """(m,)"""
    driven: NDArray[np.bool_]
    """(m,) groups that a body moves which follows a course of its own: it may give them energy"""

    @property
    def falls(self) -> Floats:
        """(m,) by how much the speed of a point grows in a unit of time, at most, where nothing touches."""
        return np.hypot(self.pull[:, 0], self.pull[:, 1]) + np.abs(self.pull[:, 2]) * self.radius

    def energies(self, velocity: Floats, place: Floats, group: Integers) -> tuple[Floats, Floats]:
        """(m,) the energy of each group, in the row of its number, and how much of it is rounding, or may be given to it.

        place: (m,3) position and angle; potential is that of gravity and of all forces and torques, as long as they do not change."""
        kinetic = 0.5 * (self.mass * (velocity[:, :2] ** 2).sum(axis=1) + self.inertia * velocity[:, 2] ** 2)
        potential = self.potential(place)
        total, size = np.zeros(len(group)), np.zeros(len(group))
        np.add.at(total, group, np.where(self.held, 0.0, kinetic + potential))
        np.add.at(size, group, np.where(self.held, 0.0, kinetic + np.abs(potential)))
        return total, np.where(self.driven, np.inf, GROWN * size)

    def potential(self, place: Floats) -> Floats:
        """(m,) of each body."""
        return -(
            self.mass * (place[:, :2] * self.pull[:, :2]).sum(axis=1) + self.inertia * self.pull[:, 2] * place[:, 2]
        )


def make_bodies(contours: Sequence[Contour], held: NDArray[np.bool_], radius: Floats, density: Floats) -> Bodies:
    """Bodies from contours, that nothing pulls; those that move must enclose an area."""
    flat = [i for i, contour in enumerate(contours) if contour.area <= 0.0 and not held[i]]
    if flat:
        raise InvalidInput("contours", "encloses no area and cannot move", flat[0])
    count = len(contours)
    mass = density * np.array([c.area for c in contours])
    inertia = density * np.array([c.inertia for c in contours])
    inverse = np.zeros((count, 2))
    inverse[~held] = 1.0 / np.stack([mass, inertia], axis=1)[~held]
    none = np.zeros(count)
    return Bodies(held, mass, inertia, inverse, radius, np.zeros((count, 3)), none, none, np.zeros(count, np.bool_))


def read_flags(flags: FlagsLike | None, name: str, count: int) -> NDArray[np.bool_]:
    """(m,) booleans; none by default."""
    if flags is None:
        return np.zeros(count, np.bool_)
    held = arrays.as_array(flags, name)
    if held.shape != (count,):
        raise InvalidInput(name, f"has shape {held.shape}, expected ({count},)")
    if count and held.dtype.kind not in "biu":
        raise InvalidInput(name, f"holds {held.dtype}, expected booleans")
    return held.astype(np.bool_)


def read_each(values: ArrayLike, name: str, count: int, *, least: float, most: float = np.inf) -> Floats:
    """(m,) one number for each body, from one for all or from as many."""
    if arrays.shape_of(values) == (count,):
        rows = arrays.coordinates(values, name, (count,))
        wrong = np.flatnonzero((rows < least) | (rows > most))
        if len(wrong):
            limits = f"at least {least:g}" if np.isinf(most) else f"from {least:g} to {most:g}"
            raise InvalidInput(name, f"is {rows[wrong[0]]:g}, expected {limits}", int(wrong[0]))
        return rows
    return np.full(count, arrays.scalar(values, name, least=least, most=min(most, arrays.LARGEST_COORDINATE)))


def group_bodies(held: NDArray[np.bool_], pairs: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """(m,) for each body the least number of those that it is connected with by pairs of bodies that move: groups do not affect one another;
    and whether its group is loose, near no body that is held."""
    group = np.arange(len(held))
    linked = pairs[~held[pairs].any(axis=1)]
    while True:
        least = group.copy()
        np.minimum.at(least, linked[:, 0], group[linked[:, 1]])
        np.minimum.at(least, linked[:, 1], group[linked[:, 0]])
        least = least[least]
        if (least == group).all():
            break
        group = least
    tied = np.zeros(len(group), np.bool_)
    tied[group[pairs[held[pairs].any(axis=1)]]] = True
    return group, ~tied[group]
