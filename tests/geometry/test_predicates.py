"""Orientation signs against `fractions.Fraction`: not one wrong sign, wherever the points lie."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut.core import jit
from abut.geometry.predicates import (
    _orient_2d_exact,
    _orient_2d_wide,
    _orient_3d_exact,
    _orient_3d_wide,
    orient_2d,
    orient_3d,
    orient_differences_2d,
    orient_direction,
)
from conftest import SOAK
from oracles.rationals import as_integers

CASES = 1_000_000  # for each of orient_2d and orient_3d; `make soak` asks Fractions about all of them
BY_FRACTIONS = 62_500 if SOAK else 2_500  # of each chunk
CHUNKS = 16


def exact_sign(rows) -> int:
    """Sign of a determinant of Fractions, by cofactors."""

    def det(m):
        if len(m) == 1:
            return m[0][0]
        return sum(
            (-1) ** j * m[0][j] * det([r[:j] + r[j + 1 :] for r in m[1:]]) for j in range(len(m)) if m[0][j] != 0
        )

    value = det(rows)
    return (value > 0) - (value < 0)


def exact_orient(points) -> int:
    a, *others = [[Fraction(x) for x in p] for p in points]
    return exact_sign([[x - y for x, y in zip(p, a, strict=True)] for p in others])


@jit.kernel
def orient_2d_batch(p, out):
    for i in range(len(p)):
        out[i] = orient_2d((p[i, 0, 0], p[i, 0, 1]), (p[i, 1, 0], p[i, 1, 1]), (p[i, 2, 0], p[i, 2, 1]))


@jit.kernel
def orient_3d_batch(p, out):
    for i in range(len(p)):
        out[i] = orient_3d(
            (p[i, 0, 0], p[i, 0, 1], p[i, 0, 2]),
            (p[i, 1, 0], p[i, 1, 1], p[i, 1, 2]),
            (p[i, 2, 0], p[i, 2, 1], p[i, 2, 2]),
            (p[i, 3, 0], p[i, 3, 1], p[i, 3, 2]),
        )


# ---- families of points, each (n, dim + 1, dim)


def general(rng, n, dim):
    return rng.standard_normal((n, dim + 1, dim))


def tiny_grid_about_a_hyperplane(rng, n, dim):
    """Points a few units of 2⁻⁵² off the diagonal hyperplane."""
    base = rng.choice([0.5, 1.0, 12.0, 24.0], size=(n, dim + 1, 1))
    return base + rng.integers(-2, 3, size=(n, dim + 1, dim)) * 2.0**-52


def nearly_dependent(rng, n, dim):
    """The last point is a combination of the others, rounded: off the hyperplane by rounding alone."""
    p = rng.standard_normal((n, dim + 1, dim))
    weights = rng.standard_normal((n, dim))
    weights /= weights.sum(axis=1, keepdims=True)
    p[:, dim] = np.einsum("ni,nij->nj", weights, p[:, :dim])
    return np.where(np.isfinite(p), p, 0.0)


def mixed_magnitudes(rng, n, dim):
    """Exponents over the whole range of doubles, subnormals included."""
    mantissa = rng.integers(-3, 4, size=(n, dim + 1, dim)) + rng.integers(0, 2, size=(n, dim + 1, dim)) * 2.0**-50
    return np.ldexp(mantissa, rng.integers(-1074, 1021, size=(n, dim + 1, dim)))


def mixed_magnitudes_by_axis(rng, n, dim):
    """A small integer grid whose axes are stretched by powers of two from 2⁻¹⁰⁰⁰ to 2⁺¹⁰⁰⁰: many exact zeros, far out of range."""
    p = rng.integers(-2, 3, size=(n, dim + 1, dim)).astype(float)
    return np.ldexp(p, rng.integers(-1000, 1001, size=(n, 1, dim)))


def exact_zeros(rng, n, dim):
    """Points exactly on a common hyperplane: whole combinations of whole vectors, times a power of two; a tenth repeated points."""
    spans = rng.integers(-(2**20), 2**20, size=(n, dim - 1, dim))
    weights = rng.integers(-(2**10), 2**10, size=(n, dim + 1, dim - 1))
    p = (np.einsum("nki,nij->nkj", weights, spans) + rng.integers(-(2**20), 2**20, size=(n, 1, dim))).astype(float)
    p[: n // 10, -1] = p[: n // 10, 0]
    return np.ldexp(p, rng.integers(-60, 60, size=(n, 1, 1)))


def decimal_grid(rng, n, dim):
    """Multiples of 0.1: equal on paper, not in binary."""
    return rng.integers(-4, 5, size=(n, dim + 1, dim)) * 0.1


ADVERSARIAL = [
    tiny_grid_about_a_hyperplane,
    nearly_dependent,
    mixed_magnitudes,
    mixed_magnitudes_by_axis,
    exact_zeros,
    decimal_grid,
]
BATCH = {2: orient_2d_batch, 3: orient_3d_batch}


def signs_in_integers(points, dim):
    """Signs of many determinants at once: the same differences and cofactors, in integers."""
    rows = as_integers(points)
    rows = rows[:, 1:] - rows[:, :1]
    if dim == 2:
        value = rows[:, 0, 0] * rows[:, 1, 1] - rows[:, 0, 1] * rows[:, 1, 0]
    else:
        (a, b, c), (d, e, f), (g, h, i) = (tuple(row.T) for row in rows.transpose(1, 0, 2))
        value = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return ((value > 0).astype(np.int64) - (value < 0)).tolist()


def check_many(points, dim, by_fractions):
    """Compare every sign with integers, and the first `by_fractions` with Fractions."""
    out = np.empty(len(points), dtype=np.int64)
    BATCH[dim](points, out)
    expected = signs_in_integers(points, dim)
    assert expected[:by_fractions] == [exact_orient(p) for p in points[:by_fractions].tolist()]
    wrong = np.flatnonzero(out != expected)
    assert wrong.size == 0, f"{wrong.size} wrong signs, the first for {points[wrong[0]].tolist()}"


def check(points, dim):
    """Compare every sign with Fractions; how many were −, 0, +."""
    out = np.empty(len(points), dtype=np.int64)
    BATCH[dim](points, out)
    expected = [exact_orient(p) for p in points.tolist()]
    wrong = np.flatnonzero(out != expected)
    assert wrong.size == 0, f"{wrong.size} wrong signs, the first for {points[wrong[0]].tolist()}"
    return [expected.count(s) for s in (-1, 0, 1)]


@pytest.mark.large
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_million_signs(chunk, dim):
    """Half general position, half adversarial, seeded."""
    rng = np.random.default_rng([chunk, dim])
    half = CASES // CHUNKS // 2
    check_many(general(rng, half, dim), dim, BY_FRACTIONS // 2)
    each = -(-half // len(ADVERSARIAL))
    for family in ADVERSARIAL:
        check_many(family(rng, each, dim), dim, BY_FRACTIONS // 2 // len(ADVERSARIAL))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("family", [general, *ADVERSARIAL])
def test_signs_of_each_family(family, dim, rng):
    negative, zero, positive = check(family(rng, 300, dim), dim)
    if family is exact_zeros:
        assert (negative, zero, positive) == (0, 300, 0)
    else:
        assert negative > 0
        assert positive > 0


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1000, 2.0**-340, 1.0, 2.0**340, 2.0**1020])
def test_unit_simplex_at_every_scale(scale):
    o, x, y, z = (0.0, 0.0, 0.0), (scale, 0.0, 0.0), (0.0, scale, 0.0), (0.0, 0.0, scale)
    assert orient_3d(o, x, y, z) == 1
    assert orient_3d(o, y, x, z) == -1
    assert orient_3d(o, x, y, (scale, scale, 0.0)) == 0
    assert orient_2d(o[:2], x[:2], y[:2]) == 1
    assert orient_2d(o[:2], y[:2], x[:2]) == -1
    assert orient_2d(o[:2], x[:2], (-scale, 0.0)) == 0


def test_differences_that_overflow():
    big = 1.7e308
    assert orient_2d((-big, -big), (big, big), (-big, big)) == 1
    assert orient_2d((-big, -big), (big, big), (0.0, 0.0)) == 0
    assert orient_3d((-big, 0.0, 0.0), (big, 0.0, 0.0), (0.0, big, 0.0), (0.0, 0.0, 5e-324)) == 1


def test_identical_points_are_degenerate():
    p, q = (0.1, 0.2, 0.3), (0.7, -0.1, 0.4)
    assert orient_3d(p, p, q, (1.0, 2.0, 3.0)) == 0
    assert orient_2d(p[:2], p[:2], q[:2]) == 0


def test_integers_are_accepted():
    assert orient_2d((0, 0), (1, 0), (0, 1)) == 1
    assert orient_3d((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -1)) == -1
    assert orient_2d((0, 0), (3, 3), (2**52 + 1, 2**52 + 1)) == 0


finite = st.floats(allow_nan=False, allow_infinity=False)
point_2d = st.tuples(finite, finite)
point_3d = st.tuples(finite, finite, finite)


@given(point_2d, point_2d, point_2d)
def test_every_stage_agrees_in_the_plane(a, b, c):
    expected = exact_orient([a, b, c])
    assert orient_2d(a, b, c) == orient_2d(b, c, a) == -orient_2d(b, a, c) == expected
    assert _orient_2d_exact(a, b, c) == _orient_2d_wide(a, b, c) == expected


@given(point_3d, point_3d, point_3d, point_3d)
def test_every_stage_agrees_in_space(a, b, c, d):
    expected = exact_orient([a, b, c, d])
    assert orient_3d(a, b, c, d) == -orient_3d(b, a, c, d) == -orient_3d(a, b, d, c) == expected
    assert _orient_3d_exact(a, b, c, d) == _orient_3d_wide(a, b, c, d) == expected


def exact_orient_direction(d, a, b, p):
    d, a, b, p = ([Fraction(x) for x in v] for v in (d, a, b, p))
    return exact_sign([d, [x - y for x, y in zip(a, p, strict=True)], [x - y for x, y in zip(b, p, strict=True)]])


@given(point_3d, point_3d, point_3d, point_3d)
def test_orient_direction(d, a, b, p):
    assert orient_direction(d, a, b, p) == -orient_direction(d, b, a, p) == exact_orient_direction(d, a, b, p)


small = st.integers(-2, 2).map(lambda k: 0.1 * k)


@given(st.tuples(small, small, small), st.tuples(small, small, small), st.tuples(small, small, small))
def test_orient_direction_degenerate(d, a, b):
    p = (0.1, 0.2, -0.1)
    assert orient_direction(d, a, b, p) == exact_orient_direction(d, a, b, p)
    assert orient_direction((0.0, 0.0, 0.0), a, b, p) == 0
    assert orient_direction(d, a, a, p) == 0


def test_the_plain_determinant_is_wrong_where_ours_is_right(rng):
    """The families are hard: the determinant in doubles gets many of these signs wrong."""
    points = tiny_grid_about_a_hyperplane(rng, 2000, 2)
    u, v = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    plain = np.sign(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    out = np.empty(len(points), dtype=np.int64)
    orient_2d_batch(points, out)
    assert np.count_nonzero(plain != out) > 100


@pytest.mark.parametrize("exponent", [0, -30, -280, 280, -1000, 240])
def test_the_turn_between_two_differences(exponent):
    """Random, on a grid, parallel, and with differences that double precision rounds."""
    rng = np.random.default_rng(exponent + 2000)
    for case in range(60):
        p, q, a, b = rng.normal(size=(4, 2)) if case % 3 == 0 else rng.integers(-3, 4, (4, 2)).astype(float)
        if case % 3 == 2:
            b = a + rng.integers(-2, 3) * (q - p) + (rng.integers(-1, 2) * 2.0**-50 if case % 2 else 0.0)
            p, q = p + 2.0**-20, q + 2.0**-20
        p, q, a, b = np.ldexp([p, q, a, b], exponent).tolist()
        u = [Fraction(y) - Fraction(x) for x, y in zip(p, q, strict=True)]
        v = [Fraction(y) - Fraction(x) for x, y in zip(a, b, strict=True)]
        expected = u[0] * v[1] - u[1] * v[0]
        found = orient_differences_2d(tuple(p), tuple(q), tuple(a), tuple(b))
        assert found == (expected > 0) - (expected < 0)
