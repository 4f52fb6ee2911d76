"""Refitting: new volumes for moved vertices, from the leaves to the root; the hierarchy stays (Meseure 1998, §6.3).

A leaf takes the volume of its primitives, a parent that of its two children: six comparisons for an AABB. Blocks of
neighbouring nodes, with everything below them, are refitted in parallel, then the few levels above them.
"""

from abut.core.arrays import Floats, Integers
from abut.core.errors import InvalidInput, Unsupported
from abut.core.jit import kernel, parallel, prange
from abut.trees.binary.tree import CHILD, END, START, Tree, read_only
from abut.trees.volumes import Obb, Primitives, Volumes, fit, merge


@kernel
def _refit_run(volumes: Volumes, nodes: Integers, first: int, last: int, primitives: Primitives) -> None:
    for node in range(first, last):
        child = nodes[node, CHILD]
        if child == 0:
            fit(volumes, node, primitives, nodes[node, START], nodes[node, END])
        else:
            merge(volumes, node, child, child + 1)


@kernel
def first_shared_level(blocks: Integers) -> int:
    """The first level that is cut in blocks; the number of levels when none is."""
    for level in range(len(blocks)):
        if blocks[level, 1] < blocks[level, -1]:
            return level
    return len(blocks)


@parallel
def refit_nodes(volumes: Volumes, nodes: Integers, blocks: Integers, primitives: Primitives) -> None:
    """Volumes of all nodes, children before parents."""
    levels, block_count = len(blocks), blocks.shape[1] - 1
    shared = first_shared_level(blocks)
    if shared < levels:
        for block in prange(block_count):
            for up in range(levels - shared):
                level = levels - 1 - up
                first, last = blocks[level, block], blocks[level, block + 1]
                _refit_run(volumes, nodes, first, last, primitives)
    for up in range(levels - shared, levels):
        level = levels - 1 - up
        _refit_run(volumes, nodes, blocks[level, 0], blocks[level, block_count], primitives)


def check_fits(tree: Tree, rows: Integers) -> None:
    """Raise InvalidInput unless the tree is over that many primitives."""
    if len(rows) != len(tree.order):
        raise InvalidInput("rows", f"has {len(rows)} of them, the tree is over {len(tree.order)}")


def primitives_of(tree: Tree, vertices: Floats, rows: Integers) -> Primitives:
    """What a tree is over, in the tree's order."""
    vertices, rows = read_only(vertices, rows)
    check_fits(tree, rows)
    return Primitives(vertices, rows, tree.order)


def refit(tree: Tree, vertices: Floats, rows: Integers) -> None:
    """Fit the volumes of a tree to moved vertices, in place; the hierarchy stays.

    Args:
        tree: the tree that is written to.
        vertices: (n,3) new positions.
        rows: (m,k) those that the tree was built from.

    Raises:
        Unsupported: OBBs: §5 of the paper tries two refits and rejects both (`abut.papers.rejected_refits` has them).

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> tree = abut.bvh.build("aabb", ball.vertices, ball.faces)
        >>> abut.bvh.refit(tree, 2.0 * ball.vertices, ball.faces)
        >>> tree.volumes.hi[0].round(6)
        array([2., 2., 2.])
    """
    if isinstance(tree.volumes, Obb):
        raise Unsupported("refit of an OBB tree: build it again, or use AABBs or k-DOPs for what deforms")
    refit_nodes(tree.volumes, tree.nodes, tree.blocks, primitives_of(tree, vertices, rows))
