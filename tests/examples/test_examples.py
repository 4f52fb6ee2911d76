"""Every example runs without a window, ends in its own assertions, and exits with 0."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SOAK

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SHORTER = {"bodies_inside": ("passage",)}
"""Scenes of an example that has many; `make soak` runs all."""
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "pictures")
"""That one needs a browser, and only draws."""


def run(path, *arguments):
    return subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, check=False)


def test_there_are_examples():
    assert "surgery.py" in [path.name for path in EXAMPLES]


@pytest.mark.large
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_checks_itself(path):
    done = run(path, *(() if SOAK else SHORTER.get(path.stem, ())))
    assert done.returncode == 0, done.stderr
    assert "assert " in path.read_text(encoding="utf-8")
    assert done.stdout.strip()


@pytest.mark.large
def test_surgery_draws_what_collides(tmp_path):
    picture = tmp_path / "surgery.svg"
    done = run(FOLDER / "surgery.py", "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    text = picture.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert text.count("<path") > 1000
    assert len(text) < 600_000
