import numpy as np
import pytest

from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from abut.trees import binary, volumes
from abut.trees.binary.traverse import FIRST_CAPACITY
from trees.binary.situations import (
    KINDS,
    ascending,
    box_pairs,
    carried,
    colliding_pairs,
    collisions_of,
    random_pose,
    situation,
)

SIZE = 24 if jit.INTERPRETED else 120
SEEDS = 1 if jit.INTERPRETED else 3
TREES = [("aabb", "aabb"), ("obb", "obb"), ("aabb", "obb"), ("obb", "aabb"), ("kdop18", "kdop18"), ("kdop8", "kdop8")]


def check_collisions(a, b, tree_a, tree_b, frame=None, expected=None):
    expected = colliding_pairs(a, b) if expected is None else expected
    found = binary.find_collisions(tree_a, tree_b, *a, *b, frame)
    np.testing.assert_array_equal(found.pairs, expected)
    assert len(expected) <= found.leaf_tests <= len(a[1]) * len(b[1])
    first = binary.find_collisions(tree_a, tree_b, *a, *b, frame, first=True)
    assert len(first.pairs) == min(1, len(expected))
    assert first.box_tests <= found.box_tests
    assert set(map(tuple, first.pairs)) <= set(map(tuple, expected))


@pytest.mark.parametrize("trees", TREES, ids="-".join)
@pytest.mark.parametrize("kind", KINDS)
def test_collisions_are_those_of_brute_force(kind, trees):
    for seed in range(SEEDS):
        a, b = situation(kind, seed, SIZE)
        tree_a, tree_b = (binary.build(name, *mesh) for name, mesh in zip(trees, (a, b), strict=True))
        check_collisions(a, b, tree_a, tree_b, expected=collisions_of(kind, seed, SIZE))


@pytest.mark.large
@pytest.mark.parametrize("trees", TREES, ids="-".join)
def test_two_hundred_configurations(trees):
    for case in range(200):
        kind, seed = KINDS[case % len(KINDS)], 100 + case // len(KINDS)
        a, b = situation(kind, seed, 60 + case)
        rule, leaf_size = binary.RULES[case % 4], 1 + case % 3
        tree_a, tree_b = (
            binary.build(name, *mesh, rule=rule, leaf_size=leaf_size) for name, mesh in zip(trees, (a, b), strict=True)
        )
        check_collisions(a, b, tree_a, tree_b, expected=collisions_of(kind, seed, 60 + case))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_candidates_are_the_overlapping_boxes(kind, margin):
    a, b = situation(kind, 7, SIZE)
    for name in ("aabb", "kdop6"):
        found = binary.find_pairs(binary.build(name, *a), binary.build(name, *b), volumes.same(margin))
        np.testing.assert_array_equal(found.pairs, box_pairs(a, b, margin))
        assert found.leaf_tests == len(found.pairs)


def test_candidates_within_a_margin_hold_all_near_pairs():
    a, b = situation("apart", 0, SIZE)
    reach = 10 * np.sqrt(3) - 1.0  # the centers are 10·√3 apart, the surfaces 0.7 to 1.3 about them
    tree_a, tree_b = binary.build("obb", *a), binary.build("obb", *b)
    assert len(binary.find_pairs(tree_a, tree_b).pairs) == 0
    assert len(binary.find_pairs(tree_a, tree_b, volumes.identity(margin=reach / 2)).pairs) == 0
    near = binary.find_pairs(tree_a, tree_b, volumes.identity(margin=reach)).pairs
    distances = np.linalg.norm(a[0][a[1]][:, np.newaxis, :, np.newaxis] - b[0][b[1]][:, np.newaxis], axis=-1)
    within = np.argwhere(distances.min(axis=(2, 3)) <= reach)
    assert len(within) > 0
    assert set(map(tuple, within)) <= set(map(tuple, near))
    assert len(near) < len(a[1]) * len(b[1])


@pytest.mark.parametrize("kind", ["closed", "nested", "copy", "touching", "no area", "single"])
@pytest.mark.parametrize("reach", [1.0, 1e6])
def test_each_tree_in_its_own_frame(kind, reach, rng):
    """Both bodies are carried to a place far from the world's origin; the faces that meet are those of the rounded vertices."""
    for seed in range(SEEDS):
        a, b = situation(kind, seed, SIZE)
        pose_a, relative = random_pose(rng, reach), random_pose(rng, 0.3)
        pose_b = pose_a @ relative if kind != "copy" else pose_a
        world_a, world_b = (carried(pose_a, a[0]), a[1]), (carried(pose_b, b[0]), b[1])
        frame = volumes.between(pose_a, pose_b)
        for names in (("obb", "obb"), ("aabb", "obb"), ("obb", "aabb"), ("aabb", "aabb")):
            tree_a, tree_b = (binary.build(name, *mesh) for name, mesh in zip(names, (a, b), strict=True))
            check_collisions(world_a, world_b, tree_a, tree_b, frame)
        seen_b = (carried(np.array(relative), b[0]), b[1])
        check_collisions(a, seen_b, binary.build("obb", *a), binary.build("obb", *b), volumes.place(relative))


@pytest.mark.parametrize("name", ["aabb", "obb", "kdop26"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_tree_against_itself(kind, name):
    mesh, _ = situation(kind, 3, SIZE)
    for leaf_size in (1, 4):
        tree = binary.build(name, *mesh, leaf_size=leaf_size)
        found = binary.find_self_collisions(tree, *mesh)
        np.testing.assert_array_equal(found.pairs, ascending(colliding_pairs(mesh, mesh)))
        first = binary.find_self_collisions(tree, *mesh, first=True)
        assert len(first.pairs) == min(1, len(found.pairs))
        if name == "aabb" and leaf_size == 1:
            np.testing.assert_array_equal(binary.find_self_pairs(tree).pairs, ascending(box_pairs(mesh, mesh)))
            near = binary.find_self_pairs(tree, margin=0.1).pairs
            np.testing.assert_array_equal(near, ascending(box_pairs(mesh, mesh, 0.1)))


def test_output_grows_as_needed():
    triangle = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)])
    count = 40 if jit.INTERPRETED else 90
    mesh = triangle, np.tile(np.arange(3), (count, 1))
    assert count**2 > FIRST_CAPACITY
    for leaf_size in (1, count):
        tree = binary.build("aabb", *mesh, leaf_size=leaf_size)
        found = binary.find_pairs(tree, tree)
        assert len(np.unique(found.pairs, axis=0)) == len(found.pairs) == found.leaf_tests == count**2
        inside = binary.find_self_pairs(tree)
        assert len(np.unique(inside.pairs, axis=0)) == len(inside.pairs) == count * (count - 1) // 2
        assert (inside.pairs[:, 0] < inside.pairs[:, 1]).all()


def test_work_is_counted():
    """A tree of n leaves far from another: one test. Two single triangles: one test each of boxes and of triangles."""
    a, b = situation("apart", 0, SIZE)
    assert binary.find_pairs(binary.build("aabb", *a), binary.build("aabb", *b))[1:] == (1, 0)
    triangle = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([(0, 1, 2)])
    tree = binary.build("obb", *triangle)
    assert binary.find_collisions(tree, tree, *triangle, *triangle)[1:] == (1, 1)
    assert binary.find_self_pairs(tree)[1:] == (1, 0)


def test_the_larger_is_descended():
    """One big triangle against many small ones: each step opens the tree of small ones only."""
    a, _ = situation("closed", 0, SIZE)
    big = np.array([(-9.0, -9, 0.1), (9, -9, 0.1), (0, 9, 0.1)]), np.array([(0, 1, 2)])
    found = binary.find_pairs(binary.build("aabb", *a), binary.build("aabb", *big))
    np.testing.assert_array_equal(found.pairs, box_pairs(a, big))
    assert found.box_tests < 2 * len(a[1])


@pytest.mark.parametrize("rule", binary.RULES)
def test_deep_trees_do_not_overflow(rule):
    """Triangles at 1, 1/2, 1/4, …: a cut at the middle takes off one at a time, until the depth limit."""
    count = 40 if jit.INTERPRETED else 400
    corners = 2.0 ** -np.arange(count)
    vertices = np.array([(0.0, 0, 0), (0.1, 0, 0), (0, 0.1, 0.01)]) * corners[:, np.newaxis, np.newaxis]
    vertices[..., 0] += corners[:, np.newaxis]
    mesh = np.ascontiguousarray(vertices.reshape(-1, 3)), np.arange(3 * count).reshape(-1, 3)
    tree = binary.build("aabb", *mesh, rule=rule)
    binary.validate(tree, *mesh)
    assert tree.depth <= 64 + np.ceil(np.log2(count)) + 1
    np.testing.assert_array_equal(binary.find_self_pairs(tree).pairs, ascending(box_pairs(mesh, mesh)))
    np.testing.assert_array_equal(binary.find_pairs(tree, tree).pairs, box_pairs(mesh, mesh))


def test_a_broken_tree_is_noticed():
    mesh = situation("copy", 0, SIZE)[0]
    tree = binary.build("aabb", *mesh)
    shallow = tree._replace(blocks=tree.blocks[:1])
    with pytest.raises(InvalidInput, match="deeper than its levels tell"):
        binary.find_pairs(shallow, shallow)


def test_unsupported_pairs_and_wrong_meshes_are_refused():
    a, b = situation("closed", 0, SIZE)
    with pytest.raises(Unsupported, match="kdop18 with obb"):
        binary.find_pairs(binary.build("kdop18", *a), binary.build("obb", *b))
    with pytest.raises(Unsupported, match="under a pose"):
        binary.find_pairs(binary.build("kdop18", *a), binary.build("kdop18", *b), volumes.identity())
    tree = binary.build("aabb", *a)
    with pytest.raises(InvalidInput, match="the tree is over"):
        binary.find_collisions(tree, tree, *a, a[0], a[1][:-1])


def test_swapping_the_trees_swaps_the_pairs(rng):
    a, b = situation("closed", 1, SIZE)
    frame = volumes.place(random_pose(rng, 0.2))
    for names in (("obb", "obb"), ("aabb", "obb"), ("aabb", "aabb")):
        tree_a, tree_b = (binary.build(name, *mesh) for name, mesh in zip(names, (a, b), strict=True))
        seen = (np.array(frame.rotation) @ b[0].T).T + frame.translation
        one = binary.find_collisions(tree_a, tree_b, *a, seen, b[1], frame).pairs
        other = binary.find_collisions(tree_b, tree_a, seen, b[1], *a, volumes.inverse(frame)).pairs
        assert set(map(tuple, one)) == set(map(tuple, other[:, ::-1]))
