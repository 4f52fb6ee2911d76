"""Sweeps over contacts: a few for all of them, and more where these do not do.

Where a body is hit, its contacts are swept until their impulses stand, for what is left out would make a box that falls flat leave the ground.
Contacts make no energy: where a few sweeps leave an island with more of it than it had before its contacts, there are more of them, until it has not.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.core.records import Record, Records, put, vector
from abut.geometry.vec import add_scaled, dot, scale
from abut.impulses.sides import push_apart, relative_velocity, root_of, sides_of, twist_apart
from abut.world.joints.records import Rack
from abut.world.joints.solving import solve_joints
from abut.world.solver.energy import NONE, ROUNDING, Ledger, add_energies, weaken
from abut.world.solver.link_constraints import Bonds, hold_lengths, restore_lengths
from abut.world.solver.one_contact import Softness, solve_contact

MORE_SWEEPS, GAIN = 64, 0.99
"""At most so many sweeps more for bodies that are hit, and for islands whose contacts have made energy and take back a hundredth with each."""
STEADY = 2e-4
"""Of the impulse that would stop a contact alone: changes below it end the sweeps. Dozens of points of one face add up to some times as much."""
SUDDEN = 2.0
"""More than so many times what the substep before gave is an impact. Loads change less: a stack that sways moves a part of them from side to side."""


@kernel
def warm_start(bodies: Records, contacts: Records) -> None:
    """Give the impulses of the substep before."""
    for i in range(len(contacts)):
        contact = contacts[i]
        a, b = sides_of(contact)
        if contact.is_cold:
            contact.normal_impulse, contact.tangent_impulse, contact.bitangent_impulse = 0.0, 0.0, 0.0
        if contact.restitution > 0.0 and contact.normal_impulse > 0.0:
            speed = dot(relative_velocity(bodies, a, b), vector(contact.normal))
            contact.work -= contact.normal_impulse * (speed + 0.5 * contact.normal_impulse / contact.normal_mass)
        j = scale(vector(contact.normal), contact.normal_impulse)
        j = add_scaled(j, vector(contact.tangent), contact.tangent_impulse)
        j = add_scaled(j, vector(contact.bitangent), contact.bitangent_impulse)
        push_apart(bodies, a, b, j, contact.standing)
        if contact.rolling_lever > 0.0:
            twist_apart(bodies, a[0], b[0], vector(contact.rolling_impulse))
        else:
            put(contact.rolling_impulse, (0.0, 0.0, 0.0))
        contact.load = contact.normal_impulse


@kernel
def sweep_contacts(
    bodies: Records, contacts: Records, bonds: Bonds, rack: Rack, h: float, softness: Softness, sweeps: int
) -> None:
    """All contacts in turn, to and fro, and before each sweep the links and the joints. RIGID: pushing apart leaves no velocity."""
    stay_apart()
    count = len(contacts)
    for sweep in range(sweeps):
        if softness.rate > 0.0:
            restore_lengths(bodies, bonds, h, softness.fastest)
        else:
            hold_lengths(bodies, bonds)
        solve_joints(bodies, rack, h, softness.rate > 0.0)
        for k in range(count):
            solve_contact(bodies, contacts[k if sweep % 2 == 0 else count - 1 - k], h, softness)


@kernel
def _is_impact(contact: Record, slowest: float) -> bool:
    """Whether a contact gives suddenly more, or less, than the substep before: also what is left of an impact must be undone with care."""
    now, before = contact.normal_impulse, contact.load
    return contact.approach_speed > slowest and max(now, before) > SUDDEN * min(now, before)


@kernel
def converge(
    bodies: Records,
    contacts: Records,
    rack: Rack,
    h: float,
    softness: Softness,
    slowest: float,
    island: Integers,
    busy: Floats,
    still: Floats,
) -> int:
    """Go on with sweeps over the contacts of bodies that are hit, until no impulse there changes by more than STEADY of it; how many it solved.

    A box that falls flat touches with many points. The first that are visited take all of the impact, and turn it: it would leave, although nothing
    bounces. busy, still (n,): room."""
    busy[:] = 0.0
    count = len(contacts)
    for i in range(count):
        if root_of(island, contacts[i]) != NONE and _is_impact(contacts[i], slowest):
            _mark(island, busy, contacts[i])
    solved = 0
    for sweep in range(MORE_SWEEPS):
        if not busy.any():
            break
        still[:] = 0.0
        solve_joints(bodies, rack, h, softness.rate > 0.0)
        for k in range(count):
            contact = contacts[k if sweep % 2 == 0 else count - 1 - k]
            is_busy = busy[contact.body_a] != 0.0 or busy[contact.body_b] != 0.0
            if not is_busy or root_of(island, contact) == NONE:
                continue
            old = contact.normal_impulse
            solve_contact(bodies, contact, h, softness)
            solved += 1
            steady = STEADY * contact.normal_mass * contact.approach_speed
            if contact.approach_speed > slowest and abs(contact.normal_impulse - old) > steady:
                _mark(island, still, contact)
        for i in range(len(busy)):
            busy[i] *= still[i]
    return solved


@kernel
def _mark(island: Integers, marks: Floats, contact: Record) -> None:
    """Mark the two bodies of a contact, those that move."""
    for body in (contact.body_a, contact.body_b):
        if island[body] != NONE:
            marks[body] = 1.0


@kernel
def settle(
    bodies: Records,
    contacts: Records,
    h: float,
    softness: Softness,
    island: Integers,
    ledger: Ledger,
    again: int,
) -> int:
    """Go on with sweeps over islands whose contacts have made energy in this substep; how many contacts it solved.

    The impulses that are looked for make none: they bring the energy down to the least there is, and each sweep comes nearer. Those that push out of
    a depth make some for a while, no more than it takes; but they are taken back where the bodies are after they moved. again: the most sweeps for
    islands that something holds up, which push others than themselves and may be large."""
    last, now, count = ledger.spare, ledger.now, len(contacts)
    last[:] = math.inf
    solved = 0
    for sweep in range(MORE_SWEEPS):
        add_energies(bodies, island, now)
        busy = False
        for i in range(len(last)):
            grown = now[i] - ledger.before[i] - ledger.allowed[i]
            goes_on = sweep < again or not ledger.is_held[i]
            grows = grown > ROUNDING * now[i] and grown < GAIN * last[i]
            last[i] = grown if grows and goes_on else -math.inf
            busy = busy or last[i] > 0.0
        if not busy:
            return solved
        for k in range(count):
            contact = contacts[k if sweep % 2 == 1 else count - 1 - k]
            root = root_of(island, contact)
            if root >= 0 and last[root] > 0.0:
                solve_contact(bodies, contact, h, softness)
                solved += 1
    add_energies(bodies, island, now)
    return solved


@kernel
def take_back_less(bodies: Records, contacts: Records, island: Integers, ledger: Ledger) -> None:
    """Where an island has more energy than before its contacts, keep of the second pass only the part that makes none.

    A push is given where the bodies are, and what is too much of it is taken back where they have got to: there it may set free more than it took."""
    grows = False
    for i in range(len(island)):
        grows = grows or ledger.now[i] > ledger.before[i] * (1.0 + ROUNDING) + ledger.allowed[i]
    if not grows:
        return
    most, part = ledger.before + ledger.allowed - ledger.start, ledger.now
    weaken(bodies, island, ledger.start, most, part, ledger.spare)
    for i in range(len(contacts)):
        contact = contacts[i]
        root = root_of(island, contact)
        if root >= 0 and part[root] < 1.0:
            pushed = contact.pushed_impulse
            contact.normal_impulse = pushed + part[root] * (contact.normal_impulse - pushed)
    add_energies(bodies, island, ledger.now)
