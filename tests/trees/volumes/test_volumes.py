import numpy as np
import pytest

from abut.core.errors import InvalidInput, Unsupported
from abut.trees import volumes

TRIANGLE = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([(0, 1, 2)])


@pytest.mark.parametrize("kind", volumes.KINDS)
def test_kinds_are_known_by_name(kind):
    assert volumes.kind_of(volumes.allocate(kind, 2)) == kind
    v = volumes.fit_each(kind, *TRIANGLE)
    assert volumes.overlap_each(v, v).all()
    assert not volumes.distance_bound_each(v, v).any()


def test_unknown_kind_is_refused_by_name():
    with pytest.raises(Unsupported, match="sphere"):
        volumes.allocate("sphere", 1)
    with pytest.raises(Unsupported, match="kdop10"):
        volumes.fit_each("kdop10", *TRIANGLE)


@pytest.mark.parametrize("pair", [("kdop18", "obb"), ("obb", "kdop6"), ("aabb", "kdop14"), ("kdop18", "kdop26")])
def test_pairs_without_a_test_are_refused_by_name(pair):
    a, b = (volumes.fit_each(kind, *TRIANGLE) for kind in pair)
    with pytest.raises(Unsupported, match=f"{pair[0]} with {pair[1]}"):
        volumes.overlap_each(a, b)
    with pytest.raises(Unsupported, match=f"{pair[0]} with {pair[1]}"):
        volumes.distance_bound_each(a, b)


def test_kdop_under_a_pose_is_refused_by_name():
    v = volumes.fit_each("kdop26", *TRIANGLE)
    with pytest.raises(Unsupported, match="kdop26 with kdop26 under a pose"):
        volumes.overlap_each(v, v, volumes.identity())


def test_sets_of_different_lengths_are_refused():
    with pytest.raises(InvalidInput, match="has 2 volumes, a has 1"):
        volumes.overlap_each(volumes.allocate("aabb", 1), volumes.allocate("aabb", 2))


def test_poses_that_are_not_rigid_are_refused():
    with pytest.raises(InvalidInput, match="pose_b"):
        volumes.between(np.eye(4), 2 * np.eye(4))
    with pytest.raises(InvalidInput, match="margin"):
        volumes.place(np.eye(4), margin=-1)


def test_frames_compose_and_turn_back(rng):
    poses = np.tile(np.eye(4), (2, 1, 1))
    for pose in poses:
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        pose[:3, :3], pose[:3, 3] = q * np.linalg.det(q), rng.normal(size=3)
    frame = volumes.between(poses[0], poses[1], margin=0.25)
    back = volumes.inverse(frame)
    x = rng.normal(size=3)
    world = poses[1][:3, :3] @ x + poses[1][:3, 3]
    seen = np.array(frame.rotation) @ x + frame.translation
    np.testing.assert_allclose(poses[0][:3, :3] @ seen + poses[0][:3, 3], world, atol=1e-14)
    np.testing.assert_allclose(np.array(back.rotation) @ seen + back.translation, x, atol=1e-14)
    assert 0.25 <= frame.slack <= back.slack <= 0.25 + 1e-11
    assert frame.defect < 1e-14
