"""Volumes, trees and voxels show counts, never arrays."""

import pytest

from abut import bvh, grid, scenes, volumes

BOX = scenes.box()


@pytest.mark.parametrize(
    "kind, text", [("aabb", "Aabb(12 boxes)"), ("obb", "Obb(12 boxes)"), ("kdop26", "Kdop(12 polytopes of 26 planes)")]
)
def test_volumes(kind, text):
    assert repr(volumes.fit_each(kind, BOX.vertices, BOX.faces)) == text


def test_trees_and_pairs():
    tree = bvh.build("aabb", BOX.vertices, BOX.faces)
    assert repr(tree) == f"Tree(aabb, 23 nodes, depth {tree.depth})"
    pairs = bvh.find_pairs(tree, tree)
    assert repr(pairs) == f"Pairs({len(pairs.pairs)} pairs, {pairs.box_tests} box tests, {pairs.leaf_tests} leaf tests)"


def test_voxels():
    voxels = grid.Voxels()
    assert repr(voxels) == "Voxels(0 objects, cell size not chosen)"
    voxels.add(BOX)
    voxels.add(BOX)
    assert repr(voxels.collide()).startswith("VoxelHits(")
    assert repr(voxels) == "Voxels(2 objects, cell size 1)"
