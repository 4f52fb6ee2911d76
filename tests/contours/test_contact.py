"""Contacts of contours against halving in extended precision: none missed, none invented, each once, where they are."""

import numpy as np
import pytest

from abut import contours, jit
from abut.contours import Contour
from abut.contours.rough import refine_control
from abut.contours.tables import MEETING
from conftest import SOAK
from oracle_contours import clusters, surviving

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


FAMILIES = (random_pair, tangled_pair, grid_pair, touching_pair, sharing_pair, cusped_pair)


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
    for (sigma, _), point, kind in zip(hits.parameter_a, hits.point, hits.kind, strict=True):
        if kind == contours.CROSSING and level == LEVELS and len(groups):
            tau = hits.parameter_b[(hits.parameter_a[:, 0] == sigma).argmax()][0]
            da, db = a.derivative([sigma])[0], b.derivative([tau])[0]
            sine = abs(da[0] * db[1] - da[1] * db[0]) / max(np.hypot(*da) * np.hypot(*db), 1e-300)
            if sine > PLAIN:
                places = np.concatenate([a.point(group[:, 0]) for group in groups])
                assert np.hypot(*(places - point).T).min() <= CLOSE * size, name
    if contours.INTERVAL not in hits.kind:
        assert (hits.kind == contours.CROSSING).sum() % 2 == 0, (name, "a closed curve enters as often as it leaves")
    return len(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_contacts_are_those_of_the_oracle(family):
    rounds = 2 if jit.INTERPRETED else 1700 if SOAK else 34
    total = 0
    for k in range(rounds):
        rng = np.random.default_rng([FAMILIES.index(family), k])
        total += check(*family(rng), f"{family.__name__} {k}")
    assert total >= rounds / 2
