"""Conjugate gradients with a sweep of Gauss–Seidel, to and fro, as step of descent (after Silcowitz, Niebe & Erleben 2010).

What impulses λ of surfaces that stick look for is the least of a square form f: the kinetic energy that is left, and what springs hold. A sweep
changes λ by d; the time before, λ went on by p. In the plane of d and p the least of f is found exactly, each island with its own, and λ goes there.
For a square form these are the steps of conjugate gradients, which take as many as there are different loads to find, not as many as the masses
differ. All that is needed are products in the space of the bodies, for what changes λ by d changes the velocities by M⁻¹Jᵀd. On the way impulses stay
in their cones. Where they are stopped there, or slide, f is not all: a sweep that changes much more than an earlier one is followed by sweeps alone,
until they are small again, and an island whose sweeps do not get smaller at all is left as it is.

Both bodies of a contact get the same impulse with opposite signs, so that no momentum is made.
"""

from typing import Any, NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, kernel, stay_apart
from abut.core.octets import SIZE, choose, load, maximum, minimum, root, splat, store
from abut.core.records import Record, Records, vector
from abut.geometry.quaternions import conjugate, rotate
from abut.geometry.rows import vector_at
from abut.geometry.vec import add, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.world.solver.blocks import LANE, Blocks, column_of
from abut.world.solver.energy import NONE
from abut.world.solver.lane_solver import apart, apply_inertia, body_of, put_body, take_work, three
from abut.world.solver.one_contact import Softness

IMPULSES = 6
"""The fields of a lane that sweeps change: normal, tangent, bitangent and rolling impulse (3); they stand first."""
KNOWN, COURSE = column_of(LANE, "known"), column_of(LANE, "course")
FLAT = 1e-12
"""Square of the sine below which d and p are taken for parallel."""
FARTHEST = 1e4
"""At most so many times as far as the sweep went, or the last course."""
WILD = 16.0
"""d·d beyond so many times the smallest: impulses at their bounds have thrown the course off, and sweeps alone go on."""
STALE, SMALLER = 4, 0.5
"""So many sweeps without one whose change has this part of the energy of the smallest before: an island that does not come to an end."""


class Course(NamedTuple):
    """Of packed blocks, how impulses and velocities go on."""

    members: Integers
    """(m,) the bodies that move"""
    known: Floats
    """(n,6) velocities before the sweep"""
    way: Floats
    """(n,6) how they went on the last time"""
    moments: Floats
    """(n,5) at the root of each island: slopes of f along d and p; d·d, d·p, p·p with what f has of them"""
    least: Floats
    """(n,) d·d of its smallest sweep"""
    stale: Integers
    """(n,) how many sweeps ago that was"""
    goes_on: Integers
    """(n,) 1 for islands that need another sweep"""


@kernel
def begin_course(bodies: Records, blocks: Blocks, count: int, island: Integers) -> Course:
    """Note where impulses and velocities start from. count: of packed blocks."""
    size = len(bodies)
    members, many, goes_on = np.empty(size, np.int64), 0, np.zeros(size, np.int64)
    known, way = np.zeros((size, 6)), np.zeros((size, 6))
    for i in range(size):
        if blocks.last[i] >= 0 and island[i] != NONE:
            members[many] = i
            many += 1
            goes_on[island[i]] = 1
            for k in range(3):
                known[i, k], known[i, 3 + k] = bodies[i].velocity[k], bodies[i].angular_velocity[k]
    for number in range(count):
        block = blocks.few_blocks[number]
        for row in range(block.first, block.first + block.count):
            numbers = blocks.few_numbers[row]
            for k in range(IMPULSES * SIZE):
                numbers[KNOWN + k], numbers[COURSE + k] = numbers[k], 0.0
    nearest = np.full(size, np.inf)
    return Course(members[:many], known, way, np.zeros((size, 5)), nearest, np.zeros(size, np.int64), goes_on)


@kernel
def go_on(
    bodies: Records, blocks: Blocks, count: int, island: Integers, course: Course, h: float, softness: Softness
) -> None:
    """Take impulses and velocities to the least of f in the plane of the sweep and of the last course."""
    moments = course.moments
    moments[:] = 0.0
    _weigh_bodies(bodies, island, course)
    sums = np.empty((5, SIZE))
    for number in range(count):
        block = blocks.few_blocks[number]
        _weigh_lanes(blocks.rows, blocks.few_numbers, blocks.few_lanes, block, h, softness, sums)
        for k in range(block.pairs):
            for j in range(5):
                moments[block.island[k], j] += sums[j, k]
    for at in range(len(moments)):
        if course.goes_on[at] == 0:
            moments[at, 0], moments[at, 1] = 0.0, 0.0
            continue
        x, y, size = 0.0, 0.0, moments[at, 2]
        course.stale[at] += 1
        if size < SMALLER * course.least[at]:
            course.least[at], course.stale[at] = size, 0
        if 0.0 < size <= WILD * course.least[at]:
            x, y = _find_least(moments[at, 0], moments[at, 1], size, moments[at, 3], moments[at, 4])
        moments[at, 0], moments[at, 1] = x, y
    factors = np.empty((2, SIZE))
    for number in range(count):
        block = blocks.few_blocks[number]
        for k in range(SIZE):
            at = block.island[k]
            factors[0, k], factors[1, k] = moments[at, 0], moments[at, 1]
        _carry_lanes(blocks.rows, blocks.few_numbers, blocks.few_lanes, block, factors)
    for i in course.members:
        body = bodies[i]
        for k in range(3):
            _note(body.velocity[k], course, i, k)
            _note(body.angular_velocity[k], course, i, 3 + k)


@kernel
def _note(now: float, course: Course, i: int, k: int) -> None:
    course.way[i, k], course.known[i, k] = now - course.known[i, k], now


@kernel
def _find_least(slope_d: float, slope_p: float, dd: float, dp: float, pp: float) -> tuple[float, float]:
    """x, y so that f is least at x·d + y·p."""
    x, y = 0.0, 0.0
    determinant = dd * pp - dp * dp
    if determinant > FLAT * dd * pp:
        x, y = (dp * slope_p - pp * slope_d) / determinant, (dp * slope_d - dd * slope_p) / determinant
    else:
        x = -slope_d / dd
    return min(max(x, -FARTHEST), FARTHEST), min(max(y, -FARTHEST), FARTHEST)


@kernel
def _weigh_bodies(bodies: Records, island: Integers, course: Course) -> None:
    """Products of momenta and velocities."""
    moments = course.moments
    for i in course.members:
        body, at = bodies[i], island[i]
        q, m = body.quaternion, body.inertia
        back = conjugate((q[0], q[1], q[2], q[3]))
        v, w = vector(body.velocity), vector(body.angular_velocity)
        d, p = subtract(v, vector_at(course.known, i)), vector_at(course.way, i)
        known, way = course.known[i], course.way[i]
        e = rotate(back, subtract(w, (known[3], known[4], known[5])))
        r, s = rotate(back, (way[3], way[4], way[5])), rotate(back, w)
        mass = 1.0 / body.inverse_mass
        a, b, c = (m[0, 0], m[0, 1], m[0, 2]), (m[1, 0], m[1, 1], m[1, 2]), (m[2, 0], m[2, 1], m[2, 2])
        spun_e, spun_r = (dot(a, e), dot(b, e), dot(c, e)), (dot(a, r), dot(b, r), dot(c, r))
        moments[at, 0] += mass * dot(v, d) + dot(s, spun_e)
        moments[at, 1] += mass * dot(v, p) + dot(s, spun_r)
        moments[at, 2] += mass * dot(d, d) + dot(e, spun_e)
        moments[at, 3] += mass * dot(d, p) + dot(e, spun_r)
        moments[at, 4] += mass * dot(p, p) + dot(r, spun_r)


@kernel
def _weigh_lanes(
    rows: Floats, all_numbers: Floats, lanes: Records, block: Record, h: float, softness: Softness, sums: Floats
) -> None:
    """What f has beside the velocities of bodies that move: speeds that contacts shall part with, springs, and what the user moves."""
    stay_apart()
    nothing, one = splat(0.0), splat(1.0)
    rate, slowest, frequency = splat(softness.rate), splat(-softness.fastest), splat(1.0 / h)
    yields, slope, base = splat(softness.give / softness.firm), splat(softness.slope), splat(softness.base)
    v_a, w_a, m_a, _ = body_of(rows, block.body_a)
    v_b, w_b, m_b, _ = body_of(rows, block.body_b)
    held_a, held_b = choose(m_a > nothing, nothing, one), choose(m_b > nothing, nothing, one)
    v_a, w_a = (v_a[0] * held_a, v_a[1] * held_a, v_a[2] * held_a), (w_a[0] * held_a, w_a[1] * held_a, w_a[2] * held_a)
    v_b, w_b = (v_b[0] * held_b, v_b[1] * held_b, v_b[2] * held_b), (w_b[0] * held_b, w_b[1] * held_b, w_b[2] * held_b)
    slope_d, slope_p, dd, dp, pp = nothing, nothing, nothing, nothing, nothing
    for row in range(block.first, block.first + block.count):
        lane, numbers = lanes[row], all_numbers[row]
        drift = apart(v_a, w_a, v_b, w_b, three(lane.anchor_a), three(lane.anchor_b))
        gap, mass = load(lane.separation, 0), load(lane.normal_mass, 0)
        bias = choose(gap > nothing, gap * frequency, maximum(rate * gap, slowest))
        part = minimum(one, maximum(nothing, slope * gap + base))
        held = part * load(lane.load, 0) * load(lane.holds, 0)
        there = mass > nothing
        give = choose(there, choose(gap > nothing, nothing, yields) / choose(there, mass, one), nothing)
        now = load(numbers, 0)
        d, p = now - load(numbers, KNOWN), load(numbers, COURSE)
        along = dot(drift, three(lane.normal)) + bias + give * (now - held)
        slope_d, slope_p = slope_d + along * d, slope_p + along * p
        dd, dp, pp = dd + give * d * d, dp + give * d * p, pp + give * p * p
        slide = add(drift, three(lane.slip))
        t, s = dot(slide, three(lane.tangent)), dot(slide, three(lane.bitangent))
        slope_d = slope_d + t * (load(numbers, SIZE) - load(numbers, KNOWN + SIZE))
        slope_d = slope_d + s * (load(numbers, 2 * SIZE) - load(numbers, KNOWN + 2 * SIZE))
        slope_p = slope_p + t * load(numbers, COURSE + SIZE) + s * load(numbers, COURSE + 2 * SIZE)
        turn = subtract(w_b, w_a)
        for k in range(3):
            place = (3 + k) * SIZE
            slope_d = slope_d + turn[k] * (load(numbers, place) - load(numbers, KNOWN + place))
            slope_p = slope_p + turn[k] * load(numbers, COURSE + place)
    store(sums[0], 0, slope_d)
    store(sums[1], 0, slope_p)
    store(sums[2], 0, dd)
    store(sums[3], 0, dp)
    store(sums[4], 0, pp)


@kernel
def _carry_lanes(rows: Floats, all_numbers: Floats, lanes: Records, block: Record, factors: Floats) -> None:
    """Let impulses go on, within their cones, and note the way that they went."""
    stay_apart()
    nothing, one = splat(0.0), splat(1.0)
    x, y = load(factors[0], 0), load(factors[1], 0)
    v_a, w_a, m_a, i_a = body_of(rows, block.body_a)
    v_b, w_b, m_b, i_b = body_of(rows, block.body_b)
    for row in range(block.first, block.first + block.count):
        lane, numbers = lanes[row], all_numbers[row]
        n, arm_a, arm_b = three(lane.normal), three(lane.anchor_a), three(lane.anchor_b)
        swept = load(numbers, 0)
        pressed = maximum(nothing, _further(numbers, 0, x, y))
        change = pressed - swept
        if block.bounces:
            take_work(lane, dot(apart(v_a, w_a, v_b, w_b, arm_a, arm_b), n), change)
        t, s, most = _further(numbers, 1, x, y), _further(numbers, 2, x, y), load(lane.friction, 0) * pressed
        square = t * t + s * s
        kept = choose(square > most * most, most / root(choose(square > nothing, square, one)), one)
        t, s = t * kept, s * kept
        impulse = add_scaled(scale(n, change), three(lane.tangent), t - load(numbers, SIZE))
        impulse = add_scaled(impulse, three(lane.bitangent), s - load(numbers, 2 * SIZE))
        v_a, v_b = add_scaled(v_a, impulse, nothing - m_a), add_scaled(v_b, impulse, m_b)
        w_a = subtract(w_a, apply_inertia(i_a, cross(arm_a, impulse)))
        w_b = add(w_b, apply_inertia(i_b, cross(arm_b, impulse)))
        _move_on(numbers, 0, pressed)
        _move_on(numbers, 1, t)
        _move_on(numbers, 2, s)
        if block.rolls:
            turn = (_further(numbers, 3, x, y), _further(numbers, 4, x, y), _further(numbers, 5, x, y))
            square, most = norm_sq(turn), load(lane.rolling_lever, 0) * pressed
            kept = choose(square > most * most, most / root(choose(square > nothing, square, one)), one)
            turn = scale(turn, kept)
            old = (load(numbers, 3 * SIZE), load(numbers, 4 * SIZE), load(numbers, 5 * SIZE))
            twist = subtract(turn, old)
            w_a, w_b = subtract(w_a, apply_inertia(i_a, twist)), add(w_b, apply_inertia(i_b, twist))
            for k in range(3):
                _move_on(numbers, 3 + k, turn[k])
    put_body(rows, block.body_a, v_a, w_a, m_a, i_a)
    put_body(rows, block.body_b, v_b, w_b, m_b, i_b)


@inlined
def _further(numbers: Floats, k: int, x: Any, y: Any) -> Any:
    """An impulse farther on the way of the sweep, and of the last course."""
    swept = load(numbers, k * SIZE)
    return swept + x * (swept - load(numbers, KNOWN + k * SIZE)) + y * load(numbers, COURSE + k * SIZE)


@inlined
def _move_on(numbers: Floats, k: int, value: Any) -> None:
    store(numbers, COURSE + k * SIZE, value - load(numbers, KNOWN + k * SIZE))
    store(numbers, KNOWN + k * SIZE, value)
    store(numbers, k * SIZE, value)
