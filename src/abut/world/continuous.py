"""Fast bodies: a continuous body stops where it first comes near something within a step, and goes on in the next (conservative advancement).

Between two states a body moves on a straight line and turns at a constant rate. Along the direction between the nearest points the distance shrinks
no faster than the relative speed along it, plus each body's turn times its radius: so that much time may pass safely, again and again. The
distance is that of the tracked hulls less what it may be off, so the time is never late. It stops a slop away, where the contact margin sees it
in the next step. What is nearer than that at the beginning, or was pushed in the step, has a contact, and the solver holds it; should it fail
to, as it may for a body that spins fast, the center of mass is kept from passing. Triangles behind whose planes the body reaches by no more than
a slop do not stop it: it slides along them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from abut.convex import track_many
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.geometry.frames import Frame, carry, frame_of, relate, turn
from abut.geometry.quaternions import Quaternion, conjugate, matrix_columns, multiply, normalise, turning
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, cross, dot, lerp, norm, scale, subtract
from abut.shapes.narrow_phase import load_triangle
from abut.shapes.pool import IN_A, KIND, SURFACE, T0, T1, V0, V1, Cores, Trees
from abut.shapes.surface_gap import keep_own, measure_triangle
from abut.world.bodies import Store
from abut.world.body_rows import POSITION, TURN, get, put
from abut.world.colliders import NOWHERE, Colliders
from abut.world.hull_tracking import square

NO_TRIANGLE = -1
CHECKED = 1e-10
"""Of the size: by so much a tracked distance may be too large; it is checked to be less than 2e-11."""
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
def place_at(
    before: Floats, after: Floats, bodies: Integers, local: Floats, colliders: Integers, times: Floats, poses: Floats
) -> None:
    """Poses (n,12) of colliders, each at a time of its own."""
    for k in range(len(colliders)):
        i = colliders[k]
        rotation, middle = _frame_at(before, after, int(bodies[i]), local, int(i), float(times[k]))
        for r in range(3):
            for c in range(3):
                poses[k, 3 * r + c] = rotation[r][c]
            poses[k, 9 + r] = middle[r]


@kernel
def find_turns(before: Floats, after: Floats, angles: Floats) -> None:
    """(n,) how far bodies turn."""
    for i in range(len(before)):
        angles[i] = _turn_between(_quaternion(before, i), _quaternion(after, i))[1]


@kernel
def measure_triangles(
    cores: Cores,
    trees: Trees,
    space: Floats,
    shapes: Integers,
    poses_a: Floats,
    poses_b: Floats,
    triangles: Integers,
    results: Floats,
) -> None:
    """Of cores (shape −1: the point of its pose) and triangles: results (n,4) signed distance, normal in the world. NaN without an area."""
    for k in range(len(shapes)):
        own, sa = frame_of(poses_a, k), shapes[k]
        frame = relate(own, frame_of(poses_b, k))
        front = load_triangle(
            trees.points, trees.triangles, triangles[k], frame, cores.vertices, cores.planes, space[IN_A]
        )
        if front == (0.0, 0.0, 0.0):
            results[k, 0] = math.nan
        elif sa < 0:
            u, v, w = get(space[IN_A], 0, 0), get(space[IN_A], 1, 0), get(space[IN_A], 2, 0)
            _, q, d = closest_point_triangle((0.0, 0.0, 0.0), u, v, w)
            results[k, 0] = math.sqrt(d)
            put(results, k, 1, turn(own[0], scale(q, 1.0 / math.sqrt(d))) if d > 0.0 else front)
        else:
            keep_own(cores, space, sa)
            gap, normal, _ = measure_triangle(cores, space, int(sa))
            results[k, 0] = gap
            put(results, k, 1, turn(own[0], normal))


@kernel
def find_depths(
    cores: Cores,
    trees: Trees,
    shapes: Integers,
    poses_t0: Floats,
    poses_t1: Floats,
    poses_b: Floats,
    triangles: Integers,
    depths: Floats,
) -> None:
    """How far cores, at the deeper end of the step, reach behind the planes of triangles, seen from the side on which their frames start."""
    for k in range(len(shapes)):
        frame, s = frame_of(poses_b, k), shapes[k]
        corners = trees.triangles[triangles[k]]
        a = carry(frame, get(trees.points, corners[0], 0))
        u = subtract(carry(frame, get(trees.points, corners[1], 0)), a)
        v = subtract(carry(frame, get(trees.points, corners[2], 0)), a)
        normal = cross(u, v)
        size = norm(normal)
        if size == 0.0:
            depths[k] = -math.inf
            continue
        sign = 1.0 if dot(normal, subtract(get(poses_t0, k, 9), a)) >= 0.0 else -1.0
        normal, lowest = scale(normal, sign / size), math.inf
        for end in range(2):
            own = frame_of(poses_t0, k) if end == 0 else frame_of(poses_t1, k)
            for p in range(cores.table[s, V0], cores.table[s, V1]):
                lowest = min(lowest, dot(normal, subtract(carry(own, get(cores.vertices, p, 0)), a)))
        depths[k] = cores.radius[s] - lowest


class _Advance:
    """Pairs of a collider and another, or one of its triangles: one row each, with the time up to which they are known to be apart."""

    def __init__(self, store: Store, colliders: Colliders, after: Floats, rows: Integers) -> None:
        self.store, self.colliders, self.before, self.after = store, colliders, store.state, after
        before = self.before
        self.i, self.j, self.triangle = rows.T
        self.a, self.b = colliders.body[self.i], colliders.body[self.j]
        radius = colliders.pool.cores.radius
        angles = np.empty(len(before))
        find_turns(before, self.after, angles)
        moved = self.after[:, POSITION:TURN] - before[:, POSITION:TURN]
        self.travel = moved[self.b] - moved[self.a]
        self.angle = angles[self.a]
        self.spin_b = angles[self.b] * store.radius[self.b]
        self.spin = angles[self.a] * store.radius[self.a] + self.spin_b
        self.radius_b = np.where(self.triangle < 0, radius[colliders.shape[self.j] + 1], 0.0)
        self.grown = radius[colliders.shape[self.i] + 1] + self.radius_b
        self.time = np.zeros(len(rows))
        self.inner = np.zeros(len(rows), np.bool_)
        self.features = np.full((len(rows), 2), -1, np.int64)
        self.target = np.empty(len(rows))

    def find_sliding(self, slop: float) -> NDArray[np.bool_]:
        """Rows of triangles at rest that the core sinks behind by at most a slop during the step.

        Between its ends a point that turns by φ around a center at a distance r is off the straight line by at most φ²·r / 8."""
        still = (self.before[self.b] == self.after[self.b]).all(axis=1)
        on = np.flatnonzero((self.triangle >= 0) & still)
        start, end, other = np.empty((3, len(on), 12))
        for out, ids, time in ((start, self.i, 0.0), (end, self.i, 1.0), (other, self.j, 0.0)):
            times, own = np.full(len(on), time), (self.colliders.body, self.colliders.local)
            place_at(self.before, self.after, *own, ids[on], times, out)
        pool, shapes, depths = self.colliders.pool, self.colliders.shape[self.i[on]] + 1, np.empty(len(on))
        find_depths(pool.cores, pool.trees, shapes, start, end, other, self.triangle[on], depths)
        arm = self.store.radius[self.a[on]] - pool.cores.radius[shapes]
        sliding = np.zeros(len(self.i), np.bool_)
        sliding[on] = depths + self.angle[on] ** 2 / 8.0 * arm <= slop
        return sliding

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out rows that are done."""
        for name, value in list(vars(self).items()):
            if name not in ("store", "colliders", "before", "after"):
                setattr(self, name, value[kept])

    def measure(self) -> tuple[Floats, Floats]:
        """Gap of each row at its time, no more than it is, and the normal from a to b."""
        poses = [np.empty((len(self.i), 12)) for _ in range(2)]
        for ids, out in ((self.i, poses[0]), (self.j, poses[1])):
            place_at(self.before, self.after, self.colliders.body, self.colliders.local, ids, self.time, out)
        middle = self.before[self.a, :3] + self.time[:, np.newaxis] * (self.after[self.a, :3] - self.before[self.a, :3])
        poses[0][self.inner] = np.concatenate((np.tile(np.eye(3).ravel(), (len(middle), 1)), middle), axis=1)[
            self.inner
        ]
        shape_a = np.where(self.inner, NOWHERE, self.colliders.shape[self.i] + 1)
        pool, found = self.colliders.pool, np.empty((len(self.i), 4))
        on = np.flatnonzero(self.triangle < 0)
        which = np.stack((np.maximum(shape_a, 0), self.colliders.shape[self.j] + 1), axis=1)[on].ravel()
        both = np.stack((poses[0][on], poses[1][on]), axis=1).reshape(-1, 12)
        pairs = np.arange(2 * len(on)).reshape(-1, 2)
        if len(on):
            tracks = track_many(pool.hulls, pairs, square(both), self.features[on], which)
            self.features[on] = tracks.features
            scale = pool.hulls.radii[which].reshape(-1, 2).sum(axis=1) + np.abs(tracks.distance)
            found[on, 0], found[on, 1:] = tracks.distance - CHECKED * scale, tracks.normal
        on = np.flatnonzero(self.triangle >= 0)
        results = np.empty((len(on), 4))
        rows = (shape_a[on], poses[0][on], poses[1][on], self.triangle[on])
        measure_triangles(pool.cores, pool.trees, self.colliders.room[0], *rows, results)
        found[on] = results
        return found[:, 0] - self.grown, found[:, 1:]

    def start(self, slop: float, part: float, held: Integers) -> Floats:
        """The first look. What is within a slop has a contact; there it is the center of mass that must not pass."""
        gap, normal = self.measure()
        self.inner = (gap <= slop) | np.isin((np.minimum(self.i, self.j) << 32) | np.maximum(self.i, self.j), held)
        outer = np.maximum(gap, 0.0)
        self.grown = np.where(self.inner, self.radius_b, self.grown)
        self.spin = np.where(self.inner, self.spin_b, self.spin)
        self.features[self.inner] = -1
        if self.inner.any():
            gap, normal = self.measure()
        self.target = np.where(self.inner, INNER * (gap - np.where(self.inner, outer, 0.0)), part * slop)
        return np.column_stack((gap, normal))

    def run(self, slop: float, part: float, held: Integers, times: Floats) -> None:
        """Lower times[body] to the first contact of each body."""
        self.keep(~self.find_sliding(slop))
        found = self.start(slop, part, held)
        for step in range(MOST_STEPS):
            gap, normal = found[:, 0], found[:, 1:]
            done = ~(gap > self.target)
            if step > 0:
                np.minimum.at(times, self.a[done], self.time[done])
            speed = self.spin - (self.travel * normal).sum(axis=1)
            ahead = np.divide(gap - 0.5 * self.target, speed, out=np.full(len(gap), np.inf), where=speed > 0.0)
            self.time = self.time + ahead
            self.keep(~done & (self.time < times[self.a]))
            if not len(self.i):
                return
            found = np.column_stack(self.measure())
        np.minimum.at(times, self.a, self.time)


def _find_triangles(colliders: Colliders, before: Floats, after: Floats, j: int, box: Floats) -> Integers:
    """Triangles of surface j, at either end of the step, in the neighbourhood of a box."""
    pool, shape = colliders.pool, colliders.shape[j] + 1
    first, last = pool.cores.table[shape, T0], pool.cores.table[shape, T1]
    poses = np.empty((2, 12))
    place_at(before, after, colliders.body, colliders.local, np.array([j, j]), np.array([0.0, 1.0]), poses)
    corners = pool.trees.points[pool.trees.triangles[first:last, :3]]
    ends = [corners @ pose[:9].reshape(3, 3).T + pose[9:] for pose in poses]
    low = np.minimum(ends[0].min(axis=1), ends[1].min(axis=1))
    high = np.maximum(ends[0].max(axis=1), ends[1].max(axis=1))
    return first + np.flatnonzero((low <= box[3:]).all(axis=1) & (high >= box[:3]).all(axis=1))


def find_stops(store: Store, colliders: Colliders, after: Floats, slop: float, part: float, held: Integers) -> Floats:
    """(n,) the part of the step after which continuous bodies come within `part` of a slop of something, going to the states `after`; 1: they do not.

    held: pairs of colliders, smaller · 2³² + larger, that the solver has kept apart; of those only the center is looked at."""
    before, times = store.state, np.ones(len(after))
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
    rows = [np.empty((0, 3), np.int64)]
    for body in fast:
        box = spheres[body]
        near = there[(boxes[:, :3] <= box[3:]).all(axis=1) & (boxes[:, 3:] >= box[:3]).all(axis=1)]
        others = colliders.body[near]
        near = near[(others != body) & _agree(store, int(body), others)]
        own = np.flatnonzero(colliders.body == body)
        for j in near.tolist():
            is_surface = table[colliders.shape[j] + 1, KIND] == SURFACE
            triangles = _find_triangles(colliders, before, after, j, box) if is_surface else np.array([NO_TRIANGLE])
            every = [a.ravel() for a in np.meshgrid(own, triangles, indexing="ij")]
            rows.append(np.stack((every[0], np.full(len(every[0]), j), every[1]), axis=1))
    joined = np.concatenate(rows)
    if len(joined):
        _Advance(store, colliders, after, joined).run(slop, part, held, times)
    return times


def _agree(store: Store, body: int, others: Integers) -> np.ndarray:
    met = (store.layer[body] & store.mask[others]) != 0
    return met & ((store.layer[others] & store.mask[body]) != 0)
