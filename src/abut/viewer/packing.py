"""Integer arrays as few bytes as a browser can unpack by itself: differences along the rows, byte planes, deflate, base64.

Neighbouring frames and neighbouring faces differ little, so the differences have mostly empty high bytes; a plane of them deflates
to almost nothing. The inverse is `unpack` in decode.js: inflate, join the planes, sum up modulo the size of the type.
"""

import base64
import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abut.core.arrays import Floats

STEPS = 65535
"""A coordinate is a whole number of steps, 0 to this, of the extent along its axis."""


@dataclass
class Packed:
    """Named arrays, one after another: `sections` says how to read them, `text` is all of them in base64."""

    sections: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _parts: list[bytes] = field(default_factory=list[bytes])

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Append an array of uint8, uint16 or uint32, one row per frame, face or marker."""
        table = array.reshape(len(array), math.prod(array.shape[1:]))
        bytes_each = table.dtype.itemsize
        self.sections.append({"name": name, "bytes": bytes_each, "rows": table.shape[0], "columns": table.shape[1]})
        moved = table.copy()
        moved[1:] -= table[:-1]  # wraps around, as the sum does
        planes = moved.astype(moved.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).reshape(-1, bytes_each)
        self._parts.append(planes.T.tobytes())

    def text(self) -> str:
        """All arrays, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")


class Box:
    """The extent of all that is shown, and the grid of `STEPS` steps in it."""

    def __init__(self, low: Floats, high: Floats) -> None:
        self.low, self.high = low, high
        self.span = high - low

    @property
    def precision(self) -> float:
        """How far a rounded coordinate may be off: half a step of the longest axis."""
        return float(self.span.max()) / STEPS / 2

    def quantise(self, points: Floats) -> NDArray[np.uint16]:
        """The nearest step on each axis; what lies outside comes to the border."""
        scale = np.where(self.span > 0, self.span, 1.0)
        unit = np.clip((points - self.low) / scale, 0.0, 1.0)
        return np.rint(np.nan_to_num(unit) * STEPS).astype(np.uint16)


def extent(frames: list[Floats]) -> Box:
    """The box of all vertices of these frames."""
    return Box(np.min([f.min(axis=0) for f in frames], axis=0), np.max([f.max(axis=0) for f in frames], axis=0))
