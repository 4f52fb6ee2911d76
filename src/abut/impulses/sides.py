"""The sides of a contact: how the points move that touch, and what an impulse does to them.

A side is a point of a body, given by the arm from its center of mass; or one on a bone, which divides the line between two particles: it moves by
(1 − share) of the one and share of the other, and hands an impulse on to them in these parts. Or it is one on a face of a soft body, a patch, with
three particles and the parts that are the point's barycentric coordinates.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, kernel
from abut.core.records import Record, Records, put, vector
from abut.geometry.quaternions import matrix_columns
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, scale, subtract
from abut.impulses.records import ALONE

Side = tuple[int, int, float, Vec3, int, float]
"""A body; the second particle, or ALONE; its share; the arm; of a patch the third particle, else ALONE, and its part."""


@element
def tangent_to(n: Vec3) -> Vec3:
    """A unit vector at right angles to a unit vector: always the same one."""
    if abs(n[0]) < 0.57736:
        t = (0.0, n[2], -n[1])
    else:
        t = (-n[2], 0.0, n[0])
    return scale(t, 1.0 / math.sqrt(dot(t, t)))


@kernel
def turn_inertia(body: Record) -> None:
    """The inverse inertia of a body in the world: R·I⁻¹·Rᵀ."""
    q, own, world = body.quaternion, body.own_inverse_inertia, body.inverse_inertia
    x, y, z = matrix_columns((q[0], q[1], q[2], q[3]))
    for r in range(3):
        for c in range(3):
            total = 0.0
            for p in range(3):
                left = x[r] * own[p] + y[r] * own[3 + p] + z[r] * own[6 + p]
                column = x[c] if p == 0 else (y[c] if p == 1 else z[c])
                total += left * column
            world[3 * r + c] = total
    if body.is_locked:
        _lock_turns(body)


@kernel
def _lock_turns(body: Record) -> None:
    """Take the axes about which a body does not turn out of its inverse inertia: what is left is that of a body held by bearings."""
    w = body.inverse_inertia
    for k in range(3):
        if body.locked[3 + k] == 0.0:
            continue
        pivot = w[4 * k]
        for r in range(3):
            if r == k or pivot == 0.0:
                continue
            part = w[3 * r + k] / pivot
            for c in range(3):
                w[3 * r + c] -= part * w[3 * k + c]
        for r in range(3):
            w[3 * r + k], w[3 * k + r] = 0.0, 0.0


@kernel
def lock_axes(body: Record, v: Vec3) -> Vec3:
    """A change of velocity without what lies along axes that are locked."""
    held = body.locked
    return (v[0] * (1.0 - held[0]), v[1] * (1.0 - held[1]), v[2] * (1.0 - held[2]))


@kernel
def turn_inertias(bodies: Records) -> None:
    """Those of all bodies."""
    for i in range(len(bodies)):
        turn_inertia(bodies[i])


@inlined
def apply(w: Floats, v: Vec3) -> Vec3:
    """An inverse inertia times v."""
    return (
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2],
        w[3] * v[0] + w[4] * v[1] + w[5] * v[2],
        w[6] * v[0] + w[7] * v[1] + w[8] * v[2],
    )


@inlined
def sides_of(contact: Record) -> tuple[Side, Side]:
    """The two points that touch."""
    a = (contact.body_a, contact.end_a, contact.share_a, vector(contact.anchor_a), contact.third_a, contact.part_a)
    b = (contact.body_b, contact.end_b, contact.share_b, vector(contact.anchor_b), contact.third_b, contact.part_b)
    return a, b


@inlined
def is_patch(side: Side) -> bool:
    """Whether a side is on a face of a soft body."""
    return side[1] != ALONE and side[4] != ALONE


@kernel
def same_sides(one: Record, other: Record) -> bool:
    """Whether two contacts are of the same bodies, or bones."""
    same = one.body_a == other.body_a and one.body_b == other.body_b
    same = same and one.end_a == other.end_a and one.end_b == other.end_b
    return same and one.third_a == other.third_a and one.third_b == other.third_b


@kernel
def root_of(island: Integers, contact: Record) -> int:
    """The island of a contact; less than 0 where there is none."""
    return int(max(island[contact.body_a], island[contact.body_b]))


@kernel
def can_turn(body: Record) -> bool:
    """Whether a body takes an angular impulse, stands fast, or is kept from turning; a particle does none of these."""
    inertia = body.inverse_inertia
    return body.is_locked or body.inverse_mass == 0.0 or inertia[0] + inertia[4] + inertia[8] > 0.0


@kernel
def mobility(bodies: Records, side: Side, d: Vec3) -> float:
    """How much a unit impulse along d changes the velocity of a point along d."""
    i, j, share, arm, k, part = side
    if j != ALONE:
        rest, most = 1.0 - share, share**2 * bodies[j].inverse_mass
        if k != ALONE:
            rest, most = rest - part, most + part**2 * bodies[k].inverse_mass
        return rest**2 * bodies[i].inverse_mass + most
    turn = cross(arm, d)
    turning = dot(turn, apply(bodies[i].inverse_inertia, turn))
    if bodies[i].is_locked:
        return bodies[i].inverse_mass * dot(d, lock_axes(bodies[i], d)) + turning
    return bodies[i].inverse_mass + turning


@kernel
def mix(u: Vec3, v: Vec3, w: Vec3, share: float, part: float) -> Vec3:
    """Of what the corners of a patch have, what a point of it has."""
    return add_scaled(add_scaled(scale(u, 1.0 - share - part), v, share), w, part)


@kernel
def push_patch(bodies: Records, side: Side, impulse: Vec3) -> None:
    """Hand an impulse on to the corners of a patch."""
    i, j, share, _, k, part = side
    one, two, three = bodies[i], bodies[j], bodies[k]
    put(one.velocity, add_scaled(vector(one.velocity), impulse, (1.0 - share - part) * one.inverse_mass))
    put(two.velocity, add_scaled(vector(two.velocity), impulse, share * two.inverse_mass))
    put(three.velocity, add_scaled(vector(three.velocity), impulse, part * three.inverse_mass))


@inlined
def velocity_of(bodies: Records, side: Side) -> Vec3:
    """How a point moves."""
    i, j, share, arm, k, part = side
    if j != ALONE:
        if k != ALONE:
            u, v, w = vector(bodies[i].velocity), vector(bodies[j].velocity), vector(bodies[k].velocity)
            return mix(u, v, w, share, part)
        return add_scaled(scale(vector(bodies[i].velocity), 1.0 - share), vector(bodies[j].velocity), share)
    return add(vector(bodies[i].velocity), cross(vector(bodies[i].angular_velocity), arm))


@inlined
def displacement_of(bodies: Records, side: Side) -> Vec3:
    """How far a point moved in the last substep."""
    i, j, share, arm, k, part = side
    if j != ALONE:
        if k != ALONE:
            u, v, w = vector(bodies[i].displacement), vector(bodies[j].displacement), vector(bodies[k].displacement)
            return mix(u, v, w, share, part)
        return add_scaled(scale(vector(bodies[i].displacement), 1.0 - share), vector(bodies[j].displacement), share)
    return add(vector(bodies[i].displacement), cross(vector(bodies[i].rotation), arm))


@inlined
def relative_velocity(bodies: Records, a: Side, b: Side) -> Vec3:
    """How b's point moves, seen from a's."""
    return subtract(velocity_of(bodies, b), velocity_of(bodies, a))


@inlined
def push(bodies: Records, side: Side, impulse: Vec3) -> None:
    """Apply an impulse at a point."""
    i, j, share, arm, k, _ = side
    body = bodies[i]
    if j != ALONE:
        if k != ALONE:
            push_patch(bodies, side, impulse)
            return
        other = bodies[j]
        put(body.velocity, add_scaled(vector(body.velocity), impulse, (1.0 - share) * body.inverse_mass))
        put(other.velocity, add_scaled(vector(other.velocity), impulse, share * other.inverse_mass))
        return
    free = lock_axes(body, impulse) if body.is_locked else impulse
    put(body.velocity, add_scaled(vector(body.velocity), free, body.inverse_mass))
    put(body.angular_velocity, add(vector(body.angular_velocity), apply(body.inverse_inertia, cross(arm, impulse))))


@inlined
def push_apart(bodies: Records, a: Side, b: Side, impulse: Vec3, standing: int) -> None:
    """Apply an impulse to b and its opposite to a; a side that stands on the ground hands it on."""
    if standing >= 0:
        push(bodies, a, scale(impulse, -1.0))
    if standing <= 0:
        push(bodies, b, impulse)


@kernel
def twist(body: Record, impulse: Vec3) -> None:
    """Apply an angular impulse to a body."""
    put(body.angular_velocity, add(vector(body.angular_velocity), apply(body.inverse_inertia, impulse)))


@kernel
def twist_apart(bodies: Records, a: int, b: int, impulse: Vec3) -> None:
    """Apply an angular impulse to b and its opposite to a."""
    twist(bodies[a], scale(impulse, -1.0))
    twist(bodies[b], impulse)
