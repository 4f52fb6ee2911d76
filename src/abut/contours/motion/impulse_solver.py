"""Sequential impulses in the plane: projected Gauss–Seidel on the velocities (Newton–Euler), one contact after the other, up and down the pile by
turns, from a guess by the step before, each impulse kept in the cone of Coulomb's friction.

Bodies, contacts and what an impulse does to them are those of `abut.impulses`; friction has a law of its own, since forces act throughout a step
here. `animation` sees to it that no energy comes from sweeps that have not settled.
"""

import math

import numpy as np

from abut.contours.motion.near_places import Places
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import dot, scale
from abut.impulses.one_contact import press
from abut.impulses.records import ALONE, BODY, CONTACT
from abut.impulses.sides import mobility, push_apart, relative_velocity, sides_of

SWEEPS = 200
"""A pile of n bodies takes some n² sweeps from scratch, and few where impulses are known from the step before."""
BOTH_MOVE = 0
"""Of a contact: neither side stands on the ground."""


@element
def _hold(impulse: float, opening: float, mass: float, before: float, most: float) -> float:
    """The tangential impulse, `most` at most, that brings sliding to rest without work: sliding was `before` and is `opening` now.

    Over a step the work of an impulse is half of it times the sum of the velocities before and after. One that would drive the place on
    is left out, or only turns the velocity around."""
    after = impulse - mass * opening
    if after * before > 0.0:
        after = impulse - mass * (opening + before)
        if after * before < 0.0:
            after = 0.0
    return min(max(after, -most), most)


@kernel
def recall(bodies: Integers, points: Floats, old_bodies: Integers, old: Floats, near: float, impulse: Floats) -> None:
    """A first guess of impulses (k,2): those of the places (rows of `old`: point on a, impulse) of the same pair that were nearest, within `near`.

    Both lists ascend by pairs. An old place serves once."""
    first = 0
    for k in range(len(bodies)):
        while first < len(old) and (
            old_bodies[first, 0] < bodies[k, 0]
            or (old_bodies[first, 0] == bodies[k, 0] and old_bodies[first, 1] < bodies[k, 1])
        ):
            first += 1
        best, chosen = near * near, -1
        c = first
        while c < len(old) and old_bodies[c, 0] == bodies[k, 0] and old_bodies[c, 1] == bodies[k, 1]:
            x, y = old[c, 0] - points[k, 0], old[c, 1] - points[k, 1]
            if x * x + y * y <= best:
                best, chosen = x * x + y * y, c
            c += 1
        if chosen >= 0:
            impulse[k, 0], impulse[k, 1] = old[chosen, 2], old[chosen, 3]
            old[chosen, 0] = math.inf


def resolve(
    places: Places,
    least: Floats,
    slide: Floats,
    center: Floats,
    inverse: Floats,
    friction: float,
    settled: float,
    impulse: Floats,
    velocity: Floats,
) -> int:
    """Change velocities (m,3) so that bodies open at place k by least[k] or faster, by impulses (k,2) normal and tangential.

    slide: how fast places slid before the forces of a step, 0 for impacts; inverse: (m,2) one over mass and over inertia. An impulse acts on
    both bodies at one point, midway: so it changes neither momentum nor angular momentum. `impulse` holds a first guess and becomes the answer.
    Ends when no velocity changes by more than `settled` in a sweep, or after SWEEPS; how many there were."""
    bodies, contacts = np.zeros(len(velocity), BODY), np.zeros(len(places.bodies), CONTACT)
    bodies["velocity"][:, :2], bodies["angular_velocity"][:, 2] = velocity[:, :2], velocity[:, 2]
    bodies["inverse_mass"], bodies["inverse_inertia"][:, 8] = inverse[:, 0], inverse[:, 1]
    contacts["body_a"], contacts["body_b"] = places.bodies.T
    contacts["end_a"] = contacts["end_b"] = ALONE
    contacts["normal"][:, :2] = places.normal
    contacts["tangent"][:, 0], contacts["tangent"][:, 1] = -places.normal[:, 1], places.normal[:, 0]
    contacts["anchor_a"][:, :2] = places.point - center[places.bodies[:, 0]]
    contacts["anchor_b"][:, :2] = places.point - center[places.bodies[:, 1]]
    contacts["friction"], contacts["parting_speed"] = friction, least
    contacts["normal_impulse"], contacts["tangent_impulse"] = impulse.T
    sweeps = _sweep(bodies, contacts, slide, settled)
    velocity[:, :2], velocity[:, 2] = bodies["velocity"][:, :2], bodies["angular_velocity"][:, 2]
    impulse[:, 0], impulse[:, 1] = contacts["normal_impulse"], contacts["tangent_impulse"]
    return sweeps


@kernel
def _start(bodies: Records, contact: Record) -> None:
    """Weigh a contact, and apply the impulses that it starts from."""
    a, b = sides_of(contact)
    n, t = vector(contact.normal), vector(contact.tangent)
    along, across = mobility(bodies, a, n) + mobility(bodies, b, n), mobility(bodies, a, t) + mobility(bodies, b, t)
    contact.normal_mass = 1.0 / along if along > 0.0 else 0.0
    contact.tangent_mass = 1.0 / across if across > 0.0 else 0.0
    push_apart(bodies, a, b, scale(n, contact.normal_impulse), BOTH_MOVE)
    push_apart(bodies, a, b, scale(t, contact.tangent_impulse), BOTH_MOVE)


@kernel
def _solve(bodies: Records, contact: Record, slide: float) -> float:
    """One contact: the normal first, then friction. By how much its velocity changed."""
    a, b = sides_of(contact)
    if contact.normal_mass == 0.0:
        return 0.0
    change = press(bodies, contact, a, b, BOTH_MOVE, contact.parting_speed, 1.0, 0.0, 0.0)
    largest = math.fabs(change) / contact.normal_mass
    if contact.tangent_mass > 0.0:
        t, old = vector(contact.tangent), contact.tangent_impulse
        opening = dot(relative_velocity(bodies, a, b), t)
        contact.tangent_impulse = _hold(
            old, opening, contact.tangent_mass, slide, contact.friction * contact.normal_impulse
        )
        change = contact.tangent_impulse - old
        push_apart(bodies, a, b, scale(t, change), BOTH_MOVE)
        largest = max(largest, math.fabs(change) / contact.tangent_mass)
    return largest


@kernel
def _sweep(bodies: Records, contacts: Records, slide: Floats, settled: float) -> int:
    for contact in contacts:
        _start(bodies, contact)
    count = len(contacts)
    for sweep in range(SWEEPS):
        largest = 0.0
        for turn in range(count):
            k = turn if sweep % 2 == 0 else count - 1 - turn
            largest = max(largest, _solve(bodies, contacts[k], slide[k]))
        if sweep % 2 == 1 and largest <= settled:
            return sweep + 1
    return SWEEPS
