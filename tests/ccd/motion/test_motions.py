"""Motions: where vertices are between the two ends of a step, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut
from abut.ccd.motion.motions import join

MESH = abut.scenes.icosphere(1)


def pose(rotation: Rotation | None = None, translation: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    result = np.eye(4)
    if rotation is not None:
        result[:3, :3] = rotation.as_matrix()
    result[:3, 3] = translation
    return result


def test_a_deforming_step_moves_vertices_on_straight_lines():
    end = MESH.vertices * 2.0 + 1.0
    motion = abut.Motion(MESH, MESH.vertices, end)
    np.testing.assert_array_equal(motion.at(0.0), MESH.vertices)
    np.testing.assert_array_equal(motion.at(1.0), end)
    np.testing.assert_allclose(motion.at(0.25), 0.75 * MESH.vertices + 0.25 * end, rtol=0, atol=1e-15)
    assert not motion.rotates
    assert not motion.is_rigid


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, np.pi - 1e-9, np.pi])
def test_a_rigid_step_turns_at_constant_speed_about_one_axis(angle: float):
    axis = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    first = pose(Rotation.from_rotvec([0.3, -0.2, 0.9]), (1.0, 2.0, 3.0))
    last = pose(Rotation.from_rotvec(axis * angle) * Rotation.from_matrix(first[:3, :3]), (-1.0, 0.0, 5.0))
    motion = abut.Motion(abut.Rigid(MESH), first, last)
    assert motion.rotates
    assert motion.is_rigid
    for t in (0.0, 0.2, 0.5, 1.0):
        turn = Rotation.from_rotvec(axis * angle * t).as_matrix() @ first[:3, :3]
        if angle == np.pi and 0.0 < t < 1.0:  # both senses are as short
            back = Rotation.from_rotvec(-axis * angle * t).as_matrix() @ first[:3, :3]
            if np.abs(motion.at(t) - (MESH.vertices @ back.T + (1 - t) * first[:3, 3] + t * last[:3, 3])).max() < 1e-9:
                continue
        expected = MESH.vertices @ turn.T + (1 - t) * first[:3, 3] + t * last[:3, 3]
        np.testing.assert_allclose(motion.at(t), expected, rtol=0, atol=2e-8 if angle == 1e-9 else 1e-12)


def test_a_turning_vertex_stays_within_its_bend_of_the_straight_line():
    motion = abut.Motion(MESH, pose(), pose(Rotation.from_rotvec([0.0, 0.0, 3.0]), (4.0, 0.0, 0.0)))
    for start, span in ((0.0, 1.0), (0.3, 0.2), (0.9, 0.1)):
        ends = motion.at(start), motion.at(start + span)
        for part in np.linspace(0.0, 1.0, 21):
            straight = (1 - part) * ends[0] + part * ends[1]
            off = np.linalg.norm(motion.at(min(start + part * span, 1.0)) - straight, axis=1)
            assert (off <= motion.paths.bend * span**2 + 1e-14).all()


def test_a_pure_translation_does_not_rotate():
    turn = Rotation.from_rotvec([0.1, 0.7, 0.2])
    motion = abut.Motion(abut.Rigid(MESH), pose(turn), pose(turn, (5.0, 0.0, 0.0)))
    assert not motion.rotates
    np.testing.assert_allclose(
        motion.vertices_t1 - motion.vertices_t0, np.tile([5.0, 0, 0], (len(MESH.vertices), 1)), atol=1e-14
    )


def test_joined_motions_are_numbered_on():
    still = abut.Motion(MESH, MESH.vertices, MESH.vertices)
    turning = abut.Motion(MESH, pose(), pose(Rotation.from_rotvec([0.0, 1.0, 0.0])))
    both = join(still, turning)
    n = len(MESH.vertices)
    assert both.body.tolist() == [0] * n + [1] * n
    assert both.rotates
    assert not both.is_rigid
    np.testing.assert_array_equal(both.mesh.faces[len(MESH.faces) :], MESH.faces + n)
    np.testing.assert_allclose(both.at(0.5)[n:], turning.at(0.5), atol=1e-15)
    np.testing.assert_array_equal(join(both, still).body[2 * n :], 2)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((MESH, MESH.vertices[:-1], MESH.vertices), "v_t0"),
        ((MESH, MESH.vertices, MESH.vertices[:-1]), "v_t1"),
        ((MESH, MESH.vertices, MESH.vertices * np.nan), "v_t1"),
        ((MESH, np.eye(4), 2 * np.eye(4)), "pose_t1"),
        ((MESH, np.eye(4), MESH.vertices), "pose_t1"),
        ((MESH, None, None), "v_t0"),
        ((MESH, [[1.0, 2.0, 3.0], [4.0]], MESH.vertices), "v_t0"),
        ((3, np.eye(4), np.eye(4)), "mesh"),
    ],
)
def test_bad_motions_are_refused_by_name(arguments: tuple, name: str):
    with pytest.raises(abut.InvalidInput) as caught:
        abut.Motion(*arguments)
    assert caught.value.name == name


def test_nothing_to_join_is_refused():
    with pytest.raises(abut.InvalidInput, match="nothing to join"):
        join()


def test_a_motion_does_not_change():
    motion = abut.Motion(MESH, MESH.vertices, MESH.vertices)
    with pytest.raises(AttributeError):
        motion.mesh = MESH
    with pytest.raises(ValueError, match="read-only"):
        motion.vertices_t0[0] = 1.0


@pytest.mark.parametrize("off", [0.0, 4e-15, 3e-14, 1e-12, 1e-9, 4e-6, 2e-5, 1e-3])
def test_poses_that_are_a_little_off_are_taken_for_the_nearest_rotation_and_others_refused(off: float):
    """The largest entry of RᵀR − 1 counts: up to 1e-14 it stays, up to 1e-5 the nearest rotation takes its place, as docs/bodies.md has it."""
    exact = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
    crooked = pose()
    crooked[:3, :3] = exact @ np.diag([1.0 + 0.5 * off, 1.0, 1.0])
    make = [lambda: abut.Motion(MESH, crooked, crooked).vertices_t0, lambda: abut.Rigid(MESH, crooked).vertices]
    for vertices in make:
        if off > 1e-5:
            with pytest.raises(abut.InvalidInput, match="orthonormal"):
                vertices()
        else:
            error = np.abs(vertices() - MESH.vertices @ exact.T).max()
            assert error <= 1e-14
