"""What the time of impact of moving contours answers: times, what they mean, and every contact at that time, in read-only arrays."""

from dataclasses import dataclass
from enum import IntEnum

from abut.core.arrays import Floats, Integers
from abut.core.showing import count, describe, table_html


class ImpactStatus(IntEnum):
    """What the time of an impact means."""

    CLEAR = 0
    """They do not come within the distance: the time is inf."""
    IMPACT = 1
    """They are further apart than the distance until the time, and within the tolerance of it then."""
    AT_START = 2
    """They are within the distance at t = 0 already, or one holds the other: the time is 0."""
    UNRESOLVED = 3
    """They are further apart than the distance until the time; what follows is not known, because rounding or room did not allow it."""


CLEAR, IMPACT, AT_START, UNRESOLVED = ImpactStatus


@dataclass(frozen=True, eq=False, repr=False)
class ContourImpacts:
    """When moving contours first meet, one row per query, and where, one row per contact, in world coordinates. Immutable."""

    time: Floats
    """(k,) in [0, 1], never late; inf where they do not meet"""
    status: Integers
    """(k,) CLEAR, IMPACT, AT_START or UNRESOLVED"""
    query: Integers
    """(n,) which query a contact belongs to"""
    point: Floats
    """(n,2) of the contact, midway"""
    normal: Floats
    """(n,2) unit normal from a to b"""
    distance: Floats
    """(n,) of the two curves there, at most the distance asked for and the tolerance"""
    parameter_a: Floats
    """(n,) the place on a"""
    parameter_b: Floats
    """(n,) the place on b"""
    boxes_compared: Integers
    """(k,) pairs of boxes"""
    segment_steps: Integers
    """(k,) steps of conservative advancement of pairs of segments"""

    def __len__(self) -> int:
        return len(self.time)

    def __bool__(self) -> bool:
        """Whether any of the contours meet."""
        return bool((self.status != CLEAR).any())

    def __repr__(self) -> str:
        facts = [f"earliest {self.time.min():g}"] if len(self) else []
        return describe(self, count(len(self), "query", "queries"), *facts, count(len(self.query), "contact"))

    def _repr_html_(self) -> str:
        columns = [self.time.tolist(), [ImpactStatus(status).name for status in self.status.tolist()]]
        return table_html(repr(self), ("time", "status"), columns, len(self))
