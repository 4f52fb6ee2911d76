"""Every Numba option, in one place: how element functions and kernels are compiled, and where the machine code is kept.

`element` marks a function of scalars and tuples (the same source serves CUDA), `kernel` a loop over arrays, `parallel` a loop over
`prange`, `generic` a function chosen by the types of its arguments. All use NumPy's error model (a division by zero gives infinity) and
none uses fastmath (it breaks tests for NaN).

To decorate a function takes microseconds: what Numba needs of it is made when it is first called (`dispatchers`). Machine code lies on
disk (`code_cache`), and is never run stale.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import numba
import numpy as np
from numba import extending
from numba.core import event, types

from abut.core.compiling.cache_root import config
from abut.core.compiling.code_cache import cache_folder
from abut.core.compiling.compilation import compile_seconds, compiled_count, on_compile, working_clock
from abut.core.compiling.dispatchers import Parallel, Twofold, lazy
from abut.core.compiling.threads import threads

__all__ = [
    "INTERPRETED", "cache_folder", "compile_seconds", "compiled_count", "compiling", "element", "generic", "generic_by_dtype", "implement",
    "inlined", "integer", "kernel", "limit_threads", "on_compile", "parallel", "prange", "stay_apart", "thread_count", "threads_for",
    "working_clock",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

# By default OpenMP's threads spin while they wait for one another. Where another process needs the core, a loop of 10 µs then takes 8 to 24 ms: the
# spinning thread keeps the other from running. Read when the first parallel loop starts; whoever sets the variable himself is left alone.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

prange: type[range] = numba.prange
integer: Any = np.int64
"""`integer(0)`: an int64. A plain 0 that is handed to a function is a type of its own, and the function is compiled once more for it."""

INTERPRETED = bool(config.DISABLE_JIT)
"""Whether kernels run as plain Python (`NUMBA_DISABLE_JIT=1`)."""

WORK_FOR_THREADS = 8192
"""Entering a parallel loop takes 10 to 40 µs, and now and then milliseconds where another process is busy; on one thread it takes 1 µs."""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "nogil": True, "no_cfunc_wrapper": True}
"""Numba also makes a wrapper for callers in C, of whom there are none."""


def _compile(function: F, kind: type = Twofold, **options: Any) -> F:
    return function if INTERPRETED else lazy(function, {**_OPTIONS, **options}, kind)


def element(function: F) -> F:
    """Compile a function of scalars and tuples. No arrays, exceptions or recursion inside: CUDA compiles the same source."""
    return _compile(function)


def inlined(function: F) -> F:
    """Compile a function that LLVM always copies into its callers: for innermost loops, where handing over arguments costs more than the work."""
    return _compile(function, forceinline=True)


def kernel(function: F) -> F:
    """Compile a function over arrays, run on one thread, without the interpreter lock."""
    return _compile(function)


def parallel(function: F) -> F:
    """Compile a function whose `prange` loops run on all threads; in a forked child that has lost them, on one. No compiled function may call it."""
    return _compile(function, Parallel, parallel=True)


def thread_count() -> int:
    """How many threads `prange` loops run on."""
    return 1 if threads.lost else numba.get_num_threads()


def limit_threads(count: int) -> None:
    """Let `prange` loops of this process run on so many threads from now on, or on all where there are fewer."""
    numba.set_num_threads(min(count, config.NUMBA_NUM_THREADS))


@contextlib.contextmanager
def threads_for(work: int, least: int = WORK_FOR_THREADS) -> Generator[None]:
    """Within this context `prange` loops run on one thread if there are fewer than `least` things to do in all."""
    if not threads.known:
        threads.launch()
    before = numba.get_num_threads()
    if work < least:
        numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _apart(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


stay_apart: Any = (lambda: None) if INTERPRETED else extending.intrinsic(_apart)
"""`stay_apart()`, inside a function: LLVM never copies it into its callers. It keeps many calls of a long function from growing the code
of the callers, and the time to compile them, by their product."""


def generic(function: F) -> F:
    """A function whose implementation is chosen by the classes of its NamedTuple arguments, when the caller is compiled.

    Register implementations with `implement`. Passing functions as arguments instead would defeat the disk cache.
    """
    return _dispatch(function, _class_of)


def generic_by_dtype(function: F) -> F:
    """The same, chosen by the dtype of its only argument, an array."""
    return _dispatch(function, _dtype_of)


def _dispatch(function: F, kind_of: Callable[[Any], type | None]) -> F:
    table: dict[tuple[type, ...], Callable[..., Any]] = {}

    def choose(*arguments: Any) -> Callable[..., Any] | None:
        return table.get(tuple(kind for kind in map(kind_of, arguments) if kind is not None))

    if INTERPRETED:

        def call(*arguments: Any) -> Any:
            chosen = choose(*arguments)
            if chosen is None:
                raise TypeError(
                    f"{function.__name__} has no implementation for {[type(a).__name__ for a in arguments]}"
                )
            return chosen(*arguments)

        functools.update_wrapper(call, function)
        call.implementations = table  # pyright: ignore[reportFunctionMemberAccess]
        return call  # pyright: ignore[reportReturnType]
    options: Any = {key: value for key, value in _OPTIONS.items() if key != "nogil"} | {"no_cpython_wrapper": True}
    extending.overload(function, jit_options=options, strict=False)(choose)
    function.implementations = table  # pyright: ignore[reportFunctionMemberAccess]
    return function


def _class_of(argument: Any) -> type | None:
    """The class of a NamedTuple, from its Numba type when compiling, from the value when interpreted."""
    if isinstance(argument, (types.NamedTuple, types.NamedUniTuple)):
        return argument.instance_class
    return type(argument) if isinstance(argument, tuple) and hasattr(argument, "_fields") else None


def _dtype_of(argument: Any) -> type | None:
    """The scalar class of an array, likewise."""
    name = argument.dtype.name if hasattr(argument, "dtype") else ""
    return getattr(np, name, None)


def implement(function: Callable[..., Any], *classes: type) -> Callable[[F], F]:
    """Register the implementation of a `generic` function for arguments of these classes (or dtypes), in their order."""

    def register(implementation: F) -> F:
        function.implementations[classes] = implementation  # pyright: ignore[reportFunctionMemberAccess]
        return element(implementation)

    return register


class _CompileListener(event.Listener):
    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def on_start(self, event: Any) -> None:
        self._report(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def compiling(report: Callable[[str], None]) -> Generator[None]:
    """Within this context, call `report(name)` whenever a function is about to be compiled (not when it comes from disk)."""
    with event.install_listener("numba:compile", _CompileListener(report)):
        yield
