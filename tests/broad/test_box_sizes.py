"""Boxes of every number, on one thread and on two, against testing every pair; and every number of searches at once."""

import contextlib
import importlib

import numpy as np

from abut.broad import SweepAndPrune, overlapping_pairs
from abut.broad.pairs import _place
from abut.trees.blocks.block_tree import build_boxes
from abut.trees.blocks.runs import Search, find_pairs
from abut.trees.blocks.search import EVERY, Rules
from abut.trees.blocks.swept import frame_between
from conftest import SLOW, SOAK, shared, sizes

# Blocks (16) and nodes over them (256), groups (8), parts (16), boxes added at once (16), tasks and copies (64), pairs a box (8, 128).
COUNTS = [1, 2, 17] if SLOW else sizes(8, 16, 32, 64, 128, 256, 512, sample=12)


def meet(a, b):
    return ((a[:, None, :3] <= b[None, :, 3:]) & (a[:, None, 3:] >= b[None, :, :3])).all(axis=2)


def every_pair(boxes):
    return np.argwhere(np.triu(meet(boxes, boxes), 1))


def boxes_of(rng, count):
    """Few or many pairs, on a lattice or not."""
    size = rng.choice([0.05, 0.2, 1.0])
    lower = rng.random((count, 3))
    if rng.integers(2):
        lower, size = rng.integers(0, 5, (count, 3)).astype(float), rng.integers(0, 3)
    return np.hstack([lower, lower + size * rng.random((count, 3)) * rng.integers(0, 2, (count, 1))])


def test_pairs_of_any_number_of_boxes(threads, monkeypatch):
    rng = np.random.default_rng(threads)
    # few boxes are searched on one thread otherwise
    monkeypatch.setattr(importlib.import_module("abut.broad.pairs"), "threads_for", lambda _: contextlib.nullcontext())
    for count in COUNTS:
        boxes = boxes_of(rng, count)
        np.testing.assert_array_equal(overlapping_pairs(boxes), every_pair(boxes).reshape(-1, 2))


def test_sweep_and_prune_of_any_number_of_boxes(threads):
    rng = np.random.default_rng(10 + threads)
    for count in shared(COUNTS, threads):
        start, more = boxes_of(rng, count), boxes_of(rng, int(rng.integers(0, 40)))
        scene = SweepAndPrune(start)
        np.testing.assert_array_equal(scene.pairs, every_pair(start).reshape(-1, 2))
        scene.add(more)
        both = np.concatenate([start, more])
        moved = rng.permutation(len(both))[: rng.integers(0, len(both) + 1)]
        both[moved] = boxes_of(rng, len(moved))
        scene.update(moved, both[moved])
        np.testing.assert_array_equal(scene.pairs, every_pair(both).reshape(-1, 2))
        gone = rng.permutation(len(both))[: rng.integers(0, len(both) + 1)]
        scene.remove(gone)
        left = np.delete(np.arange(len(both)), gone)
        np.testing.assert_array_equal(scene.pairs, left[every_pair(both[left])].reshape(-1, 2))
        scene.validate()


def blocks_of(boxes, frame):
    intervals = np.empty((len(boxes), 3, 2), dtype=np.float32)
    _place(boxes, frame, intervals)
    return build_boxes(boxes, intervals, frame)


def test_any_number_of_searches_at_once(threads):
    rng = np.random.default_rng(20 + threads)
    frame = frame_between(np.array([[0.0] * 3, [7.0] * 3]), 0.0)
    counts = [1, 2] if SLOW else range(1, 130) if SOAK else [1, 2, 3, 5, 36, 37, 38, 64, 74]
    for count in counts:
        boxes = [(boxes_of(rng, int(n)), boxes_of(rng, int(m))) for n, m in rng.integers(1, 90, (count, 2))]
        blocks = [(blocks_of(a, frame), blocks_of(b, frame)) for a, b in boxes]
        found = find_pairs([Search(a, b, Rules(EVERY, False, 0.0)) for a, b in blocks])
        for (a, b), pairs in zip(boxes, found, strict=True):
            np.testing.assert_array_equal(pairs, np.argwhere(meet(a, b)).reshape(-1, 2))
