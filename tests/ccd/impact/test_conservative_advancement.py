"""Separations: first time within a distance, against the distance at many times."""

import numpy as np
import pytest

from abut import ccd
from abut.ccd.impact.conservative_advancement import DISTANCE_TOLERANCE
from abut.core.jit import INTERPRETED
from abut.geometry.segments import closest_segment_segment
from abut.geometry.triangles import closest_point_triangle
from ccd.query_kinds import KINDS

ASK = {True: ccd.vertex_face, False: ccd.edge_edge}
SAMPLES = 100 if INTERPRETED else 2000
COUNT = 5 if INTERPRETED else 60
BOTH = pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])


def distance_at(query, is_face, t):
    points = [tuple(map(float, (1 - t) * a + t * b)) for a, b in zip(query[:4], query[4:], strict=True)]
    closest = closest_point_triangle if is_face else closest_segment_segment
    return float(np.sqrt(closest(*points)[-1]))


def check(queries, is_face, d, rounding=1e-12):
    """No sample within d before the time reported; and at that time not further apart than the tolerance allows."""
    verdict = ASK[is_face](queries, min_distance=d)
    assert (verdict.hit == np.isfinite(verdict.time)).all()
    assert verdict.exact_count == 0
    for query, hit, time in zip(queries, verdict.hit, verdict.time, strict=True):
        size = np.abs(query).max()
        samples = np.linspace(0, 1, SAMPLES)
        within = [t for t in samples if distance_at(query, is_face, t) < d * (1 - 1e-9) - rounding * size]
        if within:
            assert hit
            assert time <= within[0]
        if hit:
            assert distance_at(query, is_face, time) <= d * (1 + 2 * DISTANCE_TOLERANCE) + rounding * size
    return verdict


@BOTH
@pytest.mark.parametrize("d", [0.3, 1e-3])
def test_random_queries(is_face, d):
    verdict = check(np.random.default_rng(1).normal(size=(COUNT, 8, 3)), is_face, d)
    assert (verdict.status != ccd.Status.LIMIT).all()


@BOTH
@pytest.mark.parametrize(
    "kind", ["planar", "collinear", "at rest", "translated", "doubled points", "sliding", "mirrored"]
)
def test_degenerate_queries(is_face, kind):
    check(KINDS[kind](np.random.default_rng(2), max(2, COUNT // 6)), is_face, 0.25)


@BOTH
@pytest.mark.parametrize("factor", [1e-100, 1e70])
def test_extreme_scales(is_face, factor):
    queries = np.random.default_rng(3).normal(size=(COUNT // 2, 8, 3))
    unit, scaled = (
        ASK[is_face](queries, min_distance=0.1),
        ASK[is_face](queries * factor, min_distance=0.1 * factor),
    )
    assert (unit.hit == scaled.hit).all()
    np.testing.assert_allclose(unit.time, scaled.time, atol=1e-6)


def test_known_times():
    face = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
    falling = [(1, 1, 3), *face, (1, 1, -1), *face]
    verdict = ccd.vertex_face([falling], min_distance=1.0)
    assert 0.5 - 1e-6 <= verdict.time[0] <= 0.5
    start = ccd.vertex_face([falling], min_distance=3.0)
    assert start.time[0] == 0.0
    passing = [(-10, 0, 2), (10, 0, 2), (0, -10, 0), (0, 10, 0), (-10, 0, 2), (10, 0, 2), (0, -10, 0.5), (0, 10, 0.5)]
    assert not ccd.edge_edge([passing], min_distance=1.49).hit[0]
    assert ccd.edge_edge([passing], min_distance=1.51).hit[0]


def test_an_exact_contact_is_within_every_distance():
    rng = np.random.default_rng(4)
    for is_face in (True, False):
        queries = rng.normal(size=(COUNT, 8, 3))
        touching = ASK[is_face](queries)
        for d in (1e-300, 1e-12, 0.01):
            near = ASK[is_face](queries, min_distance=d)
            assert near.hit[touching.hit].all()
            assert (near.time[touching.hit] <= touching.time[touching.hit] + 1e-9).all()


def test_a_bound_on_the_steps_counts_as_a_hit():
    turning = np.array(
        [(0, 0, 0), (0, 0, 1), (2, -5, 0.5), (2, 5, 0.5), (0, 0, 0), (0, 0, 1), (2, 5, 0.6), (2, -5, 0.6)], dtype=float
    )
    full = ccd.edge_edge([turning], min_distance=0.01)
    assert full.status[0] != ccd.Status.LIMIT
    bounded = ccd.edge_edge([turning], min_distance=0.01, max_steps=1)
    assert bounded.status[0] in (ccd.Status.LIMIT, full.status[0])
    steep = ccd.vertex_face(
        [[(1, 1, 3), (0, 0, 0), (4, 0, 1), (0, 4, 0), (1, 1, -1), (0, 0, 0), (4, 0, 0), (0, 4, 1)]],
        min_distance=1.0,
        max_steps=1,
    )
    assert steep.status[0] == ccd.Status.LIMIT
    assert steep.hit[0]
    assert 0.0 < steep.time[0] < 0.5
