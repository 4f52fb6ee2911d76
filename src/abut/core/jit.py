"""Every Numba option, in one place: how element functions and kernels are compiled, and where the machine code is kept.

`element` marks a function of scalars and tuples (the same source serves CUDA), `kernel` a loop over arrays, `parallel` a loop over
`prange`, `generic` a function chosen by the types of its arguments. All use NumPy's error model (a division by zero gives infinity) and
none uses fastmath (it breaks tests for NaN).

Machine code lies in folders under `cache_root`, one for each hash of what a module reaches (`sources`), and is never run stale.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Generator
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from numba import extending
from numba.core import errors, event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.registry import CPUDispatcher

from abut.core.cache_root import FOLDER_PREFIX, cache_root, config, remove_unused
from abut.core.sources import stamp_of
from abut.core.threads import threads

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


@functools.cache
def cache_folder(file: str) -> Path | None:
    """The folder of compiled code for a file and all it reaches, or None where none can be written."""
    root = cache_root()
    if root is None:
        return None
    folder = root / (FOLDER_PREFIX + stamp_of(file))
    fresh = not folder.is_dir()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.utime(folder)  # a folder in use stays young
    if fresh:
        remove_unused(root)
    return folder


class _SourcesLocator(_CacheLocator):
    """Tells Numba the folder, and stamps each index with the hash of the sources that the function can reach.

    An index is named after its file and function, not after the line, which an edited comment moves. Functions inside functions may share a name:
    theirs are told apart by the line, and by the bytes of the file.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._disambiguator = Path(py_file).resolve().parent.name
        if "<" in py_func.__qualname__:
            content = hashlib.sha256(Path(py_file).read_bytes() if Path(py_file).is_file() else b"").hexdigest()[:16]
            self._disambiguator += f"-{py_func.__code__.co_firstlineno}-{content}"

    def get_cache_path(self) -> Any:
        return str(cache_folder(self._py_file))

    def get_source_stamp(self) -> Any:
        return stamp_of(self._py_file)

    def get_disambiguator(self) -> Any:
        return self._disambiguator

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_SourcesLocator | None":
        return cls(py_func, py_file)


class _SourcesCacheImpl(CompileResultCacheImpl):
    _locator_classes = (_SourcesLocator,)


class _SourcesCache(FunctionCache):
    _impl_class = _SourcesCacheImpl

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        # NUMBA_CACHE_LOCATOR_CLASSES may put another locator in place of ours: the hash stands in the key too.
        return (*super()._index_key(sig, codegen), stamp_of(self._py_func.__code__.co_filename))


class _Twofold(CPUDispatcher):
    """A function that compiled callers find without the wrapper through which Python calls: a second dispatcher compiles it for them.

    Most functions have compiled callers only, and their wrappers would be a quarter of all that is compiled.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._inner.get_overload(sig)

    @functools.cached_property
    def _inner(self) -> Any:
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        options.pop("nopython", None)
        return _make_dispatcher(_rename(self.py_func, self.py_func.__qualname__ + "-inner"), options)


class _Parallel(_Twofold):
    """A function over `prange`. Python alone may call it: a compiled caller would launch its loops unseen."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        raise errors.TypingError(f"{self.py_func.__name__} is parallel: only Python may call it")

    def __call__(self, *arguments: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if threads.lost:
            return self._serial(*arguments)
        if not threads.known:
            threads.launch()
        if threads.turn is None:
            return _call(self, *arguments)
        with threads.turn:
            return _call(self, *arguments)

    @functools.cached_property
    def _serial(self) -> Any:
        options = {**self.targetoptions, "parallel": False}
        options.pop("nopython", None)
        return _make_dispatcher(_rename(self.py_func, self.py_func.__qualname__ + "-serial"), options)


_call: Any = CPUDispatcher.__call__


def _rename(function: Any, name: str) -> Any:
    """The same function under another name, by which Numba's cache tells the two."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__qualname__, copy.__module__ = name, function.__module__
    return copy


def _make_dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher: Any = numba.njit(**options)(function)
    if not INTERPRETED and cache_root() is not None:
        dispatcher._cache = _SourcesCache(function)
    return dispatcher


def _compile(function: F, **options: Any) -> F:
    dispatcher = _make_dispatcher(function, {**_OPTIONS, **options})
    if not INTERPRETED:
        dispatcher.__class__ = _Twofold
    return dispatcher


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
    dispatcher: Any = _compile(function, parallel=True)
    if not INTERPRETED:
        dispatcher.__class__ = _Parallel
    return dispatcher


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
