"""The contour itself: sources, measures, polygons around it, roughness, and what is refused."""

import pickle

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Contour
from abut.contours.curve.rough import refine_control, spline_segments

SQUARE = [(0, 0), (2, 0), (2, 2), (0, 2)]


def wavy(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n) * 2 * np.pi / n
    radius = 1 + 0.3 * rng.uniform(-1, 1, n)
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1)


def sampled(contour, count=400):
    return contour.point(np.arange(len(contour) * count) / count)


def shoelace(p):
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    area = cross.sum() / 2
    centroid = ((p + q) * cross[:, None]).sum(axis=0) / (6 * area)
    second = ((p * p + p * q + q * q).sum(axis=1) * cross).sum() / 12
    return area, centroid, second - area * (centroid**2).sum()


@pytest.mark.parametrize("n", [4, 5, 17])
def test_a_spline_is_smooth_and_measured_as_its_dense_polygon(n):
    contour = Contour(wavy(n))
    ends, starts = contour.segments[:, 3], np.roll(contour.segments[:, 0], -1, axis=0)
    assert (ends == starts).all()
    before = contour.segments[:, 3] - contour.segments[:, 2]
    after = np.roll(contour.segments[:, 1] - contour.segments[:, 0], -1, axis=0)
    np.testing.assert_allclose(before, after, atol=1e-15)
    p = sampled(contour)
    area, centroid, inertia = shoelace(p)
    assert contour.area == pytest.approx(area, rel=1e-5)
    assert contour.inertia == pytest.approx(inertia, rel=1e-5)
    np.testing.assert_allclose(contour.centroid, centroid, atol=1e-5)
    assert contour.length == pytest.approx(np.hypot(*(np.roll(p, -1, axis=0) - p).T).sum(), rel=1e-5)
    assert contour.orientation == 1
    np.testing.assert_allclose(contour.bounds, [p.min(axis=0), p.max(axis=0)], atol=1e-5)
    step = 1e-6
    t = np.linspace(0.1, n - 0.9, 7)
    np.testing.assert_allclose(
        contour.derivative(t), (contour.point(t + step) - contour.point(t - step)) / (2 * step), atol=1e-8
    )


def test_a_polygon_is_exact_and_runs_as_its_corners_do():
    square = Contour.from_polygon([*SQUARE, (0, 0)])
    assert (len(square), square.orientation) == (4, 1)
    assert (square.area, square.length) == pytest.approx((4.0, 8.0), rel=1e-15)
    assert square.centroid.tolist() == pytest.approx([1.0, 1.0], rel=1e-15)
    assert square.inertia == pytest.approx(4 * (4 + 4) / 12)
    assert Contour.from_polygon(SQUARE[::-1]).orientation == -1
    again = pickle.loads(pickle.dumps(square))
    assert (again.segments == square.segments).all()
    assert not again.segments.flags.writeable
    moved = square.moved([[0, -1, 3], [1, 0, 0], [0, 0, 1]])
    assert moved.segments[1, 0].tolist() == [3.0, 2.0]
    with pytest.raises(AttributeError):
        square.name = "other"


def test_flattened_contours_are_near_and_around():
    for n in (5, 12):
        contour = Contour(wavy(n, n))
        for run in (contour, Contour.from_segments(contour.segments[::-1, ::-1])):
            near, around = run.flatten(1e-3), run.flatten(1e-3, outer=True)
            p = sampled(run, 50)
            for polygon in (near, around):
                a, b = polygon, np.roll(polygon, -1, axis=0)
                way = b - a
                t = np.clip(((p[:, None] - a) * way).sum(axis=2) / (way**2).sum(axis=1), 0, 1)
                away = np.linalg.norm(p[:, None] - (a + t[..., None] * way), axis=2)
                assert away.min(axis=1).max() <= 1e-3
            # Each sampled point is inside the polygon around, or on it to rounding.
            a, b = around, np.roll(around, -1, axis=0)
            straddles = (a[:, 1] > p[:, None, 1]) != (b[:, 1] > p[:, None, 1])
            with np.errstate(divide="ignore", invalid="ignore"):
                x = a[:, 0] + (p[:, None, 1] - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
            inside = (straddles & (x > p[:, None, 0])).sum(axis=1) % 2 == 1
            assert (inside | (away.min(axis=1) <= 1e-15)).all()
            assert abs(shoelace(around)[0]) >= run.area >= abs(shoelace(around)[0]) - 1e-3 * run.length


def test_noise_is_reproducible_bounded_and_of_the_stated_deviation():
    control = wavy(32)
    smooth, rough = Contour(control), Contour(control, 0.01, seed=3)
    assert len(rough) == 32 * 8
    assert (rough.segments == Contour(control, np.full(32, 0.01), seed=3).segments).all()
    assert (rough.segments != Contour(control, 0.01, seed=4).segments).any()
    t = np.arange(32 * 80) / 80
    away = np.linalg.norm(rough.point(8 * t) - smooth.point(t), axis=1).reshape(32, 80).max(axis=1)
    assert (away <= rough.deviation).all()
    assert 0.004 < np.sqrt((away**2).mean()) < 0.02
    assert (away > 0.9 * 0.01).mean() > 0.1  # λ = 0.9σ is no bound
    np.testing.assert_allclose(spline_segments(refine_control(control, 2))[::4, 0], smooth.segments[:, 0], atol=1e-15)


def test_fitted_to_points_of_a_spline_it_is_that_spline():
    contour = Contour(wavy(16))
    through = Contour.fit(contour.point(np.arange(16)))
    np.testing.assert_allclose(through.segments, contour.segments, atol=1e-12)
    near = Contour.fit(sampled(contour, 20), 40)
    assert near.area == pytest.approx(contour.area, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Contour([(0, 0), (1, 0), (0, 1)]), "control_points: has 3 rows"),
        (lambda: Contour([(0, 0), (1, np.nan), (0, 1), (1, 1)]), r"control_points\[1\]: is NaN"),
        (lambda: Contour(SQUARE, -1.0), "roughness"),
        (lambda: Contour(SQUARE, [0.1, 0.1, -0.1, 0.1]), r"roughness\[2\]"),
        (lambda: Contour(SQUARE, 0.1, detail=3), "power of two"),
        (lambda: Contour.from_polygon([(0, 0), (1, 1), (1, 1), (0, 0)]), "2 different corners"),
        (lambda: Contour.from_segments([[(0, 0), (1, 0), (2, 0), (3, 0)]]), r"segments\[0\]: ends 3 away"),
        (lambda: Contour(SQUARE).flatten(0.0), "tolerance"),
        (lambda: Contour(SQUARE).moved((0, 0)), "pose"),
        (lambda: Contour(SQUARE).moved([[1, 0, 0], [0, -1, 0], [0, 0, 1]]), "reflection"),
        (lambda: Contour.fit(SQUARE[:3]), "3 different points"),
        (lambda: Contour.fit([(0, 0), (1, 0), (1, 1), (0.5, 5), (0, 1)], 5), "too many"),
    ],
)
def test_bad_contours_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize("away", [0.0, 2.0**20, 2.0**40, -(2.0**48), 2.0**52])
def test_lengths_far_from_the_origin(away):
    """Whole numbers far away say the same curve exactly, and it is as long as at the origin."""
    rng = np.random.default_rng(4)
    corners = rng.integers(-9, 10, (12, 2)) * 3.0
    segments = np.stack(
        [corners, corners + 6.0, np.roll(corners, -1, axis=0) - 3.0, np.roll(corners, -1, axis=0)], axis=1
    )
    near = Contour.from_segments(segments)
    t = np.linspace(0.0, 1.0, 20001)[:, np.newaxis]  # a chord a piece: below the length by less than 1e-6 of it
    chords = 0.0
    for a, b, c, d in segments:
        way = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        chords += np.hypot(*np.diff(way, axis=0).T).sum()
    far = Contour.from_segments(segments + away)
    assert near.length == pytest.approx(chords, rel=1e-6)
    assert far.length == pytest.approx(near.length, rel=1e-12)


def test_a_length_is_found_where_the_curve_is_as_small_as_its_rounding():
    """Control points 1e60 away from the origin are one point, or a few steps of rounding apart."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        far = Contour(1e60 + 1e45 * rng.normal(size=(6, 2)))
        assert 0.0 <= far.length <= 1e48


def test_a_tolerance_below_all_rounding_is_refused():
    disc = Contour([(0, 0), (2, 0), (2, 2), (0, 2)])
    with pytest.raises(InvalidInput, match="tolerance"):
        disc.flatten(1e-300)
    assert len(disc.flatten(1e-6)) < 10_000
