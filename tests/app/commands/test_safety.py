"""The commands destroy nothing, wait for nothing, and say 1 for collisions alone: files, pipes, encodings."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from abut import Mesh
from abut.app import cli
from app.animation import FACES, FRAMES, save_all
from app.process import abut, posix

pytestmark = pytest.mark.large
"""Whole processes, whose kernels other tests interpret."""


@pytest.fixture
def files(tmp_path):
    return save_all(tmp_path / "in")


# --- files that must not be written


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Gives the reason for which a check is refused; nothing in the folder has changed, and no work was done."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        monkeypatch.setattr(sys, "argv", ["abut", "check", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 2
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        return capsys.readouterr().err

    return call


def test_an_output_that_is_the_input_is_refused(tmp_path, refused):
    np.savez(tmp_path / "in.npz", frames=FRAMES, faces=FACES)
    assert "is the input" in refused("in.npz", "--out", "in.npz")


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_an_output_that_is_a_frame_is_refused(tmp_path, refused, files, option):
    assert "is the input" in refused("in", option, "in/../in/frame9.ply")


def test_outputs_of_one_path_are_refused(tmp_path, refused, files):
    words = ("in", "--out", "rows.npz", "--json", "./rows.npz", "--html", "rows.npz")
    assert "one would overwrite the other" in refused(*words)


@posix
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_an_output_that_is_no_regular_file_is_refused(tmp_path, refused, files, kind):
    place = tmp_path / "rows.csv"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(tmp_path / "elsewhere.csv")
    else:
        place = Path("/dev/null")
    assert "expected a regular file" in refused("in", "--json", place)
    assert place.exists() or place.is_symlink()


def test_an_output_folder_that_cannot_be_written_is_found_before_the_work(tmp_path, refused, files):
    """A file in the place of a folder refuses writing even to root, whom permissions do not stop."""
    (tmp_path / "taken").write_text("")
    assert "taken" in refused("in", "--out", "taken/rows.csv")


def test_view_of_nothing_leaves_nothing(tmp_path):
    done = abut(tmp_path, "view", "nope.obj", "--no-browse")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


# --- files that must not be read


@posix
def test_a_pipe_among_the_frames_is_named_and_not_waited_for(tmp_path, files):
    os.mkfifo(tmp_path / "in" / "frame12.ply")
    done = abut(tmp_path, "check", "in", "--no-between")
    assert done.returncode == 1
    assert "frame12.ply: is not a file" in done.stdout


# --- what is printed


@posix
def test_escape_sequences_in_file_names_do_not_reach_the_terminal(tmp_path):
    Mesh(FRAMES[0], FACES).save(tmp_path / "plain.ply")
    os.rename(tmp_path / "plain.ply", tmp_path / "a\x1b[31m.ply")
    (tmp_path / "b\x1b[2J.ply").write_text("ply")
    done = abut(tmp_path, "check", "a\x1b[31m.ply", "b\x1b[2J.ply", "--no-between")
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr
    assert "b\\x1b[2J.ply" in done.stdout


def test_a_clean_animation_is_clean_on_an_ascii_terminal(tmp_path, files):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = abut(tmp_path, "check", *files[:2], env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Clean: no collision." in done.stdout


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_standard_output_is_not_a_collision(tmp_path, files):
    with open("/dev/full", "w") as full:
        done = abut(tmp_path, "check", *files[:2], stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 3, done.stderr
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_where_nothing_can_be_printed_the_exit_code_still_tells(tmp_path, files):
    """Standard error is full as well; then Python itself would exit with 1."""
    with open("/dev/full", "w") as full:
        done = abut(tmp_path, "check", *files[:2], stdout=full, stderr=full, capture_output=False)
        assert done.returncode == 3
        done = abut(tmp_path, "check", "nope.ply", stdout=full, stderr=full, capture_output=False)
        assert done.returncode == 2


@posix
@pytest.mark.parametrize(("closed", "left"), [("1", "stderr"), ("2", "stdout")])
def test_a_closed_standard_stream_changes_no_answer(tmp_path, files, closed, left):
    """`abut check … >&-`: Python has no such stream then."""
    words = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", sys.executable, "-m", "abut", "check", *files[:2]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in getattr(done, left)


@posix
def test_a_closed_pipe_changes_no_answer(tmp_path, files):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = abut(tmp_path, "check", *files[:2], stdout=writer, stderr=subprocess.PIPE, capture_output=False)
    finally:
        os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
