"""Continuous collision: what touches what between t = 0 and t = 1, and when (Wan 2022). Never missed, never late."""

from abut.ccd.candidates import candidates
from abut.ccd.filters import Filtered, filter_dnf, filter_slpf
from abut.ccd.motion import Motion, join
from abut.ccd.queries import edge_edge, vertex_face
from abut.ccd.results import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Candidates, Impacts, Kind, Status, Verdict
from abut.ccd.stream import stream_candidates
from abut.ccd.sweep import sweep, time_of_impact

__all__ = [
    "EDGE_EDGE",
    "FACE_VERTEX",
    "VERTEX_FACE",
    "Candidates",
    "Filtered",
    "Impacts",
    "Kind",
    "Motion",
    "Status",
    "Verdict",
    "candidates",
    "edge_edge",
    "filter_dnf",
    "filter_slpf",
    "join",
    "stream_candidates",
    "sweep",
    "time_of_impact",
    "vertex_face",
]
