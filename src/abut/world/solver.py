"""Rigid contact: sequential impulses with warm start, in substeps (Catto 2005; "Solver2D", 2024).

A step is cut in substeps. Each one applies gravity, starts from the impulses of the substep before, solves every contact in turn, with a spring that
pushes out what is too deep, moves the bodies, and solves again without the spring, so that pushing leaves no velocity behind. Contacts are found
once a step; their separations follow the bodies from substep to substep to first order in the rotation. Restitution comes last: the speed of the
approach is that at the moment of contact, |v|² = v₀² − 2·a·s with the separation s at the start, so that a bounce loses nothing to the step.

The spring gives way under load, by F / (m ω²), and so it damps the rocking of a stack; but an arch between two walls would be pressed far together.
From HOLDS of the slop on it gives way to a growing part of the load's change only, and at 0.95 slop to no standing load at all: no contact at rest
is deeper than that, whatever lies on it.

Friction is a circle: both tangential impulses together are at most μ times the normal one. Rolling and spinning on the spot are held by a torque of
at most one slop times the normal impulse, as a patch of that size would. A body in free flight follows its parabola exactly.

Particles of linkages are rows behind those of the bodies. Contacts push them like bodies, and in turn with the contacts their velocities are changed
so that bones keep their lengths (`bonds`). Both see the same velocities: what a bone carries presses on what it lies on, and friction holds it.
"""

import math

from abut.arrays import Floats, Integers
from abut.dynamics.rigid import turn_freely
from abut.geometry.vec import Vec3, add_scaled, cross, distance_sq, dot, norm_sq, scale, subtract
from abut.jit import element, kernel, stay_apart
from abut.world.bonds import Bonds, hold_lengths, restore_lengths
from abut.world.impulses import (
    ALONE,
    POSITION,
    SPIN,
    VELOCITY,
    Side,
    get,
    mobility,
    motion_of,
    push,
    put,
    tangent_to,
    twist,
)

STIFFNESS = 0.25
DAMPING = 4.0
"""Of the spring and damper that stand for a contact that is too deep: a quarter of a cycle a substep, the most that is stable, and four times
critical damping. A rigid push in their place feeds the rocking of a stack of five until it falls."""
REST = 0.5
"""Bodies rest this part of the slop deep, and are held there from both sides: neither do contacts come and go, nor can a stack lean freely."""
HOLDS, FIRM = 0.7, 0.95
"""Parts of the slop between which the spring stops giving way to the load. A stack of twenty boxes is 0.63 slop deep at its foot."""
BOUNCE_SWEEPS, CALM = 32, 1e-3
"""A box that falls flat on its four corners has the full bounce, to 1e-3, after ten sweeps."""
PATCH = 4.0
"""In slops: contacts of a pair that lie within so much of a line do not keep it from rolling."""
# Contact rows: normal, two tangents, arms from the centers of mass, angular impulse, then numbers.
N, T, B, ARM_A, ARM_B, ROLL = 0, 3, 6, 9, 12, 15
GAP, MASS_N, MASS_T, MASS_B, MASS_R, FRICTION, BOUNCE = range(18, 25)
JN, JT, JB, TOTAL, APPROACH, REACH, HELD, SHARE_A, SHARE_B, KICK = range(25, 35)
WIDTH = 35

Limits = tuple[float, float, float, float, float, float]


@kernel
def _sides(pairs: Integers, rows: Floats, i: int) -> tuple[Side, Side]:
    """The two points that touch. pairs (n,4): bodies, or first particles, of a and b; then second particles."""
    a = (pairs[i, 0], pairs[i, 2], rows[i, SHARE_A], get(rows, i, ARM_A))
    b = (pairs[i, 1], pairs[i, 3], rows[i, SHARE_B], get(rows, i, ARM_B))
    return a, b


@kernel
def _relative(rows: Floats, at: int, a: Side, b: Side) -> Vec3:
    """How b's point moves, seen from a's."""
    return subtract(motion_of(rows, at, b), motion_of(rows, at, a))


@kernel
def _pull_at(gravity: Floats, side: Side) -> Vec3:
    """What gravity does to a point."""
    i, j, share, _ = side
    if j == ALONE:
        return get(gravity, i, 0)
    return add_scaled(scale(get(gravity, i, 0), 1.0 - share), get(gravity, j, 0), share)


@kernel
def _mass(inverse: Floats, world: Floats, a: Side, b: Side, d: Vec3) -> float:
    """How hard it is to change the relative velocity of two points along d; 0 if nothing can."""
    k = mobility(inverse, world, a, d) + mobility(inverse, world, b, d)
    return 1.0 / k if k > 0.0 else 0.0


@kernel
def _push_apart(state: Floats, inverse: Floats, world: Floats, a: Side, b: Side, j: Vec3) -> None:
    """Apply the impulse j to b and −j to a."""
    push(state, inverse, world, a, scale(j, -1.0))
    push(state, inverse, world, b, j)


@kernel
def _same_bodies(pairs: Integers, i: int, k: int) -> bool:
    same = pairs[i, 0] == pairs[k, 0] and pairs[i, 1] == pairs[k, 1]
    return same and pairs[i, 2] == pairs[k, 2] and pairs[i, 3] == pairs[k, 3]


@kernel
def prepare(
    state: Floats,
    inverse: Floats,
    world: Floats,
    gravity: Floats,
    pairs: Integers,
    found: Floats,
    rows: Floats,
    slop: float,
) -> None:
    """Contact rows from the narrow phase's; FRICTION, BOUNCE, shares and impulses are set by the caller. `gravity` (n,3) is each body's own.

    Contacts shall be REST · slop deep. Rows of a pair stand together."""
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        point, normal = get(found, i, 0), get(found, i, 3)
        t = tangent_to(normal)
        s = cross(normal, t)
        put(rows, i, N, normal)
        put(rows, i, T, t)
        put(rows, i, B, s)
        put(rows, i, ARM_A, subtract(point, get(state, a, POSITION)))
        put(rows, i, ARM_B, subtract(point, get(state, b, POSITION)))
        side_a, side_b = _sides(pairs, rows, i)
        rows[i, GAP], rows[i, TOTAL] = found[i, 6] + REST * slop, 0.0
        rows[i, MASS_N] = _mass(inverse, world, side_a, side_b, normal)
        rows[i, MASS_T] = _mass(inverse, world, side_a, side_b, t)
        rows[i, MASS_B] = _mass(inverse, world, side_a, side_b, s)
        k = world[a, 0] + world[a, 4] + world[a, 8] + world[b, 0] + world[b, 4] + world[b, 8]
        rows[i, MASS_R] = (
            1.0 / k if k > 0.0 else 0.0
        )  # no less than any direction's: it may take more sweeps, never overshoot
        speed = dot(_relative(state, VELOCITY, side_a, side_b), normal)
        pull = dot(subtract(_pull_at(gravity, side_b), _pull_at(gravity, side_a)), normal)
        rows[i, APPROACH] = math.sqrt(max(0.0, speed * speed - 2.0 * pull * rows[i, GAP])) if speed < 0.0 else 0.0
    start = 0
    while start < len(pairs):
        stop = start + 1
        while stop < len(pairs) and _same_bodies(pairs, start, stop):
            stop += 1
        turns = _can_turn(inverse, world, pairs[start, 0]) and _can_turn(inverse, world, pairs[start, 1])
        reach = slop if turns and _is_narrow(found, start, stop, PATCH * slop) else 0.0
        for i in range(start, stop):
            rows[i, REACH] = reach
        start = stop


@kernel
def _can_turn(inverse: Floats, world: Floats, i: int) -> bool:
    """Whether a body takes an angular impulse, or stands fast; a particle does neither."""
    return inverse[i, 0] == 0.0 or world[i, 0] + world[i, 4] + world[i, 8] > 0.0


@kernel
def _is_narrow(found: Floats, start: int, stop: int, width: float) -> bool:
    """Whether the points of some rows lie along a line."""
    p, far, most = get(found, start, 0), start, 0.0
    for i in range(start + 1, stop):
        d = distance_sq(p, get(found, i, 0))
        if d > most:
            far, most = i, d
    u, wide = subtract(get(found, far, 0), p), 0.0
    for i in range(start + 1, stop):
        wide = max(wide, norm_sq(cross(u, subtract(get(found, i, 0), p))))
    return wide <= width * width * most


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
    moved: Floats,
    pairs: Integers,
    rows: Floats,
    i: int,
    h: float,
    limits: Limits,
) -> None:
    """One contact: the normal first, then friction. limits: see `soften`."""
    a, b = _sides(pairs, rows, i)
    n = get(rows, i, N)
    gap = rows[i, GAP] + dot(_relative(moved, 0, a, b), n)
    bias = gap / h if gap > 0.0 else max(limits[0] * gap, -limits[1])
    firm, give = (1.0, 0.0) if gap > 0.0 else (limits[2], limits[3])
    v = _relative(state, VELOCITY, a, b)
    old = rows[i, JN]
    held = min(1.0, max(0.0, limits[4] * gap + limits[5])) * rows[i, HELD]
    rows[i, JN] = max(0.0, old - firm * rows[i, MASS_N] * (dot(v, n) + bias) - give * (old - held))
    _push_apart(state, inverse, world, a, b, scale(n, rows[i, JN] - old))
    v = _relative(state, VELOCITY, a, b)
    t, s = get(rows, i, T), get(rows, i, B)
    old_t, old_s = rows[i, JT], rows[i, JB]
    new_t, new_s = old_t - rows[i, MASS_T] * dot(v, t), old_s - rows[i, MASS_B] * dot(v, s)
    most = rows[i, FRICTION] * rows[i, JN]
    size = math.sqrt(new_t * new_t + new_s * new_s)
    if size > most:
        new_t, new_s = new_t * most / size, new_s * most / size
    rows[i, JT], rows[i, JB] = new_t, new_s
    _push_apart(state, inverse, world, a, b, add_scaled(scale(t, new_t - old_t), s, new_s - old_s))
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
    moved: Floats,
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
            restore_lengths(state, bonds, h)
        else:
            hold_lengths(state, bonds)
        for k in range(count):
            i = k if sweep % 2 == 0 else count - 1 - k
            _solve_row(state, inverse, world, moved, pairs, rows, i, h, limits)


@kernel
def _warm_start(state: Floats, inverse: Floats, world: Floats, pairs: Integers, rows: Floats) -> None:
    for i in range(len(pairs)):
        j = add_scaled(scale(get(rows, i, N), rows[i, JN]), get(rows, i, T), rows[i, JT])
        j = add_scaled(j, get(rows, i, B), rows[i, JB])
        a, b = _sides(pairs, rows, i)
        _push_apart(state, inverse, world, a, b, j)
        if rows[i, REACH] > 0.0:
            _twist_apart(state, world, a[0], b[0], get(rows, i, ROLL))
        else:
            put(rows, i, ROLL, (0.0, 0.0, 0.0))
        rows[i, HELD] = rows[i, JN]


@kernel
def _advance(
    state: Floats, inertia: Floats, moving: Integers, moved: Floats, free: Integers, gravity: Floats, h: float
) -> None:
    for k in range(len(moving)):
        i = moving[k]
        v, w = get(state, i, VELOCITY), get(state, i, SPIN)
        if free[i] == 1:
            v = add_scaled(v, get(gravity, i, 0), -0.5 * h)  # the mean of before and after: the parabola itself
        put(state, i, POSITION, add_scaled(get(state, i, POSITION), v, h))
        put(moved, i, 0, add_scaled(get(moved, i, 0), v, h))
        put(moved, i, 3, add_scaled(get(moved, i, 3), w, h))
        if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
            continue
        m = inertia[i]
        shape = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        q, w, _ = turn_freely((state[i, 3], state[i, 4], state[i, 5], state[i, 6]), w, shape, h)
        state[i, 3], state[i, 4], state[i, 5], state[i, 6] = q
        put(state, i, SPIN, w)


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
    numbers: Floats,
    substeps: int,
    sweeps: int,
) -> None:
    """One step. numbers: dt, the step for which contacts are stiff, most speed of a push, speed below which nothing bounces, slop.

    moving: bodies that move at all. free: 1 for bodies without contact. moved (n,6) and the impulses of the rows are read and written."""
    dt, pace, fastest, slowest, slop = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    h = dt / substeps
    for i in range(len(moved)):
        for k in range(6):
            moved[i, k] = 0.0
    for _ in range(substeps):
        for k in range(len(moving)):
            i = moving[k]
            put(state, i, VELOCITY, add_scaled(get(state, i, VELOCITY), get(gravity, i, 0), h))
        _warm_start(state, inverse, world, pairs, rows)
        _solve(state, inverse, world, moved, pairs, rows, h, soften(h, pace / substeps, fastest, slop), sweeps, bonds)
        _advance(state, inertia, moving, moved, free, gravity, h)
        _solve(state, inverse, world, moved, pairs, rows, h, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), sweeps, bonds)
        for i in range(len(pairs)):
            rows[i, TOTAL] += rows[i, JN]
    _bounce(state, inverse, world, pairs, rows, slowest)


@kernel
def _bounce(state: Floats, inverse: Floats, world: Floats, pairs: Integers, rows: Floats, slowest: float) -> None:
    """Give contacts that were hit the speed of their approach times the restitution: in turn, until none changes by more than CALM of it."""
    for sweep in range(BOUNCE_SWEEPS):
        worst = 0.0
        for i in range(len(pairs)):
            if rows[i, BOUNCE] == 0.0 or rows[i, APPROACH] < slowest or rows[i, TOTAL] == 0.0:
                continue
            a, b = _sides(pairs, rows, i)
            n = get(rows, i, N)
            missing = rows[i, BOUNCE] * rows[i, APPROACH] - dot(_relative(state, VELOCITY, a, b), n)
            old = rows[i, KICK] if sweep > 0 else 0.0
            rows[i, KICK] = max(0.0, old + rows[i, MASS_N] * missing)
            j = rows[i, KICK] - old
            rows[i, TOTAL] += j
            _push_apart(state, inverse, world, a, b, scale(n, j))
            if rows[i, MASS_N] > 0.0:
                worst = max(worst, abs(j) / (rows[i, MASS_N] * rows[i, APPROACH]))
        if worst <= CALM:
            return
