import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import triangle_pairs
from abut.core.jit import INTERPRETED, kernel
from abut.geometry.crossings import (
    COPLANAR,
    CROSSING,
    SEPARATE,
    Crossing,
    intersect_ray_triangle,
    intersect_segment_triangle,
    intersect_triangle_triangle,
    meet_ray_triangle,
    meet_segment_segment,
    meet_segment_triangle,
    meet_triangle_triangle,
)
from conftest import SOAK
from oracles import rationals as oracles

FAMILIES = list(triangle_pairs.FAMILIES)
FEW = 8 if INTERPRETED else 40
# A constructed parameter is right to about 2⁻⁴⁶, and a point is rounded to the grid of its coordinates.
PARAMETER_ERROR = Fraction(1, 2**44)


@kernel
def relate_triangles(cases, meets, statuses, ends):
    for i in range(len(cases)):
        c = cases[i]
        a0, a1, a2 = (c[0, 0], c[0, 1], c[0, 2]), (c[1, 0], c[1, 1], c[1, 2]), (c[2, 0], c[2, 1], c[2, 2])
        b0, b1, b2 = (c[3, 0], c[3, 1], c[3, 2]), (c[4, 0], c[4, 1], c[4, 2]), (c[5, 0], c[5, 1], c[5, 2])
        meets[i] = meet_triangle_triangle(a0, a1, a2, b0, b1, b2)
        statuses[i], start, end = intersect_triangle_triangle(a0, a1, a2, b0, b1, b2)
        for k in range(3):
            ends[i, 0, k], ends[i, 1, k] = start[k], end[k]


@kernel
def relate_lines(cases, meets, statuses, parameters, is_ray):
    for i in range(len(cases)):
        c = cases[i]
        p, q = (c[0, 0], c[0, 1], c[0, 2]), (c[1, 0], c[1, 1], c[1, 2])
        a, b, d = (c[2, 0], c[2, 1], c[2, 2]), (c[3, 0], c[3, 1], c[3, 2]), (c[4, 0], c[4, 1], c[4, 2])
        if is_ray:
            meets[i] = meet_ray_triangle(p, q, a, b, d)
            statuses[i], parameters[i], _ = intersect_ray_triangle(p, q, a, b, d)
        else:
            meets[i] = meet_segment_triangle(p, q, a, b, d)
            statuses[i], parameters[i], _ = intersect_segment_triangle(p, q, a, b, d)


def relate(cases):
    n = len(cases)
    meets, statuses, ends = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.zeros((n, 2, 3))
    relate_triangles(np.ascontiguousarray(cases), meets, statuses, ends)
    return meets, statuses, ends


def relate_to_triangle(cases, is_ray):
    n = len(cases)
    meets, statuses, parameters = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.zeros(n)
    relate_lines(np.ascontiguousarray(cases), meets, statuses, parameters, is_ray)
    return meets, statuses, parameters


def lines(family, n):
    """Segments and triangles from the family's triangles: an edge of the one against the other, in turn."""
    cases = triangle_pairs.generate(family, n)
    swapped = np.where((np.arange(n) % 2)[:, None] == 0, [0, 1, 3, 4, 5], [3, 4, 0, 1, 2])
    return np.take_along_axis(cases, swapped[:, :, None], axis=1)


def rays(family, n):
    """Rays from a vertex of the first triangle: along an edge or axis, to or from the other one, or of no direction."""
    cases = triangle_pairs.generate(family, n)
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 8, n)
    direction = cases[:, 1] - cases[:, 0]  # rounded, as a caller's would be
    towards = cases[:, 3] - cases[:, 0]
    direction = np.where((kind == 1)[:, None], towards, direction)
    direction = np.where((kind == 2)[:, None], -towards, direction)
    direction = np.where((kind == 3)[:, None], np.eye(3)[rng.integers(0, 3, n)], direction)
    direction = np.where((kind == 4)[:, None], 0.0, direction)
    return np.concatenate([cases[:, :1], direction[:, None], cases[:, 3:]], axis=1)


def points(case):
    return [tuple(map(float, p)) for p in case]


def tolerance(case):
    size = max(float(np.ptp(case, axis=0).max()), 0.0)
    return PARAMETER_ERROR * Fraction(size) + 4 * Fraction(math.ulp(float(np.abs(case).max())))


def check_triangles(cases, expected):
    rng = np.random.default_rng(3)
    for order in (cases, triangle_pairs.permuted(rng, cases)):
        meets, statuses, ends = relate(order)
        np.testing.assert_array_equal(meets, expected)
        np.testing.assert_array_equal(statuses != SEPARATE, expected)
        assert np.isfinite(ends).all()


# --- the oracles


@pytest.mark.parametrize("family", FAMILIES)
def test_the_two_oracles_agree(family):
    cases = triangle_pairs.generate(family, 4 if INTERPRETED else 12)
    meets = oracles.meet_triangles(oracles.as_integers(cases))
    assert [oracles.meet_triangles_by_hulls(c[:3], c[3:]) for c in cases] == meets.tolist()
    assert [len(oracles.corners(c[:3], c[3:])) > 0 for c in cases] == meets.tolist()


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_the_two_oracles_agree_on_many(family):
    cases = triangle_pairs.generate(family, 500 if SOAK else 20, seed=5)
    meets = oracles.meet_triangles(oracles.as_integers(cases))
    assert [oracles.meet_triangles_by_hulls(c[:3], c[3:]) for c in cases] == meets.tolist()


# --- triangle and triangle


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_triangles_on_100_000_cases(family):
    count = triangle_pairs.FAMILIES[family]
    cases = triangle_pairs.generate(family, count)
    expected = oracles.meet_triangles(oracles.as_integers(cases))
    assert len(cases) == count
    assert 0.01 < expected.mean() < 0.99, "both verdicts must occur"
    check_triangles(cases, expected)


def test_mix_of_the_100_000_cases():
    counts = triangle_pairs.FAMILIES
    assert sum(counts.values()) == 100_000
    general = counts[triangle_pairs.random] + counts[triangle_pairs.huge_and_tiny]
    assert general <= 50_000  # all others touch, share, are coplanar, slivers or without area


@pytest.mark.parametrize("family", FAMILIES)
def test_triangles_on_few_cases(family):
    cases = triangle_pairs.generate(family, FEW, seed=1)
    check_triangles(cases, oracles.meet_triangles(oracles.as_integers(cases)))


def check_ends(case, status, ends):
    """The ends of the reported segment against the exact corners of the intersection."""
    found, slack = oracles.corners(case[:3], case[3:]), tolerance(case)
    start, end = ends
    for point in (start, end):
        assert oracles.distance([point], case[:3]) <= slack
        assert oracles.distance([point], case[3:]) <= slack
    extents = [max(p[k] for p in found) - min(p[k] for p in found) for k in range(3)]
    if status == CROSSING:
        # The intersection is a segment: its ends are the outermost corners along the axis of its largest extent.
        k = extents.index(max(extents))
        low, high = min(found, key=lambda p: p[k]), max(found, key=lambda p: p[k])
        straight = max(oracles.distance([low], [start]), oracles.distance([high], [end]))
        reverse = max(oracles.distance([low], [end]), oracles.distance([high], [start]))
        assert min(straight, reverse) <= slack
    else:
        assert abs(max(abs(Fraction(y) - Fraction(x)) for x, y in zip(start, end, strict=True)) - max(extents)) <= slack


@pytest.mark.parametrize("family", FAMILIES)
def test_intersection_segments_end_at_exact_corners(family):
    cases = triangle_pairs.generate(family, FEW, seed=2)
    _, statuses, ends = relate(cases)
    for i in np.flatnonzero(statuses != SEPARATE):
        check_ends(cases[i], statuses[i], points(ends[i]))


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_intersection_segments_end_at_exact_corners_of_many(family):
    cases = triangle_pairs.generate(family, 3_000 if SOAK else 30, seed=4)
    _, statuses, ends = relate(cases)
    for i in np.flatnonzero(statuses != SEPARATE):
        check_ends(cases[i], statuses[i], points(ends[i]))


@pytest.mark.parametrize("family", FAMILIES)
def test_status_is_coplanar_when_one_plane_holds_both(family):
    cases = triangle_pairs.generate(family, FEW, seed=6)
    _, statuses, _ = relate(cases)
    for case, status in zip(cases, statuses, strict=True):
        if status != SEPARATE:
            quadruples = itertools.combinations([oracles.exact(p) for p in case], 4)
            flat = all(oracles.volume(*q) == 0 for q in quadruples)
            assert (status == COPLANAR) == flat


A = ((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0))
NAMED = {
    "one through the other": (((1, 1, -1), (1, 1, 1), (3, 3, 0)), CROSSING, {(1, 1, 0), (2, 2, 0)}),
    "edge pierces": (((1, 1, -1), (1, 1, 3), (9, 9, 1)), CROSSING, {(1, 1, 0), (2, 2, 0)}),
    "vertex touches inside": (((1, 1, 0), (1, 2, 1), (2, 1, 1)), CROSSING, {(1, 1, 0)}),
    "vertex touches edge": (((2, 0, 0), (2, -1, 1), (3, -1, 1)), CROSSING, {(2, 0, 0)}),
    "vertex touches vertex": (((4, 0, 0), (5, 0, 1), (5, 1, 1)), CROSSING, {(4, 0, 0)}),
    "vertex touches plane outside": (((4, 4, 0), (4, 4, 1), (5, 4, 1)), SEPARATE, None),
    "edge touches inside": (((1, 1, 0), (2, 1, 0), (1, 1, 1)), CROSSING, {(1, 1, 0), (2, 1, 0)}),
    "edge touches vertex": (((4, -1, 0), (4, 1, 0), (4, 0, 1)), CROSSING, {(4, 0, 0)}),
    "edges cross": (((2, -1, 1), (2, 1, -1), (2, -1, -1)), CROSSING, {(2, 0, 0)}),
    "edge shared": (((0, 0, 0), (4, 0, 0), (0, 0, 4)), CROSSING, {(0, 0, 0), (4, 0, 0)}),
    "edge shared in part": (((1, 0, 0), (9, 0, 0), (0, 0, 4)), CROSSING, {(1, 0, 0), (4, 0, 0)}),
    "parallel planes": (((0, 0, 1), (4, 0, 1), (0, 4, 1)), SEPARATE, None),
    "identical": (A, COPLANAR, {(0, 0, 0), (4, 0, 0)}),
    "coplanar, nested": (((1, 1, 0), (2, 1, 0), (1, 1.5, 0)), COPLANAR, {(1, 1, 0), (2, 1, 0)}),
    "coplanar, holding": (((-9, -9, 0), (99, -9, 0), (-9, 99, 0)), COPLANAR, {(0, 0, 0), (4, 0, 0)}),
    "coplanar, edge shared": (((0, 0, 0), (4, 0, 0), (0, -4, 0)), COPLANAR, {(0, 0, 0), (4, 0, 0)}),
    "coplanar, edges touch in part": (((3, 0, 0), (7, 0, 0), (5, -4, 0)), COPLANAR, {(3, 0, 0), (4, 0, 0)}),
    "coplanar, vertex shared": (((4, 0, 0), (8, 0, 0), (8, -4, 0)), COPLANAR, {(4, 0, 0)}),
    "coplanar, vertex on edge": (((2, 0, 0), (1, -4, 0), (3, -4, 0)), COPLANAR, {(2, 0, 0)}),
    "coplanar, a vertex in each": (((1, 1, 0), (9, -2, 0), (9, 2, 0)), COPLANAR, {(1, 1, 0), (4, 0, 0)}),
    "coplanar, apart": (((3, 3, 0), (4, 3, 0), (4, 4, 0)), SEPARATE, None),
    "segment pierces": (((1, 1, -1), (1, 1, 1), (1, 1, 3)), CROSSING, {(1, 1, 0)}),
    "segment ends inside": (((1, 1, 0), (1, 1, 1), (1, 1, 3)), CROSSING, {(1, 1, 0)}),
    "segment stops short": (((1, 1, 1), (1, 1, 2), (1, 1, 3)), SEPARATE, None),
    "segment across, in the plane": (((-1, 1, 0), (9, 1, 0), (2, 1, 0)), COPLANAR, {(0, 1, 0), (3, 1, 0)}),
    "segment along the edge": (((1, 0, 0), (2, 0, 0), (9, 0, 0)), COPLANAR, {(1, 0, 0), (4, 0, 0)}),
    "segment in line with the edge": (((5, 0, 0), (6, 0, 0), (9, 0, 0)), SEPARATE, None),
    "point inside": (((1, 1, 0),) * 3, COPLANAR, {(1, 1, 0)}),
    "point on edge": (((2, 2, 0),) * 3, COPLANAR, {(2, 2, 0)}),
    "point on vertex": (((0, 4, 0),) * 3, COPLANAR, {(0, 4, 0)}),
    "point beside": (((3, 3, 0),) * 3, SEPARATE, None),
    "point above": (((1, 1, 1),) * 3, SEPARATE, None),
}


def floats(triangle):
    return tuple(tuple(float(x) for x in p) for p in triangle)


def rounded(point):
    return tuple(round(x, 12) for x in point)


@pytest.mark.parametrize("name", NAMED)
def test_named_triangles(name):
    b, status, expected = NAMED[name]
    for x, y in ((A, floats(b)), (floats(b), A)):
        for p, q in itertools.product(itertools.permutations(x), itertools.permutations(y)):
            assert meet_triangle_triangle(*p, *q) == (status != SEPARATE)
            found, start, end = intersect_triangle_triangle(*p, *q)
            assert found == status
            if expected is not None:
                assert {rounded(start), rounded(end)} == expected


SEGMENT = ((1.0, 1.0, 1.0), (3.0, 3.0, 3.0), (2.0, 2.0, 2.0))
TWO_SEGMENTS = {
    "cross": (((1, 3, 2), (3, 1, 2), (2, 2, 2)), {(2, 2, 2)}),
    "pass at a distance": (((1, 3, 2.5), (3, 1, 2.5), (2, 2, 2.5)), None),
    "touch at ends": (((3, 3, 3), (4, 0, 0), (3, 3, 3)), {(3, 3, 3)}),
    "overlap": (((2, 2, 2), (5, 5, 5), (4, 4, 4)), {(2, 2, 2), (3, 3, 3)}),
    "in line": (((4, 4, 4), (5, 5, 5), (6, 6, 6)), None),
    "parallel": (((1, 1, 2), (3, 3, 4), (2, 2, 3)), None),
    "a point on it": (((2.5, 2.5, 2.5),) * 3, {(2.5, 2.5, 2.5)}),
    "a point in line": (((0, 0, 0),) * 3, None),
    "a point beside": (((2, 2, 0),) * 3, None),
    "itself": (SEGMENT, {(1, 1, 1), (3, 3, 3)}),
}


@pytest.mark.parametrize("name", TWO_SEGMENTS)
def test_triangles_that_are_two_segments(name):
    b, expected = TWO_SEGMENTS[name]
    b = floats(b)
    for x, y in ((SEGMENT, b), (b, SEGMENT)):
        status, start, end = intersect_triangle_triangle(*x, *y)
        assert status == (SEPARATE if expected is None else COPLANAR)
        assert meet_triangle_triangle(*x, *y) == (expected is not None)
        if expected is not None:
            assert {rounded(start), rounded(end)} == expected
    assert meet_segment_segment(*SEGMENT[:2], *b[:2]) == (expected is not None)


def test_two_points():
    p, q = (0.1, 0.2, 0.3), (0.1, 0.2, math.nextafter(0.3, 1.0))
    assert intersect_triangle_triangle(p, p, p, p, p, p) == (COPLANAR, p, p)
    assert intersect_triangle_triangle(p, p, p, q, q, q)[0] == SEPARATE


@pytest.mark.parametrize("exponent", [-900, -500, -330, 310, 480])
def test_triangles_of_any_magnitude(exponent):
    a = np.array([[0.0, 0, 0], [3, 1, 0], [1, 3, 1]])
    for b in (
        [[1.0, 1, -2], [1, 1, 5], [0, 0, 9]],
        [[2.0, 2, 0.5], [-1, -1, -0.25], [7, 9, 2.0]],
        [[9, 9, 1], [8, 9, 1], [9, 8, 1]],
    ):
        case = np.concatenate([a, np.array(b)])
        status, start, end = intersect_triangle_triangle(*points(case))
        found, far_start, far_end = intersect_triangle_triangle(*points(np.ldexp(case, exponent)))
        assert found == status
        np.testing.assert_allclose(np.ldexp([far_start, far_end], -exponent), [start, end], rtol=1e-13, atol=1e-13)


# --- segment and ray against triangle


def check_lines(cases, expected, is_ray):
    meets, statuses, parameters = relate_to_triangle(cases, is_ray)
    np.testing.assert_array_equal(meets, expected)
    np.testing.assert_array_equal(statuses != SEPARATE, expected)
    assert np.isfinite(parameters).all()
    assert (parameters >= 0).all()
    assert is_ray or (parameters <= 1).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_segments_on_few_cases(family):
    cases = lines(family, FEW)
    check_lines(cases, oracles.meet_segment_triangle(cases), False)


@pytest.mark.parametrize("family", FAMILIES)
def test_rays_on_few_cases(family):
    cases = rays(family, FEW)
    check_lines(cases, oracles.meet_ray_triangle(cases), True)


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_segments_and_rays_on_many_cases(family):
    segments, directed = lines(family, 3_000), rays(family, 3_000)
    expected, expected_rays = oracles.meet_segment_triangle(segments), oracles.meet_ray_triangle(directed)
    for verdicts in (expected, expected_rays):
        assert 0 < verdicts.sum() < len(verdicts), "both verdicts must occur"
    check_lines(segments, expected, False)
    check_lines(directed, expected_rays, True)


@pytest.mark.parametrize("family", FAMILIES)
def test_segments_enter_where_they_should(family):
    cases = lines(family, FEW)
    _, statuses, parameters = relate_to_triangle(cases, False)
    for i in np.flatnonzero(statuses != SEPARATE):
        p, q = oracles.exact(cases[i, 0]), oracles.exact(cases[i, 1])
        entry = min(oracles.distance([p], [x]) for x in oracles.corners(cases[i, :2], cases[i, 2:]))
        assert abs(Fraction(parameters[i]) * oracles.distance([p], [q]) - entry) <= tolerance(cases[i])


@pytest.mark.parametrize("family", FAMILIES)
def test_rays_enter_where_they_should(family):
    cases = rays(family, FEW)
    _, statuses, parameters = relate_to_triangle(cases, True)
    for i in np.flatnonzero(statuses != SEPARATE):
        o, d = oracles.exact(cases[i, 0]), oracles.exact(cases[i, 1])
        t = 2 * Fraction(parameters[i]) + 1
        found = oracles.corners([o, tuple(x + t * y for x, y in zip(o, d, strict=True))], cases[i, 2:])
        entry = min(oracles.distance([o], [x]) for x in found)
        assert abs(Fraction(parameters[i]) * oracles.distance([d], [(0, 0, 0)]) - entry) <= tolerance(
            cases[i, [0, 2, 3, 4]]
        )


RAYS = {
    "down onto it": ((1, 1, 2), (0, 0, -4), CROSSING, 0.5),
    "away from it": ((1, 1, 2), (0, 0, 4), SEPARATE, 0.0),
    "starts on it": ((1, 1, 0), (0, 0, 4), CROSSING, 0.0),
    "starts on its vertex": ((4, 0, 0), (1, 1, 1), CROSSING, 0.0),
    "starts in its plane, beside": ((3, 3, 0), (0, 0, 4), SEPARATE, 0.0),
    "through an edge": ((2, 0, 2), (0, 0, -1), CROSSING, 2.0),
    "through a vertex": ((0, 4, 2), (0, 0, -1), CROSSING, 2.0),
    "past an edge": ((2, -0.25, 2), (0, 0, -1), SEPARATE, 0.0),
    "parallel": ((1, 1, 2), (1, 0, 0), SEPARATE, 0.0),
    "in the plane, towards": ((-1, 1, 0), (2, 0, 0), COPLANAR, 0.5),
    "in the plane, away": ((-1, 1, 0), (-2, 0, 0), SEPARATE, 0.0),
    "in the plane, past": ((-1, 5, 0), (2, 0, 0), SEPARATE, 0.0),
    "in the plane, from inside": ((1, 1, 0), (2, 0, 0), COPLANAR, 0.0),
    "along the edge": ((-2, 0, 0), (1, 0, 0), COPLANAR, 2.0),
    "in the plane, at a vertex": ((5, 1, 0), (-1, -1, 0), COPLANAR, 1.0),
    "no direction, inside": ((1, 1, 0), (0, 0, 0), COPLANAR, 0.0),
    "no direction, above": ((1, 1, 1), (0, 0, 0), SEPARATE, 0.0),
    "no direction, beside": ((3, 3, 0), (0, 0, 0), SEPARATE, 0.0),
}


@pytest.mark.parametrize("name", RAYS)
def test_named_rays(name):
    o, d, status, t = RAYS[name]
    (o, d) = floats((o, d))
    for a, b, c in itertools.permutations(A):
        assert meet_ray_triangle(o, d, a, b, c) == (status != SEPARATE)
        point = tuple(x + t * y for x, y in zip(o, d, strict=True))
        assert intersect_ray_triangle(o, d, a, b, c) == (status, t, point)


def test_rays_against_segments_and_points():
    a, b = (1.0, 1.0, 1.0), (3.0, 3.0, 3.0)
    assert intersect_ray_triangle((0.0, 0.0, 0.0), (2.0, 2.0, 2.0), a, b, a)[:2] == (COPLANAR, 0.5)
    assert intersect_ray_triangle((4.0, 4.0, 4.0), (2.0, 2.0, 2.0), a, b, a)[0] == SEPARATE
    assert intersect_ray_triangle((2.0, 0.0, 2.0), (0.0, 1.0, 0.0), a, b, b)[:2] == (COPLANAR, 2.0)
    assert intersect_ray_triangle((2.0, 0.0, 2.5), (0.0, 1.0, 0.0), a, b, b)[0] == SEPARATE
    assert intersect_ray_triangle((0.0, 0.0, 0.0), (2.0, 2.0, 2.0), a, a, a)[:2] == (COPLANAR, 0.5)
    assert intersect_ray_triangle((0.0, 0.0, 0.0), (2.0, 2.0, 2.5), a, a, a)[0] == SEPARATE
    assert intersect_ray_triangle(a, (0.0, 0.0, 0.0), a, a, a)[0] == COPLANAR


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-200, 1e200])
def test_ray_parameters_stay_finite(tiny):
    triangle = ((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0))
    for o, d in (((1.0, 1.0, 1.0), (0.0, 0.0, -tiny)), ((-1.0, 1.0, 0.0), (tiny, 0.0, 0.0))):
        status, t, point = intersect_ray_triangle(o, d, *triangle)
        assert status != SEPARATE
        assert all(map(math.isfinite, (t, *point)))
        if tiny == 1e-200 or tiny == 1e200:
            np.testing.assert_allclose(t, 1.0 / tiny, rtol=1e-13)


# --- invariances

COORDINATES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3, allow_nan=False),
    st.integers(-2, 2).map(lambda k: 1.0 + k * 2.0**-52),
)
POINTS = st.tuples(COORDINATES, COORDINATES, COORDINATES)
SMALL_POINTS = st.tuples(*[st.integers(-4, 4).map(float)] * 3)


@given(st.lists(POINTS, min_size=6, max_size=6), st.permutations(range(3)), st.permutations(range(3)))
def test_verdict_is_exact_and_independent_of_order(corners, order_a, order_b):
    expected = oracles.meet_triangles(oracles.as_integers(np.array([corners])))[0]
    a, b = [corners[i] for i in order_a], [corners[3 + i] for i in order_b]
    statuses = {intersect_triangle_triangle(*x, *y)[0] for x, y in ((corners[:3], corners[3:]), (a, b), (b, a))}
    assert len(statuses) == 1
    assert (statuses != {SEPARATE}) == expected
    assert meet_triangle_triangle(*a, *b) == meet_triangle_triangle(*b, *a) == expected


@given(st.lists(SMALL_POINTS, min_size=6, max_size=6), SMALL_POINTS)
def test_status_survives_exact_translation(corners, offset):
    moved = [tuple(2.0**30 * y + x for x, y in zip(p, offset, strict=True)) for p in corners]
    assert intersect_triangle_triangle(*corners)[0] == intersect_triangle_triangle(*moved)[0]


@given(st.lists(SMALL_POINTS, min_size=6, max_size=6))
def test_meeting_edges_make_meeting_triangles(corners):
    a, b = corners[:3], corners[3:]
    edges = any(meet_segment_triangle(p, q, *y) for x, y in ((a, b), (b, a)) for p, q in itertools.combinations(x, 2))
    assert meet_triangle_triangle(*a, *b) == edges


def test_constants_are_the_enumeration():
    assert tuple(Crossing) == (SEPARATE, CROSSING, COPLANAR)
