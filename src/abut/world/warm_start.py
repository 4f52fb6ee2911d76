"""Which contact of the step before a contact is: by the features that touch, or by its place. Its impulses start where they were."""

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.vec import distance_sq, dot
from abut.world.body_rows import get

ALIKE = 0.999
"""Cosine of the angle between normals of contacts that may stand for one another."""


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
    owner: Integers,
    reach: float,
) -> None:
    """Copy the numbers of old rows to new ones of the same pair: first where the features are the same, then where a point is the nearest.

    What old rows without a successor had is shared by the new rows without a predecessor that touch: a body that lies on a face is carried by it,
    whichever four of its corners stand for it.

    Features alone would not do: corners of equal boxes lie on each other's outline, now inside, now outside. Rows of a pair stand together.
    table: room of a power of two, at least twice the old rows. owner: room, one for each new row. reach: no point is taken for another that is
    farther away."""
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
            _match_pair(old_ids, old_points, first, last, ids, points, start, stop, owner, reach)
            _hand_on(old, old_points, first, last, points, new, start, stop, owner)
        start = stop


@kernel
def _is_taken(owner: Integers, start: int, stop: int, k: int) -> bool:
    taken = False
    for i in range(start, stop):
        taken = taken or owner[i] == k
    return taken


@kernel
def _match_pair(
    old_ids: Integers,
    old_points: Floats,
    first: int,
    last: int,
    ids: Integers,
    points: Floats,
    start: int,
    stop: int,
    owner: Integers,
    reach: float,
) -> None:
    """owner[i]: the old row, from first to last, that the new row i continues, or −1."""
    for i in range(start, stop):
        owner[i] = -1
    for i in range(start, stop):
        for k in range(first, last):
            same = old_ids[k, 2] == ids[i, 2] and old_ids[k, 1] == ids[i, 1] and old_ids[k, 0] == ids[i, 0]
            if same and not _is_taken(owner, start, stop, k):
                owner[i] = k
                break
    for i in range(start, stop):
        if owner[i] >= 0:
            continue
        best = reach * reach
        for k in range(first, last):
            d = distance_sq(get(points, i, 0), get(old_points, k, 0))
            if d <= best and not _is_taken(owner, start, stop, k):
                best, owner[i] = d, k


@kernel
def _hand_on(
    old: Floats,
    old_points: Floats,
    first: int,
    last: int,
    points: Floats,
    new: Floats,
    start: int,
    stop: int,
    owner: Integers,
) -> None:
    """Numbers of rows first to last for rows start to stop. points[:, 6]: separations."""
    for i in range(start, stop):
        if owner[i] >= 0:
            for c in range(old.shape[1]):
                new[i, c] = old[owner[i], c]
    for k in range(first, last):
        if _is_taken(owner, start, stop, k):
            continue
        heirs = 0
        for i in range(start, stop):
            heirs += 1 if _inherits(old_points, k, points, i, owner) else 0
        for i in range(start, stop):
            if _inherits(old_points, k, points, i, owner):
                for c in range(old.shape[1]):
                    new[i, c] += old[k, c] / heirs


@kernel
def _inherits(old_points: Floats, k: int, points: Floats, i: int, owner: Integers) -> bool:
    """Whether a new row without a predecessor touches and pushes the way that an old row did."""
    return owner[i] < 0 and points[i, 6] <= 0.0 and dot(get(points, i, 3), get(old_points, k, 3)) > ALIKE
