import numpy as np
import pytest

from abut.core import arrays, jit
from abut.core.errors import InvalidInput
from abut.mesh import Mesh
from abut.scenes.surgery import BALL_FACES, RIGID_FACES, TOOL_FACES, surgical_scene
from conftest import SOAK
from oracles.bodies import meeting_pairs

STEPS = 60


def meeting_faces(*meshes):
    """(n,2) pairs of faces that meet, by brute force."""
    return np.array(meeting_pairs(*meshes), np.int64).reshape(-1, 2)


def test_counts_are_the_papers():
    scene = surgical_scene()
    assert (BALL_FACES, RIGID_FACES, TOOL_FACES) == (512, 3592, 64)
    assert [len(ball) for ball in scene.balls] == [512]
    assert len(scene.tool) == 64
    assert sum(map(len, scene.immobile)) + len(scene.tool) == 3592
    assert [len(ball) for ball in surgical_scene(4).balls] == [512] * 4


def test_surfaces_are_closed_and_face_outwards():
    scene = surgical_scene(4)
    floor = scene.organs[-1]
    for mesh in (*scene.balls, scene.tube, scene.tool, *scene.organs[:-1]):
        assert mesh.is_closed
        assert mesh.is_oriented
        assert mesh.is_manifold
        assert mesh.component_count == 1
        assert mesh.volume > 0
    assert not floor.is_closed
    # Exact for the straight part; the bend follows Pappus. A polygon of 24 sides has 0.9886 of its circle's area.
    assert scene.tube.volume == pytest.approx(0.9886 * np.pi * (1.25**2 - 1.0) * 14.0, rel=0.01)
    assert scene.ball.volume == pytest.approx(4 / 3 * np.pi * 0.9**3, rel=0.03)


def test_motion_is_deterministic_and_keeps_its_shape():
    scene, again = surgical_scene(2, STEPS), surgical_scene(2, STEPS)
    for step in (0, 13, 59):
        for ball in range(2):
            np.testing.assert_array_equal(scene.ball_vertices(step, ball), again.ball_vertices(step, ball))
            pressed = Mesh(scene.ball_vertices(step, ball), scene.balls[ball].faces)
            assert 0.9 * scene.ball.volume < pressed.volume < 1.05 * scene.ball.volume
            assert (pressed.face_areas > 0.1 * scene.ball.face_areas).all()
        pose = arrays.pose(scene.tool_pose(step), "pose")
        np.testing.assert_array_equal(pose, again.tool_pose(step))
        np.testing.assert_allclose(scene.tool_vertices(step)[-1], pose[:3, 3])  # the tip is the tool's origin
    assert scene.tool.vertices[:, 0].max() == 0.0


def test_ball_is_flattened_against_the_wall():
    scene = surgical_scene()
    rest, vertices = scene.ball.vertices, scene.ball_vertices(0)
    inside = rest[:, 0] > 0.3  # beyond the mouth; the tube is straight there, its outside towards −y
    distance, pressed = (np.hypot(points[:, 1], points[:, 2]) for points in (rest, vertices))
    assert (pressed <= distance + 1e-12).all()
    assert distance[inside].max() > 1.11
    assert 1.0 < pressed[inside].max() < 1.05
    np.testing.assert_allclose(vertices[distance < 0.9], rest[distance < 0.9], rtol=0, atol=2**-48)


@pytest.mark.large
@pytest.mark.skipif(jit.INTERPRETED, reason="brute force")
def test_contacts_of_every_step():
    scene = surgical_scene(4, STEPS)
    tube, tool = scene.tube, scene.tool
    touched = 0
    steps = range(0, STEPS, 1 if SOAK else 4)
    for step in steps:
        tip = scene.tool_vertices(step)
        balls = [(scene.ball_vertices(step, i), ball.faces) for i, ball in enumerate(scene.balls)]
        for vertices, faces in balls:
            pairs = meeting_faces(vertices, faces, tube.vertices, tube.faces)
            assert 15 <= len(np.unique(pairs[:, 0])) <= 60
            assert 15 <= len(np.unique(pairs[:, 1])) <= 100
        pushed = meeting_faces(*balls[0], tip, tool.faces)
        assert len(pushed) <= 60
        touched += len(pushed) > 0
        assert len(meeting_faces(tip, tool.faces, tube.vertices, tube.faces)) == 0
        for i in range(3):
            assert len(meeting_faces(*balls[i], *balls[i + 1])) == 0
    assert touched > 0.7 * len(steps)


def test_contacts_of_some_steps():
    scene = surgical_scene(1, 5)
    for step in (0, 2, 4):
        vertices = scene.ball_vertices(step)
        near = scene.tube.vertices[scene.tube.faces].mean(axis=1)[:, 0] - vertices[:, 0].mean()
        faces = scene.tube.faces[np.abs(near) < 2.0]
        pairs = meeting_faces(vertices, scene.ball.faces, scene.tube.vertices, faces)
        assert 15 <= len(np.unique(pairs[:, 0])) <= 60
        pushed = meeting_faces(vertices, scene.ball.faces, scene.tool_vertices(step), scene.tool.faces)
        assert (len(pushed) > 0) == (step > 0)


def test_bad_arguments():
    scene = surgical_scene(1, 3)
    with pytest.raises(InvalidInput, match="ball_count"):
        surgical_scene(5)
    with pytest.raises(InvalidInput, match="step"):
        scene.ball_vertices(3)
    with pytest.raises(InvalidInput, match="step"):
        scene.tool_pose(-1)
    with pytest.raises(InvalidInput, match="ball"):
        scene.ball_vertices(0, 1)
    assert len(surgical_scene(1, 1).ball_vertices(0)) == 258
