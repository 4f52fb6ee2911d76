"""What `test_processes.py` runs in processes of their own: `python processes.py START`. Prints "same" where each process or thread answers alike."""

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

import abut

STARTS = (
    "fork",
    "fork_pool",
    "fork_fork",
    "fork_each",
    "fork_beside",
    "spawn",
    "threads",
    "executor",
    "fork_from_thread",
)
"""How a process or thread comes to be."""
BALL = abut.scenes.icosphere(4)
FORKS_BESIDE = 6


def _hulls():
    rng = np.random.default_rng(3)
    hulls = abut.convex.Hulls([abut.convex.Hull(rng.normal(size=(12, 3))) for _ in range(3)])
    poses = np.tile(np.eye(4), (600, 1, 1))
    poses[:, :3, 3] = 3.0 * rng.normal(size=(600, 3))
    return hulls, rng.integers(0, 600, (600, 2)), poses, rng.integers(0, 3, 600)


def _track():
    hulls, pairs, poses, which = _hulls()
    return float(abut.convex.track_many(hulls, pairs, poses, which=which).distance.sum())


def _overlap():
    hulls, pairs, poses, which = _hulls()
    return int(abut.convex.overlap_many(hulls, pairs, poses, which=which).overlap.sum())


def _contains():
    return int(abut.contains(BALL, np.random.default_rng(4).normal(size=(5000, 3))).sum())


def _normals():
    hits = abut.collide(BALL, abut.Rigid(abut.scenes.icosphere(4, center=(1.0, 0.1, 0.2))))
    return len(hits), float(np.abs(hits.normal).sum())


def _distance():
    return float(np.sum(abut.distance(BALL, abut.scenes.icosphere(4, center=(3.0, 0.1, 0.2))).distance))


def _motions():
    far = abut.scenes.icosphere(4, center=(3.0, 0.1, 0.2))
    moving = abut.Motion(BALL, BALL.vertices, BALL.vertices + np.array([2.0, 0.0, 0.0]))
    return moving, abut.Motion(far, far.vertices, far.vertices)


def _time():
    return abut.time_of_impact(*_motions())


def _sweep():
    impacts = abut.sweep(*_motions())
    return len(impacts), float(impacts.time.sum())


def _step():
    world, poses = abut.World(), np.tile(np.eye(4), (60, 1, 1))
    world.add(abut.shapes.Box((20, 20, 1)), kind="static")
    poses[:, 2, 3] = 1.0 + 0.9 * np.arange(60)
    world.add_many(abut.shapes.Box((1, 1, 1)), poses)
    for _ in range(3):
        world.step(0.02)
    return float(world.poses().sum()), len(world.contacts())


QUESTIONS = {
    "contains": _contains,
    "normal": _normals,
    "distance": _distance,
    "time_of_impact": _time,
    "sweep": _sweep,
    "World.step": _step,
    "track_many": _track,
    "overlap_many": _overlap,
}


def ask(_=None):
    """One question of each kind whose kernels run on all threads, as numbers; steps of worlds and sweeps, which compile for long, apart."""
    return [question() for name, question in QUESTIONS.items() if name not in ("World.step", "sweep")]


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


def _after(name):
    """What a child answers whose parent, a new process, has answered one question."""

    def parent():
        own = QUESTIONS[name]()
        return [own, in_fork(QUESTIONS[name]), in_fork(_contains)]

    return in_fork(parent)


def _beside():
    """What children answer that are forked while other threads of the parent ask and compile; each child compiles something itself."""
    done = threading.Event()

    def compile_on():
        number = 0
        while not done.is_set():
            number += 1
            compile_sum(number)

    def ask_on():
        while not done.is_set():
            _contains()

    others = [threading.Thread(target=target) for target in (compile_on, compile_on, ask_on)]
    for thread in others:
        thread.start()
    try:
        return [in_fork(lambda: (compile_sum(-1), _contains())[1]) for _ in range(FORKS_BESIDE)]
    finally:
        done.set()
        for thread in others:
            thread.join()


def compile_sum(number):
    """Compile something that nobody has compiled before."""

    @numba.njit
    def add(x):
        return sum([x + number, x * number, x - number])

    return add(1)


def answers_of(start):
    """The answers of processes or threads that are started so, as texts."""
    if start == "fork":
        return [in_fork(ask)]
    if start == "fork_fork":
        return [in_fork(lambda: [ask(), in_fork(ask)])]
    if start == "fork_each":
        return [_after(name) for name in QUESTIONS]
    if start == "fork_beside":
        return _beside()
    if start == "fork_from_thread":
        found = []
        thread = threading.Thread(target=lambda: found.append(in_fork(ask)))
        thread.start()
        thread.join()
        return found
    if start in ("fork_pool", "spawn"):
        context = multiprocessing.get_context("fork" if start == "fork_pool" else "spawn")
        with context.Pool(2) as pool:
            return [repr(answer) for answer in pool.map(ask, range(3), chunksize=1)]
    if start == "executor":
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
    start = sys.argv[1]
    ask_all = {"fork_each": lambda: [question() for question in QUESTIONS.values()], "fork_beside": _contains}.get(
        start, ask
    )
    is_late = "late" in sys.argv or start == "fork_each"
    first = None if is_late else repr(ask_all())
    answers = answers_of(start)
    own = ask_all()
    expected = repr(own) if first is None else first
    expected_answers = [expected] * len(answers)
    if start == "fork_fork":
        expected_answers = [repr([eval(expected), expected])]
    if start == "fork_each":
        inside = repr(QUESTIONS["contains"]())
        expected_answers = [repr([answer, repr(answer), inside]) for answer in own]
    wrong = [
        f"{answer} for {right}" for answer, right in zip(answers, expected_answers, strict=True) if answer != right
    ]
    assert answers
    assert repr(own) == expected  # the parent goes on as before
    sys.stdout.write("same" if not wrong else wrong[0])


if __name__ == "__main__":
    main()
