"""Places of contours as contacts of `abut.impulses`, which solves them together, from a guess by the step before.

`animation` sees to it that no energy comes from sweeps that have not settled.
"""

import math

import numpy as np

from abut.contours.motion.near_places import Places
from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.impulses.records import ALONE, BODY, CONTACT
from abut.impulses.settling import settle


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
    friction: Floats,
    settled: float,
    impulse: Floats,
    velocity: Floats,
) -> int:
    """Change velocities (m,3) so that bodies open at place k by least[k] or faster, by impulses (k,2) normal and tangential.

    slide: how fast places slid before the forces of a step, 0 for impacts; inverse: (m,2) one over mass and over inertia;
    friction: (k,). An impulse acts on
    both bodies at one point, midway: so it changes neither momentum nor angular momentum. `impulse` holds a first guess and becomes the answer.
    Ends when no velocity changes by more than `settled` in a sweep, or after `settling.SWEEPS`; how many there were."""
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
    sweeps = settle(bodies, contacts, slide, settled)
    velocity[:, :2], velocity[:, 2] = bodies["velocity"][:, :2], bodies["angular_velocity"][:, 2]
    impulse[:, 0], impulse[:, 1] = contacts["normal_impulse"], contacts["tangent_impulse"]
    return sweeps
