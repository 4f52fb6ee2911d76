"""The paper's trees of tolerance boxes as a search: what they find and lose beside `collide`, which boxes they compare beside a plain recursion."""

import numpy as np
import pytest

from abut import contours
from abut.contours import Contour, collide_all, collide_tolerance
from abut.core import jit
from abut.scenes.rough_contours import star_control
from contours.curves import wavy

COUNT = 3 if jit.INTERPRETED else 6
SEGMENTS = 16 if jit.INTERPRETED else 256


def scene(seed, detail):
    rng = np.random.default_rng(seed)
    shapes = [Contour(wavy(int(rng.integers(5, 9)), k), 0.05, detail=detail, seed=seed + k) for k in range(COUNT)]
    poses = np.column_stack([rng.uniform(-1.5, 1.5, (COUNT, 2)), rng.uniform(-3, 3, COUNT)])
    return shapes, poses


def points_of(pairs, hits):
    return sorted((*pairs[q].tolist(), *p.round(9).tolist()) for q, p in zip(hits.query, hits.point, strict=True))


@pytest.mark.parametrize("detail", [1, 8])
@pytest.mark.parametrize("fit", ["basic", "children"])
def test_the_bound_loses_nothing_and_nine_tenths_of_sigma_lose_what_is_missing(detail, fit):
    shapes, poses = scene(detail, detail)
    near, hits = collide_all(shapes, poses)
    exact = points_of(near, hits)
    bound = collide_tolerance(shapes, poses, increment="bound", fit=fit)
    assert not bound.lost.any()
    assert points_of(bound.pairs, bound.contacts) == exact
    rivera = collide_tolerance(shapes, poses, fit=fit)
    assert set(points_of(rivera.pairs, rivera.contacts)) <= set(exact)
    assert len(rivera) + rivera.lost.sum() == len(exact)
    assert rivera.boxes_compared <= bound.boxes_compared <= bound.box_count == sum(2 * len(s.base) - 1 for s in shapes)


def test_boxes_of_nine_tenths_of_sigma_lose_contacts_and_the_bound_none():
    """Where segments are about as long as their noise is large: 100 placements, the same for both."""
    a, b = (Contour(star_control(SEGMENTS, seed), 0.004, detail=8, seed=seed) for seed in (1, 2))
    rng = np.random.default_rng(0)
    lost = found = 0
    for _ in range(1 if jit.INTERPRETED else 100):
        poses = [(*rng.uniform(-0.6, 0.6, 2), rng.uniform(0, 6)), (0, 0, 0)]
        answer = collide_tolerance([a, b], poses)
        lost, found = lost + int(answer.lost.sum()), found + len(answer)
        assert not collide_tolerance([a, b], poses, increment="bound").lost.any()
    assert 0 < lost < 0.05 * found or jit.INTERPRETED


def overlap(one, two):
    """Whether convex quadrilaterals overlap: no side of either separates them."""
    for a, b in ((one, two), (two, one)):
        for k in range(4):
            x, y = a[(k + 1) % 4] - a[k]
            if ((b - a[k]) @ (y, -x)).min() > 0.0:
                return False
    return True


def test_boxes_are_counted_as_the_paper_counts_them():
    """Each box once, of all pairs of trees, descended from their roots: by a recursion over the corners."""
    shapes, poses = scene(3, 2)
    corners = []
    for shape, (x, y, angle) in zip(shapes, poses, strict=True):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        corners.append(shape.tolerance_boxes().corners @ turn + (x, y))
    seen = set()

    def descend(a, i, b, j):
        seen.update({(a, i), (b, j)})
        if not overlap(corners[a][i - 1], corners[b][j - 1]):
            return
        n, m = len(shapes[a].base), len(shapes[b].base)
        if i >= n and j >= m:
            return
        for p in (i,) if i >= n else (2 * i, 2 * i + 1):
            for q in (j,) if j >= m else (2 * j, 2 * j + 1):
                descend(a, p, b, q)

    for a in range(COUNT):
        for b in range(a + 1, COUNT):
            descend(a, 1, b, 1)
    assert collide_tolerance(shapes, poses).boxes_compared == len(seen)


def test_which_basic_boxes_hold_their_segments():
    for detail in (1, 8):
        contour = Contour(wavy(9, 1), 0.05, detail=detail)
        assert contour.tolerance_boxes(increment="bound").holds(contour.segments).all()
        boxes = contour.tolerance_boxes()
        assert boxes.holds(contour.base).all()
        x, y, ex, ey, a, b = boxes.nodes[9:].T
        sampled = contour.point(np.arange(9 * detail * 64) / 64).reshape(9, -1, 2) - np.stack([x, y], axis=1)[:, None]
        out = np.abs(sampled[..., 0].T * ex + sampled[..., 1].T * ey).max(axis=0) > a * (1 + 1e-12)
        out |= np.abs(sampled[..., 1].T * ex - sampled[..., 0].T * ey).max(axis=0) > b * (1 + 1e-12)
        np.testing.assert_array_equal(boxes.holds(contour.segments), ~out)
        assert 0 < out.sum() <= 9


def test_scenes_of_none_and_one_have_no_pairs():
    assert len(collide_tolerance([], np.empty((0, 3)))) == 0
    alone = collide_tolerance([Contour(wavy(9, 1))], [(0, 0, 0)])
    assert (len(alone.pairs), alone.boxes_compared, alone.box_count) == (0, 0, 17)


def test_a_contour_within_another_is_said_to_be():
    large, small = Contour(4.0 * wavy(9, 1)), Contour(wavy(9, 2))
    assert collide_tolerance([large, small], [(0, 0, 0)] * 2).contacts.relation.tolist() == [contours.B_IN_A]
