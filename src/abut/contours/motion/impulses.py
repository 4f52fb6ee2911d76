"""Impulses of an animation, in two parts: impacts, in an instant, and forces that act throughout a step (Newton–Euler in the plane).

Impacts: of all places that touch, those that close have to open by the restitution times their closing speed, all at once. The answer
lies between the one with restitution and the one without: where the first would add energy, which no impact does, the mixture of both
that keeps it is taken. Both exchange momentum and angular momentum between bodies and change neither in sum.

Forces: gravity and the impulses of contacts act evenly throughout a step of length h, so a body moves by h·(v₀ + v₁)/2: the parabola,
where nothing touches. The work of an impulse is then half of it times the sum of the velocities of its place before and after. A
place may close by 2·room/h + v₀ after the step, v₀ being its speed of opening before: it then has closed by `room` and the work is not
positive.
"""

import numpy as np
from numpy.typing import NDArray

from abut.contours.motion.bodies import Bodies
from abut.contours.motion.impulse_solver import resolve
from abut.contours.motion.near_places import Places
from abut.core.arrays import Floats, Integers

EXACT = 1e-13
"""Velocities after an impact are resolved to this part of the fastest."""


def opening(velocity: Floats, position: Floats, places: Places) -> tuple[Floats, Floats]:
    """(k,) how fast places open, along their normals, and slide, along the tangents."""

    def motion_of(i: Integers) -> Floats:
        arm = places.point - position[i]
        return velocity[i, :2] + velocity[i, 2:] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)

    normal = places.normal
    change = motion_of(places.bodies[:, 1]) - motion_of(places.bodies[:, 0])
    return (change * normal).sum(axis=1), change[:, 1] * normal[:, 0] - change[:, 0] * normal[:, 1]


def friction_of(world: Bodies, places: Places) -> Floats:
    """(k,) Coulomb's coefficient of each place: the geometric mean of those of the bodies."""
    return np.sqrt(world.friction[places.bodies].prod(axis=1))


def bounce(
    world: Bodies,
    velocity: Floats,
    position: Floats,
    places: Places,
    slow: Floats,
    settled: float,
    group: Integers,
) -> tuple[Floats, int]:
    """Velocities after the impacts at places that touch, and the sweeps that took; places that close slower than `slow` (k,) do not bounce."""
    rate, _ = opening(velocity, position, places)
    fastest = float(np.abs(velocity).max(initial=0.0))
    if not (rate < -EXACT * fastest).any():
        return velocity, 0
    sweeps, still = 0, np.zeros(len(places.bodies))
    bodies = places.bodies
    restitution = world.restitution[bodies].max(axis=1)
    rubbing = friction_of(world, places)
    lively = bool(((rate < -slow) & (restitution > 0.0)).any())
    end = EXACT * fastest if lively else settled

    def respond(least: Floats, friction: Floats) -> Floats:
        nonlocal sweeps
        after = velocity.copy()
        guess = np.zeros((len(places.bodies), 2))
        sweeps += resolve(places, least, still, position, world.inverse, friction, end, guess, after)
        return after

    nowhere = np.zeros_like(velocity)

    def energy(v: Floats) -> tuple[Floats, Floats]:
        return world.energies(v, nowhere, group)

    before, rounding = energy(velocity)
    dull = respond(still, rubbing)
    if (grown := energy(dull)[0] > before + rounding).any():  # sweeps without friction lower the energy one by one
        dull = np.where(grown[group][:, np.newaxis], respond(still, 0.0 * rubbing), dull)
    if not lively:
        return dull, sweeps
    elastic = respond(np.where(rate < -slow, -restitution * rate, 0.0), rubbing)
    least, most = energy(dull)[0], energy(elastic)[0]
    # The energy of dull + s·(elastic − dull) is least + s·p + s²·q: the largest s at which it is `before`.
    q = energy(elastic - dull)[0]
    p = most - least - q
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(p * p + 4.0 * q * np.maximum(before - least, 0.0), 0.0))
        share = np.where(most > before + rounding, np.clip((root - p) / (2.0 * q), 0.0, 1.0), 1.0)
    return dull + share[group][:, np.newaxis] * (elastic - dull), sweeps


def press(
    world: Bodies,
    velocity: Floats,
    position: Floats,
    places: Places,
    least: Floats,
    settled: float,
    h: float,
    impulse: Floats,
) -> tuple[Floats, int]:
    """Velocities after the forces of a step of length h, under which places open by `least` or faster in the end; `impulse` as in `resolve`."""
    after = velocity.copy()
    after += h * world.pull
    _, slide = opening(velocity, position, places)
    sweeps = 0
    if len(places.bodies):
        friction = friction_of(world, places)
        sweeps = resolve(places, least, slide, position, world.inverse, friction, settled, impulse, after)
    return after, sweeps


def calm(
    world: Bodies,
    velocity: Floats,
    place: Floats,
    group: Integers,
    loose: NDArray[np.bool_],
    before: Floats,
    resting: Floats,
) -> Floats:
    """Velocities slowed, group by group, until a group has no more energy than `before`; at rest it would have `resting`.

    A loose group keeps its momentum and angular momentum: only what its bodies do besides moving and turning as one is slowed."""
    energy, rounding = world.energies(velocity, place, group)
    lively = energy > before + rounding
    if not lively.any():
        return velocity
    common = np.zeros_like(velocity)
    for g in np.flatnonzero(lively):
        members = np.flatnonzero((group == g) & loose & ~world.held)
        if len(members):
            common[members] = _common(world, velocity[members], place[members, :2], members)
    least = resting + world.energies(common, np.zeros_like(velocity), group)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(np.maximum(before - least, 0.0) / (energy - least))
    share = np.where(lively & (energy > least), ratio, 1.0)[group][:, np.newaxis]
    return common + share * (velocity - common)


def _common(world: Bodies, velocity: Floats, position: Floats, members: Integers) -> Floats:
    """Velocities of bodies that move and turn as one, with the momentum and angular momentum of these."""
    mass, inertia = world.mass[members], world.inertia[members]
    arm = position - mass @ position / mass.sum()
    drift = mass @ velocity[:, :2] / mass.sum()
    angular = mass @ (arm[:, 0] * velocity[:, 1] - arm[:, 1] * velocity[:, 0]) + inertia @ velocity[:, 2]
    rate = angular / (mass @ (arm**2).sum(axis=1) + inertia.sum())
    turned = rate * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
    return np.column_stack([drift + turned, np.full(len(members), rate)])
