"""Eight contacts at once: what `one_contact`, `movement` and `sweeps` do to one, term by term, for the lanes of a block (`blocks`).

The velocities of a block's bodies are read once, and stay in registers for all contacts of its pairs.
"""

from typing import Any, TypeAlias

from abut.core.arrays import Floats, Integers
from abut.core.jit import inlined, kernel, stay_apart
from abut.core.lanes import bits
from abut.core.octets import SIZE, choose, gather, load, maximum, minimum, root, scatter, size, splat, store
from abut.core.records import Record, Records
from abut.geometry.vec import add, add_scaled, cross, dot, norm_sq, scale, subtract
from abut.impulses.records import BODY
from abut.world.solver.blocks import column_of
from abut.world.solver.movement import STALE_SQ
from abut.world.solver.one_contact import Softness
from abut.world.solver.preparation import REST

VELOCITY = column_of(BODY, "velocity")
DISPLACEMENT, POSITION, ACCELERATION = (
    column_of(BODY, "displacement"),
    column_of(BODY, "position"),
    column_of(BODY, "acceleration"),
)
STEEP = 0.57736
"""See `tangent_to`."""

Octet: TypeAlias = Any
Octets: TypeAlias = tuple[Any, Any, Any]
"""A vector of each lane."""
Inertias: TypeAlias = tuple[Any, Any, Any, Any, Any, Any]
"""xx, xy, xz, yy, yz, zz of each lane."""


@inlined
def three(field: Floats) -> Octets:
    """A vector of each lane."""
    return (load(field, 0), load(field, SIZE), load(field, 2 * SIZE))


@inlined
def put_three(field: Floats, v: Octets) -> None:
    """Write a vector of each lane."""
    store(field, 0, v[0])
    store(field, SIZE, v[1])
    store(field, 2 * SIZE, v[2])


@inlined
def apply_inertia(w: Inertias, v: Octets) -> Octets:
    """An inverse inertia (xx, xy, xz, yy, yz, zz) times v."""
    return (
        w[0] * v[0] + w[1] * v[1] + w[2] * v[2],
        w[1] * v[0] + w[3] * v[1] + w[4] * v[2],
        w[2] * v[0] + w[4] * v[1] + w[5] * v[2],
    )


@inlined
def body_of(rows: Floats, which: Integers) -> tuple[Octets, Octets, Octet, Inertias]:
    """Velocities, inverse mass and inverse inertia of eight bodies, as they stand first in a record; and the eighth column."""
    low, high = gather(rows, which, VELOCITY), gather(rows, which, VELOCITY + SIZE)
    inertia = (low[7], high[0], high[1], high[3], high[4], high[7])
    return (low[0], low[1], low[2]), (low[3], low[4], low[5]), low[6], inertia


@inlined
def put_body(rows: Floats, which: Integers, v: Octets, w: Octets, mass: Octet, inertia: Inertias) -> None:
    """Write them back."""
    scatter(rows, which, VELOCITY, (v[0], v[1], v[2], w[0], w[1], w[2], mass, inertia[0]))


@inlined
def apart(v_a: Octets, w_a: Octets, v_b: Octets, w_b: Octets, arm_a: Octets, arm_b: Octets) -> Octets:
    """How the points of b move, seen from those of a."""
    return subtract(add(v_b, cross(w_b, arm_b)), add(v_a, cross(w_a, arm_a)))


@inlined
def take_work(lane: Record, now: Octet, change: Octet) -> None:
    """What contacts take with a change of their normal impulse, at a speed."""
    nothing = splat(0.0)
    mass = load(lane.normal_mass, 0)
    taken = change * (now + splat(0.5) * change / mass)
    changed = size(change) > nothing
    store(lane.work, 0, load(lane.work, 0) - choose(changed, taken, nothing))


@kernel
def solve_block(
    rows: Floats,
    lanes: Records,
    block: Record,
    backwards: bool,
    rounds: int,
    marks: Floats,
    h: float,
    softness: Softness,
) -> None:
    """All contacts of a block, one of each pair at a time, so many rounds to and fro. See `solve_contact`.

    marks (8,): 1 for the lanes that are solved, else 0."""
    stay_apart()
    nothing, one = splat(0.0), splat(1.0)
    chosen = load(marks, 0) > nothing
    rate, slowest, soft = splat(softness.rate), splat(-softness.fastest), splat(softness.firm)
    yields, slope, base, frequency = splat(softness.give), splat(softness.slope), splat(softness.base), splat(1.0 / h)
    v_a, w_a, m_a, i_a = body_of(rows, block.body_a)
    v_b, w_b, m_b, i_b = body_of(rows, block.body_b)
    count = block.count
    for visit in range(rounds * count):
        turn = visit % count
        lane = lanes[block.first + (count - 1 - turn if backwards != (visit // count % 2 == 1) else turn)]
        n, arm_a, arm_b = three(lane.normal), three(lane.anchor_a), three(lane.anchor_b)
        gap, old, mass = load(lane.separation, 0), load(lane.normal_impulse, 0), load(lane.normal_mass, 0)
        is_open = gap > nothing
        bias = choose(is_open, gap * frequency, maximum(rate * gap, slowest))
        firm, give = choose(is_open, one, soft), choose(is_open, nothing, yields)
        part = minimum(one, maximum(nothing, slope * gap + base))
        held = part * load(lane.load, 0) * load(lane.holds, 0)
        now = dot(apart(v_a, w_a, v_b, w_b, arm_a, arm_b), n)
        pressed = choose(chosen, maximum(nothing, old - firm * mass * (now + bias) - give * (old - held)), old)
        change = pressed - old
        store(lane.normal_impulse, 0, pressed)
        store(lane.change, 0, change if visit < count else load(lane.change, 0) + change)
        if block.bounces:
            take_work(lane, now, change)
        old_t, old_s = load(lane.tangent_impulse, 0), load(lane.bitangent_impulse, 0)
        given = pressed + old + size(old_t) + size(old_s)
        if block.rolls:
            before = three(lane.rolling_impulse)
            given = given + size(before[0]) + size(before[1]) + size(before[2])
        if bits(given > nothing) == 0:  # nobody touches, or did
            continue
        impulse = scale(n, change)
        v_a, v_b = add_scaled(v_a, impulse, nothing - m_a), add_scaled(v_b, impulse, m_b)
        w_a = subtract(w_a, apply_inertia(i_a, cross(arm_a, impulse)))
        w_b = add(w_b, apply_inertia(i_b, cross(arm_b, impulse)))

        t, s = three(lane.tangent), three(lane.bitangent)
        slide = apart(v_a, w_a, v_b, w_b, arm_a, arm_b)
        if block.slips:
            slide = add(slide, three(lane.slip))
        new_t = old_t - load(lane.tangent_mass, 0) * dot(slide, t)
        new_s = old_s - load(lane.bitangent_mass, 0) * dot(slide, s)
        most = load(lane.friction, 0) * pressed
        square = new_t * new_t + new_s * new_s
        beyond = square > most * most
        if bits(beyond) != 0:
            kept = choose(beyond, most / root(square), one)
            new_t, new_s = new_t * kept, new_s * kept
        new_t, new_s = choose(chosen, new_t, old_t), choose(chosen, new_s, old_s)
        store(lane.tangent_impulse, 0, new_t)
        store(lane.bitangent_impulse, 0, new_s)
        impulse = add_scaled(scale(t, new_t - old_t), s, new_s - old_s)
        v_a, v_b = add_scaled(v_a, impulse, nothing - m_a), add_scaled(v_b, impulse, m_b)
        w_a = subtract(w_a, apply_inertia(i_a, cross(arm_a, impulse)))
        w_b = add(w_b, apply_inertia(i_b, cross(arm_b, impulse)))

        if block.rolls:
            before = three(lane.rolling_impulse)
            after = add_scaled(before, subtract(w_a, w_b), load(lane.rolling_mass, 0))
            most, square = load(lane.rolling_lever, 0) * pressed, norm_sq(after)
            beyond = square > most * most
            if bits(beyond) != 0:
                after = scale(after, choose(beyond, most / root(square), one))
            twist = scale(subtract(after, before), choose(chosen, one, nothing))
            put_three(lane.rolling_impulse, add(before, twist))
            w_a, w_b = subtract(w_a, apply_inertia(i_a, twist)), add(w_b, apply_inertia(i_b, twist))
    put_body(rows, block.body_a, v_a, w_a, m_a, i_a)
    put_body(rows, block.body_b, v_b, w_b, m_b, i_b)


@kernel
def start_block(rows: Floats, lanes: Records, block: Record) -> None:
    """Give the impulses of the substep before. See `warm_start`."""
    stay_apart()
    nothing = splat(0.0)
    v_a, w_a, m_a, i_a = body_of(rows, block.body_a)
    v_b, w_b, m_b, i_b = body_of(rows, block.body_b)
    for row in range(block.first, block.first + block.count):
        lane = lanes[row]
        n, arm_a, arm_b = three(lane.normal), three(lane.anchor_a), three(lane.anchor_b)
        pressed = load(lane.normal_impulse, 0)
        if block.bounces:
            now = dot(apart(v_a, w_a, v_b, w_b, arm_a, arm_b), n)
            before = load(lane.work, 0)
            take_work(lane, now, pressed)
            store(lane.work, 0, choose(load(lane.restitution, 0) > nothing, load(lane.work, 0), before))
        impulse = add_scaled(scale(n, pressed), three(lane.tangent), load(lane.tangent_impulse, 0))
        impulse = add_scaled(impulse, three(lane.bitangent), load(lane.bitangent_impulse, 0))
        v_a, v_b = add_scaled(v_a, impulse, nothing - m_a), add_scaled(v_b, impulse, m_b)
        w_a = subtract(w_a, apply_inertia(i_a, cross(arm_a, impulse)))
        w_b = add(w_b, apply_inertia(i_b, cross(arm_b, impulse)))
        if block.rolls:
            twist = three(lane.rolling_impulse)
            w_a, w_b = subtract(w_a, apply_inertia(i_a, twist)), add(w_b, apply_inertia(i_b, twist))
        store(lane.load, 0, pressed)
    put_body(rows, block.body_a, v_a, w_a, m_a, i_a)
    put_body(rows, block.body_b, v_b, w_b, m_b, i_b)


@inlined
def _mass(m_a: Octet, i_a: Inertias, m_b: Octet, i_b: Inertias, arm_a: Octets, arm_b: Octets, d: Octets) -> Octet:
    """How hard it is to change the relative velocity of two points along d; 0 if nothing can."""
    turn_a, turn_b = cross(arm_a, d), cross(arm_b, d)
    k = m_a + dot(turn_a, apply_inertia(i_a, turn_a)) + m_b + dot(turn_b, apply_inertia(i_b, turn_b))
    return choose(k > splat(0.0), splat(1.0) / k, splat(0.0))


@inlined
def _weigh(rows: Floats, block: Record, lane: Record, is_stale: Any) -> None:
    """Effective masses of those that are stale. See `weigh`."""
    _, _, m_a, i_a = body_of(rows, block.body_a)
    _, _, m_b, i_b = body_of(rows, block.body_b)
    arm_a, arm_b = three(lane.anchor_a), three(lane.anchor_b)
    is_there = load(lane.normal_mass, 0) > splat(0.0)
    for field, d in (
        (lane.normal_mass, lane.normal),
        (lane.tangent_mass, lane.tangent),
        (lane.bitangent_mass, lane.bitangent),
    ):
        mass = choose(is_there, _mass(m_a, i_a, m_b, i_b, arm_a, arm_b, three(d)), splat(0.0))
        store(field, 0, choose(is_stale, mass, load(field, 0)))
    k = i_a[0] + i_a[3] + i_a[5] + i_b[0] + i_b[3] + i_b[5]
    rolling = choose(is_there, choose(k > splat(0.0), splat(1.0) / k, splat(0.0)), splat(0.0))
    store(lane.rolling_mass, 0, choose(is_stale, rolling, load(lane.rolling_mass, 0)))


@kernel
def follow_block(rows: Floats, lanes: Records, block: Record, slop: float) -> None:
    """Take contacts along with their bodies. See `follow_bodies`."""
    stay_apart()
    nothing, one = splat(0.0), splat(1.0)
    moved_a = gather(rows, block.body_a, DISPLACEMENT)
    moved_b = gather(rows, block.body_b, DISPLACEMENT)
    x_a, r_a = (moved_a[0], moved_a[1], moved_a[2]), (moved_a[3], moved_a[4], moved_a[5])
    x_b, r_b = (moved_b[0], moved_b[1], moved_b[2]), (moved_b[3], moved_b[4], moved_b[5])
    d = subtract(x_b, x_a)
    turn_sq, stale = maximum(norm_sq(r_a), norm_sq(r_b)), splat(STALE_SQ)
    for row in range(block.first, block.first + block.count):
        lane = lanes[row]
        n, arm_a, arm_b = three(lane.normal), three(lane.anchor_a), three(lane.anchor_b)
        pressed = load(lane.normal_impulse, 0)
        store(lane.has_pushed, 0, choose(pressed > nothing, one, load(lane.has_pushed, 0)))
        store(lane.pushed_impulse, 0, pressed)
        moved = apart(x_a, r_a, x_b, r_b, arm_a, arm_b)
        store(lane.separation, 0, load(lane.separation, 0) + dot(moved, n))
        lead = load(lane.lead, 0)
        put_three(lane.anchor_a, add_scaled(arm_a, d, lead))
        put_three(lane.anchor_b, add_scaled(arm_b, d, lead - one))
        if block.has_balls:
            _follow_balls(rows, block, lane, r_a, r_b, slop)
        far = norm_sq(d) > stale * (norm_sq(arm_a) + norm_sq(arm_b))
        is_stale = far | (turn_sq > stale)
        if bits(is_stale) != 0:
            _weigh(rows, block, lane, is_stale)


@inlined
def _either(mask: Any, u: Octets, v: Octets) -> Octets:
    """u where the mask is set, else v."""
    return (choose(mask, u[0], v[0]), choose(mask, u[1], v[1]), choose(mask, u[2], v[2]))


@kernel
def _follow_balls(rows: Floats, block: Record, lane: Record, r_a: Octets, r_b: Octets, slop: float) -> None:
    """Where two balls meet: normal, separation and point where they are now."""
    nothing, one = splat(0.0), splat(1.0)
    radius_a, radius_b = load(lane.radius_a, 0), load(lane.radius_b, 0)
    balls = minimum(radius_a, radius_b) > nothing
    u, v = three(lane.center_a), three(lane.center_b)
    u, v = add(u, cross(r_a, u)), add(v, cross(r_b, v))
    put_three(lane.center_a, u)
    put_three(lane.center_b, v)
    place_a, place_b = gather(rows, block.body_a, POSITION), gather(rows, block.body_b, POSITION)
    x_a, x_b = (place_a[0], place_a[1], place_a[2]), (place_b[0], place_b[1], place_b[2])
    start = add(x_a, u)
    apart = subtract(add(x_b, v), start)
    length = root(norm_sq(apart))
    old, chosen = three(lane.normal), length > nothing
    n = _either(chosen, scale(apart, one / length), old)
    gap = length - radius_a - radius_b
    point = add_scaled(start, n, radius_a + splat(0.5) * gap)
    steep = size(n[0]) < splat(STEEP)
    t = _either(steep, (nothing, n[2], nothing - n[1]), (nothing - n[2], nothing, n[0]))
    t = scale(t, one / root(dot(t, t)))
    s = cross(n, t)
    store(lane.separation, 0, choose(balls, gap + splat(REST * slop), load(lane.separation, 0)))
    put_three(lane.normal, _either(balls, n, old))
    put_three(lane.tangent, _either(balls, t, three(lane.tangent)))
    put_three(lane.bitangent, _either(balls, s, three(lane.bitangent)))
    put_three(lane.anchor_a, _either(balls, subtract(point, x_a), three(lane.anchor_a)))
    put_three(lane.anchor_b, _either(balls, subtract(point, x_b), three(lane.anchor_b)))


@kernel
def close_block(rows: Floats, lanes: Records, block: Record, sudden: float) -> None:
    """Add up what a substep gave, and keep of it what is no impact. See `_forget_impacts`."""
    stay_apart()
    nothing, one = splat(0.0), splat(1.0)
    for row in range(block.first, block.first + block.count):
        lane = lanes[row]
        now, before = load(lane.normal_impulse, 0), load(lane.last_impulse, 0)
        store(lane.total_normal_impulse, 0, load(lane.total_normal_impulse, 0) + now)
        store(lane.has_pushed, 0, choose(now > nothing, one, load(lane.has_pushed, 0)))
        store(lane.last_impulse, 0, now)
        is_impact = now > splat(sudden) * before
        if bits(is_impact) != 0:
            part = choose(is_impact, before / choose(is_impact, now, one), one)
            store(lane.normal_impulse, 0, choose(is_impact, before, now))
            store(lane.tangent_impulse, 0, part * load(lane.tangent_impulse, 0))
            store(lane.bitangent_impulse, 0, part * load(lane.bitangent_impulse, 0))
            put_three(lane.rolling_impulse, scale(three(lane.rolling_impulse), part))
        if block.bounces:
            _measure_approach(rows, block, lane)


@kernel
def _measure_approach(rows: Floats, block: Record, lane: Record) -> None:
    """The speeds at which contacts that nothing has hit yet will be hit. See `measure_approach`."""
    nothing = splat(0.0)
    v_a, w_a, _, _ = body_of(rows, block.body_a)
    v_b, w_b, _, _ = body_of(rows, block.body_b)
    pull_a, pull_b = gather(rows, block.body_a, ACCELERATION), gather(rows, block.body_b, ACCELERATION)
    n = three(lane.normal)
    speed = dot(apart(v_a, w_a, v_b, w_b, three(lane.anchor_a), three(lane.anchor_b)), n)
    pull = dot(subtract((pull_b[0], pull_b[1], pull_b[2]), (pull_a[0], pull_a[1], pull_a[2])), n)
    square = speed * speed - splat(2.0) * pull * load(lane.separation, 0)
    new = choose(speed < nothing, root(maximum(nothing, square)), nothing)
    old = load(lane.approach_speed, 0)
    new = choose(load(lane.restitution, 0) > nothing, new, old)
    store(lane.approach_speed, 0, choose(load(lane.total_normal_impulse, 0) > nothing, old, new))
