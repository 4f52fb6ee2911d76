import os

import hypothesis
import pytest

from abut import jit

hypothesis.settings.register_profile("compiled", max_examples=200, deadline=None, derandomize=True)
hypothesis.settings.register_profile("slow", max_examples=20, deadline=None, derandomize=True)
SLOW = jit.INTERPRETED or bool(os.environ.get("NUMBA_BOUNDSCHECK"))
hypothesis.settings.load_profile("slow" if SLOW else "compiled")


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20261115)
