"""The command in a process of its own, and waiting for what happens in it: by events, with a limit that only a hang comes to."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from abut import scenes

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes, links and signals of POSIX")

PATIENCE = 600.0
"""Seconds: many times what a slow machine needs."""
LONG = 5000
"""Frames of an animation that nobody checks before a signal comes, however slow the process is that sends it."""


def abut(folder: Path, *words: object, **options: object) -> subprocess.CompletedProcess:
    """Run the command until it ends."""
    options = {"capture_output": True, "text": True, "timeout": PATIENCE, **options}
    return subprocess.run(command(*words), cwd=folder, check=False, **options)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "abut", *map(str, words)]


def wait_until(condition, running=None) -> None:
    """Until the condition holds, or the process has ended."""
    limit = time.monotonic() + PATIENCE
    while not condition() and (running is None or running.poll() is None) and time.monotonic() < limit:
        time.sleep(0.02)


def save_long_animation(path: Path) -> None:
    ball = scenes.icosphere(2)
    np.savez(path, frames=ball.vertices + np.linspace(0, 1, LONG)[:, np.newaxis, np.newaxis], faces=ball.faces)
