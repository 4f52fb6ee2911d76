"""Benchmarks: finding them, timing a function fairly, and printing what was measured.

Each file of `benchmarks/` answers one question and has a `run(console)`. A measurement warms up first (so compilation is never timed),
then repeats; it reports the median with the quartiles beside it, since the machine is seldom quiet. The same benchmark runs every
competitor in one process, so that ratios hold even where absolute times do not.
"""

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import abut
from abut.core.errors import InvalidInput, Unsupported

UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: median and quartiles over `repeats` rounds."""

    median: float
    low: float
    high: float
    repeats: int

    def per(self, count: int) -> "Timing":
        """The same, for one of `count` things done in a call."""
        return Timing(self.median / count, self.low / count, self.high / count, self.repeats)

    def __str__(self) -> str:
        unit, size = next((u, s) for u, s in UNITS if self.median >= s or s == UNITS[-1][1])
        return f"{self.median / size:.3g} {unit} ({self.low / size:.3g}–{self.high / size:.3g})"


def measure(call: Callable[[], object], *, seconds: float = 1.0, at_least: int = 5) -> Timing:
    """Time a call without arguments: once to warm up, then for about `seconds`, `at_least` so many times."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < at_least or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    low, median, high = statistics.quantiles(times, n=4)
    return Timing(median, low, high, len(times))


def table(title: str, *columns: str) -> Table:
    """A table of results: the first column names the row, the others are aligned right."""
    result = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        result.add_column(column, justify="left" if i == 0 else "right")
    return result


def folder() -> Path:
    """Where the benchmarks lie: in the wheel inside the package, in a clone beside `src`."""
    package = Path(abut.__file__).parent
    for candidate in (package / "benchmarks", package.parents[1] / "benchmarks"):
        if candidate.is_dir():
            return candidate
    raise Unsupported("this installation of abut has no benchmarks")


def names() -> list[str]:
    """The benchmarks there are."""
    return sorted(path.stem.replace("_", "-") for path in folder().glob("[!_]*.py"))


def load(stem: str) -> Any:
    """The module of a file of `benchmarks/`, for `run` and for files that use one another."""
    name = f"abut_benchmark_{stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder() / f"{stem}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def run(name: str, console: Console) -> None:
    """Run one benchmark by name."""
    if name not in names():
        raise InvalidInput("name", f"there is no benchmark {name!r}; there are {', '.join(names())}")
    module = load(name.replace("-", "_"))
    console.rule(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}", align="left")
    module.run(console)
