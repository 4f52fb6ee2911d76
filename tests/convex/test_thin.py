"""Thin hulls, from every start: what is remembered changes the cost of an answer, never the answer; and an exact oracle."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from abut.convex import APART, FACE, Hull, Hulls, Overlaps, overlap_many, track_many
from abut.core.jit import INTERPRETED
from conftest import SLOW, SOAK
from convex.situations import ball, box, moved, place, pose_of, prism


def thin_points(rng, thickness):
    """A box, a prism, a lens or a cloud, of about unit size and so thick."""
    kind = rng.integers(0, 4)
    if kind == 0:
        return box(1.0, rng.uniform(0.3, 1.0), thickness)
    if kind == 1:
        return prism(int(rng.integers(3, 12)), 0.7, thickness)
    if kind == 2:
        return ball(rng, int(rng.integers(6, 24))) * (0.7, 0.5, thickness)
    return rng.normal(size=(int(rng.integers(6, 20)), 3)) * (0.5, 0.4, thickness)


def place_thin(rng, points_a, points_b, thickness):
    """Nearly parallel and within some thicknesses of one another, or any placement."""
    if rng.integers(0, 2):
        return place(rng, points_a, points_b)
    turn = Rotation.from_rotvec(rng.normal(size=3) * 10.0 ** rng.uniform(-12, 0)).as_matrix()
    return np.eye(4), pose_of(turn, rng.normal(size=3) * (0.3, 0.3, thickness * rng.uniform(0, 3)))


def features_of(hull):
    counts = len(hull.vertices), len(hull.edges), len(hull.faces)
    return np.concatenate([4 * np.arange(count) + kind for kind, count in enumerate(counts)])


def feature_pairs(rng, hull_a, hull_b, most):
    """All pairs of features but two faces, or `most` of them."""
    pairs = np.stack(np.meshgrid(features_of(hull_a), features_of(hull_b)), axis=-1).reshape(-1, 2)
    pairs = pairs[~((pairs & 3) == FACE).all(axis=1)]
    return pairs[rng.permutation(len(pairs))[:most]]


def distance_sq_in_rationals(a, b):
    """The exact squared distance of the hulls of two arrays of points, 0 where they meet: the point of least norm in the difference (Wolfe 1976).

    Another road than the code's: no features and no rounding, a set of at most four differences and its affine hull, in fractions."""
    points = [tuple(x - y for x, y in zip(p, q, strict=True)) for p in a for q in b]
    dot = lambda p, q: sum(x * y for x, y in zip(p, q, strict=True))  # noqa: E731
    chosen, weights = [min(points, key=lambda p: dot(p, p))], [Fraction(1)]
    while True:
        x = tuple(sum(w * p[k] for w, p in zip(weights, chosen, strict=True)) for k in range(3))
        lowest = min(points, key=lambda p: dot(p, x))
        if dot(x, x) == 0 or dot(lowest, x) >= dot(x, x):
            return dot(x, x)
        chosen, weights = [*chosen, lowest], [*weights, Fraction(0)]
        while True:
            best = affine_minimum(chosen, dot)
            if min(best) >= 0:
                weights = best
                break
            step = min(w / (w - v) for w, v in zip(weights, best, strict=True) if v < 0)
            weights = [w + step * (v - w) for w, v in zip(weights, best, strict=True)]
            kept = [k for k, w in enumerate(weights) if w > 0]
            chosen, weights = [chosen[k] for k in kept], [weights[k] for k in kept]


def affine_minimum(points, dot):
    """Weights, of sum one, of the point of least norm in the affine hull of independent points: Gaussian elimination."""
    n = len(points)
    rows = [[dot(p, q) for q in points] + [Fraction(1), Fraction(0)] for p in points] + [[Fraction(1)] * n + [0, 1]]
    for k in range(n + 1):
        pivot = next(r for r in range(k, n + 1) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(n + 1):
            if r != k and rows[r][k] != 0:
                factor = rows[r][k]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [rows[k][-1] for k in range(n)]


def in_rationals(pose, points):
    """Moved without rounding."""
    exact = [[Fraction(float(x)) for x in row] for row in pose]
    placed = [[Fraction(float(x)) for x in p] for p in points]
    return [[sum(r[k] * p[k] for k in range(3)) + r[3] for r in exact[:3]] for p in placed]


def size_of(hull_a, hull_b, pose_a, pose_b):
    apart = moved(pose_a, hull_a.middle[None])[0] - moved(pose_b, hull_b.middle[None])[0]
    return hull_a.radius + hull_b.radius + np.linalg.norm(apart)


@pytest.mark.parametrize("thickness", [1e-2, 1e-5, 1e-7, 1e-9, 1e-11, 1e-12])
def test_what_is_remembered_changes_no_verdict(thickness):
    """Thin hulls, from every pair of features: the status is that of a start without memory, and so is the distance, to 1e-11 of the size."""
    rng = np.random.default_rng(int(-np.log10(thickness)))
    for _ in range(2 if INTERPRETED else 3000 if SOAK else 60):
        points_a = thin_points(rng, thickness)
        points_b = thin_points(rng, thickness) if rng.integers(0, 2) else box(1, 1, 1)
        hull_a, hull_b = Hull(points_a), Hull(points_b)
        poses = np.array(place_thin(rng, points_a, points_b, thickness))
        features = feature_pairs(rng, hull_a, hull_b, 4 if INTERPRETED else 3000)
        hulls, size = Hulls([hull_a, hull_b]), size_of(hull_a, hull_b, *poses)
        cold = track_many(hulls, [[0, 1]], poses)
        warm = track_many(hulls, np.tile([[0, 1]], (len(features), 1)), poses, features)
        assert (warm.status == cold.status[0]).all()
        assert np.abs(warm.distance - cold.distance[0]).max() <= 1e-11 * size
        back = track_many(hulls, [[1, 0]], poses)
        assert abs(back.distance[0] - cold.distance[0]) <= 2e-11 * size


def test_thin_hulls_in_rationals():
    """The verdict and the distance without memory, against an exact answer."""
    rng = np.random.default_rng(5)
    seen = np.zeros(3, dtype=int)
    for _ in range(3 if SLOW else 1500 if SOAK else 60):
        thickness = 10.0 ** rng.uniform(-12, -2)
        points_a = thin_points(rng, thickness)
        points_b = thin_points(rng, thickness) if rng.integers(0, 2) else box(1, 1, 1)
        hull_a, hull_b = Hull(points_a), Hull(points_b)
        poses = place_thin(rng, points_a, points_b, thickness)
        found = track_many(Hulls([hull_a, hull_b]), [[0, 1]], np.array(poses))
        a, b = in_rationals(poses[0], hull_a.vertices), in_rationals(poses[1], hull_b.vertices)
        exact, size = float(distance_sq_in_rationals(a, b)) ** 0.5, size_of(hull_a, hull_b, *poses)
        assert abs(max(found.distance[0], 0.0) - exact) <= 2e-11 * size
        seen[found.status[0]] += 1
        if exact == 0.0:
            assert found.status[0] != APART
        elif exact > 4e-11 * size:
            assert found.status[0] == APART
    assert SLOW or (seen > 5).all()


@pytest.mark.parametrize("thickness", [1e-2, 1e-5, 1e-8, 1e-11])
def test_a_remembered_proof_changes_no_verdict(thickness):
    """`overlap_many` from any axis and any corners: the answer is that of tracking without memory."""
    rng = np.random.default_rng(int(-np.log10(thickness)))
    count = 4 if INTERPRETED else 400
    for _ in range(1 if INTERPRETED else 1000 if SOAK else 20):
        points = [thin_points(rng, thickness), thin_points(rng, thickness) if rng.integers(0, 2) else box(1, 1, 1)]
        hulls = Hulls([Hull(p) for p in points])
        poses = np.array(place_thin(rng, *points, thickness))
        cold = track_many(hulls, [[0, 1]], poses)
        corners = np.stack([rng.integers(0, len(hull.vertices), (count, 4)) for hull in hulls.hulls], axis=-1)
        axis = ball(rng, count) * rng.integers(0, 2, (count, 1))
        axis[::3] = cold.normal[0] @ poses[0, :3, :3]
        last = Overlaps(np.zeros(count, bool), axis, corners)
        found = overlap_many(hulls, np.tile([[0, 1]], (count, 1)), poses, last)
        assert (found.overlap == (cold.status[0] != APART)).all()
