"""Every number of segments, contacts, poses, points and contours, on one thread and on two, against testing all pairs.

Oracles for polygons know edges only: signs of triangles for crossings, distances of corners and edges, angles that add up around points. For
curves the oracle halves all pairs of segments in extended precision. None has a box, a tree, a chunk or a thread.
"""

import contextlib
import importlib

import numpy as np
import pytest

from abut import contours
from abut.contours import A_IN_B, APART, B_IN_A, CONTACT, CROSSING, Contour
from abut.core import jit
from conftest import SLOW, SOAK, sizes
from contours.meet.test_contact_merging import check

# Room for contacts and stretches of a query (24, 512), chunks and the least number for threads (64), pieces and boxes that wait (128, 256).
CONSTANTS = (24, 64, 128, 256, 512)
SIZES = [3, 9] if SLOW else sizes(*CONSTANTS)
FEW_SIZES = [1, 9] if SLOW else sizes(*CONSTANTS, sample=8)
CURVES = sizes(*CONSTANTS) if SOAK else [1, 9] if SLOW else [1, 2, 3, 4, 7, 23, 64, 129]
HEAP = 80 if SOAK else 30
OTHERS = 6 if SLOW else 120


@pytest.fixture(params=[1, 2])
def threads(request, monkeypatch):
    """Also what is small runs on so many threads."""
    monkeypatch.setattr(
        importlib.import_module("abut.contours.meet.collide"), "threads_for", lambda *_: contextlib.nullcontext()
    )
    before = jit.thread_count()
    jit.limit_threads(request.param)
    yield request.param
    jit.limit_threads(before)


# --- polygons


def star(rng, count):
    """Corners around the origin, none crossing."""
    turn = (np.arange(count) + rng.random()) * 2 * np.pi / count
    return ((1.0 + 0.35 * rng.normal(size=count).clip(-2, 2)) * np.array([np.cos(turn), np.sin(turn)])).T


def tangle(rng, count):
    """Corners anywhere: the edges cross one another."""
    return rng.normal(size=(count, 2))


def draw_polygon(rng, count):
    return (tangle if count <= 24 and rng.random() < 0.3 else star)(rng, count)


def place(corners, pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return corners @ np.array([(c, s), (-s, c)]) + pose[:2]


def edges_of(corners):
    return corners[:, None], np.roll(corners, -1, axis=0)[:, None]


def triangles(p, q, r):
    return (q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0]


def find_crossings(a, b):
    """Sorted pairs of edges that cross."""
    (p, q), (r, s) = edges_of(a), (part.swapaxes(0, 1) for part in edges_of(b))
    sides = [triangles(p, q, r), triangles(p, q, s), triangles(r, s, p), triangles(r, s, q)]
    assert min(np.abs(side).min() for side in sides) > 1e-14  # none in doubt
    return list(map(tuple, np.argwhere((sides[0] * sides[1] < 0) & (sides[2] * sides[3] < 0)).tolist()))


def wind(corners, points):
    """How often the polygon turns around each point, and how near an edge is: in angles that add up."""
    way = corners - points[:, None]
    after = np.roll(way, -1, axis=1)
    angle = np.arctan2(way[..., 0] * after[..., 1] - way[..., 1] * after[..., 0], (way * after).sum(axis=2))
    return np.round(angle.sum(axis=1) / (2 * np.pi)).astype(int)


def to_edges(points, corners):
    """(points, edges) distances."""
    (p, q), x = (part.swapaxes(0, 1) for part in edges_of(corners)), points[:, None]
    share = (((x - p) * (q - p)).sum(axis=2) / ((q - p) ** 2).sum(axis=2)).clip(0, 1)[..., None]
    return np.hypot(*np.moveaxis(x - p - share * (q - p), 2, 0))


def relate(a, b, crossings):
    if crossings:
        return CONTACT
    if wind(b, a[:1])[0]:
        return A_IN_B
    return B_IN_A if wind(a, b[:1])[0] else APART


def segments_of(hits, query=0):
    """Sorted pairs of segments that contacts are on."""
    rows = hits.query == query
    assert (hits.kind[rows] == CROSSING).all()
    on_a, on_b = hits.parameter_a[rows, 0].astype(int), hits.parameter_b[rows, 0].astype(int)
    return sorted(zip(on_a.tolist(), on_b.tolist(), strict=True))


def random_pose(rng, reach=1.6):
    return (*rng.uniform(-reach, reach, 2), rng.uniform(0, 7))


def test_polygons_of_any_number_of_edges(threads):
    rng, found = np.random.default_rng(threads), set()
    for count in SIZES:
        if count < 3:
            continue
        corners, others = draw_polygon(rng, count), draw_polygon(rng, int(rng.integers(3, OTHERS)))
        corners *= rng.choice([1.0, 1.0, 0.1, 9.0])
        pose = random_pose(rng)
        a, b, moved = Contour.from_polygon(corners), Contour.from_polygon(others), place(corners, pose)
        crossings = find_crossings(moved, others)
        relation = relate(moved, others, crossings)
        hits, gap = contours.collide(a, b, pose=pose), contours.distance(a, b, pose=pose)
        assert segments_of(hits) == crossings, (count, len(others))
        assert hits.relation.tolist() == gap.relation.tolist() == [relation], (count, len(others))
        assert contours.meets(a, b, pose=pose) == (relation != APART)
        assert len(contours.collide(a, b, pose=pose, first=True)) == bool(crossings)
        near = 0.0 if crossings else min(to_edges(moved, others).min(), to_edges(others, moved).min())
        assert gap.distance[0] == pytest.approx(near, rel=1e-11, abs=1e-15)
        found.add(relation)
    assert len(found) == 4 or SLOW


def test_points_in_polygons_of_any_number_of_edges(threads):
    rng = np.random.default_rng(10 + threads)
    for count in SIZES:
        corners = draw_polygon(rng, max(count, 3))
        points = rng.normal(size=(int(rng.integers(1, OTHERS)), 2))
        points = points[to_edges(points, corners).min(axis=1) > 1e-9]
        contour, expected = Contour.from_polygon(corners), wind(corners, points)
        np.testing.assert_array_equal(contours.winding(contour, points), expected)
        np.testing.assert_array_equal(contours.contains(contour, points), expected != 0)
        assert contours.contains(contour, corners).all()


def test_any_number_of_points(threads):
    rng = np.random.default_rng(20 + threads)
    corners = tangle(rng, 9)
    points = rng.normal(size=(max(SIZES), 2))
    expected = wind(corners, points)
    for count in SIZES:
        np.testing.assert_array_equal(contours.winding(Contour.from_polygon(corners), points[:count]), expected[:count])


def test_any_number_of_poses(threads):
    rng = np.random.default_rng(30 + threads)
    corners, others = star(rng, 7), tangle(rng, 9)
    a, b = Contour.from_polygon(corners), Contour.from_polygon(others)
    poses = np.array([random_pose(rng, 3.0) for _ in range(max(SIZES))])
    placed = [place(corners, pose) for pose in poses]
    crossings = [find_crossings(moved, others) for moved in placed]
    relations = [relate(moved, others, rows) for moved, rows in zip(placed, crossings, strict=True)]
    gaps = [
        0.0 if rows else min(to_edges(moved, others).min(), to_edges(others, moved).min())
        for moved, rows in zip(placed, crossings, strict=True)
    ]
    for count in FEW_SIZES:
        hits, gap = contours.collide(a, b, poses=poses[:count]), contours.distance(a, b, poses=poses[:count])
        assert hits.relation.tolist() == gap.relation.tolist() == relations[:count]
        assert [segments_of(hits, query) for query in range(count)] == crossings[:count]
        np.testing.assert_allclose(gap.distance, gaps[:count], rtol=1e-11, atol=1e-15)
        np.testing.assert_array_equal(
            contours.meets(a, b, poses=poses[:count]), [r != APART for r in relations[:count]]
        )
        first = contours.collide(a, b, poses=poses[:count], first=True)
        np.testing.assert_array_equal(
            np.bincount(first.query, minlength=count), [bool(rows) for rows in crossings[:count]]
        )


def teeth(count):
    """A zigzag of so many teeth that point down to y = −1 from y = 1, closed above: each crosses the line y = 0 twice."""
    x = np.arange(2 * count + 1) + 0.25
    return np.concatenate([np.stack([x, np.where(np.arange(2 * count + 1) % 2, -1.0, 1.0)], axis=1), [(count, 3.0)]])


def test_any_number_of_contacts(threads):
    """Every query of many has room for 24 contacts at first, and for 512 stretches."""
    rng = np.random.default_rng(40 + threads)
    for count in SIZES:
        comb = Contour.from_polygon(teeth(count))
        wide = 2.0 * count + 9.0
        bar = Contour.from_polygon([(-5, 0.03), (wide, 0.06), (wide, 9), (-5, 9)])
        crossings = find_crossings(teeth(count), bar.segments[:, 0])
        assert len(crossings) == 2 * count
        assert segments_of(contours.collide(comb, bar)) == crossings
        poses = np.zeros((int(rng.integers(1, 5)), 3))
        poses[::2, 1] = 99.0
        hits = contours.collide(comb, bar, poses=poses)
        for query, pose in enumerate(poses):
            assert segments_of(hits, query) == (crossings if pose[1] == 0.0 else [])


def test_any_number_of_contours(threads):
    """Triangles everywhere, far from one another or in a heap."""
    rng = np.random.default_rng(50 + threads)
    shapes = [star(rng, 3) for _ in range(5)]
    triangles_of = [Contour.from_polygon(corners) for corners in shapes]
    for count in FEW_SIZES:
        chosen = [int(k) for k in rng.integers(len(shapes), size=count)]
        heap = count < HEAP and rng.random() < 0.5
        poses = np.array([random_pose(rng, 0.5 if heap else 0.7 * count) for _ in range(count)])
        bodies = [triangles_of[k] for k in chosen]
        placed = [place(shapes[k], pose) for k, pose in zip(chosen, poses, strict=True)]
        middle = np.array([corners.mean(axis=0) for corners in placed])
        reach = np.array([np.hypot(*(corners - corners.mean(axis=0)).T).max() for corners in placed])
        close = np.hypot(*(middle[:, None] - middle).transpose(2, 0, 1)) <= reach[:, None] + reach
        expected = {}
        for i, j in np.argwhere(np.triu(close, 1)).tolist():
            crossings = find_crossings(placed[i], placed[j])
            relation = relate(placed[i], placed[j], crossings)
            if relation != APART:
                expected[i, j] = (relation, crossings)
        chosen_pairs, hits = contours.collide_all(bodies, poses)
        found = {
            tuple(pair): (hits.relation[query], segments_of(hits, query))
            for query, pair in enumerate(chosen_pairs.tolist())
            if hits.relation[query] != APART
        }
        assert found == expected, count
        np.testing.assert_array_equal(contours.pairs(bodies, poses), chosen_pairs)


# --- curves


def loop(rng, count):
    """So many cubic segments, one after another around the origin: one alone is a petal."""
    ends = star(rng, count)
    ways = rng.normal(size=(count, 2, 2)) * 2.0 / count
    after = np.roll(ends, -1, axis=0)
    return Contour.from_segments(np.stack([ends, ends + ways[:, 0], after + ways[:, 1], after], axis=1))


@pytest.mark.parametrize("make", [loop, lambda rng, count: Contour(star(rng, max(count, 4)))], ids=["cubics", "spline"])
def test_curves_of_any_number_of_segments(make):
    rng, met = np.random.default_rng(60), 0
    for count in CURVES:
        a, b = make(rng, count).moved(random_pose(rng)), make(rng, int(rng.integers(1, 6 if SLOW else 40)))
        met += check(a, b, f"{count} segments")
        gap = contours.distance(a, b)
        samples = [c.point(np.arange(8 * len(c)) / 8) for c in (a, b)]
        step = max(c.lengths.max() for c in (a, b))
        nearest = np.sqrt(((samples[0][:, None] - samples[1]) ** 2).sum(axis=2)).min()
        assert nearest - step <= gap.distance[0] <= nearest * (1 + 1e-12)
        assert (gap.distance[0] == 0.0) == (gap.relation[0] == CONTACT)
    assert met > len(CURVES) // 2 or SLOW
