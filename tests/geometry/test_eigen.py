import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut.core import jit
from abut.geometry.eigen import ORTHONORMAL, eigenvectors_symmetric

CASES = 200 if jit.INTERPRETED else 5000


def solve(matrix):
    m = np.asarray(matrix, float)
    values, axes, converged = eigenvectors_symmetric(m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
    return np.array(values), np.array(axes), converged


def check(matrix):
    """Axes are a right-handed frame, and each one an eigenvector as nearly as doubles allow."""
    values, axes, converged = solve(matrix)
    size = np.abs(matrix).max()
    assert converged
    assert np.abs(axes @ axes.T - np.eye(3)).max() <= ORTHONORMAL
    assert np.linalg.det(axes) > 0
    assert (np.diff(values) <= 0).all()
    assert np.abs(axes @ matrix - values[:, np.newaxis] * axes).max() <= 64 * 2.0**-53 * size
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1], rtol=0, atol=64 * 2.0**-53 * size)


def random_frames(rng, count):
    frames, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    return frames * np.sign(np.linalg.det(frames))[:, np.newaxis, np.newaxis]


def test_random_matrices(rng):
    for matrix in rng.normal(size=(CASES, 3, 3)):
        check(matrix + matrix.T)


@pytest.mark.parametrize(
    "spectrum", [(1, 1, 1), (2, 2, 1), (2, 1, 1), (1, 1, 0), (1, 0, 0), (1, 1e-8, 1e-16), (1, -1, 0)]
)
def test_repeated_vanishing_and_graded_eigenvalues(spectrum, rng):
    for frame in random_frames(rng, CASES // 20):
        matrix = frame.T @ np.diag(spectrum) @ frame
        check((matrix + matrix.T) / 2)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_any_magnitude(size, rng):
    for matrix in rng.normal(size=(20, 3, 3)):
        check(size * (matrix + matrix.T))


def test_zero_matrix_gives_the_coordinate_axes():
    values, axes, converged = solve(np.zeros((3, 3)))
    assert converged
    assert values.tolist() == [0, 0, 0]
    assert axes.tolist() == np.eye(3).tolist()


def test_diagonal_matrices_are_only_sorted():
    for order in itertools.permutations((3.0, 2.0, 1.0)):
        values, axes, _ = solve(np.diag(order))
        assert values.tolist() == [3, 2, 1]
        np.testing.assert_array_equal(np.abs(axes), np.eye(3)[np.argsort(order)[::-1]])


@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_small_integers(entries):
    xx, yy, zz, xy, xz, yz = entries
    check(np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)], float))
