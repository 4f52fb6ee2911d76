"""Outputs are looked at before the work: nothing that was there is lost, and what cannot be written is said at once."""

import os
import sys

import pytest

from abut import InvalidInput
from abut.app.output.files import check_outputs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.svg").write_text("kept")
    (tmp_path / "old.json").write_text("may be replaced")
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_new_files_and_regular_files_may_be_written(folder):
    check_outputs([folder / "in.svg"], {"--out": folder / "new/er/out.svg", "--json": folder / "old.json"})
    assert not (folder / "new").exists()  # looking makes nothing


def test_an_input_is_never_an_output(folder):
    (folder / "near.svg").hardlink_to(folder / "in.svg")
    (folder / "linked").symlink_to(folder / "sub", target_is_directory=True)
    (folder / "entry.svg").symlink_to(folder / "in.svg")
    (folder / "sub" / "deep.svg").write_text("kept")
    source, deep = folder / "in.svg", folder / "sub" / "deep.svg"
    for path in (source, folder / "sub/../in.svg", folder / "near.svg", folder / "linked/../in.svg"):
        with pytest.raises(InvalidInput, match=r"--out: .* is the input"):
            check_outputs([source, deep], {"--out": path})
    with pytest.raises(InvalidInput, match="is the input"):
        check_outputs([source, deep], {"--out": folder / "linked/deep.svg"})
    with pytest.raises(InvalidInput, match="is the input"):  # the input is the link, the output what it points to
        check_outputs([folder / "entry.svg"], {"--out": source})
    with pytest.raises(InvalidInput, match="is the input"):  # an input that is not there: it still cannot be both
        check_outputs([folder / "no.svg"], {"--out": folder / "no.svg"})


def test_two_outputs_are_two_files(folder):
    (folder / "linked").symlink_to(folder / "sub", target_is_directory=True)
    (folder / "same.json").hardlink_to(folder / "old.json")
    for a, b in (("a", "a"), ("a", "sub/../a"), ("sub/a", "linked/a"), ("old.json", "same.json")):
        with pytest.raises(InvalidInput, match=r"--json: .* is also what --out names"):
            check_outputs([], {"--out": folder / a, "--json": folder / b})
    for a, b in (("a", "a/b"), ("a/b/c", "a")):
        with pytest.raises(InvalidInput, match="a folder and a file in it"):
            check_outputs([], {"--out": folder / a, "--json": folder / b})
    check_outputs([], {"--out": folder / "a", "--json": folder / "ab"})


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in the file system")
def test_only_regular_files_are_replaced(folder):
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(folder / "old.json")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder / "loop")
    kinds = {"pipe": "a pipe", "link": "a symbolic link", "dangling": "a symbolic link", "loop": "a symbolic link"}
    for name, kind in {**kinds, "sub": "a folder", "/dev/null": "a device", "": "a folder"}.items():
        with pytest.raises(InvalidInput, match=f"--out: .* is {kind}"):
            check_outputs([], {"--out": folder / name})


def test_folders_that_cannot_be_written_to_are_found_first(folder, monkeypatch):
    with pytest.raises(InvalidInput, match=r"--out: .* lies in"):
        check_outputs([], {"--out": folder / "old.json" / "out.svg"})
    with pytest.raises(InvalidInput, match=r"--out: .* lies in"):
        check_outputs([], {"--out": folder / "old.json" / "deeper" / "out.svg"})
    for bad in ("a\0b", "a" * 5000):
        with pytest.raises(InvalidInput, match=r"--out: .* cannot be written"):
            check_outputs([folder / bad], {"--out": folder / bad / "out.svg"})
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # a superuser may write everywhere
    with pytest.raises(InvalidInput, match="cannot be written to"):
        check_outputs([], {"--out": folder / "new" / "out.svg"})
