"""Numbers inside a page: the bytes of an array as base64."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray


def code(array: NDArray[Any]) -> str:
    """The array's bytes, in C order, as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
