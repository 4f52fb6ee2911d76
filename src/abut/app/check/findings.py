"""What `abut check` found: one table of all contacts of an animation, at its frames and between them."""

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


class Findings(NamedTuple):
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


class Checked(NamedTuple):
    """An animation and what was found in it: all that the report page shows."""

    names: list[str]
    """of the frames"""
    faces: Integers
    frames: list[Floats]
    """vertices (n,3) of each frame"""
    findings: Findings
    bad: list[tuple[str, str]]
    """frames that could not be checked: name and reason"""
    seconds: float
