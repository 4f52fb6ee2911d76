import sys
import types

import numpy as np
import pytest

from abut import scenes
from abut.app import cli
from abut.app.check import Frames, search
from abut.app.commands import demo
from app.animation import sweep


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A scene of a few squares, without its ball, and a page that is a line of text."""

    def scene(report):
        frames, faces = scenes.cloth_on_ball(2, 3, report=report)
        return scenes.ClothFall(frames[:, :9], faces[:8])

    page = types.ModuleType("abut.app.report")
    page.write_report = lambda path, checked, *, title: path.write_text(f"{title}: {len(checked.frames)} frames")
    monkeypatch.setitem(sys.modules, "abut.app.report", page)
    monkeypatch.setattr(demo, "cloth_on_ball", scene)
    monkeypatch.setattr(search, "_impacts", sweep)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["abut", "demo", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return caught.value.code


@pytest.mark.large
def test_demo_tells_what_it_does_and_where_the_page_lies(small, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.startswith("A cloth falls on a ball")
    assert "3 frames of 9 vertices and 8 faces: out/cloth.npz" in out
    assert "Open out/report.html in a browser" in out
    assert (small / "report.html").read_text() == "A cloth falls on a ball: 3 frames"
    assert {path.name for path in small.iterdir()} == {
        "cloth.npz",
        "collisions.npz",
        "collisions.json",
        "report.html",
        "work",
    }
    frames = Frames([small / "cloth.npz"])
    assert (frames.vertices(2) == scenes.cloth_on_ball(2, 3).frames[2, :9]).all()
    with np.load(small / "collisions.npz") as archive:
        assert len(archive["counts"]) == 3


@pytest.fixture
def quick(small, monkeypatch):
    """Without the process that compiles ahead."""
    monkeypatch.setattr(demo, "_simulate", lambda errors: demo.cloth_on_ball(report=None))


def test_demo_that_is_interrupted_says_so(quick, monkeypatch, capsys):
    def interrupt(self, unit):
        raise KeyboardInterrupt

    monkeypatch.setattr(search.Searcher, "search", interrupt)
    assert run(monkeypatch, "--out", "elsewhere") == 130
    captured = capsys.readouterr()
    assert "run the same command again to go on" in captured.err
    assert "Open" not in captured.out


def test_collisions_are_no_failure_of_the_demo(quick, monkeypatch):
    monkeypatch.setattr(demo.check, "run", lambda *words, **options: 1)
    assert run(monkeypatch) == 0
