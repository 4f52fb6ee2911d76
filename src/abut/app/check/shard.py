"""What a worker of a cluster does: it looks for the results of frames in the store, computes and keeps those that are not there.

Frames are read here, rows go from here to the store; only counts and extremes go back.
"""

import os
import pickle
import socket
import threading
import time
from typing import NamedTuple

from abut.app.check.bodies import Ensemble
from abut.app.check.keys import Keys, take_stored
from abut.app.check.search import Options, Outcome, Searcher, Unit
from abut.app.check.store import Store
from abut.app.check.tally import Tally
from abut.core import jit
from abut.core.compiling.sources import sources_hash

try:
    import resource
except ImportError:  # Windows
    resource = None


class Kept(NamedTuple):
    """What is kept in the store of a frame and the step that leaves it."""

    frame: int
    keys: dict[bool, str]
    tally: Tally
    bad: dict[int, str]
    skipped: str
    worker: str
    memory: int
    """the most that the worker has taken so far, in bytes; 0 where the system does not tell"""
    sources: str
    """a hash of the worker's abut"""


def keep(outcome: Outcome, keys: dict[bool, str], store: Store) -> Tally:
    """Put what was computed into the store, and count it."""
    tally = Tally.empty()
    for step, rows in ((False, outcome.at_frame), (True, outcome.between)):
        if rows is not None:
            store.put(keys[step], rows)
            tally = tally.add(Tally.of(rows, outcome.frame))
    return tally


class Shards:
    """A job in a worker process. One frame is searched at a time, with all threads of the worker."""

    def __init__(self, frames: Ensemble, options: Options, store: Store) -> None:
        self._store, self._keys, self._searcher = store, Keys(frames, options), Searcher(frames, options)
        self._one_at_a_time = threading.Lock()

    def run(self, frame: int, thread_count: int) -> Kept:
        """One frame."""
        with self._one_at_a_time:
            jit.limit_threads(thread_count)
            keys = self._keys.of(frame)
            tally, unit = take_stored(frame, keys, self._store)
            bad: dict[int, str] = {}
            skipped = ""
            for half in (unit._replace(between=False), unit._replace(at_frame=False)):
                if half.at_frame or half.between:
                    outcome = self._search(half)
                    tally = tally.add(keep(outcome, keys, self._store))
                    bad, skipped = {**bad, **outcome.bad}, skipped or outcome.skipped
        worker = f"{socket.gethostname()}:{os.getpid()}"
        return Kept(frame, keys, tally, bad, skipped, worker, peak_memory(), sources_hash())

    def _search(self, unit: Unit) -> Outcome:
        try:
            return self._searcher.search(unit)
        except MemoryError:
            raise
        except Exception as error:  # what nobody has thought of is wrong with this frame, or this step, and no other
            reason = f"could not be searched: {type(error).__name__}: {error}"
            return Outcome(
                unit.frame, None, None, {unit.frame: reason} if unit.at_frame else {}, reason if unit.between else ""
            )


def peak_memory() -> int:
    """The most that this process has taken, in bytes."""
    if resource is None:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if os.uname().sysname == "Darwin" else 1024 * most


# --- the jobs of a worker process

_known: dict[str, tuple[bytes, int]] = {}
_begun: dict[str, Shards] = {}


def remember(job: str, spec: bytes, thread_count: int) -> None:
    """A job will come: its frames, options and store, pickled."""
    _known[job] = spec, thread_count


def forget(job: str) -> None:
    """It has ended."""
    _known.pop(job, None)
    _begun.pop(job, None)


def search_shard(job: str, frames: list[int]) -> tuple[float, list[Kept]]:
    """Frames one after another, and how many seconds they took."""
    start = time.perf_counter()
    spec, thread_count = _known[job]
    if job not in _begun:
        _begun[job] = Shards(*pickle.loads(spec))
    found = [_begun[job].run(frame, thread_count) for frame in frames]
    return time.perf_counter() - start, found
