"""Scenes show themselves in one line of counts."""

import pytest

from abut import scenes


def test_a_falling_cloth_is_one_line():
    assert repr(scenes.cloth_on_ball(2, 3)) == "ClothFall(3 frames, 651 vertices, 1,288 faces)"


@pytest.mark.parametrize(
    ("scene", "line"),
    [
        (lambda: scenes.pile(3), "WorldScene(8 bodies, 0 linkages, 600 steps of 0.0167 s)"),
        (lambda: scenes.rag_doll_on_stairs(1), "WorldScene(3 bodies, 1 linkage, 360 steps of 0.0167 s)"),
        (lambda: scenes.cloth_on_terrain(2), "WorldScene(2 bodies, 1 linkage, 180 steps of 0.0167 s)"),
    ],
)
def test_a_world_to_run_is_one_line(scene, line):
    assert repr(scene()) == line


@pytest.mark.parametrize("make", [lambda: scenes.cloth_on_ball(2, 3), lambda: scenes.pile(3)], ids=["cloth", "pile"])
def test_a_scene_draws_itself_in_a_notebook(make):
    scene = make()
    page = scene._repr_html_()
    assert "<path" in page
    assert len(page) < 40_000
    assert "href" not in page
