import copy
import pickle

import numpy as np
import pytest

import abut
from abut import Deformable, InvalidInput, Mesh, Pair, Rigid, Unsupported, scenes
from abut.core import jit
from discrete.situations import ball, random_pose, sheet, translation

STEPS = 8 if jit.INTERPRETED else 40


def walk(rng):
    """Poses of a body that comes from far away, goes through another, a little farther each time, and now and then jumps."""
    turn, way = random_pose(rng), rng.normal(size=3)
    poses = []
    for step in range(STEPS):
        pose = turn.copy()
        pose[:3, 3] = way / np.linalg.norm(way) * (4.0 - 6.0 * step / STEPS) + 0.05 * rng.normal(size=3)
        poses.append(random_pose(rng, 1.6) if step % 9 == 8 else pose)
    return poses


@pytest.mark.parametrize("kinds", ["rigid rigid", "rigid deformable", "deformable rigid"])
def test_what_is_remembered_changes_no_answer(kinds):
    """Two pairs that have seen other poses in another order, a fresh pair, and `collide`."""
    rng = np.random.default_rng(len(kinds))
    of_a, of_b = kinds.split()
    meshes = ball(rng, 24), ball(rng, 30) if of_b == "rigid" else sheet(rng, 20)
    a = Rigid(meshes[0]) if of_a == "rigid" else Deformable(meshes[0])
    b = Rigid(meshes[1], random_pose(rng, 0.1)) if of_b == "rigid" else Deformable(meshes[1])
    old, other, answers = Pair(a, b), Pair(a, b), []
    poses = walk(rng)
    for _ in range(2):
        for pose in poses:
            if of_a == "rigid":
                a.pose = pose
            else:
                a.update(meshes[0].vertices @ pose[:3, :3].T + pose[:3, 3])
            expected = bool(abut.collide(a, b, first=True))
            assert old.collides() is expected
            assert Pair(a, b).collides() is expected
            if of_a == "rigid":
                jump = poses[int(rng.integers(len(poses)))]
                assert other.collides(jump) == bool(abut.collide(a, b, poses=[jump]).colliding[0])
                assert old.collides(pose) is expected
            answers.append(expected)
        poses = poses[::-1]
    assert 0 < sum(answers) < len(answers)


def test_the_other_body_moves_too():
    rng = np.random.default_rng(2)
    a, b = Rigid(ball(rng, 20)), Rigid(ball(rng, 20))
    pair = Pair(a, b)
    for pose in walk(rng):
        b.pose = pose
        assert pair.collides() is bool(abut.collide(a, b))
        assert pair.collides(np.eye(4)) is bool(abut.collide(a, b))


def test_one_inside_the_other():
    small, large = Rigid(scenes.icosphere(0, radius=0.1)), Rigid(scenes.box((4.0, 4.0, 4.0)))
    for pair, there in ((Pair(small, large), translation(9, 0, 0)), (Pair(large, small), translation(9, 0, 0))):
        assert pair.collides()
        assert not pair.collides(there)
        assert pair.collides(np.eye(4).tolist())
        assert pair.collides(np.asfortranarray(np.eye(4)))
        assert pair.distance().distance < 0.0
        assert pair.distance(depth=False).distance == 0.0


@pytest.mark.large  # depths take seconds interpreted
def test_a_pair_answers_as_the_functions_do():
    a, b = Rigid(scenes.box()), Rigid(scenes.icosphere(0), translation(1.2, 0.1, 0.0))
    pair = Pair(a, b)
    assert (pair.a, pair.b) == (a, b)
    np.testing.assert_array_equal(pair.collide(margin=0.1).face_b, abut.collide(a, b, margin=0.1).face_b)
    assert len(pair.collide(first=True)) == 1
    assert pair.distance().distance == abut.distance(a, b).distance < 0.0
    assert pair.collides()
    for twin in (pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair)):
        assert twin.collides()
        assert not twin.collides(translation(5.0, 0, 0))
    assert repr(pair).startswith("Pair(Rigid(Mesh(8 vertices, 12 faces)), Rigid(")


@pytest.mark.large
def test_distance_without_depth():
    low = scenes.box()
    gap = abut.distance(low, scenes.box(center=(0.0, 0.0, 1.25)), depth=False)
    assert gap.distance == 0.25
    over = abut.distance(low, scenes.box(center=(0.0, 0.0, 0.75)), depth=False)
    assert over.distance == 0.0
    np.testing.assert_array_equal(over.point_a, over.point_b)
    assert abs(np.linalg.norm(over.separation) - 0.25) < 1e-6  # still there for whom asks
    held = abut.distance(low, scenes.box((4.0, 4.0, 4.0)), depth=False)
    assert held.distance == 0.0


def test_bad_arguments():
    pair = Pair(scenes.box(), scenes.box())
    for bad in (np.eye(3), 2.0 * np.eye(4), np.full((4, 4), np.nan), "pose"):
        with pytest.raises(InvalidInput, match="pose"):
            pair.collides(bad)
    with pytest.raises(Unsupported, match="pose"):
        Pair(Deformable(scenes.box()), scenes.box()).collides(np.eye(4))
    tiny = Mesh(2.0**-110 * scenes.box().vertices, scenes.box().faces)
    with pytest.raises(Unsupported, match="sizes"):
        Pair(tiny, scenes.box())
