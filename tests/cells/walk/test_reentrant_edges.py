"""Where no obstacle sticks out, nothing is hit."""

import numpy as np
import pytest

from abut.cells.walk import reentrant_edges
from abut.core import jit
from cells import oracle_cells as oracle
from cells import oracle_sweeps as sweeps
from cells import worlds
from conftest import SOAK


@pytest.mark.parametrize("make", [*worlds.WORLDS], ids=lambda make: make.__name__)
def test_nothing_is_hit_where_no_obstacle_sticks_out(make, rng):
    """Boxes that the voxels call clear, against pieces: a triangle (tetrahedron) there is free as soon as two (four) of its edges are."""
    world = make(rng)
    parts, found = world.parts(), 0
    solids = sweeps.Solids(parts)
    voxels = reentrant_edges.build_voxels(world.environment.interior.space)
    for _ in range(4000 if SOAK else (40 if jit.INTERPRETED else 400)):
        corners = worlds.free_points(world, rng, 1) + rng.uniform(-1, 1, (4, world.environment.dimension)) * rng.choice(
            [0.05, 0.2, 0.5]
        )
        low, high = np.zeros(3), np.zeros(3)
        low[: corners.shape[1]], high[: corners.shape[1]] = corners.min(axis=0), corners.max(axis=0)
        if not reentrant_edges.is_clear(voxels, tuple(low.tolist()), tuple(high.tolist())):
            continue
        p, g, b, c = corners
        if all(oracle.walk(parts, x, y)[0] == 1 for x, y in ((p, g), (p, b), (p, c), (b, c))):
            found += 1
            assert sweeps.sweep(solids, [p, g, b]) == 1
            assert world.environment.dimension == 2 or sweeps.sweep(solids, corners) == 1
    assert found > 0


def oracle_room(parts, x):
    """Half the side of a cube about x that lies in one free part, from distances to its planes in floating point."""
    for part in parts:
        if part.free and part.holds(oracle.exact(x)):
            gaps = []
            for face in part.faces:
                a, b = (np.array(corner, float) for corner in face[:2])
                normal = np.array([a[1] - b[1], b[0] - a[0]])
                if len(a) == 3:
                    normal = np.cross(b - a, np.array(face[2], float) - a)
                gaps.append(normal @ (x - a) / np.abs(normal).sum())
            return 2 * min(gaps)
    return 0.0
