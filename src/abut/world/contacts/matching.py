"""Which contact of the step before a contact is: by the features that touch, or by its place. Its impulses start where they were."""

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.core.records import Record, Records, vector
from abut.geometry.vec import distance_sq, dot

ALIKE = 0.999
"""Cosine of the angle between normals of contacts that may stand for one another."""


@kernel
def _same_pair(one: Record, other: Record) -> bool:
    return one.collider_a == other.collider_a and one.collider_b == other.collider_b


@kernel
def _same_features(one: Record, other: Record) -> bool:
    return one.identity == other.identity and one.face_b == other.face_b and one.face_a == other.face_a


@kernel
def _seek_pair(table: Integers, ids: Records, wanted: Record) -> int:
    """The place in the table of the pair that is wanted, or the empty one where it belongs."""
    mask = len(table) - 1
    slot = (wanted.collider_a * 1000003 + wanted.collider_b) & mask
    while table[slot] >= 0 and not _same_pair(ids[table[slot]], wanted):
        slot = (slot + 1) & mask
    return slot


@kernel
def match_impulses(
    old_ids: Records,
    old_points: Records,
    old: Floats,
    ids: Records,
    points: Records,
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
        if k == 0 or not _same_pair(old_ids[k], old_ids[k - 1]):
            table[_seek_pair(table, old_ids, old_ids[k])] = k
    start = 0
    while start < len(ids):
        stop = start + 1
        while stop < len(ids) and _same_pair(ids[stop], ids[start]):
            stop += 1
        first = int(table[_seek_pair(table, old_ids, ids[start])])
        last = first
        while 0 <= last < len(old_ids) and _same_pair(old_ids[last], old_ids[first]):
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
    old_ids: Records,
    old_points: Records,
    first: int,
    last: int,
    ids: Records,
    points: Records,
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
            if _same_features(old_ids[k], ids[i]) and not _is_taken(owner, start, stop, k):
                owner[i] = k
                break
    for i in range(start, stop):
        if owner[i] >= 0:
            continue
        best = reach * reach
        for k in range(first, last):
            d = distance_sq(vector(points[i].point), vector(old_points[k].point))
            if d <= best and not _is_taken(owner, start, stop, k):
                best, owner[i] = d, k


@kernel
def _hand_on(
    old: Floats,
    old_points: Records,
    first: int,
    last: int,
    points: Records,
    new: Floats,
    start: int,
    stop: int,
    owner: Integers,
) -> None:
    """Numbers of rows first to last for rows start to stop."""
    for i in range(start, stop):
        if owner[i] >= 0:
            for c in range(old.shape[1]):
                new[i, c] = old[owner[i], c]
    for k in range(first, last):
        if _is_taken(owner, start, stop, k):
            continue
        heirs = 0
        for i in range(start, stop):
            heirs += 1 if _inherits(old_points[k], points[i], owner[i]) else 0
        for i in range(start, stop):
            if _inherits(old_points[k], points[i], owner[i]):
                for c in range(old.shape[1]):
                    new[i, c] += old[k, c] / heirs


@kernel
def _inherits(old: Record, new: Record, owner: int) -> bool:
    """Whether a new row without a predecessor touches, and pushes in the direction in which an old row did."""
    return owner < 0 and new.separation <= 0.0 and dot(vector(new.normal), vector(old.normal)) > ALIKE
