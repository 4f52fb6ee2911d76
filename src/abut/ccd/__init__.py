"""Continuous collision: what touches what between t = 0 and t = 1, and when (Wan 2022). Never missed, never late.

`motion` where vertices are · `culling` which pairs may meet · `impact` when a pair first meets · `step` what a search over one step needs ·
`contact_at_start` what touches before anything moves · `impacts`, `earliest`, `queries` the questions · `sweeper` step after step.
"""

from abut.ccd.culling.filters import Filtered, filter_dnf, filter_slpf
from abut.ccd.culling.search import candidates
from abut.ccd.culling.stream import stream_candidates
from abut.ccd.culling.triangle_tree import TriangleSearch, search_triangles
from abut.ccd.earliest import time_of_impact
from abut.ccd.impacts import sweep
from abut.ccd.motion.motions import BodyLike, Motion, join
from abut.ccd.motion.paths import Paths
from abut.ccd.queries import edge_edge, vertex_face
from abut.ccd.results import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Candidates, Impacts, Kind, Status, Verdict
from abut.ccd.sweeper import Sweeper

__all__ = [
    "EDGE_EDGE",
    "FACE_VERTEX",
    "VERTEX_FACE",
    "BodyLike",
    "Candidates",
    "Filtered",
    "Impacts",
    "Kind",
    "Motion",
    "Paths",
    "Status",
    "Sweeper",
    "TriangleSearch",
    "Verdict",
    "candidates",
    "edge_edge",
    "filter_dnf",
    "filter_slpf",
    "join",
    "search_triangles",
    "stream_candidates",
    "sweep",
    "time_of_impact",
    "vertex_face",
]
