"""Continuous collision: what touches what between t = 0 and t = 1, and when (Wan 2022). Never missed, never late."""

from abut.ccd.motion import Motion, join
from abut.ccd.queries import edge_edge, vertex_face
from abut.ccd.results import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Candidates, Impacts, Kind, Status, Verdict

__all__ = [
    "EDGE_EDGE",
    "FACE_VERTEX",
    "VERTEX_FACE",
    "Candidates",
    "Impacts",
    "Kind",
    "Motion",
    "Status",
    "Verdict",
    "edge_edge",
    "join",
    "vertex_face",
]
