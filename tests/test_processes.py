"""Forks, spawned processes and threads, for each threading layer of Numba that is installed: the contract of docs/threads.md."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from abut.core import jit
from abut.core.compiling import cache_root
from conftest import SOAK
from processes import STARTS

pytestmark = [
    pytest.mark.skipif(jit.INTERPRETED, reason="there are no threads when interpreted"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are those of POSIX"),
]
LAYERS = ("omp", "workqueue", "tbb")
SHORT = {
    ("fork_each", "omp"),
    ("executor", "workqueue"),
    ("fork_beside", "omp"),
}
"""What each run tries: a process takes seconds to start. `make soak` tries the rest."""
PATIENCE = 3600.0
"""Seconds until a run counts as hung: many times what a slow machine needs, compiling included."""


def run(start, layer, *more):
    folder = Path(__file__).parent
    env = {**os.environ, "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    env["PYTHONPATH"] = f"{cache_root.PACKAGE.parent}{os.pathsep}{folder}"
    command = [sys.executable, str(folder / "processes.py"), start, *more]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE)


def is_installed(layer):
    code = f"import numba; numba.config.THREADING_LAYER = {layer!r}; numba.get_num_threads()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("start", STARTS)
def test_every_process_and_thread_answers_alike(start, layer):
    """After the parent has used its threads, children and threads answer as it does; none is killed, and none hangs."""
    if not SOAK and (start, layer) not in SHORT:
        pytest.skip("tried by make soak")
    if layer == "tbb" and not is_installed(layer):
        pytest.skip("TBB is not installed")
    done = run(start, layer)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "same", done.stdout


@pytest.mark.skipif(not SOAK, reason="tried by make soak")
@pytest.mark.parametrize("start", ["fork", "fork_pool", "threads"])
def test_children_come_before_the_threads(start):
    """Where the parent has not used threads before, its children start their own."""
    done = run(start, "omp", "late")
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["same"]), done.stderr


def test_compiled_code_may_not_launch_threads():
    @jit.parallel
    def outer(x):
        for i in jit.prange(len(x)):
            x[i] = 1.0

    @jit.kernel
    def caller(x):
        outer(x)

    import numpy as np

    with pytest.raises(numba.TypingError, match="outer is parallel"):
        caller(np.zeros(3))
