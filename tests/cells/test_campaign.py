"""Particles and bodies in a space that moves, is cut, opened, merged and sewn, in any order: nothing passes a wall, ever.

`campaign` says what is judged, and how.

Short in the suite. With ABUT_SOAK=1 1,200 spaces of 12 changes each: more than 10⁶ moves of particles and 5·10⁴ of bodies, in parameter sets that run
by themselves (`-k`).
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.core import jit
from cells import campaign, worlds
from cells import oracle_cells as oracle
from cells import oracle_crossings as crossings
from conftest import SOAK

SIZES = (
    campaign.Sizes(12, 60, 3, 4)
    if SOAK
    else campaign.Sizes(1, 2, 1, 1)
    if jit.INTERPRETED
    else campaign.Sizes(3, 6, 1, 2)
)
SEEDS = range(240) if SOAK else range(1)


def volume(environment):
    """Twice the area, or six times the volume, of all parts."""
    vertices, dimension = [oracle.exact(v) for v in environment.interior.space.vertices], environment.dimension
    parts, _ = worlds.subdivision_of(environment, range(environment.cell_count))
    total = Fraction(0)
    for rings in (rings for part in parts for rings in part):
        for ring in rings:
            a, *rest = (vertices[corner][:dimension] for corner in ring)
            if dimension == 2:
                total += a[0] * rest[0][1] - a[1] * rest[0][0]
            else:
                total -= sum(oracle.det(a, b, c) for b, c in itertools.pairwise(rest))
    return total


@pytest.mark.large
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_whatever_is_done_to_the_space_no_wall_is_passed(make, seed):
    done = campaign.campaign(make, seed, SIZES)
    assert done["moves"]
    assert done["mobile moves"]


def test_a_particle_on_a_wall_is_found_on_its_side_of_a_slit():
    """Particles rest on the bulging walls of an obstacle. A slit puts new corners on these, which are rounded, so that some particles are behind a
    wall by a last bit, and no part of a free cell holds them: a walk from beyond the slit must not tell where they are."""
    for seed in range(2 if jit.INTERPRETED else 25):
        rng = np.random.default_rng(seed)
        env = cells.channel(2, 1, 1, obstacle=[False, True])
        vertices = env.vertices + rng.uniform(-0.1, 0.1, env.vertices.shape)
        env.deform(vertices)
        crowd = cells.Particles(env, np.full((40, 3), 0.5))
        ends = vertices[rng.choice(np.flatnonzero(env.vertices[:, 0] // 0.75 == 1), (40, 2))]
        crowd.move(
            ends[:, 0] + rng.uniform(0.1, 0.9, (40, 1)) * (ends[:, 1] - ends[:, 0])
        )  # edges of the wall among them
        before = crowd.position
        env.cut(plane=(rng.uniform(0.4, 0.6, 3), rng.normal(size=3)), slit=True)
        crowd.settle()
        assert np.abs(crowd.position - before).max() <= campaign.ROUNDING, seed


def test_a_cut_along_corners_does_not_move_a_wall_that_bulges():
    """A face of a warped cube is bent along one of its diagonals. Along that it is cut as it is; along the other it would be bent there."""
    env = cells.channel(2, 1, 1)
    vertices = env.vertices.copy()
    vertices[(vertices == (2, 1, 1)).all(axis=1)] = (2.0, 1.5, 1.25)
    env.deform(vertices)
    size, top = volume(env), [[1, 0, 1], [2, 0, 1], [2, 1.5, 1.25], [1, 1, 1]]
    low = [[1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0]]
    rows = [[int(np.flatnonzero((env.vertices == place).all(axis=1))[0]) for place in ring] for ring in (low, top)]
    refused = 0
    for k in (1, 0) if bends_from(env, rows[1][0], rows[1][2]) else (0, 1):  # first the other diagonal
        loop = [rows[0][k], rows[0][k + 2], rows[1][k + 2], rows[1][k]]
        if bends_from(env, rows[1][k], rows[1][k + 2]):
            env.cut(1, loop)
            assert env.cell_count == 3
        else:
            refused += 1
            with pytest.raises(
                InvalidInput, match=r"corners\[\d\]: .* it would jump; cut along its bends, or by a plane"
            ):
                env.cut(1, loop)
        assert volume(env) == size
        assert env.check_integrity() == []
    assert refused == 1


def bends_from(env, u, v):
    """Whether the map has an edge between two vertices."""
    darts = env.darts
    inner = np.flatnonzero(darts.cell >= 0)
    return bool(((darts.vertex[inner] == u) & (darts.vertex[darts.phi1[inner]] == v)).any())


def test_the_oracle_sees_what_goes_through_a_wall():
    """A square wall between two cubes, with an obstacle beyond."""
    env = cells.channel(2, 1, 1, obstacle=[False, True])
    loops = worlds.loops_of_hexes(np.array([sorted_hex(env, cell) for cell in range(2)]))
    walls = crossings.walls_of(oracle.build(env.vertices, loops, env.obstacle))
    assert len(walls.rings) == 6
    through = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [0.5, 0.75, 0.5]])
    assert crossings.is_crossed(walls, through)
    assert not crossings.is_crossed(walls, np.minimum(through, 1.0))  # touches
    assert not crossings.is_crossed(walls, through - [0.5, 0.0, 0.0])  # a corner in the wall
    assert not crossings.is_crossed(walls, through * [0.0, 1.0, 1.0] + [1.0, 0.0, 0.0])  # in its plane
    assert crossings.holds_a_corner(walls, np.array([[0.5, 0.5, 0.5], [2.0, 1, 1], [1, 2.0, 1], [1, 1, 2.0]]))
    assert not crossings.holds_a_corner(walls, np.array([[0.5, 0.5, 0.5], [1.0, 1, 1], [1, 2.0, 1], [1, 1, 2.0]]))


def sorted_hex(env, cell):
    corner = env.vertices[np.unique(np.concatenate(env.faces_of(cell)))].min(axis=0)
    return [int(np.flatnonzero((env.vertices == corner + step).all(axis=1))[0]) for step in np.array(worlds.CORNERS)]
