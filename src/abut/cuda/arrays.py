"""The border on the device: arrays that lie there come in without a copy where they are float64 in C order, else with one; what is wrong with them
is said as on the processor. Whether numbers are finite is found out by the kernel that reads them."""

from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.devices import is_on_device
from abut.core.errors import InvalidInput
from abut.cuda import memory
from abut.cuda.device import SIMULATED, cupy
from abut.cuda.memory import to_device


def _as_array(value: Any, name: str) -> Any:
    if SIMULATED:
        return np.asarray(value)
    try:
        if isinstance(value, cupy.ndarray):
            return value
        if hasattr(value, "__cuda_array_interface__"):
            return cupy.asarray(value)
        return cupy.from_dlpack(value)
    except Exception as error:
        raise InvalidInput(name, f"cannot be read as an array of the device ({error})") from error


def read(value: Any, name: str, shape: tuple[int | None, ...]) -> Any:
    """Float64 of the device of this shape, None standing for any number, in C order; whether they are finite is found out here, with a wait."""
    if not is_on_device(value):
        return to_device(arrays.coordinates(value, name, shape))
    array = _own(value, name)
    if len(array.shape) != len(shape) or any(k not in (None, n) for k, n in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("n" if k is None else str(k) for k in shape)
        raise InvalidInput(name, f"has shape {tuple(array.shape)}, expected ({wanted})")
    if array.size and not bool((abs(array) <= arrays.LARGEST_COORDINATE).all()):
        arrays.coordinates(memory.to_host(array), name, shape)
    return array


def points(value: Any, name: str, count: int) -> Any:
    """(count,3) float64 of the device, in C order; numbers of the host are copied there, once they are checked."""
    if not is_on_device(value):
        own = arrays.points(value, name)
        _check_rows(own.shape, name, count)
        return to_device(own)
    own = _own(value, name)
    _check_rows(own.shape, name, count)
    return own


def _own(value: Any, name: str) -> Any:
    array = _as_array(value, name)
    if array.dtype.kind not in "iuf":
        raise InvalidInput(name, f"holds numbers of dtype {array.dtype}, expected integers or floats")
    if SIMULATED:
        return np.ascontiguousarray(array, dtype=np.float64)
    here = int(cupy.cuda.runtime.getDevice())
    if array.device.id != here:
        raise InvalidInput(name, f"lies on device {array.device.id}, the current one is {here}")
    return cupy.ascontiguousarray(array, dtype=np.float64)


def _check_rows(shape: tuple[int, ...], name: str, count: int) -> None:
    if len(shape) != 2 or shape[1] != 3:
        raise InvalidInput(name, f"has shape {tuple(shape)}, expected (n, 3)")
    if shape[0] != count:
        raise InvalidInput(name, f"has {shape[0]} rows for a mesh of {count} vertices")
