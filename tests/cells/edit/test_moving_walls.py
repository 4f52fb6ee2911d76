"""Walls that move: a particle that no wall reaches stays to the last bit, one that a wall reaches goes along with it and is told."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.core import jit
from cells import oracle_cells as oracle
from cells import oracle_walls, worlds
from conftest import SOAK


def corridor():
    """An L: a long cell along the floor, and one on the left that goes up."""
    vertices = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [0.0, 1.0], [1.0, 1.0], [5.0, 1.0], [0.0, 2.0], [1.0, 2.0]]
    return cells.polygons(vertices, [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6]])


def test_a_room_with_a_corner_that_is_shifted_pushes_nobody_it_does_not_touch():
    """From the middle of its old cell the particle cannot be seen any more: the corner is between."""
    env = corridor()
    crowd = cells.Particles(env, [[1.05, 0.95]])
    env.deform(env.vertices + np.array([0.5, -0.4]))
    assert crowd.settle().tolist() == [False]
    assert crowd.position.tolist() == [[1.05, 0.95]]
    assert crowd.cell.tolist() == [2]
    assert len(crowd.reached) == 0


def post():
    """A thin post on the floor, with room on both sides and above."""
    x, y = (0.0, 1.0, 1.125, 4.0), (0.0, 1.0, 2.0)
    vertices = np.array([[a, b] for b in y for a in x])
    squares = [[i + 4 * j, i + 1 + 4 * j, i + 5 + 4 * j, i + 4 + 4 * j] for j in range(2) for i in range(3)]
    return cells.polygons(vertices, squares, [k == 1 for k in range(6)])


def test_a_wall_that_passes_over_a_particle_and_sinks_takes_it_along():
    """In the end one sees the particle from where it was, over the post; but the post has swept over it."""
    env = post()
    crowd = cells.Particles(env, [[1.25, 0.5], [3.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[5:7, 1] = 0.125
    vertices[[1, 2, 5, 6], 0] += 1.0
    env.deform(vertices)
    assert crowd.settle().tolist() == [True, False]
    assert crowd.cell.tolist() == [2, 2]
    assert crowd.reached.particle.tolist() == [0]
    assert crowd.reached.time[0] == pytest.approx(0.125)
    assert crowd.reached.point.tolist() == [[1.25, 0.5]]
    assert sorted(crowd.reached.corners[0].tolist()) == [2, 6]
    assert crowd.position[0, 0] >= 2.125
    assert crowd.position[0] == pytest.approx([2.125, 0.125 * 0.5 / (1 - 0.125 * 0.875)])


def moved_far(world, rng, size):
    """All vertices displaced, the border too, and the whole shifted."""
    shift = rng.normal(scale=size, size=world.vertices.shape[1])
    jitter = rng.uniform(-size, size, world.vertices.shape)
    return np.round((world.vertices + shift + jitter) * 1024) / 1024


def check_against_walls(world, parts, before, crowd, start, end):
    """Every particle against the walls' motion; how many were reached."""
    reached, cells_now, walls = crowd.reached, crowd.cell, oracle_walls.walls_of(parts)
    told = dict(zip(reached.particle.tolist(), range(len(reached)), strict=True))
    for row, p in enumerate(before):
        time, _ = oracle_walls.first_touch(start[walls], end[walls], p)
        held = [part for part in parts if part.cell == cells_now[row] and part.holds(oracle.exact(crowd.position[row]))]
        assert held, row
        assert held[0].free
        if time == np.inf:
            assert row not in told, (row, p)
        if row not in told:
            assert (crowd.position[row] == p).all()
            assert np.isnan(time) or time in (0, np.inf) or time > 1 - 1e-9, (row, p, time)
        elif time > 0:
            known = told[row]
            assert (reached.point[known] == p).all()
            assert reached.time[known] == pytest.approx(time, abs=1e-6)
            corners = set(reached.corners[known].tolist())
            gaps = oracle_walls.distances((1 - time) * start[walls] + time * end[walls], p)
            assert any(corners == set(walls[k].tolist()) for k in np.flatnonzero(gaps < 1e-6))
            there = np.array([end[sorted(corners)]])
            assert oracle_walls.distances(there, crowd.position[row])[0] < 1e-9
    return len(told)


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_walls_push_whom_they_reach_and_nobody_else(make):
    pushed = 0
    for seed in range(60 if SOAK else 2 if jit.INTERPRETED else 6):
        rng = np.random.default_rng(seed)
        world = make(rng)
        crowd = cells.Particles(world.environment, worlds.free_points(world, rng, 8 if jit.INTERPRETED else 60))
        for _ in range(2):
            start = world.vertices
            end = moved_far(world, rng, rng.choice([0.02, 0.08]))
            before = crowd.position
            try:
                world.environment.deform(end)
            except InvalidInput:
                continue
            world = world._replace(vertices=end)
            crowd.settle()
            pushed += check_against_walls(world, world.parts(), before, crowd, start, end)
            crowd.move(worlds.aim(world, rng, crowd.position))
    assert pushed
