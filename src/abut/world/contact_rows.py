"""Rows of contacts, as the solver wants them, and what of them does not change within a step.

A row has the normal, two tangents, the arms from the centers of mass, the angular impulse of rolling friction, and numbers: the gap to the depth at
which bodies rest, effective masses, friction, restitution, and the impulses. Both arms lead to one point, and stay so while the bodies move
(`follow_contacts`): equal and opposite impulses at one point leave the angular momentum as it is.
"""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, kernel
from abut.geometry.vec import Vec3, add_scaled, cross, distance_sq, dot, norm_sq, scale, subtract
from abut.world.body_rows import ALONE, POSITION, VELOCITY, Side, get, mobility, motion_of, put, tangent_to

REST = 0.5
"""Bodies rest this part of the slop deep, and are held there from both sides: neither do contacts come and go, nor can a stack lean freely."""
HEAVY = 100.0
"""A body so many times as heavy as the particle between it and the ground is carried by the ground, and starts from no impulses when it falls on it:
those that go to and fro through the particle would take as many sweeps as the masses differ, while the push out of the ground throws it up."""
PATCH = 4.0
"""In slops: contacts of a pair that lie within so much of a line do not keep it from rolling."""
N, T, B, ARM_A, ARM_B, ROLL = 0, 3, 6, 9, 12, 15
GAP, MASS_N, MASS_T, MASS_B, MASS_R, FRICTION, BOUNCE = range(18, 25)
JN, JT, JB, TOTAL, APPROACH, REACH, HELD, SHARE_A, SHARE_B, KICK, STANDS, COLD = range(25, 37)
LEAN, PREVIOUS, RADIUS_A, RADIUS_B, MIDDLE_A, MIDDLE_B, TOUCHED, WORK, PUSHED = 37, 38, 39, 40, 41, 44, 47, 48, 49
WIDTH = 50


@inlined
def sides_of(pairs: Integers, rows: Floats, i: int) -> tuple[Side, Side]:
    """The two points that touch. pairs (n,4): bodies, or first particles, of a and b; then second particles."""
    a = (pairs[i, 0], pairs[i, 2], rows[i, SHARE_A], get(rows, i, ARM_A))
    b = (pairs[i, 1], pairs[i, 3], rows[i, SHARE_B], get(rows, i, ARM_B))
    return a, b


@inlined
def relative(rows: Floats, at: int, a: Side, b: Side) -> Vec3:
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
def aim(rows: Floats, i: int, normal: Vec3) -> None:
    """Give a row its normal, and tangents."""
    t = tangent_to(normal)
    put(rows, i, N, normal)
    put(rows, i, T, t)
    put(rows, i, B, cross(normal, t))


@kernel
def _place(state: Floats, inverse: Floats, pairs: Integers, found: Floats, rows: Floats, i: int) -> None:
    """Arms to the point at which both sides are pushed, and which of them the point follows when they move.

    On a ball it is the ball's own: without friction its push turns no ball. Else the lighter side leads, for beside the ground it must."""
    a, b = pairs[i, 0], pairs[i, 1]
    point, n = get(found, i, 0), get(found, i, 3)
    w_a, w_b = inverse[a, 0], inverse[b, 0]
    rows[i, LEAN] = w_b / (w_a + w_b) if w_a + w_b > 0.0 else 0.5
    if rows[i, RADIUS_A] > 0.0 and rows[i, RADIUS_B] == 0.0:
        point, rows[i, LEAN] = add_scaled(get(rows, i, MIDDLE_A), n, rows[i, RADIUS_A]), 0.0
    elif rows[i, RADIUS_B] > 0.0 and rows[i, RADIUS_A] == 0.0:
        point, rows[i, LEAN] = add_scaled(get(rows, i, MIDDLE_B), n, -rows[i, RADIUS_B]), 1.0
    put(rows, i, ARM_A, subtract(point, get(state, a, POSITION)))
    put(rows, i, ARM_B, subtract(point, get(state, b, POSITION)))
    put(rows, i, MIDDLE_A, subtract(get(rows, i, MIDDLE_A), get(state, a, POSITION)))
    put(rows, i, MIDDLE_B, subtract(get(rows, i, MIDDLE_B), get(state, b, POSITION)))


@kernel
def weigh(inverse: Floats, world: Floats, pairs: Integers, rows: Floats, i: int) -> None:
    """Effective masses of a row."""
    a, b = pairs[i, 0], pairs[i, 1]
    side_a, side_b = sides_of(pairs, rows, i)
    rows[i, MASS_N] = _mass(inverse, world, side_a, side_b, get(rows, i, N))
    rows[i, MASS_T] = _mass(inverse, world, side_a, side_b, get(rows, i, T))
    rows[i, MASS_B] = _mass(inverse, world, side_a, side_b, get(rows, i, B))
    k = world[a, 0] + world[a, 4] + world[a, 8] + world[b, 0] + world[b, 4] + world[b, 8]
    rows[i, MASS_R] = (
        1.0 / k if k > 0.0 else 0.0
    )  # no more than any direction's: it may take more sweeps, never overshoot


@kernel
def approach(state: Floats, gravity: Floats, pairs: Integers, rows: Floats, i: int) -> None:
    """The speed at which a contact will be hit: |v|² = v₀² − 2·a·s with the gap s."""
    a, b = sides_of(pairs, rows, i)
    n = get(rows, i, N)
    speed = dot(relative(state, VELOCITY, a, b), n)
    pull = dot(subtract(_pull_at(gravity, b), _pull_at(gravity, a)), n)
    rows[i, APPROACH] = math.sqrt(max(0.0, speed * speed - 2.0 * pull * rows[i, GAP])) if speed < 0.0 else 0.0


@kernel
def prepare(
    state: Floats,
    inverse: Floats,
    world: Floats,
    gravity: Floats,
    pairs: Integers,
    found: Floats,
    rows: Floats,
    support: Floats,
    slop: float,
    slowest: float,
) -> None:
    """Contact rows from the narrow phase's; `gravity` (n,3) is each body's own. FRICTION, BOUNCE, REACH as it is for what can roll, shares, impulses,
    and for balls RADIUS and MIDDLE (the ball's center), are set by the caller.

    Contacts shall be REST · slop deep. Rows of a pair stand together. support (n,6): room, zeros."""
    for i in range(len(pairs)):
        rows[i, GAP], rows[i, TOTAL] = found[i, 6] + REST * slop, 0.0
        aim(rows, i, get(found, i, 3))
        _place(state, inverse, pairs, found, rows, i)
        weigh(inverse, world, pairs, rows, i)
        approach(state, gravity, pairs, rows, i)
    _find_standing(inverse, world, pairs, rows, support, slop, slowest)
    start = 0
    while start < len(pairs):
        stop = start + 1
        while stop < len(pairs) and same_bodies(pairs, start, stop):
            stop += 1
        turns = _can_turn(inverse, world, pairs[start, 0]) and _can_turn(inverse, world, pairs[start, 1])
        turns = turns or rows[start, STANDS] != 0.0
        if not (turns and _is_narrow(found, start, stop, PATCH * slop)):
            for i in range(start, stop):
                rows[i, REACH] = 0.0
        start = stop


@kernel
def _find_standing(
    inverse: Floats, world: Floats, pairs: Integers, rows: Floats, support: Floats, slop: float, slowest: float
) -> None:
    """Which side of a contact is a particle, or a bone, that the other presses against something that nothing moves."""
    for i in range(len(pairs)):
        rows[i, STANDS] = 0.0
        if rows[i, GAP] > slop:
            continue
        a, b = sides_of(pairs, rows, i)
        n = get(rows, i, N)
        if mobility(inverse, world, a, n) == 0.0 and not _can_turn(inverse, world, b[0]):
            _add_support(support, b, n)
        if mobility(inverse, world, b, n) == 0.0 and not _can_turn(inverse, world, a[0]):
            _add_support(support, a, scale(n, -1.0))
    for i in range(len(pairs)):
        a, b = sides_of(pairs, rows, i)
        n = get(rows, i, N)
        mobility_a, mobility_b = mobility(inverse, world, a, n), mobility(inverse, world, b, n)
        light_a = mobility_b > 0.0 and mobility_a > HEAVY * mobility_b and not _can_turn(inverse, world, a[0])
        light_b = mobility_a > 0.0 and mobility_b > HEAVY * mobility_a and not _can_turn(inverse, world, b[0])
        rows[i, COLD] = 1.0 if (light_a or light_b) and rows[i, APPROACH] > slowest else 0.0
        if light_a and dot(motion_of(support, 0, a), n) > 0.5:
            rows[i, STANDS] = -1.0
            _carry(inverse, world, rows, i, b)
        elif light_b and dot(motion_of(support, 0, b), n) < -0.5:
            rows[i, STANDS] = 1.0
            _carry(inverse, world, rows, i, a)


@kernel
def _carry(inverse: Floats, world: Floats, rows: Floats, i: int, side: Side) -> None:
    """Effective masses of a contact of which only one side gives way."""
    rows[i, MASS_N] = 1.0 / mobility(inverse, world, side, get(rows, i, N))
    rows[i, MASS_T] = 1.0 / mobility(inverse, world, side, get(rows, i, T))
    rows[i, MASS_B] = 1.0 / mobility(inverse, world, side, get(rows, i, B))


@kernel
def _add_support(support: Floats, side: Side, n: Vec3) -> None:
    """A push along n that particles get from below."""
    i, j, share, _ = side
    put(support, i, 0, add_scaled(get(support, i, 0), n, 1.0 - share if j != ALONE else 1.0))
    if j != ALONE:
        put(support, j, 0, add_scaled(get(support, j, 0), n, share))


@kernel
def same_bodies(pairs: Integers, i: int, k: int) -> bool:
    """Whether two rows are of the same two sides."""
    same = pairs[i, 0] == pairs[k, 0] and pairs[i, 1] == pairs[k, 1]
    return same and pairs[i, 2] == pairs[k, 2] and pairs[i, 3] == pairs[k, 3]


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
