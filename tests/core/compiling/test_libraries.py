"""Functions that only compiled functions call have bitcode and no machine code until somebody asks, and answer as ever, also from disk."""

import subprocess
import sys
import threading

import pytest
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from abut.core import jit
from abut.core.compiling.libraries import LateLibrary, late

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")

MODULE = """
from abut.core import jit

@jit.element
def square(x):
    jit.stay_apart()
    if x > 1e6:
        raise ValueError("too large")
    return x * x

@jit.kernel
def add_squares(values):
    total = 0.0
    for x in values:
        total += square(x)
    return total
"""
ASK = """
import numpy as np
from module import add_squares, square
from abut.core import jit
print(add_squares(np.array([1.0, 2.0, 3.0])), jit.compiled_count())
try:
    add_squares(np.array([1e7]))
except ValueError as error:
    print(error)
print(square(3.0))
"""


def test_the_code_of_a_callee_is_in_its_caller_and_has_no_address():
    @jit.element
    def half(x):
        return 0.5 * x

    @jit.kernel
    def quarter(x):
        return half(half(x))

    assert quarter(8.0) == 2.0
    (inner,) = half._inner.overloads.values()
    assert isinstance(inner.library, LateLibrary)
    assert not inner.library._has_machine_code
    assert not half.overloads  # Python has not called it
    assert half(8.0) == 4.0  # now it has
    assert inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name)  # whoever asks gets one


def test_threads_that_compile_at_once_leave_numba_as_it_was():
    """The first enters before the second and leaves before it: what others compile afterwards is made as Numba makes it."""
    codegen = cpu_target.target_context.codegen()
    inside, wants = threading.Event(), threading.Event()

    def first():
        with late(codegen):
            inside.set()
            wants.wait(10.0)
            wants_in.join(0.3)  # until the second is in, or waits

    def second():
        inside.wait(10.0)
        wants.set()
        with late(codegen):
            wants_out.join(10.0)

    wants_out, wants_in = threading.Thread(target=first), threading.Thread(target=second)
    wants_out.start()
    wants_in.start()
    wants_out.join()
    wants_in.join()
    assert codegen._library_class is JITCodeLibrary


def test_a_second_process_takes_callers_and_callees_from_disk(tmp_path):
    """Then the caller is changed: its callee comes from disk, as bitcode. An exception of the callee passes through."""
    (tmp_path / "module.py").write_text(MODULE)
    environment = {
        "PATH": "",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": f"{tmp_path}:{_package_root()}",
    }

    def ask():
        run = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
        return run.stdout.split("\n")

    first = ask()
    assert first[0].startswith("14.0 ")
    assert first[1:3] == ["too large", "9.0"]
    assert ask() == ["14.0 0", "too large", "9.0", ""]
    (tmp_path / "module.py").write_text(MODULE.replace("total = 0.0", "total = 1.0"))
    assert ask()[0].startswith("15.0 ")


def _package_root():
    from abut.core.compiling.cache_root import PACKAGE

    return PACKAGE.parent
