"""Motion within a substep: bodies move, and contacts follow them with their separation, point, and between balls the normal.

A body in free flight follows its parabola exactly. Impulses on two bodies are equal and opposite; the angular momentum of both together stays only
if they also act at one point. So when the bodies have moved, the anchors are led to one point again. Between two balls the line of centers is known
without a search, and so the normal turns with it; for other shapes the normal is that of the beginning of the step.
"""

import math

from abut.core.arrays import Integers
from abut.core.jit import kernel
from abut.core.records import Record, Records, put, vector
from abut.dynamics.rigid_bodies import turn_freely
from abut.geometry.vec import add, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.impulses.records import ALONE
from abut.impulses.sides import Side, displacement_of, is_patch, mix, sides_of, turn_inertia
from abut.world.solver.drives import drive, turn_driven
from abut.world.solver.preparation import REST, aim, weigh

REACH, FLAT_SQ = 0.5, 1e-4
"""Of a face; and the square of the sine below which a face is seen along its plane."""
STALE_SQ = 1e-6
"""Square of the turn, or of the displacement as a part of the anchors, from which on effective masses are found anew. They only say how quickly
sweeps converge: a thousandth more or less breaks no law."""


@kernel
def accelerate(bodies: Records, moving: Integers, h: float) -> None:
    """Gravity, and what else pulls, turns and damps, for a time h."""
    for k in range(len(moving)):
        body = bodies[moving[k]]
        if body.is_driven:
            drive(body, h * body.time)
        else:
            put(body.velocity, add_scaled(vector(body.velocity), vector(body.acceleration), h * body.time))


@kernel
def move_bodies(bodies: Records, moving: Integers, substep: float) -> None:
    """Move the bodies, each by its part of the substep, and turn their inertias with them."""
    for k in range(len(moving)):
        body = bodies[moving[k]]
        h = body.time * substep
        v, w = vector(body.velocity), vector(body.angular_velocity)
        if body.is_free and body.is_driven:
            v = subtract(v, vector(body.lag))
        elif body.is_free:
            v = add_scaled(v, vector(body.acceleration), -0.5 * h)  # the mean of before and after: the parabola itself
        put(body.position, add_scaled(vector(body.position), v, h))
        put(body.displacement, scale(v, h))
        put(body.rotation, scale(w, h))
        if body.is_locked or (body.is_free and body.is_driven):
            turn_driven(body, h)
            continue
        if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
            continue
        m, q = body.inertia, body.quaternion
        shape = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        turned, w, _ = turn_freely((q[0], q[1], q[2], q[3]), w, shape, h)
        q[0], q[1], q[2], q[3] = turned
        put(body.angular_velocity, w)
        turn_inertia(body)


@kernel
def follow_contact(bodies: Records, contact: Record, slop: float) -> None:
    """Take a contact along with its bodies."""
    a, b = sides_of(contact)
    if contact.normal_impulse > 0.0:
        contact.has_pushed = True
    contact.pushed_impulse = contact.normal_impulse
    moved = subtract(displacement_of(bodies, b), displacement_of(bodies, a))
    contact.separation += dot(moved, vector(contact.normal))
    if is_patch(a) or is_patch(b):
        _follow_patch(bodies, contact, a, b)
        return
    if a[1] != ALONE or b[1] != ALONE:  # bones push along their axes
        return
    body_a, body_b = bodies[a[0]], bodies[b[0]]
    d = subtract(vector(body_b.displacement), vector(body_a.displacement))
    if contact.radius_a > 0.0 and contact.radius_b > 0.0:
        _follow_balls(body_a, body_b, contact, slop)
    else:
        put(contact.anchor_a, add_scaled(a[3], d, contact.lead))
        put(contact.anchor_b, add_scaled(b[3], d, contact.lead - 1.0))
    turn_sq = max(norm_sq(vector(body_a.rotation)), norm_sq(vector(body_b.rotation)))
    far = norm_sq(d) > STALE_SQ * (norm_sq(a[3]) + norm_sq(b[3])) or turn_sq > STALE_SQ
    if far and contact.standing == 0:
        weigh(bodies, contact)


@kernel
def _follow_patch(bodies: Records, contact: Record, a: Side, b: Side) -> None:
    """The anchor of a body that touches a face of a soft one goes with the point of the face; of two faces one's point stays ahead of the other's."""
    if a[1] == ALONE:
        moved = subtract(displacement_of(bodies, b), vector(bodies[a[0]].displacement))
        put(contact.anchor_a, add(a[3], moved))
    elif b[1] == ALONE:
        moved = subtract(displacement_of(bodies, a), vector(bodies[b[0]].displacement))
        put(contact.anchor_b, add(b[3], moved))
    else:
        _line_up(bodies, contact, a, b)
    weigh(bodies, contact)


@kernel
def _line_up(bodies: Records, contact: Record, a: Side, b: Side) -> None:
    """Let the point of b be where the line along the normal through that of a meets b's face: then pushes along it turn nothing. Where it leaves the
    face by more than REACH of it, the point stays."""
    p = mix(vector(bodies[a[0]].position), vector(bodies[a[1]].position), vector(bodies[a[4]].position), a[2], a[5])
    corner, n = vector(bodies[b[0]].position), vector(contact.normal)
    u, v = subtract(vector(bodies[b[1]].position), corner), subtract(vector(bodies[b[4]].position), corner)
    way = subtract(p, corner)
    volume = dot(n, cross(u, v))
    if volume * volume < FLAT_SQ * norm_sq(u) * norm_sq(v):
        return
    share, part = dot(n, cross(way, v)) / volume, dot(n, cross(u, way)) / volume
    if min(share, part, 1.0 - share - part) >= -REACH:
        contact.share_b, contact.part_b = share, part


@kernel
def _follow_balls(a: Record, b: Record, contact: Record, slop: float) -> None:
    """Normal, separation and point of two balls where they are now."""
    u, v = vector(contact.center_a), vector(contact.center_b)
    u, v = add(u, cross(vector(a.rotation), u)), add(v, cross(vector(b.rotation), v))
    put(contact.center_a, u)
    put(contact.center_b, v)
    start = add(vector(a.position), u)
    apart = subtract(add(vector(b.position), v), start)
    size = math.sqrt(norm_sq(apart))
    n = scale(apart, 1.0 / size) if size > 0.0 else vector(contact.normal)
    gap = size - contact.radius_a - contact.radius_b
    contact.separation = gap + REST * slop
    aim(contact, n)
    point = add_scaled(start, n, contact.radius_a + 0.5 * gap)
    put(contact.anchor_a, subtract(point, vector(a.position)))
    put(contact.anchor_b, subtract(point, vector(b.position)))
