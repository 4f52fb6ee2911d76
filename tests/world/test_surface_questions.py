"""Meshes as questions: the same answers as the mesh has as a body, and as the exact phase has on the triangles of both."""

import numpy as np
import pytest

import abut
from abut import scenes, shapes
from abut.core import jit
from conftest import SOAK
from pairs_of_shapes import OTHERS, Asked, annulus, at, random_turn, u_mesh
from world.test_agreement import EMPTY_LANES, mesh_of

ROUNDS = 20 if SOAK else (1 if jit.INTERPRETED else 4)
MESHES = {"u": shapes.Surface(u_mesh()), "annulus": annulus(), "open mesh": scenes.cloth(3, 3, 1.5, (0.0, 0.0, 0.0))}


@pytest.mark.large
@EMPTY_LANES
@pytest.mark.parametrize("other", OTHERS)
def test_a_mesh_as_a_question_gets_the_answers_of_a_body(other):
    """It overlaps what it has contacts with, or is held by; distances agree with those of the triangles where both have some."""
    rng = np.random.default_rng(len(other))
    world, there = Asked(OTHERS[other]), mesh_of(OTHERS[other])
    for name, mesh in MESHES.items():
        for _ in range(ROUNDS):
            pose = at(*rng.normal(size=3), random_turn(rng))
            found, touched = world.closest(mesh, pose, mask=2), world.overlap(mesh, pose, mask=2).tolist()
            body = world.add(mesh, pose, kind="kinematic", layer=4)
            is_hit = len(world.contacts().pairs) > 0
            world.remove(body)
            told = (other, name, found)
            assert touched == ([found.body] if found.distance <= 0.0 else []), told
            if not (isinstance(OTHERS[other], list) or name == "open mesh"):
                assert is_hit == bool(touched), told
            if there is not None and found.distance > 0.0:
                own = abut.Rigid(mesh.mesh if isinstance(mesh, shapes.Shape) else mesh, pose=pose)
                assert found.distance == pytest.approx(abut.distance(own, there).distance, rel=1e-9), told
                across = found.point_b - found.point_a
                np.testing.assert_allclose(across, found.distance * found.normal, atol=1e-9)


def test_a_ring_around_a_ball_is_nearest_where_the_formula_says():
    """The ring's inner radius is 0.5 and its height 0.4: a ball of radius 0.2 in the middle, and one far along x."""
    world = abut.World()
    ring = annulus(64)
    assert world.closest(ring) is None
    ball = world.add(shapes.Sphere(0.2), at(0.1))
    far = world.add(shapes.Sphere(0.2), at(5.0), layer=2)
    near = world.closest(ring)
    assert near.body == ball
    assert near.distance == pytest.approx(0.5 - 0.1 - 0.2, abs=2e-3)
    assert world.closest(ring, mask=2).distance == pytest.approx(3.8, abs=1e-9)
    np.testing.assert_allclose(world.closest(ring, mask=2).normal, (1, 0, 0), atol=1e-6)
    many = world.closest_many(ring, np.stack([at(), at(4.5), at(4.7)]))
    assert many.body.tolist() == [ball, far, far]
    assert world.overlap_many(ring, np.stack([at(-0.25), at(), at(4.5), at(4.7, 0.4)])).query.tolist() == [0, 2, 3]
    with pytest.raises(abut.Unsupported):
        world.overlap(abut.Deformable(ring))
