"""One visit of all joints: their rows are solved for together, with impulses within their bounds.

Rows at a bound are taken out, and come in again when they would leave it (block pivoting, Júdice 1994). After MOST_ROUNDS what is out of bounds is
cut off; the next visit goes on from there. Before the bodies move, a lock or limit is asked where it would get within the substep, at all orders:
then the motion along a circle loses and gains nothing (RATTLE, Andersen 1983). After they moved, velocities alone count.
"""

from abut.core.jit import element, kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import add_scaled, norm, subtract
from abut.impulses.records import ALONE
from abut.world.joints.coordinates import DISTANCE, TWIST, value_of, wrap
from abut.world.joints.records import HOLD, Rack
from abut.world.joints.rows import frames_of, push_row, rate_of, side_of
from abut.world.joints.system import RIGID, factor, solve

MOST_ROUNDS = 8
FINE, COARSE, SLIGHT = 0.15, 0.3, 1e-6
"""Radians in a substep. What turns faster is asked by its velocity alone, which loses energy, but always converges; and what hardly turns, too."""


@kernel
def solve_joints(bodies: Records, rack: Rack, h: float, pushes: bool) -> None:
    """Visit all joints once. pushes: before the bodies move."""
    if len(rack.rows) == 0:
        return
    is_given = False
    for turn in range(MOST_ROUNDS):
        if is_given and rack.state[2] == 0:
            return
        _find_rates(bodies, rack, h, pushes)
        if is_given and not _admit(rack):
            return
        if rack.state[1] == 0:
            factor(bodies, rack)
        solve(rack)
        is_given = turn == MOST_ROUNDS - 1 or not _expel(bodies, rack)
        if is_given:
            _give(bodies, rack)


@kernel
def _find_rates(bodies: Records, rack: Rack, h: float, pushes: bool) -> None:
    """What each row is away from where it shall be, as a velocity."""
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        p, s, q, t = frames_of(bodies, joint, h if pushes else 0.0)
        apart = subtract(q, p)
        bends = _bend(_turn_of(bodies, joint, rack.rows[joint.first_row].coordinate, norm(apart), h)) if pushes else 0.0
        for r in range(joint.first_row, joint.stop_row):
            row = rack.rows[r]
            if row.kind != HOLD or not pushes:
                row.rate = rate_of(bodies, joint, row) + row.softness * row.impulse + row.bias
                if row.kind == HOLD and row.side != 0:
                    room = row.value - (row.high if row.side > 0 else row.low)
                    if room * row.side < 0.0:
                        row.rate += room / h
                continue
            value = value_of(row.coordinate, apart, s, t)
            if row.coordinate == TWIST:
                value = row.value + wrap(value - row.value)
            rate = (value - row.goal) / h
            if bends < 1.0:
                rate = bends * rate + (1.0 - bends) * (rate_of(bodies, joint, row) + (row.value - row.goal) / h)
            row.rate = rate + RIGID * row.weight * row.impulse


@element
def _bend(angle: float) -> float:
    """The part of what is of higher order that counts: all of it where things turn by less than FINE in the substep, nothing from COARSE on, nor
    where it would be less than rounding."""
    return min(1.0, max(0.0, (COARSE - angle) / (COARSE - FINE))) if angle > SLIGHT else 0.0


@kernel
def _turn_of(bodies: Records, joint: Record, first: int, length: float, h: float) -> float:
    """How far the bodies of a joint turn in a substep, or the line between its points. first: the coordinate of its first row."""
    angle = 0.0
    if first == DISTANCE and length > 0.0:
        across = (0.0, 0.0, 0.0)
        for side in range(4):
            i, part = side_of(joint, side)
            if i != ALONE:
                across = add_scaled(across, vector(bodies[i].velocity), part * bodies[i].time)
        angle = h * norm(across) / length
    if joint.turns_a:
        body = bodies[joint.body_a]
        angle = max(angle, h * body.time * norm(vector(body.angular_velocity)))
    if joint.turns_b:
        body = bodies[joint.body_b]
        angle = max(angle, h * body.time * norm(vector(body.angular_velocity)))
    return angle


@kernel
def _wants_in(row: Record) -> bool:
    return (row.impulse < row.most and row.rate < 0.0) or (row.impulse > row.least and row.rate > 0.0)


@kernel
def _admit(rack: Rack) -> bool:
    """Let rows in that would leave their bounds; whether there were any."""
    some = False
    for r in range(len(rack.rows)):
        row = rack.rows[r]
        if not row.is_solved and not row.is_given and row.weight > 0.0 and _wants_in(row):
            row.is_solved, some = True, True
    if some:
        rack.state[1] = 0
    return some


@kernel
def _expel(bodies: Records, rack: Rack) -> bool:
    """Put rows at their bounds that the solution takes beyond; whether there were any."""
    some = False
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        stop = rack.joints[k + 1].column if k + 1 < len(rack.joints) else rack.state[0]
        for i in range(joint.column, stop):
            row = rack.rows[rack.active[i]]
            wanted = row.impulse + rack.solution[i]
            if row.least <= wanted <= row.most:
                continue
            bound = row.least if wanted < row.least else row.most
            push_row(bodies, joint, row, bound - row.impulse)
            row.impulse, row.is_solved, some = bound, False, True
    if some:
        rack.state[1] = 0
    return some


@kernel
def _give(bodies: Records, rack: Rack) -> None:
    """Apply the solution."""
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        stop = rack.joints[k + 1].column if k + 1 < len(rack.joints) else rack.state[0]
        for i in range(joint.column, stop):
            row = rack.rows[rack.active[i]]
            wanted = min(row.most, max(row.least, row.impulse + rack.solution[i]))
            push_row(bodies, joint, row, wanted - row.impulse)
            row.impulse = wanted
