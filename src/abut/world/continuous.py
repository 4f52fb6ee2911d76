"""Fast bodies: a continuous body stops where it first comes near something within a step, and goes on in the next (conservative advancement).

Between two states a body moves on a straight line and turns at a constant rate. Along the direction between the nearest points the distance shrinks
no faster than the relative speed along it, plus each body's turn times its radius: so that much time may pass safely, again and again. The
lower bound of the distance is used, so the time is never late. It stops a slop away, where the contact margin sees it in the next step. What is
nearer than that at the beginning has a contact, and the solver holds it; should it fail to, as it may for a body that spins fast, the center of mass
is kept from passing.
"""

import math

import numpy as np

from abut.arrays import Floats, Integers
from abut.dynamics.quaternions import Quaternion, conjugate, matrix_columns, multiply, normalise, turning
from abut.errors import Unsupported
from abut.geometry.vec import Vec3, dot, lerp, norm, scale, subtract
from abut.jit import element, integer, kernel
from abut.shapes.frames import Frame, carry, carry_points, relate, turn, turn_back
from abut.shapes.narrow import load_triangle
from abut.shapes.nearest import measure_cores
from abut.shapes.pool import IN_A, IN_B, KIND, SURFACE, T0, T1, V0, V1, Cores, Trees
from abut.world.colliders import Colliders
from abut.world.impulses import POSITION, TURN, get
from abut.world.store import Store

NO_TRIANGLE = integer(-1)
INNER = 0.25
"""Part of its distance at the start that the center of a body which is in contact keeps."""
MOST_STEPS = 96
"""After so many advances the body stops where it is: early, never late."""


@element
def _turn_between(p: Quaternion, q: Quaternion) -> tuple[Vec3, float]:
    """Axis and angle, at most π, of the turn from p to q."""
    d = multiply(q, conjugate(p))
    if d[0] < 0.0:
        d = (-d[0], -d[1], -d[2], -d[3])
    axis = (d[1], d[2], d[3])
    return axis, 2.0 * math.atan2(norm(axis), d[0])


@kernel
def _quaternion(state: Floats, i: int) -> Quaternion:
    return (state[i, 3], state[i, 4], state[i, 5], state[i, 6])


@kernel
def _frame_at(before: Floats, after: Floats, body: int, local: Floats, collider: int, t: float) -> Frame:
    """A collider's frame at a time t of the step."""
    p = _quaternion(before, body)
    axis, angle = _turn_between(p, _quaternion(after, body))
    x, y, z = matrix_columns(normalise(multiply(turning(axis, t * angle), p)))
    middle = lerp(get(before, body, POSITION), get(after, body, POSITION), t)
    rotation = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    own = local[collider]
    u = turn(rotation, (own[0], own[3], own[6]))
    v = turn(rotation, (own[1], own[4], own[7]))
    w = turn(rotation, (own[2], own[5], own[8]))
    at = carry((rotation, middle), (own[9], own[10], own[11]))
    return ((u[0], v[0], w[0]), (u[1], v[1], w[1]), (u[2], v[2], w[2])), at


@kernel
def _advance_pair(
    cores: Cores,
    trees: Trees,
    space: Floats,
    before: Floats,
    after: Floats,
    local: Floats,
    bodies: Integers,
    shapes: Integers,
    radius: Floats,
    i: int,
    j: int,
    triangle: int,
    target: float,
    best: float,
) -> float:
    """The first time, at most `best`, at which colliders i and j (of which only one triangle counts, unless −1) are within the target."""
    a, b, sa, sb = bodies[i], bodies[j], shapes[i], shapes[j]
    first, last = cores.table[sa, V0], cores.table[sa, V1]
    travel = subtract(
        subtract(get(after, b, POSITION), get(before, b, POSITION)),
        subtract(get(after, a, POSITION), get(before, a, POSITION)),
    )
    spin = _turn_between(_quaternion(before, a), _quaternion(after, a))[1] * float(radius[a])
    spin_b = _turn_between(_quaternion(before, b), _quaternion(after, b))[1] * float(radius[b])
    spin += spin_b
    grown = float(cores.radius[sa] + cores.radius[sb])
    t, inner = 0.0, False
    for step in range(MOST_STEPS):
        own = _frame_at(before, after, a, local, i, t)
        frame = relate(own, _frame_at(before, after, b, local, j, t))
        count = 3
        if triangle >= 0:
            load_triangle(trees.points, trees.triangles, triangle, frame, cores.vertices, cores.planes, space[IN_A])
        else:
            count = cores.table[sb, V1] - cores.table[sb, V0]
            carry_points(frame, cores.vertices, cores.table[sb, V0], cores.table[sb, V1], space[IN_A])
        if step == 0:  # the center of mass, where the collider sees it
            u = local[i]
            offset = (-u[9], -u[10], -u[11])
            x, y, z = turn_back(((u[0], u[1], u[2]), (u[3], u[4], u[5]), (u[6], u[7], u[8])), offset)
            space[IN_B, 0, 0], space[IN_B, 0, 1], space[IN_B, 0, 2] = x, y, z
        distance, lower, p, q = measure_cores(cores.vertices, first, last, space[IN_A], 0, count)
        if step == 0 and lower - grown <= target:
            inner = True
        if inner:
            distance, lower, p, q = measure_cores(space[IN_B], 0, 1, space[IN_A], 0, count)
            if step == 0:
                grown, spin = float(cores.radius[sb]), spin_b
                target = INNER * (lower - grown)
        gap = lower - grown
        if gap <= target:
            return best if step == 0 else t
        speed = spin - dot(travel, turn(own[0], scale(subtract(q, p), 1.0 / distance)))
        if speed <= 0.0:
            return best
        t += (gap - 0.5 * target) / speed
        if t >= best:
            return best
    return t


@kernel
def find_times(
    cores: Cores,
    trees: Trees,
    space: Floats,
    before: Floats,
    after: Floats,
    local: Floats,
    bodies: Integers,
    shapes: Integers,
    radius: Floats,
    pairs: Integers,
    swept: Floats,
    target: float,
    times: Floats,
) -> None:
    """For each pair, lower times[body of its first collider] to the first contact. swept (n,6): boxes of the first colliders over the step."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        a, sb = bodies[i], shapes[j]
        if cores.table[sb, KIND] != SURFACE:
            times[a] = _advance_pair(
                cores,
                trees,
                space,
                before,
                after,
                local,
                bodies,
                shapes,
                radius,
                i,
                j,
                NO_TRIANGLE,
                target,
                float(times[a]),
            )
            continue
        frame = _frame_at(before, after, int(bodies[j]), local, j, 1.0)
        for t in range(cores.table[sb, T0], cores.table[sb, T1]):
            inside = True
            for axis in range(3):
                low, high = math.inf, -math.inf
                for c in range(3):
                    v = trees.triangles[t, c]
                    x = carry(frame, (trees.points[v, 0], trees.points[v, 1], trees.points[v, 2]))[axis]
                    low, high = min(low, x), max(high, x)
                inside = inside and low <= swept[k, axis + 3] and high >= swept[k, axis]
            if inside:
                times[a] = _advance_pair(
                    cores, trees, space, before, after, local, bodies, shapes, radius, i, j, t, target, float(times[a])
                )


def stop_in_time(store: Store, colliders: Colliders, before: Floats, slop: float) -> None:
    """Put continuous bodies that would have met something on their way back to where they meet it."""
    after = store.state
    fast = np.flatnonzero(store.movable & store.continuous & ~store.asleep)
    there = np.flatnonzero(colliders.body >= 0)
    table = colliders.pool.cores.table
    middle = (
        np.minimum(before[:, POSITION:TURN], after[:, POSITION:TURN]),
        np.maximum(before[:, POSITION:TURN], after[:, POSITION:TURN]),
    )
    reach = store.radius[:, np.newaxis] + 2.0 * slop
    spheres = np.concatenate((middle[0] - reach, middle[1] + reach), axis=1)
    # What does not turn has its own box; a static surface of any size is not a ball.
    own = colliders.boxes[there] + np.array([-1, -1, -1, 1, 1, 1]) * 2.0 * slop
    still = (before[colliders.body[there]] == after[colliders.body[there]]).all(axis=1)
    boxes = np.where(still[:, np.newaxis], own, spheres[colliders.body[there]])
    pairs: list[Integers] = []
    for body in fast:
        box = spheres[body]
        near = there[(boxes[:, :3] <= box[3:]).all(axis=1) & (boxes[:, 3:] >= box[:3]).all(axis=1)]
        others = colliders.body[near]
        near = near[(others != body) & _agree(store, int(body), others)]
        for i in np.flatnonzero(colliders.body == body):
            if table[colliders.shape[i] + 1, KIND] == SURFACE:
                raise Unsupported("a continuous body with a surface: give it a hull, or parts that are convex")
            pairs.append(np.stack((np.full(len(near), i), near), axis=1))
    if not pairs:
        return
    joined = np.concatenate(pairs)
    if not len(joined):
        return
    times = np.ones(len(after))
    swept = np.ascontiguousarray(spheres[colliders.body[joined[:, 0]]])
    find_times(
        *colliders.pool,
        colliders.room[0],
        before,
        after,
        colliders.local,
        colliders.body,
        colliders.shape + 1,
        store.radius,
        joined,
        swept,
        slop,
        times,
    )
    for body in fast[times[fast] < 1.0]:
        t = float(times[body])
        after[body, POSITION:TURN] = (1.0 - t) * before[body, POSITION:TURN] + t * after[body, POSITION:TURN]
        p = tuple(before[body, TURN : TURN + 4].tolist())
        axis, angle = _turn_between(p, tuple(after[body, TURN : TURN + 4].tolist()))
        after[body, TURN : TURN + 4] = normalise(multiply(turning(axis, t * angle), p))


def _agree(store: Store, body: int, others: Integers) -> np.ndarray:
    met = (store.layer[body] & store.mask[others]) != 0
    return met & ((store.layer[others] & store.mask[body]) != 0)
