"""How every scene of `abut simulate` ends: what was interrupted is told, what it did in a line, and files are written."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from abut.app.output.exit_codes import INTERRUPTED
from abut.app.output.files import write_file


def conclude(
    console: Console, done: int, wanted: int, summary: str, files: tuple[tuple[Path | None, Callable[[], bytes]], ...]
) -> int:
    """Tell and write; 0, or 130 where fewer steps were done than wanted. Files: where to, if anywhere, and what makes the content."""
    if done < wanted:
        console.print(f"interrupted after {done:,} of {wanted:,} steps", highlight=False)
    console.print(summary, highlight=False, soft_wrap=True)
    for path, content in files:
        if path is not None:
            write_file(path, content())
            console.print(f"Written: {path}", highlight=False, soft_wrap=True)
    return INTERRUPTED if done < wanted else 0
