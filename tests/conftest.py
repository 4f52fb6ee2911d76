import os

import hypothesis
import pytest

from abut import jit

SOAK = bool(os.environ.get("ABUT_SOAK"))
"""Whether `make soak` runs: seeded counts are then many times larger."""
hypothesis.settings.register_profile("compiled", max_examples=1000 if SOAK else 80, deadline=None, derandomize=True)
hypothesis.settings.register_profile("slow", max_examples=20, deadline=None, derandomize=True)
SLOW = jit.INTERPRETED or bool(os.environ.get("NUMBA_BOUNDSCHECK"))
hypothesis.settings.load_profile("slow" if SLOW else "compiled")


def ends(values):
    """The values; interpreted, where each may take seconds, only the first and the last."""
    return [values[0], values[-1]] if jit.INTERPRETED else values


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20261115)
