"""Bodies as the solver sees them: rows of their states, and what an impulse does to two of them.

State rows (13): position of the center of mass, quaternion (w, x, y, z), velocity, angular velocity. Inverse rows (10): 1/mass, inverse inertia in
the body's frame. `world` rows (9): the inverse inertia in the world.
"""

import math

from abut.arrays import Floats
from abut.dynamics.quaternions import matrix_columns
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, scale, subtract
from abut.jit import element, kernel

POSITION, TURN, VELOCITY, SPIN = 0, 3, 7, 10


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
def turn_inertias(state: Floats, inverse: Floats, world: Floats) -> None:
    """Inverse inertias in the world: R·I⁻¹·Rᵀ."""
    for i in range(len(state)):
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
def apply(world: Floats, i: int, v: Vec3) -> Vec3:
    """The world's inverse inertia of body i times v."""
    w = world[i]
    return (
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2],
        w[3] * v[0] + w[4] * v[1] + w[5] * v[2],
        w[6] * v[0] + w[7] * v[1] + w[8] * v[2],
    )


@kernel
def effective_mass(inverse: Floats, world: Floats, a: int, b: int, arm_a: Vec3, arm_b: Vec3, d: Vec3) -> float:
    """How hard it is to change the relative velocity at a contact along d: its effective mass; 0 if nothing can."""
    turn_a, turn_b = cross(arm_a, d), cross(arm_b, d)
    k = inverse[a, 0] + inverse[b, 0] + dot(turn_a, apply(world, a, turn_a)) + dot(turn_b, apply(world, b, turn_b))
    return 1.0 / k if k > 0.0 else 0.0


@kernel
def relative_velocity(state: Floats, a: int, b: int, arm_a: Vec3, arm_b: Vec3) -> Vec3:
    """Velocity of b's point of contact less that of a's."""
    v_a = add(get(state, a, VELOCITY), cross(get(state, a, SPIN), arm_a))
    v_b = add(get(state, b, VELOCITY), cross(get(state, b, SPIN), arm_b))
    return subtract(v_b, v_a)


@kernel
def push(state: Floats, inverse: Floats, world: Floats, a: int, b: int, arm_a: Vec3, arm_b: Vec3, j: Vec3) -> None:
    """Apply the impulse j to b and −j to a."""
    put(state, a, VELOCITY, add_scaled(get(state, a, VELOCITY), j, -inverse[a, 0]))
    put(state, b, VELOCITY, add_scaled(get(state, b, VELOCITY), j, inverse[b, 0]))
    put(state, a, SPIN, subtract(get(state, a, SPIN), apply(world, a, cross(arm_a, j))))
    put(state, b, SPIN, add(get(state, b, SPIN), apply(world, b, cross(arm_b, j))))


@kernel
def twist(state: Floats, world: Floats, a: int, b: int, j: Vec3) -> None:
    """Apply the angular impulse j to b and −j to a."""
    put(state, a, SPIN, subtract(get(state, a, SPIN), apply(world, a, j)))
    put(state, b, SPIN, add(get(state, b, SPIN), apply(world, b, j)))
