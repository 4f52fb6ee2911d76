"""Every Numba option, in one place: how element functions and kernels are compiled, and where the machine code is kept.

`element` marks a function of scalars and tuples (the same source serves CUDA), `kernel` a loop over arrays, `parallel` a loop over
`prange`, `generic` a function chosen by the types of its arguments. All use NumPy's error model (a division by zero gives infinity) and
none uses fastmath (it breaks tests for NaN).

Numba checks only the file of a cached function, not the files of what it calls. So the code of a module lies in a folder that is named by a hash of
every source the module can reach by imports, and of the options that change the code: an edited callee leads to another folder, and stale code is
never run, while an edit elsewhere compiles nothing again. The folders lie in `NUMBA_CACHE_DIR` if that is set, else in the package's `__pycache__`,
else (read-only installation) in the user's cache folder. A cache index is a pickle: a folder that another user could have written is not read.
"""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from numba import extending
from numba.core import config as numba_config
from numba.core import errors, event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.np.ufunc import parallel as numba_parallel

config: Any = numba_config  # its attributes are made at run time

F = TypeVar("F", bound=Callable[..., Any])

# By default OpenMP's threads spin while they wait for one another. Where another process needs the core, a loop of 10 µs then takes 8 to 24 ms: the
# spinning thread keeps the other from running. Read when the first parallel loop starts; whoever sets the variable himself is left alone.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

prange: type[range] = numba.prange
integer: Any = np.int64
"""`integer(0)`: an int64. A plain 0 that is handed to a function is a type of its own, and the function is compiled once more for it."""

PACKAGE = Path(__file__).resolve().parent.parent
INTERPRETED = bool(config.DISABLE_JIT)
"""Whether kernels run as plain Python (`NUMBA_DISABLE_JIT=1`)."""

FOLDER_PREFIX = "abut-"
FOLDERS_KEPT_DAYS = 30
WORK_FOR_THREADS = 8192
"""Entering a parallel loop takes 10 to 40 µs, and now and then milliseconds where another process is busy; on one thread it takes 1 µs."""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "nogil": True, "no_cfunc_wrapper": True}
"""Numba also makes a wrapper for callers in C, of whom there are none."""


def _settings() -> bytes:
    """The Numba settings that change generated code."""
    options = (numba.__version__, config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, config.FULL_TRACEBACKS)
    return repr(options).encode()


@functools.cache
def _sources() -> dict[str, bytes]:
    """Each source of the package by its path inside it."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}


def _hash(paths: frozenset[str]) -> str:
    digest = hashlib.sha256(_settings())
    for path in sorted(paths):
        digest.update(path.encode() + b"\0" + _sources()[path] + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def sources_hash() -> str:
    """Hash of all of abut's sources and of the Numba settings that change generated code, in 16 hexadecimal digits."""
    return _hash(frozenset(_sources()))


def _file_of(module: str) -> str | None:
    """The source of `a.b.c`, counted from the package, or None where that is no module."""
    stem = module.replace(".", "/")
    paths = (f"{stem}.py", f"{stem}/__init__.py") if stem else ("__init__.py",)
    return next((path for path in paths if path in _sources()), None)


@functools.cache
def _imported(path: str) -> frozenset[str]:
    """The sources that one source names in its import statements, wherever they stand in it.

    `from package import name` names the module `name` if there is one; otherwise the package's own file, which brings `name` from elsewhere.
    """
    found: set[str | None] = set()
    text = _sources()[path].decode()
    for module, grouped, names in re.findall(
        rf"^[ \t]*from {PACKAGE.name}((?:\.\w+)*) import (?:\(([^)]*)\)|([^\n#]*))", text, re.MULTILINE
    ):
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub(r"#.*", "", grouped or names)):
            found.add(_file_of(f"{module}.{name}"[1:]) or _file_of(module[1:]))
    found.update(_file_of(name) for name in re.findall(rf"^[ \t]*import {PACKAGE.name}\.([\w.]+)", text, re.MULTILINE))
    if re.search(rf"^[ \t]*import {PACKAGE.name}\b(?!\.)", text, re.MULTILINE):
        found.add("__init__.py")
    return frozenset(name for name in found if name is not None)


def _close(start: frozenset[str]) -> frozenset[str]:
    reached, waiting = set(start), list(start)
    while waiting:
        for path in _imported(waiting.pop()) - reached:
            reached.add(path)
            waiting.append(path)
    return frozenset(reached)


@functools.cache
def _implementers() -> dict[str, frozenset[str]]:
    """What is reached by each source that implements generic functions. A caller of these need not import it."""
    return {
        path: _close(frozenset([path]))
        for path, text in _sources().items()
        if re.search(rb"^@implement\b", text, re.MULTILINE)
    }


@functools.cache
def reachable_sources(path: str) -> frozenset[str]:
    """The sources that can take part in what is compiled for the source at `path` inside the package.

    What it imports, directly or through others, and, where it reaches a `generic` function, every implementation of one.
    """
    reached = _close(frozenset([path]))
    generics = {name for name in reached if re.search(rb"^@generic\b|^@generic_by", _sources()[name], re.MULTILINE)}
    for closure in _implementers().values():
        if generics & closure:
            reached |= closure
    return reached


@functools.cache
def reachable_hash(path: str) -> str:
    """Hash of `reachable_sources(path)` and of the Numba settings, in 16 hexadecimal digits."""
    return _hash(reachable_sources(path))


def user_cache_folder() -> Path:
    """Where this platform keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "abut" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "abut"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "abut"


def _is_ours(folder: Path) -> bool:
    """Whether nobody but this user (or root) could have put files there."""
    if not hasattr(os, "getuid"):
        return True  # Windows: a profile folder is private
    status = folder.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _is_private(folder: Path) -> bool:
    """Whether the folder of a shared place is, or could be made, one that only this user reads and writes: mode 0700, his, and no link."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700)


def _remove_unused(root: Path) -> None:
    """Remove the folders of other sources that nobody has used for FOLDERS_KEPT_DAYS."""
    oldest = time.time() - FOLDERS_KEPT_DAYS * 86400
    for folder in root.glob(FOLDER_PREFIX + "*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def cache_root() -> Path | None:
    """The folder that holds the folders of compiled code, or None where no safe folder can be written: then nothing is kept.

    A folder that the user named himself is taken as it is. The one in the temporary directory, where everyone may write, must be his alone.
    """
    if config.CACHE_DIR and _is_writable(Path(config.CACHE_DIR)):
        return Path(config.CACHE_DIR)
    for root in (PACKAGE / "__pycache__", user_cache_folder()):
        if _is_writable(root) and _is_ours(root):
            return root
    shared = Path(tempfile.gettempdir()) / f"abut-cache-{os.getuid() if hasattr(os, 'getuid') else 0}"
    return shared if _is_private(shared) and _is_writable(shared) else None


@functools.cache
def cache_folder(path: str) -> Path | None:
    """The folder of compiled code for the source at `path` inside the package and all it reaches, or None where none can be written."""
    root = cache_root()
    if root is None:
        return None
    folder = root / (FOLDER_PREFIX + reachable_hash(path))
    fresh = not folder.is_dir()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.utime(folder)  # a folder in use stays young
    if fresh:
        _remove_unused(root)
    return folder


def _path_inside(py_file: str) -> str:
    """Where a file lies inside the package; what lies outside (a user's own kernel) may reach all of it."""
    path = Path(py_file).resolve()
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else "__init__.py"


class _SourcesLocator(_CacheLocator):
    """Tells Numba the folder, and stamps each index with the hash of the sources that the function can reach."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._path = _path_inside(py_file)
        self._disambiguator = f"{Path(py_file).resolve().parent.name}-{py_func.__code__.co_firstlineno}"

    def get_cache_path(self) -> Any:
        return str(cache_folder(self._path))

    def get_source_stamp(self) -> Any:
        return reachable_hash(self._path)

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
        return (*super()._index_key(sig, codegen), reachable_hash(_path_inside(self._py_func.__code__.co_filename)))


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


class _Threads:
    """What this process may do with threads.

    A forked child has its parent's memory and none of its threads. Numba's layers cannot start theirs again: GNU OpenMP's ends the child. And
    the layer `workqueue`, which is always there, ends the process when two threads launch a loop at the same time."""

    def __init__(self) -> None:
        self.lost = False
        """Whether the threads were launched in a process that this one was forked from: loops then run in their serial form."""
        self.turn: Any = None
        """Held while a loop runs, where the layer allows no second one beside it."""
        self.known = False
        """Whether the layer has been asked for."""
        self._starting = threading.Lock()

    def launch(self) -> None:
        """Let Numba choose its layer and start the threads, and see which it is."""
        with self._starting:
            if not self.known:
                numba.get_num_threads()
                # A signal handler may ask something while its own thread has the turn, and has no loop running then.
                self.turn = threading.RLock() if numba_parallel.threading_layer() == "workqueue" else None
                self.known = True

    def wait(self) -> None:
        """Before a fork: until no other thread compiles, or starts the threads. The child would have a copy of a lock that nobody opens."""
        self._starting.acquire()
        global_compiler_lock.acquire()

    def go_on(self) -> None:
        """After it, in the parent."""
        global_compiler_lock.release()
        self._starting.release()

    def lose(self) -> None:
        """After it, in the child, before anything else."""
        global_compiler_lock.release()
        self.lost = self.lost or bool(numba_parallel._is_initialized)
        self._starting = threading.Lock()
        self.turn = None if self.turn is None else threading.RLock()  # whoever had the turn is not here


_threads = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_threads.wait, after_in_parent=_threads.go_on, after_in_child=_threads.lose)


class _Parallel(_Twofold):
    """A function over `prange`. Python alone may call it: a compiled caller would launch its loops unseen."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        raise errors.TypingError(f"{self.py_func.__name__} is parallel: only Python may call it")

    def __call__(self, *arguments: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if _threads.lost:
            return self._serial(*arguments)
        if not _threads.known:
            _threads.launch()
        if _threads.turn is None:
            return _call(self, *arguments)
        with _threads.turn:
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
    return 1 if _threads.lost else numba.get_num_threads()


def limit_threads(count: int) -> None:
    """Let `prange` loops of this process run on so many threads from now on, or on all where there are fewer."""
    numba.set_num_threads(min(count, config.NUMBA_NUM_THREADS))


@contextlib.contextmanager
def threads_for(work: int, least: int = WORK_FOR_THREADS) -> Generator[None]:
    """Within this context `prange` loops run on one thread if there are fewer than `least` things to do in all."""
    if not _threads.known:
        _threads.launch()
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
