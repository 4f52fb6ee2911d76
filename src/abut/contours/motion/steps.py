"""What a step of an animation answers: whether all of it was made, in how many sub-steps, and every impact on the way, in read-only arrays."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from abut.core.arrays import Floats, Integers, frozen
from abut.core.showing import count, describe, table_html


class StepStatus(IntEnum):
    """How a step of an animation ended."""

    DONE = 0
    """All of it was made, and every body moved as its velocity said."""
    HELD_BACK = 1
    """All of it was made, but for want of room, or of energy, some body moved by less than its velocity said."""
    LIMIT = 2
    """The most sub-steps were made before the end of the step: the rest of it is missing."""


DONE, HELD_BACK, LIMIT = StepStatus


@dataclass(frozen=True, eq=False, repr=False)
class ContourStep:
    """A step of an animation, with one row per impact, in the order of time. `len` is the number of impacts. Immutable."""

    status: StepStatus
    """DONE, HELD_BACK or LIMIT"""
    elapsed: float
    """how much of the step was made: all of it but for LIMIT"""
    touching: int
    """how many places touched at the beginning of the last sub-step"""
    substep_count: int
    sweep_count: int
    """of the solver, in all sub-steps"""
    time: Floats
    """(k,) of each impact, from the beginning of the step"""
    bodies: Integers
    """(k,2) a and b"""
    point: Floats
    """(k,2) where they met"""
    normal: Floats
    """(k,2) unit normal from a to b"""
    closing_speed: Floats
    """(k,) along the normal, before"""
    parting_speed: Floats
    """(k,) along the normal, after: the restitution times the closing speed, or more where another impact at the same time parts them faster"""

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        facts = (count(self.substep_count, "sub-step"), count(len(self), "impact"), f"{self.touching:,} touching")
        return describe(self, self.status.name, *facts)

    def _repr_html_(self) -> str:
        names = ("time", "bodies", "point", "normal", "closing_speed", "parting_speed")
        return table_html(repr(self), names, [getattr(self, name).tolist() for name in names], len(self))


Impacts = tuple[float, Integers, Floats, Floats, Floats, Floats]
"""Of one moment: the time, bodies (k,2), points (k,2), normals (k,2), closing and parting speeds (k,)."""


def make_step(
    status: StepStatus, elapsed: float, touching: int, substeps: int, sweeps: int, impacts: list[Impacts]
) -> ContourStep:
    """The answer of a step from the impacts of its moments."""
    times = [np.full(len(bodies), time) for time, bodies, *_ in impacts]
    none = (np.empty((0, 2), np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0), np.empty(0))
    parts = [np.concatenate([empty, *(moment[1 + k] for moment in impacts)]) for k, empty in enumerate(none)]
    bodies, point, normal, closing, parting = (frozen(part) for part in parts)
    return ContourStep(
        status,
        elapsed,
        touching,
        substeps,
        sweeps,
        frozen(np.concatenate([np.empty(0), *times])),
        bodies,
        point,
        normal,
        closing,
        parting,
    )
