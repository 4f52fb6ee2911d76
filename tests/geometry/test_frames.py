"""Frames against matrices: in numbers, and bit by bit where one form must say what another says."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from abut.geometry import frames


def random_frames(count):
    rng = np.random.default_rng(7)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    matrices[:, :3, :3] = Rotation.random(count, random_state=rng).as_matrix()
    matrices[:, :3, 3] = rng.normal(size=(count, 3))
    rows = np.concatenate((matrices[:, :3, :3].reshape(count, 9), matrices[:, :3, 3]), axis=1)
    return matrices, rows, rng.normal(size=(count, 3))


MATRICES, ROWS, POINTS = random_frames(20)


@pytest.mark.parametrize("i", range(20))
def test_a_matrix_and_a_row_place_a_point_bit_by_bit_alike(i):
    p, frame = tuple(POINTS[i].tolist()), frames.frame_of(ROWS, i)
    assert frames.carry_by(MATRICES[i], p) == frames.carry(frame, p)
    assert frames.carry_back_by(MATRICES[i], p) == frames.carry_back(frame, p)
    assert frames.turn_back_by(MATRICES[i], p) == frames.turn_back(frame[0], p)
    np.testing.assert_allclose(frames.carry_by(MATRICES[i], p), (MATRICES[i] @ [*p, 1.0])[:3], atol=1e-14)
    np.testing.assert_allclose(frames.carry_back_by(MATRICES[i], frames.carry_by(MATRICES[i], p)), p, atol=1e-14)


def test_products_are_those_of_matrices():
    (r, _), (s, _) = frames.frame_of(ROWS, 0), frames.frame_of(ROWS, 1)
    np.testing.assert_allclose(frames.product(r, s), np.array(r) @ np.array(s), atol=1e-15)
    np.testing.assert_allclose(frames.product_transposed(r, s), np.array(r) @ np.array(s).T, atol=1e-15)


def test_one_frame_seen_from_another():
    a, b = frames.frame_of(ROWS, 0), frames.frame_of(ROWS, 1)
    rotation, translation = frames.relate(a, b)
    expected = np.linalg.inv(MATRICES[0]) @ MATRICES[1]
    np.testing.assert_allclose(rotation, expected[:3, :3], atol=1e-14)
    np.testing.assert_allclose(translation, expected[:3, 3], atol=1e-14)
