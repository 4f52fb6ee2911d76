"""Cells merged and cut while particles are in them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, cells, jit
from cells import oracle_cells as oracle
from cells import worlds
from cells.test_particles import check_move

COUNT = 10 if jit.INTERPRETED else 60


def volume_of(environment, cell):
    """From the cell's faces, which run anticlockwise seen from inside."""
    total = 0.0
    for ring in environment.faces_of(cell):
        points = environment.vertices[ring]
        for b, c in itertools.pairwise(points[1:]):
            total -= points[0] @ np.cross(b, c) / 6
    return total


def as_world(environment):
    loops = [environment.faces_of(cell) for cell in range(environment.cell_count)]
    if environment.dimension == 2:
        loops = [[[u, v] for ring in rings for u, v in sides(ring)] for rings in loops]
    live = [number for number, rings in enumerate(loops) if rings]
    return worlds.World(
        "after", environment, environment.vertices, [loops[k] for k in live], environment.obstacle[live]
    ), live


def sides(ring):
    return zip(ring, ring[1:] + ring[:1], strict=True)


def verify(env, crowds, rng):
    """The map is sound, every particle is in its cell, and a move of each is as rational arithmetic has it."""
    assert env.check_integrity() == []
    world, live = as_world(env)
    parts = world.parts()
    assert len(parts) == (env.part_cell >= 0).sum()
    for crowd in crowds:
        assert not crowd.settle().any()
        before = crowd.position
        targets = worlds.aim(world, rng, before)
        moves = crowd.move(targets)
        numbered = _Renumbered(moves, np.searchsorted(live, moves.cell))
        for row in range(len(crowd)):
            check_move(world, parts, before[row], targets[row], numbered, row)
    return parts


def corner(environment, *point):
    return int(np.flatnonzero((environment.vertices == point).all(axis=1))[0])


def test_a_cube_is_cut_along_a_diagonal_and_merged_again():
    env = cells.channel(3, 3, 3)
    crowd = cells.Particles(env, [[1.25, 1.75, 1.5], [1.75, 1.25, 1.5], [0.5, 0.5, 0.5]])
    middle = 13
    loop = [corner(env, 1, 1, 1), corner(env, 2, 2, 1), corner(env, 2, 2, 2), corner(env, 1, 1, 2)]
    new = env.cut(middle, loop)
    assert new == 27
    assert env.cell_count == 28
    assert env.check_integrity() == []
    assert [volume_of(env, cell) for cell in (middle, new)] == pytest.approx([0.5, 0.5])
    assert len(env.part_cell) == 28  # all whole: the faces below and above are cut in their planes
    crowd.settle()
    assert sorted(crowd.cell.tolist()) == [0, middle, new]
    inside = crowd.cell.tolist().index(middle)
    env.set_obstacle(new, True)
    moves = crowd.move(np.array([[1.75, 1.25, 1.5], [1.25, 1.75, 1.5], [0.5, 0.5, 0.5]]))
    assert moves.status[inside] == cells.COLLISION
    assert moves.position[inside] == pytest.approx([1.5, 1.5, 1.5])
    assert moves.kind[inside] == cells.FACE
    env.set_obstacle(new, False)
    env.merge(middle, new)
    assert env.check_integrity() == []
    assert volume_of(env, middle) == pytest.approx(1.0)
    crowd.settle()
    assert set(crowd.cell.tolist()) == {0, middle}


def test_moves_after_surgery_agree_with_rational_arithmetic(rng):
    env = cells.channel(3, 3, 3, worlds.some(rng, 27))
    points = worlds.free_points(
        worlds.World("", env, env.vertices, worlds.loops_of_hexes(worlds.grid(3)[1]), env.obstacle), rng, COUNT
    )
    crowds = [cells.Particles(env, points, walk) for walk in ("planes", "darts")]
    diagonal = [(0, 0, 0), (1, 1, 0), (1, 1, 1), (0, 0, 1)]
    for cell in (0, 13, 26, 5):
        base = env.vertices[env.faces_of(cell)[0][0]]
        env.cut(cell, [corner(env, *(base + step)) for step in diagonal])
    env.merge(*(cell for cell in (9, 18)) if env.obstacle[9] == env.obstacle[18] else (0, 27))
    verify(env, crowds, rng)


class _Renumbered:
    """Moves whose cells are counted without those that were merged away."""

    def __init__(self, moves, cell):
        self._moves, self.cell = moves, cell

    def __getattr__(self, name):
        return getattr(self._moves, name)


def test_a_tetrahedron_cut_off_a_cube():
    env = cells.channel(1, 1, 1)
    new = env.cut(0, [corner(env, 1, 0, 0), corner(env, 0, 1, 0), corner(env, 0, 0, 1)])
    volumes = sorted(volume_of(env, cell) for cell in (0, new))
    assert volumes == pytest.approx([1 / 6, 5 / 6])
    assert len(env.part_cell) == 2
    crowd = cells.Particles(env, [[0.9, 0.9, 0.9]])
    assert crowd.move([[0.1, 0.1, 0.1]]).status.tolist() == [cells.FREE]


REFUSED = {
    "not neighbours": (lambda env: env.merge(0, 2), "cells: 0 and 2 do not share a face"),
    "one cell": (lambda env: env.merge(1, 1), "cells: 1 and 1 do not share a face"),
    "no such cell": (lambda env: env.merge(0, 4), "b: 4 is not between 0 and 3"),
    "obstacle": (lambda env: env.merge(0, 1), "cells: one of 0 and 1 is an obstacle, the other is free"),
    "foreign corner": (lambda env: env.cut(0, [0, 1, 19]), "corners[2]: vertex 19 is not a corner of cell 0"),
    "two corners": (lambda env: env.cut(0, [0, 1]), "corners: must be three or more different vertices"),
    "no common face": (lambda env: env.cut(0, diagonal_of(env)), "no face of cell 0 holds both"),
    "around a face": (lambda env: env.cut(0, face_of(env)), "hexes[4]: is flat"),
}


def diagonal_of(env):
    return [corner(env, 0, 0, 0), corner(env, 1, 1, 1), corner(env, 1, 0, 0)]


def face_of(env):
    return [corner(env, 0, 0, 0), corner(env, 1, 0, 0), corner(env, 1, 1, 0), corner(env, 0, 1, 0)]


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_and_changes_nothing(name):
    env = cells.channel(4, 1, 1, [False, True, False, False])
    call, words = REFUSED[name]
    with pytest.raises(InvalidInput) as caught:
        call(env)
    assert words in str(caught.value)
    assert env.cell_count == 4
    assert env.check_integrity() == []


def test_two_blocks_are_sewn_together():
    """Each has corners of its own, so there is a wall between them until they are sewn."""
    vertices, hexes = worlds.grid(1)
    env = cells.hexahedra(
        np.concatenate((vertices, vertices + np.array([1.0, 0.0, 0.0]))), np.concatenate((hexes, hexes + 8))
    )
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5]])
    moves = crowd.move([[1.5, 0.5, 0.5]])
    assert moves.status.tolist() == [cells.COLLISION]
    assert moves.position.tolist() == [[1.0, 0.5, 0.5]]
    env.sew(0, 1)
    assert env.check_integrity() == []
    assert [cells.label_orbits(env.darts, kind)[1] for kind in range(4)] == [12, 20, 11, 3]
    moves = crowd.move([[1.5, 0.5, 0.5]])
    assert moves.status.tolist() == [cells.FREE]
    assert moves.cell.tolist() == [1]
    with pytest.raises(InvalidInput, match="cells: 0 and 1 have no border faces in the same place"):
        env.sew(0, 1)


def test_two_cells_that_are_not_convex_together_are_refused():
    env = cells.channel(2, 2, 1)
    env.merge(0, 1)
    with pytest.raises(InvalidInput, match=r"hexes\[0\]: is not convex"):
        env.merge(0, 2)
    assert env.check_integrity() == []
    env.merge(2, 3)
    env.merge(0, 2)
    assert volume_of(env, 0) == 4.0
    assert set(env.part_cell.tolist()) == {0}  # of sixteen faces, more than a record holds: several parts
    crowd = cells.Particles(env, [[0.25, 0.25, 0.5]])
    assert crowd.move([[1.75, 1.75, 0.5]]).status.tolist() == [cells.FREE]


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_plane_cuts_agree_with_rational_arithmetic(make, rng):
    """A region, then single cells, by planes in general position: new vertices are rounded, and nothing slips through."""
    world = make(rng, 2)
    env, dimension = world.environment, world.environment.dimension
    crowds = [cells.Particles(env, worlds.free_points(world, rng, COUNT // 2), walk) for walk in ("planes", "darts")]
    size = total_size(world.parts())
    count, before = env.cell_count, env.obstacle
    pairs = env.cut(plane=(np.full(dimension, 1.1), rng.normal(size=dimension)))
    assert pairs[:, 1].tolist() == list(range(count, env.cell_count))
    assert (env.obstacle[pairs[:, 1]] == before[pairs[:, 0]]).all()
    assert total_size(verify(env, crowds, rng)) == pytest.approx(size, rel=1e-12)
    for cell in rng.choice(pairs[:, 0], size=3, replace=False).tolist():
        ring = env.vertices[sorted({corner for ring in env.faces_of(cell) for corner in ring})]
        env.cut(plane=(ring.mean(axis=0), rng.normal(size=dimension)), cells=[cell])
    assert total_size(verify(env, crowds, rng)) == pytest.approx(size, rel=1e-12)


def total_size(parts):
    """Exactly: faces between parts cancel, so this is what the border encloses."""
    total = Fraction(0)
    for part in parts:
        for face in part.faces:
            if len(face) == 2:
                (a, b), (c, d) = face
                total += (a * d - b * c) / 2
            for b, c in itertools.pairwise(face[1:]):
                total -= oracle.det(b, c, face[0]) / 6
    return float(total)
