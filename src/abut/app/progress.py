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
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=1, note="")

        def move(done: int, total: int, note: str = "") -> None:
            bar.update(task, description=doing, completed=done, total=total, note=note and f", {note}")

        def tell(name: str) -> None:
            bar.update(task, description=f"compiling, first run only: {name}")

        with jit.compiling(tell):
            yield move
