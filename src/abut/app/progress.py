"""A bar for long jobs, drawn by rich: what is being done, how far, how many collisions so far, time left. Compilation shows as such."""

import contextlib
from collections.abc import Callable, Generator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from abut import jit


@contextlib.contextmanager
def progress_shown(doing: str, console: Console) -> Generator[Callable[[int, int, str], None]]:
    """Within this context a bar is on the console, and the function that is handed out moves it: done, total, a note."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} frames{task.fields[note]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[compiling]}"),  # last: its width changes
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=1, note="", compiling="")

        def move(done: int, total: int, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note and f", {note}", compiling="")

        def tell(name: str) -> None:
            if "<locals>" not in name:  # Numba's own
                bar.update(task, compiling=f"compiling, first run only: {name}")

        with jit.compiling(tell):
            yield move
