"""How much memory a search takes: what the scene asks for where the caller says nothing, and never more than he allows."""

import inspect

import numpy as np
import pytest

import abut
from abut import ccd
from abut.ccd.culling import stream
from conftest import SOAK

ASKED = (abut.sweep, abut.time_of_impact, ccd.stream_candidates)


def dented_torus(around, along):
    """A torus of which one vertex flies through the other side; 2·around·along faces."""
    mesh = abut.scenes.torus(1.0, 0.4, around, along)
    end = mesh.vertices.copy()
    tip = int(mesh.vertices[:, 0].argmax())
    end[tip, 0] -= 1.2
    return mesh, mesh.vertices, end


def read_need(ask, step):
    """The bytes that a refusal names."""
    with pytest.raises(abut.InvalidInput, match="needs at least") as caught:
        list(ask(*step, max_memory=1)) if ask is ccd.stream_candidates else ask(*step, max_memory=1)
    assert caught.value.name == "max_memory"
    return int(str(caught.value).rsplit(" ", 1)[1])


def test_no_limit_is_the_default():
    for ask in ASKED:
        assert inspect.signature(ask).parameters["max_memory"].default is None


def test_a_scene_that_needs_more_than_usual_gets_it(monkeypatch):
    """512 MB were the limit whatever the scene; a mesh of 1.3 million faces was refused for a limit that nobody had passed."""
    step = dented_torus(12, 8)
    whole, earliest = abut.sweep(*step), abut.time_of_impact(*step)
    assert len(whole)
    monkeypatch.setattr(stream, "USUAL_MEMORY", 1)
    big = abut.sweep(*step)
    assert big.time.tobytes() == whole.time.tobytes()
    assert big.a.tobytes() == whole.a.tobytes()
    assert abut.time_of_impact(*step) == earliest
    pairs = sum(map(len, ccd.stream_candidates(*step)))
    assert pairs == len(ccd.candidates(*step))


def test_a_limit_is_honoured_and_one_that_is_too_small_names_what_is_needed():
    step = dented_torus(12, 8)
    whole, earliest = abut.sweep(*step), abut.time_of_impact(*step)
    for ask in ASKED:
        need = read_need(ask, step)
        assert 10_000 < need < 10_000_000
        answer = ask(*step, max_memory=need)
        if ask is abut.sweep:
            assert answer.time.tobytes() == whole.time.tobytes()
        elif ask is abut.time_of_impact:
            assert answer == earliest
        else:
            assert sum(map(len, answer)) == len(ccd.candidates(*step))
        with pytest.raises(abut.InvalidInput, match="max_memory"):
            list(ask(*step, max_memory=need - 1)) if ask is ccd.stream_candidates else ask(*step, max_memory=need - 1)
        for bad in (0, -1, 2.5, np.nan, "much"):
            with pytest.raises(abut.InvalidInput, match="max_memory"):
                list(ask(*step, max_memory=bad)) if ask is ccd.stream_candidates else ask(*step, max_memory=bad)


@pytest.mark.skipif(not SOAK, reason="takes 2 GB")
def test_a_mesh_of_more_than_a_million_faces_is_swept():
    step = dented_torus(1140, 580)
    assert len(step[0].faces) > 1_300_000
    impacts = abut.sweep(*step)
    assert len(impacts)
    assert abut.time_of_impact(*step) == impacts.time.min()
