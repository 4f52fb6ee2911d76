"""Restitution, once a step: contacts that were hit part with a share of the speed of their approach.

That speed is the one at the moment of contact, |v|² = v₀² − 2·a·s with the gap s at the start, so that a bounce loses nothing to the step. All
contacts are visited in turn until each has its speed. Two laws bound what they give: no pair of bodies gets back more than e² of the work that its
own contacts took (Stronge 2000), for the normal may have turned since; and no island more than all of its contacts took, for what one contact
gives, another one has to turn round again. Where it would, all of its bounces are weaker by one factor: momentum knows no difference.

Impacts that share bodies come one after the other (`impact_chains`).
"""

import math

from abut.core.arrays import Integers
from abut.core.jit import kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import dot, scale
from abut.impulses.sides import push_apart, relative_velocity, root_of, same_sides, sides_of
from abut.world.joints.records import Rack
from abut.world.joints.solving import solve_joints
from abut.world.solver.energy import Ledger, add_energies, keep_velocities, weaken
from abut.world.solver.impact_chains import pass_on

BOUNCE_SWEEPS, CALM = 32, 1e-3
"""At most so many sweeps, which end when no impulse changes by more than this part of the approach's."""


@kernel
def _is_hit(contact: Record, slowest: float) -> bool:
    approach = contact.approach_speed
    return contact.restitution > 0.0 and approach >= slowest and contact.total_normal_impulse > 0.0


@kernel
def _limit_bounces(bodies: Records, contacts: Records) -> None:
    """The speeds at which contacts shall part, bounded by the work that they took."""
    start = 0
    while start < len(contacts):
        stop, work = start, 0.0
        while stop < len(contacts) and same_sides(contacts[start], contacts[stop]):
            work += contacts[stop].work
            stop += 1
        for i in range(start, stop):
            contact = contacts[i]
            a, b = sides_of(contact)
            speed = dot(relative_velocity(bodies, a, b), vector(contact.normal))
            e, mass = contact.restitution, contact.normal_mass
            # An impact at the end of the step is not over: the bounce takes the rest of the approach too.
            most = speed * speed if speed > 0.0 else e * e * speed * speed
            most += 2.0 * e * e * max(work, 0.0) / mass if mass > 0.0 else 0.0
            contact.parting_speed = min(e * contact.approach_speed, math.sqrt(most))
        start = stop


@kernel
def bounce(
    bodies: Records,
    contacts: Records,
    rack: Rack,
    h: float,
    substeps: int,
    slowest: float,
    island: Integers,
    ledger: Ledger,
) -> None:
    """Give contacts that were hit their speeds, and with them what joints hold. slowest: of an approach that bounces.
    ledger: with what the contacts of each island took in the step."""
    _limit_bounces(bodies, contacts)
    keep_velocities(bodies)
    add_energies(bodies, island, ledger.start)
    is_chained = pass_on(bodies, contacts, slowest, substeps)
    for sweep in range(BOUNCE_SWEEPS):
        calm = True
        for i in range(len(contacts)):
            contact = contacts[i]
            if is_chained[i] or not _is_hit(contact, slowest):
                continue
            a, b = sides_of(contact)
            n = vector(contact.normal)
            missing = contact.parting_speed - dot(relative_velocity(bodies, a, b), n)
            old = contact.bounce_impulse if sweep > 0 else 0.0
            contact.bounce_impulse = max(0.0, old + contact.normal_mass * missing)
            change = contact.bounce_impulse - old
            push_apart(bodies, a, b, scale(n, change), contact.standing)
            calm = calm and abs(change) <= CALM * contact.normal_mass * contact.approach_speed
        if calm:
            break
        solve_joints(bodies, rack, h, False)
    most = ledger.taken
    for i in range(len(most)):
        most[i] = max(most[i], 0.0)
    weaken(bodies, island, ledger.start, most, ledger.now, ledger.spare)
    for i in range(len(contacts)):
        contact = contacts[i]
        if not is_chained[i] and _is_hit(contact, slowest):
            root = root_of(island, contact)
            contact.total_normal_impulse += contact.bounce_impulse * (ledger.now[root] if root >= 0 else 1.0)
