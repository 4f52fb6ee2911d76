"""A mesh in a console and in a notebook."""

import re

import numpy as np
import pytest

from abut import Mesh, scenes
from abut.mesh.picture import TRIANGLES, Surface, draw_surfaces, thin

LARGEST = 30_000  # bytes


def test_reprs_count():
    assert repr(Mesh(np.eye(3), [[0, 1, 2]])) == "Mesh(3 vertices, 1 face)"
    assert repr(scenes.icosphere(4)) == "Mesh(2,562 vertices, 5,120 faces)"
    assert repr(scenes.box().edge_faces) == "Incidence(18 lists, 36 faces)"


@pytest.mark.parametrize("mesh", [scenes.icosphere(4), scenes.torus(), scenes.cloth(40, 40), scenes.box()])
def test_a_mesh_draws_itself_small_and_offline(mesh):
    text = mesh._repr_html_()
    assert 1 < text.count("<path") <= TRIANGLES
    assert len(text) < LARGEST
    assert "href" not in text
    assert repr(mesh) in text
    numbers = [int(x) for path in re.findall(r' d="M([^z]*)z"', text) for x in path.split()]
    assert 0 <= min(numbers) < max(numbers) <= 640


def test_only_the_near_side_of_a_solid_is_drawn():
    assert scenes.box()._repr_html_().count("<path") == 6
    inside_out = Mesh(scenes.box().vertices, scenes.box().faces[:, ::-1])
    assert inside_out._repr_html_().count("<path") == 6


def test_what_is_near_is_painted_last():
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    far, near = (
        Surface(triangle, np.array([[0, 1, 2]]), (255, 0, 0)),
        Surface(triangle - [0, 5, 0], np.array([[0, 1, 2]])),
    )
    texts = draw_surfaces([far, near]), draw_surfaces([near, far])
    assert texts[0] == texts[1]
    assert re.findall('fill="#..(....)"', texts[0])[0] == "0000"


@pytest.mark.parametrize("scale", [0.0, 2.0**-1074, 1e-200, 1e75])
def test_pictures_at_every_scale(scale):
    for mesh in (scenes.icosphere(3), scenes.box()):
        assert Mesh(mesh.vertices * scale, mesh.faces)._repr_html_().startswith("<figure><svg")


def test_thinned_surfaces_keep_their_shape():
    ball = scenes.icosphere(5)
    vertices, faces = thin(ball.vertices, ball.faces, 300)
    assert 100 < len(faces) <= 300
    assert Mesh(vertices, faces).volume == pytest.approx(ball.volume, rel=0.1)
    few, own = thin(scenes.box().vertices, scenes.box().faces, 300)
    assert len(few) == 8
    assert len(own) == 12


def test_many_surfaces_share_one_picture():
    ball = scenes.icosphere(2)
    text = draw_surfaces([Surface(ball.vertices + np.array([3 * i, 0, 0]), ball.faces, solid=True) for i in range(20)])
    assert 20 <= text.count("<path") <= TRIANGLES
    assert draw_surfaces([]).count("<path") == 0
