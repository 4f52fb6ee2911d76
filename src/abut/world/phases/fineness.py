"""How fine a step must be."""

import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Integers
from abut.world.joints.rows import find_stiffness
from abut.world.phases.attempts import Attempt
from abut.world.solver.energy import NONE
from abut.world.solver.one_contact import STIFFNESS

SWING, PRESS, MOST_SUBSTEPS, MORE = 1.0, 0.06, 64, 1.25
"""A step has more substeps where its loads need them: so that what hangs on joints swings by no more than SWING radians in each (2 is where it would
tremble), and standing loads press the springs of the contacts of an island together by no more than PRESS of a slop in the mean. At 0.17 stacks of
fifty boxes, of ten small ones, and of a light box under a heavy one lean until they fall; at 0.1 all of them stand."""
DEEP = 4.0  # in slops
KEPT = 0.5
"""So much less may be needed before there are fewer again: changes shake what stands."""


class Loads(NamedTuple):
    """Of a step, what says how fine the next one must be."""

    press: float
    """the acceleration that loads between bodies would give their contacts, in the mean of an island, the most of all islands"""
    swing_sq: float
    """square of the angular frequency of the fastest swing across the force of a joint"""


def find_loads(attempt: Attempt, island: Integers, slop: float, dt: float, count: int) -> Loads:
    """What a step of so many substeps bore. island (n,): of the bodies. What is DEEP is pushed out, and does not stand."""
    contacts, pairs = attempt.contacts, attempt.pairs
    standing = np.minimum(contacts["normal_impulse"], attempt.borne)  # an impact is over at once
    root = island[pairs].max(axis=1, initial=NONE)
    standing[contacts["separation"] < -DEEP * slop] = 0.0
    rows = np.flatnonzero((standing > 0.0) & (contacts["normal_mass"] > 0.0) & (root != NONE))
    press = np.bincount(root[rows], standing[rows] / contacts["normal_mass"][rows]) / np.maximum(
        np.bincount(root[rows]), 1
    )
    swing = find_stiffness(attempt.joined.bodies, attempt.opened.rack, dt)
    return Loads(float(press.max(initial=0.0)) * count / dt, swing)


def count_substeps(loads: Loads, dt: float, slop: float, least: int, fineness: float) -> int:
    """As many as these loads need, and no others than in the last step if nearly the same do. fineness: the length of its substeps, or 0."""
    swing = dt * loads.swing_sq**0.5 / SWING
    press = dt * (loads.press / (PRESS * slop)) ** 0.5 / (2.0 * math.pi * STIFFNESS)
    wanted = math.ceil(min(max(swing, press), MOST_SUBSTEPS))
    same = math.ceil(dt / fineness) if fineness > 0.0 else 0
    return max(least, same if KEPT * same <= wanted <= same else wanted)
