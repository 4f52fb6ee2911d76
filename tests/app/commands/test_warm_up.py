"""`abut warm-up`, on the smallest of its jobs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from abut import InvalidInput
from abut.app import warming
from abut.app.commands import warm_up
from abut.app.entries import ENTRIES
from abut.core import jit
from conftest import SOAK

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled when interpreted")


def console(path: Path) -> Console:
    return Console(file=path.open("w"), width=200)


def warm(tmp_path: Path, *parts: str) -> tuple[int, str, str]:
    out, errors = console(tmp_path / "out"), console(tmp_path / "errors")
    code = warm_up.run(list(parts), 2, out, errors)
    out.file.close()
    errors.file.close()
    return code, (tmp_path / "out").read_text(), (tmp_path / "errors").read_text()


def test_without_a_terminal_it_prints_a_line_for_each_stage(tmp_path):
    warm(tmp_path, "boxes")
    code, out, errors = warm(tmp_path, "boxes")
    assert code == 0
    assert out == "nothing was left to compile, 1 part is ready\n"
    assert "1/1 boxes: 0 functions compiled" in errors


def test_unknown_parts_are_refused_by_name():
    with pytest.raises(InvalidInput, match="there is no part 'colide'; there are collide, sweep"):
        warming.choose(["colide"])
    assert warming.choose(["boxes", "collide"]) == ["collide", "boxes"]
    assert warming.choose([]) == list(ENTRIES)


def test_a_job_that_fails_is_reported(monkeypatch):
    worker = "from abut.app import entries\ndef fail(): raise SystemExit(3)\nentries.ENTRIES['boxes'] = fail\n"
    monkeypatch.setattr(warming, "WORKER", worker + warming.WORKER)
    with pytest.raises(NotImplementedError, match="the process that was at 'boxes' ended before it was done"):
        warming.compile_ahead(["boxes"])


@pytest.mark.large
@pytest.mark.skipif(not SOAK, reason="compiles the same twice from nothing: asked by make soak")
def test_two_processes_compile_each_function_once(tmp_path):
    """Two that need the same functions: together they compile as many as one alone."""
    code = (
        "import sys\nfrom abut.app import warming\ntold = []\n"
        "warming.WORKER = \"from abut.app import entries as e; e.ENTRIES['trees'] = e.ENTRIES['boxes']; \" + warming.WORKER\n"
        "print(warming.compile_ahead(sys.argv[1].split(), processes=2, report=lambda s: told.append((s.entry, s.function))))"
    )

    def count(folder: str, names: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code, names],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / folder)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(done.stdout)

    alone = count("alone", "boxes")
    assert alone > 20
    assert count("both", "boxes trees") == alone
