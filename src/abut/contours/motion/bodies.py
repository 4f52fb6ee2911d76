"""The bodies of an animation: what impulses act on, which of them are held, and which affect one another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    gravity: Floats
    friction: float
    restitution: float

    def energies(self, velocity: Floats, position: Floats, group: Integers) -> tuple[Floats, Floats]:
        """(m,) the energy of each group, in the row of its number, and how much of it is rounding."""
        kinetic = 0.5 * (self.mass * (velocity[:, :2] ** 2).sum(axis=1) + self.inertia * velocity[:, 2] ** 2)
        potential = self.mass * (position @ self.gravity)
        total, size = np.zeros(len(group)), np.zeros(len(group))
        np.add.at(total, group, np.where(self.held, 0.0, kinetic - potential))
        np.add.at(size, group, np.where(self.held, 0.0, kinetic + np.abs(potential)))
        return total, GROWN * size


def make_bodies(
    contours: Sequence[Contour], held: NDArray[np.bool_], gravity: Floats, friction: float, restitution: float
) -> Bodies:
    """Bodies of density 1 from contours; those that move must enclose an area."""
    flat = [i for i, contour in enumerate(contours) if contour.area <= 0.0 and not held[i]]
    if flat:
        raise InvalidInput("contours", "encloses no area and cannot move", flat[0])
    mass, inertia = np.array([c.area for c in contours]), np.array([c.inertia for c in contours])
    inverse = np.zeros((len(contours), 2))
    inverse[~held] = 1.0 / np.stack([mass, inertia], axis=1)[~held]
    return Bodies(held, mass, inertia, inverse, gravity, friction, restitution)


def read_held(fixed: FlagsLike | None, count: int) -> NDArray[np.bool_]:
    """(m,) which bodies do not move; none by default."""
    if fixed is None:
        return np.zeros(count, np.bool_)
    held = arrays.as_array(fixed, "fixed")
    if held.shape != (count,):
        raise InvalidInput("fixed", f"has shape {held.shape}, expected ({count},)")
    if count and held.dtype.kind not in "biu":
        raise InvalidInput("fixed", f"holds {held.dtype}, expected booleans")
    return held.astype(np.bool_)


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
