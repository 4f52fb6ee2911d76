"""The state of a body: where its center of mass is, how it is turned, and how it moves."""

import numpy as np

from abut.core.arrays import Floats
from abut.core.records import Records, record

POSITION, TURN, VELOCITY, SPIN = 0, 3, 7, 10
"""The columns of a state (13,) from which on a field stands."""
STATE = record(
    ("position", "f8", 3),
    ("quaternion", "f8", 4),  # w, x, y, z
    ("velocity", "f8", 3),
    ("angular_velocity", "f8", 3),
)
AT_REST = np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], np.float64)


def name_fields(states: Floats) -> Records:
    """(n,) the rows of states (n,13) with names, not copied."""
    return states.view(STATE).reshape(-1)
