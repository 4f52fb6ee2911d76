import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import scenes
from abut.core import jit
from abut.core.errors import InvalidInput, Unsupported
from abut.trees import binary, volumes
from abut.trees.binary import morton, selection
from abut.trees.binary.build import DEEPEST_CUT
from trees.binary.situations import KINDS, situation

SIZE = 20 if jit.INTERPRETED else 120


@pytest.mark.parametrize("rule", binary.RULES)
@pytest.mark.parametrize("name", ["aabb", "obb", "kdop14"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_mesh_becomes_a_valid_tree(kind, name, rule):
    for mesh in situation(kind, 0, SIZE):
        for leaf_size in (1, 3):
            tree = binary.build(name, *mesh, rule=rule, leaf_size=leaf_size)
            binary.validate(tree, *mesh)
            leaves = tree.nodes[tree.nodes[:, 0] == 0]
            assert (leaves[:, 2] - leaves[:, 1]).max() <= leaf_size
            assert tree.leaf_count == len(leaves)
            assert tree.kind == name
            if leaf_size == 1:
                assert len(tree.nodes) == 2 * len(mesh[1]) - 1


@pytest.mark.parametrize("rule", binary.RULES)
def test_identical_triangles_make_a_balanced_tree(rule):
    count = 100 if jit.INTERPRETED else 20000
    mesh = np.array([(0.1, 0.2, 0.3), (1.1, 0, 0), (0, 1, 0)]), np.tile(np.arange(3), (count, 1))
    tree = binary.build("aabb", *mesh, rule=rule)
    binary.validate(tree, *mesh)
    assert tree.depth == np.ceil(np.log2(count))


@pytest.mark.parametrize("rule", binary.RULES)
def test_one_point_repeated(rule):
    mesh = np.full((3, 3), 0.3), np.tile(np.arange(3), (64, 1))
    for name in ("aabb", "obb", "kdop14"):
        tree = binary.build(name, *mesh, rule=rule)
        binary.validate(tree, *mesh)
        assert tree.depth == 6


@pytest.mark.parametrize("rule", binary.RULES)
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e70])
def test_extreme_magnitudes(rule, scale):
    a, _ = situation("soup", 0, SIZE)
    mesh = np.round(a[0] * 8) * scale, a[1]
    for name in ("aabb", "obb", "kdop14"):
        binary.validate(binary.build(name, *mesh, rule=rule), *mesh)


def test_neighbouring_doubles_leave_no_empty_child():
    """The middle of two neighbouring doubles is one of them: a cut there puts everything on one side."""
    low, high = 1.0, np.nextafter(1.0, 2)
    mesh = np.array([(low, 0, 0), (high, 0, 0)]), np.tile([0, 1, 0], (9, 1))
    tree = binary.build("aabb", *mesh)
    binary.validate(tree, *mesh)
    assert tree.depth <= 5


def test_median_rule_halves_along_the_longest_side():
    """A row of triangles along an oblique line: every node of the OBB tree is an interval of the row, halved."""
    count = 37
    direction = np.array([1.0, 2, -2]) / 3
    rows = np.random.default_rng(0).permutation(count)
    centers = rows[:, np.newaxis, np.newaxis] * direction
    vertices = (centers + 0.1 * np.eye(3)).reshape(-1, 3)
    tree = binary.build("obb", vertices, np.arange(3 * count).reshape(-1, 3))
    for child, start, end in tree.nodes:
        below = np.sort(rows[tree.order[start:end]])
        assert below.tolist() == list(range(below[0], below[-1] + 1))
        if child:
            assert abs(tree.nodes[child, 2] - tree.nodes[child, 1] - (end - start) / 2) <= 0.5
    along = tree.volumes.axes[0, np.argmax(tree.volumes.half[0])]
    assert abs(along @ direction) > 0.999


def test_box_axes_are_the_eigenvectors_of_the_covariance():
    """Equations 1 and 2, with NumPy: each vertex once for each triangle that has it."""
    mesh = scenes.bumpy(60, seed=3)
    vertices = mesh.vertices * (3.0, 2.0, 1.0)
    tree = binary.build("obb", vertices, mesh.faces)
    for i, (_, start, end) in enumerate(tree.nodes):
        corners = vertices[mesh.faces[tree.order[start:end]]].reshape(-1, 3)
        centered = corners - corners.mean(axis=0)
        covariance = centered.T @ centered / len(corners)
        turned = tree.volumes.axes[i] @ covariance @ tree.volumes.axes[i].T
        assert np.abs(turned - np.diag(np.diag(turned))).max() <= 1e-13 * np.abs(covariance).max()
        along = corners @ tree.volumes.axes[i].T
        np.testing.assert_allclose(tree.volumes.half[i], np.ptp(along, axis=0) / 2, atol=1e-13)


def test_middle_rule_gives_straddlers_to_the_lighter_child():
    """Three facets left of the middle, one right, two across: both join the lighter side, as in the paper."""
    intervals = [(0, 1), (1, 2), (2, 3), (8, 10), (4, 6), (3, 8)]
    vertices = np.array([((low, 0, 0), (high, 0, 0), (low, 0.1, 0)) for low, high in intervals], float).reshape(-1, 3)
    tree = binary.build("aabb", vertices, np.arange(18).reshape(-1, 3))
    child = tree.nodes[0, 0]
    left, right = (set(tree.order[start:end].tolist()) for _, start, end in tree.nodes[child : child + 2])
    assert left == {0, 1, 2}
    assert right == {3, 4, 5}


def test_middle_rule_stops_peeling_at_the_depth_limit():
    """Identical in x, y; in z each triangle is half as far as the one before: peeled one by one down to DEEPEST_CUT."""
    count = 80 if jit.INTERPRETED else 900
    heights = 2.0 ** -np.arange(count)
    vertices = np.zeros((count, 3, 3))
    vertices[..., 2] = heights[:, np.newaxis]
    mesh = np.ascontiguousarray(vertices.reshape(-1, 3)), np.arange(3 * count).reshape(-1, 3)
    tree = binary.build("aabb", *mesh)
    binary.validate(tree, *mesh)
    assert DEEPEST_CUT <= tree.depth <= DEEPEST_CUT + np.ceil(np.log2(count - DEEPEST_CUT)) + 1


def test_sah_beats_halving_where_sizes_differ():
    """A few large triangles over many small ones: fewer box tests with the surface area heuristic."""
    rng = np.random.default_rng(5)
    count = 40 if jit.INTERPRETED else 400
    sizes = np.where(np.arange(count) % 10 == 0, 3.0, 0.05)
    vertices = rng.uniform(0, 10, (count, 1, 3)) + sizes[:, np.newaxis, np.newaxis] * rng.normal(size=(count, 3, 3))
    mesh = np.ascontiguousarray(vertices.reshape(-1, 3)), np.arange(3 * count).reshape(-1, 3)
    work = {rule: binary.find_self_pairs(binary.build("aabb", *mesh, rule=rule)).box_tests for rule in binary.RULES}
    assert work["sah"] < (1.0 if jit.INTERPRETED else 0.9) * work["median"]


def test_input_is_checked():
    mesh = situation("single", 0)[0]
    with pytest.raises(Unsupported, match="random"):
        binary.build("aabb", *mesh, rule="random")
    with pytest.raises(Unsupported, match="sphere"):
        binary.build("sphere", *mesh)
    with pytest.raises(InvalidInput, match="rows"):
        binary.build("aabb", mesh[0], np.empty((0, 3), np.int64))
    with pytest.raises(InvalidInput, match="leaf_size"):
        binary.build("aabb", *mesh, leaf_size=0)


def test_edges_and_points_have_trees_too():
    mesh = scenes.icosphere(1)
    for rows in (mesh.edges, np.arange(len(mesh.vertices)).reshape(-1, 1)):
        for name in ("aabb", "kdop26", "obb"):
            binary.validate(binary.build(name, mesh.vertices, rows), mesh.vertices, rows)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.data())
def test_selection_parts_at_the_middle(numbers, data):
    keys, rows = np.array(numbers, float), np.arange(len(numbers))
    start = data.draw(st.integers(0, len(numbers) - 1))
    end = data.draw(st.integers(start + 1, len(numbers)))
    middle = data.draw(st.integers(start, end - 1))
    selection.select(keys, rows, start, end, middle)
    assert (keys[start:middle] <= keys[middle]).all()
    assert (keys[middle:end] >= keys[middle]).all()
    assert sorted(rows) == list(range(len(numbers)))
    assert keys.tolist() == np.array(numbers, float)[rows].tolist()
    assert rows[:start].tolist() == list(range(start))


def test_morton_codes_interleave_bits(rng):
    vertices = rng.integers(0, 2**21, (200, 3)).astype(float)
    vertices[0], vertices[1] = 0, 2**21
    codes = morton.morton_codes(vertices, np.arange(200).reshape(-1, 1))
    for (x, y, z), code in zip(vertices[2:].astype(int).tolist(), codes[2:].tolist(), strict=True):
        bits = "".join(f"{x >> k & 1}{y >> k & 1}{z >> k & 1}" for k in reversed(range(21)))
        assert code == int(bits, 2)


@pytest.mark.parametrize("bits", [1, 12, 40, 63])
def test_radix_sort_is_stable(bits, rng):
    codes = rng.integers(0, 2**bits, 300, dtype=np.uint64).astype(np.int64)
    keys, rows = morton.sort_by_code(codes)
    np.testing.assert_array_equal(rows, np.argsort(codes, kind="stable"))
    np.testing.assert_array_equal(keys, codes[rows])


@pytest.mark.large
@pytest.mark.parametrize("rule", binary.RULES)
def test_large_meshes_are_shared_out(rule):
    mesh = scenes.bumpy(50000, seed=2)
    for name in ("aabb", "obb"):
        tree = binary.build(name, mesh.vertices, mesh.faces, rule=rule)
        binary.validate(tree, mesh.vertices, mesh.faces)
        assert (np.diff(tree.blocks[-3]) > 0).sum() > 32
        assert tree.depth <= 30


def test_kinds_all_build():
    mesh = situation("closed", 0, SIZE)[0]
    for name in volumes.KINDS:
        binary.validate(binary.build(name, *mesh), *mesh)
