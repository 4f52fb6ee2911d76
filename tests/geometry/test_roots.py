"""Enclosures of cubic roots against exact root counts (Sturm sequences in Fractions): no root outside them, ever."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut.core import jit
from abut.geometry import bernstein
from abut.geometry import roots as module
from abut.geometry.enclosures import CERTAIN, CONVERGED, LIMIT, POSSIBLE, Enclosure, append, no_roots
from abut.geometry.roots import enclose_cubic, enclose_cubic_bernstein, enclose_quadratic
from conftest import SOAK

UNIT = 2.0**-53
CASES = 20_000 if SOAK else 150  # of each family in the large test


# ---- the oracle: polynomials as lists of Fractions, lowest power first, without trailing zeros


def trimmed(p):
    while p and p[-1] == 0:
        p = p[:-1]
    return p


def value(p, x):
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def derivative(p):
    return trimmed([i * c for i, c in enumerate(p)][1:])


def divided(p, q):
    """Quotient and remainder."""
    quotient, rest = [Fraction(0)] * max(len(p) - len(q) + 1, 0), list(p)
    for shift in range(len(p) - len(q), -1, -1):
        factor = rest[shift + len(q) - 1] / q[-1]
        quotient[shift] = factor
        for i, c in enumerate(q):
            rest[shift + i] -= factor * c
    return trimmed(quotient), trimmed(rest)


def common_divisor(p, q):
    while q:
        p, q = q, divided(p, q)[1]
    return p


def odd_part(p):
    """The product of the roots of odd multiplicity of a polynomial of degree 3 at most."""
    repeated = common_divisor(p, derivative(p))
    for _ in range({1: 0, 2: 2, 3: 1}[len(repeated)]):  # all simple; one double root; one triple root
        p = divided(p, repeated)[0]
    return p


def sturm_sequence(p):
    sequence = [p, derivative(p)]
    while sequence[-1]:
        sequence.append([-c for c in divided(sequence[-2], sequence[-1])[1]])
    return sequence[:-1]


def root_counter(p):
    """A function (lo, hi) ↦ number of distinct roots of p in the closed interval [lo, hi].

    Multiple roots are divided out first, so that Sturm's theorem holds when an end is a root."""
    sequence = sturm_sequence(divided(p, common_divisor(p, derivative(p)))[0])

    def variations(x):
        signs = [v > 0 for v in (value(q, x) for q in sequence) if v != 0]
        return sum(a != b for a, b in itertools.pairwise(signs))

    def count(lo, hi):
        lo, hi = Fraction(lo), Fraction(hi)
        return variations(lo) - variations(hi) + (value(sequence[0], lo) == 0)

    return count


def from_power(coefficients):
    return trimmed([Fraction(c) for c in coefficients])


def from_bernstein(coefficients):
    b0, b1, b2, b3 = (Fraction(b) for b in coefficients)
    return trimmed([b0, 3 * (b1 - b0), 3 * (b2 - 2 * b1 + b0), b3 - 3 * b2 + 3 * b1 - b0])


def to_bernstein(p):
    c0, c1, c2, c3 = p + [Fraction(0)] * (4 - len(p))
    return [c0, c0 + c1 / 3, c0 + (2 * c1 + c2) / 3, c0 + c1 + c2 + c3]


def product(*factors):
    p = [Fraction(1)]
    for factor in factors:
        longer = [Fraction(0)] * (len(p) + len(factor) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(factor):
                longer[i + j] += a * b
        p = longer
    return p


def with_roots(*values):
    return product(*([-Fraction(r), Fraction(1)] for r in values))


def used(found):
    return [found.first, found.second, found.third][: found.enclosure_count]


def check(found, p, status=CONVERGED):
    """The invariants of the result, and soundness for the exact polynomial p."""
    enclosures = used(found)
    assert found.status == status
    assert all(e == (math.inf, math.inf, POSSIBLE) for e in (found.first, found.second, found.third)[len(enclosures) :])
    ends = [x for e in enclosures for x in (e.lo, e.hi)]
    assert all(0.0 <= x <= 1.0 for x in ends)
    assert all(e.lo <= e.hi for e in enclosures)
    assert all(a.hi < b.lo for a, b in itertools.pairwise(enclosures))
    if not p:
        assert [(e.lo, e.hi) for e in enclosures] == [(0.0, 1.0)]
        return
    count = root_counter(p)
    assert sum(count(e.lo, e.hi) for e in enclosures) == count(0, 1)
    count_odd = root_counter(odd_part(p))
    assert all(count_odd(e.lo, e.hi) >= 1 for e in enclosures if e.kind == CERTAIN)


def check_bernstein(b, error=0.0):
    b = [float(x) for x in b]
    found = enclose_cubic_bernstein(*b, error)
    check(found, from_bernstein(b))
    return found


def check_power(c):
    c = [float(x) for x in c]
    found = enclose_cubic(*c)
    check(found, from_power(c))
    return found


# ---- families of Bernstein coefficients, n rows of 4 floats


def general(rng, n):
    return rng.standard_normal((n, 4))


def three_roots(rng, n):
    return [to_bernstein(with_roots(*r)) for r in rng.uniform(-0.1, 1.1, (n, 3))]


def repeated_roots(rng, n):
    """A double root at a dyadic point and a simple one, or a triple one: exact, as whole multiples of three."""
    rows = []
    for i in range(n):
        a, b = (Fraction(int(k), 64) for k in rng.integers(0, 65, 2))
        rows.append(to_bernstein([3 * c for c in with_roots(a, a, b if i % 2 else a)]))
    return rows


def nearly_tangent(rng, n):
    """A double root, with one coefficient off by up to two units in its last place."""
    rows = np.array(repeated_roots(rng, n), dtype=float)
    for row in rows:
        i = rng.integers(4)
        for _ in range(rng.integers(1, 3)):
            row[i] = np.nextafter(row[i], rng.choice([-np.inf, np.inf]))
    return rows


def clusters(rng, n):
    """Two or three roots 1e-4 to 1e-16 apart."""
    centre = rng.uniform(0.0, 1.0, (n, 1))
    offsets = rng.standard_normal((n, 3)) * 10.0 ** rng.uniform(-16, -4, (n, 1))
    offsets[::2, 2] = rng.uniform(-1.0, 1.0, len(offsets[::2]))
    return [to_bernstein(with_roots(*r)) for r in centre + offsets]


def roots_at_the_ends(rng, n):
    ends = rng.integers(0, 2, (n, 3)).astype(float)
    inner = np.where(rng.random((n, 3)) < 0.5, rng.integers(0, 17, (n, 3)) / 16.0, rng.uniform(0.0, 1.0, (n, 3)))
    inner[:, 0] = ends[:, 0]
    return [to_bernstein([3 * c for c in with_roots(*r)]) for r in inner]


def zero_at_the_ends(rng, n):
    b = rng.integers(-2, 3, (n, 4)).astype(float)
    b[::2] += rng.integers(-2, 3, (len(b[::2]), 4)) * 2.0**-52
    return b


def lower_degree(rng, n):
    """Degree 0, 1 or 2, exactly: dyadic roots; every fourth a random constant."""
    rows = []
    for i in range(n):
        dyadic = [Fraction(int(k), 64) for k in rng.integers(-8, 73, i % 4)]
        factor = 3 * int(rng.integers(-9, 10)) if dyadic else float(rng.standard_normal())
        rows.append(to_bernstein([c * Fraction(factor) for c in with_roots(*dyadic[:2])]))
    return rows


def far_magnitudes(rng, n):
    """Exponents over the whole range of doubles, subnormals included, shared by a row or not."""
    exponent = rng.integers(-1074, 1022, (n, 4))
    exponent[::2] = exponent[::2, :1]
    exponent[::4] += rng.integers(-3, 1, exponent[::4].shape)
    return np.ldexp(rng.uniform(-2.0, 2.0, (n, 4)), exponent)


def flat(rng, n):
    """All coefficients equal, up to a few units in the last place, about zero or not."""
    return rng.choice([0.0, 1.0, -3.0], (n, 1)) + rng.integers(-4, 5, (n, 4)) * 2.0**-53


FAMILIES = [
    general,
    three_roots,
    repeated_roots,
    nearly_tangent,
    clusters,
    roots_at_the_ends,
    zero_at_the_ends,
    lower_degree,
    far_magnitudes,
    flat,
]


def perturbed(rng, b, error):
    """Coefficients within `error` of b, exactly; half the time at the limit."""
    steps = rng.choice([-1.0, 1.0], 4) if rng.random() < 0.5 else rng.uniform(-1.0, 1.0, 4)
    return [Fraction(float(x)) + Fraction(float(s)) * Fraction(error) for x, s in zip(b, steps, strict=True)]


def check_family(rng, family, n):
    for row in family(rng, n):
        b = [float(x) for x in row]
        check_bernstein(b)
        error = max(map(abs, b)) * 10.0 ** rng.uniform(-17, 0.2)
        if math.isfinite(error):
            found = enclose_cubic_bernstein(*b, error)
            for _ in range(2):
                check(found, from_bernstein(perturbed(rng, b, error)))
        check_power(b)  # the same numbers as powers: a cubic as good as any other
        exact = from_bernstein(b) + [Fraction(0)] * 4
        if all(abs(c) < 1e300 for c in exact):
            check_power(exact[:4])


@pytest.mark.parametrize("family", FAMILIES)
def test_no_root_is_lost(rng, family):
    check_family(rng, family, 40)


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES)
def test_no_root_is_lost_in_many_cases(rng, family):
    check_family(rng, family, CASES)


def blossom(b, x, y, z):
    """The symmetric trilinear form of a cubic in Bernstein form; at (t, t, t) its value."""
    for t in map(Fraction, (x, y, z)):
        b = [(1 - t) * p + t * q for p, q in itertools.pairwise(b)]
    return b[0]


@pytest.mark.parametrize("family", [general, three_roots, repeated_roots, roots_at_the_ends, zero_at_the_ends])
def test_rounding_errors_stay_within_their_bounds(rng, family):
    """Values, coefficients on a piece and the change of basis, each against exact arithmetic."""
    for row in family(rng, 60):
        b = tuple(float(x) for x in row)
        exact = [Fraction(x) for x in b]
        bound = Fraction(module.BOUND_CASTELJAU) * max(map(abs, exact))
        lo, hi = sorted(float(x) for x in rng.uniform(0.0, 1.0, 2))
        assert abs(Fraction(module._evaluate(b, lo)[0]) - blossom(exact, lo, lo, lo)) <= bound
        piece = bernstein.restrict(b, lo, hi)
        for i, c in enumerate(piece):
            assert abs(Fraction(c) - blossom(exact, *[lo] * (3 - i), *[hi] * i)) <= bound
        powers, error = module._from_powers(*b)
        for got, want in zip(powers, to_bernstein(exact), strict=True):
            assert abs(Fraction(got) - want) <= Fraction(error)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.tuples(FINITE, FINITE, FINITE, FINITE))
def test_any_finite_coefficients(c):
    check_bernstein(c)
    check_power(c)


NEAR_ZERO = st.sampled_from([0.0, 5e-324, -5e-324, 1e-308, UNIT, -UNIT, 1.0, -1.0, 1.0 - UNIT, 3.0, 1e308, -1e308])


@given(st.tuples(NEAR_ZERO, NEAR_ZERO, NEAR_ZERO, NEAR_ZERO))
def test_extreme_coefficients(c):
    check_bernstein(c)
    check_power(c)


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 4), st.floats(0.0, 2.0), st.tuples(*[st.floats(-1.0, 1.0)] * 4))
def test_any_cubic_within_the_error(b, error, steps):
    found = enclose_cubic_bernstein(*b, error)
    moved = [Fraction(x) + Fraction(s) * Fraction(error) for x, s in zip(b, steps, strict=True)]
    if trimmed(moved):
        check(found, from_bernstein(moved))


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 4))
def test_reversal_and_sign_keep_the_roots_enclosed(b):
    """p(1 − t) and −p(t): the enclosures differ by rounding only, so each meets one of the mirrored ones."""
    found = used(check_bernstein(b))
    negated = used(check_bernstein([-x for x in b]))
    assert negated == found
    reversed_ends = [(1.0 - e.hi, 1.0 - e.lo) for e in used(check_bernstein(b[::-1]))]
    for e in found:
        if e.kind == CERTAIN:
            assert any(lo <= e.hi + UNIT and e.lo <= hi + UNIT for lo, hi in reversed_ends)


# ---- named cases


def test_zero_polynomial_is_possible_everywhere():
    everywhere = [(0.0, 1.0, POSSIBLE)]
    assert used(enclose_cubic(0.0, 0.0, 0.0, 0.0)) == everywhere
    assert used(enclose_quadratic(0.0, -0.0, 0.0)) == everywhere
    assert used(enclose_cubic_bernstein(0.0, 0.0, 0.0, 0.0, 0.0)) == everywhere
    assert used(enclose_cubic_bernstein(1.0, -1.0, 0.5, 1.0, 1.0)) == everywhere


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1.0, 1e300])
def test_constant_has_no_root(scale):
    assert enclose_cubic_bernstein(scale, scale, scale, scale, 0.0) == no_roots()
    assert enclose_cubic(-scale, 0.0, 0.0, 0.0) == no_roots()


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1000, 1.0, 2.0**1000])
def test_scale_does_not_matter(scale):
    b = (-8.0, 24.0, -24.0, 16.0)
    found = check_bernstein([x * scale for x in b])
    assert used(found) == used(check_bernstein(b))
    assert found.first.kind == CERTAIN


def test_triple_root_is_certain():
    (e,) = used(check_bernstein([-0.125, 0.125, -0.125, 0.125]))
    assert e.kind == CERTAIN
    assert e.lo < 0.5 < e.hi
    assert e.hi - e.lo < 2e-5  # (noise/|p‴/6|)^⅓ = 5e-6 on either side


def test_double_root_is_possible():
    (e,) = used(check_bernstein([3.0, -1.0, -1.0, 3.0]))  # 12(t − ½)²
    assert e.kind == POSSIBLE
    assert e.lo < 0.5 < e.hi
    assert e.hi - e.lo < 1e-7  # (2·noise/p″)^½ = 1.5e-8 on either side


def test_double_root_beside_a_simple_one():
    first, second = used(check_power([-0.125, 0.625, -1.0, 0.5]))  # ½(t − ½)²·(t − 1)
    assert first.kind == POSSIBLE
    assert first.lo < 0.5 < first.hi
    assert (second.kind, second.hi) == (POSSIBLE, 1.0)


def test_three_roots_are_told_apart():
    found = check_power([-3 / 32, 11 / 16, -1.5, 1.0])  # roots ¼, ½, ¾
    assert [e.kind for e in used(found)] == [CERTAIN] * 3
    assert all(e.lo < r < e.hi for e, r in zip(used(found), (0.25, 0.5, 0.75), strict=True))


def test_roots_at_the_ends():
    first, second = used(check_power([0.0, -1.0, 1.0, 0.0]))
    assert (first.lo, second.hi) == (0.0, 1.0)
    assert first.kind == second.kind == POSSIBLE


def test_sign_at_an_end_is_exact():
    """The root 1e-30 is far below the noise; the sign at 0 needs no arithmetic."""
    (e,) = used(check_bernstein([-1e-30, 1.0, 1.0, 1.0]))
    assert (e.lo, e.kind) == (0.0, CERTAIN)
    (e,) = used(check_bernstein([1.0, 1.0, 1.0, -1e-30]))
    assert (e.hi, e.kind) == (1.0, CERTAIN)
    assert used(check_bernstein([1e-30, 1.0, 1.0, 1.0])) == []


def test_quadratic_is_a_cubic_without_third_power():
    found = enclose_quadratic(3 / 16, -1.0, 1.0)
    check(found, from_power([3 / 16, -1.0, 1.0]))
    assert found == enclose_cubic(3 / 16, -1.0, 1.0, 0.0)
    assert [e.kind for e in used(found)] == [CERTAIN, CERTAIN]


def test_integers_are_taken_as_doubles():
    assert enclose_cubic(-1, 4, 0, 0) == enclose_cubic(-1.0, 4.0, 0.0, 0.0)


def test_near_miss_and_near_hit_are_told_from_tangency():
    """12(t − ½)² ± a few times the noise: no root, or two."""
    lift = 16.0 * 8.0 * UNIT * 3.0
    assert used(check_bernstein([3.0 + lift, -1.0 + lift, -1.0 + lift, 3.0 + lift])) == []
    found = used(check_bernstein([3.0 - lift, -1.0 - lift, -1.0 - lift, 3.0 - lift]))
    assert [e.kind for e in found] == [CERTAIN, CERTAIN]


@pytest.mark.parametrize("error", [0.0, 1e-12, 1e-6])
def test_simple_roots_get_narrow_enclosures(rng, error):
    """Roots at least 0.1 apart: width at most 3·noise/|p′(r)| + 4u, where the noise is error + 8u·max|b|."""
    for r in rng.uniform(0.02, 0.98, (200, 3)):
        r.sort()
        if min(np.diff(r)) < 0.1:
            continue
        p = with_roots(*r)
        b = [float(x) for x in to_bernstein(p)]
        error = min(error, 1e-3 * max(map(abs, b)))
        found = used(enclose_cubic_bernstein(*b, error))
        noise = error + 8.0 * UNIT * max(map(abs, b))
        assert [e.kind for e in found] == [CERTAIN] * 3
        for e, root in zip(found, r, strict=True):
            slope = abs(float(value(derivative(p), Fraction(float(root)))))
            assert e.hi - e.lo <= 3.0 * noise / slope + 4.0 * UNIT


def test_only_three_enclosures_are_kept():
    """Of four the closest two are joined, and a CERTAIN one stays CERTAIN."""
    places = (0.0, 0.1, 0.3, 0.6)
    for gap in range(3):
        starts = [x - (0.09 if i > gap else 0.0) for i, x in enumerate(places)]
        starts[gap + 1] = starts[gap] + 0.02
        found = no_roots()
        for i, x in enumerate(starts):
            found = append(found, Enclosure(x, x + 0.01, CERTAIN if i == gap else POSSIBLE))
        joined = [(x, x + 0.01, POSSIBLE) for x in starts]
        joined[gap : gap + 2] = [(starts[gap], starts[gap + 1] + 0.01, CERTAIN)]
        assert used(found) == joined


def test_bracket_that_cannot_be_halved():
    b = (-1.0, -0.5, 0.5, 1.0)
    assert module._tighten(b, 0.25, 0.25, 0.25, 8.0 * UNIT) == (0.25, 0.25, True)


@pytest.mark.skipif(not jit.INTERPRETED, reason="compiled code has its limits built in")
@pytest.mark.parametrize("name", ["PIECES", "CROSSING", "DEPTH"])
def test_limits_are_reported_and_sound(rng, monkeypatch, name):
    monkeypatch.setattr(module, name, 2)
    statuses = set()
    for row in [*three_roots(rng, 30), *repeated_roots(rng, 10)]:
        b = [float(x) for x in row]
        found = enclose_cubic_bernstein(*b, 0.0)
        check(found, from_bernstein(b), found.status)
        statuses.add(found.status)
    assert LIMIT in statuses
