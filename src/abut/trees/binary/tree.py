"""The tree: a binary hierarchy of volumes of one kind, in a few flat arrays.

Layout. `nodes[i]` is (child, start, end). The primitives below node i are order[start:end]. An inner node's children are `child`
and `child + 1`, and share its range between them in that order; a leaf has child 0, which is the root and nobody's child.
Nodes stand level by level from the root, so that children come after parents, and the descendants of neighbouring nodes
of one level are neighbours again in every level below. `volumes` row i bounds node i.

`blocks` cuts each level in BLOCKS runs for parallel work: block p of level d is nodes blocks[d, p] to blocks[d, p + 1], and
its children are in block p of level d + 1. Levels with too few nodes to share are all in block 0, and stand first.
"""

from typing import NamedTuple

import numpy as np

from abut.core import showing
from abut.core.arrays import Floats, Integers, frozen
from abut.core.errors import InvalidInput
from abut.core.jit import kernel
from abut.geometry.rows import vector_at
from abut.trees.volumes import Primitives, Volumes, encloses, kind_of

BLOCKS = 64
NODES_A_BLOCK = 4  # a level with fewer nodes a block is not shared out
CHILD, START, END = 0, 1, 2


class Tree(NamedTuple):
    """A hierarchy of volumes over primitives; see the layout above.

    volumes: one row per node. nodes (n,3) int64. order (m,) int64: a permutation of the primitives. blocks (levels, BLOCKS + 1).
    """

    volumes: Volumes
    nodes: Integers
    order: Integers
    blocks: Integers

    def __repr__(self) -> str:
        return showing.describe(self, self.kind, showing.count(len(self.nodes), "node"), f"depth {self.depth}")

    @property
    def kind(self) -> str:
        """The name of its volumes."""
        return kind_of(self.volumes)

    @property
    def depth(self) -> int:
        """The number of steps from the root to the deepest leaf."""
        return len(self.blocks) - 1

    @property
    def leaf_count(self) -> int:
        """The number of leaves."""
        return (len(self.nodes) + 1) // 2


def read_only(vertices: Floats, rows: Integers) -> tuple[Floats, Integers]:
    """Views as kernels want them: one dtype, one layout, read-only. Arrays that have it already are not copied."""
    points = frozen(np.ascontiguousarray(vertices, np.float64).view())
    rows = frozen(np.ascontiguousarray(rows, np.int64).view())
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidInput("vertices", f"has shape {points.shape}, expected (n, 3)")
    if rows.ndim != 2 or not rows.size:
        raise InvalidInput("rows", f"has shape {rows.shape}, expected (m, k) with at least one row")
    return points, rows


@kernel
def _share_level(nodes: Integers, last: int, above: Integers, level: Integers) -> None:
    """Boundaries of a level's blocks from those of the level above: where the first inner node beyond each has its children."""
    for block in range(len(above)):
        node = above[block]
        while node < above[-1] and nodes[node, CHILD] == 0:
            node += 1
        level[block] = nodes[node, CHILD] if node < above[-1] else last


def share(nodes: Integers, levels: list[int]) -> Integers:
    """The `blocks` of a tree whose level d is nodes levels[d] to levels[d + 1]."""
    blocks = np.empty((len(levels) - 1, BLOCKS + 1), np.int64)
    is_shared = False
    for depth in range(len(levels) - 1):
        first, last = levels[depth], levels[depth + 1]
        if is_shared:
            _share_level(nodes, last, blocks[depth - 1], blocks[depth])
        elif last - first >= NODES_A_BLOCK * BLOCKS:
            is_shared = True
            blocks[depth] = first + (last - first) * np.arange(BLOCKS + 1) // BLOCKS
        else:
            blocks[depth] = last
            blocks[depth, 0] = first
    return blocks


@kernel
def _check_enclosed(volumes: Volumes, nodes: Integers, primitives: Primitives) -> tuple[int, int]:
    """The first node with a vertex outside, and that vertex's primitive; (−1, −1) when there is none."""
    vertices, rows, order = primitives
    for node in range(len(nodes)):
        for k in range(nodes[node, START], nodes[node, END]):
            for corner in range(rows.shape[1]):
                vertex = rows[order[k], corner]
                if not encloses(volumes, node, vector_at(vertices, vertex)):
                    return node, order[k]
    return -1, -1


def _refuse(bad: np.ndarray, reason: str) -> None:
    if bad.any():
        raise InvalidInput("tree", reason, int(np.argmax(bad)))


def validate(tree: Tree, vertices: Floats, rows: Integers) -> None:
    """Raise InvalidInput, which names the node, unless the tree is a hierarchy of these very primitives.

    Checked: the arrays' sizes; `order` is a permutation; children come after their parents, each node but the root is the child
    of one, and siblings share their parent's range without empty part; levels and blocks; and each vertex of each primitive is
    in the volume of every node above it (exactly for AABBs, else up to 8u of its distance from the center or of its
    coordinates: the rounding of the check).

    Args:
        tree: the tree in question.
        vertices: (n,3) positions.
        rows: (m,k) the primitives.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(1)
        >>> tree = abut.bvh.build("kdop26", ball.vertices, ball.faces)
        >>> abut.bvh.validate(tree, ball.vertices, ball.faces)
        >>> abut.bvh.validate(tree, 2.0 * ball.vertices, ball.faces)
        Traceback (most recent call last):
        abut.core.errors.InvalidInput: tree[0]: primitive ... is not inside its volume
    """
    vertices, rows = read_only(vertices, rows)
    nodes, order, blocks = tree.nodes, tree.order, tree.blocks
    if any(len(array) != len(nodes) for array in tree.volumes):
        raise InvalidInput("tree", f"has {len(nodes)} nodes but {len(tree.volumes[0])} volumes")
    if len(order) != len(rows) or not np.array_equal(np.sort(order), np.arange(len(rows))):
        raise InvalidInput("tree", f"order is not a permutation of {len(rows)} primitives")
    child, start, end = nodes.T
    inner = np.flatnonzero(child)
    _refuse(start >= end, "holds no primitive")
    if (start[0], end[0]) != (0, len(rows)):
        raise InvalidInput("tree", "does not hold every primitive", 0)
    _refuse(
        (child != 0) & ((child <= np.arange(len(nodes))) | (child + 1 >= len(nodes))), "has children before it or none"
    )
    if not np.array_equal(child[inner], 1 + 2 * np.arange(len(inner))) or len(nodes) != 1 + 2 * len(inner):
        raise InvalidInput("tree", "a node is not the child of exactly one other")
    left = child[inner]
    shared = (start[left] == start[inner]) & (end[left] == start[left + 1]) & (end[left + 1] == end[inner])
    _refuse(np.isin(np.arange(len(nodes)), inner[~shared]), "does not share its range between its children")
    _validate_blocks(nodes, blocks)
    node, primitive = _check_enclosed(tree.volumes, nodes, Primitives(vertices, rows, order))
    if node >= 0:
        raise InvalidInput("tree", f"primitive {primitive} is not inside its volume", int(node))


def _validate_blocks(nodes: Integers, blocks: Integers) -> None:
    if blocks[0, 0] != 0 or blocks[0, -1] != 1 or blocks[-1, -1] != len(nodes):
        raise InvalidInput("tree", "blocks do not start at the root and end at the last node")
    if (np.diff(blocks, axis=1) < 0).any() or not np.array_equal(blocks[1:, 0], blocks[:-1, -1]):
        raise InvalidInput("tree", "blocks are not consecutive")
    level_of = np.repeat(np.arange(len(blocks)), blocks[:, -1] - blocks[:, 0])
    block_of = np.concatenate([np.repeat(np.arange(BLOCKS), np.diff(row)) for row in blocks])
    is_shared = blocks[:, 1] < blocks[:, -1]
    child = nodes[:, CHILD]
    for side in (0, 1):
        inner = np.flatnonzero(child)
        below = child[inner] + side
        wrong = (level_of[below] != level_of[inner] + 1) | (
            is_shared[level_of[inner]] & (block_of[below] != block_of[inner])
        )
        _refuse(np.isin(np.arange(len(nodes)), inner[wrong]), "has children in another block or level")
