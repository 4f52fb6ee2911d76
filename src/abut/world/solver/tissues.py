"""What soft bodies do to their own particles within a substep: springs, and shapes that draw them back (`dynamics`).

Forces are found where the particles are at the beginning of the substep, and change velocities, which then move the particles: symplectic Euler.
Of a free body it keeps momentum and angular momentum to rounding, and its energy within a bound, as long as a substep is well below the period of
the stiffest spring; `World.step` has as many substeps as that takes.

Shape matching sends a particle a part α of the way to its goal in a step of the length dt. That is a spring of the stiffness α·m/dt², and so it is
in a substep: how soft a body is does not depend on the number of substeps.
"""

import math
from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel, stay_apart
from abut.core.records import Records, put, vector
from abut.dynamics.shape_matching import average_rows, fit_velocities, match_rows
from abut.dynamics.springs.spring_forces import pull_of_spring
from abut.geometry.rows import put_vector, vector_at
from abut.geometry.vec import add_scaled, subtract


class Tissues(NamedTuple):
    """The soft bodies that are awake. Their particles are the last rows of the bodies, and counted from the first of these."""

    springs: Integers
    """(s,2)"""
    constants: Floats
    """(s,3) length at rest, stiffness, damping"""
    members: Integers
    """(m,) of clusters, one behind the other"""
    starts: Integers
    """(c+1,) where each cluster starts"""
    weight: Floats
    """(m,)"""
    local: Floats
    """(m,3) about the clusters' centers, at rest"""
    turns: Floats
    """(c,3,3) rotations, from which the next ones are found"""
    slots: Integers
    """(m,) places among the members, particle after particle"""
    slot_starts: Integers
    """(p+1,)"""
    stiffness: Floats
    """(p,) part of the way to its goal that a particle is sent in a step"""
    damping: Floats
    """(p,) rate at which motion within clusters dies down"""
    place: Floats
    """(p,3) room, and so are the others"""
    velocity: Floats
    goals: Floats
    fitted: Floats
    """(m,3)"""


def no_tissues() -> Tissues:
    """None."""
    rows, none = np.empty((0, 3)), np.empty(0)
    whole, pairs, zero = np.empty(0, np.int64), np.empty((0, 2), np.int64), np.zeros(1, np.int64)
    return Tissues(
        pairs, rows, whole, zero, none, rows, np.empty((0, 3, 3)), whole, zero, none, none, rows, rows, rows, rows
    )


@kernel
def flex(bodies: Records, tissues: Tissues, h: float, dt: float) -> None:
    """Change the velocities of the particles of soft bodies by what acts within them for a time h, in a step of the length dt."""
    stay_apart()
    count = len(tissues.place)
    if count == 0:
        return
    first = len(bodies) - count
    for i in range(count):
        put_vector(tissues.place, i, 0, vector(bodies[first + i].position))
        put_vector(tissues.velocity, i, 0, vector(bodies[first + i].velocity))
    if len(tissues.members) > 0:
        _match_shapes(bodies, tissues, h, dt)
    for s in range(len(tissues.springs)):
        i, j = tissues.springs[s, 0], tissues.springs[s, 1]
        d = subtract(vector_at(tissues.place, i), vector_at(tissues.place, j))
        relative = subtract(vector_at(tissues.velocity, i), vector_at(tissues.velocity, j))
        c = tissues.constants
        pull = h * pull_of_spring(d, relative, c[s, 0], c[s, 1], c[s, 2])
        one, two = bodies[first + i], bodies[first + j]
        put(one.velocity, add_scaled(vector(one.velocity), d, pull * one.time * one.inverse_mass))
        put(two.velocity, add_scaled(vector(two.velocity), d, -pull * two.time * two.inverse_mass))


@kernel
def _match_shapes(bodies: Records, tissues: Tissues, h: float, dt: float) -> None:
    """Draw particles towards the shapes at rest, and velocities towards rigid motion."""
    count, clusters = len(tissues.place), len(tissues.starts) - 1
    first = len(bodies) - count
    members, starts, weight = tissues.members, tissues.starts, tissues.weight
    slots, slot_starts, fitted, goals = tissues.slots, tissues.slot_starts, tissues.fitted, tissues.goals
    if tissues.damping.any():
        fit_velocities(tissues.place, tissues.velocity, members, starts, weight, fitted)
        average_rows(slots, slot_starts, fitted, tissues.velocity, goals)
        for i in range(count):
            body = bodies[first + i]
            if body.inverse_mass > 0.0:
                part = 1.0 - math.exp(-tissues.damping[i] * h * body.time)
                change = subtract(vector_at(goals, i), vector_at(tissues.velocity, i))
                put(body.velocity, add_scaled(vector(body.velocity), change, part))
    match_rows(0, clusters, tissues.place, members, starts, weight, tissues.local, tissues.turns, fitted)
    average_rows(slots, slot_starts, fitted, tissues.place, goals)
    for i in range(count):
        body = bodies[first + i]
        if body.inverse_mass > 0.0:
            part = tissues.stiffness[i] * h * body.time / (dt * dt)
            way = subtract(vector_at(goals, i), vector_at(tissues.place, i))
            put(body.velocity, add_scaled(vector(body.velocity), way, part))
