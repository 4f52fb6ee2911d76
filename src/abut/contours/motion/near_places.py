"""What a step of an animation needs: places where contours are near one another, impulses that keep them apart, and proof that they are.

Near places: of every two segments that are nearer than a reach, the nearest points, not closer together than a spacing; if there are more
than ROOM, those nearest of all. Impulses: projected Gauss–Seidel on the velocities (Newton–Euler in the plane), one contact after the other,
up and down the pile by turns, from a guess by the step before, each impulse kept in the cone of Coulomb's friction.
`animation` sees to it that no energy comes from sweeps that have not settled.
"""

import math

from abut.contours.curve.cubic import Four, point_at, transform
from abut.contours.meet.distance_search import least_between
from abut.contours.meet.entries import APART, relate
from abut.contours.meet.tables import BRIEF, MEETING, View, magnitude, open_contour, relative, segment_of, turn
from abut.contours.meet.tree_search import WAITING_NUMBERS, box_gap, find_within
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel, parallel, prange
from abut.core.scratch import as_array, load, reserve_floats, reserve_integers, store

ROOM = 12
"""Places of a pair that are kept: two are enough for polygons, rough contours rest on several."""
SWEEPS = 200
"""A pile of n bodies takes some n² sweeps from scratch, and few where impulses are known from the step before."""
COLUMNS = 7
"""Point on a, point on b, unit normal from a to b, distance."""


@element
def _pose_at(poses: Floats, i: int) -> Four:
    return (poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3])


@kernel
def _keep(out: Floats, count: int, row: tuple[float, float, float, float, float, float, float], spacing: float) -> int:
    """Keep a place if it is nearer than those within `spacing` of it, and than the furthest where there is no room; how many there are."""
    place, furthest = -1, 0
    for k in range(count):
        x, y = out[k, 0] - row[0], out[k, 1] - row[1]
        if x * x + y * y < spacing * spacing:
            place = k
            break
        if out[k, 6] > out[furthest, 6]:
            furthest = k
    if place < 0:
        place = count if count < len(out) else furthest
    if place < count and out[place, 6] <= row[6]:
        return count
    for c in range(COLUMNS):
        out[place, c] = row[c]
    return max(count, place + 1)


@kernel
def _find_near(a: View, pose_a: Four, b: View, pose_b: Four, reach: float, spacing: float, out: Floats) -> int:
    """Places in world coordinates where segments are nearer than `reach`."""
    pose = relative(pose_a, pose_b)
    delta = MEETING * magnitude(a, b, pose)
    waiting = reserve_integers(WAITING_NUMBERS)
    store(waiting, 0, 1)
    store(waiting, 1, 1)
    top, count = 1, 0
    while top > 0:
        top -= 1
        i, j = load(waiting, 2 * top), load(waiting, 2 * top + 1)
        if box_gap(a, i, b, j, pose) >= reach:
            continue
        if i >= a.leaf_count and j >= b.leaf_count:
            p, q = transform(segment_of(a, i - a.leaf_count), pose), segment_of(b, j - b.leaf_count)
            distance, s, t = least_between(p, q, (reach, -1.0, 0.0), 0.0, 0.0, delta)
            if s >= 0.0 and distance > 0.0:
                x, y = point_at(p, s)
                u, v = point_at(q, t)
                x, y = turn(pose_b, x, y)
                u, v = turn(pose_b, u, v)
                count = _keep(out, count, (x, y, u, v, (u - x) / distance, (v - y) / distance, distance), spacing)
            continue
        if j >= b.leaf_count or (i < a.leaf_count and load(a.nodes, 6 * i + 4) >= load(b.nodes, 6 * j + 4)):
            for child in range(2 * i, 2 * i + 2):
                store(waiting, 2 * top, integer(child))
                store(waiting, 2 * top + 1, j)
                top += 1
        else:
            for child in range(2 * j, 2 * j + 2):
                store(waiting, 2 * top, i)
                store(waiting, 2 * top + 1, integer(child))
                top += 1
    return count


@parallel
def find_near(
    tables: Integers, poses: Floats, pairs: Integers, reach: float, spacing: float, out: Floats, counts: Integers
) -> None:
    """Near places of pairs (p,2) of contours; pair k has rows k·ROOM to (k + 1)·ROOM of `out`."""
    for k in prange(len(pairs)):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        counts[k] = _find_near(
            open_contour(int(tables[i])),
            _pose_at(poses, i),
            open_contour(int(tables[j])),
            _pose_at(poses, j),
            reach,
            spacing,
            out[k * ROOM : (k + 1) * ROOM],
        )


@kernel
def _is_clear(a: View, b: View, pose: Four, clear: float) -> bool:
    raw = as_array(reserve_floats(8), (1, 8))
    size = magnitude(a, b, pose)
    count, _, _ = find_within(a, b, pose, max(clear, MEETING * size), BRIEF * size, raw, integer(1))
    return count == 0 and relate(a, b, pose) == APART


@parallel
def find_blocked(tables: Integers, poses: Floats, pairs: Integers, clear: float, blocked: Integers) -> None:
    """1 for pairs of contours that are nearer than `clear`, overlap or hold one another; else 0."""
    for k in prange(len(pairs)):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        pose = relative(_pose_at(poses, i), _pose_at(poses, j))
        blocked[k] = 0 if _is_clear(open_contour(int(tables[i])), open_contour(int(tables[j])), pose, clear) else 1


@element
def _speed(velocity: Floats, centre: Floats, i: int, x: float, y: float, nx: float, ny: float) -> float:
    """Velocity of the point (x, y) of body i along (nx, ny)."""
    vx, vy = velocity[i, 0] - velocity[i, 2] * (y - centre[i, 1]), velocity[i, 1] + velocity[i, 2] * (x - centre[i, 0])
    return vx * nx + vy * ny


@element
def _yield(inverse: Floats, centre: Floats, i: int, x: float, y: float, nx: float, ny: float) -> float:
    """How much the velocity of that point along (nx, ny) changes by a unit impulse there."""
    arm = (x - centre[i, 0]) * ny - (y - centre[i, 1]) * nx
    return inverse[i, 0] + inverse[i, 1] * arm * arm


@kernel
def _push(
    velocity: Floats, inverse: Floats, centre: Floats, i: int, x: float, y: float, nx: float, ny: float, p: float
) -> None:
    """Apply an impulse p·(nx, ny) at (x, y) to body i."""
    velocity[i, 0] += inverse[i, 0] * p * nx
    velocity[i, 1] += inverse[i, 0] * p * ny
    velocity[i, 2] += inverse[i, 1] * p * ((x - centre[i, 0]) * ny - (y - centre[i, 1]) * nx)


@element
def _hold(impulse: float, opening: float, soft: float, before: float, most: float) -> float:
    """The tangential impulse, `most` at most, that brings sliding to rest without work: sliding was `before` and is `opening` now.

    Over a step the work of an impulse is half of it times the sum of the velocities before and after. One that would drive the place on
    is left out, or only turns the velocity around."""
    after = impulse - opening / soft
    if after * before > 0.0:
        after = impulse - (opening + before) / soft
        if after * before < 0.0:
            after = 0.0
    return min(max(after, -most), most)


@kernel
def recall(bodies: Integers, places: Floats, old_bodies: Integers, old: Floats, near: float, impulse: Floats) -> None:
    """A first guess of impulses (k,2): those of the places (rows of `old`: point, impulse) of the same pair that were nearest, within `near`.

    Both lists ascend by pairs. An old place serves once."""
    first = 0
    for k in range(len(bodies)):
        while first < len(old) and (
            old_bodies[first, 0] < bodies[k, 0]
            or (old_bodies[first, 0] == bodies[k, 0] and old_bodies[first, 1] < bodies[k, 1])
        ):
            first += 1
        best, chosen = near * near, -1
        c = first
        while c < len(old) and old_bodies[c, 0] == bodies[k, 0] and old_bodies[c, 1] == bodies[k, 1]:
            x, y = old[c, 0] - places[k, 0], old[c, 1] - places[k, 1]
            if x * x + y * y <= best:
                best, chosen = x * x + y * y, c
            c += 1
        if chosen >= 0:
            impulse[k, 0], impulse[k, 1] = old[chosen, 2], old[chosen, 3]
            old[chosen, 0] = math.inf


@kernel
def resolve(
    bodies: Integers,
    places: Floats,
    least: Floats,
    slide: Floats,
    centre: Floats,
    inverse: Floats,
    friction: float,
    settled: float,
    impulse: Floats,
    velocity: Floats,
) -> int:
    """Change velocities (m,3) so that bodies (i, j) open at contact k by least[k] or faster, by impulses (k,2) normal and tangential.

    places: as COLUMNS say; slide: how fast contacts slid before the forces of a step, 0 for impacts; inverse: (m,2) one over mass and over
    inertia. An impulse acts on both bodies at one point, midway: so it changes neither momentum nor angular momentum. `impulse` holds a
    first guess and becomes the answer. Ends when no velocity changes by more than `settled` in a sweep, or after SWEEPS; how many there were."""
    for k in range(len(bodies)):
        x, y = 0.5 * (places[k, 0] + places[k, 2]), 0.5 * (places[k, 1] + places[k, 3])
        for part in range(2):
            nx, ny = places[k, 4], places[k, 5]
            if part == 1:
                nx, ny = -ny, nx
            _push(velocity, inverse, centre, bodies[k, 1], x, y, nx, ny, impulse[k, part])
            _push(velocity, inverse, centre, bodies[k, 0], x, y, nx, ny, -impulse[k, part])
    for sweep in range(SWEEPS):
        largest = 0.0
        for turn_by in range(len(bodies)):
            k = turn_by if sweep % 2 == 0 else len(bodies) - 1 - turn_by
            i, j = bodies[k, 0], bodies[k, 1]
            x, y = 0.5 * (places[k, 0] + places[k, 2]), 0.5 * (places[k, 1] + places[k, 3])
            for part in range(2):
                nx, ny = places[k, 4], places[k, 5]
                if part == 1:
                    nx, ny = -ny, nx
                soft = _yield(inverse, centre, i, x, y, nx, ny) + _yield(inverse, centre, j, x, y, nx, ny)
                if soft <= 0.0:
                    continue
                opening = _speed(velocity, centre, j, x, y, nx, ny) - _speed(velocity, centre, i, x, y, nx, ny)
                if part == 0:
                    after = max(impulse[k, 0] - (opening - least[k]) / soft, 0.0)
                else:
                    after = _hold(impulse[k, 1], opening, soft, slide[k], friction * impulse[k, 0])
                change = after - impulse[k, part]
                impulse[k, part] = after
                _push(velocity, inverse, centre, j, x, y, nx, ny, change)
                _push(velocity, inverse, centre, i, x, y, nx, ny, -change)
                largest = max(largest, math.fabs(change) * soft)
        if sweep % 2 == 1 and largest <= settled:
            return sweep + 1
    return SWEEPS
