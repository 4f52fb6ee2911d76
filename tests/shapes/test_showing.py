"""Shapes in a console, and in a notebook."""

import numpy as np
import pytest

import abut
from abut import scenes, shapes

TEXTS = {
    "Sphere(radius 0.5)": shapes.Sphere(0.5),
    "Capsule(radius 0.5, length 2)": shapes.Capsule(0.5, 2),
    "Box(1 × 2 × 3.5)": shapes.Box((1, 2, 3.5)),
    "Cylinder(radius 1, length 2, 6 sides)": shapes.Cylinder(1, 2, 6),
    "Cone(radius 1, length 2, 6 sides)": shapes.Cone(1, 2, 6),
    "Polytope(8 vertices, 6 faces)": shapes.Polytope(scenes.box().vertices),
    "Surface(12 faces, solid)": shapes.Surface(scenes.box()),
    "Surface(12 faces, both sides, solid)": shapes.Surface(scenes.box(), thick=True),
    "Surface(8 faces, both sides)": shapes.Surface(scenes.cloth(2, 2)),
    "Terrain(3 × 4 heights, spacing 2)": shapes.Terrain(np.zeros((3, 4)), 2.0),
    "Soft(8 faces)": shapes.Soft(abut.Deformable(scenes.cloth(2, 2))),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_shape_says_its_sizes_and_draws_itself(text):
    shape = TEXTS[text]
    assert repr(shape) == text
    drawn = shape._repr_html_()
    assert text in drawn
    assert "nan" not in drawn
    is_round = isinstance(shape, shapes.Sphere)
    assert ("<circle" in drawn) == is_round
    assert ("<path" in drawn) != is_round
    assert len(drawn) < 20_000


def test_the_outline_of_a_box_has_six_corners():
    drawn = shapes.Box((1, 1, 1))._repr_html_()
    assert drawn.count("L") == 5


def test_a_silhouette_leaves_out_edges_inside_a_face():
    """Of a cube seen from a corner six of eighteen edges are between light and shade."""
    drawn = shapes.Surface(scenes.box())._repr_html_()
    assert drawn.count("M") == 6
