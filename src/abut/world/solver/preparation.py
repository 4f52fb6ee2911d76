"""Contacts as the solver wants them, and what of them does not change within a step.

Both anchors lead to one point, and stay so while the bodies move (`movement`): equal and opposite impulses at one point leave the angular momentum
as it is.
"""

import math

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.core.records import Record, Records, put, vector
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import Vec3, add_scaled, cross, distance_sq, dot, norm_sq, scale, subtract
from abut.impulses.records import ALONE
from abut.impulses.sides import (
    Side,
    can_turn,
    is_patch,
    mix,
    mobility,
    relative_velocity,
    same_sides,
    sides_of,
    tangent_to,
)

REST = 0.5
"""Bodies rest this part of the slop deep, and are held there from both sides: neither do contacts come and go, nor can a stack lean freely."""
HEAVY = 100.0
"""A body so many times as heavy as the particle between it and the ground is carried by the ground, and starts from no impulses when it falls on it:
those that go to and fro through the particle would take as many sweeps as the masses differ, while the push out of the ground throws it up."""
PATCH = 4.0
"""In slops: contacts of a pair that lie within so much of a line do not keep it from rolling."""
PRESSED = 0.5
"""Cosine from which pushes against a particle from both sides press it against what nothing moves."""


@kernel
def prepare(
    bodies: Records,
    contacts: Records,
    found: Records,
    support: Floats,
    slop: float,
    slowest: float,
) -> None:
    """What follows from the points found (n,): axes, anchors, separations from REST · slop, masses, speeds of approach.

    Contacts have their sides, materials, and of balls radius and center in the world. The rolling lever is as for what can roll: where it cannot,
    it becomes 0. Contacts of a pair stand together. support (n,3): room for each body, zeros."""
    for i in range(len(contacts)):
        contact = contacts[i]
        contact.separation, contact.total_normal_impulse = found[i].separation + REST * slop, 0.0
        aim(contact, vector(found[i].normal))
        _place(bodies, contact, vector(found[i].point))
        weigh(bodies, contact)
        measure_approach(bodies, contact)
    _find_standing(bodies, contacts, support, slop, slowest)
    start = 0
    while start < len(contacts):
        first, stop = contacts[start], start + 1
        while stop < len(contacts) and same_sides(first, contacts[stop]):
            stop += 1
        turns = can_turn(bodies[first.body_a]) and can_turn(bodies[first.body_b])
        turns = turns or first.standing != 0
        if not (turns and _is_narrow(found, start, stop, PATCH * slop)):
            for i in range(start, stop):
                contacts[i].rolling_lever = 0.0
        start = stop


@kernel
def aim(contact: Record, normal: Vec3) -> None:
    """Give a contact its normal, and tangents."""
    t = tangent_to(normal)
    put(contact.normal, normal)
    put(contact.tangent, t)
    put(contact.bitangent, cross(normal, t))


@kernel
def _place(bodies: Records, contact: Record, found: Vec3) -> None:
    """Anchors at the point at which both sides are pushed, and which of them the point follows when they move.

    On a ball it is the ball's own: without friction its push turns no ball. Else the lighter side leads, for beside the ground it must."""
    a, b = bodies[contact.body_a], bodies[contact.body_b]
    point, n = found, vector(contact.normal)
    w_a, w_b = a.inverse_mass, b.inverse_mass
    contact.lead = w_b / (w_a + w_b) if w_a + w_b > 0.0 else 0.5
    side_a, side_b = sides_of(contact)
    if is_patch(side_a) or is_patch(side_b):  # the point is one of the face, and stays there
        contact.lead = 0.0 if is_patch(side_a) else 1.0
    elif contact.radius_a > 0.0 and contact.radius_b == 0.0:
        point, contact.lead = add_scaled(vector(contact.center_a), n, contact.radius_a), 0.0
    elif contact.radius_b > 0.0 and contact.radius_a == 0.0:
        point, contact.lead = add_scaled(vector(contact.center_b), n, -contact.radius_b), 1.0
    put(contact.anchor_a, subtract(point, vector(a.position)))
    put(contact.anchor_b, subtract(point, vector(b.position)))
    put(contact.center_a, subtract(vector(contact.center_a), vector(a.position)))
    put(contact.center_b, subtract(vector(contact.center_b), vector(b.position)))


@kernel
def weigh(bodies: Records, contact: Record) -> None:
    """Effective masses of a contact."""
    side_a, side_b = sides_of(contact)
    contact.normal_mass = _mass(bodies, side_a, side_b, vector(contact.normal))
    contact.tangent_mass = _mass(bodies, side_a, side_b, vector(contact.tangent))
    contact.bitangent_mass = _mass(bodies, side_a, side_b, vector(contact.bitangent))
    a, b = bodies[contact.body_a].inverse_inertia, bodies[contact.body_b].inverse_inertia
    k = a[0] + a[4] + a[8] + b[0] + b[4] + b[8]
    # No more than any direction's: it may take more sweeps, never overshoot.
    contact.rolling_mass = 1.0 / k if k > 0.0 else 0.0


@kernel
def _mass(bodies: Records, a: Side, b: Side, d: Vec3) -> float:
    """How hard it is to change the relative velocity of two points along d; 0 if nothing can."""
    k = mobility(bodies, a, d) + mobility(bodies, b, d)
    return 1.0 / k if k > 0.0 else 0.0


@kernel
def measure_approach(bodies: Records, contact: Record) -> None:
    """The speed at which a contact will be hit: |v|² = v₀² − 2·a·s with the gap s."""
    a, b = sides_of(contact)
    n = vector(contact.normal)
    speed = dot(relative_velocity(bodies, a, b), n)
    pull = dot(subtract(_pull_at(bodies, b), _pull_at(bodies, a)), n)
    square = speed * speed - 2.0 * pull * contact.separation
    contact.approach_speed = math.sqrt(max(0.0, square)) if speed < 0.0 else 0.0


@kernel
def _pull_at(bodies: Records, side: Side) -> Vec3:
    """The acceleration of a point."""
    i, j, share, _, k, part = side
    if j == ALONE:
        return vector(bodies[i].acceleration)
    if k != ALONE:
        u, v, w = vector(bodies[i].acceleration), vector(bodies[j].acceleration), vector(bodies[k].acceleration)
        return mix(u, v, w, share, part)
    return add_scaled(scale(vector(bodies[i].acceleration), 1.0 - share), vector(bodies[j].acceleration), share)


@kernel
def _holds(bodies: Records, side: Side) -> bool:
    """Whether a side bears what presses on it by itself: particles of linkages do not, a soft body has springs for it."""
    return is_patch(side) or can_turn(bodies[side[0]])


@kernel
def _find_standing(bodies: Records, contacts: Records, support: Floats, slop: float, slowest: float) -> None:
    """Which side of a contact is a particle, or a bone, that the other presses against something that nothing moves."""
    for i in range(len(contacts)):
        contact = contacts[i]
        contact.standing = 0
        if contact.separation > slop:
            continue
        a, b = sides_of(contact)
        n = vector(contact.normal)
        if mobility(bodies, a, n) == 0.0 and not _holds(bodies, b):
            _add_support(support, b, n)
        if mobility(bodies, b, n) == 0.0 and not _holds(bodies, a):
            _add_support(support, a, scale(n, -1.0))
    for i in range(len(contacts)):
        contact = contacts[i]
        a, b = sides_of(contact)
        n = vector(contact.normal)
        mobility_a, mobility_b = mobility(bodies, a, n), mobility(bodies, b, n)
        light_a = mobility_b > 0.0 and mobility_a > HEAVY * mobility_b and not _holds(bodies, a)
        light_b = mobility_a > 0.0 and mobility_b > HEAVY * mobility_a and not _holds(bodies, b)
        contact.is_cold = (light_a or light_b) and contact.approach_speed > slowest
        if light_a and dot(_support_of(support, a), n) > PRESSED:
            contact.standing = -1
            _carry(bodies, contact, b)
        elif light_b and dot(_support_of(support, b), n) < -PRESSED:
            contact.standing = 1
            _carry(bodies, contact, a)


@kernel
def _carry(bodies: Records, contact: Record, side: Side) -> None:
    """Effective masses of a contact of which only one side gives way."""
    contact.normal_mass = 1.0 / mobility(bodies, side, vector(contact.normal))
    contact.tangent_mass = 1.0 / mobility(bodies, side, vector(contact.tangent))
    contact.bitangent_mass = 1.0 / mobility(bodies, side, vector(contact.bitangent))


@kernel
def _add_support(support: Floats, side: Side, n: Vec3) -> None:
    """A push along n that particles get from below."""
    i, j, share, _, _, _ = side
    put_vector(support, i, 0, add_scaled(vector_at(support, i), n, 1.0 - share if j != ALONE else 1.0))
    if j != ALONE:
        put_vector(support, j, 0, add_scaled(vector_at(support, j), n, share))


@kernel
def _support_of(support: Floats, side: Side) -> Vec3:
    """The pushes that a side gets from below."""
    i, j, share, _, _, _ = side
    if j == ALONE:
        return vector_at(support, i)
    return add_scaled(scale(vector_at(support, i), 1.0 - share), vector_at(support, j), share)


@kernel
def _is_narrow(found: Records, start: int, stop: int, width: float) -> bool:
    """Whether some of the points lie along a line."""
    p, far, most = vector(found[start].point), start, 0.0
    for i in range(start + 1, stop):
        d = distance_sq(p, vector(found[i].point))
        if d > most:
            far, most = i, d
    u, wide = subtract(vector(found[far].point), p), 0.0
    for i in range(start + 1, stop):
        wide = max(wide, norm_sq(cross(u, subtract(vector(found[i].point), p))))
    return wide <= width * width * most
