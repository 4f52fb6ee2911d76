import os

import hypothesis
import pytest

from abut.core import jit
from browser import browser, open_file  # noqa: F401 (fixtures)

SOAK = bool(os.environ.get("ABUT_SOAK"))
"""Whether `make soak` runs: seeded counts are then many times larger."""
hypothesis.settings.register_profile("compiled", max_examples=1000 if SOAK else 50, deadline=None, derandomize=True)
hypothesis.settings.register_profile("slow", max_examples=20, deadline=None, derandomize=True)
SLOW = jit.INTERPRETED or bool(os.environ.get("NUMBA_BOUNDSCHECK"))
hypothesis.settings.load_profile("slow" if SLOW else "compiled")


CASES_IN_SHORT_PASSES = 2
"""Of a test with more parameter sets, the interpreted and the bounds-checked pass take this many, spread evenly: they look for lines that no
longer run and indices out of range, while right answers are the compiled run's business."""


def pytest_collection_modifyitems(config, items):
    """In the short passes, keep a few parameter sets of each test."""
    if not SLOW:
        return
    cases = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for same in cases.values():
        last = max(1, min(len(same), CASES_IN_SHORT_PASSES) - 1)
        kept.update(id(same[i * (len(same) - 1) // last]) for i in range(last + 1))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def ends(values):
    """The values; interpreted, where each may take seconds, only the first and the last."""
    return [values[0], values[-1]] if jit.INTERPRETED else values


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20261115)


@pytest.fixture(params=[1, 2])
def threads(request):
    """How many threads parallel loops run on during the test."""
    before = jit.thread_count()
    jit.limit_threads(request.param)
    yield request.param
    jit.limit_threads(before)


def sizes(*around, most=600, sample=24):
    """Counts to try: with `make soak` all from 1 to `most`, else a sample spread over them; and in both those next to each constant of the code."""
    every = range(1, most + 1) if SOAK else {1 + i * (most - 1) // (sample - 1) for i in range(sample)}
    near = {constant + step for constant in around for step in (-1, 0, 1)}
    return sorted(set(every) | {count for count in near if count > 0})


def shared(counts, threads):
    """Of counts, those to try on so many threads where what is tested runs on one anyway: all with `make soak`, else every other."""
    return counts if SOAK or SLOW else counts[threads - 1 :: 2]
