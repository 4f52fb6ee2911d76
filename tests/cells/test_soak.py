"""Many moves: no particle is lost, whatever it is aimed at. After each move the state is verified by a test of its own.

The suite makes 10⁶ moves; with ABUT_SOAK=1 there are 10⁸ over all environments.
"""

import os

import numba
import numpy as np
import pytest

from abut import cells
from abut.core import jit
from cells import oracle_cells as oracle
from cells import worlds
from cells.edit.test_deformation import shaken
from cells.edit.test_surgery import as_world
from cells.test_particles import check_move

MOVES = 10**8 if os.environ.get("ABUT_SOAK") else 10**6
CROWD = 10_000
STEPS = MOVES // CROWD // (2 * len(worlds.WORLDS))


BITS, LIMB = 13, 20
"""Coordinates of vertices are multiples of 2⁻¹³; fractions are taken apart into limbs of 20 bits."""
LIMBS = 5


def planes_of(environment):
    """Inward normals of all parts (parts, faces, 3) and a corner of each face as integers, in units of 2⁻²⁶ and 2⁻¹³; which of them are used."""
    space, dimension, darts = environment.interior.space, environment.dimension, environment.darts
    scaled = space.vertices * 2.0**BITS
    grid = scaled.astype(np.int64)
    assert (grid == scaled).all()
    assert np.abs(grid).max() < 2**17
    face = space.face
    a, b, c = (grid[darts.vertex[k]] for k in (face, darts.phi1[face], darts.phi1[darts.phi1[face]]))
    if dimension == 2:
        normal = np.stack((a[..., 1] - b[..., 1], b[..., 0] - a[..., 0], np.zeros_like(a[..., 0])), axis=-1)
    else:
        normal = np.cross(b - a, c - a)
    assert np.abs(normal).max() < 2**36
    return normal, a, face >= 0


def signs_of(normal, corner, q):
    """Exact signs of n·(q − a) for integers n, a and doubles q: q is a whole number and LIMBS limbs, and each product of a limb is exact."""
    scaled = q * 2.0**BITS
    whole = np.floor(scaled)
    rest = scaled - whole  # exact: the lower bits of a double
    limbs = [(normal * (whole.astype(np.int64) - corner)).sum(axis=-1)]
    for _ in range(LIMBS):
        rest = rest * 2.0**LIMB
        digit = np.floor(rest)
        rest = rest - digit
        limbs.append((normal * digit.astype(np.int64)).sum(axis=-1))
    tail = [limb.copy() for limb in limbs]
    for k in range(LIMBS, 0, -1):
        tail[k - 1] += tail[k] >> LIMB
        tail[k] &= (1 << LIMB) - 1
    lower = np.any([limb != 0 for limb in tail[1:]], axis=0)
    signs = np.where(tail[0] < 0, -1, np.where((tail[0] > 0) | lower, 1, 0))
    return signs, (rest != 0).any(axis=-1)


def verify_states(world, planes, crowd):
    """Each position lies in the closed free part of its particle: all of them in integers, or in rationals where those are too short."""
    normal, corner, used = planes
    part = crowd._places.part
    space, darts = world.environment.interior.space, world.environment.darts
    assert not space.obstacle[part].any()
    signs, too_short = signs_of(normal[part], corner[part], crowd._places.position[:, np.newaxis])
    assert (signs >= 0)[used[part] & ~too_short].all()
    for row in np.flatnonzero(too_short.any(axis=1)).tolist():
        position = oracle.exact(crowd.position[row])
        for slot in np.flatnonzero(used[part[row]]).tolist():
            dart = space.face[part[row], slot]
            ring = [dart, darts.phi1[dart], darts.phi1[darts.phi1[dart]]]
            points = [oracle.exact(space.vertices[darts.vertex[k]][: world.environment.dimension]) for k in ring]
            assert oracle.height(points, position) >= 0


def targets_for(world, rng, points, goals):
    """Half at random, half at or through a vertex, the middle of an edge or of a face near by."""
    count = len(points)
    targets = points + rng.normal(scale=rng.choice([0.05, 0.3, 1.0], (count, 1)), size=points.shape)
    aimed = np.flatnonzero(rng.random(count) < 0.5)
    goal = goals[rng.integers(len(goals), size=len(aimed))]
    close = np.abs(goal - points[aimed]).max(axis=1) < 1.5
    aimed, goal = aimed[close], goal[close]
    through = 1 + (rng.random(len(aimed)) < 0.3)
    targets[aimed] = points[aimed] + through[:, np.newaxis] * (goal - points[aimed])
    exact = through == 1
    targets[aimed[exact]] = goal[exact]
    return targets


def special_points(world):
    goals = list(world.vertices)
    for loops in world.loops:
        for loop in loops:
            ring = world.vertices[loop]
            goals += [(ring[0] + ring[1]) / 2, ring.mean(axis=0)]
    return np.unique(np.array(goals), axis=0)


def follow(world, crowd, rng, steps):
    """Send the crowd about, verify every state, and a few moves in rational arithmetic."""
    planes, goals, parts = planes_of(world.environment), special_points(world), world.parts()
    verify_states(world, planes, crowd)
    for step in range(steps):
        before = crowd.position
        targets = targets_for(world, rng, before, goals)
        moves = crowd.move(targets)
        reached = moves.status != cells.COLLISION
        assert (moves.position[reached] == targets[reached]).all()
        verify_states(world, planes, crowd)
        if step % 5 == 0:
            for row in rng.integers(len(crowd), size=2).tolist():
                check_move(world, parts, before[row], targets[row], moves, row)


@pytest.mark.large
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_no_particle_is_lost(make, rng):
    world = make(rng)
    crowd = cells.Particles(world.environment, worlds.free_points(world, rng, CROWD))
    follow(world, crowd, rng, STEPS)


@pytest.mark.large
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_no_particle_is_lost_while_cells_deform(make, rng):
    world = make(rng)
    rest = world.vertices
    crowd = cells.Particles(world.environment, worlds.free_points(world, rng, CROWD))
    for _ in range(STEPS // 5):
        vertices = shaken(world._replace(vertices=rest), rng, 0.04, 0.5)
        world.environment.deform(vertices)
        world = world._replace(vertices=vertices)
        crowd.settle()
        follow(world, crowd, rng, 5)


@pytest.mark.large
def test_no_particle_is_lost_while_cells_are_cut_and_merged(rng):
    env = cells.channel(3, 3, 3, worlds.some(rng, 27))
    hexes = worlds.loops_of_hexes(worlds.grid(3)[1])
    crowd = cells.Particles(
        env, worlds.free_points(worlds.World("", env, env.vertices, hexes, env.obstacle), rng, CROWD)
    )
    for step in range(STEPS // 5):
        cell = step % 27
        corners = hexes[cell][0] + hexes[cell][1]
        new = env.cut(cell, [corners[0], corners[2], corners[6], corners[4]])
        crowd.settle()
        world = as_world(env)
        if step < 3 or step % 9 == 0:
            verify_states(world, planes_of(env), crowd)
        crowd.move(crowd.position + rng.normal(scale=0.2, size=(CROWD, 3)))
        verify_states(world, planes_of(env), crowd)
        env.merge(cell, new)
        crowd.settle()
        verify_states(world, planes_of(env), crowd)


@pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads in plain Python")
def test_threads_change_nothing(rng, monkeypatch):
    world = worlds.tetrahedra(rng)
    points = worlds.free_points(world, rng, 3000)
    targets = worlds.aim(world, rng, points)
    one = cells.Particles(world.environment, points).move(targets)
    monkeypatch.setattr("abut.cells.particles.PARALLEL_FROM", 1)
    monkeypatch.setattr("abut.cells.particles.CHUNK", 100)
    if numba.get_num_threads() == 1:
        pytest.skip("one thread only")
    many = cells.Particles(world.environment, points).move(targets)
    for name in ("status", "position", "time", "kind", "dart", "normal", "tests", "cell"):
        assert (getattr(one, name) == getattr(many, name)).all(), name
