"""What is compiled, for whom, and how long it takes: said once through `logging`, to whoever asks by `on_compile`, and to clocks that leave it out.

Numba announces each function that it begins to compile. The job that waits is the outermost function of the package that is being called:
`collide`, `World.step`. Nothing is announced for code that comes from disk.
"""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from numba.core import event

from abut.core.errors import InvalidInput

PACKAGE = __name__.partition(".")[0]
log = logging.getLogger(PACKAGE)

_NOT_JOBS = (f"{PACKAGE}.core", f"{PACKAGE}.app", f"{PACKAGE}.__main__", f"{PACKAGE}.precompile")


class Compilation(NamedTuple):
    """A function that is about to be compiled."""

    job: str
    """The public function that waits for it."""
    function: str
    """The name of the function itself."""
    so_far: int
    """How many have been compiled for this job in this process, this one included."""


class _Watch(event.Listener):
    """Counts what is compiled for each job, and the seconds it takes."""

    def __init__(self) -> None:
        self.depth, self.began, self.seconds = 0, 0.0, 0.0
        self.job = ""
        self.counts: dict[str, int] = {}
        self.callbacks: list[Callable[[Compilation], None]] = []

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self.depth and (function.__module__ or "").partition(".")[0] != PACKAGE:
            return  # of somebody else
        self.depth += 1
        if self.depth == 1:
            self.began, self.job = time.perf_counter(), _waiting_job() or function.__name__
            if self.job not in self.counts:
                log.info(
                    "abut is compiling functions for %s; this happens once (`abut warm-up` does it ahead)", self.job
                )
        self.counts[self.job] = self.counts.get(self.job, 0) + 1
        for callback in tuple(self.callbacks):
            callback(Compilation(self.job, function.__name__, self.counts[self.job]))

    def on_end(self, event: Any) -> None:
        if not self.depth:
            return
        self.depth -= 1
        if not self.depth:
            took = time.perf_counter() - self.began
            self.seconds += took
            name = event.data["dispatcher"].py_func.__name__
            log.debug("compiled %s in %.1f s; %d functions so far for %s", name, took, self.counts[self.job], self.job)


def _waiting_job() -> str:
    """The outermost function of the package on the stack that is no command and no part of the core."""
    frame, found = sys._getframe(1), ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == PACKAGE and not module.startswith(_NOT_JOBS) and "<" not in frame.f_code.co_name:
            found = frame.f_code.co_qualname
        frame = frame.f_back
    return found.removesuffix(".__init__")


_watch = _Watch()
event.register("numba:compile", _watch)


def on_compile(callback: Callable[[Compilation], None]) -> Callable[[], None]:
    """Be told of each function that must be compiled before an answer can be given.

    What comes from disk, or with the package, is not announced: in most processes nothing is.

    Args:
        callback: called with a `Compilation` (job, function, so_far) before each function, by the thread that asked.

    Returns:
        A function without arguments that ends this.

    Raises:
        InvalidInput: where the callback cannot be called.

    Examples:
        >>> import abut
        >>> stop = abut.on_compile(lambda now: print(f"compiling {now.function} for {now.job}"))
        >>> stop()
    """
    if not callable(callback):
        raise InvalidInput("callback", f"must be a function, not {type(callback).__name__}")
    _watch.callbacks.append(callback)

    def stop() -> None:
        if callback in _watch.callbacks:
            _watch.callbacks.remove(callback)

    return stop


def compiled_count() -> int:
    """How many functions have been compiled in this process."""
    return sum(_watch.counts.values())


def compile_seconds() -> float:
    """How long this process has compiled, in wall seconds, all threads together; what is being compiled now counts from when it ends."""
    return _watch.seconds


def working_clock() -> float:
    """Seconds on a clock that stands still while something is compiled: budgets of time are counted by it."""
    return time.perf_counter() - _watch.seconds
