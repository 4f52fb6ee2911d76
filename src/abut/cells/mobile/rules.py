"""The options of a move, as users name them and as kernels read them."""

from typing import Literal, TypeAlias

from abut.cells.mobile.refining.shape import Shape
from abut.cells.mobile.steps.step_tests import (
    CULL_CELLS,
    CULL_DIRECTION,
    FACES_CONTINUOUS,
    FACES_QUASI,
    Rules,
)
from abut.cells.walk.reentrant_edges import NONE_KNOWN
from abut.core import arrays
from abut.core.errors import Unsupported
from abut.core.types import Number

Mode: TypeAlias = Literal["quasi", "continuous"]
Cull: TypeAlias = Literal["none", "cells", "direction", "both"]
Answering: TypeAlias = Literal["static", "adaptive", "hybrid", "rigid"]
Search: TypeAlias = Literal["exhaustive", "dichotomy"]
After: TypeAlias = Literal["stop", "slide", "bounce"]
Faces: TypeAlias = Literal["none", "quasi", "continuous"]
_CULLS = {"none": 0, "cells": CULL_CELLS, "direction": CULL_DIRECTION, "both": CULL_CELLS | CULL_DIRECTION}
_FACES = {"none": 0, "quasi": FACES_QUASI, "continuous": FACES_CONTINUOUS}


def read_rules(
    shape: Shape, mode: Mode, cull: Cull, search: Search, after: After, restitution: Number, faces: Faces | None
) -> Rules:
    """The rules of a move. Whether the body is closed, as a cull by direction needs, is not asked here."""
    arrays.choice(mode, "mode", ("quasi", "continuous"))
    arrays.choice(cull, "cull", tuple(_CULLS))
    arrays.choice(search, "search", ("exhaustive", "dichotomy"))
    arrays.choice(after, "after", ("stop", "slide", "bounce"))
    if faces is None:
        faces = "continuous" if mode == "continuous" and len(shape.faces) else "none"
    arrays.choice(faces, "faces", tuple(_FACES))
    if faces != "none" and not len(shape.faces):
        raise Unsupported("faces of a body that was given as edges")
    bounce = arrays.scalar(restitution, "restitution", least=0.0, most=1.0) if after == "bounce" else 0.0
    return Rules(
        mode == "continuous",
        search == "exhaustive",
        _CULLS[cull],
        _FACES[faces],
        -1.0 if after == "stop" else bounce,
        NONE_KNOWN,
    )
