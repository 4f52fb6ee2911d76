"""`abut check` from words to files: refuses what cannot work before the work starts, shows progress, writes results, returns the exit code.

An interruption or a failure keeps all that was computed; the same command goes on from there.
"""

import contextlib
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from abut.app.check import documents
from abut.app.check.arguments import read_bodies
from abut.app.check.bodies import Ensemble
from abut.app.check.job import MOST_FINDINGS, Progress, Report, as_checked, check
from abut.app.check.search import Options
from abut.app.check.sources.opening import Sampling
from abut.app.check.store import open_store
from abut.app.check.summary import print_summary, verdict
from abut.app.check.workers import Terminated
from abut.app.output.exit_codes import INTERRUPTED, TERMINATED, UNFINISHED
from abut.app.output.files import STANDARD_OUTPUT, prepare, write_file
from abut.app.output.progress import progress_shown
from abut.core.errors import AbutError


class Files(NamedTuple):
    """Where results go; None for nowhere."""

    table: Path | None = None
    json: Path | None = None
    html: Path | None = None


def run(
    arguments: Sequence[str | Path],
    options: Options,
    files: Files,
    console: Console,
    errors: Console,
    *,
    work: str | Path,
    jobs: int = 1,
    cluster: str | None = None,
    max_findings: int = MOST_FINDINGS,
    keep_order: bool = False,
    sampling: Sampling | None = None,
    motions: Sequence[str] = (),
    title: str = "",
) -> int:
    """Check an animation and write the files that are named. Progress goes to `errors`, the summary to `console`.

    Bad input raises InvalidInput or Unsupported, before anything is computed.
    """
    done = Progress(0, 0, 0)
    try:
        if files.table is not None:
            documents.check_table(files.table)
        frames = read_bodies(arguments, keep_order=keep_order, sampling=sampling, motions=motions)
        options.distances(
            frames.labels
        )  # some frame can be read, and has the bodies: nothing has been made on disk where not
        _prepare(files, frames)
        store = open_store(work)
        with _termination_heard(), progress_shown("checking", errors) as move:

            def show(progress: Progress) -> None:
                nonlocal done
                done = progress
                move(progress.done, progress.total, f"{progress.found:,} found")

            show(Progress(0, len(frames), 0))
            report = check(
                frames, options, store=store, jobs=jobs, cluster=cluster, max_findings=max_findings, report=show
            )
        write_files(files, frames, report, title)
    except AbutError:
        raise
    except BaseException as error:
        interruption = _find_interruption(error)
        if interruption is not None:
            terminated = isinstance(interruption, Terminated)
            what = "Terminated" if terminated else "Interrupted"
            _print_kept(f"{what} after {done.done:,} of {done.total:,} frames", work, errors)
            return TERMINATED if terminated else INTERRUPTED
        if not isinstance(error, Exception):
            raise
        if not isinstance(error, BrokenProcessPool | OSError | MemoryError):
            traceback.print_exc()  # Python would exit with 1, which means collisions.
            return UNFINISHED
        what = "a worker process died" if isinstance(error, BrokenProcessPool) else (str(error) or "out of memory")
        _print_kept(f"Not finished ({what}), after {done.done:,} of {done.total:,} frames", work, errors)
        return UNFINISHED
    out = errors if files.json == STANDARD_OUTPUT else console
    print_summary(report, out)
    out.print(verdict(report))
    for path in files:
        if path is not None and path != STANDARD_OUTPUT:
            out.print(f"written: {path}", markup=False, highlight=False, soft_wrap=True)
    return report.exit_code


def write_files(files: Files, frames: Ensemble, report: Report, title: str) -> None:
    """Write the files that are named."""
    if files.table is not None:
        documents.write_table(files.table, report)
    if files.json == STANDARD_OUTPUT:
        sys.stdout.write(documents.to_json(report) + "\n")
    elif files.json is not None:
        write_file(files.json, (documents.to_json(report) + "\n").encode())
    if files.html is not None:
        from abut.app.report import write_report

        names = report.names
        write_report(files.html, as_checked(frames, report), title=title or f"{names[0]} … {names[-1]}")


def _prepare(files: Files, frames: Ensemble) -> None:
    json = None if files.json == STANDARD_OUTPUT else files.json
    prepare(frames.paths, {"--out": files.table, "--json": json, "--html": files.html})


@contextlib.contextmanager
def _termination_heard() -> Generator[None]:
    """Within this context SIGTERM comes as an exception: what is half written is removed, and workers end. In other threads nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _find_interruption(error: BaseException | None) -> BaseException | None:
    """Ctrl-C or SIGTERM at the bottom of it: where it comes while an archive is written, closing that fails too, and says something else."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _print_kept(what: str, work: str | Path, errors: Console) -> None:
    line = f"{what}. What is done is kept in {work}: run the same command again to go on."
    errors.print(line, markup=False, highlight=False, soft_wrap=True)
