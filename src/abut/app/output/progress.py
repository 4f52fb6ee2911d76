"""Bars for long jobs, drawn by rich: what is being done, how far, what was found so far, time left. Compilation shows as such.

Where nobody watches a terminal there is no bar, but a line for each stage, so that a log tells what was waited for.
"""

import contextlib
import datetime
import time
from collections.abc import Callable, Generator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from abut.core import jit

LINE_SECONDS = 30.0
"""Between lines in a log."""


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
    """A bar that counts frames, moved by: done, total, a note. In a log a line now and then says the same."""
    middle = "{task.completed:,.0f}/{task.total:,.0f} frames{task.fields[note]}"
    start = said = time.monotonic()
    with bar_shown(doing, middle, console, note="") as move:

        def advance(done: int, total: int, note: str = "") -> None:
            nonlocal said
            now = time.monotonic()
            pace = done / (now - start) if now > start else 0.0
            text = ", ".join(part for part in (note, f"{pace:,.1f} a second" if done else "") if part)
            move(done, total, note=text and f", {text}")
            if not console.is_terminal and now > said + LINE_SECONDS and pace:
                left = datetime.timedelta(seconds=round((total - done) / pace))
                console.print(f"{done:,}/{total:,} frames, {text}, {left} left", highlight=False)
                said = now

        yield advance
