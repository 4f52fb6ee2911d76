"""Several searches for one order side by side, each in a thread, with the same tables and budget and seeds of their own; the best counts.

Kernels leave the interpreter free, so that threads run at the same time. An interruption ends all: that of the waiting thread, and one that
is raised by a callback in any of the searches.
"""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Lock

import numpy as np

from abut.contours.nesting.job import Job
from abut.contours.nesting.strip import Budget


def _share_budget(budget: Budget, count: int) -> list[Budget]:
    """One for each search: all of the time, and its part of the moves; they report together."""
    lock, shared = Lock(), [Budget(budget.seconds, max(1.0, budget.moves / count), budget.report) for _ in range(count)]

    def report(share: float, length: float) -> None:
        with lock:
            budget.best = min(each.best for each in shared)
            budget.report(share, budget.best)

    for each in shared:
        each.start, each.report = budget.start, report
    return shared


def run_side_by_side(job: Job, budget: Budget, seed: int, count: int) -> Job:
    """Run so many searches; the best of them, the first where several are as good. The budget is told what was spent."""
    seeds = [seed, *np.random.SeedSequence(seed).generate_state(count - 1).tolist()]
    jobs, budgets = [job.twin(each) for each in seeds], _share_budget(budget, count)
    with ThreadPoolExecutor(count) as pool:
        waiting = {pool.submit(each.run, own) for each, own in zip(jobs, budgets, strict=True)}
        every = set(waiting)
        while waiting:
            try:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                done = set()
                budget.interrupted = True
            if (
                budget.interrupted
                or any(each.interrupted for each in budgets)
                or any(each.exception() for each in done)
            ):
                for each in budgets:
                    each.interrupted = True
        for each in every:
            each.result()
    budget.interrupted = any(each.interrupted for each in budgets)
    budget.spent_moves = sum(each.spent_moves for each in budgets)
    return min(jobs, key=lambda each: each.worth)
