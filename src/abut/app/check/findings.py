"""What `abut check` found: one table of all contacts of an animation, at its frames and between them."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats, Integers


class Contact(IntEnum):
    """What kind of row: two features that meet between two frames, two faces that cut each other at a frame, a piece inside a closed one."""

    VERTEX_FACE = 0
    EDGE_EDGE = 1
    FACE_FACE = 3
    CONTAINED = 4


class Rows(NamedTuple):
    """One row per contact, in order of frame, kind, a and b."""

    frame: Integers
    """(n,) the frame of the contact, or the one before it"""
    kind: NDArray[np.int8]
    a: Integers
    b: Integers
    time: Floats
    """(n,) frame + time in the step, so 3.25 is a quarter of the way from frame 3 to frame 4; rows at frames have whole numbers"""
    point: Floats
    normal: Floats
    depth: Floats
    """(n,) how far the two move into each other along the normal by the end of the step; for faces that cut, the length of the cut;
    for a piece inside another, how far its point lies from the surface around it"""


class Labels(NamedTuple):
    """The bodies of a job."""

    names: tuple[str, ...]
    vertex: Integers
    """(n,) the body of each vertex of the whole mesh"""
    edge: Integers
    face: Integers

    def of(self, rows: Rows) -> tuple[Integers, Integers]:
        """The bodies of a and of b of each row. One body alone may have other numbers of features at some frames."""
        if len(self.names) == 1:
            return np.zeros(len(rows.kind), np.int64), np.zeros(len(rows.kind), np.int64)
        return _look_up(rows, self.vertex, self.edge, self.face)

    def within(self, rows: Rows) -> tuple[Integers, Integers]:
        """The numbers of a and of b of each row among the vertices, edges or faces of their bodies."""
        return _look_up(rows, _ranks(self.vertex), _ranks(self.edge), _ranks(self.face))


def _look_up(rows: Rows, vertex: Integers, edge: Integers, face: Integers) -> tuple[Integers, Integers]:
    """What these tables hold for a and for b of each row."""
    a, b = np.zeros((2, len(rows.kind)), np.int64)
    for mask, first, second in (
        (rows.kind == Contact.VERTEX_FACE, vertex, face),
        (rows.kind == Contact.EDGE_EDGE, edge, edge),
        (rows.kind >= Contact.FACE_FACE, face, face),
    ):
        a[mask], b[mask] = first[rows.a[mask]], second[rows.b[mask]]
    return a, b


def _ranks(labels: Integers) -> Integers:
    """How many entries before each one have its label."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    ranks = np.empty(len(labels), np.int64)
    ranks[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


class Incidents(NamedTuple):
    """Contacts that belong together in place and time, in order of the first one of each."""

    of_row: Integers
    """(n,) the incident of each row"""
    start: Floats
    """(k,) time of the first contact"""
    end: Floats
    """(k,) time of the last one"""
    worst: Integers
    """(k,) the row of the deepest impact; where there is none of the longest cut, else of what lies deepest inside"""
    counts: Integers
    """(k,4) rows of each kind"""


class Checked(NamedTuple):
    """An animation and what was found in it: all that the report page shows."""

    names: list[str]
    """of the frames"""
    faces: Integers
    frames: Sequence[Floats]
    """vertices (n,3) of each frame; none of one that has another connectivity"""
    findings: Rows
    bad: list[tuple[str, str]]
    """frames that could not be checked: name and reason"""
    seconds: float
    labels: Labels | None = None
    """the bodies, where there are several"""
    incidents: Incidents | None = None
    """of the findings, where they are known"""
