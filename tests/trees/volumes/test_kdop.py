from fractions import Fraction

import numpy as np
import pytest

from abut.core import jit
from abut.trees import volumes
from abut.trees.volumes.kdop import COLUMNS, DIRECTIONS, LENGTHS, first_direction
from oracles.rationals import exact, root

KINDS = [f"kdop{k}" for k in COLUMNS]
CASES = 30 if jit.INTERPRETED else 400


def directions_of(kind):
    columns = COLUMNS[int(kind[4:])]
    first = first_direction(columns)
    return DIRECTIONS[first : first + columns]


def random_triangles(rng, count):
    scale = 10.0 ** rng.integers(-3, 4, (count, 1, 1))
    points = (rng.normal(size=(count, 3, 3)) + 2 * rng.normal(size=(count, 1, 3))) * scale
    return np.ascontiguousarray(points.reshape(-1, 3)), np.arange(3 * count).reshape(-1, 3)


def test_directions_are_the_named_ones():
    counts = {
        kind: np.bincount(np.abs(directions_of(kind)).sum(axis=1).astype(int), minlength=4)[1:].tolist()
        for kind in KINDS
    }
    assert counts == {
        "kdop6": [3, 0, 0],
        "kdop8": [0, 0, 4],
        "kdop12": [0, 6, 0],
        "kdop14": [3, 0, 4],
        "kdop18": [3, 6, 0],
        "kdop26": [3, 6, 4],
    }
    rows = {tuple(row) for row in DIRECTIONS} | {tuple(-row) for row in DIRECTIONS}
    assert len(rows) == 26
    for length, direction in zip(LENGTHS, DIRECTIONS, strict=True):
        assert Fraction(length) ** 2 >= sum(Fraction(x) ** 2 for x in direction)


@pytest.mark.parametrize("kind", KINDS)
def test_fit_holds_the_true_projections(kind, rng):
    vertices, faces = random_triangles(rng, CASES)
    v = volumes.fit_each(kind, vertices, faces)
    for i, face in enumerate(faces):
        for column, direction in enumerate(directions_of(kind)):
            along = [sum(x * y for x, y in zip(exact(direction), exact(p), strict=True)) for p in vertices[face]]
            assert Fraction(v.lo[i, column]) <= min(along)
            assert max(along) <= Fraction(v.hi[i, column])
            assert (
                v.hi[i, column] - v.lo[i, column]
                <= float(max(along) - min(along)) + 1e-14 * np.abs(vertices[face]).sum()
            )


def test_more_directions_separate_more(rng):
    vertices, faces = random_triangles(rng, 10 * CASES)
    half = len(faces) // 2
    found = {
        kind: volumes.overlap_each(
            volumes.fit_each(kind, vertices, faces[:half]), volumes.fit_each(kind, vertices, faces[half:])
        )
        for kind in ["aabb", *KINDS]
    }
    np.testing.assert_array_equal(found["aabb"], found["kdop6"])
    for fine, coarse in [("26", "18"), ("26", "14"), ("18", "12"), ("18", "6"), ("14", "6"), ("14", "8")]:
        assert (found["kdop" + fine] <= found["kdop" + coarse]).all()
        if not jit.INTERPRETED:  # too few cases there
            assert found["kdop" + fine].sum() < found["kdop" + coarse].sum()


@pytest.mark.parametrize("kind", KINDS)
def test_distance_bound_is_below_the_distance_of_vertices(kind, rng):
    vertices, faces = random_triangles(rng, 2 * CASES)
    a, b = (volumes.fit_each(kind, vertices, part) for part in (faces[:CASES], faces[CASES:]))
    bounds = volumes.distance_bound_each(a, b)
    assert ((bounds > 0) <= ~volumes.overlap_each(a, b)).all()
    for bound, p, q in zip(bounds, vertices[faces[:CASES]], vertices[faces[CASES:]], strict=True):
        assert bound <= np.linalg.norm(p[:, np.newaxis] - q, axis=2).min()


@pytest.mark.parametrize("kind", KINDS)
def test_distance_bound_along_its_own_directions_is_the_distance(kind):
    """Two points apart along a direction: the bound is their distance, never above it."""
    for direction in directions_of(kind):
        for step in (1.0, 1e-3, 0.1, 1e30):
            points = np.array([np.zeros(3), step * direction])
            a, b = (volumes.fit_each(kind, points, np.array([[i]])) for i in (0, 1))
            distance = root(sum(Fraction(x) ** 2 for x in points[1]))
            bound = volumes.distance_bound_each(a, b)[0]
            assert Fraction(bound) <= distance
            assert bound >= float(distance) * (1 - 1e-14)
            margin = np.nextafter(float(distance), np.inf)
            assert volumes.overlap_each(a, b, volumes.same(margin)).all()
            assert not volumes.overlap_each(a, b, volumes.same(0.999 * margin)).any()
            volumes.grow_each(a, margin)
            assert volumes.overlap_each(a, b).all()


@pytest.mark.parametrize("kind", KINDS)
def test_common_points_are_never_separated(kind, rng):
    """Triangles that share a vertex far from the origin, where projections are rounded."""
    vertices, faces = random_triangles(rng, 2 * CASES)
    vertices += 1e6 * rng.normal(size=3)
    faces[CASES:, 0] = faces[:CASES, 0]
    a, b = (volumes.fit_each(kind, vertices, part) for part in (faces[:CASES], faces[CASES:]))
    assert volumes.overlap_each(a, b).all()
    assert not volumes.distance_bound_each(a, b).any()
