"""The command `abut`: parses words, shows progress, turns exceptions into one line and an exit code. The work is done elsewhere."""

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from abut import __version__, jit
from abut.errors import AbutError

BAD_INPUT = 2

app = typer.Typer(
    help="Every question of contact: do these things touch, where, when, how deep.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
errors = Console(stderr=True)


@contextlib.contextmanager
def compilation_shown() -> Generator[None]:
    """Show the first compilation as progress: it takes seconds, once, and should not look like a hang."""
    with contextlib.ExitStack() as stack:
        status = errors.status("compiling, first run only")
        started = False

        def report(name: str) -> None:
            nonlocal started
            if not started:
                started = True
                stack.enter_context(status)
            status.update(f"compiling, first run only: {name}")

        with jit.compiling(report):
            yield


def _print_version(asked: bool) -> None:
    if asked:
        console.print(f"abut {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Every question of contact: do these things touch, where, when, how deep."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the result page and the coloured mesh.")] = Path("out"),
) -> None:
    """Generate a scene, find every pair of faces that touch, and write a page that shows them."""
    from abut.app import demo as job

    with compilation_shown():
        job.run(out, console)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; all of them if none is named.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only list the benchmarks.")] = False,
) -> None:
    """Run benchmarks and print what they measure."""
    from abut.app import bench as job

    if listed:
        for name in job.names():
            console.print(name)
        return
    for name in names or job.names():
        job.run(name, console)


def main() -> None:
    """Entry point: exit code 0, or 2 with one line for bad input."""
    try:
        app()
    except AbutError as error:
        errors.print(f"abut: {error}", style="red", markup=False, highlight=False)
        sys.exit(BAD_INPUT)
