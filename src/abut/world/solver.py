"""Rigid contact: sequential impulses with warm start, in substeps (Catto 2005; "Solver2D", 2024).

A step is cut in substeps. Each one applies gravity, starts from the impulses of the substep before, solves every contact in turn, with a spring that
pushes out what is too deep, moves the bodies, and solves again without the spring, so that pushing leaves no velocity behind. Contacts are found
once a step; their separations follow the bodies from substep to substep to first order in the rotation. Restitution comes last (`restitution`).

A substep is written in `one_contact`, `sweeps` and, for what its contacts take from energy, `energy`. A body in free flight follows its parabola
exactly.

Particles of linkages are rows behind those of the bodies. Contacts push them like bodies, and in turn with the contacts their velocities are changed
so that bones keep their lengths (`link_constraints`). Both see the same velocities: what a bone carries presses on what it lies on.
"""

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.dynamics.rigid_bodies import turn_freely
from abut.geometry.vec import add_scaled, scale
from abut.world.body_rows import POSITION, SPIN, VELOCITY, get, put, turn_inertia
from abut.world.contact_rows import BOUNCE, JB, JN, JT, PREVIOUS, PUSHED, ROLL, TOTAL, TOUCHED, approach
from abut.world.contact_update import follow_contacts
from abut.world.energy import ALLOWED, BEFORE, LOST, NOW, SPARE, START, add_energies, remember
from abut.world.link_constraints import Bonds
from abut.world.one_contact import NO_PUSH, soften
from abut.world.restitution import bounce
from abut.world.sweeps import SUDDEN, converge, settle, solve, take_back_less, warm_start


@kernel
def _advance(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    world: Floats,
    moving: Integers,
    moved: Floats,
    free: Integers,
    gravity: Floats,
    paces: Floats,
    substep: float,
) -> None:
    """Move the bodies, each by its part of the substep, and turn their inertias with them."""
    for k in range(len(moving)):
        i = moving[k]
        h = float(paces[i] * substep)
        v, w = get(state, i, VELOCITY), get(state, i, SPIN)
        if free[i] == 1:
            v = add_scaled(v, get(gravity, i, 0), -0.5 * h)  # the mean of before and after: the parabola itself
        put(state, i, POSITION, add_scaled(get(state, i, POSITION), v, h))
        put(moved, i, 0, scale(v, h))
        put(moved, i, 3, scale(w, h))
        if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
            continue
        m = inertia[i]
        shape = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        q, w, _ = turn_freely((state[i, 3], state[i, 4], state[i, 5], state[i, 6]), w, shape, h)
        state[i, 3], state[i, 4], state[i, 5], state[i, 6] = q
        put(state, i, SPIN, w)
        turn_inertia(state, inverse, world, i)


@kernel
def _forget_impacts(state: Floats, gravity: Floats, pairs: Integers, rows: Floats, particles: int) -> None:
    """Add up what a substep gave, and keep it for the next one; but what came suddenly is an impact, is over at once, and is not given again.

    Contacts that nothing has hit yet learn the speed of their approach from where they are now. particles: the first row of one; their loads go
    through bonds, and come and go."""
    for i in range(len(pairs)):
        now, before = rows[i, JN], rows[i, PREVIOUS]
        rows[i, TOTAL] += now
        if now > 0.0:
            rows[i, TOUCHED] = 1.0
        rows[i, PREVIOUS] = now
        if SUDDEN * before < now and pairs[i, 0] < particles and pairs[i, 1] < particles:
            part = before / now
            rows[i, JN], rows[i, JT], rows[i, JB] = before, part * rows[i, JT], part * rows[i, JB]
            put(rows, i, ROLL, scale(get(rows, i, ROLL), part))
        if rows[i, BOUNCE] > 0.0 and rows[i, TOTAL] == 0.0:
            approach(state, gravity, pairs, rows, i)


@kernel
def step_bodies(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    world: Floats,
    gravity: Floats,
    moving: Integers,
    moved: Floats,
    free: Integers,
    pairs: Integers,
    rows: Floats,
    bonds: Bonds,
    paces: Floats,
    island: Integers,
    ledger: Floats,
    numbers: Floats,
    substeps: int,
    sweeps: int,
) -> int:
    """One step. numbers: dt, the step for which contacts are stiff, most speed of a push, speed below which nothing bounces, slop.

    moving: bodies that move at all. free: 1 for bodies without contact. moved (n,6): room. paces (n,): the part of the time that passes for a body.
    island (n,): see `find_ledgers`. ledger (7,n): room, but for ALLOWED. Impulses of the rows are read and written. How many more were solved."""
    dt, pace, fastest, slowest, slop = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    h = dt / substeps
    for i in range(len(moved)):
        for k in range(6):
            moved[i, k] = 0.0
    for i in range(len(pairs)):
        rows[i, PREVIOUS] = rows[i, JN]
    ledger[LOST] = ledger[ALLOWED]
    more = 0
    for _ in range(substeps):
        for k in range(len(moving)):
            i = moving[k]
            put(state, i, VELOCITY, add_scaled(get(state, i, VELOCITY), get(gravity, i, 0), h * paces[i]))
        add_energies(state, inverse, inertia, island, ledger[BEFORE])
        warm_start(state, inverse, world, pairs, rows)
        limits = soften(h, pace / substeps, fastest, slop)
        solve(state, inverse, world, pairs, rows, h, limits, sweeps, bonds)
        more += converge(state, inverse, world, pairs, rows, h, limits, slowest, island, ledger[NOW], ledger[SPARE])
        more += settle(state, inverse, inertia, world, pairs, rows, h, limits, island, ledger, sweeps)
        _advance(state, inverse, inertia, world, moving, moved, free, gravity, paces, h)
        follow_contacts(state, inverse, world, moved, pairs, rows, slop)
        remember(state, moved)
        add_energies(state, inverse, inertia, island, ledger[START])
        rows[:, PUSHED] = rows[:, JN]
        solve(state, inverse, world, pairs, rows, h, NO_PUSH, sweeps, bonds)
        more += converge(state, inverse, world, pairs, rows, h, NO_PUSH, slowest, island, ledger[NOW], ledger[SPARE])
        more += settle(state, inverse, inertia, world, pairs, rows, h, NO_PUSH, island, ledger, sweeps)
        take_back_less(state, inverse, inertia, pairs, rows, island, ledger, moved)
        ledger[LOST] += ledger[BEFORE] - ledger[NOW]
        _forget_impacts(state, gravity, pairs, rows, len(state) - len(bonds.place))
    bounce(state, inverse, inertia, world, pairs, rows, slowest, island, ledger, moved)
    return more
