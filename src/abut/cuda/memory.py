"""Memory of the device from the host's side: copies in and out, streams, and graphs of launches; the same calls in Numba's simulator.

Kernels work on rows that Numba allocated, users get arrays of CuPy from CuPy's pool. Everything runs on CuPy's current stream. A graph is captured
once and launched with one call: that costs microseconds, where Python would take 11 for a launch and 3 to 8 more for each array.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from abut.cuda.device import SIMULATED

if not SIMULATED:
    import cupy

_TO_HOST, _ON_DEVICE = 2, 3
"""CUDA's kinds of copies."""


def stream() -> Any:
    """CuPy's current stream, as Numba takes it."""
    return 0 if SIMULATED else cuda.external_stream(cupy.cuda.get_current_stream().ptr)


def address_of(row: Any) -> int:
    """Where a row begins."""
    return int(row.__cuda_array_interface__["data"][0])


def copy_in(row: Any, place: int, array: Any) -> None:
    """Copy an array of the device, in C order, into a row from a place on."""
    if SIMULATED:
        row[place : place + array.size] = np.asarray(array).reshape(-1)
        return
    if array.size:
        to = address_of(row) + place * array.itemsize
        runtime = cupy.cuda.runtime
        runtime.memcpyAsync(to, array.data.ptr, array.nbytes, _ON_DEVICE, cupy.cuda.get_current_stream().ptr)


def fresh(row: Any, begin: int, count: int, shape: tuple[int, ...] = (-1,)) -> Any:
    """Numbers of a row as an array of the user's own."""
    if SIMULATED:
        return np.array(row.copy_to_host()[begin : begin + count]).reshape(shape)
    size = row.dtype.itemsize
    array = cupy.empty(count, dtype=row.dtype)
    if count:
        source = address_of(row) + begin * size
        cupy.cuda.runtime.memcpyAsync(
            array.data.ptr, source, count * size, _ON_DEVICE, cupy.cuda.get_current_stream().ptr
        )
    return array.reshape(shape)


def sort(row: Any, begin: int, count: int) -> None:
    """Sort numbers of a row in place."""
    if SIMULATED:
        row[begin : begin + count] = np.sort(row.copy_to_host()[begin : begin + count])
    elif count:
        cupy.asarray(row)[begin : begin + count].sort()


def to_device(array: Any) -> Any:
    """An array of the host on the device, as users have theirs."""
    return np.array(array) if SIMULATED else cupy.asarray(array)


def to_host(array: Any) -> Any:
    """An array of the device on the host; one of the host as it is."""
    return array if isinstance(array, np.ndarray) else cupy.asnumpy(array)


def free_bytes() -> int:
    """What of the device's memory nobody uses, counting what CuPy's pool holds for later."""
    if SIMULATED:
        return 1 << 30
    return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())


class Report:
    """Two rows of the device that the host reads after each step, through memory that the device writes to directly."""

    def __init__(self, counters: Any, best: Any) -> None:
        self._rows = counters, best
        if not SIMULATED:
            sizes = [row.size * row.dtype.itemsize for row in self._rows]
            self._pinned = cupy.cuda.alloc_pinned_memory(sum(sizes))
            counts = np.frombuffer(self._pinned, dtype=np.int64, count=counters.size)
            self._views = counts, np.frombuffer(self._pinned, dtype=np.float64, count=best.size, offset=sizes[0])

    def read(self) -> tuple[Any, Any]:
        """What the rows hold once all launches before have ended."""
        if SIMULATED:
            return tuple(row.copy_to_host() for row in self._rows)  # pyright: ignore[reportReturnType]
        now = cupy.cuda.get_current_stream()
        for row, view in zip(self._rows, self._views, strict=True):
            cupy.cuda.runtime.memcpyAsync(view.ctypes.data, address_of(row), view.nbytes, _TO_HOST, now.ptr)
        now.synchronize()
        return self._views


class Fork:
    """As many streams as branches, for launches that do not wait for one another; in a graph they run side by side."""

    def __init__(self, branches: int) -> None:
        self._count = branches
        self._streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(branches)] if not SIMULATED else []

    def capture(
        self, launch: Callable[[list[Any]], None], before: Callable[[Any], None], after: Callable[[Any], None]
    ) -> Any:
        """A graph of what `before` launches on one stream, then `launch` on all, then `after` on one; None in the simulator."""
        if SIMULATED:
            return None
        first, *others = self._streams
        handles = [cuda.external_stream(each.ptr) for each in self._streams]
        first.begin_capture()
        try:
            before(handles[0])
            forked = cupy.cuda.Event(disable_timing=True)
            forked.record(first)
            for each in others:
                each.wait_event(forked)
            launch(handles)
            for each in others:
                joined = cupy.cuda.Event(disable_timing=True)
                joined.record(each)
                first.wait_event(joined)
            after(handles[0])
        finally:
            graph = first.end_capture()
        return graph


def replay(graph: Any) -> None:
    """Launch a graph on CuPy's current stream."""
    graph.launch(cupy.cuda.get_current_stream())
