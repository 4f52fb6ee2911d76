"""Worker processes: they find what one process does, keep what is done when a signal comes, and end with the process that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from abut import ccd
from abut.app.check import Frames, Options, Store, check
from abut.core import jit
from app.animation import same
from app.process import LONG, PATIENCE, command, posix, save_long_animation, wait_until

HAS_SWEEP = hasattr(ccd, "sweep")


@pytest.mark.large  # processes start and load compiled code
@pytest.mark.parametrize(
    "between", [False, pytest.param(True, marks=pytest.mark.skipif(not HAS_SWEEP, reason="no sweep"))]
)
def test_two_workers_find_what_one_does(tmp_path, rng, between):
    corners = rng.normal(size=(60, 3, 3)) + 4 * rng.normal(size=(60, 1, 3))  # triangles here and there
    frames = corners.reshape(-1, 3) + 0.1 * rng.normal(size=(40, 180, 3)).cumsum(axis=0)
    frames[7, 3] = np.nan
    np.savez(tmp_path / "all.npz", frames=frames, faces=np.arange(180).reshape(-1, 3))
    given = Frames([tmp_path / "all.npz"])
    seen = []
    one = check(given, Options(between=between), store=Store(tmp_path / "one"))
    two = check(given, Options(between=between), store=Store(tmp_path / "two"), jobs=2, report=seen.append)
    assert one.found > 0
    assert list(one.bad) == [7]
    same(two, one)
    assert [progress.done for progress in seen] == list(range(1, 41))
    kept = [{path.name: path.read_bytes() for path in (tmp_path / name).glob("*.npz")} for name in ("one", "two")]
    assert kept[0] == kept[1]


def _heed_ctrl_c():
    """Whoever runs the tests under `nohup` ignores the signal, and a child inherits that. Safe between fork and exec: one call, no lock."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.large
@pytest.mark.skipif(jit.INTERPRETED or sys.platform == "win32", reason="needs compiled speed and signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_done(tmp_path, jobs):
    save_long_animation(tmp_path / "all.npz")
    words = command("check", "all.npz", "--no-between", "--jobs", jobs)
    folder = tmp_path / ".abut-check"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(words, cwd=tmp_path, start_new_session=True, preexec_fn=_heed_ctrl_c, **pipes)  # noqa: PLW1509
    wait_until(lambda: len(list(folder.glob("*.npz"))) >= 5, running)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all processes of the group
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert out == ""
    assert "run the same command again to go on" in err
    assert "Traceback" not in err
    done = len(list(folder.glob("*.npz")))
    assert 5 <= done < LONG
    assert not [path for path in folder.iterdir() if path.suffix != ".npz" and path.name != ".gitignore"]
    seen = []

    def stop(progress):
        seen.append(progress.done)
        if progress.done > done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(Frames([tmp_path / "all.npz"]), Options(between=False), store=Store(folder), report=stop)
    assert len(list(folder.glob("*.npz"))) - done <= 1 + 2 * int(jobs)  # no more than the gaps and one new frame


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


@posix
@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/stat").exists() or jit.INTERPRETED, reason="looks at processes")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path, how):
    save_long_animation(tmp_path / "all.npz")
    words = command("check", "all.npz", "--jobs", "2", "--no-between")
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(list((tmp_path / ".abut-check").glob("*.npz"))) >= 4, running)
    workers = children(running.pid)
    assert workers
    running.send_signal(how)
    _, err = running.communicate(timeout=PATIENCE)
    if how == signal.SIGTERM:
        assert running.returncode == 143
        assert "Terminated after" in err
        assert "Traceback" not in err
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
