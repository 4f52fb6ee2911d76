"""How fine a step must be."""

import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.world.joints.rows import find_stiffness
from abut.world.phases.attempts import Attempt
from abut.world.solver.energy import NONE
from abut.world.solver.loads.buckling import find_buckling
from abut.world.solver.one_contact import STIFFNESS

SWING, BUCKLED, PRESSED, MOST_SUBSTEPS, MORE = 1.0, 0.5, 2.0, 64, 1.25
"""A step has more substeps where its loads need them. What hangs on joints swings by no more than SWING radians in each (2 is where it would
tremble). What stands bears less than the part BUCKLED of the load under which the springs of its contacts would let it buckle (`buckling`): then a
pile leans at most twice as far as it was built leaning. And no load would press the springs under a body by more than PRESSED of the slop: as they
give way to less and less of it, that ends at 0.9 of the slop (x·(FIRM − g)/(FIRM − HOLDS) = g − REST, see `one_contact`)."""
DEEP = 4.0  # in slops
KEPT = 0.5
"""So much less may be needed before there are fewer again: changes shake what stands."""


class Loads(NamedTuple):
    """Of a step, what says how fine the next one must be."""

    buckling_sq: float
    """square of the angular frequency that the springs of contacts need so that nothing that stands buckles"""
    press: float
    """the most acceleration that a load would give the contacts under a body"""
    swing_sq: float
    """square of the angular frequency of the fastest swing across the force of a joint"""


def find_loads(attempt: Attempt, island: Integers, gravity: Floats, slop: float, dt: float, count: int) -> Loads:
    """What a step of so many substeps bore. island (n,): of the bodies. What is DEEP is pushed out, and does not stand."""
    contacts, pairs = attempt.contacts, attempt.pairs
    standing = np.minimum(contacts["normal_impulse"], attempt.borne)  # an impact is over at once
    root = island[pairs].max(axis=1, initial=NONE)
    standing[contacts["separation"] < -DEEP * slop] = 0.0
    standing[(root == NONE) | (contacts["normal_mass"] <= 0.0)] = 0.0
    bodies = attempt.joined.bodies
    buckling_sq, press = find_buckling(bodies, contacts, standing, gravity, slop, dt / count)
    swing = find_stiffness(bodies, attempt.opened.rack, dt)
    return Loads(buckling_sq, press, swing)


def count_substeps(loads: Loads, slop: float, dt: float, least: int, fineness: float) -> int:
    """As many as these loads need, and no others than in the last step if nearly the same do. fineness: the length of its substeps, or 0."""
    swing = dt * loads.swing_sq**0.5 / SWING
    spring_sq = max(loads.buckling_sq / BUCKLED, loads.press / (PRESSED * slop))
    wanted = math.ceil(min(max(swing, dt * spring_sq**0.5 / (2.0 * math.pi * STIFFNESS)), MOST_SUBSTEPS))
    same = math.ceil(dt / fineness) if fineness > 0.0 else 0
    return max(least, same if KEPT * same <= wanted <= same else wanted)
