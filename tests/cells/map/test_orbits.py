"""Maps of darts: orbits against a closure in plain Python, Euler's formula, and every fault that `check_integrity` must find."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from cells import worlds

GENERATORS = {
    (2, 0): [("phi1_inverse", "phi2")],
    (2, 1): [("phi2",)],
    (2, 2): [("phi1",)],
    (3, 0): [("phi1_inverse", "phi2"), ("phi1_inverse", "phi3")],
    (3, 1): [("phi2",), ("phi3",)],
    (3, 2): [("phi1",), ("phi3",)],
    (3, 3): [("phi1",), ("phi2",)],
}


def closure(darts, dart, kind):
    reached, waiting = {dart}, [dart]
    while waiting:
        current = waiting.pop()
        for path in GENERATORS[darts.dimension, kind]:
            following = current
            for name in path:
                following = int(getattr(darts, name)[following])
            if following not in reached:
                reached.add(following)
                waiting.append(following)
    return reached


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_orbits_are_closures(make, rng):
    darts = make(rng, 2).environment.darts
    for kind in range(darts.dimension + 1):
        labels, count = cells.label_orbits(darts, kind)
        assert set(labels.tolist()) == set(range(count))
        for dart in rng.integers(len(darts.phi1), size=12).tolist():
            expected = closure(darts, dart, kind)
            found = cells.orbit(darts, dart, kind)
            assert found[0] == dart
            assert len(found) == len(expected)
            assert set(found.tolist()) == expected
            assert set(np.flatnonzero(labels == labels[dart]).tolist()) == expected


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_euler_and_vertices(make, rng):
    """With the outside, a block of space is a 3-sphere (0), one of the plane a sphere (2); a vertex has one orbit."""
    environment = make(rng, 2).environment
    darts = environment.darts
    counts = [cells.label_orbits(darts, kind)[1] for kind in range(darts.dimension + 1)]
    assert sum(count * (-1) ** kind for kind, count in enumerate(counts)) == (2 if darts.dimension == 2 else 0)
    labels, _ = cells.label_orbits(darts, 0)
    assert len(np.unique(np.column_stack((labels, darts.vertex)), axis=0)) == counts[0]
    assert counts[-1] == len(environment.part_cell) + 1


def test_counts_of_the_channel():
    darts = cells.channel(2, 3, 4).darts
    vertices, edges = 3 * 4 * 5, 2 * 4 * 5 + 3 * 3 * 5 + 4 * 3 * 4
    faces = 3 * 3 * 4 + 4 * 2 * 4 + 5 * 2 * 3
    assert [cells.label_orbits(darts, kind)[1] for kind in range(4)] == [vertices, edges, faces, 25]
    assert (darts.cell == cells.OUTSIDE).sum() == 2 * (2 * 3 + 3 * 4 + 4 * 2) * 4


def test_marker_undoes_what_it_touched():
    darts = cells.channel(2, 2, 1).darts
    marker = cells.Marker(len(darts.phi1))
    marker.mark(cells.orbit(darts, 0, cells.VOLUME))
    marker.mark(cells.orbit(darts, 24, cells.VOLUME))
    assert np.flatnonzero(marker.is_marked).tolist() == list(range(48))
    marker.is_marked[60] = True  # by somebody else
    marker.clear()
    assert np.flatnonzero(marker.is_marked).tolist() == [60]


def test_kinds_and_darts_out_of_range():
    darts = cells.polygons([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).darts
    with pytest.raises(InvalidInput, match="kind: 3"):
        cells.orbit(darts, 0, cells.VOLUME)
    with pytest.raises(InvalidInput, match="dart: 6"):
        cells.orbit(darts, 6, cells.EDGE)
