import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import scenes
from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from abut.papers import rejected_refits
from abut.trees import binary
from trees.binary.situations import KINDS, box_pairs, colliding_pairs, situation

SIZE = 20 if jit.INTERPRETED else 120
REJECTED = [rejected_refits.refit_box_of_boxes, rejected_refits.refit_statistics]


@pytest.mark.parametrize("name", ["aabb", "kdop18"])
@pytest.mark.parametrize("kind", KINDS)
def test_refitted_trees_find_what_brute_force_finds(kind, name):
    a, b = situation(kind, 0, SIZE)
    tree_a, tree_b = binary.build(name, *a), binary.build(name, *b)
    rng = np.random.default_rng(3)
    for step in (0.01, 0.3, 3.0):
        moved_a = a[0] + step * rng.normal(size=a[0].shape), a[1]
        moved_b = np.roll(b[0], 1, axis=1) * (1 + step), b[1]
        binary.refit(tree_a, *moved_a)
        binary.refit(tree_b, *moved_b)
        binary.validate(tree_a, *moved_a)
        binary.validate(tree_b, *moved_b)
        found = binary.find_collisions(tree_a, tree_b, *moved_a, *moved_b)
        np.testing.assert_array_equal(found.pairs, colliding_pairs(moved_a, moved_b))
        if name == "aabb":
            np.testing.assert_array_equal(binary.find_pairs(tree_a, tree_b).pairs, box_pairs(moved_a, moved_b))


@given(st.integers(0, 10**6), st.sampled_from(["aabb", "kdop14"]), st.integers(1, 5), st.sampled_from(binary.RULES))
def test_refit_holds_what_a_rebuild_holds(seed, name, leaf_size, rule):
    """The root of a refitted tree is that of a new one, and each node is the exact volume of what is below it."""
    rng = np.random.default_rng(seed)
    vertices, faces = situation("soup", seed % 7, int(rng.integers(2, 30)))[0]
    tree = binary.build(name, vertices, faces, rule=rule, leaf_size=leaf_size)
    moved = vertices * 10.0 ** rng.uniform(-3, 3, 3) + rng.normal(size=vertices.shape)
    binary.refit(tree, moved, faces)
    binary.validate(tree, moved, faces)
    again = binary.build(name, moved, faces)
    np.testing.assert_array_equal(tree.volumes.lo[0], again.volumes.lo[0])
    np.testing.assert_array_equal(tree.volumes.hi[0], again.volumes.hi[0])
    if name == "aabb":
        for i, (_, start, end) in enumerate(tree.nodes):
            below = moved[faces[tree.order[start:end]]].reshape(-1, 3)
            assert tree.volumes.lo[i].tolist() == below.min(axis=0).tolist()
            assert tree.volumes.hi[i].tolist() == below.max(axis=0).tolist()


def test_refit_to_the_rest_shape_is_the_build():
    mesh = situation("closed", 0, SIZE)[0]
    tree = binary.build("aabb", *mesh)
    before = tree.volumes.lo.copy(), tree.volumes.hi.copy()
    binary.refit(tree, 2 * mesh[0], mesh[1])
    binary.refit(tree, *mesh)
    np.testing.assert_array_equal(tree.volumes.lo, before[0])
    np.testing.assert_array_equal(tree.volumes.hi, before[1])


@pytest.mark.large
@pytest.mark.parametrize("rule", binary.RULES)
def test_shared_out_refit_reaches_every_node(rule):
    mesh = scenes.bumpy(20000, seed=1)
    for name in ("aabb", "kdop18"):
        tree = binary.build(name, mesh.vertices, mesh.faces, rule=rule)
        moved = np.roll(mesh.vertices, 1, axis=1) * (1.0, 2.0, 3.0)
        for array in tree.volumes:
            array[:] = np.nan
        binary.refit(tree, moved, mesh.faces)
        binary.validate(tree, moved, mesh.faces)
        assert (tree.volumes.lo[0] == binary.build(name, moved, mesh.faces).volumes.lo[0]).all()


@pytest.mark.parametrize("refit", REJECTED)
@pytest.mark.parametrize("kind", KINDS)
def test_rejected_refits_are_right_all_the_same(kind, refit):
    a, b = situation(kind, 1, SIZE)
    tree_a, tree_b = binary.build("obb", *a), binary.build("obb", *b)
    rng = np.random.default_rng(3)
    for step in (0.01, 0.3):
        moved_a = a[0] + step * rng.normal(size=a[0].shape), a[1]
        refit(tree_a, *moved_a)
        binary.validate(tree_a, *moved_a)
        found = binary.find_collisions(tree_a, tree_b, *moved_a, *b)
        np.testing.assert_array_equal(found.pairs, colliding_pairs(moved_a, b))


def test_boxes_of_boxes_are_larger_and_merged_statistics_are_not():
    """Figure 2 of the paper: the root of boxes of boxes is larger; merged statistics give the boxes of a new build."""
    mesh = scenes.bumpy(200, seed=4)
    built, boxed, merged = (binary.build("obb", mesh.vertices, mesh.faces) for _ in range(3))
    rejected_refits.refit_box_of_boxes(boxed, mesh.vertices, mesh.faces)
    rejected_refits.refit_statistics(merged, mesh.vertices, mesh.faces)
    assert np.prod(boxed.volumes.half[0]) > 1.5 * np.prod(built.volumes.half[0])
    np.testing.assert_allclose(
        np.sort(merged.volumes.half, axis=1), np.sort(built.volumes.half, axis=1), rtol=1e-6, atol=1e-9
    )


def test_refits_refuse_what_they_do_not_do():
    mesh = situation("closed", 0, SIZE)[0]
    oriented, aligned = binary.build("obb", *mesh), binary.build("aabb", *mesh)
    with pytest.raises(Unsupported, match="OBB"):
        binary.refit(oriented, *mesh)
    for refit in REJECTED:
        with pytest.raises(Unsupported, match="aabb"):
            refit(aligned, *mesh)
    with pytest.raises(InvalidInput, match="the tree is over"):
        binary.refit(aligned, mesh[0], mesh[1][:-1])
