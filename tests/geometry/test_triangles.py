import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import triangle_pairs
from abut.core.jit import INTERPRETED
from abut.geometry.crossings import meet_segment_triangle, meet_triangle_triangle
from abut.geometry.triangles import closest_point_triangle, closest_segment_triangle, closest_triangle_triangle
from conftest import SOAK
from oracles import rationals as oracles

FAMILIES = list(triangle_pairs.FAMILIES)
FEW = 6 if INTERPRETED else 25
ACCURACY = Fraction(1, 10**12)  # of the extent of all points together


def cases(family, n, seed):
    return [[tuple(map(float, p)) for p in case] for case in triangle_pairs.generate(family, n, seed)]


def extent(points):
    return Fraction(float(np.ptp(np.array(points), axis=0).max()))


def grain(points):
    """What rounding to doubles may do to a point among these."""
    return 8 * Fraction(math.ulp(float(np.abs(points).max())))


def check_weights(weights, point, triangle, slack):
    """The weights are those of the point: not negative, of sum 1."""
    assert min(weights) >= 0.0
    assert sum(weights) == pytest.approx(1.0, rel=1e-15)
    weighted = [sum(Fraction(w) * Fraction(p[k]) for w, p in zip(weights, triangle, strict=True)) for k in range(3)]
    # A sum of weights that is not 1 matters as much as the triangle is far from the origin.
    assert oracles.distance([weighted], [point]) <= slack + 4 * grain(triangle)


def check_point(p, triangle):
    points = [p, *triangle]
    weights, point, distance_sq = closest_point_triangle(p, *triangle)
    expected, slack = oracles.distance([p], triangle), ACCURACY * extent(points)
    assert abs(oracles.root(Fraction(distance_sq)) - expected) <= slack
    assert abs(oracles.distance([p], [point]) - expected) <= slack + grain(points)
    assert oracles.distance([point], triangle) <= slack + grain(points)
    check_weights(weights, point, triangle, slack)


def check_segment(p, q, triangle):
    points = [p, q, *triangle]
    t, weights, point_p, point_a, distance_sq = closest_segment_triangle(p, q, *triangle)
    expected, slack = oracles.distance([p, q], triangle), ACCURACY * extent(points)
    assert abs(oracles.root(Fraction(distance_sq)) - expected) <= slack
    assert 0.0 <= t <= 1.0
    assert oracles.distance([point_p], [p, q]) <= slack + grain(points)
    assert oracles.distance([point_a], triangle) <= slack + grain(points)
    check_weights(weights, point_a, triangle, slack)
    if meet_segment_triangle(p, q, *triangle):
        assert distance_sq == 0.0
        assert point_p == point_a


def check_triangles(a, b):
    points = [*a, *b]
    weights_a, weights_b, point_a, point_b, distance_sq = closest_triangle_triangle(*a, *b)
    expected, slack = oracles.distance(a, b), ACCURACY * extent(points)
    assert abs(oracles.root(Fraction(distance_sq)) - expected) <= slack
    assert abs(oracles.distance([point_a], [point_b]) - expected) <= slack + 2 * grain(points)
    assert oracles.distance([point_a], a) <= slack + grain(points)
    assert oracles.distance([point_b], b) <= slack + grain(points)
    check_weights(weights_a, point_a, a, slack + grain(points))
    check_weights(weights_b, point_b, b, slack + grain(points))
    if meet_triangle_triangle(*a, *b):
        assert distance_sq == 0.0
        assert point_a == point_b


@pytest.mark.parametrize("family", FAMILIES)
def test_point_triangle(family):
    for case in cases(family, FEW, 21):
        check_point(case[3], case[:3])
        check_point(case[0], case[3:])


@pytest.mark.parametrize("family", FAMILIES)
def test_segment_triangle(family):
    for case in cases(family, FEW, 22):
        check_segment(case[3], case[4], case[:3])


@pytest.mark.parametrize("family", FAMILIES)
def test_triangle_triangle(family):
    for case in cases(family, FEW, 23):
        check_triangles(case[:3], case[3:])


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_triangles_on_many_cases(family):
    for case in cases(family, 200 if SOAK else 60, 24):
        check_point(case[3], case[:3])
        check_segment(case[0], case[1], case[3:])
        check_triangles(case[:3], case[3:])


def above_slivers(rng):
    """A point near a sliver of any thinness, inside it or not, at a distance of any magnitude."""
    a, b = rng.uniform(-1, 1, (2, 3))
    across = rng.uniform(-1, 1, 3) * 2.0 ** -rng.integers(0, 54)
    t, weights = rng.uniform(-0.5, 1.5), rng.dirichlet([1, 1, 1])
    c = (1 - t) * a + t * b + across
    p = weights @ np.array([a, b, c]) + rng.uniform(-1, 1, 3) * 2.0 ** -rng.integers(0, 60)
    order = rng.permutation(3)
    return [tuple(map(float, x)) for x in (p, *np.array([a, b, c])[order])]


def test_point_above_slivers():
    rng = np.random.default_rng(31)
    for _ in range(FEW):
        p, *triangle = above_slivers(rng)
        check_point(p, triangle)


@pytest.mark.large
def test_point_above_many_slivers():
    rng = np.random.default_rng(32)
    for _ in range(4_000 if SOAK else 500):
        p, *triangle = above_slivers(rng)
        check_point(p, triangle)


A = ((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0))
POINTS_ABOUT_A = {
    "above the inside": ((1.0, 1.0, 3.0), (1.0, 1.0, 0.0), 9.0),
    "inside": ((1.0, 1.0, 0.0), (1.0, 1.0, 0.0), 0.0),
    "beyond a vertex": ((7.0, 0.0, 4.0), (4.0, 0.0, 0.0), 25.0),
    "beyond an edge": ((4.0, 4.0, 0.0), (2.0, 2.0, 0.0), 8.0),
    "above an edge": ((2.0, 0.0, 5.0), (2.0, 0.0, 0.0), 25.0),
    "on a vertex": ((0.0, 4.0, 0.0), (0.0, 4.0, 0.0), 0.0),
    "on an edge": ((3.0, 1.0, 0.0), (3.0, 1.0, 0.0), 0.0),
}


@pytest.mark.parametrize("name", POINTS_ABOUT_A)
def test_named_points(name):
    p, expected, distance_sq = POINTS_ABOUT_A[name]
    for triangle in itertools.permutations(A):
        weights, point, found_sq = closest_point_triangle(p, *triangle)
        assert point == pytest.approx(expected, abs=1e-15)
        assert found_sq == pytest.approx(distance_sq, abs=1e-15)
        check_weights(weights, point, triangle, Fraction(0))


def test_triangles_without_area():
    p, a, b, c = (1.0, 2.0, 2.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (3.0, 0.0, 0.0)
    for triangle in itertools.permutations((a, b, c)):
        assert closest_point_triangle(p, *triangle)[1:] == ((1.0, 0.0, 0.0), 8.0)
    assert closest_point_triangle(p, a, a, a) == ((1.0, 0.0, 0.0), a, 9.0)
    assert closest_point_triangle(a, a, a, a) == ((1.0, 0.0, 0.0), a, 0.0)
    weights_a, weights_b, point_a, point_b, distance_sq = closest_triangle_triangle(p, p, p, a, b, c)
    assert (point_a, point_b, distance_sq) == (p, (1.0, 0.0, 0.0), 8.0)
    assert weights_a == (1.0, 0.0, 0.0)
    assert sum(weights_b) == 1.0
    assert closest_segment_triangle(p, p, a, b, c)[2:] == (p, (1.0, 0.0, 0.0), 8.0)


NEAREST = {
    "vertex and face": (((1, 1, 2), (1, 1, 9), (2, 1, 9)), 4.0, (1, 1, 0), (1, 1, 2)),
    "edge and edge": (((2, -3, 4), (2, -3, -4), (2, -9, 0)), 9.0, (2, 0, 0), (2, -3, 0)),
    "vertex and vertex": (((5, -1, 0), (9, -1, 0), (9, -1, 1)), 2.0, (4, 0, 0), (5, -1, 0)),
    "vertex and edge, coplanar": (((2, -1, 0), (1, -3, 0), (3, -3, 0)), 1.0, (2, 0, 0), (2, -1, 0)),
    "in parallel planes": (((0, 0, 3), (4, 0, 3), (0, 4, 3)), 9.0, None, None),
    "touching": (((1, 1, 0), (1, 1, 9), (2, 1, 9)), 0.0, (1, 1, 0), (1, 1, 0)),
    "crossing": (((1, 1, -1), (1, 1, 1), (3, 3, 0)), 0.0, (1.5, 1.5, 0), (1.5, 1.5, 0)),
    "identical": (A, 0.0, None, None),
    "nested": (((1, 1, 0), (2, 1, 0), (1, 1.5, 0)), 0.0, (1.5, 1, 0), (1.5, 1, 0)),
}


@pytest.mark.parametrize("name", NEAREST)
def test_named_triangles(name):
    b, distance_sq, nearest_a, nearest_b = NEAREST[name]
    b = tuple(tuple(map(float, p)) for p in b)
    for x, y in itertools.product(itertools.permutations(A), itertools.permutations(b)):
        _, _, point_a, point_b, found_sq = closest_triangle_triangle(*x, *y)
        assert found_sq == distance_sq
        if nearest_a is not None:
            assert point_a == pytest.approx(nearest_a, abs=1e-15)
            assert point_b == pytest.approx(nearest_b, abs=1e-15)


@pytest.mark.parametrize("exponent", [-480, -300, 300, 490])
def test_triangles_of_any_magnitude(exponent):
    case = np.array([[0.0, 0, 0], [3, 1, 0], [1, 3, 1], [2, 2, 5], [4, -1, 3], [2, 2, 9]])
    plain = closest_triangle_triangle(*map(tuple, case.tolist()))
    scaled = closest_triangle_triangle(*map(tuple, np.ldexp(case, exponent).tolist()))
    np.testing.assert_allclose(scaled[:2], plain[:2], rtol=1e-12)
    assert math.ldexp(math.sqrt(scaled[4]), -exponent) == pytest.approx(math.sqrt(plain[4]), rel=1e-12)


COORDINATES = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))
POINTS = st.tuples(COORDINATES, COORDINATES, COORDINATES)
SMALL_POINTS = st.tuples(*[st.integers(-8, 8).map(float)] * 3)


@given(st.lists(POINTS, min_size=6, max_size=6), st.permutations(range(3)), st.permutations(range(3)))
def test_distance_is_independent_of_order(corners, order_a, order_b):
    a, b = corners[:3], corners[3:]
    expected = math.sqrt(closest_triangle_triangle(*a, *b)[4])
    slack = 1e-12 * float(extent(corners))
    a, b = [a[i] for i in order_a], [b[i] for i in order_b]
    assert math.sqrt(closest_triangle_triangle(*a, *b)[4]) == pytest.approx(expected, rel=0, abs=slack)
    assert math.sqrt(closest_triangle_triangle(*b, *a)[4]) == pytest.approx(expected, rel=0, abs=slack)


@given(st.lists(SMALL_POINTS, min_size=6, max_size=6), SMALL_POINTS)
def test_distance_survives_exact_translation(corners, offset):
    moved = [tuple(x + 2.0**30 * y for x, y in zip(p, offset, strict=True)) for p in corners]
    # Differences are the same numbers, so all else is.
    assert closest_triangle_triangle(*moved)[4] == closest_triangle_triangle(*corners)[4]


@given(st.lists(POINTS, min_size=4, max_size=4))
def test_no_vertex_is_nearer_than_the_triangle(corners):
    p, *triangle = corners
    distance_sq = closest_point_triangle(p, *triangle)[2]
    assert all(distance_sq <= oracles.distance_sq([p], [q]) * (1 + Fraction(1, 2**50)) for q in triangle)
