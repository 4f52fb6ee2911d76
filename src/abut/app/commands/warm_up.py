"""`abut warm-up`: compiles ahead for this very processor, with a bar, or a line for each stage where nobody watches a terminal."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from abut.app.output.exit_codes import INTERRUPTED
from abut.app.warming import Stage, choose, compile_ahead


def run(parts: list[str], processes: int | None, console: Console, errors: Console) -> int:
    """Compile what the parts need and tell on `errors` how far it is. Returns an exit code; an interruption keeps what is compiled."""
    names = choose(parts)
    columns = (
        TextColumn("compiling"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, TextColumn("{task.fields[now]}"), console=errors, transient=True) as bar:
        task = bar.add_task("", total=len(names), now="")

        def show(stage: Stage) -> None:
            if stage.function:
                bar.update(task, now=f"{stage.entry}: {stage.compiled} functions, {stage.function}")
                return
            bar.update(task, completed=stage.done, now="")
            if not errors.is_terminal:
                errors.print(_line(stage), highlight=False, soft_wrap=True)

        try:
            compiled = compile_ahead(names, processes=processes, native=True, report=show)
        except KeyboardInterrupt:
            errors.print("Interrupted; what is compiled by now is kept.")
            return INTERRUPTED
    what = f"{compiled:,} functions compiled" if compiled else "nothing was left to compile"
    ready = "1 part is" if len(names) == 1 else f"{len(names)} parts are"
    console.print(f"{what}, {ready} ready", highlight=False, soft_wrap=True)
    return 0


def _line(stage: Stage) -> str:
    return f"{stage.done}/{stage.total} {stage.entry}: {stage.compiled:,} functions compiled"
