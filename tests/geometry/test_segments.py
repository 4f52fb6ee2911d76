import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from abut.core.jit import INTERPRETED
from abut.geometry.segments import closest_point_segment, closest_point_segment_2d, closest_segment_segment
from oracles import rationals as oracles

FEW = 10 if INTERPRETED else 60
ACCURACY = Fraction(1, 10**12)  # of the extent of all points together


def random(rng):
    return rng.uniform(-1, 1, (4, 3))


def parallel(rng):
    case = rng.integers(-8, 9, (4, 3)).astype(float)
    case[3] = case[2] + rng.integers(-2, 3) * (case[1] - case[0])
    return case


def collinear(rng):
    base, step = rng.integers(-8, 9, (2, 3)).astype(float)
    return base + rng.integers(-4, 5, (4, 1)) * step


def crossing(rng):
    """They have a common point (up to rounding), at an angle of any magnitude."""
    u, v = rng.uniform(-1, 1, (2, 3))
    v = u + v * 2.0 ** -rng.integers(0, 54)
    s, t = rng.random(2)
    return np.array([-s * u, (1 - s) * u, -t * v, (1 - t) * v])


def nearly_parallel(rng):
    """At an angle and a distance of any magnitude."""
    case = crossing(rng)
    case[2:] += rng.uniform(-1, 1, 3) * 2.0 ** -rng.integers(0, 60)
    return case


def zero_length(rng):
    case = rng.uniform(-1, 1, (4, 3))
    case[1] = case[0]
    if rng.random() < 0.3:
        case[3] = case[2]
    return case


def touching(rng):
    case = rng.uniform(-1, 1, (4, 3))
    case[rng.integers(2, 4)] = case[rng.integers(0, 2)]
    return case


def far(rng):
    """Tiny segments at 2²⁰."""
    return 2.0**20 + rng.integers(-64, 65, (4, 3)) * 2.0**-30


def long_and_short(rng):
    case = nearly_parallel(rng)
    case[3] = case[2] + (case[3] - case[2]) * 2.0 ** -rng.integers(10, 60)
    return case


def grid(rng):
    return rng.integers(0, 3, (4, 3)).astype(float)


FAMILIES = [
    random,
    parallel,
    collinear,
    crossing,
    nearly_parallel,
    zero_length,
    touching,
    far,
    long_and_short,
    grid,
]


def cases(family, n, seed=11):
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    return [[tuple(map(float, p)) for p in family(rng)] for _ in range(n)]


def check(found_sq, a, b, size):
    expected = oracles.distance(a, b)
    assert abs(oracles.root(Fraction(found_sq)) - expected) <= ACCURACY * size


def extent(points):
    return Fraction(float(np.ptp(np.array(points), axis=0).max()))


def grain(points):
    """What rounding to doubles may do to a point among these."""
    return 4 * Fraction(math.ulp(float(np.abs(points).max())))


def check_segments(case):
    a0, a1, b0, b1 = case
    s, t, point_a, point_b, distance_sq = closest_segment_segment(a0, a1, b0, b1)
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    check(distance_sq, [a0, a1], [b0, b1], extent(case))
    assert oracles.distance([point_a], [a0, a1]) <= grain(case)
    assert oracles.distance([point_b], [b0, b1]) <= grain(case)
    apart = oracles.distance([point_a], [point_b])
    assert abs(apart - oracles.root(Fraction(distance_sq))) <= ACCURACY * extent(case) + 2 * grain(case)


@pytest.mark.parametrize("family", FAMILIES)
def test_segment_segment(family):
    for case in cases(family, FEW):
        check_segments(case)


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_segment_segment_on_many_cases(family):
    for case in cases(family, 1_000, seed=12):
        check_segments(case)


@pytest.mark.parametrize("family", FAMILIES)
def test_point_segment(family):
    for p, a, b, _ in cases(family, FEW):
        t, point, distance_sq = closest_point_segment(p, a, b)
        assert 0.0 <= t <= 1.0
        check(distance_sq, [p], [a, b], extent([p, a, b]))
        assert oracles.distance([point], [a, b]) <= grain([p, a, b])
        assert abs(oracles.distance([point], [p]) - oracles.distance([p], [a, b])) <= ACCURACY * extent(
            [p, a, b]
        ) + grain([p, a, b])


@pytest.mark.parametrize("family", FAMILIES)
def test_point_segment_2d(family):
    for p, a, b, _ in cases(family, FEW):
        p, a, b = p[:2], a[:2], b[:2]
        t, point, distance_sq = closest_point_segment_2d(p, a, b)
        assert 0.0 <= t <= 1.0
        check(distance_sq, [p], [a, b], extent([p, a, b]))
        assert oracles.distance([point], [a, b]) <= grain([p, a, b])


def test_points_at_the_ends_are_the_ends():
    a, b = (0.1, 0.2, 0.3), (0.4, 0.7, 0.9)
    assert closest_point_segment((9.0, 9.0, 9.0), a, b)[:2] == (1.0, b)
    assert closest_point_segment((-9.0, -9.0, -9.0), a, b)[:2] == (0.0, a)
    assert closest_point_segment(b, a, b) == (1.0, b, 0.0)
    assert closest_point_segment(a, a, b) == (0.0, a, 0.0)
    assert closest_point_segment(b, a, a) == (0.0, a, closest_point_segment(a, b, b)[2])
    assert closest_point_segment_2d(b[:2], a[:2], b[:2]) == (1.0, b[:2], 0.0)
    assert closest_point_segment_2d(b[:2], a[:2], a[:2])[:2] == (0.0, a[:2])


def test_identical_segments_are_at_distance_zero():
    a, b = (0.1, 0.2, 0.3), (0.4, 0.7, 0.9)
    for q in ((a, b), (b, a), (a, a), (b, b)):
        assert closest_segment_segment(a, b, *q)[4] == 0.0


@pytest.mark.parametrize("exponent", [-480, -300, 300, 490])
def test_segments_of_any_magnitude(exponent):
    case = np.array([[0.0, 0, 0], [3, 1, 0], [1, 2, 1], [2, -1, 2]])
    plain = closest_segment_segment(*map(tuple, case.tolist()))
    scaled = closest_segment_segment(*map(tuple, np.ldexp(case, exponent).tolist()))
    assert scaled[:2] == pytest.approx(plain[:2], rel=1e-12)
    assert math.ldexp(math.sqrt(scaled[4]), -exponent) == pytest.approx(math.sqrt(plain[4]), rel=1e-12)


def test_lengths_whose_squares_underflow_give_no_nan():
    for size in (1e-160, 1e-170, 1e-300, 5e-324):
        mixed = closest_segment_segment((0.0, 0.0, 0.0), (size, 0.0, 0.0), (0.0, 1e9, 1e9), (1e9, -1e9, 1e9))
        assert math.sqrt(mixed[4]) == pytest.approx(1e9 * math.sqrt(1.2))
        result = closest_segment_segment((0.0, 0.0, 0.0), (size, 0.0, 0.0), (0.0, size, size), (size, -size, size))
        assert all(map(math.isfinite, (result[0], result[1], *result[2], *result[3], result[4])))


COORDINATES = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))
POINTS = st.tuples(COORDINATES, COORDINATES, COORDINATES)
SMALL_POINTS = st.tuples(*[st.integers(-8, 8).map(float)] * 3)


@given(POINTS, POINTS, POINTS, POINTS)
def test_distance_is_independent_of_order(a0, a1, b0, b1):
    expected = math.sqrt(closest_segment_segment(a0, a1, b0, b1)[4])
    slack = 1e-12 * float(extent([a0, a1, b0, b1]))
    for order in ((b0, b1, a0, a1), (a1, a0, b0, b1), (b1, b0, a1, a0)):
        assert math.sqrt(closest_segment_segment(*order)[4]) == pytest.approx(expected, rel=0, abs=slack)


@given(st.lists(SMALL_POINTS, min_size=4, max_size=4), SMALL_POINTS)
def test_distance_survives_exact_translation(case, offset):
    moved = [tuple(x + 2.0**30 * y for x, y in zip(p, offset, strict=True)) for p in case]
    # Differences are the same numbers, so all else is.
    assert closest_segment_segment(*moved)[:2] == closest_segment_segment(*case)[:2]
    assert closest_segment_segment(*moved)[4] == closest_segment_segment(*case)[4]
