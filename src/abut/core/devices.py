"""Where arrays lie. Those on a CUDA device are answered by the part `abut.cuda`, which is loaded when somebody first asks for it.

This is the only way to that part: nothing else imports it, and whoever has no GPU never loads what it needs.
"""

import importlib
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np

from abut.core.errors import InvalidInput, Unsupported

Device: TypeAlias = Literal["cuda"] | None
"""Where a question is answered: on a CUDA device, or, by default, where the arrays lie."""
_ON_HOST = (np.ndarray, np.generic, list, tuple, int, float, str)
_known: set[type] = set()
"""Types whose arrays all lie on devices. To ask an array takes microseconds, which a step on a device feels."""
_CUDA = (2, 13)  # DLPack's types of memory that a CUDA device reads: its own, and managed
INSTALL = "`pip install abut[cuda]` brings what CUDA devices need: numba-cuda and cupy for CUDA 13"


def is_on_device(value: Any) -> bool:
    """Whether an array lies in the memory of a CUDA device: one of CuPy, PyTorch, JAX, Numba, or whatever tells so as these do."""
    kind = type(value)
    if kind in _known:
        return True
    if isinstance(value, _ON_HOST):
        return False
    if (kind.__module__.partition(".")[0], kind.__name__) == ("cupy", "ndarray"):
        _known.add(kind)
        return True
    try:
        if getattr(value, "__cuda_array_interface__", None) is not None:
            return True
        ask = getattr(value, "__dlpack_device__", None)
        return ask is not None and int(ask()[0]) in _CUDA
    except Exception:  # whatever an object of the caller's raises: what it is is found out where it is read
        return False


def chosen(device: object, *arrays: Any) -> bool:
    """Whether a question about these arrays is answered on a CUDA device."""
    if device is None:
        return any(map(is_on_device, arrays))
    if not isinstance(device, str) or device != "cuda":
        raise InvalidInput("device", f"is {device!r}, expected 'cuda' or None")
    return True


def part(name: str) -> ModuleType:
    """A module of `abut.cuda`, once it is known that there is a device."""
    try:
        importlib.import_module("abut.cuda.device").check()
    except ImportError as error:
        raise Unsupported(f"CUDA devices: {error}; {INSTALL}") from error
    return importlib.import_module(f"abut.cuda.{name}")
