"""What the store keeps: found again, computed again where it was damaged or changed, and nothing else in its folder touched."""

import os
import time

import numpy as np
import pytest

from abut import InvalidInput
from abut.app.check import Frames, Options, Store, check
from abut.app.check.store import KEPT_DAYS
from app.animation import FRAMES, save_all


def test_a_folder_given_for_the_work_keeps_what_others_put_there(tmp_path):
    old = tmp_path / "results.npz"
    old.write_bytes(b"somebody's")
    os.utime(old, (0, 0))
    (tmp_path / ".gitignore").write_text("mine\n")
    Store(tmp_path)
    assert old.read_bytes() == b"somebody's"
    assert (tmp_path / ".gitignore").read_text() == "mine\n"


@pytest.mark.parametrize("change", ["other rows", "a column short", "other type", "under another name"])
def test_a_tampered_result_is_computed_again(tmp_path, change):
    files = save_all(tmp_path / "in")
    store = Store(tmp_path / "work")
    expected = check(Frames(files), Options(between=False), store=store)
    kept = sorted(store.folder.glob("*.npz"), key=lambda path: len(np.load(path)["kind"]))
    if change == "under another name":
        kept[0].write_bytes(kept[-1].read_bytes())
    else:
        with np.load(kept[-1]) as archive:
            columns = dict(archive)
        if change == "other rows":
            columns["a"] = columns["a"] + 10**9
        elif change == "a column short":
            columns["depth"] = columns["depth"][:0]
        else:
            columns["point"] = columns["point"].astype("U9")
        np.savez(kept[-1], **columns)
    again = check(Frames(files), Options(between=False), store=store)
    assert again.reused == expected.reused + len(files) - 1
    for ours, theirs in zip(again.findings, expected.findings, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_folder_of_results_is_tidy(tmp_path):
    folder = tmp_path / "deep" / "work"
    store = Store(folder)
    check(Frames(save_all(tmp_path / "in", FRAMES[:2])), store=store)
    assert (folder / ".gitignore").read_text() == "*\n"
    assert {path.suffix for path in folder.iterdir()} <= {".npz", ""}
    old, *young = folder.glob("*.npz")
    then = time.time() - (KEPT_DAYS + 1) * 86400
    os.utime(old, (then, then))
    Store(folder)
    assert sorted(folder.glob("*.npz")) == sorted(young)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be written"):
        Store(tmp_path / "file")


def test_key_tells_its_parts_apart():
    keys = [Store.key("a", "bc"), Store.key("ab", "c"), Store.key("a", "bc", 0.0), Store.key("a", "bc", 1e-300)]
    assert len(set(keys)) == 4
    assert Store.key("a", "bc") == keys[0]
