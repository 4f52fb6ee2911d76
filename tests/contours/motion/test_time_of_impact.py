"""When moving contours meet, against the static questions at many times, and against answers in closed form.

The oracle never moves anything: it asks `meets` and `distance` of contours that stand, at dense times and halfway between them."""

from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, contours
from abut.contours import AT_START, CLEAR, IMPACT, Contour, time_of_impact
from abut.core import jit
from conftest import SOAK
from contours.curves import UNIT_SQUARE, wavy

CASES = 6 if jit.INTERPRETED else 3000 if SOAK else 120
SAMPLES = 8 if jit.INTERPRETED else 400
TRIANGLE = Contour.from_polygon([(0, 0), (2, 0), (0, 1)])


def box(width, height, at=(0.0, 0.0)):
    x, y = at
    return Contour.from_polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def disc(radius, at=(0.0, 0.0)):
    x, y, r = *at, radius
    return Contour.from_svg(f"M{x + r} {y}A{r} {r} 0 01{x - r} {y} {r} {r} 0 01{x + r} {y}")


def poses_at(start, end, times):
    return np.asarray(start) + np.multiply.outer(np.asarray(times), np.subtract(end, start))


def relative_poses(pose_a, pose_b):
    """Poses of a as b sees it."""
    x, y = (pose_a - pose_b)[:, :2].T
    c, s = np.cos(pose_b[:, 2]), np.sin(pose_b[:, 2])
    return np.stack([c * x + s * y, c * y - s * x, pose_a[:, 2] - pose_b[:, 2]], axis=1)


def check_by_samples(a, b, motion, found, allowed, min_distance=0.0):
    """The time is not late at any sample, and the contours are as near then as it says."""
    a0, a1, b0, b1 = motion
    until = min(float(found.time[0]), 1.0)
    times = np.linspace(0.0, until, SAMPLES)
    if np.isfinite(found.time[0]):
        times = np.append(times[:-1], until - 1e-9 * np.arange(1, 4))
        times = times[times >= 0.0]
    poses = relative_poses(poses_at(a0, a1, times), poses_at(b0, b1, times))
    gaps = contours.distance(a, b, poses=poses)
    if found.status[0] != AT_START:
        assert (gaps.signed > min_distance).all()
    if found.status[0] != CLEAR:
        now = np.array([found.time[0]])
        pose = relative_poses(poses_at(a0, a1, now), poses_at(b0, b1, now))
        gap = contours.distance(a, b, poses=pose)
        assert gap.signed[0] <= min_distance + allowed
        if found.status[0] == IMPACT:
            assert gap.signed[0] >= min_distance
            assert found.distance.min() == pytest.approx(gap.distance[0], abs=allowed)


def random_contour(rng):
    kind = rng.integers(4)
    if kind == 0:
        return Contour(wavy(int(rng.integers(5, 12)), int(rng.integers(99)), 10.0 ** rng.uniform(-1, 0)))
    if kind == 1:
        return Contour(wavy(6, int(rng.integers(99)), 0.7), 0.02, detail=2, seed=int(rng.integers(99)))
    if kind == 2:
        return box(*rng.uniform(0.1, 2.0, 2), at=rng.uniform(-2, 1, 2))
    return Contour.from_polygon(wavy(int(rng.integers(3, 9)), int(rng.integers(99)), 0.8))


def test_random_motions_meet_when_standing_contours_do():
    rng = np.random.default_rng(8)
    counts = np.zeros(4, int)
    for _ in range(CASES):
        a, b = random_contour(rng), random_contour(rng)
        way, far = rng.uniform(0, 2 * np.pi), rng.uniform(1.0, 5.0)
        start = np.array([far * np.cos(way), far * np.sin(way), rng.uniform(-4, 4)])
        end = np.append(
            start[:2] * rng.uniform(-1.0, 0.6) + rng.normal(0, 1, 2),
            start[2] + rng.choice([0, 0.3, 3, 30]) * rng.normal(),
        )
        b0 = np.append(rng.normal(0, 0.5, 2), rng.uniform(-3, 3))
        b1 = b0 + rng.choice([0.0, 1.0]) * rng.normal(0, 1, 3)
        min_distance = float(rng.choice([0.0, 1e-3, 0.2]))
        tolerance = float(rng.choice([1e-9, 1e-4]))
        found = time_of_impact(a, b, start, end, b0, b1, min_distance=min_distance, tolerance=tolerance)
        counts[found.status[0]] += 1
        check_by_samples(a, b, (start, end, b0, b1), found, tolerance, min_distance)
    assert counts[3] == 0
    if not jit.INTERPRETED:
        assert (counts[:3] > CASES // 20).all(), counts


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 3), Fraction(-2, 7), Fraction(1)])
@pytest.mark.parametrize("fall", [Fraction(3), Fraction(17, 5), Fraction(2)])
def test_polygons_that_are_moved_by_rational_numbers_meet_at_the_rational_time(shift, fall):
    """A square falls by `fall` from 2 above another, moved aside on the way: its lower side reaches y = 1."""
    found = time_of_impact(UNIT_SQUARE, UNIT_SQUARE, (0, 3.0, 0), (float(shift) / 2, 3.0 - float(fall), 0))
    exact = Fraction(2) / fall
    if exact > 1:
        assert found.status[0] == CLEAR
        return
    assert found.status[0] == IMPACT
    assert 0.0 <= exact - Fraction(found.time[0]) <= Fraction(2, 10**11)
    aside = float(shift / 2 * exact)
    # The sides are parallel: both ends of what they have in common are contacts, and there may be one between.
    x, y = found.point.T
    assert (x.min(), x.max()) == pytest.approx((max(0.0, aside), min(1.0, 1.0 + aside)), abs=1e-10)
    np.testing.assert_allclose(y, 1.0, atol=1e-10)
    np.testing.assert_allclose(found.normal, np.tile([0.0, -1.0], (len(x), 1)), atol=1e-12)


@pytest.mark.parametrize("turns", [0.4, 1.0, -7.0])
def test_a_corner_that_turns_meets_a_wall_at_the_angle_that_trigonometry_says(turns):
    """A needle from the origin to (1, 0), turned from ±90°, touches the wall x = cos 0.3 first with its tip."""
    needle = Contour.from_polygon([(0, -1e-3), (1, 0), (0, 1e-3)])
    wall = box(1.0, 8.0, (np.cos(0.3), -4.0))
    start = -np.sign(turns) * np.pi / 2
    found = time_of_impact(needle, wall, (0, 0, start), (0, 0, start + 2 * np.pi * turns))
    exact = (np.pi / 2 - 0.3) / (2 * np.pi * abs(turns))
    assert exact - 1e-9 <= found.time[0] <= exact + 1e-13
    assert found.normal[0] == pytest.approx([1.0, 0.0], abs=1e-6)


def test_discs_meet_when_their_centers_are_as_far_apart_as_their_radii():
    one, two = disc(0.5), disc(0.8)
    rng, count = np.random.default_rng(3), 3 if jit.INTERPRETED else 40
    starts = np.column_stack([rng.uniform(-4, -3, count), rng.uniform(-1, 1, count), rng.uniform(-3, 3, count)])
    ends = np.column_stack([rng.uniform(3, 4, count), rng.uniform(-1, 1, count), rng.uniform(-9, 9, count)])
    found = time_of_impact(one, two, starts, ends, (0, 0, 0.4))
    way = (ends - starts)[:, :2]
    a, b = (way**2).sum(axis=1), (way * starts[:, :2]).sum(axis=1)
    c = (starts[:, :2] ** 2).sum(axis=1) - 1.3**2
    exact = (-b - np.sqrt(b * b - a * c)) / a
    np.testing.assert_allclose(found.time, exact, atol=1e-6)
    first = found.query.searchsorted(np.arange(count))
    centers = starts[:, :2] + found.time[:, np.newaxis] * way
    np.testing.assert_allclose(found.normal[first], -centers / 1.3, atol=1e-3)


@pytest.mark.parametrize(
    ("start", "end", "status", "time"),
    [
        pytest.param((0, 2, 0), (0, 2, 0), CLEAR, np.inf, id="nothing moves"),
        pytest.param((1, 0, 0), (2, 0, 0), AT_START, 0.0, id="touching, on the way apart"),
        pytest.param((1, 1, 0), (0, 2, 0), AT_START, 0.0, id="corner on corner"),
        pytest.param((0.5, 0.5, 0), (9, 9, 0), AT_START, 0.0, id="already overlapping"),
        pytest.param((0, 0, 0), (0, 0, 0), AT_START, 0.0, id="the same place"),
        pytest.param((-1, 1, 0), (1, 1, 0), AT_START, 0.0, id="corner on corner, then sliding"),
        pytest.param((-2, 1, 0), (2, 1, 0), IMPACT, 0.25, id="grazing: side along side"),
        pytest.param((-2, 1 + 1e-6, 0), (2, 1 + 1e-6, 0), CLEAR, np.inf, id="sliding past above"),
        pytest.param((-3, -1, 0), (1, 3, 0), IMPACT, 0.5, id="corner to corner: touches in passing"),
        pytest.param((0, 2, 0), (0, 1, 0), IMPACT, 1.0, id="touching at the very end"),
        pytest.param((0, 2, 0), (0, 1 + 1e-9, 0), CLEAR, np.inf, id="almost there at the end"),
        pytest.param((0, 1e4, 0), (0, -1e4, 0), IMPACT, (1e4 - 1) / 2e4, id="through the other in one step"),
        pytest.param((0, 2.5, 0), (0, 2.5, 400.0), CLEAR, np.inf, id="turning many times, out of reach"),
    ],
)
def test_degenerate_motions(start, end, status, time):
    found = time_of_impact(UNIT_SQUARE, UNIT_SQUARE, start, end)
    assert found.status[0] == status
    assert found.time[0] == pytest.approx(time, abs=1e-10)
    assert found.time[0] <= time
    assert bool(found) == (status != CLEAR) == bool(len(found.query))


def test_a_contour_inside_the_other_meets_at_0_and_a_ring_is_left_from_within():
    small, large = box(0.1, 0.1), box(4.0, 4.0, (-2, -2))
    inside = time_of_impact(small, large, (0, 0, 0), (9, 0, 0))
    assert (inside.status[0], inside.time[0], len(inside.query)) == (AT_START, 0.0, 0)


def test_smooth_contours_that_pass_at_grazing_distance():
    """A disc passes another so that the gap is least, and quadratic in time, halfway: 1e-7 apart, or 1e-7 deep."""
    ball = disc(1.0)
    top = ball.bounds[1, 1] - ball.bounds[0, 1]
    past = time_of_impact(ball, ball, (-3, top + 1e-7, 0), (3, top + 1e-7, 0))
    hit = time_of_impact(ball, ball, (-3, top - 1e-7, 0), (3, top - 1e-7, 0))
    assert past.status[0] == CLEAR
    assert hit.status[0] == IMPACT
    assert 0.49 < hit.time[0] < 0.5
    check_by_samples(ball, ball, ((-3, top - 1e-7, 0), (3, top - 1e-7, 0), (0, 0, 0), (0, 0, 0)), hit, 1e-11)


def test_many_motions_answer_as_one_does_and_a_swap_changes_only_names():
    rng = np.random.default_rng(1)
    count = 3 if jit.INTERPRETED else 90  # more than run on one thread
    a, b = Contour(wavy(7, 1), 0.01, detail=2), TRIANGLE
    ends = [rng.uniform(-2, 2, (count, 3)) + np.array([shift, 0, 0]) for shift in (-4, 0, 2, 0)]
    many = time_of_impact(a, b, *ends)
    swapped = time_of_impact(b, a, *ends[2:], *ends[:2])
    for k in range(0, count, 7):
        one = time_of_impact(a, b, *(end[k] for end in ends))
        assert (one.time[0], one.status[0]) == (many.time[k], many.status[k])
        np.testing.assert_array_equal(one.point, many.point[many.query == k])
    np.testing.assert_array_equal(many.status, swapped.status)
    np.testing.assert_allclose(many.time, swapped.time, atol=1e-8)
    still = time_of_impact(a, b, ends[0][0], ends[1])  # one start for many ends
    assert len(still) == count
    assert len(time_of_impact(a, b, np.empty((0, 3)), np.empty((0, 3)))) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((0, 0, 0), [(0, 0, 0)] * 2, [(0, 0, 0)] * 3), "3 rows for 2"),
        (([(0, 0, 0)] * 2, [(0, 0, 0)] * 3), "3 rows for 2"),
        (((0, 0, 0), (0, 0, np.nan)), "pose_a_t1"),
        (((0, 0, 1e9), (0, 0, 0)), "angle"),
        ((np.eye(3), np.eye(3), None, (0, 0, 0)), "pose_b_t0"),
    ],
)
def test_bad_motions_are_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        time_of_impact(UNIT_SQUARE, TRIANGLE, *arguments)
