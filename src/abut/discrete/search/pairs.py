"""Two packet trees searched together for the pairs of triangles that meet.

Of two nodes the larger is opened, its eight children are tested against the other's box at once (Meseure 1998 §4.1, eight wide). A node has at most
MAX_LEVELS levels below it and leaves seven siblings on the stack at each, of either tree: STACK entries always suffice.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers
from abut.core.jit import element, integer, kernel
from abut.core.lanes import lane, lowest_bit
from abut.core.scratch import load, reserve_integers, store
from abut.discrete.search.placement import displacement, place_corner, relate_frames
from abut.discrete.search.rules import accept, min_distance_of
from abut.discrete.search.triangle_packets import meet_box_8, relate_triangle_8
from abut.trees.packets.boxes import WIDTH, Change, largest_half, overlap_8, read_box, separate_8
from abut.trees.packets.packet_tree import PacketTree

MAX_LEVELS = 11  # 8¹¹ triangles are more than int32 packets can number
STACK = 2 * MAX_LEVELS * (WIDTH - 1) + 2

GROWTH = 1.0 + 1e-6  # a margin rounded to float32 stays a margin
UNLIMITED = np.iinfo(np.int64).max
BOX_TESTS, TRIANGLE_TESTS, EXACT_TESTS = 0, 1, 2

Pairs = NDArray[np.integer[Any]]


@kernel
def _search_leaves(
    a: PacketTree,
    b: PacketTree,
    leaf_a: int,
    leaf_b: int,
    of_a: int,
    of_b: int,
    pose_a: Floats,
    pose_b: Floats,
    rule: Any,
    out: Pairs,
    found: int,
    limit: int,
    work: Integers,
) -> int:
    """Test the triangles `of_b` of one leaf against those `of_a` of the other; the new count of pairs found."""
    near = a.frame[3] * (min_distance_of(rule) + displacement(a.frame, pose_a) + displacement(b.frame, pose_b))
    while of_b != 0:
        k = lowest_bit(of_b)
        of_b &= of_b - 1
        slot_b = leaf_b * WIDTH + k
        if slot_b >= b.slot_count:
            break
        triangle = (
            place_corner(b.corners, slot_b, 0, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 1, pose_b, pose_a, a.frame),
            place_corner(b.corners, slot_b, 2, pose_b, pose_a, a.frame),
        )
        maybe, sure = relate_triangle_8(triangle, a.lanes, leaf_a, near)
        maybe &= of_a
        work[TRIANGLE_TESTS] += WIDTH
        while maybe != 0:
            k = lowest_bit(maybe)
            maybe &= maybe - 1
            slot_a = leaf_a * WIDTH + k
            if slot_a >= a.slot_count:
                break
            proved = (sure >> k) & 1 != 0
            if not proved:
                work[EXACT_TESTS] += 1
            if not accept(rule, a, slot_a, pose_a, b, slot_b, pose_b, proved):
                continue
            if found < len(out):
                out[found, 0] = slot_a
                out[found, 1] = slot_b
            found += 1
            if found >= limit:
                return found
    return found


@element
def _find_deepest(mask: int, gap: Any) -> int:
    """The lane of a mask with the smallest gap; WIDTH if there is none."""
    deepest, least = WIDTH, np.float32(np.inf)
    while mask != 0:
        k = lowest_bit(mask)
        mask &= mask - 1
        if lane(gap, k) < least:
            deepest, least = k, lane(gap, k)
    return deepest


@element
def _relate(a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, rule: Any) -> tuple[Change, Any, Change, Any]:
    """How boxes of a are seen from b, and boxes of b from a, each with what they are grown by."""
    to_b, slack_b = relate_frames(a.frame, pose_a, b.frame, pose_b)
    to_a, slack_a = relate_frames(b.frame, pose_b, a.frame, pose_a)
    slack_a += np.float32(min_distance_of(rule) * a.frame[3] * GROWTH)
    slack_b += np.float32(min_distance_of(rule) * b.frame[3] * GROWTH)
    return to_b, slack_b, to_a, slack_a


@kernel
def _descend(
    a: PacketTree,
    pose_a: Floats,
    b: PacketTree,
    pose_b: Floats,
    rule: Any,
    changes: tuple[Change, Any, Change, Any],
    stack: Any,
    height: int,
    out: Pairs,
    limit: int,
    most: int,
    steps: int,
    work: Integers,
) -> tuple[int, int]:
    """Search what is on the stack until `steps` of its entries are done, `most` pairs are found, or all `limit` of them: what is left of the
    stack, and the number found. The order is that of a search in one go."""
    to_b, slack_b, to_a, slack_a = changes
    found = integer(0)
    while height > 0 and steps > 0 and found < most:
        height -= 1
        steps -= 1
        entry = load(stack, height)
        node_a, node_b = entry >> 32, entry & 0xFFFFFFFF
        child_a, child_b = int(load(a.child, node_a)), int(load(b.child, node_b))
        if child_a < 0 and child_b < 0:
            of_b = meet_box_8(read_box(a.packed, node_a, to_b, slack_b), b.lanes, node_b)
            if of_b != 0:
                of_a = meet_box_8(read_box(b.packed, node_b, to_a, slack_a), a.lanes, node_a)
                if of_a != 0:
                    found = _search_leaves(
                        a, b, node_a, node_b, of_a, of_b, pose_a, pose_b, rule, out, found, limit, work
                    )
                    if found >= limit:
                        return 0, found
            continue
        work[BOX_TESTS] += WIDTH
        if child_b < 0 or (
            child_a >= 0 and largest_half(a.packed, node_a) * to_b.scale >= largest_half(b.packed, node_b)
        ):
            mask, gap = separate_8(a.packed, child_a, read_box(b.packed, node_b, to_a, slack_a))
            first, step = ((child_a * WIDTH) << 32) | node_b, 1 << 32
        else:
            mask, gap = separate_8(b.packed, child_b, read_box(a.packed, node_a, to_b, slack_b))
            first, step = (node_a << 32) | (child_b * WIDTH), 1
        deepest = _find_deepest(mask, gap) if limit == 1 else WIDTH
        while mask != 0:
            k = lowest_bit(mask)
            mask &= mask - 1
            if k != deepest:
                store(stack, height, first + step * k)
                height += 1
        if deepest < WIDTH:  # where boxes overlap most, a pair is found soonest
            store(stack, height, first + step * deepest)
            height += 1
    return height, found


@element
def _meet_at_the_root(a: PacketTree, b: PacketTree, changes: tuple[Change, Any, Change, Any], work: Integers) -> bool:
    work[BOX_TESTS] += 1
    return overlap_8(b.packed, b.root >> 3, read_box(a.packed, a.root, changes[0], changes[1])) & 1 != 0


@kernel
def find_pairs(
    a: PacketTree, pose_a: Floats, b: PacketTree, pose_b: Floats, rule: Any, out: Pairs, limit: int, work: Integers
) -> int:
    """Pairs of slots that the rule accepts, into `out` as far as it reaches; their number, or `limit` when that many were found."""
    changes = _relate(a, pose_a, b, pose_b, rule)
    if not _meet_at_the_root(a, b, changes, work):
        return 0
    stack = reserve_integers(156)  # STACK
    store(stack, 0, (a.root << 32) | b.root)
    return _descend(a, pose_a, b, pose_b, rule, changes, stack, 1, out, limit, UNLIMITED, UNLIMITED, work)[1]


NOT_BEGUN = -1
"""The height of a stack of a search that has not begun."""


@kernel
def find_some_pairs(
    a: PacketTree,
    pose_a: Floats,
    b: PacketTree,
    pose_b: Floats,
    rule: Any,
    stack: Integers,
    height: int,
    out: Pairs,
    limit: int,
    steps: int,
    work: Integers,
) -> tuple[int, int]:
    """The same for so many steps, or until another leaf might not fit: the height of the stack (STACK,), 0 at the end, and the number found."""
    changes = _relate(a, pose_a, b, pose_b, rule)
    if height == NOT_BEGUN:
        if not _meet_at_the_root(a, b, changes, work):
            return 0, 0
        stack[0] = (a.root << 32) | b.root
        height = 1
    most = len(out) - WIDTH * WIDTH + 1
    return _descend(a, pose_a, b, pose_b, rule, changes, stack, height, out, limit, most, steps, work)
