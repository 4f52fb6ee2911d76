"""Bodies as the solver sees them: rows of their states, and what an impulse does to a point of one.

State rows (13): position of the center of mass, quaternion (w, x, y, z), velocity, angular velocity. Inverse rows (10): 1/mass, inverse inertia in
the body's frame. `world` rows (9): the inverse inertia in the world. Particles are bodies that do not turn.

A side of a contact is a point of a body, given by the arm from its center of mass; or one on a bone, which divides the way between two particles:
it moves by (1 − share) of the one and share of the other, and hands an impulse on to them in these parts.
"""

import math

from abut.core.arrays import Floats
from abut.core.jit import element, inlined, kernel
from abut.geometry.quaternions import matrix_columns
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, scale

POSITION, TURN, VELOCITY, SPIN = 0, 3, 7, 10
ALONE = -1

Side = tuple[int, int, float, Vec3]
"""A row; that of the second particle, or ALONE; its share; the arm."""


@kernel
def get(rows: Floats, i: int, at: int) -> Vec3:
    """Three numbers of a row."""
    return (rows[i, at], rows[i, at + 1], rows[i, at + 2])


@kernel
def put(rows: Floats, i: int, at: int, v: Vec3) -> None:
    """Write three numbers of a row."""
    rows[i, at], rows[i, at + 1], rows[i, at + 2] = v


@element
def tangent_to(n: Vec3) -> Vec3:
    """A unit vector at right angles to a unit vector: always the same one."""
    if abs(n[0]) < 0.57736:
        t = (0.0, n[2], -n[1])
    else:
        t = (-n[2], 0.0, n[0])
    return scale(t, 1.0 / math.sqrt(dot(t, t)))


@kernel
def turn_inertia(state: Floats, inverse: Floats, world: Floats, i: int) -> None:
    """The inverse inertia of a body in the world: R·I⁻¹·Rᵀ."""
    x, y, z = matrix_columns((state[i, 3], state[i, 4], state[i, 5], state[i, 6]))
    for r in range(3):
        for c in range(3):
            total = 0.0
            for p in range(3):
                left = x[r] * inverse[i, 1 + p] + y[r] * inverse[i, 4 + p] + z[r] * inverse[i, 7 + p]
                column = x[c] if p == 0 else (y[c] if p == 1 else z[c])
                total += left * column
            world[i, 3 * r + c] = total


@kernel
def turn_inertias(state: Floats, inverse: Floats, world: Floats) -> None:
    """Those of all bodies."""
    for i in range(len(state)):
        turn_inertia(state, inverse, world, i)


@inlined
def apply(world: Floats, i: int, v: Vec3) -> Vec3:
    """The world's inverse inertia of body i times v."""
    w = world[i]
    return (
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2],
        w[3] * v[0] + w[4] * v[1] + w[5] * v[2],
        w[6] * v[0] + w[7] * v[1] + w[8] * v[2],
    )


@kernel
def mobility(inverse: Floats, world: Floats, side: Side, d: Vec3) -> float:
    """How much a unit impulse along d changes the velocity of a point along d."""
    i, j, share, arm = side
    if j != ALONE:
        return (1.0 - share) ** 2 * inverse[i, 0] + share**2 * inverse[j, 0]
    turn = cross(arm, d)
    return inverse[i, 0] + dot(turn, apply(world, i, turn))


@inlined
def motion_of(rows: Floats, at: int, side: Side) -> Vec3:
    """How a point moves whose body's velocity, or displacement, stands in a row from `at` on, and what it turns by behind that."""
    i, j, share, arm = side
    if j != ALONE:
        return add_scaled(scale(get(rows, i, at), 1.0 - share), get(rows, j, at), share)
    return add(get(rows, i, at), cross(get(rows, i, at + 3), arm))


@inlined
def push(state: Floats, inverse: Floats, world: Floats, side: Side, impulse: Vec3) -> None:
    """Apply an impulse at a point."""
    i, j, share, arm = side
    if j != ALONE:
        put(state, i, VELOCITY, add_scaled(get(state, i, VELOCITY), impulse, (1.0 - share) * inverse[i, 0]))
        put(state, j, VELOCITY, add_scaled(get(state, j, VELOCITY), impulse, share * inverse[j, 0]))
        return
    put(state, i, VELOCITY, add_scaled(get(state, i, VELOCITY), impulse, inverse[i, 0]))
    put(state, i, SPIN, add(get(state, i, SPIN), apply(world, i, cross(arm, impulse))))


@kernel
def twist(state: Floats, world: Floats, i: int, impulse: Vec3) -> None:
    """Apply an angular impulse to a body."""
    put(state, i, SPIN, add(get(state, i, SPIN), apply(world, i, impulse)))
