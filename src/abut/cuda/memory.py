"""Memory of the device from the host's side: copies in and out, streams, and graphs of launches; the same calls in Numba's simulator.

Kernels work on rows that Numba allocated, users get arrays of CuPy from CuPy's pool. Everything runs on CuPy's current stream. A graph is captured
once and launched with one call: that costs microseconds, where Python would take 11 for a launch and 3 to 8 more for each array.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from abut.cuda.device import SIMULATED, cuda, cupy

_TO_HOST, _ON_DEVICE = 2, 3
"""CUDA's kinds of copies."""


def stream() -> Any:
    """CuPy's current stream, as Numba takes it."""
    return 0 if SIMULATED else _stream_at(cupy.cuda.get_current_stream().ptr)


@functools.lru_cache(maxsize=16)
def _stream_at(pointer: int) -> Any:
    """One object for a stream: Numba keeps what a launch needs by it."""
    return cuda.external_stream(pointer)


class Window:
    """A row of the device from the host's side: what is copied into it, and arrays of the user's own copied out. Its address is asked for once:
    Numba takes longer to tell it than CUDA to copy."""

    def __init__(self, row: Any) -> None:
        self.row = row
        self._size = int(row.dtype.itemsize)
        self._address = 0 if SIMULATED else int(row.__cuda_array_interface__["data"][0])

    def put(self, place: int, array: Any) -> None:
        """Copy an array of the device, in C order, into the row from a place on."""
        if SIMULATED:
            self.row[place : place + array.size] = np.asarray(array).reshape(-1)
        elif array.size:
            to, now = self._address + place * self._size, cupy.cuda.get_current_stream().ptr
            cupy.cuda.runtime.memcpyAsync(to, array.data.ptr, array.nbytes, _ON_DEVICE, now)

    def clear(self) -> None:
        """Set all bytes to zero."""
        if SIMULATED:
            self.row[:] = 0
            return
        now = cupy.cuda.get_current_stream().ptr
        cupy.cuda.runtime.memsetAsync(self._address, 0, self.row.size * self._size, now)

    def take(self, count: int, width: int = 1) -> Any:
        """The first numbers as an array of the user's own, (count,) or (count, width)."""
        shape = (count,) if width == 1 else (count, width)
        if SIMULATED:
            return np.array(self.row.copy_to_host()[: count * width]).reshape(shape)
        array = cupy.empty(shape, dtype=self.row.dtype)
        if count:
            source, now = self._address, cupy.cuda.get_current_stream().ptr
            cupy.cuda.runtime.memcpyAsync(array.data.ptr, source, array.nbytes, _ON_DEVICE, now)
        return array


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


def as_kernels_take_it(array: Any) -> Any:
    """An array of the user's as Numba takes it in a launch, which is faster than as CuPy's."""
    return cuda.to_device(array) if SIMULATED else cuda.as_cuda_array(array)


def zeros(shape: tuple[int, ...], kind: Any) -> Any:
    """Memory that kernels take, zero."""
    return cuda.to_device(np.zeros(shape, kind)) if SIMULATED else cuda.as_cuda_array(cupy.zeros(shape, kind))


class Report:
    """Two rows of the device that the host reads after each step, through memory that the device writes to directly."""

    def __init__(self, counters: Any, best: Any) -> None:
        self._rows = counters, best
        if not SIMULATED:
            sizes = [row.size * row.dtype.itemsize for row in self._rows]
            self._pinned = cupy.cuda.alloc_pinned_memory(sum(sizes))
            self._counts = np.frombuffer(self._pinned, dtype=np.int64, count=counters.size)
            self._best = np.frombuffer(self._pinned, dtype=np.float64, count=1, offset=sizes[0])
            sources = [int(row.__cuda_array_interface__["data"][0]) for row in self._rows]
            targets = [self._pinned.ptr, self._pinned.ptr + sizes[0]]
            self._copies = list(zip(targets, sources, sizes, strict=True))

    def read(self) -> tuple[list[int], float]:
        """What the rows hold once all launches before have ended."""
        if SIMULATED:
            counters, best = (row.copy_to_host() for row in self._rows)
            return counters.tolist(), float(best[0])
        now = cupy.cuda.get_current_stream()
        for to, source, size in self._copies:
            cupy.cuda.runtime.memcpyAsync(to, source, size, _TO_HOST, now.ptr)
        now.synchronize()
        return self._counts.tolist(), float(self._best[0])


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
