"""The tests in float32 at the leaves: "certainly" and "certainly not" must be true, "perhaps" must not be the rule."""

import numba
import numpy as np
import pytest

from abut.core import jit
from abut.discrete.search.placement import place_corner, relate_frames
from abut.discrete.search.triangle_packets import meet_box_8, relate_triangle_8
from abut.geometry.triangles import closest_triangle_triangle
from abut.trees.packets.boxes import WIDTH, read_box
from conftest import SLOW
from discrete.situations import packet_leaves
from oracles.rationals import as_integers, meet_triangles
from triangle_pairs import FAMILIES, generate, permuted

EYE = np.eye(4)
COUNT = 40 if jit.INTERPRETED else (400 if SLOW else 2000)


@numba.njit
def relate_all(corners_b, lanes, frame, pose, reach, maybe, sure):
    """Triangle i of b against lane i & 7 of leaf i >> 3."""
    for i in range(len(corners_b)):
        triangle = (
            place_corner(corners_b, i, 0, pose, pose, frame),
            place_corner(corners_b, i, 1, pose, pose, frame),
            place_corner(corners_b, i, 2, pose, pose, frame),
        )
        may, must = relate_triangle_8(triangle, lanes, i >> 3, reach)
        maybe[i] = (may >> (i & 7)) & 1
        sure[i] = (must >> (i & 7)) & 1


def relate(cases, reach=0.0):
    """Verdicts (maybe, sure) of each case (n,6,3); groups of 2⁸ cases share a frame, as the faces of a mesh do."""
    maybe, sure = np.zeros(len(cases), np.int64), np.zeros(len(cases), np.int64)
    for start in range(0, len(cases), 256):
        part = cases[start : start + 256]
        rows = np.minimum(np.arange(-(-len(part) // WIDTH) * WIDTH), len(part) - 1)  # the last one fills the last leaf
        tree = packet_leaves(part[rows, :3].reshape(-1, WIDTH, 3, 3), oriented=False)
        corners = np.ascontiguousarray(part[:, 3:].reshape(-1, 9))
        stop = start + len(part)
        relate_all(corners, tree.lanes, tree.frame, EYE, reach * tree.frame[3], maybe[start:stop], sure[start:stop])
    return maybe.astype(bool), sure.astype(bool)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_certainly_and_certainly_not_are_true(family):
    cases = permuted(np.random.default_rng(1), generate(family, COUNT))
    maybe, sure = relate(cases)
    meets = meet_triangles(as_integers(cases))
    assert not (meets & ~maybe).any()
    assert not (sure & ~meets).any()
    assert not (sure & ~maybe).any()


@pytest.mark.large
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_certainly_and_certainly_not_are_true_often(family):
    cases = permuted(np.random.default_rng(2), generate(family, FAMILIES[family] // 3, seed=7))
    maybe, sure = relate(cases)
    meets = meet_triangles(as_integers(cases))
    assert not (meets & ~maybe).any()
    assert not (sure & ~meets).any()


def test_float32_decides_almost_all_of_general_position():
    cases = generate(next(iter(FAMILIES)), COUNT)
    maybe, sure = relate(cases)
    meets = meet_triangles(as_integers(cases))
    assert (maybe & ~sure).sum() <= 1 + 0.01 * COUNT
    assert 0 < meets.mean() < 1


@pytest.mark.parametrize("exponent", [-60, -30, -12, 12, 30, 40, 43, 45, 47, 50, 63, 90])
def test_one_triangle_many_times_the_others(exponent):
    """Products of three coordinates overflow float32 from about 2⁴² on: a verdict may be lost then, but not be wrong."""
    rng = np.random.default_rng(abs(exponent))
    n = COUNT // 2
    cases = np.round(2.0**20 * rng.uniform(-1, 1, (n, 6, 3))) / 2.0**20
    cases[:, 5] = -(cases[:, 3] + cases[:, 4])  # the plane of the second triangle passes through the origin exactly
    cases[:, 3:] *= 2.0**exponent
    if exponent > 0:
        cases[::3, 5] = -0.5 * cases[::3, 3]  # so does a side
    else:
        cases[:, :3] -= cases[:, :3].mean(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        maybe, sure = relate(cases)
    meets = meet_triangles(as_integers(cases))
    assert meets.any() or exponent < -40
    assert not (meets & ~maybe).any()
    assert not (sure & ~meets).any()


@pytest.mark.parametrize("reach", [1e-6, 0.01, 0.3, 40.0])
def test_within_a_reach(reach):
    rng = np.random.default_rng(5)
    cases = rng.random((COUNT // 4, 6, 3))
    direction = rng.normal(size=(len(cases), 1, 3))
    cases[:, 3:] += (
        direction
        / np.linalg.norm(direction, axis=2, keepdims=True)
        * rng.uniform(0, 2 * reach + 0.5, (len(cases), 1, 1))
    )
    maybe, sure = relate(cases, reach)
    gaps = np.sqrt([closest_triangle_triangle(*map(tuple, case.tolist()))[4] for case in cases])
    assert not ((gaps <= reach) & ~maybe).any()
    assert not (sure & (gaps > 0)).any()
    assert (~maybe).any() or reach > 10


# ---- boxes against triangles


@numba.njit
def meet_boxes(tree_a, pose_a, tree_b, pose_b, masks):
    """Box i of a against leaf i of b."""
    change, slack = relate_frames(tree_a.frame, pose_a, tree_b.frame, pose_b)
    for i in range(len(masks)):
        masks[i] = meet_box_8(read_box(tree_a.packed, i, change, slack), tree_b.lanes, i)


@pytest.mark.parametrize("oriented", [True, False])
def test_boxes_meet_the_triangles_that_touch_what_they_hold(oriented):
    rng = np.random.default_rng(6)
    for scale in (1e-7, 1e-3, 1.0, 1e3):
        a = rng.uniform(-1, 1, (COUNT // 8, 3, 3))
        b = a[:, :1] + scale * rng.normal(size=a.shape)
        b[:, 0] = a[:, 0]
        b[::3, 1] = a[::3, 1]  # an edge in common
        flat = np.arange(1, len(a), 4)
        b[flat, 2] = a[flat, 0] + scale * ((a[flat, 2] - a[flat, 0]) + 1e-7 * rng.normal(size=(len(flat), 3)))
        masks = np.zeros(len(a), np.int64)
        meet_boxes(packet_leaves(a[:, None], oriented), EYE, packet_leaves(b[:, None], oriented), EYE, masks)
        assert (masks == 255).all()
        shifted = b + 10 * (2 + scale) * np.sign(b[:, :1] + 1e-300)
        meet_boxes(packet_leaves(a[:, None], oriented), EYE, packet_leaves(shifted[:, None], oriented), EYE, masks)
        assert (masks == 0).mean() > 0.9
