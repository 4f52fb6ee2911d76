"""`abut view`: a page of frames that were not checked, which says nothing of contacts."""

import json
import re
import sys

import numpy as np
import pytest

from abut import Mesh
from abut.app import cli
from abut.app.commands import view
from app.animation import FACES, FRAMES, save_all


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder; gives its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(view.webbrowser, "open", opened.append)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["abut", "view", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        out, err = capsys.readouterr()
        return caught.value.code, out, err, opened

    return call


def facts_of(page):
    return json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(), re.DOTALL)[1])


def test_all_frames_are_on_the_page_and_it_is_opened(run, tmp_path):
    save_all(tmp_path / "in")
    code, out, _, opened = run("in", "--html", "page/a.html")
    page = tmp_path / "page" / "a.html"
    assert code == 0
    assert out == "written: page/a.html\n"
    assert opened == [page.as_uri()]
    facts = facts_of(page)
    assert facts["kept"] == list(range(len(FRAMES)))
    assert facts["incidents"]["worst"] == []
    text = page.read_text()
    assert 'data-state="view"' in text
    assert "Clean" not in re.search(r'id="verdict">(.*?)</p>', text)[1]


def test_a_bad_frame_is_named_and_missing(run, tmp_path):
    files = save_all(tmp_path / "in")
    Mesh(FRAMES[2], FACES[:1]).save(files[2])
    code, _, _, opened = run("in", "--no-browse")
    assert code == 0
    assert opened == []
    page = tmp_path / "out" / "view.html"
    assert facts_of(page)["missing"] == [2]
    assert "1 frame could not be shown" in page.read_text()
    assert "other connectivity" in page.read_text()


def test_one_file_of_an_archive(run, tmp_path):
    np.savez(tmp_path / "steps.npz", frames=np.asarray(FRAMES), faces=FACES)
    code, *_ = run("steps.npz", "--no-browse")
    assert code == 0
    assert len(facts_of(tmp_path / "out" / "view.html")["names"]) == len(FRAMES)


def test_nothing_to_show(run, tmp_path):
    code, _, err, _ = run("nothing.ply", "--no-browse")
    assert code == 2
    assert "nothing.ply" in err
    assert not (tmp_path / "out" / "view.html").exists()


def test_a_file_of_cells_is_shown_as_an_environment(run, tmp_path):
    meshio = pytest.importorskip("meshio")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    meshio.write(tmp_path / "two.vtu", meshio.Mesh(corners, [("tetra", [[0, 1, 2, 3], [1, 2, 3, 4]])]))
    code, out, _, _ = run("two.vtu", "--no-browse")
    assert (code, out) == (0, "written: out/view.html\n")
    facts = facts_of(tmp_path / "out" / "view.html")
    assert [thing["name"] for thing in facts["things"]] == ["border", "faces of cells", "edges of cells"]
