"""Which contact of the step before a contact is: by the features that touch, or by its place. Its impulses start where they were."""

from abut.arrays import Floats, Integers
from abut.geometry.vec import distance_sq
from abut.jit import kernel
from abut.world.impulses import get


@kernel
def _same_pair(ids: Integers, i: int, others: Integers, k: int) -> bool:
    return ids[i, 3] == others[k, 3] and ids[i, 4] == others[k, 4]


@kernel
def _seek_pair(table: Integers, ids: Integers, wanted: Integers, i: int) -> int:
    """The place in the table of the pair that row i of `wanted` has, or the empty one where it belongs."""
    mask = len(table) - 1
    slot = (wanted[i, 3] * 1000003 + wanted[i, 4]) & mask
    while table[slot] >= 0 and not _same_pair(ids, int(table[slot]), wanted, i):
        slot = (slot + 1) & mask
    return slot


@kernel
def match_impulses(
    old_ids: Integers,
    old_points: Floats,
    old: Floats,
    ids: Integers,
    points: Floats,
    new: Floats,
    table: Integers,
    reach: float,
) -> None:
    """Copy the numbers of old rows to new ones of the same pair: first where the features are the same, then where a point is the nearest.

    Features alone would not do: corners of equal boxes lie on each other's outline, now inside, now outside. Rows of a pair stand together.
    table: room of a power of two, at least twice the old rows. reach: no point is taken for another that is farther away."""
    for k in range(len(table)):
        table[k] = -1
    for k in range(len(old_ids)):
        if k == 0 or not _same_pair(old_ids, k, old_ids, k - 1):
            table[_seek_pair(table, old_ids, old_ids, k)] = k
    start = 0
    while start < len(ids):
        stop = start + 1
        while stop < len(ids) and _same_pair(ids, stop, ids, start):
            stop += 1
        first = int(table[_seek_pair(table, old_ids, ids, start)])
        last = first
        while 0 <= last < len(old_ids) and _same_pair(old_ids, last, old_ids, first):
            last += 1
        if first >= 0:
            _match_pair(old_ids, old_points, old, first, last, ids, points, new, start, stop, reach)
        start = stop


@kernel
def _match_pair(
    old_ids: Integers,
    old_points: Floats,
    old: Floats,
    first: int,
    last: int,
    ids: Integers,
    points: Floats,
    new: Floats,
    start: int,
    stop: int,
    reach: float,
) -> None:
    """Rows first to last against rows start to stop. −1 in the last column of `new` stands for a row without a match so far."""
    end = new.shape[1] - 1
    for i in range(start, stop):
        new[i, end] = -1.0
        for k in range(first, last):
            if old_ids[k, 2] == ids[i, 2] and old_ids[k, 1] == ids[i, 1] and old_ids[k, 0] == ids[i, 0]:
                for c in range(end + 1):
                    new[i, c] = old[k, c]
    for i in range(start, stop):
        if new[i, end] >= 0.0:
            continue
        best, found = reach * reach, -1
        for k in range(first, last):
            taken = False
            for other in range(start, stop):  # by a row that has the same features
                taken = taken or (
                    old_ids[k, 2] == ids[other, 2] and old_ids[k, 1] == ids[other, 1] and old_ids[k, 0] == ids[other, 0]
                )
            d = distance_sq(get(points, i, 0), get(old_points, k, 0))
            if d <= best and not taken:
                best, found = d, k
        for c in range(end + 1):
            new[i, c] = old[found, c] if found >= 0 else 0.0
