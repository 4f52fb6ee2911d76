import numpy as np
import pytest

from abut import InvalidInput, cells, scenes


@pytest.mark.large
def test_the_hand_is_one_closed_surface():
    for times in (0, 1, 3):
        mesh = scenes.hand(times)
        assert (len(mesh.vertices), len(mesh.faces)) == (186 * 4**times + 2, 372 * 4**times)
        assert mesh.is_closed
        assert mesh.is_oriented
        assert mesh.is_manifold
        assert mesh.component_count == 1
        assert mesh.volume > 0.05
        assert 0.9 < np.ptp(mesh.bounds[:, 1]) <= 1.0
    assert np.abs(mesh.vertices.mean(axis=0)[2]) < 1e-12  # the slab's two sides are alike


def test_pyramids_fill_the_cubes():
    vertices, rows, is_floor = scenes.pyramids(2, 3, 2)
    env = cells.mixed(vertices, pyramids=rows, obstacle=is_floor)
    assert env.check_integrity() == []
    assert env.cell_count == 6 * 12
    assert is_floor.sum() == 6
    rng = np.random.default_rng(0)
    points = rng.uniform((0, 0, 0.51), (2, 3, 2), (50, 3))
    assert len(cells.Particles(env, points)) == 50
    with pytest.raises(InvalidInput, match="obstacle"):
        cells.Particles(env, [[0.5, 0.5, 0.2]])


@pytest.mark.large
def test_scenes_begin_free_of_collisions():
    """Every particle in a free cell, and every edge inside the cell or cells that its ends are in: a walk along it arrives."""
    parts = (
        scenes.cube_scene(4, 30),
        scenes.hand_scene(1),
        scenes.catheter_scene(2.0, particle_count=10, spacing=1.0),
    )
    for scene in parts:
        ends = scene.points[scene.edges]
        moves = cells.Particles(scene.environment, ends[:, 0]).move(ends[:, 1])
        assert (moves.status != cells.COLLISION).all()
        assert np.array_equal(scene.model.position, scene.points)
    assert len(parts[0].edges) == 30 * 12
    lengths = np.linalg.norm(np.subtract(*parts[0].points[parts[0].edges.T]), axis=1)
    assert np.allclose(lengths, 0.5)


def test_scenes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="free cells"):
        scenes.cube_scene(2, 9)
    with pytest.raises(InvalidInput, match="does not fit"):
        scenes.catheter_scene(2.0, spacing=5.0)
