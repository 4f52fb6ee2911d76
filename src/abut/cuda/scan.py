"""Sums of all counters before each, over as many blocks as are needed: within each block, then over the blocks' sums.

Kernels read the two parts: the sum before counter i is counters[i] + sums[i // BLOCK] (`before`).
"""

from typing import Any

import numpy as np

from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import SIMULATED, cuda, inlined, kernel
from abut.cuda.warps import EVERY_LANE, index_at

SCAN_THREADS = 32 if SIMULATED else 256
ITEMS = 16
BLOCK = SCAN_THREADS * ITEMS
ROOM = BLOCK + BLOCK // ITEMS  # a gap behind each sixteen: threads that read sixteen in a row then meet no bank twice
SUM_THREADS = 32 if SIMULATED else 1024


def padded(count: int) -> int:
    """So many counters, filled up to whole blocks."""
    return max(1, -(-count // BLOCK)) * BLOCK


@inlined
def before(counters: Any, sums: Any, i: int) -> int:
    """The sum of all counters before counter i."""
    return index_at(counters, i) + index_at(sums, i // BLOCK)


@inlined
def _scan_warp(x: int, lane: int) -> int:
    """The sum of the lanes up to and with the own."""
    for step in (1, 2, 4, 8, 16):
        y = integer(cuda.shfl_up_sync(EVERY_LANE, x, step))
        if lane >= step:
            x += y
    return x


@inlined
def _scan_block(x: int, totals: Any) -> tuple[int, int]:
    """The sum of the threads before the own, and of all. totals: 32 shared integers."""
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    s = _scan_warp(x, lane)
    if lane == 31:
        store(totals, warp, s)
    cuda.syncthreads()
    if warp == 0:
        t = load(totals, lane) if lane < cuda.blockDim.x // 32 else integer(0)
        store(totals, lane, _scan_warp(integer(t), lane))
    cuda.syncthreads()
    earlier = s - x
    if warp > 0:
        earlier += integer(load(totals, warp - 1))
    total = integer(load(totals, cuda.blockDim.x // 32 - 1))
    cuda.syncthreads()
    return earlier, total


@kernel
def scan_blocks(counters: Any, sums: Any) -> None:
    """Each block of SCAN_THREADS: the sums before its BLOCK counters, in their place, and the sum of all."""
    items = cuda.shared.array(ROOM, dtype=np.int32)
    totals = cuda.shared.array(32, dtype=np.int64)
    base, t = cuda.blockIdx.x * BLOCK, cuda.threadIdx.x
    for k in range(ITEMS):
        j = k * SCAN_THREADS + t
        store(items, j + j // ITEMS, load(counters, base + j))
    cuda.syncthreads()
    own = integer(0)
    for k in range(ITEMS):
        own += integer(load(items, t * (ITEMS + 1) + k))
    earlier, whole = _scan_block(own, totals)
    for k in range(ITEMS):
        count = integer(load(items, t * (ITEMS + 1) + k))
        store(items, t * (ITEMS + 1) + k, np.int32(earlier))
        earlier += count
    cuda.syncthreads()
    for k in range(ITEMS):
        j = k * SCAN_THREADS + t
        store(counters, base + j, load(items, j + j // ITEMS))
    if t == 0:
        store(sums, cuda.blockIdx.x, whole)


@kernel
def scan_sums(sums: Any) -> None:
    """One block: the sums before the blocks' sums, in their place."""
    totals = cuda.shared.array(32, dtype=np.int64)
    carry = integer(0)
    for base in range(0, len(sums), cuda.blockDim.x):
        i = base + cuda.threadIdx.x
        x = integer(load(sums, i)) if i < len(sums) else integer(0)
        earlier, total = _scan_block(x, totals)
        if i < len(sums):
            store(sums, i, carry + earlier)
        carry += total


def scan(counters: Any, sums: Any, stream: Any) -> None:
    """Launch both; counters int32 (whole blocks), sums int64, one a block."""
    scan_blocks[len(sums), SCAN_THREADS, stream](counters, sums)
    scan_sums[1, SUM_THREADS, stream](sums)
