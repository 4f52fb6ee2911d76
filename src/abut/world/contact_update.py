"""Contacts that follow their bodies from substep to substep: gap, point, and between balls the normal.

Impulses on two bodies are equal and opposite; the angular momentum of both together stays only if they also act at one point. So when the bodies
have moved, the arms from their centers of mass are led to one point again. Between two balls the line of centers is known without a search, and so
the normal turns with it; for other shapes the normal is that of the beginning of the step.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.vec import add, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.world.body_rows import ALONE, POSITION, get, put
from abut.world.contact_rows import (
    ARM_A,
    ARM_B,
    GAP,
    JN,
    LEAN,
    MIDDLE_A,
    MIDDLE_B,
    RADIUS_A,
    RADIUS_B,
    REST,
    STANDS,
    TOUCHED,
    N,
    aim,
    relative,
    sides_of,
    weigh,
)

STALE_SQ = 1e-6
"""Square of the turn, or of the displacement as a part of the arms, from which on effective masses are found anew. They only say how quickly sweeps
converge: a thousandth more or less breaks no law."""


@kernel
def follow_contacts(
    state: Floats, inverse: Floats, world: Floats, moved: Floats, pairs: Integers, rows: Floats, slop: float
) -> None:
    """Take the contacts along. moved (n,6): what bodies moved and turned by in the last substep; `world` is that of their new orientations.

    TOUCHED: whether a contact pushed, even if it took back all of it."""
    for i in range(len(pairs)):
        a, b = sides_of(pairs, rows, i)
        if rows[i, JN] > 0.0:
            rows[i, TOUCHED] = 1.0
        rows[i, GAP] += dot(relative(moved, 0, a, b), get(rows, i, N))
        if a[1] != ALONE or b[1] != ALONE:  # bones push along their axes
            continue
        d = subtract(get(moved, b[0], 0), get(moved, a[0], 0))
        if rows[i, RADIUS_A] > 0.0 and rows[i, RADIUS_B] > 0.0:
            _follow_balls(state, moved, rows, i, a[0], b[0], slop)
        else:
            put(rows, i, ARM_A, add_scaled(a[3], d, rows[i, LEAN]))
            put(rows, i, ARM_B, add_scaled(b[3], d, rows[i, LEAN] - 1.0))
        turn_sq = max(norm_sq(get(moved, a[0], 3)), norm_sq(get(moved, b[0], 3)))
        far = norm_sq(d) > STALE_SQ * (norm_sq(a[3]) + norm_sq(b[3])) or turn_sq > STALE_SQ
        if far and rows[i, STANDS] == 0.0:
            weigh(inverse, world, pairs, rows, i)


@kernel
def _follow_balls(state: Floats, moved: Floats, rows: Floats, i: int, a: int, b: int, slop: float) -> None:
    """Normal, gap and point of two balls where they are now."""
    u, v = get(rows, i, MIDDLE_A), get(rows, i, MIDDLE_B)
    u, v = add(u, cross(get(moved, a, 3), u)), add(v, cross(get(moved, b, 3), v))
    put(rows, i, MIDDLE_A, u)
    put(rows, i, MIDDLE_B, v)
    start = add(get(state, a, POSITION), u)
    apart = subtract(add(get(state, b, POSITION), v), start)
    size = math.sqrt(norm_sq(apart))
    n = scale(apart, 1.0 / size) if size > 0.0 else get(rows, i, N)
    gap = size - rows[i, RADIUS_A] - rows[i, RADIUS_B]
    rows[i, GAP] = gap + REST * slop
    aim(rows, i, n)
    point = add_scaled(start, n, rows[i, RADIUS_A] + 0.5 * gap)
    put(rows, i, ARM_A, subtract(point, get(state, a, POSITION)))
    put(rows, i, ARM_B, subtract(point, get(state, b, POSITION)))
