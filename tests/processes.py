"""What `test_processes.py` runs in processes of their own: `python processes.py WAY`. Prints "same" where each process or thread answers alike."""

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import abut

WAYS = ("fork", "fork_pool", "fork_fork", "spawn", "threads", "executor", "fork_from_thread")


def ask(_=None):
    """One question of each kind whose kernels run on all threads, as numbers."""
    rng = np.random.default_rng(3)
    hulls = abut.convex.Hulls([abut.convex.Hull(rng.normal(size=(12, 3))) for _ in range(3)])
    poses = np.tile(np.eye(4), (600, 1, 1))
    poses[:, :3, 3] = 3.0 * rng.normal(size=(600, 3))
    pairs, which = rng.integers(0, 600, (600, 2)), rng.integers(0, 3, 600)
    tracks = abut.convex.track_many(hulls, pairs, poses, which=which)
    overlaps = abut.convex.overlap_many(hulls, pairs, poses, which=which)
    ball = abut.scenes.icosphere(4)
    far = abut.scenes.icosphere(4, center=(3.0, 0.1, 0.2))
    body = abut.Rigid(ball)
    inside = abut.contains(body, rng.normal(size=(5000, 3)))
    hits = abut.collide(body, abut.Rigid(abut.scenes.icosphere(4, center=(1.0, 0.1, 0.2))))
    apart = abut.distance(body, abut.Rigid(far))
    moving = abut.Motion(ball, ball.vertices, ball.vertices + np.array([2.0, 0.0, 0.0]))
    time = abut.time_of_impact(moving, abut.Motion(far, far.vertices, far.vertices))
    return [
        float(tracks.distance.sum()), int(overlaps.overlap.sum()), int(inside.sum()), len(hits),
        float(np.abs(hits.normal).sum()), float(np.sum(apart.distance)), time,
    ]  # fmt: skip


def in_fork(question):
    """What a forked child answers; its exit status where it died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(question()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return text if status == 0 else f"exit status {status}"


def answers_of(way):
    """The answers of the processes or threads of a way, as texts."""
    if way == "fork":
        return [in_fork(ask)]
    if way == "fork_fork":
        return [in_fork(lambda: [ask(), in_fork(ask)])]
    if way == "fork_from_thread":
        found = []
        thread = threading.Thread(target=lambda: found.append(in_fork(ask)))
        thread.start()
        thread.join()
        return found
    if way in ("fork_pool", "spawn"):
        context = multiprocessing.get_context("fork" if way == "fork_pool" else "spawn")
        with context.Pool(2) as pool:
            return [repr(answer) for answer in pool.map(ask, range(3), chunksize=1)]
    if way == "executor":
        with ThreadPoolExecutor(3) as pool:
            return [repr(answer) for answer in pool.map(ask, range(6))]
    found = []
    threads = [threading.Thread(target=lambda: found.extend(repr(ask()) for _ in range(3))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def main():
    way = sys.argv[1]
    first = repr(ask()) if "late" not in sys.argv else None
    answers = answers_of(way)
    expected = repr(ask()) if first is None else first
    if way == "fork_fork":
        expected = repr([eval(expected), expected])
    wrong = [answer for answer in answers if answer != expected]
    assert answers
    assert repr(ask()) in expected  # the parent goes on as before
    sys.stdout.write("same" if not wrong else f"{wrong[0]} for {expected}")


if __name__ == "__main__":
    main()
