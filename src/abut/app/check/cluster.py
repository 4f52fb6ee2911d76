"""A check on a cluster: workers of Dask read frames, search them, and keep rows in the store; counts and extremes stream back.

Frames go out in shards of some neighbours, as many as take about `SHARD_SECONDS`, and never more shards than workers can have at hand: what waits
here, at the scheduler and on the workers does not grow with the job. A shard that is lost with its worker is given to another one by the
scheduler, and finds in the store what had been done of it. When the scheduler is lost, the job waits for another one at its address, and hands out
again what had not come back.

A frame whose search ends its process takes a worker with it wherever it goes. When the scheduler gives a shard up for that reason, its frames are put
aside, and tried one by one at the end while nothing else runs: one that then still ends its workers is bad, and no other is.
"""

import contextlib
import importlib
import logging
import os
import pickle
import queue
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from abut.app.check.bodies import Ensemble
from abut.app.check.search import Options
from abut.app.check.shard import Kept, forget, peak_memory, remember, search_shard
from abut.app.check.store import Store
from abut.app.check.tally import Tally
from abut.core import jit
from abut.core.compiling.sources import sources_hash
from abut.core.errors import InvalidInput, Unsupported

LOCAL = "local"
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""Run in workers that are started here: Ctrl-C is for the process that started them."""
SHARD_SECONDS = 0.5
MOST_IN_SHARD = 64
SHARDS_PER_WORKER = 2  # a worker has the next one at hand when it has done one
PATIENCE = 120.0
"""Seconds that a job waits for a scheduler that does not answer."""
ANSWER = 5.0
"""Seconds to find a scheduler."""
LOOK_AGAIN = 1.0
"""Seconds after which workers are counted anew, and the connection is looked at."""


def _make_plugin(job: str, spec: bytes) -> Any:
    """What tells workers, also those that come later, about the job."""
    plugin: Any = importlib.import_module("distributed").WorkerPlugin

    class Introduction(plugin):
        name = f"abut-{job}"

        def setup(self, worker: Any) -> None:
            remember(job, spec, worker.state.nthreads)

        def teardown(self, worker: Any) -> None:
            del worker
            forget(job)

    return Introduction()


class _Lost(Exception):
    """The scheduler does not answer."""


def compute_on_cluster(
    frames: Ensemble, options: Options, store: Store, address: str, jobs: int, take: Callable[[Kept], None]
) -> None:
    """Compute all frames on the workers of a scheduler, or, of "local", on `jobs` workers that are started here.

    Raises:
        Unsupported: distributed is not installed.
        InvalidInput: no scheduler answers, or its workers have another abut.
        OSError: the scheduler was lost, and none came in its place.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise Unsupported("a cluster needs dask.distributed; install it with: pip install 'abut[cluster]'") from error
    dispatch = _Dispatch(frames, options, store, take)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_logs_silent())
        if address == LOCAL:
            threads = max(1, jit.thread_count() // jobs)
            own = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=threads,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                preload=[DEAF],
            )
            stack.callback(own.close)
            address = own.scheduler_address
        begun = False
        deadline = time.monotonic()
        while True:
            try:
                with _connected(distributed, address) as client:
                    begun = True
                    dispatch.run(client)
                return
            except _Lost:
                deadline = time.monotonic() + PATIENCE
            except OSError as error:
                if not begun:
                    raise InvalidInput("dask", f"no scheduler answers at {address} ({error})") from error
                if time.monotonic() > deadline:
                    raise OSError(f"the scheduler at {address} was lost, and none came in its place") from error
                time.sleep(LOOK_AGAIN)


@contextlib.contextmanager
def _logs_silent() -> Generator[None]:
    """What matters is told by exceptions."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _connected(distributed: Any, address: str) -> Generator[Any]:
    try:
        client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise OSError(str(error) or type(error).__name__) from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


class _Dispatch:
    """Which frames wait, which are under way, and which have ended their workers."""

    def __init__(self, frames: Ensemble, options: Options, store: Store, take: Callable[[Kept], None]) -> None:
        spec = pickle.dumps((frames, options, store))
        self._job = Store.key(spec, os.getpid(), time.time())
        self._plugin = _make_plugin(self._job, spec)
        self._names, self._options, self._take = frames.names, options, take
        self._waiting = deque(range(len(frames)))
        self._suspects: deque[int] = deque()
        self._running: dict[Any, list[int]] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._count = 0
        self._pace = SHARD_SECONDS  # seconds a frame takes: at first one is sent at a time

    def run(self, client: Any) -> None:
        """Until nothing is left. Raises _Lost when the scheduler is gone; what was under way waits again then."""
        self._ended = queue.SimpleQueue()
        try:
            client.register_plugin(self._plugin)
            while self._waiting or self._running or self._suspects:
                self._hand_out(client)
                try:
                    self._take_back(self._ended.get(timeout=LOOK_AGAIN))
                except queue.Empty:
                    if client.status != "running":
                        raise _Lost from None
            client.unregister_worker_plugin(self._plugin.name)
        except (OSError, TimeoutError) as error:
            if client.status == "running":
                raise
            raise _Lost from error
        finally:
            under_way = sorted(frame for frames in self._running.values() for frame in frames)
            with contextlib.suppress(Exception):
                client.cancel(list(self._running))
            self._running.clear()
            self._waiting.extendleft(reversed(under_way))

    def _hand_out(self, client: Any) -> None:
        worker_count = max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
        if not self._waiting:
            if self._suspects and not self._running:  # alone, so that no other is suspected for its neighbour's sake
                self._submit(client, [self._suspects.popleft()])
            return
        while self._waiting and len(self._running) < SHARDS_PER_WORKER * worker_count:
            fair = -(-len(self._waiting) // (SHARDS_PER_WORKER * worker_count))
            size = max(1, min(round(SHARD_SECONDS / max(self._pace, 1e-9)), fair, MOST_IN_SHARD))
            self._submit(client, [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))])

    def _submit(self, client: Any, frames: list[int]) -> None:
        self._count += 1
        name = f"abut-check-{self._job}-{self._count}"
        self._running[client.submit(search_shard, self._job, frames, key=name, pure=False)] = frames
        future = next(reversed(self._running))
        future.add_done_callback(self._ended.put)

    def _take_back(self, future: Any) -> None:
        frames = self._running.get(future)
        if frames is None:
            return
        if future.status in ("cancelled", "lost"):
            raise _Lost
        error = future.exception() if future.status == "error" else None
        if error is None:
            seconds, found = future.result()
            self._pace = seconds / len(frames)
            for kept in found:
                if kept.sources != sources_hash():
                    raise InvalidInput("dask", f"the worker {kept.worker} has another version of abut")
                self._take(kept)
        elif type(error).__name__ != "KilledWorker":
            raise error
        elif len(frames) > 1 or self._waiting or len(self._running) > 1:
            self._suspects.extend(frames)
        else:
            self._take(self._give_up(frames[0]))
        del self._running[future]

    def _give_up(self, frame: int) -> Kept:
        bad = {frame: "could not be searched: each worker that tried ended"}
        has_step = self._options.between and frame + 1 < len(self._names)
        skipped = f"{self._names[frame]} could not be searched" if has_step else ""
        return Kept(frame, {}, Tally.empty(), bad, skipped, "here", peak_memory(), sources_hash())
