"""One contact: the impulses along its normal and across it that bring its velocities where they shall be.

The spring gives way under load, by F / (m ω²), and so it damps the rocking of a stack; but an arch between two walls would be pressed far together.
From HOLDS of the slop on it gives way to a growing part of the load's change only, and at 0.95 slop to no standing load at all: no contact at rest
is deeper than that, whatever lies on it.

Friction is a circle: both tangential impulses together are at most μ times the normal one. Rolling and spinning on the spot are held by a torque of
at most one slop times the normal impulse, as a patch of that size would.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, inlined, kernel
from abut.geometry.vec import Vec3, add_scaled, dot, norm_sq, scale, subtract
from abut.world.body_rows import ALONE, SPIN, VELOCITY, Side, get, push, put, twist
from abut.world.contact_rows import (
    ARM_A,
    ARM_B,
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
    REACH,
    REST,
    ROLL,
    STANDS,
    WORK,
    B,
    N,
    T,
    relative,
    sides_of,
)

STIFFNESS = 0.25
DAMPING = 4.0
"""Of the spring and damper that stand for a contact that is too deep: a quarter of a cycle a substep, the most that is stable, and four times
critical damping. A rigid push in their place feeds the rocking of a stack of five until it falls."""
HOLDS, FIRM = 0.7, 0.95
"""Parts of the slop between which the spring stops giving way to the load. A stack of twenty boxes is 0.63 slop deep at its foot."""

Limits = tuple[float, float, float, float, float, float]
NO_PUSH: Limits = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@inlined
def push_apart(state: Floats, inverse: Floats, world: Floats, a: Side, b: Side, j: Vec3, stands: float) -> None:
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
def solve_row(
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
    push_apart(state, inverse, world, a, b, scale(n, change), stands)
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
    push_apart(state, inverse, world, a, b, along, stands)
    if rows[i, REACH] > 0.0:
        _hold_turn(state, world, rows, i, a[0], b[0])


@kernel
def twist_apart(state: Floats, world: Floats, a: int, b: int, j: Vec3) -> None:
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
    twist_apart(state, world, a, b, subtract(new, old))
