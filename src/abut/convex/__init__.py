"""Convex hulls and their closest features, remembered from call to call (Peyré 2001, §3; Lin and Canny 1991; Mirtich 1998).

`hull` hulls, and the tables that kernels read of them · `features` walk from feature to feature, proofs, all features · `depth` how deep, and where
it comes from · `pair` one pair · `bodies` hulls in poses · `tracking` many pairs · `overlap` yes or no.
"""

from abut.convex.hull.hull import Hull
from abut.convex.hull.hulls import Hulls
from abut.convex.overlap import Overlaps, overlap_many
from abut.convex.results import Feature, Status, Tracks
from abut.convex.tracking import track, track_many

VERTEX, EDGE, FACE = Feature.VERTEX, Feature.EDGE, Feature.FACE
APART, TOUCHING, OVERLAPPING = Status.APART, Status.TOUCHING, Status.OVERLAPPING

__all__ = [
    "APART",
    "EDGE",
    "FACE",
    "OVERLAPPING",
    "TOUCHING",
    "VERTEX",
    "Feature",
    "Hull",
    "Hulls",
    "Overlaps",
    "Status",
    "Tracks",
    "overlap_many",
    "track",
    "track_many",
]
