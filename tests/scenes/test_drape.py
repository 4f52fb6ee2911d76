import numpy as np
import pytest

from abut import Deformable, InvalidInput, Mesh, collide, scenes

BALL_VERTICES, BALL_FACES = 642, 1280


def test_cloth_comes_first_and_the_ball_never_moves():
    frames, faces = scenes.cloth_on_ball(3, 2)
    assert frames.shape == (2, 16 + BALL_VERTICES, 3)
    assert faces.shape == (18 + BALL_FACES, 3)
    assert faces[:18].max() == 15
    assert faces[18:].min() == 16
    ball = Mesh(frames[0, 16:], faces[18:] - 16)
    assert ball.is_closed
    assert ball.volume > 0
    assert (frames[1, 16:] == frames[0, 16:]).all()
    assert not frames.flags.writeable
    assert not faces.flags.writeable


def test_same_arguments_same_frames_and_another_seed_others():
    first, again, other = (scenes.cloth_on_ball(3, 2, seed=seed).frames for seed in (1, 1, 2))
    assert (first == again).all()
    assert not (first == other).all()


def test_free_fall_before_the_ball_is_met():
    # Far from the middle the cloth falls freely at first: v = g·t, slowed by the air by less than t.
    frames, _ = scenes.cloth_on_ball(4, 3)
    fallen = frames[0, 0, 2] - frames[2, 0, 2]
    t = 2 / 30
    assert 0.9 * 0.5 * 9.81 * t**2 < fallen < 1.1 * 0.5 * 9.81 * t**2


def test_progress_counts_every_frame():
    seen = []
    scenes.cloth_on_ball(2, 3, report=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"resolution": 1}, "resolution"), ({"frame_count": 0}, "frame_count"), ({"seed": -1}, "seed")],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(InvalidInput) as caught:
        scenes.cloth_on_ball(**arguments)
    assert caught.value.name == name


@pytest.mark.large
def test_cloth_drapes_without_tearing_and_cuts_itself_but_not_the_ball():
    frames, faces = scenes.cloth_on_ball()
    cloth_vertices, cloth_faces = 49 * 49, 2 * 48 * 48
    assert np.isfinite(frames).all()
    body = Deformable(Mesh(frames[0], faces))
    counts = []
    for vertices in frames:
        body.update(vertices)
        pairs = collide(body)
        assert (pairs.face_b < cloth_faces).all()
        counts.append(len(pairs))
    assert not any(counts[:10])
    assert max(counts) > 100
    # Threads are at most 3 % longer where the cloth hangs at rest; at the impact, for a moment, less than twice as long.
    edges = Mesh(frames[0], faces).edges
    edges = edges[edges.max(axis=1) < cloth_vertices]
    lengths = np.linalg.norm(frames[:, edges[:, 0]] - frames[:, edges[:, 1]], axis=2)
    assert (lengths < 2.0 * lengths[0]).all()
    assert (np.linalg.norm(frames[:, :cloth_vertices], axis=2) >= 0.5).all()
    # Draped: every corner of the cloth hangs below the middle of the ball at the end.
    corners = [0, 48, 48 * 49, 49 * 49 - 1]
    assert (frames[-1, corners, 2] < 0).all()
