"""Voxels with every number of facets, against brute force: all facets against all."""

import numpy as np
import pytest

from abut.papers.grid import Voxels
from conftest import SLOW, sizes
from discrete.situations import soup
from oracles.bodies import meeting_pairs

# Entries of the first layer, large facets (512), pairs found at once (4096).
COUNTS = [1, 9] if SLOW else sizes(8, 16, 64, 256, 512)


@pytest.mark.parametrize("cell_size", [None, 0.3])
def test_facets_of_any_number(cell_size):
    rng = np.random.default_rng(1)
    for case, count in enumerate(COUNTS):
        a, b = soup(rng, count, 0.5, 0.15), soup(rng, int(rng.integers(1, 20 if SLOW else 600)), 0.5, 0.15)
        grid = Voxels(cell_size)
        one, two = grid.add(a, immobile=case % 2 == 0), grid.add(b)
        expected = meeting_pairs(a.vertices, a.faces, b.vertices, b.faces)
        assert list(map(tuple, grid.collide()[one, two].tolist())) == expected, (count, len(b.faces))
        moved = b.vertices + rng.normal(scale=0.2, size=3)
        grid.update(two, moved)
        expected = meeting_pairs(a.vertices, a.faces, moved, b.faces)
        assert list(map(tuple, grid.collide()[one, two].tolist())) == expected, (count, len(b.faces))
        grid.validate()
