"""Closest features of pairs of hulls, remembered from step to step (Peyré 2001, chapter 3): where bodies move little the walk has few steps.

Only `step` remembers. Questions in between start from the same features, but leave them: what is asked does not change the motion.
"""

import numpy as np

from abut.arrays import Floats, Integers
from abut.convex import Hulls, Tracks, track_many
from abut.shapes.pool import E0, E1, F0, F1, Cores

FEW_EDGES = 256
"""Products of the edges of two polytopes up to which all axes are looked at instead. Overlapping boxes (144) take 1.6 µs so and 3.1 µs tracked,
prisms of eight sides (576) 5.2 µs and 4.1 µs, of 24 sides 34 µs and 6.4 µs."""


class Memory:
    """The features of the last step. A pair's key is first collider · 2³² + second; keys ascend."""

    def __init__(self) -> None:
        self.keys = np.empty(0, np.int64)
        self.features = np.empty((0, 2), np.int64)
        self.step_count = 0

    def recall(self, pairs: Integers) -> Integers:
        """(p,2) where to start; −1 for pairs that were not tracked before."""
        keys = _keys_of(pairs)
        if not len(self.keys):
            return np.full((len(pairs), 2), -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where((self.keys[at] == keys)[:, np.newaxis], self.features[at], -1)

    def track(self, hulls: Hulls, pairs: Integers, poses: Floats, which: Integers, *, remember: bool) -> Tracks:
        """Track pairs of colliders. poses (n,12) and which (n,), the hull of each, have a row a collider."""
        used, places = np.unique(pairs, return_inverse=True)
        found = track_many(hulls, places.reshape(-1, 2), square(poses[used]), self.recall(pairs), which[used])
        if remember:
            keys = _keys_of(pairs)
            order = np.argsort(keys)
            self.keys, self.features = keys[order], found.features[order]
            self.step_count = int(found.steps.sum())
        return found

    def forget(self, gone: Integers) -> None:
        """Forget colliders whose numbers may be given again."""
        kept = ~(np.isin(self.keys >> 32, gone) | np.isin(self.keys & 0xFFFFFFFF, gone))
        self.keys, self.features = self.keys[kept], self.features[kept]


def _keys_of(pairs: Integers) -> Integers:
    return (pairs[:, 0] << 32) | pairs[:, 1]


def square(poses: Floats) -> Floats:
    """(n,4,4) from rows (n,12)."""
    result = np.zeros((len(poses), 4, 4))
    result[:, :3, :3], result[:, :3, 3], result[:, 3, 3] = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:], 1.0
    return result


def are_tracked(cores: Cores, a: Integers, b: Integers) -> np.ndarray:
    """(p,) which pairs of cores are tracked; for the others the axes, or a formula, are quicker."""
    faces, edges = cores.table[:, F1] - cores.table[:, F0], cores.table[:, E1] - cores.table[:, E0]
    few = (faces[a] > 0) & (faces[b] > 0) & (edges[a] * edges[b] <= FEW_EDGES)
    return ~(few | ((faces[a] == 0) & (faces[b] == 0)))


def describe(found: Tracks) -> Floats:
    """(p,10) as `meet_pairs` wants it."""
    return np.column_stack((found.distance, found.normal, found.point_a, found.point_b))
