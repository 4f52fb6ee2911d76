"""Two trees at once, from their roots: the larger of two overlapping volumes is replaced by its children (Meseure 1998, §4.1).

One loop for every pair of volumes and every question at the leaves. The pairs of nodes that wait have been tested already. A
volume of b is carried into a's frame once, and kept while nodes of a are tested against it: on the side of a, AABBs need no
change of frame from node to node (§6.4), so an AABB tree that meets an OBB tree is put there.

**Stack.** A step takes one pair off and puts at most two on, so it leaves one more to wait, and a pair of nodes is at most
depth_a + depth_b steps below the roots. Where a tree meets itself, a step from (i, i) leaves two more, but goes down on both
sides at once. So never more than 1 + depth_a + depth_b pairs wait. That is allocated, with room for one step; should a broken
tree need more, the traversal stops and says so.

**Output.** When the array of pairs is full, the loop returns with its stack as it is, and is called again with a larger one.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from abut.core import showing
from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.trees.binary.leaves import Anything, Facets, accept
from abut.trees.binary.refit import check_fits
from abut.trees.binary.tree import CHILD, END, START, Tree, read_only
from abut.trees.volumes import Aabb, Frame, Obb, Same, Volumes, carry, check_pair, inverse, meets, size

FIRST_CAPACITY = 1024


class Progress(IntEnum):
    """How a call of the loop ended. FULL: call it again with a longer array of pairs. DEEP: the tree is not valid."""

    DONE = 0
    FULL = 1
    DEEP = 2


DONE, FULL, DEEP = int(Progress.DONE), int(Progress.FULL), int(Progress.DEEP)
WAITING, PAIRS, BOX_TESTS, LEAF_TESTS = 0, 1, 2, 3  # what `state` holds


class Pairs(NamedTuple):
    """pairs (p,2) int64: primitive of a, primitive of b, sorted; in one tree i < j. Then the work that was done.

    box_tests: pairs of volumes. leaf_tests: pairs of primitives in overlapping leaves.
    """

    pairs: Integers
    box_tests: int
    leaf_tests: int

    def __repr__(self) -> str:
        return showing.describe(
            self,
            showing.count(len(self.pairs), "pair"),
            f"{self.box_tests:,} box tests",
            f"{self.leaf_tests:,} leaf tests",
        )


@kernel
def _emit(
    order_a: Integers,
    order_b: Integers,
    rows: tuple[int, int, int, int],
    is_self: bool,
    question: Any,
    found: Integers,
    state: Integers,
    first: bool,
) -> None:
    """Ask for each pair of two leaves' primitives. `rows` are both ranges; within one leaf each pair comes up once."""
    start_a, end_a, start_b, end_b = rows
    for s in range(start_a, end_a):
        for t in range(max(start_b, s + 1) if is_self and start_a == start_b else start_b, end_b):
            p, q = order_a[s], order_b[t]
            if is_self and p > q:
                p, q = q, p
            state[LEAF_TESTS] += 1
            if accept(question, p, q):
                found[state[PAIRS], 0], found[state[PAIRS], 1] = p, q
                state[PAIRS] += 1
                if first:
                    return


@kernel
def _push(stack: Integers, state: Integers, i: int, j: int) -> None:
    stack[state[WAITING], 0], stack[state[WAITING], 1] = i, j
    state[WAITING] += 1


@kernel
def _traverse(
    volumes_a: Volumes,
    nodes_a: Integers,
    order_a: Integers,
    volumes_b: Volumes,
    nodes_b: Integers,
    order_b: Integers,
    frame: Frame | Same,
    question: Any,
    is_self: bool,
    first: bool,
    stack: Integers,
    found: Integers,
    state: Integers,
) -> int:
    carried_node = 0
    carried = carry(volumes_b, 0, frame)
    while state[WAITING] > 0:
        if state[WAITING] + 2 > len(stack):
            return DEEP
        i, j = stack[state[WAITING] - 1, 0], stack[state[WAITING] - 1, 1]
        child_a, child_b = nodes_a[i, CHILD], nodes_b[j, CHILD]
        if child_a == 0 and child_b == 0:
            rows = (nodes_a[i, START], nodes_a[i, END], nodes_b[j, START], nodes_b[j, END])
            if state[PAIRS] + (rows[1] - rows[0]) * (rows[3] - rows[2]) > len(found):
                return FULL
            state[WAITING] -= 1
            _emit(order_a, order_b, rows, is_self, question, found, state, first)
            if first and state[PAIRS] > 0:
                return DONE
            continue
        state[WAITING] -= 1
        if is_self and i == j:
            _push(stack, state, child_a, child_a)
            _push(stack, state, child_a + 1, child_a + 1)
            carried, carried_node = carry(volumes_b, child_a + 1, frame), child_a + 1
            state[BOX_TESTS] += 1
            if meets(volumes_a, child_a, carried):
                _push(stack, state, child_a, child_a + 1)
        elif child_b == 0 or (child_a != 0 and size(volumes_a, i) >= size(volumes_b, j)):
            if carried_node != j:
                carried, carried_node = carry(volumes_b, j, frame), j
            state[BOX_TESTS] += 2
            for child in range(child_a, child_a + 2):
                if meets(volumes_a, child, carried):
                    _push(stack, state, child, j)
        else:
            state[BOX_TESTS] += 2
            for child in range(child_b, child_b + 2):
                carried, carried_node = carry(volumes_b, child, frame), child
                if meets(volumes_a, i, carried):
                    _push(stack, state, i, child)
    return DONE


@kernel
def _start(volumes_a: Volumes, volumes_b: Volumes, frame: Frame | Same, stack: Integers, state: Integers) -> None:
    """The pair of roots waits, if they overlap."""
    state[BOX_TESTS] = 1
    if meets(volumes_a, 0, carry(volumes_b, 0, frame)):
        _push(stack, state, 0, 0)


def _sorted(pairs: Integers, count_b: int) -> Integers:
    """Pairs by first, then second primitive; one key a pair, of less than 2⁶² for meshes that fit into memory."""
    keys = np.sort(pairs[:, 0] * count_b + pairs[:, 1])
    return np.stack(np.divmod(keys, count_b), axis=1)


def _run(a: Tree, b: Tree, frame: Frame | Same, question: Any, is_self: bool, first: bool) -> Pairs:
    state = np.zeros(4, np.int64)
    stack = np.empty((a.depth + b.depth + 3, 2), np.int64)
    found = np.empty((FIRST_CAPACITY, 2), np.int64)
    sides = (a.volumes, a.nodes, a.order, b.volumes, b.nodes, b.order)
    _start(a.volumes, b.volumes, frame, stack, state)
    while (progress := _traverse(*sides, frame, question, is_self, first, stack, found, state)) == FULL:
        # The pair that did not fit is the last that waits.
        i, j = stack[state[WAITING] - 1]
        wanted = (a.nodes[i, END] - a.nodes[i, START]) * (b.nodes[j, END] - b.nodes[j, START])
        longer = np.empty((2 * len(found) + int(wanted), 2), np.int64)
        longer[: len(found)] = found
        found = longer
    if progress == DEEP:
        raise InvalidInput("tree", "is deeper than its levels tell; see abut.bvh.validate")
    return Pairs(_sorted(found[: state[PAIRS]], len(b.order)), int(state[BOX_TESTS]), int(state[LEAF_TESTS]))


def _meet(a: Tree, b: Tree, frame: Frame | Same | None, question: Any, mirrored: Any, first: bool) -> Pairs:
    """`mirrored` is the question with a and b exchanged."""
    frame = check_pair(a.volumes, b.volumes, frame)
    if isinstance(a.volumes, Obb) and isinstance(b.volumes, Aabb) and isinstance(frame, Frame):
        pairs, box_tests, leaf_tests = _run(b, a, inverse(frame), mirrored, False, first)
        return Pairs(_sorted(pairs[:, ::-1], len(b.order)), box_tests, leaf_tests)
    return _run(a, b, frame, question, False, first)


def find_pairs(a: Tree, b: Tree, frame: Frame | Same | None = None, *, first: bool = False) -> Pairs:
    """Pairs of primitives whose leaves overlap: candidates.

    Where a leaf holds several primitives, all of them come with it. A pair is found if
    the volumes above its leaves overlap too: AABBs and k-DOPs hold their children, so that is no condition, but an oriented
    box holds only the primitives below it, not their boxes. No pair of primitives that meet is lost either way.

    Args:
        a, b: two trees.
        frame: where b lies as seen from a (`abut.volumes.place`, `between`); its slack is a margin within which volumes count as
            overlapping. None is where it is.
        first: whether to stop at the first pair.

    Returns:
        The pairs, sorted, and the work.

    Examples:
        >>> import abut
        >>> low, high = abut.scenes.box(), abut.scenes.box(center=(0.0, 0.0, 0.9))
        >>> a, b = (abut.bvh.build("aabb", each.vertices, each.faces) for each in (low, high))
        >>> abut.bvh.find_pairs(a, b)
        Pairs(80 pairs, 231 box tests, 80 leaf tests)
    """
    return _meet(a, b, frame, Anything(0), Anything(0), first)


def find_collisions(
    a: Tree,
    b: Tree,
    vertices_a: Floats,
    faces_a: Integers,
    vertices_b: Floats,
    faces_b: Integers,
    frame: Frame | Same | None = None,
    *,
    first: bool = False,
) -> Pairs:
    """Pairs of triangles that have a common point: exactly those, touching included.

    All vertices are given in one frame, a's or the world's, as the poses carried them in floating point; `frame` sees tree b
    from tree a, where each tree may be in its own frame.

    Args:
        a, b: two trees over triangles.
        vertices_a, faces_a, vertices_b, faces_b: the triangles: (n,3) positions and (m,3) faces of each.
        frame: where tree b lies as seen from tree a; None is where it is.
        first: whether to stop at the first pair.

    Returns:
        The pairs, sorted, and the work.

    Examples:
        >>> import abut
        >>> low, high = abut.scenes.box(), abut.scenes.box(center=(0.0, 0.0, 0.9))
        >>> a, b = (abut.bvh.build("aabb", each.vertices, each.faces) for each in (low, high))
        >>> abut.bvh.find_collisions(a, b, low.vertices, low.faces, high.vertices, high.faces)
        Pairs(52 pairs, 231 box tests, 80 leaf tests)
    """
    vertices_a, faces_a = read_only(vertices_a, faces_a)
    vertices_b, faces_b = read_only(vertices_b, faces_b)
    check_fits(a, faces_a)
    check_fits(b, faces_b)
    question = Facets(vertices_a, faces_a, vertices_b, faces_b)
    return _meet(a, b, frame, question, Facets(vertices_b, faces_b, vertices_a, faces_a), first)


def find_self_pairs(tree: Tree, margin: float = 0.0, *, first: bool = False) -> Pairs:
    """Pairs i < j of primitives of one tree whose leaves overlap; neighbours that share a vertex are among them.

    Args:
        tree: the tree.
        margin: volumes nearer than this count as overlapping.
        first: whether to stop at the first pair.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box()
        >>> abut.bvh.find_self_pairs(abut.bvh.build("obb", box.vertices, box.faces))
        Pairs(48 pairs, 110 box tests, 48 leaf tests)
    """
    frame = check_pair(tree.volumes, tree.volumes, Same(float(margin)))
    return _run(tree, tree, frame, Anything(0), True, first)


def find_self_collisions(tree: Tree, vertices: Floats, faces: Integers, *, first: bool = False) -> Pairs:
    """Pairs i < j of triangles of one tree that have a common point; neighbours that share a vertex are among them.

    Args:
        tree: the tree.
        vertices, faces: (n,3) and (m,3) what it was built or refitted from.
        first: whether to stop at the first pair.

    Examples:
        >>> import abut
        >>> box = abut.scenes.box()
        >>> tree = abut.bvh.build("aabb", box.vertices, box.faces)
        >>> abut.bvh.find_self_collisions(tree, box.vertices, box.faces, first=True).pairs
        array([[3, 5]])
    """
    vertices, faces = read_only(vertices, faces)
    check_fits(tree, faces)
    frame = check_pair(tree.volumes, tree.volumes)
    return _run(tree, tree, frame, Facets(vertices, faces, vertices, faces), True, first)
