"""Free cells around an environment."""

import numpy as np
import pytest

from abut import Unsupported, cells
from abut.core import jit
from cells import worlds
from cells.edit.test_surgery import as_world, total_size, verify

COUNT = 6 if jit.INTERPRETED else 40


@pytest.mark.large
def test_a_block_in_space_is_left_and_entered_again(rng):
    world = worlds.cubes(rng, 2)
    env = world.environment
    env.set_obstacle(np.arange(8), [True] + [False] * 7)
    start = np.array([[1.5, 1.5, 1.5]] * COUNT)
    crowds = [cells.Particles(env, start, walk) for walk in ("planes", "darts")]
    new = env.surround()
    assert new.tolist() == list(range(8, 32))
    assert len(env.part_cell) == 32  # frustums about (1, 1, 1), all whole
    parts = verify(env, crowds, rng)
    assert total_size(parts) == 4.0**3
    outside = rng.uniform(-0.9, 2.9, (COUNT, 3))
    outside[:, rng.integers(3)] = -0.5
    for crowd in crowds:
        crowd.move(start)
        crowd.move(outside)
        assert (crowd.cell >= 8).any()
        moves = crowd.move(np.full((COUNT, 3), 1.5))
        assert (moves.cell[moves.status != cells.COLLISION] < 8).all()
    assert len(env.surround(1.5)) == 24
    assert total_size(as_world(env).parts()) == 6.0**3
    assert env.check_integrity() == []
    assert env.find_strangers() == []


def test_any_border_in_the_plane_is_surrounded(rng):
    """Two pieces, one of them a ring with a hollow; collinear border vertices; then everything once more around that."""
    n = 4
    vertices = np.array([[x, y] for x in range(n + 1) for y in range(n + 1)], float)
    rows = [[i * 5 + j, (i + 1) * 5 + j, (i + 1) * 5 + j + 1, i * 5 + j + 1] for i in range(n) for j in range(n)]
    ring = [row for k, row in enumerate(rows) if k not in (5, 6, 12, 13, 15)]  # a hollow, a bay and a corner less
    apart = np.array([[6.0, 1], [7, 1.5], [6.5, 3], [-1.5, 1], [-1, 1], [-1, 3]])
    env = cells.polygons(np.concatenate((vertices, apart)), [*ring, [25, 26, 27], [28, 29, 30]])
    size = total_size(as_world(env).parts())
    crowds = [cells.Particles(env, np.full((COUNT, 2), 0.5), walk) for walk in ("planes", "darts")]
    new = env.surround(1.5)
    assert total_size(verify(env, crowds, rng)) == 12.75 * 6.0 - 2.0  # a box, without the hollow
    assert size == 11 + 0.875 + 0.5
    goal = np.array([[6.5, 2.0]] * COUNT)
    for crowd in crowds:
        crowd.move(np.full((COUNT, 2), -0.9))
        crowd.move(np.array([[6.0, -0.5]] * COUNT))
        moves = crowd.move(goal)
        assert (moves.status == cells.FREE).all()
        assert (moves.cell == len(ring)).all()
    assert len(new) > 20
    env.surround()
    assert env.check_integrity() == []
    assert env.find_strangers() == []


def test_what_cannot_be_surrounded():
    vertices, hexes = worlds.grid(3)
    bay = cells.hexahedra(vertices, np.delete(hexes, [4, 13], axis=0))
    with pytest.raises(Unsupported, match="not star-shaped about its middle"):
        bay.surround()
    assert bay.cell_count == 25
    assert bay.check_integrity() == []
    apart = cells.tetrahedra(np.concatenate((worlds.grid(1)[0], worlds.grid(1)[0] + 5)), [[0, 4, 2, 1], [8, 12, 10, 9]])
    with pytest.raises(Unsupported, match="in 2 separate pieces"):
        apart.surround()
