"""Which boxes meet: all pairs of many boxes at once, and the pairs of moving boxes from frame to frame (Peyré 2001, §2).

`pairs`, `sorted_pairs` all overlapping pairs · `sweep_and_prune`, `sorted_ends` sweep and prune, incremental · the search itself is that of
`trees.blocks`: blocks of sixteen, which continuous collision uses as well.
"""

from abut.broad.pairs import overlapping_pairs, turning_boxes
from abut.broad.sweep_and_prune import PairChanges, SweepAndPrune

__all__ = ["PairChanges", "SweepAndPrune", "overlapping_pairs", "turning_boxes"]
