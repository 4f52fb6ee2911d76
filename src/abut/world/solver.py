"""Rigid contact: sequential impulses with warm start, in substeps (Catto 2005; "Solver2D", 2024).

A step is cut in substeps. Each one applies gravity, starts from the impulses of the substep before, solves every contact in turn, with a spring that
pushes out what is too deep, moves the bodies, and solves again without the spring, so that pushing leaves no velocity behind. Contacts are found
once a step; their separations follow the bodies from substep to substep to first order in the rotation. Restitution comes last: the speed of the
approach is that at the moment of contact, |v|² = v₀² − 2·a·s with the separation s at the start, so that a bounce loses nothing to the step.

Friction is a circle: both tangential impulses together are at most μ times the normal one. A body in free flight follows its parabola exactly.

State rows (13): position of the center of mass, quaternion (w, x, y, z), velocity, angular velocity. Inverse rows (10): 1/mass, inverse inertia in
the body's frame. Contact rows are laid out below.
"""

import math

from abut.arrays import Floats, Integers
from abut.dynamics.quaternions import matrix_columns
from abut.dynamics.rigid import turn_freely
from abut.geometry.vec import Vec3, add, add_scaled, cross, distance_sq, dot, scale, subtract
from abut.jit import element, kernel, stay_apart

STIFFNESS = 0.25
DAMPING = 4.0
"""Of the spring and damper that stand for a contact that is too deep: a quarter of a cycle a substep, the most that is stable, and four times
critical damping. A rigid push in their place feeds the rocking of a stack of five until it falls."""
REST = 0.5
"""Bodies rest this part of the slop deep, and are held there from both sides: neither do contacts come and go, nor can a stack lean freely."""
POSITION, TURN, VELOCITY, SPIN = 0, 3, 7, 10
# Contact rows: normal, two tangents, arms from the centers of mass, then numbers.
N, T, B, ARM_A, ARM_B = 0, 3, 6, 9, 12
GAP, MASS_N, MASS_T, MASS_B, FRICTION, BOUNCE, JN, JT, JB, TOTAL, APPROACH = range(15, 26)
WIDTH = 26


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
def _effective(inverse: Floats, world: Floats, a: int, b: int, arm_a: Vec3, arm_b: Vec3, d: Vec3) -> float:
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
def prepare(
    state: Floats,
    inverse: Floats,
    world: Floats,
    gravity: Floats,
    pairs: Integers,
    found: Floats,
    rows: Floats,
    rest: float,
) -> None:
    """Contact rows from the narrow phase's; FRICTION, BOUNCE and the impulses are set by the caller. `gravity` (n,3) is each body's own.

    rest: the depth that contacts shall have."""
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        point, normal = get(found, i, 0), get(found, i, 3)
        arm_a, arm_b = subtract(point, get(state, a, POSITION)), subtract(point, get(state, b, POSITION))
        t = tangent_to(normal)
        s = cross(normal, t)
        put(rows, i, N, normal)
        put(rows, i, T, t)
        put(rows, i, B, s)
        put(rows, i, ARM_A, arm_a)
        put(rows, i, ARM_B, arm_b)
        rows[i, GAP], rows[i, TOTAL] = found[i, 6] + rest, 0.0
        rows[i, MASS_N] = _effective(inverse, world, a, b, arm_a, arm_b, normal)
        rows[i, MASS_T] = _effective(inverse, world, a, b, arm_a, arm_b, t)
        rows[i, MASS_B] = _effective(inverse, world, a, b, arm_a, arm_b, s)
        speed = dot(relative_velocity(state, a, b, arm_a, arm_b), normal)
        pull = dot(subtract(get(gravity, b, 0), get(gravity, a, 0)), normal)
        rows[i, APPROACH] = math.sqrt(max(0.0, speed * speed - 2.0 * pull * rows[i, GAP])) if speed < 0.0 else 0.0


@element
def soften(h: float, fastest: float) -> tuple[float, float, float, float]:
    """Of the spring: velocity per depth and its bound, the part of an impulse that is given, and the part of the old one that is taken back."""
    omega = 2.0 * math.pi * STIFFNESS / h
    resistance = 2.0 * DAMPING + h * omega
    give = 1.0 / (1.0 + h * omega * resistance)
    return omega / resistance, fastest, 1.0 - give, give


@kernel
def _solve_row(
    state: Floats,
    inverse: Floats,
    world: Floats,
    moved: Floats,
    pairs: Integers,
    rows: Floats,
    i: int,
    h: float,
    limits: tuple[float, float, float, float],
) -> None:
    """One contact: the normal first, then friction. limits: see `soften`."""
    a, b = pairs[i, 0], pairs[i, 1]
    arm_a, arm_b, n = get(rows, i, ARM_A), get(rows, i, ARM_B), get(rows, i, N)
    shift = subtract(get(moved, b, 0), get(moved, a, 0))
    shift = add(shift, subtract(cross(get(moved, b, 3), arm_b), cross(get(moved, a, 3), arm_a)))
    gap = rows[i, GAP] + dot(shift, n)
    bias = gap / h if gap > 0.0 else max(limits[0] * gap, -limits[1])
    firm, give = (1.0, 0.0) if gap > 0.0 else (limits[2], limits[3])
    v = relative_velocity(state, a, b, arm_a, arm_b)
    old = rows[i, JN]
    rows[i, JN] = max(0.0, old - firm * rows[i, MASS_N] * (dot(v, n) + bias) - give * old)
    j = scale(n, rows[i, JN] - old)
    push(state, inverse, world, a, b, arm_a, arm_b, j)
    v = relative_velocity(state, a, b, arm_a, arm_b)
    t, s = get(rows, i, T), get(rows, i, B)
    old_t, old_s = rows[i, JT], rows[i, JB]
    new_t, new_s = old_t - rows[i, MASS_T] * dot(v, t), old_s - rows[i, MASS_B] * dot(v, s)
    most = rows[i, FRICTION] * rows[i, JN]
    size = math.sqrt(new_t * new_t + new_s * new_s)
    if size > most:
        new_t, new_s = new_t * most / size, new_s * most / size
    rows[i, JT], rows[i, JB] = new_t, new_s
    push(state, inverse, world, a, b, arm_a, arm_b, add_scaled(scale(t, new_t - old_t), s, new_s - old_s))


@kernel
def _solve(
    state: Floats,
    inverse: Floats,
    world: Floats,
    moved: Floats,
    pairs: Integers,
    rows: Floats,
    h: float,
    limits: tuple[float, float, float, float],
    sweeps: int,
) -> None:
    """All contacts in turn, to and fro."""
    stay_apart()
    count = len(pairs)
    for sweep in range(sweeps):
        for k in range(count):
            i = k if sweep % 2 == 0 else count - 1 - k
            _solve_row(state, inverse, world, moved, pairs, rows, i, h, limits)


@kernel
def _warm_start(state: Floats, inverse: Floats, world: Floats, pairs: Integers, rows: Floats) -> None:
    for i in range(len(pairs)):
        j = add_scaled(scale(get(rows, i, N), rows[i, JN]), get(rows, i, T), rows[i, JT])
        j = add_scaled(j, get(rows, i, B), rows[i, JB])
        push(state, inverse, world, pairs[i, 0], pairs[i, 1], get(rows, i, ARM_A), get(rows, i, ARM_B), j)


@kernel
def _advance(
    state: Floats, inertia: Floats, moving: Integers, moved: Floats, free: Integers, gravity: Floats, h: float
) -> None:
    for k in range(len(moving)):
        i = moving[k]
        v, w = get(state, i, VELOCITY), get(state, i, SPIN)
        if free[i] == 1:
            v = add_scaled(v, get(gravity, i, 0), -0.5 * h)  # the mean of before and after: the parabola itself
        put(state, i, POSITION, add_scaled(get(state, i, POSITION), v, h))
        put(moved, i, 0, add_scaled(get(moved, i, 0), v, h))
        put(moved, i, 3, add_scaled(get(moved, i, 3), w, h))
        if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
            continue
        m = inertia[i]
        shape = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        q, w, _ = turn_freely((state[i, 3], state[i, 4], state[i, 5], state[i, 6]), w, shape, h)
        state[i, 3], state[i, 4], state[i, 5], state[i, 6] = q
        put(state, i, SPIN, w)


@kernel
def step_bodies(
    state: Floats,
    inverse: Floats,
    inertia: Floats,
    world: Floats,
    gravity: Floats,
    moving: Integers,
    moved: Floats,
    free: Integers,
    pairs: Integers,
    rows: Floats,
    numbers: Floats,
    substeps: int,
    sweeps: int,
) -> None:
    """One step. numbers: dt, most speed of a push, speed below which nothing bounces.

    moving: bodies that move at all. free: 1 for bodies without contact. moved (n,6) and JN, JT, JB of the rows are read and written."""
    dt, fastest, slowest = numbers[0], numbers[1], numbers[2]
    h = dt / substeps
    for i in range(len(moved)):
        for k in range(6):
            moved[i, k] = 0.0
    for _ in range(substeps):
        for k in range(len(moving)):
            i = moving[k]
            put(state, i, VELOCITY, add_scaled(get(state, i, VELOCITY), get(gravity, i, 0), h))
        _warm_start(state, inverse, world, pairs, rows)
        _solve(state, inverse, world, moved, pairs, rows, h, soften(h, fastest), sweeps)
        _advance(state, inertia, moving, moved, free, gravity, h)
        _solve(state, inverse, world, moved, pairs, rows, h, (0.0, 0.0, 1.0, 0.0), sweeps)
        for i in range(len(pairs)):
            rows[i, TOTAL] += rows[i, JN]
    for i in range(len(pairs)):
        if rows[i, BOUNCE] == 0.0 or rows[i, APPROACH] < slowest or rows[i, TOTAL] == 0.0:
            continue
        a, b = pairs[i, 0], pairs[i, 1]
        arm_a, arm_b, n = get(rows, i, ARM_A), get(rows, i, ARM_B), get(rows, i, N)
        speed = dot(relative_velocity(state, a, b, arm_a, arm_b), n)
        j = max(0.0, -rows[i, MASS_N] * (speed - rows[i, BOUNCE] * rows[i, APPROACH]))
        rows[i, TOTAL] += j
        push(state, inverse, world, a, b, arm_a, arm_b, scale(n, j))


@kernel
def _same_pair(ids: Integers, i: int, others: Integers, k: int) -> bool:
    return ids[i, 3] == others[k, 3] and ids[i, 4] == others[k, 4]


@kernel
def _seek_pair(table: Integers, ids: Integers, wanted: Integers, i: int) -> int:
    """The place in the table of the pair that row i of `wanted` has, or the empty one where it belongs."""
    mask = len(table) - 1
    slot = (wanted[i, 3] * 1000003 + wanted[i, 4]) & mask
    while table[slot] >= 0 and not _same_pair(ids, int(table[slot]), wanted, i):
        slot = (slot + 1) & mask
    return slot


@kernel
def match_impulses(
    old_ids: Integers,
    old_points: Floats,
    old: Floats,
    ids: Integers,
    points: Floats,
    new: Floats,
    table: Integers,
    reach: float,
) -> None:
    """Copy the numbers of old rows to new ones of the same pair: first where the features are the same, then where a point is the nearest.

    Features alone would not do: corners of equal boxes lie on each other's outline, now inside, now outside. Rows of a pair stand together.
    table: room of a power of two, at least twice the old rows. reach: no point is taken for another that is farther away."""
    for k in range(len(table)):
        table[k] = -1
    for k in range(len(old_ids)):
        if k == 0 or not _same_pair(old_ids, k, old_ids, k - 1):
            table[_seek_pair(table, old_ids, old_ids, k)] = k
    start = 0
    while start < len(ids):
        stop = start + 1
        while stop < len(ids) and _same_pair(ids, stop, ids, start):
            stop += 1
        first = int(table[_seek_pair(table, old_ids, ids, start)])
        last = first
        while 0 <= last < len(old_ids) and _same_pair(old_ids, last, old_ids, first):
            last += 1
        if first >= 0:
            _match_pair(old_ids, old_points, old, first, last, ids, points, new, start, stop, reach)
        start = stop


@kernel
def _match_pair(
    old_ids: Integers,
    old_points: Floats,
    old: Floats,
    first: int,
    last: int,
    ids: Integers,
    points: Floats,
    new: Floats,
    start: int,
    stop: int,
    reach: float,
) -> None:
    """Rows first to last against rows start to stop. −1 in the last column of `new` stands for a row without a match so far."""
    end = new.shape[1] - 1
    for i in range(start, stop):
        new[i, end] = -1.0
        for k in range(first, last):
            if old_ids[k, 2] == ids[i, 2] and old_ids[k, 1] == ids[i, 1] and old_ids[k, 0] == ids[i, 0]:
                for c in range(end + 1):
                    new[i, c] = old[k, c]
    for i in range(start, stop):
        if new[i, end] >= 0.0:
            continue
        best, found = reach * reach, -1
        for k in range(first, last):
            taken = False
            for other in range(start, stop):  # by a row that has the same features
                taken = taken or (
                    old_ids[k, 2] == ids[other, 2] and old_ids[k, 1] == ids[other, 1] and old_ids[k, 0] == ids[other, 0]
                )
            d = distance_sq(get(points, i, 0), get(old_points, k, 0))
            if d <= best and not taken:
                best, found = d, k
        for c in range(end + 1):
            new[i, c] = old[found, c] if found >= 0 else 0.0


@kernel
def find_islands(pairs: Integers, dynamic: Integers, root: Integers) -> None:
    """root[i]: the lowest body that dynamic body i is connected with by contacts; bodies that are not dynamic connect nothing."""
    for i in range(len(root)):
        root[i] = i
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        if dynamic[a] == 0 or dynamic[b] == 0:
            continue
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        root[max(a, b)] = min(a, b)
    for i in range(len(root)):
        a = i
        while root[a] != a:
            a = root[a]
        root[i] = a
