"""A cluster finds what one process does, whoever dies meanwhile, and computes nothing twice that was kept."""

import collections
import os
import pickle
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

import abut
from abut import scenes
from abut.app.check import Frames, Options, check
from abut.app.check import cluster as cluster_room
from abut.app.check.bodies import ArrayFrames
from abut.app.check.shard import Kept, Shards, forget, remember, search_shard
from abut.app.check.store import RemoteStore, Store, open_store
from abut.app.check.tally import Tally
from abut.core import jit
from abut.core.compiling.sources import sources_hash
from app.animation import same, save_all
from app.process import PATIENCE, command, wait_until
from conftest import SOAK

pytest.importorskip("distributed", reason="dask.distributed is not installed")
FRAMES = 40
POISON = 23
PRELOAD = """
import os, time
from pathlib import Path
from abut.app.check import search
if search.Searcher.search.__name__ == "search":  # a preload is run twice
    searching = search.Searcher.search
def search_slowly(self, unit):
    time.sleep(0.02)
    if os.environ.get("POISON") == str(unit.frame):
        os._exit(1)
    outcome = searching(self, unit)
    with open(os.environ["LOG"], "a") as log:
        log.write(f"{unit.frame} {unit.between}\\n")
    return outcome
search.Searcher.search = search_slowly
"""


class Cluster:
    """A scheduler and workers as processes of their own."""

    def __init__(self, folder, **settings):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder, self.log, self.running = folder, folder / "computed.txt", []
        (folder / "preload.py").write_text(PRELOAD)
        self.environment = {**os.environ, "LOG": str(self.log), "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
        self.environment |= settings

    def start(self, *words):
        dask = [sys.executable, "-m", "dask", *map(str, words)]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.running.append(subprocess.Popen(dask, cwd=self.folder, env=self.environment, **silent))
        return self.running[-1]

    def start_scheduler(self):
        host, port = self.address.removeprefix("tcp://").split(":")
        return self.start("scheduler", "--host", host, "--port", port, "--no-dashboard", "--no-show")

    def start_worker(self, nanny="--no-nanny"):
        words = ("worker", self.address, "--nthreads", 1, nanny, "--no-dashboard", "--death-timeout", 60)
        return self.start(*words, "--local-directory", self.folder / "scratch", "--preload", self.folder / "preload.py")

    def computed(self):
        return collections.Counter(self.log.read_text().splitlines()) if self.log.exists() else collections.Counter()

    def end(self):
        for process in self.running:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    yield made
    made.end()


def save_animation(path):
    ball = scenes.icosphere(1)
    pair = np.concatenate((ball.vertices, ball.vertices + np.array([1.5, 0, 0])))
    away = np.linspace(0, 1, FRAMES)[:, np.newaxis, np.newaxis] * [1, 0, 0] * (np.arange(len(pair)) < 42)[:, np.newaxis]
    np.savez(path, frames=pair + away, faces=np.concatenate((ball.faces, ball.faces + 42)))


large = pytest.mark.large
compiled = pytest.mark.skipif(jit.INTERPRETED or sys.platform == "win32", reason="needs compiled speed and signals")


@large
@compiled
def test_killed_workers_scheduler_and_job_lose_nothing_and_repeat_little(tmp_path, cluster):
    save_animation(tmp_path / "all.npz")
    whole = check(Frames([tmp_path / "all.npz"]), store=Store(tmp_path / "one"))
    scheduler = cluster.start_scheduler()
    workers = [cluster.start_worker() for _ in range(2)]
    words = command("check", "all.npz", "--work", "kept", "--dask", cluster.address, "--out", "rows.csv")
    begin = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    job = subprocess.Popen(words, **begin)

    def count():
        return len(list((tmp_path / "kept").glob("*.npz")))

    wait_until(lambda: count() >= 10, job)
    workers[0].kill()
    wait_until(lambda: count() >= 25, job)
    scheduler.kill()
    scheduler.wait()  # workers end with it
    cluster.start_scheduler()
    cluster.start_worker()
    wait_until(lambda: count() >= 40, job)
    assert count() < 2 * FRAMES - 1
    job.send_signal(signal.SIGKILL)
    job.communicate()
    job = subprocess.Popen(words, **begin)
    assert job.communicate(timeout=PATIENCE)[1].startswith("checking")
    assert job.returncode == 1
    given = Frames([tmp_path / "all.npz"])
    again = check(given, store=Store(tmp_path / "kept"))
    assert again.reused == 2 * FRAMES - 1
    same(again, whole)
    kept = [{path.name: path.read_bytes() for path in (tmp_path / name).glob("*.npz")} for name in ("one", "kept")]
    assert kept[0] == kept[1]
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert len(lines) == 1 + whole.found
    # A frame whose worker died after it was computed and before it was kept is computed again: two workers died.
    twice = [unit for unit, times in cluster.computed().items() if times > 1]
    assert len(twice) <= 4
    assert len(cluster.computed()) == 2 * FRAMES - 1


@large
@compiled
@pytest.mark.skipif(not SOAK, reason="many seconds: workers die and come back, `make soak`")
def test_frame_that_ends_its_workers_is_bad_and_no_other(tmp_path, cluster):
    save_animation(tmp_path / "all.npz")
    cluster.environment |= {"POISON": str(POISON), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    cluster.start_scheduler()
    for _ in range(2):
        cluster.start_worker("--nanny")
    given = Frames([tmp_path / "all.npz"])
    report = check(given, store=Store(tmp_path / "kept"), cluster=cluster.address)
    assert list(report.bad) == list(report.skipped) == [POISON]
    assert "each worker that tried ended" in report.bad[POISON]
    whole = check(given, store=Store(tmp_path / "one"))
    others = np.arange(FRAMES) != POISON
    assert np.array_equal(report.counts[others], whole.counts[others])
    assert not report.counts[POISON].any()
    assert report.workers


def test_a_shard_computes_once_names_bad_frames_and_goes_on(tmp_path, monkeypatch):
    paths = save_all(tmp_path / "in")
    paths[1].write_text("ply")
    bodies = abut.app.check.Ensemble({"": Frames(paths)})
    shards = Shards(bodies, Options(between=False), Store(tmp_path / "work"))
    found = [shards.run(frame, 1) for frame in range(4)]
    assert [kept.bad.keys() for kept in found] == [set(), {1}, set(), set()]
    assert [int(kept.tally.counts.sum()) for kept in found] == [0, 0, 0, 1]
    again = shards.run(3, 1)
    assert (again.tally.reused, again.keys) == (1, found[3].keys)

    def fail(*_):
        raise ZeroDivisionError("nobody thought of it")

    monkeypatch.setattr("abut.app.check.search._Surface.search_frame", fail)
    fresh = Shards(bodies, Options(between=False), Store(tmp_path / "other"))
    assert fresh.run(0, 1).bad == {0: "could not be searched: ZeroDivisionError: nobody thought of it"}


def test_a_job_is_found_by_its_name_in_a_worker(tmp_path):
    bodies = abut.app.check.Ensemble({"": Frames(save_all(tmp_path / "in"))})
    remember("job", pickle.dumps((bodies, Options(between=False), Store(tmp_path / "work"))), 1)
    seconds, found = search_shard("job", [2, 3])
    assert seconds > 0
    assert [kept.frame for kept in found] == [2, 3]
    forget("job")
    with pytest.raises(KeyError):
        search_shard("job", [1])


def test_results_are_kept_at_addresses_too(tmp_path):
    frames = Frames(save_all(tmp_path / "in"))
    store = open_store("memory://abut-check")
    assert isinstance(store, RemoteStore)
    first = check(frames, Options(between=False), store=store)
    second = check(frames, Options(between=False), store=open_store("memory://abut-check"))
    assert (first.reused, second.reused) == (0, 4)
    same(second, first)
    same(check(frames, Options(between=False), store=open_store(tmp_path / "here")), first)
    with pytest.raises(abut.Unsupported, match="needs another package"):
        open_store("s3://bucket/nowhere")
    with pytest.raises(abut.InvalidInput, match="is no address"):
        open_store("nonsense://bucket")


def test_a_cluster_that_is_not_there_is_bad_input(tmp_path, monkeypatch):
    monkeypatch.setattr("abut.app.check.cluster.ANSWER", 0.3)
    frames = Frames(save_all(tmp_path / "in"))
    with pytest.raises(abut.InvalidInput, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        check(frames, Options(between=False), store=Store(tmp_path / "work"), cluster="tcp://127.0.0.1:9")
    with pytest.raises(abut.InvalidInput, match="work"):
        abut.check([str(path) for path in frames.paths], cluster="tcp://127.0.0.1:9")


# --- handing out, with a scheduler that does what a test says


class KilledWorker(Exception):
    """As distributed calls it."""


class Future:
    def __init__(self, status, value=None):
        self.status, self.value = status, value

    def add_done_callback(self, call):
        call(self)

    def result(self):
        return self.value

    def exception(self):
        return self.value


class Client:
    """Answers at once: what `answer` makes of the frames of a shard."""

    status = "running"

    def __init__(self, answer):
        self.answer, self.shards = answer, []

    def scheduler_info(self, n_workers):
        return {"workers": {"one": {}, "two": {}}}

    def submit(self, function, job, frames, key, pure):
        self.shards.append(frames)
        return self.answer(frames)

    def register_plugin(self, plugin):
        self.plugin = plugin

    def unregister_worker_plugin(self, name):
        assert name == self.plugin.name

    def cancel(self, futures):
        pass


def answered(frames, sources=None):
    found = [Kept(i, {}, Tally.empty(), {}, "", "w", 1, sources or sources_hash()) for i in frames]
    return Future("finished", (0.1 * len(frames), found))


@pytest.fixture
def handing(tmp_path):
    taken = []
    bodies = abut.app.check.Ensemble({"": ArrayFrames(np.zeros((30, 3, 3)) + np.eye(3), np.array([[0, 1, 2]]))})
    return cluster_room._Dispatch(bodies, Options(), Store(tmp_path / "work"), taken.append), taken


def test_shards_grow_with_the_pace_and_each_frame_comes_back_once(handing):
    dispatch, taken = handing
    client = Client(answered)
    dispatch.run(client)
    assert sorted(kept.frame for kept in taken) == list(range(30))
    assert client.shards[:2] == [[0], [1]]
    assert max(map(len, client.shards)) == 5  # half a second


def test_only_the_frame_that_ends_workers_alone_is_bad(handing):
    dispatch, taken = handing
    killed = Future("error", KilledWorker())
    dispatch.run(Client(lambda frames: killed if 17 in frames else answered(frames)))
    assert sorted(kept.frame for kept in taken) == list(range(30))
    assert {i: why for kept in taken for i, why in kept.bad.items()} == {
        17: "could not be searched: each worker that tried ended"
    }
    assert [kept.frame for kept in taken if kept.skipped] == [17]


def test_what_was_under_way_when_the_scheduler_was_lost_is_handed_out_again(handing):
    dispatch, taken = handing
    left = iter(range(4))
    with pytest.raises(cluster_room._Lost):
        dispatch.run(Client(lambda frames: answered(frames) if next(left, None) is not None else Future("cancelled")))
    assert 0 < len(taken) < 30
    dispatch.run(Client(answered))
    assert sorted(kept.frame for kept in taken) == list(range(30))


def test_errors_of_workers_and_other_versions_are_told(handing):
    dispatch, _ = handing
    with pytest.raises(OSError, match="disk full"):
        dispatch.run(Client(lambda frames: Future("error", OSError("disk full"))))
    with pytest.raises(abut.InvalidInput, match="another version of abut"):
        dispatch.run(Client(lambda frames: answered(frames, "other")))
