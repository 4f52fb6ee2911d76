"""Cells merged and cut while particles are in them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.cells.edit import surgery
from abut.core import jit
from cells import oracle_cells as oracle
from cells import worlds
from cells.test_particles import check_move
from conftest import SOAK, ends

COUNT = 10 if jit.INTERPRETED else 60
SEEDS = 200 if SOAK else 1
LONGEST = 60
"""Cells beyond which an environment is not cut through as a whole any more."""


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
    chosen, marks = [loops[k] for k in live], environment.obstacle[live]
    return worlds.World("after", environment, environment.vertices, chosen, marks, live)


def sides(ring):
    return zip(ring, ring[1:] + ring[:1], strict=True)


def verify(env, crowds, rng, again=False):
    """The map is sound, every particle is in its cell, and a move of each is as rational arithmetic has it.

    `again`: the environment was deformed after surgery. Walls may have passed over particles.
    """
    assert env.check_integrity() == []
    world = as_world(env)
    parts, live = world.parts(), world.numbers
    assert len(parts) == (env.part_cell >= 0).sum()
    for crowd in crowds:
        assert again or not crowd.settle().any()
        before, first = crowd.position, np.searchsorted(live, crowd.cell)
        targets = worlds.aim(world, rng, before)
        moves = crowd.move(targets)
        numbered = _Renumbered(moves, np.searchsorted(live, moves.cell))
        for row in range(len(crowd)):
            check_move(world, parts, before[row], targets[row], numbered, row, cell=first[row])
        assert not env.obstacle[cells.Particles(env, crowd.position).cell].any()  # located anew
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
    "around a face": (
        lambda env: env.cut(0, face_of(env)),
        "corners: run around a face of cell 0: nothing would be cut off",
    ),
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


@pytest.mark.large
@pytest.mark.parametrize("make", ends(worlds.WORLDS), ids=lambda make: make.__name__)
def test_plane_cuts_agree_with_rational_arithmetic(make, rng):
    """A region, then single cells, by planes in general position: new vertices are rounded, and nothing slips through."""
    world = make(rng, 2)
    env, dimension = world.environment, world.environment.dimension
    crowds = [cells.Particles(env, worlds.free_points(world, rng, COUNT // 2), walk) for walk in ("planes", "darts")]
    size = total_size(world.parts())
    count, before = env.cell_count, env.obstacle
    pairs = env.cut(plane=(np.full(dimension, 1.1), rng.normal(size=dimension)))
    # Cells of which a half could not be seen from one point have fallen into their parts first.
    assert pairs[:, 1].tolist() == list(range(env.cell_count - len(pairs), env.cell_count))
    assert len(pairs) == env.cell_count - count or make is not worlds.cubes
    before = np.concatenate((before, env.obstacle[count:]))
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


DEGENERATE = {
    "through corners and along edges": ([1.5, 1.5, 0], [1, -1, 0], 2, 0),  # the diagonal of the cells 0 and 3
    "along an edge and through a face": ([0, 0, 0], [1, -2, 0], 2, 2),
    "through a corner alone": ([0, 0, 0], [1, 1, 1], 0, 0),
    "along an edge alone": ([0, 0, 0.5], [1, 1, 0], 0, 0),
    "along a face between cells": ([1, 0, 0], [1, 0, 0], 0, 0),
    "along the border": ([0, 0, 0], [0, 0, 1], 0, 0),
    "beside everything": ([0, 0, 3], [0, 0, 1], 0, 0),
    "a hair beside a face": ([1 + 2.0**-40, 0, 0], [1, 0, 0], 0, 0),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_planes_through_corners_edges_and_faces(name):
    point, normal, cut_count, new_vertices = DEGENERATE[name]
    env = cells.channel(2, 2, 1)
    if cut_count == 0:
        with pytest.raises(InvalidInput, match="plane: passes through no cell"):
            env.cut(plane=(point, normal))
        with pytest.raises(InvalidInput, match=r"cells\[1\]: the plane does not pass through the inside of cell 0"):
            env.cut(plane=([0.5, 1.5, 0.5], [0, 1, 0]), cells=[1, 0])
    else:
        pairs = env.cut(plane=(point, normal))
        assert len(pairs) == cut_count
        heights = [
            (env.vertices[np.unique(np.concatenate(env.faces_of(cell)))] - point) @ normal for cell in pairs.ravel()
        ]
        assert [np.sign(h[np.abs(h) > 1e-12]).tolist() for h in heights[::2]] == [
            [-1] * int((np.abs(h) > 1e-12).sum()) for h in heights[::2]
        ]
        assert all((h > -1e-12).all() for h in heights[1::2])
    assert env.cell_count == 4 + cut_count
    assert len(env.vertices) == 18 + new_vertices
    assert env.check_integrity() == []


def change(env, crowds, rng):
    """One operation at a random place."""
    dimension, rings = env.dimension, env.interior.open_rings()
    live = [cell for cell in range(env.cell_count) if env.faces_of(cell)]
    cell = int(rng.choice(live))
    corners = env.vertices[np.unique(np.concatenate(env.faces_of(cell)))]
    plane = (corners.mean(axis=0), rng.normal(size=dimension))
    if rng.random() < 0.3:
        plane = (corners[0], np.eye(dimension)[rng.integers(dimension)])
    beside = [other for face in rings.faces(cell) if (other := rings.beyond(cell, face)) is not None]
    kind = rng.integers(7)
    if kind == 0 and len(live) < LONGEST:
        env.cut(plane=plane)
    elif kind == 1:
        env.cut(plane=plane, cells=[cell])
    elif kind == 2:
        env.cut(plane=plane, cells=[cell], slit=True)
    elif kind == 3 and beside:
        env.merge(cell, beside[0])
    elif kind == 4 and beside:
        env.unsew([cell] * len(beside), beside)
    elif kind == 5:
        for crowd in crowds:
            crowd.settle()
        if not any((crowd.cell == cell).any() for crowd in crowds):
            env.set_obstacle(cell, not env.obstacle[cell])
    else:
        places, place = np.unique(env.vertices, axis=0, return_inverse=True)  # the two sides of a slit move together
        shift = np.round(rng.uniform(-0.02, 0.02, places.shape) * 1024) / 1024 * (rng.random((len(places), 1)) < 0.3)
        env.deform(env.vertices + (shift * (places > 0) * (places < 2))[place.ravel()])


def test_a_bent_slit_whose_sides_share_three_corners_stays_closed():
    """The corner (1, 2, 0) is doubled, the others are not; bent, both sides are cut along these three."""
    env = cells.channel(2, 2, 2)
    left, right = cells.Particles(env, [[0.5, 1.5, 0.5], [1.5, 1.5, 0.5]]).cell.tolist()
    env.unsew([left], [right])
    vertices = env.vertices.copy()
    vertices[corner(env, 1, 1, 1)] += (0.125, 0, 0)
    env.deform(vertices)
    assert env.check_integrity() == []
    crowd = cells.Particles(env, [[0.875, 4 / 3, 2 / 3], [1.25, 4 / 3, 2 / 3]])
    moves = crowd.move([[1.25, 4 / 3, 2 / 3], [0.875, 4 / 3, 2 / 3]])
    assert moves.status.tolist() == [cells.COLLISION, cells.COLLISION]
    np.testing.assert_allclose(moves.position[:, 0], 3.125 / 3, atol=1e-12)


def begin(world, rng, walk):
    """Six particles. Where a warped face bulges into a free cell, a point drawn there is refused, and others are drawn."""
    while True:
        try:
            return cells.Particles(world.environment, worlds.free_points(world, rng, 6), walk)
        except InvalidInput as error:
            if "an obstacle" not in str(error):
                raise


@pytest.mark.large
@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
def test_surgeries_in_a_row(make):
    """Every operation after every other, deformation among them; refusals change nothing."""
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        world = make(rng, 2)
        env = world.environment
        crowds = [begin(world, rng, walk) for walk in ("planes", "darts")]
        for step in range(12):
            before = env.cell_count, len(env.vertices), env.vertices, env.obstacle.tolist(), env.part_cell.tolist()
            try:
                change(env, crowds, rng)
            except InvalidInput:
                after = env.cell_count, len(env.vertices), env.vertices, env.obstacle.tolist(), env.part_cell.tolist()
                assert before[:2] + before[3:] == after[:2] + after[3:]
                assert (before[2] == after[2]).all()
            if step % 4 == 3:
                for crowd in crowds:
                    crowd.settle()
                verify(env, crowds, rng, again=True)


def tables_of(env):
    return {
        name: np.array(table) for name, table in env.interior.space._asdict().items() if isinstance(table, np.ndarray)
    }


def test_only_the_cells_concerned_are_touched():
    """By what is written, not by time: rows of parts elsewhere, their darts and particles stay as they are."""
    env = cells.channel(6, 6, 6)
    crowd = cells.Particles(env, np.random.default_rng(0).uniform(0, 6, (500, 3)), "darts")
    crowd.move(crowd.position + 0.01)
    rng = np.random.default_rng(1)
    middle, beside = (2 * 6 + 2) * 6 + 2, (3 * 6 + 4) * 6 + 3

    def pull():
        vertices = env.vertices.copy()
        vertices[corner(env, 3, 3, 3)] += 0.0625
        env.deform(vertices)

    for act, reach in (
        (lambda: env.cut(plane=([2.5, 2.5, 2.55], rng.normal(size=3)), cells=[middle]), 2),
        (lambda: env.cut(middle + 36, [corner(env, *p) for p in ((3, 2, 2), (4, 3, 2), (4, 3, 3), (3, 2, 3))]), 2),
        (lambda: env.merge(middle + 36, env.cell_count - 1), 2),
        (pull, 2),
        (lambda: env.unsew([beside] * 6, [beside + step for step in (-36, -6, -1, 1, 6, 36)]), 2),
        (lambda: env.set_obstacle(beside, True), 2),
    ):
        before, heading, cell, seen = (
            tables_of(env),
            crowd._heading.dart.copy(),
            crowd._places.part.copy(),
            env.interior.version,
        )
        act()
        after = tables_of(env)
        touched = env.interior.changed_since(seen)
        parts = np.flatnonzero(touched)
        middles = env.vertices[[np.unique(np.concatenate(env.faces_of(c)))[0] for c in np.unique(env.part_cell[parts])]]
        assert (np.abs(middles - 2.5) <= reach + 1.5).all()
        rest = np.flatnonzero(~touched[: len(before["obstacle"])])
        rest = rest[env.part_cell[rest] != beside]  # its mark is no reason to look at particles
        assert len(rest) > 150
        for name in ("obstacle", "face", "planes"):
            np.testing.assert_array_equal(before[name][rest], after[name][rest], name)  # out-of-date planes are NaN
        changed = np.flatnonzero((before["neighbour"][rest] != after["neighbour"][rest]).any(axis=1))
        assert len(changed) < 40  # neighbours see other parts
        darts = np.flatnonzero(np.isin(before["cell"], rest))
        for name in ("phi1", "phi2", "cell"):
            assert (before[name][darts] == after[name][darts]).all(), name
        places = [tables["vertices"][tables["vertex"][darts]] for tables in (before, after)]
        moved = (places[0] != places[1]).any(axis=1)
        assert not moved.any()  # new vertices take the rows of centres, which get others: the same places
        crowd.settle()
        elsewhere = ~touched[np.minimum(cell, len(touched) - 1)] & (cell < len(touched))
        assert elsewhere.sum() > 300
        assert (crowd._places.part[elsewhere] == cell[elsewhere]).all()
        assert (crowd._heading.dart[elsewhere] == heading[elsewhere]).all()
        assert env.check_integrity() == []


def test_results_do_not_change_under_surgery():
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    moves, kept = (crowd.move([[0.25, 0.25, 0.25], [1.75, 0.5, 0.5]]) for _ in range(2))
    darts = kept.dart.tolist()
    env.cut(plane=([1, 0.5, 0.5], [1, 0.1, 0.3]))
    env.merge(0, 2)
    assert moves.cell.tolist() == [0, 1]
    assert moves.dart.tolist() == kept.dart.tolist() == darts


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_a_slit_is_a_wall_without_thickness(walk):
    env = cells.channel(4, 3, 3)
    start = np.array([[0.5, 1.5, 1.5], [3.5, 1.5, 1.5], [0.5, 1.0, 1.0], [0.5, 0.5, 0.5]])
    goal = np.array([[3.5, 1.5, 1.5], [0.5, 1.5, 1.5], [3.5, 1.0, 1.0], [1.625, 0.5, 0.5]])
    crowd = cells.Particles(env, start, walk)
    pairs = env.cut(plane=([1.625, 0, 0], [1, 0, 0]), slit=True)
    moves = crowd.move(goal)
    assert moves.status.tolist() == [cells.COLLISION] * 3 + [cells.CONTACT]
    assert moves.position[:, 0].tolist() == [1.625] * 4
    assert moves.kind[:3].tolist() == [cells.FACE, cells.FACE, cells.VERTEX]
    env.sew(pairs[:, 0], pairs[:, 1])
    assert env.check_integrity() == []
    assert crowd.move(goal).status.tolist() == [cells.FREE] * 4
    # Not all the way through: what passes the rim or beside it goes on.
    env = cells.channel(4, 3, 3)
    env.cut(plane=([1.625, 0, 0], [1, 0, 0]), cells=[9, 10, 12, 13], slit=True)
    start = np.array([[0.5, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 2.0, 1.0], [0.5, 2.5, 2.5]])
    moves = cells.Particles(env, start, walk).move(start + np.array([3.0, 0, 0]))
    assert moves.status.tolist() == [cells.COLLISION, cells.COLLISION, cells.FREE, cells.FREE]


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_sides_of_a_slit_that_overlap_are_walls_each_to_its_own_cells(walk):
    """One side is pushed into the other: particles meet the wall of the cell they are in, and the strangers are named."""
    env = cells.channel(2, 1, 1)
    start = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    env.unsew(0, 1)
    crowd = cells.Particles(env, start, walk, debug=True)
    vertices = env.vertices.copy()
    side = [v for v in np.unique(env.faces_of(1)) if vertices[v, 0] == 1]
    vertices[side, 0] = 0.75
    env.deform(vertices)
    moves = crowd.move([[0.875, 0.5, 0.5], [1.5, 0.5, 0.5], [0.875, 0.5, 0.5], [0.5, 0.5, 0.5]])
    assert moves.status.tolist() == [cells.FREE, cells.COLLISION, cells.FREE, cells.COLLISION]
    assert moves.position[:, 0].tolist() == [0.875, 1.0, 0.875, 0.75]
    assert moves.cell.tolist() == [0, 0, 1, 1]
    assert [line.split(":")[0] for line in env.find_strangers()] == [
        f"vertex {v} lies on the border of cell {1 if v not in side else 0} and is no corner of it"
        for v in sorted({*side, *(v for v in np.unique(env.faces_of(0)) if vertices[v, 0] == 1)})
    ]


def test_vertices_that_a_cut_puts_on_one_side_of_a_slit():
    """They are rounded, so that they lie before the other side, in it or behind it: a touch is one of the cells that the particle is in."""
    env = cells.channel(1, 1, 1)
    (behind, before) = env.cut(plane=([0.5, 0.5, 0.5], [1, 0.3, 0.2]), slit=True)[0].tolist()
    count = len(env.vertices)
    env.cut(plane=([0.7, 0.6, 0.5], [0.3, 1, 0.7]), cells=[before])
    world, crowds = as_world(env), [cells.Particles(env, [[0.25, 0.5, 0.5]], walk) for walk in ("planes", "darts")]
    parts, goals = world.parts(), env.vertices[count:]
    assert len(goals) > 3
    for crowd, goal in itertools.product(crowds, goals):
        crowd.move([[0.25, 0.5, 0.5]])
        check_move(world, parts, crowd.position[0], goal, crowd.move([goal]), 0, cell=behind)


@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_a_particle_sleeps_through_a_merge_and_a_deformation(walk):
    """The number of its part is beyond all that are in use when it wakes."""
    env = cells.channel(2, 1, 1)
    new = env.cut(1, [corner(env, *point) for point in ((1, 0, 0), (2, 1, 0), (2, 1, 1), (1, 0, 1))])
    crowd = cells.Particles(env, [[1.75, 0.5, 0.5], [1.25, 0.5, 0.5], [0.5, 0.5, 0.5]], walk)
    assert sorted(crowd.cell.tolist()) == [0, 1, new]
    env.merge(1, new)
    assert len(env.part_cell) == 2
    env.deform(env.vertices + 0.125)
    assert not crowd.settle().any()
    assert crowd.cell.tolist() == [1, 1, 0]
    assert crowd.move([[1.25, 0.5, 0.5], [1.5, 0.5, 0.5], [1.0, 0.5, 0.5]]).status.tolist() == [cells.FREE] * 3


def test_pieces_of_faces_that_share_three_corners():
    """A cell falls into its parts; two of its faces meet in two edges, and the piece of one between these has only corners of the other too."""
    faces = {
        0: [[28, 17, 14], [13, 14, 17, 16], [29, 16, 17, 28], [12, 13, 16, 15], [15, 16, 29], [13, 12, 15, 29, 28, 14]],
        1: [[12, 21, 24, 15], [13, 16, 25, 22], [12, 13, 22, 21], [21, 22, 25, 24], [24, 25, 16, 15], [15, 16, 13, 12]],
    }
    pieces = [[28, 17, 14], [15, 16, 29], [13, 14, 17], [13, 17, 16], [12, 13, 16], [12, 16, 15], [17, 28, 29, 16]]
    pieces += [[13, 12, 15], [13, 15, 29], [13, 29, 28], [13, 28, 14]]
    parts = [[piece, *([v, u, 99] for u, v in sides(piece))] for piece in pieces]
    rings = surgery.Rings(3, lambda cell: faces[cell], lambda _: [0, 1])
    surgery.split_cell(rings, 0, parts, 99, 2)
    assert sorted(map(sorted, rings[1])) == sorted(map(sorted, [*faces[1][:5], [12, 13, 16], [12, 15, 16]]))
    edges = [side for ring in rings[1] for side in sides(ring)]
    assert len(set(edges)) == len(edges)
    assert {(v, u) for u, v in edges} == set(edges)


def test_surgery_in_the_plane(rng):
    world = worlds.plane(rng, 3)
    env = world.environment
    env.set_obstacle(np.arange(env.cell_count), False)
    crowds = [cells.Particles(env, worlds.free_points(world, rng, COUNT // 2), walk) for walk in ("planes", "darts")]
    quad = next(cell for cell in range(env.cell_count) if len(env.faces_of(cell)[0]) == 4)
    ring = env.faces_of(quad)[0]
    new = env.cut(quad, [ring[0], ring[2]])
    assert env.faces_of(quad) == [[ring[2], ring[3], ring[0]]]
    assert env.faces_of(new) == [ring[:3]]
    with pytest.raises(InvalidInput, match=f"{ring[0]} and {ring[1]} are joined by an edge of cell {new} already"):
        env.cut(new, [ring[0], ring[1]])
    with pytest.raises(InvalidInput, match="corners: must be two different vertices"):
        env.cut(new, ring[:3])
    pairs = env.cut(plane=([1.5, 1.4], [0.2, 1]), slit=True)
    verify(env, crowds, rng)
    env.sew(pairs[:, 0], pairs[:, 1])
    verify(env, crowds, rng)
    for old, other in pairs.tolist():
        env.merge(old, other)
    env.merge(quad, new)
    assert sorted(env.faces_of(quad)[0]) >= sorted(ring)
    with pytest.raises(InvalidInput, match="do not share an edge"):
        env.merge(quad, quad)
    verify(env, crowds, rng)
