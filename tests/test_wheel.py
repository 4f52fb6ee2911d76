"""A wheel that carries compiled code, as a user gets it: unpacked, with an empty home, and nowhere to keep anything, nothing is compiled.

In `make test` the wheel carries what pairs of boxes need; `make soak` compiles all of it, and asks what `abut bench start-up` asks.
"""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from abut.core import jit
from conftest import SOAK

pytest.importorskip("hatchling")
pytestmark = [pytest.mark.large, pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled when interpreted")]
ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 60e6
BOXES = "import numpy as np\nfrom abut import broad\nprint(len(broad.overlapping_pairs(np.tile([0.0, 0, 0, 1, 1, 1], (20, 1)))))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("dist")
    env = {**os.environ, "ABUT_PRECOMPILE": "1" if SOAK else "boxes"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place], cwd=ROOT, env=env, check=True
    )
    (made,) = place.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Unpacked, and a file in the place of each folder in which code could be kept: that refuses even root."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "abut" / "__pycache__").touch()
    (site / "home").mkdir()
    (site / "home" / ".cache").touch()
    return site


def ask(site: Path, code: str, **environment: str) -> list[str]:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(site / "home"),
        "PYTHONPATH": str(site),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    before = "import tempfile; tempfile.gettempdir = lambda: '/dev/null/none'\n"
    before += "from abut.core.compiling import cache_root\nassert cache_root.cache_root() is None\n"
    after = "\nfrom abut.core import jit\nprint(jit.compiled_count())"
    done = subprocess.run(
        [sys.executable, "-c", before + code + after],
        env={**env, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_wheel_is_of_one_platform_and_one_numba(wheel):
    assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-" in wheel.name
    assert "-any" not in wheel.name
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        numba = ".".join(importlib.import_module("numba").__version__.split(".")[:2])
        assert f"Requires-Dist: numba=={numba}.*" in archive.read(name).decode()


def test_nothing_is_compiled_from_an_empty_home(installed):
    assert ask(installed, BOXES) == ["190", "0"]


@pytest.mark.skipif(
    not SOAK, reason="compiles: asked by make soak; `test_prebuilt.py` asks the same of a small package"
)
def test_a_processor_without_avx2_is_compiled_for(installed):
    if "x86" not in os.uname().machine:
        pytest.skip("a level of x86-64")
    pairs, compiled = ask(installed, BOXES, NUMBA_CPU_NAME="nehalem", NUMBA_CPU_FEATURES="")
    assert pairs == "190"
    assert int(compiled) > 0


@pytest.mark.skipif(not SOAK, reason="compiles everything: asked by make soak")
def test_nothing_is_compiled_for_any_question_of_the_benchmark(installed):
    spec = importlib.util.spec_from_file_location("start_up", ROOT / "benchmarks" / "start_up.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    for name, code in bench.ENTRIES.items():
        if name != "nest":  # how far its search comes depends on the time
            assert ask(installed, code)[-1] == "0", name
