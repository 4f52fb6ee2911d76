"""Bars for long jobs, drawn by rich: what is being done, how far, what was found so far, time left. Compilation shows as such.

Where nobody watches a terminal there is no bar, but a line for each stage, so that a log tells what was waited for.
"""

import contextlib
from collections.abc import Callable, Generator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from abut.core import jit


@contextlib.contextmanager
def bar_shown(doing: str, middle: str, console: Console, **fields: Any) -> Generator[Callable[..., None]]:
    """Within this context a bar is on the console, and the function that is handed out moves it: done, total and the fields named in `middle`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(middle),
        TimeRemainingColumn(),
        TextColumn("{task.fields[compiling]}"),  # last: its width changes
    )
    if not console.is_terminal:
        console.print(f"{doing} …", highlight=False)
    said = console.is_terminal
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=1, compiling="", **fields)

        def move(done: float, total: float, **fields: Any) -> None:
            bar.update(task, completed=done, total=total, compiling="", **fields)

        def show_compiling(name: str) -> None:
            nonlocal said
            if not said:
                console.print("compiling, first run only; `abut warm-up` does it ahead", highlight=False)
                said = True
            if "<locals>" not in name:  # Numba's own
                bar.update(task, compiling=f"compiling, first run only: {name}")

        with jit.compiling(show_compiling):
            yield move


@contextlib.contextmanager
def progress_shown(doing: str, console: Console) -> Generator[Callable[[int, int, str], None]]:
    """A bar that counts frames, moved by: done, total, a note."""
    middle = "{task.completed:,.0f}/{task.total:,.0f} frames{task.fields[note]}"
    with bar_shown(doing, middle, console, note="") as move:
        yield lambda done, total, note="": move(done, total, note=note and f", {note}")
