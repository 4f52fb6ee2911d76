"""Warp operations for Numba's CUDA simulator, which has none: the lanes of a warp are Python threads, and a barrier stands for the warp.

Import it before kernels run, with NUMBA_ENABLE_CUDASIM=1.
"""

import threading

from numba.cuda.simulator.kernelapi import FakeCUDAModule

PATIENCE = 120
"""Seconds after which a lane that never comes is an error, not a hang."""
_lock, _warps = threading.Lock(), {}


def _exchange(value):
    """The values of all lanes, and the number of the own lane. One wait is enough: nobody is two exchanges ahead of another, and exchanges take turns
    with two rows of values."""
    thread = threading.current_thread()
    own = getattr(thread, "own_warp", None)
    if own is None:
        own = thread.own_warp = _join(thread)
        thread.turn = 0
    barrier, rows, lane = own
    thread.turn = 1 - thread.turn
    values = rows[thread.turn]
    values[lane] = value
    barrier.wait(PATIENCE)
    return values, lane


def _join(thread):
    key = id(thread._manager), thread.thread_id // 32
    with _lock:
        if key not in _warps:
            if len(_warps) > 64:
                _warps.clear()
            x, y, z = thread._manager._block_dim
            lanes = min(32, x * y * z - 32 * (thread.thread_id // 32))
            _warps[key] = [threading.Barrier(lanes), ([0] * 32, [0] * 32), lanes]
        barrier, rows, missing = _warps[key]
        _warps[key][2] = missing - 1
        if missing == 1:
            del _warps[key]  # all are here: the next warp of that name is another
    return barrier, rows, thread.thread_id % 32


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
