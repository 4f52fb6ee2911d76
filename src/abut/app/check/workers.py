"""All units of a check: computed here, or in worker processes.

Worker processes are spawned, not forked (Numba's threads do not survive a fork), and end when the process that started them does, however it ends.
The first unit is computed in the calling process in any case: it leaves compiled code on disk, where the workers find it.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from abut.app.check.bodies import Ensemble
from abut.app.check.search import Options, Outcome, Searcher, Unit
from abut.core import jit

QUEUED_PER_WORKER = 2  # a worker has the next unit at hand when it has done one


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM."""


_in_worker: Searcher | None = None


@contextlib.contextmanager
def _interruptions_held() -> Generator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, not even before they can say so themselves; for this one it waits."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(frames: Ensemble, options: Options, thread_count: int) -> None:
    global _in_worker  # noqa: PLW0603 (the state of a worker process)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides what an interruption means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    jit.limit_threads(thread_count)
    _in_worker = Searcher(frames, options)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever, with all its memory."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _search_in_worker(unit: Unit) -> Outcome:
    assert _in_worker is not None
    return _in_worker.search(unit)


def compute(
    units: Iterator[Unit], frames: Ensemble, options: Options, jobs: int, take: Callable[[Outcome], None]
) -> None:
    """Compute all units and hand on each outcome as it comes."""
    here = Searcher(frames, options)
    for unit in units:
        take(here.search(unit))
        if jobs > 1:
            break
    first = next(units, None)
    if first is None:
        return
    pool = ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        _start_worker,
        (frames, options, max(1, jit.thread_count() // jobs)),
    )
    with _interruptions_held():  # submitting starts processes
        running: set[Future[Outcome]] = {pool.submit(_search_in_worker, first)}
    try:
        for unit in units:
            with _interruptions_held():
                running.add(pool.submit(_search_in_worker, unit))
            if len(running) >= QUEUED_PER_WORKER * jobs:
                running = _take_done(running, take)
        while running:
            running = _take_done(running, take)
    except Terminated:
        for worker in multiprocessing.active_children():  # whoever ends this process does not wait
            worker.terminate()
        raise
    except KeyboardInterrupt:
        pool.shutdown(cancel_futures=True)
        for future in running:  # what the workers had begun is whole, and kept
            if future.done() and not future.cancelled() and future.exception() is None:
                take(future.result())
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _take_done(running: set[Future[Outcome]], take: Callable[[Outcome], None]) -> set[Future[Outcome]]:
    done, rest = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        take(future.result())
    return rest
