"""One contact of the world: how firmly it is pressed (`impulses.one_contact`), and what holds what rolls.

The spring gives way under load, by F / (m ω²), and so it damps the rocking of a stack; but an arch between two walls would be pressed far together.
From HOLDS of the slop on it gives way to a growing part of the load's change only, and at 0.95 slop to no standing load at all: no contact at rest
is deeper than that, whatever lies on it. Contacts of bodies with a joint stay springs: a joint may hold a body where it is, for ever, and the
contact would push ever harder.

Rolling and spinning on the spot are held by a torque of at most one slop times the normal impulse, as a patch of that size would.
"""

import math
from typing import NamedTuple

from abut.core.jit import element, inlined, kernel
from abut.core.records import Record, Records, put, vector
from abut.geometry.vec import add_scaled, norm_sq, scale, subtract
from abut.impulses.one_contact import press, rub
from abut.impulses.records import ALONE
from abut.impulses.sides import Side, sides_of, twist_apart
from abut.world.solver.preparation import REST

STIFFNESS = 0.25
DAMPING = 4.0
"""Of the spring and damper that stand for a contact that is too deep: a quarter of a cycle a substep, the most that is stable, and four times
critical damping. A rigid push in their place feeds the rocking of a stack of five until it falls."""
HOLDS, FIRM = 0.7, 0.95
"""Parts of the slop between which the spring stops giving way to the load. A stack of twenty boxes is 0.63 slop deep at its foot."""


class Softness(NamedTuple):
    """How a contact that is too deep is pushed apart in a substep."""

    rate: float
    """speed for each unit of depth"""
    fastest: float
    """the most speed of a push"""
    firm: float
    """the part of an impulse that is given"""
    give: float
    """the part of the old impulse that is taken back"""
    slope: float
    """With a gap g the part slope·g + base of the standing load is not taken back."""
    base: float


RIGID = Softness(0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""No push out of a depth, and no speed that is left of one."""


@element
def soften(h: float, pace: float, fastest: float, slop: float) -> Softness:
    """A spring and damper for substeps of the length `pace`, in one of the length h."""
    omega = 2.0 * math.pi * STIFFNESS / pace
    resistance = 2.0 * DAMPING + h * omega
    give = 1.0 / (1.0 + h * omega * resistance)
    width = FIRM - HOLDS
    return Softness(omega / resistance, fastest, 1.0 - give, give, -1.0 / (width * slop), (REST - HOLDS) / width)


@kernel
def solve_contact(bodies: Records, contact: Record, h: float, softness: Softness) -> None:
    """One contact, in a substep of the length h. Two bodies have code of their own, in which a second particle does not occur."""
    if contact.end_a == ALONE and contact.end_b == ALONE and contact.standing == 0:
        a = (contact.body_a, ALONE, 0.0, vector(contact.anchor_a), ALONE, 0.0)
        b = (contact.body_b, ALONE, 0.0, vector(contact.anchor_b), ALONE, 0.0)
        _solve_sides(bodies, contact, a, b, 0, h, softness)
    else:
        c, d = sides_of(contact)
        _solve_sides(bodies, contact, c, d, contact.standing, h, softness)


@inlined
def _solve_sides(
    bodies: Records, contact: Record, a: Side, b: Side, standing: int, h: float, softness: Softness
) -> None:
    """The normal first, then friction."""
    gap = contact.separation
    bias = gap / h if gap > 0.0 else max(softness.rate * gap, -softness.fastest)
    firm, give = (1.0, 0.0) if gap > 0.0 else (softness.firm, softness.give)
    held = 0.0 if contact.yields else min(1.0, max(0.0, softness.slope * gap + softness.base)) * contact.load
    press(bodies, contact, a, b, standing, -bias, firm, give, held)
    rub(bodies, contact, a, b, standing)
    if contact.rolling_lever > 0.0:
        _resist_rolling(bodies, contact, a[0], b[0])


@kernel
def _resist_rolling(bodies: Records, contact: Record, a: int, b: int) -> None:
    """Rolling and spinning friction."""
    old = vector(contact.rolling_impulse)
    turning = subtract(vector(bodies[b].angular_velocity), vector(bodies[a].angular_velocity))
    new = add_scaled(old, turning, -contact.rolling_mass)
    size, most = math.sqrt(norm_sq(new)), contact.rolling_lever * contact.normal_impulse
    if size > most:
        new = scale(new, most / size)
    put(contact.rolling_impulse, new)
    twist_apart(bodies, a, b, subtract(new, old))
