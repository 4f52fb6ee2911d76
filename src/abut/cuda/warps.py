"""What the 32 threads of a warp do together: extrema, votes, places in a row that all of them write to."""

from typing import Any

import numpy as np

from abut.core.jit import integer
from abut.core.scratch import load, store
from abut.cuda.device import cuda, inlined

EVERY_LANE = 0xFFFFFFFF
WIDTH = 32


@inlined
def least(x: Any) -> Any:
    """The least of the warp's values."""
    for step in (16, 8, 4, 2, 1):
        x = min(x, cuda.shfl_xor_sync(EVERY_LANE, x, step))
    return x


@inlined
def greatest(x: Any) -> Any:
    """The greatest of the warp's values."""
    for step in (16, 8, 4, 2, 1):
        x = max(x, cuda.shfl_xor_sync(EVERY_LANE, x, step))
    return x


@inlined
def votes(yes: bool) -> int:
    """A bit for each lane that says yes."""
    return integer(cuda.ballot_sync(EVERY_LANE, yes)) & 0xFFFFFFFF


@inlined
def count_below(mask: int, lane: int) -> int:
    """How many bits are set below a lane's."""
    return integer(cuda.popc(np.uint32(mask & ((1 << lane) - 1))))


@inlined
def count_of(mask: int) -> int:
    """How many bits are set."""
    return integer(cuda.popc(np.uint32(mask)))


@inlined
def lowest_of(mask: int) -> int:
    """The number of the lowest bit that is set."""
    return integer(cuda.ffs(np.uint32(mask))) - 1


@inlined
def index_at(row: Any, place: int) -> int:
    """An integer of a row, in 64 bits."""
    return integer(load(row, place))


@inlined
def take_places(count: int, lane: int, counters: Any, counter: int) -> int:
    """The first of `count` places behind a counter, the same for all lanes; the counter goes on even where no room is left."""
    first = integer(0)
    if lane == 0:
        first = integer(cuda.atomic.add(counters, counter, count))
    return integer(cuda.shfl_sync(EVERY_LANE, first, 0))


@inlined
def append(yes: bool, code: int, lane: int, row: Any, begin: int, room: int, counters: Any, counter: int) -> int:
    """Write the codes of lanes that say yes behind one another, in `room` places of a row from `begin` on; where the own one went to, or −1."""
    mask = votes(yes)
    to = integer(-1)
    if mask != 0:
        place = take_places(count_of(mask), lane, counters, counter) + count_below(mask, lane)
        if yes and place < room:
            to = begin + place
            store(row, to, code)
    return to
