"""Sequential impulses in the plane: projected Gauss–Seidel on the velocities (Newton–Euler), one contact after the other, up and down the pile by
turns, from a guess by the step before, each impulse kept in the cone of Coulomb's friction.

`animation` sees to it that no energy comes from sweeps that have not settled.
"""

import math

from abut.contours.curve.rows import vector_at_2d
from abut.contours.motion.near_places import Places
from abut.core.arrays import Floats, Integers
from abut.core.jit import element, kernel
from abut.geometry.vec import Vec2, add_2d, cross_2d, dot_2d, perpendicular_2d, scale_2d, subtract_2d

SWEEPS = 200
"""A pile of n bodies takes some n² sweeps from scratch, and few where impulses are known from the step before."""


@kernel
def _arm(center: Floats, i: int, point: Vec2) -> Vec2:
    """From the center of body i to a point."""
    return subtract_2d(point, vector_at_2d(center, i))


@kernel
def _velocity_of(velocity: Floats, i: int, arm: Vec2) -> Vec2:
    """How the point at the end of an arm moves."""
    return add_2d(vector_at_2d(velocity, i), scale_2d(perpendicular_2d(arm), velocity[i, 2]))


@kernel
def _mobility(inverse: Floats, i: int, arm: Vec2, axis: Vec2) -> float:
    """How much the velocity of that point along an axis changes by a unit impulse along it there."""
    turning = cross_2d(arm, axis)
    return inverse[i, 0] + inverse[i, 1] * turning * turning


@kernel
def _push(velocity: Floats, inverse: Floats, i: int, arm: Vec2, impulse: Vec2) -> None:
    """Apply an impulse to body i at the end of an arm."""
    velocity[i, 0] += inverse[i, 0] * impulse[0]
    velocity[i, 1] += inverse[i, 0] * impulse[1]
    velocity[i, 2] += inverse[i, 1] * cross_2d(arm, impulse)


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
def recall(bodies: Integers, points: Floats, old_bodies: Integers, old: Floats, near: float, impulse: Floats) -> None:
    """A first guess of impulses (k,2): those of the places (rows of `old`: point on a, impulse) of the same pair that were nearest, within `near`.

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
            x, y = old[c, 0] - points[k, 0], old[c, 1] - points[k, 1]
            if x * x + y * y <= best:
                best, chosen = x * x + y * y, c
            c += 1
        if chosen >= 0:
            impulse[k, 0], impulse[k, 1] = old[chosen, 2], old[chosen, 3]
            old[chosen, 0] = math.inf


@kernel
def resolve(
    places: Places,
    least: Floats,
    slide: Floats,
    center: Floats,
    inverse: Floats,
    friction: float,
    settled: float,
    impulse: Floats,
    velocity: Floats,
) -> int:
    """Change velocities (m,3) so that bodies open at place k by least[k] or faster, by impulses (k,2) normal and tangential.

    slide: how fast places slid before the forces of a step, 0 for impacts; inverse: (m,2) one over mass and over inertia. An impulse acts on
    both bodies at one point, midway: so it changes neither momentum nor angular momentum. `impulse` holds a first guess and becomes the answer.
    Ends when no velocity changes by more than `settled` in a sweep, or after SWEEPS; how many there were."""
    bodies, points, normals = places.bodies, places.point, places.normal
    for k in range(len(bodies)):
        i, j = bodies[k, 0], bodies[k, 1]
        point, normal = vector_at_2d(points, k), vector_at_2d(normals, k)
        arm_i, arm_j = _arm(center, i, point), _arm(center, j, point)
        for part in range(2):
            axis = normal if part == 0 else perpendicular_2d(normal)
            _push(velocity, inverse, j, arm_j, scale_2d(axis, impulse[k, part]))
            _push(velocity, inverse, i, arm_i, scale_2d(axis, -impulse[k, part]))
    for sweep in range(SWEEPS):
        largest = 0.0
        for turn in range(len(bodies)):
            k = turn if sweep % 2 == 0 else len(bodies) - 1 - turn
            i, j = bodies[k, 0], bodies[k, 1]
            point, normal = vector_at_2d(points, k), vector_at_2d(normals, k)
            arm_i, arm_j = _arm(center, i, point), _arm(center, j, point)
            for part in range(2):
                axis = normal if part == 0 else perpendicular_2d(normal)
                soft = _mobility(inverse, i, arm_i, axis) + _mobility(inverse, j, arm_j, axis)
                if soft <= 0.0:
                    continue
                opening = dot_2d(subtract_2d(_velocity_of(velocity, j, arm_j), _velocity_of(velocity, i, arm_i)), axis)
                if part == 0:
                    after = max(impulse[k, 0] - (opening - least[k]) / soft, 0.0)
                else:
                    after = _hold(impulse[k, 1], opening, soft, slide[k], friction * impulse[k, 0])
                change = after - impulse[k, part]
                impulse[k, part] = after
                _push(velocity, inverse, j, arm_j, scale_2d(axis, change))
                _push(velocity, inverse, i, arm_i, scale_2d(axis, -change))
                largest = max(largest, math.fabs(change) * soft)
        if sweep % 2 == 1 and largest <= settled:
            return sweep + 1
    return SWEEPS
