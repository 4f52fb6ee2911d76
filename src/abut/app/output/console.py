"""Consoles of the command line: what a terminal or a pipe can take, whatever stands in file names.

Control characters, escape sequences among them, are shown as `\\x1b` and not obeyed: a file name cannot move the cursor or clear the screen. A pipe
that is closed by its reader (`abut check … | head`) ends the output, and changes nothing about the answer or the exit code.
"""

import os
import sys
from typing import Any, TextIO

from rich.console import Console

_SHOWN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """The text with control characters spelled out; line ends and tabs stay."""
    return text.translate(_SHOWN)


class SafeConsole(Console):
    """A console for text that somebody else wrote."""

    def render_str(self, text: str, *arguments: Any, **options: Any) -> Any:
        """As rich's, with control characters spelled out."""
        return super().render_str(printable(text), *arguments, **options)

    def on_broken_pipe(self) -> None:
        """Say nothing more. (Rich would exit with 1, which means collisions.)"""
        self.quiet = True
        discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """Send what is still to come on a standard stream nowhere, so that Python does not fail on it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def open_closed_streams() -> None:
    """A process that was started with standard output or error closed (`>&-`) has no such stream: what it prints goes nowhere then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
