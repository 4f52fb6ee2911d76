import itertools

import numpy as np
import pytest

from abut import Mesh, scenes
from abut.papers.grid import Voxels
from abut.papers.grid.lists import DATE, LARGE_FACET, OLDER, pack_key, voxel_index
from conftest import SLOW
from facet_pairs import brute_force, check_all

# --- dates


def test_old_lists_count_as_empty():
    grid = Voxels(0.5)
    wall, ball = scenes.box((1, 1, 1)), scenes.icosphere(0, radius=0.4)
    still, moving = grid.add(wall, immobile=True), grid.add(ball)
    touching = ball.vertices + np.array([0.5, 0, 0])
    near = brute_force(wall.vertices, wall.faces, touching, ball.faces)
    assert len(near)
    for _ in range(3):
        grid.update(moving, touching)
        np.testing.assert_array_equal(grid.collide()[still, moving], near)
        grid.update(moving, touching + np.array([5.0, 0, 0]))
        assert len(grid.collide()) == 0
        grid.validate()


@pytest.mark.large
def test_memory_follows_occupancy_on_a_long_way():
    grid = Voxels(0.25)
    ball, companion = scenes.icosphere(0), scenes.icosphere(0, center=(0.5, 0, 0))
    a, b = grid.add(ball), grid.add(companion)
    expected = len(grid.collide())
    for step in range(60 if SLOW else 1000):
        shift = np.array([16.0 * step, -32.0 * step, 8.0 * step])  # of few bits, so that no coordinate is rounded
        grid.update(a, np.float32(ball.vertices) + shift)
        grid.update(b, np.float32(companion.vertices) + shift)
        assert len(grid.collide()) == expected
    assert len(grid._lists.table.keys) <= 16 * LARGE_FACET
    grid.validate()


def test_dates_far_in_the_future():
    grid = Voxels(0.5)
    a, b = grid.add(scenes.box()), grid.add(scenes.box())
    count = len(grid.collide())
    for layer in grid._lists.layers:
        layer.counts[DATE] += 2**62
    grid.update(a, scenes.box().vertices)
    grid.validate()
    assert len(grid.collide()[a, b]) == count
    grid.validate()


def test_immobile_objects_are_entered_once():
    grid = Voxels(0.5)
    grid.add(scenes.box(), immobile=True)
    moving = grid.add(scenes.icosphere(0))
    assert grid.collide().work.facets_entered == 32
    assert grid.collide().work.facets_entered == 0
    grid.update(moving, scenes.icosphere(0).vertices)
    assert grid.collide().work.facets_entered == 20
    grid.add(scenes.icosphere(0))  # moving: the immobile box stays in its voxels
    assert grid.collide().work.facets_entered == 40
    grid.validate()


def test_objects_removed_and_added_again():
    a, b, c = scenes.box(), scenes.icosphere(0, radius=0.7), scenes.box(center=(0.5, 0.5, 0.5))
    for immobile in (True, False):
        grid = Voxels()
        first = grid.add(a, immobile=immobile)
        second, third = grid.add(b), grid.add(c)
        expected = grid.collide()
        grid.remove(first)
        assert list(grid.collide()) == [(second, third)]
        grid.validate()
        again = grid.add(a, immobile=immobile)
        assert again not in (first, second, third)
        hits = grid.collide()
        grid.validate()
        np.testing.assert_array_equal(hits[again, second], expected[first, second])
        np.testing.assert_array_equal(hits[second, third], expected[second, third])
        for handle in (again, second, third):
            grid.remove(handle)
        assert len(grid.collide()) == 0
        grid.validate()


# --- voxels and keys


@pytest.mark.parametrize("size", [1.0, 0.1, 0.3])
@pytest.mark.parametrize("shift", [0, -7, 10**6, 2**45])  # beyond 2^40 voxels facets are not cut by their planes
def test_facets_on_the_borders_of_voxels(size, shift):
    block, other = scenes.box((size, size, size)), scenes.box((size, size, size), center=(size, size, 0))
    grid = Voxels(size)
    a, b = grid.add(block, immobile=True), grid.add(other)
    still = grid.add(Mesh(block.vertices + shift * size, block.faces), immobile=True)
    moved = other.vertices + shift * size
    grid.update(b, moved)
    expected = brute_force(moved, other.faces, block.vertices + shift * size, block.faces)
    assert shift != 0 or len(expected) > 0
    hits = grid.collide()
    np.testing.assert_array_equal(hits[b, still], expected)
    np.testing.assert_array_equal(hits[a, b], brute_force(block.vertices, block.faces, moved, other.faces))


@pytest.mark.parametrize(
    ("scale", "cell_size"), [(1e74, 1e-300), (1e74, 1.0), (1e-60, 1e70), (1e-60, 1e-62), (1e9, 1e-9)]
)
def test_coordinates_far_beyond_the_range_of_keys(scale, cell_size):
    a, b = scenes.icosphere(0, radius=scale), scenes.icosphere(0, radius=scale, center=(0.5 * scale, 0, -0.1 * scale))
    grid = Voxels(cell_size)
    handle_a, handle_b = grid.add(a, immobile=True), grid.add(b)
    expected = brute_force(a.vertices, a.faces, b.vertices, b.faces)
    assert len(expected) > 10
    np.testing.assert_array_equal(grid.collide()[handle_a, handle_b], expected)
    grid.validate()


def test_voxels_that_share_a_key_give_no_false_pairs():
    ball = scenes.icosphere(0, radius=0.4, center=(0.5, 0.5, 0.5))  # inside one voxel
    grid = Voxels(1.0)
    grid.add(ball)
    grid.add(Mesh(ball.vertices + np.array([2.0**21, -(2.0**21), 2.0**22]), ball.faces))
    hits = grid.collide()
    assert hits.work.candidates == 400
    assert len(hits) == 0


def test_indices_are_monotone_and_finite():
    x = np.sort(
        np.concatenate(
            [[-1e75, 1e75, 0.0, -0.0], np.random.default_rng(0).normal(size=40) * 10.0 ** np.arange(-20, 20)]
        )
    )
    for per_length in (1e-70, 1.0, 10.0, 3e20, 1e300):
        indices = [voxel_index(float(value), per_length) for value in x]
        assert indices == sorted(indices)
        assert max(map(abs, indices)) <= 2**52
    assert 0 <= pack_key(-1, -(2**52), 2**52) < 2**63


@pytest.mark.large
def test_large_facets_meet_whatever_comes_before_and_after_them():
    huge = Mesh([(-50, -50, 0), (50, -50, 0.1), (0, 80, -0.1)], [(0, 1, 2)])
    tilted = Mesh([(-50, 0, -50), (50, 0.3, -50), (0, -0.2, 80)], [(0, 1, 2)])
    small = scenes.icosphere(0, radius=0.5)
    meshes = [(huge, False), (small, False), (tilted, True), (tilted, False), (huge, True), (small, True)]
    for chosen in itertools.permutations(meshes, 3):
        grid = Voxels(0.2)
        bodies = {grid.add(mesh, immobile=immobile): (mesh, immobile) for mesh, immobile in chosen}
        hits = check_all(grid, bodies, {handle: mesh.vertices for handle, (mesh, _) in bodies.items()})
        assert hits.work.large_facets == sum(len(mesh) == 1 for mesh, _ in chosen)


def test_more_pairs_than_the_first_buffer_holds():
    rng = np.random.default_rng(0)
    fan = np.concatenate(([np.zeros(3)], rng.normal(size=(140, 3))))
    faces = np.stack((np.zeros(70, np.int64), np.arange(1, 141, 2), np.arange(2, 142, 2)), axis=1)
    grid = Voxels(1.0)
    a, b = grid.add(Mesh(fan, faces)), grid.add(Mesh(-fan, faces))
    np.testing.assert_array_equal(grid.collide()[a, b], np.argwhere(np.ones((70, 70))))


def test_validate_finds_damage():
    grid = Voxels(0.3)
    grid.add(scenes.icosphere(0))
    grid.add(scenes.box())
    grid.collide()
    grid.validate()
    for damage in ("older", "slot", "count", "key"):
        grid.update(0, scenes.icosphere(0).vertices)
        grid.collide()
        layer, table = grid._lists.layers[1], grid._lists.table
        if damage == "older":
            layer.links[int(np.flatnonzero(layer.links[: layer.counts[0], OLDER] >= 0)[0]), OLDER] = -1
        elif damage == "slot":
            layer.links[0, 0] ^= 1
        elif damage == "count":
            table.used[0] += 1
        else:
            table.keys[table.keys >= 0] += 2**40
        with pytest.raises(AssertionError, match="not well formed"):
            grid.validate()
        if damage == "count":
            table.used[0] -= 1
