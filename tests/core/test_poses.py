"""The quick check of poses says what the careful one says, and what it lets through is handed on as it is."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from abut.core.arrays import LARGEST_COORDINATE, ORTHONORMAL, rigid_poses
from abut.core.errors import InvalidInput
from abut.core.poses import are_rigid, find_rigid, own_pose, own_poses


def random_poses(count, seed=0):
    rng = np.random.default_rng(seed)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=rng).as_matrix()
    poses[:, :3, 3] = rng.normal(size=(count, 3)) * 10.0
    return rigid_poses(poses, "poses")


def off(where, value):
    pose = np.eye(4)
    pose[where] = value
    return pose


def test_poses_that_are_right_are_copied_and_nothing_else():
    poses = random_poses(20)
    own = own_poses(poses, "poses")
    np.testing.assert_array_equal(own, poses)
    assert not np.shares_memory(own, poses)
    for pose in poses:
        mine, address = own_pose(pose, "pose")
        np.testing.assert_array_equal(mine, pose)
        assert address == mine.ctypes.data
        assert mine.flags.writeable


@pytest.mark.parametrize(
    "pose",
    [
        np.diag([1.0, 1.0, -1.0, 1.0]),
        off((0, 0), 1.0 + 2e-5),
        off((0, 1), np.nan),
        off((0, 3), np.inf),
        off((0, 3), 2.0 * LARGEST_COORDINATE),
        off((3, 0), 1e-300),
        off((3, 3), 2.0),
        np.zeros((4, 4)),
    ],
)
def test_what_is_not_rigid_is_refused_in_words(pose):
    assert find_rigid(pose) == 0
    with pytest.raises(InvalidInput, match="pose"):
        own_pose(pose, "pose")
    with pytest.raises(InvalidInput, match=r"poses\[1\]"):
        own_poses(np.stack((np.eye(4), pose)), "poses")


def test_what_is_off_by_more_than_rounding_is_replaced_by_the_nearest_rotation():
    pose = random_poses(1)[0]
    pose[:3, :3] *= 1.0 + 1e-9
    assert not are_rigid(pose[np.newaxis])
    mine, _ = own_pose(pose, "pose")
    assert np.abs(mine[:3, :3].T @ mine[:3, :3] - np.eye(3)).max() <= ORTHONORMAL
    np.testing.assert_allclose(mine, pose, atol=1e-8)


@pytest.mark.parametrize("form", [np.ndarray.tolist, np.asfortranarray, lambda p: p.astype(">f8")])
def test_every_form_of_a_pose_is_taken(form):
    pose = random_poses(1)[0]
    np.testing.assert_array_equal(own_pose(form(pose), "pose")[0], pose)
    np.testing.assert_array_equal(own_poses([form(pose)], "poses")[0], pose)
