"""One contact: the impulses along its normal and across it that bring its velocities where they shall be.

The spring gives way under load, by F / (m ω²), and so it damps the rocking of a stack; but an arch between two walls would be pressed far together.
From HOLDS of the slop on it gives way to a growing part of the load's change only, and at 0.95 slop to no standing load at all: no contact at rest
is deeper than that, whatever lies on it.

Friction is a circle: both tangential impulses together are at most μ times the normal one. Rolling and spinning on the spot are held by a torque of
at most one slop times the normal impulse, as a patch of that size would.
"""

import math
from typing import NamedTuple

from abut.core.jit import element, inlined, kernel
from abut.core.records import Record, Records, put, vector
from abut.geometry.vec import add_scaled, dot, norm_sq, scale, subtract
from abut.world.solver.preparation import REST
from abut.world.solver.records import ALONE
from abut.world.solver.sides import Side, push_apart, relative_velocity, sides_of, twist_apart

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
        a = (contact.body_a, ALONE, 0.0, vector(contact.anchor_a))
        b = (contact.body_b, ALONE, 0.0, vector(contact.anchor_b))
        _solve_sides(bodies, contact, a, b, 0, h, softness)
    else:
        c, d = sides_of(contact)
        _solve_sides(bodies, contact, c, d, contact.standing, h, softness)


@inlined
def _solve_sides(
    bodies: Records, contact: Record, a: Side, b: Side, standing: int, h: float, softness: Softness
) -> None:
    """The normal first, then friction."""
    n = vector(contact.normal)
    gap = contact.separation
    bias = gap / h if gap > 0.0 else max(softness.rate * gap, -softness.fastest)
    firm, give = (1.0, 0.0) if gap > 0.0 else (softness.firm, softness.give)
    v = relative_velocity(bodies, a, b)
    old = contact.normal_impulse
    held = min(1.0, max(0.0, softness.slope * gap + softness.base)) * contact.load
    new = max(0.0, old - firm * contact.normal_mass * (dot(v, n) + bias) - give * (old - held))
    change = new - old
    contact.normal_impulse = new
    if change != 0.0:
        contact.work -= change * (dot(v, n) + 0.5 * change / contact.normal_mass)
    push_apart(bodies, a, b, scale(n, change), standing)
    v = relative_velocity(bodies, a, b)
    t, s = vector(contact.tangent), vector(contact.bitangent)
    old_t, old_s = contact.tangent_impulse, contact.bitangent_impulse
    new_t, new_s = old_t - contact.tangent_mass * dot(v, t), old_s - contact.bitangent_mass * dot(v, s)
    most = contact.friction * contact.normal_impulse
    size = math.sqrt(new_t * new_t + new_s * new_s)
    if size > most:
        new_t, new_s = new_t * most / size, new_s * most / size
    contact.tangent_impulse, contact.bitangent_impulse = new_t, new_s
    push_apart(bodies, a, b, add_scaled(scale(t, new_t - old_t), s, new_s - old_s), standing)
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
