"""What is said while something is compiled: to the log once a job, to callbacks each function, to clocks nothing."""

import logging
import subprocess
import sys
import time

import pytest

from abut.contours.nesting.strip import Budget
from abut.core import jit
from abut.core.compiling import compilation
from core.test_jit import PACKAGE, copy_package, run

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled when interpreted")

JOB = """
import logging, sys, time
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
from abut.core.compiling import compilation
told = []
stop = compilation.on_compile(told.append)
from abut import job
before, start = compilation.working_clock(), time.perf_counter()
print(job.measure(2.0))
worked, passed = compilation.working_clock() - before, time.perf_counter() - start
print([tuple(each) for each in told])
print(compilation.compile_seconds() > 0.0, abs(passed - worked - compilation.compile_seconds()) < 0.01)
stop()
stop()
job.measure(2)
print(len(told), compilation.compiled_count())
"""


@pytest.fixture
def package(tmp_path):
    root = copy_package(tmp_path)
    (root / "abut" / "job.py").write_text(
        "from abut.caller import ask\n\ndef measure(x):\n    return [inner(x) for _ in range(1)][0]\n\ndef inner(x):\n    return ask(x)\n"
    )
    return root


def test_a_job_is_named_by_the_function_that_the_user_called(package):
    said, value, told, seconds, counts = run(JOB, package)[:5]
    assert said.startswith("INFO abut is compiling functions for measure;")
    assert value == "3.0"
    assert told == "[('measure', 'ask', 1), ('measure', 'answer', 2)]"
    assert seconds == "True True"
    assert counts == "2 4"  # whole numbers are another type; and who does not listen any more is told nothing


def test_nothing_is_said_of_code_from_disk(package):
    run(JOB, package)
    assert run(JOB, package) == ["3.0", "[]", "False True", "0 0"]


def test_functions_of_others_are_not_counted():
    import numba

    before, told = jit.compiled_count(), []
    stop = compilation.on_compile(told.append)
    assert numba.njit(lambda x: x + 1)(1) == 2
    stop()
    assert (jit.compiled_count(), told) == (before, [])


def test_a_failed_compilation_leaves_the_count_in_order(package):
    code = (
        "from abut.core import jit\n@jit.kernel\ndef bad(x):\n    return x.nothing\nbad.py_func.__module__ = 'abut.x'\n"
        "for _ in range(2):\n    try:\n        bad(1.0)\n    except Exception as error:\n        print(type(error).__name__)\n"
        "from abut.core.compiling.compilation import _watch\nprint(_watch.depth)"
    )
    assert run(code, package) == ["TypingError", "TypingError", "0"]


def test_the_library_itself_prints_nothing(package):
    code = "from abut import job\njob.measure(2.0)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(package), "PATH": ""}, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_the_clock_goes_on_where_nothing_is_compiled():
    start = compilation.working_clock()
    time.sleep(0.01)
    assert compilation.working_clock() - start >= 0.01
    assert logging.getLogger(PACKAGE.name) is compilation.log


def test_the_seconds_of_nesting_do_not_count_compilation(monkeypatch):
    """Ten seconds pass, nine of them with the compiler."""
    now = 100.0
    monkeypatch.setattr(compilation.time, "perf_counter", lambda: now)
    budget = Budget(4.0, float("inf"), lambda share, best: None)
    now += 10.0
    monkeypatch.setattr(compilation._watch, "seconds", compilation._watch.seconds + 9.0)
    assert budget.spent_seconds == pytest.approx(1.0)
    assert budget.share == pytest.approx(0.25)
