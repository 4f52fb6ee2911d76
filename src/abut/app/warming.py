"""Compile ahead: the small jobs of `entries`, in processes side by side, each function once.

The parent hands out jobs by name to processes that read names from their input and report, a line each, what they compile and what is done. Two
that come to the same function do not both compile it (`core.compiling.dispatchers`).
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from queue import Empty, SimpleQueue
from typing import NamedTuple

from abut.core.errors import InvalidInput, Unsupported

WORKER = "from abut.app.warming import work; work({native})"


class Stage(NamedTuple):
    """What happened: `function` is being compiled for `entry`; without a function, the entry is done."""

    entry: str
    function: str
    compiled: int
    """functions compiled for the entry so far"""
    done: int
    total: int


def names_of_entries() -> list[str]:
    """What can be compiled ahead."""
    from abut.app.entries import ENTRIES

    return list(ENTRIES)


def choose(parts: Iterable[str]) -> list[str]:
    """The entries named, in the order in which they are best begun; all where none is named."""
    known, wanted = names_of_entries(), set(parts)
    unknown = sorted(wanted - set(known))
    if unknown:
        raise InvalidInput("parts", f"there is no part {unknown[0]!r}; there are {', '.join(known)}")
    return [name for name in known if name in wanted or not wanted]


def compile_ahead(
    parts: Iterable[str] = (),
    *,
    processes: int | None = None,
    native: bool = False,
    environment: Mapping[str, str] | None = None,
    report: Callable[[Stage], None] = lambda _: None,
) -> int:
    """Compile what the parts need and what is not on disk yet.

    Args:
        parts: names of entries; all by default.
        processes: how many, one a core by default.
        native: compile for this very processor what came with the package for any.
        environment: variables of the processes, besides those of this one.
        report: told of each function and each entry, from several threads, one at a time.

    Returns:
        How many functions were compiled.
    """
    names = choose(parts)
    waiting: SimpleQueue[str] = SimpleQueue()
    for name in names:
        waiting.put(name)
    count = min(len(names), processes or os.cpu_count() or 1)
    crew = _Crew(waiting, len(names), report)
    threads = [
        threading.Thread(target=crew.employ, args=(native, environment or {}), daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        crew.dismiss()
        raise
    if crew.failures:
        raise Unsupported(f"compiling ahead failed: {crew.failures[0]}")
    return crew.compiled


class _Crew:
    """Processes that compile, and what they have done."""

    def __init__(self, waiting: "SimpleQueue[str]", total: int, report: Callable[[Stage], None]) -> None:
        self.waiting, self.total, self.report = waiting, total, report
        self.lock = threading.Lock()
        self.done, self.compiled = 0, 0
        self.processes: list[subprocess.Popen[str]] = []
        self.failures: list[str] = []

    def employ(self, native: bool, environment: Mapping[str, str]) -> None:
        """Give one process work until there is none."""
        with subprocess.Popen(
            [sys.executable, "-c", WORKER.format(native=native)],
            env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            self.processes.append(process)
            while not self.failures:
                try:
                    name = self.waiting.get_nowait()
                except Empty:
                    break
                process.stdin.write(name + "\n")
                process.stdin.flush()
                if not self._follow(name, process):
                    break
            process.stdin.close()

    def _follow(self, name: str, process: "subprocess.Popen[str]") -> bool:
        """Pass on what is compiled for an entry until it is done; False where the process ended before."""
        assert process.stdout is not None
        compiled = 0
        for line in process.stdout:
            function = json.loads(line)
            with self.lock:
                if function is None:
                    self.done += 1
                    self.compiled += compiled
                    self.report(Stage(name, "", compiled, self.done, self.total))
                    return True
                compiled += 1
                self.report(Stage(name, function, compiled, self.done, self.total))
        self.failures.append(f"the process that was at {name!r} ended before it was done")
        return False

    def dismiss(self) -> None:
        """End the processes; what they have compiled is kept."""
        self.failures.append("interrupted")
        for process in self.processes:
            process.terminate()


def work(native: bool) -> None:
    """What a process does: run the entries that are named on its input, and tell what it compiles."""
    from abut.app.entries import ENTRIES
    from abut.core import jit
    from abut.core.compiling.code_cache import Places, share_compilation

    def tell(message: str | None) -> None:
        lines.write(json.dumps(message) + "\n")
        lines.flush()

    lines = os.fdopen(os.dup(1), "w")  # nothing else that is printed may come between
    os.dup2(2, 1)
    share_compilation()
    Places.native_only = native
    if hasattr(os, "nice"):
        os.nice(10)  # whoever works at this machine goes first
    with jit.compiling(tell):
        for line in sys.stdin:
            ENTRIES[line.strip()]()
            tell(None)
