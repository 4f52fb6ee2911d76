"""Building trees, level by level from the root.

Rules, each for any volume:
- `median` (Meseure 1998, §4.3): a plane orthogonal to the longest side, with half of the primitives on each side.
- `middle` (§6.2): a plane through the middle of the longest side; primitives that straddle it go to the lighter child.
- `mean` (Peyré 2001, §4.3): likewise, through the mean of the vertices.
- `sah`: the cheapest of 16 bins along each axis by surface area (`surface`).
- `morton`: along a space-filling curve (`order`), for meshes that change.

A cut that leaves a side empty falls back to halves, and so does every cut of `middle`, `mean` and `sah` below DEEPEST_CUT: the depth is
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
from abut.trees.binary.hull_axes import covariance_of_hull
from abut.trees.binary.refit import refit_nodes
from abut.trees.binary.selection import cut_median, cut_plane, mean_along
from abut.trees.binary.tree import CHILD, END, START, Tree, read_only, share
from abut.trees.volumes import Obb, Primitives, VolumeKind, Volumes, allocate, fit, longest
from abut.trees.volumes.obb import Symmetric, axes_of, fit_along, moments

Rule: TypeAlias = Literal["median", "middle", "mean", "sah", "morton"]
RULES = ("median", "middle", "mean", "sah", "morton")
"""How a tree may be built: see the module."""
MEDIAN, MIDDLE, MEAN = 0, 1, 2
Axes: TypeAlias = Literal["vertices", "hull"]
AXES = ("vertices", "hull")
"""What tells the axes of oriented boxes: the vertices below a node, or the surface of their hull."""
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
    rule: int,
    leaf_size: int,
    is_fitted: bool,
) -> None:
    for node in prange(first, last):
        start, end = nodes[node, START], nodes[node, END]
        if not is_fitted:
            fit(volumes, node, primitives, start, end)
        cut = LEAF
        if end - start > leaf_size:
            direction, plane = longest(volumes, node)
            if rule == MEAN:
                plane = mean_along(direction, primitives, start, end)
            if rule != MEDIAN:
                cut = cut_plane(direction, plane, primitives, start, end)
            if rule == MEDIAN or cut in (start, end):
                cut = cut_median(direction, primitives, keys, start, end)
        cuts[node - first] = cut


@kernel
def _fit_by_covariance(
    volumes: Obb, node: int, covariance: Symmetric, primitives: Primitives, start: int, end: int
) -> None:
    fit_along(volumes, node, axes_of(covariance), primitives, start, end)


def _fit_by_hull(volumes: Obb, nodes: Integers, primitives: Primitives, first: int, last: int) -> None:
    """Boxes along the axes of hulls; along those of the vertices where a hull tells nothing."""
    vertices, rows, order = primitives
    for node in range(first, last):
        _, start, end = nodes[node].tolist()
        covariance = covariance_of_hull(vertices[np.unique(rows[order[start:end]])])
        if covariance is None:
            covariance = moments(primitives, start, end)[1]
        _fit_by_covariance(volumes, node, covariance, primitives, start, end)


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


def build(
    kind: VolumeKind,
    vertices: Floats,
    rows: Integers,
    *,
    rule: Rule | None = None,
    leaf_size: int = 1,
    axes: Axes = "vertices",
) -> Tree:
    """A tree of volumes over triangles, edges or any primitives. The arrays are as Mesh has them: finite, and every index in range.

    Args:
        kind: one of `abut.volumes.KINDS`.
        vertices: (n,3) positions.
        rows: (m,3) faces, or any (m,k) rows of vertex numbers.
        rule: one of RULES, the paper's own for that volume by default: `median` for OBBs, `middle` for all others.
        leaf_size: how many primitives a leaf may have.
        axes: of oriented boxes: those of the "vertices", or of their "hull" (Peyré 2001, §4.4), which crowded vertices do not mislead. It asks
            Qhull about every node, so it takes about forty times as long.

    Examples:
        >>> import abut
        >>> ball = abut.scenes.icosphere(2)
        >>> abut.bvh.build("aabb", ball.vertices, ball.faces, rule="morton", leaf_size=4)
        Tree(aabb, 215 nodes, depth 8)
        >>> abut.bvh.build("obb", ball.vertices, ball.faces, rule="mean", axes="hull").leaf_count
        320
    """
    rule = rule or ("median" if kind == "obb" else "middle")
    if rule not in RULES:
        raise Unsupported(f"build rule {rule!r}; there are {', '.join(RULES)}")
    leaf_size = arrays.count(leaf_size, "leaf_size", least=1)
    by_hull = arrays.choice(axes, "axes", AXES) == "hull"
    if by_hull and kind != "obb":
        raise Unsupported(f"axes 'hull' of {kind}: only oriented boxes have axes of their own")
    vertices, rows = read_only(vertices, rows)
    primitives = Primitives(vertices, rows, np.arange(len(rows)))
    if rule in ("median", "middle", "mean"):
        volumes = allocate(kind, 2 * len(rows) - 1)
        keys = np.empty(len(rows))

        def cut_level(nodes: Integers, first: int, last: int, depth: int, cuts: Integers) -> None:
            cut_rule = RULES.index(rule) if depth < DEEPEST_CUT else MEDIAN
            if by_hull and isinstance(volumes, Obb):
                _fit_by_hull(volumes, nodes, primitives, first, last)
            _cut_level(volumes, nodes, first, last, cuts, primitives, keys, cut_rule, leaf_size, by_hull)

        nodes, levels = _grow(len(rows), cut_level)
        return Tree(_shorten(volumes, len(nodes)), nodes, primitives.order, share(nodes, levels))
    if rule == "sah":
        nodes, levels = _grow(len(rows), sah.cut_levels(primitives, leaf_size, DEEPEST_CUT))
    else:
        nodes, levels = _grow(len(rows), space_order.cut_levels(primitives, leaf_size))
    tree = Tree(allocate(kind, len(nodes)), nodes, primitives.order, share(nodes, levels))
    if isinstance(tree.volumes, Obb) and by_hull:
        _fit_by_hull(tree.volumes, nodes, primitives, 0, len(nodes))
    elif isinstance(tree.volumes, Obb):
        _fit_nodes(tree.volumes, nodes, primitives)
    else:
        refit_nodes(tree.volumes, nodes, tree.blocks, primitives)
    return tree
