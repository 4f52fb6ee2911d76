"""Where bodies and their colliders are between two states: on a straight line, turning at a constant rate; and how far they are from triangles."""

import math

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.core.records import Record, Records, vector
from abut.geometry.frames import Frame, carry, frame_of, relate, turn
from abut.geometry.quaternions import Quaternion, conjugate, matrix_columns, multiply, normalise, turning
from abut.geometry.rows import put_vector, vector_at, vector_in
from abut.geometry.triangles import closest_point_triangle
from abut.geometry.vec import Vec3, cross, dot, lerp, norm, scale, subtract
from abut.shapes.narrow_phase import load_triangle
from abut.shapes.pool import IN_A, V0, V1, Cores, Trees
from abut.shapes.surface_gap import keep_own, measure_triangle


@element
def _turn_between(p: Quaternion, q: Quaternion) -> tuple[Vec3, float]:
    """Axis and angle, at most π, of the turn from p to q."""
    d = multiply(q, conjugate(p))
    if d[0] < 0.0:
        d = (-d[0], -d[1], -d[2], -d[3])
    axis = (d[1], d[2], d[3])
    return axis, 2.0 * math.atan2(norm(axis), d[0])


@kernel
def _quaternion(state: Record) -> Quaternion:
    q = state.quaternion
    return (q[0], q[1], q[2], q[3])


@kernel
def _frame_at(before: Record, after: Record, own: Floats, t: float) -> Frame:
    """The frame of a collider with a place `own` in a body, at a time t of the step."""
    p = _quaternion(before)
    axis, angle = _turn_between(p, _quaternion(after))
    x, y, z = matrix_columns(normalise(multiply(turning(axis, t * angle), p)))
    middle = lerp(vector(before.position), vector(after.position), t)
    rotation = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    u = turn(rotation, (own[0], own[3], own[6]))
    v = turn(rotation, (own[1], own[4], own[7]))
    w = turn(rotation, (own[2], own[5], own[8]))
    at = carry((rotation, middle), (own[9], own[10], own[11]))
    return ((u[0], v[0], w[0]), (u[1], v[1], w[1]), (u[2], v[2], w[2])), at


@kernel
def place_at(
    before: Records, after: Records, bodies: Integers, local: Floats, colliders: Integers, times: Floats, poses: Floats
) -> None:
    """Poses (n,12) of colliders, each at a time of its own."""
    for k in range(len(colliders)):
        i = colliders[k]
        rotation, middle = _frame_at(before[bodies[i]], after[bodies[i]], local[i], times[k])
        for r in range(3):
            for c in range(3):
                poses[k, 3 * r + c] = rotation[r][c]
            poses[k, 9 + r] = middle[r]


@kernel
def find_turns(before: Records, after: Records, angles: Floats) -> None:
    """(n,) how far bodies turn."""
    for i in range(len(before)):
        angles[i] = _turn_between(_quaternion(before[i]), _quaternion(after[i]))[1]


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
            u, v, w = vector_at(space[IN_A], 0), vector_at(space[IN_A], 1), vector_at(space[IN_A], 2)
            _, q, d = closest_point_triangle((0.0, 0.0, 0.0), u, v, w)
            results[k, 0] = math.sqrt(d)
            put_vector(results, k, 1, turn(own[0], scale(q, 1.0 / math.sqrt(d))) if d > 0.0 else front)
        else:
            keep_own(cores, space, sa)
            gap, normal, _ = measure_triangle(cores, space, int(sa))
            results[k, 0] = gap
            put_vector(results, k, 1, turn(own[0], normal))


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
        a = carry(frame, vector_at(trees.points, corners[0]))
        u = subtract(carry(frame, vector_at(trees.points, corners[1])), a)
        v = subtract(carry(frame, vector_at(trees.points, corners[2])), a)
        normal = cross(u, v)
        size = norm(normal)
        if size == 0.0:
            depths[k] = -math.inf
            continue
        sign = 1.0 if dot(normal, subtract(vector_in(poses_t0, k, 9), a)) >= 0.0 else -1.0
        normal, lowest = scale(normal, sign / size), math.inf
        for end in range(2):
            own = frame_of(poses_t0, k) if end == 0 else frame_of(poses_t1, k)
            for p in range(cores.table[s, V0], cores.table[s, V1]):
                lowest = min(lowest, dot(normal, subtract(carry(own, vector_at(cores.vertices, p)), a)))
        depths[k] = cores.radius[s] - lowest
