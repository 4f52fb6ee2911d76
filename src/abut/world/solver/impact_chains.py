"""Impacts that go on from body to body within a step: Newton's cradle, a ball that is hit while it lies against others.

Contacts that push in one step are solved together, as if nothing were elastic: where some of them share a body, what each gave says little about an
impact, which is over before the next one begins. So their impulses are taken back, and the impacts come one after the other, the fastest approach
of each body first: pairs that are the fastest of both their bodies part with e times the speed of their approach at that moment, until nothing comes
near so fast that it bounces. What is left then ends without a bounce. Each impact keeps momentum, and makes no energy.

What holds a load is no impact, and is left as it is. So are pairs neither of which is a ball: they touch in many points, whose impulses say together
how the bodies turn.
"""

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import dot, scale
from abut.impulses.records import ALONE
from abut.impulses.sides import push_apart, relative_velocity, same_sides, sides_of
from abut.world.bodies.islands import find_islands

HALF = 0.5
"""Of what a contact gave in the step: what gave more than that as a load is no impact."""
ALIKE = 1.0 - 1e-9
"""Approaches that differ by no more come at once: a ball that hits two parts from both."""
MOST_ROUNDS, SWEEPS = 256, 32
"""Of impacts; and of sweeps over those that come together."""
CALM = 1e-9
"""Of the fastest approach: changes of speed that end the sweeps."""
SLIGHT = 1e-6
"""Of the fastest approach: what is no impact any more."""


@kernel
def pass_on(bodies: Records, contacts: Records, slowest: float, substeps: int) -> NDArray[np.bool_]:
    """Give chains of impacts their speeds. (n,) the contacts that had part in them. slowest: the approach below which nothing bounces."""
    is_chained = _find_chains(bodies, contacts, substeps)
    if not is_chained.any():
        return is_chained
    for i in range(len(contacts)):
        if is_chained[i]:
            contact = contacts[i]
            _push(bodies, contact, -contact.total_normal_impulse)
            contact.total_normal_impulse = 0.0
    least, fastest, goes = slowest, np.empty(len(bodies)), is_chained.copy()
    for _ in range(MOST_ROUNDS):
        most = _find_fastest(bodies, contacts, is_chained, fastest)
        least = max(least, SLIGHT * most)
        if most <= least:
            break
        _choose(bodies, contacts, is_chained, fastest, least, goes)
        _meet(bodies, contacts, goes, most)
    _meet(bodies, contacts, is_chained, 0.0)
    return is_chained


@kernel
def _find_fastest(bodies: Records, contacts: Records, is_chained: NDArray[np.bool_], fastest: Floats) -> float:
    """The fastest approach of each body that moves, and of all."""
    fastest[:] = 0.0
    most = 0.0
    for i in range(len(contacts)):
        if is_chained[i]:
            approach = -_speed(bodies, contacts[i])
            most = max(most, approach)
            for body in (contacts[i].body_a, contacts[i].body_b):
                if bodies[body].inverse_mass > 0.0:
                    fastest[body] = max(fastest[body], approach)
    return most


@kernel
def _choose(
    bodies: Records,
    contacts: Records,
    is_chained: NDArray[np.bool_],
    fastest: Floats,
    least: float,
    goes: NDArray[np.bool_],
) -> None:
    """All contacts of the pairs that come next."""
    start = 0
    while start < len(contacts):
        stop, approach, is_next = start, 0.0, True
        while stop < len(contacts) and same_sides(contacts[start], contacts[stop]):
            if is_chained[stop]:
                approach = max(approach, -_speed(bodies, contacts[stop]))
            stop += 1
        for body in (contacts[start].body_a, contacts[start].body_b):
            if bodies[body].inverse_mass > 0.0:
                is_next = is_next and approach >= ALIKE * fastest[body]
        for i in range(start, stop):
            goes[i] = is_chained[i] and is_next and approach > least
        start = stop


@kernel
def _speed(bodies: Records, contact: Record) -> float:
    a, b = sides_of(contact)
    return dot(relative_velocity(bodies, a, b), vector(contact.normal))


@kernel
def _push(bodies: Records, contact: Record, impulse: float) -> None:
    a, b = sides_of(contact)
    push_apart(bodies, a, b, scale(vector(contact.normal), impulse), 0)


@kernel
def _find_chains(bodies: Records, contacts: Records, substeps: int) -> NDArray[np.bool_]:
    """(n,) impacts of bodies that have others in the same step, directly or through others. What the step before left for it is a load."""
    count = len(contacts)
    is_chained, some = np.zeros(count, np.bool_), 0
    for i in range(count):
        contact = contacts[i]
        is_plain = contact.end_a == ALONE and contact.end_b == ALONE and contact.standing == 0
        is_plain = is_plain and max(contact.radius_a, contact.radius_b) > 0.0
        total = contact.total_normal_impulse
        if is_plain and contact.restitution > 0.0 and total > 0.0 and contact.borne_impulse * substeps < HALF * total:
            is_chained[i] = True
            some += 1
    if some == 0:
        return is_chained
    pairs, moves = np.empty((some, 2), np.int64), np.zeros(len(bodies), np.int64)
    members, root, last = np.zeros(len(bodies), np.int64), np.empty(len(bodies), np.int64), -1
    row = 0
    for i in range(count):
        if is_chained[i]:
            pairs[row, 0], pairs[row, 1] = contacts[i].body_a, contacts[i].body_b
            row += 1
            for body in (contacts[i].body_a, contacts[i].body_b):
                moves[body] = 1 if bodies[body].inverse_mass > 0.0 else 0
    find_islands(pairs, moves, root)
    for i in range(count):
        if is_chained[i]:
            if last < 0 or not same_sides(contacts[last], contacts[i]):
                members[_root_of(contacts[i], root, moves)] += 1
            last = i
    for i in range(count):
        is_chained[i] = is_chained[i] and members[_root_of(contacts[i], root, moves)] > 1
    return is_chained


@kernel
def _root_of(contact: Record, root: Integers, moves: Integers) -> int:
    return int(root[contact.body_a]) if moves[contact.body_a] == 1 else int(root[contact.body_b])


@kernel
def _meet(bodies: Records, contacts: Records, goes: NDArray[np.bool_], most: float) -> None:
    """Let contacts that go part with their speeds; those that part faster are left. most: the fastest approach; 0: all end without a bounce."""
    for i in range(len(contacts)):
        if goes[i]:
            contact = contacts[i]
            contact.bounce_impulse = 0.0
            contact.parting_speed = contact.restitution * max(0.0, -_speed(bodies, contact)) if most > 0.0 else 0.0
    for _ in range(SWEEPS):
        largest = 0.0
        for i in range(len(contacts)):
            if not goes[i]:
                continue
            contact = contacts[i]
            old = contact.bounce_impulse
            missing = contact.parting_speed - _speed(bodies, contact)
            contact.bounce_impulse = max(0.0, old + contact.normal_mass * missing)
            change = contact.bounce_impulse - old
            _push(bodies, contact, change)
            contact.total_normal_impulse += change
            largest = max(largest, abs(change) / contact.normal_mass)
        if largest <= CALM * most:
            break
