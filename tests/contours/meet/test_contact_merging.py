"""Contacts of contours against halving in extended precision: none missed, none invented, each once, where they are."""

import numpy as np
import pytest

from abut import contours
from abut.contours import Contour
from abut.contours.curve.rough import refine_control
from abut.contours.meet.views import MEETING
from abut.core import jit
from conftest import SOAK
from oracles.contours import clusters, surviving

LEVELS = 42
CLOSE = 1e-10
"""Of the size: how near a crossing must be to where the oracle has it."""
PLAIN = 1e-4
"""Sine of the angle of a crossing above which its place is well determined."""


def star(rng, n):
    t = np.arange(n) * 2 * np.pi / n
    radius = 1 + 0.35 * rng.normal(size=n).clip(-2, 2)
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1)


def circle(n, radius=1.0):
    t = np.arange(n) * 2 * np.pi / n
    return radius * np.stack([np.cos(t), np.sin(t)], axis=1)


def random_pair(rng):
    a, b = Contour(star(rng, int(rng.integers(4, 11)))), Contour(star(rng, int(rng.integers(4, 11))))
    return a.moved((*rng.uniform(-1.2, 1.2, 2), rng.uniform(0, 7))), b


def tangled_pair(rng):
    """Contours that cross themselves."""
    return Contour(rng.normal(size=(int(rng.integers(5, 8)), 2))), Contour(
        rng.normal(size=(int(rng.integers(5, 8)), 2))
    )


def grid_pair(rng):
    """Polygons with corners on a small grid: corners on corners, corners on edges, edges on edges."""

    def polygon():
        while True:
            corners = rng.integers(0, 4, (int(rng.integers(3, 6)), 2))
            if len(np.unique(corners, axis=0)) == len(corners):
                return Contour.from_polygon(corners)

    return polygon(), polygon()


def touching_pair(rng):
    """Smooth contours with parallel tangents at one point in common, to rounding."""
    a, b = Contour(star(rng, 8)), Contour(star(rng, 7))
    (s,), (t,) = rng.uniform(0, 8, 1), rng.uniform(0, 7, 1)
    da, db = a.derivative([s])[0], b.derivative([t])[0]
    angle = np.arctan2(db[1], db[0]) - np.arctan2(da[1], da[0]) + np.pi
    turned = a.moved((0.0, 0.0, angle))
    return turned.moved((*(b.point([t])[0] - turned.point([s])[0]), 0.0)), b


def sharing_pair(rng):
    """The same curve cut differently, with a bump somewhere else."""
    control = star(rng, 7)
    fine = refine_control(control, 1)
    fine[int(rng.integers(14))] *= 1.2
    return Contour(control), Contour(fine)


def cusped_pair(rng):
    """Cusps and corners: cubics whose derivative vanishes, against lines and against one another."""

    def contour():
        x, y, w = (float(v) for v in rng.integers((-2, -2, 3), (3, 3, 8)))
        cusp = [(x, y), (x + w, y + 2), (x, y + 2), (x + w, y)]  # its middle is a cusp
        back = [cusp[3], (x + w - 1, y - 3), (x + 1, y - 3), cusp[0]]
        return Contour.from_segments([cusp, back])

    return contour(), contour()


def petals_pair(rng):
    """Contours that pass one point several times, crossing and touching themselves and one another there, with common tangents too."""

    def contour():
        ways = rng.integers(-2, 3, (int(rng.integers(2, 4)), 2, 2)).astype(float)
        return Contour.from_segments([[(0, 0), p, q, (0, 0)] for p, q in ways.tolist()])

    return contour().moved((*rng.integers(0, 2, 2) * (rng.random() < 0.2), 0.0)), contour()


FAMILIES = (random_pair, tangled_pair, grid_pair, touching_pair, sharing_pair, cusped_pair, petals_pair)


def cyclic(x, period):
    return np.abs((x + period / 2) % period - period / 2)


def reaches(found, group, counts, slack):
    """Whether a contact, from beginning to end, comes within `slack` (parameters) of a group of cells on both curves."""

    def gap(values, begin, end, period, ordered):
        lo, hi = (
            (begin, end) if ordered else sorted((begin, begin + ((end - begin + period / 2) % period - period / 2)))
        )
        middle, half = 0.5 * (lo + hi), 0.5 * (hi - lo)
        return np.maximum(cyclic(values - middle, period) - half, 0.0)

    near_a = gap(group[:, 0], *found[0], counts[0], True)
    near_b = gap(group[:, 1], *found[1], counts[1], False)
    whole = found[0][1] - found[0][0] >= 0.5  # of a long stretch only the place on a is compared
    return bool(((near_a <= slack) & ((near_b <= slack) | whole)).any())


def check(a, b, name):
    hits = contours.collide(a, b)
    counts = (len(a), len(b))
    size = max(np.abs(a.segments).max(), np.abs(b.segments).max())
    found = list(zip(hits.parameter_a.tolist(), hits.parameter_b.tolist(), strict=True))
    # None missed: every place where the curves meet exactly.
    cells, level = surviving(a.segments, b.segments, LEVELS, 0.0)
    groups = clusters(cells, level, *counts)
    slack = max(2.5 * 2.0**-level, 1e-6)  # groups hold the lower ends of cells
    for group in groups:
        assert any(reaches(f, group, counts, slack) for f in found), (name, "missed", group[0])
    # None invented: every contact is where the curves are within 3δ.
    loose, loose_level = surviving(a.segments, b.segments, 20, 3 * MEETING * size * np.sqrt(2))
    loose_groups = clusters(loose, loose_level, *counts)
    for f, kind in zip(found, hits.kind.tolist(), strict=True):
        assert any(reaches(f, group, counts, 2.5 * 2.0**-loose_level) for group in loose_groups), (
            name,
            "invented",
            f,
            kind,
        )
    # Each once, and in its place, where the oracle tells them apart.
    if level == LEVELS and len(groups) == len(loose_groups) and contours.INTERVAL not in hits.kind:
        assert len(found) == len(groups), name
    for ((sigma, _), (tau, _)), point, kind in zip(found, hits.point, hits.kind, strict=True):
        if kind == contours.CROSSING and level == LEVELS and len(groups):
            da, db = a.derivative([sigma])[0], b.derivative([tau])[0]
            sine = abs(da[0] * db[1] - da[1] * db[0]) / max(np.hypot(*da) * np.hypot(*db), 1e-300)
            if sine > PLAIN:
                places = np.concatenate([a.point(group[:, 0]) for group in groups])
                assert np.hypot(*(places - point).T).min() <= CLOSE * size, name
    if contours.INTERVAL not in hits.kind:
        assert (hits.kind == contours.CROSSING).sum() % 2 == 0, (name, "a closed curve enters as often as it leaves")
    return len(found)


def lies_between(u, v, w):
    """Whether direction w lies within the sector from u anticlockwise to v."""

    def left(p, q):
        return p[0] * q[1] - p[1] * q[0] > 0

    return left(u, w) and left(w, v) if left(u, v) else left(u, w) or left(w, v)


def crosses(a, b, sigma, tau):
    """Whether polygon a passes from one side of b to the other where they meet in a point: by the order of the edges around it, in whole numbers."""

    def ways(contour, at):
        corners = contour.segments[:, 0].astype(int).tolist()
        n, whole = len(corners), round(at)
        first, last = (whole - 1, whole + 1) if abs(at - whole) < 1e-9 else (int(at), int(at) + 1)
        (x, y), (u, v) = corners[first % n], corners[last % n]
        if last - first == 1:
            return (x - u, y - v), (u - x, v - y)
        p, q = corners[whole % n]
        return (x - p, y - q), (u - p, v - q)

    (before, after), (first, last) = ways(a, sigma), ways(b, tau)
    if before[0] * after[1] == before[1] * after[0] and before[0] * after[0] + before[1] * after[1] > 0:
        return False  # a turns back where it came from
    return lies_between(before, after, first) != lies_between(before, after, last)


PARTS = range(16) if SOAK else range(1)
"""Of the long run, which has 10,500 pairs, one test each: they go to as many processes as there are (`pytest -n 16`)."""


@pytest.mark.parametrize("part", [pytest.param(k, marks=[pytest.mark.large] * SOAK) for k in PARTS])
@pytest.mark.parametrize("family", FAMILIES)
def test_contacts_are_those_of_the_oracle(family, part):
    rounds = 2 if jit.INTERPRETED else 1500 if SOAK else 30
    total = 0
    for k in range(part, rounds, len(PARTS)):
        a, b = family(np.random.default_rng([FAMILIES.index(family), k]))
        total += check(a, b, f"{family.__name__} {k}")
        if family is grid_pair:
            hits = contours.collide(a, b)
            for (sigma, _), (tau, _), kind in zip(hits.parameter_a, hits.parameter_b, hits.kind, strict=True):
                if kind != contours.INTERVAL:
                    assert (kind == contours.CROSSING) == crosses(a, b, sigma, tau), (k, sigma, tau)
    assert total >= rounds / len(PARTS) / 2


def test_each_passage_of_one_place_has_its_own_kind():
    """b runs through (2, 2) twice: a crosses one passage and touches the other."""
    a = Contour.from_polygon([(2, 2), (2, 1), (2, 0), (3, 3)])
    hits = contours.collide(a, Contour.from_polygon([(2, 2), (1, 3), (3, 1), (3, 2), (1, 1)]))
    here = (hits.point == 2).all(axis=1)
    kinds = dict(zip(hits.parameter_b[here, 0].round(9).tolist(), hits.kind[here].tolist(), strict=True))
    assert kinds == {0.0: contours.TOUCH, 1.5: contours.CROSSING}


def test_a_contour_that_turns_back_has_two_stretches_in_common():
    a = Contour.from_polygon([(2, 0), (3, 3), (3, 0)])
    hits = contours.collide(a, Contour.from_polygon([(1, 2), (3, 2), (3, 3), (3, 1), (2, 2)]))
    stretches = hits.kind == contours.INTERVAL
    assert sorted(map(tuple, hits.parameter_b[stretches].round(9).tolist())) == [(2.0, 1.0), (2.0, 3.0)]
