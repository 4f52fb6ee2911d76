"""Models and results in a console, and in a notebook."""

import re

import numpy as np
import pytest

from abut import cells, dynamics, scenes
from abut.dynamics.picture import MOST_DOTS, MOST_LINES

LARGEST_PICTURE = 20_000


def models():
    line = [(0.0, 0, 0), (1, 0, 0), (2, 0, 0)]
    yield dynamics.MassSpring(line, [(0, 1), (1, 2)], fixed=[0]), "MassSpring(3 particles, 1 fixed, 2 springs)", 2
    yield dynamics.ShapeMatching(line, [[0, 1], [1, 2]]), "ShapeMatching(3 particles, 2 clusters)", 0
    yield dynamics.Linkage(line[:1], np.empty((0, 2), int)), "Linkage(1 particle, 0 bones)", 0
    yield dynamics.rag_doll(), "Linkage(15 particles, 20 bones)", 20


def test_models_count_what_they_are_made_of_and_draw_their_lines():
    for model, text, line_count in models():
        assert repr(model) == text
        drawn = model._repr_html_()
        assert text in drawn
        assert drawn.count("<circle") == len(model)
        lines = re.search(r'<path d="([^"]*)" fill="none"', drawn)
        assert (lines[1].count("M") if lines else 0) == line_count


@pytest.mark.large
def test_a_picture_of_many_particles_stays_small():
    drawn = dynamics.cloth(scenes.cloth(60, 60))._repr_html_()
    assert len(drawn) < LARGEST_PICTURE
    assert drawn.count("<circle") == MOST_DOTS
    assert drawn.count("M") == MOST_LINES


def test_a_picture_has_no_link_and_no_number_that_is_none():
    for scale in (1e-60, 1.0, 1e60):
        drawn = dynamics.rope((0, 0, 0), (scale, scale, 0), 4)._repr_html_()
        assert "nan" not in drawn
        assert "inf" not in drawn
        assert "http" not in drawn.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_results_show_counts_and_tables():
    state = dynamics.rigid_state(np.tile(np.eye(4), (3, 1, 1)))
    assert repr(state) == "RigidState(3 bodies)"
    assert state._repr_html_().count("<tr>") == 4
    found = dynamics.mass_properties(scenes.box((1, 1, 1)), 2.5)
    assert repr(found) == "MassProperties(mass 2.5)"
    assert "principal" in found._repr_html_()
    assert repr(dynamics.AngleLimits([(0, 1, 2), (1, 2, 3)])) == "AngleLimits(2 joints)"
    rod = cells.Mobile(cells.channel(1, 1, 1), ([(0.2, 0.5, 0.5), (0.8, 0.5, 0.5)], [(0, 1)]))
    hits = dynamics.find_impacts([rod], [rod.position])
    assert repr(hits) == "BodyImpacts(0 impacts, 0 candidates)"
    assert "time" in hits._repr_html_()
