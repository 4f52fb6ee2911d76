"""Triangles that faces were cut into before, against sets of places."""

import itertools

import numpy as np

from abut.cells.space.known_triangles import Known


def test_apexes_are_those_of_sets_of_places():
    """The road: each fan of each ring is looked for among sets of sets of coordinates."""
    rng = np.random.default_rng(4)
    places = rng.integers(-1, 2, (7, 3)).astype(float)
    places = np.concatenate((places, places[:5]))  # some come twice, as on the two sides of a slit

    def distinct(count, size):
        """Rows of points in different places."""
        rows = [rng.permutation(12)[:size] for _ in range(count)]
        return np.array([row for row in rows if len({*map(tuple, places[row].tolist())}) == size])

    triangles, rings = distinct(25, 3), distinct(300, 4)
    seen = {frozenset(map(tuple, places[row].tolist())) for row in triangles}
    expected = []
    for ring in rings:
        points = [tuple(point) for point in places[ring].tolist()]
        fans = [[points[(k + i) % 4] for i in range(1, 4)] for k in range(4)]
        fits = [all({points[k], *pair} in seen for pair in itertools.pairwise(fans[k])) for k in range(4)]
        expected.append(fits.index(True) if any(fits) else -1)
    moved = np.concatenate((rng.normal(size=(3, 3)), places))  # other numbers
    moved[moved == 0.0] = -0.0
    found = Known(places, triangles).find_apexes(moved, rings + 3)
    assert found.tolist() == expected
    assert min(expected) == -1 < max(expected)


def test_nothing_known():
    known = Known(np.zeros((0, 3)), np.empty((0, 3), np.int64))
    assert not known
