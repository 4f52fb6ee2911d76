"""Masses and motions of particles that are put on springs, and taken away: mass, center of mass and momentum stay what they are
(`divided_springs`)."""

from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats
from abut.dynamics.springs.divided_springs import Inserted


class Motions(NamedTuple):
    """What the particles of a model have."""

    mass: Floats
    position: Floats
    velocity: Floats
    pending: Floats
    """(n,), and (n,3) each; pending velocities are those of a step that has not been accepted"""


def extend(motions: Motions, more: int) -> Motions:
    """Copies with so many more rows."""
    return Motions(*(np.concatenate((table, np.zeros((more, *table.shape[1:])))) for table in motions))


def put_between(motions: Motions, number: int, new: Inserted) -> None:
    """Let a particle begin on the straight line between its neighbours, with the velocity between theirs, and take its mass from them."""
    for table in motions[1:]:
        table[number] = table[new.before] + new.share * (table[new.behind] - table[new.before])
    motions.mass[[new.before, new.behind, number]] += new.mass * np.array((new.share - 1.0, -new.share, 1.0))


def give_back(motions: Motions, particle: int, old: Inserted) -> None:
    """Let a particle that is taken away give its mass and its momentum to its neighbours."""
    mass = motions.mass
    for end, part in ((old.before, 1.0 - old.share), (old.behind, old.share)):
        total = mass[end] + part * mass[particle]
        for motion in (motions.velocity, motions.pending):
            motion[end] += part * mass[particle] / total * (motion[particle] - motion[end])
        mass[end] = total
