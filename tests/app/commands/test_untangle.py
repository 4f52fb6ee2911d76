"""`abut untangle` writes a mesh without cuts, and says by its exit code whether it is one."""

import numpy as np
import pytest
from typer.testing import CliRunner

import abut
from abut import scenes
from abut.app.cli import app

pytestmark = pytest.mark.large


@pytest.fixture
def balls(tmp_path):
    ball = scenes.icosphere(2)
    path = tmp_path / "balls.ply"
    vertices = np.concatenate((ball.vertices, ball.vertices + np.array([1.85, 0.0, 0.0])))
    abut.Mesh(vertices, np.concatenate((ball.faces, ball.faces + len(ball.vertices)))).save(path)
    return path


def test_writes_what_is_clean(balls):
    result = CliRunner().invoke(app, ["untangle", str(balls)])
    assert result.exit_code == 0
    written = balls.with_name("balls.untangled.ply")
    assert not len(abut.collide(abut.Deformable(abut.load(written))))
    assert "pairs of faces cut each other at first" in result.stdout


def test_says_what_still_cuts(balls):
    out = balls.with_name("out.ply")
    result = CliRunner().invoke(app, ["untangle", str(balls), "--out", str(out), "--most-rounds", "1"])
    left = len(abut.collide(abut.Deformable(abut.load(out))))
    assert (result.exit_code == 1) == (left > 0)
    assert ("still do after 1 rounds" in result.stdout) == (left > 0)


def test_the_mesh_itself_is_not_overwritten(balls):
    before = balls.read_bytes()
    result = CliRunner().invoke(app, ["untangle", str(balls), "--out", str(balls)])
    assert isinstance(result.exception, abut.InvalidInput)
    assert balls.read_bytes() == before
