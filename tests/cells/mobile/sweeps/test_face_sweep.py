"""Swept faces against many small pieces of time, in rational arithmetic."""

import numpy as np
import pytest

from abut import cells
from abut.core import jit
from abut.core.errors import InvalidInput
from cells import oracle_sweeps as sweeps
from cells import worlds
from cells.mobile.sweeps.test_edge_sweep import bodies, check_time, lone, speck
from conftest import SOAK

FACES = 2500 if SOAK else (2 if jit.INTERPRETED else 10)


SOLID = [worlds.cubes, worlds.tetrahedra, speck, lone(worlds.cubes), lone(worlds.tetrahedra)]


@pytest.mark.large
@pytest.mark.parametrize("make", SOLID, ids=lambda make: make.__name__)
def test_swept_faces_agree_with_pieces(make, rng):
    world = make(rng)
    solids = sweeps.Solids(world.parts())
    done, unseen = 0, 0
    for body, corners, goal in bodies(world, rng, 3):
        try:
            moves = body.move(np.array([goal, *corners[1:]]), "continuous", cull="none")
        except InvalidInput:  # its edges are free, but not its face
            continue
        expected = sweeps.sweep(solids, [corners[0], goal, *corners[1:]])
        done += 1
        if done > FACES:
            break
        if expected is None:
            continue
        assert (moves.status[0] == cells.COLLISION) == (expected < 1)
        if expected < 1:
            check_time(moves.time[0], expected)
            reached = moves.position[0]
            assert sweeps.sweep(solids, [corners[0], reached, *corners[1:]]) in (None, 1)
            triangles = ([corners[0], goal, corners[1]], [corners[0], goal, corners[2]], [goal, *corners[1:]])
            unseen += all(sweeps.is_flat(x) or sweeps.is_free(solids, x) for x in triangles)
    assert unseen > 0 or world.name != "speck" or not SOAK  # the speck lay wholly inside the tetrahedron
