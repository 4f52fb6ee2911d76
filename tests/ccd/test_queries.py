"""Single queries against published verdicts, against whole numbers, and against their own symmetries."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import ccd
from abut.ccd.impact.first_contact import first_contact
from abut.ccd.impact.relative_paths import relative_paths
from abut.core.errors import InvalidInput
from abut.core.jit import INTERPRETED
from abut.mesh import load
from ccd.query_kinds import KINDS
from conftest import SOAK
from oracles import ccd as oracle

QUERIES = Path(__file__).parents[3] / "shared" / "data" / "queries"
SCENES = Path(__file__).parents[3] / "shared" / "data" / "scenes"
MANY = 5000 if SOAK else 1000
EXAMPLES = 3 if INTERPRETED else 12
TOLERANCE = 1e-9
ASK = {True: ccd.vertex_face, False: ccd.edge_edge}
EXACT_ERROR = Fraction(1, 2**49)


def read_queries(folder):
    """Points (n,8,3) and verdicts (n,) of one folder of csv files."""
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    rows = [
        [int(x) for x in row] for path in sorted(folder.glob("*.csv")) for row in csv.reader(path.read_text().split())
    ]
    points = np.array([[Fraction(row[k], row[k + 1]) for k in (0, 2, 4)] for row in rows])
    as_floats = points.astype(float)
    assert all(Fraction(x) == y for x, y in zip(as_floats.ravel()[:999], points.ravel()[:999], strict=True))
    return as_floats.reshape(-1, 8, 3), np.array([row[6] for row in rows[::8]], bool)


def check(queries, is_face, tolerance=TOLERANCE):
    """Ask, and compare every row with the oracle; the verdict."""
    verdict = ASK[is_face](queries, tolerance=tolerance)
    assert (verdict.hit == (verdict.status != ccd.Status.FREE)).all()
    assert (verdict.hit == np.isfinite(verdict.time)).all()
    for i, query in enumerate(queries):
        truth = oracle.first_contact(query, is_face)
        assert verdict.hit[i] == (truth is not None), (i, query.tolist())
        if truth is not None:
            time = Fraction(verdict.time[i])
            assert 0 <= time <= truth[1], (i, query.tolist())
            assert truth[0] - time <= tolerance + EXACT_ERROR, (i, query.tolist())
    return verdict


@pytest.mark.large
@pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
@pytest.mark.parametrize("name", ["unit-tests", "erleben-spikes", "erleben-sliding-spike", "erleben-cube-cliff-edges"])
def test_published_queries_have_their_published_verdict(name, is_face):
    queries, truth = read_queries(QUERIES / name / ("vertex-face" if is_face else "edge-edge"))
    verdict = ASK[is_face](queries)
    assert not (truth & ~verdict.hit).any(), "missed"
    assert not (verdict.hit & ~truth).any(), "invented"
    assert (verdict.status != ccd.Status.LIMIT).all()
    check(queries[truth][::4], is_face)


@pytest.mark.large
def test_listed_pairs_of_cloth_funnel_have_their_published_verdict():
    folder = SCENES / "cloth-funnel"
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    before, after = load(folder / "227.ply"), load(folder / "228.ply")
    vertex_count, edges = len(before.vertices), before.edges
    for is_face, name in ((True, "vf"), (False, "ee")):
        pairs = np.sort(np.array(json.loads((folder / f"227{name}.json").read_text())), axis=1)
        truth = np.array(json.loads((folder / f"227{name}_mma_bool.json").read_text()), bool)
        if is_face:
            rows = np.hstack([pairs[:, :1], before.faces[pairs[:, 1] - vertex_count - len(edges)]])
        else:
            rows = np.hstack([edges[pairs[:, 0] - vertex_count], edges[pairs[:, 1] - vertex_count]])
        verdict = ASK[is_face](np.concatenate([before.vertices[rows], after.vertices[rows]], axis=1))
        assert (verdict.hit == truth).all()


@pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_queries_agree_with_whole_numbers(kind, is_face):
    check(KINDS[kind](np.random.default_rng(7), EXAMPLES), is_face)


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
def test_many_degenerate_queries_agree_with_whole_numbers(kind):
    rng = np.random.default_rng(8)
    for is_face in (True, False):
        check(KINDS[kind](rng, 40), is_face)


def colliding(rng, is_face, count):
    """Queries at random that hit, found by the cubic method, which shares no verdict with the exact one."""
    queries = rng.normal(size=(count * 12, 8, 3))
    return queries[ASK[is_face](queries, method="cubic").hit][:count]


@pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
@pytest.mark.parametrize("count", [20, pytest.param(MANY, marks=pytest.mark.large)], ids=["a few", "many"])
def test_times_against_exact_roots(is_face, count):
    queries = colliding(np.random.default_rng(count), is_face, count)
    assert len(queries) >= 0.9 * count
    verdict = check(queries, is_face)
    assert verdict.exact_count <= 0.01 * len(queries)


@pytest.mark.parametrize("tolerance", [0.0, 1e-13, 1e-6, 1.0])
def test_times_keep_any_tolerance(tolerance):
    rng = np.random.default_rng(3)
    for is_face in (True, False):
        check(colliding(rng, is_face, 4 if INTERPRETED else 20), is_face, tolerance)


@pytest.mark.large
def test_the_widest_span_of_magnitudes_is_never_missed():
    """Coordinates from 2⁻¹⁰⁷⁴ to 2²⁴⁸: where integers run out of room the status says so, and counts as a hit."""
    rng = np.random.default_rng(4)
    count = 3 if INTERPRETED else 10
    for is_face in (True, False):
        queries = rng.integers(-2, 3, (count, 8, 3)) * 2.0 ** rng.choice([-1074, -500, 0, 247], (count, 8, 3))
        queries[::2, 4:] = queries[::2, :4]
        verdict = ASK[is_face](queries)
        for i, query in enumerate(queries):
            truth = oracle.first_contact(query, is_face)
            if verdict.status[i] != ccd.Status.LIMIT:
                assert verdict.hit[i] == (truth is not None)
            if truth is not None:
                assert verdict.hit[i]
                assert Fraction(verdict.time[i]) <= truth[1]
        assert (verdict.status != ccd.Status.LIMIT).any()


# --- named cases

FACE = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
NAMED_VERTEX_FACE = {
    "through the middle": ((1, 1, 1), (1, 1, -1), 0.5),
    "through an edge": ((2, 0, 1), (2, 0, -1), 0.5),
    "through a corner": ((4, 0, 1), (4, 0, -1), 0.5),
    "past a corner": ((4 + 2**-40, 0, 1), (4 + 2**-40, 0, -1), None),
    "ends on the face": ((1, 1, 1), (1, 1, 0), 1.0),
    "starts on the face": ((1, 1, 0), (1, 1, 1), 0.0),
    "rests on the face": ((1, 1, 0), (1, 1, 0), 0.0),
    "rests on a corner": ((0, 0, 0), (0, 0, 0), 0.0),
    "slides in": ((-4, 1, 0), (4, 1, 0), 0.5),
    "slides to an edge": ((-1, 1, 0), (0, 1, 0), 1.0),
    "slides past": ((-1, -1, 0), (5, -1, 0), None),
    "stops just above": ((1, 1, 1), (1, 1, 2**-1000), None),
    "rests just above": ((1, 1, 2**-1074), (1, 1, 2**-1074), None),
}


@pytest.mark.parametrize("name", NAMED_VERTEX_FACE)
def test_named_vertex_face(name):
    before, after, time = NAMED_VERTEX_FACE[name]
    verdict = ccd.vertex_face([[before, *FACE, after, *FACE]])
    if time is None:
        assert not verdict.hit[0]
        assert verdict.time[0] == np.inf
    else:
        assert verdict.hit[0]
        assert time - TOLERANCE <= verdict.time[0] <= time


def edge(a, b, a_after=None, b_after=None):
    return [a, b], [a if a_after is None else a_after, b if b_after is None else b_after]


NAMED_EDGE_EDGE = {
    "crossing": (edge((-1, 0, 1), (1, 0, 1), (-1, 0, -1), (1, 0, -1)), edge((0, -1, 0), (0, 1, 0)), 0.5),
    "end meets end": (edge((0, 1, 1), (1, 1, 1), (0, 1, -1), (1, 1, -1)), edge((0, -1, 0), (0, 1, 0)), 0.5),
    "collinear, sliding together": (
        edge((-3, 0, 0), (-2, 0, 0), (-1, 0, 0), (0, 0, 0)),
        edge((-1, 0, 0), (1, 0, 0)),
        0.5,
    ),
    "collinear, a gap left": (
        edge((-3, 0, 0), (-2, 0, 0), (-2, 0, 0), (-1.5, 0, 0)),
        edge((-1, 0, 0), (1, 0, 0)),
        None,
    ),
    "parallel, falling": (edge((-1, 0, 1), (1, 0, 1), (-1, 0, -1), (1, 0, -1)), edge((0, 0, 0), (5, 0, 0)), 0.5),
    "parallel, past": (edge((-1, 0, 1), (0, 0, 1), (-1, 0, -1), (0, 0, -1)), edge((1, 0, 0), (5, 0, 0)), None),
    "point against edge": (edge((0, 0, 1), (0, 0, 1), (0, 0, -1), (0, 0, -1)), edge((-1, 0, 0), (1, 0, 0)), 0.5),
    "point against point": (edge((0, 0, 1), (0, 0, 1), (0, 0, -1), (0, 0, -1)), edge((0, 0, 0), (0, 0, 0)), 0.5),
    "at rest, crossing": (edge((-1, 0, 0), (1, 0, 0)), edge((0, -1, 0), (0, 1, 0)), 0.0),
    "at rest, the same edge": (edge((-1, 0, 0), (1, 0, 0)), edge((-1, 0, 0), (1, 0, 0)), 0.0),
    "coplanar, sweeping": (edge((-2, 1, 0), (-1, 1, 0), (0, 1, 0), (1, 1, 0)), edge((0, 0, 0), (0, 2, 0)), 0.5),
}


@pytest.mark.parametrize("name", NAMED_EDGE_EDGE)
def test_named_edge_edge(name):
    (a_t0, a_t1), (b_t0, b_t1), time = NAMED_EDGE_EDGE[name]
    verdict = ccd.edge_edge([[*a_t0, *b_t0, *a_t1, *b_t1]])
    if time is None:
        assert not verdict.hit[0]
    else:
        assert verdict.hit[0]
        assert time - TOLERANCE <= verdict.time[0] <= time


# --- symmetries

whole = st.integers(-3, 3)
query = st.lists(st.tuples(whole, whole, whole), min_size=8, max_size=8).map(lambda q: np.array(q, float) / 3)


def both(is_face, first, second):
    verdict = ASK[is_face]([first, second])
    assert verdict.hit[0] == verdict.hit[1]
    if verdict.hit[0]:
        assert abs(verdict.time[0] - verdict.time[1]) <= TOLERANCE


@given(query, st.permutations([1, 2, 3]))
def test_the_corners_of_a_face_may_be_permuted(q, order):
    both(True, q, q[[0, *order, 4, *[4 + i for i in order]]])


@given(query, st.booleans(), st.booleans())
def test_edges_may_be_turned_and_swapped(q, turn, swap):
    order = [1, 0, 2, 3] if turn else [0, 1, 2, 3]
    order = order[2:] + order[:2] if swap else order
    both(False, q, q[[*order, *[4 + i for i in order]]])


@given(query, st.integers(-1000, 900), st.booleans())
def test_scaling_by_a_power_of_two_changes_nothing(q, power, is_face):
    both(is_face, q, q * 2.0 ** max(min(power, 240), -900))


@given(st.lists(st.tuples(whole, whole, whole), min_size=8, max_size=8), st.integers(0, 40), st.booleans())
def test_moving_by_a_power_of_two_changes_nothing(q, power, is_face):
    both(is_face, np.array(q, float), np.array(q, float) + 2.0**power)


# --- the search before the exact stage


def test_a_shorter_search_finds_the_same_or_nothing():
    rng = np.random.default_rng(5)
    for is_face in (True, False):
        for query in colliding(rng, is_face, 3 if INTERPRETED else 30):
            paths, sizes, _ = relative_paths(*[tuple(map(float, point)) for point in query])
            status, time = first_contact(is_face, paths, sizes, 1.0, TOLERANCE, 63)
            assert status == ccd.Status.HIT
            status, again = first_contact(is_face, paths, sizes, min(1.0, time + 1e-3), TOLERANCE, 63)
            assert status == ccd.Status.HIT
            assert abs(again - time) <= TOLERANCE
            if time > 1e-6:
                assert first_contact(is_face, paths, sizes, time * (1 - 1e-6), TOLERANCE, 63)[0] == ccd.Status.FREE


def test_few_steps_leave_the_verdict_exact():
    rng = np.random.default_rng(6)
    for is_face in (True, False):
        queries = rng.normal(size=(5 if INTERPRETED else 50, 8, 3))
        some, all_steps = ASK[is_face](queries, max_steps=1), ASK[is_face](queries)
        assert (some.hit == all_steps.hit).all()
        assert some.exact_count >= all_steps.exact_count
        np.testing.assert_allclose(some.time, all_steps.time, atol=TOLERANCE)


# --- the cubic method


def test_the_cubic_method_agrees_in_general_position():
    rng = np.random.default_rng(9)
    for is_face in (True, False):
        queries = rng.normal(size=(20 if INTERPRETED else 500, 8, 3))
        cubic, exact = ASK[is_face](queries, method="cubic"), ASK[is_face](queries)
        assert (cubic.hit == exact.hit).all()
        np.testing.assert_allclose(cubic.time, exact.time, atol=1e-9)


def test_the_cubic_method_misses_parallel_edges():
    (a_t0, a_t1), (b_t0, b_t1), _ = NAMED_EDGE_EDGE["parallel, falling"]
    query = [[*a_t0, *b_t0, *a_t1, *b_t1]]
    assert ccd.edge_edge(query).hit[0]
    assert not ccd.edge_edge(query, method="cubic").hit[0]


# --- the border


def test_no_queries_give_no_rows():
    verdict = ccd.vertex_face([])
    assert len(verdict) == 0
    assert verdict.exact_count == 0


def test_results_cannot_be_written():
    verdict = ccd.edge_edge(np.zeros((1, 8, 3)))
    for array in (verdict.hit, verdict.time, verdict.status):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("queries", "options", "text"),
    [
        (np.zeros((2, 7, 3)), {}, r"queries: has shape \(2, 7, 3\)"),
        (np.full((2, 8, 3), np.nan), {}, "queries.*0.*NaN"),
        (np.full((2, 8, 3), 1e76), {}, "queries.*0.*beyond"),
        (np.zeros((1, 8, 3)), {"tolerance": -1}, "tolerance"),
        (np.zeros((1, 8, 3)), {"min_distance": -1}, "min_distance"),
        (np.zeros((1, 8, 3)), {"min_distance": np.inf}, "min_distance"),
        (np.zeros((1, 8, 3)), {"method": "guess"}, "method.*'guess'"),
        (np.zeros((1, 8, 3)), {"method": "cubic", "min_distance": 1}, "min_distance"),
        (np.zeros((1, 8, 3)), {"max_steps": 0}, "max_steps"),
    ],
)
def test_bad_input_is_named(queries, options, text):
    for ask in ASK.values():
        with pytest.raises(InvalidInput, match=text):
            ask(queries, **options)
