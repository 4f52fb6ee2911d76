"""Sweeps over contacts: a few for all of them, and more where these do not do.

Where a body is hit, its contacts are swept until their impulses stand, for what is left out would make a box that falls flat leave the ground.
Contacts make no energy: where a few sweeps leave an island with more of it than it had before its contacts, there are more of them, until it has not.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.geometry.vec import add_scaled, dot, scale
from abut.world.body_rows import VELOCITY, get, put
from abut.world.contact_rows import (
    APPROACH,
    BOUNCE,
    COLD,
    HELD,
    JB,
    JN,
    JT,
    MASS_N,
    PUSHED,
    REACH,
    ROLL,
    STANDS,
    WORK,
    B,
    N,
    T,
    relative,
    sides_of,
)
from abut.world.energy import ALLOWED, BEFORE, HELD_UP, NONE, NOW, ROUNDING, SPARE, START, add_energies, weaken
from abut.world.link_constraints import Bonds, hold_lengths, restore_lengths
from abut.world.one_contact import Limits, push_apart, solve_row, twist_apart

MORE_SWEEPS, GAIN = 64, 0.99
"""At most so many sweeps more for bodies that are hit, and for islands whose contacts have made energy and take back a hundredth with each."""
STEADY = 2e-4
"""Of the impulse that would stop a contact alone: changes below it end the sweeps. Dozens of points of one face add up to some times as much."""
SUDDEN = 2.0
"""More than so many times what the substep before gave is an impact. Loads change less: a stack that sways moves a part of them from side to side."""


@kernel
def solve(
    state: Floats,
    inverse: Floats,
    world: Floats,
    pairs: Integers,
    rows: Floats,
    h: float,
    limits: Limits,
    sweeps: int,
    bonds: Bonds,
) -> None:
    """All contacts in turn, to and fro, and before each sweep the links. With a stiffness of 0 pushing apart leaves no velocity."""
    stay_apart()
    count = len(pairs)
    for sweep in range(sweeps):
        if limits[0] > 0.0:
            restore_lengths(state, bonds, h, limits[1])
        else:
            hold_lengths(state, bonds)
        for k in range(count):
            i = k if sweep % 2 == 0 else count - 1 - k
            solve_row(state, inverse, world, pairs, rows, i, h, limits)


@kernel
def _is_impact(rows: Floats, i: int, slowest: float) -> bool:
    """Whether a contact gives suddenly more, or less, than the substep before: also what is left of an impact must be undone with care."""
    now, before = rows[i, JN], rows[i, HELD]
    return rows[i, APPROACH] > slowest and max(now, before) > SUDDEN * min(now, before)


@kernel
def converge(
    state: Floats,
    inverse: Floats,
    world: Floats,
    pairs: Integers,
    rows: Floats,
    h: float,
    limits: Limits,
    slowest: float,
    island: Integers,
    busy: Floats,
    still: Floats,
) -> int:
    """Go on with sweeps over the contacts of bodies that are hit, until no impulse there changes by more than STEADY of it; how many it solved.

    A box that falls flat touches with many points. The first that are visited take all of the impact, and turn it: it would leave, although nothing
    bounces. busy, still (n,): room."""
    busy[:] = 0.0
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        if max(island[a], island[b]) != NONE and _is_impact(rows, i, slowest):
            _mark(island, busy, a, b)
    solved = 0
    for sweep in range(MORE_SWEEPS):
        if not busy.any():
            break
        still[:] = 0.0
        for k in range(len(pairs)):
            i = k if sweep % 2 == 0 else len(pairs) - 1 - k
            a, b = pairs[i, 0], pairs[i, 1]
            if (busy[a] == 0.0 and busy[b] == 0.0) or max(island[a], island[b]) == NONE:
                continue
            old = rows[i, JN]
            solve_row(state, inverse, world, pairs, rows, i, h, limits)
            solved += 1
            if rows[i, APPROACH] > slowest and abs(rows[i, JN] - old) > STEADY * rows[i, MASS_N] * rows[i, APPROACH]:
                _mark(island, still, a, b)
        for i in range(len(busy)):
            busy[i] *= still[i]
    return solved


@kernel
def _mark(island: Integers, marks: Floats, a: int, b: int) -> None:
    """Mark two bodies, those that move."""
    for body in (a, b):
        if island[body] != NONE:
            marks[body] = 1.0


@kernel
def settle(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    world: Floats,
    pairs: Integers,
    rows: Floats,
    h: float,
    limits: Limits,
    island: Integers,
    ledger: Floats,
    again: int,
) -> int:
    """Go on with sweeps over islands whose contacts have made energy in this substep; how many contacts it solved.

    The impulses that are looked for make none: they bring the energy down to the least there is, and each sweep comes nearer. Those that push out of
    a depth make some for a while, no more than it takes; but they are taken back where the bodies are after they moved. ledger: see `energy`.
    again: the most sweeps for islands that something holds up, which push others than themselves and may be large."""
    last = ledger[SPARE]
    last[:] = math.inf
    solved = 0
    for sweep in range(MORE_SWEEPS):
        add_energies(state, inverse, inertia, island, ledger[NOW])
        busy = False
        for i in range(len(last)):
            grown = ledger[NOW, i] - ledger[BEFORE, i] - ledger[ALLOWED, i]
            goes_on = sweep < again or ledger[HELD_UP, i] == 0.0
            grows = grown > ROUNDING * ledger[NOW, i] and grown < GAIN * last[i]
            last[i] = grown if grows and goes_on else -math.inf
            busy = busy or last[i] > 0.0
        if not busy:
            return solved
        for k in range(len(pairs)):
            i = k if sweep % 2 == 1 else len(pairs) - 1 - k
            root = max(island[pairs[i, 0]], island[pairs[i, 1]])
            if root >= 0 and last[root] > 0.0:
                solve_row(state, inverse, world, pairs, rows, i, h, limits)
                solved += 1
    add_energies(state, inverse, inertia, island, ledger[NOW])
    return solved


@kernel
def take_back_less(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    pairs: Integers,
    rows: Floats,
    island: Integers,
    ledger: Floats,
    room: Floats,
) -> None:
    """Where an island has more energy than before its contacts, keep of the second pass only the part that makes none.

    A push is given where the bodies are, and what is too much of it is taken back where they have got to: there it may set free more than it took."""
    grows = False
    for i in range(len(island)):
        grows = grows or ledger[NOW, i] > ledger[BEFORE, i] * (1.0 + ROUNDING) + ledger[ALLOWED, i]
    if not grows:
        return
    most, part = ledger[BEFORE] + ledger[ALLOWED] - ledger[START], ledger[NOW]
    weaken(state, inverse, inertia, island, ledger[START], most, part, ledger[SPARE], room)
    for i in range(len(pairs)):
        root = max(island[pairs[i, 0]], island[pairs[i, 1]])
        if root >= 0 and part[root] < 1.0:
            rows[i, JN] = rows[i, PUSHED] + part[root] * (rows[i, JN] - rows[i, PUSHED])
    add_energies(state, inverse, inertia, island, ledger[NOW])


@kernel
def warm_start(state: Floats, inverse: Floats, world: Floats, pairs: Integers, rows: Floats) -> None:
    """Give the impulses of the substep before."""
    for i in range(len(pairs)):
        a, b = sides_of(pairs, rows, i)
        if rows[i, COLD] != 0.0:
            rows[i, JN], rows[i, JT], rows[i, JB] = 0.0, 0.0, 0.0
        if rows[i, BOUNCE] > 0.0 and rows[i, JN] > 0.0:
            speed = dot(relative(state, VELOCITY, a, b), get(rows, i, N))
            rows[i, WORK] -= rows[i, JN] * (speed + 0.5 * rows[i, JN] / rows[i, MASS_N])
        j = add_scaled(scale(get(rows, i, N), rows[i, JN]), get(rows, i, T), rows[i, JT])
        push_apart(state, inverse, world, a, b, add_scaled(j, get(rows, i, B), rows[i, JB]), rows[i, STANDS])
        if rows[i, REACH] > 0.0:
            twist_apart(state, world, a[0], b[0], get(rows, i, ROLL))
        else:
            put(rows, i, ROLL, (0.0, 0.0, 0.0))
        rows[i, HELD] = rows[i, JN]
