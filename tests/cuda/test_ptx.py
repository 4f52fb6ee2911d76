"""Kernels as PTX, without a device: they compile, round every product by itself, and keep their numbers in registers.

Skipped where numba-cuda and NVIDIA's compiler are not installed (`pip install numba-cuda[cu13] nvidia-cuda-nvcc`).
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_ptx as ptx
from abut.core import jit

HERE = Path(__file__).parent
AVAILABLE = not jit.INTERPRETED and importlib.util.find_spec("numba_cuda") is not None and ptx.find_ptxas() is not None
pytestmark = [
    pytest.mark.skipif(not AVAILABLE, reason="numba-cuda, or NVIDIA's compiler, is not installed"),
    pytest.mark.large,
]

CHECK = """
import cuda_ptx as ptx
ptx.pretend_a_device()
for kernel, signature in ptx.signatures():
    name = kernel.py_func.__name__
    if name.startswith(("decide", "_decide")):
        continue
    own = ptx.compile_kernel(kernel, signature)
    fused = "fma.rn" in own.text and name != "find_crossing"  # whose exact signs ask for it (core.products)
    assert not fused, f"{name} contracts a product and a sum"
    assert own.spilled == 0 or kernel.targetoptions.get("max_registers"), f"{name} spills {own.spilled} bytes"
    assert own.registers <= 168, f"{name} takes {own.registers} registers"
"""
"""In a process of its own, where a device is pretended. The exact stage, which takes half a minute, is left to `python tests/cuda_ptx.py`."""


def test_kernels_round_and_do_not_spill():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
