"""Particles on a CUDA device move as on the processor: states, cells, places and what was met. Skipped without a device."""

import itertools

import numpy as np
import pytest

import abut
from abut.core import jit

try:
    import cupy
    from numba import cuda

    AVAILABLE = not jit.INTERPRETED and cuda.is_available()
except ImportError:
    AVAILABLE = False

pytestmark = [
    pytest.mark.skipif(not AVAILABLE, reason="no CUDA device, or numba-cuda or cupy is not installed"),
    pytest.mark.large,
]
FIELDS = ("status", "position", "time", "kind", "dart", "normal", "tests", "cell")
SIZE = 4


def tetrahedra(size, rng):
    """Cubes cut into six tetrahedra each, inner vertices moved; some are obstacles."""
    axis = np.arange(size + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3).astype(float)
    inner = ((points > 0) & (points < size)).all(axis=1)
    points[inner] += rng.uniform(-0.2, 0.2, (inner.sum(), 3))
    steps = np.array([(size + 1) ** 2, size + 1, 1])
    corner = np.stack(np.meshgrid(*[np.arange(size)] * 3, indexing="ij"), -1).reshape(-1, 3) @ steps
    cells = []
    for first, second, _ in itertools.permutations(range(3)):
        middle = corner + steps[first]
        cells.append(np.stack([corner, middle, middle + steps[second], corner + steps.sum()], 1))
    cells = np.concatenate(cells)
    x = points[cells]
    wrong = np.einsum("ij,ij->i", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) < 0
    cells[wrong] = cells[wrong][:, [0, 2, 1, 3]]
    return points, cells


def environments(rng):
    points, cells = tetrahedra(SIZE, rng)
    obstacle = np.zeros(len(cells), dtype=bool)
    obstacle[rng.integers(0, len(cells), 20)] = True
    return {
        "tetrahedra": lambda: abut.cells.tetrahedra(points, cells, obstacle=obstacle),
        "cubes": lambda: abut.cells.channel(SIZE, SIZE, SIZE),
    }


def starts(environment, rng):
    inside = rng.uniform(0.0, SIZE, (4000, 3))
    found = []
    for point in inside:
        try:
            abut.cells.Particles(environment, point[None])
        except abut.InvalidInput:
            continue
        found.append(point)
        if len(found) == 300:
            break
    return np.repeat(np.array(found), 10, axis=0)


def targets(rng, points, turn):
    """A third each: nearby, far, and on the lattice, where vertices, edges and faces are hit."""
    goal = points + rng.normal(0.0, 0.5, points.shape)
    goal[1::3] = rng.uniform(-1.0, SIZE + 1.0, goal[1::3].shape)
    goal[2::3] = rng.integers(-1, SIZE + 2, goal[2::3].shape) * (1.0 if turn % 2 else 0.5)
    return goal


def assert_same(own, right):
    for name in FIELDS:
        given, expected = getattr(own, name), getattr(right, name)
        assert isinstance(given, cupy.ndarray), name
        assert given.dtype == expected.dtype, name
        assert np.array_equal(cupy.asnumpy(given), expected), name


@pytest.mark.parametrize("kind", ["tetrahedra", "cubes"])
def test_moves_are_those_of_the_processor(kind, rng):
    environment = environments(rng)[kind]()
    points = starts(environment, rng)
    host, own = abut.cells.Particles(environment, points), abut.cells.Particles(environment, cupy.asarray(points))
    for turn in range(6):
        goal = targets(rng, points, turn)
        right, answer = host.move(goal), own.move(cupy.asarray(goal))
        assert_same(answer, right)
        assert repr(answer) == repr(right)
        assert np.array_equal(cupy.asnumpy(own.position), host.position)
        assert np.array_equal(cupy.asnumpy(own.cell), host.cell)
        assert set(right.status.tolist()) >= {0, 2}


def test_particles_follow_deformations(rng):
    points, cells = tetrahedra(SIZE, rng)
    one, two = abut.cells.tetrahedra(points, cells), abut.cells.tetrahedra(points, cells)
    place = starts(one, rng)
    host, own = abut.cells.Particles(one, place), abut.cells.Particles(two, place, device="cuda")
    inner = ((points > 0) & (points < SIZE)).all(axis=1)
    for turn in range(4):
        goal = targets(rng, place, turn)
        assert_same(own.move(cupy.asarray(goal)), host.move(goal))
        points = points.copy()
        points[inner] += rng.uniform(-0.02, 0.02, (inner.sum(), 3))
        one.deform(points)
        two.deform(points)
        if turn % 2:
            assert np.array_equal(own.settle(), host.settle())
        assert np.array_equal(cupy.asnumpy(own.position), host.position) or turn % 2 == 0
    assert_same(own.move(cupy.asarray(place)), host.move(place))


def test_bad_targets_leave_everything_as_it_was(rng):
    environment = abut.cells.channel(2, 2, 2)
    crowd = abut.cells.Particles(environment, cupy.full((5, 3), 0.5))
    for value in (np.nan, np.inf, 1e76):
        goal = cupy.full((5, 3), 1.5)
        goal[3, 1] = value
        with pytest.raises(abut.InvalidInput, match=r"targets\[3\]"):
            crowd.move(goal)
        assert bool((crowd.position == 0.5).all())
    with pytest.raises(abut.InvalidInput, match="targets"):
        crowd.move(cupy.full((4, 3), 0.5))
    with pytest.raises(abut.Unsupported, match="darts"):
        abut.cells.Particles(environment, cupy.full((5, 3), 0.5), walk="darts")
    moves = crowd.move(cupy.full((5, 3), 1.5))
    moves.position[...] = 9.0
    crowd.position[...] = 9.0
    assert bool((crowd.position == 1.5).all())
