"""All rows of joints that are solved for, together: A·x = b, A = J·M⁻¹·Jᵀ over rows that share a body.

A chain has a band, for joints are numbered so that those which hang together are near (reverse Cuthill–McKee). Rows are kept from their first entry
on (Jennings 1966), factored as L·D·Lᵀ. Holds give way by RIGID of what a row weighs: joints that hold the same thing twice share the load.
"""

from abut.core.jit import kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import dot
from abut.impulses.records import ALONE
from abut.world.joints.records import HOLD, Rack
from abut.world.joints.rows import side_of

RIGID = 1e-5
"""Of a row. A joint that carries its own body gives way by this part of g·h²: 4e-10 of a unit of length at 1/480 under SI gravity."""
LEAST_PIVOT = 1e-14


@kernel
def factor(bodies: Records, rack: Rack) -> None:
    """The factors of the rows that are solved for now."""
    count, size = 0, 0
    for k in range(len(rack.joints)):
        joint = rack.joints[k]
        joint.column = count
        first = count
        if rack.offsets[k] < rack.offsets[k + 1]:
            first = rack.joints[rack.neighbors[rack.offsets[k]]].column
        for r in range(joint.first_row, joint.stop_row):
            if not rack.rows[r].is_solved or rack.rows[r].weight <= 0.0:
                continue
            rack.active[count], rack.begin[count], rack.offset[count] = r, first, size
            size += count - first + 1
            count += 1
    rack.matrix[:size] = 0.0
    for k in range(len(rack.joints)):
        stop = rack.joints[k + 1].column if k + 1 < len(rack.joints) else count
        _couple(bodies, rack, k, stop, k, stop)
        for at in range(rack.offsets[k], rack.offsets[k + 1]):
            other = rack.neighbors[at]
            _couple(bodies, rack, k, stop, other, rack.joints[other + 1].column)
    for i in range(count):
        row = rack.rows[rack.active[i]]
        rack.matrix[rack.offset[i] + i - rack.begin[i]] += row.softness + (
            RIGID * row.weight if row.kind == HOLD else 0.0
        )
    _decompose(rack, count)
    rack.state[0], rack.state[1] = count, 1


@kernel
def _couple(bodies: Records, rack: Rack, k: int, stop: int, other: int, other_stop: int) -> None:
    """Add what rows of one joint do to those of another."""
    one, two = rack.joints[k], rack.joints[other]
    for s in range(4):
        body, part = side_of(one, s)
        if body == ALONE or bodies[body].inverse_mass == 0.0:
            continue
        for t in range(4):
            same, share = side_of(two, t)
            if same != body:
                continue
            w, turns = bodies[body].inverse_mass, one.turns_a if s < 2 else one.turns_b
            for i in range(one.column, stop):
                row = rack.rows[rack.active[i]]
                for j in range(two.column, min(other_stop, i + 1)):
                    to = rack.rows[rack.active[j]]
                    a = w * dot(vector(row.linear), vector(to.linear))
                    if turns:
                        a += dot(_turn(row, s), _spun(to, t))
                    rack.matrix[rack.offset[i] + j - rack.begin[i]] += part * share * a


@kernel
def _turn(row: Record, side: int) -> tuple[float, float, float]:
    return vector(row.turn_a) if side < 2 else vector(row.turn_b)


@kernel
def _spun(row: Record, side: int) -> tuple[float, float, float]:
    return vector(row.spun_a) if side < 2 else vector(row.spun_b)


@kernel
def _decompose(rack: Rack, count: int) -> None:
    matrix, pivot = rack.matrix, rack.pivot
    for i in range(count):
        start, at = rack.begin[i], rack.offset[i] - rack.begin[i]
        for j in range(start, i):
            low, to = rack.begin[j], rack.offset[j] - rack.begin[j]
            total = matrix[at + j]
            for k in range(max(start, low), j):
                total -= matrix[at + k] * matrix[to + k]
            matrix[at + j] = total
        total = matrix[at + i]
        least = LEAST_PIVOT * total
        for j in range(start, i):
            part = matrix[at + j] / pivot[j]
            total -= matrix[at + j] * part
            matrix[at + j] = part
        pivot[i] = max(total, least)


@kernel
def solve(rack: Rack) -> None:
    """The impulses that take the rates of the rows that are solved for to zero."""
    count, matrix, x = rack.state[0], rack.matrix, rack.solution
    for i in range(count):
        start, at = rack.begin[i], rack.offset[i] - rack.begin[i]
        total = -rack.rows[rack.active[i]].rate
        for j in range(start, i):
            total -= matrix[at + j] * x[j]
        x[i] = total
    for i in range(count):
        x[i] /= rack.pivot[i]
    for i in range(count - 1, -1, -1):
        start, at = rack.begin[i], rack.offset[i] - rack.begin[i]
        for j in range(start, i):
            x[j] -= matrix[at + j] * x[i]
