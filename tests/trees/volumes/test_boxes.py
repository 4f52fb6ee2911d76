"""Aligned and oriented boxes: what touches is never separate, and a bound of distance is never above the distance.

Boxes are built so that they touch in one known point P, with a plane between them; P is then made a point of both exactly, in
rational arithmetic, by widening the half lengths to the next double where rounding had left it outside.
"""

from fractions import Fraction

import numba
import numpy as np
import pytest

from abut.core import jit
from abut.trees import volumes
from abut.trees.volumes import Aabb, Obb
from conftest import SOAK
from oracles.rationals import exact, root, solve

SMALL = 60 if jit.INTERPRETED else 1500


def rotations(rng, count):
    frames, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    return frames * np.sign(np.linalg.det(frames))[:, np.newaxis, np.newaxis]


def tilt(rng, frame, angle):
    """A frame turned by about that angle about a random axis."""
    x, y, z = angle * rng.normal(size=3)
    turned = frame @ (np.eye(3) + np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)]))
    q, r = np.linalg.qr(turned)
    return q * np.sign(np.diag(r))


def support(rng, axes, half, n):
    """The offset of a corner farthest along n, or of any point of the edge or face that is."""
    along = axes @ n
    signs = np.where(np.abs(along) > 1e-9, np.sign(along), rng.uniform(-1, 1, 3))
    return (signs * half) @ axes


def touching_pair(rng, case):
    """Two boxes and a unit normal: they touch in a point, all of a behind the plane with that normal, all of b before it."""
    axes_a = np.eye(3) if case % 3 == 0 else rotations(rng, 1)[0]
    near = rng.choice([0.0, 1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 1.0])
    axes_b = tilt(rng, axes_a, near)[rng.permutation(3)]
    axes_b *= np.linalg.det(axes_b)
    half_a, half_b = 10.0 ** rng.uniform(-3, 1, (2, 3))
    if case % 5 == 0:
        half_b[rng.integers(3)] = 0.0  # flat
    i, j = rng.integers(3, size=2)
    normals = (axes_a[i], -axes_b[j], np.cross(axes_a[i], axes_b[j]), rng.normal(size=3))
    n = normals[case % 4]
    length = np.linalg.norm(n)
    n = n / length if length > 0 else axes_a[i]
    scale = 10.0 ** rng.integers(-12, 13)
    point = rng.normal(size=3) * 10.0 ** rng.integers(-2, 4)
    center_a = point - support(rng, axes_a, half_a, n)
    center_b = point - support(rng, axes_b, half_b, -n)
    return [scale * x for x in (center_a, half_a, center_b, half_b, point)], axes_a, axes_b, n


def widen(center, axes, half, point):
    """Half lengths with which the box holds a point given in rationals, exactly."""
    d = [p - c for p, c in zip(point, exact(center), strict=True)]
    wider = half.copy()
    for k in range(3):
        along = abs(sum(x * y for x, y in zip(exact(axes[k]), d, strict=True)))
        while Fraction(wider[k]) < along:
            wider[k] = np.nextafter(max(wider[k], float(along)), np.inf)
    return wider


def stack(rows):
    center, axes, half = (np.array(column) for column in zip(*rows, strict=True))
    return Obb(center, axes, half)


def touching_boxes(rng, count):
    rows_a, rows_b = [], []
    for case in range(count):
        (center_a, half_a, center_b, half_b, point), axes_a, axes_b, _ = touching_pair(rng, case)
        rows_a.append((center_a, axes_a, widen(center_a, axes_a, half_a, exact(point))))
        rows_b.append((center_b, axes_b, widen(center_b, axes_b, half_b, exact(point))))
    return stack(rows_a), stack(rows_b)


def check_touching(a, b):
    assert volumes.overlap_each(a, b).all()
    assert volumes.overlap_each(b, a).all()
    assert not volumes.distance_bound_each(a, b).any()
    assert not volumes.distance_bound_each(b, a).any()


def test_touching_boxes_are_never_separate(rng):
    check_touching(*touching_boxes(rng, SMALL))


@pytest.mark.large
def test_many_touching_boxes_are_never_separate():
    check_touching(*touching_boxes(np.random.default_rng(20000), 20000 if SOAK else 2000))


def test_touching_boxes_under_a_pose(rng):
    """b is given in a frame of its own, with a rotation that is orthonormal up to float32 or to float64."""
    for case in range(SMALL // 3):
        (center_a, half_a, center_b, half_b, point), axes_a, axes_b, _ = touching_pair(rng, case)
        rotation = rotations(rng, 1)[0]
        if case % 2:
            rotation = rotation.astype(np.float32).astype(float)
        size = np.abs(center_b).max()
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation, size * rng.normal(size=3)
        own_center, own_axes = rotation.T @ (center_b - pose[:3, 3]), tilt(rng, axes_b @ rotation, 0.0)
        translation = exact(pose[:3, 3])
        own_point = solve(
            [exact(row) for row in rotation], [p - t for p, t in zip(exact(point), translation, strict=True)]
        )
        a = stack([(center_a, axes_a, widen(center_a, axes_a, half_a, exact(point)))])
        b = stack([(own_center, own_axes, widen(own_center, own_axes, half_b, own_point))])
        frame = volumes.place(pose)
        assert volumes.overlap(a, 0, b, 0, frame)
        assert volumes.overlap(b, 0, a, 0, volumes.inverse(frame))
        assert volumes.distance_bound(a, 0, b, 0, frame) == 0


def test_gaps_along_any_of_the_fifteen_axes_are_found(rng):
    """The test is not only safe: a gap of a millionth of the boxes is seen, and bounded within a thousandth of it."""
    for case in range(SMALL):
        axes_a, axes_b = rotations(rng, 2)
        half_a, half_b = rng.uniform(0.1, 1, (2, 3))
        i, j = rng.integers(3, size=2)
        n = (axes_a[i], -axes_b[j], np.cross(axes_a[i], axes_b[j]))[case % 3]
        n = n / np.linalg.norm(n)
        scale, gap = 10.0 ** rng.integers(-30, 30), 1e-6
        corner_a, corner_b = support(rng, axes_a, half_a, n), gap * n - support(rng, axes_b, half_b, -n)
        a = stack([(-scale * corner_a, axes_a, scale * half_a)])
        b = stack([(scale * corner_b, axes_b, scale * half_b)])
        assert not volumes.overlap_each(a, b).any()
        assert volumes.overlap_each(a, b, volumes.same(1.001 * gap * scale)).all()
        bound = volumes.distance_bound_each(a, b)[0]
        assert bound <= gap * scale * (1 + 1e-9)
        if case % 3 < 2:
            assert bound >= 0.999 * gap * scale


def test_distance_bound_is_not_above_the_distance_of_any_two_points(rng):
    count = SMALL
    a = Obb(rng.normal(size=(count, 3)), rotations(rng, count), rng.uniform(0, 1, (count, 3)))
    b = Obb(4 * rng.normal(size=(count, 3)), rotations(rng, count), rng.uniform(0, 1, (count, 3)))
    bounds = volumes.distance_bound_each(a, b)
    p, q = a.center.copy(), b.center.copy()
    for _ in range(200):  # nearest points in turn: their distance falls to that of the boxes
        p, q = nearest(a, q), nearest(b, p)
    distances = np.linalg.norm(nearest(a, q) - q, axis=1)
    assert (bounds <= distances * (1 + 1e-12) + 1e-12).all()
    assert ((bounds > 0) <= ~volumes.overlap_each(a, b)).all()
    apart = distances > 0.1
    assert apart.sum() > count // 4
    assert np.median(bounds[apart] / distances[apart]) > 0.9  # and it is a useful one


def nearest(boxes, points):
    along = np.einsum("nkj,nj->nk", boxes.axes, points - boxes.center)
    return boxes.center + np.einsum("nk,nkj->nj", np.clip(along, -boxes.half, boxes.half), boxes.axes)


def test_aligned_boxes_exactly(rng):
    count = SMALL
    low = rng.integers(-3, 4, (2, count, 3)).astype(float)
    high = low + rng.integers(0, 3, (2, count, 3))
    shift, scale = 2.0 ** rng.integers(-20, 20, (count, 1)), 2.0 ** rng.integers(-40, 40, (count, 1))
    a, b = (Aabb((lo + shift) * scale, (hi + shift) * scale) for lo, hi in zip(low, high, strict=True))
    found, bounds = volumes.overlap_each(a, b), volumes.distance_bound_each(a, b)
    near = volumes.overlap_each(a, b, volumes.same(1e-3))
    for i in range(count):
        gaps = [
            max(Fraction(b.lo[i, k]) - Fraction(a.hi[i, k]), Fraction(a.lo[i, k]) - Fraction(b.hi[i, k]), Fraction(0))
            for k in range(3)
        ]
        assert found[i] == (max(gaps) == 0)
        assert near[i] == (max(gaps) <= Fraction(1e-3))
        distance_sq = sum(g * g for g in gaps)
        assert Fraction(bounds[i]) ** 2 <= distance_sq
        assert bounds[i] >= float(root(distance_sq)) * (1 - 1e-14)


def test_aligned_boxes_under_a_pose_agree_with_oriented_ones(rng):
    count = SMALL
    a = Aabb(-rng.uniform(0, 1, (count, 3)), rng.uniform(0, 1, (count, 3)))
    b = Aabb(-rng.uniform(0, 1, (count, 3)), rng.uniform(0, 1, (count, 3)))
    oriented = [Obb(0.5 * (v.lo + v.hi), np.tile(np.eye(3), (count, 1, 1)), 0.5 * (v.hi - v.lo)) for v in (a, b)]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotations(rng, 1)[0], (0.7, 0.6, 0.5)
    frame = volumes.place(pose)
    expected = volumes.overlap_each(*oriented, frame)
    assert 0 < expected.sum() < count
    for v, w in ((a, b), (a, oriented[1]), (oriented[0], b)):
        np.testing.assert_array_equal(volumes.overlap_each(v, w, frame), expected)
        np.testing.assert_allclose(
            volumes.distance_bound_each(v, w, frame), volumes.distance_bound_each(*oriented, frame), atol=1e-12
        )


def test_bounds_of_tiny_gaps_do_not_round_up():
    """The square of 1e-162 rounds to more than twice itself."""
    for gap in (5e-324, 1e-310, 1e-162, 1e-155, 1e-100):
        a, b = Aabb(np.zeros((1, 3)), np.zeros((1, 3))), Aabb(np.array([[gap, 0, 0]]), np.array([[gap, 0, 0]]))
        assert not volumes.overlap_each(a, b).any()
        assert volumes.distance_bound_each(a, b)[0] <= gap
        flat = [Obb(v.lo, np.eye(3)[np.newaxis], np.zeros((1, 3))) for v in (a, b)]
        assert volumes.distance_bound_each(*flat)[0] <= gap


@pytest.mark.parametrize("kind", ["aabb", "obb"])
def test_fit_holds_every_vertex_exactly(kind, rng):
    for case in range(SMALL // 5):
        points = rng.normal(size=(6, 3)) * 10.0 ** rng.integers(-8, 9, 3) + rng.normal(size=3) * 10.0 ** rng.integers(
            -8, 9
        )
        if case % 4 == 0:
            points[:] = points[0]
        v = volumes.fit_each(kind, points, np.arange(6).reshape(1, 6))
        for margin in (0.0, 0.1):
            volumes.grow_each(v, margin)
            assert all(holds(v, point) for point in points)
        if kind == "obb":
            sides = np.abs(v.axes[0] @ (points - v.center[0]).T).max(axis=1)
            assert (v.half[0] <= sides + 0.1 + 1e-12 * (1 + sides.sum())).all()  # and no larger than needed


def holds(v, point):
    if isinstance(v, Aabb):
        return (v.lo[0] <= point).all() and (point <= v.hi[0]).all()
    d = [p - c for p, c in zip(exact(point), exact(v.center[0]), strict=True)]
    return all(
        abs(sum(x * y for x, y in zip(exact(v.axes[0, k]), d, strict=True))) <= Fraction(v.half[0, k]) for k in range(3)
    )


@pytest.mark.parametrize("kind", ["aabb", "obb"])
def test_grown_boxes_hold_all_points_within_the_margin(kind, rng):
    for _ in range(20):
        points, margin = rng.normal(size=(4, 3)), 10.0 ** rng.uniform(-3, 1)
        v = volumes.fit_each(kind, points, np.arange(4).reshape(1, 4))
        volumes.grow_each(v, margin)
        for direction in rng.normal(size=(10, 3)):
            step = (1 - 1e-15) * margin * direction / np.linalg.norm(direction)
            assert all(holds(v, point + step) for point in points)


def test_merged_oriented_boxes_hold_both(rng):
    for _ in range(SMALL // 10):
        points = rng.normal(size=(8, 3)) * 10.0 ** rng.integers(-3, 4, (8, 1))
        v = volumes.allocate("obb", 3)
        pair = volumes.fit_each("obb", points, np.arange(8).reshape(2, 4))
        for own, filled in zip(v, pair, strict=True):
            own[1:] = filled
        merge_first(v)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        for i in (1, 2):
            for corner in v.center[i] + (corners * v.half[i]) @ v.axes[i]:
                d = np.abs(v.axes[0] @ (corner - v.center[0]))
                assert (d <= v.half[0] * (1 + 1e-12)).all()
        assert all(holds(v, point) for point in points)


@numba.njit
def merge_first(v):
    volumes.merge(v, 0, 1, 2)


def test_slack_scales_with_the_boxes():
    """Tiny boxes do not always overlap: a gap of 1e-9 of their size is seen at any scale, near the origin."""
    for scale in 10.0 ** np.arange(-200, 70, 10):
        a = stack([(np.zeros(3), np.eye(3), np.full(3, scale))])
        b = stack([(np.array([2 * scale * (1 + 1e-9), 0, 0]), np.eye(3), np.full(3, scale))])
        assert not volumes.overlap_each(a, b).any()
