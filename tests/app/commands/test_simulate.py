"""`abut simulate`: the archive holds the motion, the page holds the archive's numbers."""

import base64
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from abut.app.cli import app
from abut.contours import Animation, Contour, collide_all
from abut.core import jit
from abut.core.errors import InvalidInput
from abut.scenes import PARTITIONS
from abut.world import World

COMMAND = CliRunner()


def test_motion_and_page_are_written(tmp_path):
    archive, page = tmp_path / "motion.npz", tmp_path / "page.html"
    size, steps = (2, 1) if jit.INTERPRETED else (10, 5)
    done = COMMAND.invoke(
        app,
        ["simulate", "pile", "--size", str(size), "--steps", str(steps), "--out", str(archive), "--html", str(page)],
    )
    assert done.exit_code == 0, done.output
    assert f"{size + 5} bodies" in done.output
    with np.load(archive) as motion:
        poses, times = motion["pose"], motion["time"]
    assert poses.shape == (steps + 1, size + 5, 4, 4)
    np.testing.assert_allclose(times, np.arange(steps + 1) / 60)
    assert (poses[-1, :size, 2, 3] < poses[0, :size, 2, 3]).all()
    text = page.read_text(encoding="utf-8")
    assert "://" not in text
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', text, re.S)[1])
    assert (len(facts["times"]), facts["frameCount"]) == (steps + 1, steps + 1)
    bodies = [thing for thing in facts["things"] if thing["kind"] == "faces"]
    moving = [body for body in bodies if "still" not in body]
    still = [body for body in bodies if "still" in body]
    assert (len(moving), len(still)) == (size, 5)
    np.testing.assert_allclose([body["low"][2] for body in moving], poses[:, :size, 2, 3].min(axis=0))
    np.testing.assert_allclose([body["still"][:3] for body in still], poses[0, size:, :3, 3])


@pytest.mark.large
@pytest.mark.parametrize("name", ["cradle", "swarm"])
def test_an_interrupted_run_says_so_and_writes_what_it_has(name, tmp_path, monkeypatch):
    """Ctrl-C, from within a step."""
    archive, page = tmp_path / "motion.npz", tmp_path / "page.html"
    kind = World if name == "cradle" else Animation
    step, calls = kind.step, []

    def interrupted(self, dt):
        calls.append(dt)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return step(self, dt)

    monkeypatch.setattr(kind, "step", interrupted)
    done = COMMAND.invoke(app, ["simulate", name, "--size", "2", "--out", str(archive), "--html", str(page)])
    assert done.exit_code == 130, done.output
    assert "interrupted after 3 of" in done.output
    assert f"Written: {page}" in done.output.replace("\n", "")
    with np.load(archive) as motion:
        assert len(motion["time"]) == len(motion["pose"]) == 4


@pytest.mark.parametrize("name", ["contours", "swarm"])
def test_scenes_of_the_plane_write_their_motion_and_a_page(tmp_path, name):
    archive, page = tmp_path / "motion.npz", tmp_path / "motion.html"
    size, steps = (1, 2) if jit.INTERPRETED else (4, 240)
    done = COMMAND.invoke(
        app, ["simulate", name, "--size", str(size), "--steps", str(steps), "--out", str(archive), "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    assert "all are clear" in done.output
    count = size + (1 if name == "contours" else 5)
    with np.load(archive) as motion:
        poses, times, segments = motion["pose"], motion["time"], [motion[f"segments_{i}"] for i in range(count)]
    assert poses.shape == (steps + 1, count, 3)
    np.testing.assert_allclose(times, np.arange(steps + 1) / 240)
    placed = [Contour.from_segments(s).moved(pose) for s, pose in zip(segments, poses[-1], strict=True)]
    assert not len(collide_all(placed, np.zeros((count, 3)))[1])
    text = page.read_text(encoding="utf-8")
    assert "http" not in text
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', text, re.S)[1])
    decoded = [np.frombuffer(base64.b64decode(c["s"]), "<f4").reshape(-1, 4, 2) for c in facts["contours"]]
    for mine, theirs in zip(segments, decoded, strict=True):
        np.testing.assert_allclose(theirs, mine, atol=1e-5)
    track = np.frombuffer(base64.b64decode(facts["contours"][-1]["p"]), "<f4").reshape(-1, 3)
    np.testing.assert_allclose(track, poses[:, -1], atol=1e-5)
    ends = np.frombuffer(base64.b64decode(facts["impacts"]["ends"]), "<u4")
    assert (len(ends), facts["frames"]) == (steps + 1, steps + 1)
    assert 2 * ends[-1] == len(np.frombuffer(base64.b64decode(facts["impacts"]["x"]), "<f4"))
    if name == "contours" and not jit.INTERPRETED:
        assert ends[-1] > 0


def test_unknown_scenes_are_named(tmp_path):
    done = COMMAND.invoke(app, ["simulate", "avalanche"])
    assert isinstance(done.exception, InvalidInput)
    with pytest.raises(InvalidInput, match="there are wall, dominoes, cards"):
        raise done.exception


@pytest.mark.parametrize("name", ["press", "passage"])
def test_scenes_inside_partitions_write_their_motion_and_a_page(tmp_path, name):
    archive, page = tmp_path / "motion.npz", tmp_path / "page.html"
    size, steps = {"press": 2, "passage": 5}[name], 2 if jit.INTERPRETED else 4
    done = COMMAND.invoke(
        app, ["simulate", name, "--size", str(size), "--steps", str(steps), "--out", str(archive), "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    with np.load(archive) as motion:
        assert motion["position_0"].shape == (steps + 1, 2 if name == "press" else 5, 3)
        assert len(motion["time"]) == len(motion["hits"]) == steps + 1
        assert np.abs(motion["position_0"][-1] - motion["position_0"][0]).max() > 0
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    assert {"border", "body", "contacts"} <= {thing["name"] for thing in facts["things"]}
    assert len(facts["times"]) == steps + 1


@pytest.mark.large
def test_every_scene_of_partitions_takes_a_step():
    for name, make in PARTITIONS.items():
        scene = make({"hand": 0, "press": 2, "catheter": 20}.get(name, 8))
        moves = scene.step(0)
        assert len(moves.status) == len(scene.things[0].position), name
