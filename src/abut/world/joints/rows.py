"""What rows are in a substep: along what they push, how far they are, and between which impulses.

A spring is stepped as gravity is, which keeps its energy, as long as it is slow for the substep, and the more implicitly the stiffer it is: of the
displacement θ·h·v at the end of the substep a part θ = 1 − SLOW / (h²·k·w) counts, with the stiffness k and the weight w of its row. A damper is
implicit.
"""

import math

from abut.core.jit import inlined, kernel
from abut.core.records import Record, Records, put, vector
from abut.geometry.quaternions import Quaternion, multiply, rotate, turning
from abut.geometry.vec import Vec3, add, add_scaled, cross, dot, lerp, norm, scale, subtract
from abut.impulses.records import ALONE
from abut.impulses.sides import apply
from abut.world.joints.coordinates import DISTANCE, TWIST, Z, direction_of, value_of, wrap
from abut.world.joints.records import HOLD, SPRING, Rack

SLOW = 0.25
"""Square of the angle by which a spring swings in a substep, up to which it is stepped as gravity is; that is stable up to 4."""
SPEED_OF_TURN = 8.0
"""The most angle in a unit of time by which joints that stand askew turn back."""


@inlined
def frame_of(
    bodies: Records, i: int, j: int, share: float, point: Vec3, frame: Quaternion, h: float
) -> tuple[Vec3, Quaternion]:
    """Where a side's point is after a time h at the velocities of now, and how its frame is turned."""
    if i == ALONE:
        return point, frame
    body = bodies[i]
    here = add_scaled(vector(body.position), vector(body.velocity), h * body.time)
    if j != ALONE:
        other = bodies[j]
        there = add_scaled(vector(other.position), vector(other.velocity), h * other.time)
        return lerp(here, there, share), frame
    q = (body.quaternion[0], body.quaternion[1], body.quaternion[2], body.quaternion[3])
    w = vector(body.angular_velocity)
    angle = h * body.time * norm(w)
    if angle != 0.0:
        q = multiply(turning(w, angle), q)
    return add(here, rotate(q, point)), multiply(q, frame)


@inlined
def frames_of(bodies: Records, joint: Record, h: float) -> tuple[Vec3, Quaternion, Vec3, Quaternion]:
    """Both sides of a joint."""
    f, g = joint.frame_a, joint.frame_b
    turn_a, turn_b = (f[0], f[1], f[2], f[3]), (g[0], g[1], g[2], g[3])
    p, s = frame_of(bodies, joint.body_a, joint.end_a, joint.share_a, vector(joint.point_a), turn_a, h)
    q, t = frame_of(bodies, joint.body_b, joint.end_b, joint.share_b, vector(joint.point_b), turn_b, h)
    return p, s, q, t


@kernel
def side_of(joint: Record, k: int) -> tuple[int, float]:
    """The k-th of the four bodies that a joint may act on, ALONE where it has none, and the part of an impulse that it gets."""
    if k == 0:
        return joint.body_a, joint.share_a - 1.0
    if k == 1:
        return joint.end_a, -joint.share_a
    if k == 2:
        return joint.body_b, 1.0 - joint.share_b
    return joint.end_b, joint.share_b


@kernel
def aim_rows(bodies: Records, rack: Rack) -> None:
    """Rows where the bodies are now: values, directions, weights."""
    rack.state[1] = 0
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        p, s, q, t = frames_of(bodies, joint, 0.0)
        apart = subtract(q, p)
        at = add_scaled(p, apart, joint.lead)
        for r in range(joint.first_row, joint.stop_row):
            row = rack.rows[r]
            coordinate = row.coordinate
            row.value = value_of(coordinate, apart, s, t)
            if coordinate == TWIST:
                row.value = joint.twist + wrap(row.value - joint.twist)
            d = direction_of(coordinate, apart, s, t)
            is_linear = coordinate <= Z or coordinate == DISTANCE
            put(row.linear, d if is_linear else (0.0, 0.0, 0.0))
            row.weight = 0.0
            for side in range(4):
                i, part = side_of(joint, side)
                if i != ALONE and is_linear:
                    row.weight += part * part * bodies[i].inverse_mass
            turn_a, spun_a = _moment(bodies, joint.body_a, joint.turns_a, at, d, is_linear)
            turn_b, spun_b = _moment(bodies, joint.body_b, joint.turns_b, at, d, is_linear)
            put(row.turn_a, turn_a)
            put(row.spun_a, spun_a)
            put(row.turn_b, turn_b)
            put(row.spun_b, spun_b)
            row.weight += dot(turn_a, spun_a) + dot(turn_b, spun_b)
        joint.twist += wrap(value_of(TWIST, apart, s, t) - joint.twist)


@kernel
def _moment(bodies: Records, i: int, turns: bool, at: Vec3, d: Vec3, is_linear: bool) -> tuple[Vec3, Vec3]:
    """Of a unit impulse along d about the center of a body, and that times the inverse inertia."""
    zero = (0.0, 0.0, 0.0)
    if not turns:
        return zero, zero
    turn = cross(subtract(at, vector(bodies[i].position)), d) if is_linear else d
    return turn, apply(bodies[i].inverse_inertia, turn)


@kernel
def start_rows(bodies: Records, rack: Rack, h: float, fastest: float) -> None:
    """Goals and bounds for a substep of the length h, and the impulses of the substep before. fastest: of what brings back a point that is off."""
    rack.state[1] = 0
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        for r in range(joint.first_row, joint.stop_row):
            row = rack.rows[r]
            row.is_given = False
            if row.kind == HOLD:
                is_linear = row.coordinate <= Z or row.coordinate == DISTANCE
                _start_hold(row, h * (fastest if is_linear else SPEED_OF_TURN))
            elif row.kind == SPRING:
                _start_spring(row, h)
            else:
                row.softness, row.bias = 0.0, -row.speed
                row.least, row.most = -h * row.most_force, h * row.most_force
            row.impulse = min(row.most, max(row.least, row.impulse))
            row.is_solved = not row.is_given and (row.side == 0 or row.impulse != 0.0 or row.value == row.goal)
            push_row(bodies, joint, row, row.impulse)


@kernel
def _start_hold(row: Record, nearer: float) -> None:
    """nearer: how much of an error may go in the substep."""
    side = 0
    if row.low < row.high:
        side = -1 if row.value - row.low < row.high - row.value else 1
    if side != row.side:
        row.impulse = 0.0
    row.side = side
    bound = row.high if side > 0 else row.low
    off = row.value - bound
    is_out = side == 0 or off * side > 0.0
    row.goal = bound + off - min(nearer, max(-nearer, off)) if is_out else bound
    row.least = 0.0 if side < 0 else -math.inf
    row.most = 0.0 if side > 0 else math.inf
    row.softness, row.bias = 0.0, 0.0


@kernel
def _start_spring(row: Record, h: float) -> None:
    stiff = h * h * row.stiffness * row.weight
    part = 1.0 - SLOW / stiff if stiff > SLOW else 0.0
    pull, drag = h * row.stiffness * (row.value - row.rest), h * (row.damping + part * h * row.stiffness)
    row.least, row.most = -h * row.most_force, h * row.most_force
    row.is_given = drag == 0.0
    if row.is_given:
        row.softness, row.bias, row.impulse = 0.0, 0.0, -pull
    else:
        row.softness, row.bias = 1.0 / drag, pull / drag


@kernel
def push_row(bodies: Records, joint: Record, row: Record, impulse: float) -> None:
    """Apply an impulse along a row to b, and its opposite to a."""
    if impulse == 0.0:
        return
    d = vector(row.linear)
    for side in range(4):
        i, part = side_of(joint, side)
        if i == ALONE:
            continue
        body = bodies[i]
        put(body.velocity, add_scaled(vector(body.velocity), d, impulse * part * body.inverse_mass))
    if joint.turns_a:
        body = bodies[joint.body_a]
        put(body.angular_velocity, add_scaled(vector(body.angular_velocity), vector(row.spun_a), -impulse))
    if joint.turns_b:
        body = bodies[joint.body_b]
        put(body.angular_velocity, add_scaled(vector(body.angular_velocity), vector(row.spun_b), impulse))


@kernel
def rate_of(bodies: Records, joint: Record, row: Record) -> float:
    """The velocity of a coordinate."""
    d, rate = vector(row.linear), 0.0
    for side in range(4):
        i, part = side_of(joint, side)
        if i != ALONE:
            rate += part * dot(d, vector(bodies[i].velocity))
    if joint.turns_a:
        rate -= dot(vector(row.turn_a), vector(bodies[joint.body_a].angular_velocity))
    if joint.turns_b:
        rate += dot(vector(row.turn_b), vector(bodies[joint.body_b].angular_velocity))
    return rate


@kernel
def find_stiffness(bodies: Records, rack: Rack, dt: float) -> float:
    """The square of the most angular frequency at which a joint lets a body swing across the force F that it bears in a step dt.

    A link of a chain swings as a string does, by F·w / r with the weight w of the joint along F and its lever r, and turns by F·r / I; a wheel has no
    lever, and the bob of a pendulum nearly no inertia I: what is less of both counts."""
    most = 0.0
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        size = norm(vector(joint.force))
        if size == 0.0:
            continue
        d = scale(vector(joint.force), 1.0 / size)
        p, _, q, _ = frames_of(bodies, joint, 0.0)
        at = lerp(p, q, joint.lead)
        weight = 0.0
        for side in range(4):
            i, part = side_of(joint, side)
            if i != ALONE:
                weight += part * part * bodies[i].inverse_mass
        for side in range(2):
            body, turns = (joint.body_a, joint.turns_a) if side == 0 else (joint.body_b, joint.turns_b)
            if turns:
                turn, spun = _moment(bodies, body, True, at, d, True)
                weight += dot(turn, spun)
        length = norm(subtract(q, p))
        if not joint.turns_a and not joint.turns_b and length > 0.0:
            most = max(most, size / dt * 2.0 * weight / length)
        for side in range(2):
            body, turns = (joint.body_a, joint.turns_a) if side == 0 else (joint.body_b, joint.turns_b)
            if not turns:
                continue
            lever = norm(subtract(at, vector(bodies[body].position)))
            m = bodies[body].inverse_inertia
            light = 0.5 * (m[0] + m[4] + m[8] - dot(d, apply(m, d)))
            if lever > 0.0:
                most = max(most, size / dt * min(6.0 * weight / lever, 2.0 * lever * light))
    return most


@kernel
def add_loads(rack: Rack) -> None:
    """Add up what the joints gave in a substep."""
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        for r in range(joint.first_row, joint.stop_row):
            row = rack.rows[r]
            put(joint.force, add_scaled(vector(joint.force), vector(row.linear), row.impulse))
            if row.coordinate > Z and row.coordinate != DISTANCE:
                axis = vector(row.turn_b) if joint.turns_b else vector(row.turn_a)
                put(joint.torque, add(vector(joint.torque), scale(axis, row.impulse)))
