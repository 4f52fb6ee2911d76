"""Surfaces as shapes: what stands for them, and what they refuse."""

import numpy as np
import pytest

import abut
from abut import shapes


def test_convex_meshes_are_met_by_their_hull_and_others_are_not():
    cube, bumpy = shapes.Surface(abut.scenes.box()), shapes.Surface(abut.scenes.torus(1.0, 0.3, 8, 6))
    assert isinstance(cube.collider(), shapes.Polytope)
    assert bumpy.collider() is bumpy
    assert len(cube.collider().core.planes) == 6


def test_what_is_not_supported_has_a_name():
    world = abut.World()
    ground = shapes.Terrain(np.zeros((3, 3)))
    with pytest.raises(abut.Unsupported, match="terrain"):
        ground.weigh(1.0)
    world.add(ground)  # static without being told
    assert len(world.contacts()) == 0
    world.add(ground, kind="kinematic")
    with pytest.raises(abut.Unsupported, match="two terrains"):
        world.contacts()
    with pytest.raises(abut.InvalidInput, match="plane"):
        shapes.Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 3, 0)])
    with pytest.raises(abut.Unsupported, match="question"):
        world.overlap(ground)
