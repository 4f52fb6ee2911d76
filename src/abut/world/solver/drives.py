"""What drives single bodies within a substep: torques and damping, and how bodies turn that may not turn as they like.

Damping takes the part 1 − exp(−rate·t) of momentum and of angular momentum in a time t, however that is cut in substeps. With constant forces the
equation v' = a − c·v is solved exactly: v = v₀·e + a·h·f with e = exp(−c·h) and f = (1 − e) / (c·h), and the mean of it is v₀·f + a·h·g with
g = (1 − f) / (c·h). Bodies in free flight move and turn at the mean, and end with the velocity of the end. Damping alone keeps the direction of the
angular momentum, and so a free turn for a time h·f is the exact turn.
"""

import math

from abut.core.jit import element, kernel
from abut.core.records import Record, put, vector
from abut.dynamics.rigid_bodies import turn_freely
from abut.geometry.quaternions import conjugate, multiply, normalise, rotate, turning
from abut.geometry.vec import Vec3, add, add_scaled, dot, norm, scale, subtract
from abut.impulses.sides import apply, turn_inertia, twist

SMALL = 1e-2
"""Of rate·time: below it series take the place of quotients; what they leave out is some 1e-15."""


@element
def fade(x: float) -> tuple[float, float, float]:
    """exp(−x), (1 − exp(−x)) / x, and one less the second by x, for x from 0 on."""
    e = math.exp(-x)
    if x > SMALL:
        f = -math.expm1(-x) / x
        return e, f, (1.0 - f) / x
    f = 1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x / 720.0))))
    g = 0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0 - x * (1.0 / 720.0 - x / 5040.0))))
    return e, f, g


@kernel
def spin_momentum(body: Record) -> Vec3:
    """The angular momentum of a body about its center."""
    q, m = body.quaternion, body.inertia
    turn = (q[0], q[1], q[2], q[3])
    w = rotate(conjugate(turn), vector(body.angular_velocity))
    own = (
        dot((m[0, 0], m[0, 1], m[0, 2]), w),
        dot((m[1, 0], m[1, 1], m[1, 2]), w),
        dot((m[2, 0], m[2, 1], m[2, 2]), w),
    )
    return rotate(turn, own)


@kernel
def drive(body: Record, h: float) -> None:
    """Pull, turn and damp a body for a time h, and note by how much it is ahead of the mean then."""
    e, f, g = fade(body.damping[0] * h)
    v, a = vector(body.velocity), vector(body.acceleration)
    new = add_scaled(scale(v, e), a, h * f)
    put(body.lag, subtract(new, add_scaled(scale(v, f), a, h * g)))
    put(body.velocity, new)
    e, f, g = fade(body.damping[1] * h)
    turned, torque = spin_momentum(body), vector(body.torque)
    put(body.spin_lag, add_scaled(scale(turned, e - f), torque, h * (f - g)))
    put(body.angular_velocity, scale(vector(body.angular_velocity), e))
    twist(body, scale(torque, h * f))


@kernel
def turn_driven(body: Record, h: float) -> None:
    """Turn a body for a time h that is driven in free flight, or does not turn about some axes; its angular momentum stays as far as it may."""
    q, m = body.quaternion, body.inertia
    behind = vector(body.spin_lag) if body.is_free and body.is_driven else (0.0, 0.0, 0.0)
    twist(body, scale(behind, -1.0))
    w = vector(body.angular_velocity)
    if body.locked[3] + body.locked[4] + body.locked[5] > 0.0:
        kept = spin_momentum(body)
        # To the middle, to see how it turns there, and from the start with that.
        q0 = (q[0], q[1], q[2], q[3])
        for part in (0.5, 0.5, 1.0):
            w = vector(body.angular_velocity)
            q[0], q[1], q[2], q[3] = normalise(multiply(turning(w, part * h * norm(w)), q0))
            turn_inertia(body)
            put(body.angular_velocity, apply(body.inverse_inertia, kept))
    else:
        shape = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        turned, w, _ = turn_freely((q[0], q[1], q[2], q[3]), w, shape, h)
        q[0], q[1], q[2], q[3] = turned
        put(body.angular_velocity, w)
        turn_inertia(body)
    put(body.angular_velocity, add(vector(body.angular_velocity), apply(body.inverse_inertia, behind)))
