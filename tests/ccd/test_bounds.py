"""How far apart two features may be when they are reported, and that nothing nearer is missed or late: distances in fractions and decimals.

The bounds are those of the documents: d·(1 + 10⁻⁶) and 4·10⁻¹⁴ of the extent of the pair for straight motion, 10⁻⁹ of the size of the scene for
bodies that turn.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import abut
from abut import ccd
from abut.core.jit import INTERPRETED
from conftest import SOAK
from oracles.distance import cosine_sine, distance_sq

COUNT = 6 if INTERPRETED else 6000 if SOAK else 150
ASK = {True: ccd.vertex_face, False: ccd.edge_edge}
BOTH = pytest.mark.parametrize("is_face", [True, False], ids=["vertex-face", "edge-edge"])
GROWN, ROUNDED = Fraction(1) + Fraction(1, 10**6), Fraction(4, 10**14)


def features(rng, is_face, gap, thin):
    """Four points whose features are about `gap` apart: above a face or across two edges, or beside an edge or a vertex of it."""
    if is_face:
        face = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [rng.uniform(-1, 1), -1.0 + 2.0 * thin, 0.0]])
        weights = rng.dirichlet([1.0, 1.0, 1.0])
        points = [weights @ face, (1 - (x := rng.random())) * face[0] + x * face[1], face[int(rng.integers(3))]]
        which = int(rng.integers(3))
        outward = [[0, 0, 1], [0, -1, rng.normal()], face.mean(axis=0) * -1e-3 + points[2] - face.mean(axis=0)][which]
        return np.concatenate([[points[which] + gap * np.array(outward) / np.linalg.norm(outward)], face])
    angle = thin * rng.uniform(0.5, 1.5)
    a, b = np.array([1.0, 0.0, 0.0]), np.array([np.cos(angle), np.sin(angle), 0.0])
    lift = np.array([0.0, 0.0, gap])
    if rng.random() < 0.3:  # end to end
        lift = gap * np.array([1.0, 0.0, rng.normal()]) / 2.0 + 2.0 * a
    return np.array([-a, a, lift - b, lift + b])


def make_queries(rng, is_face):
    """Queries (n,8,3) and a distance for each: at rest, approaching and passing, near that distance, of all scales and offsets."""
    queries, distances = [], []
    for _ in range(COUNT):
        d = 10.0 ** rng.uniform(-17, -3) if rng.random() < 0.9 else 10.0 ** rng.uniform(-300, -17)
        excess = 10.0 ** rng.uniform(-8, 1) * rng.choice([-0.3, 1.0])
        gap = max(d * (1.0 + excess), 0.0) + rng.choice([0.0, 10.0 ** rng.uniform(-16, -6)])
        four = features(rng, is_face, gap, 10.0 ** rng.choice([0.0, rng.uniform(-15, 0)]))
        shift = rng.normal(size=3) * 10.0 ** rng.uniform(-9, 0)
        shift *= rng.choice([0.0, 1.0], size=3)
        start, end = four.copy(), four.copy()
        first = 1 if is_face else 2
        start[:first] += shift
        if rng.random() < 0.3:
            end[:first] -= shift * rng.random()
        turn = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix() if rng.random() < 0.8 else np.eye(3)
        offset = rng.normal(size=3) * rng.choice([0.0, 1.0, 1e6])
        scale = 2.0 ** int(rng.integers(-100, 101))
        queries.append(np.concatenate([start, end]) @ turn.T * scale + offset * scale)
        distances.append(d * scale)
    return np.array(queries), np.array(distances)


def at(query, time):
    """The four points at a time, exactly."""
    t = Fraction(time)
    ends = [[[Fraction(float(x)) for x in p] for p in part] for part in (query[:4], query[4:])]
    return [[(1 - t) * x + t * y for x, y in zip(p, q, strict=True)] for p, q in zip(*ends, strict=True)]


def extent(query):
    return Fraction(float(max(np.ptp(query[:4], axis=0).max(), np.ptp(query[4:], axis=0).max())))


@BOTH
def test_pairs_are_reported_within_the_bound_and_none_is_late(is_face):
    """Pairs up to 3·10⁻⁸ apart were reported for any d below 10⁻⁸."""
    rng = np.random.default_rng(41)
    hits = 0
    for query, distance in zip(*make_queries(rng, is_face), strict=True):
        verdict = ASK[is_face](query[np.newaxis], min_distance=distance)
        d, time = Fraction(float(distance)), float(verdict.time[0])
        assert verdict.status[0] != ccd.Status.LIMIT
        if verdict.hit[0]:
            hits += 1
            bound = d * GROWN + ROUNDED * extent(query)
            assert distance_sq(at(query, time), is_face) <= bound * bound
        last = min(time, 1.0)
        before = [*(last * rng.random(3)), *(last * (1.0 - 2.0 ** -rng.integers(1, 45, 2)))]
        for sample in before if np.isfinite(time) else [0.0, 1.0, *before]:
            if sample < time:
                assert distance_sq(at(query, sample), is_face) >= d * d
    assert hits > COUNT // 10


@BOTH
def test_pairs_at_rest_are_hits_up_to_the_distance_and_none_beyond_the_bound(is_face):
    rng = np.random.default_rng(42)
    queries, distances = make_queries(rng, is_face)
    beyond = 0
    for query, distance in zip(queries, distances, strict=True):
        query[4:] = query[:4]
        d, actual = Fraction(float(distance)), distance_sq(at(query, 0.0), is_face)
        hit = bool(ASK[is_face](query[np.newaxis], min_distance=distance).hit[0])
        bound = d * GROWN + ROUNDED * extent(query)
        assert hit or actual > d * d
        assert not (hit and actual > bound * bound)
        beyond += actual > bound * bound
    assert beyond > COUNT // 10


# ---- bodies that turn


def place(motion, vertex, time):
    """Where a vertex is, to the precision of the context, by the numbers of its path."""
    t = Decimal(time)
    paths = motion.paths
    cosine, sine = cosine_sine(t * Decimal(float(paths.angle[vertex])))
    return [
        Decimal(float(b)) + t * Decimal(float(v)) + cosine * Decimal(float(c)) + sine * Decimal(float(s))
        for b, v, c, s in zip(
            *(getattr(paths, name)[vertex] for name in ("base", "velocity", "cosine", "sine")), strict=True
        )
    ]


def turning_step(rng, gap):
    """A needle that turns past a wall, at least about `gap` away from it; both so turned and placed as it comes."""
    turn, scale = Rotation.random(random_state=int(rng.integers(1 << 30))), 2.0 ** int(rng.integers(-100, 101))
    needle = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0, 0.1]])
    wall = np.array([[1 + gap, -3, -3], [1 + gap, 3, -3], [1 + gap, 0, 3]]) + rng.normal(size=3) * [0, 0.1, 0.1]
    start, end = np.eye(4), np.eye(4)
    start[:3, :3] = (turn * Rotation.from_rotvec([0, 0, -rng.uniform(0.2, 1.2)])).as_matrix()
    end[:3, :3] = (turn * Rotation.from_rotvec([0, 0, rng.uniform(0.2, 1.2)])).as_matrix()
    start[:3, 3] = end[:3, 3] = rng.normal(size=3) * scale * rng.choice([0.0, 1.0])
    mesh = abut.Mesh(turn.apply(wall) * scale + start[:3, 3], [[0, 1, 2]])
    return (
        abut.Motion(abut.Rigid(abut.Mesh(needle * scale, [[0, 1, 2]])), start, end),
        abut.Motion(mesh, mesh.vertices, mesh.vertices),
        scale,
    )


def test_bodies_that_turn_are_reported_within_the_bound_and_none_is_late():
    """Contacts up to 1.4·10⁻⁸ of the scene apart were reported."""
    rng = np.random.default_rng(43)
    reported = free = 0
    for _ in range(2 if INTERPRETED else 1500 if SOAK else 60):
        asked = rng.choice([0.0, 10.0 ** rng.uniform(-12, -3)])
        gap = asked + 10.0 ** rng.uniform(-11, -6)
        turning, wall, scale = turning_step(rng, gap)
        impacts = abut.sweep(turning, wall, min_distance=asked * scale)
        size = Decimal(float(np.linalg.norm(np.ptp(np.concatenate([turning.vertices_t0, wall.vertices_t0]), axis=0))))
        with localcontext() as context:
            context.prec = 50
            bound = Decimal(float(asked * scale)) * Decimal("1.000001") + size * Decimal("1e-9")
            for kind, a, b, time in zip(impacts.kind, impacts.a, impacts.b, impacts.time.tolist(), strict=True):
                if kind == ccd.EDGE_EDGE:
                    corners = [(turning, i) for i in turning.mesh.edges[a]] + [(wall, i) for i in wall.mesh.edges[b]]
                elif kind == ccd.VERTEX_FACE:
                    corners = [(turning, a), *((wall, i) for i in wall.mesh.faces[b])]
                else:
                    corners = [(wall, b), *((turning, i) for i in turning.mesh.faces[a])]
                points = [place(motion, i, time) for motion, i in corners]
                assert distance_sq(points, kind != ccd.EDGE_EDGE) <= bound * bound
            last = min(float(impacts.time.min(initial=1.0)), 1.0)
            near = Decimal(float(asked * scale)) - size * Decimal("1e-14")
            for sample in (last * rng.random(4)).tolist():
                points = [place(turning, 1, sample), *(place(wall, i, sample) for i in range(3))]
                assert distance_sq(points, True) >= near * near * (1 if near > 0 else 0)
        reported, free = reported + bool(len(impacts)), free + (not len(impacts))
    assert min(reported, free) > 0 or INTERPRETED
