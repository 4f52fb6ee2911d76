"""Rigid contact: sequential impulses with warm start, in substeps (Catto 2005; "Solver2D", 2024).

A step is cut in substeps. Each one applies gravity, starts from the impulses of the substep before, solves every contact in turn, with a spring that
pushes out what is too deep, moves the bodies, and solves again without the spring, so that pushing leaves no velocity behind. Contacts are found
once a step; their separations follow the bodies from substep to substep to first order in the rotation. Restitution comes last (`restitution`).

The spring gives way under load, by F / (m ω²), and so it damps the rocking of a stack; but an arch between two walls would be pressed far together.
From HOLDS of the slop on it gives way to a growing part of the load's change only, and at 0.95 slop to no standing load at all: no contact at rest
is deeper than that, whatever lies on it.

Where something is hit, its island is swept until its impulses stand, for what is left out would make a box that falls flat leave the ground.
Contacts make no energy: where a few sweeps leave an island with more of it than it had before its contacts, there are more of them, until it has not.

Friction is a circle: both tangential impulses together are at most μ times the normal one. Rolling and spinning on the spot are held by a torque of
at most one slop times the normal impulse, as a patch of that size would. A body in free flight follows its parabola exactly.

Particles of linkages are rows behind those of the bodies. Contacts push them like bodies, and in turn with the contacts their velocities are changed
so that bones keep their lengths (`bonds`). Both see the same velocities: what a bone carries presses on what it lies on, and friction holds it.
"""

import math

from abut.arrays import Floats, Integers
from abut.dynamics.rigid import turn_freely
from abut.geometry.vec import Vec3, add_scaled, dot, norm_sq, scale, subtract
from abut.jit import element, inlined, kernel, stay_apart
from abut.world.bonds import Bonds, hold_lengths, restore_lengths
from abut.world.contact_motion import follow_contacts
from abut.world.energy import ALLOWED, BEFORE, LOST, NOW, ROUNDING, SPARE, START, add_energies, remember, weaken
from abut.world.impulses import (
    ALONE,
    POSITION,
    SPIN,
    VELOCITY,
    Side,
    get,
    push,
    put,
    turn_inertia,
    twist,
)
from abut.world.restitution import CALM, bounce
from abut.world.rows import (
    APPROACH,
    ARM_A,
    ARM_B,
    BOUNCE,
    COLD,
    FRICTION,
    GAP,
    HELD,
    JB,
    JN,
    JT,
    MASS_B,
    MASS_N,
    MASS_R,
    MASS_T,
    PREVIOUS,
    PUSHED,
    REACH,
    REST,
    ROLL,
    STANDS,
    TOTAL,
    TOUCHED,
    WORK,
    B,
    N,
    T,
    approach,
    relative,
    sides_of,
)

STIFFNESS = 0.25
DAMPING = 4.0
"""Of the spring and damper that stand for a contact that is too deep: a quarter of a cycle a substep, the most that is stable, and four times
critical damping. A rigid push in their place feeds the rocking of a stack of five until it falls."""
HOLDS, FIRM = 0.7, 0.95
"""Parts of the slop between which the spring stops giving way to the load. A stack of twenty boxes is 0.63 slop deep at its foot."""
MORE_SWEEPS, GAIN = 64, 0.99
"""At most so many sweeps more for islands in which something is hit, or whose contacts have made energy and take back a hundredth with each."""
SUDDEN = 2.0
"""More than so many times what the substep before gave is an impact. Loads change less: a stack that sways moves a part of them from side to side."""

Limits = tuple[float, float, float, float, float, float]
NO_PUSH: Limits = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@inlined
def _push_apart(state: Floats, inverse: Floats, world: Floats, a: Side, b: Side, j: Vec3, stands: float) -> None:
    """Apply the impulse j to b and −j to a; a side that stands on the ground hands it on."""
    if stands >= 0.0:
        push(state, inverse, world, a, scale(j, -1.0))
    if stands <= 0.0:
        push(state, inverse, world, b, j)


@element
def soften(h: float, pace: float, fastest: float, slop: float) -> Limits:
    """Of a spring for substeps of the length `pace`, in one of the length h: velocity per depth and its bound, the part of an impulse that is given,
    the part of the old one that is taken back, and with a gap g the part a·g + b of the standing load that is not."""
    omega = 2.0 * math.pi * STIFFNESS / pace
    resistance = 2.0 * DAMPING + h * omega
    give = 1.0 / (1.0 + h * omega * resistance)
    width = FIRM - HOLDS
    return omega / resistance, fastest, 1.0 - give, give, -1.0 / (width * slop), (REST - HOLDS) / width


@kernel
def _solve_row(
    state: Floats,
    inverse: Floats,
    world: Floats,
    pairs: Integers,
    rows: Floats,
    i: int,
    h: float,
    limits: Limits,
) -> None:
    """One contact. limits: see `soften`. Two bodies have code of their own, in which a second particle does not occur."""
    if pairs[i, 2] == ALONE and pairs[i, 3] == ALONE and rows[i, STANDS] == 0.0:
        a, b = (pairs[i, 0], ALONE, 0.0, get(rows, i, ARM_A)), (pairs[i, 1], ALONE, 0.0, get(rows, i, ARM_B))
        _solve_sides(state, inverse, world, rows, i, a, b, 0.0, h, limits)
    else:
        c, d = sides_of(pairs, rows, i)
        _solve_sides(state, inverse, world, rows, i, c, d, rows[i, STANDS], h, limits)


@inlined
def _solve_sides(
    state: Floats,
    inverse: Floats,
    world: Floats,
    rows: Floats,
    i: int,
    a: Side,
    b: Side,
    stands: float,
    h: float,
    limits: Limits,
) -> None:
    """The normal first, then friction."""
    n = get(rows, i, N)
    gap = rows[i, GAP]
    bias = gap / h if gap > 0.0 else max(limits[0] * gap, -limits[1])
    firm, give = (1.0, 0.0) if gap > 0.0 else (limits[2], limits[3])
    v = relative(state, VELOCITY, a, b)
    old = rows[i, JN]
    held = min(1.0, max(0.0, limits[4] * gap + limits[5])) * rows[i, HELD]
    rows[i, JN] = max(0.0, old - firm * rows[i, MASS_N] * (dot(v, n) + bias) - give * (old - held))
    change = rows[i, JN] - old
    if change != 0.0:
        rows[i, WORK] -= change * (dot(v, n) + 0.5 * change / rows[i, MASS_N])
    _push_apart(state, inverse, world, a, b, scale(n, change), stands)
    v = relative(state, VELOCITY, a, b)
    t, s = get(rows, i, T), get(rows, i, B)
    old_t, old_s = rows[i, JT], rows[i, JB]
    new_t, new_s = old_t - rows[i, MASS_T] * dot(v, t), old_s - rows[i, MASS_B] * dot(v, s)
    most = rows[i, FRICTION] * rows[i, JN]
    size = math.sqrt(new_t * new_t + new_s * new_s)
    if size > most:
        new_t, new_s = new_t * most / size, new_s * most / size
    rows[i, JT], rows[i, JB] = new_t, new_s
    along = add_scaled(scale(t, new_t - old_t), s, new_s - old_s)
    _push_apart(state, inverse, world, a, b, along, stands)
    if rows[i, REACH] > 0.0:
        _hold_turn(state, world, rows, i, a[0], b[0])


@kernel
def _twist_apart(state: Floats, world: Floats, a: int, b: int, j: Vec3) -> None:
    """Apply the angular impulse j to b and −j to a."""
    twist(state, world, a, scale(j, -1.0))
    twist(state, world, b, j)


@kernel
def _hold_turn(state: Floats, world: Floats, rows: Floats, i: int, a: int, b: int) -> None:
    """Rolling and spinning friction."""
    old = get(rows, i, ROLL)
    new = add_scaled(old, subtract(get(state, b, SPIN), get(state, a, SPIN)), -rows[i, MASS_R])
    size, most = math.sqrt(norm_sq(new)), rows[i, REACH] * rows[i, JN]
    if size > most:
        new = scale(new, most / size)
    put(rows, i, ROLL, new)
    _twist_apart(state, world, a, b, subtract(new, old))


@kernel
def _solve(
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
            _solve_row(state, inverse, world, pairs, rows, i, h, limits)


@kernel
def _is_impact(rows: Floats, i: int, slowest: float) -> bool:
    return rows[i, APPROACH] > slowest and rows[i, JN] > SUDDEN * rows[i, PREVIOUS]


@kernel
def _converge(
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
    """Go on with sweeps over islands in which something is hit, until no impulse there changes by more than CALM of it; how many.

    A box that falls flat touches with many points. The first that are visited take all of the impact, and turn it: it would leave, although nothing
    bounces. busy, still (n,): room."""
    busy[:] = 0.0
    for i in range(len(pairs)):
        root = max(island[pairs[i, 0]], island[pairs[i, 1]])
        if root >= 0 and _is_impact(rows, i, slowest):
            busy[root] = 1.0
    for sweep in range(MORE_SWEEPS):
        if not busy.any():
            return sweep
        still[:] = 0.0
        for k in range(len(pairs)):
            i = k if sweep % 2 == 0 else len(pairs) - 1 - k
            root = max(island[pairs[i, 0]], island[pairs[i, 1]])
            if root < 0 or busy[root] == 0.0:
                continue
            old = rows[i, JN]
            _solve_row(state, inverse, world, pairs, rows, i, h, limits)
            if rows[i, APPROACH] > slowest and abs(rows[i, JN] - old) > CALM * rows[i, MASS_N] * rows[i, APPROACH]:
                still[root] = 1.0
        busy[:] = still
    return MORE_SWEEPS


@kernel
def _settle(
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
) -> int:
    """Go on with sweeps over islands whose contacts have made energy in this substep; how many.

    The impulses that are looked for make none: they bring the energy down to the least there is, and each sweep comes nearer. Those that push out of
    a depth make some for a while, no more than it takes; but they are taken back where the bodies are after they moved. ledger: see `energy`."""
    last = ledger[SPARE]
    last[:] = math.inf
    for sweep in range(MORE_SWEEPS):
        add_energies(state, inverse, inertia, island, ledger[NOW])
        busy = False
        for i in range(len(last)):
            grown = ledger[NOW, i] - ledger[BEFORE, i] - ledger[ALLOWED, i]
            last[i] = grown if grown > ROUNDING * ledger[NOW, i] and grown < GAIN * last[i] else -math.inf
            busy = busy or last[i] > 0.0
        if not busy:
            return sweep
        for k in range(len(pairs)):
            i = k if sweep % 2 == 1 else len(pairs) - 1 - k
            root = max(island[pairs[i, 0]], island[pairs[i, 1]])
            if root >= 0 and last[root] > 0.0:
                _solve_row(state, inverse, world, pairs, rows, i, h, limits)
    add_energies(state, inverse, inertia, island, ledger[NOW])
    return MORE_SWEEPS


@kernel
def _take_back_less(
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
def _warm_start(state: Floats, inverse: Floats, world: Floats, pairs: Integers, rows: Floats) -> None:
    for i in range(len(pairs)):
        a, b = sides_of(pairs, rows, i)
        if rows[i, COLD] != 0.0:
            rows[i, JN], rows[i, JT], rows[i, JB] = 0.0, 0.0, 0.0
        if rows[i, BOUNCE] > 0.0 and rows[i, JN] > 0.0:
            speed = dot(relative(state, VELOCITY, a, b), get(rows, i, N))
            rows[i, WORK] -= rows[i, JN] * (speed + 0.5 * rows[i, JN] / rows[i, MASS_N])
        j = add_scaled(scale(get(rows, i, N), rows[i, JN]), get(rows, i, T), rows[i, JT])
        _push_apart(state, inverse, world, a, b, add_scaled(j, get(rows, i, B), rows[i, JB]), rows[i, STANDS])
        if rows[i, REACH] > 0.0:
            _twist_apart(state, world, a[0], b[0], get(rows, i, ROLL))
        else:
            put(rows, i, ROLL, (0.0, 0.0, 0.0))
        rows[i, HELD] = rows[i, JN]


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
    island (n,): see `find_ledgers`. ledger (6,n): room, but for ALLOWED. Impulses of the rows are read and written. How many sweeps came on top."""
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
        _warm_start(state, inverse, world, pairs, rows)
        limits = soften(h, pace / substeps, fastest, slop)
        _solve(state, inverse, world, pairs, rows, h, limits, sweeps, bonds)
        more += _converge(state, inverse, world, pairs, rows, h, limits, slowest, island, ledger[NOW], ledger[SPARE])
        more += _settle(state, inverse, inertia, world, pairs, rows, h, limits, island, ledger)
        _advance(state, inverse, inertia, world, moving, moved, free, gravity, paces, h)
        follow_contacts(state, inverse, world, moved, pairs, rows, slop)
        remember(state, moved)
        add_energies(state, inverse, inertia, island, ledger[START])
        rows[:, PUSHED] = rows[:, JN]
        _solve(state, inverse, world, pairs, rows, h, NO_PUSH, sweeps, bonds)
        more += _converge(state, inverse, world, pairs, rows, h, NO_PUSH, slowest, island, ledger[NOW], ledger[SPARE])
        more += _settle(state, inverse, inertia, world, pairs, rows, h, NO_PUSH, island, ledger)
        _take_back_less(state, inverse, inertia, pairs, rows, island, ledger, moved)
        ledger[LOST] += ledger[BEFORE] - ledger[NOW]
        _forget_impacts(state, gravity, pairs, rows, len(state) - len(bonds.place))
    bounce(state, inverse, inertia, world, pairs, rows, slowest, island, ledger, moved)
    return more
