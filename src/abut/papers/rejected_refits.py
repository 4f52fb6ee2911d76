"""The two refits of OBB trees that Meseure tried and rejected (1998, §5), kept so that his comparison can be repeated.

`refit_box_of_boxes`: each parent becomes a box of its children's boxes. Quick, but boxes grow towards the root (figure 2).
`refit_statistics`: mean and covariance of a parent from those of its children, then new eigenvectors, and the extreme
vertices along them as in §4.2. Tight boxes, but an eigenproblem a node and all vertices below it measured again.
"""

from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.errors import Unsupported
from abut.core.jit import kernel, parallel, prange
from abut.trees.binary.refit import primitives_of, refit_nodes
from abut.trees.binary.tree import CHILD, END, START, Tree
from abut.trees.volumes import Primitives
from abut.trees.volumes.obb import Obb, axes_of, fit_along, moments


class Moments(NamedTuple):
    """Of each node: weight (n,), its number of vertices, mean (n,3), covariance (n,6) as xx, yy, zz, xy, xz, yz."""

    weight: Floats
    mean: Floats
    covariance: Floats


@kernel
def _merge_moments(m: Moments, k: int, i: int, j: int) -> None:
    """Moments of two sets together: C = Σ wᵢ·(Cᵢ + (μᵢ − μ)(μᵢ − μ)ᵀ) with wᵢ its share of the vertices."""
    weight = m.weight[i] + m.weight[j]
    m.weight[k] = weight
    for axis in range(3):
        m.mean[k, axis] = (m.weight[i] * m.mean[i, axis] + m.weight[j] * m.mean[j, axis]) / weight
    m.covariance[k] = 0.0
    for part in (i, j):
        share = m.weight[part] / weight
        x, y, z = m.mean[part, 0] - m.mean[k, 0], m.mean[part, 1] - m.mean[k, 1], m.mean[part, 2] - m.mean[k, 2]
        products = (x * x, y * y, z * z, x * y, x * z, y * z)
        for entry in range(6):
            m.covariance[k, entry] += share * (m.covariance[part, entry] + products[entry])


@kernel
def _gather_moments(m: Moments, nodes: Integers, primitives: Primitives) -> None:
    for back in range(len(nodes)):
        node = len(nodes) - 1 - back
        child = nodes[node, CHILD]
        if child == 0:
            start, end = nodes[node, START], nodes[node, END]
            mean, covariance = moments(primitives, start, end)
            m.weight[node] = float(primitives.rows.shape[1] * (end - start))
            for axis in range(3):
                m.mean[node, axis] = mean[axis]
            for entry in range(6):
                m.covariance[node, entry] = covariance[entry]
        else:
            _merge_moments(m, node, child, child + 1)


@parallel
def _fit_moments(v: Obb, m: Moments, nodes: Integers, primitives: Primitives) -> None:
    for node in prange(len(nodes)):
        c = m.covariance
        axes = axes_of((c[node, 0], c[node, 1], c[node, 2], c[node, 3], c[node, 4], c[node, 5]))
        fit_along(v, node, axes, primitives, nodes[node, START], nodes[node, END])


def _boxes_of(tree: Tree) -> Obb:
    if not isinstance(tree.volumes, Obb):
        raise Unsupported(f"this refit of {tree.kind}: it is for OBBs, use abut.trees.binary.refit")
    return tree.volumes


def refit_box_of_boxes(tree: Tree, vertices: Floats, rows: Integers) -> None:
    """New boxes for moved vertices, in place: leaves from their primitives, parents about their children's boxes."""
    boxes = _boxes_of(tree)
    refit_nodes(boxes, tree.nodes, tree.blocks, primitives_of(tree, vertices, rows))


def refit_statistics(tree: Tree, vertices: Floats, rows: Integers) -> None:
    """New boxes for moved vertices, in place: statistics merged from the leaves up, then eigenvectors and extremes."""
    boxes = _boxes_of(tree)
    primitives = primitives_of(tree, vertices, rows)
    count = len(tree.nodes)
    found = Moments(np.empty(count), np.empty((count, 3)), np.empty((count, 6)))
    _gather_moments(found, tree.nodes, primitives)
    _fit_moments(boxes, found, tree.nodes, primitives)
