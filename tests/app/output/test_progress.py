import contextlib
import io

import pytest
from rich.console import Console

from abut.app.output.progress import progress_shown
from abut.core import jit


@pytest.fixture
def last_line(monkeypatch):
    """Runs a job under a bar and gives the bar as it stood at the end. The job gets the functions that move it and that tell of a compilation."""

    def run(job):
        reports = []

        @contextlib.contextmanager
        def compiling(report):
            reports.append(report)
            yield

        monkeypatch.setattr(jit, "compiling", compiling)
        console = Console(file=io.StringIO(), force_terminal=True, width=150, color_system=None, legacy_windows=False)
        with progress_shown("checking", console) as move:
            job(move, reports[0])
        lines = [line for line in console.file.getvalue().splitlines() if "checking" in line]
        return lines[-1]

    return run


def test_bar_shows_frames_and_findings(last_line):
    line = last_line(lambda move, tell: (move(0, 1200, ""), move(300, 1200, "1,234 found")))
    assert "300/1,200 frames, 1,234 found" in line


def test_bar_tells_what_is_compiled_but_not_numba_s_own_helpers(last_line):
    line = last_line(lambda move, tell: (tell("kernel_a"), tell("ol_max.<locals>.impl")))
    assert "compiling, first run only: kernel_a" in line


def test_compilation_is_over_when_a_frame_is_done(last_line):
    line = last_line(lambda move, tell: (tell("kernel_a"), move(1, 2, "0 found")))
    assert "1/2 frames, 0 found" in line
    assert "kernel_a" not in line
