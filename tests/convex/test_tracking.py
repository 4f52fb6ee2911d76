"""Distance, points, normal and depth of hulls: judged from the vertices alone, and in named situations whose answers are known."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut
from abut.convex import APART, EDGE, FACE, OVERLAPPING, TOUCHING, VERTEX, Hull, Hulls, track, track_many
from abut.convex.features.access import invert
from abut.convex.features.exhaustive import find_closest, find_least_depth
from abut.convex.features.walk import closest_points
from abut.convex.hull.tables import open_hulls
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED, kernel
from conftest import SLOW, SOAK
from convex.situations import ball, box, judge, moved, place, pose_of, prism, random_points, random_rotation


def random_pairs(rng, hull_count, count, most):
    points = [random_points(rng, most) for _ in range(hull_count)]
    which = rng.integers(0, hull_count, 2 * count)
    poses = [pose for i, j in which.reshape(-1, 2) for pose in place(rng, points[i], points[j])]
    return [Hull(p) for p in points], which, np.array(poses), np.arange(2 * count).reshape(-1, 2)


def scale_of(hulls, which, poses, row):
    i, j = which[2 * row : 2 * row + 2]
    pair = poses[2 * row : 2 * row + 2]
    return (
        hulls[i].radius + hulls[j].radius + np.abs(pair[:, :3, 3]).max() + np.abs(pair[0, :3, 3] - pair[1, :3, 3]).max()
    )


def check_all(tracks, hulls, which, poses, thorough):
    for row in range(len(tracks)):
        a, b = (moved(poses[k], hulls[which[k]].vertices) for k in (2 * row, 2 * row + 1))
        scale = scale_of(hulls, which, poses, row)
        assert judge(tracks, row, a, b, max(scale, 1e-300), thorough=row < thorough) < 1e-10, row
        sign = np.sign(tracks.distance[row]) if tracks.status[row] != TOUCHING else 0
        assert sign == {APART: 1, TOUCHING: 0, OVERLAPPING: -1}[int(tracks.status[row])]


def test_against_all_vertices(rng):
    """A third of the pairs overlaps and more than a quarter touches or is parallel; no walk has a limit, and none is wrong."""
    hull_count, count, most = (10, 12, 12) if INTERPRETED else (400, 100_000, 2000) if SOAK else (120, 1500, 100)
    hulls, which, poses, pairs = random_pairs(rng, hull_count, count, most)
    tracks = track_many(Hulls(hulls), pairs, poses, which=which)
    if not INTERPRETED:
        assert (np.bincount(tracks.status, minlength=3) > count / 5).all()
    check_all(tracks, hulls, which, poses, thorough=min(count, 10_000 if SOAK else 300))
    assert tracks.exhaustive_count <= 0.02 * count + 1


def test_remembered_features(rng):
    """Walks that start from the features of the last frame find what walks from nothing find, in fewer steps."""
    hulls, which, poses, pairs = random_pairs(rng, 8, 4 if INTERPRETED else 300, 12 if INTERPRETED else 60)
    packed, features, counted = Hulls(hulls), None, [0, 0]
    for frame in range(3 if INTERPRETED else 12):
        warm = track_many(packed, pairs, poses, features, which)
        cold = track_many(packed, pairs, poses, which=which)
        scale = np.array([scale_of(hulls, which, poses, row) for row in range(len(pairs))])
        assert (np.abs(warm.distance - cold.distance) <= 1e-10 * scale).all()
        if frame:
            counted[0] += warm.steps.sum()
            counted[1] += cold.steps.sum()
        features = warm.features
        poses = poses.copy()
        poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(0.02 * rng.normal(size=3)).as_matrix()
        poses[:, :3, 3] += 0.01 * rng.normal(size=(len(poses), 3))
    assert INTERPRETED or counted[0] < 0.7 * counted[1]


@pytest.mark.large
def test_steps_do_not_grow():
    """Under coherent motion the steps of a walk do not follow the number of vertices (Peyré 2001, §3.1), if motion is measured in features."""
    means = []
    for count in (50, 500):
        rng = np.random.default_rng(count)
        hulls = Hulls([Hull(ball(rng, count)) for _ in range(4)])
        angle = 0.2 / np.sqrt(count)  # a tenth of a feature's width a frame
        turning = Rotation.from_rotvec(angle * ball(rng, 200)).as_matrix()
        poses = np.array([pose_of(random_rotation(rng), 3.0 * (k % 2) * ball(rng, 1)[0]) for k in range(200)])
        pairs, which = np.arange(200).reshape(-1, 2), rng.integers(0, 4, 200)
        features, steps = track_many(hulls, pairs, poses, which=which).features, []
        for _ in range(50):
            poses[:, :3, :3] = turning @ poses[:, :3, :3]
            tracks = track_many(hulls, pairs, poses, features, which)
            features = tracks.features
            steps.append(tracks.steps.mean())
        means.append(np.mean(steps))
    assert means[1] == pytest.approx(means[0], rel=0.2)


def at(*translation, turn=None):
    return pose_of(np.eye(3) if turn is None else turn, translation)


def answer(a, b, pose_b):
    result = track(a, b, None, pose_b)
    judged = judge(result, 0, a.vertices, moved(pose_b, b.vertices), a.radius + b.radius + np.abs(pose_b[:3, 3]).max())
    assert judged < 1e-10
    return float(result.distance[0]), int(result.status[0]), result


CUBE = Hull(box(1, 1, 1))


@pytest.mark.parametrize("gap", [0.5, 1e-9, 0.0, -1e-9, -0.25])
def test_parallel_faces(gap):
    distance, _, result = answer(CUBE, CUBE, at(1 + gap, 0.3, 0.2))
    assert distance == pytest.approx(gap, abs=1e-15)
    np.testing.assert_allclose(result.normal[0], [1, 0, 0], atol=1e-15)
    assert answer(CUBE, CUBE, at(1 + gap, 0.0, 0.0))[0] == pytest.approx(gap, abs=1e-15)


def test_touching_vertices_and_edges():
    for pose in (at(1, 1, 1), at(1, 1, 0), at(1, 1, 0.3), at(1, 0, 0)):
        distance, status, _ = answer(CUBE, CUBE, pose)
        assert (abs(distance) < 1e-15, status) == (True, TOUCHING)


def test_containment_and_same_place():
    assert answer(CUBE, CUBE, at(0, 0, 0))[0] == pytest.approx(-1.0)
    small = Hull(box(0.2, 0.2, 0.2))
    distance, status, result = answer(CUBE, small, at(0, 0, 0.3))
    assert (distance, status) == (pytest.approx(-0.3), OVERLAPPING)  # 0.5 − 0.3 to the face, and 0.1 more
    np.testing.assert_allclose(result.normal[0], [0, 0, 1])


def test_crossed_edges():
    turned = (
        Rotation.from_euler("z", 45, degrees=True).as_matrix() @ Rotation.from_euler("x", 45, degrees=True).as_matrix()
    )
    first = Rotation.from_euler("x", 45, degrees=True).as_matrix()
    a = Hull(box(1, 1, 1) @ first.T)  # an edge along x on top
    distance, status, result = answer(a, CUBE, at(0, 0, np.sqrt(2) + 0.1, turn=turned))
    assert (distance, status) == (pytest.approx(0.1), APART)
    assert (result.feature_a[0] & 3, result.feature_b[0] & 3) == (EDGE, EDGE)
    assert answer(a, CUBE, at(0, 0, np.sqrt(2) - 0.1, turn=turned))[0] == pytest.approx(-0.1)


def test_flat_hulls_segments_and_points():
    square, segment, point = Hull(box(1, 1, 0)), Hull([[0, 0, -1], [0, 0, 1]]), Hull([[0, 0, 0]])
    assert answer(CUBE, square, at(0, 0, 1))[0] == pytest.approx(0.5)
    assert answer(CUBE, square, at(0, 0, 0.4))[0] == pytest.approx(-0.1)
    assert answer(square, square, at(0, 0, 0.4))[0] == pytest.approx(0.4)
    assert answer(square, square, at(0.5, 0, 0))[1] == TOUCHING
    assert answer(square, segment, at(0.1, 0.2, 0.7))[0] == pytest.approx(-0.3)
    assert answer(square, segment, at(0.1, 0.2, 1.2))[0] == pytest.approx(0.2)
    assert answer(segment, segment, at(1, 0, 1))[0] == pytest.approx(1.0)
    assert answer(segment, segment, at(0, 0, 3))[0] == pytest.approx(1.0)
    crossed = answer(segment, segment, at(0, 0, 0, turn=Rotation.from_euler("x", 90, degrees=True).as_matrix()))
    assert crossed[1] == TOUCHING
    np.testing.assert_allclose(np.abs(crossed[2].normal[0]), [1, 0, 0], atol=1e-12)
    assert answer(point, point, at(3, 4, 0))[0] == pytest.approx(5.0)
    assert answer(CUBE, point, at(0, 0, 0.4))[0] == pytest.approx(-0.1)
    assert answer(CUBE, point, at(0, 0, 0.5))[1] == TOUCHING
    assert track(point, point).status[0] == TOUCHING


def test_aligned_cylinders_and_prisms():
    """Turned about one axis by multiples of their angle, with edges and faces parallel to rounding: walks must end, and rightly."""
    kinds = [(8, 12)] if SLOW else [(8, 12), (16, 16), (30, 64), (3, 6)]
    for count_a, count_b in kinds:
        a, b = Hull(prism(count_a)), Hull(prism(count_b))
        angles = 2 * np.pi * np.arange(4 if INTERPRETED else 60) / (count_a * count_b)
        poses = [np.eye(4)]
        for angle in angles:
            turn = Rotation.from_euler("z", angle).as_matrix()
            for place_b in ((2.5, 0, 0), (0, 0, 1.5), (0.3, 0, 1.0), (1.7, 0.4, 0.2), (2.5, 0, 1.2)):
                away = Rotation.from_euler("z", 2 * np.pi / count_a).as_matrix() @ place_b
                poses.append(pose_of(turn, away))
        pairs = np.stack([np.zeros(len(poses) - 1, dtype=int), np.arange(1, len(poses))], axis=1)
        which = np.array([0] + [1] * (len(poses) - 1))
        tracks = track_many(Hulls([a, b]), pairs, poses, which=which)
        for row in range(len(tracks)):
            pose = poses[row + 1]
            error = judge(tracks, row, a.vertices, moved(pose, b.vertices), 5.0, thorough=row % 16 == 0)
            assert error < 1e-10, (count_a, count_b, row)


@kernel
def ask_all(handle, starts, frame):
    view = open_hulls(handle)
    a = (starts[0, 0], starts[0, 1], starts[0, 2], starts[1, 0], starts[1, 1], starts[1, 2])
    b = (starts[1, 0], starts[1, 1], starts[1, 2], starts[2, 0], starts[2, 1], starts[2, 2])
    own, other = find_closest(view, a, b, frame, invert(frame))
    p, q = closest_points(view, own, other, frame, invert(frame))
    return p, q, find_least_depth(view, a, b, frame)[0]


def test_trying_all_features(rng):
    """What answers where rounding leaves no proof gives the same distance and depth."""
    for _ in range(3 if INTERPRETED else 150):
        points = [random_points(rng, 8 if INTERPRETED else 40) for _ in range(2)]
        a, b = map(Hull, points)
        pose_a, pose_b = place(rng, *points)
        result, hulls = track(a, b, pose_a, pose_b), Hulls([a, b])
        inverse = np.linalg.inv(pose_a)
        turn = inverse[:3, :3] @ pose_b[:3, :3]
        shift = turn @ b.middle + inverse[:3, :3] @ (pose_b[:3, 3] - pose_a[:3, 3]) - a.middle
        p, q, depth = ask_all(hulls.handle, hulls.starts, (tuple(map(tuple, turn.tolist())), tuple(shift.tolist())))
        if result.distance[0] > 1e-12:
            assert np.linalg.norm(np.subtract(p, q)) == pytest.approx(result.distance[0], abs=1e-12)
        elif result.status[0] == OVERLAPPING:
            assert depth == pytest.approx(-result.distance[0], abs=1e-12)


def test_feature_numbers():
    cube = Hull(box(1, 1, 1))  # unknown so far: remembered features may be others of the same distance
    result = track(cube, cube, None, at(3, 0.2, 0.1))
    assert result.feature_a[0] & 3 in (FACE, VERTEX)
    face = (result.feature_a if result.feature_a[0] & 3 == FACE else result.feature_b)[0] >> 2
    np.testing.assert_allclose(np.abs(CUBE.normals[face]), [1, 0, 0])
    assert len(result) == 1
    assert abut.convex.track is track
    with pytest.raises(ValueError, match="read-only"):
        result.distance[0] = 1.0


def test_bad_input():
    hulls = Hulls([CUBE, CUBE])
    poses = np.tile(np.eye(4), (2, 1, 1))
    with pytest.raises(InvalidInput, match=r"pairs\[0\]: index 2 is not below 2"):
        track_many(hulls, [[0, 2]], poses)
    with pytest.raises(InvalidInput, match=r"which\[1\]: index 5"):
        track_many(hulls, [[0, 1]], poses, which=[0, 5])
    with pytest.raises(InvalidInput, match="which: has 1 rows for 2 poses"):
        track_many(hulls, [[0, 1]], poses, which=[0])
    for features in ([[4 * 8, 0]], [[3, 0]], [[FACE, FACE]]):
        with pytest.raises(InvalidInput, match=r"features\[0\]"):
            track_many(hulls, [[0, 1]], poses, features)
    with pytest.raises(InvalidInput, match="pose_b: is not rigid"):
        track(CUBE, CUBE, None, 2 * np.eye(4))
    poses[1, 0, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"poses\[1\]: is NaN"):
        track_many(hulls, [[0, 1]], poses)
    assert len(track_many(hulls, np.empty((0, 2)), poses[:1])) == 0
