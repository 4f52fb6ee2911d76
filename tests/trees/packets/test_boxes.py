"""Boxes in packets of eight: never a false separation, bounds never above the distance; and not much looser than float64."""

import numba
import numpy as np
import pytest

from abut.core import jit
from abut.core.lanes import lane
from abut.discrete.search.placement import relate_frames, stay
from abut.trees.packets.boxes import (
    EMPTY,
    WIDTH,
    Change,
    Obb8,
    bound_8,
    largest_half,
    overlap_8,
    read_box,
    separate_8,
)
from conftest import SLOW
from discrete.situations import packet_leaves, random_pose

# Compiled code is silent; its twin in NumPy warns where a product overflows on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered:RuntimeWarning")


COUNT = 48 if jit.INTERPRETED else (800 if SLOW else 5000)
KINDS = [(True, True), (True, False), (False, True), (False, False)]
IDS = ["obb-obb", "obb-aabb", "aabb-obb", "aabb-aabb"]
SAFE = 1.0 - 1e-5


@numba.njit
def ask_all(a, pose_a, b, pose_b, overlaps, bounds):
    """Box i of a against box i of b, seen from b."""
    change, slack = relate_frames(a.frame, pose_a, b.frame, pose_b)
    for i in range(len(overlaps)):
        box = read_box(a.packed, i, change, slack)
        mask = overlap_8(b.packed, i >> 3, box)
        overlaps[i] = mask == separate_8(b.packed, i >> 3, box)[0] and (mask >> (i & 7)) & 1 != 0
        bounds[i] = lane(bound_8(b.packed, i >> 3, box), i & 7)


@numba.njit
def ask_packet(a, b, node, packet):
    """The mask of a whole packet of b against box `node` of a, in one frame."""
    return overlap_8(b.packed, packet, read_box(a.packed, node, stay(), np.float32(0.0)))


@numba.njit
def read(tree, node, change, slack):
    return read_box(tree.packed, node, change, slack), largest_half(tree.packed, node)


def boxes_of(groups, oriented):
    """Boxes around groups of points (n,k,3), k ≤ 24, as a packet tree has them: normalised, float32, grown by PAD."""
    points = groups[:, np.arange(3 * WIDTH) % groups.shape[1]]
    return packet_leaves(points.reshape(-1, WIDTH, 3, 3), oriented)


def ask(a, b, kind, pose_a=None, pose_b=None):
    tree_a, tree_b = boxes_of(a, kind[0]), boxes_of(b, kind[1])
    overlaps, bounds = np.zeros(len(a), np.int64), np.zeros(len(a))
    eye = np.eye(4)
    ask_all(tree_a, eye if pose_a is None else pose_a, tree_b, eye if pose_b is None else pose_b, overlaps, bounds)
    return overlaps.astype(bool), bounds / tree_b.frame[3] ** 2, tree_a, tree_b


def touching_groups(rng, n, size_a, size_b):
    """Groups of points with exactly one in common; most are flat or thin, and half have nearly the same axes."""
    flat = 10.0 ** -rng.integers(0, 9, (n, 1, 3))
    a = size_a * flat * rng.uniform(-1, 1, (n, 6, 3)) + rng.uniform(-1, 1, (n, 1, 3))
    b = size_b * flat * rng.uniform(-1, 1, (n, 6, 3))
    turned = rng.random(n) < 0.5
    tilt = 10.0 ** -rng.uniform(1, 10, n)
    axis = rng.normal(size=(n, 3))
    b = np.where(turned[:, None, None], b + tilt[:, None, None] * np.cross(axis[:, None], b), b[:, :, [1, 2, 0]])
    common, direction = a[:, :1].copy(), rng.normal(size=(n, 3))

    def reaching(points, along):  # the farthest point comes to the origin: the groups touch there and do not overlap
        far = np.einsum("nkd,nd->nk", points, along).argmax(axis=1)
        return points - np.take_along_axis(points, far[:, None, None], axis=1)

    return reaching(a, direction) + common, reaching(b, -direction) + common


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1.0, 1e-3), (1e-7, 1.0), (1e-7, 1e-7), (1.0, 1e4)])
def test_boxes_of_what_touches_are_never_apart(kind, sizes):
    rng = np.random.default_rng(1)
    a, b = touching_groups(rng, COUNT // 4, *sizes)
    overlaps, bounds, _, _ = ask(a, b, kind)
    assert overlaps.all()
    assert (bounds == 0).all()
    pose_a, pose_b = random_pose(rng, 1.0), random_pose(rng, 1.0)
    own_a, own_b = ((p - pose[:3, 3]) @ pose[:3, :3] for p, pose in ((a, pose_a), (b, pose_b)))
    overlaps, bounds, _, _ = ask(own_a, own_b, kind, pose_a, pose_b)
    assert overlaps.all()
    assert (bounds == 0).all()


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_boxes_of_what_touches_are_never_apart_in_twenty_thousand(kind):
    rng = np.random.default_rng(2)
    for part in range(5):
        sizes = 10.0 ** rng.uniform(-7, 1, 2)
        a, b = touching_groups(rng, 4000, *sizes)
        pose_a, pose_b = random_pose(rng, part), random_pose(rng, part)
        own_a, own_b = ((p - pose[:3, 3]) @ pose[:3, :3] for p, pose in ((a, pose_a), (b, pose_b)))
        overlaps, bounds, _, _ = ask(own_a, own_b, kind, pose_a, pose_b)
        assert overlaps.all()
        assert (bounds == 0).all()


def stored_boxes(tree, n):
    """Center, axes (rows) and half extents of the first n boxes, in the coordinates of the body, in float64."""
    lanes = tree.packed.boxes.astype(np.float64).transpose(0, 2, 1).reshape(-1, tree.packed.boxes.shape[1])[:n]
    center, half = lanes[:, :3] / tree.frame[3] + tree.frame[:3], lanes[:, 3:6] / tree.frame[3]
    axes = np.tile(np.eye(3), (n, 1, 1))
    if isinstance(tree.packed, Obb8):
        axes = lanes[:, 6:].reshape(n, 3, 3).transpose(0, 2, 1)
    return center, axes, half


def largest_gap(a, b):
    """The largest gap along the fifteen axes, unit vectors, in float64; nearly parallel edges are left out."""
    (center_a, axes_a, half_a), (center_b, axes_b, half_b) = a, b
    crosses = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(len(center_a), 9, 3)
    length = np.linalg.norm(crosses, axis=2, keepdims=True)
    crosses = np.where(length > 1e-2, crosses / np.maximum(length, 1e-2), axes_a[:, :1])
    axes = np.concatenate((axes_a, axes_b, crosses), axis=1)
    offset = np.abs(np.einsum("nkd,nd->nk", axes, center_b - center_a))
    reach = sum(
        np.einsum("nkj,nj->nk", np.abs(np.einsum("nkd,njd->nkj", axes, own)), half)
        for own, half in ((axes_a, half_a), (axes_b, half_b))
    )
    return (offset - reach).max(axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_separation_is_that_of_double_precision_away_from_touching(kind):
    rng = np.random.default_rng(3)
    a = rng.uniform(-1, 1, (COUNT, 1, 3)) + 0.3 * rng.normal(size=(COUNT, 5, 3)) * 10.0 ** -rng.integers(
        0, 3, (COUNT, 1, 3)
    )
    b = rng.uniform(-1, 1, (COUNT, 1, 3)) + 0.3 * rng.normal(size=(COUNT, 5, 3))
    overlaps, _, tree_a, tree_b = ask(a, b, kind)
    gap = largest_gap(stored_boxes(tree_a, COUNT), stored_boxes(tree_b, COUNT))
    np.testing.assert_array_equal(overlaps[gap < 0], True)
    np.testing.assert_array_equal(overlaps[gap > 2e-3], False)
    assert overlaps.any()
    assert not overlaps.all()


def nearest_in_boxes(a, b, rounds=300):
    """An upper bound of the distance of two boxes, found by projecting back and forth."""
    (center_a, axes_a, half_a), (center_b, axes_b, half_b) = a, b

    def project(p, center, axes, half):
        local = np.clip(np.einsum("nkd,nd->nk", axes, p - center), -half, half)
        return center + np.einsum("nk,nkd->nd", local, axes)

    q = center_b
    for _ in range(rounds):
        p = project(q, center_a, axes_a, half_a)
        q = project(p, center_b, axes_b, half_b)
    return np.linalg.norm(p - q, axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
@pytest.mark.parametrize("size", [1.0, 1e-4])
def test_bounds_are_never_above_the_distance(kind, size):
    rng = np.random.default_rng(4)
    n = COUNT // 2
    a = rng.uniform(-1, 1, (n, 1, 3)) + 0.2 * rng.normal(size=(n, 5, 3)) * 10.0 ** -rng.integers(0, 4, (n, 1, 3))
    b = size * (rng.uniform(-2, 2, (n, 1, 3)) + 0.2 * rng.normal(size=(n, 5, 3)))
    _, bounds, tree_a, tree_b = ask(a, b, kind)
    truth = nearest_in_boxes(stored_boxes(tree_a, n), stored_boxes(tree_b, n), 30 if SLOW else 300)
    assert (bounds * SAFE <= truth**2).all()
    points = np.linalg.norm(a[:, :, None] - b[:, None], axis=3).min(axis=(1, 2))
    assert (bounds * SAFE <= points**2).all()
    assert np.median(np.sqrt(bounds[bounds > 0]) / truth[bounds > 0]) > 0.5


@pytest.mark.parametrize("distance", [1e3, 1e9, 1e10, 1e18, 1e25])
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_bounds_far_away_are_never_above_the_distance_either(kind, distance):
    """Squares and fourth powers leave the range of float32 long before distances do."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(16, 5, 3)), rng.normal(size=(16, 5, 3))
    a[:, :, 0] += distance
    a[1:, :, 1] *= 1 + distance / 2
    with np.errstate(all="ignore"):
        _, bounds, _, _ = ask(a, b, kind)
    points = np.linalg.norm((a[:, :, None] - b[:, None]) / distance, axis=3).min(axis=(1, 2))
    assert (bounds / distance**2 * SAFE <= points**2).all()


@pytest.mark.parametrize("oriented", [True, False])
@pytest.mark.parametrize("factor", [1.0, 1e20, 1e29, 1e33])
def test_unused_lanes_meet_nothing(oriented, factor):
    rng = np.random.default_rng(6)
    used = boxes_of(rng.uniform(-1, 1, (3, 5, 3)), oriented)
    large = boxes_of(rng.uniform(-1, 1, (1, 5, 3)), True)
    large.packed.boxes[0, 3:6, 0] *= np.float32(factor)
    assert ask_packet(large, used, 0, 0) == 0b111
    assert (used.packed.boxes[0, 3:6, 3:] == -EMPTY).all()


@pytest.mark.parametrize("oriented", [True, False])
def test_a_box_is_read_in_another_frame(oriented):
    rng = np.random.default_rng(7)
    tree = boxes_of(rng.normal(size=(9, 5, 3)), oriented)
    change = some_change(rng)
    rotation = np.array(change.rotation, dtype=np.float64)
    for node in range(9):
        (center, axes, half), largest = read(tree, node, change, np.float32(0.25))
        stored = tree.packed.boxes[node >> 3, :, node & 7].astype(np.float64)
        own = stored[6:].reshape(3, 3) if oriented else np.eye(3)
        expected = float(change.scale) * rotation @ stored[:3] + np.array(change.translation, dtype=np.float64)
        np.testing.assert_allclose(center, expected, atol=1e-6)
        np.testing.assert_allclose(axes, (rotation @ own).T, atol=1e-6)
        np.testing.assert_allclose(half, float(change.scale) * stored[3:6] + 0.25, rtol=1e-6)
        assert largest == stored[3:6].max()


def some_change(rng):
    rotation = random_pose(rng)[:3, :3].astype(np.float32)
    return Change(tuple(tuple(row) for row in rotation), tuple(rng.normal(size=3).astype(np.float32)), np.float32(1.75))
