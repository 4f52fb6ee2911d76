"""Building trees, level by level from the root.

Rules, each for any volume:
- `median` (Meseure 1998, §4.3): a plane orthogonal to the longest side, with half of the primitives on each side.
- `middle` (§6.2): a plane through the middle of the longest side; primitives that straddle it go to the lighter child.
- `sah`: the cheapest of 16 bins along each axis by surface area (`surface`).
- `morton`: along a space-filling curve (`order`), for meshes that change.

A cut that leaves a side empty falls back to halves, and so does every cut of `middle` and `sah` below DEEPEST_CUT: the depth is
at most DEEPEST_CUT + log₂ m + 1 (`morton`: 63 + log₂ m + 1), whatever the input. Each level is parted in parallel, node by node.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from abut.core import arrays
from abut.core.arrays import Floats, Integers
from abut.core.errors import Unsupported
from abut.core.jit import kernel, parallel, prange
from abut.trees.binary import morton as space_order
from abut.trees.binary import sah
from abut.trees.binary.refit import refit_nodes
from abut.trees.binary.selection import cut_median, cut_plane
from abut.trees.binary.tree import CHILD, END, START, Tree, read_only, share
from abut.trees.volumes import Obb, Primitives, VolumeKind, Volumes, allocate, fit, longest

Rule: TypeAlias = Literal["median", "middle", "sah", "morton"]
RULES = ("median", "middle", "sah", "morton")
"""How a tree may be built: see the module."""
DEEPEST_CUT = 64
LEAF = -1

CutLevel = Callable[[Integers, int, int, int, Integers], None]
"""(nodes, first, last, depth, cuts): where to cut each node of a level into cuts[node − first], or LEAF."""


@parallel
def _cut_level(
    volumes: Volumes,
    nodes: Integers,
    first: int,
    last: int,
    cuts: Integers,
    primitives: Primitives,
    keys: Floats,
    by_middle: bool,
    leaf_size: int,
) -> None:
    for node in prange(first, last):
        start, end = nodes[node, START], nodes[node, END]
        fit(volumes, node, primitives, start, end)
        cut = LEAF
        if end - start > leaf_size:
            direction, plane = longest(volumes, node)
            if by_middle:
                cut = cut_plane(direction, plane, primitives, start, end)
            if not by_middle or cut in (start, end):
                cut = cut_median(direction, primitives, keys, start, end)
        cuts[node - first] = cut


@parallel
def _fit_nodes(volumes: Volumes, nodes: Integers, primitives: Primitives) -> None:
    for node in prange(len(nodes)):
        fit(volumes, node, primitives, nodes[node, START], nodes[node, END])


@kernel
def _append_children(nodes: Integers, first: int, last: int, cuts: Integers) -> int:
    """Nodes for the two parts of each cut, in order; returns the number of nodes then."""
    count = last
    for node in range(first, last):
        cut = cuts[node - first]
        if cut != LEAF:
            nodes[node, CHILD] = count
            nodes[count, CHILD], nodes[count, START], nodes[count, END] = 0, nodes[node, START], cut
            nodes[count + 1, CHILD], nodes[count + 1, START], nodes[count + 1, END] = 0, cut, nodes[node, END]
            count += 2
    return count


def _grow(primitive_count: int, cut_level: CutLevel) -> tuple[Integers, list[int]]:
    """Nodes level by level, and where each level starts."""
    nodes = np.zeros((2 * primitive_count - 1, 3), np.int64)
    nodes[0, END] = primitive_count
    cuts = np.empty(primitive_count, np.int64)
    levels, first, last = [0], 0, 1
    while first < last:
        cut_level(nodes, first, last, len(levels) - 1, cuts)
        levels.append(last)
        first, last = last, _append_children(nodes, first, last, cuts)
    return (nodes if last == len(nodes) else nodes[:last].copy()), levels


def _shorten(volumes: Volumes, count: int) -> Volumes:
    if len(volumes[0]) == count:
        return volumes
    return type(volumes)(*(array[:count].copy() for array in volumes))


def build(kind: VolumeKind, vertices: Floats, rows: Integers, *, rule: Rule | None = None, leaf_size: int = 1) -> Tree:
    """A tree of volumes over triangles, edges or any primitives. The arrays are as Mesh has them: finite, and every index in range.

    Args:
        kind: one of `abut.volumes.KINDS`.
        vertices: (n,3) positions.
        rows: (m,3) faces, or any (m,k) rows of vertex numbers.
        rule: one of RULES, the paper's own for that volume by default: `median` for OBBs, `middle` for all others.
        leaf_size: how many primitives a leaf may have.

    Example:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> abut.bvh.build("aabb", ball.vertices, ball.faces, rule="morton", leaf_size=4)
        Tree(aabb, 215 nodes, depth 8)
    """
    rule = rule or ("median" if kind == "obb" else "middle")
    if rule not in RULES:
        raise Unsupported(f"build rule {rule!r}; there are {', '.join(RULES)}")
    leaf_size = arrays.count(leaf_size, "leaf_size", least=1)
    vertices, rows = read_only(vertices, rows)
    primitives = Primitives(vertices, rows, np.arange(len(rows)))
    if rule in ("median", "middle"):
        volumes = allocate(kind, 2 * len(rows) - 1)
        keys = np.empty(len(rows))

        def cut_level(nodes: Integers, first: int, last: int, depth: int, cuts: Integers) -> None:
            by_middle = rule == "middle" and depth < DEEPEST_CUT
            _cut_level(volumes, nodes, first, last, cuts, primitives, keys, by_middle, leaf_size)

        nodes, levels = _grow(len(rows), cut_level)
        return Tree(_shorten(volumes, len(nodes)), nodes, primitives.order, share(nodes, levels))
    if rule == "sah":
        nodes, levels = _grow(len(rows), sah.cut_levels(primitives, leaf_size, DEEPEST_CUT))
    else:
        nodes, levels = _grow(len(rows), space_order.cut_levels(primitives, leaf_size))
    tree = Tree(allocate(kind, len(nodes)), nodes, primitives.order, share(nodes, levels))
    if isinstance(tree.volumes, Obb):
        _fit_nodes(tree.volumes, nodes, primitives)
    else:
        refit_nodes(tree.volumes, nodes, tree.blocks, primitives)
    return tree
