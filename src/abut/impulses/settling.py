"""Many contacts solved together until their impulses stand: projected Gauss–Seidel on the velocities (Newton–Euler), one contact after the other, up
and down the pile by turns, each impulse kept in the cone of Coulomb's friction. In the plane: friction acts along one tangent.
"""

import math

from abut.core.arrays import Floats
from abut.core.jit import kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import scale
from abut.impulses.one_contact import hold, press
from abut.impulses.sides import mobility, push_apart, sides_of

SWEEPS = 200
"""A pile of n bodies takes some n² sweeps from scratch, and few where impulses are known from the step before."""
BOTH_MOVE = 0
"""Of a contact: neither side stands on the ground."""


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
        change = hold(bodies, contact, a, b, BOTH_MOVE, slide)
        largest = max(largest, math.fabs(change) / contact.tangent_mass)
    return largest


@kernel
def settle(bodies: Records, contacts: Records, slide: Floats, settled: float) -> int:
    """Change the impulses of contacts so that each parts with its parting speed, or faster; how many sweeps that took.

    slide (k,): how fast each slid before the forces of a step, 0 for impacts. Ends when no contact's velocity changes by more than `settled` in a
    sweep."""
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
