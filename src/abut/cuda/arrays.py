"""The border on the device: arrays that lie there come in without a copy where they are float64 in C order, else with one; what is wrong with them
is said as on the processor. Whether numbers are finite is found out by the kernel that reads them."""

from typing import Any

import numpy as np

from abut.core import arrays
from abut.core.devices import is_on_device
from abut.core.errors import InvalidInput
from abut.cuda.device import SIMULATED
from abut.cuda.memory import to_device

if not SIMULATED:
    import cupy


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


def points(value: Any, name: str, count: int) -> Any:
    """(count,3) float64 of the device, in C order; numbers of the host are copied there, once they are checked."""
    if not is_on_device(value):
        own = arrays.points(value, name)
        _check_rows(own.shape, name, count)
        return to_device(own)
    array = _as_array(value, name)
    if array.dtype.kind not in "iuf":
        raise InvalidInput(name, f"holds numbers of dtype {array.dtype}, expected integers or floats")
    _check_rows(array.shape, name, count)
    own: Any = np if SIMULATED else cupy
    here = int(own.cuda.runtime.getDevice()) if not SIMULATED else 0
    if not SIMULATED and array.device.id != here:
        raise InvalidInput(name, f"lies on device {array.device.id}, the current one is {here}")
    return own.ascontiguousarray(array, dtype=np.float64)


def _check_rows(shape: tuple[int, ...], name: str, count: int) -> None:
    if len(shape) != 2 or shape[1] != 3:
        raise InvalidInput(name, f"has shape {tuple(shape)}, expected (n, 3)")
    if shape[0] != count:
        raise InvalidInput(name, f"has {shape[0]} rows for a mesh of {count} vertices")


def refuse_row(array: Any, name: str, row: int) -> None:
    """Raise InvalidInput for a row that a kernel found bad."""
    if SIMULATED:
        own = np.asarray(array)
    else:
        own = cupy.asnumpy(array)
    arrays.points(own, name)
    raise InvalidInput(name, "is not finite", row)
