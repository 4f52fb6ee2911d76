"""Shape matching against conservation laws; the nearest rotation against a slow oracle."""

import math

import numpy as np
import pytest

from abut import InvalidInput, dynamics, scenes
from abut.core.jit import INTERPRETED
from abut.geometry.polar import polar_rotation
from dynamics.models import step


def turn_about(axis, angle):
    """A rotation matrix, by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def best_rotation(a):
    """The rotation that maximises tr(RᵀA), by NumPy's SVD with the sign of the determinant (Kabsch)."""
    u, _, vt = np.linalg.svd(a)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def test_polar_rotation_is_the_nearest_rotation_whatever_the_matrix():
    """General, reflected, planar, badly scaled and nearly singular matrices against the SVD; lines and zero keep what was before."""
    rng = np.random.default_rng(4)
    identity = tuple(map(tuple, np.eye(3).tolist()))
    for case in range(60 if INTERPRETED else 400):
        a = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-100, 100)
        if case % 4 == 1:
            a[:, 2] = -a[:, 2]
        if case % 4 == 2:
            a = a @ np.diag([1.0, 1.0, 10.0 ** -rng.integers(0, 30)]) @ turn_about(rng.normal(size=3), 1.0)
        if case % 4 == 3:
            q = rng.normal(size=(3, 9))
            q[2] = 0.0  # planar at rest and now
            a = turn_about(rng.normal(size=3), rng.uniform(0, 3)) @ q @ q.T
        found = np.array(polar_rotation(tuple(map(tuple, a.T.tolist())), identity)).T
        assert np.allclose(found.T @ found, np.eye(3), rtol=0, atol=1e-14)
        assert np.linalg.det(found) == pytest.approx(1.0, abs=1e-13)
        best = best_rotation(a)
        scale = np.abs(a).max()
        assert (found * a).sum() >= (best * a).sum() - 1e-13 * scale
        values = np.linalg.svd(a, compute_uv=False)
        if values[1] - values[2] > 1e-3 * values[0]:  # else the rotation is not well defined
            assert np.allclose(found, best, rtol=0, atol=1e-11)
    before = turn_about(np.array([1.0, 2, 3]), 0.7)
    columns = tuple(map(tuple, before.T.tolist()))
    for a in (np.zeros((3, 3)), np.outer(before @ (0, 0.6, 0.8), (0, 0.6, 0.8))):
        found = np.array(polar_rotation(tuple(map(tuple, a.T.tolist())), columns)).T
        assert np.allclose(found, before, rtol=0, atol=1e-13)


def test_goals_of_a_rigid_motion_are_the_positions():
    rng = np.random.default_rng(5)
    for shape in (rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) * (1, 1, 0), rng.normal(size=(20, 3)) * (1, 0, 0)):
        model = dynamics.ShapeMatching(shape, [np.arange(12), np.arange(8, 20)], mass=rng.uniform(1, 2, 20))
        moved = shape @ turn_about(rng.normal(size=3), 2.5).T + (100, 20, 3)
        model.position = moved
        assert np.allclose(model.goals(), moved, rtol=0, atol=1e-12)


def test_shape_matching_keeps_momenta_and_restores_the_shape():
    """Overlapping clusters, unequal masses, no outer force; then the strain is gone and rotation remains."""
    rng = np.random.default_rng(6)
    cube = scenes.box().vertices
    points = np.concatenate([cube + np.array((x, 0, 0)) for x in (0, 1.1, 2.2)])
    clusters = [range(16), range(8, 24)]
    model = dynamics.ShapeMatching(points, clusters, mass=rng.uniform(1, 3, 24), stiffness=0.3, damping=4.0)
    model.position = points + rng.normal(0, 0.2, points.shape)
    model.velocity = np.cross((0.1, 0.2, 0.3), points) + np.array((1, 0, -1))
    momentum, angular = model.momentum(), model.angular_momentum()
    strain = [np.abs(model.goals() - model.position).max()]
    for _ in range(100):
        step(model, 0.02)
        assert np.allclose(model.momentum(), momentum, rtol=0, atol=1e-11)
        assert np.allclose(model.angular_momentum(), angular, rtol=0, atol=1e-10)
        strain.append(np.abs(model.goals() - model.position).max())
    assert strain[-1] < 0.05 * strain[0]
    rods = np.linalg.norm(model.position[:8] - model.position[8:16], axis=1)
    assert np.allclose(rods, 1.1, atol=0.02)


def test_inverted_and_collapsed_bodies_recover():
    cube = scenes.box().vertices
    for factor in ((1, 1, -0.3), (1, 1, 0), (1, 0, 0), (0, 0, 0)):
        model = dynamics.ShapeMatching(cube, stiffness=0.5, damping=20.0)
        model.position = cube * factor
        step(model, 0.01, 200)
        gaps = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (model.position, cube)]
        assert np.allclose(*gaps, atol=1e-6)


def test_inserted_particles_rest_where_the_edge_rests():
    cube = scenes.box().vertices
    model = dynamics.ShapeMatching(cube, mass=2.0)
    turn = turn_about(np.array([1.0, 1, 0]), 1.0)
    model.position, model.velocity = cube @ turn.T, np.arange(24.0).reshape(8, 3)
    numbers = model.insert([(0, 1), (2, 6)], [0.25, 0.5], 0.01)
    assert numbers.tolist() == [8, 9]
    assert np.allclose(model.rest[8], 0.25 * cube[0] + 0.75 * cube[1])
    assert np.allclose(model.velocity[9], 0.5 * (model.velocity[2] + model.velocity[6]))
    assert np.allclose(model.goals(), model.position, atol=1e-13)
    assert np.allclose(model.rotations[0], turn, atol=1e-13)
    model.remove([8])
    assert len(model) == 9
    assert np.allclose(model.goals(), model.position, atol=1e-13)
    model.remove([8])
    assert np.array_equal(model.rest, cube)
    with pytest.raises(InvalidInput, match="above 1"):
        model.insert([(0, 1)], [1.5], 1.0)
