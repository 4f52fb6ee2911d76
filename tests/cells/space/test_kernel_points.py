"""Centers of cells that are not convex: a point that sees all of the cell is found whenever there is one."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.cells.space.kernel_points import find_shares, inward_planes
from cells.test_campaign import volume
from conftest import SOAK

CUBE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)


@pytest.mark.parametrize("depth", [0.45, 0.4, 0.3, 0.2, 0.1, 0.02])
def test_a_cube_with_a_corner_pushed_in_is_cut_about_a_point_that_sees_it(depth):
    corners = CUBE.copy()
    corners[6] = depth
    env = cells.hexahedra(corners, [range(8)])
    moved = cells.hexahedra(CUBE, [range(8)])
    moved.deform(corners)
    assert volume(env) == volume(moved)
    for each in (env, moved):
        assert each.check_integrity() == []
        crowd = cells.Particles(each, [[0.01, 0.01, 0.01]])
        assert crowd.move([[0.001, 0.001, 0.9]]).status.tolist() == [cells.FREE]
        assert crowd.move([[0.99, 0.99, 0.99]]).status.tolist() == [cells.COLLISION]


@pytest.mark.parametrize("depth", [0.3, 0.1, 0.01])
def test_a_square_with_a_corner_pushed_in(depth):
    env = cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
    crowd = cells.Particles(env, [[0.9, 0.05], [0.05, 0.9]])
    env.deform([[depth, depth]], moved=[2])
    assert crowd.settle().tolist() == [bool(0.9 + 0.05 * (1 - depth) / depth > 1)] * 2
    assert volume(env) == 2 * depth == pytest.approx(float(volume(env)))
    with pytest.raises(InvalidInput, match="cell 0 turns flat, inside out or non-convex"):
        env.deform([[-0.1, -0.1]], moved=[2])


def test_random_stars_of_the_plane_are_taken_just_when_a_point_sees_them():
    """Against a dense grid of points, which shares nothing with linear programming: a point that sees all is never overlooked."""
    seen = missed = 0
    for seed in range(400 if SOAK else 40):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(4, 9))
        angle = np.sort(rng.uniform(0, 2 * np.pi, count))
        ring = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(count))) * rng.uniform(0.15, 1.0, (count, 1))
        edges = np.stack((ring, np.roll(ring, -1, axis=0)), axis=1)
        normals, offsets = inward_planes(edges)
        grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 161)] * 2), axis=-1).reshape(-1, 2)
        heights = (grid @ normals[:, :2].T - offsets).min(axis=1)
        shares = find_shares(ring, edges)
        if heights.max() > 0:
            seen += 1
            assert shares is not None
            center = np.repeat(ring, shares, axis=0).mean(axis=0)
            assert (normals @ center - offsets).min() > 0
        elif shares is None:
            missed += 1
    assert seen > 5
    assert missed
