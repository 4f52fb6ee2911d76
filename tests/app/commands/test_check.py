"""`abut check` as people call it: words in; exit codes, standard output and files out."""

import csv
import importlib
import io
import json
import os
import sys
import types
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from rich.console import Console

from abut import Mesh, scenes
from abut.app import cli
from abut.app.check import Options, search
from abut.app.commands import check
from abut.app.output.exit_codes import INTERRUPTED, UNFINISHED
from app.animation import FACES, FRAMES, save_all, sweep


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder; gives its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(search, "_impacts", sweep)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["abut", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    return call


@pytest.fixture
def files(tmp_path):
    return save_all(tmp_path / "in")


def test_collisions(run, files):
    code, out, _ = run("check", "in")
    assert code == 1
    words = " ".join(out.split())  # lines are folded to the width of the terminal
    for text in ("frame8.ply … frame11.ply", "4 vertex-face, 0 edge-edge", "1 pairs of faces in 1 frames"):
        assert text in words
    assert "vertex 4 and face 0 at 1.5000, between frame9.ply and frame10.ply" in words
    assert "5 collisions found." in out


def test_clean(run, files):
    code, out, _ = run("check", *files[:2])
    assert code == 0
    assert "Clean: no collision." in out


def test_bad_frames_are_named(run, files):
    files[0].write_text("ply")
    Mesh(FRAMES[2], FACES[:1]).save(files[2])
    code, out, _ = run("check", "in")
    assert code == 1
    assert "could not be read or searched (1):" in out
    assert "frame8.ply → frame9.ply: frame8.ply could not be read" in out
    assert "frame9.ply → frame10.ply: other connectivity: 1 faces, but frame9.ply has 3" in out
    code, out, _ = run("check", *files[:2])
    assert code == 2
    assert "No collision found, but not everything could be checked." in out


BAD_INPUT = {
    "no frames": ([], "Missing argument"),
    "no such file": (["none.ply"], "none.ply: does not exist"),
    "a glob without files": (["in/*.obj"], "in/*.obj: matches no file"),
    "nothing to search": (["in", "--no-between", "--no-at-frames"], "neither frames nor the steps"),
    "a negative distance": (["in", "--min-distance", "-1"], "min-distance"),
    "no such kind of table": (["in", "--out", "rows.xlsx"], "rows.xlsx: tables are written as .npz, .csv, .parquet"),
    "a folder for a file": (["in", "--json", "in"], "--json: in is a folder"),
    "a file for a folder": (["in", "--work", "in/frame8.ply"], "in/frame8.ply: cannot be written"),
}


@pytest.mark.parametrize(("words", "reason"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_is_told_before_any_work(run, files, monkeypatch, words, reason):
    def compute(self, unit):
        raise AssertionError("the work has started")

    monkeypatch.setattr(search.Searcher, "search", compute)
    code, out, err = run("check", *words)
    assert code == 2
    assert reason in err
    assert out == ""


def test_parquet_without_pyarrow_is_told_before_any_work(run, files, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pyarrow" else find(name, *rest)
    )
    code, _, err = run("check", "in", "--out", "rows.parquet")
    assert code == 2
    assert "pip install 'abut[table]'" in err
    assert not (files[0].parents[1] / ".abut-check").exists()


def test_json_is_all_of_standard_output(run, files):
    files[3].write_text("ply")
    code, out, err = run("check", "in", "--json", "-")
    document = json.loads(out)
    assert code == document["exit_code"] == 1
    assert "collisions found" in err
    assert set(document) == {
        "schema",
        "abut_version",
        "options",
        "exit_code",
        "frame_count",
        "step_count",
        "bad_frames",
        "skipped_steps",
        "steps_over_gaps",
        "bodies",
        "counts",
        "frames",
        "first",
        "incidents",
        "worst_impacts",
        "longest_cuts",
        "complete",
        "findings",
        "reused",
        "seconds",
    }
    assert document["schema"] == "abut.check/1"
    assert document["options"] == {
        "at_frames": True,
        "between": True,
        "min_distance": 0.0,
        "containment": True,
        "max_memory": None,
        "ignore": [],
        "thickness": {},
    }
    assert (document["frame_count"], document["step_count"], document["complete"]) == (4, 3, True)
    assert document["counts"] == {"vertex_face": 3, "edge_edge": 0, "face_face": 0, "contained": 0, "total": 3}
    assert document["frames"][1] == {
        "frame": 1,
        "name": "frame9.ply",
        "vertex_face": 3,
        "edge_edge": 0,
        "face_face": 0,
        "contained": 0,
    }
    assert [bad["name"] for bad in document["bad_frames"]] == ["frame11.ply"]
    assert document["bad_frames"][0]["reason"].startswith("cannot be read")
    assert document["skipped_steps"] == [
        {"frame": 2, "from": "frame10.ply", "to": "frame11.ply", "reason": "frame11.ply could not be read"}
    ]
    first = document["findings"][0]
    assert document["first"] == first
    assert set(first) == {"frame", "kind", "a", "b", "time", "point", "normal", "depth"}
    assert (first["frame"], first["kind"], first["a"], first["b"]) == (1, "vertex_face", 4, 0)
    assert first["time"] == pytest.approx(1.5)
    assert first["point"] == pytest.approx([0.5, -0.25, 0.0])
    assert len(document["findings"]) == 3


def test_json_of_nothing(run, files):
    code, out, _ = run("check", *files[:2], "--json", "-")
    document = json.loads(out)
    assert (code, document["first"], document["findings"], document["worst_impacts"]) == (0, None, [], [])


def test_tables_say_the_same(run, files, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("new/rows.npz", "rows.csv", "rows.parquet", "rows.json"):
        code, out, _ = run("check", "in", "--json" if name.endswith("json") else "--out", name)
        assert code == 1
        assert f"written: {name}" in out
    expected = json.loads((tmp_path / "rows.json").read_text())["findings"]
    assert len(expected) == 5
    with np.load(tmp_path / "new" / "rows.npz") as archive:
        assert archive["names"].tolist() == [f"frame{i}.ply" for i in range(8, 12)]
        assert archive["counts"].sum() == 5
        kinds = {0: "vertex_face", 1: "edge_edge", 3: "face_face"}
        assert [kinds[kind] for kind in archive["kind"].tolist()] == [row["kind"] for row in expected]
        for column in ("frame", "a", "b", "time", "point", "normal", "depth"):
            assert archive[column].tolist() == [row[column] for row in expected]
    flat = [
        {key: row[key] for key in ("frame", "kind", "a", "b", "time")}
        | {f"{name}_{axis}": row[name][k] for name in ("point", "normal") for k, axis in enumerate("xyz")}
        | {"depth": row["depth"]}
        for row in expected
    ]
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist() == flat
    with open(tmp_path / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{key: row[key] if key == "kind" else type(flat[0][key])(row[key]) for key in row} for row in rows] == flat


@pytest.mark.parametrize("name", ["rows.npz", "rows.csv", "rows.parquet"])
def test_empty_tables_have_columns(run, files, tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    assert run("check", *files[:2], "--out", name)[0] == 0
    content = (tmp_path / name).read_bytes()
    assert b"depth" in content


def test_second_run_goes_on(run, files, monkeypatch):
    search_unit = search.Searcher.search
    count = 0

    def interrupt(self, unit):
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return search_unit(self, unit)

    monkeypatch.setattr(search.Searcher, "search", interrupt)
    code, out, err = run("check", "in")
    assert (code, out) == (130, "")
    assert "Interrupted after 2 of 4 frames." in err
    assert "run the same command again to go on" in err
    code, out, _ = run("check", "in")
    assert code == 1
    assert "4 results from an earlier run" in out
    assert count == 3 + 2


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), MemoryError(), RuntimeError("a bug")])
def test_what_cannot_finish_is_neither_clean_nor_colliding(run, files, monkeypatch, failure):
    def fail(self, unit):
        raise failure

    monkeypatch.setattr(search.Searcher, "search", fail)
    code, out, err = run("check", "in")
    assert (code, out) == (UNFINISHED, "")
    assert (str(failure) or "out of memory") in err


def test_worker_that_dies_is_told(run, files, monkeypatch):
    def die(*arguments):
        raise BrokenProcessPool

    monkeypatch.setattr("abut.app.check.job.compute", die)
    code, _, err = run("check", "in", "--jobs", "2")
    assert code == UNFINISHED
    assert "Not finished (a worker process died), after 0 of 4 frames." in err


def test_page_gets_what_was_found(run, files, tmp_path, monkeypatch):
    given = []
    page = types.ModuleType("abut.app.report")
    page.write_report = lambda path, checked, *, title: given.append((path, checked, title))
    monkeypatch.setitem(sys.modules, "abut.app.report", page)
    files[0].write_text("ply")
    code, _, _ = run("check", "in", "--html", "pages/report.html")
    ((path, checked, title),) = given
    assert code == 1
    assert path.parent.is_dir()
    assert (path.name, title) == ("report.html", "frame8.ply … frame11.ply")
    assert [name for name, _ in checked.bad] == ["frame8.ply"]
    assert len(checked.findings.kind) == 5
    assert (checked.frames[0] == FRAMES[1]).all()


def test_files_are_replaced_whole(run, files, tmp_path, monkeypatch):
    run("check", "in", "--json", "rows.json", "--out", "rows.csv")
    before = (tmp_path / "rows.json").read_bytes()
    names = {path.name for path in tmp_path.iterdir()}

    replace = os.replace

    def fail(source, target):
        if target.name == "rows.json":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("os.replace", fail)
    assert run("check", *files[:2], "--json", "rows.json", "--out", "rows.csv")[0] == UNFINISHED
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1
    assert (tmp_path / "rows.json").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == names


def test_rows_can_be_limited(run, files):
    _, out, _ = run("check", "in", "--max-findings", "2", "--json", "-")
    document = json.loads(out)
    assert (len(document["findings"]), document["counts"]["total"], document["complete"]) == (2, 5, False)
    _, out, _ = run("check", "in", "--max-findings", "2")
    assert "The first 2 of 5 collisions are kept as rows" in out


def test_distance_reaches_the_sweep(run, files, monkeypatch):
    seen = []

    def impacts(mesh, v_t0, v_t1, options):
        seen.append(options.min_distance)
        return sweep(mesh, v_t0, v_t1)

    monkeypatch.setattr(search, "_impacts", impacts)
    run("check", "in", "--min-distance", "0.25", "--no-at-frames")
    assert seen == [0.25] * 3


def test_order_can_be_kept(run, files):
    code, out, _ = run("check", files[1], files[0], "--keep-order")
    assert code == 0
    assert "frame9.ply … frame8.ply" in out


def test_an_interruption_that_something_else_hides_is_one(tmp_path, monkeypatch):
    """Ctrl-C while an archive is written: closing it raises a ValueError on the way."""
    mesh = scenes.icosphere(0)
    np.savez(tmp_path / "all.npz", frames=np.stack([mesh.vertices] * 3), faces=mesh.faces)

    def interrupt(*_args, **_options):
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("Can't close the ZIP file")

    monkeypatch.setattr(check, "check", interrupt)
    text = io.StringIO()
    console = Console(file=text, width=200)
    files = check.Files()
    assert check.run([tmp_path / "all.npz"], Options(), files, console, console, work=tmp_path / "work") == INTERRUPTED
    assert "Interrupted after 0 of 3 frames" in text.getvalue()
