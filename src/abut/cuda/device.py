"""What Numba is asked for on a CUDA device: kernels that round every operation, as processors do, and are kept on disk.

`kernel` compiles a function of arrays, `inlined` a function that kernels call. Element functions of `geometry`, `ccd` and `cells` are called as they
are. Products and sums are not contracted into one operation, so that numbers are those of the processor, bit for bit; and there is no optimisation at
link time, which would contract them again. NVVM has a switch for that which numba-cuda does not hand on: `_Rounding` sets it while it compiles.

With `NUMBA_ENABLE_CUDASIM=1` kernels run as Python threads, for tests of their logic on a machine without a device.
"""

import contextlib
import functools
import importlib
import threading
import warnings
from collections.abc import Generator
from typing import Any

import numpy as np

from abut.core.compiling.cache_root import cache_root
from abut.core.devices import INSTALL
from abut.core.errors import Unsupported

if not hasattr(np, "row_stack"):  # gone from NumPy 2.5; numba-cuda 0.30 asks for it when it is imported
    np.row_stack = np.vstack  # noqa: NPY201  # pyright: ignore[reportAttributeAccessIssue]

with warnings.catch_warnings():  # of a NumPy that is newer than numba-cuda
    warnings.simplefilter("ignore", DeprecationWarning)
    from numba import cuda as _cuda
    from numba.core import config

cuda: Any = _cuda
"""`numba.cuda`, whose stubs know no types."""

SIMULATED = bool(getattr(config, "ENABLE_CUDASIM", False))
"""Whether kernels run in Numba's simulator."""


def _find_cupy() -> Any:
    """CuPy; None in the simulator, which works on NumPy arrays, and where it is not installed."""
    with contextlib.suppress(ImportError):
        return None if SIMULATED else importlib.import_module("cupy")
    return None


cupy: Any = _find_cupy()


@functools.cache
def check() -> None:
    """Raise Unsupported where there is no device to work on."""
    if SIMULATED:
        return
    if cupy is None:
        raise Unsupported(f"CUDA devices: cupy is missing; {INSTALL}")
    if not cuda.is_available():
        raise Unsupported(f"CUDA devices: no device, or no driver, is found here; {INSTALL}")


if not SIMULATED:
    import numba.cuda.cudadrv.nvvm as nvvm
    from numba.core.compiler_lock import global_compiler_lock
    from numba.cuda.core.errors import NumbaPerformanceWarning  # pyright: ignore[reportMissingImports]
    from numba.cuda.dispatcher import CUDACache, CUDACacheImpl, CUDADispatcher

    from abut.core.compiling.code_cache import SourcesLocator

    _compile_ir = nvvm.compile_ir
    _turn = threading.local()

    def _compile_rounding(llvmir: Any, **options: Any) -> Any:
        if getattr(_turn, "rounds", False):
            options["fma"] = False
        return _compile_ir(llvmir, **options)

    nvvm.compile_ir = _compile_rounding

    @contextlib.contextmanager
    def rounding() -> Generator[None]:
        """Within this context what this thread compiles rounds every operation."""
        before = getattr(_turn, "rounds", False)
        _turn.rounds = True
        try:
            yield
        finally:
            _turn.rounds = before

    class _SourcesCacheImpl(CUDACacheImpl):
        _locator_classes = (SourcesLocator,)

    class _SourcesCache(CUDACache):
        """What is kept of one kernel, under the hash of all sources that it reaches."""

        _impl_class = _SourcesCacheImpl

    class _Rounding(CUDADispatcher):
        """A kernel in which every operation is rounded."""

        @global_compiler_lock
        def compile(self, sig: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            """Numba's, without contraction."""
            with rounding():
                return super().compile(sig)

        @functools.lru_cache(maxsize=256)  # noqa: B019  (kernels live as long as the process)
        def configure(self, *grid: Any) -> Any:
            """Numba's, which warns of small grids; some of ours have to be small."""
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaPerformanceWarning)
                return super().configure(*grid)


def kernel(function: Any = None, *, max_registers: int | None = None) -> Any:
    """Compile a function that a grid of threads runs."""
    if function is None:
        return functools.partial(kernel, max_registers=max_registers)
    if SIMULATED:
        return cuda.jit(function)
    made = cuda.jit(function, lto=False, **({} if max_registers is None else {"max_registers": max_registers}))
    made.__class__ = _Rounding
    if cache_root() is not None:
        made._cache = _SourcesCache(made.py_func)
    return made


def inlined(function: Any) -> Any:
    """Compile a function that kernels call; it is copied into them, and what is constant in a call is constant in the copy."""
    return cuda.jit(function, device=True) if SIMULATED else cuda.jit(function, device=True, forceinline=True)


@functools.cache
def processor_count() -> int:
    """The number of multiprocessors of the device."""
    return 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


WARPS = 1 if SIMULATED else 8
"""Warps in a block of most kernels."""
THREADS = 32 * WARPS


def blocks_for(threads: int) -> int:
    """How many blocks of THREADS give one thread each to so many things."""
    return max(1, -(-threads // THREADS))


def grid(blocks_each: int) -> int:
    """How many blocks fill the device, so many on each multiprocessor; their threads go through all things in turn."""
    return processor_count() * (1 if SIMULATED else blocks_each)


def empty(count: int, kind: Any) -> Any:
    """Memory of the device for so many numbers, at least one."""
    return cuda.device_array(max(int(count), 1), kind)


def constant(array: Any) -> Any:
    """The numbers of an array, in the memory of the device as one row."""
    return cuda.to_device(np.ascontiguousarray(array).reshape(-1))


def records(count: int, kind: Any) -> Any:
    """Memory for so many records, zero."""
    return cuda.to_device(np.zeros(count, dtype=kind))


def kernel_arguments(*arrays: Any) -> list[Any]:
    """Arrays of CuPy as Numba takes them in a launch, which is faster than as they are."""
    return [cuda.as_cuda_array(array, sync=False) for array in arrays]
