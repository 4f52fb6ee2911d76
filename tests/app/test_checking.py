"""`abut.check`: every form of frames gives the rows of the command, and what is no animation is refused."""

import importlib.util

import numpy as np
import pytest

import abut
from abut import InvalidInput, Unsupported
from app.animation import FACES, FRAMES, save_all


def same(found, other):
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(found.rows, other.rows, strict=True))
    assert np.array_equal(found.counts, other.counts)
    return True


def test_every_form_of_frames(tmp_path):
    paths = save_all(tmp_path / "in")
    found = abut.check(paths)
    assert len(found) == found.counts.sum() == 5
    for form in (
        str(tmp_path / "in" / "*.ply"),
        tmp_path / "in",
        {"": (FRAMES, FACES)},
        (FRAMES, FACES),
        (list(FRAMES), FACES.tolist()),
        [abut.Mesh(vertices, FACES) for vertices in FRAMES],
        {"sheet": paths},
    ):
        assert same(abut.check(form), found)
    assert not found.is_clean
    assert repr(found) == "Findings(5 collisions in 4 frames)"
    assert found.incidents.counts.sum() == len(found.incidents.of_row) == 5
    assert found.bodies == ("",)
    assert abut.check({"sheet": paths}).bodies == ("sheet",)


def test_options_reach_the_search(tmp_path):
    assert abut.check((FRAMES, FACES), between=False).counts[:, :2].sum() == 0
    assert abut.check((FRAMES, FACES), at_frames=False).counts[:, 2:].sum() == 0
    assert len(abut.check((FRAMES, FACES), min_distance=0.6)) > 5
    seen = []
    found = abut.check((FRAMES, FACES), work=tmp_path / "work", progress=seen.append)
    assert [step.done for step in seen] == [1, 2, 3, 4]
    assert same(abut.check((FRAMES, FACES), work=tmp_path / "work"), found)
    assert abut.check((FRAMES, FACES), work=tmp_path / "work").to_dict()["reused"] == 7


def test_a_bad_file_is_named_and_a_clean_animation_is_clean(tmp_path):
    paths = save_all(tmp_path)
    paths[3].write_text("ply")
    found = abut.check(paths)
    assert list(found.bad) == [3]
    assert list(found.skipped) == [2]
    assert abut.check((FRAMES[:1], FACES)).is_clean
    assert not abut.check((FRAMES[:1], FACES))


def test_tracks_from_arrays():
    ball, floor = abut.scenes.icosphere(1), abut.scenes.box()
    heights = (2.2, 1.7, 1.0)
    poses = np.array([np.eye(4)] * 3)
    poses[:, 2, 3] = heights
    moved = abut.check({"ball": ball, "floor": floor}, motions={"ball": poses})
    drawn = abut.check({"ball": ([ball.vertices + np.array([0, 0, z]) for z in heights], ball.faces), "floor": floor})
    assert same(moved, drawn)
    assert len(moved)
    assert {moved.bodies[i] for i in (*moved.body_a, *moved.body_b)} == {"ball", "floor"}
    ignored = abut.check({"ball": ball, "floor": floor}, motions={"ball": poses}, ignore=[("floor", "ball")])
    assert ignored.is_clean


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".json", ".html"])
def test_saved(tmp_path, suffix):
    if suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        pytest.skip("needs pyarrow")
    found = abut.check((FRAMES, FACES))
    found.save(tmp_path / f"rows{suffix}")
    content = (tmp_path / f"rows{suffix}").read_bytes()
    assert len(content) > 100
    if suffix == ".npz":
        assert np.array_equal(np.load(tmp_path / "rows.npz")["time"], found.rows.time)
    if suffix == ".html":
        assert b"<title>frame 0 \xe2\x80\xa6 frame 3" in content
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(InvalidInput, match=r"is not a regular file|is a folder"):
        found.save(tmp_path / "folder.npz")


def test_a_table_for_arrow():
    pytest.importorskip("pyarrow")
    table = abut.check((FRAMES, FACES)).to_arrow()
    assert table.num_rows == 5
    assert table.column("kind").to_pylist()[0] == "vertex_face"


def test_shown_in_the_browser(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = abut.check((FRAMES, FACES)).show()
    assert opened == [page.as_uri()]
    assert page.read_text().startswith("<!doctype html>")


BAD = {
    "nothing": (lambda: abut.check([]), "frames"),
    "no bodies": (lambda: abut.check({}), "frames: there are none"),
    "a number": (lambda: abut.check(7), "mesh: is a int"),
    "a body of None": (lambda: abut.check({"a": None}), "mesh: is a NoneType"),
    "other vertices": (lambda: abut.check(([FRAMES[0], FRAMES[0][:5]], FACES)), r"frames\[1\]: has 5 vertices"),
    "a NaN": (lambda: abut.check((FRAMES * np.nan, FACES)), r"frames\[0\]\[0\]: is NaN"),
    "faces out of range": (lambda: abut.check((FRAMES, FACES + 1)), "faces"),
    "ragged": (lambda: abut.check(([[1, 2], [3]], FACES)), "frames"),
    "other connectivity": (
        lambda: abut.check([abut.Mesh(FRAMES[0], FACES), abut.Mesh(FRAMES[0], FACES[::-1])]),
        r"frames\[1\]: has another connectivity",
    ),
    "a distance below zero": (lambda: abut.check((FRAMES, FACES), min_distance=-1), "min_distance"),
    "an unknown body": (lambda: abut.check((FRAMES, FACES), ignore=[("a", "b")]), "ignore: names 'a'"),
    "no processes": (lambda: abut.check((FRAMES, FACES), jobs=0), "jobs"),
    "neither frames nor steps": (lambda: abut.check((FRAMES, FACES), at_frames=False, between=False), "neither"),
    "a motion of text": (lambda: abut.check({"a": (FRAMES[0], FACES)}, motions={"a": [["x"]]}), r"motions\['a'\]"),
    "a cluster that is no text": (lambda: abut.check((FRAMES, FACES), cluster=3), "cluster: is a int"),
    "no such file": (lambda: abut.check("none.obj"), "does not exist"),
}


@pytest.mark.parametrize(("call", "reason"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named(call, reason):
    with pytest.raises(InvalidInput, match=reason):
        call()


def test_unknown_kinds_of_output(tmp_path):
    with pytest.raises(Unsupported, match=r"\.xls"):
        abut.check((FRAMES, FACES)).save(tmp_path / "rows.xls")
