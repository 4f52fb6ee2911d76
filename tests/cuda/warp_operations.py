"""Warp operations for Numba's CUDA simulator, which has none: the lanes of a warp are Python threads, and a barrier stands for the warp.

Import it before kernels run, with NUMBA_ENABLE_CUDASIM=1.
"""

import threading

from numba.cuda.simulator.kernelapi import FakeCUDAModule

PATIENCE = 120
"""Seconds after which a lane that never comes is an error, not a hang."""
_lock, _warps = threading.Lock(), {}


def _exchange(value):
    """The values of all lanes, and the number of the own lane."""
    thread = threading.current_thread()
    key = id(thread._manager), thread.thread_id // 32
    with _lock:
        if key not in _warps:
            if len(_warps) > 64:
                _warps.clear()
            x, y, z = thread._manager._block_dim
            lanes = min(32, x * y * z - 32 * (thread.thread_id // 32))
            _warps[key] = threading.Barrier(lanes), [0] * 32
        barrier, values = _warps[key]
    lane = thread.thread_id % 32
    values[lane] = value
    barrier.wait(PATIENCE)
    found = list(values)
    barrier.wait(PATIENCE)
    return found, lane


def ballot_sync(self, mask, yes):
    found, _ = _exchange(bool(yes))
    return sum(1 << k for k in range(32) if found[k])


def shfl_sync(self, mask, value, lane):
    return _exchange(value)[0][int(lane)]


def shfl_xor_sync(self, mask, value, bits):
    found, lane = _exchange(value)
    return found[lane ^ bits]


def shfl_up_sync(self, mask, value, step):
    found, lane = _exchange(value)
    return found[lane - step] if lane >= step else value


def syncwarp(self, mask=0):
    _exchange(0)


for operation in (ballot_sync, shfl_sync, shfl_xor_sync, shfl_up_sync, syncwarp):
    setattr(FakeCUDAModule, operation.__name__, operation)
