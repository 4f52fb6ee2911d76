"""The impulses of one contact: along its normal, never pulling, and across it, in the circle of Coulomb's friction.

Who sweeps over contacts says which speed they shall part with, and how firmly; how often, and in which order, is up to him too.
"""

import math

from abut.core.jit import inlined
from abut.core.records import Record, Records, vector
from abut.geometry.vec import add, add_scaled, dot, scale
from abut.impulses.sides import Side, push_apart, relative_velocity


@inlined
def press(
    bodies: Records,
    contact: Record,
    a: Side,
    b: Side,
    standing: int,
    speed: float,
    firm: float,
    give: float,
    held: float,
) -> float:
    """Change the normal impulse so that the contact parts with a speed, or faster; by how much it changed.

    firm: the part of the impulse that is given; give: the part of what the contact already bears beyond `held` that is taken back."""
    n = vector(contact.normal)
    now, old = dot(relative_velocity(bodies, a, b), n), contact.normal_impulse
    new = max(0.0, old - firm * contact.normal_mass * (now - speed) - give * (old - held))
    change = new - old
    contact.normal_impulse = new
    if change != 0.0:
        contact.work -= change * (now + 0.5 * change / contact.normal_mass)
    push_apart(bodies, a, b, scale(n, change), standing)
    return change


@inlined
def hold(bodies: Records, contact: Record, a: Side, b: Side, standing: int, before: float) -> float:
    """Change the tangential impulse along `tangent`, at most μ times the normal one, so that it brings sliding to rest without work; by how much it
    changed. For impulses that act throughout a step: the contact slid by `before` when it began.

    The work of an impulse is then half of it times the sum of the velocities before and after. One that would drive the contact on is left out, or
    only turns the velocity around. Without a slide before, it is the impulse of an instant."""
    t, old, mass = vector(contact.tangent), contact.tangent_impulse, contact.tangent_mass
    now = dot(relative_velocity(bodies, a, b), t)
    new = old - mass * now
    if new * before > 0.0:
        new = old - mass * (now + before)
        if new * before < 0.0:
            new = 0.0
    most = contact.friction * contact.normal_impulse
    new = min(max(new, -most), most)
    contact.tangent_impulse = new
    push_apart(bodies, a, b, scale(t, new - old), standing)
    return new - old


@inlined
def rub(bodies: Records, contact: Record, a: Side, b: Side, standing: int) -> None:
    """Change the tangential impulses so that the surfaces do not slide; together they are at most μ times the normal one."""
    v = add(relative_velocity(bodies, a, b), vector(contact.slip))
    t, s = vector(contact.tangent), vector(contact.bitangent)
    old_t, old_s = contact.tangent_impulse, contact.bitangent_impulse
    new_t, new_s = old_t - contact.tangent_mass * dot(v, t), old_s - contact.bitangent_mass * dot(v, s)
    most = contact.friction * contact.normal_impulse
    size = math.sqrt(new_t * new_t + new_s * new_s)
    if size > most:
        new_t, new_s = new_t * most / size, new_s * most / size
    contact.tangent_impulse, contact.bitangent_impulse = new_t, new_s
    push_apart(bodies, a, b, add_scaled(scale(t, new_t - old_t), s, new_s - old_s), standing)
