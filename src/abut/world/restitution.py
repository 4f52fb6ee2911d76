"""Restitution, once a step: contacts that were hit part with a share of the speed of their approach.

That speed is the one at the moment of contact, |v|² = v₀² − 2·a·s with the gap s at the start, so that a bounce loses nothing to the step. All
contacts are visited in turn until each has its speed. Two laws bound what they give: no pair of bodies gets back more than e² of the work that its
own contacts took (Stronge 2000), for the normal may have turned since; and no island more than all of its contacts took, for what one contact
gives, another one has to turn round again. Where it would, all of its bounces are weaker by one factor: momentum knows no difference.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.vec import dot, scale
from abut.world.body_rows import VELOCITY, get, push
from abut.world.contact_rows import (
    APPROACH,
    BOUNCE,
    KICK,
    MASS_N,
    STANDS,
    TOTAL,
    WORK,
    N,
    relative,
    same_bodies,
    sides_of,
)
from abut.world.energy import LOST, NOW, SPARE, START, add_energies, remember, weaken

BOUNCE_SWEEPS, CALM = 32, 1e-3
"""At most so many sweeps, which end when no impulse changes by more than this part of the approach's."""


@kernel
def _is_hit(rows: Floats, i: int, slowest: float) -> bool:
    return rows[i, BOUNCE] > 0.0 and rows[i, APPROACH] >= slowest and rows[i, TOTAL] > 0.0


@kernel
def _limit_bounces(state: Floats, pairs: Integers, rows: Floats) -> None:
    """Write the speeds at which contacts shall part in place of the work that they took."""
    start = 0
    while start < len(pairs):
        stop, work = start, 0.0
        while stop < len(pairs) and same_bodies(pairs, start, stop):
            work += rows[stop, WORK]
            stop += 1
        for i in range(start, stop):
            a, b = sides_of(pairs, rows, i)
            speed, e = max(0.0, dot(relative(state, VELOCITY, a, b), get(rows, i, N))), rows[i, BOUNCE]
            most = speed * speed + (2.0 * e * e * max(work, 0.0) / rows[i, MASS_N] if rows[i, MASS_N] > 0.0 else 0.0)
            rows[i, WORK] = min(e * rows[i, APPROACH], math.sqrt(most))
        start = stop


@kernel
def bounce(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    world: Floats,
    pairs: Integers,
    rows: Floats,
    slowest: float,
    island: Integers,
    ledger: Floats,
    room: Floats,
) -> None:
    """Give contacts that were hit their speeds. slowest: of an approach that bounces. ledger (7,n): in LOST what the contacts of each island took in
    the step. room (n,6) is written over."""
    _limit_bounces(state, pairs, rows)
    remember(state, room)
    add_energies(state, inverse, inertia, island, ledger[START])
    for sweep in range(BOUNCE_SWEEPS):
        calm = True
        for i in range(len(pairs)):
            if not _is_hit(rows, i, slowest):
                continue
            a, b = sides_of(pairs, rows, i)
            n = get(rows, i, N)
            missing = rows[i, WORK] - dot(relative(state, VELOCITY, a, b), n)
            old = rows[i, KICK] if sweep > 0 else 0.0
            rows[i, KICK] = max(0.0, old + rows[i, MASS_N] * missing)
            j = rows[i, KICK] - old
            if rows[i, STANDS] >= 0.0:
                push(state, inverse, world, a, scale(n, -j))
            if rows[i, STANDS] <= 0.0:
                push(state, inverse, world, b, scale(n, j))
            calm = calm and abs(j) <= CALM * rows[i, MASS_N] * rows[i, APPROACH]
        if calm:
            break
    most = ledger[LOST]
    for i in range(len(most)):
        most[i] = max(most[i], 0.0)
    weaken(state, inverse, inertia, island, ledger[START], most, ledger[NOW], ledger[SPARE], room)
    for i in range(len(pairs)):
        if _is_hit(rows, i, slowest):
            root = max(island[pairs[i, 0]], island[pairs[i, 1]])
            rows[i, TOTAL] += rows[i, KICK] * (ledger[NOW, root] if root >= 0 else 1.0)
