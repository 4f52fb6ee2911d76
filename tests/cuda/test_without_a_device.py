"""Without a device: questions for one are refused with the line that installs what is missing, and nothing of `abut.cuda` is loaded."""

import subprocess
import sys

import numpy as np
import pytest

import abut
from abut.core import devices

try:
    from numba import cuda

    THERE = cuda.is_available()
except ImportError:
    THERE = False

BALL = abut.scenes.icosphere(0)


class OnDevice:
    """What tells that it lies on a CUDA device."""

    __cuda_array_interface__ = {"shape": (12, 3), "typestr": "<f8", "data": (0, False), "version": 3}  # noqa: RUF012


@pytest.mark.skipif(THERE, reason="there is a device")
def test_a_question_for_a_device_is_refused():
    v = BALL.vertices
    for ask in (abut.sweep, abut.time_of_impact, abut.candidates):
        with pytest.raises(abut.Unsupported, match=r"pip install abut\[cuda\]"):
            ask(BALL, v, v, device="cuda")
        with pytest.raises(abut.Unsupported, match=r"pip install abut\[cuda\]"):
            ask(BALL, OnDevice(), OnDevice())
    with pytest.raises(abut.Unsupported, match=r"pip install abut\[cuda\]"):
        abut.ccd.vertex_face(np.zeros((1, 8, 3)), device="cuda")


def test_an_unknown_device_and_mixed_ones_are_refused():
    v = BALL.vertices
    with pytest.raises(abut.InvalidInput, match="device"):
        abut.sweep(BALL, v, v, device="tpu")
    with pytest.raises(abut.InvalidInput, match="v_t1: lies on the host"):
        abut.sweep(BALL, OnDevice(), v)


def test_where_arrays_lie():
    assert devices.is_on_device(OnDevice())
    for value in (BALL.vertices, [1.0], (1.0,), 1.0, None, "text", object(), BALL):
        assert not devices.is_on_device(value)


def test_nothing_of_it_is_loaded_without_need():
    code = (
        "import sys, abut; b = abut.scenes.icosphere(0); abut.sweep(b, b.vertices, b.vertices);"
        "print([name for name in sys.modules if name.startswith(('abut.cuda', 'numba.cuda', 'cupy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
