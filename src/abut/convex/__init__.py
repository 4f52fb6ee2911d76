"""Convex hulls and their closest features, remembered from call to call (Peyré 2001, §3; Lin and Canny 1991; Mirtich 1998).

`topology`, `hull` hulls and the planes of their features' regions · `features`, `walk` from feature to feature · `check` what proves an answer ·
`polytope`, `depth`, `depth_features` depth and where it comes from · `exhaustive` all features · `bodies`, `pair` one pair ·
`track` many pairs · `overlap` yes or no.
"""

from abut.convex.hull import Hull, Hulls
from abut.convex.overlap import Overlaps, overlap_many
from abut.convex.results import Feature, Status, Tracks
from abut.convex.track import track, track_many

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
