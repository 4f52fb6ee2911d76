"""Every count of particles and of cells, and those around each constant of the walk, against the same moves made one particle at a time.

The road: a crowd goes through blocks, lanes, rounds, prefetches and chunks of threads; a crowd of one goes through none of them twice. Which of
the single moves are right is the business of the rational oracle (`test_particles`, `test_soak`).
"""

import numba
import numpy as np
import pytest

from abut import cells
from abut.cells import particles
from abut.cells.mobile import mobile
from abut.cells.walk import by_planes
from abut.core import jit
from cells import worlds
from conftest import SOAK, sizes

MOST = 600
FIELDS = ("status", "position", "time", "kind", "dart", "normal", "tests", "cell")


def counts_around(*constants):
    around = {count + off for count in constants for off in (-2, -1, 0, 1, 2)}
    return sorted(count for count in around if count > 0)


def one_by_one(env, points, targets, name):
    """The rows of all fields, each from a crowd of one."""
    moves = [
        cells.Particles(env, points[row : row + 1], name).move(targets[row : row + 1]) for row in range(len(points))
    ]
    return {field: np.concatenate([getattr(move, field) for move in moves]) for field in FIELDS}


def assert_same(moves, expected, count):
    for field in FIELDS:
        assert (getattr(moves, field) == expected[field][:count]).all(), (field, count)


def counts_of_the_suite():
    if SOAK:
        return range(1, MOST + 1)
    if jit.INTERPRETED:
        return [1, 2, 33]
    return sorted(
        {*range(1, 70), *range(1, MOST + 1, 7), *counts_around(by_planes.AHEAD, by_planes.BLOCK, 2 * by_planes.BLOCK)}
    )


@pytest.mark.parametrize("name", ["planes", "darts"])
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_counts_of_particles(make, name, rng):
    world, counts = make(rng), counts_of_the_suite()
    points = worlds.free_points(world, rng, max(counts))
    targets = worlds.aim(world, rng, points)
    expected = one_by_one(world.environment, points, targets, name)
    for count in counts:
        moves = cells.Particles(world.environment, points[:count], name).move(targets[:count])
        assert_same(moves, expected, count)


@pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads in plain Python")
@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_counts_of_particles_on_two_threads(chunk, rng, monkeypatch):
    """Chunks of all sizes, also where there are more chunks than particles would fill."""
    if numba.get_num_threads() == 1:
        pytest.skip("one thread only")
    monkeypatch.setattr(particles, "PARALLEL_FROM", 1)
    monkeypatch.setattr(particles, "CHUNK", chunk)
    world = worlds.warped(rng)
    counts = range(1, MOST + 1, 1 if SOAK else 13)
    points = worlds.free_points(world, rng, MOST)
    targets = worlds.aim(world, rng, points)
    expected = one_by_one(world.environment, points, targets, "planes")
    for count in counts:
        assert_same(cells.Particles(world.environment, points[:count]).move(targets[:count]), expected, count)


@pytest.mark.large
@pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads in plain Python")
def test_counts_around_the_constants_of_the_threads(rng):
    env, constants = (
        cells.channel(3, 3, 3),
        counts_around(particles.CHUNK, 2 * particles.CHUNK, particles.PARALLEL_FROM),
    )
    points, targets = rng.uniform(0.0, 3.0, (2, max(constants), 3))
    before = numba.get_num_threads()
    try:
        for count in constants if SOAK else constants[-3:]:
            numba.set_num_threads(1)
            one = cells.Particles(env, points[:count]).move(targets[:count])
            numba.set_num_threads(before)
            assert_same(
                cells.Particles(env, points[:count]).move(targets[:count]), {f: getattr(one, f) for f in FIELDS}, count
            )
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("name", ["planes", "darts"])
@pytest.mark.parametrize("make", [worlds.warped, worlds.plane], ids=lambda make: make.__name__)
def test_counts_of_particles_that_settle(make, name, rng):
    """Crowds of every count and crowds of one wait for the same deformation, in the same environment."""
    world, counts = make(rng), counts_of_the_suite()
    env = world.environment
    points = worlds.free_points(world, rng, max(counts))
    goals = worlds.aim(world, rng, points)
    shift = np.round(rng.uniform(-0.05, 0.05, env.vertices.shape) * 1024) / 1024
    single = [cells.Particles(env, points[row : row + 1], name) for row in range(len(points))]
    crowds = [cells.Particles(env, points[:count], name) for count in counts]
    env.deform(env.vertices + shift + 0.25)  # the border passes over some
    pushed = np.concatenate([crowd.settle() for crowd in single])
    position, cell = (np.concatenate([getattr(crowd, field) for crowd in single]) for field in ("position", "cell"))
    moves = [crowd.move(goals[row : row + 1]) for row, crowd in enumerate(single)]
    expected = {field: np.concatenate([getattr(move, field) for move in moves]) for field in FIELDS}
    assert pushed.any()
    for crowd, count in zip(crowds, counts, strict=True):
        assert (crowd.settle() == pushed[:count]).all(), count
        assert (crowd.position == position[:count]).all(), count
        assert (crowd.cell == cell[:count]).all(), count
        assert_same(crowd.move(goals[:count]), expected, count)


def small_bodies(rng, count, corners):
    """Segments or triangles, each in one free cell, none joined to another; and where their corners are to go."""
    world = worlds.cubes(rng)
    places = worlds.free_points(world, rng, count)
    lowest = np.floor(places)[:, np.newaxis]
    points = lowest + rng.uniform(0.1, 0.9, (count, corners, 3))
    return world.environment, points, points + rng.normal(scale=0.4, size=points.shape)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("corners", "mode"), [(2, "quasi"), (2, "continuous"), (3, "continuous")])
def test_counts_of_edges_and_faces(corners, mode, threads, rng, monkeypatch):
    """A mobile of many separate segments or triangles moves as mobiles of one each do."""
    if threads > 1:
        if jit.INTERPRETED or numba.get_num_threads() == 1:
            pytest.skip("one thread only")
        monkeypatch.setattr(mobile, "PARALLEL_FROM", 1)
    counts = sizes(most=MOST // corners, sample=2 if jit.INTERPRETED else 24)
    if jit.INTERPRETED:
        counts = [1, 5]
    env, points, goals = small_bodies(rng, max(counts), corners)
    fields, expected = ("status", "position", "time", "kind", "normal", "cell"), []
    for body, goal in zip(points, goals, strict=True):
        expected.append(cells.Mobile(env, (body, [range(corners)])).move(goal, mode))
    assert any((move.status == cells.COLLISION).any() for move in expected)
    for count in counts:
        rows = np.arange(count * corners).reshape(count, corners)
        moves = cells.Mobile(env, (points[:count].reshape(-1, 3), rows)).move(goals[:count].reshape(-1, 3), mode)
        for field in fields:
            alone = np.concatenate([getattr(move, field) for move in expected[:count]])
            assert (getattr(moves, field) == alone).all(), (field, count)


def strip(count, rng):
    """A row of unit squares as a plane, and of unit cubes; and ways along them, whose ends are known without any walk."""
    x = rng.uniform(0.0, count, (2, 40))
    others = rng.uniform(0.1, 0.9, (2, 40))
    return np.stack((x[0], others[0]), axis=1), np.stack((x[1], others[1]), axis=1)


@pytest.mark.parametrize("name", ["planes", "darts"])
def test_counts_of_cells(name, rng):
    """In a row of cells a particle arrives, and the number of its cell is the whole part of its coordinate."""
    counts = range(1, MOST + 1) if SOAK else [1, 2, 3] if jit.INTERPRETED else [*range(1, 34), *range(40, MOST + 1, 40)]
    for count in counts:
        points, targets = strip(count, rng)
        row = np.arange(count)
        corners = np.array([(i, j) for i in range(count + 1) for j in range(2)], float)
        flat = cells.polygons(corners, np.stack((2 * row, 2 * row + 2, 2 * row + 3, 2 * row + 1), axis=1))
        for env in (flat, cells.channel(count, 1, 1)):
            raised = [np.column_stack((p, np.full((40, env.dimension - 2), 0.5))) for p in (points, targets)]
            crowd = cells.Particles(env, raised[0], name)
            assert (crowd.cell == np.floor(points[:, 0])).all()
            moves = crowd.move(raised[1])
            assert not moves.status.any()
            assert (moves.cell == np.floor(targets[:, 0])).all()
            out = crowd.move(raised[1] + np.eye(env.dimension)[0] * 2 * count)
            assert (out.status == cells.COLLISION).all()
            assert (out.cell == count - 1).all()
            assert out.position[:, 0] == pytest.approx(count, rel=1e-9)
