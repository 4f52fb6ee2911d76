"""Closest features of pairs of hulls, remembered from step to step (Peyré 2001, chapter 3): where bodies move little the walk has few steps.

Only `step` remembers. Questions in between start from the same features, but leave them: a question does not change the motion.
"""

import numpy as np

from abut.convex import Hulls, Tracks, track_many
from abut.core.arrays import Floats, Integers
from abut.world.contacts.pairs import recall_features


class FeatureMemory:
    """The features of the last step. A pair's key is smaller collider · 2³² + larger; keys ascend. Which of two comes first lasts as long as they."""

    def __init__(self) -> None:
        self.keys = np.empty(0, np.int64)
        self.features = np.empty((0, 2), np.int64)
        self.step_count = 0

    def track(self, hulls: Hulls, pairs: Integers, poses: Floats, which: Integers, *, remember: bool) -> Tracks:
        """Track pairs of colliders, their keys ascending. poses (n,4,4) and which (n,), the hull of each, have a row per collider."""
        a, b = pairs[:, 0], pairs[:, 1]
        keys = (np.minimum(a, b) << 32) | np.maximum(a, b)
        start = np.empty((len(keys), 2), np.int64)
        recall_features(self.keys, self.features, keys, start)
        found = track_many(hulls, pairs, poses, start, which)
        if remember:
            self.keys, self.features = keys, found.features
            self.step_count = int(found.steps.sum())
        return found

    def forget(self, gone: Integers) -> None:
        """Forget colliders whose numbers may be given again."""
        kept = ~(np.isin(self.keys >> 32, gone) | np.isin(self.keys & 0xFFFFFFFF, gone))
        self.keys, self.features = self.keys[kept], self.features[kept]


def square(poses: Floats) -> Floats:
    """(n,4,4) from rows (n,12)."""
    result = np.zeros((len(poses), 4, 4))
    result[:, :3, :3], result[:, :3, 3], result[:, 3, 3] = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:], 1.0
    return result


def describe(found: Tracks) -> Floats:
    """(p,10) as `meet_pairs` wants it."""
    return np.column_stack((found.distance, found.normal, found.point_a, found.point_b))
