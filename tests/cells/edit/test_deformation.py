"""Environments whose vertices move: the same answers as one built anew, particles found again, broken cells refused or cut."""

import numpy as np
import pytest

from abut import InvalidInput, cells
from abut.core import jit
from cells import oracle_cells as oracle
from cells import worlds
from cells.test_particles import check_move

COUNT = 8 if jit.INTERPRETED else 40


def shaken(world, rng, size, share=1.0):
    """Vertices that do not lie on the border, displaced by multiples of 2⁻¹⁰."""
    vertices = world.vertices
    inner = (vertices > 0) & (vertices < vertices.max())
    chosen = (rng.random(len(vertices)) < share)[:, np.newaxis]
    return vertices + np.round(rng.uniform(-size, size, vertices.shape) * 1024) / 1024 * inner * chosen


@pytest.mark.parametrize("make", worlds.WORLDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("walk", ["planes", "darts"])
def test_moves_after_deformations_agree_with_rational_arithmetic(make, walk, rng):
    world = make(rng)
    crowd = cells.Particles(world.environment, worlds.free_points(world, rng, COUNT), walk, debug=True)
    for share in (1.0, 0.1):
        vertices = shaken(world, rng, 0.05, share)
        world.environment.deform(vertices)
        assert world.environment.check_integrity() == []
        assert (world.environment.vertices == vertices).all()
        world = world._replace(vertices=vertices)
        parts = world.parts()
        crowd.settle()
        before = crowd.position
        for row, (position, cell) in enumerate(zip(before, crowd.cell, strict=True)):
            held = [part for part in parts if part.cell == cell and part.holds(oracle.exact(position))]
            assert held, row
            assert held[0].free
        targets = worlds.aim(world, rng, before)
        moves = crowd.move(targets)
        for row in range(COUNT):
            check_move(world, parts, before[row], targets[row], moves, row)


def test_particles_in_cells_at_rest_keep_their_state(rng):
    env = cells.channel(4, 1, 1)
    crowd = cells.Particles(env, [[0.5, 0.5, 0.5], [3.5, 0.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[np.flatnonzero(vertices[:, 0] == 1)] += [0.25, 0, 0]
    env.deform(vertices)
    assert env.interior.changed_since(0).tolist() == [True, True, False, False]
    assert not crowd.settle().any()
    assert crowd.cell.tolist() == [0, 3]


def test_a_face_that_passes_over_a_particle_hands_it_on():
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [[1.25, 0.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[vertices[:, 0] == 1] += [0.5, 0, 0]
    env.deform(vertices)
    assert crowd.settle().tolist() == [False]
    assert crowd.cell.tolist() == [0]
    assert crowd.position.tolist() == [[1.25, 0.5, 0.5]]


def test_a_wall_that_passes_over_a_particle_pushes_it():
    env = cells.channel(2, 1, 1)
    crowd = cells.Particles(env, [[1.75, 0.5, 0.5], [0.5, 0.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[vertices[:, 0] == 2] -= [0.5, 0, 0]
    env.deform(vertices)
    assert crowd.settle().tolist() == [True, False]
    assert crowd.position[0] == pytest.approx([1.5, 0.5, 0.5])
    assert crowd.position[0, 0] <= 1.5
    assert crowd.settle().tolist() == [False, False]


def test_cells_that_lose_their_planar_faces_are_cut():
    env = cells.channel(3, 1, 1)
    assert len(env.part_cell) == 3
    crowd = cells.Particles(env, [[0.9, 0.9, 0.9], [2.5, 0.5, 0.5]])
    vertices = env.vertices.copy()
    vertices[np.flatnonzero((vertices == 1).all(axis=1))] += [0.125, 0, 0]
    env.deform(vertices)
    assert np.bincount(env.part_cell).tolist() == [7, 7, 1]  # the face between them is cut, four others stay planar
    assert env.check_integrity() == []
    moves = crowd.move([[2.9, 0.1, 0.1], [0.1, 0.9, 0.9]])
    assert moves.status.tolist() == [cells.FREE, cells.FREE]
    assert moves.cell.tolist() == [2, 0]


def test_a_cell_that_turns_inside_out_is_refused_and_nothing_changes():
    env = cells.tetrahedra([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [[0, 1, 2, 3], [1, 2, 3, 4]])
    crowd = cells.Particles(env, [[0.1, 0.1, 0.1]])
    before = env.vertices
    for apex in ((0, 0, -1.0), (0.3, 0.3, 0.0)):
        vertices = before.copy()
        vertices[3] = apex
        with pytest.raises(InvalidInput, match=r"tetrahedra\[0\]: is (inverted|flat)"):
            env.deform(vertices)
        assert (env.vertices == before).all()
    assert crowd.move([[0.2, 0.2, 0.2]]).status.tolist() == [cells.FREE]
    plane = cells.polygons([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2, 3]])
    with pytest.raises(InvalidInput, match="cell 0 turns flat, inside out or non-convex"):
        plane.deform([[0, 0], [1, 0], [-0.2, -0.2], [0, 1]])
    with pytest.raises(InvalidInput, match="vertices: has 3 rows, the environment has 4"):
        plane.deform([[0, 0], [1, 0], [1, 1]])
    for convert in (np.array, np.asfortranarray, list):
        with pytest.raises(InvalidInput, match=r"vertices\[2\]: is NaN"):
            plane.deform(convert([[0.0, 0.0], [1.5, 0.0], [1.0, np.nan], [0.0, 1.0]]))
    assert plane.vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_only_the_rows_that_move_are_handed_over(rng):
    """The same environment as with all vertices, and the same particles; records that no particle met stay as they are."""
    world, other = (worlds.tetrahedra(np.random.default_rng(5), 3) for _ in range(2))
    points = worlds.free_points(world, rng, COUNT)
    crowds = [cells.Particles(w.environment, points, debug=True) for w in (world, other)]
    for _ in range(3):
        vertices = shaken(world, rng, 0.03, 0.3)
        rows = rng.permutation(len(vertices))[: len(vertices) // 2]
        vertices = np.where(
            np.isin(np.arange(len(vertices)), rows)[:, np.newaxis], vertices, world.environment.vertices
        )
        world.environment.deform(vertices)
        other.environment.deform(vertices[rows], moved=rows)
        assert (other.environment.vertices == vertices).all()
        assert world.environment.interior.space.stale.any()
        targets = points + rng.normal(scale=0.5, size=points.shape)
        one, two = (crowd.move(targets) for crowd in crowds)
        for name in ("status", "position", "time", "kind", "normal", "cell"):
            assert (getattr(one, name) == getattr(two, name)).all(), name
        world.environment.interior.renew_records()
        assert not world.environment.interior.space.stale.any()
    before = other.environment.vertices
    with pytest.raises(InvalidInput, match="vertices: has 2 rows, 1 are to move"):
        other.environment.deform(vertices[:2], moved=[0])
    with pytest.raises(InvalidInput, match=r"moved\[0\]: index 64 is not below 64"):
        other.environment.deform(vertices[:1], moved=[64])
    assert (other.environment.vertices == before).all()


@pytest.mark.parametrize("factor", [100.0, 1e-3])
def test_records_hold_after_a_change_of_size(factor, rng):
    """Far beyond the coordinates for which the records were made."""
    world = worlds.tetrahedra(rng, 2)
    world.environment.deform(world.vertices * factor)
    fresh = cells.tetrahedra(world.vertices * factor, rows_of(world), world.obstacle)
    points = worlds.free_points(world, rng, COUNT) * factor
    targets = points + rng.normal(size=points.shape) * factor
    one = cells.Particles(world.environment, points).move(targets)
    other = cells.Particles(fresh, points).move(targets)
    assert (one.status == other.status).all()
    assert (one.position == other.position).all()


def rows_of(world):
    """Corners of the tetrahedra: the first face, then the corner that is not in it."""
    return [[*loops[0], next(v for v in loops[1] if v not in loops[0])] for loops in world.loops]


def test_a_corner_that_comes_to_lie_on_the_line_between_its_neighbours_has_its_face_cut():
    """The top of a cube stays planar while the sides warp; then one of its corners comes to the middle of its diagonal."""
    env = cells.channel(1, 1, 1)
    corner = np.flatnonzero((env.vertices == 1.0).all(axis=1))
    for place in ([0.875, 0.875, 1.0], [0.5, 0.5, 1.0]):
        env.deform([place], moved=corner)
    for part in np.flatnonzero(env.part_cell >= 0).tolist():
        for dart in env.interior.space.face[part].tolist():
            if dart >= 0:
                ring = worlds.ring_of(env.darts, dart)
                assert oracle.is_flat([oracle.exact(env.interior.space.vertices[corner]) for corner in ring]), ring
    assert env.check_integrity() == []
