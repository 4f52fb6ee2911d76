"""Queries of two bodies, as Python puts them to the searches: kernels that take handles, for one pose or for many."""

from typing import Any

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel, parallel, prange
from abut.core.scratch import (
    as_array,
    load,
    pointer_to_floats,
    pointer_to_integers,
    reserve_integers,
    reserve_integers32,
)
from abut.discrete.search.pairs import UNLIMITED, Pairs, find_pairs, find_some_pairs
from abut.discrete.search.rules import Meet, MeetItself
from abut.discrete.search.winding import is_near, winding
from abut.geometry.frames import carry_by
from abut.geometry.vec import Vec3
from abut.trees.packets.packet_tree import Handle, PacketTree, open_points, open_tree

ROOM = 4096  # pairs a query has room for at once; one with more is searched again
A_IN_B, B_IN_A = 1, 2
MAYBE_HELD = -1
"""Returned instead of a count of 0 where a body might lie inside the other."""

First = tuple[int, int, int, int, int, int]
"""Box tests, triangle tests, exact tests; 0, 1 or MAYBE_HELD; the slots of the first pair."""


@element
def _probe(points: Any, i: int, pose: Floats) -> Vec3:
    return carry_by(pose, (load(points, 3 * i), load(points, 3 * i + 1), load(points, 3 * i + 2)))


@element
def _find_piece(points: Any, pieces: int, pose: Floats, tree: PacketTree, pose_tree: Floats, start: int) -> int:
    """The next piece at or after `start` whose six points all lie within the bounds of a tree; −1 if there is none."""
    for piece in range(start, pieces):
        near = True
        for i in range(6 * piece, 6 * piece + 6):
            if not is_near(_probe(points, i, pose), pose_tree, tree.frame):
                near = False
                break
        if near:
            return piece
    return -1


@element
def _may_be_held(
    handle_a: Handle, a: PacketTree, pose_a: Floats, handle_b: Handle, b: PacketTree, pose_b: Floats
) -> bool:
    points_a, pieces_a = open_points(handle_a)
    if _find_piece(points_a, pieces_a, pose_a, b, pose_b, 0) >= 0:
        return True
    points_b, pieces_b = open_points(handle_b)
    return _find_piece(points_b, pieces_b, pose_b, a, pose_a, 0) >= 0


@kernel
def _is_held(points: Any, pieces: int, pose: Floats, tree: PacketTree, pose_tree: Floats, parity: bool) -> bool:
    """Whether a closed surface holds some piece of another that does not meet it: one point decides."""
    piece = _find_piece(points, pieces, pose, tree, pose_tree, 0)
    while piece >= 0:
        if winding(tree, pose_tree, _probe(points, 6 * piece, pose), parity) != 0:
            return True
        piece = _find_piece(points, pieces, pose, tree, pose_tree, piece + 1)
    return False


@kernel
def find_held(handle_a: Handle, pose_a: Floats, closed_a: int, handle_b: Handle, pose_b: Floats, closed_b: int) -> int:
    """A_IN_B, B_IN_A or 0, for bodies that do not meet. closed: 0 open, 1 closed and oriented, 2 only closed."""
    a, b = open_tree(handle_a), open_tree(handle_b)
    (points_a, pieces_a), (points_b, pieces_b) = open_points(handle_a), open_points(handle_b)
    if closed_b != 0 and _is_held(points_a, pieces_a, pose_a, b, pose_b, closed_b == 2):
        return A_IN_B
    if closed_a != 0 and _is_held(points_b, pieces_b, pose_b, a, pose_a, closed_a == 2):
        return B_IN_A
    return 0


@kernel
def search(
    handle_a: Handle,
    pose_a: Floats,
    handle_b: Handle,
    pose_b: Floats,
    rule: Any,
    out: Pairs,
    limit: int,
    work: Integers,
) -> int:
    """Slots of the triangles that a rule accepts, into `out` as far as it reaches; their number, `limit` at most, or MAYBE_HELD."""
    a, b = open_tree(handle_a), open_tree(handle_b)
    count = find_pairs(a, pose_a, b, pose_b, rule, out, limit, work)
    if count == 0 and _may_be_held(handle_a, a, pose_a, handle_b, b, pose_b):
        return MAYBE_HELD
    return count


@kernel
def may_be_held(handle_a: Handle, pose_a: Floats, handle_b: Handle, pose_b: Floats) -> bool:
    """Whether a body might lie inside another that it does not meet."""
    return _may_be_held(handle_a, open_tree(handle_a), pose_a, handle_b, open_tree(handle_b), pose_b)


@parallel
def search_some(
    handle_a: Handle,
    poses: Floats,
    handle_b: Handle,
    pose_b: Floats,
    rule: Any,
    rows: Integers,
    stacks: Integers,
    heights: Integers,
    out: Pairs,
    limit: int,
    steps: int,
    counts: Integers,
    work: Integers,
) -> None:
    """Some steps of the search of each of some poses: rows of `poses` and `work`; k-th stack, height, rows of `out` (k, room, 2) and count."""
    for k in prange(len(rows)):
        a, b = open_tree(handle_a), open_tree(handle_b)
        heights[k], counts[k] = find_some_pairs(
            a, poses[rows[k]], b, pose_b, rule, stacks[k], heights[k], out[k], limit, steps, work[rows[k]]
        )


@kernel
def search_first(handle_a: Handle, pose_a: Floats, handle_b: Handle, pose_b: Floats) -> First:
    """Whether any triangles meet."""
    out, work = as_array(reserve_integers32(2), (1, 2)), as_array(reserve_integers(3), (3,))
    work[:] = 0
    count = search(handle_a, pose_a, handle_b, pose_b, Meet(0), out, integer(1), work)
    return int(work[0]), int(work[1]), int(work[2]), count, int(out[0, 0]), int(out[0, 1])


@kernel
def search_first_rigid(handle_a: int, pose_a: int, handle_b: int, pose_b: int) -> First:
    """The same for two rigid bodies, given addresses: four arrays would take longer to pass than bodies far apart to search."""
    return search_first(
        pointer_to_integers(handle_a),
        as_array(pointer_to_floats(pose_a), (4, 4)),
        pointer_to_integers(handle_b),
        as_array(pointer_to_floats(pose_b), (4, 4)),
    )


@kernel
def search_itself(
    handle: Handle, pose: Floats, faces: Integers, min_distance: float, out: Pairs, limit: int, work: Integers
) -> int:
    """Slots of the triangles of one body that meet beyond their shared vertices, or share none and come near."""
    tree = open_tree(handle)
    return find_pairs(tree, pose, tree, pose, MeetItself(faces, min_distance), out, limit, work)


@parallel
def search_many(
    handle_a: Handle,
    poses: Floats,
    handle_b: Handle,
    pose_b: Floats,
    rule: Any,
    room: int,
    out: Pairs,
    limit: int,
    counts: Integers,
    work: Integers,
) -> None:
    """`search` for many poses of a; query i has room for `room` pairs from out[i·room] on, and its own row of `work`."""
    for i in prange(len(poses)):
        place = out[i * room : (i + 1) * room]
        counts[i] = search(handle_a, poses[i], handle_b, pose_b, rule, place, limit, work[i])


def search_all(
    handle_a: Handle,
    pose_a: Floats,
    handle_b: Handle,
    pose_b: Floats,
    rule: Any,
    work: Integers,
    *,
    limit: int = UNLIMITED,
    room: int = ROOM,
) -> tuple[int, Pairs]:
    """`search` with as much room as it takes, `room` at first: the count, or MAYBE_HELD, and the pairs of slots."""
    while True:
        out = np.empty((room, 2), dtype=np.int32)
        count = search(handle_a, pose_a, handle_b, pose_b, rule, out, limit, work)
        if count <= room:
            return count, out[: max(count, 0)]
        room = count
        work[:] = 0
