"""Code that comes with a package: used where it fits, seen by nothing compiled, and never stale, foreign or beyond the processor.

On a package of two small modules, compiled for the baseline in one process and called in others that begin with nothing.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.registry import cpu_target

from abut import precompile
from abut.core import jit
from abut.core.compiling import baseline, cache_root, code_cache
from core.test_jit import copy_package

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled when interpreted"),
    pytest.mark.skipif(baseline.BASELINE is None, reason="no baseline for this kind of processor"),
    pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes of folders are those of POSIX"),
]

ASK = """
from abut.core import jit
compiled = []
with jit.compiling(compiled.append):
    from abut.caller import ask
    answer = ask(1.0)
print(answer)
print(",".join(compiled))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The package and its prebuilt folder, in a place where nothing else can be kept."""
    root, place = copy_package(tmp_path_factory.mktemp("package")), tmp_path_factory.mktemp("place")
    told = {"NUMBA_CPU_NAME": baseline.BASELINE.name, "NUMBA_CPU_FEATURES": ""}
    assert ask(root, NUMBA_CACHE_DIR=str(place), **told)[1] != ""
    assert precompile._collect(place, root / "abut" / "prebuilt") == 1  # the callee is part of its caller
    return root


@pytest.fixture
def package(made, tmp_path):
    """A copy, that a test may change."""
    subprocess.run(["cp", "-r", made, tmp_path / "copy"], check=True)
    return tmp_path / "copy"


def ask(root: Path, before: str = "", **environment: str) -> list[str]:
    """What the package answers and what it compiled, in a process with an empty home that can keep nothing."""
    home = root / "home"
    home.mkdir(exist_ok=True)
    (home / ".cache").touch()  # a file in the place of a folder: refuses writing even to root
    (root / "abut" / "__pycache__").touch()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    nowhere = "import tempfile; tempfile.gettempdir = lambda: '/dev/null/none'\n"
    code = (nowhere if "NUMBA_CACHE_DIR" not in environment else "") + before + ASK
    done = subprocess.run(
        [sys.executable, "-c", code], env={**env, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_nothing_is_compiled_where_nothing_can_be_kept(package):
    assert ask(package) == ["2.0", ""]


def test_an_edited_source_is_compiled_anew(package):
    callee = package / "abut" / "callee.py"
    callee.write_text(callee.read_text().replace("x + 1.0", "x + 5.0"))
    assert ask(package) == ["6.0", "ask,answer"]


def test_a_comment_changes_nothing(package):
    callee = package / "abut" / "callee.py"
    callee.write_text("# a comment\n" + callee.read_text())
    assert ask(package) == ["2.0", ""]


def test_another_numba_compiles_anew(package):
    assert ask(package, "import numba; numba.__version__ = '0.68.99'\n") == ["2.0", "ask,answer"]


LESS = [
    {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""},
    {"NUMBA_CPU_NAME": "generic"},
    {"NUMBA_CPU_FEATURES": "+sse4.2,+avx,-avx2"},
    {"NUMBA_ENABLE_AVX": "0"},
]


@pytest.mark.skipif(baseline.BASELINE != baseline._X86, reason="levels of x86-64")
@pytest.mark.parametrize("told", LESS, ids=lambda told: " ".join(told.values()))
def test_a_processor_without_a_feature_of_the_baseline_is_compiled_for(package, told):
    assert ask(package, **told) == ["2.0", "ask,answer"]


@pytest.mark.skipif(baseline.BASELINE != baseline._X86, reason="levels of x86-64")
def test_a_processor_with_the_baseline_alone_compiles_nothing(package):
    """AVX2, but no AVX-512; and the baseline by its name."""
    features = ",".join(f"+{name}" for name in sorted(baseline.BASELINE.features))
    assert ask(package, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES=features + ",-avx512f") == ["2.0", ""]
    assert ask(package, NUMBA_CPU_NAME=baseline.BASELINE.name, NUMBA_CPU_FEATURES="") == ["2.0", ""]


def test_what_the_processor_lacks_counts_whatever_numba_is_told(package):
    lacking = "from abut.core.compiling import baseline\nbaseline._host_features = lambda: frozenset({'sse3'})\n"
    if not baseline.BASELINE.features:
        pytest.skip("the baseline asks for nothing")
    assert ask(package, lacking) == ["2.0", "ask,answer"]
    assert ask(package, lacking, NUMBA_CPU_NAME=baseline.BASELINE.name, NUMBA_CPU_FEATURES="") == ["2.0", "ask,answer"]


@pytest.mark.parametrize("which", ["prebuilt", "prebuilt/*"])
def test_a_folder_that_others_may_write_is_not_read(package, which):
    for folder in (package / "abut").glob(which):
        if folder.is_dir():
            folder.chmod(0o777)
    assert ask(package) == ["2.0", "ask,answer"]


def test_a_group_of_the_user_alone_may_write(monkeypatch, tmp_path):
    """Many systems give each user a group of his own, and let it write whatever he writes."""
    tmp_path.chmod(0o775)
    monkeypatch.setattr(cache_root, "_is_private_group", lambda group: True)
    assert cache_root.is_ours(tmp_path)
    monkeypatch.setattr(cache_root, "_is_private_group", lambda group: False)
    assert not cache_root.is_ours(tmp_path)
    tmp_path.chmod(0o757)
    assert not cache_root.is_ours(tmp_path)


def test_code_for_this_very_processor_comes_first(package, tmp_path):
    """Compiled where asked, kept in the user's folder, and found there though the package's is gone."""
    own, native = (
        {"NUMBA_CACHE_DIR": str(tmp_path / "own")},
        "from abut.core.compiling.code_cache import Places; Places.native_only = True\n",
    )
    assert ask(package, **own) == ["2.0", ""]
    assert not list((tmp_path / "own").glob("abut-*"))  # what is read from the package is not copied
    assert ask(package, native, **own) == ["2.0", "ask,answer"]
    subprocess.run(["rm", "-r", package / "abut" / "prebuilt"], check=True)
    assert ask(package, **own) == ["2.0", ""]


def test_code_that_takes_a_name_which_this_process_lacks_is_not_loaded():
    impl = code_cache.SourcesCache(jit.kernel(lambda x: x).py_func)._impl
    assert impl.rebuild(cpu_target.target_context, (("no_such_name_anywhere",), (), None)) is None


def test_the_folder_of_a_package_is_for_reading(package):
    for path in (package / "abut" / "prebuilt").rglob("*"):
        assert not path.stat().st_mode & stat.S_IWOTH
