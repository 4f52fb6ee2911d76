"""All overlapping pairs, and the pairs kept from frame to frame, against testing every pair."""

import pickle

import numpy as np
import pytest

import abut
from abut.broad import SweepAndPrune, overlapping_pairs, turning_boxes
from abut.core.errors import AbutError, InvalidInput
from abut.core.jit import INTERPRETED
from conftest import SOAK


def every_pair(boxes):
    lo, hi = boxes[:, :3], boxes[:, 3:]
    meets = ((lo[:, None] <= hi[None]) & (hi[:, None] >= lo[None])).all(axis=2)
    return np.argwhere(np.triu(meets, 1))


def random_boxes(rng, count, kind):
    lo = rng.random((count, 3))
    if kind == "lattice":  # touching faces, edges and corners, equal boxes, points
        lo = rng.integers(0, 6, (count, 3)).astype(float)
        return np.hstack([lo, lo + rng.integers(0, 3, (count, 3))])
    if kind == "far":  # differences of one unit in the last place
        lo = 1e6 + np.round(lo * 4) * 2.0**-33
        return np.hstack([lo, lo + 2.0**-33 * rng.integers(0, 2, (count, 3))])
    size = 0.5 if kind == "large" else 0.1
    return np.hstack([lo, lo + size * rng.random((count, 3))])


@pytest.mark.parametrize("kind", ["random", "large", "lattice", "far"])
def test_overlapping_pairs(rng, kind):
    for count in (0, 1, 2, 17) if INTERPRETED else (0, 1, 2, 17, 300, 1000):
        boxes = random_boxes(rng, count, kind)
        pairs = overlapping_pairs(boxes)
        assert pairs.dtype == np.int64
        assert not pairs.flags.writeable
        np.testing.assert_array_equal(pairs, every_pair(boxes).reshape(-1, 2))


def test_boxes_that_are_no_boxes():
    with pytest.raises(InvalidInput, match=r"boxes\[1\]: has its lower corner above"):
        overlapping_pairs([[0, 0, 0, 1, 1, 1], [0, 2, 0, 1, 1, 1]])
    with pytest.raises(InvalidInput, match="shape"):
        SweepAndPrune(np.zeros((3, 5)))
    with pytest.raises(InvalidInput, match=r"radii: is negative|radii\[0\]: is negative"):
        turning_boxes([[0, 0, 0]], [-1.0])


def test_turning_boxes_hold_every_rotation(rng):
    points = rng.normal(size=(50, 3))
    radius = np.linalg.norm(points, axis=1).max()
    box = turning_boxes([[1.0, 2.0, 3.0]], [radius])[0]
    for _ in range(20):
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        turned = points @ q.T + (1.0, 2.0, 3.0)
        assert (turned >= box[:3]).all()
        assert (turned <= box[3:]).all()


class Model:
    """The same by brute force: a dictionary of boxes."""

    def __init__(self):
        self.boxes, self.last = {}, set()

    def pairs(self):
        ids = np.array(sorted(self.boxes), dtype=np.int64)
        if not len(ids):
            return set()
        return set(map(tuple, ids[every_pair(np.array([self.boxes[i] for i in ids]))].tolist()))


def check(prune, model):
    now = model.pairs()
    assert list(map(tuple, prune.pairs.tolist())) == sorted(now)
    changes = prune.report()
    assert list(map(tuple, changes.begun.tolist())) == sorted(now - model.last)
    assert list(map(tuple, changes.ended.tolist())) == sorted(model.last - now)
    assert list(map(tuple, changes.persisting.tolist())) == sorted(now & model.last)
    model.last = now
    return changes


@pytest.mark.large
@pytest.mark.parametrize("kind", ["random", "lattice"])
def test_thousand_frames(rng, kind):
    """Small moves, jumps, resizing, adding, removing; handles used again after a report."""
    frames = 60 if INTERPRETED else 20_000 if SOAK else 1000
    model, start = Model(), random_boxes(rng, 40, kind)
    prune = SweepAndPrune(start)
    model.boxes = dict(enumerate(start))
    for frame in range(frames):
        ids = np.array(sorted(model.boxes))
        chosen = rng.permutation(ids)[: rng.integers(0, len(ids) + 1)]
        boxes = np.array([model.boxes[i] for i in chosen]).reshape(-1, 6)
        scale = 0.03 if kind == "random" else 1.0
        way = rng.choice(["shift", "resize", "jump"], p=[0.7, 0.2, 0.1])
        if way == "jump":
            boxes = random_boxes(rng, len(chosen), kind)
        elif way == "resize":
            boxes[:, 3:] = boxes[:, :3] + scale * rng.integers(0, 4, (len(chosen), 3))
        else:
            boxes += np.tile(scale * rng.integers(-1, 2, (len(chosen), 3)), 2)
        prune.update(chosen, boxes)
        model.boxes.update(zip(chosen.tolist(), boxes, strict=True))
        if frame % 5 == 0:
            gone = rng.permutation(ids)[: rng.integers(0, 4)]
            prune.remove(gone)
            for i in gone.tolist():
                del model.boxes[i]
        if frame % 7 == 0:
            fresh = random_boxes(rng, 30 if frame % 70 == 0 else int(rng.integers(0, 4)), kind)
            handles = prune.add(fresh).tolist()
            assert not set(handles) & set(model.boxes)
            model.boxes.update(zip(handles, fresh, strict=True))
        if len(model.boxes) > 80:
            prune.remove(sorted(model.boxes)[40:])
            model.boxes = dict(sorted(model.boxes.items())[:40])
        if frame % 3:  # some reports tell of several calls
            check(prune, model)
        if frame % 50 == 0:
            prune.validate()
    assert len(prune) == len(model.boxes)
    copy = pickle.loads(pickle.dumps(prune))
    np.testing.assert_array_equal(copy.pairs, prune.pairs)


def test_what_rests_costs_nothing():
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    prune = SweepAndPrune(np.hstack([grid, grid + 0.5]))
    ball = prune.add([[-1.0, 0.1, 0.1, -0.9, 0.2, 0.2]])
    assert len(prune.report().begun) == 0
    rest = prune.report()
    assert (rest.swap_count, rest.comparison_count) == (0, 0)
    prune.shift(ball, [[0.1, 0.15, 0.15]])  # past the 25 lower ends at x = 0, and no other end
    moved = prune.report()
    assert moved.swap_count == 50
    assert moved.begun.tolist() == [[0, 125]]
    prune.remove(ball)
    assert prune.report().ended.tolist() == [[0, 125]]
    with pytest.raises(InvalidInput, match="not in use"):
        prune.update(ball, [[0, 0, 0, 1, 1, 1]])
    with pytest.raises(InvalidInput, match="twice"):
        prune.remove([3, 3])


def test_validate_finds_damage():
    prune = SweepAndPrune([[0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3]])
    prune.validate()
    prune._values[0, 1] = 5.0
    with pytest.raises(AbutError, match="axis 0"):
        prune.validate()


def test_facade():
    assert abut.broad.overlapping_pairs is overlapping_pairs
