import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abut import scenes
from abut.core.scratch import load
from abut.trees.packets import packet_tree
from abut.trees.packets.boxes import AABB_FIELDS, EMPTY, OBB_FIELDS, WIDTH, Aabb8, Obb8
from abut.trees.packets.packet_order import frame_of, order_faces
from conftest import SLOW

SIZES = [1, 2, 7, 8, 9, 16, 17, 63, 64, 65] + ([] if SLOW else [128, 129, 511, 512, 513, 514, 4096, 4097])


def soup(rng, count, scale=1.0, offset=0.0):
    vertices = scale * rng.normal(size=(3 * count, 3)) + offset
    return vertices, rng.permutation(3 * count).reshape(-1, 3)


def slots_below(tree, node, level):
    """The slots that a node covers, by its place in its level."""
    first = (node - level_starts(tree)[level]) * WIDTH ** (level + 1)
    return range(first, min(first + WIDTH ** (level + 1), len(tree.corners)))


def level_counts(tree):
    counts = [-(-len(tree.corners) // WIDTH)]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // WIDTH))
    return counts


def level_starts(tree):
    return np.cumsum([0, *(-(-count // WIDTH) * WIDTH for count in level_counts(tree))])


def check_links(tree):
    """Every slot is reached once from the root; packets beyond the nodes of a level are unused lanes."""
    counts, starts = level_counts(tree), level_starts(tree)
    assert len(tree.child) == starts[-1] == len(tree.packed.boxes) * WIDTH
    assert tree.root == starts[len(counts) - 1]
    half = tree.packed.boxes[:, 3].reshape(-1)
    for level, count in enumerate(counts):
        nodes = np.arange(starts[level], starts[level + 1])
        used = nodes - starts[level] < count
        assert (half[nodes[used]] > 0).all()
        assert (tree.packed.boxes[:, 3:6].transpose(0, 2, 1).reshape(-1, 3)[nodes[~used]] == -EMPTY).all()
        assert (tree.child[nodes[~used]] == -1).all()
        if level == 0:
            assert (tree.child[nodes] == -1).all()
    seen, front = [], [(tree.root, len(counts) - 1)]
    while front:
        node, level = front.pop()
        if tree.child[node] < 0:
            assert level == 0
            seen += range(node * WIDTH, min((node + 1) * WIDTH, len(tree.corners)))
            continue
        children = tree.child[node] * WIDTH + np.arange(WIDTH)
        below = children[half[children] > 0]
        covered = [slot for child in below for slot in slots_below(tree, child, level - 1)]
        assert covered == list(slots_below(tree, node, level))
        front += [(int(child), level - 1) for child in below]
    assert sorted(seen) == list(range(len(tree.corners)))


def check_corners(tree, order, vertices, faces):
    assert sorted(order) == list(range(len(faces)))
    np.testing.assert_array_equal(tree.corners, vertices[faces[order]].reshape(-1, 9))
    slots = np.minimum(np.arange(len(tree.lanes) * WIDTH), len(faces) - 1)  # the last one is repeated
    normal = (tree.corners[slots] - np.tile(tree.frame[:3], 3)) * tree.frame[3]
    assert np.abs(normal).max() <= 1
    np.testing.assert_array_equal(tree.lanes.transpose(0, 2, 1).reshape(-1, 9), normal.astype(np.float32))


def check_boxes(tree):
    """Every corner lies in the box of each of its ancestors, as stored, measured in float64."""
    boxes = tree.packed.boxes.astype(np.float64).transpose(0, 2, 1).reshape(len(tree.child), -1)
    exact = (tree.corners.reshape(-1, 3, 3) - tree.frame[:3]) * tree.frame[3]
    for level, count in enumerate(level_counts(tree)):
        for node in level_starts(tree)[level] + np.arange(count):
            points = exact[slots_below(tree, node, level)].reshape(-1, 3)
            center, half = boxes[node, :3], boxes[node, 3:6]
            axes = np.eye(3)
            if isinstance(tree.packed, Obb8):
                axes = boxes[node, 6:].reshape(3, 3).T
                np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-6)
            reach = np.abs((points - center) @ axes.T)
            assert (reach <= half).all()
            # and is not much larger than they need: the pads of all levels, and rounding
            assert (half <= (np.ptp(points @ axes.T, axis=0)) / 2 + 2e-6 * (level + 1)).all()


def check(vertices, faces, oriented):
    found = packet_tree.build(vertices, faces, oriented=oriented)
    tree = found.tree
    assert isinstance(tree.packed, Obb8 if oriented else Aabb8)
    assert tree.packed.boxes.shape[1:] == (OBB_FIELDS if oriented else AABB_FIELDS, WIDTH)
    assert tree.packed.boxes.dtype == tree.lanes.dtype == np.float32
    check_links(tree)
    check_corners(tree, found.order, vertices, faces)
    check_boxes(tree)
    return found


@pytest.mark.parametrize("oriented", [True, False], ids=["obb", "aabb"])
@pytest.mark.parametrize("count", SIZES)
def test_trees_of_every_size_are_well_formed(count, oriented):
    check(*soup(np.random.default_rng(count), count), oriented)


@pytest.mark.large
@pytest.mark.parametrize("oriented", [True, False], ids=["obb", "aabb"])
def test_a_large_tree_is_well_formed(oriented):
    mesh = scenes.bumpy(33_000)
    check(mesh.vertices, mesh.faces, oriented)


def flat(rng, n):
    vertices, faces = soup(rng, n)
    return vertices * [1.0, 1.0, 0.0], faces


def line(rng, n):
    return np.outer(rng.normal(size=3 * n), [1.0, 2.0, -1.0]), np.arange(3 * n).reshape(-1, 3)


def points(rng, n):
    return np.tile(rng.normal(size=3), (3, 1)), np.tile([0, 1, 2], (n, 1))


def same(rng, n):
    return rng.normal(size=(3, 3)), np.tile([0, 1, 2], (n, 1))


def tiny(rng, n):
    return soup(rng, n, 1e-30)


def tiniest(rng, n):
    return soup(rng, n, 1e-300)


def huge(rng, n):
    return soup(rng, n, 1e60)


def far(rng, n):
    return soup(rng, n, 1.0, 1e6)


def far_and_small(rng, n):
    return soup(rng, n, 1e-6, np.array([1e6, -1e5, 0.0]))


def mixed(rng, n):
    """Triangles of all sizes."""
    vertices, _ = soup(rng, n)
    scales = np.repeat(10.0 ** rng.uniform(-8, 0, n), 3)
    return vertices * scales[:, None] + np.repeat(rng.normal(size=(n, 3)), 3, axis=0), np.arange(3 * n).reshape(-1, 3)


def stray(rng, n):
    """A vertex that no face has, far away."""
    vertices, faces = soup(rng, n)
    return np.concatenate((vertices, [[1e5, 0, 0]])), faces


@pytest.mark.parametrize("oriented", [True, False], ids=["obb", "aabb"])
@pytest.mark.parametrize("make", [flat, line, points, same, tiny, tiniest, huge, far, far_and_small, mixed, stray])
def test_degenerate_shapes(make, oriented):
    check(*make(np.random.default_rng(1), 20 if SLOW else 100), oriented)


@given(st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_any_soup(count, seed, oriented):
    rng = np.random.default_rng(seed)
    vertices = rng.integers(-3, 4, (count + 2, 3)) / rng.choice([1.0, 3.0, 1e-9])
    check(vertices, rng.integers(0, count + 2, (count, 3)), oriented)


@pytest.mark.parametrize("count", [1, 9, 65] + ([] if SLOW else [513, 1000]))
def test_a_refit_holds_what_a_rebuild_holds(count):
    rng = np.random.default_rng(count)
    vertices, faces = soup(rng, count)
    found = packet_tree.build(vertices, faces, oriented=False)
    addresses = packet_tree.handle_of(found.tree)
    order = found.order.copy()
    for moved in (
        vertices + 1e6,
        vertices * [1e5, 1.0, 1e-5],
        rng.permutation(vertices),
        vertices * 0.0,
        vertices * 1e-40,
        vertices * 1e40,
        vertices,
    ):
        packet_tree.refit(found, moved)
        check_links(found.tree)
        check_corners(found.tree, order, moved, faces)
        check_boxes(found.tree)
        np.testing.assert_array_equal(packet_tree.handle_of(found.tree), addresses)  # in place: handles stay valid
    fresh = packet_tree.build(vertices, faces, oriented=False)
    np.testing.assert_array_equal(fresh.order, found.order)
    np.testing.assert_array_equal(fresh.tree.packed.boxes, found.tree.packed.boxes)


def test_neighbours_share_leaves():
    """The order is good for something: boxes of leaves are a small part of the whole."""
    mesh = scenes.icosphere(2 if SLOW else 4)
    tree = packet_tree.build(mesh.vertices, mesh.faces, oriented=False).tree
    half = tree.packed.boxes[:, 3:6].transpose(0, 2, 1).reshape(-1, 3)[: len(tree.lanes)]
    whole = tree.packed.boxes[tree.root >> 3, 3:6, tree.root & 7]
    assert np.median(half.max(axis=1)) < (0.6 if SLOW else 0.12) * whole.max()


@pytest.mark.parametrize(
    ("vertices", "scale"),
    [
        ([[0.0, 0, 0], [1, 1, 1]], 1.0),
        ([[-1.0, 0, 0], [1, 0, 0]], 0.5),
        ([[-3.0, 0, 0], [2.9, 0, 0]], 0.25),
        ([[5.0, 5, 5]], 1.0),
        ([[0.0, 0, 0], [2.0**-1000, 0, 0]], 2.0**960),
        ([[-1e75, 0, 0], [1e75, 0, 0]], 2.0**-250),
    ],
)
def test_frames_put_all_vertices_between_minus_one_and_one(vertices, scale):
    frame = frame_of(np.array(vertices), np.array([[0, len(vertices) - 1, 0]]))
    assert frame[3] == scale
    normal = (np.array(vertices) - frame[:3]) * frame[3]
    assert np.abs(normal).max() < 1 + 1e-15


def test_order_is_a_permutation_whatever_the_centroids():
    rng = np.random.default_rng(9)
    for vertices, faces in (soup(rng, 100), same(rng, 77), line(rng, 65), points(rng, 33)):
        order = order_faces(vertices, faces, frame_of(vertices, faces))
        assert sorted(order) == list(range(len(faces)))


@numba.njit
def copy_tree(handle, boxes, child, lanes, corners, frame):
    """Read every number behind a handle."""
    tree = packet_tree.open_tree(handle)
    for i in range(boxes.size):
        boxes[i] = load(tree.packed.boxes, i)
    for i in range(child.size):
        child[i] = load(tree.child, i)
    for i in range(lanes.size):
        lanes[i] = load(tree.lanes, i)
    for i in range(corners.size):
        corners[i] = load(tree.corners, i)
    for i in range(4):
        frame[i] = tree.frame[i]
    return tree.root, tree.slot_count


@pytest.mark.parametrize("oriented", [True, False])
def test_a_handle_leads_back_to_the_tree(oriented):
    vertices, faces = soup(np.random.default_rng(0), 9)
    tree = packet_tree.build(vertices, faces, oriented=oriented).tree
    points = np.arange(36.0).reshape(12, 3)  # two pieces of six
    handle = packet_tree.handle_of(tree, points)
    assert handle.dtype == (np.int64 if oriented else np.uint64)
    assert [int(x) for x in handle[5:]] == [tree.root, len(faces), points.ctypes.data, 2]
    owned = (tree.packed.boxes, tree.child, tree.lanes, tree.corners, tree.frame)
    found = [np.zeros(array.size, array.dtype) for array in owned]
    assert copy_tree(handle, *found) == (tree.root, len(faces))
    for own, copied in zip(owned, found, strict=True):
        np.testing.assert_array_equal(copied, own.ravel())
